"""``pyspiel.Bot`` as a base class that type checkers know.

``pyspiel`` is compiled and has no annotations, so that type checkers cannot type its classes or
their subclasses.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    class Bot:
        """A bot; any method of ``pyspiel.Bot`` may be called on it."""

        def __getattr__(self, name: str) -> Any: ...

else:
    from pyspiel import Bot

__all__ = ["Bot"]
