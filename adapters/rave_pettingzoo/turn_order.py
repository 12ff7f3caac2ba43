"""Detection of simultaneous moves in AEC environments.

An AEC environment asks one agent after the other, whether they take turns or move at the same time;
``metadata["is_parallelizable"]`` only permits a conversion to the Parallel form. So copies of such
an environment are played. In turns, an agent sees the move of the agent before it; at the same
time, it sees nothing until all have acted.
"""

import random
import weakref
from typing import Any

from pettingzoo.utils.conversions import aec_to_parallel_wrapper, parallel_to_aec_wrapper

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.check_time import CheckTime
from rave_agents.environments.copying import equal
from rave_agents.environments.facts import metadata_of
from rave_agents.environments.spaces import EnvAbilities
from rave_pettingzoo.cloning import CLONER
from rave_pettingzoo.structure import inner_env, present_actions, raw_env

DECLARATION = "simultaneous_moves"
"""The metadata key under which an environment declares, by True or False, how its agents move."""

SEEN_LATER = (
    "its metadata['is_parallelizable'] permits the Parallel form, and in games of copies no agent "
    "saw the others' actions before all had acted"
)

STEPS = 100
"""Largest number of steps to play the environment."""

SECONDS = 1.0
"""Largest number of seconds of work to play it."""


def why_simultaneous(env: Any) -> str | None:
    """Return the evidence that agents move at the same time; None if they take turns."""
    raw = raw_env(env)
    metadata = metadata_of(raw)
    if DECLARATION in metadata:
        return f"metadata[{DECLARATION!r}] declares it" if metadata[DECLARATION] else None
    while env is not None:
        if isinstance(env, parallel_to_aec_wrapper):
            return "parallel_to_aec made it from a Parallel environment"
        env = inner_env(env)
    if not metadata.get("is_parallelizable") or EnvAbilities(raw).observe is None:
        return None
    if type(raw) not in _takes_turns:
        _takes_turns[type(raw)] = _played_in_turns(raw)
    return None if _takes_turns[type(raw)] else SEEN_LATER


# Weak keys: classes made in a notebook's cell come again and again.
_takes_turns: "weakref.WeakKeyDictionary[type, bool]" = weakref.WeakKeyDictionary()


def turns_at_once(env: Any) -> str | None:
    """Explain why ``aec_to_parallel`` has wrongly converted a turn-based game.

    Returns None for any other environment, and for one without masks, where all agents can act.
    """
    while env is not None and not isinstance(env, aec_to_parallel_wrapper):
        env = inner_env(env)
    raw = raw_env(env) if env is not None else None
    if raw is None or EnvAbilities(raw).observe is None:
        return None
    if type(raw) not in _waiting:
        _waiting[type(raw)] = _agent_that_waits(raw)
    waits = _waiting[type(raw)]
    if waits is None:
        return None
    return (
        f"its agents take turns, since the mask of {waits!r} allows nothing while another is to "
        "move, and aec_to_parallel takes the actions of all at once"
    )


_waiting: "weakref.WeakKeyDictionary[type, Any]" = weakref.WeakKeyDictionary()


def _agent_that_waits(raw: Any) -> Any:
    """Return an agent whose mask allows nothing while another is to move; None if there is none."""
    try:
        copy = _reset_copy(raw)
        if present_actions(copy, copy.agent_selection):
            return next((agent for agent in copy.agents if not present_actions(copy, agent)), None)
    except Exception as error:
        if is_raised_by_handler(error):
            raise
        pass  # Unknown: it counts as an environment without masks.
    return None


def _played_in_turns(raw: Any) -> bool:
    """True if some agent sees another's action before all have acted."""
    drawn = random.Random(0)
    budget = CheckTime(SECONDS)
    clone = CLONER.search_cloner(raw)
    acted: set[Any] = set()
    try:
        env = _reset_copy(raw)
        for seed in range(1, STEPS):
            if budget.is_over():
                break
            if not env.agents:
                env, acted = _reset_copy(raw, seed), set()
            agent = env.agent_selection
            if env.terminations[agent] or env.truncations[agent]:
                env.step(None)
                continue
            legal = present_actions(env, agent) or [0]
            action, other = drawn.sample(legal, 2) if len(legal) > 1 else (legal[0], legal[0])
            acted.add(agent)
            # Two positions that differ in one action: does the next agent see which it was?
            after = clone(env)
            env.step(action)
            if not env.agents or env.agent_selection in acted:
                acted = set()  # All have acted, so that everything may be shown.
                continue
            after.step(other)
            if not equal(_seen(env), _seen(after)):
                return True
    except Exception as error:
        if is_raised_by_handler(error):
            raise
        return False  # Unknown: the Parallel form, which is fair in any case.
    return False


def _reset_copy(raw: Any, seed: int = 0) -> Any:
    env = CLONER.search_cloner(raw)(raw)
    if EnvAbilities(env).render_mode is not None:
        env.render_mode = None
    env.reset(seed=seed)
    return env


def _seen(env: Any) -> Any:
    """The view of the agent to move."""
    agent = env.agent_selection
    ended = env.terminations.get(agent), env.truncations.get(agent)
    return agent, env.agents, env.observe(agent), env.infos.get(agent), env.rewards, ended
