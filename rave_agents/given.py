"""What users give: of which kind it is, and what else a misspelt name may have meant."""

import difflib
from collections.abc import Iterable

MOST_NAMES_LISTED = 30
"""Names up to which a message lists all of them beside the nearest."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> str:
    """The message for a name that does not exist, with the nearest that do."""
    known = sorted(map(str, known))
    near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
    message = f"Unknown {kind} {name!r}."
    if near:
        message += f" Did you mean {' or '.join(map(repr, near))}?"
    if not near or len(known) <= MOST_NAMES_LISTED:
        message += f" There are: {', '.join(known) or 'none'}."
    return message


def check_names(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise TypeError for the first name in ``given`` that is not ``known``."""
    known = tuple(known)
    for name in given:
        if name not in known:
            raise TypeError(unknown_name(kind, name, known))


def is_integer(value: object) -> bool:
    """Whether a value can stand for an integer; True and False cannot."""
    return hasattr(value, "__index__") and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether a value can stand for a real number; True and False cannot."""
    return hasattr(value, "__float__") and not isinstance(value, bool)


def checked_seed(seed: int | None) -> int | None:
    """The seed, refused if it is neither None nor an integer of at least 0."""
    if seed is None:
        return None
    if not is_integer(seed):
        raise TypeError(f"seed must be an integer or None, got {seed!r}.")
    if int(seed) < 0:
        raise ValueError(f"seed must be at least 0, got {seed!r}.")
    return int(seed)
