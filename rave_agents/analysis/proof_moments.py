"""The display of a search for a proof: the root's numbers over time."""

from rave_agents.results.numbers import whole
from rave_agents.results.progress import View
from rave_agents.results.tables import Column, Table
from rave_agents.solver.proof_search import ProofProgress

ROWS_OVER_TIME = 12
"""Rows of the table of a search for a proof, at most."""


class Moments:
    """The root's numbers over time.

    The moments that stay lie ever further apart: each at twice the seconds of the one before.

    Args:
        positions: the largest number of positions; None without one.
    """

    def __init__(self, positions: int | None = None) -> None:
        self._positions = positions
        self._moments: list[ProofProgress] = []

    def view(self, progress: ProofProgress) -> View:
        """Add a moment; the view of all."""
        moments = self._moments
        if len(moments) > 1 and moments[-1].seconds < 2 * moments[-2].seconds:
            moments.pop()
        moments.append(progress)
        return View(progress.positions, self._positions, "", self.table().text)

    def table(self) -> Table:
        """A row for each of the last moments."""
        moments = self._moments[-ROWS_OVER_TIME:]
        return Table(
            [
                Column("seconds", [f"{each.seconds:.1f}" for each in moments]),
                Column("at least", [f"{each.at_least:g}" for each in moments], rank=2),
                Column("proof number", [whole(each.proof_number) for each in moments]),
                Column("disproof number", [whole(each.disproof_number) for each in moments]),
                Column("moves settled", [f"{e.moves_settled}/{e.num_moves}" for e in moments]),
                Column("positions", [whole(each.positions) for each in moments]),
                Column("a second", [whole(each.positions_per_second) for each in moments], rank=1),
                Column("table", [f"{each.table_share:.0%}" for each in moments], rank=1),
            ]
        )
