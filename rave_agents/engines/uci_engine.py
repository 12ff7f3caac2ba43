"""A UCI engine: any agent, at the games whose moves the Universal Chess Interface can write."""

import dataclasses
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rave_agents import __version__
from rave_agents.agents.answers import checked_action
from rave_agents.agents.state_agents import StateAgent
from rave_agents.config.limit import Limit
from rave_agents.engines.client.uci_moves import UciMoves
from rave_agents.engines.engine import FOREVER, Engine, board_of, think
from rave_agents.engines.uci_lines import Go, info_lines, variation
from rave_agents.frameworks.adapters import Game, GameAbilities
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import GameState
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.clock import Clock

NO_MOVE = "bestmove (none)"
"""The answer to ``go`` where there is no move to play."""

_PARAMETERS = {"Threads": ("threads", 1, 512), "Hash": ("max_memory_mb", 1024, 1 << 20)}
"""Options of UCI engines: the agent's parameter, the default and the greatest value."""

_MOST_LINES = 500
"""The greatest value of ``MultiPV``."""


class UciEngine(Engine):
    """Answers the commands of the Universal Chess Interface; searches run in a thread.

    Args:
        game: a game whose moves UCI can write, or its name, such as ``"breakthrough"``.
        agent: the agent that chooses moves, for both sides: a spec, or one of your own, see
            ``as_agent``. One that does not search answers ``go`` by its move, without ``info``.
        seed: seeds every random choice; None for a seed that the system draws.

    Raises:
        UnknownNameError: if the game or the agent does not exist.
        UnsupportedGameError: if UCI has no words for the game's moves, or the agent cannot play it.
        TypeError, ValueError: for a parameter that is not allowed.
    """

    def __init__(self, game: Any, agent: Any, *, seed: int | None = None) -> None:
        self.game: Game = as_game(game)
        self.moves: UciMoves = UciMoves(self.game)
        super().__init__(agent, seed)
        self.agents = self.seated(self.game)
        self._output = threading.Lock()
        self._multipv = 1
        start = self.game.new_initial_state()
        self._state: GameState | None = start
        """The position last set; None once one has been refused."""
        self._followed: tuple[str, list[str]] = ("startpos", [])
        """The words of that position: its beginning, and the moves from there."""
        self._white = int(start.current_player())
        self._unplayable = ""
        """Why no position can be played: a variant that was asked for and refused; or empty."""
        self._thinking: threading.Thread | None = None
        self._stop = threading.Event()
        self._going = Go()
        self._silent = False
        self._commands: dict[str, Callable[[list[str]], None]] = {
            "uci": self._uci,
            "isready": self._isready,
            "setoption": self._setoption,
            "ucinewgame": self._ucinewgame,
            "position": self._position,
            "go": self._go,
            "stop": lambda _: self.close(),
            "ponderhit": self._ponderhit,
            "quit": self._quit,
            "debug": lambda _: None,
            "register": lambda _: None,
            "d": self._display,
        }

    def receive(self, line: str) -> None:
        """Act on a line; UCI lets unknown words come before a command."""
        words = line.split()
        while words and words[0] not in self._commands:
            words.pop(0)
        if not words:
            if line.strip():
                self._tell(f"info string unknown command: {line.strip()}")
            return
        try:
            self._commands[words[0]](words[1:])
        except Exception as error:  # A wrong command must not end the session.
            self._fail(error)

    def close(self) -> None:
        """End a search that is running; its thread then writes its move."""
        self._stop.set()
        thread, self._thinking = self._thinking, None
        if thread is not None:
            thread.join()

    def wait(self) -> None:
        """Wait for the move of a search that ends by itself."""
        if self._thinking is not None and not self._going.infinite:
            self._thinking.join()

    def _tell(self, *lines: str) -> None:
        with self._output:  # Two threads write.
            for line in lines:
                self.write(f"{line}\n")

    def _display(self, _: list[str]) -> None:
        rows = board_of(self._state or "no position").splitlines()
        self._tell(*(f"info string {row}" for row in rows))

    def _fail(self, error: Exception) -> None:
        self._tell("info string error: " + " ".join(f"{type(error).__name__}: {error}".split()))

    def _uci(self, _: list[str]) -> None:
        variant = self.moves.variant
        self._tell(
            f"id name rave-agents {__version__} {self.agent.name}",
            "id author the rave-agents maintainers",
            f"option name UCI_Variant type combo default {variant} var {variant}",
            f"option name MultiPV type spin default 1 min 1 max {_MOST_LINES}",
            "option name Ponder type check default false",
            *(
                f"option name {name} type spin default {least} min 1 max {most}"
                for name, (field, least, most) in _PARAMETERS.items()
                if self.agent.is_named and self.agent.takes(field)
            ),
            "uciok",
        )

    def _isready(self, _: list[str]) -> None:
        """Compile what the search needs, so that no clock pays for it."""
        if self._thinking is None:
            for agent in self.agents:
                if isinstance(agent, StateAgent):
                    agent.searcher.prepare(self.game.new_initial_state())
        self._tell("readyok")

    def _setoption(self, words: list[str]) -> None:
        text = " ".join(words).removeprefix("name ")
        name, _, value = text.partition(" value ")
        names = ("UCI_Variant", "UCI_Chess960", "Ponder", "MultiPV", *_PARAMETERS)
        known = {each.lower(): each for each in names}
        option, value = known.get(name.strip().lower()), value.strip()
        if option in ("UCI_Variant", "UCI_Chess960"):
            self._unplayable = ""
            if value not in (self.moves.variant if option == "UCI_Variant" else "false", ""):
                asked = "chess960" if option == "UCI_Chess960" else value
                self._unplayable = f"this engine plays {self.moves.variant}, not {asked!r}."
                self.close()
                self._state = None
                raise ValueError(self._unplayable)
        elif option == "Ponder":
            pass  # It only announces ``go ponder``.
        elif option == "MultiPV":
            self._multipv = _positive(option, value, _MOST_LINES)
        elif option is not None and self.agent.is_named:
            self.close()
            changed = {_PARAMETERS[option][0]: _positive(option, value, _PARAMETERS[option][2])}
            before, self.agent = self.agent, self.agent.with_parameters(changed)
            try:
                self.agents = self.seated(self.game)
            except Exception:
                self.agent = before
                raise
        else:
            self._tell(f"info string there is no option {name.strip()!r}")

    def _ucinewgame(self, _: list[str]) -> None:
        self.close()
        for agent in self.agents:
            agent.restart()

    def _position(self, words: list[str]) -> None:
        self.close()
        previous, self._state = self._state, None  # A refused position leaves none to play.
        if self._unplayable:
            raise ValueError(self._unplayable)
        place = words.index("moves") if "moves" in words else len(words)
        begun, played = " ".join(words[:place]), words[place + 1 :]
        before, moves = self._followed
        if previous is not None and begun == before and played[: len(moves)] == moves:
            state, known = previous, len(moves)  # Reading all moves again would be slow.
        else:
            state, known = self._begun(begun), 0
        for number, word in enumerate(played[known:], known + 1):
            state = self._after(state, word, number)
        self._state, self._followed = state, (begun, played)

    def _after(self, state: GameState, word: str, number: int) -> GameState:
        """The position after a move."""
        state = self._unclaimed(state)
        if state.is_terminal():
            moves = self._moves_after_draw(state)
            if word not in moves:
                over = "" if moves else "the game is over before "
                raise ValueError(f"{word!r} is not legal: {over}move {number}.")
            return moves[word]
        try:
            turn = self.moves.read(state, word)
        except LookupError:
            raise ValueError(f"{word!r} is not legal as move {number}.") from None
        state = state.clone()
        for action in turn:
            state.apply_action(action)
        return state

    def _unclaimed(self, state: GameState) -> GameState:
        """The position with draws unclaimed: UCI's clients play on after a repetition."""
        unclaimed = GameAbilities(self.game).unclaimed
        if not state.is_terminal() or unclaimed is None:
            return state
        return unclaimed(state) or state

    def _moves_after_draw(self, state: GameState) -> Mapping[str, GameState]:
        """The moves where neither side can mate, which ends OpenSpiel's chess but not UCI's."""
        return GameAbilities(self.game).moves_after_draw(state)

    def _begun(self, text: str) -> GameState:
        kind, _, fen = text.partition(" ")
        if kind == "startpos" and not fen:
            return self.game.new_initial_state()
        if kind != "fen":
            raise ValueError(f"position takes startpos or fen, then perhaps moves, got {text!r}.")
        position_of = GameAbilities(self.game).position_of
        state: GameState | None = None if position_of is None else position_of(fen)
        if state is None:
            raise ValueError(f"{fen!r} is no position of {self.game.name} as a FEN.")
        return state

    def _go(self, words: list[str]) -> None:
        self.close()
        try:
            go = Go.parse(words)
        except ValueError as error:  # The controller waits for a move in any case.
            self._fail(error)
            go = Go()
        self._begin_thinking(go)

    def _begin_thinking(self, go: Go) -> None:
        self._going = go
        self._stop.clear()
        self._thinking = threading.Thread(target=self._think, args=(self._state, go), daemon=True)
        self._thinking.start()

    def _ponderhit(self, _: list[str]) -> None:
        """Search on in the kept tree, from now on with the limits of ``go``."""
        if self._thinking is not None and self._going.ponder:
            self._silent = True  # The search that ends now must not answer.
            self.close()
            self._silent = False
            self._begin_thinking(dataclasses.replace(self._going, infinite=False, ponder=False))

    def _quit(self, _: list[str]) -> None:
        self.ended = True
        self.close()

    def _think(self, state: GameState | None, go: Go) -> None:
        try:
            answer = self._answer(state, go)
        except Exception as error:
            self._fail(error)
            answer = NO_MOVE
        if go.infinite:
            self._stop.wait()  # The controller does not expect a move before ``stop``.
        if not self._silent:
            self._tell(answer)

    def _answer(self, state: GameState | None, go: Go) -> str:
        if state is None:
            self._tell("info string there is no position: the last one was refused")
            return NO_MOVE
        state = self._unclaimed(state)
        if not state.is_terminal():
            return self._best_move(state.clone(), go)
        moves = self._moves_after_draw(state)
        return f"bestmove {next(iter(moves))}" if moves else NO_MOVE

    def _best_move(self, state: GameState, go: Go) -> str:
        """Choose the actions of a turn, one after the other, and write them as one word."""
        start, now = state, state.clone()
        turn: list[int] = []
        allowed = list(self._allowed(start, go))
        expected: tuple[int, ...] = ()
        while len(turn) < self.moves.turn:
            agent = self.agents[int(now.current_player())]
            among = {each[len(turn)] for each in allowed if each[: len(turn)] == tuple(turn)}
            if isinstance(agent, StateAgent):
                result = self._searched(agent, now, go, start, turn)
                ranked = [row.action for row in result.ranked_actions]
                action = result.action
                if among and action not in among:
                    action = next(each for each in ranked if each in among)
                expected = result.principal_variation if action == result.action else (action,)
            else:
                action = checked_action(agent.step(now.clone()), now.legal_actions())
                if among and action not in among:
                    action = min(among)
            turn.append(int(action))
            now.apply_action(int(action))
        word = self.moves.write(start, turn)
        # The expected line begins with this turn's last action; ponder on the turn after.
        reply = variation(self.moves, start, [*turn, *expected[1:]])[1:2]
        return f"bestmove {word}" + (f" ponder {reply[0]}" if reply else "")

    def _allowed(self, start: GameState, go: Go) -> Iterator[tuple[int, ...]]:
        """The moves to choose from; words that are no legal moves are reported and left out."""
        for word in go.search_moves:
            try:
                yield self.moves.read(start, word)
            except LookupError:
                self._tell(f"info string {word!r} is not legal in this position")

    def _searched(
        self, agent: StateAgent, state: GameState, go: Go, start: GameState, begun: list[int]
    ) -> SearchResult:
        """Search a position and write ``info`` meanwhile, until a limit or ``stop``."""

        def look(result: SearchResult) -> bool:
            self._tell(*info_lines(self.moves, result, start, begun, self._multipv))
            depth = len(variation(self.moves, start, [*begun, *result.principal_variation]))
            return self._stop.is_set() or (go.depth is not None and depth >= go.depth)

        limit, clock = self._limits(agent, go, int(state.current_player()))
        result = think(agent, state, limit, clock, look)
        self._tell(*info_lines(self.moves, result, start, begun, self._multipv))
        return result

    def _limits(self, agent: StateAgent, go: Go, player: int) -> tuple[Limit | None, Clock | None]:
        """The limits of a search: those of ``go``, else the agent's own."""
        if go.infinite:
            return FOREVER, None
        control = go.clocks[player != self._white]
        if control is not None:
            return None if go.nodes is None else Limit(simulations=go.nodes), Clock(control)
        if go.nodes is not None or go.seconds is not None:
            # The time is for the turn, the simulations are for each action.
            seconds = None if go.seconds is None else go.seconds / self.moves.turn
            return Limit(simulations=go.nodes, seconds=seconds), None
        if go.depth is not None:
            return FOREVER, None
        if agent.limit is None:
            return None, agent.clock
        limit = agent.limit
        if limit.seconds is not None:
            limit = dataclasses.replace(limit, seconds=limit.seconds / self.moves.turn)
        return limit, agent.clock


def _positive(name: str, text: str, most: int) -> int:
    if not (text.isdecimal() and len(text) < 20 and 1 <= int(text) <= most):
        raise ValueError(f"{name} takes an integer of at least 1 and at most {most}, got {text!r}.")
    return int(text)
