"""The features of a learned value on a board: the contents of windows of a few shapes."""

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.game.arguments import is_integer
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.games.kit.values import with_judge

MOST_CONTENTS = 1000
"""Contents that a window may have at most."""

MOST_SHAPES = 16
"""Shapes of windows that a value may have."""

MOST_CELLS = 16
"""Cells that a window may have."""

SHAPES = (((2, 3), (3, 2)), ((2, 2),), ((1, 2), (2, 1)), ((1, 1),))
"""Rows and columns of windows: the first row of this table counts whose contents are not too
many."""


class Windows(NamedTuple):
    """The windows of a board."""

    cells: tuple[NDArray[np.int64], ...]
    """Cells of the board in each window, [windows, cells of one] for each shape."""
    kinds: int
    """The number of different contents of a cell."""

    @property
    def starts(self) -> list[int]:
        """The place of each shape's first window's first number."""
        sizes = [len(cells) * self.contents(cells) for cells in self.cells]
        return [0, *np.cumsum(sizes).tolist()]

    def contents(self, cells: NDArray[np.int64]) -> int:
        """The number of different contents of a window of a shape."""
        return int(self.kinds ** cells.shape[1])

    @property
    def size(self) -> int:
        """The number of weights for one player to move, one for each window's content."""
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


def shapes_for(rules: BaseRules) -> tuple[tuple[int, int], ...]:
    """The shapes of a game's windows."""
    rows, columns = rules.board_shape
    for shapes in SHAPES:
        fits = all(height <= rows and width <= columns for height, width in shapes)
        if fits and rules.cell_kinds ** (shapes[0][0] * shapes[0][1]) <= MOST_CONTENTS:
            return shapes
    return SHAPES[-1]


def checked_windows(board: Any, shapes: Any) -> int:
    """The size of ``windows_of``, before anything of that size is made; refused if impossible."""
    if len(board) != 3 or not all(is_integer(number) and number > 0 for number in board):
        raise ValueError(f"board must be rows, columns and kinds of cells, got {board!r}.")
    rows, columns, kinds = board
    if not 0 < len(shapes) <= MOST_SHAPES:
        raise ValueError(f"There must be from 1 to {MOST_SHAPES} shapes, got {len(shapes)}.")
    size = 0
    for shape in shapes:
        fits = len(shape) == 2 and 0 < shape[0] <= rows and 0 < shape[1] <= columns
        if not fits or shape[0] * shape[1] > MOST_CELLS or kinds > MOST_CONTENTS:
            raise ValueError(f"Windows of the shape {shape!r} do not fit the board {board!r}.")
        contents = kinds ** (shape[0] * shape[1])
        size += (rows - shape[0] + 1) * (columns - shape[1] + 1) * contents
    return int(size)


@functools.lru_cache(maxsize=64)
def judged_rules(
    rules: BaseRules, shapes: tuple[tuple[int, int], ...], shape: tuple[int, int, int]
) -> BaseRules:
    """A game's rules with windows of these shapes, and weights of that shape, to judge by."""
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
    for place in range(rows * columns):
        if not 0 <= cells[place] < self.cell_kinds:  # There are no weights for such a cell.
            returns[0] = np.nan
            return
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
