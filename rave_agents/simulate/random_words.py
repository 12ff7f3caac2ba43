"""Draws of Python code from a random stream of the search."""

from collections.abc import Iterator

import numpy as np

from rave_agents.simulate.random_stream import Stream, fill_words


class RandomWords:
    """Draws from a random stream, fetched in blocks: Python's view of the playout stream."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._words = self._draw()

    def _draw(self) -> Iterator[int]:
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
