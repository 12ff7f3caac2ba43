"""A cache of an evaluator's answers.

Searches reach many positions again, by transposition or in another game from the same opening. An
evaluator sees only the player to move, the observation and the legal actions; a key of 128 bits
identifies these. The key selects a place of the table, which keeps the latest answer.
"""

from typing import NamedTuple

import numpy as np

from rave_agents.compiler.arrays import Array
from rave_agents.compiler.dispatch import kernel
from rave_agents.kernel.codes import NUM_ACTIONS, PLAYER
from rave_agents.simulate.frame import Frame, Header

OBSERVATION = int(Header.OBSERVATION)

FIRST_FACTOR, SECOND_FACTOR = 0x5851F42D4C957F2D, 0x2545F4914F6CDD1D
"""Odd: multiplication is then a bijection modulo 2**64. Below 2**63: they are signed."""

UPPER = 2**32 - 1
"""Clears the sign bits of a signed number that was shifted right by 32."""

MOST_ANSWERS = 2**16
"""Places of the table, a power of two."""
MOST_PRIORS = 2**22
"""Priors of all answers."""


PLACES, PLAYERS, AGE, MOST, NEXT = range(5)


class CacheArrays(NamedTuple):
    """A table of answers."""

    keys: Array
    """[places, 2] the positions' keys."""
    begins: Array
    """[places] the number of the position's first prior, counting all that were ever stored."""
    priors: Array
    """[priors] a ring: prior n is at n modulo the length. Those of a position are in the order of
    its legal actions."""
    values: Array
    """[places, players] expected returns."""
    sizes: Array
    """[5] the number of places, 0 for no cache; of players; of times that the table was cleared,
    which is a part of all keys; the length of ``priors``; the number of the next prior."""


class EvaluationCache:
    """The answers of one evaluator in one game.

    Args:
        num_players: the game's players.
        keeps: False to cache nothing.
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
        """Forget all answers: no key with another age matches."""
        self.arrays.sizes[AGE] += 1
        self.arrays.sizes[NEXT] = 0


@kernel
def mixed(number: int, word: int, factor: int) -> int:
    """Mix a word into all bits of a number."""
    number = (number ^ word) * factor
    return number ^ ((number >> 32) & UPPER)


@kernel
def key_of(cache: CacheArrays, frame: Frame, seen: Array, begin: int) -> tuple[int, int]:
    """The key of the position of a frame, whose observation starts at ``begin`` of ``seen``."""
    header, end = frame.header, begin + frame.header[OBSERVATION]
    # Two hashes over different halves of the observation, each finally mixed with the other.
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
    """The place of a key in the table."""
    return int(key & (cache.sizes[PLACES] - 1))


@kernel
def is_known(cache: CacheArrays, first: int, second: int) -> bool:
    """True if the table has the answer of this key."""
    place, sizes = place_of(cache, first), cache.sizes
    if cache.keys[2 * place] != first or cache.keys[2 * place + 1] != second:
        return False
    return bool(
        sizes[NEXT] - cache.begins[place] <= sizes[MOST]
    )  # The ring has not overwritten it.


@kernel
def read_known(cache: CacheArrays, key: int, frame: Frame) -> None:
    """Write a cached answer to the frame: its priors, and its values to the returns."""
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
    """Store the frame's priors, and the values from ``first_value`` on, under a key."""
    place, sizes, count = place_of(cache, first), cache.sizes, frame.header[NUM_ACTIONS]
    if count > sizes[MOST]:
        return
    begin = sizes[NEXT] % sizes[MOST]
    # The priors of a position lie in one piece: skip the rest of the ring.
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
