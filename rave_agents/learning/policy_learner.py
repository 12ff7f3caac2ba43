"""Learns a policy of a board by expert iteration (Anthony, Tian & Barber 2017).

Processes play games of ``auto`` with the policy so far; then the policy moves towards the shares of
the searches' visits, by AdaGrad on the cross-entropy.
"""

import collections
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.evaluators.move_features import NO_CELL, NUMBERS
from rave_agents.evaluators.move_policy import MovePolicy, Moves, features_of, move_cells, moves_at
from rave_agents.evaluators.symmetries import symmetries_of
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.learning.rounds import Learner
from rave_agents.records.openings import draw_outcome
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.searcher import Searcher

ROUND_GAMES = 16
"""Games of a round in each process."""

OPENING = 6
"""Random moves at the beginning of a game, at most."""

DRAWN_MOVES = 12
"""Moves at the beginning of which every other one is drawn in proportion to its visits."""

RANDOM_SHARE = 0.05
"""Probability of a random move after the opening."""

KEPT = 20_000
"""Positions to learn from: the latest ones."""

PASSES = 4
"""Positions drawn for steps, for each new one."""

BATCH = 64
"""Positions of a step."""

STEP_SIZE = 0.1
"""Step size of AdaGrad."""

DECAY = 1e-4
"""Weight of the squared weights (L2 regularisation)."""

LONGEST_GAME = 1000
"""Plies after which a game is given up."""

_CONFIG = SearchConfig.preset("auto").replace(known=False)
"""The search that plays itself."""


class Sample(NamedTuple):
    """A searched position."""

    features: NDArray[np.int32]
    """[moves, FEATURES] the places of the legal moves' weights."""
    shares: NDArray[np.float32]
    """[moves] their shares of the visits."""


class Share(NamedTuple):
    """A round's games of one process."""

    rules: BaseRules
    policy: MovePolicy | None
    """None before anything is learned."""
    simulations: int
    games: int
    seed: np.random.SeedSequence


def play_share(share: Share) -> list[Sample]:
    """Play a round's share of games, in any process."""
    return [
        sample
        for seed in share.seed.spawn(share.games)
        for sample in _samples_of_game(share, np.random.default_rng(seed))
    ]


def _samples_of_game(share: Share, draw: np.random.Generator) -> Iterator[Sample]:
    """Play a game until it ends or its outcome is proven; yields its searched positions."""
    rules, known = share.rules, move_cells(share.rules)
    seed = int(draw.integers(2**31))
    # One tree for both players: it is kept from move to move.
    searcher = Searcher(_CONFIG, seed=seed, evaluator=share.policy)
    images = [np.arange(rules.num_board_cells), *symmetries_of(rules)]
    opening = int(draw.integers(OPENING + 1))
    state: Any = rules.new_initial_state()  # type: ignore[attr-defined]
    for ply in range(LONGEST_GAME):
        if state.is_terminal():
            return
        if state.is_chance_node():
            state.apply_action(draw_outcome(state, draw))
            continue
        legal = state.legal_actions()
        if len(legal) == 1 or ply < opening or draw.random() < RANDOM_SHARE:
            state.apply_action(int(draw.choice(legal)))
            continue
        result = searcher.search(state, Limit(simulations=share.simulations))
        shares = _shares(result, rules)
        if shares is not None:
            # A random symmetry of each position, in place of all of them.
            image = images[int(draw.integers(len(images)))]
            moves = _turned(moves_at(rules, state), image)
            yield Sample(features_of(known, moves).astype(np.int32), shares)
        if result.outcome is not None:
            return
        action = result.action
        if ply < DRAWN_MOVES and draw.random() < 0.5 and shares is not None:
            visited = shares.astype(np.float64)
            action = int(draw.choice(legal, p=visited / visited.sum()))
        state.apply_action(action)


def _shares(result: SearchResult, rules: BaseRules) -> NDArray[np.float32] | None:
    """The moves' shares of the visits.

    A proven win teaches the winning move alone, another proven outcome nothing: all moves may be
    equally good then, and the visits are of an unfinished search.
    """
    visits = np.array([each.visits for each in result.actions], np.float32)
    if result.outcome is not None:
        visits[:] = [each.action == result.action for each in result.actions]
        if result.outcome[result.player] < rules.max_utility:
            return None
    return visits / visits.sum() if visits.any() else None


def _turned(moves: Moves, image: NDArray[np.int64]) -> Moves:
    boards = np.empty_like(moves.boards)
    boards[:, image] = moves.boards
    after = np.append(image, NO_CELL)  # NO_CELL is -1: the last entry maps it to itself.
    return moves._replace(boards=boards, cells=after[moves.cells], last=after[moves.last])


class PolicyLearner(Learner[MovePolicy]):
    """Learns a policy from the visits of its searches.

    Args:
        rules: the game.
        simulations: simulations a move of self-play.
        start: a policy to continue from; None for equal probabilities.
        seed: see ``Learner``.
        jobs: likewise.
        executor: likewise.

    Raises:
        UnsupportedGameError: for a game without a board, or if ``start`` is of another game.
    """

    def __init__(
        self,
        rules: BaseRules,
        *,
        simulations: int,
        start: MovePolicy | None = None,
        seed: int = 0,
        jobs: int = 1,
        executor: Executor | None = None,
    ) -> None:
        super().__init__(seed=seed, jobs=jobs, executor=executor)
        move_cells(rules)  # Refuses other games.
        self._rules, self._simulations, self._policy = rules, simulations, start
        self._draw = np.random.default_rng(self.seeds.spawn(1)[0])
        self._weights = np.zeros(NUMBERS + 1)  # The last is for features that a move lacks: 0.
        self._squares = np.zeros(NUMBERS + 1)
        if start is not None:
            start.check_rules(rules)
            self._weights[:-1] = start.numbers
        self._kept: collections.deque[Sample] = collections.deque(maxlen=KEPT)

    def learn_round(self, games: int | None = None) -> None:
        """Play a round, and learn from the latest positions."""
        most = self._jobs * ROUND_GAMES
        games = most if games is None else min(games, most)
        shares = [
            Share(self._rules, self._policy, self._simulations, count, seed)
            for count, seed in self.shares(games)
        ]
        new = [sample for samples in self.play(play_share, shares) for sample in samples]
        self.games += games
        self.positions += len(new)
        self._kept.extend(new)
        if new:
            steps = -(-PASSES * len(new) // BATCH)  # Rounded up.
            self.loss = float(np.mean([self._take_step() for _ in range(steps)]))
            self._policy = self.value()

    def _take_step(self) -> float:
        """Take a step on drawn positions. Returns the mean Kullback-Leibler divergence before."""
        drawn = self._draw.integers(len(self._kept), size=BATCH)
        batch = [self._kept[place] for place in drawn.tolist()]
        features = np.concatenate([sample.features for sample in batch])
        shares = np.concatenate([sample.shares for sample in batch]).astype(np.float64)
        chances = _softmax(self._weights[features].sum(axis=1), [len(s.shares) for s in batch])
        # The gradient of the cross-entropy with respect to the logits.
        errors = np.repeat(chances - shares, features.shape[1])
        slope = np.bincount(features.ravel(), errors, minlength=NUMBERS + 1) / BATCH
        met = np.unique(features)
        slope = slope[met] + DECAY * self._weights[met] / BATCH
        self._squares[met] += slope * slope
        self._weights[met] -= STEP_SIZE * slope / np.sqrt(self._squares[met] + 1e-8)
        self._weights[-1] = 0.0  # The padding learns nothing.
        visited = shares > 0.0
        ratios = shares[visited] / np.maximum(chances[visited], 1e-12)
        return float((shares[visited] * np.log(ratios)).sum() / BATCH)

    def value(self) -> MovePolicy:
        """The policy learned so far, in half precision."""
        weights = self._weights[:-1].astype(np.float16).astype(np.float32)
        return MovePolicy(str(self._rules), weights)


def _softmax(logits: NDArray[np.float64], lengths: Sequence[int]) -> NDArray[np.float64]:
    """The softmax of each of several rows of these lengths, concatenated."""
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    weights = np.exp(logits - np.repeat(np.maximum.reduceat(logits, starts), lengths))
    return np.asarray(weights / np.repeat(np.add.reduceat(weights, starts), lengths))
