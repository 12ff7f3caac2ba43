"""Ultimate tic-tac-toe, as OpenSpiel has it: nine boards of tic-tac-toe, on one large board.

A move on a cell of one board sends the opponent to the board at that cell's place. If that board is
finished, the opponent first chooses another as a move of its own, and so does the first player at
the start. Three boards in a line win; if all are finished without that, it is a draw (OpenSpiel,
``ultimate_tic_tac_toe.cc``).

Actions 0 to 8 are a cell of the current board, or the board to choose; both are numbered row by
row.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.game.board import Board, Cell, Place, Tiling
from rave_agents.games.bits import count_bits
from rave_agents.games.kit.rules import DRAWN, NO_ACTION, WinnerRules
from rave_agents.simulate.random_stream import random_below

SIZE, CELLS = 3, 9
"""The side and the cells of a board, and of the large one."""

FULL = (1 << CELLS) - 1
"""The set of all cells."""

LINES = (0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
"""The sets of cells that are a line."""

# Cells and boards:
#
#   0 1 2
#   3 4 5
#   6 7 8


class UltimateTicTacToe(WinnerRules):
    """See the module."""

    name = "ultimate_tic_tac_toe"
    num_distinct_actions = CELLS
    max_game_length = 2 * CELLS * CELLS
    board_shape = SIZE * SIZE, SIZE * SIZE

    def setup(self) -> None:
        """List which sets of cells have a line, and the cells of each set."""
        sets = range(FULL + 1)
        self.has_line = np.array([any(line & one == line for line in LINES) for one in sets])
        self.nth = np.zeros((FULL + 1, CELLS), np.int8)
        for one in sets:
            cells = [cell for cell in range(CELLS) if one >> cell & 1]
            self.nth[one, : len(cells)] = cells
        self.fields: dict[str, Any] = {
            "marks": (np.int16, (2, CELLS)),
            "won": (np.int16, 2),
            **dict.fromkeys(("finished", "board", "to_move", "winner"), np.int64),
        }

    def begin(self, state: Any) -> None:
        """All boards are empty, and one is to be chosen."""
        state.board = state.winner = NO_ACTION

    def legal(self, state: Any) -> int:
        """The set of boards that may be chosen, or of cells that are empty."""
        if state.board == NO_ACTION:
            return FULL & ~state.finished
        taken: Any = np.int64(state.marks[0, state.board] | state.marks[1, state.board])
        return FULL & ~taken

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every cell or board of the set."""
        legal = self.legal(state)
        count = count_bits(legal)
        for place in range(count):
            actions[place] = self.nth[legal, place]
        return count

    def play(self, state: Any, action: int) -> None:
        """Choose a board; or mark a cell, and see where the opponent must play."""
        player, board = state.to_move, state.board
        state.board = action
        if board == NO_ACTION:
            return
        state.marks[player, board] |= 1 << action
        if self.has_line[state.marks[player, board]]:
            state.won[player] |= 1 << board
            state.finished |= 1 << board
        elif state.marks[0, board] | state.marks[1, board] == FULL:
            state.finished |= 1 << board
        if self.has_line[state.won[player]]:
            state.winner = player
        elif state.finished == FULL:
            state.winner = DRAWN
        else:
            state.to_move = 1 - player
            if state.finished >> action & 1 == 1:
                state.board = NO_ACTION

    def draw(self, state: Any, stream: Any) -> int:
        """A place in the set."""
        legal = self.legal(state)
        drawn: Any = np.int64(self.nth[legal, random_below(stream, count_bits(legal))])
        return drawn

    def action_to_string_at(self, state: Any, player: int, action: int) -> str:
        """The board, and the player's sign with row and column."""
        if state.board == NO_ACTION:
            return f"Choose local board {action}"
        row, column = divmod(action, SIZE)
        return f"Local board {state.board}: {'xo'[player]}({row},{column})"

    def string_of(self, state: Any) -> str:
        """The boards, who is to move, and where."""
        cells = np.zeros(self.num_board_cells, np.int8)
        self.describe_board(state, cells)
        signs = np.array(list(".xo"))[cells].reshape(SIZE * SIZE, SIZE, SIZE)
        rows = [" ".join("".join(part) for part in row) + "\n" for row in signs]
        boards = "\n".join("".join(rows[first : first + SIZE]) for first in range(0, CELLS, SIZE))
        forced = "any" if state.board == NO_ACTION else state.board
        return f"{boards}\nCurrent player: {state.to_move}\nForced board: {forced}"

    def drawn_board(self, state: Any, legal: Sequence[int]) -> Board:
        """The boards; one is chosen by its middle."""
        marks = np.zeros(self.num_board_cells, np.int8)
        self.describe_board(state, marks)
        cells = []
        for at, mark in enumerate(marks.tolist()):
            row, column = divmod(at, CELLS)
            x, y = (line + 0.3 * (line // SIZE) for line in (column, row))
            owner = mark - 1 if mark else None
            piece = "xo"[mark - 1] if mark else None
            cells.append(Cell(row=row, column=column, x=x, y=-y, piece=piece, owner=owner))
        chooses = state.board == NO_ACTION
        middle = CELLS // 2
        ends = {action: (action, middle) if chooses else (state.board, action) for action in legal}
        places = {action: Place(self.cell_at(*end)) for action, end in ends.items()}
        return Board(tiling=Tiling.SQUARES, cells=tuple(cells), places=places)

    def cell_at(self, board: int, cell: int) -> int:
        """The place of a board's cell on the large board, row after row."""
        corner = int(board) // SIZE * SIZE * CELLS + int(board) % SIZE * SIZE
        return corner + cell // SIZE * CELLS + cell % SIZE

    def describe_board(self, state: Any, cells: Any) -> None:
        """0 for an empty cell, else one more than the player whose mark it has."""
        for board in range(CELLS):
            corner = board // SIZE * SIZE * CELLS + board % SIZE * SIZE
            for cell in range(CELLS):
                at = corner + cell // SIZE * CELLS + cell % SIZE
                first, second = state.marks[0, board] >> cell & 1, state.marks[1, board] >> cell & 1
                cells[at] = first + 2 * second

    def observation(self, state: Any) -> Any:
        """Empty cells, player 1's and player 0's, board by board; who is to move, and where."""
        marks = np.array(state.marks)[:, :, None] >> np.arange(CELLS) & 1
        planes = [1 - marks[0] - marks[1], marks[1], marks[0]]
        forced = np.zeros(CELLS + 1)
        forced[state.board] = 1  # The last entry where any may be chosen.
        return np.concatenate([np.ravel(planes), [state.to_move], forced]).astype(np.float32)
