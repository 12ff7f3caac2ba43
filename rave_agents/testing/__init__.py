"""Conformance checks for states and bots, to call from the tests of an adapter or of a game.

``check_game_state`` takes a GameState through random games, ``check_bot`` lets bots with the
methods of ``pyspiel.Bot`` play whole games, ``check_rules`` takes a game's compiled rules through
random games beside plain ones. They return nothing if all is well and raise
``ConformanceError`` with what was violated otherwise. Everything random follows from ``seed``.
"""

from rave_agents.testing.bots import check_bot
from rave_agents.testing.common import snapshot
from rave_agents.testing.rules import check_rules
from rave_agents.testing.simulators import check_simulator
from rave_agents.testing.states import check_game_state

__all__ = ["check_bot", "check_game_state", "check_rules", "check_simulator", "snapshot"]
