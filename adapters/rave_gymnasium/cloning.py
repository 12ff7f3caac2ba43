"""Copies of Gymnasium environments for planning."""

import dataclasses
import functools
import logging
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils import EzPickle

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.chance import (
    Knowledge,
    known,
    look_for_chance,
    remember,
    say_it_may_foresee,
)
from rave_agents.environments.check_time import LEAST_STEPS, seconds_for_a_game
from rave_agents.environments.clone_check import (
    RAISED,
    Checked,
    CloneCheck,
    Start,
    Step,
    check_clones,
    raised,
)
from rave_agents.environments.copying import CopyRules, copied, fingerprint, hashable, pygame_types
from rave_agents.environments.generators import generator_types
from rave_agents.environments.masks import allowed, mask_method
from rave_agents.environments.wrappers import blamed, class_name, refused_wrapper
from rave_agents.errors import CloneError
from rave_gymnasium.masks import mask_function, present_mask
from rave_gymnasium.replays import STAGES, Replayable, replayable
from rave_gymnasium.support import env_name
from rave_gymnasium.wrappers import inner_env, searched_part

REPLACED = frozenset(
    [
        "gymnasium.envs.classic_control.acrobot.AcrobotEnv",
        "gymnasium.envs.classic_control.cartpole.CartPoleEnv",
        "gymnasium.envs.classic_control.mountain_car.MountainCarEnv",
        "gymnasium.envs.toy_text.cliffwalking.CliffWalkingEnv",
        "gymnasium.envs.toy_text.frozen_lake.FrozenLakeEnv",
        "gymnasium.envs.toy_text.taxi.TaxiEnv",
    ]
)
"""Environments whose step replaces objects and never changes them in place: a copy may share all
objects with its original except the random number generator."""

MUJOCO = frozenset(["mujoco", "mujoco_py", "dm_control"])
"""Packages whose objects belong to MuJoCo, or hold MuJoCo's objects."""

STEPS = 100
"""Largest number of steps for which a check plays each clone."""

ADVICE = (
    "The search cannot plan in it, unless its episodes can be replayed: wrap it, "
    "rave_gymnasium.Replayable(env)."
)
"""The remedy for an environment that cannot be cloned."""

_log = logging.getLogger("rave_agents")

_checked = Checked(inner_env)
"""The environments whose repetition under equal actions and random numbers was checked."""


def planning_env(env: Any, action_mask: Any = None, *, keep_observations: bool = False) -> Any:
    """Return a copy of an environment for planning; the first copy of each type is checked.

    Args:
        env: the environment; it is not changed.
        action_mask: the actions allowed now, to which the check keeps; None for the environment's
            own mask, or for all actions.
        keep_observations: whether wrappers that change observations are copied too.

    Raises:
        CloneError: if the environment cannot be copied, or a copy is wrong; the message says why.
    """
    recorder = replayable(env)
    env = searched_part(env, keep_observations)
    if recorder is not None:
        env = _replay(recorder, env)
    _refuse_mujoco(env)

    def check() -> CloneCheck:
        if class_name(env) in REPLACED:
            return CloneCheck(played=True, repeats=True)
        player, rules = GymPlayer(action_mask), _rules()
        return check_clones(env, clone, lambda thing: fingerprint(thing, rules), player, ADVICE)

    new = _checked.copied(env, clone, check)
    if recorder is not None:
        recorder.fair(new)
    return new


def _replay(recorder: Any, env: Any) -> Any:
    """The replay of a recorded episode, without the wrappers outside of the recorder."""
    if not isinstance(env, Replayable):
        raise CloneError(
            f"Replayable must be outside of {class_name(env)}, which changes actions or rewards."
        )
    inside = recorder.env
    while isinstance(inside, gymnasium.Wrapper):
        if mask_method(inside) is not None:
            raise CloneError(
                f"A replay leaves out {class_name(inside)}, whose masks the search needs. Let the "
                "environment itself have the method action_masks()."
            )
        inside = inside.env
    new = recorder.replay()
    if recorder.is_checked:
        _checked.note(new, True)
    recorder.is_checked = True
    return new


def chance_knowledge(env: Any, copy: Any, action_mask: Any = None) -> Knowledge:
    """Return the knowledge of the chance in an environment, detected at the first call.

    Args:
        env: the environment, after ``reset``; it is not changed.
        copy: a copy for planning.
        action_mask: as for ``planning_env``.
    """
    raw = env.unwrapped
    knowledge = known(raw)
    if knowledge is None:
        player = GymPlayer(action_mask)
        report = look_for_chance(
            clone(copy),
            simulation_cloner(copy),
            player,
            repeats=_checked.repeats(copy) is not False,
            restarts=class_name(copy) not in REPLACED,
            shared=common_objects(copy),
        )
        knowledge = remember(raw, Knowledge(report))
        if action_mask is None and player.met_masks:
            _say_mask_is_unknown(class_name(raw))
    recorder = replayable(env)
    if recorder is not None and recorder.unsure != knowledge.report.unsure:
        knowledge.report = dataclasses.replace(knowledge.report, unsure=recorder.unsure)
        if recorder.unsure:
            say_it_may_foresee(env_name(env), recorder.unsure)
    return knowledge


@functools.cache
def _say_mask_is_unknown(name: str) -> None:
    _log.warning(
        "rave_gymnasium: steps of %s show masks of the allowed actions, and that of the present "
        "position is not known: all actions count as allowed there. Give it to the agent: "
        'act(observation, info["action_mask"]).',
        name,
    )


def clone(env: Any) -> Any:
    """Return a copy that shares no mutable object with its original."""
    if class_name(env) in REPLACED:
        new = bare_clone(env)
        if env._np_random is not None:
            new._np_random = copied(env._np_random, CopyRules())
        return new
    return deep_clone(env)


def deep_clone(env: Any) -> Any:
    """Return such a copy of an environment whose attributes may be changed in place."""
    return _copied(env, _rules())


def common_objects(env: Any) -> tuple[type, ...]:
    """Types of objects that a copy shares with its original and that no step draws from."""
    return (spaces.Space, dict, list, tuple) if class_name(env) in REPLACED else STAGES


def simulation_cloner(env: Any) -> Callable[[Any], Any]:
    """Return the fastest function that copies for a simulation; copies share the generators."""
    return bare_clone if class_name(env) in REPLACED else world_cloner()


def world_cloner() -> Callable[[Any], Any]:
    """Return a function whose copies share the generators, and may be changed in place."""
    rules = _simulation_rules(generator_types())
    return lambda given: _copied(given, rules)


def _copied(env: Any, rules: CopyRules) -> Any:
    try:
        new = copied(env, rules)
    except Exception as error:
        if is_raised_by_handler(error):
            raise
        fault = blamed(env, inner_env, lambda thing: copied(thing, rules))
        reason = f"{class_name(fault)} cannot be copied: {error}. {ADVICE}"
        if isinstance(fault, gymnasium.Wrapper):
            reason = refused_wrapper(fault, error)
        raise CloneError(reason) from error
    _show_no_window(new)
    return new


def bare_clone(env: Any) -> Any:
    """Copy one of the ``REPLACED`` environments; the copy draws from its original's generator."""
    new = object.__new__(type(env))
    values = vars(env).copy()
    if values.get("render_mode") is not None:
        values["render_mode"] = None
    new.__dict__ = values
    return new


def _show_no_window(env: Any) -> None:
    raw = env.unwrapped
    if vars(raw).get("render_mode") == "human":
        raw.render_mode = None


def _refuse_mujoco(env: Any) -> None:
    raw = env.unwrapped
    named = any(kind.__name__ == "MujocoEnv" for kind in type(raw).__mro__)
    if named or any(_is_of_mujoco(value) for value in vars(raw).values()):
        raise CloneError(
            f"{class_name(raw)} cannot be cloned correctly: MuJoCo keeps the simulation "
            f"outside of Python's objects. {ADVICE}"
        )


def _is_of_mujoco(value: Any) -> bool:
    """True if an object is a MuJoCo simulation, or part of one."""
    roots = {kind.__module__.partition(".")[0] for kind in type(value).__mro__}
    return not roots.isdisjoint(MUJOCO)


@functools.cache
def _rules() -> CopyRules:
    """Give a copy its own spaces, since a step may draw from them."""
    copiers: dict[type, Callable[[Any], Any]] = {}
    shared: tuple[type, ...] = (EnvSpec, *STAGES)
    surface, others = pygame_types()
    if surface is not None:
        shared = (*shared, surface, *others)
    return CopyRules(
        by_attributes=(gymnasium.Env, EzPickle),
        shared=shared,
        copiers=copiers,
        referred=(spaces.Space,),
    )


@functools.cache
def _simulation_rules(generators: tuple[type, ...]) -> CopyRules:
    """Copy an environment; the copy shares generators and spaces with its original."""
    return _rules().sharing(*generators, spaces.Space)


class GymPlayer:
    """Plays Gymnasium environments; see ``rave_agents.environments.clone_check.Player``.

    Args:
        action_mask: the actions allowed at first in the checked environment, if known.
    """

    unmasked: Any = (None,)

    def __init__(self, action_mask: Any = None) -> None:
        self._mask = action_mask
        self._fresh: tuple[Any, Any] = (None, None)
        self.met_masks = False
        """True if a step has shown a mask."""
        self.ended: bool = False
        """True if the last game that was played came to its end."""

    def raw(self, env: Any) -> Any:
        """Return the innermost environment."""
        return env.unwrapped

    def fresh(self, env: Any) -> Any | None:
        """Return a new environment after some steps; None if ``gymnasium.make`` did not make it."""
        spec = env.unwrapped.spec
        if spec is None:
            return None
        try:
            silent = {"render_mode": None} if "render_mode" in spec.kwargs else {}
            made = gymnasium.make(spec, disable_env_checker=True, **silent)
            if type(made.unwrapped) is not type(env.unwrapped):
                return None
            fresh = made.unwrapped
            begun = fresh.reset(seed=0)
            mask_of = mask_function(fresh)
            self._fresh = (fresh, mask_of(fresh, *begun))
            last = self.play(fresh, steps=4)[-1]
            if last[0] is not RAISED:
                over = last[2] or last[3]
                told = fresh.reset(seed=0) if over else (last[0], last[4])
                self._fresh = (fresh, mask_of(fresh, *told))
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
        told: Any = None,
        steps: int = STEPS,
    ) -> list[Step]:
        """Play at random, or repeat earlier actions."""
        drawn = np.random.default_rng(choices)
        self.ended = False
        seen: list[Step] = []
        mask_of = mask_function(env)
        fresh, mask = self._fresh
        if told is not None:
            mask = told[0]
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
    own = copied(space, CopyRules())
    own.seed(int(choices.integers(2**31)))
    return own.sample()
