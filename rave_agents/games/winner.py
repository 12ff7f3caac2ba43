"""Base of games of two that end with a winner or in a draw."""

from typing import Any

from rave_agents.games.kit.rules import NO_ACTION, TERMINAL, Rules


class WinnerRules(Rules):
    """Rules whose records have the player to move at ``to_move``, and who has won at ``winner``.

    ``winner`` is ``NO_ACTION`` while the game goes on, and ``DRAWN`` if it ended in a draw.
    """

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
