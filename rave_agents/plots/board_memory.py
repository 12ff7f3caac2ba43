"""BoardMemory: boards of one game's positions, each read with what earlier ones have told."""

import dataclasses
from typing import Any

from rave_agents.plots.board import Board, find_board


class BoardMemory:
    """Reads the boards of a game's positions, one after the other."""

    def __init__(self) -> None:
        self._owners: dict[str, int] = {}
        self.moves_pieces: bool = False
        """True once a move has been seen that moves a piece."""

    def board(self, state: Any) -> Board | None:
        """Find the board of a position; None if it has none.

        The owners of pieces that the position alone does not tell, as one that is over, are those
        of earlier positions.
        """
        try:
            board = find_board(state)
        except Exception:  # Whatever a game prints may not be read: then it has no board.
            return None
        self.moves_pieces |= any(p.source is not None for p in board.places.values())
        for cell in board.cells:
            if cell.piece is not None and cell.owner is not None:
                self._owners.setdefault(cell.piece, cell.owner)
        cells = tuple(
            cell
            if cell.piece is None or cell.owner is not None
            else dataclasses.replace(cell, owner=self._owners.get(cell.piece))
            for cell in board.cells
        )
        return dataclasses.replace(board, cells=cells)
