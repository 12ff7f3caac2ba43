"""Replays in place of copies: the same actions, for environments that cannot be copied.

A replay must repeat the live environment's observations, and must not foresee later ones. So the
environment that replays is first reset with another seed, and then without one, after which its
generators go on. ``np_random`` and the other generators that can be found then get the states they
had in the live environment; from the current position on they are the search's own. A generator
that cannot be found, such as one in a C++ library, draws numbers other than the live ones, before
and after that. If these affect observations, most replays disagree with the live episode: they are
repeated until one agrees (rejection sampling), and if none does, the environment is refused.

If a reset without a seed does not repeat the start, the live seed must be used. Then it is unknown
whether there is such a generator, whose future numbers the search would see.
"""

import operator
from typing import Any

import gymnasium
import numpy as np

from rave_agents.environments.copying import CopyRules, copied, equal
from rave_agents.environments.generators import Found, restore, saved
from rave_agents.environments.masks import mask_method
from rave_agents.errors import CloneError
from rave_gymnasium.replay_stage import INEXACT, Episode, Stage

UNKNOWN_CHANCE = (
    "a reset without a seed does not repeat its start, so it is unknown whether a hidden generator "
    "decides later outcomes, which replays would foresee"
)
"""Message for an environment whose replays need the live seed."""


class Replayable(gymnasium.Wrapper):  # type: ignore[misc]
    """Remembers the seed and the actions of an episode, so that a search can replay it.

    A simulation begins in a second environment from ``gymnasium.make`` that repeats the episode,
    which takes time and so suits short episodes. A check verifies that replays are exact. Each
    simulation draws later chance anew; ``unsure`` gives the reason if that is not certain.

    ::

        env = Replayable(gymnasium.make("LunarLander-v3"))
        agent = RaveAgent(env, simulations=50, horizon=30)

    Args:
        env: an environment that ``gymnasium.make`` has made, with discrete actions.

    Raises:
        CloneError: if it was made in another way, and so cannot be made again.
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
        self._stage: Stage | None = None
        self.is_checked = False
        """True if copies of a replay have been checked."""
        self.unsure: str = ""
        """The reason that replays may foresee chance; empty if they do not."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; without a seed, draw one."""
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

        It continues like the live one; ``fair`` makes it draw later hidden numbers anew.

        Raises:
            ValueError: before ``reset``.
            CloneError: if a replay differs from the live episode or from another replay.
        """
        if self._episode is None:
            raise ValueError(f"{self} has not been reset: call env.reset() first.")
        if self._stage is None:
            self._stage = Stage(self.env.unwrapped.spec)
        seed, actions = self._episode
        episode = Episode(seed, self._options, tuple(actions))
        live, last = self._stage.recorded(episode)
        # Only the last live observation is kept to compare with.
        exact = equal(np.asarray(last), np.asarray(self._last))
        if exact and not self.is_checked:
            exact = self._stage.recorded(episode)[0].seen == live.seen
        if not exact:
            raise CloneError(f"{self} {INEXACT}")
        return ReplayedEnv(self._stage, live, self.env.unwrapped)

    def fair(self, replayed: "ReplayedEnv") -> None:
        """Let a replay, or a copy of it, draw the later numbers of hidden generators anew.

        Raises:
            UnsupportedGameError: if replays agree only by the live seed, which foresees chance.
        """
        assert self._stage is not None
        live = replayed.episode
        begins_anew = self._stage.begins_anew(live)
        self.unsure = self._stage.unsure if begins_anew else UNKNOWN_CHANCE
        if begins_anew:
            self._stage.play(live._replace(anew=True))
            replayed.episode = live._replace(anew=True)


class ReplayedEnv(gymnasium.Env):  # type: ignore[misc]
    """An environment made of an episode's seed and actions; see ``Replayable``.

    The stage must have just repeated the episode by the live seed.
    """

    def __init__(self, stage: Stage, episode: Episode, like: Any) -> None:
        self._stage = stage
        self.episode: Episode = episode
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
        """The other generators, by name."""

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
        """Play the live episode, then this environment's own steps."""
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
        # Copies share one stage: if another has played, bring it back to this position.
        if self._stage.player is not self._token:
            self.replay()
        self._since.append(action)
        answer: tuple[Any, Any, bool, bool, dict[str, Any]] = self._stage.env.step(action)
        # The search seeds and copies this environment's generators, not the stage's: keep in step.
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
        return operator.methodcaller(name)(self._stage.env)


def replayable(env: Any) -> Replayable | None:
    """Return the wrapper that records an episode's actions, if there is one."""
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, Replayable):
            return env
        env = env.env
    return None


STAGES: tuple[type, ...] = (Stage, Episode)
"""Objects that replays share."""
