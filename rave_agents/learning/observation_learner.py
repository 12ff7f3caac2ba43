"""Learns a value of observations, in games without compiled rules and a board.

The search plays itself, first with playouts to the end, then with the value learned so far. Each
position is labelled half with the outcome of its game and half with the search's value, and a
``LinearValue`` is fitted to all of them by logistic regression. If information is hidden, the
observation is that of the player to move, and searches begin in worlds that agree with it.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy  # Its parts are loaded when they are first used.
from numpy.typing import NDArray

from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.evaluators.linear_value import LinearValue, game_text
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.facts import Facts
from rave_agents.game.game_state import GameState, PlayerId
from rave_agents.learning.rounds import Learner
from rave_agents.records.openings import draw_outcome
from rave_agents.searcher.searcher import Searcher

RANDOM_SHARE = 0.05
"""Probability of a random move after the opening."""

OUTCOME_SHARE = 0.5
"""Weight of the outcome in a label; the rest is the search's value."""

PENALTY = 2.0
"""Weight of the squared weights (L2 regularisation), relative to the loss of one position."""

ITERATIONS = 40
"""Steps of a fit, which continues from the previous one."""

LONGEST_GAME = 2000
"""Plies after which a game of self-play is given up."""

_CONFIG = SearchConfig.preset("uct").replace(c=0.2)
"""The search that plays itself."""


class _Sample(NamedTuple):
    """A position of a game of self-play."""

    player: int
    observation: NDArray[np.float32]
    """The flat observation of the player to move."""
    searched: NDArray[np.float64]
    """[outputs] the search's value in [0, 1]; NaN for outputs of other players."""
    earned: NDArray[np.float64]
    """[players] the rewards before this position."""


class ObservationLearner(Learner[LinearValue]):
    """Learns a linear value of observations. A round is one game; ``value`` fits.

    Args:
        start: the position at which games begin.
        facts: its game's facts.
        simulations: simulations a move.
        opening: the maximum number of random moves at the beginning of a game.
        seed: decides everything random.
    """

    def __init__(
        self, start: GameState, facts: Facts, *, simulations: int, opening: int, seed: int
    ) -> None:
        super().__init__(seed=seed)
        self._start, self._limits = start, facts.limits
        self._limit, self._opening = Limit(simulations=simulations), opening
        self._sum = facts.limits.total if facts.num_players == 2 else None
        self._outputs = 1 if self._sum is not None else facts.num_players
        self._draw = np.random.default_rng(seed)
        self._samples: list[_Sample] = []
        self._labels: list[NDArray[np.float64]] = []
        self._value: LinearValue | None = None
        self._fits: dict[tuple[int, int], NDArray[np.float64]] = {}
        """The weights of the last fit, by the player to move and the output."""

    def learn_round(self, games: int | None = None) -> None:
        """Play a game."""
        seed = int(self._draw.integers(2**31))
        samples, returns = self._play_game(Searcher(_CONFIG, seed=seed, evaluator=self._value))
        self.games += 1
        for sample in samples:
            outcome = self._shares(returns - sample.earned)
            # Only the search's value of the player to move is known; the others take the outcome.
            searched = np.where(np.isnan(sample.searched), outcome, sample.searched)
            self._labels.append(OUTCOME_SHARE * outcome + (1.0 - OUTCOME_SHARE) * searched)
        self._samples += samples
        self.positions = len(self._samples)

    def value(self) -> LinearValue:
        """Fit a value to all positions so far.

        Raises:
            ValueError: if there are none.
        """
        if not self._samples:
            raise ValueError(
                f"There is nothing to learn of {game_text(self._start)}: its games have no "
                "position with a choice."
            )
        players = np.array([sample.player for sample in self._samples])
        observations = np.array([sample.observation for sample in self._samples])
        labels = np.array(self._labels)
        shape = self._limits.players, self._outputs, observations.shape[1] + 1
        weights, losses = np.zeros(shape, np.float32), []
        for player in np.unique(players).tolist():
            rows = players == player
            matrix = with_ones(observations[rows])
            for output in range(self._outputs):
                before = self._fits.get((player, output))
                found, loss = logistic_regression(matrix, labels[rows, output], before)
                self._fits[player, output] = weights[player, output] = found
                losses.append(loss)
        self.loss = float(np.mean(losses))
        self._value = LinearValue(
            game_text(self._start),
            weights,
            utilities=(self._limits.low, self._limits.high),
            utility_sum=self._sum,
        )
        return self._value

    def _play_game(self, searcher: Searcher) -> tuple[list[_Sample], NDArray[np.float64]]:
        """A game of self-play: its positions and returns. None of both if it does not end."""
        state, samples = self._start.clone(), list[_Sample]()
        random_moves = int(self._draw.integers(self._opening + 1))
        begins_at_random = random_moves > 0
        for _ in range(LONGEST_GAME):
            player = int(state.current_player())
            if player == PlayerId.TERMINAL:
                if samples or not begins_at_random:
                    return samples, np.array(state.returns(), np.float64)
                # The random opening was the whole game: begin again without one.
                state = self._start.clone()
                random_moves, begins_at_random = 0, False
            elif player == PlayerId.CHANCE:
                state.apply_action(draw_outcome(state, self._draw))
            elif random_moves > 0 or self._draw.random() < RANDOM_SHARE:
                random_moves -= 1
                state.apply_action(int(self._draw.choice(state.legal_actions())))
            else:
                result = searcher.search(state, self._limit)
                if result.value is not None:
                    samples.append(self._sample(state, player, result.value))
                state.apply_action(result.action)
        return [], np.zeros(self._limits.players)

    def _sample(self, state: Any, player: int, value: float) -> _Sample:
        collected = StateAbilities(state).collected
        earned = np.zeros(self._limits.players) if collected is None else np.array(collected()[0])
        value -= earned[player]  # A search's value counts the rewards before, too.
        if self._sum is not None:
            searched = self._shares(np.array([value if player == 0 else self._sum - value]))
        else:
            searched = np.full(self._outputs, np.nan)
            searched[player] = self._shares(np.array([value]))[0]
        observation = np.asarray(state.observation(player), np.float32).ravel()
        return _Sample(player, observation, searched, earned)

    def _shares(self, returns: NDArray[np.float64]) -> NDArray[np.float64]:
        shares = (returns[: self._outputs] - self._limits.low) / (
            self._limits.high - self._limits.low
        )
        return np.asarray(np.clip(shares, 0.0, 1.0))


def logistic_regression(
    matrix: Any, target: NDArray[np.float64], start: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], float]:
    """Fit weights of the columns with an L2 penalty; returns them and the mean loss.

    Args:
        matrix: [rows, columns] sparse; the last column is the bias, which has no penalty.
        target: [rows] probabilities.
        start: weights to begin from; None for zeros.
    """
    transposed = matrix.T.tocsr()

    def loss_and_slope(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits = (matrix @ weights.astype(np.float32)).astype(np.float64)
        loss = np.logaddexp(0.0, logits).sum() - target @ logits
        errors = 1.0 / (1.0 + np.exp(-logits)) - target
        slope = (transposed @ errors.astype(np.float32)).astype(np.float64)
        penalty = PENALTY * weights
        penalty[-1] = 0.0  # The bias is free.
        return float(loss + 0.5 * penalty @ weights), slope + penalty

    first = np.zeros(matrix.shape[1]) if start is None else start
    found = scipy.optimize.minimize(
        loss_and_slope, first, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS}
    )
    logits = matrix @ found.x
    loss = np.logaddexp(0.0, logits) - target * logits
    return found.x, float(loss.mean())


def with_ones(observations: NDArray[Any]) -> Any:
    """Observations as a sparse matrix with a last column of ones."""
    ones = np.ones(len(observations))
    return scipy.sparse.csr_matrix(np.column_stack([observations, ones]).astype(np.float32))
