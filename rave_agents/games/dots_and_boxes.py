"""Dots and Boxes, as OpenSpiel has it: ``dots_and_boxes(num_rows=2,num_cols=2)``.

Players draw lines between dots. Who draws the last side of a box owns it and moves again; who has
more boxes in the end wins, or wins as many points as they lead by, with ``utility_margin``
(OpenSpiel, ``dots_and_boxes.cc``).

Action 0 is the horizontal line above on the left; lines go to the right and then downwards, first
all horizontal ones, then all vertical ones.
"""

from typing import Any

import numpy as np

from rave_agents.games.dots_and_boxes_board import DotsAndBoxesBoard
from rave_agents.games.kit.rules import TERMINAL
from rave_agents.simulate.random_stream import random_below

LARGEST = 1024
"""The most boxes."""

SIDES, WORD_BITS = 4, 62
"""Lines around a box; lines that a word of ``drawn`` tells."""


class DotsAndBoxes(DotsAndBoxesBoard):
    """See the module."""

    name = "dots_and_boxes"
    aside = ("lines", "left", "sides", "owners")
    placement = True
    turns = ("mirrored", "upside_down", "transposed")
    cell_kinds = 4
    utility_margin: bool = False

    def setup(self) -> None:
        """Find the boxes on both sides of each line."""
        rows, columns = self.num_rows, self.num_cols
        self.boxes: int = rows * columns
        if min(rows, columns) < 1 or self.boxes > LARGEST:
            raise ValueError(
                f"num_rows and num_cols must be at least 1 and have at most {LARGEST} boxes, got "
                f"num_rows={rows}, num_cols={columns}."
            )
        self.lay_lines()
        self.max_game_length = self.num_distinct_actions
        # A line on the edge has a box that is never closed on its other side.
        self.beside = np.full((self.num_distinct_actions, 2), self.boxes, np.int64)
        for box in range(self.boxes):
            row, column = divmod(box, columns)
            self.beside[box, 1] = self.beside[box + columns, 0] = box
            left = self.across + row * (columns + 1) + column
            self.beside[left, 1] = self.beside[left + 1, 0] = box
        if self.utility_margin:
            self.min_utility, self.max_utility = -float(self.boxes), float(self.boxes)
        self.fields: dict[str, Any] = {
            "drawn": (np.int64, self.num_distinct_actions // WORD_BITS + 1),
            "lines": (np.int8, self.num_distinct_actions),
            "left": (np.int16, self.num_distinct_actions),
            "sides": (np.int16, self.boxes + 1),
            "owners": (np.int8, self.boxes),
            **dict.fromkeys(("to_move", "moves", "lead"), np.int64),
        }

    def begin(self, state: Any) -> None:
        """Nothing is drawn."""
        state.sides[self.boxes] = -2 * (self.num_rows + self.num_cols)

    def player(self, state: Any) -> int:
        """The player who draws on, until all lines are drawn."""
        return TERMINAL if state.moves == self.num_distinct_actions else state.to_move

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every line that is not drawn."""
        count = 0
        for line in range(self.num_distinct_actions):
            if state.lines[line] == 0:
                actions[count] = line
                count += 1
        return count

    def play(self, state: Any, action: int) -> None:
        """Draw a line; who closes no box by it gives the move away."""
        player = state.to_move
        state.lines[action] = player + 1
        state.drawn[action // WORD_BITS] |= np.int64(1) << action % WORD_BITS
        state.moves += 1
        closed = 0
        for side in range(2):
            box = self.beside[action, side]
            state.sides[box] += 1
            if state.sides[box] == SIDES:
                state.owners[box] = player + 1
                closed += 1
        state.lead += closed if player == 0 else -closed
        if closed == 0:
            state.to_move = 1 - player

    def playout(self, state: Any, players: Any, actions: Any, end: int, stream: Any) -> int:
        """Draw the lines that are left in any order."""
        count = self.legal_actions(state, state.left)
        if end + count > players.shape[0]:
            return -1
        for place in range(count):
            drawn = place + random_below(stream, count - place)
            line: Any = np.int64(state.left[drawn])
            state.left[drawn] = state.left[place]
            players[end + place] = state.to_move
            actions[end + place] = line
            self.play(state, line)
        return end + count

    def returns(self, state: Any, returns: Any) -> None:
        """The lead, or 1 for who leads and -1 for the other."""
        if self.utility_margin:
            returns[0] = state.lead
            returns[1] = -state.lead
        else:
            self.write_leader(returns, state.lead)

    def foresee_end(self, state: Any, player: int, carrier: Any, room: Any) -> int:
        """The lines that are left where one leads by more boxes than are open."""
        open_boxes = self.boxes
        for box in range(self.boxes):
            open_boxes -= state.sides[box] == SIDES
        if self.utility_margin or abs(state.lead) <= open_boxes:
            return 0
        left = self.num_distinct_actions - state.moves
        return int(left if (state.lead > 0) == (player == 0) else -left)

    def describe_board(self, state: Any, cells: Any) -> None:
        """1 for a line that is drawn, 2 and 3 for a box of player 0 and 1, else 0."""
        self.describe_position(state, cells)
        for box in range(self.boxes):
            if state.owners[box] > 0:
                cells[self.box_cells[box]] = 1 + state.owners[box]

    def describe_position(self, state: Any, cells: Any) -> int:
        """The lines; and the lead, and who is to move."""
        cells[:] = 0
        for line in range(self.num_distinct_actions):
            cells[self.line_cells[line]] = min(1, state.lines[line])
        return int(2 * (state.lead + self.boxes) + state.to_move)
