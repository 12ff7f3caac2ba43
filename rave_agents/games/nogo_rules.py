"""The rules of NoGo as functions of one array.

NoGo is Go's board and stones, but nothing is ever captured: a move that takes the last liberty of a
chain of either colour is not legal. Nobody passes, and a player without a legal move loses.

A board is an int32 array of shape [ROWS, cells]. A cell is a point of the board or of the edge
around it; the left edge of a row is the right edge of the one below, so that with ``width = size +
1`` the neighbours of a cell ``p`` are ``p - 1``, ``p + 1``, ``p - width`` and ``p + width``. The
first action, 0, is a1, at the lower left; actions then go to the right, row by row.

Chains are sets of a disjoint-set forest. Each chain's representative holds the number, the sum and
the sum of squares of its pseudo-liberties: an empty neighbour counts once for each stone of the
chain that it touches. All of them are the same point exactly if number times squares is the squared
sum (Cauchy-Schwarz), so that a chain in atari is seen without looking for its liberties.

What is not legal for a player never becomes legal again: points do not become empty, and a chain in
atari can only be extended at its last liberty itself. So each player's legal moves are kept as a
list of candidates that only shrinks: one that is drawn and found not legal is dropped for good.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.games.compiler import rule
from rave_agents.simulate.random_stream import Stream, random_below, random_unit

Board = NDArray[np.int32]

BLACK, WHITE, EMPTY, EDGE = 0, 1, 2, 3
"""Colours of a cell; the first two are the players' numbers too."""

INFO, COLOUR, PARENT, LIBERTIES, LIBERTY_SUM, LIBERTY_SQUARES, BLACK_MOVES, WHITE_MOVES = range(8)
"""Rows of a board. ``INFO`` is described below; ``COLOUR`` is each cell's; ``PARENT`` leads from a
stone to its chain's representative, which has the three rows of liberties; the last two hold the
cells of the players' candidates."""

ROWS = 8

CELLS, SIZE, PLAYER, CANDIDATES = 0, 1, 2, 3
"""Places in the row ``INFO``: the number of cells, the size of the board, who moves, and from
``CANDIDATES`` on how many candidates each player has."""

SMALLEST, LARGEST = 2, 19
"""The least and the greatest size."""

NO_CELL = 0
"""Cell 0, a cell of the edge, stands for no move."""


def empty_board(size: int) -> Board:
    """The board at the game's start."""
    width = size + 1
    cells = width * (size + 2) + 1
    board = np.zeros((ROWS, cells), np.int32)
    board[COLOUR] = EDGE
    points = [(row + 1) * width + column + 1 for row in range(size) for column in range(size)]
    board[COLOUR, points] = EMPTY
    board[PARENT] = np.arange(cells)
    board[INFO, [CELLS, SIZE, PLAYER]] = cells, size, BLACK
    for player in (BLACK, WHITE):
        board[BLACK_MOVES + player, : len(points)] = points
        board[INFO, CANDIDATES + player] = len(points)
    return board


@rule
def cell_of(board: Any, action: int) -> int:
    """The cell of an action."""
    size = board[INFO, SIZE]
    return (action // size + 1) * (size + 1) + action % size + 1


@rule
def action_of(board: Any, cell: int) -> int:
    """The action that plays at a cell."""
    size = board[INFO, SIZE]
    return (cell // (size + 1) - 1) * size + cell % (size + 1) - 1


@rule
def neighbour(width: int, cell: int, direction: int) -> int:
    """The next cell in one of four directions."""
    if direction == 0:
        return cell - width
    if direction == 1:
        return cell - 1
    if direction == 2:
        return cell + 1
    return cell + width


@rule
def chain_of(board: Any, stone: int) -> int:
    """The representative of a stone's chain."""
    while board[PARENT, stone] != stone:
        board[PARENT, stone] = board[PARENT, board[PARENT, stone]]
        stone = board[PARENT, stone]
    return stone


@rule
def in_atari(board: Any, chain: int) -> bool:
    """Whether a chain has one liberty left."""
    number = np.int64(board[LIBERTIES, chain])
    total = np.int64(board[LIBERTY_SUM, chain])
    return number * np.int64(board[LIBERTY_SQUARES, chain]) == total * total


@rule
def is_legal(board: Any, player: int, cell: int) -> bool:
    """Whether a player may play at a cell: neither capture nor suicide, on an empty point."""
    if board[COLOUR, cell] != EMPTY:
        return False
    width = board[INFO, SIZE] + 1
    has_liberty = False
    for direction in range(4):
        near = neighbour(width, cell, direction)
        colour = board[COLOUR, near]
        if colour == EMPTY:
            has_liberty = True
        elif colour != EDGE:
            last = in_atari(board, chain_of(board, near))
            if colour == player:
                has_liberty = has_liberty or not last
            elif last:
                return False
    return has_liberty


@rule
def play(board: Any, cell: int) -> None:
    """Put a stone of the player to move on a cell where that is legal; the turn passes."""
    player = board[INFO, PLAYER]
    width = board[INFO, SIZE] + 1
    board[COLOUR, cell] = player
    board[PARENT, cell] = cell
    board[LIBERTIES, cell] = board[LIBERTY_SUM, cell] = board[LIBERTY_SQUARES, cell] = 0
    own = cell
    for direction in range(4):
        near = neighbour(width, cell, direction)
        colour = board[COLOUR, near]
        if colour == EMPTY:
            board[LIBERTIES, own] += 1
            board[LIBERTY_SUM, own] += near
            board[LIBERTY_SQUARES, own] += near * near
        elif colour != EDGE:
            chain = chain_of(board, near)
            board[LIBERTIES, chain] -= 1
            board[LIBERTY_SUM, chain] -= cell
            board[LIBERTY_SQUARES, chain] -= cell * cell
            if colour == player and chain != own:
                for row in (LIBERTIES, LIBERTY_SUM, LIBERTY_SQUARES):
                    board[row, chain] += board[row, own]
                board[PARENT, own] = chain
                own = chain
    board[INFO, PLAYER] = 1 - player


@rule
def copy_board(board: Any, copied: Any) -> None:
    """Copy a board into another one of the same size."""
    for row in range(ROWS):
        for place in range(board.shape[1]):
            copied[row, place] = board[row, place]


@rule
def drop_candidate(board: Any, index: int) -> None:
    """Drop a candidate of the player to move, for good."""
    player = board[INFO, PLAYER]
    last = board[INFO, CANDIDATES + player] - 1
    board[BLACK_MOVES + player, index] = board[BLACK_MOVES + player, last]
    board[INFO, CANDIDATES + player] = last


@rule
def draw_move(board: Any, weights: Any, stream: Stream) -> int:
    """A legal cell of the player to move, drawn at random; ``NO_CELL`` if there is none.

    All are equally probable, or in proportion to ``weights`` [players, actions] if it has actions.
    """
    player = board[INFO, PLAYER]
    while board[INFO, CANDIDATES + player] > 0:
        if weights.shape[1] > 0:
            index = draw_candidate(board, weights[player], stream)
        else:
            index = random_below(stream, board[INFO, CANDIDATES + player])
        cell = board[BLACK_MOVES + player, index]
        if is_legal(board, player, cell):
            return cell
        drop_candidate(board, index)
    return NO_CELL


@rule
def draw_candidate(board: Any, weights: Any, stream: Stream) -> int:
    """A candidate of the player to move, in proportion to the weights of their actions."""
    candidates = board[BLACK_MOVES + board[INFO, PLAYER]]
    count = board[INFO, CANDIDATES + board[INFO, PLAYER]]
    total = 0.0
    for index in range(count):
        total += weights[action_of(board, candidates[index])]
    drawn = random_unit(stream) * total
    index = 0
    total = weights[action_of(board, candidates[0])]
    while total <= drawn and index + 1 < count:
        index += 1
        total += weights[action_of(board, candidates[index])]
    return index


@rule
def has_move(board: Any) -> bool:
    """Whether the player to move has a legal move."""
    player = board[INFO, PLAYER]
    while board[INFO, CANDIDATES + player] > 0:
        last = board[INFO, CANDIDATES + player] - 1
        if is_legal(board, player, board[BLACK_MOVES + player, last]):
            return True
        drop_candidate(board, last)
    return False


@rule
def list_moves(board: Any, actions: Any) -> int:
    """Write the legal actions in ascending order; returns how many there are.

    ``actions`` holds those that fit; the number tells whether these were all.
    """
    player = board[INFO, PLAYER]
    size = board[INFO, SIZE]
    count = 0
    for action in range(size * size):
        if is_legal(board, player, cell_of(board, action)):
            if count < actions.shape[0]:
                actions[count] = action
            count += 1
    return count
