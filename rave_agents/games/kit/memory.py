"""Copies of positions, and arrays at addresses: ``rules_lowering.py`` has them compiled."""

from typing import Any


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
