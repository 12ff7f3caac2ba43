"""Plays Gymnasium's environments to check their copies; see ``clone_check``."""

import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.check_time import LEAST_STEPS, seconds_for_a_game
from rave_agents.environments.clone_check import RAISED, Start, Step, raised
from rave_agents.environments.copying import CopyRules, copied, hashable
from rave_agents.environments.masks import allowed
from rave_gymnasium.structure import mask_function, present_mask

STEPS = 100
"""Largest number of steps for which a check plays each clone."""


class GymPlayer:
    """Plays Gymnasium environments; see ``rave_agents.environments.clone_check.Player``.

    Args:
        action_mask: the actions allowed at first in the checked environment, if known.
    """

    unmasked: Any = (None,)

    def __init__(self, action_mask: Any = None) -> None:
        self._mask = action_mask
        self._fresh: tuple[Any, Any] = (None, None)
        self.met_masks: bool = False
        """True if a step has shown a mask."""
        self.ended: bool = False
        """True if the last game played reached its end."""

    def raw(self, env: Any) -> Any:
        """Return the innermost environment."""
        return env.unwrapped

    def fresh(self, env: Any) -> Any | None:
        """Return a new environment after some steps; None if ``gymnasium.make`` did not make it."""
        spec = env.unwrapped.spec
        if spec is None:
            return None
        try:
            # A window would open; but only some environments take the argument at all.
            silent = {"render_mode": None} if "render_mode" in spec.kwargs else {}
            made = gymnasium.make(spec, disable_env_checker=True, **silent)
            # A spec may be of another class, if a user's environment copied it.
            if type(made.unwrapped) is not type(env.unwrapped):
                return None
            fresh = made.unwrapped
            begun = fresh.reset(seed=0)
            mask_of = mask_function(fresh)
            self._fresh = (fresh, mask_of(fresh, *begun))
            last = self.play(fresh, steps=4)[-1]
            if last[0] is not RAISED:
                # Store the mask of the position in which the fresh environment is left.
                over = last[2] or last[3]
                shown = fresh.reset(seed=0) if over else (last[0], last[4])
                self._fresh = (fresh, mask_of(fresh, *shown))
        except Exception as error:
            if is_raised_by_handler(error):
                raise
            return None
        return fresh

    def shown(self, env: Any) -> Any:
        """Return None: Gymnasium's environments show nothing between two steps."""
        return ()

    def restart(self, env: Any, seed: int) -> Start:
        """Reset an environment."""
        observation, info = env.reset(seed=seed)
        return Start((hashable(observation),), (mask_function(env)(env, observation, info),))

    def visible(self, step: Step) -> Any:
        """Return what a step showed, without its info."""
        return step[1] if step[0] is RAISED else step[:4]

    def play(
        self,
        env: Any,
        like: list[Step] | None = None,
        *,
        choices: int = 0,
        known: Any = None,
        steps: int = STEPS,
    ) -> list[Step]:
        """Play at random, or repeat earlier actions."""
        drawn = np.random.default_rng(choices)
        self.ended = False
        seen: list[Step] = []
        mask_of = mask_function(env)
        fresh, mask = self._fresh
        if known is not None:
            mask = known[0]
        elif env is not fresh:
            mask = present_mask(env, mask_of) if self._mask is None else self._mask
        until = time.perf_counter() + seconds_for_a_game()
        while len(seen) < (steps if like is None else len(like)):
            if like is None and len(seen) >= LEAST_STEPS and time.perf_counter() > until:
                break
            action = None
            try:
                action = _draw(env, mask, drawn) if like is None else like[len(seen)][-1]
                answer = env.step(action)
                mask = mask_of(env, answer[0], answer[4])
                self.met_masks = self.met_masks or mask is not None
                seen.append((*answer, action))
            except Exception as error:
                seen.append(raised(error, action))
                break
            if answer[2] or answer[3]:
                self.ended = True
                break
        return seen


def _draw(env: Any, mask: Any, choices: np.random.Generator) -> Any:
    space = env.action_space
    if isinstance(space, spaces.Discrete):
        legal = range(int(space.n)) if mask is None else allowed(mask, int(space.n))
        # As ``Discrete.sample`` understands a mask that allows nothing.
        return int(space.start + legal[choices.integers(len(legal))]) if legal else int(space.start)
    own = copied(space, CopyRules())  # Seeding the space itself would change the environment.
    own.seed(int(choices.integers(2**31)))
    return own.sample()
