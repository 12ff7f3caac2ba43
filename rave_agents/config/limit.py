"""The limits of a search."""

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from annotated_types import Ge, Le

from rave_agents.game.arguments import check_arguments, refuse_positional
from rave_agents.game.signatures import InitSignature
from rave_agents.game.validation import Positive, check_fields

DEFAULT_SIMULATIONS = 1000
"""Simulations a move for an agent without a limit."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limit:
    """The limits of a search, which ends at the first that it reaches. At least one is needed."""

    simulations: Annotated[int, Ge(1), Le(2**31 - 1)] | None = None  # Visits are int32.
    """Simulations to run, at least 1, in addition to those of a subtree kept from an earlier
    search: equal limits mean equal work."""

    seconds: Positive | None = None
    """Wall-clock seconds, above 0."""

    __signature__: ClassVar[Any] = InitSignature()

    if not TYPE_CHECKING:

        def __new__(cls, *given: Any, **named: Any) -> Self:
            """Refuse unknown names, and suggest the right ones."""
            refuse_positional(cls.__name__, given, ())
            check_arguments("limit", named, [field.name for field in dataclasses.fields(cls)])
            return super().__new__(cls)

    def __post_init__(self) -> None:
        if self.simulations is None and self.seconds is None:
            raise ValueError("Limit needs simulations, seconds or both.")
        check_fields(self)


def make_limit(simulations: int | None, seconds: float | None) -> Limit:
    """The limit from an agent's parameters: 1,000 simulations if neither is given."""
    if simulations is None and seconds is None:
        simulations = DEFAULT_SIMULATIONS
    return Limit(simulations=simulations, seconds=seconds)
