"""The named agent ``gtp``: another program plays, asked by the Go Text Protocol."""

import contextlib
import time
from collections.abc import Iterator, Sequence

from rave_agents.errors import ForfeitError, UnsupportedGameError
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.agent import Agent, AgentType, Effort
from rave_agents.game.game_state import GameState
from rave_agents.gtp.position import board_size
from rave_agents.gtp.process import EngineFailedError, EngineProcess
from rave_agents.gtp.protocol import COLOURS, GtpError
from rave_agents.gtp.vertices import RESIGN, Vertices
from rave_agents.searcher.clock import Clock

DEFAULT_TIMEOUT = 300.0
"""Seconds that an engine may take for an answer, where nothing else is said."""

_idle: dict[tuple[str, str], list[EngineProcess]] = {}
"""Programs that wait for their next game, by command and game: to start one may take seconds."""


class EngineSession:
    """A game that a program follows.

    Args:
        command: how to start the program.
        game: the game.
        timeout: seconds that it may take for an answer.

    Raises:
        UnsupportedGameError: if the game's moves cannot be written in the protocol.
    """

    def __init__(self, command: str, game: Game, timeout: float) -> None:
        self.game = game
        self.vertices: Vertices = Vertices(game)
        self.command = command
        self.timeout = timeout
        self._process: EngineProcess | None = None
        self._begin()

    def _begin(self) -> None:
        self._state = self.game.new_initial_state()
        self._actions: list[int] = []

    def start(self) -> EngineProcess:
        """The program, started if need be.

        Raises:
            EngineFailedError: if it cannot be started, or cannot play the game.
        """
        if self._process is None:
            idle = _idle.get((self.command, self.game.name), [])
            while idle and self._process is None:
                waiting = idle.pop()
                if waiting.running:
                    self._process = waiting
                else:
                    waiting.close()
            self._process = self._process or EngineProcess(self.command)
            self._set_up()
        return self._process

    def ask(self, command: str) -> str:
        """See ``EngineProcess.ask``."""
        return self.start().ask(command, self.timeout)

    def _set_up(self) -> None:
        parameters = getattr(self.game, "parameters", {})
        size = board_size(self.vertices.short_name, parameters)
        commands = [] if size is None else [f"boardsize {size}"]
        if "komi" in parameters:
            commands.append(f"komi {parameters['komi']}")
        for command in (*commands, "clear_board"):
            try:
                self.ask(command)
            except GtpError as error:
                raise EngineFailedError(f"{self.command!r} refused {command!r}: {error}") from error

    def restart(self) -> None:
        """A new game begins."""
        self._begin()
        if self._process is not None:
            if not self._process.running:
                self.drop()
            else:
                self.ask("clear_board")

    def follow(self, actions: Sequence[int]) -> None:
        """Lead the program to the position after these actions.

        Raises:
            GtpError: if it refuses a move.
            EngineFailedError: if it fails.
        """
        if list(actions[: len(self._actions)]) != self._actions:
            self.restart()
        for action in actions[len(self._actions) :]:
            self.play(action)

    def play(self, action: int) -> None:
        """Tell the program of the next move."""
        colour = COLOURS[self._state.current_player()]
        self.ask(f"play {colour} {self.vertices.write(self._state, action)}")
        self.note(action)

    def note(self, action: int) -> None:
        """Take note of a move that the program knows."""
        self._state.apply_action(action)
        self._actions.append(action)

    def release(self) -> None:
        """Let the program wait for another game."""
        process, self._process = self._process, None
        if process is not None and process.running:
            _idle.setdefault((self.command, self.game.name), []).append(process)
        elif process is not None:
            process.close()

    def drop(self) -> None:
        """End the program; the next question starts it again."""
        process, self._process = self._process, None
        if process is not None:
            process.close()


class GtpAgent:
    """Plays what a GTP program answers to ``genmove``.

    The program loses the game if it resigns, plays what is not legal, refuses a legal move, or,
    after a move of its own in this game, ends, breaks the protocol or does not answer in time; it
    is started again for the next game. One that fails before it has moved, cannot be started,
    repeats its input or floods its output does not play at all: that is an error.

    Args:
        game: the game.
        player: the seat.
        command: how to start the program, such as ``"gnugo --mode gtp --level 10"``.
        timeout: seconds that it may take for an answer, above 0.
        clock: the time that it is told to have; None for none.

    Raises:
        UnsupportedGameError: if the game's moves cannot be written in the protocol.
        TypeError, ValueError: for a value that is not allowed.
    """

    def __init__(
        self,
        game: Game,
        player: int,
        *,
        command: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        clock: str | float | None = None,
    ) -> None:
        if not isinstance(command, str) or not command.strip():
            raise ValueError(
                "gtp needs command, how to start the program, such as "
                f'gtp(command="gnugo --mode gtp"): got {command!r}.'
            )
        if isinstance(timeout, bool) or not isinstance(timeout, int | float):
            raise TypeError(f"timeout must be a number, got {timeout!r}.")
        if not 0 < timeout < float("inf"):
            raise ValueError(f"timeout must be a finite number above 0, got {timeout!r}.")
        self.session: EngineSession = EngineSession(command, game, float(timeout))
        self.clock: Clock | None = None if clock is None else Clock.parse(clock)
        """The time that the program is told to have."""
        self.player = player
        self.effort: Effort = Effort()
        self._has_moved = False

    def restart(self) -> None:
        """A new game begins.

        Raises:
            EngineFailedError: if the program does not start or fails.
        """
        self._has_moved = False
        if self.clock is not None:
            self.clock.restart()
        with self._forfeits():
            self._restart()

    def _restart(self) -> None:
        self.session.restart()
        self.session.start()  # Before any clock runs: to start a program may take seconds.
        if self.clock is not None:
            control = self.clock.control
            if control.phases or control.increment:
                return  # The protocol has no words for these; time_left tells what there is.
            period = f"{control.period:g} {control.period_moves if control.period else 0}"
            self._tell(f"time_settings {control.main:g} {period}")

    def _tell(self, command: str) -> None:
        """A command that a program need not know."""
        with contextlib.suppress(GtpError):
            self.session.ask(command)

    def step(self, state: GameState) -> int:
        """The action that the program answers.

        Raises:
            ForfeitError: if it loses the game by what it does.
            EngineFailedError: if it fails before its first move of the game, or cannot play at all.
            UnsupportedGameError: if the state does not tell its history.
        """
        history = getattr(state, "history", None)
        if history is None:
            raise UnsupportedGameError(
                f"{self.session.game.name} does not tell the moves so far: its states have no "
                "history(), which gtp needs."
            )
        actions = [int(action) for action in history()]
        started = time.perf_counter()
        try:
            with self._forfeits():
                return self._step(state, actions)
        finally:
            seconds = time.perf_counter() - started
            self.effort = self.effort.plus(0, seconds)
            if self.clock is not None:
                self.clock.charge(seconds)

    def _step(self, state: GameState, actions: Sequence[int]) -> int:
        session = self.session
        try:
            session.follow(actions)
        except GtpError as error:
            raise ForfeitError(f"refused a legal move: {error}", fault=True) from error
        colour = COLOURS[state.current_player()]
        if self.clock is not None and not self.clock.control.phases:
            seconds, moves = self.clock.time_left()
            self._tell(f"time_left {colour} {max(0, int(seconds))} {moves}")
        try:
            word = session.ask(f"genmove {colour}").strip()
        except GtpError as error:
            raise ForfeitError(f"answered genmove with an error: {error}", fault=True) from error
        if word.lower() == RESIGN:
            raise ForfeitError("resigned")
        try:
            action = session.vertices.read(state, word)
        except (LookupError, ValueError):
            # The program's board now differs from ours.
            session.drop()
            raise ForfeitError(f"played {word!r}, which is not legal", fault=True) from None
        session.note(action)
        self._has_moved = True
        return action

    @contextlib.contextmanager
    def _forfeits(self) -> Iterator[None]:
        """A program that has played and then fails loses the game."""
        try:
            yield
        except EngineFailedError as error:
            self.session.drop()
            if error.unusable or not self._has_moved:
                raise
            raise ForfeitError(f"failed: {error}", fault=True) from error

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Nothing to do: ``step`` tells the program all moves since its last."""

    def close(self) -> None:
        """The game is over: the program waits for the next one."""
        self.session.release()


def _make(game: Game, player: int, **parameters: object) -> Agent:
    return GtpAgent(game, player, **parameters)  # type: ignore[arg-type]


GTP_AGENT_TYPE = AgentType(
    "another program, by the Go Text Protocol",
    {"command": None, "timeout": DEFAULT_TIMEOUT, "clock": None},
    _make,
)
"""The kind of agent that specs call ``gtp``."""
