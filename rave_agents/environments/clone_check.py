"""Checks that clones of an environment are correct, by playing them.

The check never plays the caller's environment. If its class can be instantiated again, the check
plays a fresh instance beside a clone of it: a clone that lacks state which the environment keeps
elsewhere then diverges. It also plays three clones of the caller's environment one after the other,
and compares the environment before and after: state that a clone shares changes the environment
itself or the next clone.

All games draw equal random numbers, from the program's global generators too. An environment that
does not repeat itself even then has chance from elsewhere, such as the operating system, and its
clones may diverge.
"""

import re
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, Protocol

from rave_agents.compiler.progress import shown_when_slow
from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.check_time import CheckTime
from rave_agents.environments.copying import equal
from rave_agents.environments.dice import seeded
from rave_agents.environments.failures import NOT_RESET, SHOWN, counted, described
from rave_agents.environments.generators import Generators, find_generators
from rave_agents.errors import CloneError

Step = tuple[Any, ...]
"""Everything seen at a step, its action last; or the record of a failed step from ``raised``."""

RAISED = object()
"""Marks the record of a failed step, as its first entry. Compare it with ``is``: other steps begin
with observations, which may be arrays."""


REPETITIONS = 16
"""Games that are played twice to check whether an environment repeats itself."""


class Start(NamedTuple):
    """A reset environment, as its players see it."""

    views: tuple[Hashable, ...]
    """The view of each player to move; a player cannot tell starts with equal views apart."""
    known: Any
    """What ``Player.play`` needs to know of the start: the masks."""


class CloneCheck(NamedTuple):
    """The result of a check that found no fault in an environment's clones."""

    played: bool
    """False if the check could not play: before a reset, or after the end."""
    repeats: bool
    """True if the environment repeats itself under equal actions and random numbers."""


class Player(Protocol):
    """Plays environments of one framework."""

    unmasked: Any
    """``Start.known`` where no masks are known."""

    ended: bool
    """True if the last game that was played came to its end."""

    def raw(self, env: Any) -> Any:
        """Return the innermost environment."""

    def fresh(self, env: Any) -> Any | None:
        """Return a new instance of the environment's class after some steps, or None."""

    def shown(self, env: Any) -> Any:
        """Return what an environment shows in its current state, without changing it."""

    def restart(self, env: Any, seed: int) -> Start:
        """Reset an environment."""

    def play(
        self, env: Any, like: list[Step] | None = None, *, choices: int = 0, known: Any = None
    ) -> list[Step]:
        """Play at random, or repeat earlier actions; an exception is the last step.

        Args:
            env: the environment; it changes.
            like: steps whose actions to repeat; None for random actions.
            choices: the seed of the random actions.
            known: ``Start.known`` if the environment has just been reset by ``restart``.
        """

    def visible(self, step: Step) -> Any:
        """Return what players see at a step, without the action and the infos."""


SECONDS = 1.0
"""Seconds of work after which no more games are played to find out whose an error is."""


def raised(error: Exception, action: Any) -> Step:
    """Make the record of a failed step."""
    if is_raised_by_handler(error):
        raise error
    return (RAISED, _ADDRESS.sub("0x", described(error)), error, action)


_ADDRESS = re.compile(r"0x[0-9a-f]+")


@shown_when_slow("checking copies of the environment")
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
        fingerprint: returns an environment's whole content as bytes.
        player: plays the clones.
        advice: a sentence that tells the user the remedy.
    """
    # Generators inside are copied with the environment; only those outside need equal seeds.
    outside = Generators((), find_generators(env).outside)
    repeats = True

    def refused(reason: str) -> CloneError:
        kind = type(player.raw(env))
        name = f"{kind.__module__}.{kind.__qualname__}"
        return CloneError(f"{name} cannot be cloned correctly: {reason}. {advice}")

    def play(thing: Any, like: list[Step] | None = None) -> list[Step]:
        with seeded(outside, 0):
            return player.play(thing, like)

    def compare(first: list[Step], second: list[Step], other: str) -> None:
        nonlocal repeats
        difference = _difference(first, second, other) if repeats else None
        if difference is not None:
            # An environment that differs from itself proves nothing against its clones.
            repeats = _repeats(clone(env), player)
            if repeats:
                raise refused(difference)

    try:
        before = _fingerprint(env, fingerprint)
        # Two clones before anything is played: what the first game changes in state that clones
        # share must not be in the second one already.
        first, second = clone(env), clone(env)
        if first is env or player.raw(first) is player.raw(env):
            raise refused("the clone is the environment itself")
        with seeded(outside, 0):
            fresh = player.fresh(env)
        if fresh is not None:
            # The original may be played here, which shows state that clones lack.
            twin = clone(fresh)
            played = play(fresh)
            compare(played, play(twin, played), "its original")
        elif not _shows_the_same(env, clone, player, fingerprint):
            raise refused("the clone does not show the same as the original")
        played = play(first)
        if fresh is None and played and played[-1][0] is RAISED:
            _, error, cause, _ = played[-1]
            if not _raises_itself(clone, env, player, cause):
                actions = counted([step[-1] for step in played][-SHOWN:], len(played))
                raise refused(
                    f"the clone raised {error}, at {actions}; clones that were reset did not. "
                    f"{NOT_RESET if len(played) == 1 else ''}If the environment itself "
                    "raises it there too, the error is its own"
                ) from cause
        if before is not None and _fingerprint(env, fingerprint) != before:
            raise refused("playing the clone changes the original")
        compare(played, play(second, played), "another clone")
        compare(played, play(clone(env), played), "an earlier clone")
        return CloneCheck(bool(played), repeats)
    except RecursionError as error:
        raise refused("its objects are nested too deeply") from error


def _shows_the_same(
    env: Any,
    clone: Callable[[Any], Any],
    player: Player,
    fingerprint: Callable[[Any], bytes],
) -> bool:
    """True if a clone shows the same as the environment, or if that cannot be compared.

    The environment itself is asked only if showing changes nothing in a copy, such as a cache.
    """
    copy = clone(env)
    before = _fingerprint(copy, fingerprint)
    try:
        shown = player.shown(copy)
        if before is not None and _fingerprint(copy, fingerprint) != before:
            return True
        return equal(player.shown(env), shown)
    except Exception as error:
        if is_raised_by_handler(error):
            raise
        return True  # The game that is played next tells.


def _raises_itself(clone: Callable[[Any], Any], env: Any, player: Player, error: Exception) -> bool:
    """True if random games from a reset raise an error of this kind, too.

    With and without masks: an illegal action may be what the environment raises for.
    """
    budget = CheckTime(SECONDS)
    for choices in range(REPETITIONS):
        for masked in (True, False):
            copy = clone(env)
            try:
                start = player.restart(copy, choices)
            except Exception as refused:
                if is_raised_by_handler(refused):
                    raise
                return False
            known = start.known if masked else player.unmasked
            steps = player.play(copy, choices=choices, known=known)
            if steps and steps[-1][0] is RAISED and type(steps[-1][2]) is type(error):
                return True
        if budget.is_over():
            break
    return False


def _repeats(env: Any, player: Player) -> bool:
    """True if an environment that is reset twice repeats itself."""

    def played(choices: int, like: list[Step] | None) -> list[Step]:
        with seeded(find_generators(env), 0):
            start = player.restart(env, 0)
        with seeded(find_generators(env, make_missing=True), 0):
            return player.play(env, like, choices=choices, known=start.known)

    try:
        for choices in range(REPETITIONS):
            steps = played(choices, None)
            if _difference(steps, played(choices, steps), "") is not None:
                return False
    except Exception as error:
        if is_raised_by_handler(error):
            raise
        return True  # No evidence of chance from elsewhere.
    return True


def _fingerprint(env: Any, fingerprint: Callable[[Any], bytes]) -> bytes | None:
    """The fingerprint; None if it cannot be taken or is not the same twice."""
    try:
        first = fingerprint(env)
        return first if fingerprint(env) == first else None
    except Exception:
        return None


def _difference(first: list[Step], second: list[Step], other: str) -> str | None:
    """The difference of a clone's game from the one that ``other`` played first, or None."""
    for number, (one, two) in enumerate(zip(first, second, strict=False)):
        same = one[:2] == two[:2] if one[0] is RAISED else equal(one, two)
        if not same:
            return f"under the same actions it diverges from {other} at step {number}"
    if len(first) != len(second):
        return f"under the same actions it lasts {len(second)} steps, {other} lasts {len(first)}"
    return None
