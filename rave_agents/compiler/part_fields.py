"""The values that a field of a part, or of a configuration, takes: its annotation says so.

    schedule: Annotated[Any, Takes(blend, beta)] = MinimumMSE()
    c: Annotated[float, Ge(0)] = 0.5

A number has the bounds of ``annotated_types``, and is finite unless it is bounded by infinity.
"""

import re
from collections.abc import Callable
from typing import Any

from rave_agents.compiler.dispatch import OpenFunction


class Takes:
    """The classes of parts that a field takes.

    Args:
        *allowed: classes, and open functions: a class that implements one of these is taken too.
    """

    def __init__(self, *allowed: type | Callable[..., Any]) -> None:
        self.classes: tuple[type, ...] = tuple(kind for kind in allowed if isinstance(kind, type))
        """The classes that are named."""
        self.opened: tuple[OpenFunction[..., Any], ...] = tuple(
            kind for kind in allowed if isinstance(kind, OpenFunction)
        )
        """The open functions of which the others implement one."""


def part_name(kind: type) -> str:
    """The name of a class of parts in specs: ``minimum_mse`` for ``MinimumMSE``."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", kind.__name__)
    return words.lower()
