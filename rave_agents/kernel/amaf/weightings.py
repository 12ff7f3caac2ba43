"""Weightings: the weight of an AMAF update by its distance from the node, in moves."""

from typing import Annotated, Any, NamedTuple

from annotated_types import Ge

from rave_agents.compiler.dispatch import implements, open_function
from rave_agents.compiler.part_fields import Takes


@open_function
def update_weight(weighting: Any, distance: int, length: int) -> float:
    """The weight of a move that was made ``distance`` moves after the node.

    The simulated game lasts ``length`` moves from the node on.
    """
    return 1.0


class Uniform(NamedTuple):
    """Every update counts 1 (Gelly & Silver 2011)."""


Weighting = Annotated[Any, Takes(Uniform, update_weight)]
"""Type of a field that holds a weighting."""


class Linear(NamedTuple):
    """The weight falls linearly from the node to the end of the simulated game (Fuego)."""

    first: Annotated[float, Ge(0)] = 2.0
    """The weight of a move at the node itself, at least 0."""
    last: Annotated[float, Ge(0)] = 0.0
    """The weight of a move at the end, at least 0. Fuego documents 0 but computes 1."""


@implements(update_weight, Linear)
def linear_weight(weighting: Linear, distance: int, length: int) -> float:
    """``first + (last - first) distance / length``."""
    return weighting.first + (weighting.last - weighting.first) * distance / length


class Stepped(NamedTuple):
    """3, 2 or 1, by thirds of the simulated game (Pachi)."""


@implements(update_weight, Stepped)
def stepped_weight(weighting: Stepped, distance: int, length: int) -> float:
    """``1 + floor(3 (length - distance) / (length + 1))``."""
    return 1.0 + (3 * (length - distance)) // (length + 1)
