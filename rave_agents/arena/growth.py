"""Growth of a run: a file of games goes on with more games, values, agents or opponents.

A game's result depends on its table, its number and the seed alone, so that the games of a smaller
plan are games of a larger one.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rave_agents.game.plain_text import printable, shortened


def differences(found: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """Parts of a file's header that keep it from going on by another header, a text for each key.

    Args:
        found: the header that the file has.
        expected: that of the run, which may have grown.
    """
    return [
        _difference(key, found.get(key), expected.get(key))
        for key in {**expected, **found}
        if not _is_same(found.get(key), expected.get(key))
        and not _grows(key, found.get(key), expected.get(key))
    ]


def _is_same(one: Any, other: Any) -> bool:
    """True for equal values, mappings in the same order: it decides who meets whom as the first."""
    return one == other and not (isinstance(one, dict) and list(one) != list(other))


def _difference(key: str, found: Any, expected: Any) -> str:
    shrinks = " (a file can grow, not shrink)" if _grows(key, expected, found) else ""
    return (
        f"{printable(shortened(key, 60))} is {shortened(json.dumps(found), 200)} there and "
        f"{shortened(json.dumps(expected), 200)} here{shrinks}"
    )


def _grows(key: str, less: Any, more: Any) -> bool:
    """True if a header's value is one that another of the same key can grow to."""
    return key in _GROWING and type(less) is type(more) and _GROWING[key](less, more)


def _is_more(less: Any, more: Any) -> bool:
    return less <= more if isinstance(less, int) else _is_longer(less, more)


def _is_longer(less: Any, more: Any) -> bool:
    """True if the one list has all of the other's items, in their order."""
    rest: Iterator[Any] = iter(more if isinstance(more, Sequence) else ())
    return isinstance(less, list) and all(item in rest for item in less)


def _has_all(less: Any, more: Any) -> bool:
    """True if the one mapping has all of the other's items, in their order."""
    if isinstance(less, list):
        return _is_longer(less, more)
    return isinstance(less, dict) and _is_longer(list(less.items()), list(more.items()))


def _has_more_values(less: Any, more: Any) -> bool:
    """True if the same keys have lists that are as long or longer."""
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
"""Keys of a header whose values may grow, and the test of it: counts, lists and mappings."""
