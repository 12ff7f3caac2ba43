"""A value that a game's self-play teaches: logistic regression on how the games end.

The search plays itself, first with playouts to the end, then by the values learned so far. Each
position of these games is labelled half with how the game ended and half with what the search
thought of it, and a ``LinearValue`` is fitted to all of them.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy  # Its parts are loaded when they are first used.
from numpy.typing import NDArray

from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.arguments import answers_unknown_arguments, is_integer
from rave_agents.game.game_state import GameState, PlayerId
from rave_agents.results.numbers import counted
from rave_agents.results.progress import Progress, shown
from rave_agents.results.view import View
from rave_agents.searcher.board_windows import Windows, shapes_for, windows_of
from rave_agents.searcher.linear_value import LinearValue, game_text
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


class Learned(NamedTuple):
    """Progress of learning."""

    games: int
    """Games that were played."""
    positions: int
    """Their positions."""
    loss: float
    """The mean logistic loss of the last fit; NaN before the first."""
    seconds: float
    """Seconds since learning began."""


def learning_view(games: int) -> Callable[[Learned], View]:
    """Views of learning by so many games."""

    def view(learned: Learned) -> View:
        loss = "" if math.isnan(learned.loss) else f", loss {learned.loss:.3f}"
        told = f"{counted(learned.positions, 'position')}{loss}"
        return View(learned.games, games, "", lambda width: told)

    return view


class _Sample(NamedTuple):
    """A position of a game of self-play."""

    player: int
    features: NDArray[Any]
    thought: NDArray[np.float64]
    """The search's value of the position for each output."""
    earned: NDArray[np.float64]
    """Rewards that each player had received before."""


@answers_unknown_arguments
def learn_value(
    game: Any,
    name: str | None = None,
    *,
    games: int = 2000,
    rounds: int = 5,
    simulations: int = 200,
    seed: int = 0,
    progress: Progress[Learned] = None,
    fitted: Callable[[LinearValue], None] | None = None,
) -> LinearValue:
    """Learn a value function by self-play of a game.

    Args:
        game: the game, its name, or a state to begin at, see ``as_game``. One player moves at a
            time, nothing is hidden, and utilities are bounded.
        name: the game's name for messages; None for its own. The value tells the game with all its
            parameters.
        games: games of self-play in all, at least ``rounds``.
        rounds: how often the value is fitted, at least 1, after an equal share of the games each.
        simulations: of each move of self-play, at least 2.
        seed: decides everything random.
        progress: None for a display in a terminal or notebook, False for none, True for one
            anywhere; or a function, which is called after each game.
        fitted: called with the value of each round.

    Raises:
        UnsupportedGameError: for another game, or one without observations.
        TypeError, ValueError: for a number that is not allowed.
    """
    _check("games", games, rounds)
    _check("rounds", rounds, 1)
    _check("simulations", simulations, 2)
    loaded = as_game(game)
    state, name = loaded.new_initial_state(), name or loaded.name
    features = _Features(state, name)
    start, draw = features.start(state), np.random.default_rng(seed)
    samples: list[_Sample] = []
    labels: list[NDArray[np.float64]] = []
    value, loss, begun = None, float("nan"), time.perf_counter()
    with shown(progress, learning_view(games)) as tell:
        for fit in range(rounds):
            for number in range(fit * games // rounds, (fit + 1) * games // rounds):
                searcher = Searcher(_CONFIG, seed=int(draw.integers(2**31)), evaluator=value)
                played, returns = _played(features, start, searcher, simulations, draw)
                samples += played
                labels += [
                    _label(features.shares(returns - sample.earned), sample.thought)
                    for sample in played
                ]
                if tell is not None:
                    seconds = time.perf_counter() - begun
                    tell(Learned(number + 1, len(samples), loss, seconds))
            if not samples:
                raise ValueError(
                    f"There is nothing to learn of {name}: its games have no position with a "
                    "choice."
                )
            value, loss = features.fitted(samples, labels)
            if fitted is not None:
                fitted(value)
    assert value is not None
    return value


_CONFIG = SearchConfig.preset("uct").replace(c=0.2)
"""The search that plays itself."""


def _label(outcome: NDArray[np.float64], thought: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mix a game's outcome with the search's values, for the players that it has values of."""
    thought = np.where(np.isnan(thought), outcome, thought)
    return OUTCOME_SHARE * outcome + (1.0 - OUTCOME_SHARE) * thought


def _check(name: str, number: Any, least: int) -> None:
    if not is_integer(number):
        raise TypeError(f"{name} must be an integer, got {number!r}.")
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}.")


def _played(
    features: "_Features",
    start: GameState,
    searcher: Searcher,
    simulations: int,
    draw: np.random.Generator,
) -> tuple[list[_Sample], NDArray[np.float64]]:
    """A game of self-play: its positions, and what each player got."""
    state = start.clone()
    samples: list[_Sample] = []
    opening = int(draw.integers(OPENING_PLIES + 1))
    for ply in range(LONGEST_GAME):
        player = int(state.current_player())
        if player == PlayerId.TERMINAL:
            return samples, np.array(state.returns(), np.float64)
        if player == PlayerId.CHANCE:
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(draw.choice(outcomes, p=np.divide(chances, sum(chances)))))
            continue
        legal = state.legal_actions()
        if ply < opening or draw.random() < RANDOM_SHARE:
            state.apply_action(int(draw.choice(legal)))
            continue
        result = searcher.search(state, Limit(simulations=simulations))
        if result.value is not None:
            paid = getattr(state, "collected", None)
            earned = np.array(np.zeros(features.players) if paid is None else paid()[0])
            thought = features.thought(player, result.value - earned[player])
            samples.append(_Sample(player, features.of(state), thought, earned))
        state.apply_action(result.action)
    return [], np.zeros(features.players)


class _Features:
    """Features of a game's positions, and the fit of a value to them."""

    def __init__(self, state: GameState, game: str) -> None:
        low, high = float(state.min_utility()), float(state.max_utility())
        moves_in_turn = (
            not hasattr(state, "apply_actions")
            or not getattr(state, "has_simultaneous_moves", lambda: True)()
        )
        hidden = getattr(state, "hides_information", lambda: False)()
        if not (moves_in_turn and not hidden and np.isfinite([low, high]).all() and low < high):
            raise UnsupportedGameError(
                f"{game}: values are learned of games in which one player moves at a time, nothing "
                "is hidden and utilities are bounded."
            )
        self.game, self.low, self.high = game_text(state), low, high
        self.players = int(state.num_players())
        total = getattr(state, "utility_sum", lambda: None)()
        self.sum: float | None = total if self.players == 2 else None
        self.outputs = 1 if self.sum is not None else self.players
        rules = getattr(self.start(state), "rules", None)
        self.found: dict[tuple[int, int], NDArray[np.float64]] = {}
        """The numbers of the last fit, for each player to move and output."""
        self.board: tuple[int, int, int] | None = None
        self.shapes: tuple[tuple[int, int], ...] = ()
        if rules is not None and rules.num_board_cells > 0:
            self.game = str(rules)
            self.board = (*rules.board_shape, rules.cell_kinds)
            self.shapes = shapes_for(rules)
        elif getattr(state, "observation", None) is None:
            raise UnsupportedGameError(f"{game} shows no observations to learn from.")

    def start(self, state: GameState) -> Any:
        """The position on compiled rules if there are any with a board: that is faster."""
        found = getattr(state, "on_compiled_rules", lambda: None)()
        fits = found is not None and found.rules.num_board_cells > 0
        return found if fits else state

    def of(self, state: Any) -> NDArray[Any]:
        """The features of a position: the cells of its board, or its observation."""
        if self.board is None:
            return np.asarray(state.observation(state.current_player()), np.float32).ravel()
        cells = np.zeros(state.rules.num_board_cells, np.int8)
        state.rules.describe_board(state.record, cells)
        return cells

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
        width = shown.shape[1]
        windows = None if self.board is None else windows_of(*self.board, self.shapes)
        columns = (width if windows is None else windows.size) + 1
        weights = np.zeros((self.players, self.outputs, columns), np.float32)
        losses = [0.0]
        for player in range(self.players):
            rows = players == player
            if not rows.any():
                continue
            matrix = _plain(shown[rows]) if windows is None else _nested(windows, shown[rows])
            for output in range(self.outputs):
                target = wanted[rows, output]
                start = self.found.get((player, output))
                found, loss = _regression(matrix, target, start)
                self.found[player, output] = found
                weights[player, output] = found if windows is None else _unnested(windows, found)
                losses.append(loss)
        value = LinearValue(
            self.game,
            weights,
            utilities=(self.low, self.high),
            utility_sum=self.sum,
            board=self.board,
            shapes=self.shapes,
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


def _nested(windows: Windows, boards: NDArray[np.int8]) -> Any:
    """A matrix of what the windows show, of the same wherever it is shown, and of each cell.

    The last two teach what few positions show in one place; ``_unnested`` puts all together.
    """
    groups = _column_groups(windows)
    places = windows.places(boards)
    cells = np.arange(boards.shape[1]) * windows.kinds + boards
    columns = np.concatenate(
        [places, windows.size + groups[places], _first_cell(windows) + cells], axis=1
    )
    total = _first_cell(windows) + boards.shape[1] * windows.kinds + 1
    columns = np.column_stack([columns, np.full(len(boards), total - 1)])
    pointers = np.arange(0, columns.size + 1, columns.shape[1])
    ones = np.ones(columns.size, np.float32)
    columns = columns.astype(np.int32).ravel()
    return scipy.sparse.csr_matrix((ones, columns, pointers), shape=(len(boards), total))


def _unnested(windows: Windows, found: NDArray[np.float64]) -> NDArray[np.float64]:
    """The numbers of the windows alone that come to the same sum for every board."""
    size = windows.size
    weights = found[:size] + found[size : _first_cell(windows)][_column_groups(windows)]
    cells = found[_first_cell(windows) : -1].reshape(-1, windows.kinds)
    for cell, window, contents in _holders(windows, len(cells)):
        weights[window : window + len(contents)] += cells[cell][contents]
    return np.append(weights, found[-1])


def _column_groups(windows: Windows) -> NDArray[np.int64]:
    """The number of each window's content, whatever the window."""
    groups, first = [], 0
    for cells in windows.cells:
        contents = windows.contents(cells)
        groups.append(np.tile(np.arange(first, first + contents), len(cells)))
        first += contents
    return np.concatenate(groups)


def _first_cell(windows: Windows) -> int:
    """The first column of single cells."""
    return windows.size + sum(windows.contents(cells) for cells in windows.cells)


def _holders(windows: Windows, count: int) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    """Each cell, the first number of a window with it, and the cell's kind in each content."""
    for cell in range(count):
        for start, cells in zip(windows.starts, windows.cells, strict=False):
            found = np.argwhere(cells == cell)
            if len(found) > 0:
                window, place = found[0]
                size = windows.contents(cells)
                power = windows.kinds ** (cells.shape[1] - 1 - place)
                yield cell, start + int(window) * size, np.arange(size) // power % windows.kinds
                break
