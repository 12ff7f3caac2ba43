"""Types of the fields and the parameters that rules may have."""

from typing import Any

import numpy as np


def check_field(name: str, told: Any) -> None:
    """Refuse a field that a record of numbers cannot have."""
    if hasattr(np.record, name):
        raise ValueError(f"A field cannot be called {name!r}: NumPy's records use that name.")
    try:
        fits = np.dtype(as_tuple(told)[0]).kind in "biuf"
    except TypeError:
        fits = False
    if not fits:
        raise TypeError(
            f"The field {name!r} must have a NumPy type of numbers, such as np.int64, or such a "
            f"type and a shape: got {told!r}."
        )


def as_tuple(kind: Any) -> tuple[Any, ...]:
    """The type, and the shape if there is one."""
    return kind if isinstance(kind, tuple) else (kind,)


_KINDS = {bool: "True or False", int: "an integer", float: "a number", str: "a string"}


def check_type(name: str, value: object, default: object) -> None:
    """Refuse a value that is not of its default's type; an integer may stand for a real number."""
    kind = type(default)
    fits = isinstance(value, kind)
    if kind in (int, float):
        numbers = (int, np.integer) if kind is int else (int, float, np.integer, np.floating)
        fits = isinstance(value, numbers) and not isinstance(value, bool)
    if not fits:
        raise TypeError(f"{name} must be {_KINDS.get(kind, kind.__name__)}, got {value!r}.")
