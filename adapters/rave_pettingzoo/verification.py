"""Whether clones of an environment are right, found out by playing them on.

The caller's environment is never played. If its type can be built anew, a fresh one is played
beside its clone: a clone that misses what the environment keeps elsewhere then goes another way.
Of the caller's own, three clones are played one after the other, and it is looked at before and
after: what a clone shares shows in the environment itself or in the next clone.
"""

import random
import time
from collections.abc import Callable
from typing import Any

import pettingzoo
from gymnasium.utils import EzPickle

from rave_agents.copying import equal
from rave_agents.errors import CloneError

STEPS = 100
"""Steps that each pair is played on, at most."""

SECONDS = 1.0
"""Seconds after which a pair is played on no longer."""

FIRST_STEPS = 4
"""Random steps of a fresh environment before it is cloned."""

Step = tuple[Any, ...]


def check_clones(
    env: Any, clone: Callable[[Any], Any], fingerprint: Callable[[Any], bytes]
) -> None:
    """Raise CloneError if clones of an environment are wrong.

    Args:
        env: the environment; it is not changed.
        clone: makes a clone.
        fingerprint: all that an environment is made of, as bytes.
    """
    name = f"{type(_raw(env)).__module__}.{type(_raw(env)).__qualname__}"
    try:
        before = _fingerprint(env, fingerprint)
        first, second = clone(env), clone(env)
        if first is env or _raw(first) is _raw(env):
            raise _refused(name, "the clone is the environment itself")
        fresh = _fresh(env)
        if fresh is not None:
            twin = clone(fresh)
            played = _play(fresh)
            _compare(name, played, _play(twin, played), "its original")
        played = _play(first)
        if fresh is None and played and played[-1][0] == "raised":
            raise _refused(name, f"the clone raised {played[-1][1]}") from played[-1][2]
        if before is not None and _fingerprint(env, fingerprint) != before:
            raise _refused(name, "playing the clone on changes the original")
        _compare(name, played, _play(second, played), "another clone")
        _compare(name, played, _play(clone(env), played), "a clone made before")
    except RecursionError as error:
        raise _refused(name, "it refers to itself too deeply") from error


def _refused(name: str, reason: str) -> CloneError:
    return CloneError(
        f"{name} cannot be cloned rightly: {reason}. Tell how it is copied: "
        "rave_pettingzoo.register_cloner(type(env.unwrapped), function)."
    )


def _raw(env: Any) -> Any:
    return env.unwrapped


def _fingerprint(env: Any, fingerprint: Callable[[Any], bytes]) -> bytes | None:
    """The fingerprint, if it says the same twice and can be taken at all."""
    try:
        first = fingerprint(env)
        return first if fingerprint(env) == first else None
    except Exception:
        return None


def _fresh(env: Any) -> Any | None:
    """A new raw environment of the same kind after some steps, or None if it cannot be built."""
    raw = _raw(env)
    if not isinstance(raw, EzPickle) or not hasattr(raw, "_ezpickle_args"):
        return None
    if getattr(raw, "render_mode", None) is not None:
        return None  # It might open a window.
    try:
        fresh = type(raw)(*raw._ezpickle_args, **raw._ezpickle_kwargs)
        fresh.reset(seed=0)
        _play(fresh, steps=FIRST_STEPS)
    except Exception:
        return None
    return fresh


def _play(env: Any, like: list[Step] | None = None, steps: int = STEPS) -> list[Step]:
    """Play on at random, or what was played before; give all that is seen on the way.

    The last entry of each step is its action. An exception is the last step.
    """
    parallel = isinstance(env, pettingzoo.ParallelEnv)
    choices = random.Random(0)
    seen: list[Step] = []
    until = time.perf_counter() + SECONDS
    while len(seen) < (steps if like is None else len(like)) and _goes_on(env, parallel):
        if like is None and time.perf_counter() > until:
            break
        action = None
        try:
            shown = () if parallel else (env.agent_selection, *env.last())
            if like is not None:
                action = like[len(seen)][-1]
            elif parallel:
                action = {a: _choose(env.action_space(a), None, choices) for a in env.agents}
            elif not (shown[3] or shown[4]):
                space = env.action_space(env.agent_selection)
                action = _choose(space, _mask(shown[1], shown[5]), choices)
            answer = env.step(action)
        except Exception as error:
            seen.append(("raised", f"{type(error).__name__}: {error}", error, action))
            break
        seen.append((*shown, answer if parallel else dict(env.rewards), action))
    return seen


def _goes_on(env: Any, parallel: bool) -> bool:
    """Whether there is something to play: not before a reset, and not after the end."""
    raw = env if parallel else _raw(env)
    return bool(getattr(raw, "agents", None)) and (parallel or hasattr(env, "agent_selection"))


def _mask(observation: Any, info: Any) -> Any:
    if isinstance(info, dict) and "action_mask" in info:
        return info["action_mask"]
    return observation.get("action_mask") if isinstance(observation, dict) else None


def _choose(space: Any, mask: Any, choices: random.Random) -> Any:
    if mask is not None:
        legal = [action for action, allowed in enumerate(mask) if allowed]
        return choices.choice(legal) if legal else None
    if hasattr(space, "n"):
        return choices.randrange(int(space.n)) + int(getattr(space, "start", 0))
    space.seed(choices.randrange(2**31))
    return space.sample()


def _compare(name: str, first: list[Step], second: list[Step], other: str) -> None:
    if len(first) != len(second):
        raise _refused(
            name,
            f"under the same actions it goes on for {len(second)} steps, {other} for {len(first)}",
        )
    for number, (one, two) in enumerate(zip(first, second, strict=True)):
        same = one[:2] == two[:2] if one[0] == "raised" else equal(one, two)
        if not same:
            raise _refused(
                name, f"under the same actions it goes another way than {other} at step {number}"
            )
