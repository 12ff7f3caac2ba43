"""``clone_env``: correct copies of PettingZoo environments.

An environment is a chain of wrappers around a raw environment. Raw environments that this package
knows (``classic.py``) or that were registered with ``register_cloner`` have their own copying
function; everything else is copied by ``rave_agents.environments.copying``.
"""

import copy
import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import pettingzoo
from gymnasium import spaces
from gymnasium.utils import EzPickle
from pettingzoo.utils import wrappers as wrapper_classes
from pettingzoo.utils.conversions import aec_to_parallel_wrapper, parallel_to_aec_wrapper

from rave_agents.environments.chance import ChanceReport, Knowledge
from rave_agents.environments.cloner import Cloner
from rave_agents.environments.copying import CopyRules, pygame_types
from rave_agents.environments.generators import generator_types, reseed_inside
from rave_agents.environments.wrappers import (
    chain,
    class_name,
    supersuit_changes_observations_alone,
    without,
)
from rave_pettingzoo import classic
from rave_pettingzoo.player import ZooPlayer
from rave_pettingzoo.structure import check_env, inner_env, raw_env, shows_mask

_E = TypeVar("_E")

PASSIVE_WRAPPERS: tuple[type, ...] = (
    wrapper_classes.OrderEnforcingWrapper,
    wrapper_classes.AssertOutOfBoundsWrapper,
    wrapper_classes.TerminateIllegalWrapper,
)
"""Wrappers that only check the caller and do not change the game."""

RECORDERS = frozenset({"CaptureStdoutWrapper", "RecordVideo", "RecordVideoParallel"})
"""Classes of PettingZoo's wrappers that only record."""

Masks = Callable[[], Mapping[Any, Any]]
"""Returns the known current masks of a Parallel environment's agents."""

_registered: dict[type, Callable[[Any], Any]] = {}


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
    CLONER.forget()  # Earlier checks were of copies by another function.


def registered_cloner(kind: type) -> Callable[[Any], Any] | None:
    """The function that was registered for a type or for its nearest base."""
    return next((_registered[base] for base in kind.__mro__ if base in _registered), None)


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
    new: _E = CLONER.checked_clone(env)
    return new


class ZooCloner(Cloner):
    """Copies PettingZoo's environments, see ``rave_agents.environments.cloner.Cloner``."""

    advice = (
        "Register a copying function: "
        "rave_pettingzoo.register_cloner(type(env.unwrapped), function)."
    )

    def inner(self, env: Any) -> Any | None:
        """See ``Cloner``."""
        return inner_env(env)

    def is_known(self, env: Any) -> bool:
        """True for a classic environment with wrappers that only check the caller."""
        *outer, raw = chain(env, inner_env)
        known = class_name(raw) in classic.CLONERS and registered_cloner(type(raw)) is None
        return known and all(type(wrapper) in PASSIVE_WRAPPERS for wrapper in outer)

    def clone(self, env: Any) -> Any:
        """See ``Cloner``."""
        own = registered_cloner(type(env)) or classic.full_cloner(env)
        if own is not None:
            return own(env)
        if type(env) in PASSIVE_WRAPPERS:  # Several times faster than pickling their attributes.
            new = object.__new__(type(env))
            vars(new).update(vars(env), env=self.clone(env.env))
            # The only mutable object in these wrappers: TerminateIllegal's last observation.
            if "_prev_obs" in vars(new):
                new._prev_obs = copy.deepcopy(env._prev_obs)
            return new
        return self.copied(env, _with_copiers(_rules(), env, classic.full_cloner))

    def search_cloner(self, env: Any) -> Callable[[Any], Any]:
        """The fastest function that copies an environment from ``searched_env``."""
        own = classic.CLONERS.get(class_name(env))
        if own is not None and registered_cloner(type(env)) is None:
            return own
        rules = _with_copiers(_rules(), env, classic.full_cloner)
        return lambda given: self.copied(given, rules)

    def simulation_cloner(self, env: Any, seed: int = 0) -> Callable[[Any], Any]:
        """See ``Cloner``; copies by a registered function have generators of their own."""
        keeps_own = self.keeps_generators(env)
        own = classic.simulation_cloner(env)
        # A registered function anywhere in the chain copies generators too, and all copies would
        # draw the same outcomes: reseed those after copying.
        if own is not None and not keeps_own:
            return own
        base = _rules() if keeps_own else _simulation_rules(generator_types())
        rules = _with_copiers(base, env, classic.simulation_cloner)
        if not keeps_own:
            return lambda given: self.copied(given, rules)
        seeds = np.random.default_rng(seed)

        def clone(given: Any) -> Any:
            new = self.copied(given, rules)
            reseed_inside(new, seeds)
            return new

        return clone

    def keeps_generators(self, env: Any) -> bool:
        """True if copies for simulations have generators of their own."""
        return any(registered_cloner(type(each)) is not None for each in chain(env, inner_env))

    def fingerprint_rules(self) -> CopyRules:
        """See ``Cloner``."""
        return _rules()

    def player(self, masks: Any) -> ZooPlayer:
        """See ``Cloner``; ``masks`` is of type ``Masks``."""
        return ZooPlayer(None if masks is None else masks())


CLONER = ZooCloner()
"""The cloner of all environments."""


def searched_env(env: Any, *, keep_observations: bool = False, masks: Masks | None = None) -> Any:
    """A copy to search, without pictures and wrappers that do not affect a search.

    Args:
        env: the environment; it is not changed.
        keep_observations: whether wrappers that change observations are kept.
        masks: returns the current masks of a Parallel environment's agents.

    Raises:
        CloneError: as ``clone_env``.
    """
    clone = CLONER.checked_clone(searched_part(env, keep_observations), masks)
    raw = raw_env(clone)
    if class_name(raw) in classic.CLONERS:
        raw.render_mode = None
    return clone


def searched_part(env: Any, keep_observations: bool) -> Any:
    """An environment without those wrappers; copy it before stepping it."""

    def leaves_out(wrapper: Any, one_is_kept: bool) -> bool:
        if type(wrapper) is wrapper_classes.TerminateIllegalWrapper:
            return not one_is_kept  # Another may change a legal action to an illegal one.
        if type(wrapper) in PASSIVE_WRAPPERS or _only_records(wrapper):
            return True
        return not keep_observations and only_observes(wrapper)

    part = without(env, inner_env, leaves_out)
    inner = inner_env(part)
    # Some wrappers of Parallel environments convert to turns and back, which changes nothing.
    if type(part) is aec_to_parallel_wrapper and type(inner) is parallel_to_aec_wrapper:
        return inner_env(inner)
    return part


def _only_records(wrapper: Any) -> bool:
    kind = type(wrapper)
    return kind.__name__ in RECORDERS and kind is vars(wrapper_classes).get(kind.__name__)


def only_observes(wrapper: Any) -> bool:
    """True if a wrapper changes nothing but observations, masks not included."""
    if supersuit_changes_observations_alone(wrapper):
        return True
    kind = type(wrapper)
    plain = wrapper_classes.BaseWrapper
    if not isinstance(wrapper, plain):
        return False
    # Judge a wrapper by what its classes below ``BaseWrapper`` override.
    own = {name for base in kind.__mro__[: kind.__mro__.index(plain)] for name in vars(base)}
    shown = {"observe", "observation_space", "observation_spaces", "render", "close"}
    public = {name for name in own - shown if not name.startswith("_")}
    # A wrapper passes on attributes of the environment inside, which ``dir`` does not list.
    if not public.isdisjoint(dir(plain)) or any(hasattr(wrapper.env, name) for name in public):
        return False
    return all(
        shows_mask(wrapper.env.observation_space(agent))
        for agent in wrapper.possible_agents
        if shows_mask(wrapper.observation_space(agent))
    )


def chance_knowledge(env: Any, masks: Masks | None = None) -> Knowledge:
    """The knowledge of the chance in an environment, detected at the first call.

    Args:
        env: the environment, after ``reset``; it is not changed.
        masks: as for ``searched_env``.
    """
    raw = raw_env(env)
    if CLONER.is_known(env):
        draws = classic.keeps_generators(raw)
        return Knowledge(ChanceReport(), certain=True, has_generators=draws)
    return CLONER.knowledge(
        raw,
        lambda: searched_env(env, masks=masks),
        CLONER.player(masks),
        clones_keep_own=CLONER.keeps_generators(env),
    )


def _with_copiers(
    rules: CopyRules, env: Any, of_classic: Callable[[Any], Callable[[Any], Any] | None]
) -> CopyRules:
    """Rules that copy a part of an environment by its own copying function, if it has one."""
    for each in chain(env, inner_env):
        own = registered_cloner(type(each)) or of_classic(each)
        if own is not None:  # The outermost one: it copies everything inside too.
            return rules.copying({type(each): own})
    return rules


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
        shared = (*shared, pyspiel.Game)  # Games never change.
    # By attributes, since EzPickle's ``__setstate__`` calls the constructor and loses the state.
    kinds = (pettingzoo.AECEnv, pettingzoo.ParallelEnv, EzPickle)
    return CopyRules(by_attributes=kinds, shared=shared, copiers=copiers, referred=(spaces.Space,))


@functools.cache
def _simulation_rules(generators: tuple[type, ...]) -> CopyRules:
    """Rules for copies that share generators and spaces with their original."""
    return _rules().sharing(*generators, spaces.Space)
