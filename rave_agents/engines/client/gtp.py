"""The named agent ``gtp``: plays the moves of another program over the Go Text Protocol."""

import contextlib
from collections.abc import Sequence

from rave_agents.engines.client.agent import (
    DEFAULT_TIMEOUT,
    EngineAgent,
    engine_agent_type,
)
from rave_agents.engines.client.boards import board_size
from rave_agents.engines.client.process import (
    SHOWN,
    EngineFailedError,
    EngineProcess,
)
from rave_agents.engines.client.vertices import COLOURS, PASS, RESIGN, Vertices
from rave_agents.errors import ForfeitError
from rave_agents.frameworks.adapters import Game, GameAbilities
from rave_agents.game.game_state import GameState
from rave_agents.game.validation import Positive, validated


class GtpError(Exception):
    """The message of an answer that begins with ``?``, with which an engine refuses a command."""


def ask(process: EngineProcess, command: str, timeout: float) -> str:
    """Send a command to a GTP program; returns the answer without ``=``.

    Raises:
        GtpError: for an answer with ``?``.
        EngineFailedError: if the program does not answer in time, breaks the protocol, or exits.
    """
    lines: list[str] = []
    for line in process.exchange(command, timeout, begins=_begins_answer):
        if not lines and line.strip():
            _check_first_line(process, command, line.strip())
            lines.append(line.lstrip())
        elif lines and not line.strip():
            break  # An empty line ends the answer.
        elif lines:
            lines.append(line)
    first, *rest = lines
    text = "\n".join([first[1:].lstrip("0123456789").strip(), *rest])
    if first[0] == "?":
        raise GtpError(text.strip())
    return text.strip("\n")


def _begins_answer(text: str) -> bool:
    return text.startswith(("=", "?"))


def _check_first_line(process: EngineProcess, command: str, line: str) -> None:
    """Refuse a program that does not answer as the protocol says."""
    if line.lstrip("=?0123456789").strip() == command:
        raise process.failure(
            f"is not a GTP program: it echoes its input, {command!r}.", unusable=True
        )
    if not _begins_answer(line):
        word = command.partition(" ")[0]
        raise process.failure(f"broke the protocol: it answered {word} with {line[:SHOWN]!r}.")


class GtpAgent(EngineAgent):
    """Plays the move that a GTP program answers to ``genmove``; see ``EngineAgent``.

    Args:
        game: the game.
        player: the seat.
        command: the program's command line, such as ``"gnugo --mode gtp --level 10"``.
        timeout: seconds that the program may take for an answer.
        clock: the time control that the agent announces to the program, such as ``"60+1"``; None
            for none.

    Raises:
        UnsupportedGameError: if the game's moves cannot be written in the protocol.
        TypeError, ValueError: for a value that is not allowed.
    """

    EXAMPLE = "gnugo --mode gtp"

    @validated
    def __init__(
        self,
        game: Game,
        player: int,
        *,
        command: str | None = None,
        timeout: Positive = DEFAULT_TIMEOUT,
        clock: str | float | None = None,
    ) -> None:
        super().__init__("gtp", game, command, timeout, clock)
        self.vertices: Vertices = Vertices(game)

    def ask(self, command: str) -> str:
        """Send a command; returns the program's answer, see ``ask``."""
        return ask(self.start(), command, self.timeout)

    def _set_up(self, process: EngineProcess) -> None:
        parameters = GameAbilities(self.game).parameters
        size = board_size(self.vertices.short_name, parameters)
        if size is not None:
            self._demand(process, f"boardsize {size}")
        if "komi" in parameters:
            self._demand(process, f"komi {parameters['komi']}")

    def _begin(self, process: EngineProcess) -> None:
        self._demand(process, "clear_board")
        control = None if self.clock is None else self.clock.control
        if control is not None and not (control.phases or control.increment):
            # ``time_left`` alone announces what ``time_settings`` cannot express.
            moves = control.period_moves if control.period else 0
            self._tell(f"time_settings {control.main:g} {control.period:g} {moves}")

    def _demand(self, process: EngineProcess, command: str) -> None:
        """Send a command that a program for this game cannot refuse."""
        try:
            ask(process, command, self.timeout)
        except GtpError as error:
            raise EngineFailedError(f"{self.command!r} refused {command!r}: {error}") from error

    def _tell(self, command: str) -> None:
        """Send a command that the program may refuse."""
        with contextlib.suppress(GtpError):
            self.ask(command)

    def follow(self, actions: Sequence[int]) -> None:
        """Bring the program to the position after these actions.

        Raises:
            GtpError: if the program refuses a move.
            EngineFailedError: if the program fails.
        """
        if list(actions[: len(self._actions)]) != self._actions:
            self._begin_anew()
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
        self._note(action)

    def _answer(self, state: GameState, actions: Sequence[int]) -> int:
        try:
            self.follow(actions)
        except GtpError as error:
            raise ForfeitError(f"refused a legal move: {error}", fault=True) from error
        colour = COLOURS[state.current_player()]
        if self.clock is not None and not self.clock.control.phases:
            seconds, moves = self.clock.time_left()
            self._tell(f"time_left {colour} {max(0, int(seconds))} {moves}")
        try:
            word = self.ask(f"genmove {colour}").strip()
        except GtpError as error:
            raise ForfeitError(f"answered genmove with an error: {error}", fault=True) from error
        if word.lower() == RESIGN:
            raise ForfeitError("resigned")
        try:
            action = self.vertices.read(state, word)
        except (LookupError, ValueError):
            self.drop()  # The program's board now differs from ours.
            raise ForfeitError(f"played {word!r}, which is not legal", fault=True) from None
        self._note(action)
        return action


GTP_AGENT_TYPE = engine_agent_type("another program, over the Go Text Protocol", GtpAgent)
"""The kind of agent that specs call ``gtp``."""
