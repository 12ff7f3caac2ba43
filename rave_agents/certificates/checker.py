"""The checker of certificates, which trusts nothing but a game's rules.

A certificate contains one side's answers that guarantee a player's return of at least, or at most,
some value against all play of the others. The checker walks the whole proof tree: where the side
moves, the file's answer; elsewhere, every legal move and every chance outcome. Moves and returns
come from the game alone, so a wrong file can only fail the check. A proof has a line for each
position in depth-first order, then ``end``:

* ``7``: the side's answer; the position that it leads to follows;
* ``*3``: the three replies, or chance outcomes, follow in the game's order;
* ``.``: the game is over;
* ``?``: not searched, which counts as the side's worst utility;
* ``=5``: the same position as the fifth line (counted from 0) that ends with ``+``, whose result
  holds here. It is kept until ``=5-``.

Positions are the same if their complete ``position_key()`` are equal. A repetition within the line
of play is refused, since a proof must not depend on itself, unless the statement defines the value
of endless play: without chance, the value is then the minimum of all ends met and of that value.
Memory holds the line of play and the kept positions, not the file. Values have double precision.
"""

import math
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from rave_agents.errors import CertificateError
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import PlayerId, draws_chance, hides_information

AT_LEAST, AT_MOST = "at least", "at most"

DEEPEST, FRAMES = 100_000, 3  # maximum moves of a line of play, and Python calls per move


class Statement(NamedTuple):
    """A bound of a player's (expected) return that others cannot prevent."""

    player: int
    bound: str  # AT_LEAST: the player forces it against all others. AT_MOST: all others force it.
    value: float
    endless: float | None = None  # the player's return if play never ends; None: proves nothing

    def __str__(self) -> str:
        loops = "" if self.endless is None else f", if endless play counts {self.endless:.12g}"
        return f"player {self.player} gets {self.bound} {self.value:.12g}{loops}"


def check_statement(lines: Iterator[str], root: Any, statement: Statement) -> int:
    """Check a statement's proof in a file's next lines, or raise; returns their number."""
    proof, limit = _Proof(lines, statement), sys.getrecursionlimit()
    proof.require(0 <= statement.player < root.num_players(), "there is no such player")
    proof.require(statement.bound in (AT_LEAST, AT_MOST), f"unknown bound {statement.bound!r}")
    proof.require(not hides_information(root), "the game has hidden information")
    proof.require(not draws_chance(root), "the game draws chance itself, its outcomes are unknown")
    # Recursion keeps the checker short enough to be read and trusted.
    sys.setrecursionlimit(limit + FRAMES * DEEPEST)
    try:
        value = proof.value(root.clone(), DEEPEST)
    finally:
        sys.setrecursionlimit(limit)
    proof.require(value >= proof.sign * statement.value, f"it shows only {proof.sign * value:g}")
    proof.require(not (proof.loops and proof.chances), "it has both loops and chance outcomes")
    proof.require(next(lines, None) == "end", "lines follow the proof, or its end is missing")
    return proof.count


class _Proof:
    """A proof being read; values are those of the proving side: the player's, or the negative."""

    def __init__(self, lines: Iterator[str], statement: Statement) -> None:
        self.lines, self.player, self.endless = lines, statement.player, statement.endless
        self.sign = 1.0 if statement.bound == AT_LEAST else -1.0
        self.kept: dict[int, tuple[object, float | None]] = {}
        self.count, self.numbers, self.loops, self.chances = 0, 0, False, False

    def value(self, state: Any, moves_left: int) -> float:
        """The value that the file's next lines guarantee to the proving side at a position."""
        line, number = next(self.lines, ""), self.numbers
        self.count += 1
        self.require(moves_left > 0, "the game is too long")
        if line.startswith("="):
            return self.shown_before(line, state)
        if line.endswith("+"):
            self.kept[number] = key_of(state), None  # Open: its proof is not yet complete.
            self.numbers += 1
        value = self.value_of(state, line.removesuffix("+"), moves_left)
        self.require(math.isfinite(value), f"the value is {value}")
        if line.endswith("+"):
            self.kept[number] = key_of(state), value
        return value

    def value_of(self, state: Any, line: str, moves_left: int) -> float:
        """The value from a position's line and the lines that follow it."""
        mover, sign = state.current_player(), self.sign
        if line == "?":
            return sign * float(state.min_utility() if sign > 0 else state.max_utility())
        if state.is_terminal():
            self.require(line == ".", "the game is over here")
            return sign * float(state.returns()[self.player])
        # The proving side: the player for "at least", all others together for "at most".
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
        """The value of a kept position, which must be the same as this one."""
        number = self.number(line[1:].removesuffix("-"))
        self.require(number in self.kept, f"no position {number} is kept")
        key, value = self.kept[number]
        self.require(key is not None and key == key_of(state), f"position {number} differs")
        if line.endswith("-"):
            del self.kept[number]
        if value is not None:
            return value
        self.require(self.endless is not None, "the proof depends on itself: play returns here")
        self.loops = True
        return self.sign * float(self.endless)  # type: ignore[arg-type]

    def number(self, text: str) -> int:
        """The number in a text, in canonical form."""
        self.require(re.fullmatch("0|[1-9][0-9]{0,17}", text) is not None, f"{text!r} is no number")
        return int(text)

    def require(self, holds: bool, otherwise: str) -> None:
        """Refuse the proof unless a condition holds."""
        if not holds:
            raise CertificateError(f"The proof is refused at its line {self.count}: {otherwise}.")


def after(state: Any, action: int) -> Any:
    """The position after an action, or an outcome of chance."""
    state = state.clone()
    state.apply_action(action)
    return state


def key_of(state: Any) -> object:
    """The key of a position's complete state; None without one."""
    key = StateAbilities(state).position_key
    return None if key is None else key()
