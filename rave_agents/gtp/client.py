"""The named agent ``gtp``: plays the moves of another program over the Go Text Protocol."""

import contextlib
import time
from collections.abc import Iterator, Sequence

from rave_agents.errors import ForfeitError
from rave_agents.frameworks.adapters import Game, GameAbilities
from rave_agents.frameworks.agent import Agent, AgentType, Effort
from rave_agents.game.game_state import GameState
from rave_agents.gtp.moves_so_far import moves_so_far
from rave_agents.gtp.position import board_size
from rave_agents.gtp.process import EngineFailedError, EngineProcess, check_program
from rave_agents.gtp.protocol import COLOURS, GtpError
from rave_agents.gtp.vertices import PASS, RESIGN, Vertices
from rave_agents.searcher.clock import Clock

DEFAULT_TIMEOUT = 300.0
"""Seconds that an engine may take for an answer by default."""

_idle: dict[tuple[str, str], list[EngineProcess]] = {}
"""Running programs that wait for their next game, by command and game; starting one is slow."""


class EngineSession:
    """A running program that follows one game.

    Args:
        command: the command line that starts the program.
        game: the game.
        timeout: seconds that the program may take for an answer.

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
        """Return the program; start it if it is not running.

        Raises:
            EngineFailedError: if the program cannot be started, or cannot play the game.
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
        """Send a command and return the program's answer; see ``EngineProcess.ask``."""
        return self.start().ask(command, self.timeout)

    def _set_up(self) -> None:
        parameters = GameAbilities(self.game).parameters
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
        """Bring the program to the position after these actions.

        Raises:
            GtpError: if the program refuses a move.
            EngineFailedError: if the program fails.
        """
        if list(actions[: len(self._actions)]) != self._actions:
            self.restart()
        for action in actions[len(self._actions) :]:
            self.play(action)

    def play(self, action: int) -> None:
        """Send the next move to the program.

        A program may refuse a pass where there is no other move, as gtp-rhino does in Othello: it
        takes such passes as played.
        """
        colour = COLOURS[self._state.current_player()]
        vertex = self.vertices.write(self._state, action)
        try:
            self.ask(f"play {colour} {vertex}")
        except GtpError:
            if vertex != PASS or len(self._state.legal_actions()) > 1:
                raise
        self.note(action)

    def note(self, action: int) -> None:
        """Record a move that the program already knows."""
        self._state.apply_action(action)
        self._actions.append(action)

    def release(self) -> None:
        """Keep the program running for another game."""
        process, self._process = self._process, None
        if process is not None and process.running:
            _idle.setdefault((self.command, self.game.name), []).append(process)
        elif process is not None:
            process.close()

    def drop(self) -> None:
        """End the program; the next command starts it again."""
        process, self._process = self._process, None
        if process is not None:
            process.close()


class GtpAgent:
    """Plays the move that a GTP program answers to ``genmove``.

    The program loses the game if it resigns, plays an illegal move, refuses a legal one, or, once
    it has moved in this game, exits, breaks the protocol or does not answer in time; the agent
    starts it again for the next game. A program that cannot be started, fails before its first
    move, echoes its input or floods its output cannot play at all: the agent raises an error.

    Args:
        game: the game.
        player: the seat.
        command: the program's command line, such as ``"gnugo --mode gtp --level 10"``.
        timeout: seconds that the program may take for an answer, above 0.
        clock: the time control that the agent announces to the program, such as ``"60+1"``; None
            for none.

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
        command, seconds = check_program("gtp", command, "gnugo --mode gtp", timeout)
        self.session: EngineSession = EngineSession(command, game, seconds)
        self.clock: Clock | None = None if clock is None else Clock.parse(clock)
        """The program's clock; None if it plays without one."""
        self.player = player
        self.effort: Effort = Effort()
        self._has_moved = False

    def restart(self) -> None:
        """A new game begins.

        Raises:
            EngineFailedError: if the program does not start, or fails.
        """
        self._has_moved = False
        if self.clock is not None:
            self.clock.restart()
        with self._forfeits():
            self._restart()

    def _restart(self) -> None:
        self.session.restart()
        self.session.start()  # Before the clock runs: starting a program may take seconds.
        if self.clock is not None:
            control = self.clock.control
            if control.phases or control.increment:
                return  # time_settings cannot express these; time_left sends the remaining time.
            period = f"{control.period:g} {control.period_moves if control.period else 0}"
            self._tell(f"time_settings {control.main:g} {period}")

    def _tell(self, command: str) -> None:
        """Send a command that the program may refuse."""
        with contextlib.suppress(GtpError):
            self.session.ask(command)

    def step(self, state: GameState) -> int:
        """Return the action that the program answers.

        Raises:
            ForfeitError: if the program resigns, breaks the rules, or fails after its first move.
            EngineFailedError: if it fails before its first move of the game, or cannot play at all.
            UnsupportedGameError: if the state does not tell its moves from the game's start.
        """
        actions = moves_so_far("gtp", self.session.game, state)
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
        """Turn the failure of a program that has already moved into a lost game."""
        try:
            yield
        except EngineFailedError as error:
            self.session.drop()
            if error.unusable or not self._has_moved:
                raise
            raise ForfeitError(f"failed: {error}", fault=True) from error

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Do nothing: ``step`` sends the program all moves since its last one."""

    def close(self) -> None:
        """End the game; the program keeps running for the next one."""
        self.session.release()


def _make(game: Game, player: int, **parameters: object) -> Agent:
    return GtpAgent(game, player, **parameters)  # type: ignore[arg-type]


GTP_AGENT_TYPE = AgentType(
    "another program, over the Go Text Protocol",
    {"command": None, "timeout": DEFAULT_TIMEOUT, "clock": None},
    _make,
)
"""The kind of agent that specs call ``gtp``."""
