"""Reports of AMAF statistics for the root, its actions, or any node of the tree."""

from typing import Any, NamedTuple

import numpy as np

from rave_agents.compiler.dispatch import implements
from rave_agents.kernel.amaf.nodes import EdgeAmaf
from rave_agents.kernel.amaf.tables import AmafTables, table_row
from rave_agents.kernel.amaf.trust import is_learned, trust_of
from rave_agents.kernel.amaf.views import NO_TABLE
from rave_agents.kernel.declarations import report_moves, report_root


class AmafStatistics(NamedTuple):
    """The AMAF statistics of an action; values are scaled to [0, 1]."""

    visits: float = 0.0
    """AMAF visits."""
    value_sum: float = 0.0
    """Sum of their values."""
    wins: float = 0.0
    """AMAF visits that were won, if winning moves are counted."""
    win_moves: float = 0.0
    """Sum of the move numbers of these wins."""


@implements(report_moves, EdgeAmaf)
def amaf_statistics(
    amaf: Any, search: Any, node: int, edges: range, rows: Any = None
) -> dict[str, list[AmafStatistics]]:
    """The AMAF statistics of a node's edges, read from ``rows`` or from the edges' own rows."""
    rows = slice(edges.start, edges.stop) if rows is None else rows
    kept = [amaf.visits[rows], amaf.value_sum[rows]]
    if hasattr(amaf.winning, "wins"):
        kept += [amaf.winning.wins[rows], amaf.winning.win_moves[rows]]
    return {"amaf": list(map(AmafStatistics, *np.array(kept, float).tolist()))}


@implements(report_moves, AmafTables)
def _nodes_table(
    amaf: AmafTables, search: Any, node: int, edges: range
) -> dict[str, list[AmafStatistics]]:
    tree, table = search.tree, int(amaf.node_table[node])
    if table == NO_TABLE:
        return {}
    # In a table the row follows from the action, not from the edge.
    first = table_row(search, table, int(tree.node_player[node]))
    rows = first + tree.edge_action[edges.start : edges.stop].astype(np.int64)
    return amaf_statistics(amaf, search, node, edges, rows)


@implements(report_root, EdgeAmaf)
def _trust(amaf: EdgeAmaf, search: Any) -> dict[str, float | None]:
    """The trust in AMAF values; None if it is constant or not yet learned."""
    trust = amaf.trust
    if type(trust) not in trust_of.implementations:
        return {"amaf_trust": None}
    known = not is_learned(trust) or bool(search.lifetimes.taken.any())
    return {"amaf_trust": float(trust_of(trust, search)) if known else None}
