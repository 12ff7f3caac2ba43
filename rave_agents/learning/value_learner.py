"""Learns a value of a board, on compiled rules: TD(λ) with n-tuples, see ``self_teaching.py``."""

from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np

from rave_agents.evaluators.linear_value import LinearValue
from rave_agents.evaluators.tuple_network import SMALL, TupleNetwork, network_for
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.learning.rounds import Learner
from rave_agents.learning.teacher import OPENING, Teacher, Weights, constant_sum

ROUND_CELLS = 20_000
"""Cells of all boards of a round: games on small boards are short, so that a round has more."""


class Share(NamedTuple):
    """A round's games of one process."""

    rules: BaseRules
    network: TupleNetwork
    opening: int
    games: int
    seed: np.random.SeedSequence
    weights: Weights


class Taught(NamedTuple):
    """The weights after a round's share, and the positions that they are from."""

    weights: Weights
    positions: int
    squared_errors: float


def play_share(share: Share) -> Taught:
    """Play a round's share of games and learn from them, in any process."""
    teacher = Teacher(share.rules, share.network, share.seed)
    teacher.take(share.weights)
    teacher.teach(share.games, opening=share.opening)
    return Taught(teacher.learned, teacher.positions, teacher.squared_errors)


def merged(before: Weights, shares: list[Taught]) -> Weights:
    """The weights after a round: each is the mean of those of the processes.

    A process counts in proportion to the absolute errors from which it has learned the weight.
    """
    if len(shares) == 1:
        return shares[0].weights
    weights, sums, sizes = before
    # The third array sums absolute errors, so its growth measures how much a process learned.
    grown = np.array([share.weights[2] - sizes for share in shares])
    moved = np.array([share.weights[0] - weights for share in shares])
    total = grown.sum(axis=0)
    mean = (grown * moved).sum(axis=0) / np.where(total > 0.0, total, 1.0)
    added = np.array([share.weights[1] - sums for share in shares]).sum(axis=0)
    return weights + mean, sums + added, sizes + total


class ValueLearner(Learner[LinearValue]):
    """Learns a value of a board by self-play in machine code.

    Args:
        rules: the game.
        windows: the windows of the board, see ``network_for``.
        opening: the maximum number of random moves at the beginning of a game.
        start: a value to continue from; None for zeros.
        seed: see ``Learner``.
        jobs: likewise.
        executor: likewise.

    Raises:
        UnsupportedGameError: if ``start`` is of another game.
        ValueError: if it is not of a board.
    """

    def __init__(
        self,
        rules: BaseRules,
        *,
        windows: str = SMALL,
        opening: int = OPENING,
        start: LinearValue | None = None,
        seed: int = 0,
        jobs: int = 1,
        executor: Executor | None = None,
    ) -> None:
        super().__init__(seed=seed, jobs=jobs, executor=executor)
        self._rules, self._opening = rules, opening
        if start is None:
            self._network = network_for(rules, windows=windows)
        elif start.network is None:
            raise ValueError("start is a value of observations: only values of boards continue.")
        else:
            start.check_rules(rules)
            self._network = start.network
        self._teacher = Teacher(rules, self._network, self.seeds.spawn(1)[0])
        if start is not None:
            self._teacher.weights[:] = start.weights.ravel()

    def learn_round(self, games: int | None = None) -> None:
        """Play a round and learn from its games; with ``games`` exactly so many."""
        if games is None:
            games = self._jobs * max(1, ROUND_CELLS // self._rules.num_board_cells)
        before = self._teacher.learned
        shares = [
            Share(self._rules, self._network, self._opening, count, seed, before)
            for count, seed in self.shares(games)
        ]
        taught = self.play(play_share, shares)
        self._teacher.take(merged(before, taught))
        positions = sum(share.positions for share in taught)
        self.games += games
        self.positions += positions
        self.loss = sum(share.squared_errors for share in taught) / max(positions, 1)

    def value(self) -> LinearValue:
        """The value learned so far, in half precision."""
        weights = self._teacher.weights.reshape(self._teacher.shape)
        rules = self._rules
        return LinearValue(
            str(rules),
            # Files are in half precision: play with the numbers that they have.
            weights.astype(np.float16).astype(np.float32),
            utilities=(float(rules.min_utility), float(rules.max_utility)),
            utility_sum=rules.utility_sum if constant_sum(rules) else None,
            network=self._network,
            players=rules.num_players,
        )
