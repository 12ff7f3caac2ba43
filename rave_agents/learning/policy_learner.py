"""Learning of a policy on compiled rules with a board: expert iteration.

In each round all processes play games of ``auto`` with the policy so far, from seeds of their own;
then this process brings the policy closer to the shares of the searches' visits (Anthony, Tian &
Barber 2017). So equal seeds, games and processes learn equally, whatever runs the processes.
"""

import collections
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.evaluators.move_policy import (
    MoveCells,
    MovePolicy,
    Moves,
    features_of,
    move_cells,
    moves_at,
)
from rave_agents.evaluators.symmetries import symmetries_of
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.games.kit.moves import NO_CELL, NUMBERS
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.searcher import Searcher


class Settings(NamedTuple):
    """Settings of self-play and of learning."""

    games: int = 16
    """Games of a round in each process."""
    opening: int = 6
    """Random moves at the beginning of a game, at most."""
    drawn: int = 12
    """Moves at the beginning of which every other one is drawn by its share of the visits."""
    random: float = 0.05
    """The share of random moves after the opening."""
    kept: int = 20_000
    """Positions that are learned from, the latest ones."""
    passes: int = 4
    """Steps draw so many positions for each new one."""
    batch: int = 64
    """Positions of a step."""
    step: float = 0.1
    """The greatest step of a number."""
    decay: float = 1e-4
    """The weight of the squares of all numbers."""


SETTINGS = Settings()

LONGEST = 1000
"""Plies after which a game is broken off."""


class Sample(NamedTuple):
    """A position with what its search has told."""

    features: NDArray[np.int32]
    """[moves, FEATURES] the places of the legal moves' numbers."""
    shares: NDArray[np.float32]
    """[moves] the share of the visits that each had."""


class Share(NamedTuple):
    """A round's games of one process."""

    rules: BaseRules
    policy: MovePolicy | None
    """None where nothing is learned yet."""
    simulations: int
    settings: Settings
    games: int
    seed: np.random.SeedSequence


def play_share(share: Share) -> list[Sample]:
    """Play a round's share of games, in whatever process."""
    return [
        sample
        for seed in share.seed.spawn(share.games)
        for sample in _samples_of_game(share, np.random.default_rng(seed))
    ]


def _samples_of_game(share: Share, draw: np.random.Generator) -> Iterator[Sample]:
    """Play a game, and tell of its positions; it ends where the search proves the outcome."""
    rules, settings, known = share.rules, share.settings, move_cells(share.rules)
    seed = int(draw.integers(2**31))
    searcher = Searcher(_CONFIG, seed=seed, evaluator=share.policy)
    images = [np.arange(rules.num_board_cells), *symmetries_of(rules)]
    opening = int(draw.integers(settings.opening + 1))
    state: Any = rules.new_initial_state()  # type: ignore[attr-defined]
    for ply in range(LONGEST):
        if state.is_terminal():
            return
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(draw.choice(outcomes, p=np.divide(chances, sum(chances)))))
            continue
        legal = state.legal_actions()
        if len(legal) == 1 or ply < opening or draw.random() < settings.random:
            state.apply_action(int(draw.choice(legal)))
            continue
        result = searcher.search(state, Limit(simulations=share.simulations))
        shares = _shares(result, rules)
        if shares is not None:
            image = images[int(draw.integers(len(images)))]
            moves = _turned(moves_at(rules, state), image)
            yield Sample(features_of(known, moves).astype(np.int32), shares)
        if result.outcome is not None:
            return
        action = result.action
        if ply < settings.drawn and draw.random() < 0.5 and shares is not None:
            visited = shares.astype(np.float64)
            action = int(draw.choice(legal, p=visited / visited.sum()))
        state.apply_action(action)


_CONFIG = SearchConfig.preset("auto").replace(known=False)
"""The search that plays itself."""


def _shares(result: SearchResult, rules: BaseRules) -> NDArray[np.float32] | None:
    """The moves' shares of the visits; of a proven win the move that wins; else of proofs None."""
    visits = np.array([each.visits for each in result.actions], np.float32)
    if result.outcome is not None:
        visits[:] = [each.action == result.action for each in result.actions]
        if result.outcome[result.player] < rules.max_utility:
            return None
    return visits / visits.sum() if visits.any() else None


def _turned(moves: Moves, image: NDArray[np.int64]) -> Moves:
    """The moves on a board that is turned or mirrored."""
    boards = np.empty_like(moves.boards)
    boards[:, image] = moves.boards
    after = np.append(image, NO_CELL)  # So that no cell stays none.
    return moves._replace(boards=boards, cells=after[moves.cells], last=after[moves.last])


class PolicyLearner:
    """A policy that self-play teaches, round by round.

    Args:
        rules: the game.
        simulations: of each move of self-play.
        seed: decides everything random.
        jobs: processes, at least 1.
        executor: runs them; None for this process.
        start: a policy to go on from; None for equal probabilities.
        settings: how it learns.

    Raises:
        UnsupportedGameError: for a game without a board, or another than that of ``start``.
    """

    def __init__(
        self,
        rules: BaseRules,
        *,
        simulations: int,
        seed: int = 0,
        jobs: int = 1,
        executor: Executor | None = None,
        start: MovePolicy | None = None,
        settings: Settings = SETTINGS,
    ) -> None:
        self.rules = rules
        self._cells: MoveCells = move_cells(rules)
        self._simulations, self._settings = simulations, settings
        self._jobs, self._executor = jobs, executor
        self._seeds = np.random.SeedSequence(seed)
        self._draw = np.random.default_rng(self._seeds.spawn(1)[0])
        self._numbers = np.zeros(NUMBERS + 1)  # The last stands for features that a move lacks.
        self._squares = np.zeros(NUMBERS + 1)
        if start is not None:
            start.check_rules(rules)
            self._numbers[:-1] = start.numbers
        self._policy = start
        self._kept: collections.deque[Sample] = collections.deque(maxlen=settings.kept)
        self.games: int = 0
        self.positions: int = 0
        """Games played and positions learned from."""
        self.error: float = float("nan")
        """The mean divergence from the shares of the visits in the last round; NaN before."""

    def learn_round(self, games: int | None = None) -> None:
        """Play a round, of so many games at most, and learn from it and those before."""
        most = self._jobs * self._settings.games
        in_all = most if games is None else min(games, most)
        shares = [
            Share(
                self.rules,
                self._policy,
                self._simulations,
                self._settings,
                (in_all + place) // self._jobs,
                seed,
            )
            for place, seed in enumerate(self._seeds.spawn(self._jobs))
        ]
        run = map if self._executor is None else self._executor.map
        new = [sample for samples in run(play_share, shares) for sample in samples]
        self.games += in_all
        self.positions += len(new)
        self._kept.extend(new)
        if new:
            self._learn(len(new))
            self._policy = self.value()

    def _learn(self, new: int) -> None:
        """Take steps for so many new positions."""
        steps = -(-self._settings.passes * new // self._settings.batch)
        lost = [self._take_step() for _ in range(steps)]
        self.error = float(np.mean(lost))

    def _take_step(self) -> float:
        """Take a step on positions that are drawn, and tell the mean divergence before it."""
        settings = self._settings
        drawn = self._draw.integers(len(self._kept), size=settings.batch)
        batch = [self._kept[place] for place in drawn.tolist()]
        features = np.concatenate([sample.features for sample in batch])
        shares = np.concatenate([sample.shares for sample in batch]).astype(np.float64)
        chances = _softmax(self._numbers[features].sum(axis=1), [len(s.shares) for s in batch])
        missed = np.repeat(chances - shares, features.shape[1])
        slope = np.bincount(features.ravel(), missed, minlength=NUMBERS + 1) / settings.batch
        met = np.unique(features)
        slope = slope[met] + settings.decay * self._numbers[met] / settings.batch
        self._squares[met] += slope * slope
        self._numbers[met] -= settings.step * slope / np.sqrt(self._squares[met] + 1e-8)
        self._numbers[-1] = 0.0
        counts = shares > 0.0
        lost = shares[counts] * np.log(shares[counts] / np.maximum(chances[counts], 1e-12))
        return float(lost.sum() / settings.batch)

    def value(self, made: str = "") -> MovePolicy:
        """The policy learned so far, in half precision."""
        numbers = self._numbers[:-1].astype(np.float16).astype(np.float32)
        return MovePolicy(str(self.rules), numbers, made=made)


def _softmax(logits: NDArray[np.float64], lengths: Sequence[int]) -> NDArray[np.float64]:
    """The softmax of each of some rows of these lengths, one behind the other."""
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    weights = np.exp(logits - np.repeat(np.maximum.reduceat(logits, starts), lengths))
    return np.asarray(weights / np.repeat(np.add.reduceat(weights, starts), lengths))
