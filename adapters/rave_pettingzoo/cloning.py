"""``clone_env``: correct copies of PettingZoo environments.

An environment is a chain of wrappers around a raw environment. Raw environments that this package
knows (``classic.py``) or that were registered with ``register_cloner`` have their own copying
function; ``rave_agents.environments.copying`` copies all others. The first clone of each
environment outside of ``classic.py`` is checked (``verification.py``).
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import pettingzoo
from gymnasium import spaces
from gymnasium.utils import EzPickle
from pettingzoo.utils import wrappers as wrapper_classes
from pettingzoo.utils.conversions import aec_to_parallel_wrapper, parallel_to_aec_wrapper

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.chance import (
    ChanceReport,
    Knowledge,
    known,
    look_for_chance,
    remember,
)
from rave_agents.environments.clone_check import Checked, CloneCheck, check_clones
from rave_agents.environments.copying import CopyRules, copied, fingerprint, pygame_types
from rave_agents.environments.generators import generator_types, reseed_inside
from rave_agents.environments.wrappers import (
    class_name,
    refused_wrapper,
    supersuit_changes_observations_alone,
    without,
)
from rave_agents.errors import CloneError
from rave_pettingzoo import classic
from rave_pettingzoo.chain import inner_env, raw_env, type_chain
from rave_pettingzoo.verification import ZooPlayer

_E = TypeVar("_E")

PASSIVE_WRAPPERS: tuple[type, ...] = (
    wrapper_classes.OrderEnforcingWrapper,
    wrapper_classes.AssertOutOfBoundsWrapper,
    wrapper_classes.TerminateIllegalWrapper,
)
"""Wrappers that only check the caller and do not change the game."""

RECORDERS: tuple[type, ...] = tuple(
    getattr(wrapper_classes, name)
    for name in ("CaptureStdoutWrapper", "RecordVideo", "RecordVideoParallel")
    if hasattr(wrapper_classes, name)
)
"""Wrappers that only record."""

ADVICE = "Tell how it is copied: rave_pettingzoo.register_cloner(type(env.unwrapped), function)."
"""The remedy for an environment that cannot be cloned."""

_registered: dict[type, Callable[[Any], Any]] = {}
_checked = Checked(inner_env)
"""The environments whose repetition under equal actions and random numbers was checked."""


def register_cloner(env_type: type, cloner: Callable[[Any], Any]) -> None:
    """Register the function that copies environments of a type and of its subclasses.

    The first clone is checked, like any other.

    Args:
        env_type: a class of raw environments, without wrappers.
        cloner: takes an environment and returns a copy in the same state, which shares no mutable
            object with the original; it does not change the original.

    Raises:
        TypeError: if the arguments are not a class of environments and a function.
    """
    if not isinstance(env_type, type) or not issubclass(
        env_type, pettingzoo.AECEnv | pettingzoo.ParallelEnv
    ):
        raise TypeError(f"env_type must be a class of PettingZoo environments, got {env_type!r}.")
    if not callable(cloner):
        raise TypeError(f"cloner must be a function of an environment, got {cloner!r}.")
    _registered[env_type] = cloner
    _checked.clear()


def clone_env(env: _E) -> _E:
    """Copy an environment in its current state, wrappers included.

    Under the same actions the copy behaves like the original, random numbers included, and neither
    changes the other. The copy of an environment with a window (``render_mode="human"``) has none.

    The first copy of an environment that this package does not know is checked by playing copies
    with the same actions. The check does not touch the original.

    Args:
        env: an AEC or Parallel environment.

    Raises:
        TypeError: if ``env`` is not a PettingZoo environment.
        CloneError: if it cannot be copied, or a copy is wrong; the message says why.
    """
    check_env(env)
    return _checked_clone(env)


def _checked_clone(env: _E, masks: Mapping[Any, Any] | None = None) -> _E:
    rules = _rules()

    def clone(thing: Any) -> Any:
        return _clone(thing, rules)

    def check() -> CloneCheck:
        if _is_known(env):
            return CloneCheck(played=True, repeats=True)
        player = ZooPlayer(masks)
        return check_clones(env, clone, lambda thing: fingerprint(thing, rules), player, ADVICE)

    new: _E = _checked.copied(env, clone, check)
    return new


def check_env(env: object) -> None:
    """Raise TypeError if the argument is not a PettingZoo environment."""
    if not isinstance(env, pettingzoo.AECEnv | pettingzoo.ParallelEnv):
        raise TypeError(
            f"env must be a PettingZoo environment, AEC or Parallel, got {type(env).__name__}."
        )


def searched_env(
    env: Any, *, keep_observations: bool = False, masks: Mapping[Any, Any] | None = None
) -> Any:
    """Return a copy to search, without pictures and wrappers that mean nothing to a search.

    Args:
        env: the environment; it is not changed.
        keep_observations: whether wrappers that change observations are kept.
        masks: as for ``ZooPlayer``.

    Raises:
        CloneError: as ``clone_env``.
    """

    def leaves_out(wrapper: Any, one_is_kept: bool) -> bool:
        if type(wrapper) is wrapper_classes.TerminateIllegalWrapper:
            return not one_is_kept  # Another may change a legal action to an illegal one.
        if type(wrapper) in PASSIVE_WRAPPERS or type(wrapper) in RECORDERS:
            return True
        return not keep_observations and only_observes(wrapper)

    env = _straight(without(env, inner_env, leaves_out))
    clone = _checked_clone(env, masks)
    raw = raw_env(clone)
    if classic.class_name(raw) in classic.CLONERS:
        raw.render_mode = None
    return clone


def _straight(env: Any) -> Any:
    """Leave out a conversion to turns and back, as some wrappers of Parallel environments make."""
    inner = inner_env(env)
    if type(env) is not aec_to_parallel_wrapper or type(inner) is not parallel_to_aec_wrapper:
        return env
    return inner_env(inner)


def only_observes(wrapper: Any) -> bool:
    """True if a wrapper changes nothing but observations, masks not included."""
    if supersuit_changes_observations_alone(wrapper):
        return True
    kind = type(wrapper)
    plain = wrapper_classes.BaseWrapper
    if not isinstance(wrapper, plain):
        return False
    own = {name for base in kind.__mro__[: kind.__mro__.index(plain)] for name in vars(base)}
    shown = {"observe", "observation_space", "observation_spaces", "render", "close"}
    if any(not name.startswith("_") and hasattr(plain, name) for name in own - shown):
        return False
    if any(not name.startswith("_") and hasattr(wrapper.env, name) for name in own - shown):
        return False
    return all(
        "action_mask" not in (getattr(wrapper.observation_space(agent), "spaces", None) or {})
        or "action_mask" in (getattr(wrapper.env.observation_space(agent), "spaces", None) or {})
        for agent in wrapper.possible_agents
    )


def search_cloner(env: Any) -> Callable[[Any], Any]:
    """Return the fastest function that copies an environment from ``searched_env``."""
    own = classic.CLONERS.get(classic.class_name(env))
    return (lambda given: _clone(given, _rules())) if own is None else own


def simulation_cloner(env: Any, seed: int) -> Callable[[Any], Any]:
    """Return a function that copies a search's root for simulations with their own outcomes.

    Copies draw from the generators of their original, one after the other. Copies by a registered
    function have their own generators, which are reseeded in each copy.
    """
    own = classic.simulation_cloner(env)
    if own is not None:
        return own
    rules = _simulation_rules(generator_types())
    if not _has_registered_cloner(env):
        return lambda given: _clone(given, rules)
    seeds = np.random.default_rng(seed)

    def clone(given: Any) -> Any:
        new = _clone(given, rules)
        reseed_inside(new, seeds)
        return new

    return clone


def chance_knowledge(env: Any, masks: Mapping[Any, Any] | None = None) -> Knowledge:
    """Return the knowledge of the chance in an environment, detected at the first call.

    Args:
        env: the environment, after ``reset``; it is not changed.
        masks: as for ``ZooPlayer``.
    """
    if _is_known(env):
        draws = classic.keeps_generators(raw_env(env))
        return Knowledge(ChanceReport(), certain=True, has_generators=draws)
    raw = raw_env(env)
    knowledge = known(raw)
    if knowledge is None:
        base = searched_env(env, masks=masks)
        report = look_for_chance(
            base,
            simulation_cloner(base, 0),
            ZooPlayer(masks),
            repeats=_checked.repeats(base) is not False,
            clones_keep_own=_has_registered_cloner(base),
        )
        knowledge = remember(raw, Knowledge(report))
    return knowledge


def _is_known(env: Any) -> bool:
    raw = raw_env(env)
    if _registered_cloner(type(raw)) is not None:
        return False
    wrappers = type_chain(env)[:-1]
    return classic.class_name(raw) in classic.CLONERS and all(
        kind in PASSIVE_WRAPPERS for kind in wrappers
    )


def _registered_cloner(kind: type) -> Callable[[Any], Any] | None:
    return next((_registered[base] for base in kind.__mro__ if base in _registered), None)


def _has_registered_cloner(env: Any) -> bool:
    return any(_registered_cloner(kind) is not None for kind in type_chain(env))


def _clone(env: Any, rules: CopyRules) -> Any:
    kind = type(env)
    if kind in PASSIVE_WRAPPERS:
        new = object.__new__(kind)
        values = vars(env).copy()
        values["env"] = _clone(env.env, rules)
        if values.get("_prev_obs") is not None:
            values["_prev_obs"] = _copied_observation(values["_prev_obs"])
        vars(new).update(values)
        return new
    own = _registered_cloner(kind)
    if own is not None:
        return own(env)
    known = classic.CLONERS.get(classic.class_name(env))
    if known is not None:
        return _dressed(known(env), env)
    inner = inner_env(env)
    try:
        return copied(env, rules, {} if inner is None else {id(inner): _clone(inner, rules)})
    except CloneError:
        raise
    except Exception as error:
        if is_raised_by_handler(error):
            raise
        if inner is not None:
            raise CloneError(refused_wrapper(env, error)) from error
        raise CloneError(f"{class_name(env)} cannot be copied: {error}. {ADVICE}") from error


def _dressed(new: Any, raw: Any) -> Any:
    """Give a classic environment's copy its own screen and action spaces."""
    values = vars(new)
    if values.get("render_mode") == "human":
        values["render_mode"] = None
        values["screen"] = None
    elif values.get("screen") is not None:
        values["screen"] = raw.screen.copy()
    values["action_spaces"] = {a: _copied_space(s) for a, s in values["action_spaces"].items()}
    return new


def _copied_space(space: Any) -> Any:
    """Return a copy of a space with its own generator."""
    new = object.__new__(type(space))
    vars(new).update(vars(space))
    if space._np_random is not None:
        new._np_random = copied(space._np_random, CopyRules())
    return new


def _copied_observation(observation: Any) -> Any:
    if isinstance(observation, dict):
        return {key: _copied_observation(value) for key, value in observation.items()}
    return observation.copy() if hasattr(observation, "copy") else observation


@functools.cache
def _rules() -> CopyRules:
    """Rules that copy environments by their attributes, and pygame's surfaces by their method."""
    copiers: dict[type, Callable[[Any], Any]] = {}
    surface, shared = pygame_types()
    if surface is not None:
        copiers[surface] = lambda surface: surface.copy()
    try:
        import pyspiel  # noqa: PLC0415  (optional: OpenSpiel)
    except ImportError:
        pass
    else:
        copiers[pyspiel.State] = lambda state: state.clone()
        shared = (*shared, pyspiel.Game)
    kinds = (pettingzoo.AECEnv, pettingzoo.ParallelEnv, EzPickle)
    return CopyRules(by_attributes=kinds, shared=shared, copiers=copiers, referred=(spaces.Space,))


@functools.cache
def _simulation_rules(generators: tuple[type, ...]) -> CopyRules:
    """Rules for copies that share generators and spaces with their original."""
    return _rules().sharing(*generators, spaces.Space)
