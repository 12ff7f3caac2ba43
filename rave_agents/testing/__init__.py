"""Conformance checks for states, simulators and bots, to call from the tests of an adapter or game.

``check_game_state`` plays random games with a GameState, ``check_rules`` plays a game's compiled
rules next to plain ones, ``check_simulator`` checks a provider of
simulations, and ``check_bot`` plays whole games with bots that have the methods of ``pyspiel.Bot``.
Each raises ``ConformanceError``, with the rule that was violated, and otherwise returns None. All
randomness follows from ``seed``.
"""

from rave_agents.testing.bots import check_bot
from rave_agents.testing.common import snapshot
from rave_agents.testing.rules import check_rules
from rave_agents.testing.simulators import check_simulator
from rave_agents.testing.states import check_game_state

__all__ = ["check_bot", "check_game_state", "check_rules", "check_simulator", "snapshot"]
