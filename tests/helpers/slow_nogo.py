"""NoGo by the book: chains and liberties are searched for anew whenever somebody asks.

Numba compiles it so that thousands of games can be compared with it; it knows nothing of the
package's rules.
"""

import numba
import numpy as np

EMPTY = 2


@numba.njit
def liberties(stones, row, column):
    """How many liberties the chain at a stone has."""
    size = stones.shape[0]
    colour = stones[row, column]
    seen = np.zeros((size, size), np.bool_)
    stack = [(row, column)]
    seen[row, column] = True
    count = 0
    while len(stack) > 0:
        r, c = stack.pop()
        for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            y, x = r + dr, c + dc
            if y < 0 or x < 0 or y >= size or x >= size or seen[y, x]:
                continue
            if stones[y, x] == EMPTY:
                seen[y, x] = True
                count += 1
            elif stones[y, x] == colour:
                seen[y, x] = True
                stack.append((y, x))
    return count


@numba.njit
def is_legal(stones, player, row, column):
    """Whether every chain on the board has a liberty after the move."""
    if stones[row, column] != EMPTY:
        return False
    size = stones.shape[0]
    stones[row, column] = player
    legal = liberties(stones, row, column) > 0
    for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        y, x = row + dr, column + dc
        if y >= 0 and x >= 0 and y < size and x < size and stones[y, x] != EMPTY:
            legal = legal and liberties(stones, y, x) > 0
    stones[row, column] = EMPTY
    return legal


@numba.njit
def legal_moves(stones, player):
    """The legal actions in ascending order."""
    size = stones.shape[0]
    return np.array(
        [
            row * size + column
            for row in range(size)
            for column in range(size)
            if is_legal(stones, player, row, column)
        ],
        np.int32,
    )


def empty(size):
    """The stones of an empty board: row, column."""
    return np.full((size, size), EMPTY, np.int32)


@numba.njit
def wins(stones, player, memory):
    """Whether the player to move wins; ``memory`` keeps what is known of positions."""
    size = stones.shape[0]
    key = player
    for row in range(size):
        for column in range(size):
            key = key * 3 + stones[row, column]
    if key in memory:
        return memory[key]
    won = False
    for action in legal_moves(stones, player):
        stones[action // size, action % size] = player
        won = not wins(stones, 1 - player, memory)
        stones[action // size, action % size] = EMPTY
        if won:
            break
    memory[key] = won
    return won
