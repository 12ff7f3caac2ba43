"""Conformance checks for states, simulators and bots, to call from the tests of an adapter or game.

``check_game_state`` checks a GameState, ``check_rules`` compiled rules against plain ones,
``check_simulator`` a provider of simulations, ``check_bot`` bots with the methods of
``pyspiel.Bot``. Each plays random games and raises ``ConformanceError`` with the violated rule, or
returns None. All randomness follows from ``seed``.
"""

from rave_agents.testing.bots import check_bot
from rave_agents.testing.common import snapshot
from rave_agents.testing.rules import check_rules
from rave_agents.testing.simulators import check_simulator
from rave_agents.testing.states import check_game_state

__all__ = ["check_bot", "check_game_state", "check_rules", "check_simulator", "snapshot"]
