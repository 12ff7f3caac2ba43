"""RAVE: AMAF statistics at the edges of each node (Gelly & Silver 2011)."""

from typing import Annotated, Any, NamedTuple

from rave_agents.compiler.arrays import EDGE, FLOAT, Array, Axis, Rows
from rave_agents.compiler.dispatch import implements, kernel
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel.amaf import (
    NUM_PLAYOUTS,
    AllEdges,
    Blending,
    BlendValues,
    Credit,
    Edges,
    MoveRecord,
    Players,
    View,
    heeds,
    record_path,
    record_playout,
    view_at,
    winning_scale,
)
from rave_agents.kernel.hooks import copy_edge, on_backup, on_rescale
from rave_agents.kernel.players import AllPlayers
from rave_agents.kernel.schedules import MinimumMSE, Schedule
from rave_agents.kernel.utilities import rescaled, set_values
from rave_agents.kernel.weightings import Uniform, Weighting, update_weight
from rave_agents.kernel.winning_moves import WON, NoWinningMoves, Winning, note_win


class NodeAmaf(NamedTuple):
    """AMAF statistics at the edges of each node (RAVE)."""

    schedule: Schedule = MinimumMSE()
    """How their weight β falls as visits come in, see ``schedules.py``."""
    blending: Blending = BlendValues()
    """What β blends: ``BlendValues`` or ``BlendScores``."""
    players: Players = AllPlayers()
    """Whose choices heed them: those of ``AllPlayers`` or of the ``SearchingPlayer``."""
    edges: Edges = AllEdges()
    """Which edges they rank: ``AllEdges`` or ``VisitedEdges``."""
    weighting: Weighting = Uniform()
    """What an update counts, see ``weightings.py``."""
    winning: Winning = NoWinningMoves()
    """Whether winning moves are counted, see ``winning_moves.py``."""


@runs_as(NodeAmaf)
class EdgeAmaf(NamedTuple):
    """The statistics at edges. Values are those of the player who moves at the edge's node."""

    options: NodeAmaf
    winning: Any
    visits: Annotated[Array, Rows(Axis.EDGE, FLOAT)]
    """AMAF visits."""
    value_sum: Annotated[Array, Rows(Axis.EDGE, FLOAT)]
    """Sum of the values of the AMAF visits."""
    record: MoveRecord
    """The moves of the present simulation."""


@implements(view_at, EdgeAmaf)
def _view(amaf: EdgeAmaf, search: Any, node: int, table: int) -> View:
    player = int(search.tree.node_player[node])
    heeded = heeds(amaf.options.players, search, player)
    return View(amaf, 0, heeded, winning_scale(amaf, search, node, 0))


@implements(on_backup, EdgeAmaf)
def _credit_playouts(amaf: EdgeAmaf, search: Any, depth: int, nodes: int) -> None:
    """Credit every playout to the nodes of the path; together they count as one visit."""
    record, tree, path = amaf.record, search.tree, search.path
    record_path(record, search, depth, nodes)
    playouts = search.frame.header[NUM_PLAYOUTS]
    for playout in range(playouts):
        set_values(search, playout, playout + 1)
        moves = record_playout(record, search, depth, playout)
        move = moves - 1
        for index in range(depth - 1 + nodes, -1, -1):
            start = record.path_moves[index]
            while move >= start:
                row = record.players[move] * search.settings.num_actions + record.actions[move]
                record.seen[row] = record.offset[0] + move
                move -= 1
            node = path.nodes[index]
            player = int(tree.node_player[node])
            if player >= 0:
                credit = Credit(1.0 / playouts, path.values[player], start, moves)
                credit_edges(amaf, search, node, credit)
        record.offset[0] += moves + 1


@kernel
def credit_edges(amaf: EdgeAmaf, search: Any, node: int, credit: Credit) -> None:
    """Credit a playout to a node's edges: each by its player's first such move since the node.

    ``record.seen`` must hold the first occurrences from the credit's start on. Without a branch in
    the loop, which no processor could foretell.
    """
    tree, visits, value_sum, seen = search.tree, amaf.visits, amaf.value_sum, amaf.record.seen
    weighting, start, length = amaf.options.weighting, credit.start, credit.moves - credit.start
    first = int(tree.node_first_edge[node])
    end = first + int(tree.node_edge_count[node])
    row = int(tree.node_player[node]) * search.settings.num_actions
    offset = amaf.record.offset[0]
    if credit.value == 0.0:
        for edge in range(first, end):
            move = seen[row + tree.edge_action[edge]] - offset
            weight = credit.share * update_weight(weighting, move - start, length)
            visits[edge] += weight if move >= 0 else 0.0
        return
    won = credit.value > WON
    for edge in range(first, end):
        move = seen[row + tree.edge_action[edge]] - offset
        weight = credit.share * update_weight(weighting, move - start, length)
        weight = weight if move >= 0 else 0.0
        new_visits, new_sum = visits[edge] + weight, value_sum[edge] + weight * credit.value
        visits[edge], value_sum[edge] = new_visits, new_sum
        note_win(amaf.winning, edge, won and move >= 0, weight, move - start + 1)


@implements(on_rescale, EdgeAmaf)
def _rescale(amaf: EdgeAmaf, search: Any, factor: float, shift: float) -> None:
    for edge in range(search.tree.used[EDGE]):
        amaf.value_sum[edge] = rescaled(amaf.value_sum[edge], amaf.visits[edge], factor, shift)


@implements(copy_edge, EdgeAmaf)
def _copy(amaf: EdgeAmaf, old: int, new: int) -> None:
    amaf.visits[new] = amaf.visits[old]
    amaf.value_sum[new] = amaf.value_sum[old]
    copy_edge(amaf.winning, old, new)
