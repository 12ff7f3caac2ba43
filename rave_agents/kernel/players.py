"""Who moves at a node that is no single player's, in OpenSpiel's numbers."""

from rave_agents.game import PlayerId

CHANCE = int(PlayerId.CHANCE)
SIMULTANEOUS = int(PlayerId.SIMULTANEOUS)
TERMINAL = int(PlayerId.TERMINAL)
