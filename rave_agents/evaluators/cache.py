"""Cache of an evaluator's answers, for positions that look the same to it.

Searches meet many positions again, by another order of moves or in another game from the same
opening. Who moves, what they observe and their legal actions are all that an evaluator is told; a
key of 128 bits stands for them. It chooses a place of the table, where the last answer stays.
"""

from typing import NamedTuple

import numpy as np

from rave_agents.compiler.arrays import Array
from rave_agents.compiler.dispatch import kernel
from rave_agents.kernel.codes import NUM_ACTIONS, PLAYER
from rave_agents.simulate.frame import Frame, Header

OBSERVATION = int(Header.OBSERVATION)

FIRST_FACTOR, SECOND_FACTOR = 0x5851F42D4C957F2D, 0x2545F4914F6CDD1D
"""Odd, so that no two numbers have one product; of 63 bits, so that they are signed ones."""

UPPER = 2**32 - 1
"""Mask of the upper half of a signed number, moved down."""

MOST_ANSWERS = 2**16
"""Answers that are kept, at most: a power of two."""
MOST_PRIORS = 2**22
"""Their priors, at most."""


PLACES, PLAYERS, AGE, MOST, NEXT = range(5)


class CacheArrays(NamedTuple):
    """A table of answers."""

    keys: Array
    """[places, 2] what stands for the position."""
    begins: Array
    """[places] which of all priors that were ever kept are the position's."""
    priors: Array
    """[priors] the latest of them: number n is at n modulo their length. Those of a position are in
    the order of its legal actions."""
    values: Array
    """[places, players] what each player may still expect."""
    sizes: Array
    """[5] how many places, 0 where no answers are kept; how many players; how often the table was
    cleared, which is a part of all keys; the length of ``priors``; the number of the next one."""


class EvaluationCache:
    """The answers of one evaluator in one game.

    Args:
        num_players: the game's players.
        keeps: whether it keeps any.
    """

    def __init__(self, num_players: int, *, keeps: bool = True) -> None:
        places, priors = (MOST_ANSWERS, MOST_PRIORS) if keeps else (1, 1)
        self.arrays: CacheArrays = CacheArrays(
            np.zeros(places * 2, np.int64),
            np.zeros(places, np.int64),
            np.zeros(priors),
            np.zeros(places * num_players),
            np.array([places if keeps else 0, num_players, 1, priors, 0]),
        )

    def clear(self) -> None:
        """Forget all answers."""
        self.arrays.sizes[AGE] += 1
        self.arrays.sizes[NEXT] = 0


@kernel
def mixed(number: int, word: int, factor: int) -> int:
    """A number with another word in all of its bits."""
    number = (number ^ word) * factor
    return number ^ ((number >> 32) & UPPER)


@kernel
def key_of(cache: CacheArrays, frame: Frame, seen: Array, begin: int) -> tuple[int, int]:
    """The key of the position that a frame describes; its observation begins somewhere."""
    header, end = frame.header, begin + frame.header[OBSERVATION]
    first, second = cache.sizes[AGE], ~cache.sizes[AGE]
    for place in range(begin, end - 1, 2):
        first = mixed(first, seen[place], FIRST_FACTOR)
        second = mixed(second, seen[place + 1], SECOND_FACTOR)
    if header[OBSERVATION] % 2 == 1:
        first = mixed(first, seen[end - 1], FIRST_FACTOR)
    for place in range(header[NUM_ACTIONS]):
        second = mixed(second, frame.actions[place], SECOND_FACTOR)
    first = mixed(first, header[PLAYER], FIRST_FACTOR)
    first = mixed(first, second, FIRST_FACTOR)
    return first, mixed(second, first, SECOND_FACTOR)


@kernel
def place_of(cache: CacheArrays, key: int) -> int:
    """The place of a key's answer in the table, if it is there."""
    return int(key & (cache.sizes[PLACES] - 1))


@kernel
def is_known(cache: CacheArrays, first: int, second: int) -> bool:
    """True if there is an answer of this key."""
    place, sizes = place_of(cache, first), cache.sizes
    if cache.keys[2 * place] != first or cache.keys[2 * place + 1] != second:
        return False
    return bool(sizes[NEXT] - cache.begins[place] <= sizes[MOST])  # Not overwritten yet.


@kernel
def read_known(cache: CacheArrays, key: int, frame: Frame) -> None:
    """Write an answer that is there to the frame: priors, and values to the returns."""
    place, players = place_of(cache, key), cache.sizes[PLAYERS]
    for player in range(players):
        frame.returns[player] += frame.discount[0] * cache.values[place * players + player]
    begin = cache.begins[place] % cache.sizes[MOST]
    for index in range(frame.header[NUM_ACTIONS]):
        frame.probabilities[index] = cache.priors[begin + index]


@kernel
def keep(
    cache: CacheArrays, first: int, second: int, frame: Frame, values: Array, first_value: int
) -> None:
    """Keep the frame's priors, and values from a place of an array on, under a key."""
    place, sizes, count = place_of(cache, first), cache.sizes, frame.header[NUM_ACTIONS]
    if count > sizes[MOST]:
        return
    begin = sizes[NEXT] % sizes[MOST]
    if begin + count > sizes[MOST]:
        sizes[NEXT] += sizes[MOST] - begin
        begin = 0
    cache.keys[2 * place], cache.keys[2 * place + 1] = first, second
    cache.begins[place] = sizes[NEXT]
    sizes[NEXT] += count
    for player in range(sizes[PLAYERS]):
        cache.values[place * sizes[PLAYERS] + player] = values[first_value + player]
    for index in range(count):
        cache.priors[begin + index] = frame.probabilities[index]
