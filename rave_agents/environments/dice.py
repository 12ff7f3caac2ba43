"""A search's own random numbers: generators seeded for a while, and given back as they were."""

import contextlib
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from rave_agents.environments.generators import (
    Generators,
    reseed,
    restore,
    same_state,
    saved,
    state_bytes,
)


class Dice:
    """A search's own random numbers, in place of the environment's numbers to come.

    The generators inside the search's copy are reseeded once; all simulations draw from them one
    after the other. Within the context (``with dice:``) the generators outside have the search's
    state, and afterwards their caller's state again.

    Args:
        generators: the generators to draw from; those inside must belong to the search's own copy.
        entropy: numbers that seed all draws.
        sees: whether every simulation draws the environment's numbers to come instead.
    """

    def __init__(
        self, generators: Generators, entropy: Sequence[int], *, sees: bool = False
    ) -> None:
        self._inside = generators.inside
        self._names = [found.name for found in generators.outside]
        self._used_outside: list[str] = []
        self._outside = [found.generator for found in generators.outside]
        self._sees = sees
        self._theirs: list[Any] = []
        self._own = [saved(generator) for generator in self._outside]
        self.begin(entropy)
        if sees:
            return
        with _kept(self._outside):
            for index, found in enumerate(generators.outside):
                reseed(found.generator, _seed(entropy, f"outside {index}"))
                self._own[index] = saved(found.generator)

    def begin(self, entropy: Sequence[int]) -> None:
        """Reseed the generators inside, unless the search foresees chance."""
        if not self._sees:
            for found in self._inside:
                reseed(found.generator, _seed(entropy, found.name))
        self._begun = [state_bytes(found.generator) for found in self._inside]

    def used(self) -> list[str]:
        """Return the names of the generators that were used since they were seeded.

        Those outside count from the end of the context on.
        """
        inside = [
            found.name
            for found, begun in zip(self._inside, self._begun, strict=True)
            if state_bytes(found.generator) != begun
        ]
        return [*inside, *self._used_outside]

    def rewind(self) -> None:
        """Set the generators outside to the numbers to come, if simulations foresee chance."""
        if self._sees:
            for generator, state in zip(self._outside, self._own, strict=True):
                restore(generator, state)

    def __enter__(self) -> Self:
        self._theirs = [saved(generator) for generator in self._outside]
        for generator, state in zip(self._outside, self._own, strict=True):
            restore(generator, state)
        return self

    def __exit__(self, *error: object) -> None:
        if not self._sees:
            # The next slice of the search goes on with these numbers.
            now = [saved(generator) for generator in self._outside]
            if not self._used_outside:
                self._used_outside = [
                    name
                    for name, old, new in zip(self._names, self._own, now, strict=True)
                    if not same_state(old, new)
                ]
            self._own = now
        for generator, state in zip(self._outside, self._theirs, strict=True):
            restore(generator, state)


def _seed(entropy: Sequence[int], name: str) -> int:
    # By name, so that a generator's numbers do not depend on how many others were found.
    sequence = np.random.SeedSequence([*entropy, zlib.crc32(name.encode())])
    low, high = sequence.generate_state(2)
    return int(low) + (int(high) << 32)


@contextlib.contextmanager
def _kept(generators: Sequence[Any]) -> Iterator[None]:
    before = [saved(generator) for generator in generators]
    try:
        yield
    finally:
        for generator, state in zip(generators, before, strict=True):
            restore(generator, state)


@contextlib.contextmanager
def seeded(generators: Generators, seed: int) -> Iterator[list[str]]:
    """Seed all generators within the context; afterwards those outside have their states again.

    Yields a list that holds, after the context, the names of all generators that were used.
    """
    used: list[str] = []
    every = [*generators.inside, *generators.outside]
    with _kept([found.generator for found in generators.outside]):
        for found in every:
            if saved(found.generator) is not None:
                reseed(found.generator, _seed([seed], found.name))
        begun = [state_bytes(found.generator) for found in every]
        try:
            yield used
        finally:
            used += [
                found.name
                for found, state in zip(every, begun, strict=True)
                if state_bytes(found.generator) != state
            ]
