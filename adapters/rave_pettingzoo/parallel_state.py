"""Parallel environments behind the common interface."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import pettingzoo

from rave_agents.errors import UnsupportedGameError
from rave_agents.game import PlayerId
from rave_pettingzoo.cloning import check_env, search_cloner, searched_env
from rave_pettingzoo.environment_state import TERMINAL, EnvironmentState
from rave_pettingzoo.support import (
    allowed_actions,
    check_begun,
    check_searchable,
    hidden_information,
    no_worlds,
)


class ParallelState(EnvironmentState):
    """A Parallel environment as a GameState: its agents move at the same time.

    Where agents take turns in it, so that the masks of all but one allow a single action or none,
    it can be searched as a game of turns: what the others are left with is taken for them.

    Args:
        env: the environment, after ``reset``; it is not changed.
        observations: what its last ``reset`` or ``step`` gave; needed for the masks.
        infos: likewise.
        simultaneous: whether agents move at the same time; by default, whether several have a
            choice now. What begins as a game of turns must go on so.

    Raises:
        TypeError, ValueError, CloneError, UnsupportedGameError: as ``AECState``.
    """

    def __init__(
        self,
        env: Any,
        *,
        observations: Mapping[Any, Any],
        infos: Mapping[Any, Any],
        simultaneous: bool | None = None,
    ) -> None:
        check_env(env)
        if not isinstance(env, pettingzoo.ParallelEnv):
            raise TypeError(f"env must be a Parallel environment, got {type(env).__name__}.")
        if simultaneous is not None and not isinstance(simultaneous, bool):
            raise TypeError(f"simultaneous must be True, False or None, got {simultaneous!r}.")
        check_searchable(env, simultaneous=True)
        check_begun(env)
        self.env: Any = searched_env(env)
        """The copy of the environment."""
        self._agents = tuple(env.possible_agents)
        self._sizes = {agent: int(env.action_space(agent).n) for agent in self._agents}
        self._clone = search_cloner(self.env)
        self._returns = dict.fromkeys(self._agents, 0.0)
        self._simultaneous = False
        self._look(observations, infos)
        if simultaneous is None:
            simultaneous = self._player == PlayerId.SIMULTANEOUS
        self._simultaneous = simultaneous
        self._set_player()
        self._check_turns("")

    def _look(self, observations: Mapping[Any, Any], infos: Mapping[Any, Any]) -> None:
        self._legal = {
            agent: allowed_actions(observations.get(agent), infos.get(agent), self._sizes[agent])
            for agent in self.env.agents
        }
        self._set_player()

    def _set_player(self) -> None:
        choosing = [agent for agent, legal in self._legal.items() if len(legal) > 1]
        forced = [agent for agent, legal in self._legal.items() if len(legal) == 1]
        if not choosing and not forced:
            self._player = TERMINAL
        elif len(choosing) > 1 or self._simultaneous:
            self._player = int(PlayerId.SIMULTANEOUS)
        else:
            self._player = self._agents.index((choosing or forced)[0])

    def _check_turns(self, after: str) -> None:
        if self._player == PlayerId.SIMULTANEOUS and not self._simultaneous:
            raise UnsupportedGameError(
                f"{self.env}: several agents have a choice at the same time{after}, but it began "
                "as a game of turns: pass simultaneous=True to ParallelState."
            )

    def has_simultaneous_moves(self) -> bool:
        """Whether agents move at the same time."""
        return self._simultaneous

    def seat(self, agent: Any) -> int:
        """The number of an agent as a player."""
        return self._agents.index(agent)

    def hides_information(self) -> bool:
        """Whether something is known to be hidden from agents."""
        return hidden_information(self.env) is not None

    def worlds(self, player: int, unit: Callable[[], float]) -> Callable[[], Self]:
        """None: where agents move at the same time and something is hidden there is no search.

        Raises:
            UnsupportedGameError: always.
        """
        raise UnsupportedGameError(no_worlds(self.env))

    def clone(self) -> Self:
        """A copy that shares nothing that can change with this state."""
        new = object.__new__(type(self))
        vars(new).update(vars(self))
        new.env = self._clone(self.env)
        new._returns = self._returns.copy()
        return new

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        """The actions that the mask allows the agent to move, or any agent."""
        player = self._player if player is None else player
        return self._legal.get(self._agents[player], []) if player >= 0 else []

    def apply_action(self, action: int) -> None:
        """Step the environment with this action and what the others are left with."""
        mover = self._agents[self._player]
        actions = {agent: legal[0] for agent, legal in self._legal.items() if len(legal) == 1}
        self._step({**actions, mover: action})
        self._check_turns(f" after {action}")

    def apply_actions(self, actions: Sequence[int]) -> None:
        """Step the environment with an action of every agent, in the order of the seats."""
        self._step(
            {
                agent: actions[seat]
                for seat, agent in enumerate(self._agents)
                if self._legal.get(agent)
            }
        )

    def _step(self, actions: Mapping[Any, int]) -> None:
        observations, rewards, ended, cut, infos = self.env.step(dict(actions))
        for agent, reward in rewards.items():
            self._returns[agent] += reward
        if all(ended.get(agent) or cut.get(agent) for agent in self.env.agents):
            self._legal = {}
            self._player = TERMINAL
            return
        self._look(observations, infos)

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
