"""Whether clones of an environment are right, found out by playing them on.

The caller's environment is never played. If its type can be built anew, a fresh one is played
beside its clone: a clone that misses what the environment keeps elsewhere then goes another way.
Of the caller's own, three clones are played one after the other, and it is looked at before and
after: what a clone shares shows in the environment itself or in the next clone.
"""

from collections.abc import Callable
from typing import Any, Protocol

from rave_agents.copying import equal
from rave_agents.errors import CloneError

Step = tuple[Any, ...]
"""All that was seen at a step, its action last; or what ``raised`` gives."""

RAISED = object()
"""The first entry of what stands for a step that failed; observations may be arrays, so it is told
by what it is and not by what it equals."""


class Player(Protocol):
    """Plays environments of one framework."""

    def raw(self, env: Any) -> Any:
        """The innermost environment."""

    def fresh(self, env: Any) -> Any | None:
        """Another environment of the same kind after some steps, or None if there can be none."""

    def shown(self, env: Any) -> Any:
        """What an environment shows of itself where it stands, without a change to it."""

    def play(self, env: Any, like: list[Step] | None = None) -> list[Step]:
        """Play on at random, or what was played before; an exception is the last step."""


def raised(error: Exception, action: Any) -> Step:
    """What stands for a step that failed."""
    return (RAISED, f"{type(error).__name__}: {error}", error, action)


def check_clones(
    env: Any,
    clone: Callable[[Any], Any],
    fingerprint: Callable[[Any], bytes],
    player: Player,
    advice: str,
) -> bool:
    """Raise CloneError if clones of an environment are wrong.

    Returns whether there was anything to play: before a reset, or after the end, nothing is known.

    Args:
        env: the environment; it is not changed.
        clone: makes a clone.
        fingerprint: all that an environment is made of, as bytes.
        player: plays it.
        advice: what a user can do about a refusal, a sentence.
    """

    def refused(reason: str) -> CloneError:
        kind = type(player.raw(env))
        name = f"{kind.__module__}.{kind.__qualname__}"
        return CloneError(f"{name} cannot be cloned rightly: {reason}. {advice}")

    def compare(first: list[Step], second: list[Step], other: str) -> None:
        difference = _difference(first, second, other)
        if difference is not None:
            raise refused(difference)

    try:
        before = _fingerprint(env, fingerprint)
        first, second = clone(env), clone(env)
        if first is env or player.raw(first) is player.raw(env):
            raise refused("the clone is the environment itself")
        fresh = player.fresh(env)
        if fresh is not None:
            twin = clone(fresh)
            played = player.play(fresh)
            compare(played, player.play(twin, played), "its original")
        elif not equal(player.shown(env), player.shown(first)):
            raise refused("it shows something else than the original")
        played = player.play(first)
        if fresh is None and played and played[-1][0] is RAISED:
            raise refused(f"the clone raised {played[-1][1]}") from played[-1][2]
        if before is not None and _fingerprint(env, fingerprint) != before:
            raise refused("playing the clone on changes the original")
        compare(played, player.play(second, played), "another clone")
        compare(played, player.play(clone(env), played), "a clone made before")
        return bool(played)
    except RecursionError as error:
        raise refused("it refers to itself too deeply") from error


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
