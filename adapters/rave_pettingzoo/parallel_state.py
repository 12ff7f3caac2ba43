"""Parallel environments as a GameState."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import pettingzoo

from rave_agents.agents.views import View
from rave_agents.config.search_config import SearchConfig
from rave_agents.environments.chance import Chance
from rave_agents.environments.copying import hashable
from rave_agents.environments.environment_simulator import (
    EnvironmentSimulator,
    OpenLoopSimulator,
    WorldSimulator,
)
from rave_agents.environments.environment_state import TERMINAL
from rave_agents.environments.masks import shown_mask
from rave_agents.environments.plan import AUTO, ValueFunction
from rave_agents.environments.worlds import Unit, WorldFunction
from rave_agents.errors import UnsupportedGameError
from rave_agents.game.game_state import PlayerId
from rave_agents.game.validation import checked
from rave_pettingzoo.checks import check_begun
from rave_pettingzoo.env_facts import EnvFacts, Options, env_facts
from rave_pettingzoo.states import ZooState
from rave_pettingzoo.structure import allowed_actions, check_env, masks_of
from rave_pettingzoo.worlds import ParallelWorlds


class ParallelState(ZooState):
    """A Parallel environment as a GameState: its agents move at the same time.

    An environment whose agents take turns (the masks of all but one allow one action or none) can
    be searched as a turn-based game: the other agents then take their only action.

    Chance in the environment's steps is detected once (``chance`` has the report). Each simulation
    then draws its own outcomes. In a turn-based game different outcomes get different nodes, as in
    ``AECState``. With simultaneous moves, or with ``worlds``, a node is a sequence of joint
    actions with all their outcomes (open loop); agents that are out have the action 0, which does
    nothing.

    Args:
        env: the environment, after ``reset``; it is not changed.
        observations: the observations that its last ``reset`` or ``step`` returned, for the masks.
        infos: the infos that its last ``reset`` or ``step`` returned, for the masks.
        simultaneous: whether agents move at the same time; by default, whether several have a
            choice now. A turn-based game must remain turn-based to its end.
        worlds: in an environment with hidden information, the source of environments that look
            like this one to ``player``; see ``rave_pettingzoo.worlds.WorldFunction``. Only a
            world's agents are checked, since Parallel environments have no ``observe``.
        player: the agent whose knowledge the worlds agree with; needed with ``worlds``.
        chance: as for ``AECState``.
        horizon: steps of the environment, in each of which all agents act, that a simulation looks
            ahead; else as for ``AECState``.
        discount: the factor on a reward for every such step, above 0 and at most 1.
        evaluator: as for ``AECState``.

    Raises:
        TypeError, ValueError, CloneError, UnsupportedGameError: as ``AECState``.
    """

    __slots__ = ("_legal", "_seen")

    def __init__(
        self,
        env: Any,
        *,
        observations: Mapping[Any, Any],
        infos: Mapping[Any, Any],
        simultaneous: bool | None = None,
        worlds: WorldFunction | None = None,
        player: Any = None,
        chance: Chance | str = Chance.DRAW,
        horizon: int | str | None = AUTO,
        discount: float = 1.0,
        evaluator: ValueFunction | None = None,
    ) -> None:
        check_env(env)
        checked("simultaneous", bool | None, simultaneous)
        options = Options(
            worlds=worlds,
            chance=chance,
            horizon=horizon,
            discount=discount,
            evaluator=evaluator,
            player=player,
            simultaneous=simultaneous,
        )
        options.checked_plan(env)
        if not isinstance(env, pettingzoo.ParallelEnv):
            raise TypeError(f"env must be a Parallel environment, got {type(env).__name__}.")
        facts = env_facts(env, options, lambda: masks_of(env, observations, infos))
        self._begin(env, facts, observations, infos)

    @classmethod
    def at(
        cls,
        env: Any,
        facts: EnvFacts,
        observations: Mapping[Any, Any],
        infos: Mapping[Any, Any],
    ) -> Self:
        """Return the position of an environment whose facts are known."""
        check_begun(env)
        state = object.__new__(cls)
        state._begin(env, facts, observations, infos)
        return state

    def _begin(
        self,
        env: Any,
        facts: EnvFacts,
        observations: Mapping[Any, Any],
        infos: Mapping[Any, Any],
    ) -> None:
        player = facts.options.player
        if facts.worlds is not None and player not in facts.agents:
            raise ValueError(
                f"player must be the agent that the worlds are for, one of {list(facts.agents)}, "
                f"got {player!r}."
            )
        # Parallel environments cannot be asked for masks again: those of the last step come along.
        copy = facts.copy(env, lambda: masks_of(env, observations, infos))
        super().__init__(copy, facts)
        self._look(observations, infos)
        # Decided at the first position, for the whole search: a tree mixes no two kinds of nodes.
        if facts.options.simultaneous is None and self._player == PlayerId.SIMULTANEOUS:
            self._shared = facts.changed(simultaneous=True)
        self._set_player()
        self._check_turns("")

    def _look(self, observations: Mapping[Any, Any], infos: Mapping[Any, Any]) -> None:
        self._seen: Any = observations
        self._legal: dict[Any, Sequence[int]] = {
            agent: self._allowed(agent, observations, infos) for agent in self.env.agents
        }
        self._set_player()

    def _allowed(
        self, agent: Any, observations: Mapping[Any, Any], infos: Mapping[Any, Any]
    ) -> Sequence[int]:
        size = self._size(agent)
        mask = shown_mask(observations.get(agent), infos.get(agent), size)
        if mask is None and self._shared.mask_source is not None:
            mask = self._shared.mask_source(self.env, agent)
        return allowed_actions(mask, size, agent)

    def _size(self, agent: Any) -> int:
        """The number of an agent's actions."""
        facts = self._shared
        return int(facts.bound.spaces[facts.seats[agent]].n)

    def _set_player(self) -> None:
        # Whose turn it is shows in the masks: the others have one action, or none.
        choosing = [agent for agent, legal in self._legal.items() if len(legal) > 1]
        forced = [agent for agent, legal in self._legal.items() if len(legal) == 1]
        if not choosing and not forced:
            self._player = TERMINAL
        elif len(choosing) > 1 or self._shared.simultaneous:
            self._player = int(PlayerId.SIMULTANEOUS)
        else:
            self._player = self._shared.agents.index((choosing or forced)[0])

    def _check_turns(self, after: str) -> None:
        if self._player == PlayerId.SIMULTANEOUS and not self._shared.simultaneous:
            raise UnsupportedGameError(
                f"{self.env}: several agents have a choice at the same time{after}, but it began "
                "as a turn-based game: pass simultaneous=True to ParallelState."
            )

    def has_simultaneous_moves(self) -> bool:
        """True if agents move at the same time."""
        return self._shared.simultaneous

    def seat(self, agent: Any) -> int:
        """Return the seat of an agent."""
        return self._shared.agents.index(agent)

    @property
    def _open_loop(self) -> bool:
        """True if nodes are joint actions with all their outcomes (open loop)."""
        facts = self._shared
        return facts.simultaneous and (facts.draws or facts.worlds is not None)

    def hides_information(self) -> bool:
        """True if something is hidden from agents for which the search has no worlds of its own."""
        return self._shared.hides and not (
            self._shared.simultaneous and self._shared.worlds is not None
        )

    def draws_chance(self) -> bool:
        """True if the environment draws random outcomes of actions in a turn-based game."""
        return self._shared.draws and not self._shared.simultaneous

    def check_worlds(self, config: SearchConfig) -> None:
        """Raise UnsupportedGameError if a search of this configuration has no worlds here."""
        if self.hides_information() and config.hidden == "determinize":
            raise UnsupportedGameError(self._shared.no_worlds())

    def _world_source(self, unit: Unit, function: WorldFunction) -> Callable[[], Any]:
        return ParallelWorlds(self.env, self._shared.options.player, unit, function, self._clone)

    def _seen_by(self, player: int) -> Hashable:
        return hashable(self._observed(player))

    def _seen_by_all(self) -> Hashable:
        return hashable(self._seen)

    def _with(self, env: Any) -> Self:
        new = super()._with(env)
        new._legal, new._seen = self._legal, self._seen
        return new

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        """Return the actions that the mask allows the agent to move, or a given agent."""
        player = self._player if player is None else player
        if player < 0 or self._player == TERMINAL:
            return []
        legal = self._legal.get(self._shared.agents[player], [])
        # Another outcome may have put the agent out: joint actions keep an entry for each seat.
        return [0] if self._open_loop and not legal else legal

    def all_actions(self, player: int) -> Sequence[int]:
        """Return all actions of an agent, those that its mask forbids included."""
        return range(self._size(self._shared.agents[player]))

    def apply_action(self, action: int) -> None:
        """Step the environment with this action and the single action of each other agent."""
        mover = self._shared.agents[self._player]
        actions = {agent: legal[0] for agent, legal in self._legal.items() if len(legal) == 1}
        super().apply_action({**actions, mover: action})
        self._check_turns(f" after {action}")

    def apply_actions(self, actions: Sequence[int]) -> None:
        """Step the environment with an action of every agent, in the order of the seats."""
        agents, legal = self._shared.agents, self._legal
        super().apply_action(
            {agent: actions[seat] for seat, agent in enumerate(agents) if legal.get(agent)}
        )

    @property
    def _last(self) -> Hashable:
        return tuple(self._line[1].values()) if self._line else ()

    def _step(self, actions: Mapping[Any, int]) -> None:
        observations, rewards, ended, cut, infos = self.env.step(dict(actions))
        for agent, reward in rewards.items():
            self._account.add(self._shared.seats[agent], reward)
        # Some environments keep agents that are out in ``agents`` until the next step.
        if all(ended.get(agent) or cut.get(agent) for agent in self.env.agents):
            self._player = TERMINAL
        else:
            self._look(observations, infos or {})

    def _observed(self, player: int) -> Any:
        return self._seen.get(self._shared.agents[player])

    def policy_view(self, player: int) -> View:
        """Return the view of a policy in this seat, as in the environment's own loop."""
        agent = self._shared.agents[player]
        mask = np.zeros(self._size(agent), np.int8)
        mask[list(self.legal_actions(player))] = 1
        return View(self.env, self._observed(player), mask, agent, agent, self._seen, {})

    @property
    def _simulator_type(self) -> type[EnvironmentSimulator]:
        return OpenLoopSimulator if self._open_loop else WorldSimulator

    def __str__(self) -> str:
        return str(self.env)
