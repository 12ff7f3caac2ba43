"""A GTP engine: any agent, at any two-player game whose moves are single words."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rave_agents import __version__
from rave_agents.agents.answers import checked_action
from rave_agents.agents.state_agents import StateAgent
from rave_agents.engines.client.gtp import GtpError
from rave_agents.engines.client.vertices import PASS, RESIGN
from rave_agents.engines.engine import Engine, board_of
from rave_agents.engines.gtp_analysis import SHOWS, Asked, analyse, info_line
from rave_agents.engines.gtp_position import GtpPosition
from rave_agents.engines.gtp_protocol import (
    Command,
    answer,
    first_words,
    parse_colour,
    parse_command,
    parse_integer,
    parse_number,
)
from rave_agents.frameworks.agent import Agent, AgentAbilities
from rave_agents.games.coordinates import point_name, star_points
from rave_agents.records.sgf_game import read_sgf, sgf_parameters
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.clock import Clock
from rave_agents.searcher.time_control import TimeControl

PROTOCOL_VERSION = "2"

GAME_IDS = {"go": "Go", "nogo": "NoGo", "hex": "Hex", "havannah": "Havannah", "othello": "Othello"}
"""Names that GoGui has for some games."""

_PLAYING = ("lz-genmove_analyze", "genmove_analyze")
_ANALYSES = ("lz-analyze", "analyze", *_PLAYING)
"""Commands that show a search while it runs, by their names in Leela Zero and Sabaki."""

_Handler = Callable[[list[str]], str | None]


class GtpEngine(Engine):
    """Answers the commands of the Go Text Protocol, version 2.

    Args:
        game: the game or its name, such as ``"go(board_size=9)"``, see ``as_game``; ``boardsize``
            and ``komi`` change it.
        agent: the agent that chooses moves, for both colours: its spec, or one of your own, see
            ``as_agent``.
        seed: seeds every random choice; None for a seed that the system draws.

    Raises:
        UnknownNameError: if the game or the agent does not exist.
        UnsupportedGameError: if the agent cannot play the game, or the game cannot be played over
            GTP.
        TypeError, ValueError: for a parameter that is not allowed.
    """

    def __init__(self, game: Any, agent: Any, *, seed: int | None = None) -> None:
        self.position: GtpPosition = GtpPosition(game)
        """The game and the moves played in it."""
        super().__init__(agent, seed)
        self._own_handicap = self.position.parameters.get("handicap")
        self._clocks: list[Clock | None] = [None, None]
        self._last: SearchResult | None = None
        """The search that analysis commands show."""
        self._seat_agents()
        self._started = time.process_time()
        self._commands = self._make_commands()
        self._running: str | None = None
        """The id of the command that is running; None for none."""

    def _seat_agents(self) -> None:
        """Make agents for the position's game."""
        self._made_for = self.position.game.name
        self.agents: list[Agent] = self.seated(self.position.game)
        """The agents of both colours."""
        self._own_clocks = [AgentAbilities(each).clock for each in self.agents]

    def _make_commands(self) -> dict[str, _Handler]:
        commands: dict[str, _Handler] = {
            "protocol_version": lambda _: PROTOCOL_VERSION,
            "name": lambda _: f"rave-agents {self.agent.name}",
            "version": lambda _: __version__,
            "list_commands": lambda _: "\n".join(sorted(self._commands)),
            "known_command": lambda words: (
                "true" if first_words(words, 1)[0] in self._commands else "false"
            ),
            "quit": self._quit,
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "komi": self._komi,
            "play": self._play,
            "genmove": self._genmove,
            "reg_genmove": self._reg_genmove,
            "undo": lambda _: self.position.undo(),
            "showboard": lambda _: f"\n{board_of(self.position.state)}",
            "time_settings": self._time_settings,
            "time_left": self._time_left,
            "final_score": lambda _: self.position.final_score(),
            "final_status_list": lambda words: self.position.final_status_list(
                *first_words(words, 1)
            ),
            "fixed_handicap": lambda words: self._handicap(words, fixed=True),
            "place_free_handicap": lambda words: self._handicap(words, fixed=False),
            "set_free_handicap": self._lay_handicap,
            "loadsgf": self._load_sgf,
            "cputime": lambda _: f"{time.process_time() - self._started:.2f}",
            "gogui-play_sequence": self._play_sequence,
            "gogui-title": lambda _: f"{self.position.game.name} {self.agent}",
            "gogui-analyze_commands": lambda _: "\n".join(
                f"{kind}/{name}" for name, (kind, _) in SHOWS.items()
            ),
            "gogui-rules_game_id": lambda _: GAME_IDS.get(self._name(), self._name()),
            "gogui-rules_board": lambda _: f"\n{board_of(self.position.state)}",
            "gogui-rules_board_size": self._board_size,
            "gogui-rules_legal_moves": lambda _: self.position.legal_moves(),
            "gogui-rules_side_to_move": self._side_to_move,
            "gogui-rules_final_result": lambda _: (
                self.position.final_score() if self.position.state.is_terminal() else ""
            ),
        }
        commands.update(dict.fromkeys(_ANALYSES, lambda _: ""))
        commands.update({name: self._shows(show) for name, (_, show) in SHOWS.items()})
        return commands

    def receive(self, line: str) -> None:
        """Answer a line; empty ones and comments get no answer."""
        command = parse_command(line)
        if command is None:
            return
        self._running = command.number
        try:
            if command.name in _ANALYSES:
                self._analyse(command)
            else:
                self.write(answer(command.number, self._run(command)))
        except GtpError as error:
            self.write(answer(command.number, str(error), failed=True))
        except Exception as error:  # An agent's failure must not end the session.
            text = " ".join(f"internal error: {type(error).__name__}: {error}".split())
            self.write(answer(command.number, text, failed=True))
        self._running = None

    def answer(self, line: str) -> str | None:
        """Answer a line; None for an empty one or a comment."""
        said: list[str] = []
        write, self.write = self.write, said.append
        try:
            self.receive(line)
        finally:
            self.write = write
        return "".join(said) or None

    def interrupt(self) -> None:
        """Answer the command that a signal interrupted with a failure."""
        if self._running is not None:
            self.write(answer(self._running, "interrupted", failed=True))

    def _run(self, command: Command) -> str:
        handler = self._commands.get(command.name)
        if handler is None:
            raise GtpError("unknown command")
        return handler(command.arguments) or ""

    def _analyse(self, command: Command) -> None:
        """Search, and show it meanwhile; the next command, or a move's limit, ends the search."""
        asked, plays = Asked.parse(command.arguments), command.name in _PLAYING
        position, vertices = self.position, self.position.vertices
        with position.one_move(undo=plays):
            if plays and asked.player is not None:
                self._give_turn(asked.player)
            if position.state.is_terminal():
                raise GtpError("the game is over")
            mover = int(position.state.current_player())
            if asked.player not in (None, mover):
                raise GtpError("it is the other color's turn")
            agent = self.agents[mover]
            if not isinstance(agent, StateAgent):
                raise GtpError("this agent does not search")
            self.write(f"={command.number}\n")
            result = analyse(
                agent,
                position.state.clone(),
                asked.interval,
                ends=None if plays else self.is_asked,
                show=lambda found: self.write(f"{info_line(found, vertices)}\n"),
            )
            self._last = result
            self.write(f"{info_line(result, vertices)}\n")
            if plays:
                self.write(f"play {vertices.write(position.state, result.action)}\n")
                self._apply(result.action)
        self.write("\n")

    def _shows(self, show: Callable[..., str]) -> _Handler:
        """A command that shows the last search."""

        def handler(_: list[str]) -> str:
            if self._last is None:
                raise GtpError("nothing has been searched yet")
            return show(self._last, self.position.vertices)

        return handler

    def _name(self) -> str:
        return self.position.vertices.short_name

    def _quit(self, _: list[str]) -> None:
        self.ended = True

    def _board_size(self, _: list[str]) -> str:
        if self.position.size is None:
            raise GtpError("the board has no single size")
        return str(self.position.size)

    def _side_to_move(self, _: list[str]) -> str:
        state = self.position.state
        return "" if state.is_terminal() else ("black", "white")[state.current_player()]

    def _boardsize(self, arguments: list[str]) -> None:
        sizes = {*map(parse_integer, arguments or first_words(arguments, 1))}
        if len(sizes) > 1:  # HexGui sends the size twice.
            raise GtpError("unacceptable size")
        resized = self._start().resized(sizes.pop())
        self._change_game(resized, self._begin, "unacceptable size")

    def _change_game(
        self, position: GtpPosition, prepare: Callable[[], None], refusal: str
    ) -> None:
        """Go on at a position of another game; stay at this one if the agent cannot play that."""
        before = dict(vars(self))  # Agents that restart meanwhile lose their trees only.
        try:
            self.position = position
            prepare()
        except Exception as error:
            vars(self).update(before)
            raise GtpError(refusal) from error

    def _clear_board(self, _: list[str]) -> None:
        self._change_game(self._start(), self._begin, "cannot clear the board")

    def _start(self) -> GtpPosition:
        """The start of the game, without the stones that a file has laid."""
        is_own = self.position.parameters.get("handicap") == self._own_handicap
        return self.position.fitting({} if is_own else {"handicap": str(self._own_handicap or 0)})

    def _begin(self) -> None:
        """Start a new game, perhaps on another board."""
        self._last = None
        if self._made_for == self.position.game.name:
            for agent in self.agents:
                agent.restart()
        for clock in self._clocks:
            if clock is not None:
                clock.restart()
        self._fit_agents()

    def _fit_agents(self) -> None:
        """Make agents for the position's game if they are of another one, and set the clocks."""
        if self._made_for != self.position.game.name:
            self._seat_agents()
        for player in (0, 1):
            self._set_clock(player)

    def _komi(self, arguments: list[str]) -> None:
        changed = self.position.with_komi(parse_number(first_words(arguments, 1)[0]))
        self._change_game(changed, self._fit_agents, "unacceptable komi")

    def _play(self, arguments: list[str]) -> None:
        if len(arguments) != 2:
            raise GtpError("syntax error")
        player, word = parse_colour(arguments[0]), arguments[1]
        with self.position.one_move():
            if not (word.lower() == PASS and self.position.is_idle_pass(player)):
                self._give_turn(player)
                self._apply(self.position.move(player, word))

    def _play_sequence(self, arguments: list[str]) -> None:
        if len(arguments) % 2:
            raise GtpError("syntax error")
        with self.position.one_move(undo=False):
            for index in range(0, len(arguments), 2):
                try:
                    self._play(arguments[index : index + 2])
                except GtpError as error:
                    raise GtpError(f"{error}: move {index // 2 + 1}") from error

    def _handicap(self, arguments: list[str], *, fixed: bool) -> str:
        """Lay stones on the usual points; if the number is not fixed, at most ``arguments[0]``."""
        count = parse_integer(first_words(arguments, 1)[0])
        points = star_points(count, self.position.size or 0)
        if not points or (fixed and len(points) != count):
            raise GtpError("invalid number of stones")
        return self._lay_handicap([point_name(*point).upper() for point in points])

    def _lay_handicap(self, points: list[str]) -> str:
        """Let Black play on points, and White pass between."""
        if self._name() != "go":
            raise GtpError("the game has no handicap")
        if self.position.actions:
            raise GtpError("board not empty")
        named = {point.upper() for point in points}
        if len(named) < max(2, len(points)) or PASS.upper() in named:
            raise GtpError("bad vertex list")
        with self.position.one_move(undo=False):
            for point in points:
                self._play(["black", point])
        return " ".join(points)

    def _load_sgf(self, arguments: list[str]) -> None:
        path = Path(first_words(arguments, 1)[0])
        count = parse_integer(arguments[1]) - 1 if len(arguments) > 1 else None
        if count is not None and count < 0:
            raise GtpError("syntax error")
        try:
            fitting = self.position.fitting(sgf_parameters(path, self.position.game))
            read = read_sgf(path, fitting.game)
            if read.goes_on and (count is None or count > len(read.actions)):
                raise ValueError(f"{path}: {read.goes_on}")
            actions = (*(read.laid or ()), *read.actions[:count])
        except (GtpError, ValueError, OSError) as error:
            why = (isinstance(error, OSError) and error.strerror) or " ".join(str(error).split())
            raise GtpError(f"cannot load file: {why}") from error
        self._change_game(fitting, self._begin, "cannot load file: no agent plays its game")
        for action in actions:
            with self.position.one_move():
                self._apply(action)

    def _give_turn(self, player: int) -> None:
        """Let a colour of Go move out of turn, or go on after two passes: its opponent passes.

        Controllers place handicap stones in this way.
        """
        self.position.drop_passes(player)
        state = self.position.state
        if not state.is_terminal() and state.current_player() != player:
            passing = self.position.passing()
            if self._name() == "go" and passing is not None:
                self._apply(passing)

    def _apply(self, action: int) -> None:
        state = self.position.state
        mover = int(state.current_player())
        for agent in self.agents:  # Before the move, as in a match.
            agent.inform_action(state.clone(), mover, action)
        self.position.apply(action)

    def _genmove(self, arguments: list[str]) -> str:
        player = parse_colour(first_words(arguments, 1)[0])
        if self.position.state.is_terminal():
            return self._move_after_end(player)
        with self.position.one_move():
            self._give_turn(player)
            action = self._chosen(player)
            word = self.position.vertices.write(self.position.state, action)
            self._apply(action)
        return word

    def _reg_genmove(self, arguments: list[str]) -> str:
        player = parse_colour(first_words(arguments, 1)[0])
        if self.position.state.is_terminal():
            return self._move_after_end(player)
        clock = AgentAbilities(self.agents[player]).clock
        # A regression test must not cost time: put the clock back afterwards.
        before = None if clock is None else dict(vars(clock))
        action = self._chosen(player)
        if clock is not None and before is not None:
            vars(clock).update(before)
        return self.position.vertices.write(self.position.state, action)

    def _chosen(self, player: int) -> int:
        state = self.position.state
        if state.current_player() != player:
            raise GtpError("it is the other color's turn")
        agent = self.agents[player]
        action = checked_action(agent.step(state.clone()), state.legal_actions())
        self._last = AgentAbilities(agent).last_result
        return action

    def _move_after_end(self, player: int) -> str:
        """Resign a lost game, else pass; in Go always pass."""
        if self._name() == "go":
            return PASS
        returns = self.position.state.returns()
        return RESIGN if returns[player] < returns[1 - player] else PASS

    def _time_settings(self, arguments: list[str]) -> None:
        main, period, moves = map(parse_number, first_words(arguments, 3))
        if min(main, period, moves) < 0 or moves != int(moves):
            raise GtpError("syntax error")
        # The protocol writes unlimited time as a period without moves; a clock of 0 s means that,
        # too.
        unlimited = (period > 0 and moves == 0) or (main == 0 and period == 0)
        control = None
        if not unlimited:
            control = TimeControl(main=main, period=period, period_moves=max(1, int(moves)))
        for player in (0, 1):
            self._clocks[player] = None if control is None else Clock(control)
            self._set_clock(player)

    def _time_left(self, arguments: list[str]) -> None:
        colour, seconds, moves = first_words(arguments, 3)
        player, left, stones = parse_colour(colour), parse_number(seconds), parse_integer(moves)
        if left < 0 or stones < 0:
            raise GtpError("syntax error")
        clock = self._clocks[player] or Clock(TimeControl(main=max(left, 1.0)))
        clock.set_left(left, stones)
        if self._clocks[player] is None:
            self._clocks[player] = clock
            self._set_clock(player)

    def _set_clock(self, player: int) -> None:
        """Give an agent the controller's clock, or its own if there is none."""
        agent: Any = self.agents[player]
        if hasattr(agent, "clock"):
            agent.clock = self._clocks[player] or self._own_clocks[player]
