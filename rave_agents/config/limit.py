"""The limits of a search."""

import dataclasses
import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rave_agents.game.arguments import check_arguments, is_integer, is_number, refuse_positional
from rave_agents.game.signatures import InitSignature


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limit:
    """The limits of a search, which ends at the first that it reaches. At least one is needed."""

    simulations: int | None = None
    """Simulations to run, at least 1. Those in a subtree that was kept from an earlier search
    come on top: equal limits mean equal work."""

    seconds: float | None = None
    """Wall-clock seconds, above 0."""

    __signature__: ClassVar[Any] = InitSignature()

    if not TYPE_CHECKING:

        def __new__(cls, *given: Any, **named: Any) -> Self:
            """Refuse names that are no limits, with those that are meant."""
            refuse_positional(cls.__name__, given, ())
            check_arguments("limit", named, [field.name for field in dataclasses.fields(cls)])
            return super().__new__(cls)

    def __post_init__(self) -> None:
        if self.simulations is None and self.seconds is None:
            raise ValueError("Limit needs simulations, seconds or both.")
        if self.simulations is not None:
            if not is_integer(self.simulations):
                raise TypeError(f"simulations must be an integer, got {self.simulations!r}.")
            if not 1 <= self.simulations < 2**31:
                raise ValueError(
                    "simulations must be an integer from 1 to 2,147,483,647, "
                    f"got {self.simulations!r}."
                )
            object.__setattr__(self, "simulations", int(self.simulations))
        if self.seconds is not None:
            if not is_number(self.seconds):
                raise TypeError(f"seconds must be a number, got {self.seconds!r}.")
            if not 0 < self.seconds < math.inf:
                raise ValueError(f"seconds must be a finite number above 0, got {self.seconds!r}.")
            object.__setattr__(self, "seconds", float(self.seconds))
