"""A board as lines of text, for games that print a position as one line, such as a FEN."""

from rave_agents.game.board import Board


def board_text(board: Board) -> str:
    """Draw a board of squares as text, with the names of rows and columns if it has any."""
    rows: dict[int, list[str]] = {}
    labels: dict[int, str] = {}
    letters: list[str] = []
    names = board.names if board.has_coordinates else ("",) * len(board.cells)
    for cell, name in zip(board.cells, names, strict=True):
        sign = cell.piece or "."
        rows.setdefault(cell.row, []).append(sign if len(sign) <= 2 else sign[0])
        labels.setdefault(cell.row, name.lstrip("abcdefghijklmnopqrstuvwxyz"))
        if cell.row == board.cells[0].row:
            letters.append(name.rstrip("0123456789"))
    width = max(map(len, labels.values()))
    lines = [f"{labels[row]:>{width}} {' '.join(pieces)}" for row, pieces in rows.items()]
    if any(letters):
        lines.append(f"{'':>{width}} {' '.join(letters)}")
    return "\n".join(lines)
