"""Functions of numbers that are one instruction in compiled code, see ``rules_lowering.py``."""

from typing import Any


def count_bits(bits: Any) -> int:
    """Number of squares in a set."""
    return int(bits).bit_count()


def lowest_bit(bits: Any) -> int:
    """The number of the first square of a set that is not empty."""
    return (int(bits) & -int(bits)).bit_length() - 1
