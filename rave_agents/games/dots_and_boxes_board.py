"""The board of Dots and Boxes: its lines, and how it is written and drawn, as OpenSpiel does."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.game.board import Board
from rave_agents.games.drawing import Content, drawn_grid
from rave_agents.games.kit.rules import Rules


class DotsAndBoxesBoard(Rules):
    """The part of the rules that shows a position."""

    num_rows: int = 2
    num_cols: int = 2

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
        """The lines on the right of each dot and below it, and the box there: [3, rows, columns].

        As of OpenSpiel's dots: 0 where nothing is, else one more than the player.
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
        """For each content, each dot, and each part there, 1 where the part has that content."""
        parts = self.parts(state).reshape(3, -1).T
        return np.array([parts == content for content in range(3)], np.float32)
