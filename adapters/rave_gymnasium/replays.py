"""Replays in place of copies: the same actions, for environments that cannot be copied.

A replay must show what the live environment has shown, and must not know what it will show. So the
environment that replays is reset by another seed first, and then once more without a seed, as
Gymnasium has it: its generators go on. Only ``np_random``, and the other generators that can be
found, are set to what they were in the live environment, until the present; from there they are the
search's own. A generator that cannot be found, such as one in a C++ library, has other numbers than
the live one, before and after. If it has shown, most replays disagree with what was seen; they are
repeated until one agrees (rejection sampling), and if none does, the environment is refused.

Where a reset without a seed begins in another way, the live seed must be used: then nobody can tell
whether there is such a generator, whose numbers to come the search would know.
"""

import contextlib
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.utils import seeding

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.chance import content_key
from rave_agents.environments.copying import CopyRules, copied, equal
from rave_agents.environments.foreign_objects import foreign_type
from rave_agents.environments.generators import (
    Found,
    find_generators,
    reseed,
    restore,
    saved,
    state_bytes,
)
from rave_agents.environments.masks import mask_method
from rave_agents.errors import CloneError, UnsupportedGameError

TRIES = 16
"""Replays that may show something else than the live environment before it is refused."""

UNLIKELY = 5_826_113_094
"""A seed that no reset gives by chance."""

OWN = "_np_random"
"""The attribute of Gymnasium's own generator, which a replay shares with the search."""

SEEDS = 2**16
"""Least width of a range from which a seed is drawn."""

INEXACT = (
    "cannot be replayed: the same seed and actions show something else. The search cannot plan in "
    "it."
)
"""Message where a replay by the live seed shows something else."""

UNFAIR = (
    "cannot be replayed fairly: what it has shown comes again by the seed of its reset alone, "
    "whatever its known generators draw. A hidden generator, such as one in a C++ library, decides "
    "it, and the search would foresee what is to come. Make the environment without that chance, "
    "or let it draw from np_random."
)
"""Message where replays agree by the live seed alone."""

CANNOT_TELL = (
    "a reset without a seed does not repeat its start, so that it cannot be told whether a hidden "
    "generator decides outcomes to come, which replays would foresee"
)
"""Message for an environment whose replays need the live seed."""


class SeedsAnew(np.random.Generator):
    """A generator that draws the same numbers, but for those that may seed another generator.

    Args:
        generator: the one that draws the same numbers; it is used up alike.
        other: draws integers from wide ranges in its place.
    """

    def __init__(self, generator: np.random.Generator, other: np.random.Generator) -> None:
        super().__init__(generator.bit_generator)
        self._other = other

    def integers(self, low: Any, high: Any = None, *more: Any, **options: Any) -> Any:
        """Draw integers as NumPy does, from the other generator if a seed may be wanted."""
        drawn = super().integers(low, high, *more, **options)
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
    """The states of the generators after the live reset, by their names."""
    anew: bool = False
    """True if hidden generators have other numbers than in the live environment."""


class Replayable(gymnasium.Wrapper):  # type: ignore[misc]
    """Remembers the seed and the actions of an episode, so that a search can replay it.

    A simulation begins in a second environment from ``gymnasium.make`` that repeats the episode,
    which takes time: it suits short episodes. A check finds out whether replays are exact. Chance
    to come is drawn anew by each simulation, from whatever generator it comes; ``unsure`` tells
    where that cannot be made sure.

    ::

        env = Replayable(gymnasium.make("LunarLander-v3"))
        agent = RaveAgent(env, simulations=50, horizon=30)

    Args:
        env: an environment that ``gymnasium.make`` has made, with discrete actions.

    Raises:
        CloneError: if it was made otherwise, and so cannot be made again.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        spec = env.unwrapped.spec
        if spec is None:
            raise CloneError(
                f"{env} cannot be replayed: gymnasium.make did not make it, so it cannot be made "
                "again. Register it."
            )
        self._random = np.random.default_rng()
        self._episode: tuple[int, list[Any]] | None = None
        self._last: Any = None
        self._stage: _Stage | None = None
        self.is_checked = False
        """True if copies of a replay have been checked."""
        self.unsure: str = ""
        """The reason that replays may foresee chance; empty if they do not."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; without a seed, with one that is drawn."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        drawn = int(self._random.integers(2**31)) if seed is None else seed
        self._last, info = self.env.reset(seed=drawn, options=options)
        self._episode = drawn, []
        self._options = options
        return self._last, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step, and remember the action."""
        answer: tuple[Any, Any, bool, bool, dict[str, Any]] = self.env.step(action)
        if self._episode is not None:
            self._episode[1].append(action)
        self._last = answer[0]
        return answer

    def replay(self) -> "ReplayedEnv":
        """Return an environment in the same state, which is replayed when it is stepped.

        It goes on like the live one; ``fair`` makes it draw hidden numbers to come anew.

        Raises:
            ValueError: before ``reset``.
            CloneError: if a replay shows something else than the environment did, or than another.
        """
        if self._episode is None:
            raise ValueError(f"{self} has not been reset: call env.reset() first.")
        if self._stage is None:
            self._stage = _Stage(self.env.unwrapped.spec)
        seed, actions = self._episode
        episode = Episode(seed, self._options, tuple(actions))
        live, last = self._stage.recorded(episode)
        exact = equal(np.asarray(last), np.asarray(self._last))
        if exact and not self.is_checked:
            exact = self._stage.recorded(episode)[0].seen == live.seen
        if not exact:
            raise CloneError(f"{self} {INEXACT}")
        return ReplayedEnv(self._stage, live, self.env.unwrapped)

    def fair(self, replayed: "ReplayedEnv") -> None:
        """Let a replay, or a copy of it, draw anew what a hidden generator is to draw.

        Raises:
            UnsupportedGameError: if replays agree by the live seed alone, which foresees chance.
        """
        assert self._stage is not None
        live = replayed.episode
        begins_anew = self._stage.begins_anew(live)
        self.unsure = self._stage.unsure if begins_anew else CANNOT_TELL
        if begins_anew:
            self._stage.play(live._replace(anew=True))
            replayed.episode = live._replace(anew=True)


class _Stage:
    """The second environment, on which one replay at a time plays."""

    def __init__(self, spec: Any) -> None:
        silent = {"render_mode": None} if "render_mode" in spec.kwargs else {}
        self.env: Any = gymnasium.make(spec, disable_env_checker=True, **silent).unwrapped
        self.player: Any = None
        """The player whose replay it is."""
        self.pairs: list[tuple[Any, Any]] = []
        """The player's generators, and those in their places here."""
        self.outside: tuple[Found, ...] = ()
        """The generators outside that it can draw from."""
        self._set_by_reset: tuple[Found, ...] = ()
        self.unsure: str = ""
        """The reason that a replay that begins anew may foresee chance; empty if it does not."""
        self._is_plain = False
        self._is_seeded_otherwise = False
        self._draws_seeds_anew = True
        self._others = np.random.default_rng()

    @contextlib.contextmanager
    def _kept(self) -> Iterator[None]:
        """Give the generators outside of the environment their states again at the end."""
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
        self._is_seeded_otherwise = False
        self.outside = find_generators(self.env).outside
        with self._kept():
            return self.env.reset(seed=seed, options=options)

    def recorded(self, episode: Episode) -> tuple[Episode, Any]:
        """Repeat an episode by the live seed.

        Returns:
            The episode with what it shows, and with the states of its generators after the reset;
            and the last observation.
        """
        self._is_plain = self._is_seeded_otherwise = False
        self.outside = find_generators(self.env).outside
        with self._kept():
            for found in self.outside:  # Else a state that the live reset has set looks untouched.
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
        """True if a reset without a seed, after one by another seed, begins like the live one.

        If it can, it also draws seeds of other generators anew.
        """
        self.unsure = ""
        for self._draws_seeds_anew in (True, False):
            try:
                with self._kept():
                    if self._begun(episode._replace(anew=True)) == episode.seen[0]:
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
        """Repeat an episode until it shows what it has shown.

        Raises:
            CloneError: if it does not by the live seed.
            UnsupportedGameError: if it does by the live seed alone.
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
        begun, seen = self._begun(episode), episode.seen
        if seen and begun != seen[0]:
            return False
        for number, action in enumerate(episode.actions, 1):
            answer = self.env.step(action)
            if seen and _digest(answer) != seen[number]:
                return False
        return True

    def _begun(self, episode: Episode) -> Hashable:
        """Begin an episode, with the known generators as they were after the live reset."""
        if not episode.anew:
            self._is_seeded_otherwise = False
            return _digest(self.env.reset(seed=episode.seed, options=episode.options)[0])
        if not self._is_seeded_otherwise:
            self._others = np.random.default_rng([episode.seed, len(episode.actions)])
            self.env.reset(seed=int(self._others.integers(2**31)), options=episode.options)
            self._is_seeded_otherwise = True
        own = seeding.np_random(episode.seed)[0]
        self.env._np_random = SeedsAnew(own, self._others) if self._draws_seeds_anew else own
        seen, _ = self.env.reset(options=episode.options)
        self.env._np_random = own
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


class ReplayedEnv(gymnasium.Env):  # type: ignore[misc]
    """An environment that stands for an episode's seed and actions; see ``Replayable``.

    Made when the stage has just repeated the episode by the live seed.
    """

    def __init__(self, stage: _Stage, episode: Episode, like: Any) -> None:
        self._stage = stage
        self.episode = episode
        """The episode to repeat."""
        self._since: list[Any] = []
        self._token = object()
        self.metadata = like.metadata
        self.action_space: Any = like.action_space
        self.observation_space: Any = like.observation_space
        self._take_generators()

    def _take_generators(self) -> None:
        """Copy the stage's generators; a search seeds the copies as it likes."""
        rules = CopyRules()
        own = self._stage.env._np_random
        self._np_random = np.random.default_rng() if own is None else copied(own, rules)
        self.generators: dict[str, Any] = {
            name: copied(each, rules) for name, each in self._stage.generators().items()
        }
        """The other generators, by their names."""

    @property
    def outside_generators(self) -> tuple[Found, ...]:
        """The generators outside of the environment that it can draw from."""
        return self._stage.outside

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode of its own."""
        self.episode = Episode(self.episode.seed if seed is None else seed, options, ())
        self._since = []
        answer: tuple[Any, dict[str, Any]] = self._stage.reset(self.episode.seed, options)
        self._take_generators()
        self._give_generators()
        return answer

    def replay(self) -> None:
        """Play the episode so far, and what came since."""
        self._stage.play(self.episode)
        self._give_generators()
        for action in self._since:
            self._stage.env.step(action)

    def _give_generators(self) -> None:
        """Let the stage draw from this environment's generators from now on."""
        stage = self._stage
        self._token = stage.player = object()
        stage.env._np_random = self._np_random
        theirs = stage.generators() if self.generators else {}
        stage.pairs = [
            (own, theirs[name]) for name, own in self.generators.items() if name in theirs
        ]
        for own, its in stage.pairs:
            restore(its, saved(own))

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step, after a replay if another one has played since."""
        if self._stage.player is not self._token:
            self.replay()
        self._since.append(action)
        answer: tuple[Any, Any, bool, bool, dict[str, Any]] = self._stage.env.step(action)
        for own, its in self._stage.pairs:
            restore(own, saved(its))
        return answer

    def action_masks(self) -> Any:
        """Return the mask that the environment's own method gives; None if it has none."""
        name = mask_method(self._stage.env)
        if name is None:
            return None
        if self._stage.player is not self._token:
            self.replay()
        return getattr(self._stage.env, name)()


def replayable(env: Any) -> Replayable | None:
    """Return the wrapper that remembers an episode's actions, if there is one."""
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, Replayable):
            return env
        env = env.env
    return None


STAGES: tuple[type, ...] = (_Stage, Episode)
"""Objects that replays share."""
