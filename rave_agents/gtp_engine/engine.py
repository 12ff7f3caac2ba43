"""A GTP engine: any agent, at any two-player game whose moves are single words."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rave_agents import __version__
from rave_agents.agents.answers import checked_action
from rave_agents.agents.named_agents import as_agent
from rave_agents.frameworks.agent import Agent, AgentAbilities
from rave_agents.games.coordinates import point_name, star_points
from rave_agents.gtp.position import Position
from rave_agents.gtp.protocol import Command, GtpError, answer, parse_colour, parse_command
from rave_agents.gtp.vertices import PASS, RESIGN
from rave_agents.gtp_engine import analysis, facts, live_analysis
from rave_agents.gtp_engine.arguments import integer, number_of, words
from rave_agents.gtp_engine.thinking import seated_agents
from rave_agents.records.sgf_game import read_sgf, sgf_parameters
from rave_agents.searcher.clock import Clock
from rave_agents.searcher.time_control import TimeControl

PROTOCOL_VERSION = "2"

ANALYZE = ("lz-analyze", "analyze")
GENMOVE_ANALYZE = ("lz-genmove_analyze", "genmove_analyze")
"""Commands that tell of a search while it runs, by the names of Leela Zero and Sabaki."""

_Handler = Callable[[list[str]], str]


class Engine:
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
        self.position: Position = Position(game)
        """The game and the moves played in it."""
        self._own_handicap = self.position.parameters.get("handicap")
        self.ended: bool = False
        """True once the engine has received ``quit``."""
        self.tell: Callable[[str], None] | None = None
        """Takes the lines of an analysis while a search runs; None: ``answer`` returns them."""
        self.is_asked: Callable[[], bool] | None = None
        """True once the next command has come, which ends an analysis; without it an analysis takes
        as long as a move."""
        self._agent = as_agent(agent)
        self._seed = seed
        self._clocks: list[Clock | None] = [None, None]
        self._shown = analysis.Shown()
        self._agents = self._make_agents()
        self._started = time.process_time()
        self._commands = self._make_commands()

    def _make_agents(self) -> list[Agent]:
        game = self.position.game
        self._agents_game = game.name
        agents = seated_agents(self._agent, game, self._seed)
        self._own_clocks = [AgentAbilities(agent).clock for agent in agents]
        return agents

    def _make_commands(self) -> dict[str, _Handler]:
        commands: dict[str, _Handler] = {
            "protocol_version": lambda _: PROTOCOL_VERSION,
            "name": lambda _: f"rave-agents {self._agent.name}",
            "version": lambda _: __version__,
            "list_commands": lambda _: "\n".join(sorted(self._commands)),
            "known_command": self._known_command,
            "quit": self._quit,
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "komi": self._komi,
            "play": self._play,
            "genmove": self._genmove,
            "reg_genmove": self._reg_genmove,
            "undo": self._undo,
            "showboard": lambda _: "\n" + analysis.plain(str(self.position.state)),
            "time_settings": self._time_settings,
            "time_left": self._time_left,
            "final_score": lambda _: self.position.final_score(),
            "final_status_list": lambda told: facts.final_status_list(
                self.position, *words(told, 1)
            ),
            "fixed_handicap": lambda told: self._handicap(told, fixed=True),
            "place_free_handicap": lambda told: self._handicap(told, fixed=False),
            "set_free_handicap": self._lay_handicap,
            "loadsgf": self._load_sgf,
            "cputime": lambda _: f"{time.process_time() - self._started:.2f}",
            "gogui-play_sequence": self._play_sequence,
            "gogui-title": lambda _: f"{self.position.game.name} {self._agent}",
            "gogui-analyze_commands": lambda _: "\n".join(analysis.ANALYZE_COMMANDS),
            "gogui-rules_game_id": lambda _: facts.game_id(self.position),
            "gogui-rules_board": lambda _: "\n" + analysis.plain(str(self.position.state)),
            "gogui-rules_board_size": lambda _: facts.board_size_of(self.position),
            "gogui-rules_legal_moves": lambda _: facts.legal_moves(self.position),
            "gogui-rules_side_to_move": lambda _: facts.side_to_move(self.position),
            "gogui-rules_final_result": lambda _: facts.final_result(self.position),
        }
        self._live = {
            name: kind
            for kind, names in (("analyze", ANALYZE), ("genmove", GENMOVE_ANALYZE))
            for name in names
        }
        commands.update(dict.fromkeys(self._live, lambda _: ""))
        for name, show in analysis.SHOWS.items():
            commands[name] = lambda _, show=show: show(self._shown)  # type: ignore[misc]
        return commands

    def answer(self, line: str) -> str | None:
        """Answer a line; None for an empty line or a comment, which get no answer."""
        command = parse_command(line)
        if command is None:
            return None
        try:
            if command.name in self._live:
                return self._analyze(command)
            return answer(command.number, self._run(command))
        except GtpError as error:
            return answer(command.number, str(error), failed=True)
        except Exception as error:  # An agent's failure must not end the session.
            text = " ".join(f"internal error: {type(error).__name__}: {error}".split())
            return answer(command.number, text, failed=True)

    def _run(self, command: Command) -> str:
        handler = self._commands.get(command.name)
        if handler is None:
            raise GtpError("unknown command")
        return handler(command.arguments)

    def _analyze(self, command: Command) -> str:
        """Search, and tell of it meanwhile; of a ``genmove`` play the move that was found."""
        asked = live_analysis.Asked.parse(command.arguments)
        genmove = self._live[command.name] == "genmove"
        if genmove and asked.player is not None:
            self._give_turn(asked.player)
        state, vertices = self.position.state, self.position.vertices
        if state.is_terminal():
            raise GtpError("the game is over")
        mover = int(state.current_player())
        if asked.player is not None and asked.player != mover:
            raise GtpError("it is the other color's turn")
        collected = [f"={command.number}\n"]
        tell = collected.append if self.tell is None else self.tell
        if self.tell is not None:
            self.tell(collected.pop())
        result = live_analysis.search(
            self._agents[mover],
            state.clone(),
            asked,
            ends=None if genmove else self.is_asked,
            tell=lambda found: tell(f"{live_analysis.info_line(found, vertices)}\n"),
        )
        self._shown = analysis.Shown(result, vertices)
        tell(f"{live_analysis.info_line(result, vertices)}\n")
        if genmove:
            tell(f"play {vertices.write(state, result.action)}\n")
            self._apply(result.action)
        return "".join([*collected, "\n"])

    def _known_command(self, arguments: list[str]) -> str:
        return "true" if words(arguments, 1)[0] in self._commands else "false"

    def _quit(self, arguments: list[str]) -> str:
        self.ended = True
        return ""

    def _boardsize(self, arguments: list[str]) -> str:
        sizes = {*map(integer, arguments or words(arguments, 1))}  # HexGui sends it twice.
        if len(sizes) > 1:
            raise GtpError("unacceptable size")
        resized = self._without_handicap().resized(sizes.pop())
        self._change_game(resized, self._begin, "unacceptable size")
        return ""

    def _change_game(self, position: Position, prepare: Callable[[], None], refusal: str) -> None:
        """Go on at a position of another game; stay at this one if no agent can play that."""
        before = self.position, self._agents, self._agents_game, self._own_clocks, self._shown
        try:
            self.position = position
            prepare()
        except Exception as error:
            self.position, self._agents, self._agents_game, self._own_clocks, self._shown = before
            raise GtpError(refusal) from error

    def _clear_board(self, arguments: list[str]) -> str:
        cleared = self._without_handicap()
        if cleared is self.position:
            self.position.clear()
            self._begin()
        else:
            self._change_game(cleared, self._begin, "cannot clear the board")
        return ""

    def _without_handicap(self) -> Position:
        """The position, or the start of its game without the stones that a file has laid."""
        if self.position.parameters.get("handicap") == self._own_handicap:
            return self.position
        return self.position.fitting({"handicap": str(self._own_handicap or 0)})

    def _begin(self) -> None:
        """Start a new game, perhaps on another board."""
        self._shown = analysis.Shown()
        if self._agents_game == self.position.game.name:
            for agent in self._agents:
                agent.restart()
        else:
            self._agents = self._make_agents()
        for player, clock in enumerate(self._clocks):
            if clock is not None:
                clock.restart()
            self._set_clock(player, clock)

    def _komi(self, arguments: list[str]) -> str:
        changed = self.position.with_komi(number_of(words(arguments, 1)[0]))
        self._change_game(changed, self._fit_agents, "unacceptable komi")
        return ""

    def _fit_agents(self) -> None:
        """Make agents for the position's game, if they are of another one."""
        if self._agents_game != self.position.game.name:
            self._agents = self._make_agents()
            for player, clock in enumerate(self._clocks):
                self._set_clock(player, clock)

    def _play(self, arguments: list[str]) -> str:
        if len(arguments) != 2:
            raise GtpError("syntax error")
        colour, word = arguments
        player = parse_colour(colour)
        if word.lower() == PASS and self.position.pass_for_nothing(player):
            return ""
        before = self.position.marked()
        try:
            self._give_turn(player)
            action = self.position.move(player, word)
        except GtpError:
            self.position.return_to(before)
            raise
        self._apply(action)
        return ""

    def _play_sequence(self, arguments: list[str]) -> str:
        if len(arguments) % 2:
            raise GtpError("syntax error")
        before = self.position.marked()
        for index in range(0, len(arguments), 2):
            try:
                self._play(arguments[index : index + 2])
            except GtpError as error:
                self.position.return_to(before)
                raise GtpError(f"{error}: move {index // 2 + 1}") from error
        return ""

    def _handicap(self, arguments: list[str], *, fixed: bool) -> str:
        """Lay stones on the usual points; if the number is not fixed, as many as there are."""
        count = integer(words(arguments, 1)[0])
        points = star_points(count, self.position.size or 0)
        if not points or (fixed and len(points) != count):
            raise GtpError("invalid number of stones")
        return self._lay_handicap([point_name(*point).upper() for point in points])

    def _lay_handicap(self, points: list[str]) -> str:
        """Let Black play on points, and White pass between."""
        if self.position.vertices.short_name != "go":
            raise GtpError("the game has no handicap")
        if self.position.actions:
            raise GtpError("board not empty")
        named = {point.upper() for point in points}
        if len(named) < max(2, len(points)) or PASS.upper() in named:
            raise GtpError("bad vertex list")
        try:
            for point in points:
                self._play(["black", point])
        except GtpError:
            self._clear_board([])
            raise
        return " ".join(points)

    def _final_status_list(self, arguments: list[str]) -> str:
        return facts.final_status_list(self.position, words(arguments, 1)[0])

    def _load_sgf(self, arguments: list[str]) -> str:
        path = Path(words(arguments, 1)[0])
        count = integer(arguments[1]) - 1 if len(arguments) > 1 else None
        if count is not None and count < 0:
            raise GtpError("syntax error")
        try:
            fitting = self.position.fitting(sgf_parameters(path, self.position.game))
            read = read_sgf(path, fitting.game)
            if read.goes_on and (count is None or count > len(read.actions)):
                raise ValueError(f"{path}: {read.goes_on}")
            actions = (*(read.laid or ()), *read.actions[:count])
        except (GtpError, ValueError, OSError) as error:
            why = getattr(error, "strerror", None) or " ".join(str(error).split())
            raise GtpError(f"cannot load file: {why}") from error
        self._change_game(fitting, self._begin, "cannot load file: no agent plays its game")
        for action in actions:
            self._apply(action)
        return ""

    def _give_turn(self, player: int) -> None:
        """Let a colour of Go move out of turn, or go on after two passes: its opponent passes.

        Controllers place handicap stones in this way.
        """
        self.position.drop_passes(player)
        state = self.position.state
        if not state.is_terminal() and state.current_player() != player:
            passing = self.position.passing()
            if self.position.vertices.short_name == "go" and passing is not None:
                self._apply(passing, implied=True)

    def _apply(self, action: int, *, implied: bool = False) -> None:
        state = self.position.state
        mover = int(state.current_player())
        for agent in self._agents:
            agent.inform_action(state.clone(), mover, action)
        self.position.apply(action, implied=implied)

    def _genmove(self, arguments: list[str]) -> str:
        player = parse_colour(words(arguments, 1)[0])
        if self.position.state.is_terminal():
            return self._ended_move(player)
        self._give_turn(player)
        action = self._chosen(player)
        word = self.position.vertices.write(self.position.state, action)
        self._apply(action)
        return word

    def _reg_genmove(self, arguments: list[str]) -> str:
        player = parse_colour(words(arguments, 1)[0])
        if self.position.state.is_terminal():
            return self._ended_move(player)
        clock = AgentAbilities(self._agents[player]).clock
        before = None if clock is None else dict(vars(clock))
        action = self._chosen(player)
        if clock is not None and before is not None:
            vars(clock).update(before)
        return self.position.vertices.write(self.position.state, action)

    def _chosen(self, player: int) -> int:
        state = self.position.state
        if state.current_player() != player:
            raise GtpError("it is the other color's turn")
        agent = self._agents[player]
        action = checked_action(agent.step(state.clone()), state.legal_actions())
        result = AgentAbilities(agent).last_result
        self._shown = analysis.Shown(result, self.position.vertices)
        return action

    def _ended_move(self, player: int) -> str:
        """Answer ``genmove`` after the end: resign a lost game, else pass; in Go always pass."""
        if self.position.vertices.short_name == "go":
            return PASS
        returns = self.position.state.returns()
        return RESIGN if returns[player] < returns[1 - player] else PASS

    def _undo(self, arguments: list[str]) -> str:
        self.position.undo()
        return ""

    def _time_settings(self, arguments: list[str]) -> str:
        main, period, moves = map(number_of, words(arguments, 3))
        if min(main, period, moves) < 0 or moves != int(moves):
            raise GtpError("syntax error")
        unlimited = (period > 0 and moves == 0) or (main == 0 and period == 0)
        control = None
        if not unlimited:
            control = TimeControl(main=main, period=period, period_moves=max(1, int(moves)))
        for player in (0, 1):
            self._clocks[player] = None if control is None else Clock(control)
            self._set_clock(player, self._clocks[player])
        return ""

    def _time_left(self, arguments: list[str]) -> str:
        colour, seconds, moves = words(arguments, 3)
        player, left, stones = parse_colour(colour), number_of(seconds), integer(moves)
        if left < 0 or stones < 0:
            raise GtpError("syntax error")
        if self._clocks[player] is None:
            self._clocks[player] = Clock(TimeControl(main=max(left, 1.0)))
            self._set_clock(player, self._clocks[player])
        clock = self._clocks[player]
        assert clock is not None
        clock.set_left(left, stones)
        return ""

    def _set_clock(self, player: int, clock: Clock | None) -> None:
        agent: Any = self._agents[player]
        if hasattr(agent, "clock"):
            agent.clock = self._own_clocks[player] if clock is None else clock
