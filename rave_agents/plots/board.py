"""The board of a position, and where each action goes on it."""

import dataclasses
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import as_game_state
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.board import Board, Cell, Place, Tiling
from rave_agents.game.game_state import GameState, hides_information, is_simultaneous
from rave_agents.game.notation import action_name
from rave_agents.plots.printed_board import PrintedBoard, PrintedCell, read_board

__all__ = [
    "Board",
    "Cell",
    "Place",
    "Tiling",
    "board_text",
    "declared_board",
    "find_board",
    "printed_of",
]

_EMPTY = ".-+"
"""Marks that games print for an empty cell; the first one found on a board counts."""
_CUSTOM = ("xo", "XO", "bw", "BW", "O@")
"""Stones of the first and the second player by custom, where no move shows the owner."""
_POINT = re.compile(r"([a-z])(\d{1,2})(?!\d)")
_ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "abcdefghjklmnopqrstuvwxyz")
"""Letters of columns; Go omits the i."""
_REPLIES = 8
"""Number of moves of a later position that are played to learn a player's stones."""

_OUTCOMES = 16
"""Outcomes of chance in a row, at most, before a position whose board is read."""

_ACTIONS_A_TURN = 3
"""Largest number of actions in a player's turn, as in amazons."""


def find_board(state: Any) -> Board:
    """Find the board of a position, and the place of each action on it.

    It is the one that the game declares (``drawn_board`` of its state). Otherwise it is read from
    the text of the position or, if that shows no board, from its observation tensor. The place of
    an action is then found by playing it in a copy: the piece that appears marks the target, the
    piece that disappears the source. The same moves show who owns which pieces. Where chance moves,
    the board has no places. In a game with hidden information, the board is the view of the player
    to move.

    Args:
        state: a GameState, or a state that an adapter knows, such as a ``pyspiel.State``; it is not
            changed.

    Raises:
        UnsupportedGameError: if the game has no board, or none that can be found.
        TypeError: if ``state`` is not a state, or declares something else than a board.
        ValueError: if it declares a board with places or names that fit no cells.
    """
    game_state = as_game_state(state)
    if (declared := declared_board(game_state)) is not None:
        return declared
    if game_state.is_chance_node():
        return _before_chance(game_state)
    if is_simultaneous(game_state):
        raise _no_board(game_state, "no single player moves there")
    viewer = max(0, int(game_state.current_player()))
    for read in (printed_of, _observed):
        printed = read(game_state, viewer)
        if printed is None:
            continue
        board = _Reading(game_state, viewer, read, printed).board()
        if board.places or game_state.is_terminal():
            return board
    raise _no_board(game_state, "neither its text nor its observation shows the actions' places")


def declared_board(state: GameState) -> Board | None:
    """The board that a game declares; None if it declares none, or hides information.

    Raises:
        TypeError: if it is no ``Board``.
        ValueError: if places or names fit no cells.
    """
    declare = StateAbilities(state).drawn_board
    if declare is None or hides_information(state):
        return None
    board = declare()
    if board is None:
        return None
    if not isinstance(board, Board):
        raise TypeError(f"drawn_board() must return a Board or None, got {board!r}.")
    number = len(board.cells)
    for action, place in board.places.items():
        if not all(0 <= at < number for at in (place.target, place.source or 0)):
            raise ValueError(f"drawn_board() has action {action} at {place}, but {number} cells.")
    if any(not 0 <= at < number for line in board.lines or () for at in line):
        raise ValueError(f"drawn_board() has lines {board.lines}, but {number} cells.")
    if len(board.names) not in (0, number):
        raise ValueError(f"drawn_board() has {len(board.names)} names for {number} cells.")
    return board


def _before_chance(state: GameState) -> Board:
    """The board where chance moves, read as the one of the next position of a player."""
    after = state.clone()
    for _ in range(_OUTCOMES):
        if not after.is_chance_node() or hides_information(state):
            break
        after.apply_action(int(after.chance_outcomes()[0][0]))
    printed = None if hides_information(state) else printed_of(state, 0)
    if printed is None or after.is_chance_node() or after.is_terminal():
        raise _no_board(state, "chance moves there")
    board = find_board(after)
    if len(board.cells) != len(printed.cells):
        raise _no_board(state, "chance moves there")
    owner_of = {cell.piece: cell.owner for cell in board.cells}
    kept = (cell.piece for cell in printed.cells)
    cells = tuple(
        dataclasses.replace(cell, piece=None, owner=None)
        if piece in _EMPTY
        else dataclasses.replace(cell, piece=piece, owner=owner_of.get(piece))
        for cell, piece in zip(board.cells, kept, strict=True)
    )
    return dataclasses.replace(board, cells=cells, places={})


def _no_board(state: GameState, why: str) -> UnsupportedGameError:
    get_game = StateAbilities(StateAbilities(state).framework_state).get_game
    game = type(state).__name__ if get_game is None else get_game()
    return UnsupportedGameError(
        f"No board is found for {game}: {why}. Draw bars instead: board=False."
    )


def printed_of(state: GameState, viewer: int) -> PrintedBoard | None:
    """Read the board from the position's text."""
    if hides_information(state) and not state.is_terminal():
        return read_board(str(state.view(viewer)))  # type: ignore[attr-defined]
    return read_board(str(state))


def _observed(state: GameState, viewer: int) -> PrintedBoard | None:
    """Read the board from an observation of planes, which are its first or its last axis.

    Only for games in which an action is a cell, a column or a pass.
    """
    observe = StateAbilities(state).observation
    if observe is None:
        return None
    try:
        seen = observe(viewer)
    except UnsupportedGameError:
        return None
    if isinstance(seen, Mapping):
        seen = seen.get("observation")
    tensor = np.asarray(seen)
    if tensor.ndim != 3 or tensor.dtype.kind not in "biuf":
        return None
    # Boards are mostly square: the axis that differs, or the short one, counts the planes.
    last = tensor.shape[0] == tensor.shape[1] or tensor.shape[2] < tensor.shape[0]
    planes = tensor if last else np.moveaxis(tensor, 0, -1)
    rows, columns, _ = planes.shape
    actions = state.num_distinct_actions()
    # A tensor of another size need not be a board.
    if min(rows, columns) < 2 or actions not in (columns, rows * columns, rows * columns + 1):
        return None
    patterns = [planes[row, column].tobytes() for row in range(rows) for column in range(columns)]
    # Cells are equal if all their planes are. All planes 0, or the commonest pattern, is empty.
    nothing = np.zeros_like(planes[0, 0]).tobytes()
    empty = nothing if nothing in patterns else Counter(patterns).most_common(1)[0][0]
    cells = (
        PrintedCell(
            index // columns, index % columns, "." if pattern == empty else f"piece {pattern.hex()}"
        )
        for index, pattern in enumerate(patterns)
    )
    return PrintedBoard(tuple(cells), shifted=False)


def _empty(pieces: Sequence[str]) -> str | None:
    return next((mark for mark in _EMPTY if mark in pieces), None)


class _Reading:
    """Reads the board of one position from it and the positions after it."""

    def __init__(self, state: GameState, viewer: int, read: Any, printed: PrintedBoard) -> None:
        self.state, self.viewer, self.read, self.printed = state, viewer, read, printed
        self.pieces = [cell.piece for cell in printed.cells]
        self.empty = _empty(self.pieces)
        self.owner_of: dict[str, int] = {}
        self.nobodys: set[str] = set()
        """Pieces that several players add, such as the burnt fields of amazons."""

    def board(self) -> Board:
        after = dict(self._positions_after(self.state, self.pieces))
        # Owners first: the place of a move depends on which pieces are the mover's.
        if self.empty is None:  # The board is full until a move empties a cell, as in clobber.
            self.empty = _empty([piece for pieces in after.values() for piece in pieces])
        mover = int(self.state.current_player())
        self._learn(mover, self.pieces, after)
        self._learn_from_replies(mover)
        self._guess_the_rest()
        places = {
            action: place
            for action, pieces in after.items()
            if (place := self._place(action, pieces, mover)) is not None
        }
        columns = {column: place for place, column in enumerate(self._columns())}
        tiling = self._tiling()
        height = float(np.sqrt(3)) / 2 if tiling is Tiling.HEXAGONS else 1.0
        # A line of hexagons has two characters per cell, so that one character is half a cell.
        width = 0.5 if self.printed.shifted else 1.0
        shift = 0.5 if tiling is Tiling.HEXAGONS and not self.printed.shifted else 0.0
        cells = tuple(
            Cell(
                row=cell.row,
                column=columns[cell.column],
                x=columns[cell.column] * width + cell.row * shift,
                y=0.0 - cell.row * height,
                piece=None if cell.piece == self.empty else cell.piece,
                owner=self.owner_of.get(cell.piece),
            )
            for cell in self.printed.cells
        )
        return Board(
            tiling=tiling,
            cells=cells,
            places=places,
            names=_names(self.state, cells, places, shifted=self.printed.shifted),
        )

    def _columns(self) -> list[int]:
        used = sorted({cell.column for cell in self.printed.cells})
        return list(range(used[0], used[-1] + 1)) if self.printed.shifted else used

    def _tiling(self) -> Tiling:
        if self.printed.shifted:
            return Tiling.HEXAGONS
        if (tiling := StateAbilities(self.state).board_tiling()) is not None:
            return Tiling(tiling)
        return Tiling.POINTS if self.empty == "+" else Tiling.SQUARES

    def _positions_after(
        self, state: GameState, before: list[str]
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield each legal action with the pieces after it, if the board keeps its cells."""
        if state.is_terminal():
            return
        for action in map(int, state.legal_actions()):
            child = state.clone()
            child.apply_action(action)
            printed = self.read(child, self.viewer)
            if printed is not None and len(printed.cells) == len(before):
                yield action, [cell.piece for cell in printed.cells]

    def _learn(self, mover: int, before: list[str], after: Mapping[int, list[str]]) -> None:
        """Learn the owners of pieces: pieces that are added or moved belong to the mover."""
        for pieces in after.values():
            numbers = Counter(pieces) - Counter(before)
            del numbers[str(self.empty)]
            pairs = list(zip(before, pieces, strict=True))
            moved = {old for old, new in pairs if new == self.empty != old}
            arrived = {new for old, new in pairs if new != old and new in moved}
            for piece in numbers or arrived:
                # A piece that two players add is nobody's, such as a wall.
                if self.owner_of.get(piece, mover) != mover:
                    self.nobodys.add(piece)
                    del self.owner_of[piece]
                elif piece not in self.nobodys:
                    self.owner_of[piece] = mover

    def _learn_from_replies(self, mover: int) -> None:
        others = set(range(self.state.num_players())) - {mover}
        if not others or self.state.is_terminal():
            return
        state = self.state.clone()
        for _ in range(_ACTIONS_A_TURN * self.state.num_players()):
            if state.is_terminal() or state.is_chance_node() or is_simultaneous(state):
                return
            player = int(state.current_player())
            if (printed := self.read(state, self.viewer)) is not None:
                before = [cell.piece for cell in printed.cells]
                if len(before) == len(self.pieces):
                    first = zip(range(_REPLIES), self._positions_after(state, before), strict=False)
                    self._learn(player, before, dict(pair for _, pair in first))
            state.apply_action(int(state.legal_actions()[0]))

    def _guess_the_rest(self) -> None:
        """Guess unknown owners by elimination, then by the case of letters, then by custom."""
        known = self.owner_of.keys() | self.nobodys
        unknown = {piece for piece in self.pieces if piece != self.empty} - known
        if self.state.num_players() != 2 or not unknown:
            return
        if len(unknown) == len(self.owner_of) == 1:
            ((_, owner),) = self.owner_of.items()
            self.owner_of[unknown.pop()] = 1 - owner
            return
        letters = [piece for piece in self.owner_of if piece[-1].isalpha()]
        cases = {(piece[-1].isupper(), self.owner_of[piece]) for piece in letters}
        both = {piece[-1].isupper() for piece in self.pieces if piece[-1].isalpha()}
        if len(cases) == len(both) == 2 and len({case for case, _ in cases}) == 2:
            owner_by_case = dict(cases)
            for piece in unknown:
                if piece[-1].isalpha():
                    self.owner_of[piece] = owner_by_case[piece[-1].isupper()]
        elif not self.owner_of:
            for pair in _CUSTOM:
                if unknown <= set(pair):
                    self.owner_of |= {piece: seat for seat, piece in enumerate(pair)}

    def _place(self, action: int, after: list[str], mover: int) -> Place | None:
        pairs = list(enumerate(zip(self.pieces, after, strict=True)))
        placed = [i for i, (old, new) in pairs if old == self.empty != new]
        left = [i for i, (old, new) in pairs if new == self.empty != old]
        replaced = [i for i, (old, new) in pairs if old != new and self.empty not in (old, new)]
        own = [i for i in left if self.owner_of.get(self.pieces[i], mover) == mover]
        if len(placed) == 1:  # A stone was placed, or a piece moved to an empty cell.
            source = [i for i in own if self.pieces[i] == after[placed[0]]] or own
            return Place(placed[0], source[0] if len(source) == 1 else None)
        if not placed and not replaced and len(left) == 1:  # A piece was taken away, as in nim.
            return Place(left[0])
        if not placed and len(own) == 1:  # A piece captured another one.
            taken = [i for i in replaced if self.owner_of.get(after[i]) == mover]
            return Place(taken[0], own[0]) if len(taken) == 1 else None
        return self._named_place(action, after)

    def _named_place(self, action: int, after: list[str]) -> Place | None:
        """The point at the beginning of the action's name, if it was empty and one piece came.

        Needed for actions that place a piece and move others, such as pentago's rotations.
        """
        point = _POINT.match(action_name(self.state, action))
        if point is None or self.pieces.count(str(self.empty)) - after.count(str(self.empty)) != 1:
            return None
        columns = self._columns()
        where = (int(point[2]) - 1, ord(point[1]) - ord("a"))
        for index, cell in enumerate(self.printed.cells):
            if (cell.row, columns.index(cell.column)) == where and cell.piece == self.empty:
                return Place(index)
        return None


def _names(
    state: GameState, cells: tuple[Cell, ...], places: Mapping[int, Place], *, shifted: bool
) -> tuple[str, ...]:
    """The names of all cells, if one rule fits the cells that actions name; else empty."""
    called: dict[int, tuple[str, str]] = {}
    for action, place in places.items():
        points = _POINT.findall(action_name(state, action))
        if points:
            called[place.target] = points[-1]
    height = 1 + cells[-1].row
    # On hexagons a column of names leans to one side or the other by half a cell per row.
    slopes = (1, -1) if shifted else (0,)
    for slope, downwards, alphabet in itertools.product(slopes, (True, False), _ALPHABETS):
        numbers = [cell.row + 1 if downwards else height - cell.row for cell in cells]
        columns = [cell.column - slope * cell.row for cell in cells]
        letters = [(column - min(columns)) // (2 if shifted else 1) for column in columns]
        if not called or max(letters) >= len(alphabet):
            continue
        names = [(alphabet[i], str(number)) for i, number in zip(letters, numbers, strict=True)]
        if all(names[index] == point for index, point in called.items()):
            return tuple("".join(name) for name in names)
    return ("",) * len(cells)


def board_text(board: Board) -> str:
    """Draw a board of squares as text, with the names of rows and columns if it has any."""
    rows: dict[int, list[str]] = {}
    labels: dict[int, str] = {}
    letters: list[str] = []
    names = board.names if board.has_coordinates else ("",) * len(board.cells)
    for cell, name in zip(board.cells, names, strict=True):
        sign = cell.piece or "."
        rows.setdefault(cell.row, []).append(sign if len(sign) <= 2 else sign[0])
        labels.setdefault(cell.row, name.lstrip("abcdefghijklmnopqrstuvwxyz"))
        if cell.row == board.cells[0].row:
            letters.append(name.rstrip("0123456789"))
    width = max(map(len, labels.values()))
    lines = [f"{labels[row]:>{width}} {' '.join(pieces)}" for row, pieces in rows.items()]
    if any(letters):
        lines.append(f"{'':>{width}} {' '.join(letters)}")
    return "\n".join(lines)
