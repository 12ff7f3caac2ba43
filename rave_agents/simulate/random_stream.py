"""The random streams of the search: xoshiro128++ (Blackman & Vigna 2021) on four 32-bit words.

Its words fit into signed 64-bit integers without overflow, so the same few lines give the same
numbers in the interpreter, compiled by Numba, and in another language.

A stream is an int64 array of shape [4], each entry in [0, 2**32); it changes with every draw.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.entry import entry

_WORD = 0xFFFFFFFF

Stream = NDArray[np.int64]


def make_stream(seed: np.random.SeedSequence) -> Stream:
    """A new stream, its state taken from ``seed``."""
    return seed.generate_state(4, np.uint32).astype(np.int64)


@kernel
def random_word(stream: Stream) -> int:
    """A uniform integer in [0, 2**32)."""
    first, second, third, fourth = stream[0], stream[1], stream[2], stream[3]
    # Rotation by 7 of the sum, plus the first word: the "++" scrambler. Each left shift is masked,
    # so that no intermediate exceeds 64 signed bits.
    total = (first + fourth) & _WORD
    word = ((((total << 7) & _WORD) | (total >> 25)) + first) & _WORD
    shifted = (second << 9) & _WORD
    third ^= first
    fourth ^= second
    stream[1] = second ^ third
    stream[0] = first ^ fourth
    stream[2] = third ^ shifted
    stream[3] = ((fourth << 11) & _WORD) | (fourth >> 21)
    return word


@kernel
def random_below(stream: Stream, bound: int) -> int:
    """A uniform integer in [0, bound), for 0 < bound < 2**31."""
    # Multiply and shift: a bias below bound / 2**32, but one draw and no loop.
    return (random_word(stream) * bound) >> 32


@kernel
def random_unit(stream: Stream) -> float:
    """A uniform real number in [0, 1)."""
    return random_word(stream) / 4294967296.0


class Draws(NamedTuple):
    """A stream and its draws."""

    stream: Stream
    words: NDArray[np.int64]


@entry("random numbers")
def _fill(draws: Draws, count: int) -> int:
    for index in range(count):
        draws.words[index] = random_word(draws.stream)
    return count


def fill_words(stream: Stream, words: NDArray[np.int64]) -> None:
    """Fill the int64 array ``words`` with draws of ``random_word``."""
    _fill(Draws(stream, words), len(words))


class StreamUnit:
    """Draws uniform real numbers in [0, 1) one at a time, so that other readers can go on.

    Args:
        stream: the stream; it changes with every draw.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream, self._word = stream, np.empty(1, np.int64)
        self.address: int = stream.ctypes.data
        """The address of the stream, for compiled readers."""

    def __call__(self) -> float:
        """The next number."""
        fill_words(self._stream, self._word)
        return int(self._word[0]) / 4294967296.0


class RandomWords:
    """Draws from a random stream, fetched in blocks: Python's view of the playout stream."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._words = self._draw()

    def _draw(self) -> Iterator[int]:
        # A compiled call costs more than a draw. Other readers of the stream go on after the block.
        block = np.empty(512, np.int64)
        while True:
            fill_words(self._stream, block)
            yield from block.tolist()

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound)."""
        return (next(self._words) * bound) >> 32

    def unit(self) -> float:
        """A uniform real number in [0, 1)."""
        return next(self._words) / 4294967296.0
