"""Plays PettingZoo's environments to check their clones; see ``clone_check``."""

import random
from collections.abc import Mapping
from typing import Any

import pettingzoo
from gymnasium.utils import EzPickle

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.check_time import LEAST_STEPS, CheckTime, seconds_for_a_game
from rave_agents.environments.clone_check import RAISED, Start, Step, raised
from rave_agents.environments.copying import hashable
from rave_agents.environments.masks import allowed
from rave_agents.environments.spaces import EnvAbilities, SpaceAbilities
from rave_pettingzoo.structure import mask_of, masks_of, num_actions

STEPS = 100
"""Largest number of steps for which a check plays each environment."""

SECONDS = 1.0
"""Seconds of work after which a check stops playing an environment."""

FIRST_STEPS = 4
"""Random steps of a fresh environment before it is cloned."""


class ZooPlayer:
    """Plays PettingZoo environments; see ``rave_agents.environments.clone_check.Player``.

    Args:
        masks: the known current masks of a Parallel environment's agents.
    """

    unmasked: Any = {}  # noqa: RUF012, never changed

    def __init__(self, masks: Mapping[Any, Any] | None = None) -> None:
        self._masks = {} if masks is None else dict(masks)
        self.ended: bool = False
        """True if the last game played reached its end."""

    def raw(self, env: Any) -> Any:
        """The innermost environment."""
        return env.unwrapped

    def fresh(self, env: Any) -> Any | None:
        """Return a new raw environment after some steps; None if its arguments are unknown."""
        raw = env.unwrapped
        if not isinstance(raw, EzPickle) or "_ezpickle_args" not in vars(raw):
            return None
        if EnvAbilities(raw).render_mode is not None:
            return None  # It might open a window.
        try:
            fresh = type(raw)(*raw._ezpickle_args, **raw._ezpickle_kwargs)
            fresh.reset(seed=0)
            _play(fresh, steps=FIRST_STEPS)
        except Exception as error:
            if is_raised_by_handler(error):
                raise
            return None
        return fresh

    def shown(self, env: Any) -> Any:
        """The observation of each agent."""
        raw = env.unwrapped
        if not isinstance(raw, pettingzoo.AECEnv) or not _is_playable(raw, parallel=False):
            return ()
        return [raw.observe(agent) for agent in raw.agents]

    def restart(self, env: Any, seed: int) -> Start:
        """Reset an environment; all agents of a Parallel one observe the start."""
        begun = env.reset(seed=seed)
        if isinstance(env, pettingzoo.ParallelEnv):
            observations, infos = begun
            views = [(agent, hashable(observations.get(agent))) for agent in env.agents]
            return Start(tuple(views), masks_of(env, observations, infos))
        agent = env.agent_selection
        return Start(((agent, hashable(env.observe(agent))),), None)

    def play(
        self, env: Any, like: list[Step] | None = None, *, choices: int = 0, known: Any = None
    ) -> list[Step]:
        """Play at random, or repeat earlier actions."""
        seen = _play(env, like, choices=choices, masks=self._masks if known is None else known)
        self.ended = not _is_playable(env, isinstance(env, pettingzoo.ParallelEnv))
        return seen

    def visible(self, step: Step) -> Any:
        """Return what a step showed, without infos."""
        if step[0] is RAISED:
            return step[1]
        if len(step) == 2:
            return step[0][:4]
        return (*step[:5], step[6])


def _play(
    env: Any,
    like: list[Step] | None = None,
    steps: int = STEPS,
    choices: int = 0,
    masks: Mapping[Any, Any] | None = None,
) -> list[Step]:
    """Play at random, or repeat earlier actions; return everything seen on the way.

    The last entry of each step is its action. An exception is the last step.
    """
    parallel = isinstance(env, pettingzoo.ParallelEnv)
    masks = {} if masks is None else masks
    drawn = random.Random(choices)
    seen: list[Step] = []
    budget = CheckTime(SECONDS, seconds_for_a_game())
    while len(seen) < (steps if like is None else len(like)) and _is_playable(env, parallel):
        if like is None and len(seen) >= LEAST_STEPS and budget.is_over():
            break
        action = None
        try:
            # (agent, observation, reward, terminated, truncated, info): read before the step.
            shown = () if parallel else (env.agent_selection, *env.last())
            if like is not None:
                action = like[len(seen)][-1]
            elif parallel:
                action = {a: _choose(env.action_space(a), masks.get(a), drawn) for a in env.agents}
            elif not (shown[3] or shown[4]):
                agent = env.agent_selection
                mask = mask_of(env, agent, shown[1], shown[5], num_actions(env, agent))
                action = _choose(env.action_space(agent), mask, drawn)
            answer = env.step(action)
        except Exception as error:  # A correct copy raises the same error at the same step.
            seen.append(raised(error, action))
            break
        seen.append((*shown, answer if parallel else dict(env.rewards), action))
        if parallel:
            masks = masks_of(env, answer[0], answer[4])
    return seen


def _is_playable(env: Any, parallel: bool) -> bool:
    """True if the environment can be played: not before a reset, and not after the end."""
    raw = env if parallel else env.unwrapped
    return bool(EnvAbilities(raw).agents) and (
        parallel or EnvAbilities(env).agent_selection is not None
    )


def _choose(space: Any, mask: Any, choices: random.Random) -> Any:
    if mask is not None:
        return choices.choice(allowed(mask, int(space.n)) or [0]) + int(space.start)
    if (size := int(SpaceAbilities(space).n)) > 0:
        return choices.randrange(size) + int(SpaceAbilities(space).start)
    space.seed(choices.randrange(2**31))
    return space.sample()
