"""The environment on which episodes are replayed, and its random numbers."""

import contextlib
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.utils import seeding

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.chance import content_key
from rave_agents.environments.foreign_objects import foreign_type
from rave_agents.environments.generators import (
    Found,
    find_generators,
    reseed,
    restore,
    saved,
    state_bytes,
)
from rave_agents.errors import CloneError, UnsupportedGameError

TRIES = 16
"""Replays that may differ from the live environment before it is refused."""

UNLIKELY = 5_826_113_094
"""A seed above 2**32, which no reset draws."""

OWN = "_np_random"
"""The attribute of Gymnasium's own generator, which a replay shares with the search."""

SEEDS = 2**16
"""Least width of a range from which a seed is drawn."""

INEXACT = (
    "cannot be replayed: the same seed and actions show different observations. The search cannot "
    "plan in it."
)
"""Message if a replay by the live seed differs."""

UNFAIR = (
    "cannot be replayed fairly: its observations repeat only with the seed of its reset, "
    "regardless of its known generators. A hidden generator, such as one in a C++ library, decides "
    "them, and the search would foresee later ones. Make the environment without that chance, "
    "or let it draw from np_random."
)
"""Message if replays agree only by the live seed."""


class ReseedingGenerator(np.random.Generator):
    """A generator that repeats another one, except for draws that may seed a third.

    Args:
        generator: the generator to repeat; it advances as usual.
        other: draws integers from wide ranges in its place.
    """

    def __init__(self, generator: np.random.Generator, other: np.random.Generator) -> None:
        super().__init__(generator.bit_generator)
        self._other = other

    def integers(self, low: Any, high: Any = None, *more: Any, **options: Any) -> Any:
        """Draw integers as NumPy does, from the other generator if a seed may be wanted."""
        drawn = super().integers(low, high, *more, **options)  # Always, to advance alike.
        span = np.max(np.subtract(*((low, 0) if high is None else (high, low)), dtype=float))
        return self._other.integers(low, high, *more, **options) if span >= SEEDS else drawn

    def bytes(self, length: Any) -> bytes:
        """Draw bytes as NumPy does, from the other generator."""
        super().bytes(length)
        return self._other.bytes(length)


class Episode(NamedTuple):
    """An episode that a replay repeats."""

    seed: int
    options: Any
    actions: tuple[Any, ...]
    seen: tuple[Hashable, ...] = ()
    """The observation of each step, the reset first; empty if nothing is compared."""
    begun: Mapping[str, Any] = {}
    """The states of the generators after the live reset, by name."""
    anew: bool = False
    """True if hidden generators get a seed other than the live one."""


class Stage:
    """The second environment, on which one replay at a time plays."""

    def __init__(self, spec: Any) -> None:
        silent = {"render_mode": None} if "render_mode" in spec.kwargs else {}
        self.env: Any = gymnasium.make(spec, disable_env_checker=True, **silent).unwrapped
        self.player: Any = None
        """The token of the ``ReplayedEnv`` that plays on it now."""
        self.pairs: list[tuple[Any, Any]] = []
        """The player's generators, each with its counterpart on this stage."""
        self.outside: tuple[Found, ...] = ()
        """Generators outside of the environment that it can draw from, such as NumPy's own."""
        self._set_by_reset: tuple[Found, ...] = ()
        self.unsure: str = ""
        """The reason that a replay that begins anew may foresee chance; empty if it does not."""
        self._is_plain = False
        self._has_other_seed = False
        self._draws_seeds_anew = True
        self._others = np.random.default_rng()

    @contextlib.contextmanager
    def _kept(self) -> Iterator[None]:
        """Restore the states of the generators outside of the environment at the end."""
        outside = () if self._is_plain else self.outside
        before = [saved(found.generator) for found in outside]
        try:
            yield
        finally:
            for found, state in zip(outside, before, strict=True):
                restore(found.generator, state)

    def generators(self) -> dict[str, Any]:
        """The generators in the environment, by name, without Gymnasium's own."""
        inside = find_generators(self.env).inside
        named = {one.name.rpartition(" (")[0]: one.generator for one in inside}
        named.pop(OWN, None)
        return named

    def reset(self, seed: int, options: Any) -> Any:
        """Reset the environment by a seed that a search may not know; return its answer."""
        self._has_other_seed = False
        self.outside = find_generators(self.env).outside
        with self._kept():
            return self.env.reset(seed=seed, options=options)

    def recorded(self, episode: Episode) -> tuple[Episode, Any]:
        """Repeat an episode by the live seed.

        Returns:
            The episode with its observations and the states of its generators after the reset; and
            the last observation.
        """
        self._is_plain = self._has_other_seed = False
        self.outside = find_generators(self.env).outside
        with self._kept():
            # The live reset may have left exactly the state that this one sets: change it first, to
            # notice.
            for found in self.outside:
                if saved(found.generator) is not None:
                    reseed(found.generator, UNLIKELY)
            before = [state_bytes(found.generator) for found in self.outside]
            seen, _ = self.env.reset(seed=episode.seed, options=episode.options)
            self._set_by_reset = tuple(
                found
                for found, state in zip(self.outside, before, strict=True)
                if state_bytes(found.generator) != state
            )
            begun = {name: saved(each) for name, each in self._set_generators().items()}
            if self.env._np_random is not None:
                begun[OWN] = saved(self.env._np_random)
            shown = [_digest(seen)]
            for action in episode.actions:
                answer = self.env.step(action)
                shown.append(_digest(answer))
                seen = answer[0]
        self._is_plain = not begun.keys() - {OWN}
        return episode._replace(seen=tuple(shown), begun=begun), seen

    def _set_generators(self) -> dict[str, Any]:
        """The generators whose states a reset sets."""
        return {**self.generators(), **{one.name: one.generator for one in self._set_by_reset}}

    def begins_anew(self, episode: Episode) -> bool:
        """True if a reset without a seed, after one by another seed, repeats the live start.

        If possible, it also draws seeds of other generators anew.
        """
        self.unsure = ""
        for self._draws_seeds_anew in (True, False):
            try:
                with self._kept():
                    if self._begin(episode._replace(anew=True)) == episode.seen[0]:
                        break
            except Exception as error:
                if is_raised_by_handler(error):
                    raise
                return False  # It cannot be reset without a seed.
        else:
            return False
        foreign = None if self._draws_seeds_anew else foreign_type(self.env)
        if foreign is not None:
            self.unsure = (
                f"its reset draws integers that it shows, and might draw the seed of its {foreign} "
                "like them, which replays would repeat"
            )
        return True

    def play(self, episode: Episode) -> None:
        """Repeat an episode until its observations agree (rejection sampling).

        Raises:
            CloneError: if they do not by the live seed.
            UnsupportedGameError: if they do only by the live seed.
        """
        with self._kept():
            for _ in range(TRIES if episode.anew else 1):
                if self._agrees(episode):
                    return
        name = self.env.spec.id
        if not episode.anew:
            raise CloneError(f"{name} {INEXACT}")
        raise UnsupportedGameError(f"{name} {UNFAIR}")

    def _agrees(self, episode: Episode) -> bool:
        begun, seen = self._begin(episode), episode.seen
        if seen and begun != seen[0]:
            return False
        for number, action in enumerate(episode.actions, 1):
            answer = self.env.step(action)
            if seen and _digest(answer) != seen[number]:
                return False
        return True

    def _begin(self, episode: Episode) -> Hashable:
        """Begin an episode, with the known generators as they were after the live reset."""
        if not episode.anew:
            self._has_other_seed = False
            return _digest(self.env.reset(seed=episode.seed, options=episode.options)[0])
        # By another seed, so that hidden generators cannot repeat the live episode's numbers.
        if not self._has_other_seed:
            self._others = np.random.default_rng([episode.seed, len(episode.actions)])
            self.env.reset(seed=int(self._others.integers(2**31)), options=episode.options)
            self._has_other_seed = True
        own = seeding.np_random(episode.seed)[0]
        self.env._np_random = (
            ReseedingGenerator(own, self._others) if self._draws_seeds_anew else own
        )
        seen, _ = self.env.reset(options=episode.options)
        self.env._np_random = own  # From here on, as after the live reset.
        if OWN in episode.begun:
            restore(own, episode.begun[OWN])
        if not self._is_plain:
            for name, each in self._set_generators().items():
                restore(each, episode.begun.get(name))
        return _digest(seen)


def _digest(answer: Any) -> Hashable:
    """Digest of an observation, or of a step: observation, reward and end."""
    if isinstance(answer, tuple) and len(answer) == 5:
        return hash((content_key(answer[0]), content_key(answer[1]), bool(answer[2])))
    return hash(content_key(answer))
