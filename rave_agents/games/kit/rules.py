"""``Rules``: the class that a game of the kit subclasses, and what its methods need beside it."""

import types

from rave_agents.games.kit import machine
from rave_agents.games.kit.base_rules import CHANCE, DRAWN, NO_ACTION, TERMINAL, BaseRules
from rave_agents.games.kit.rules_state import RulesState

__all__ = ["CHANCE", "DRAWN", "NO_ACTION", "TERMINAL", "Rules"]


class Rules(BaseRules):
    """The rules of a game, to be subclassed; see ``BaseRules`` for what a game may define."""

    def new_initial_state(self) -> RulesState:
        """The position at the game's start, a GameState."""
        return RulesState(self)

    def compiled(self, kit: types.ModuleType) -> int:
        """The address of a module of the kit, compiled with these rules: of its ``entry``."""
        return machine.loaded(self, kit).address
