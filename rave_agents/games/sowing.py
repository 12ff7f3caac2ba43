"""Rows of houses, and how seeds are sown in them, for the games of the mancala family.

A player's row is a number of eight bytes, one for each house in sowing order, so that sowing a
house is adding one number to each row: no byte exceeds 127 seeds, so none carries into the next.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import kernel
from rave_agents.games.bits import NONE, ONE, TWO, count_bits, lowest_bit
from rave_agents.simulate.random_stream import random_below

BITS = TWO + ONE
"""log2 of the bits of a house: a shift in place of a multiplication by 8."""

SEEDS = np.uint64(0xFF)
"""The seeds of the first house."""

MOST_HOUSES, MOST_SEEDS = 8, 127
"""The most houses of a row, and the most seeds of all houses."""


@kernel
def house_bits(house: int) -> Any:
    """The distance in bits from the first house."""
    return np.uint64(house) << BITS


@kernel
def seeds_in(row: Any, house: int) -> Any:
    """The seeds of a house, as a row of the first house alone."""
    return (row >> house_bits(house)) & SEEDS


@kernel
def emptied(row: Any, house: int) -> Any:
    """A row without the seeds of a house."""
    return row & ~(SEEDS << house_bits(house))


NTH = np.array(
    [([house for house in range(8) if bits >> house & 1] + [0] * 8)[:8] for bits in range(256)],
    np.uint8,
)
"""[sets of houses, 8] the houses of a set in order."""

GATHERED = np.uint64(0x0102040810204080), np.uint64(7), np.uint64(56)
"""A factor that moves the lowest bit of each byte into the highest byte, and distances to shift."""


@kernel
def drawn_house(marks: Any, stream: Any) -> Any:
    """One of the houses marked by the highest bits of their bytes."""
    # Shifted to the lowest bits and multiplied, the eight marks meet in the highest byte.
    houses = ((marks >> GATHERED[1]) * GATHERED[0]) >> GATHERED[2]
    return np.int64(NTH[houses, random_below(stream, count_bits(houses))])


@kernel
def list_houses(marks: Any, actions: Any) -> int:
    """List the houses marked by the highest bits of their bytes; returns how many."""
    count = 0
    while marks != NONE:
        actions[count] = lowest_bit(marks) >> 3
        marks &= marks - ONE
        count += 1
    return count


def row_of(seeds: Any) -> Any:
    """The row with so many seeds in each house."""
    return np.uint64(sum(count << 8 * house for house, count in enumerate(seeds)))


def seeds_of(row: Any, houses: int) -> list[int]:
    """The seeds of each house of a row."""
    return [int(row) >> 8 * house & 0xFF for house in range(houses)]


class Sowing(NamedTuple):
    """The seeds to sow from each house, with so many in it.

    Rows have room for a power of two of numbers of seeds, which makes it quick to find one.
    """

    own: NDArray[np.uint64]
    """[houses, seeds] what comes into the own row."""
    other: NDArray[np.uint64]
    """[houses, seeds] what comes into the other row."""
    last: NDArray[np.int64]
    """[houses, seeds] the place of the last seed, the own row's places before the other's."""


def sowing(houses: int, places: int, most: int, *, skips_origin: bool) -> Sowing:
    """Count what is sown.

    Args:
        houses: the houses of each row.
        places: where seeds are sown in the own row: the houses, and a store, if there is one.
        most: the most seeds of a house.
        skips_origin: whether no seed comes back into the house they are from.
    """
    shape = houses, 1 << most.bit_length()
    rows, last = np.zeros((2, *shape), np.uint64), np.zeros(shape, np.int64)
    for house in range(houses):
        sown, place = [0] * (places + houses), house
        for seeds in range(1, most + 1):
            place = (place + 1) % len(sown)
            if skips_origin and place == house:
                place += 1
            sown[place] += 1
            rows[:, house, seeds] = row_of(sown[:places]), row_of(sown[places:])
            last[house, seeds] = place
    return Sowing(rows[0], rows[1], last)
