"""Positions by FEN, in OpenSpiel's games that begin at one.

``pyspiel.Game.new_initial_state(text)`` ends the process for some texts, so that each is checked
before.
"""

import re

import pyspiel

FEN_GAMES: dict[str, str] = {
    "chess": "Kk",
    "crazyhouse": "Kk",
    "shogi": "Kk",
    "antichess": "",
}
"""Games that take a FEN (shogi: an SFEN), and the pieces of which there is one each."""

_LIKE_FEN = re.compile(r"\s*[A-Za-z\d+~\[\]]+(/[A-Za-z\d+~\[\]]+)+(\s.*)?", re.DOTALL)
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
    text = " ".join(text.split())
    start = str(game.new_initial_state())
    mistake = _mistake(name, text, start)
    state = None
    if not mistake:
        try:
            state = game.new_initial_state(text)
            state.legal_actions()
        except (pyspiel.SpielError, RuntimeError, ValueError) as error:
            mistake = str(error)
    if state is None or mistake:
        raise ValueError(f"{text!r} is no FEN of {name}: {mistake} It begins at {start!r}.")
    return state


def _mistake(name: str, text: str, start: str) -> str:
    """The mistake in a FEN, by the form of the one at which the game begins; empty for none."""
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
    if fields[1] not in ("w", "b"):
        return f"the side to move must be w or b, got {fields[1]!r}."
    forms = {2: _HAND} if name == "shogi" else {2: _CASTLING, 3: _SQUARE}
    for place, form in forms.items():
        if form.fullmatch(fields[place]) is None:
            return f"{fields[place]!r} cannot stand in field {place + 1}."
    for counter in fields[len(forms) + 2 :]:
        if not (counter.isdecimal() and int(counter) < 10_000):
            return f"{counter!r} is no number of moves."
    return ""


def _width(row: str) -> int:
    """The number of squares that a row of a FEN describes."""
    return sum(int(sign) if sign.isdecimal() else sign.isalpha() for sign in row)
