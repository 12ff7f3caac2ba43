"""n-tuple networks (Bledsoe & Browning 1959; Lucas 2008), compiled with a game's rules.

A tuple is a few cells of the board in some order. Its table has a weight for each of their
contents; tuples that are images of each other under a symmetry share a table. The value is the
logistic function of the sum of the weights of all tuples.
"""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.simulate.evaluations import logistic

COMPARED_AT_ONCE = 8
"""Cells of one byte each that are compared as one 64-bit number."""


@kernel
def read_board(rules: Any, state: Any, player: Any, cells: Any) -> Any:
    """Write the board as a player to move sees it. Returns False if a cell is of no known kind.

    If players share weights, player 1 sees own cells as player 0's.
    """
    rules.describe_board(state, cells)
    kinds = rules.cell_kinds
    first = player * kinds if rules.players_share else 0
    for place in range(rules.num_board_cells):
        kind = np.int64(cells[place])
        if not 0 <= kind < kinds:
            return False
        cells[place] = rules.seen_kinds[first + kind]
    return True


@kernel
def row_of(rules: Any, player: Any, output: Any) -> Any:
    """The first weight of the row for a player to move and an output."""
    row = np.int64(0) if rules.players_share else player
    return (row * rules.num_outputs + output) * rules.num_features


@kernel
def update_places(rules: Any, view: Any, cells: Any, last: Any, places: Any) -> None:
    """Update the places of all tuples' contents in their tables to a new board.

    Successive boards of a search differ in few cells, and each cell is in few tuples. A board of
    zeros has places of zeros, with which memory begins.

    Args:
        rules: the game, with tuples.
        view: 1 if players share weights and player 1 is to move, else 0.
        cells: the board as the player to move sees it.
        last: the board of the places; updated, too.
        places: the places.
    """
    num_cells = rules.num_board_cells
    whole = num_cells - num_cells % COMPARED_AT_ONCE
    seen, known = cells[:whole].view(np.int64), last[:whole].view(np.int64)
    for group in range(whole // COMPARED_AT_ONCE):
        if seen[group] != known[group]:
            first = group * COMPARED_AT_ONCE
            update_cells(rules, view, cells, last, places, first, first + COMPARED_AT_ONCE)
    update_cells(rules, view, cells, last, places, whole, num_cells)


@kernel
def update_cells(
    rules: Any, view: Any, cells: Any, last: Any, places: Any, first: int, end: int
) -> None:
    """``update_places`` for the cells from ``first`` to before ``end``."""
    for cell in range(first, end):
        change = np.int64(cells[cell]) - np.int64(last[cell])
        if change != 0:
            last[cell] = cells[cell]
            row = view * rules.num_board_cells + cell
            for entry in range(rules.entries_from[row], rules.entries_from[row + 1]):
                # A place is a number in base ``cell_kinds``; the power is that of the cell's digit.
                places[rules.entry_tuples[entry]] += change * rules.entry_powers[entry]


@kernel
def sum_of_numbers(rules: Any, row: Any, places: Any) -> Any:
    """The sum of the weights of all tuples in a row.

    Four partial sums let the processor start an addition before the previous one has finished.
    """
    tables, count = rules.tuple_tables, rules.num_tuples
    first = second = third = fourth = np.float32(0.0)
    for number in range(0, count - 3, 4):
        first += row[tables[number] + places[number]]
        second += row[tables[number + 1] + places[number + 1]]
        third += row[tables[number + 2] + places[number + 2]]
        fourth += row[tables[number + 3] + places[number + 3]]
    for number in range(count - count % 4, count):
        first += row[tables[number] + places[number]]
    return (first + second) + (third + fourth)


@kernel
def expected_share(rules: Any, row: Any, places: Any) -> float:
    """The value in [0, 1]: the logistic function of the sum and the bias, the last of the row."""
    return logistic(np.float64(row[rules.num_features - 1] + sum_of_numbers(rules, row, places)))


def judge_tuples(self: Any, state: Any, cells: Any, weights: Any, returns: Any) -> None:
    """``Rules.judge`` with a ``LinearValue``: the expected returns."""
    player = np.int64(self.player(state))
    low, high = self.min_utility, self.max_utility
    board = cells[: self.num_board_cells]
    if not read_board(self, state, player, board):  # There are no weights for such a cell.
        returns[0] = np.nan
        return
    view = player if self.players_share else np.int64(0)
    # Behind the board, ``cells`` keeps for each view the previous board and its places.
    first = self.memory_from + view * self.bytes_of_view
    end = first + self.bytes_of_view
    last, places = cells[first:end], cells[end - 4 * self.num_tuples : end].view(np.uint32)
    update_places(self, view, board, last, places)
    for output in range(self.num_outputs):
        start = row_of(self, player, output)
        returns[output] = low + (high - low) * expected_share(self, weights[start:], places)
    if self.players_share and player == 1:
        returns[1] = returns[0]
        returns[0] = self.constant_sum - returns[1]
    elif self.num_outputs < self.num_players:
        returns[1] = self.constant_sum - returns[0]
