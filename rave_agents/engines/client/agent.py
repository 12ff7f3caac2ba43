"""Programs as agents: the part that GTP and UCI share."""

import contextlib
import inspect
import time
from collections.abc import Iterator, Sequence
from typing import Any

from rave_agents.engines.client.process import EngineFailedError, EngineProcess
from rave_agents.errors import ForfeitError, UnsupportedGameError
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.agent import AgentType, Effort
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState
from rave_agents.searcher.clock import Clock

DEFAULT_TIMEOUT = 300.0
"""Seconds that a program may take for an answer by default."""

_idle: dict[tuple[Any, ...], list[EngineProcess]] = {}
"""Running programs that wait for their next game, by what they were set up for."""


class EngineAgent:
    """Plays the moves that another program answers.

    The program loses the game if it resigns, plays an illegal move, refuses a legal one, or, once
    it has moved in this game, exits, breaks the protocol or does not answer in time; the agent
    starts it again for the next game. A program that cannot be started, fails before its first
    move, echoes its input or floods its output cannot play at all: the agent raises an error.

    Args:
        protocol: the name of the protocol's agent, such as ``"gtp"``.
        game: the game.
        command: the command line that starts the program.
        timeout: seconds that the program may take for an answer.
        clock: the time control that the agent announces to the program, such as ``"60+1"``; None
            for none.
    """

    EXAMPLE = ""
    """The command line of a program, for messages."""

    def __init__(
        self,
        protocol: str,
        game: Game,
        command: str | None,
        timeout: float,
        clock: str | float | None,
    ) -> None:
        if command is None or not command.strip():
            raise ValueError(
                f"{protocol} needs command, how to start the program, such as "
                f'{protocol}(command="{self.EXAMPLE}"): got {command!r}.'
            )
        self.game = game
        self.command = command
        self.timeout = timeout
        self.clock: Clock | None = None if clock is None else Clock.parse(clock)
        """The program's clock; None if it plays without one."""
        self.effort: Effort = Effort()
        self._protocol = protocol
        self._process: EngineProcess | None = None
        self._has_moved = False
        self._forget_moves()

    # What each protocol defines.

    @property
    def _setting(self) -> tuple[Any, ...]:
        """What a program is set up for; another agent with the same may go on with it."""
        return self._protocol, self.command, self.game.name

    def _set_up(self, process: EngineProcess) -> None:
        """Prepare a new program for the game."""
        raise NotImplementedError

    def _begin(self, process: EngineProcess) -> None:
        """Let a program begin a new game."""
        raise NotImplementedError

    def _answer(self, state: GameState, actions: Sequence[int]) -> int:
        """Return the program's move after these actions."""
        raise NotImplementedError

    # What they share.

    def _forget_moves(self) -> None:
        self._state = self.game.new_initial_state()
        self._actions: list[int] = []
        """The actions that the program knows, which lead to ``_state``."""

    def _note(self, action: int) -> None:
        """Record an action that the program knows."""
        self._state.apply_action(action)
        self._actions.append(action)

    def start(self) -> EngineProcess:
        """Return the program; start it if it is not running.

        Raises:
            EngineFailedError: if the program cannot be started, or cannot play the game.
        """
        if self._process is None:
            idle = _idle.get(self._setting, [])
            while idle and self._process is None:  # Starting a program is slow.
                waiting = idle.pop()
                if waiting.running:
                    self._process = waiting
                else:
                    waiting.close()
            if self._process is None:
                # Set before the program is set up, so that ``drop`` ends one that fails in it.
                self._process = EngineProcess(self.command)
                self._set_up(self._process)
            self._begin(self._process)
        return self._process

    def restart(self) -> None:
        """Begin a new game.

        Raises:
            EngineFailedError: if the program does not start, or fails.
        """
        self._has_moved = False
        if self.clock is not None:
            self.clock.restart()
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._forget_moves()
        if self._process is not None and not self._process.running:
            self.drop()
        with self._failures():
            if self._process is None:
                self.start()
            else:
                self._begin(self._process)

    def step(self, state: GameState) -> int:
        """Return the action that the program answers.

        Raises:
            ForfeitError: if the program resigns, breaks the rules, or fails after its first move.
            EngineFailedError: if it fails before its first move of the game, or cannot play at all.
            UnsupportedGameError: if the state does not list its moves from the game's start.
        """
        actions = moves_so_far(self._protocol, self.game, state)
        started = time.perf_counter()
        try:
            with self._failures():
                action = self._answer(state, actions)
        finally:
            seconds = time.perf_counter() - started
            self.effort = self.effort.plus(0, seconds)
            if self.clock is not None:
                self.clock.charge(seconds)
        self._has_moved = True
        return action

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        """Turn the failure of a program that has already moved into a lost game."""
        try:
            yield
        except EngineFailedError as error:
            self.drop()
            if error.unusable or not self._has_moved:
                raise
            raise ForfeitError(f"failed: {error}", fault=True) from error

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Do nothing: ``step`` sends the program all moves since its last one."""

    def close(self) -> None:
        """End the game; the program keeps running for the next one."""
        process, self._process = self._process, None
        if process is not None and process.running:
            _idle.setdefault(self._setting, []).append(process)
        elif process is not None:
            process.close()

    def drop(self) -> None:
        """End the program; the next game starts it again."""
        process, self._process = self._process, None
        if process is not None:
            process.close()


def engine_agent_type(summary: str, agent: type[EngineAgent]) -> AgentType:
    """The kind of agent that specs name, with the parameters of the agent's constructor."""
    parameters = inspect.signature(agent).parameters.values()
    defaults = {each.name: each.default for each in parameters if each.default is not each.empty}
    return AgentType(summary, defaults, agent)


def moves_so_far(protocol: str, game: Game, state: GameState) -> list[int]:
    """Return the actions that lead from a game's start to a position.

    Args:
        protocol: the protocol that needs them, for messages.
        game: the game.
        state: the position.

    Raises:
        UnsupportedGameError: if the state does not list them, or they lead elsewhere, since the
            position was set up.
    """
    history = StateAbilities(state).history
    if history is None:
        raise UnsupportedGameError(
            f"{protocol} needs the moves so far, and the states of {game.name} have no history()."
        )
    moves, reached = [int(action) for action in history()], game.new_initial_state()
    for move in moves:
        if move not in reached.legal_actions():
            break
        reached.apply_action(move)
    else:
        if _is_same(reached, state):
            return moves
    raise UnsupportedGameError(
        f"{protocol} tells a program the moves since the start of {game.name}, and those of this "
        "position do not lead to it: the position, or the one where it began, was set up."
    )


def _is_same(one: GameState, other: GameState) -> bool:
    """True if two states are the same position, as far as keys, texts and legal moves show."""
    keys = [key() for key in (StateAbilities(each).position_key for each in (one, other)) if key]
    if len(keys) == 2 and keys[0] is not None and keys[0] == keys[1]:
        return True
    shown = [
        (str(each), each.current_player(), list(each.legal_actions())) for each in (one, other)
    ]
    return shown[0] == shown[1]
