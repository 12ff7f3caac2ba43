"""The features of a learned policy, and its priors, compiled with a game's rules.

``features_of`` in ``move_policy.py`` computes the same features in NumPy.
"""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.games.kit.memory import LEAF, PLAYOUT, copy_state
from rave_agents.simulate.frame import Header

# Compiled code takes plain numbers as constants.
PATH_LENGTH = int(Header.PATH_LENGTH)
NUM_ACTIONS = int(Header.NUM_ACTIONS)
LAST_ACTION = int(Header.LAST_ACTION)

NEAR, FAR = 9, 8
"""Cells of the pattern around a cell, including itself, and of the pattern beyond it."""

CELLS = NEAR + FAR

FEATURES = 8
"""Features of a move; each move lacks some."""

AT, PATTERN, BEYOND, ANSWER, ANSWER_PATTERN, LEFT, LEFT_PATTERN, NO_PLACE = range(FEATURES)
"""The cell that a move fills, the patterns around and beyond it, the direction of the last move
from there, and that with the pattern; the cell that it leaves and the pattern around that; the
action for a move without cells, such as a pass."""

NUMBERS = 131_063
"""Weights of a policy, a prime: contents of features share them by their remainder."""

STEPS = 26
"""Directions of the last move: 25 offsets of up to two rows and columns, and 0 for elsewhere."""

SIDES = 16
"""The maximum number of players with weights of their own."""

NO_CELL, VARIES = -1, -2
"""Marks in place of a cell: none; or found only by playing the move."""


@kernel
def number_of(feature: Any, side: Any, content: Any) -> Any:
    """The place of a feature's weight."""
    return ((content * SIDES + side) * FEATURES + feature) % NUMBERS


@kernel
def pattern_at(rules: Any, cells: Any, view: Any, cell: Any, first: Any, end: Any) -> Any:
    """The contents of some of the cells around a cell, as a number in base ``cell_kinds`` + 1."""
    start = (view * rules.num_board_cells + cell) * CELLS
    code = np.int64(0)
    for place in range(start + first, start + end):
        near = np.int64(rules.move_near[place])
        content = np.int64(rules.cell_kinds)  # Outside of the board.
        fits = near != NO_CELL
        if rules.is_checked and fits:
            fits = 0 <= cells[near] < rules.cell_kinds
        if fits:
            content = np.int64(rules.move_kinds[view * rules.cell_kinds + cells[near]])
        code = code * (rules.cell_kinds + 1) + content
    return code


@kernel
def logit_of(
    rules: Any, cells: Any, numbers: Any, player: Any, action: Any, to: Any, left: Any, last: Any
) -> Any:
    """The sum of the weights of a move's features.

    Args:
        rules: the rules.
        cells: the board before the move.
        numbers: the policy's weights.
        player: the player to move.
        action: the move.
        to: the cell that it fills, or ``NO_CELL``.
        left: the cell that it leaves, or ``NO_CELL``.
        last: the cell that the last move filled, or ``NO_CELL``.
    """
    view = player if rules.moves_shared else player * 0
    side = player - view
    if to < 0:
        return np.float64(numbers[number_of(NO_PLACE, side, action)])
    row = view * rules.num_board_cells
    pattern = pattern_at(rules, cells, view, to, 0, NEAR)
    beyond = pattern_at(rules, cells, view, to, NEAR, CELLS)
    total = np.float64(numbers[number_of(AT, side, np.int64(rules.move_images[row + to]))])
    total += numbers[number_of(PATTERN, side, pattern)]
    total += numbers[number_of(BEYOND, side, beyond)]
    if last >= 0:
        seen = np.int64(rules.move_steps[(row + to) * rules.num_board_cells + last])
        if seen > 0:
            total += numbers[number_of(ANSWER, side, seen)]
            total += numbers[number_of(ANSWER_PATTERN, side, pattern * STEPS + seen)]
    if left >= 0:
        pattern = pattern_at(rules, cells, view, left, 0, NEAR)
        total += numbers[number_of(LEFT, side, np.int64(rules.move_images[row + left]))]
        total += numbers[number_of(LEFT_PATTERN, side, pattern)]
    return total


@kernel
def cells_changed(before: Any, after: Any) -> Any:
    """The cells that a move has filled and left, from the boards before and after it.

    A piece has moved if one of the changed cells now has what another one had.
    """
    to, left = np.int64(NO_CELL), np.int64(NO_CELL)
    for cell in range(len(before)):
        if before[cell] != after[cell]:
            if to == NO_CELL:
                to = np.int64(cell)
            elif left == NO_CELL:
                if after[cell] == before[to]:
                    to, left = np.int64(cell), to
                elif after[to] == before[cell]:
                    left = np.int64(cell)
    return to, left


def give_priors(self: Any, states: Any, player: Any, frame: Any) -> None:
    """``Rules.give_priors`` with a ``MovePolicy``: the softmax of the moves' logits."""
    header, cells, after = frame.header, frame.cells, frame.cells_after
    self.describe_board(states[LEAF], cells)
    last = np.int64(NO_CELL)
    if not self.has_chance:
        length = header[PATH_LENGTH]
        action = np.int64(frame.path[length - 1]) if length > 0 else np.int64(header[LAST_ACTION])
        last = np.int64(self.action_cells[2 * action]) if action >= 0 else last
    best, total = -np.inf, 0.0
    for place in range(header[NUM_ACTIONS]):
        action = np.int64(frame.actions[place])
        to, left = (
            np.int64(self.action_cells[2 * action]),
            np.int64(self.action_cells[2 * action + 1]),
        )
        if to == VARIES:
            copy_state(states, LEAF, PLAYOUT)
            self.play(states[PLAYOUT], action)
            self.describe_board(states[PLAYOUT], after)
            to, left = cells_changed(cells, after)
        logit = logit_of(self, cells, frame.weights, player, action, to, left, last)
        frame.probabilities[place] = logit
        best = max(best, logit)
    for place in range(header[NUM_ACTIONS]):
        weight = np.exp(frame.probabilities[place] - best)
        frame.probabilities[place] = weight
        total += weight
    for place in range(header[NUM_ACTIONS]):
        frame.probabilities[place] /= total
