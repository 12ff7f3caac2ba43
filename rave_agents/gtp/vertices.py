"""How moves are written in the Go Text Protocol: a game's own names, without blanks."""

import re

from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import Game
from rave_agents.game.game_state import GameState
from rave_agents.game.notation import action_name
from rave_agents.games.coordinates import point_name

PASS, RESIGN = "pass", "resign"
"""Moves that are no points."""

_ROW_AND_COLUMN = re.compile(r"\D*?(\d+),(\d+)\)?")
_POINTS = re.compile(r"([a-z])(\d{1,2})(?:[-x]?([a-z])(\d{1,2}))?\*?")
_LARGEST_BOARD = 25


class Vertices:
    """Writes and reads the moves of one game.

    Go's and NoGo's points are as Go players write them, and so are those of games whose actions are
    named by row and column, such as gomoku; the letter i is left out there. Other games keep their
    names: ``a1`` in hex, ``b1-h1`` in lines_of_action.

    Args:
        game: the game, for two players.

    Raises:
        UnsupportedGameError: if moves of the game cannot be written as one word.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.short_name: str = game.name.partition("(")[0]
        """The game's name without parameters."""
        state = game.new_initial_state()
        if game.num_players != 2 or state.is_chance_node():
            raise UnsupportedGameError(
                f"{game.name} cannot be played by GTP, which has two players and no chance."
            )
        names = [action_name(state, action) for action in state.legal_actions()]
        places = [_ROW_AND_COLUMN.fullmatch(name) for name in names]
        self._rows = 0
        if all(place is not None for place in places):
            self._rows = 1 + max(int(place[1]) for place in places if place is not None)
        elif any(not name or re.search(r"\s", _without_colour(name)) for name in names):
            raise UnsupportedGameError(
                f"{game.name} cannot be played by GTP: its moves, such as {names[0]!r}, are not "
                "single words."
            )

    @property
    def has_go_points(self) -> bool:
        """Whether moves are points as Go players write them."""
        return self._rows > 0 or self.short_name in ("go", "nogo")

    def write(self, state: GameState, action: int) -> str:
        """A move of the player to move at a state."""
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
        """The legal action that a word stands for, capitals aside.

        Raises:
            LookupError: if it may be a move, but is not legal.
            ValueError: if it cannot be a move.
        """
        wanted = word.lower()
        for action in state.legal_actions():
            if self.write(state, int(action)).lower() == wanted:
                return int(action)
        points = _POINTS.fullmatch(wanted)
        numbers = [] if points is None else [int(n) for n in points.group(2, 4) if n is not None]
        plausible = bool(numbers) and all(1 <= number <= _LARGEST_BOARD for number in numbers)
        if wanted == PASS or plausible:
            raise LookupError(f"{word!r} is not legal.")
        raise ValueError(f"{word!r} is no move.")


def _without_colour(name: str) -> str:
    """The name of a move in OpenSpiel's Go without the colour before it."""
    return re.sub(r"^[BW] ", "", name)
