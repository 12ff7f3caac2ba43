"""BoardMemory: reads the boards of a game's positions with what earlier positions showed."""

import dataclasses
from typing import Any

from rave_agents.game.game_state import hides_information
from rave_agents.plots.board import Board, declared_board, find_board, printed_of


class BoardMemory:
    """Reads the boards of a game's positions, one after the other.

    If each action places a stone on its own cell, as in Hex, actions keep their cells: later
    positions are then read without trying out their actions.
    """

    def __init__(self) -> None:
        self._owners: dict[str, int] = {}
        self._placing: Board | None = None
        self._unplaced: set[int] = set()
        self._empty = ""
        self.moves_pieces: bool = False
        """True once a move has been seen that moves a piece."""

    def board(self, state: Any) -> Board | None:
        """Find the board of a position; None if it has none.

        Owners of pieces that the position alone does not show, as at the end of a game, are those
        of earlier positions.
        """
        try:
            board = declared_board(state) or self._placed_again(state) or find_board(state)
        except Exception:  # A game may print anything: what cannot be read is no board.
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
        found = dataclasses.replace(board, cells=cells)
        if self._placing is None and not hides_information(state):
            self._learn(state, found)
        return found

    def _learn(self, state: Any, board: Board) -> None:
        empty = {index for index, cell in enumerate(board.cells) if cell.piece is None}
        targets = [place.target for place in board.places.values()]
        printed = printed_of(state, 0)
        if self.moves_pieces or not empty or sorted(targets) != sorted(empty) or printed is None:
            return
        self._placing, self._empty = board, printed.cells[min(empty)].piece
        self._unplaced = {int(action) for action in state.legal_actions()} - board.places.keys()

    def _placed_again(self, state: Any) -> Board | None:
        """The board by the known cells of actions; None if they do not fit."""
        known = self._placing
        printed = None if known is None else printed_of(state, 0)
        if known is None or printed is None or len(printed.cells) != len(known.cells):
            return None
        pieces = [None if c.piece == self._empty else c.piece for c in printed.cells]
        if any(piece is not None and piece not in self._owners for piece in pieces):
            return None
        legal = [] if state.is_terminal() else [int(action) for action in state.legal_actions()]
        places = {action: known.places[action] for action in legal if action in known.places}
        # Captures or other moves break the rule, so each position must confirm it.
        free = all(pieces[place.target] is None for place in places.values())
        if not free or not set(legal) <= places.keys() | self._unplaced:
            return None
        cells = tuple(
            dataclasses.replace(cell, piece=piece, owner=None if piece is None else owner)
            for cell, piece in zip(known.cells, pieces, strict=True)
            for owner in [self._owners.get(piece or "")]
        )
        return dataclasses.replace(known, cells=cells, places=places)
