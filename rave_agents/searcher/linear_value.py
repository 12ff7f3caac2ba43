"""A learned value of positions: linear in what a board shows, through the logistic function.

``LinearValue`` is what ``rave-agents learn`` writes to a file. Its features are, in games of
compiled rules, the contents of all windows of the board of a few shapes, such as two rows of three
cells: an n-tuple network (Bledsoe & Browning 1959; Lucas 2008 for Othello). Each has a number of
its own for each content and each player to move. In other games they are the entries of the
observation tensor of the player to move.
"""

import functools
import os
import zipfile
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import as_game_state
from rave_agents.game.game_state import PlayerId
from rave_agents.games.rules import Rules
from rave_agents.games.values import JudgedRules, with_judge

MOST_CONTENTS = 1000
"""Contents that a window may have at most."""

SHAPES = (((2, 3), (3, 2)), ((2, 2),), ((1, 2), (2, 1)), ((1, 1),))
"""Rows and columns of windows: the first row of this table counts whose contents are not too
many."""

FORMAT = 1
"""The number of the files' format."""


class Windows(NamedTuple):
    """The windows of a board."""

    cells: tuple[NDArray[np.int64], ...]
    """For each shape [windows, cells of one] the board's cells in each window."""
    kinds: int
    """How many different things a cell may hold."""

    @property
    def starts(self) -> list[int]:
        """For each shape the place of its first window's first number."""
        sizes = [len(cells) * self.contents(cells) for cells in self.cells]
        return [0, *np.cumsum(sizes).tolist()]

    def contents(self, cells: NDArray[np.int64]) -> int:
        """How many contents a window of a shape may have."""
        return int(self.kinds ** cells.shape[1])

    @property
    def size(self) -> int:
        """How many numbers there are for one player to move, one for each window's content."""
        return self.starts[-1]

    def places(self, boards: NDArray[np.int8]) -> NDArray[np.int32]:
        """[positions, windows] where the number of what each window shows is.

        Args:
            boards: [positions, cells] what the cells hold.
        """
        found = []
        for start, cells in zip(self.starts, self.cells, strict=False):
            powers = self.kinds ** np.arange(cells.shape[1])[::-1]
            contents = (boards[:, cells].astype(np.int32) * powers.astype(np.int32)).sum(
                axis=2, dtype=np.int32
            )
            found.append(
                start + np.arange(len(cells), dtype=np.int32) * self.contents(cells) + contents
            )
        return np.concatenate(found, axis=1)


@functools.cache
def windows_of(rows: int, columns: int, kinds: int, shapes: tuple[tuple[int, int], ...]) -> Windows:
    """The windows of a board of these shapes."""
    found = []
    for height, width in shapes:
        square = np.add.outer(np.arange(height) * columns, np.arange(width)).ravel()
        first = np.add.outer(
            np.arange(rows - height + 1) * columns, np.arange(columns - width + 1)
        ).ravel()
        found.append(first[:, None] + square)
    return Windows(tuple(found), kinds)


def shapes_for(rules: Rules) -> tuple[tuple[int, int], ...]:
    """The shapes of a game's windows."""
    rows, columns = rules.board_shape
    for shapes in SHAPES:
        fits = all(height <= rows and width <= columns for height, width in shapes)
        if fits and rules.cell_kinds ** (shapes[0][0] * shapes[0][1]) <= MOST_CONTENTS:
            return shapes
    return SHAPES[-1]


class LinearValue:
    """A learned value function; ``value=`` takes it, or the path of its file.

    Args:
        game: the game that it was learned on, as text. Where a board is given, it is the rules',
            and the value fits rules of that name alone.
        weights: [players to move, outputs, features + 1] the numbers, the last of each row added
            always. One output is player 0's share of what can be won in a game of two players with
            a constant sum; else there is one for each player.
        utilities: the least and the greatest utility.
        utility_sum: the sum of two players' utilities; None if it varies or there are others.
        board: rows, columns and kinds of cells where windows are the features; None for the
            entries of observation tensors.
        shapes: rows and columns of the windows.
    """

    def __init__(
        self,
        game: str,
        weights: NDArray[np.float32],
        *,
        utilities: tuple[float, float],
        utility_sum: float | None,
        board: tuple[int, int, int] | None = None,
        shapes: tuple[tuple[int, int], ...] = (),
    ) -> None:
        self.game = game
        self.weights: NDArray[np.float32] = np.ascontiguousarray(weights, np.float32)
        self.utilities = utilities
        self.utility_sum = utility_sum
        self.board = board
        self.shapes = shapes
        expected = None if board is None else windows_of(*board, shapes).size + 1
        if self.weights.ndim != 3 or expected not in (None, self.weights.shape[2]):
            raise ValueError(f"The weights do not fit: their shape is {self.weights.shape}.")
        if not np.isfinite(self.weights).all():
            raise ValueError("The weights of a value must be finite numbers.")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file of NumPy's format npz."""
        with open(path, "wb") as file:
            np.savez_compressed(
                file,
                format=FORMAT,
                game=self.game,
                weights=self.weights,
                utilities=self.utilities,
                utility_sum=np.nan if self.utility_sum is None else self.utility_sum,
                board=() if self.board is None else self.board,
                shapes=np.array(self.shapes, np.int64).reshape(-1, 2),
            )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what ``save`` has written.

        Raises:
            OSError: if there is no such file.
            ValueError: if it is not a learned value.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                if int(file["format"]) != FORMAT:
                    raise ValueError("it has another format")
                total = float(file["utility_sum"])
                low, high = file["utilities"].tolist()
                return cls(
                    str(file["game"]),
                    file["weights"],
                    utilities=(low, high),
                    utility_sum=None if np.isnan(total) else total,
                    board=tuple(file["board"].astype(int).tolist()) or None,
                    shapes=tuple(map(tuple, file["shapes"].tolist())),
                )
        except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(
                f"{os.fspath(path)!r} is not a learned value, as rave-agents learn writes: {error}."
            ) from error

    def __call__(self, state: Any) -> list[float]:
        """Every player's expected return, of a state where a player is to move.

        Raises:
            UnsupportedGameError: if it was learned on another game.
        """
        found = as_game_state(state)
        player = int(found.current_player())
        player = 0 if player == PlayerId.SIMULTANEOUS else player
        bounds = float(found.min_utility()), float(found.max_utility())
        same = found.num_players() == len(self.weights) and bounds == self.utilities
        self._check(same, found)
        if self.board is None:
            observation = getattr(found, "observation", None)
            if observation is None:
                raise UnsupportedGameError("A learned value needs a game that shows observations.")
            features = np.append(
                np.asarray(observation(player), np.float32).ravel(), np.float32(1.0)
            )
            self._check(len(features) == self.weights.shape[2], found)
            return self._utilities(self.weights[player] @ features, found.num_players())
        on_rules: Any = getattr(found, "on_compiled_rules", lambda: None)()
        self._check(on_rules is not None and self._fits(on_rules.rules), found)
        cells = np.zeros(on_rules.rules.num_board_cells, np.int8)
        on_rules.rules.describe_board(on_rules.record, cells)
        places = windows_of(*self.board, self.shapes).places(cells[None])[0]
        logits = self.weights[player][:, places].sum(axis=1) + self.weights[player][:, -1]
        return self._utilities(logits, found.num_players())

    def judged(self, rules: Rules) -> JudgedRules | None:
        """A game's rules with this value compiled; None where observations are the features.

        Raises:
            UnsupportedGameError: if it was learned on another game.
        """
        if self.board is None:
            return None
        self._check(self._fits(rules), rules)
        return JudgedRules(_judged(rules, self.shapes, self.weights.shape), self.weights.ravel())

    def _fits(self, rules: Rules) -> bool:
        board, name = (*rules.board_shape, rules.cell_kinds), str(rules).partition("(")[0]
        same = board == self.board and name == self.game.partition("(")[0]
        return same and len(self.weights) == rules.num_players

    def _check(self, fits: bool, game: Any) -> None:
        if not fits:
            raise UnsupportedGameError(
                f"This value was learned on {self.game}: it does not fit this game."
            )

    def _utilities(self, logits: NDArray[Any], players: int) -> list[float]:
        low, high = self.utilities
        values = (low + (high - low) / (1.0 + np.exp(-logits))).tolist()
        if len(values) < players:
            assert self.utility_sum is not None
            values.append(self.utility_sum - values[0])
        return [float(value) for value in values]


@functools.lru_cache(maxsize=64)
def _judged(
    rules: Rules, shapes: tuple[tuple[int, int], ...], shape: tuple[int, int, int]
) -> Rules:
    return with_judge(
        rules,
        judge_windows,
        window_shapes=np.array(shapes, np.int64),
        num_window_shapes=len(shapes),
        num_outputs=shape[1],
        num_features=shape[2],
        num_weights=int(np.prod(shape)),
        constant_sum=float(rules.utility_sum or 0.0),
    )


def judge_windows(self: Any, state: Any, cells: Any, weights: Any, returns: Any) -> None:
    """``Rules.judge`` by a ``LinearValue``: one number for each window, the rest as above."""
    self.describe_board(state, cells)
    rows, columns = self.board_shape
    low, high = self.min_utility, self.max_utility
    for output in range(self.num_outputs):
        start = (self.player(state) * self.num_outputs + output) * self.num_features
        total = weights[start + self.num_features - 1]
        for shape in range(self.num_window_shapes):
            height, width = self.window_shapes[shape, 0], self.window_shapes[shape, 1]
            contents = self.cell_kinds ** (height * width)
            for row in range(rows - height + 1):
                for column in range(columns - width + 1):
                    content = np.int64(0)
                    for down in range(height):
                        for right in range(width):
                            cell = np.int64(cells[(row + down) * columns + column + right])
                            content = content * self.cell_kinds + cell
                    total += weights[start + content]
                    start += contents
        returns[output] = low + (high - low) / (1.0 + np.exp(-total))
    if self.num_outputs < self.num_players:
        returns[1] = self.constant_sum - returns[0]
