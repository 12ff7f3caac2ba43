"""Whether clones of an environment are right, found out by playing them on.

The caller's environment is never played. If its type can be built anew, a fresh one is played
beside its clone: a clone that misses what the environment keeps elsewhere then goes another way.
Of the caller's own, three clones are played one after the other, and it is looked at before and
after: what a clone shares shows in the environment itself or in the next clone.

All that is played draws equal random numbers, also from generators that the whole program has in
common. An environment that does not even repeat itself then has its chance from elsewhere, such as
the operating system: its clones may go another way.
"""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, Protocol

from rave_agents.environments.copying import equal
from rave_agents.environments.generators import Generators, find_generators, seeded
from rave_agents.errors import CloneError

Step = tuple[Any, ...]
"""All that was seen at a step, its action last; or what ``raised`` gives."""

RAISED = object()
"""The first entry of what stands for a step that failed; observations may be arrays, so it is told
by what it is and not by what it equals."""


REPETITIONS = 16
"""Games that are played twice to see whether an environment repeats itself."""


class Start(NamedTuple):
    """What an environment tells of its first position."""

    views: tuple[Hashable, ...]
    """What those who are to move see there; equal views at the same place cannot be told apart."""
    told: Any
    """What ``Player.play`` needs to know of it."""


class Player(Protocol):
    """Plays environments of one framework."""

    def raw(self, env: Any) -> Any:
        """The innermost environment."""

    def fresh(self, env: Any) -> Any | None:
        """Another environment of the same kind after some steps, or None if there can be none."""

    def shown(self, env: Any) -> Any:
        """What an environment shows of itself where it stands, without a change to it."""

    def restart(self, env: Any, seed: int) -> Start:
        """Reset an environment."""

    def play(
        self, env: Any, like: list[Step] | None = None, *, choices: int = 0, told: Any = None
    ) -> list[Step]:
        """Play on at random, or what was played before; an exception is the last step.

        Args:
            env: the environment; it changes.
            like: the steps whose actions are to be taken.
            choices: the seed of random actions.
            told: of the position, if it is one after ``restart``.
        """

    def visible(self, step: Step) -> Any:
        """What players see at a step, without the action and without remarks for people."""


class CloneCheck(NamedTuple):
    """What the check of an environment's clones found; that they are wrong is an exception."""

    played: bool
    """Whether there was anything to play: before a reset, or after the end, nothing is known."""
    repeats: bool
    """Whether the environment goes the same way under equal actions and random numbers."""


def raised(error: Exception, action: Any) -> Step:
    """What stands for a step that failed."""
    return (RAISED, f"{type(error).__name__}: {error}", error, action)


def check_clones(
    env: Any,
    clone: Callable[[Any], Any],
    fingerprint: Callable[[Any], bytes],
    player: Player,
    advice: str,
) -> CloneCheck:
    """Raise CloneError if clones of an environment are wrong.

    Args:
        env: the environment; it is not changed.
        clone: makes a clone.
        fingerprint: all that an environment is made of, as bytes.
        player: plays it.
        advice: what a user can do about a refusal, a sentence.
    """
    outside = Generators((), find_generators(env).outside)
    repeats = True

    def refused(reason: str) -> CloneError:
        kind = type(player.raw(env))
        name = f"{kind.__module__}.{kind.__qualname__}"
        return CloneError(f"{name} cannot be cloned rightly: {reason}. {advice}")

    def play(thing: Any, like: list[Step] | None = None) -> list[Step]:
        with seeded(outside, 0):
            return player.play(thing, like)

    def compare(first: list[Step], second: list[Step], other: str) -> None:
        nonlocal repeats
        difference = _difference(first, second, other) if repeats else None
        if difference is not None:
            repeats = _repeats(clone(env), player)
            if repeats:
                raise refused(difference)

    try:
        before = _fingerprint(env, fingerprint)
        first, second = clone(env), clone(env)
        if first is env or player.raw(first) is player.raw(env):
            raise refused("the clone is the environment itself")
        with seeded(outside, 0):
            fresh = player.fresh(env)
        if fresh is not None:
            twin = clone(fresh)
            played = play(fresh)
            compare(played, play(twin, played), "its original")
        elif not equal(player.shown(env), player.shown(first)):
            raise refused("it shows something else than the original")
        played = play(first)
        if fresh is None and played and played[-1][0] is RAISED:
            raise refused(f"the clone raised {played[-1][1]}") from played[-1][2]
        if before is not None and _fingerprint(env, fingerprint) != before:
            raise refused("playing the clone on changes the original")
        compare(played, play(second, played), "another clone")
        compare(played, play(clone(env), played), "a clone made before")
        return CloneCheck(bool(played), repeats)
    except RecursionError as error:
        raise refused("it refers to itself too deeply") from error


def _repeats(env: Any, player: Player) -> bool:
    """Whether one and the same environment, reset twice, goes the same way twice."""

    def played(choices: int, like: list[Step] | None) -> list[Step]:
        with seeded(find_generators(env), 0):
            start = player.restart(env, 0)
        with seeded(find_generators(env, make_missing=True), 0):
            return player.play(env, like, choices=choices, told=start.told)

    try:
        for choices in range(REPETITIONS):
            steps = played(choices, None)
            if _difference(steps, played(choices, steps), "") is not None:
                return False
    except Exception:
        return True  # Nothing speaks for chance from elsewhere.
    return True


def _fingerprint(env: Any, fingerprint: Callable[[Any], bytes]) -> bytes | None:
    """The fingerprint, if it says the same twice and can be taken at all."""
    try:
        first = fingerprint(env)
        return first if fingerprint(env) == first else None
    except Exception:
        return None


def _difference(first: list[Step], second: list[Step], other: str) -> str | None:
    """In what a clone played otherwise than ``other``, which played first; None if in nothing."""
    for number, (one, two) in enumerate(zip(first, second, strict=False)):
        same = one[:2] == two[:2] if one[0] is RAISED else equal(one, two)
        if not same:
            return f"under the same actions it goes another way than {other} at step {number}"
    if len(first) != len(second):
        return (
            f"under the same actions it goes on for {len(second)} steps, {other} for {len(first)}"
        )
    return None
