"""Plays one game between two agents: opening, seats, chance, seeds.

Games ``2 i`` and ``2 i + 1`` start from opening ``i`` with the same chance outcomes; the first
agent has seat 0 in one and seat 1 in the other. With n other than two players, seat ``i % n``
belongs to the first agent in one game and to the second in the other, and all other seats to the
other agent; so in single-player games each plays alone.
"""

import contextlib
import dataclasses
import functools
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rave_agents.agents.answers import checked_action
from rave_agents.agents.named_agents import AgentSpec, agent_type, make_agent
from rave_agents.arena.referee import Referee, decided_returns
from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.engines.client.process import EngineFailedError
from rave_agents.errors import ForfeitError
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.agent import Agent, AgentAbilities, Effort
from rave_agents.game.endless import until_over
from rave_agents.game.game_state import (
    GameState,
    is_simultaneous,
    joint_action,
    legal_actions_of,
    moving_players,
)
from rave_agents.game.utility_limits import UtilityLimits, utility_limits
from rave_agents.records.openings import (
    agent_seed,
    chance_stream,
    draw_opening,
    draw_outcome,
    initial_decision,
    single_mover,
    start_state,
)
from rave_agents.records.record import GameRecord, seats_of_first
from rave_agents.searcher.clock import Clock


@dataclasses.dataclass(frozen=True)
class Table:
    """The settings shared by all games of a match."""

    game: Game
    """The game."""
    agents: tuple[AgentSpec, AgentSpec]
    """The first and second agent; specs include their limits."""
    seed: int = 0
    """The seed of everything random."""
    opening_plies: int = 0
    """Number of random moves of each opening, after ``start``."""
    clock: Clock | None = None
    """The time per side and game; None for no limit."""
    referee: AgentSpec | None = None
    """The spec of a GTP program that checks moves and results, or None."""
    forfeit: bool = False
    """True if a GTP program that fails to play loses its games instead of raising an error."""
    start: tuple[int, ...] = ()
    """The actions and chance outcomes at the start of all openings."""

    @property
    def name(self) -> str:
        """The game's name."""
        return self.game.name

    def opening(self, number: int) -> tuple[int, ...]:
        """The actions and chance outcomes of the opening of the game with this number, from 0.

        Raises:
            ValueError: if no opening can be found.
        """
        return draw_opening(self.game, self.opening_plies, self.seed, number // 2, self.start)

    def owners(self, number: int) -> tuple[int, ...]:
        """For each seat, the index of the agent that has it: 0 for the first, 1 for the second."""
        players = self.game.num_players
        mine = seats_of_first(number, self._first_seat(number), players)
        return tuple([0 if seat in mine else 1 for seat in range(players)])

    def _first_seat(self, number: int) -> int:
        """The first agent's seat of two; else the seat that an agent has alone."""
        players = self.game.num_players
        return number % 2 if players == 2 else number // 2 % players

    def warm_up(self) -> None:
        """Let both agents search briefly, once per process, see ``warm_up``."""
        for who in self.agents:
            if (str(who), self.name) not in _warm:
                _warm.add((str(who), self.name))
                warm_up(who, self.game)

    def play(self, number: int) -> GameRecord:
        """Play the game with this number.

        Both agents are informed of every action and chance outcome, including the opening's and
        their own, before it is applied. An agent that raises ``ForfeitError``, runs out of time, or
        whose move the referee refuses, loses the game; with ``forfeit``, so does a GTP program that
        fails to play. The agents' method ``close``, if any, is called at the end.

        Raises:
            AgentFailedError: for other exceptions of an agent, or an illegal action.
            Exception: any exception of the game or the referee, unchanged.
        """
        opening, owners = self.opening(number), self.owners(number)
        seats = self._make_seats(number, owners)
        actions: list[int] = []
        ending, fault = "", False
        with contextlib.ExitStack() as stack:
            for seat in seats:
                stack.callback(AgentAbilities(seat.agent).close)
            referee = None if self.referee is None else Referee(self.referee, self.game)
            if referee is not None:
                stack.callback(referee.close)
            state = start_state(self.game, self.seed, number // 2)
            chance = functools.partial(chance_stream, self.seed, number // 2)
            try:
                _play_moves(state, actions, seats, iter(opening), chance, referee)
                returns = [float(value) for value in state.returns()]
                if referee is not None:
                    returns, ending = referee.result(returns, state)
            except AgentFailedError as failed:
                if not (self.forfeit and isinstance(failed.__cause__, EngineFailedError)):
                    raise
                ending, fault = f"seat {failed.seat} failed: {failed.__cause__}", True
                returns = decided_returns(state, failed.seat)
            except _LostError as lost:
                ending, fault = f"seat {lost.seat} {lost.reason}", lost.fault
                returns = decided_returns(state, lost.seat)
        return GameRecord(
            number=number,
            first_seat=self._first_seat(number),
            opening=opening,
            actions=tuple(actions),
            returns=tuple(returns),
            efforts=(_effort(0, owners, seats), _effort(1, owners, seats)),
            ending=ending,
            fault=fault,
        )

    def _make_seats(self, number: int, owners: Sequence[int]) -> "list[_Seat]":
        seats: list[_Seat] = []
        made = [0, 0]
        for seat, index in enumerate(owners):
            # An agent with several seats has other random numbers in each.
            seed = agent_seed(self.seed, number, index + 2 * made[index])
            made[index] += 1
            try:
                # Specs were parsed and checked before the first game: make the agent directly.
                who = self.agents[index].with_defaults({"seed": seed})
                agent = who.make(self.game, seat, seed)
            except Exception as error:
                raise AgentFailedError(seat) from error
            clock = None if self.clock is None else Clock.parse(self.clock)  # A copy for the seat.
            seats.append(_Seat(seat, agent, clock))
        return seats

    def describe_failure(self, number: int, error: Exception) -> tuple[str, Exception]:
        """A description of the failed game, and its error."""
        game = f"Game {number + 1}"
        if not isinstance(error, AgentFailedError) or not isinstance(error.__cause__, Exception):
            return game, error
        who = self.agents[self.owners(number)[error.seat]]
        return f"{game}, seat {error.seat}, agent {who}", error.__cause__

    def read(self, line: Mapping[str, Any]) -> GameRecord:
        """The record in a line of a file.

        Raises:
            ValueError: if it has none, or impossible returns, naming the field.
        """
        record = GameRecord.from_dict(line, self.game.num_players)
        limits = self._utility_limits
        if limits.numbers(record.returns) is None:
            raise ValueError(
                f"it has the returns {list(record.returns)}, and those of the {limits.players} "
                f"players of {self.name} are from {limits.low:g} to {limits.high:g}."
            )
        return record

    @functools.cached_property
    def _utility_limits(self) -> UtilityLimits:
        return utility_limits(self.game.new_initial_state())


_warm: set[tuple[str, str]] = set()
"""Pairs of agent and game that this process has warmed up."""


class AgentFailedError(Exception):
    """An agent raised the cause of this exception, or played an illegal action."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat)
        self.seat = seat
        """The agent's seat."""


class _LostError(Exception):
    """A seat loses the game for a reason outside its rules."""

    def __init__(self, seat: int, reason: str, *, fault: bool = False) -> None:
        super().__init__(reason)
        self.seat = seat
        self.reason = reason
        self.fault = fault


def counts_simulations(who: AgentSpec) -> bool:
    """True for an agent by spec that takes a number of simulations."""
    return who.is_named and "simulations" in agent_type(who.name).parameters


def warm_up(who: AgentSpec, game: Game) -> None:
    """Let an agent that counts simulations run a few of them.

    Then one-time compilation and loading is not part of any measured time. If the agent fails, it
    will fail again in its first game, where the error names the agent and the place.
    """
    if not counts_simulations(who):
        return
    assert who.is_named
    parameters = {**who.parameters, "simulations": 2, "seed": 0}
    for limit in ("seconds", "clock"):
        parameters.pop(limit, None)
    try:
        state = initial_decision(game, 0)
        seat = max(0, int(state.current_player()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # These warnings were shown when the run was checked.
            make_agent(AgentSpec(who.name, parameters), game, seat).step(state)
    except Exception as error:
        if is_raised_by_handler(error):
            raise


class _Seat:
    """An agent in its seat; its exceptions name the seat, or end the game."""

    def __init__(self, number: int, agent: Agent, clock: Clock | None) -> None:
        self.number = number
        self.agent = agent
        self._clock = clock
        self._inform_joint = AgentAbilities(agent).inform_actions

    def ask(self, method: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return method(*arguments)
        except ForfeitError as error:
            raise _LostError(self.number, str(error), fault=error.fault) from error
        except Exception as error:
            raise AgentFailedError(self.number) from error

    def inform_joint(self, state: GameState, joint: Sequence[int]) -> None:
        if self._inform_joint is not None:
            self.ask(self._inform_joint, state, joint)

    def choose(self, state: GameState) -> int:
        started = time.perf_counter()
        action: int = self.ask(self._legal_action, state)
        if self._clock is not None and not self._clock.charge(time.perf_counter() - started):
            raise _LostError(self.number, "lost on time")
        return action

    def _legal_action(self, state: GameState) -> int:
        answer = self.agent.step(state.clone())  # A clone: the agent cannot damage the game.
        legal = legal_actions_of(state, self.number)
        if type(answer) is int and answer in legal:
            return answer
        return int(checked_action(answer, legal, AgentAbilities(self.agent).advice))


def _play_moves(
    state: Any,
    actions: list[int],
    seats: Sequence[_Seat],
    opening: Iterator[int],
    chance: Callable[[], np.random.Generator],
    referee: Referee | None,
) -> None:
    """Play on in ``state`` until the end, recording all actions: also those before an error."""
    random: np.random.Generator | None = None  # Costly, and most games have no chance.
    for seat in seats:
        seat.ask(seat.agent.restart)
    # Agents are informed before the action is applied: they see the position it was chosen in.
    for _ in until_over(state):
        if is_simultaneous(state):
            # Nobody sees the others' choice: all choose before the joint action is applied.
            joint = [action for _, action in zip(seats, opening, strict=False)]
            if not joint:
                movers = moving_players(state)
                joint = joint_action(movers, [seats[s].choose(state) for s in movers], len(seats))
            for seat in seats:
                seat.inform_joint(state, joint)
            state.apply_actions(joint)
            actions += joint
            continue
        mover = int(state.current_player())
        action = next(opening, None)
        if action is None and state.is_chance_node():
            random = chance() if random is None else random
            action = draw_outcome(state, random)
        elif action is None:
            action = seats[single_mover(state)].choose(state)
        if referee is not None and (refusal := referee.refusal(action)) is not None:
            reason = f"made a move that the referee refuses: {refusal}"
            raise _LostError(mover, reason, fault=True)
        for seat in seats:
            seat.ask(seat.agent.inform_action, state, mover, action)
        state.apply_action(action)
        actions.append(action)


def _effort(index: int, owners: Sequence[int], seats: Sequence[_Seat]) -> Effort:
    """The effort of the first (0) or the second agent (1) in all of its seats."""
    return Effort.total(seats[s].agent.effort for s, owner in enumerate(owners) if owner == index)
