"""The named agent ``uci``: another program plays, asked by the Universal Chess Interface."""

import contextlib
import time
from collections.abc import Iterator

from rave_agents.config.limit import Limit
from rave_agents.errors import ForfeitError
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.agent import Agent, AgentType, Effort
from rave_agents.game.game_state import GameState
from rave_agents.game.validation import Count, checked
from rave_agents.gtp.client import DEFAULT_TIMEOUT
from rave_agents.gtp.moves_so_far import moves_so_far
from rave_agents.gtp.process import EngineFailedError, check_program
from rave_agents.gtp.uci_moves import UciMoves
from rave_agents.gtp.uci_process import UciProcess
from rave_agents.searcher.clock import Clock

DEFAULT_SECONDS = 0.1
"""Seconds a move for a program that is given no limit."""

_idle: dict[tuple[str, str, str], list[UciProcess]] = {}
"""Programs that wait for their next game, by command, variant and options."""


class UciAgent:
    """Plays what a UCI program answers to ``go``.

    The program loses the game if it plays what is not legal, finds no move, or, after a move of its
    own in this game, ends or does not answer in time; it is started again for the next game. One
    that fails before it has moved does not play at all: that is an error.

    Args:
        game: chess, shogi, xiangqi, othello, amazons, breakthrough or clobber.
        player: the seat.
        command: how to start the program, such as ``"fairy-stockfish"``.
        variant: what the program calls the game; None for the usual name.
        nodes: positions that it searches a move.
        depth: plies that it searches a move.
        seconds: wall-clock seconds a move, above 0; 0.1 where there is no limit at all.
        options: the program's options, such as ``"Hash=16;Skill Level=5"``.
        timeout: seconds that it may take for an answer, above 0.
        clock: the time that it is told to have; None for none.

    Raises:
        UnsupportedGameError: if the game's moves cannot be written in UCI.
        TypeError, ValueError: for a value that is not allowed.
    """

    def __init__(
        self,
        game: Game,
        player: int,
        *,
        command: str | None = None,
        variant: str | None = None,
        nodes: int | None = None,
        depth: int | None = None,
        seconds: float | None = None,
        options: str = "",
        timeout: float = DEFAULT_TIMEOUT,
        clock: str | float | None = None,
    ) -> None:
        command, patience = check_program("uci", command, "fairy-stockfish", timeout)
        self.moves: UciMoves = UciMoves(game)
        self._given = (command, variant or self.moves.variant, str(options or ""))
        self._options = _parsed_options(self._given[2])
        self._limits = _checked_limits(nodes=nodes, depth=depth)
        if seconds is not None:
            if clock is not None:
                raise ValueError("Give seconds a move or a clock, not both.")
            self._limits["movetime"] = _milliseconds(Limit(seconds=seconds).seconds)
        self._timeout = patience
        self._game = game
        self._process: UciProcess | None = None
        self._has_moved = False
        self.clock: Clock | None = None if clock is None else Clock.parse(clock)
        """The time that the program is told to have."""
        self.player = player
        self.effort: Effort = Effort()

    def restart(self) -> None:
        """A new game begins.

        Raises:
            EngineFailedError: if the program does not start or fails.
        """
        self._has_moved = False
        self._state = self._game.new_initial_state()
        self._actions: list[int] = []
        self._words: list[str] = []
        self._turn: list[int] = []
        if self.clock is not None:
            self.clock.restart()
        process = self._started()
        process.tell("ucinewgame")
        process.ask("isready", lambda line: line == "readyok", self._timeout)

    def _started(self) -> UciProcess:
        if self._process is not None and not self._process.running:
            self._process.close()
            self._process = None
        if self._process is None:
            idle = _idle.get(self._given, [])
            while idle and self._process is None:
                waiting = idle.pop()
                if waiting.running:
                    self._process = waiting
            command, variant, _ = self._given
            self._process = self._process or UciProcess(
                command, variant, self._options, self._timeout
            )
        return self._process

    def step(self, state: GameState) -> int:
        """The action that the program answers.

        Raises:
            ForfeitError: if it loses the game by what it does.
            EngineFailedError: if it fails before its first move of the game.
            UnsupportedGameError: if the state does not tell its moves from the game's start.
        """
        history = moves_so_far("uci", self._game, state)
        started = time.perf_counter()
        try:
            with self._forfeits():
                return self._answer(state, history)
        finally:
            seconds = time.perf_counter() - started
            self.effort = self.effort.plus(0, seconds)
            if self.clock is not None:
                self.clock.charge(seconds)

    def _answer(self, state: GameState, history: list[int]) -> int:
        self._follow(history)
        begun = history[len(self._actions) :]
        if begun and self._turn[: len(begun)] == begun:
            return self._turn[len(begun)]  # The turn goes on as it was meant.
        process = self._started()
        process.tell(
            " ".join(["position startpos", *(["moves"] if self._words else []), *self._words])
        )
        only = self.moves.completions(self._state, begun) if begun else []
        command = " ".join([self._go(), *(["searchmoves", *only] if only else [])])
        answer = process.ask(command, lambda line: line.startswith("bestmove"), self._timeout)
        word = answer[-1].removeprefix("bestmove").strip().partition(" ")[0]
        try:
            self._turn = list(self.moves.read(self._state, word))
        except LookupError:
            self._turn = []
        if self._turn[: len(begun)] != begun or not self._turn:
            raise ForfeitError(f"played {word!r}, which is not legal", fault=True)
        self._has_moved = True
        return self._turn[len(begun)]

    def _follow(self, history: list[int]) -> None:
        """Write the whole turns since the last ones."""
        if history[: len(self._actions)] != self._actions:
            self._state, self._actions, self._words = self._game.new_initial_state(), [], []
        size = self.moves.turn
        while len(history) - len(self._actions) >= size:
            turn = history[len(self._actions) : len(self._actions) + size]
            self._words.append(self.moves.write(self._state, turn))
            for action in turn:
                self._state.apply_action(action)
            self._actions += turn

    def _go(self) -> str:
        limits = [f"{name} {value}" for name, value in self._limits.items()]
        if self.clock is not None and not self.clock.control.phases:
            left = max(1, int(1000 * self.clock.time_left()[0]))
            gain = int(1000 * self.clock.control.increment)
            limits += [f"wtime {left} btime {left} winc {gain} binc {gain}"]
        return " ".join(["go", *(limits or [f"movetime {_milliseconds(DEFAULT_SECONDS)}"])])

    @contextlib.contextmanager
    def _forfeits(self) -> Iterator[None]:
        """A program that has played and then fails loses the game."""
        try:
            yield
        except EngineFailedError as error:
            if error.unusable or not self._has_moved:
                raise
            raise ForfeitError(f"failed: {error}", fault=True) from error

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Nothing to do: ``step`` tells the program all moves."""

    def close(self) -> None:
        """The game is over: the program waits for the next one."""
        process, self._process = self._process, None
        if process is not None and process.running:
            _idle.setdefault(self._given, []).append(process)
        elif process is not None:
            process.close()


def _milliseconds(seconds: float | None) -> int:
    return max(1, round(1000 * (seconds or 0.0)))


def _parsed_options(text: str) -> dict[str, str]:
    options = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"options must be such as 'Hash=16;Threads=1', got {text!r}.")
        options[name.strip()] = value.strip()
    return options


def _checked_limits(**limits: int | None) -> dict[str, int]:
    given = {name: value for name, value in limits.items() if value is not None}
    for name, value in given.items():
        checked(name, Count, value)
    return given


def _make(game: Game, player: int, **parameters: object) -> Agent:
    return UciAgent(game, player, **parameters)  # type: ignore[arg-type]


UCI_AGENT_TYPE = AgentType(
    "another program, by the Universal Chess Interface",
    {
        "command": None,
        "variant": None,
        "nodes": None,
        "depth": None,
        "seconds": None,
        "options": "",
        "timeout": DEFAULT_TIMEOUT,
        "clock": None,
    },
    _make,
)
"""The kind of agent that specs call ``uci``."""
