"""Arrays and lists of numbers of any library: NumPy's, PyTorch's, JAX's, or plain Python's."""

from collections.abc import Callable, Mapping, Sized
from typing import Any

import numpy as np

from rave_agents.game.abilities import Abilities, Method, Offered


class ArrayAbilities(Abilities):
    """Attributes that an array, a tensor or a number of any library may have."""

    __slots__ = ()

    shape: Offered[tuple[int, ...] | None] = Offered(None)
    dtype: Offered[Any] = Offered(None)
    index: Offered[Any] = Offered(None)
    columns: Offered[Any] = Offered(None)
    """The labels of a table."""
    item: Offered[Callable[[], Any] | None] = Method(None)
    """``item()``: the only number of an array of one."""
    tolist: Offered[Callable[[], Any] | None] = Method(None)
    """``tolist()``: plain lists of numbers."""
    detach: Offered[Callable[[], Any] | None] = Method(None)
    """``detach()``: a PyTorch tensor without its graph."""
    cpu: Offered[Callable[[], Any] | None] = Method(None)
    """``cpu()``: a PyTorch tensor in main memory."""
    numpy: Offered[Callable[[], Any] | None] = Method(None)
    """``numpy()``: a tensor as an array."""


def in_main_memory(given: Any) -> Any:
    """A tensor detached from its graph and its device; any other object as it is."""
    detach = ArrayAbilities(given).detach
    given = given if detach is None else detach()
    # After ``detach``: a copy to the CPU would otherwise join the graph.
    cpu = ArrayAbilities(given).cpu
    return given if cpu is None else cpu()


def is_sequence(given: Any) -> bool:
    """True for a list or an array with indexed entries."""
    placed = isinstance(given, Sized) and hasattr(given, "__getitem__")
    return placed and not isinstance(given, Mapping | str | bytes)


def listed(given: Any) -> Any:
    """An array as a list; any other object as it is."""
    tolist = ArrayAbilities(given).tolist
    return given if tolist is None else tolist()


def as_numbers(given: Any) -> list[float] | None:
    """The numbers of a list or an array; None for any other object, or other entries."""
    if not is_sequence(given):
        return None
    try:
        entries = listed(given)
        # ``float`` alone would parse texts.
        numeric = all(hasattr(each, "__float__") for each in entries)
        return [float(each) for each in entries] if numeric else None
    except (TypeError, ValueError, OverflowError):
        return None


def is_half_precision(given: Any) -> bool:
    """True for an array of bfloat16, which NumPy does not know."""
    return str(ArrayAbilities(given).dtype).endswith("bfloat16")


def as_array(given: Any) -> np.ndarray[Any, Any]:
    """A list, an array or a tensor as a NumPy array."""
    return np.asarray(in_main_memory(given))
