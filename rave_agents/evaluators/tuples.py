"""Sums over tuples of cells, compiled with a game's rules: n-tuple networks.

A tuple is a few cells of the board in some order. It has a table with a number for each of their
contents, and tuples that symmetries lead to one another share one. A value is the sum of the
numbers of all tuples, through the logistic function (Bledsoe & Browning 1959; Lucas 2008 for
Othello).
"""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.simulate.logistic import logistic

COMPARED_AT_ONCE = 8
"""Cells, of a byte each, that are compared as one number."""

NO_STAGE = -1
"""Code for a board with a cell of a kind that there is not."""


@kernel
def read_board(rules: Any, state: Any, player: Any, cells: Any) -> Any:
    """Write a board as its tuples see it when a player is to move. Returns its stage, or NO_STAGE.

    Where players share numbers, kinds of cells are exchanged so that all see theirs alike.
    """
    rules.describe_board(state, cells)
    kinds = rules.cell_kinds
    first = player * kinds if rules.players_share else 0
    filled = 0
    for place in range(rules.num_board_cells):
        kind = np.int64(cells[place])
        if not 0 <= kind < kinds:
            return NO_STAGE
        filled += kind != 0
        cells[place] = rules.seen_kinds[first + kind]
    return rules.stage_by_filled[filled]


@kernel
def row_of(rules: Any, player: Any, stage: Any, output: Any) -> Any:
    """The first number of the row for a player to move, a stage of the game and an output."""
    row = stage if rules.players_share else player * rules.num_stages + stage
    return (row * rules.num_outputs + output) * rules.num_features


@kernel
def update_places(rules: Any, view: Any, cells: Any, last: Any, places: Any) -> None:
    """Bring the places of all tuples' contents, each from the first of its table's, up to date.

    The boards that a search judges one after the other differ in few cells, and each cell is in few
    tuples. Zeros are the places of a board of zeros.

    Args:
        rules: the game, with tuples.
        view: 1 where players share numbers and player 1 is to move, else 0.
        cells: the board as the tuples see it.
        last: the board that the places are of.
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
    """``update_places`` for some of the cells, from the first to before ``end``."""
    for cell in range(first, end):
        change = np.int64(cells[cell]) - np.int64(last[cell])
        if change != 0:
            last[cell] = cells[cell]
            row = view * rules.num_board_cells + cell
            for entry in range(rules.entries_from[row], rules.entries_from[row + 1]):
                places[rules.entry_tuples[entry]] += change * rules.entry_powers[entry]


@kernel
def sum_of_numbers(rules: Any, row: Any, places: Any) -> Any:
    """The sum of the numbers of all tuples, by their places in a row of numbers.

    Four sums are taken side by side: a processor need not wait for one addition to begin another.
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
    """The share, in [0, 1], that a row of numbers tells: the logistic function of their sum.

    The last number is added always.
    """
    return logistic(np.float64(row[rules.num_features - 1] + sum_of_numbers(rules, row, places)))


def judge_tuples(self: Any, state: Any, cells: Any, weights: Any, returns: Any) -> None:
    """``Rules.judge`` by a ``LinearValue``: what each player is to expect."""
    player = np.int64(self.player(state))
    low, high = self.min_utility, self.max_utility
    board = cells[: self.num_board_cells]
    stage = read_board(self, state, player, board)
    if stage == NO_STAGE:  # There are no numbers for such a cell.
        returns[0] = np.nan
        return
    view = player if self.players_share else np.int64(0)
    first = self.memory_from + view * self.bytes_of_view
    end = first + self.bytes_of_view
    last, places = cells[first:end], cells[end - 4 * self.num_tuples : end].view(np.uint32)
    update_places(self, view, board, last, places)
    for output in range(self.num_outputs):
        start = row_of(self, player, stage, output)
        returns[output] = low + (high - low) * expected_share(self, weights[start:], places)
    if self.players_share and player == 1:
        returns[1] = returns[0]
        returns[0] = self.constant_sum - returns[1]
    elif self.num_outputs < self.num_players:
        returns[1] = self.constant_sum - returns[0]
