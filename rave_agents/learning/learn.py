"""A value, or a policy, that a game's self-play teaches: ``learn``.

On compiled rules with a board, self-play in machine code teaches a value of tuples of cells, see
``board_learning.py``, and searches teach a policy, see ``policy_learning.py``. In other games the
search plays itself, first with playouts to the end, then by the values learned so far. Each
position of these games is labelled half with how the game ended and half with what the search
thought of it, and a ``LinearValue`` of observations is fitted to all of them by logistic
regression. Where something is hidden, these are what the player to move sees, and searches begin in
worlds that this player cannot tell apart.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy  # Its parts are loaded when they are first used.
from annotated_types import Ge
from numpy.typing import NDArray

from rave_agents.arena.runner import local_executor
from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import UnknownNameError, UnsupportedGameError
from rave_agents.evaluators.linear_value import LinearValue, game_text
from rave_agents.evaluators.move_policy import MovePolicy, load_learned
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.arguments import unknown_name
from rave_agents.game.game_state import (
    GameState,
    PlayerId,
    compiled_form,
    has_simultaneous_moves,
)
from rave_agents.game.validation import Count, Natural, Positive, validated
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.learning.board_learner import SETTINGS, SMALL, WINDOWS, BoardLearner
from rave_agents.learning.policy_learner import PolicyLearner
from rave_agents.learning.rounds import (
    Budget,
    Learned,
    Learner,
    bounded_utilities,
    learn_rounds,
)
from rave_agents.results.progress import Progress, shown
from rave_agents.searcher.searcher import Searcher

OPENING_PLIES = 10
"""Random moves at the beginning of a game, at most."""

RANDOM_SHARE = 0.05
"""The share of random moves after that."""

OUTCOME_SHARE = 0.5
"""Weight of the outcome in a label; the rest is the search's value."""

PENALTY = 2.0
"""The weight of the squares of all numbers, beside the loss of each position."""

ITERATIONS = 40
"""Steps of a fit, which goes on from the one before."""

LONGEST_GAME = 2000
"""Plies after which a game of self-play is broken off and left out."""


class _Sample(NamedTuple):
    """A position of a game of self-play."""

    player: int
    features: NDArray[Any]
    thought: NDArray[np.float64]
    """The search's value of the position for each output."""
    earned: NDArray[np.float64]
    """Rewards that each player had received before."""


@validated
def learn(
    game: Any,
    name: str | None = None,
    *,
    minutes: Positive | None = None,
    games: Count | None = None,
    rounds: Count = 5,
    simulations: Annotated[int, Ge(2)] = 200,
    jobs: Count = 1,
    executor: Executor | None = None,
    start: LinearValue | MovePolicy | str | os.PathLike[str] | None = None,
    what: str = "value",
    windows: str = SMALL,
    opening: Natural = OPENING_PLIES,
    seed: Natural = 0,
    progress: Progress[Learned] = None,
    fitted: Callable[[Any], object] | None = None,
) -> Any:
    """Learn a value function, or a policy, by self-play of a game.

    Args:
        game: the game, its name, or a state to begin at, see ``as_game``. One player moves at a
            time, and utilities are bounded.
        name: the game's name for messages; None for its own. The value tells the game with all its
            parameters.
        minutes: minutes of learning, above 0; 5 if ``games`` is not given either.
        games: games of self-play in all, at least ``rounds``. Equal games, seeds and jobs give
            equal values.
        rounds: how often ``fitted`` is called, at least 1, after equal shares of the games or the
            time.
        simulations: of each move of self-play, at least 2; of a policy, or without compiled rules
            and a board.
        jobs: processes that play, at least 1; on compiled rules with a board.
        executor: runs them, such as a Dask client's; None for processes of this machine.
        start: what to go on from, or its file; on compiled rules with a board.
        what: ``"value"`` for a value of positions, a ``LinearValue``; or ``"policy"`` for prior
            probabilities of moves, a ``MovePolicy``, on compiled rules with a board.
        windows: what a value looks at: ``"small"`` windows of the board, of two by three cells;
            ``"large"`` ones, of two by four, which learn more in ten minutes and less in one;
            ``"lines"`` for these, and rows, columns and diagonals of up to eight, which are better
            in Othello and worse in Breakthrough;
            or ``"strips"``, two lines of four cells beside each other, straight or diagonal, and
            the same rows, columns and diagonals, with numbers of their own for each player, which
            are better in Connect Four.
        opening: random moves at the beginning of a game of self-play, at most: the more, the more
            positions are learned that good players avoid. Of values alone.
        seed: decides everything random.
        progress: None for a display in a terminal or notebook, False for none, True for one
            anywhere; or a function, which is called now and then.
        fitted: called with what each round has learned; learning ends where it returns False.

    Returns:
        A ``LinearValue`` or a ``MovePolicy``.

    Raises:
        UnsupportedGameError: for another game, or one without observations.
        UnknownNameError: for windows, or something to learn, that do not exist.
        TypeError, ValueError: for a number that is not allowed.
    """
    if windows not in WINDOWS:
        raise UnknownNameError(unknown_name("windows", windows, WINDOWS))
    if windows != SMALL and start is not None:
        raise ValueError("start has windows of its own: leave windows out.")
    if what == POLICY and (windows != SMALL or opening != OPENING_PLIES):
        raise ValueError("windows and opening are for values, not for policies.")
    if what not in KINDS:
        raise UnknownNameError(unknown_name("what", what, KINDS))
    budget = Budget(minutes, games, rounds)
    loaded = as_game(game)
    state, name = loaded.new_initial_state(), name or loaded.name
    features = _Features(state, name)
    rules = rules_with_board(state)
    budget.begin()
    with shown(progress, budget.view) as tell:
        if rules is not None:
            learner = _learner_on_board(
                rules, what, simulations, seed, jobs, executor, start, windows, opening
            )
            return learn_rounds(learner, budget, tell, fitted)
        if jobs > 1 or start is not None or what == POLICY or windows != SMALL:
            raise UnsupportedGameError(
                f"{name}: several jobs, a policy, other windows, and something to start from, are "
                "for games on compiled rules with a board."
            )
        return _learn_observations(
            features, state, simulations, opening, seed, budget, tell, fitted
        )


VALUE, POLICY = KINDS = ("value", "policy")
"""The kinds of what can be learned."""


def _learner_on_board(
    rules: BaseRules,
    what: str,
    simulations: int,
    seed: int,
    jobs: int,
    executor: Executor | None,
    start: LinearValue | MovePolicy | str | os.PathLike[str] | None,
    windows: str,
    opening: int,
) -> Learner[Any]:
    """The learner on compiled rules with a board."""
    begin = load_learned(start) if isinstance(start, str | os.PathLike) else start
    pool = local_executor(jobs) if executor is None and jobs > 1 else executor
    if what == POLICY:
        if isinstance(begin, LinearValue):
            raise ValueError("start is a value, and a policy is to be learned: give a policy.")
        return PolicyLearner(
            rules, simulations=simulations, seed=seed, jobs=jobs, executor=pool, start=begin
        )
    if isinstance(begin, MovePolicy):
        raise ValueError('start is a policy: say what="policy", or give a value.')
    return BoardLearner(
        rules,
        seed=seed,
        jobs=jobs,
        executor=pool,
        start=begin,
        windows=windows,
        settings=SETTINGS._replace(opening=opening),
    )


def _learn_observations(
    features: "_Features",
    start: GameState,
    simulations: int,
    most_random: int,
    seed: int,
    budget: Budget,
    tell: Callable[[Learned], object] | None,
    fitted: Callable[[LinearValue], object] | None,
) -> LinearValue:
    """Play by searches, and fit a value to all positions so far in each round."""
    draw = np.random.default_rng(seed)
    samples: list[_Sample] = []
    labels: list[NDArray[np.float64]] = []
    value, loss, number = None, float("nan"), 0
    for fit in range(budget.rounds):
        while not budget.is_over(fit, number) or (fit == 0 and number == 0):
            searcher = Searcher(_CONFIG, seed=int(draw.integers(2**31)), evaluator=value)
            played, returns = _played(features, start, searcher, simulations, most_random, draw)
            number += 1
            samples += played
            labels += [
                _label(features.shares(returns - sample.earned), sample.thought)
                for sample in played
            ]
            if tell is not None:
                tell(Learned(number, len(samples), loss, budget.seconds_used))
        if not samples:
            raise ValueError(
                f"There is nothing to learn of {features.game}: its games have no position with a "
                "choice."
            )
        value, loss = features.fitted(samples, labels)
        if not budget.tell(fitted, value):
            break
    assert value is not None
    return value


def rules_with_board(state: GameState) -> BaseRules | None:
    """The compiled rules of a state's game, if they describe a board; else None."""
    found = compiled_form(state)
    return found.rules if found is not None and found.rules.num_board_cells > 0 else None


_CONFIG = SearchConfig.preset("uct").replace(c=0.2)
"""The search that plays itself."""


def _label(outcome: NDArray[np.float64], thought: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mix a game's outcome with the search's values, for the players that it has values of."""
    thought = np.where(np.isnan(thought), outcome, thought)
    return OUTCOME_SHARE * outcome + (1.0 - OUTCOME_SHARE) * thought


def _played(
    features: "_Features",
    start: GameState,
    searcher: Searcher,
    simulations: int,
    most_random: int,
    draw: np.random.Generator,
) -> tuple[list[_Sample], NDArray[np.float64]]:
    """A game of self-play: its positions, and what each player got."""
    state = start.clone()
    samples: list[_Sample] = []
    random_moves = int(draw.integers(most_random + 1))
    begins_at_random = random_moves > 0
    for _ in range(LONGEST_GAME):
        player = int(state.current_player())
        if player == PlayerId.TERMINAL:
            if samples or not begins_at_random:
                return samples, np.array(state.returns(), np.float64)
            state = start.clone()  # It was over before there was anything to learn.
            random_moves, begins_at_random = 0, False
            continue
        if player == PlayerId.CHANCE:
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(draw.choice(outcomes, p=np.divide(chances, sum(chances)))))
            continue
        legal = state.legal_actions()
        if random_moves > 0 or draw.random() < RANDOM_SHARE:
            random_moves -= 1
            state.apply_action(int(draw.choice(legal)))
            continue
        result = searcher.search(state, Limit(simulations=simulations))
        if result.value is not None:
            paid = StateAbilities(state).collected
            earned = np.array(np.zeros(features.players) if paid is None else paid()[0])
            thought = features.thought(player, result.value - earned[player])
            samples.append(_Sample(player, features.of(state), thought, earned))
        state.apply_action(result.action)
    return [], np.zeros(features.players)


class _Features:
    """Features of a game's positions, and the fit of a value to them."""

    def __init__(self, state: GameState, game: str) -> None:
        utilities = bounded_utilities(state)
        if has_simultaneous_moves(state) or utilities is None:
            raise UnsupportedGameError(
                f"{game}: values are learned of games in which one player moves at a time and "
                "utilities are bounded."
            )
        self.game, (self.low, self.high) = game_text(state), utilities
        self.players = int(state.num_players())
        total = StateAbilities(state).utility_sum()
        self.sum: float | None = total if self.players == 2 else None
        self.outputs = 1 if self.sum is not None else self.players
        self.found: dict[tuple[int, int], NDArray[np.float64]] = {}
        """The numbers of the last fit, for each player to move and output."""
        if rules_with_board(state) is None and StateAbilities(state).observation is None:
            raise UnsupportedGameError(f"{game} shows no observations to learn from.")

    def of(self, state: Any) -> NDArray[Any]:
        """The features of a position: its observation."""
        return np.asarray(state.observation(state.current_player()), np.float32).ravel()

    def shares(self, returns: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Shares, in [0, 1], of the winnings possible for each output."""
        shares = (np.array(returns[: self.outputs], np.float64) - self.low) / (self.high - self.low)
        return np.asarray(np.clip(shares, 0.0, 1.0))

    def thought(self, player: int, value: float) -> NDArray[np.float64]:
        """The same of what a search expects for the player to move; NaN for other players."""
        if self.sum is not None:
            return self.shares([value if player == 0 else self.sum - value])
        thought = np.full(self.outputs, np.nan)
        thought[player] = (value - self.low) / (self.high - self.low)
        return np.asarray(np.clip(thought, 0.0, 1.0))

    def fitted(
        self, samples: Sequence[_Sample], labels: Sequence[NDArray[np.float64]]
    ) -> tuple[LinearValue, float]:
        """The value that fits best, and its mean loss."""
        players = np.array([sample.player for sample in samples])
        shown = np.array([sample.features for sample in samples])
        wanted = np.array(labels)
        weights = np.zeros((self.players, self.outputs, shown.shape[1] + 1), np.float32)
        losses = [0.0]
        for player in range(self.players):
            rows = players == player
            if not rows.any():
                continue
            matrix = _plain(shown[rows])
            for output in range(self.outputs):
                target = wanted[rows, output]
                start = self.found.get((player, output))
                found, loss = _regression(matrix, target, start)
                self.found[player, output] = found
                weights[player, output] = found
                losses.append(loss)
        value = LinearValue(
            self.game,
            weights,
            utilities=(self.low, self.high),
            utility_sum=self.sum,
        )
        return value, float(np.mean(losses[1:]))


def _regression(
    matrix: Any, target: NDArray[np.float64], start: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], float]:
    """Numbers for the columns by logistic regression with a penalty, and the mean loss."""
    transposed = matrix.T.tocsr()

    def loss_and_slope(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits = (matrix @ weights.astype(np.float32)).astype(np.float64)
        loss = np.logaddexp(0.0, logits).sum() - target @ logits
        missed = 1.0 / (1.0 + np.exp(-logits)) - target
        slope = (transposed @ missed.astype(np.float32)).astype(np.float64)
        penalty = PENALTY * weights
        penalty[-1] = 0.0  # What is always added is free.
        return float(loss + 0.5 * penalty @ weights), slope + penalty

    first = np.zeros(matrix.shape[1]) if start is None else start
    found = scipy.optimize.minimize(
        loss_and_slope, first, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS}
    )
    logits = matrix @ found.x
    loss = np.logaddexp(0.0, logits) - target * logits
    return found.x, float(loss.mean())


def _plain(shown: NDArray[Any]) -> Any:
    """Observations as a matrix, with a last column of ones."""
    return scipy.sparse.csr_matrix(np.column_stack([shown, np.ones(len(shown))]).astype(np.float32))
