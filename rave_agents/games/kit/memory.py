"""Functions that ``rules_lowering.py`` compiles itself: on bits, records and addresses."""

from typing import Any

from rave_agents.compiler.dispatch import kernel

ROOT, LEAF, PLAYOUT = 0, 1, 2
"""The records of a provider: where the search is, where a path leads, where it is played on."""

TRIAL, REPLY = 3, 4
"""Two more, where moves are tried, see ``choices.py``."""

RECORDS = 5


def copy_state(states: Any, source: int, target: int) -> None:
    """Copy one record of an array of records over another."""
    states[target] = states[source]


def states_at(rules: Any, address: int) -> Any:
    """The array of records at an address; for compiled code alone."""
    raise NotImplementedError


def array_at(address: int, length: int, kind: Any) -> Any:
    """The array of one dimension at an address; for compiled code alone."""
    raise NotImplementedError


def table_at(address: int, rows: int, columns: int, kind: Any) -> Any:
    """The array of two dimensions at an address; for compiled code alone."""
    raise NotImplementedError


def in_memory(buffers: Any) -> Any:
    """A NamedTuple of arrays as functions pass it on: by its address, in compiled code."""
    return buffers


@kernel
def clear(numbers: Any) -> None:
    """Set all numbers to 0, as rules find the place where they write returns and values."""
    for place in range(numbers.shape[0]):
        numbers[place] = 0.0


def count_bits(bits: Any) -> int:
    """Number of squares in a set."""
    return int(bits).bit_count()


def lowest_bit(bits: Any) -> int:
    """The number of the first square of a set that is not empty."""
    return (int(bits) & -int(bits)).bit_length() - 1
