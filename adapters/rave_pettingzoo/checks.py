"""Checks whether the search can play a PettingZoo environment, and what the environment hides."""

import logging
from collections.abc import Iterable
from typing import Any

import pettingzoo
from gymnasium import spaces

from rave_agents.config.regrets import keeps_regrets
from rave_agents.config.search_config import SearchConfig
from rave_agents.environments.facts import (
    DECLARATION,
    DRAWN_BEFORE,
    UNDECLARED,
    declared_hidden,
)
from rave_agents.environments.spaces import EnvAbilities, not_discrete
from rave_agents.environments.worlds import WorldFunction, remedy
from rave_agents.environments.wrappers import class_name
from rave_agents.errors import UnsupportedGameError
from rave_agents.searcher.checks import check_hidden
from rave_pettingzoo.classic import CLONERS
from rave_pettingzoo.classic_knowledge import inherited_kind, kind_of
from rave_pettingzoo.structure import (
    check_env,
    env_name,
    inherits_shimmy,
    is_shimmy,
    openspiel,
    raw_env,
)
from rave_pettingzoo.turn_order import DECLARATION as TURNS_DECLARATION
from rave_pettingzoo.turn_order import turns_at_once, why_simultaneous

_log = logging.getLogger("rave_agents")


def check_searchable(env: Any, *, simultaneous: bool = False) -> None:
    """Refuse an environment that the search cannot play, with the reason.

    Args:
        env: the environment.
        simultaneous: whether it is searched in its Parallel form, where agents may move at the same
            time.

    Raises:
        TypeError: if ``env`` is not a PettingZoo environment.
        UnsupportedGameError: for simultaneous moves, or actions that are not discrete.
    """
    check_env(env)
    check_agents_known(env)
    for agent in raw_env(env).possible_agents:
        space = env.action_space(agent)
        # Trees number actions from 0, as masks do.
        if not isinstance(space, spaces.Discrete) or space.start != 0:
            raise UnsupportedGameError(
                f"{env_name(env)} cannot be searched: the actions of {agent!r} are "
                f"{not_discrete(space)}."
            )
    if simultaneous:
        why = turns_at_once(env)
        if why is not None:
            raise UnsupportedGameError(
                f"{env_name(env)} cannot be searched in this Parallel form: {why}. Give the agent "
                "the AEC environment, or turn_based_aec_to_parallel(aec_env)."
            )
        return
    why = _why_simultaneous(env)
    if why is not None:
        raise UnsupportedGameError(
            f"{env_name(env)} cannot be searched in its AEC form: its agents move at the same "
            f"time ({why}), and later agents would know the others' actions. Use its Parallel "
            "form, with an agent for each player; or, if they take turns, declare it: "
            f"metadata[{TURNS_DECLARATION!r}] = False."
        )


def check_agents_known(env: Any) -> None:
    """Raise TypeError for an environment that does not list its agents."""
    raw = raw_env(env)
    agents = EnvAbilities(raw).possible_agents
    if isinstance(agents, Iterable) and not isinstance(agents, str) and list(agents):
        return
    raise TypeError(
        f"{class_name(raw)} has no possible_agents, the list of all agents that it can have: "
        "PettingZoo's API asks for it from the constructor on, in addition to agents, those that "
        "are in the game."
    )


def check_begun(env: Any) -> None:
    """Raise ValueError for an environment before its first reset, or after the end."""
    raw = raw_env(env)
    # The base class of AEC environments sets none of these before ``reset``, but wrappers raise
    # their own errors for a missing attribute: so look at the raw environment.
    parallel = isinstance(env, pettingzoo.ParallelEnv) or isinstance(raw, pettingzoo.ParallelEnv)
    if parallel or type(raw).last is not pettingzoo.AECEnv.last:
        begun = parallel or hasattr(raw, "agent_selection")  # It may be None after the end.
    else:
        begun = hasattr(raw, "_cumulative_rewards")
    try:
        agents = env.agents
    except AttributeError:
        agents = None
    if agents is None or not begun:
        raise ValueError(f"{env} has not been reset: call env.reset() first.")
    if not agents:
        raise ValueError(f"The episode of {env} is over: call env.reset() first.")


def is_simultaneous(env: Any) -> bool:
    """True if agents of an AEC environment choose their actions at the same time."""
    return _why_simultaneous(env) is not None


def _why_simultaneous(env: Any) -> str | None:
    """The evidence that agents move at the same time; None if they take turns."""
    raw = raw_env(env)
    if not is_shimmy(raw):
        return why_simultaneous(env)
    return None if openspiel().is_sequential(raw.game_type) else "OpenSpiel's game declares it"


def always_ends(env: Any) -> bool:
    """True if games of an environment are known to end with any play."""
    raw = raw_env(env)
    return is_shimmy(raw) or inherited_kind(raw) is not None


def is_openspiels(env: Any) -> bool:
    """True if OpenSpiel's own state can be searched in place of the environment."""
    raw = raw_env(env)
    return is_shimmy(raw) and openspiel().refusal(raw.game_type) is None


_registered: dict[type, WorldFunction] = {}


def register_worlds(env_type: type, worlds: WorldFunction) -> None:
    """Register the function that draws worlds for an AEC environment and for its subclasses.

    Agents then need no ``worlds=``, and the command line plays the environment, too.

    Args:
        env_type: a class of raw environments, without wrappers.
        worlds: see ``rave_pettingzoo.worlds.WorldFunction``.

    Raises:
        TypeError: if the arguments are not a class of AEC environments and a function.
    """
    if not isinstance(env_type, type) or not issubclass(env_type, pettingzoo.AECEnv):
        raise TypeError(f"env_type must be a class of AEC environments, got {env_type!r}.")
    if not callable(worlds):
        raise TypeError(f"worlds must be a function of (env, agent, rng), got {worlds!r}.")
    _registered[env_type] = worlds


def known_worlds(env: Any) -> WorldFunction | None:
    """The worlds of an environment by its class: registered, or of a classic one; else None."""
    raw = raw_env(env)
    for base in type(raw).__mro__:
        if base in _registered:
            return _registered[base]
    kind = kind_of(raw)
    return None if kind is None else kind.worlds


def hidden_information(env: Any) -> str | None:
    """The information that an environment is known to hide from its agents; else None.

    An environment can declare it in ``metadata["hidden_information"]``; otherwise subclasses of the
    classic environments hide what these hide. Copies of Shimmy's environments foresee chance.

    Raises:
        TypeError: if the declaration is not a text, True, False or None.
    """
    raw = raw_env(env)
    declared = declared_hidden(raw, env_name)
    if declared is not UNDECLARED:
        return str(declared) if declared else None
    if inherits_shimmy(raw):
        found: str | None = openspiel().hidden_information(raw.game_type)
        return found
    kind = inherited_kind(raw)
    return None if kind is None else kind.hidden


def is_declared(env: Any) -> bool:
    """True if an environment declares what it hides from its agents, or that it hides nothing."""
    return declared_hidden(raw_env(env), env_name) is not UNDECLARED


def check_worlds(env: Any, config: SearchConfig, worlds: Any, *, translate: bool) -> None:
    """Raise UnsupportedGameError if a search of this configuration cannot play fairly.

    Args:
        env: the environment.
        config: the search's configuration.
        worlds: the user's source of worlds, if any.
        translate: whether the search may run in OpenSpiel's states.
    """
    if config.hidden != "determinize":
        return
    own = worlds is not None or known_worlds(env) is not None
    if worlds is None and translate and is_openspiels(env):
        openspiel().check_worlds(raw_env(env)._env, config, None)
    elif keeps_regrets(config.regrets) and (own or hidden_information(env) is not None):
        kind = kind_of(raw_env(env))
        if kind is None or not kind.deals_at_reset:
            raise UnsupportedGameError(
                f"{env_name(env)} cannot be searched with regrets of information sets, as by "
                "mccfr: they need the start of the game, its chance nodes, and all that a player "
                "has seen, which this environment does not show. Use auto, uct or rave; or Leduc "
                "or Texas Hold'em, or a game of OpenSpiel, by Shimmy too."
            )
    elif not own and hidden_information(env) is not None:
        raise UnsupportedGameError(no_worlds(env))
    elif own:
        check_hidden(config, simultaneous=False)


def no_worlds(env: Any, hidden: str | None = None) -> str:
    """Explain that an environment hides information and has no worlds, with remedies."""
    example = declare = ""
    if hidden == DRAWN_BEFORE:
        example = ", such as the order of a deck"
        declare = (
            f" If the environment hides nothing, declare it: metadata[{DECLARATION!r}] = None."
        )
    return (
        f"{env_name(env)} hides {hidden or hidden_information(env)}{example}, and has no worlds to "
        f"search. {_remedies(env)}{declare}"
    )


def _remedies(env: Any) -> str:
    own = ""
    raw = raw_env(env)
    if is_shimmy(raw) and openspiel().plays(raw.game_type):
        own = f"OpenSpiel's own game can be searched, openspiel:{raw.game_name}. "
    return (
        f"{own}{remedy()} rave_pettingzoo.register_worlds(type(env.unwrapped), function) gives "
        "the function to all agents."
    )


_assumed: set[type] = set()


def warn_of_assumption(env: Any) -> None:
    """Log, once for each class, the assumption that an environment hides nothing."""
    raw = raw_env(env)
    kind = type(raw)
    if (
        kind in _assumed
        or len(raw.possible_agents) < 2
        or is_declared(env)
        or inherited_kind(raw) is not None
        or class_name(raw) in CLONERS
        or inherits_shimmy(raw)
    ):
        return
    _assumed.add(kind)
    _log.warning(
        "rave_pettingzoo: %s is assumed to hide nothing from its agents: the search sees its whole "
        "state. If something is hidden, give worlds=function to the agent, or let the environment "
        "declare metadata['hidden_information'] = 'the hidden part'; None there declares that "
        "nothing is hidden, and silences this.",
        env_name(env),
    )
