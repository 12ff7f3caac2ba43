"""A session in the terminal: boards, moves by the game's own notation, a few commands."""

import difflib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.columns import Columns
from rich.text import Text

from rave_agents.cli.terminal import show
from rave_agents.errors import RaveAgentsError
from rave_agents.game.game_state import GameState, PlayerId
from rave_agents.plots.board import board_text
from rave_agents.plots.board_memory import BoardMemory
from rave_agents.results.numbers import fixed
from rave_agents.sessions.game_file import save_game
from rave_agents.sessions.live import LiveSession
from rave_agents.sessions.session import Session
from rave_agents.sessions.views import seen_names, seen_text, seen_thought

try:
    import readline
except ImportError:  # Windows has none.
    readline = None  # type: ignore[assignment]

COMMANDS = {
    "hint": "let the agent think for you",
    "think": "show what the agent thought",
    "moves": "list your moves",
    "undo": "take your last move back",
    "swap": "change seats",
    "resign": "give the game up",
    "new": "begin anew",
    "save FILE": "write the game into a file",
    "quit": "leave",
}
"""The commands, and what they do."""

_ROWS = 8
"""Rows of the table of a thought."""


class TerminalGame:
    """Shows a session and asks people for moves, up to its end.

    Args:
        live: the session, which has begun.
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self._shown = 0
        self._board = ""
        self._seating = ""
        self._has_advised = False
        self._memory = BoardMemory()

    def play(self) -> str:
        """Play; returns ``left`` or ``interrupted`` if the game was left, and else nothing."""
        live, session = self._live, self._live.session
        while True:
            # Before the turns are shown: a change in between then ends the wait below at once.
            version = live.version
            self._show_turns()
            if live.error:
                if not self._recovered():
                    return "left"
                continue
            if session.over:
                self._show_end()
                return ""
            person = next((seat for seat in session.movers if seat in session.people), None)
            try:
                if person is not None and not live.advising:
                    if not self._asked(person):
                        return "left"
                else:
                    self._wait(version)
            except EOFError:
                return "left"
            except KeyboardInterrupt:
                if live.thinking is None:  # Otherwise Ctrl-C ends the agent's search alone.
                    return "interrupted"
                live.hurry()

    def _recovered(self) -> bool:
        """Show what went wrong and ask how to go on; returns whether to go on."""
        live = self._live
        if not live.session.people:
            raise RaveAgentsError(live.error)
        _show(live.error)
        try:
            word = _ask("Enter to try again, or undo, new, swap, quit> ", ["quit"]).strip()
        except EOFError:
            return False
        if word in ("undo", "new", "swap"):
            {"undo": live.undo, "new": live.restart, "swap": live.swap}[word]()
        live.resume()
        return word != "quit"

    def _wait(self, version: int) -> None:
        live = self._live
        while live.wait(version, 1.0) != version:
            thought = seen_thought(live, self._viewer)
            if live.thinking is not None and thought is not None and sys.stdout.isatty():
                sys.stdout.write(f"\r\x1b[K{thought.summary()[:78]}")
                sys.stdout.flush()
            version = live.version
            if live.thinking is None:
                break
        if sys.stdout.isatty():
            sys.stdout.write("\r\x1b[K")

    @property
    def _viewer(self) -> int | None:
        session = self._live.session
        movers = [seat for seat in session.movers if seat in session.people]
        return next(iter([*movers, *session.people]), None)

    def _show_turns(self) -> None:
        with self._live.changed:
            self._show_new_turns(self._live.session)

    def _show_new_turns(self, session: Session) -> None:
        if session.seating != self._seating:
            self._seating = session.seating
            _show(self._seating)
        played = len(session.turns)
        if played < self._shown:  # Moves were taken back: show the board again.
            self._shown, self._board = played, ""
        if self._shown == 0:  # Agents may have played already.
            self._show_board(session, session.start.state)
        for number in range(self._shown, played):
            turn = session.turns[number]
            names = " ".join(seen_names(session, number, self._viewer))
            who = "chance" if turn.player == PlayerId.CHANCE else f"seat {turn.player}"
            if turn.player == PlayerId.SIMULTANEOUS:
                who = "together"
            known = turn.value is not None and not session.hides
            value = f"  (value for seat 0: {fixed(turn.value, 2)})" if known else ""
            _show(f"{number + 1}. {who}: {names}{value}")
            self._show_board(session, session.after(number))
        self._shown = played
        self._show_board(session, session.state)

    def _show_board(self, session: Session, state: GameState) -> None:
        """Show a position, but not twice, and not between outcomes of chance."""
        if state.is_chance_node():
            return
        board = self._text(session, state)
        if board != self._board:
            self._board = board
            _show(f"\n{board.rstrip()}\n")

    def _text(self, session: Session, state: GameState) -> str:
        """A position as the game prints it; one line, such as a FEN, below a drawn board."""
        text = seen_text(session, self._viewer, state)
        if session.hides or len(text.strip().splitlines()) != 1:
            return text
        board = self._memory.board(state)
        return text if board is None else f"{board_text(board)}\n{text}"

    def _show_end(self) -> None:
        session = self._live.session
        ending = f" ({session.ending})" if session.ending else ""
        returns = ", ".join(f"seat {n} {value:+g}" for n, value in enumerate(session.returns))
        _show(f"The game is over{ending}: {returns}.")

    def _asked(self, seat: int) -> bool:
        """Ask a person for a move or a command; returns whether to go on."""
        session = self._live.session
        names = session.legal(seat)
        left = session.time_left(seat)
        time = "" if left is None else f", {left:.0f} s"
        words = _words(names)
        if not self._has_advised:
            self._has_advised = True
            _show("Write a move or a command; 'help' lists the commands, Tab completes.")
        line = _ask(f"seat {seat}{time}> ", words).strip()
        if not line:  # The prompt appears again, with the time left.
            return True
        chosen = _chosen(line, names)
        if chosen is not None:
            try:
                self._live.choose(seat, chosen)
            except ValueError as error:
                _show(str(error))
            return True
        command, _, rest = line.partition(" ")
        if command == "quit":
            return False
        self._run(command, rest.strip(), seat, names)
        return True

    def _run(self, command: str, rest: str, seat: int, names: dict[int, str]) -> None:
        live = self._live
        commands: dict[str, Callable[[], object]] = {
            "help": lambda: _show(
                "\n".join(f"{name:10} {what}" for name, what in COMMANDS.items())
            ),
            "hint": self._hint,
            "think": self._think,
            "moves": lambda: show(Columns(names.values(), padding=(0, 2), equal=True)),
            "undo": self._undo,
            "swap": live.swap,
            "resign": lambda: live.resign(seat),
            "new": live.restart,
            "save": lambda: self._save(rest),
        }
        if command in commands:
            commands[command]()
        else:
            _show(_unknown(command, names))

    def _undo(self) -> None:
        if not self._live.undo():
            _show("There is nothing to take back.")

    def _think(self) -> None:
        thought = seen_thought(self._live, self._viewer)
        if thought is None:
            _show("Nothing has been thought yet that you may see.")
        else:
            table = thought.tables(_ROWS)[0].text(78)
            _show("\n".join([thought.summary(), *thought.remarks, table]))

    def _hint(self) -> None:
        live = self._live
        live.hint()
        while live.advising and not live.error:
            try:
                self._wait(live.version)
            except KeyboardInterrupt:
                live.hurry()
        thought = seen_thought(live, self._viewer)
        if thought is not None and not live.error:
            _show(f"hint: {thought.summary()}")

    def _save(self, rest: str) -> None:
        if not rest:
            _show("Write save and the name of a file.")
            return
        try:
            save_game(self._live.session, Path(rest).expanduser())
        except (OSError, RaveAgentsError) as error:
            _show(f"It was not saved: {error}")
        else:
            _show(f"{rest} has the game; --position {rest} begins there.")


def _chosen(line: str, names: dict[int, str]) -> int | None:
    """The move that a line names, or whose number it is; None for no move, and for several."""
    # As written first, since names may differ in case alone, such as bishop and pawn in chess.
    for named in (names, {action: name.lower() for action, name in names.items()}):
        word = line if named is names else line.lower()
        fitting = [action for action, name in named.items() if name == word]
        if len(fitting) == 1:
            return fitting[0]
    if line.isdecimal() and int(line) in names:
        return int(line)
    return None


def _words(names: dict[int, str]) -> list[str]:
    return [*names.values(), *(each.split()[0] for each in COMMANDS)]


def _unknown(word: str, names: dict[int, str]) -> str:
    near = difflib.get_close_matches(word, _words(names), n=3, cutoff=0.6)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return f"{word!r} is no move here and no command.{hint} 'moves' and 'help' list them."


def _show(text: str) -> None:
    show(Text.from_ansi(text), soft_wrap=True)


def _ask(prompt: str, words: Sequence[str]) -> str:
    if readline is not None:

        def complete(begun: str, number: int) -> str | None:
            fitting = [word for word in words if word.startswith(begun)]
            return fitting[number] if number < len(fitting) else None

        readline.set_completer(complete)
        readline.set_completer_delims("")
        readline.parse_and_bind("tab: complete")
    return input(prompt)
