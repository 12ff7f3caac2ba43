"""Dots and Boxes, as OpenSpiel has it: ``dots_and_boxes(num_rows=2,num_cols=2)``.

Players draw lines between dots. The player who draws the last side of a box owns it and moves
again. The player with more boxes in the end wins 1, or the difference with ``utility_margin``
(OpenSpiel, ``dots_and_boxes.cc``).

Actions are lines, horizontal ones first, each kind from the upper left to the right and then
downwards.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.game.board import Board
from rave_agents.games.drawing import Content, drawn_grid
from rave_agents.games.kit.rules import TERMINAL, Rules
from rave_agents.simulate.random_stream import random_below

LARGEST = 1024
"""The most boxes."""

SIDES, WORD_BITS = 4, 62
"""Lines around a box; lines in a word of ``drawn``."""

# Actions with two rows and two columns of boxes:
#
#   . 0 . 1 .
#   6   7   8
#   . 2 . 3 .
#   9  10  11
#   . 4 . 5 .


class DotsAndBoxes(Rules):
    """See the module."""

    name = "dots_and_boxes"
    uncovered = "more than 1024 boxes"
    aside = ("lines", "left", "sides", "owners")
    placement = True
    turns = ("mirrored", "upside_down", "transposed")
    cell_kinds = 4
    num_rows: int = 2
    num_cols: int = 2
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
        # A line on the edge has box number ``boxes`` on its outer side, which is never closed.
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
        # So far below zero that all lines on the edge do not close the box outside.
        state.sides[self.boxes] = -2 * (self.num_rows + self.num_cols)

    def lay_lines(self) -> None:
        """Count the lines, and find the cells of the described board where lines and boxes are."""
        rows, columns = self.num_rows, self.num_cols
        self.board_shape: tuple[int, int] = 2 * rows + 1, 2 * columns + 1
        self.across: int = (rows + 1) * columns
        self.num_distinct_actions = self.across + rows * (columns + 1)
        cells = np.arange(self.board_shape[0] * self.board_shape[1]).reshape(self.board_shape)
        across, upright = cells[::2, 1::2], cells[1::2, ::2]
        self.line_cells = np.concatenate([across.ravel(), upright.ravel()])
        self.box_cells = cells[1::2, 1::2].ravel()

    def action_to_string(self, player: int, action: int) -> str:
        """The player, the direction of the line, and its row and column."""
        upright = action >= self.across
        place, columns = action - upright * self.across, self.num_cols + upright
        return f"P{player + 1}({'hv'[upright]},{place // columns},{place % columns})"

    def drawn_board(self, state: Any, legal: Sequence[int]) -> Board:
        """Dots, lines and boxes, in the colours of who drew or owns them."""
        contents: list[Content | None] = [("dot", None)] * self.num_board_cells
        for cell, owner in zip(self.line_cells, state.lines.tolist(), strict=True):
            contents[cell] = ("line", owner - 1) if owner else None
        for cell, owner in zip(self.box_cells, state.owners.tolist(), strict=True):
            contents[cell] = ("box", owner - 1) if owner else None
        places = {line: int(self.line_cells[line]) for line in legal}
        return drawn_grid(contents, self.board_shape[1], places, wide=0.8, first_is_wide=False)

    def parts(self, state: Any) -> Any:
        """For each dot the line to its right, the line below it and the box between them.

        Returns:
            [3, rows + 1, columns + 1] 0 for nothing, else one more than the player.
        """
        rows, columns = self.num_rows, self.num_cols
        lines = np.array(state.lines)
        found = np.zeros((3, rows + 1, columns + 1), np.int8)
        found[0, :, :columns] = lines[: self.across].reshape(rows + 1, columns)
        found[1, :rows] = lines[self.across :].reshape(rows, columns + 1)
        found[2, :rows, :columns] = np.array(state.owners).reshape(rows, columns)
        return found

    def string_of(self, state: Any) -> str:
        """The dots, the lines, and who owns each box."""
        across, upright, boxes = self.parts(state)
        text = []
        for row, corners in enumerate(self.corners()):
            for column, corner in enumerate(corners[:-1]):
                text.append(corner + ("───" if across[row, column] else "╴ ╶"))
            text.append(corners[-1] + "\n")
            if row < self.num_rows:
                for column in range(self.num_cols + 1):
                    text.append("│" if upright[row, column] else " ")
                    if column < self.num_cols:
                        text.append(("   ", " 1 ", " 2 ")[boxes[row, column]])
                text.append("\n")
        return "".join(text)

    def corners(self) -> list[str]:
        """The dots of each row."""
        signs = ["┌┬┐", *["├┼┤"] * (self.num_rows - 1), "└┴┘"]
        return [sign[0] + sign[1] * (self.num_cols - 1) + sign[2] for sign in signs]

    def observation(self, state: Any) -> Any:
        """One-hot contents of the parts of each dot: [content, dot, part]."""
        parts = self.parts(state).reshape(3, -1).T
        return np.array([parts == content for content in range(3)], np.float32)

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
        """Draw a line; the turn passes unless it closes a box."""
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
        """The number of lines left, if a player leads by more boxes than are open."""
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
