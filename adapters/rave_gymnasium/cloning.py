"""Copies of Gymnasium environments for planning."""

import dataclasses
import functools
import logging
from collections.abc import Callable
from typing import Any

import gymnasium
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils import EzPickle

from rave_agents.environments.chance import Knowledge, known, say_it_may_foresee
from rave_agents.environments.cloner import Cloner
from rave_agents.environments.copying import CopyRules, copied, pygame_types
from rave_agents.environments.generators import generator_types
from rave_agents.environments.masks import mask_method
from rave_agents.environments.wrappers import class_name
from rave_agents.errors import CloneError
from rave_gymnasium.checks import env_name
from rave_gymnasium.player import GymPlayer
from rave_gymnasium.replays import STAGES, Replayable, replayable
from rave_gymnasium.structure import inner_env, searched_part

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
"""Packages of MuJoCo's objects, or of objects that hold these."""

_log = logging.getLogger("rave_agents")


class GymCloner(Cloner):
    """Copies Gymnasium's environments, see ``rave_agents.environments.cloner.Cloner``."""

    advice = (
        "The search cannot plan in it, unless its episodes can be replayed: wrap it, "
        "rave_gymnasium.Replayable(env)."
    )

    def inner(self, env: Any) -> Any | None:
        """See ``Cloner``."""
        return inner_env(env)

    def is_known(self, env: Any) -> bool:
        """True for an environment without wrappers whose steps replace objects."""
        return class_name(env) in REPLACED

    def clone(self, env: Any) -> Any:
        """See ``Cloner``."""
        if not self.is_known(env):
            return self.deep_clone(env)
        new = bare_clone(env)
        if env._np_random is not None:
            new._np_random = copied(env._np_random, CopyRules())
        return new

    def deep_clone(self, env: Any) -> Any:
        """A copy of an environment whose steps may change attributes in place."""
        return self._without_window(env, _rules())

    def simulation_cloner(self, env: Any, seed: int = 0) -> Callable[[Any], Any]:
        """See ``Cloner``."""
        return bare_clone if self.is_known(env) else self.world_cloner()

    def world_cloner(self) -> Callable[[Any], Any]:
        """The function for deep copies that share the generators."""
        rules = _simulation_rules(generator_types())
        return lambda given: self._without_window(given, rules)

    def _without_window(self, env: Any, rules: CopyRules) -> Any:
        new = self.copied(env, rules)
        raw = new.unwrapped
        # A copy that draws would open a window of its own.
        if vars(raw).get("render_mode") == "human":
            raw.render_mode = None
        return new

    def fingerprint_rules(self) -> CopyRules:
        """See ``Cloner``."""
        return _rules()

    def player(self, masks: Any) -> GymPlayer:
        """See ``Cloner``; ``masks`` is the current mask."""
        return GymPlayer(masks)


CLONER = GymCloner()
"""The cloner of all environments."""


def planning_env(env: Any, action_mask: Any = None, *, keep_observations: bool = False) -> Any:
    """A copy of an environment for planning; the first copy of each is checked.

    Args:
        env: the environment; it is not changed.
        action_mask: the actions allowed now, also in the check; None for the environment's own
            mask, or for all actions.
        keep_observations: whether wrappers that change observations are copied too.

    Raises:
        CloneError: if the environment cannot be copied, or a copy is wrong; the message says why.
    """
    # Find it first: the recorder may be inside wrappers that are left out.
    recorder = replayable(env)
    env = searched_part(env, keep_observations)
    if recorder is not None:
        env = _replay(recorder, env)
    _refuse_mujoco(env)
    new = CLONER.checked_clone(env, action_mask)
    # After the check: copies must first repeat the live episode exactly, chance included.
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
    if recorder.is_checked:  # Each replay is a new object, but of the same environment.
        CLONER.note(new, True)
    recorder.is_checked = True
    return new


def chance_knowledge(env: Any, copy: Any, action_mask: Any = None) -> Knowledge:
    """The knowledge of the chance in an environment, detected at the first call.

    Args:
        env: the environment, after ``reset``; it is not changed.
        copy: a copy for planning.
        action_mask: as for ``planning_env``.
    """
    # Keep the player: it notes whether steps have shown masks.
    raw, player = env.unwrapped, GymPlayer(action_mask)
    is_new = known(raw) is None
    knowledge = CLONER.knowledge(
        raw,
        lambda: CLONER.clone(copy),
        player,
        restarts=not CLONER.is_known(copy),
        shared=common_objects(copy),
    )
    if is_new and action_mask is None and player.met_masks:
        _warn_of_unknown_mask(class_name(raw))
    recorder = replayable(env)
    if recorder is not None and recorder.unsure != knowledge.report.unsure:
        knowledge.report = dataclasses.replace(knowledge.report, unsure=recorder.unsure)
        if recorder.unsure:
            say_it_may_foresee(env_name(env), recorder.unsure)
    return knowledge


@functools.cache  # Once for each class.
def _warn_of_unknown_mask(name: str) -> None:
    _log.warning(
        "rave_gymnasium: steps of %s show masks of the allowed actions, but that of the current "
        "position is unknown: all actions count as allowed there. Give it to the agent: "
        'act(observation, info["action_mask"]).',
        name,
    )


def common_objects(env: Any) -> tuple[type, ...]:
    """Types of objects that a copy shares with its original and that no step draws from."""
    return (spaces.Space, dict, list, tuple) if CLONER.is_known(env) else STAGES


def bare_clone(env: Any) -> Any:
    """Copy one of the ``REPLACED`` environments; the copy draws from its original's generator."""
    new = object.__new__(type(env))
    values = vars(env).copy()  # Shallow: steps of these environments replace what they change.
    if values.get("render_mode") is not None:
        values["render_mode"] = None
    new.__dict__ = values
    return new


def _refuse_mujoco(env: Any) -> None:
    raw = env.unwrapped
    # Copies of MuJoCo's simulations are silently wrong: refuse them before any check.
    named = any(kind.__name__ == "MujocoEnv" for kind in type(raw).__mro__)
    if named or any(_is_of_mujoco(value) for value in vars(raw).values()):
        raise CloneError(
            f"{class_name(raw)} cannot be cloned correctly: MuJoCo keeps the simulation "
            f"outside of Python's objects. {CLONER.advice}"
        )


def _is_of_mujoco(value: Any) -> bool:
    """True if an object is a MuJoCo simulation, or part of one."""
    roots = {kind.__module__.partition(".")[0] for kind in type(value).__mro__}
    return not roots.isdisjoint(MUJOCO)


@functools.cache
def _rules() -> CopyRules:
    """Rules that give a copy its own spaces, since a step may draw from them."""
    surface, others = pygame_types()
    shared: tuple[type, ...] = (EnvSpec, *STAGES)
    if surface is not None:
        shared = (*shared, surface, *others)
    return CopyRules(
        by_attributes=(gymnasium.Env, EzPickle), shared=shared, referred=(spaces.Space,)
    )


@functools.cache
def _simulation_rules(generators: tuple[type, ...]) -> CopyRules:
    """Rules for copies that share generators and spaces with their original."""
    return _rules().sharing(*generators, spaces.Space)
