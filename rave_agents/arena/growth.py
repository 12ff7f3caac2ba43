"""Growth of a run: a file of games may continue with more games, values, agents or opponents.

A game's result depends only on its table, its number and the seed, so the games of a smaller plan
are also games of a larger one.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rave_agents.game.plain_text import printable, shortened


def differences(found: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """The differences that prevent a file from continuing under another header, a text per key.

    Args:
        found: the header of the file.
        expected: the header of the run, which may have grown.
    """
    return [
        _difference(key, found.get(key), expected.get(key))
        for key in {**expected, **found}
        if not _is_same(found.get(key), expected.get(key))
        and not _grows(key, found.get(key), expected.get(key))
    ]


def _is_same(one: Any, other: Any) -> bool:
    """True for equal values with mappings in the same order, which decides who plays first."""
    return one == other and not (isinstance(one, dict) and list(one) != list(other))


def _difference(key: str, found: Any, expected: Any) -> str:
    shrinks = " (a file can grow, not shrink)" if _grows(key, expected, found) else ""
    return (
        f"{printable(shortened(key, 60))} is {shortened(json.dumps(found), 200)} there and "
        f"{shortened(json.dumps(expected), 200)} here{shrinks}"
    )


def _grows(key: str, less: Any, more: Any) -> bool:
    """True if a header's value can grow to another value of the same key."""
    return key in _GROWING and type(less) is type(more) and _GROWING[key](less, more)


def _is_more(less: Any, more: Any) -> bool:
    return less <= more if isinstance(less, int) else _is_longer(less, more)


def _is_longer(less: Any, more: Any) -> bool:
    """True if the longer list starts with the other's items."""
    rest: Iterator[Any] = iter(more if isinstance(more, Sequence) else ())
    return isinstance(less, list) and all(item in rest for item in less)


def _has_all(less: Any, more: Any) -> bool:
    """True if the larger mapping has all of the other's items, in their order."""
    if isinstance(less, list):
        return _is_longer(less, more)
    return isinstance(less, dict) and _is_longer(list(less.items()), list(more.items()))


def _has_more_values(less: Any, more: Any) -> bool:
    """True if the keys are the same and each list is a continuation."""
    return (
        isinstance(less, dict)
        and less.keys() == more.keys()
        and all(_is_longer(less[key], more[key]) for key in less)
    )


_GROWING: Mapping[str, Callable[[Any, Any], bool]] = {
    "games": _is_more,
    "games_per_pairing": _is_more,
    "episodes": _is_more,
    "game": _is_longer,
    "vary": _has_more_values,
    "agents": _has_all,
    "policies": _has_all,
    "against": _is_longer,
    "simulations": _is_longer,
    "seconds": _is_longer,
}
"""Keys of a header whose values may grow, with the test for counts, lists or mappings."""
