"""Bonuses in [0, 1] for moves, by their proof numbers among their siblings'."""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from rave_agents.compiler.arrays import FLOAT, Array, Axis, Rows
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.compiler.part_fields import Takes


class Ranking(NamedTuple):
    """Buffers for ranking the edges of a node."""

    order: Annotated[Array, Rows(Axis.ACTION, np.int32)]
    """The edges of the node, from the easiest to prove to the hardest."""
    first: Annotated[Array, Rows(Axis.ACTION, FLOAT)]
    """The number that ranks each edge."""
    second: Annotated[Array, Rows(Axis.ACTION, FLOAT)]
    """The number that breaks its ties."""


class NoDraws(NamedTuple):
    """Equal numbers share a rank."""


class DrawLayer(NamedTuple):
    """Ties are broken by the numbers of the lesser goal, a draw; for two players."""


class RankBonus(NamedTuple):
    """``1 - rank / siblings``: equal numbers share a rank, and the following ranks are skipped."""

    draws: Annotated[Any, Takes(NoDraws, DrawLayer)] = NoDraws()
    """The rule for ties: ``NoDraws`` or ``DrawLayer``."""


class DenseRankBonus(NamedTuple):
    """``1 - rank / highest rank``: ranks are counted without gaps."""

    draws: Annotated[Any, Takes(NoDraws, DrawLayer)] = NoDraws()
    """The rule for ties: ``NoDraws`` or ``DrawLayer``."""


class MaxBonus(NamedTuple):
    """``1 - (number - least) / (1 + greatest - least)`` over the finite numbers."""


class SumBonus(NamedTuple):
    """``1 - number / (1 + sum)`` with the sum of the finite numbers."""


@open_function
def bonuses(bonus: Any, ranking: Ranking, edge_bonus: Array, first: int, count: int) -> None:
    """Write the bonuses of ``count`` edges, from row ``first`` on, by their proof numbers."""


@implements(bonuses, MaxBonus)
def max_bonus(bonus: MaxBonus, ranking: Ranking, edge_bonus: Array, first: int, count: int) -> None:
    """``1 - (pn - min) / (1 + max - min)`` of the finite numbers (Kowalski et al. 2025)."""
    least, greatest = math.inf, 0.0
    for index in range(count):
        number = ranking.first[index]
        if number < math.inf:
            least = min(least, number)
            greatest = max(greatest, number)
    for index in range(count):
        number = ranking.first[index]
        # An infinite number cannot be proven: no bonus.
        value = 0.0
        if number < math.inf:
            value = 1.0 - (number - least) / (1.0 + greatest - least)
        edge_bonus[first + index] = value


@implements(bonuses, SumBonus)
def sum_bonus(bonus: SumBonus, ranking: Ranking, edge_bonus: Array, first: int, count: int) -> None:
    """``1 - pn / (1 + sum of pn)`` of the finite numbers (Kowalski et al. 2025)."""
    total = 0.0
    for index in range(count):
        if ranking.first[index] < math.inf:
            total += ranking.first[index]
    for index in range(count):
        number = ranking.first[index]
        edge_bonus[first + index] = 1.0 - number / (1.0 + total) if number < math.inf else 0.0


@implements(bonuses, RankBonus)
def rank_bonus(
    bonus: RankBonus, ranking: Ranking, edge_bonus: Array, first: int, count: int
) -> None:
    """``1 - rank / count`` (Kowalski et al. 2023, as in their program)."""
    sort_edges(bonus.draws, ranking, count)
    rank = 0
    for place in range(count):
        index = ranking.order[place]
        if place == 0 or comes_before(bonus.draws, ranking, ranking.order[place - 1], index):
            rank = place + 1
        edge_bonus[first + index] = 1.0 - rank / count


@implements(bonuses, DenseRankBonus)
def dense_rank_bonus(
    bonus: DenseRankBonus, ranking: Ranking, edge_bonus: Array, first: int, count: int
) -> None:
    """``1 - rank / max rank`` (Kowalski et al. 2023)."""
    sort_edges(bonus.draws, ranking, count)
    highest = 1
    for place in range(1, count):
        index = ranking.order[place]
        highest += comes_before(bonus.draws, ranking, ranking.order[place - 1], index)
    rank = 0
    for place in range(count):
        index = ranking.order[place]
        if place == 0 or comes_before(bonus.draws, ranking, ranking.order[place - 1], index):
            rank += 1
        edge_bonus[first + index] = 1.0 - rank / highest


@open_function
def comes_before(draws: Any, ranking: Ranking, one: int, other: int) -> bool:
    """True if an edge is easier to prove than another."""
    return bool(ranking.first[one] < ranking.first[other])


@implements(comes_before, DrawLayer)
def _comes_before(draws: DrawLayer, ranking: Ranking, one: int, other: int) -> bool:
    if ranking.first[one] != ranking.first[other]:
        return bool(ranking.first[one] < ranking.first[other])
    return bool(ranking.second[one] < ranking.second[other])


@kernel
def sort_edges(draws: Any, ranking: Ranking, count: int) -> None:
    """Sort ``ranking.order`` (Shell 1959)."""
    for index in range(count):
        ranking.order[index] = index
    # Shellsort: in place, without recursion, and fast for the few edges of a node.
    gap = count // 2
    while gap > 0:
        for index in range(gap, count):
            moved = ranking.order[index]
            place = index
            while place >= gap and comes_before(draws, ranking, moved, ranking.order[place - gap]):
                ranking.order[place] = ranking.order[place - gap]
                place -= gap
            ranking.order[place] = moved
        gap //= 2
