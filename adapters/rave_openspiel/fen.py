"""Positions by FEN, in OpenSpiel's games that begin at one.

``pyspiel.Game.new_initial_state(text)`` aborts the process for some texts, so each text is checked
first.
"""

import re
from collections.abc import Mapping

import pyspiel

from rave_openspiel.chess_position import mistake_in, moves_of_bare_kings

FEN_GAMES: dict[str, str] = {
    "chess": "Kk",
    "crazyhouse": "Kk",
    "shogi": "Kk",
    "antichess": "",
}
"""Games that take a FEN (shogi: an SFEN), and the pieces of which there is one each."""

_LIKE_FEN = re.compile(r"\s*[A-Za-z\d+~\[\]]+(/[A-Za-z\d+~\[\]]+)+(\s.*)?", re.DOTALL)
_OPERATIONS = re.compile(
    r"((?: \S+){4}|(?: \S+){6})"
    r'((?: [A-Za-z]\w*(?: (?:"[^"]*"|[^;"])+)?;)+)'
)
"""A position of an EPD: the fields of a FEN, perhaps without counters, then operations."""

_CLAIMED_AT = 100
"""Plies without a pawn move or capture after which a player may claim a draw (50 moves each)."""

_CASTLING = re.compile(r"-|[KQkqA-Ha-h]{1,4}")
_SQUARE = re.compile(r"-|[a-h][36]")
_HAND = re.compile(r"-|(\d*[A-Za-z])+")


def fen_state(game: pyspiel.Game, text: str) -> pyspiel.State | None:
    """The state at a FEN; None if the text is no FEN, or the game has none.

    Raises:
        ValueError: for a FEN that is not one of this game.
    """
    name = game.get_type().short_name
    if name not in FEN_GAMES or _LIKE_FEN.fullmatch(text) is None:
        return None
    start = str(game.new_initial_state())  # Its FEN: the model for fields, rows and pieces.
    given, text = text, _completed(name, " ".join(text.split()))
    mistake = _mistake(name, text, start)
    if not mistake and name in ("chess", "crazyhouse"):
        # Crazyhouse adds pockets ([Qp]) and marks promoted pieces (Q~): chess has neither.
        board = re.sub(r"\[\w*\]|~", "", text)
        mistake = mistake_in(board, chess960=bool(game.get_parameters().get("chess960")))
    state = None
    if not mistake:
        try:
            state = game.new_initial_state(text)
            state.legal_actions()  # Some mistakes raise only here.
        except (pyspiel.SpielError, RuntimeError, ValueError) as error:
            mistake = str(error)
    if state is None or mistake:
        raise ValueError(f"{given!r} is no FEN of {name}: {mistake} It begins at {start!r}.")
    return state


def unclaimed(state: pyspiel.State) -> pyspiel.State | None:
    """The same position where the players have not claimed a draw; None if the game is over.

    OpenSpiel ends a game of chess at the third repetition and after fifty moves.
    """
    if not state.is_terminal():
        return state
    game = state.get_game()
    name, fields = game.get_type().short_name, str(state).split(" ")
    if name not in ("chess", "shogi"):
        return None
    # Starting from a FEN forgets the earlier positions, and with them the repetition.
    if name == "chess" and int(fields[4]) >= _CLAIMED_AT:
        fields[4] = "0"
    again = game.new_initial_state(" ".join(fields))
    return None if again.is_terminal() else again


def moves_after_draw(state: pyspiel.State) -> Mapping[str, pyspiel.State]:
    """The states after each legal move of chess, in UCI notation, where neither side can mate."""
    game = state.get_game()
    if game.get_type().short_name != "chess" or not state.board().has_legal_moves():
        return {}
    moves = moves_of_bare_kings(str(state))
    return {word: game.new_initial_state(fen) for word, fen in moves.items()}


def _completed(name: str, text: str) -> str:
    """Add missing counters to a FEN and drop the operations of an EPD."""
    if name == "shogi":
        return text
    counters = {"hmvc": "0", "fmvn": "1"}
    operations = _OPERATIONS.fullmatch(f" {text}")
    if operations is not None:
        text = operations[1].strip()
        counters |= dict(re.findall(r" (hmvc|fmvn) (\d+);", operations[2]))
    missing = 6 - text.count(" ") - 1
    return " ".join([text, *list(counters.values())[2 - missing :]]) if missing in (1, 2) else text


def _mistake(name: str, text: str, start: str) -> str:
    """The mistake in a FEN, judged by the form of the initial one; empty for none."""
    fields, known = text.split(" "), start.split(" ")
    if len(fields) != len(known):
        return f"it has {len(fields)} fields, not {len(known)}."
    rows = re.sub(r"\[[A-Za-z]*\]$", "", fields[0]).split("/")
    width, height = _width(known[0].split("/")[0]), known[0].count("/") + 1
    if len(rows) != height:
        return f"the board has {len(rows)} rows, not {height}."
    for row in rows:
        if _width(row) != width:
            return f"the row {row!r} has {_width(row)} squares, not {width}."
    letters = {letter.lower() for letter in known[0] if letter.isalpha()}
    for letter in "".join(rows):
        if letter.isalpha() and letter.lower() not in letters:
            return f"there is no piece {letter!r}."
    for piece in FEN_GAMES[name]:
        if fields[0].count(piece) != 1:
            return f"there must be one {piece}, and there are {fields[0].count(piece)}."
    return _mistake_behind_board(name, fields)


def _mistake_behind_board(name: str, fields: list[str]) -> str:
    # Shogi's fields are board, side, hand, number; chess has castling, en passant and two counters.
    if fields[1] not in ("w", "b"):
        return f"the side to move must be w or b, got {fields[1]!r}."
    forms = {2: _HAND} if name == "shogi" else {2: _CASTLING, 3: _SQUARE}
    for place, form in forms.items():
        if form.fullmatch(fields[place]) is None:
            return f"{fields[place]!r} is not allowed in field {place + 1}."
    for counter in fields[len(forms) + 2 :]:
        if not (counter.isdecimal() and int(counter) < 10_000):
            return f"{counter!r} is no number of moves."
    return ""


def _width(row: str) -> int:
    """The number of squares that a row of a FEN describes."""
    return sum(int(sign) if sign.isdecimal() else sign.isalpha() for sign in row)
