"""Measurements of agents on a game: simulations per second, and time per move."""

import dataclasses
import functools
import random
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rave_agents.agents.named_agents import AgentSpec, make_agent
from rave_agents.arena.play import warm_up
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.agent import Agent
from rave_agents.game.game_state import GameState, drawn_outcome
from rave_agents.records.openings import initial_decision

MOVE_SIMULATIONS = (10, 50, 200)
"""Simulations per move."""

_MOST_SECONDS = 1.0
"""Seconds after which a game of one agent ends early."""

_FIRST_SIMULATIONS = 100
"""Initial number of simulations of the calibration."""

_FEWEST = 2
"""Minimum simulations of a round: with one, OpenSpiel's Python bot cannot choose a move."""


class Round(NamedTuple):
    """One measurement of every agent on a game."""

    number: int
    """Its number, from 0."""
    values: tuple[tuple[float, ...], ...]
    """The baseline's value, then those of the others: simulations per second; or seconds per move,
    for each of ``MOVE_SIMULATIONS``."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON."""
        return self._asdict()


@dataclasses.dataclass(frozen=True, eq=False)
class Measurements:
    """A table of a run whose "games" are rounds, which compare agents on one game."""

    game: Game
    """The game."""
    agents: tuple[AgentSpec, ...]
    """The baseline and the agents."""
    seed: int
    """The seed of everything random."""

    @property
    def name(self) -> str:
        """The game's name."""
        return self.game.name

    def warm_up(self) -> None:
        """Do nothing: the first round warms up."""

    def describe_failure(self, number: int, error: Exception) -> tuple[str, Exception]:
        """The round that failed, and its error."""
        return f"Round {number + 1}", error

    def read(self, line: Mapping[str, Any]) -> Round:
        """Refuse: times of other runs are not comparable."""
        raise ValueError("times are not recorded.")


@dataclasses.dataclass(frozen=True, eq=False)
class SpeedTable(Measurements):
    """Simulations per second from the first position; the last agents may be peers."""

    equals: int
    """How many agents, the first ones, have the same number of simulations."""
    round_seconds: float
    """Target seconds of a round."""

    def play(self, number: int) -> Round:
        """Measure each agent once."""
        agents = zip(self.agents, self._calibrated, strict=True)
        return Round(number, (tuple(self._speed(spec, agent) for spec, agent in agents),))

    @functools.cached_property
    def _position(self) -> GameState:
        state = initial_decision(self.game, self.seed)
        if state.is_terminal():
            raise ValueError(f"{self.name} is over before the first move: nothing to measure.")
        return state

    @functools.cached_property
    def _calibrated(self) -> list[Agent]:
        """The agents, with as many simulations as fit into a round."""
        for spec in self.agents[: self.equals]:
            warm_up(spec, self.game)
        fitting = [self._fitting(spec) for spec in self.agents]
        simulations = min(fitting[: self.equals])
        # Peers are much slower: they get fewer simulations.
        counts = [simulations] * self.equals
        counts += [max(_FEWEST, min(simulations, count)) for count in fitting[self.equals :]]
        return [self._agent(*each) for each in zip(self.agents, counts, strict=True)]

    def _fitting(self, spec: AgentSpec) -> int:
        """Find the number of simulations that takes the agent one round's seconds.

        If a proof ends the search earlier, it is the number of the proof's simulations, which
        rounds repeat.
        """
        simulations = _FIRST_SIMULATIONS
        while True:
            agent = self._agent(spec, simulations)
            agent.step(self._position)
            effort = agent.effort
            if effort.simulations < simulations:
                return max(_FEWEST, effort.simulations)
            # Shorter times are too noisy to extrapolate from.
            if effort.seconds > self.round_seconds / 4:
                return max(_FEWEST, round(simulations * self.round_seconds / effort.seconds))
            simulations *= 2

    def _agent(self, spec: AgentSpec, simulations: int) -> Agent:
        limited = spec.with_defaults({"simulations": simulations, "seed": self.seed})
        return make_agent(limited, self.game, max(0, int(self._position.current_player())))

    def _speed(self, spec: AgentSpec, agent: Agent) -> float:
        before = agent.effort
        simulations, seconds = 0, 0.0
        while seconds < self.round_seconds / 2:
            agent.restart()  # A fresh tree: a kept one would be searched further, not again.
            agent.step(self._position)
            simulations = agent.effort.simulations - before.simulations
            seconds = agent.effort.seconds - before.seconds
        if simulations == 0:
            raise ValueError(f"{spec} ran no simulations on {self.name}: its first move is forced.")
        return simulations / seconds


@dataclasses.dataclass(frozen=True, eq=False)
class MoveTable(Measurements):
    """Times per move with few simulations, where overhead counts most.

    Each agent plays whole games against itself, in all seats, and keeps its trees as in a match.
    """

    @functools.cached_property
    def _warm(self) -> bool:
        for spec in self.agents:
            warm_up(spec, self.game)
        return True

    def play(self, number: int) -> Round:
        """Let each agent play a game with each number of simulations."""
        assert self._warm
        seed = self.seed + number
        rows = (
            tuple(self._seconds(spec, simulations, seed) for spec in self.agents)
            for simulations in MOVE_SIMULATIONS
        )
        return Round(number, tuple(rows))

    def _seconds(self, spec: AgentSpec, simulations: int, seed: int) -> float:
        """Median seconds of a move in the second game of agents, as in a long match."""
        limited = spec.with_defaults({"simulations": simulations, "seed": seed})
        seats = range(self.game.new_initial_state().num_players())
        agents = [make_agent(limited, self.game, seat) for seat in seats]
        self._moves(agents, seed)
        return statistics.median(self._moves(agents, seed + 1))

    def _moves(self, agents: Sequence[Agent], seed: int) -> list[float]:
        """Seconds of each move: of the search, and of following the moves since the last one."""
        state, draw = self.game.new_initial_state(), random.Random(seed)
        spent, moves, ends = [0.0] * len(agents), list[float](), time.perf_counter() + _MOST_SECONDS
        for agent in agents:
            agent.restart()
        while not state.is_terminal() and not (moves and time.perf_counter() > ends):
            mover = state.current_player()
            if mover >= 0:
                begun = time.perf_counter()
                action = int(agents[mover].step(state))
                moves.append(spent[mover] + time.perf_counter() - begun)
                spent[mover] = 0.0
            else:
                action = drawn_outcome(state, draw)
            for seat, agent in enumerate(agents):
                begun = time.perf_counter()
                agent.inform_action(state, mover, action)
                spent[seat] += time.perf_counter() - begun
            state.apply_action(action)
        return moves
