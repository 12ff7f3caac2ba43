"""Moves in the Go Text Protocol: the game's own names for them, without spaces."""

import re

from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import Game
from rave_agents.game.game_state import GameState
from rave_agents.game.notation import action_name
from rave_agents.games.coordinates import point_name

COLOURS = ("b", "w")
"""The colours of players 0 and 1."""

PASS, RESIGN = "pass", "resign"
"""Moves that are not points of the board."""

_ROW_AND_COLUMN = re.compile(r"\D*?(\d+),(\d+)\)?")
_POINTS = re.compile(r"([a-z])(\d{1,2})(?:[-x]?([a-z])(\d{1,2}))?\*?")
_LARGEST_BOARD = 25

_OTHER_NAMES = {"swap-pieces": "swap"}
"""Other programs' names of moves: HexGui's of the swap, which mirrors the stone, too."""


class Vertices:
    """Writes and reads the moves of one game.

    Points of Go, NoGo and games that name actions by row and column, such as gomoku, are written as
    in Go: a letter without I, then a number. Other games keep their own names: ``a1`` in hex,
    ``b1-h1`` in lines_of_action.

    Args:
        game: a game for two players.

    Raises:
        UnsupportedGameError: if the game has chance, not two players, or moves of several words.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.short_name: str = game.name.partition("(")[0]
        """The game's name without parameters."""
        state = game.new_initial_state()
        if game.num_players != 2 or state.is_chance_node():
            raise UnsupportedGameError(
                f"{game.name} cannot be played over GTP: it needs two players and no chance."
            )
        names = [action_name(state, action) for action in state.legal_actions()]
        places = [_ROW_AND_COLUMN.fullmatch(name) for name in names]
        self._rows = 0
        if all(place is not None for place in places):
            self._rows = 1 + max(int(place[1]) for place in places if place is not None)
        elif any(not name or re.search(r"\s", _without_colour(name)) for name in names):
            raise UnsupportedGameError(
                f"{game.name} cannot be played over GTP: its moves, such as {names[0]!r}, are not "
                "single words."
            )

    @property
    def has_go_points(self) -> bool:
        """True if moves are written as points of Go, such as ``D4``."""
        return self._rows > 0 or self.short_name in ("go", "nogo")

    def write(self, state: GameState, action: int) -> str:
        """Write an action of the player to move as one word."""
        name = action_name(state, action)
        if self._rows:
            place = _ROW_AND_COLUMN.fullmatch(name)
            assert place is not None
            return point_name(int(place[2]), self._rows - 1 - int(place[1])).upper()
        name = _without_colour(name)
        if name.lower() == PASS:
            return PASS
        return name.upper() if self.has_go_points else name

    def read(self, state: GameState, word: str) -> int:
        """Return the legal action that a word names; upper and lower case are equal.

        Raises:
            LookupError: if the word has the form of a move, but the move is illegal.
            ValueError: if the word does not have the form of a move.
        """
        wanted = _OTHER_NAMES.get(word.lower(), word.lower())
        # By comparing with all legal moves, whatever the game's notation is.
        for action in state.legal_actions():
            if self.write(state, int(action)).lower() == wanted:
                return int(action)
        points = _POINTS.fullmatch(wanted)
        numbers = [] if points is None else [int(n) for n in points.group(2, 4) if n is not None]
        plausible = bool(numbers) and all(1 <= number <= _LARGEST_BOARD for number in numbers)
        if wanted == PASS or plausible:
            raise LookupError(f"{word!r} is illegal.")
        raise ValueError(f"{word!r} is not a move.")


def _without_colour(name: str) -> str:
    """Strip the colour that OpenSpiel's Go writes before a move."""
    return re.sub(r"^[BW] ", "", name)
