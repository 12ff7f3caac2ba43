"""``Rules``, the class that a game subclasses, and what many games share."""

import types
from typing import Any

from rave_agents.compiler.dispatch import kernel
from rave_agents.games.kit import machine
from rave_agents.games.kit.base_rules import CHANCE, DRAWN, NO_ACTION, TERMINAL, BaseRules
from rave_agents.games.kit.rules_state import RulesState

__all__ = ["CHANCE", "DRAWN", "NO_ACTION", "TERMINAL", "Rules", "WinnerRules", "insert"]


class Rules(BaseRules):
    """The rules of a game, to be subclassed; see ``BaseRules`` for what a game may define."""

    def new_initial_state(self) -> RulesState:
        """The position at the game's start, a GameState."""
        return RulesState(self)

    def compiled(self, kit: types.ModuleType) -> int:
        """The address of a module of the kit, compiled with these rules: of its ``entry``."""
        return machine.loaded(self, kit).address


class WinnerRules(Rules):
    """Rules whose records have the player to move at ``to_move``, and who has won at ``winner``.

    ``winner`` is ``NO_ACTION`` while the game goes on, and ``DRAWN`` if it ended in a draw.
    """

    def begin(self, state: Any) -> None:
        """The board is empty, and nobody has won."""
        state.winner = NO_ACTION

    def player(self, state: Any) -> int:
        """Players take turns until somebody has won or the game is drawn."""
        return TERMINAL if state.winner != NO_ACTION else state.to_move

    def describe_position(self, state: Any, cells: Any) -> int:
        """The board; and who is to move."""
        self.describe_board(state, cells)
        return self.player(state)

    def returns(self, state: Any, returns: Any) -> None:
        """1 for the winner and -1 for the other, 0 for both in a draw."""
        self.write_winner(returns, state.winner)


@kernel
def insert(actions: Any, first: int, count: int, action: int) -> int:
    """Put an action in its place among those from ``first`` on; returns how many there are."""
    place = count
    while place > first and actions[place - 1] > action:
        actions[place] = actions[place - 1]
        place -= 1
    actions[place] = action
    return count + 1
