"""Which environments a search can play, and why not another."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pettingzoo
from pettingzoo.utils.conversions import parallel_to_aec_wrapper

from rave_agents.errors import UnsupportedGameError
from rave_pettingzoo.classic import class_name
from rave_pettingzoo.cloning import check_env, inner_env, raw_env
from rave_pettingzoo.kinds import kind_of

SHIMMY = "OpenSpielCompatibilityV0"


def is_shimmy(raw: Any) -> bool:
    """Whether this is Shimmy's wrapper around one of OpenSpiel's games."""
    kind = type(raw)
    return kind.__name__ == SHIMMY and kind.__module__.partition(".")[0] == "shimmy"


def check_searchable(env: Any, *, see_hidden: bool = False, simultaneous: bool = False) -> None:
    """Refuse an environment that the search cannot play, with the reason.

    Args:
        env: the environment.
        see_hidden: whether the search may look at what it hides.
        simultaneous: whether it is searched in its Parallel form, where agents may move at the same
            time.

    Raises:
        TypeError: if it is no environment of PettingZoo, or ``see_hidden`` is no truth value.
        UnsupportedGameError: for simultaneous moves, actions that are not discrete, and hidden
            information that nobody has allowed to be seen.
    """
    check_env(env)
    if not isinstance(see_hidden, bool):
        raise TypeError(f"see_hidden must be True or False, got {see_hidden!r}.")
    raw = raw_env(env)
    if is_simultaneous(env) and not simultaneous:
        raise UnsupportedGameError(
            f"{env_name(env)} cannot be searched in its AEC form: its agents move at the same "
            "time, and there who comes later would know what the others do. Use its Parallel form, "
            "with an agent for each player."
        )
    check_discrete(env)
    hidden = hidden_information(raw)
    if hidden is not None and not see_hidden:
        raise UnsupportedGameError(
            f"{env_name(env)} cannot be searched: it hides {hidden}, and a search of the "
            "environment would look at it. Pass see_hidden=True if the agent is to cheat so."
        )


def check_discrete(env: Any) -> None:
    """Raise UnsupportedGameError for actions that are not numbers from 0."""
    for agent in raw_env(env).possible_agents:
        space = env.action_space(agent)
        if not hasattr(space, "n") or int(getattr(space, "start", 0)) != 0:
            raise UnsupportedGameError(
                f"{env_name(env)} cannot be searched: the actions of {agent!r} are {space}, and "
                "the search needs Discrete(n), actions from 0 to n - 1."
            )


def is_simultaneous(env: Any) -> bool:
    """Whether agents choose their actions without knowing each other's."""
    raw = raw_env(env)
    if is_shimmy(raw):
        import pyspiel  # noqa: PLC0415

        dynamics: bool = raw.game_type.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL
        return dynamics
    while env is not None:
        if isinstance(env, parallel_to_aec_wrapper):
            return True
        env = inner_env(env)
    aec = isinstance(raw, pettingzoo.AECEnv)
    return aec and bool(getattr(raw, "metadata", {}).get("is_parallelizable"))


def hidden_information(raw: Any) -> str | None:
    """What the players of an environment cannot see, as far as it is known; else None."""
    if is_shimmy(raw):
        return _hidden_in_openspiel(raw.game_type)
    kind = kind_of(raw)
    return None if kind is None else kind.hidden


def _hidden_in_openspiel(game_type: Any) -> str | None:
    import pyspiel  # noqa: PLC0415

    if game_type.information != pyspiel.GameType.Information.PERFECT_INFORMATION:
        return "what OpenSpiel's game keeps from its players"
    if game_type.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        return "the outcomes of chance to come"
    return None


def env_name(env: Any) -> str:
    """How an environment is called in messages and tables."""
    raw = raw_env(env)
    metadata = getattr(raw, "metadata", None) or {}
    name = metadata.get("name")
    if is_shimmy(raw):
        return f"shimmy:{raw.game_name}"
    return str(name) if name else class_name(raw)


def check_begun(env: Any) -> None:
    """Raise ValueError for an environment that was never reset, or whose game is over."""
    raw = raw_env(env)
    parallel = isinstance(env, pettingzoo.ParallelEnv) or isinstance(raw, pettingzoo.ParallelEnv)
    try:
        agents = env.agents
    except AttributeError:
        agents = None
    if agents is None or not (parallel or hasattr(raw, "_cumulative_rewards")):
        raise ValueError(f"{env} has not been reset: call env.reset() first.")
    if not agents:
        raise ValueError(f"{env}: the game is over, there is nothing to search.")


def masked_actions(env: Any) -> list[int]:
    """The actions that the selected agent's mask allows: in its info, else in its observation."""
    agent = env.agent_selection
    info = env.infos.get(agent)
    size = int(env.action_space(agent).n)
    if isinstance(info, Mapping) and "action_mask" in info:
        return allowed_actions(None, info, size)
    return allowed_actions(env.observe(agent), None, size)


def allowed_actions(observation: Any, info: Any, size: int) -> list[int]:
    """The actions that the mask in an info, else in an observation, allows; all without one."""
    mask = None
    if isinstance(info, Mapping) and "action_mask" in info:
        mask = info["action_mask"]
    elif isinstance(observation, Mapping):
        mask = observation.get("action_mask")
    if mask is None:
        return list(range(size))
    return [int(action) for action in np.flatnonzero(mask)]
