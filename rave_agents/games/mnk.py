"""The m,n,k-game, as OpenSpiel has it: ``mnk(m=15,n=15,k=5)``.

Players put stones on a board of m columns and n rows; who first has k in a row wins, and a full
board is a draw (OpenSpiel, ``mnk.h``). Action ``row * m + column`` is a cell.
"""

from rave_agents.games.alignment import AlignmentRules


class MNK(AlignmentRules):
    """See the module."""

    name = "mnk"
    uncovered = "m or n above 62, or more than 4096 cells"
    exchange = "same"
    m: int = 15
    n: int = 15
    k: int = 5

    def setup(self) -> None:
        """Lay out the board."""
        self.lay_out((self.n, self.m), self.k)
