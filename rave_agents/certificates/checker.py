"""The checker of certificates, which trusts a game's rules and nothing else.

A certificate says how one side answers, so that a player's return is at least, or at most, some
value whatever all others do. The checker plays all of that: where the side moves, the file's
answer; elsewhere, every legal move and every outcome of chance. It asks the game alone what these
are and how a game has ended, so that a file can only fail to convince it. A proof has a line for
each position in the order of the walk, and at last ``end``:

* ``7``: the side's answer; the position that it leads to follows;
* ``*3``: the three replies, or outcomes of chance, follow in the order in which the game has them;
* ``.``: the game is over;
* ``?``: not looked into, which counts as the worst that the game's utilities have for the side;
* ``=5``: the same position as that of the proof's line with ``+`` at its end of number 5, counted
  from 0: what was shown there holds. It is kept until ``=5-``.

Positions are the same where the states' whole ``position_key()`` are equal. To come back to one in
the line of play itself is refused, since no proof may lean on itself, unless the statement says
what endless play counts: without chance, the value is the least of all ends met, and of that.
In memory are the line of play and the kept positions, not the file. Values have double precision.
"""

import math
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from rave_agents.errors import CertificateError
from rave_agents.game.game_state import PlayerId, draws_chance, hides_information

AT_LEAST, AT_MOST = "at least", "at most"

DEEPEST, FRAMES = 100_000, 3  # moves of a line of play at most, and calls for each


class Statement(NamedTuple):
    """A bound of a player's return, expected where chance moves, that others cannot prevent."""

    player: int
    bound: str  # AT_LEAST: the player forces it against all others. AT_MOST: all others force it.
    value: float
    endless: float | None = None  # the player's return where play never ends; None: proves nothing

    def __str__(self) -> str:
        loops = "" if self.endless is None else f", where endless play counts {self.endless:.12g}"
        return f"player {self.player} gets {self.bound} {self.value:.12g}{loops}"


def check_statement(lines: Iterator[str], root: Any, statement: Statement) -> int:
    """Check a statement's proof in a file's next lines, or raise; the number of these."""
    proof, limit = _Proof(lines, statement), sys.getrecursionlimit()
    proof.require(0 <= statement.player < root.num_players(), "there is no such player")
    proof.require(statement.bound in (AT_LEAST, AT_MOST), f"unknown bound {statement.bound!r}")
    proof.require(not hides_information(root), "players of the game do not see all of it")
    proof.require(not draws_chance(root), "the game draws chance itself, its outcomes are unknown")
    sys.setrecursionlimit(limit + FRAMES * DEEPEST)
    try:
        value = proof.value(root.clone(), DEEPEST)
    finally:
        sys.setrecursionlimit(limit)
    proof.require(value >= proof.sign * statement.value, f"{proof.sign * value:g} alone is shown")
    proof.require(not (proof.loops and proof.chances), "it has loops and outcomes of chance")
    proof.require(next(lines, None) == "end", "lines follow the proof, or its end is missing")
    return proof.count


class _Proof:
    """A proof in reading: the value for the side that proves is the player's, or its negative."""

    def __init__(self, lines: Iterator[str], statement: Statement) -> None:
        self.lines, self.player, self.endless = lines, statement.player, statement.endless
        self.sign = 1.0 if statement.bound == AT_LEAST else -1.0
        self.kept: dict[int, tuple[object, float | None]] = {}
        self.count, self.numbers, self.loops, self.chances = 0, 0, False, False

    def value(self, state: Any, moves_left: int) -> float:
        """The value that the file's next lines guarantee to the side that proves at a position."""
        line, number = next(self.lines, ""), self.numbers
        self.count += 1
        self.require(moves_left > 0, "the game is too long")
        if line.startswith("="):
            return self.shown_before(line, state)
        if line.endswith("+"):
            self.kept[number] = key_of(state), None  # Nothing is shown yet.
            self.numbers += 1
        value = self.value_of(state, line.removesuffix("+"), moves_left)
        self.require(math.isfinite(value), f"the value is {value}")
        if line.endswith("+"):
            self.kept[number] = key_of(state), value
        return value

    def value_of(self, state: Any, line: str, moves_left: int) -> float:
        """The value by the first of the lines, and those that follow it."""
        mover, sign = state.current_player(), self.sign
        if line == "?":
            return sign * float(state.min_utility() if sign > 0 else state.max_utility())
        if state.is_terminal():
            self.require(line == ".", "the game is over here")
            return sign * float(state.returns()[self.player])
        if mover >= 0 and (mover == self.player) == (sign > 0):
            action = self.number(line)
            self.require(action in state.legal_actions(), f"the answer {action} is not legal")
            return self.value(after(state, action), moves_left - 1)
        chance = mover == PlayerId.CHANCE
        self.require(chance or mover >= 0, "players move at the same time")
        steps = state.chance_outcomes() if chance else [(a, 1.0) for a in state.legal_actions()]
        self.require(line == f"*{len(steps)}" != "*0", f"{len(steps)} replies need answers")
        values = [self.value(after(state, action), moves_left - 1) for action, _ in steps]
        if not chance:
            return min(values)
        self.chances, weights = True, [float(probability) for _, probability in steps]
        self.require(min(weights) >= 0 and abs(math.fsum(weights) - 1) < 1e-9, "no probabilities")
        return math.fsum(map(math.prod, zip(weights, values, strict=True)))

    def shown_before(self, line: str, state: Any) -> float:
        """The value of a kept position, if this is the same."""
        number = self.number(line[1:].removesuffix("-"))
        self.require(number in self.kept, f"no position {number} is kept")
        key, value = self.kept[number]
        self.require(key is not None and key == key_of(state), f"position {number} is another")
        if line.endswith("-"):
            del self.kept[number]
        if value is not None:
            return value
        self.require(self.endless is not None, "the proof leans on itself: play comes back here")
        self.loops = True
        return self.sign * float(self.endless)  # type: ignore[arg-type]

    def number(self, text: str) -> int:
        """The number that a text is of, written in the one way."""
        self.require(re.fullmatch("0|[1-9][0-9]{0,17}", text) is not None, f"{text!r} is no number")
        return int(text)

    def require(self, holds: bool, otherwise: str) -> None:
        """Refuse the proof, unless something holds."""
        if not holds:
            raise CertificateError(f"The proof is refused at its line {self.count}: {otherwise}.")


def after(state: Any, action: int) -> Any:
    """The position after an action, or an outcome of chance."""
    state = state.clone()
    state.apply_action(action)
    return state


def key_of(state: Any) -> object:
    """All that the rules can still ask of a position; None where that cannot be told."""
    return state.position_key() if hasattr(state, "position_key") else None
