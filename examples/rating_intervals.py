"""Coverage of the intervals of Elo differences: tournaments between agents of known strength.

    python examples/rating_intervals.py --pairs 1000

Each pair of agents plays openings twice, with the seats exchanged. Their difference is normally
distributed with a standard deviation of 300 Elo points; the number of games, the share of draws and
the advantage of the first seat vary from pair to pair. A 95 % interval should hold the difference
in 95 % of the pairs. Those of which one agent has won all games are counted apart, too.
"""

import argparse
import collections
import math

import numpy as np

from rave_agents.arena import Outcome, rate

GAMES = (10, 20, 40, 100)
"""Games of a pair."""
DEVIATION = 300.0
"""Standard deviation of the difference, in Elo points."""
MOST_DRAWS = 0.6
"""Greatest share of draws between equals."""
MOST_ADVANTAGE = 0.2
"""Greatest advantage of the first seat, in expected score."""


def simulated(difference, games, draws, advantage, random):
    """Return the ratings after games between agents that are ``difference`` Elo apart."""
    mean = 1 / (1 + 10 ** (-difference / 400))
    advantage = min(advantage, mean, 1 - mean)
    outcomes = []
    for number in range(games):
        seat = number % 2
        expected = mean + (advantage if seat == 0 else -advantage)
        drawn = 2 * draws * min(expected, 1 - expected)
        score = float(
            random.choice([1, 0.5, 0], p=[expected - drawn / 2, drawn, 1 - expected - drawn / 2])
        )
        outcomes.append(Outcome("a", "b", score, unit=number // 2))
    return rate(outcomes)


def coverage(pairs, seed=0):
    """Return for each kind of pair how often the interval held the difference, and how often not.

    Kinds are the numbers of games, ``"all"`` and ``"shut-outs"``.
    """
    random = np.random.default_rng(seed)
    counts = collections.defaultdict(lambda: [0, 0])
    for _ in range(pairs):
        difference, games = random.normal(0, DEVIATION), int(random.choice(GAMES))
        draws, advantage = random.uniform(0, MOST_DRAWS), random.uniform(0, MOST_ADVANTAGE)
        ratings = simulated(difference, games, draws, advantage, random)
        value, (low, high) = ratings.difference("a", "b")
        kinds = ["all", games, *(["shut-outs"] if math.isinf(value) else [])]
        for kind in kinds:
            counts[kind][not low <= difference <= high] += 1
    return {kind: tuple(counts[kind]) for kind in ("all", *GAMES, "shut-outs")}


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1000, help="pairs of agents")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("| games | pairs | difference in the interval |\n|---|---|---|")
    for kind, (held, missed) in coverage(options.pairs, options.seed).items():
        print(f"| {kind} | {held + missed} | {held / max(1, held + missed):.3f} |")


if __name__ == "__main__":
    main()
