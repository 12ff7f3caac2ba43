"""Checks whether the search can plan in a Gymnasium environment, and its time limit."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit

from rave_agents.environments.facts import (
    DECLARATION,
    DRAWN_BEFORE,
    UNDECLARED,
    declared_hidden,
)
from rave_agents.environments.spaces import EnvAbilities, is_of_old_gym, not_discrete
from rave_agents.environments.worlds import remedy
from rave_agents.errors import UnsupportedGameError


def env_name(env: Any) -> str:
    """Return the id of an environment, or else the name of its class, for messages."""
    spec = EnvAbilities(env).spec
    return str(spec.id) if spec is not None else type(env.unwrapped).__name__


def check_single(env: Any) -> None:
    """Raise TypeError if this is no Gymnasium environment, or a vectorised one."""
    if isinstance(env, gymnasium.Env):
        return
    if is_of_old_gym(env):
        raise TypeError(
            f"env must be a gymnasium.Env, got {type(env).__name__}, an environment of the old "
            "package gym. Shimmy converts it: shimmy.GymV26CompatibilityV0(env=env), or "
            "shimmy.GymV21CompatibilityV0(env=env) where step returns four values (pip install "
            "'shimmy[gym-v26]' or 'shimmy[gym-v21]'); or let the class inherit from gymnasium.Env."
        )
    raise TypeError(f"env must be a single gymnasium.Env, got {type(env).__name__}.")


def check_plannable(env: Any) -> None:
    """Refuse an environment in which the search cannot plan, with the reason.

    Raises:
        TypeError: if it is not a Gymnasium environment, or is a vector environment.
        UnsupportedGameError: if its actions are not discrete.
    """
    check_single(env)
    space = EnvAbilities(env).action_space
    if not isinstance(space, spaces.Discrete):
        raise UnsupportedGameError(
            f"{env_name(env)} cannot be planned in: its actions are {not_discrete(space)}."
        )


FIELDS = 5
"""Values that ``step`` returns: observation, reward, terminated, truncated, info."""


def wrong_answer(env: Any, answer: Sequence[Any]) -> str:
    """Describe how a step's answer differs from Gymnasium's API."""
    old = ""
    if len(answer) == FIELDS - 1:
        old = " Four are those of gym before 0.26; shimmy.GymV21CompatibilityV0(env=env) converts."
    return (
        f"step of {env_name(env)} returned {len(answer)} values, and Gymnasium's API has "
        f"{FIELDS}: observation, reward, terminated, truncated, info.{old}"
    )


def hidden_information(env: Any) -> str | None:
    """Return what an environment is known to hide from its agent; None if nothing.

    An environment can declare it in ``metadata["hidden_information"]``.

    Raises:
        TypeError: if the declaration is not a text, True, False or None.
    """
    raw = env.unwrapped
    declared = declared_hidden(raw, env_name)
    if declared is not UNDECLARED:
        return str(declared) if declared else None
    hides = any(kind.__name__ == "BlackjackEnv" for kind in type(raw).__mro__)
    return "the dealer's card" if hides else None


def is_declared(env: Any) -> bool:
    """True if an environment declares the information that it hides, or that it hides none."""
    return declared_hidden(env.unwrapped, env_name) is not UNDECLARED


def no_worlds(env: Any, hidden: str | None = None) -> str:
    """Explain why a search needs worlds for an environment with hidden information."""
    declare = (
        " Numbers that a step draws from a generator are not hidden; if nothing else is, declare "
        f"it: metadata[{DECLARATION!r}] = None."
        if hidden == DRAWN_BEFORE
        else ""
    )
    return (
        f"{env_name(env)} cannot be planned in: it hides {hidden or hidden_information(env)}, and "
        f"the search would see it. {remedy()}{declare}"
    )


def check_not_over(env: Any) -> None:
    """Raise ValueError if an environment or a wrapper shows that its episode is over."""
    over = False
    inner = env
    while isinstance(inner, gymnasium.Wrapper):
        # Stable-Baselines3's Monitor; it needs a reset before the first episode too.
        over = over or (vars(inner).get("needs_reset") is True and _has_begun(inner))
        inner = inner.env
    values = vars(inner)
    # Gymnasium's classic control counts steps after the end; toy text has its table of outcomes,
    # in which a final place leads only to itself.
    over = over or values.get("steps_beyond_terminated") is not None
    table, place = values.get("P"), values.get("s")
    if isinstance(table, Mapping) and place in table:
        ends = [outcome for each in table[place].values() for outcome in each]
        over = over or all(next_ == place and done for _, next_, _, done in ends)
    if over:
        raise ValueError(f"The episode of {env_name(env)} is over: call env.reset() first.")


def _has_begun(monitor: Any) -> bool:
    """True if a Monitor of Stable-Baselines3 has been reset before its episode ended."""
    return bool(vars(monitor).get("rewards"))


def time_limit(env: Any) -> tuple[float, int]:
    """Return the tightest time limit of the wrappers, and the steps already taken of it.

    Raises:
        ValueError: if the environment has not been reset.
    """
    limit, elapsed = math.inf, 0
    begun = True
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, TimeLimit):
            begun = env._elapsed_steps is not None
            taken = env._elapsed_steps or 0
            # The limit with the fewest steps left; several wrappers may each count their own.
            if env._max_episode_steps - taken < limit - elapsed:
                limit, elapsed = env._max_episode_steps, taken
        if vars(env).get("_has_reset", True) is False:  # OrderEnforcing's.
            begun = False
        env = env.env
    if not begun:
        raise ValueError(f"{env_name(env)} has not been reset: call env.reset() first.")
    return limit, elapsed
