"""Time per move over whole games with few simulations, where overhead counts most."""

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
from rave_agents.game.game_state import drawn_outcome

MOVE_SIMULATIONS = (10, 50, 200)
"""Simulations per move."""

MOST_SECONDS = 1.0
"""Seconds after which a game of one agent ends early."""


class MoveTimes(NamedTuple):
    """The median time per move of every agent in a game against itself."""

    number: int
    """The game's number, from 0."""
    seconds: tuple[tuple[float, ...], ...]
    """For each of ``MOVE_SIMULATIONS``: seconds per move of the baseline, then of the others."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON."""
        return self._asdict()


@dataclasses.dataclass(frozen=True, eq=False)
class MoveTable:
    """The times of agents on one game; each plays all seats, and keeps its trees as in a match."""

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

    @functools.cached_property
    def _warm(self) -> bool:
        for spec in self.agents:
            warm_up(spec, self.game)
        return True

    def play(self, number: int) -> MoveTimes:
        """Let each agent play a game with each number of simulations."""
        assert self._warm
        seed = self.seed + number
        rows = (
            tuple(self._seconds(spec, simulations, seed) for spec in self.agents)
            for simulations in MOVE_SIMULATIONS
        )
        return MoveTimes(number, tuple(rows))

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
        spent, moves, ends = [0.0] * len(agents), list[float](), time.perf_counter() + MOST_SECONDS
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

    def warm_up(self) -> None:
        """Do nothing: the first game warms up."""

    def describe_failure(self, number: int, error: Exception) -> tuple[str, Exception]:
        """The game that failed, and its error."""
        return f"Game {number + 1} of the times per move", error

    def read(self, line: Mapping[str, Any]) -> MoveTimes:
        """Refuse: times of other runs are not comparable."""
        raise ValueError("times are not recorded.")
