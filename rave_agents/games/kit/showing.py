"""Boards as a search learns from them: those of a new node's children, and those of a playout.

Of few kinds of contents each has a number for each cell, 1 where the cell holds it; empty cells, of
the first kind, are 0. Of many, as of seeds in a pit, each cell is one number.
"""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.games.kit.base_rules import MOST_KINDS
from rave_agents.games.kit.memory import LEAF, PLAYOUT, copy_state
from rave_agents.simulate.frame import Header

# Compiled code takes plain numbers as constants.
SAMPLES = int(Header.SAMPLES)
NUM_SAMPLES = int(Header.NUM_SAMPLES)

MOVES_PER_SAMPLE = 4
"""One position is shown after every fourth move of a playout, as by OpenSpiel's bridge."""


@kernel
def show_board(rules: Any, state: Any, cells: Any, rows: Any, row: int) -> None:
    """Write a board to a row."""
    count = rules.num_board_cells
    cells = cells[:count]
    rules.describe_board(state, cells)
    if rules.cell_kinds > MOST_KINDS:
        for place in range(count):
            rows[row, place] = np.float32(cells[place])
        return
    for kind in range(1, rules.cell_kinds):
        first = (kind - 1) * count
        for place in range(count):
            rows[row, first + place] = np.float32(cells[place] == kind)


@kernel
def show_playout(rules: Any, states: Any, frame: Any) -> None:
    """Show positions of the first playout: the leaf, and after every fourth move."""
    header, state = frame.header, states[PLAYOUT]
    if header[NUM_SAMPLES] >= header[SAMPLES]:
        return
    copy_state(states, LEAF, PLAYOUT)
    for move in range(frame.playout_ends[0]):
        if move % MOVES_PER_SAMPLE == 0:
            sample = header[NUM_SAMPLES]
            frame.sample_players[sample] = rules.player(state)
            show_board(rules, state, frame.cells, frame.samples, sample)
            header[NUM_SAMPLES] = sample + 1
            if sample + 1 == header[SAMPLES]:
                return
        rules.play(state, np.int64(frame.move_actions[move]))
