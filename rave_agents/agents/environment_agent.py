"""The base of PettingZoo's and Gymnasium's agents: ``predict``, and one agent per row."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeVar

import numpy as np

from rave_agents.agents.named_agents import AgentSpec
from rave_agents.agents.own_agents import Policy
from rave_agents.agents.searching_agent import SEARCH_PARAMETERS, SearchingAgent
from rave_agents.config.search_config import SearchConfig
from rave_agents.environments.spaces import SpaceAbilities
from rave_agents.errors import UnknownNameError
from rave_agents.game.arguments import check_arguments, unknown_name


class EnvironmentAgent(Policy):
    """An agent bound to a live environment, which it reads instead of observations.

    ``act`` is this package's interface, ``predict`` that of Stable-Baselines3.
    """

    is_bound = True
    env: Any
    members: Sequence["EnvironmentAgent"] = ()
    """Agents for each environment of a vectorised one; else empty."""

    def act(self, observation: Any = None, action_mask: Any = None) -> Any:
        """Choose an action for the live environment.

        In a Parallel environment of PettingZoo, ``step`` takes the actions of all agents at once:
        make an agent for each player.

        Args:
            observation: the environment's last observation, for its mask and for an evaluator of
                batches; otherwise the agent reads the environment itself. In a Parallel environment
                the player's observation from ``reset`` or ``step``, or the whole mapping if the
                search needs the other agents' masks, too.
            action_mask: the mask, if the observation has none; None for that of the environment. In
                a Parallel environment the player's mask, or a mapping of all masks or infos.

        Raises:
            ValueError: if the environment has not been reset, if the selected agent is out (call
                ``step(None)`` then), or if the mask differs from the environment's current one.
            CloneError: if the environment cannot be copied correctly; the message says why.
        """
        if self.members:
            return self._predict_all(observation, np.array([False]), action_mask)
        return self._act(self.env, observation, action_mask)

    def _act(self, env: Any, observation: Any, mask: Any) -> Any:
        raise NotImplementedError

    def predict(
        self,
        observation: Any = None,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
        *,
        action_masks: Any = None,
    ) -> tuple[Any, Any]:
        """Choose an action, with the interface of a Stable-Baselines3 model.

        Args:
            observation: as for ``act``; or an array of observations, one for each environment,
                as a vectorised environment returns them.
            state: returned unchanged.
            episode_start: whether an episode begins, one entry for each environment; there the
                agent is reset.
            deterministic: unused.
            action_masks: as for ``act``; or an array of masks, one for each environment.

        Returns:
            The action and ``state``. For an array of observations, an array of actions, one for
            each environment.

        Raises:
            ValueError: as ``act``; or for more observations than the agent has environments.
        """
        starts = np.ravel(np.asarray(episode_start if episode_start is not None else False))
        if self.members:
            return self._predict_all(observation, starts, action_masks), state
        if starts.any():
            self.reset()
        count = self._batch_size(observation, action_masks)
        if count is None:
            return self.act(observation, action_masks), state
        if count != 1:
            raise ValueError(
                f"{type(self).__name__} is bound to one environment and was given {count} "
                "observations: make it for the vectorised environment itself."
            )
        mask = None if action_masks is None else np.asarray(action_masks).reshape(-1)
        return np.array([self.act(_entry(observation, 0), mask)]), state

    def _predict_all(self, observation: Any, starts: Any, masks: Any) -> Any:
        """Ask the agents of all environments of a vectorised one."""
        count = self._batch_size(observation, masks)
        if count is not None and count != len(self.members):
            raise ValueError(
                f"{type(self).__name__} is bound to {len(self.members)} environments and was given "
                f"{count} observations."
            )
        actions = []
        for index, member in enumerate(self.members):
            if len(starts) == len(self.members) and starts[index]:
                member.reset()
            mask = None if masks is None else masks[index]
            actions.append(member.act(_entry(observation, index), mask))
        return np.array(actions)

    def reset(self) -> None:
        """Start a new game or episode: forget the last one, and restart the clock. Optional."""
        self._forget_game()
        for member in self.members:
            member.reset()

    def _forget_game(self) -> None:
        """Forget the last game."""

    def _bind_members(self, rows: Sequence[tuple[Any, Any]]) -> None:
        """Make an agent like this one for each row, an environment and a player."""
        members = []
        for number, (env, player) in enumerate(rows):
            member = copy.copy(self)
            # ``player`` by ``vars``: setting it is refused once the agent is made.
            member.env, vars(member)["player"] = env, player
            member._seed_member(number)
            members.append(member)
        self.members = members

    def _seed_member(self, number: int) -> None:
        """Give the agent of a row its own random numbers."""

    def _become_independent(self) -> None:
        """Replace the mutable state that a shallow copy shares."""

    def _observation_space(self) -> Any:
        """Return the space of the observations that ``act`` takes; None if unknown."""
        return None

    def _batch_size(self, observation: Any, masks: Any) -> int | None:
        if masks is not None and not isinstance(masks, Mapping) and np.ndim(masks) == 2:
            return len(masks)
        space = self._observation_space()
        # In a dictionary each entry is batched: the first one shows the number.
        while isinstance(observation, Mapping) and (inner := SpaceAbilities(space).spaces):
            name = next(iter(inner))
            if name not in observation:
                return None
            observation, space = observation[name], inner[name]
        shape = SpaceAbilities(space).shape
        if observation is None or shape is None or isinstance(observation, Mapping):
            return None
        given = np.shape(observation)
        return int(given[0]) if given[1:] == tuple(shape) and given else None

    def __copy__(self) -> Self:
        """Return an independent agent with a copy of the tree, bound to the same environment."""
        twin = type(self).__new__(type(self))
        vars(twin).update(vars(self))
        twin.members = [copy.copy(member) for member in self.members]
        twin._become_independent()
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return what ``copy.copy`` does; bound to the environment's copy if there is one already.

        The environment itself is not copied: ``copy.deepcopy`` loses the position of most.
        """
        twin = copy.copy(self)
        memo[id(self)] = twin
        twin.env = memo.get(id(self.env), self.env)
        return twin


def _entry(observation: Any, index: int) -> Any:
    """One of an array of observations."""
    if isinstance(observation, Mapping):
        return {name: _entry(value, index) for name, value in observation.items()}
    return None if observation is None else observation[index]


def environment_spec(
    spec: str | AgentSpec, env: Any, defaults: Mapping[str, Any], *, plain: bool = False
) -> AgentSpec:
    """Check the arguments of an environment framework's ``make_agent``, and fill in defaults.

    Args:
        spec: the name of a preset with parameters, as text or parsed.
        env: the live environment.
        defaults: values for parameters that the spec leaves open.
        plain: whether ``random`` is an agent there, which takes a ``seed``.

    Raises:
        UnknownNameError: for an agent or a parameter that does not exist.
        TypeError: without an environment, or for an invalid spec.
    """
    if env is None:
        raise TypeError("make_agent needs env, the live environment.")
    parsed = AgentSpec.parse(spec) if isinstance(spec, str) else spec
    if not isinstance(parsed, AgentSpec):
        raise TypeError(f"spec must be a text such as 'rave(simulations=500)', got {spec!r}.")
    names = (*SearchConfig.preset_names(), *(["random"] if plain else []))
    if parsed.name not in names:
        raise UnknownNameError(unknown_name("agent", parsed.name, names))
    is_random = parsed.name == "random"
    preset = SearchConfig.preset("uct" if is_random else parsed.name)
    preset.check_changes("parameter of make_agent", defaults, SEARCH_PARAMETERS)
    parsed = parsed.with_defaults(defaults)
    what = f"parameter of {parsed.name}"
    if is_random:
        check_arguments(what, parsed.parameters, ("seed",), UnknownNameError)
    else:
        also = ("chance", "horizon", "discount", *SEARCH_PARAMETERS)
        see = f"rave-agents agents {parsed.name}"
        preset.check_changes(what, parsed.parameters, also, UnknownNameError, see)
    return parsed


_Kind = TypeVar("_Kind", bound=SearchingAgent)


def kind_of_preset(base: type[_Kind], preset: str) -> type[_Kind]:
    """Return the class of agents with a preset: that of its base class's module, or a new one."""
    kinds = (kind for kind in base.__subclasses__() if kind.__module__ == base.__module__)
    known = next((kind for kind in kinds if kind.preset == preset), None)
    return type(base.__name__, (base,), {}, preset=preset) if known is None else known
