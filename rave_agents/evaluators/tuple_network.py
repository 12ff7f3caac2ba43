"""The features of a learned value on a board: the contents of tuples of cells."""

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rave_agents.game.arguments import is_integer
from rave_agents.games.alignment import lines_of
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.games.kit.tuples import judge_tuples
from rave_agents.games.kit.values import with_judge

MOST_CONTENTS = 1000
"""Contents that a window may have at most."""

MOST_CONTENTS_OF_LARGE = 3**8
"""Contents that a large window may have at most."""

SHORTEST_LINE, LONGEST_LINE = 4, 8
"""Cells of the lines among large windows."""

WORD = 8
"""Bytes at whose multiples numbers lie."""

MOST_CELLS = 16
"""Cells that a tuple may have."""

MOST_TUPLES = 4096
"""Tuples that a network may have."""

MOST_STAGES = 8
"""Stages of a game that a network may tell apart."""

MOST_NUMBERS = 1 << 26
"""Numbers that a row may have."""

PADDING = -1
"""Mark after the last cell of a tuple that has fewer than others."""

SHAPES = (((2, 3), (3, 2)), ((2, 2),), ((1, 2), (2, 1)), ((1, 1),))
"""Rows and columns of windows: the first row of this table counts whose contents are not too
many."""

Cells = tuple[int, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Network:
    """The tuples of a board, and the place of each content's number. Refused if impossible."""

    board: tuple[int, int, int]
    """Rows, columns and kinds of cells."""
    cells: NDArray[np.int16]
    """[views, tuples, cells] the cells of each tuple; one view, or one for each of two players who
    share numbers."""
    tables: NDArray[np.int32]
    """[tuples] the first number of each tuple's table in a row."""
    kinds: NDArray[np.int8]
    """[views, kinds] what each kind of cells is to a view."""
    stages: tuple[int, ...] = ()
    """Numbers of cells that are not of the first kind from which a further stage begins."""

    def __post_init__(self) -> None:
        _check(self)

    @property
    def shared(self) -> bool:
        """True if both players share numbers: their value is that of who is to move."""
        return len(self.cells) > 1

    @functools.cached_property
    def lengths(self) -> NDArray[np.int64]:
        """[tuples] the number of each one's cells."""
        return np.asarray((self.cells[0] != PADDING).sum(axis=1))

    @functools.cached_property
    def size(self) -> int:
        """Numbers of a row, for all contents of all tables, without the one always added."""
        return int((self.tables + self.board[2] ** self.lengths).max())

    @functools.cached_property
    def powers(self) -> NDArray[np.int32]:
        """[tuples, cells] what the kind of each cell adds to a place; 0 for padding."""
        exponents = self.lengths[:, None] - 1 - np.arange(self.cells.shape[2])
        powers = np.where(exponents < 0, 0, self.board[2] ** np.maximum(exponents, 0))
        return powers.astype(np.int32)

    @functools.cached_property
    def stage_by_filled(self) -> NDArray[np.int64]:
        """The stage for each number of cells that are not of the first kind."""
        filled = np.arange(self.board[0] * self.board[1] + 1)
        return np.searchsorted(np.array(self.stages, np.int64), filled, side="right")

    def row_of(self, player: int, board: NDArray[np.int8]) -> int:
        """The number of the row for a player to move."""
        stage = int(self.stage_by_filled[np.count_nonzero(board)])
        return stage if self.shared else player * (len(self.stages) + 1) + stage

    def places(self, player: int, boards: NDArray[np.int8]) -> NDArray[np.int64]:
        """[positions, tuples] the place in a row of the number for what each tuple shows.

        Args:
            player: to move.
            boards: [positions, cells] what the cells hold.
        """
        view = player if self.shared else 0
        seen = self.kinds[view][boards].astype(np.int64)
        contents: NDArray[np.int64] = (seen[:, self.cells[view]] * self.powers).sum(axis=2)
        return contents + self.tables

    @functools.cached_property
    def key(self) -> tuple[Any, ...]:
        """Equal for equal networks."""
        arrays = self.cells, self.tables, self.kinds
        return (self.board, self.stages, *((each.shape, each.tobytes()) for each in arrays))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Network) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @classmethod
    def of_tuples(
        cls,
        board: tuple[int, int, int],
        groups: Iterable[Sequence[Cells]],
        exchange: tuple[NDArray[np.int64], Sequence[int]] | None = None,
        stages: tuple[int, ...] = (),
    ) -> Self:
        """A network of groups of tuples.

        Args:
            board: rows, columns and kinds of cells.
            groups: tuples of as many cells each, which share a table.
            exchange: for players who share numbers, each cell's and each kind's image where they
                change places; None for numbers of each player's own.
            stages: see the fields.
        """
        cells: list[Cells] = []
        tables: list[int] = []
        first = 0
        for group in groups:
            cells += group
            tables += [first] * len(group)
            first += board[2] ** len(group[0])
        longest = max(map(len, cells))
        padded = np.array([(*each, *[PADDING] * (longest - len(each))) for each in cells], np.int16)
        views, kinds = padded[None], np.arange(board[2], dtype=np.int8)[None]
        if exchange is not None:
            images = np.append(exchange[0], PADDING)[padded]
            views = np.stack([padded, images]).astype(np.int16)
            kinds = np.stack([kinds[0], np.array(exchange[1], np.int8)])
        return cls(board, views, np.array(tables, np.int32), kinds, stages)


def windows(rows: int, columns: int, shapes: Iterable[tuple[int, int]]) -> list[Cells]:
    """The windows of a board of these shapes: their cells, row after row."""
    found = []
    for height, width in shapes:
        for row, column in itertools.product(range(rows - height + 1), range(columns - width + 1)):
            inside = itertools.product(range(row, row + height), range(column, column + width))
            found.append(tuple(down * columns + right for down, right in inside))
    return found


def strips_of(rows: int, columns: int) -> list[Cells]:
    """Two lines of four cells beside each other, wherever they fit: straight, and along diagonals.

    So every line of four cells is within a tuple.
    """
    found = windows(rows, columns, [(2, 4), (4, 2)])
    for row, column, lean in itertools.product(range(rows - 3), range(columns), (1, -1)):
        cells = [(row + down, column + lean * down + on) for down in range(4) for on in (0, 1)]
        if all(0 <= each < columns for _, each in cells):
            found.append(tuple(down * columns + each for down, each in cells))
    return found


def windows_of(board: tuple[int, int, int], shapes: Iterable[tuple[int, int]]) -> Network:
    """The network of a board's windows, each with a table of its own."""
    return Network.of_tuples(board, [[cells] for cells in windows(*board[:2], shapes)])


def shapes_for(rules: BaseRules) -> tuple[tuple[int, int], ...]:
    """The shapes of a game's windows."""
    rows, columns = rules.board_shape
    for shapes in SHAPES:
        fits = all(height <= rows and width <= columns for height, width in shapes)
        if fits and rules.cell_kinds ** (shapes[0][0] * shapes[0][1]) <= MOST_CONTENTS:
            return shapes
    return SHAPES[-1]


def small_windows(rules: BaseRules) -> list[Cells]:
    """Windows of two by three cells and three by two, or fewer cells: see ``shapes_for``."""
    return windows(*rules.board_shape, shapes_for(rules))


def long_lines(rows: int, columns: int) -> list[Cells]:
    """Rows, columns and diagonals of four cells or more; of longer ones each eight in a row."""
    lines = [cells for _, cells in lines_of((rows, columns), wrap=False)]
    return [
        tuple(cells[start : start + LONGEST_LINE])
        for cells in lines
        if len(cells) >= SHORTEST_LINE
        for start in range(max(1, len(cells) - LONGEST_LINE + 1))
    ]


def large_windows(rules: BaseRules) -> list[Cells]:
    """Windows of two by four cells and four by two.

    Raises:
        ValueError: where none fits, or their contents are too many.
    """
    rows, columns = rules.board_shape
    found = windows(rows, columns, [(2, 4), (4, 2)])
    if not found:
        raise ValueError(
            f"Large windows are of 2 x 4 cells: none fits on {rows} x {columns}. Take 'small'."
        )
    if rules.cell_kinds**8 > MOST_CONTENTS_OF_LARGE:
        raise ValueError(
            "Large windows are for cells of three kinds at most, such as empty, black and white; "
            f"those of {rules} are of {rules.cell_kinds}. Take 'small'."
        )
    return found


def tied(tuples: Iterable[Cells], symmetries: Sequence[NDArray[np.int64]]) -> list[list[Cells]]:
    """Groups of tuples: each with its images, one for each set of cells.

    Args:
        tuples: the tuples; those that are images of others before them are left out.
        symmetries: each cell's image, for each symmetry but the identity.
    """
    groups: list[list[Cells]] = []
    seen: set[frozenset[int]] = set()
    for cells in tuples:
        if frozenset(cells) in seen:
            continue
        images = [cells, *(tuple(image[list(cells)].tolist()) for image in symmetries)]
        group = list({frozenset(image): image for image in reversed(images)}.values())
        seen.update(map(frozenset, group))
        groups.append(group)
    return groups


def random_tuples(
    shape: tuple[int, int], count: int, length: int, draw: np.random.Generator
) -> list[Cells]:
    """Tuples of neighbouring cells: random walks that enter no cell twice (Lucas 2008)."""
    rows, columns = shape
    found = []
    for _ in range(count):
        walk = [(int(draw.integers(rows)), int(draw.integers(columns)))]
        while len(walk) < min(length, rows * columns):
            near = [
                (row + down, column + right)
                for row, column in walk
                for down, right in itertools.product((-1, 0, 1), repeat=2)
                if 0 <= row + down < rows and 0 <= column + right < columns
            ]
            new = sorted(set(near) - set(walk))
            walk.append(new[int(draw.integers(len(new)))])
        found.append(tuple(row * columns + column for row, column in sorted(walk)))
    return found


def _check(network: Network) -> None:
    """Refuse a network that compiled code could not use, before anything of its size is made."""
    board, cells, tables, kinds = network.board, network.cells, network.tables, network.kinds
    if len(board) != 3 or not all(is_integer(number) and number > 0 for number in board):
        raise ValueError(f"board must be rows, columns and kinds of cells, got {board!r}.")
    if board[2] > MOST_CONTENTS or board[0] * board[1] > np.iinfo(np.int16).max:
        raise ValueError(f"The board {board!r} is too large.")
    views, tuples, longest = cells.shape if cells.ndim == 3 else (0, 0, 0)
    if views not in (1, 2) or not 0 < tuples <= MOST_TUPLES or not 0 < longest <= MOST_CELLS:
        raise ValueError(f"The tuples do not fit: their shape is {cells.shape}.")
    outside = ((cells < 0) | (cells >= board[0] * board[1])) & (cells != PADDING)
    padded = cells == PADDING
    if outside.any() or padded[:, :, 0].any() or (padded[:, :, :-1] & ~padded[:, :, 1:]).any():
        raise ValueError("Tuples must have cells of the board, and padding after them alone.")
    if (padded != padded[:1]).any():
        raise ValueError("Tuples must be as long for all players.")
    if tables.shape != (tuples,) or tables.min() < 0 or tables.max() > MOST_NUMBERS:
        raise ValueError("Each tuple must have a table.")
    if longest * np.log(board[2]) > np.log(MOST_NUMBERS) or network.size > MOST_NUMBERS:
        raise ValueError("The tuples have too many contents.")
    fits = kinds.shape == (views, board[2])
    if not fits or (np.sort(kinds, axis=1) != np.arange(board[2])).any():
        raise ValueError("Each player must see each kind of cells as another one.")
    rising = list(network.stages) == sorted({*network.stages})
    if not all(map(is_integer, network.stages)) or not rising or len(network.stages) >= MOST_STAGES:
        raise ValueError(f"Stages must begin at ascending numbers, got {network.stages!r}.")


def entries_by_cell(
    network: Network, num_cells: int
) -> tuple[NDArray[np.int32], NDArray[np.uint32], NDArray[np.int32]]:
    """The tuples that each cell is in, for each view of the board.

    Returns:
        The first entry of each cell, views after one another, and the end; and of each entry the
        tuple, and what the content of the cell counts in its place.
    """
    starts, tuples, powers = [0], [], []
    for view in network.cells:
        inside = view.ravel()
        counted = np.broadcast_to(network.powers, view.shape).ravel()
        of_tuple = np.repeat(np.arange(view.shape[0]), view.shape[1])
        for cell in range(num_cells):
            at = inside == cell
            tuples += of_tuple[at].tolist()
            powers += counted[at].tolist()
            starts.append(len(tuples))
    # As an unsigned integer, a place needs no check for a negative index.
    return np.array(starts, np.int32), np.array(tuples, np.uint32), np.array(powers, np.int32)


@functools.lru_cache(maxsize=64)
def judged_rules(rules: BaseRules, network: Network, shape: tuple[int, int, int]) -> BaseRules:
    """A game's rules with tuples, and rows of numbers of that shape, to judge by."""
    views = len(network.cells)
    from_, tuples, powers = entries_by_cell(network, rules.num_board_cells)
    aligned = -(-rules.num_board_cells // WORD) * WORD
    bytes_of_view = aligned + -(-4 * int(network.cells.shape[1]) // WORD) * WORD
    return with_judge(
        rules,
        judge_tuples,
        judging_room=aligned - rules.num_board_cells + views * bytes_of_view,
        memory_from=aligned,
        bytes_of_view=bytes_of_view,
        entries_from=from_,
        entry_tuples=tuples,
        entry_powers=powers,
        tuple_tables=network.tables.astype(np.uint32),
        seen_kinds=network.kinds.ravel(),
        stage_by_filled=network.stage_by_filled,
        players_share=network.shared,
        num_tuples=int(network.cells.shape[1]),
        num_stages=len(network.stages) + 1,
        num_outputs=shape[1],
        num_features=shape[2],
        num_weights=int(np.prod(shape)),
        constant_sum=float(rules.utility_sum or 0.0),
    )
