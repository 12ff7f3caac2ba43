"""Players: who moves where no single one does, in OpenSpiel's numbers; and for whom a part is."""

from typing import NamedTuple

from rave_agents.game.game_state import PlayerId

CHANCE = int(PlayerId.CHANCE)
SIMULTANEOUS = int(PlayerId.SIMULTANEOUS)
TERMINAL = int(PlayerId.TERMINAL)


class AllPlayers(NamedTuple):
    """Something holds for all players."""


class SearchingPlayer(NamedTuple):
    """It holds for the player alone whose move is searched for."""
