"""Worlds: determinizations of an environment, drawn by the user's function.

A world is an environment that looks like the live one to the agent; with hidden information each
simulation begins in another. PettingZoo's interface cannot draw them, so the user's function does,
and each is checked against the agent's view.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.copying import hashable
from rave_agents.environments.generators import reseed_inside
from rave_agents.environments.spaces import EnvAbilities
from rave_agents.environments.worlds import Unit, UserWorlds, WorldFunction
from rave_agents.environments.wrappers import chain, class_name
from rave_agents.errors import GameError
from rave_pettingzoo.checks import check_begun
from rave_pettingzoo.classic_knowledge import kind_of
from rave_pettingzoo.cloning import CLONER, searched_env
from rave_pettingzoo.structure import check_env, env_name, inner_env, masked_function, raw_env


class ParallelWorlds(UserWorlds):
    """Worlds of a Parallel environment by the user's function.

    Parallel environments have no ``observe``, so only their agents are compared.
    """

    def _adopted(self, world: Any) -> Any:
        try:
            check_env(world)
        except TypeError:
            raise GameError(f"worlds must return an environment, got {world!r}.") from None
        adopted = searched_env(world, keep_observations=True)
        reseed_inside(adopted, self._random)
        return adopted

    def _check_kind(self, world: Any) -> None:
        true = self._position
        if _type_names(world) != _type_names(true) or world.agents != true.agents:
            raise GameError(
                f"worlds returned the environment {env_name(world)} with the agents "
                f"{world.agents} where {env_name(true)} with {true.agents} was expected."
            )


class FunctionWorlds(ParallelWorlds):
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

    def _check_kind(self, world: Any) -> None:
        if _type_names(world) != self._types:
            raise GameError(
                f"worlds returned the environment {env_name(world)} where "
                f"{env_name(self._position)} was expected, with the same agents and wrappers."
            )
        check_begun(world)

    def _knowledge(self, position: Any) -> Iterator[Any]:
        yield repr(_mover(position))
        yield _legal(position)
        yield view(position, self._agent)

    def _shown(self, position: Any, known: Any) -> str:
        # Views of environments are compared in a hashable form, which few could read.
        hashed = isinstance(known, tuple)
        return repr(position.observe(self._agent)) if hashed else super()._shown(position, known)


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
