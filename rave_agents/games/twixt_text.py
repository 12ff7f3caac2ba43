"""The text of a board of TwixT, as OpenSpiel writes it."""

from typing import Any

RED, BLUE, DEFAULT = "\033[91m", "\033[94m", "\033[0m"
"""Colours of player 0, of player 1, and of other text."""

NNE, ENE, ESE, SSE, SSW, WSW, WNW, NNW = range(8)
"""Directions of links."""

BEFORE = (
    ((-1, 0, ENE, "/"), (-1, -1, NNE, "/"), (0, 0, WNW, "_")),
    ((0, 0, NNE, "|"), (0, 0, NNW, "|")),
    ((1, 0, WNW, "\\"), (1, -1, NNW, "\\"), (0, 0, ENE, "_")),
)
"""Marks above a cell, on the left, in the middle and on the right: those of links of cells so many
columns and rows away, in a direction."""

BESIDE = (
    ((-1, -1, NNE, "|"), (0, 0, WSW, "_")),
    ((1, -1, NNW, "|"), (0, 0, ESE, "_")),
)
"""Marks on the left and on the right of a cell."""

AFTER = (
    ((1, -1, WNW, "\\"), (0, -1, NNW, "\\")),
    ((-1, -1, ENE, "_"), (1, -1, WNW, "_"), (0, 0, SSW, "|"), (0, 0, SSE, "|")),
    ((-1, -1, ENE, "/"), (0, -1, NNE, "/")),
)
"""Marks below a cell."""

INSTEAD = {(0, 0, NNW, "|"), (0, 0, SSE, "|")}
"""Marks that are left out beside others."""


class BoardText:
    """The text of one position.

    Args:
        owners: [columns, rows] 0 for an empty cell, else one more than the peg's player.
        links: [columns + 2, rows + 2] bits of the links of each cell, with an empty border.
        coloured: write control characters for a terminal's colours.
    """

    def __init__(self, owners: Any, links: Any, *, coloured: bool) -> None:
        self._owners, self._links, self._coloured = owners, links, coloured

    def lines(self) -> list[str]:
        """The board from above, with its coordinates; three lines for each row."""
        size = len(self._owners)
        letters = [self._in(RED, f"{chr(ord('a') + column)}  ") for column in range(size)]
        lines = ["     " + "".join(letters)]
        for row in reversed(range(size)):
            cells = [(column, row) for column in range(size)]
            number = str(size - row)
            start = " " * (3 - len(number)) + self._in(BLUE, number + " ")
            beside = [
                self._marks(cell, BESIDE[0]) + self._peg(*cell) + self._marks(cell, BESIDE[1])
                for cell in cells
            ]
            before, after = (
                "".join(self._marks(cell, place) for cell in cells for place in places)
                for places in (BEFORE, AFTER)
            )
            lines += ["    " + before, start + "".join(beside), "    " + after]
        return lines

    def _in(self, colour: str, text: str) -> str:
        return f"{colour}{text}{DEFAULT}" if self._coloured else text

    def _marks(self, cell: tuple[int, int], marks: Any) -> str:
        """The marks of one place beside a cell, or a space."""
        text = ""
        for mark in marks:
            column, row = cell[0] + mark[0], cell[1] + mark[1]
            if self._links[column + 1, row + 1] >> mark[2] & 1 and not (text and mark in INSTEAD):
                text += self._in((RED, BLUE)[self._owners[column, row] - 1], mark[3])
        return text or " "

    def _peg(self, column: int, row: int) -> str:
        """The text of a cell."""
        ends = 0, len(self._owners) - 1
        if self._owners[column, row] > 0:
            owner = self._owners[column, row] - 1
            return self._in((RED, BLUE)[owner], "xo"[owner])
        if column in ends:
            return " " if row in ends else self._in(BLUE, ".")
        return self._in(RED, ".") if row in ends else "."
