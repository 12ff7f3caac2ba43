"""OpenSpiel's games by how they are played."""

import pyspiel
from rave_openspiel.adapter import ADAPTER
from rave_openspiel.support import hides_information, is_simultaneous

SUPPORTED = [game.name for game in ADAPTER.games() if game.supported]
"""The games that the search plays with their default parameters."""


def _is_open(name):
    game = pyspiel.load_game(name)
    return not hides_information(game.get_type()) and not is_simultaneous(game)


OPEN = [name for name in SUPPORTED if _is_open(name)]
"""Those of them in which one player moves at a time and nothing is hidden."""
