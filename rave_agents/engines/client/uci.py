"""The named agent ``uci``: plays another program's moves over the Universal Chess Interface."""

import re
from collections.abc import Sequence
from typing import Any

from rave_agents.engines.client.agent import (
    DEFAULT_TIMEOUT,
    EngineAgent,
    engine_agent_type,
)
from rave_agents.engines.client.process import LARGEST_ANSWER, EngineFailedError, EngineProcess
from rave_agents.engines.client.uci_moves import UciMoves
from rave_agents.errors import ForfeitError
from rave_agents.frameworks.adapters import Game
from rave_agents.game.game_state import GameState
from rave_agents.game.validation import Count, Positive, validated

DEFAULT_SECONDS = 0.1
"""Seconds a move for a program without a limit."""

_LARGEST_OUTPUT = 1 << 30
"""Largest output of a search in bytes, most of it ``info`` lines."""

_OPTION = re.compile(r"option name (.+?) type ")


class UciAgent(EngineAgent):
    """Plays what a UCI program answers to ``go``; see ``EngineAgent``.

    Args:
        game: chess, shogi, xiangqi, othello, amazons, breakthrough or clobber.
        player: the seat.
        command: the program's command line, such as ``"fairy-stockfish"``.
        variant: the program's name of the game; None for the usual one.
        nodes: positions that the program searches per move.
        depth: plies that it searches per move.
        seconds: wall-clock seconds per move; 0.1 without any limit.
        options: the program's options, such as ``"Hash=16;Skill Level=5"``.
        timeout: seconds that the program may take for an answer.
        clock: the time control that the agent announces to the program; None for none.

    Raises:
        UnsupportedGameError: if the game's moves cannot be written in UCI.
        TypeError, ValueError: for a value that is not allowed.
    """

    EXAMPLE = "fairy-stockfish"

    @validated
    def __init__(
        self,
        game: Game,
        player: int,
        *,
        command: str | None = None,
        variant: str | None = None,
        nodes: Count | None = None,
        depth: Count | None = None,
        seconds: Positive | None = None,
        options: str = "",
        timeout: Positive = DEFAULT_TIMEOUT,
        clock: str | float | None = None,
    ) -> None:
        super().__init__("uci", game, command, timeout, clock)
        if seconds is not None and clock is not None:
            raise ValueError("Give seconds a move or a clock, not both.")
        self.moves: UciMoves = UciMoves(game)
        self._variant = variant or self.moves.variant
        self._options = _parsed_options(options)
        movetime = None if seconds is None else _milliseconds(seconds)
        limits = {"nodes": nodes, "depth": depth, "movetime": movetime}
        self._limits = [f"{name} {most}" for name, most in limits.items() if most is not None]

    @property
    def _setting(self) -> tuple[Any, ...]:
        return *super()._setting, self._variant, *self._options.items()

    def _forget_moves(self) -> None:
        super()._forget_moves()
        self._words: list[str] = []
        """The whole turns of ``_actions``."""
        self._turn: list[int] = []
        """The actions of the last answer, which may be several of one turn."""

    def _ask(
        self, process: EngineProcess, command: str, last: str, most: int = LARGEST_ANSWER
    ) -> list[str]:
        """Send a command; returns the answer, up to a line that begins with the word ``last``."""
        lines: list[str] = []
        for line in process.exchange(command, self.timeout, most=most):
            if not line.startswith("info"):
                lines.append(line.strip())
                if line.split(maxsplit=1)[:1] == [last]:
                    break
        return lines

    def _set_up(self, process: EngineProcess) -> None:
        try:
            found = map(_OPTION.match, self._ask(process, "uci", "uciok"))
            known = {match[1]: match.string for match in found if match}
            variants = re.findall(r" var (\S+)", known.get("UCI_Variant", "")) or ["chess"]
            if self._variant not in variants:
                raise process.failure(
                    f"does not play {self._variant}; it plays {', '.join(variants)}."
                )
            variant = {"UCI_Variant": self._variant} if "UCI_Variant" in known else {}
            for name, value in {**variant, **self._options}.items():
                if name not in known:
                    raise process.failure(f"has no option {name!r}; it has {', '.join(known)}.")
                process.send(f"setoption name {name} value {value}")
            self._ask(process, "isready", "readyok")
        except EngineFailedError as error:
            self.drop()
            raise EngineFailedError(str(error), unusable=True) from error

    def _begin(self, process: EngineProcess) -> None:
        process.send("ucinewgame")
        self._ask(process, "isready", "readyok")

    def _answer(self, state: GameState, actions: Sequence[int]) -> int:
        self._follow(actions)
        begun = list(actions[len(self._actions) :])
        if begun and self._turn[: len(begun)] == begun:
            return self._turn[len(begun)]  # The program's answer was a turn of several actions.
        process = self.start()
        process.send(
            " ".join(["position startpos", *(["moves"] * bool(self._words)), *self._words])
        )
        # Somebody else, such as an opening, began the turn: the program may only finish it.
        only = self.moves.completions(self._state, begun) if begun else []
        command = " ".join([self._go(), *(["searchmoves", *only] if only else [])])
        answer = self._ask(process, command, "bestmove", _LARGEST_OUTPUT)
        word = answer[-1].removeprefix("bestmove").strip().partition(" ")[0]
        try:
            self._turn = list(self.moves.read(self._state, word))
        except LookupError:
            self._turn = []
        if self._turn[: len(begun)] != begun or not self._turn:
            raise ForfeitError(f"played {word!r}, which is not legal", fault=True)
        return self._turn[len(begun)]

    def _follow(self, actions: Sequence[int]) -> None:
        """Write the whole turns since the last ones."""
        if list(actions[: len(self._actions)]) != self._actions:
            self._forget_moves()
        size = self.moves.turn
        while len(actions) - len(self._actions) >= size:
            turn = actions[len(self._actions) : len(self._actions) + size]
            self._words.append(self.moves.write(self._state, turn))
            for action in turn:
                self._note(action)

    def _go(self) -> str:
        limits, clock = [*self._limits], self.clock
        if clock is not None and not clock.control.phases:
            left = max(1, int(1000 * clock.time_left()[0]))
            gain = int(1000 * clock.control.increment)
            limits += [f"wtime {left} btime {left} winc {gain} binc {gain}"]
        return " ".join(["go", *(limits or [f"movetime {_milliseconds(DEFAULT_SECONDS)}"])])


def _milliseconds(seconds: float) -> int:
    return max(1, round(1000 * seconds))


def _parsed_options(text: str) -> dict[str, str]:
    options = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"options must be such as 'Hash=16;Threads=1', got {text!r}.")
        options[name.strip()] = value.strip()
    return options


UCI_AGENT_TYPE = engine_agent_type("another program, over the Universal Chess Interface", UciAgent)
"""The kind of agent that specs call ``uci``."""
