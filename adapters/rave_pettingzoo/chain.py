"""The chain of wrappers around a raw environment."""

from typing import Any

import pettingzoo


def inner_env(env: Any) -> Any | None:
    """Return the environment inside a wrapper; None for a raw environment."""
    for name in ("env", "aec_env"):
        inner = vars(env).get(name)
        if isinstance(inner, pettingzoo.AECEnv | pettingzoo.ParallelEnv):
            return inner
    return None


def raw_env(env: Any) -> Any:
    """The innermost environment."""
    while (inner := inner_env(env)) is not None:
        env = inner
    return env


def type_chain(env: Any) -> tuple[type, ...]:
    """The types of an environment's wrappers, outermost first, and of the raw environment."""
    chain = [type(env)]
    while (env := inner_env(env)) is not None:
        chain.append(type(env))
    return tuple(chain)
