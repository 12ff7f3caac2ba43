"""Statistics of the determinizations (worlds) of a search with hidden information."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rave_agents.simulate.world_record import Pieces, WorldSample


@dataclasses.dataclass(frozen=True, kw_only=True)
class WorldStatistics:
    """The worlds of a determinizing search: one per simulation, or fewer if they are expensive."""

    method: str
    """Their source: ``"function"`` (the user's ``worlds=``), ``"resample_from_infostate"`` (the
    game's own), ``"list"``, ``"particles"`` or ``"walk"`` (replays of the history: one of all that
    are consistent, drawn forward from the start of the game, or by one chain from a consistent
    history), ``"walk from the true history"`` (that chain, if no other start was found: worlds may
    depend on what is hidden), ``"deal"`` (Hanabi's hidden hand, dealt anew), ``"random numbers"``
    (the position itself, with new random numbers for each simulation)."""
    drawn: int
    """Number of worlds drawn, without those that served several simulations in a row, and the first
    ones, which are reused after the deadline."""
    distinct: int | None
    """Number of different positions among the first 1,000 of each thread, compared by their text or
    ``position_key``; None without either."""
    effective: float | None
    """Effective sample size: this many independent worlds would be equally informative. It is
    ``drawn / τ``, where τ = 1 + 2 Σₖ ρₖ is the autocorrelation time and ρₖ the correlation of the
    hidden actions of two worlds of one chain, k worlds of that chain apart: (agreement - mean
    agreement) / (1 - mean agreement), with the sum ended where it turns negative (Geyer 1992,
    "Practical Markov chain Monte Carlo"). It is computed from the first 384 worlds of each thread.
    It equals the number of worlds if they are independent, and 1 if all are the same. It does not
    detect errors common to all particles. None if the hidden actions are unknown."""
    share_of_first: float | None
    """Share of the later worlds, up to the thousandth, that equal the first one. It is small if
    much is hidden; near 1 either nothing is hidden or the walk is stuck. None with fewer than two
    worlds, or if they cannot be compared."""
    settled: bool | None
    """True if the burn-in before the first world was complete: particles reached the present, or
    the share of its start's actions in the walk had levelled off. If not, worlds may be closer to
    that start than they should be: more simulations or seconds allow a longer burn-in. None without
    burn-in."""
    seconds: float
    """Wall-clock seconds spent on drawing them, summed over threads."""

    def summary(self) -> str:
        """One line on the worlds."""
        effective = "unknown" if self.effective is None else f"{self.effective:.0f}"
        distinct = "unknown" if self.distinct is None else str(self.distinct)
        line = (
            f"{self.drawn} worlds by {self.method} in {self.seconds:.3f} s: distinct {distinct}, "
            f"effective sample size {effective}"
        )
        if self.share_of_first is not None:
            line += f", {self.share_of_first:.2f} equal to the first"
        return (
            line if self.settled is not False else f"{line}; NOT SETTLED, close to the walk's start"
        )


def world_statistics(samples: Sequence[WorldSample]) -> WorldStatistics | None:
    """The statistics of all threads' worlds together; None if none was drawn."""
    samples = [sample for sample in samples if sample.drawn > 0]
    if not samples:
        return None
    keys = [key for sample in samples for key in sample.keys]
    sizes = [effective_size(sample) for sample in samples]
    known = [size for size in sizes if size is not None]
    settled = [sample.settled for sample in samples if sample.settled is not None]
    return WorldStatistics(
        method=samples[0].method,
        drawn=sum(sample.drawn for sample in samples),
        distinct=len(set(keys)) if keys else None,
        effective=sum(known) if len(known) == len(sizes) else None,
        share_of_first=(keys.count(keys[0]) - 1) / (len(keys) - 1) if len(keys) > 1 else None,
        settled=all(settled) if settled else None,
        seconds=sum(sample.seconds for sample in samples),
    )


def effective_size(sample: WorldSample) -> float | None:
    """The effective sample size of one thread's worlds, see ``WorldStatistics.effective``."""
    if sample.cycle == 0 or sample.drawn == 1:  # No chains: the worlds are independent.
        return float(sample.drawn)
    if not sample.pieces:
        return None
    table = _table(sample.pieces)
    mean = _mean_agreement(table)
    if mean >= 1.0:
        return 1.0
    if sample.cycle > 1:
        return _cycled_size(table, mean, sample)
    time, lag = 1.0, 1
    while 2 * lag < len(table):
        # Geyer's initial positive sequence: sums of neighbouring correlations are positive until
        # noise.
        pair = sum(_correlation(table, place, mean) for place in (lag, lag + 1))
        if pair <= 0.0:
            break
        time, lag = time + 2.0 * pair, lag + 2
    return max(1.0, sample.drawn / time)


def _cycled_size(table: NDArray[np.int64], mean: float, sample: WorldSample) -> float:
    """Effective size of several interleaved chains, modelled as first-order autoregression."""
    rounds = max(1.0, sample.drawn / sample.cycle)
    if len(table) <= sample.cycle:
        return float(sample.drawn)
    # For a first-order autoregression with coefficient a, the autocorrelation time is
    # (1 + a) / (1 - a).
    again = min(max(_correlation(table, sample.cycle, mean), 0.0), 1.0 - 1e-9)
    return max(1.0, sample.drawn / min((1.0 + again) / (1.0 - again), rounds))


def _table(worlds: Sequence[Pieces]) -> NDArray[np.int64]:
    """[worlds, places] the hidden actions, -1 where a world has none at a place."""
    count = max(len(pieces) for pieces in worlds)
    widths = [
        max(len(pieces[place]) if place < len(pieces) else 0 for pieces in worlds)
        for place in range(count)
    ]
    starts = np.cumsum([0, *widths])
    table = np.full((len(worlds), int(starts[-1])), -1, np.int64)
    for row, pieces in enumerate(worlds):
        for start, piece in zip(starts[:-1].tolist(), pieces, strict=False):
            table[row, start : start + len(piece)] = piece
    # Places at which all worlds agree are known, not hidden.
    varying = (table != table[0]).any(axis=0)
    return table[:, varying]


def _mean_agreement(table: NDArray[np.int64]) -> float:
    worlds = len(table)
    if table.shape[1] == 0:
        return 1.0
    pairs = 0
    for column in table.T:
        counts = np.unique(column, return_counts=True)[1]
        pairs += int((counts * (counts - 1)).sum())
    return float(pairs / (table.shape[1] * worlds * (worlds - 1)))


def _correlation(table: NDArray[np.int64], lag: int, mean: float) -> float:
    agreement = float((table[:-lag] == table[lag:]).mean())
    return float((agreement - mean) / (1.0 - mean))
