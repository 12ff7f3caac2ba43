"""Worlds: determinizations of an environment, drawn by the user's function.

A world is an environment that looks like the live one to the agent; with hidden information each
simulation begins in another. PettingZoo's interface cannot draw them, so the user's function does,
and each is checked against the agent's view.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.copying import hashable
from rave_agents.environments.spaces import EnvAbilities
from rave_agents.environments.worlds import Unit, UserWorlds, WorldFunction
from rave_agents.environments.wrappers import chain, class_name
from rave_agents.errors import GameError
from rave_pettingzoo.checks import check_begun
from rave_pettingzoo.classic_knowledge import kind_of
from rave_pettingzoo.cloning import CLONER, searched_env
from rave_pettingzoo.structure import check_env, env_name, inner_env, masked_function, raw_env


class _ZooWorlds(UserWorlds):
    """Worlds of a PettingZoo environment."""

    def _adopted(self, world: Any) -> Any:
        try:
            check_env(world)
        except TypeError:
            raise GameError(f"worlds must return an environment, got {world!r}.") from None
        return searched_env(world, keep_observations=True)


class FunctionWorlds(_ZooWorlds):
    """Worlds of an AEC environment by the user's function.

    Args:
        env: the true position, whose selected agent's knowledge counts; it must not change.
        unit: draws the seed of the generator that the function gets.
        function: see ``WorldFunction``.
        clone: copies the position; by default exactly, its generators included.
    """

    def __init__(
        self,
        env: Any,
        unit: Unit,
        function: WorldFunction,
        clone: Callable[[Any], Any] | None = None,
    ) -> None:
        clone = CLONER.search_cloner(env) if clone is None else clone
        super().__init__(env, env.agent_selection, unit, function, clone)
        self._types = _type_names(env)
        self._legal = _legal(env)
        self._view = view(env, self._agent)

    def _check(self, world: Any) -> None:
        if _type_names(world) != self._types:
            raise GameError(
                f"worlds returned the environment {env_name(world)} where {env_name(self._env)} "
                "was expected, with the same agents and wrappers."
            )
        check_begun(world)
        mover = _mover(world)
        if mover != self._agent:
            raise GameError(
                f"worlds returned an environment where {mover!r} is to move, not {self._agent!r}."
            )
        legal = _legal(world)
        if legal != self._legal:
            raise GameError(
                f"worlds returned an environment where {legal} are legal, but {self._legal} are."
            )
        seen = view(world, self._agent)
        if seen != self._view:
            raise GameError(
                f"worlds returned an environment that {self._agent!r} can distinguish from the "
                f"true one: it would see {_shown(world, seen)} where it sees "
                f"{_shown(self._env, self._view)}."
            )


class ParallelWorlds(_ZooWorlds):
    """Worlds of a Parallel environment by the user's function.

    Parallel environments have no ``observe``, so only their agents are compared.
    """

    def _check(self, world: Any) -> None:
        if _type_names(world) != _type_names(self._env) or world.agents != self._env.agents:
            raise GameError(
                f"worlds returned the environment {env_name(world)} with the agents "
                f"{world.agents} where {env_name(self._env)} with {self._env.agents} was expected."
            )


def _shown(env: Any, seen: Hashable) -> str:
    """Format a view of the agent to move for messages."""
    return repr(seen if isinstance(seen, str) else env.observe(env.agent_selection))


def view(env: Any, agent: Any) -> Hashable:
    """Return what an agent sees: its observation, and its mask if it is to move.

    At another agent's turn some environments show that agent's mask, which is left out.
    """
    if agent not in env.agents:
        return None  # Agents that are out observe nothing, and some environments raise.
    kind = kind_of(raw_env(env))
    if kind is not None and kind.view is not None:
        return kind.view(raw_env(env), env.possible_agents.index(agent))
    try:
        seen = env.observe(agent)
    except Exception as error:
        if is_raised_by_handler(error):
            raise
        if agent == env.agent_selection:
            raise
        return None  # Some environments show nothing to agents that are not to move.
    if agent == env.agent_selection:
        info = env.infos.get(agent)
        mask = info.get("action_mask") if isinstance(info, Mapping) else None
        return hashable(seen), hashable(mask)
    if isinstance(seen, Mapping):
        seen = {key: value for key, value in seen.items() if key != "action_mask"}
    return hashable(seen), None


def _legal(env: Any) -> list[int]:
    """The legal actions of the selected agent."""
    kind = kind_of(env)
    return sorted((masked_function(env) if kind is None else kind.legal)(env))


def _type_names(env: Any) -> Sequence[Any]:
    names = [class_name(each) for each in chain(env, inner_env)]
    return [*names, *env.possible_agents]


def _mover(env: Any) -> Any:
    """The agent to move; None after the end."""
    agent = EnvAbilities(env).agent_selection
    if agent not in env.agents or env.terminations[agent] or env.truncations[agent]:
        return None
    return agent
