"""Wrappers of environments: which a search leaves out, and which one cannot be copied.

Wrappers that only change observations, keep time or record mean nothing to a search, which steps
the environment inside.
"""

from collections.abc import Callable
from typing import Any

from rave_agents.compiler.signals import is_raised_by_handler

Inner = Callable[[Any], Any | None]
"""Returns the environment inside a wrapper; None for an environment that is no wrapper."""


def class_name(thing: Any) -> str:
    """Return the full name of an object's class."""
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def chain(env: Any, inner: Inner) -> list[Any]:
    """Return an environment and those inside of it, outermost first."""
    found = [env]
    while (wrapped := inner(found[-1])) is not None:
        found.append(wrapped)
    return found


def without(env: Any, inner: Inner, leaves_out: Callable[[Any, bool], bool]) -> Any:
    """Return an environment without some of its wrappers; the others share all they have.

    Args:
        env: the environment; it is not changed. The result is to be copied before it is stepped.
        inner: returns the environment inside a wrapper.
        leaves_out: whether a wrapper is left out, asked from outside to inside; the second argument
            tells whether one was kept outside of it.
    """
    kept: list[Any] = []
    wrapped = inner(env)
    while wrapped is not None:
        if not leaves_out(env, bool(kept)):
            kept.append(env)
        env, wrapped = wrapped, inner(wrapped)
    # From inside to outside: each kept wrapper is rebuilt around its new inside.
    for wrapper in reversed(kept):
        new = object.__new__(type(wrapper))
        vars(new).update(vars(wrapper))
        own = inner(wrapper)
        for name, value in vars(wrapper).items():
            if value is own:  # A wrapper may keep the environment under several names.
                vars(new)[name] = env
        env = new
    return env


def supersuit_changes_observations_alone(wrapper: Any) -> bool:
    """True for a wrapper of Supersuit that changes nothing but observations."""
    module = type(wrapper).__module__
    if module == "supersuit.lambda_wrappers.observation_lambda":
        return True
    if module != "supersuit.generic_wrappers.utils.shared_wrapper_util":
        return False
    values = vars(wrapper)
    modifiers = [*values.get("modifiers", {}).values()]
    if "modifier" in values:
        modifiers.append(values["modifier"])
    return all(
        getattr(type(modifier), name) is getattr(type(modifier).__mro__[-2], name, None)
        for modifier in modifiers
        for name in ("modify_action", "modify_action_space")
    )


def blamed(env: Any, inner: Inner, copy: Callable[[Any], Any]) -> Any:
    """Return the innermost wrapper with which copying fails, or the environment inside.

    Args:
        env: an environment that cannot be copied.
        inner: returns the environment inside a wrapper.
        copy: copies an environment.
    """
    for each in reversed(chain(env, inner)):
        try:
            copy(each)
        except Exception as error:
            if is_raised_by_handler(error):
                raise
            return each
    return env


def refused_wrapper(wrapper: Any, error: Exception) -> str:
    """Say that a wrapper cannot be copied, and what to do."""
    return (
        f"The wrapper {class_name(wrapper)} cannot be copied: {error}. Give the agent the "
        "environment inside it, env.env, if it changes neither actions nor rewards; or give it "
        "attributes that can be copied, methods and classes in place of nested functions."
    )
