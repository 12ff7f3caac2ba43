"""Facts of a game and a position that controllers ask for."""

from rave_agents.games.coordinates import point_name
from rave_agents.gtp.position import Position
from rave_agents.gtp.protocol import GtpError
from rave_agents.gtp.score import EMPTY, go_rows

GTP_NAMES = {"go": "Go", "nogo": "NoGo", "hex": "Hex", "havannah": "Havannah", "othello": "Othello"}
"""Names that GTP controllers use for some games."""


def game_id(position: Position) -> str:
    """The game's name, as controllers know it."""
    name = position.vertices.short_name
    return GTP_NAMES.get(name, name)


def board_size_of(position: Position) -> str:
    """The size of the board.

    Raises:
        GtpError: if it is not one number.
    """
    if position.size is None:
        raise GtpError("the board has no single size")
    return str(position.size)


def legal_moves(position: Position) -> str:
    """The moves of whoever is to move; none after the end."""
    state, vertices = position.state, position.vertices
    if state.is_terminal():
        return ""
    return " ".join(vertices.write(state, int(action)) for action in state.legal_actions())


def side_to_move(position: Position) -> str:
    """The colour that is to move; none after the end."""
    state = position.state
    return "" if state.is_terminal() else ("black", "white")[state.current_player()]


def final_result(position: Position) -> str:
    """The result of a game that is over; none before."""
    return position.final_score() if position.state.is_terminal() else ""


def final_status_list(position: Position, status: str) -> str:
    """Stones of Go by their status: all are alive, since areas are counted as the board stands.

    Raises:
        GtpError: for another status, and in other games.
    """
    if status.lower() not in ("alive", "dead", "seki"):
        raise GtpError("unknown status")
    if position.vertices.short_name != "go":
        raise GtpError("the game has no stones that live or die")
    rows = list(reversed(go_rows(str(position.state))))
    stones = [
        point_name(column, row).upper()
        for row, points in enumerate(rows)
        for column, point in enumerate(points)
        if point != EMPTY and status.lower() == "alive"
    ]
    return " ".join(stones)
