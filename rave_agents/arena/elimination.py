"""Elimination of agents in a race: evidence that may be checked after every pair of games.

A pair of games between two agents has a score X from 0 to 1 with the unknown mean μ. A gambler who
starts with 1 and bets a share f of the capital on every pair that μ is above m has after n pairs

    ``W_f = Π (1 + f (X_i - m) / max(m, 1 - m))``.

If μ is not above m, W_f is a nonnegative supermartingale, and so is its mean W over several f. Then
the probability that it ever reaches 1/α is at most α (J. Ville, 1939), for any number of checks,
any distribution of X and any stopping rule. Bets that μ is below m are symmetric. The means m for
which neither W has reached 1/α form a *confidence sequence*: I. Waudby-Smith and A. Ramdas,
"Estimating Means of Bounded Random Variables by Betting", Journal of the Royal Statistical Society
B 86 (2024), https://arxiv.org/abs/2010.09686.

Among K agents there are K (K - 1) such bets, each of which gets its share of the 5 %: with 95 %
probability all intervals of a race hold at all times. So an agent that scores at least 1/2 against
every other is dropped with a probability of at most 5 %; this includes any of several equally
strong ones.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rave_agents.arena.statistics import CONFIDENCE

LEVEL = 0.05
"""Agents are level if their score is proven to be this close to 1/2."""

_YIELDS = math.log(10.0)
"""Log of the odds against a leader at which it is replaced."""

_STAKES = (np.arange(20) + 0.5) / 20
"""The shares f, spread over (0, 1), since the best one, about 2 (2 μ - 1), is unknown."""

_BISECTIONS = 50

_Array = NDArray[np.float64]


class Evidence:
    """Sequential evidence on the mean of scores in [0, 1], or of unbounded values.

    Unbounded values are measured in units of the greatest earlier one and clipped to one unit,
    since bets need bounds.

    Args:
        bounded: True for scores, compared with 1/2; False for values compared with 0.
    """

    def __init__(self, *, bounded: bool = True) -> None:
        self.bounded = bounded
        self.centre: float = 0.5 if bounded else 0.0
        """The mean for equally strong agents."""
        self.values: list[float] = []
        """The values, in their order."""
        self._scales: list[float] = []
        self._greatest = 0.0
        margins = (0.0, LEVEL) if bounded else (0.0,)
        self._fortunes = {
            (sign, self.centre - sign * margin): np.zeros(len(_STAKES))
            for sign in (1, -1)
            for margin in margins
        }

    def add(self, value: float) -> None:
        """Add the next value."""
        self.values.append(value)
        # The scale of a value must not depend on the value itself, or bets would not be fair.
        self._scales.append(self._greatest)
        self._greatest = max(self._greatest, abs(value))
        for sign, mean in self._fortunes:
            # Logarithms: the capital of a long race overflows a float.
            self._fortunes[sign, mean] += np.log1p(_STAKES * sign * self._distances(mean, -1))

    def _distances(self, mean: float, start: int = 0) -> _Array:
        """Distances of the values from a mean, in units of the greatest possible one."""
        away = np.array(self.values[start:]) - mean
        if self.bounded:
            return away / max(mean, 1 - mean)  # So a lost bet of everything leaves 0, not less.
        scales = np.array(self._scales[start:])
        # Without an earlier value there is no unit, and nothing is bet.
        units = np.divide(away, scales, out=np.zeros_like(away), where=scales > 0)
        clipped: _Array = np.clip(units, -1.0, 1.0)
        return clipped

    @property
    def for_first(self) -> float:
        """Log of the capital W of bets that the first agent is stronger."""
        return _log_mean(self._fortunes[1, self.centre])

    @property
    def for_second(self) -> float:
        """Log of the capital W of bets that the second agent is stronger."""
        return _log_mean(self._fortunes[-1, self.centre])

    def is_level(self, limit: float) -> bool:
        """True if scores are proven to be within ``LEVEL`` of 1/2.

        Args:
            limit: the log of the capital W that counts as proof.
        """
        # Refuted: a mean below the lower end, and one above the upper end.
        ends = [(1, 0.5 - LEVEL), (-1, 0.5 + LEVEL)]
        return self.bounded and all(_log_mean(self._fortunes[end]) >= limit for end in ends)

    @property
    def mean(self) -> float:
        """The mean of the values; NaN without any."""
        return math.fsum(self.values) / len(self.values) if self.values else math.nan

    def interval(self, limit: float) -> tuple[float, float]:
        """The means that no bet refutes with the log capital ``limit``."""
        if not self.values:
            return (0.0, 1.0) if self.bounded else (-math.inf, math.inf)
        return self._end(1, limit), self._end(-1, limit)

    def _end(self, sign: int, limit: float) -> float:
        """The lower end (sign 1) or upper end (-1), by bisection."""
        # The capital falls monotonically from the outer to the inner point: bisect where it passes
        # the limit. With sign -1 the axis is mirrored, so both ends are searched alike.
        reach = max(self._scales)
        outer = min(sign * value for value in self.values) - reach
        if self.bounded:
            outer = 0.0 if sign > 0 else -1.0
        if self._money(sign, sign * outer) < limit:
            # Not even the outermost mean is refuted.
            return sign * outer if self.bounded else -sign * math.inf
        inner = sign * self.mean
        for _ in range(_BISECTIONS):
            middle = (outer + inner) / 2
            refuted = self._money(sign, sign * middle) >= limit
            outer, inner = (middle, inner) if refuted else (outer, middle)
        return sign * outer

    def _money(self, sign: int, mean: float) -> float:
        bets = np.outer(_STAKES, sign * self._distances(mean))
        return _log_mean(np.log1p(bets).sum(axis=1))


def _log_mean(logs: _Array) -> float:
    greatest = logs.max()  # Taken out so that the exponentials do not overflow.
    return float(greatest + np.log(np.mean(np.exp(logs - greatest))))


class Elimination:
    """The rules of a race: which agents play next, which are dropped, and when it ends.

    The leader plays all others in turn. An agent proven weaker than another is dropped. The leader
    is replaced once the odds against it reach ten to one, or by the agent that eliminated it. The
    race ends when all others are dropped or level with the leader.

    Args:
        agents: the number of agents.
        bounded: True if values of pairs of games are scores, see ``Evidence``.
    """

    def __init__(self, agents: int, *, bounded: bool = True) -> None:
        self.agents = agents
        self.leader: int = 0
        """The agent that plays the others."""
        self.dropped: dict[int, int] = {}
        """The dropped agents in order, and the agents that eliminated them."""
        # 1/α for each of the K (K - 1) bets with its share α of the 5 % (Bonferroni).
        self.limit: float = math.log(max(1, agents * (agents - 1)) / (1 - CONFIDENCE))
        """Log of the capital that counts as proof."""
        self._evidence = {
            pairing: Evidence(bounded=bounded)
            for pairing in itertools.combinations(range(agents), 2)
        }

    def add(self, first: int, second: int, value: float) -> None:
        """Add the next pair of games of two agents; the first has the lower number."""
        evidence = self._evidence[first, second]
        evidence.add(value)
        odds = evidence.for_first - evidence.for_second
        winner, loser = (first, second) if odds > 0 else (second, first)
        strength = max(evidence.for_first, evidence.for_second)
        left = self.left  # Never drop the last agent of a cycle A > B > C > A.
        proven = strength >= self.limit and loser in left and len(left) > 1
        if proven:
            self.dropped[loser] = winner
        # Games of a dropped agent may still end: it must not lead again.
        if loser == self.leader and winner not in self.dropped and (proven or strength >= _YIELDS):
            self.leader = winner
        elif self.leader in self.dropped:
            self.leader = self.left[0]

    @property
    def left(self) -> list[int]:
        """The remaining agents, the leader first."""
        ordered = (self.leader, *(agent for agent in range(self.agents) if agent != self.leader))
        return [agent for agent in ordered if agent not in self.dropped]

    def is_level(self, agent: int) -> bool:
        """True if an agent is proven to be about as strong as the leader."""
        return self.evidence(self.leader, agent).is_level(self.limit)

    def evidence(self, one: int, two: int) -> Evidence:
        """The evidence from two agents' games, from the view of the lower number."""
        return self._evidence[min(one, two), max(one, two)]

    def interval(self, one: int, two: int) -> tuple[float, float]:
        """The interval of the mean of two agents' pairs, from the view of ``one``."""
        low, high = self.evidence(one, two).interval(self.limit)
        return (low, high) if one < two else self._turned(one, two, low, high)

    def mean(self, one: int, two: int) -> float:
        """The mean of two agents' pairs, from the view of ``one``."""
        mean = self.evidence(one, two).mean
        return mean if one < two else 2 * self.evidence(one, two).centre - mean

    def _turned(self, one: int, two: int, low: float, high: float) -> tuple[float, float]:
        whole = 2 * self.evidence(one, two).centre
        return whole - high, whole - low

    @property
    def challengers(self) -> list[int]:
        """The agents to play the leader next, least played first; empty at the end."""
        open_ = [agent for agent in self.left[1:] if not self.is_level(agent)]
        return sorted(open_, key=lambda agent: len(self.evidence(self.leader, agent).values))

    def next_pairings(self, count: int) -> Sequence[tuple[int, int]]:
        """The two agents of each of the next pairs of games, the lower number first."""
        waiting = self.challengers
        played = {agent: len(self.evidence(self.leader, agent).values) for agent in waiting}
        found = []
        for _ in range(count if waiting else 0):
            agent = min(waiting, key=lambda each: played[each])
            played[agent] += 1  # As if played: the next pair goes to another agent.
            found.append((min(self.leader, agent), max(self.leader, agent)))
        return found
