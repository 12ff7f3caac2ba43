"""The features of a learned value on a board: the contents of tuples of cells (n-tuples)."""

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rave_agents.evaluators.symmetries import image_under, symmetries_of
from rave_agents.evaluators.tuples import judge_tuples
from rave_agents.game.arguments import is_integer
from rave_agents.games.coordinates import lines_of
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.games.kit.values import with_judge

WINDOWS = SMALL, LARGE, LINES, STRIPS = ("small", "large", "lines", "strips")
"""The sets of windows, see ``network_for``."""

SHAPES = (((2, 3), (3, 2)), ((2, 2),), ((1, 2), (2, 1)), ((1, 1),))
"""Rows and columns of small windows: the first entry that fits and has few enough contents."""

MOST_CONTENTS, MOST_CONTENTS_OF_LARGE = 1000, 3**8
"""The maximum number of contents of a small and of a large window."""

SHORTEST_LINE, LONGEST_LINE = 4, 8
"""Cells of lines."""

MOST_CELLS, MOST_TUPLES, MOST_NUMBERS = 16, 4096, 1 << 26
"""Limits: cells of a tuple, tuples, and weights of a row."""

PADDING = -1
"""Entry after the last cell of a tuple that is shorter than others."""

WORD = 8
"""Alignment of arrays in bytes."""

Cells = tuple[int, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class TupleNetwork:
    """The tuples of a board, and the place of the weight of each content. Checked when made."""

    board: tuple[int, int, int]
    """Rows, columns and kinds of cells."""
    cells: NDArray[np.int16]
    """[views, tuples, cells] the cells of each tuple; one view, or two if two players share
    weights: the second shows the board as player 0 would see player 1's."""
    tables: NDArray[np.int32]
    """[tuples] the first weight of each tuple's table in a row."""
    kinds: NDArray[np.int8]
    """[views, kinds] each kind of cell as a view sees it."""

    def __post_init__(self) -> None:
        _check(self)

    @property
    def shared(self) -> bool:
        """True if both players share weights: the value is that of the player to move."""
        return len(self.cells) > 1

    @functools.cached_property
    def lengths(self) -> NDArray[np.int64]:
        """[tuples] the number of cells of each."""
        return np.asarray((self.cells[0] != PADDING).sum(axis=1))

    @functools.cached_property
    def size(self) -> int:
        """Weights of a row: of all contents of all tables, without the bias."""
        return int((self.tables + self.board[2] ** self.lengths).max())

    @functools.cached_property
    def powers(self) -> NDArray[np.int32]:
        """[tuples, cells] the factor of each cell's kind in a place: 1, kinds, kinds² ..."""
        # The first cell is the highest digit of a content, a number in base ``kinds``.
        exponents = self.lengths[:, None] - 1 - np.arange(self.cells.shape[2])
        powers = np.where(exponents < 0, 0, self.board[2] ** np.maximum(exponents, 0))
        return powers.astype(np.int32)

    def places(self, player: int, boards: NDArray[np.int8]) -> NDArray[np.int64]:
        """[positions, tuples] the place in a row of the weight for each tuple's content.

        Args:
            player: the player to move.
            boards: [positions, cells] the kinds of the cells.
        """
        # Powers of padding are 0, so that the cell -1 that it reads adds nothing.
        view = player if self.shared else 0
        seen = self.kinds[view][boards].astype(np.int64)
        contents: NDArray[np.int64] = (seen[:, self.cells[view]] * self.powers).sum(axis=2)
        return contents + self.tables

    @functools.cached_property
    def key(self) -> tuple[Any, ...]:
        """Equal for equal networks."""
        arrays = self.cells, self.tables, self.kinds
        return (self.board, *((each.shape, each.tobytes()) for each in arrays))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TupleNetwork) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @classmethod
    def of_tuples(
        cls,
        board: tuple[int, int, int],
        groups: Iterable[Sequence[Cells]],
        exchange: tuple[NDArray[np.int64], Sequence[int]] | None = None,
    ) -> Self:
        """A network of groups of tuples.

        Args:
            board: rows, columns and kinds of cells.
            groups: tuples of the same length, which share a table.
            exchange: each cell's and each kind's image when players change places, if they share
                weights; else None.
        """
        cells: list[Cells] = []
        tables: list[int] = []
        first = 0
        for group in groups:
            cells += group
            tables += [first] * len(group)
            first += board[2] ** len(group[0])
        views = padded_views(cells, None if exchange is None else exchange[0])
        kinds = np.arange(board[2], dtype=np.int8)[None]
        if exchange is not None:
            kinds = np.stack([kinds[0], np.array(exchange[1], np.int8)])
        return cls(board, views, np.array(tables, np.int32), kinds)


def padded_views(cells: Sequence[Cells], image: NDArray[np.int64] | None) -> NDArray[np.int16]:
    """[views, tuples, cells] tuples as ``TupleNetwork.cells``, and their images as second view."""
    longest = max(map(len, cells))
    padded = np.array([(*each, *[PADDING] * (longest - len(each))) for each in cells], np.int16)
    if image is None:
        return padded[None]
    # PADDING is -1: the last entry of the images maps it to itself.
    return np.stack([padded, np.append(image, PADDING)[padded]]).astype(np.int16)


def network_for(rules: BaseRules, *, windows: str = SMALL) -> TupleNetwork:
    """The network that learns a game, by the windows of its board.

    Tuples that a symmetry of the board maps to each other share a table. If the rules say how
    players change places (``BaseRules.exchange``), players share all tables, but not those of
    strips: these are for games such as Connect Four, where the same line is worth something else to
    the player who moves first.

    Args:
        rules: the game.
        windows: ``"small"`` for two by three cells, or fewer if these have too many contents;
            ``"large"`` for two by four; ``"lines"`` for large ones, and rows, columns and diagonals
            of up to eight cells; ``"strips"`` for two adjacent lines of four cells, straight or
            diagonal, and the same rows, columns and diagonals.

    Raises:
        ValueError: if none fits on the board, or it has too many kinds of cells.
    """
    rows, columns = rules.board_shape
    tuples = {SMALL: _small_windows, STRIPS: _strips}.get(windows, _large_windows)(rules)
    if windows in (LINES, STRIPS):
        tuples += long_lines(rows, columns)
    groups = tied(tuples, symmetries_of(rules))
    two = rules.num_players == 2 and rules.utility_sum is not None
    # Kinds 0, 1 and 2 must be empty, player 0 and player 1 for an exchange of colours.
    shares = rules.exchange and rules.cell_kinds == 3 and two and windows != STRIPS
    exchange = (image_under(rules, rules.exchange), (0, 2, 1)) if shares else None
    return TupleNetwork.of_tuples((rows, columns, rules.cell_kinds), groups, exchange)


def rectangles(rows: int, columns: int, shapes: Iterable[tuple[int, int]]) -> list[Cells]:
    """The cells of all rectangles of these shapes on a board."""
    found = []
    for height, width in shapes:
        for row, column in itertools.product(range(rows - height + 1), range(columns - width + 1)):
            inside = itertools.product(range(row, row + height), range(column, column + width))
            found.append(tuple(down * columns + right for down, right in inside))
    return found


def shapes_for(rules: BaseRules) -> tuple[tuple[int, int], ...]:
    """The shapes of a game's small windows."""
    rows, columns = rules.board_shape
    for shapes in SHAPES:
        fits = all(height <= rows and width <= columns for height, width in shapes)
        if fits and rules.cell_kinds ** (shapes[0][0] * shapes[0][1]) <= MOST_CONTENTS:
            return shapes
    return SHAPES[-1]


def _small_windows(rules: BaseRules) -> list[Cells]:
    return rectangles(*rules.board_shape, shapes_for(rules))


def _large_windows(rules: BaseRules) -> list[Cells]:
    rows, columns = rules.board_shape
    found = rectangles(rows, columns, [(2, 4), (4, 2)])
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


def _strips(rules: BaseRules) -> list[Cells]:
    found = strips_of(*rules.board_shape)
    if not found:
        rows, columns = rules.board_shape
        raise ValueError(f"Strips are two lines of four cells: none fits on {rows} x {columns}.")
    return found


def strips_of(rows: int, columns: int) -> list[Cells]:
    """Two adjacent lines of four cells, straight or diagonal: each line of four is in one."""
    found = rectangles(rows, columns, [(2, 4), (4, 2)])
    for row, column, lean in itertools.product(range(rows - 3), range(columns), (1, -1)):
        cells = [(row + down, column + lean * down + on) for down in range(4) for on in (0, 1)]
        if all(0 <= each < columns for _, each in cells):
            found.append(tuple(down * columns + each for down, each in cells))
    return found


def long_lines(rows: int, columns: int) -> list[Cells]:
    """Rows, columns and diagonals of four to eight cells; all eight in a row of longer ones."""
    lines = [cells for _, cells in lines_of((rows, columns), wrap=False)]
    return [
        tuple(cells[start : start + LONGEST_LINE])
        for cells in lines
        if len(cells) >= SHORTEST_LINE
        for start in range(max(1, len(cells) - LONGEST_LINE + 1))
    ]


def tied(tuples: Iterable[Cells], symmetries: Sequence[NDArray[np.int64]]) -> list[list[Cells]]:
    """Group each tuple with its images; each set of cells is in one group.

    Args:
        tuples: the tuples.
        symmetries: each cell's image, for each symmetry of the board but the identity.
    """
    groups: list[list[Cells]] = []
    seen: set[frozenset[int]] = set()
    for cells in tuples:
        if frozenset(cells) in seen:
            continue
        images = [cells, *(tuple(image[list(cells)].tolist()) for image in symmetries)]
        # Reversed, so that of several images with the same cells the first stays.
        group = list({frozenset(image): image for image in reversed(images)}.values())
        seen.update(map(frozenset, group))
        groups.append(group)
    return groups


def _check(network: TupleNetwork) -> None:
    """Refuse a network that compiled code could not use, before memory of its size is allocated."""
    board, cells, tables, kinds = network.board, network.cells, network.tables, network.kinds
    if len(board) != 3 or not all(is_integer(number) and number > 0 for number in board):
        raise ValueError(f"board must be rows, columns and kinds of cells, got {board!r}.")
    if board[2] > MOST_CONTENTS or board[0] * board[1] > np.iinfo(np.int16).max:
        raise ValueError(f"The board {board!r} is too large.")
    views, tuples, longest = cells.shape if cells.ndim == 3 else (0, 0, 0)
    if views not in (1, 2) or not 0 < tuples <= MOST_TUPLES or not 0 < longest <= MOST_CELLS:
        raise ValueError(f"The tuples do not fit: their shape is {cells.shape}.")
    outside = ((cells < 0) | (cells >= board[0] * board[1])) & (cells != PADDING)
    # Padding only at the end, the same in both views, and never a whole tuple.
    padded = cells == PADDING
    if outside.any() or padded[:, :, 0].any() or (padded[:, :, :-1] & ~padded[:, :, 1:]).any():
        raise ValueError("Tuples must have cells of the board, and padding after them alone.")
    if (padded != padded[:1]).any():
        raise ValueError("Tuples must be as long for all players.")
    if tables.shape != (tuples,) or tables.min() < 0 or tables.max() > MOST_NUMBERS:
        raise ValueError("Each tuple must have a table.")
    # By logarithms: the power itself may overflow.
    if longest * np.log(board[2]) > np.log(MOST_NUMBERS) or network.size > MOST_NUMBERS:
        raise ValueError("The tuples have too many contents.")
    # Each view permutes the kinds.
    fits = kinds.shape == (views, board[2])
    if not fits or (np.sort(kinds, axis=1) != np.arange(board[2])).any():
        raise ValueError("Each player must see each kind of cells as another one.")


def entries_by_cell(
    network: TupleNetwork, num_cells: int
) -> tuple[NDArray[np.int32], NDArray[np.uint32], NDArray[np.int32]]:
    """The tuples that contain each cell, for each view of the board.

    Returns:
        The first entry of each cell, one view after the other, and the end; and for each entry the
        tuple, and the factor of the cell's kind in its place.
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
def judged_rules(rules: BaseRules, network: TupleNetwork, shape: tuple[int, int, int]) -> BaseRules:
    """A game's rules with the value of these tuples; ``shape`` is that of the weights."""
    views = len(network.cells)
    from_, tuples, powers = entries_by_cell(network, rules.num_board_cells)
    # After the board, memory holds for each view the previous board and the places of its tuples.
    aligned = -(-rules.num_board_cells // WORD) * WORD  # Rounded up.
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
        players_share=network.shared,
        num_tuples=int(network.cells.shape[1]),
        num_outputs=shape[1],
        num_features=shape[2],
        num_weights=int(np.prod(shape)),
        constant_sum=float(rules.utility_sum or 0.0),
    )
