"""Compares games by their parameters, however these are written."""

import pyspiel

_game_keys: dict[str, str] = {}


def game_key(game: pyspiel.Game) -> str:
    """Return a canonical text of a game: equal games have equal texts.

    It lists all parameters with their values in order. It omits a ``board_size`` if rows and
    columns are parameters too, since these define the board.
    """
    # ``str`` shows only the parameters given: compare all values, defaults included.
    text = str(game)
    if text not in _game_keys:
        parameters = dict(game.get_parameters())
        if {"num_rows", "num_cols"} <= parameters.keys():
            parameters.pop("board_size", None)
        values = ",".join(f"{name}={parameters[name]}" for name in sorted(parameters))
        _game_keys[text] = f"{game.get_type().short_name}({values})"
    return _game_keys[text]


def is_same_game(one: pyspiel.Game, other: pyspiel.Game) -> bool:
    """True if two games are the same, as ``hex(board_size=5)`` and a hex of 5 rows and columns."""
    return game_key(one) == game_key(other)
