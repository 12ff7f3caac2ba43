"""Parallel environments in which one agent moves at a time, behind the common interface."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import pettingzoo

from rave_agents.errors import UnsupportedGameError
from rave_agents.game import PlayerId
from rave_pettingzoo.cloning import check_env, search_cloner, searched_env
from rave_pettingzoo.environment_state import TERMINAL, EnvironmentState
from rave_pettingzoo.support import allowed_actions, check_begun, check_searchable


class ParallelState(EnvironmentState):
    """A Parallel environment in which one agent moves at a time, as a GameState.

    An agent moves where it alone has a choice: the masks of all others allow one action, which is
    taken for them, or none. Where two have a choice they move at the same time, which is refused.

    Args:
        env: the environment, after ``reset``; it is not changed.
        observations: what its last ``reset`` or ``step`` gave; needed for the masks.
        infos: likewise.
        see_hidden: whether the search may look at what the environment hides from its agents.

    Raises:
        TypeError, ValueError, CloneError, UnsupportedGameError: as ``AECState``.
    """

    def __init__(
        self,
        env: Any,
        *,
        observations: Mapping[Any, Any],
        infos: Mapping[Any, Any],
        see_hidden: bool = False,
    ) -> None:
        check_env(env)
        if not isinstance(env, pettingzoo.ParallelEnv):
            raise TypeError(f"env must be a Parallel environment, got {type(env).__name__}.")
        check_searchable(env, see_hidden=see_hidden)
        check_begun(env)
        self.env: Any = searched_env(env)
        """The copy of the environment."""
        self._agents = tuple(env.possible_agents)
        self._sizes = {agent: int(env.action_space(agent).n) for agent in self._agents}
        self._clone = search_cloner(self.env)
        self._returns = dict.fromkeys(self._agents, 0.0)
        self._look(observations, infos)
        if self._player == PlayerId.SIMULTANEOUS:
            raise UnsupportedGameError(
                f"{env} cannot be searched: several agents have a choice at the same time, and "
                "simultaneous moves are not supported yet."
            )

    def _look(self, observations: Mapping[Any, Any], infos: Mapping[Any, Any]) -> None:
        self._legal = {
            agent: allowed_actions(observations.get(agent), infos.get(agent), self._sizes[agent])
            for agent in self.env.agents
        }
        choosing = [agent for agent, legal in self._legal.items() if len(legal) > 1]
        forced = [agent for agent, legal in self._legal.items() if len(legal) == 1]
        if not self._legal:
            self._player = TERMINAL
        elif len(choosing) > 1:
            self._player = int(PlayerId.SIMULTANEOUS)
        elif choosing or forced:
            self._player = self._agents.index((choosing or forced)[0])
        else:
            self._player = TERMINAL

    def clone(self) -> Self:
        """A copy that shares nothing that can change with this state."""
        new = object.__new__(type(self))
        vars(new).update(vars(self))
        new.env = self._clone(self.env)
        new._returns = self._returns.copy()
        return new

    def legal_actions(self) -> Sequence[int]:
        """The actions that the mask allows the agent to move."""
        return self._legal[self._agents[self._player]] if self._player >= 0 else []

    def apply_action(self, action: int) -> None:
        """Step the environment with this action and what the others are left with."""
        mover = self._agents[self._player]
        actions = {agent: legal[0] for agent, legal in self._legal.items() if len(legal) == 1}
        actions[mover] = action
        observations, rewards, ended, cut, infos = self.env.step(actions)
        for agent, reward in rewards.items():
            self._returns[agent] += reward
        if all(ended.get(agent) or cut.get(agent) for agent in self.env.agents):
            observations = infos = self._legal = {}
            self._player = TERMINAL
            return
        self._look(observations, infos)
        if self._player == PlayerId.SIMULTANEOUS:
            raise UnsupportedGameError(
                f"{self.env}: several agents have a choice at the same time after {action}, and "
                "simultaneous moves are not supported yet."
            )

    def returns(self) -> Sequence[float]:
        """The rewards of each seat, summed up from where the first state was made."""
        return [float(self._returns[agent]) for agent in self._agents]

    def num_players(self) -> int:
        """How many agents the environment may have."""
        return len(self._agents)

    def num_distinct_actions(self) -> int:
        """The largest action space's size."""
        return max(self._sizes.values())

    def min_utility(self) -> float:
        """Not known."""
        return -math.inf

    def max_utility(self) -> float:
        """Not known."""
        return math.inf

    def __str__(self) -> str:
        return str(self.env)
