"""Whether clones of an environment are right, found out by playing them on.

The caller's environment is never played. If its type can be built anew, a fresh one is played
beside its clone: a clone that misses what the environment keeps elsewhere then goes another way.
Of the caller's own, three clones are played one after the other, and it is looked at before and
after: what a clone shares shows in the environment itself or in the next clone.
"""

import itertools
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
    """Play on at random, or what was played before; give all that is seen on the way."""
    play = _play_parallel if isinstance(env, pettingzoo.ParallelEnv) else _play_aec
    choices = random.Random(0)
    seen: list[Step] = []
    until = time.perf_counter() + (SECONDS if like is None else 1000 * SECONDS)
    actions = itertools.repeat(None) if like is None else iter([step[-1] for step in like])
    try:
        for _, action in zip(range(steps), actions, strict=False):
            step = play(env, choices, action, like is not None)
            if step is None or time.perf_counter() > until:
                break
            seen.append(step)
    except Exception as error:
        last = None if like is None else like[len(seen)][-1]
        seen.append(("raised", f"{type(error).__name__}: {error}", error, last))
    return seen


def _play_aec(env: Any, choices: random.Random, action: Any, given: bool) -> Step | None:
    if not getattr(_raw(env), "agents", None) or not hasattr(env, "agent_selection"):
        return None  # Over, or not begun: what there is to see before a reset cannot be played.
    agent = env.agent_selection
    seen = env.last()
    over = seen[2] or seen[3]
    if not given and not over:
        action = _choose(env.action_space(agent), _mask(seen[0], seen[4]), choices)
    env.step(action)
    return (agent, *seen, dict(env.rewards), action)


def _play_parallel(env: Any, choices: random.Random, actions: Any, given: bool) -> Step | None:
    if not getattr(env, "agents", None):
        return None
    if not given:
        actions = {a: _choose(env.action_space(a), None, choices) for a in env.agents}
    return (*env.step(actions), actions)


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
