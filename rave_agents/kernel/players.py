"""Players: OpenSpiel's numbers for chance, simultaneous and terminal nodes; whom a part serves."""

from typing import Any, NamedTuple

from rave_agents.compiler.dispatch import implements, open_function
from rave_agents.game.game_state import PlayerId

CHANCE = int(PlayerId.CHANCE)
SIMULTANEOUS = int(PlayerId.SIMULTANEOUS)
TERMINAL = int(PlayerId.TERMINAL)


class AllPlayers(NamedTuple):
    """All players."""


class SearchingPlayer(NamedTuple):
    """Only the player whose move is searched for."""


@open_function
def holds_for(players: Any, search: Any, player: int) -> bool:
    """True if a player is one of ``players``."""
    return True


@implements(holds_for, SearchingPlayer)
def _is_searching(players: SearchingPlayer, search: Any, player: int) -> bool:
    return bool(player == search.settings.searching_player)
