"""All-moves-as-first statistics (AMAF): the code shared by RAVE, GRAVE and HRAVE.

An action that its player takes at a node, or later in a simulation through it, gets the value of
that simulation at the node. ``nodes.py`` keeps these statistics at the edges of each node
(RAVE), ``tables.py`` in tables of all players' actions (GRAVE, HRAVE).
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from rave_agents.compiler.arrays import INT, Array, Axis, Rows, one
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.compiler.part_fields import Takes
from rave_agents.kernel.amaf.schedules import blend, blend_trusted
from rave_agents.kernel.amaf.trust import FullTrust, value_of_unvisited
from rave_agents.kernel.amaf.winning_moves import EdgeWins, TableWins, biased_sum, winning_rate
from rave_agents.kernel.declarations import keeps_amaf
from rave_agents.kernel.players import AllPlayers, SearchingPlayer
from rave_agents.kernel.rules import Edge, blended
from rave_agents.kernel.tree import edge_rows

NO_TABLE = -1
"""Sentinel: a node without an AMAF table, or no reference table."""


class NoAmaf(NamedTuple):
    """No AMAF statistics: plain Monte-Carlo tree search."""


@implements(keeps_amaf, NoAmaf)
def _keeps_amaf(amaf: NoAmaf) -> bool:
    return False


class AllEdges(NamedTuple):
    """AMAF statistics rank all edges."""


class VisitedEdges(NamedTuple):
    """AMAF statistics rank edges that have visits; the others have the first-play urgency."""


@open_function
def ranks(edges: Any, n: float) -> bool:
    """True if AMAF statistics rank an edge with n visits."""
    return True


@implements(ranks, VisitedEdges)
def _ranks_visited(edges: VisitedEdges, n: float) -> bool:
    return n > 0.0


class BlendValues(NamedTuple):
    """β blends the mean value; exploration is added to the blend (Gelly & Silver 2011)."""


class BlendScores(NamedTuple):
    """β blends the mean value and its exploration together."""


@open_function
def blended_sum(blending: Any, edge: Edge, explored: float) -> tuple[float, float]:
    """The sum of values that β blends, and the exploration added to it (Gelly & Silver 2011)."""
    return edge.value_sum, explored


@implements(blended_sum, BlendScores)
def _blended_sum(blending: BlendScores, edge: Edge, explored: float) -> tuple[float, float]:
    return edge.value_sum + edge.n * explored, 0.0


Players = Annotated[Any, Takes(AllPlayers, SearchingPlayer)]
Edges = Annotated[Any, Takes(AllEdges, VisitedEdges)]
Blending = Annotated[Any, Takes(BlendValues, BlendScores)]


class View(NamedTuple):
    """AMAF statistics as one node uses them."""

    amaf: Any
    """The part."""
    trusting: Any
    """The trust in them, see ``trust.py``."""
    row: int
    """The row, in tables, of the action 0 of the player who moves at the node."""
    counts: bool
    """True if they count for the player who moves."""
    trust: float
    """The trust in them, from 0 to 1."""
    exploration: float
    """The share of the rule's exploration that remains, from 0 to 1."""
    scale: float
    """Factor of the weighted win rate, see ``winning_scale``; 0 if unused."""


@implements(blended, View)
def _blended(view: View, edge: Edge, explored: float) -> float:
    return blend_by_trust(view.trusting, view, edge, explored)


@open_function
def blend_by_trust(trust: Any, view: View, edge: Edge, explored: float) -> float:
    """The value of an edge with AMAF visits, exploration included.

    ``(1 - t β) q + t β q_amaf + l explored``, with trust t and l the exploration left; with
    ``BlendScores``, ``(1 - t β) (q + l explored) + t β q_amaf``. An edge without visits has q =
    ``value_of_unvisited``.
    """
    schedule, n, t = view.amaf.options.schedule, edge.n, view.trust
    left = view.exploration * explored
    # Exploration is either blended together with the value or added to the blend afterwards.
    value_sum, added = blended_sum(view.amaf.options.blending, edge, left)
    if n > 0.0:
        value = blend_trusted(schedule, t, n, value_sum, edge.n_amaf, edge.amaf_value_sum)
    else:
        amaf_value = blend(schedule, 0.0, 0.0, edge.n_amaf, edge.amaf_value_sum)
        blended_in = left - added
        value = (1.0 - t) * (value_of_unvisited(trust) + blended_in) + t * amaf_value
    return value + added


@implements(blend_by_trust, FullTrust)
def _blend_by_full_trust(trust: FullTrust, view: View, edge: Edge, explored: float) -> float:
    options = view.amaf.options
    value_sum, added = blended_sum(options.blending, edge, explored)
    n_amaf, amaf_value_sum = edge.n_amaf, edge.amaf_value_sum
    return blend(options.schedule, edge.n, value_sum, n_amaf, amaf_value_sum) + added


@open_function
def reference(amaf: Any, search: Any, node: int, above: int) -> int:
    """The reference table of a node, given ``above``, the reference of its parent."""
    return above


@open_function
def view_at(amaf: Any, search: Any, node: int, depth: int, table: int) -> Any:
    """The statistics as a node uses them, ``depth`` edges from the root.

    ``table`` is its reference table.
    """
    return amaf


@open_function
def lie_at_edges(amaf: Any) -> bool:
    """True if AMAF values are stored per edge, in the same consecutive rows."""
    return False


@open_function
def row_of(amaf: Any, search: Any, first: int, edge: int) -> int:
    """The row of an edge's statistics, where ``first`` is ``View.row``."""
    return edge


@open_function
def amaf_sums(view: Any, search: Any, edge: int, n: float) -> tuple[float, float]:
    """AMAF visits of an edge and the sum of their values; (0, 0) where AMAF does not count."""
    return 0.0, 0.0


@implements(amaf_sums, View)
def _amaf_sums(view: View, search: Any, edge: int, n: float) -> tuple[float, float]:
    amaf = view.amaf
    if not (view.counts and ranks(amaf.options.edges, n)):
        return 0.0, 0.0
    row = row_of(amaf, search, view.row, edge)
    n_amaf = amaf.visits[row]
    return n_amaf, biased_sum(amaf.winning, row, n_amaf, amaf.value_sum[row], view.scale)


@open_function
def winning_scale(winning: Any, amaf: Any, search: Any, node: int, row: int) -> float:
    """The factor that makes weighted win rates comparable with AMAF values; 0 if they do not count.

    The sibling with the best weighted win rate gets the siblings' best AMAF value, the others less
    in proportion. The rates shrink with the length of games, so only their ratios matter.
    """
    return 0.0


@implements(winning_scale, EdgeWins, TableWins)
def _winning_scale(winning: Any, amaf: Any, search: Any, node: int, row: int) -> float:
    if winning.options.weight == 0.0:
        return 0.0
    best_rate, best_value = 0.0, 0.0
    for edge in edge_rows(search.tree, node):
        place = row_of(amaf, search, row, edge)
        visits = amaf.visits[place]
        if visits > 0.0:
            best_value = max(best_value, amaf.value_sum[place] / visits)
        best_rate = max(best_rate, winning_rate(winning, place, visits))
    return best_value / best_rate if best_rate > 0.0 else 0.0


class MoveRecord(NamedTuple):
    """The moves of one simulation without chance outcomes."""

    players: Annotated[Array, Rows(Axis.MOVE, np.int32)]
    """The player who made the move."""
    actions: Annotated[Array, Rows(Axis.MOVE, np.int32)]
    """The action played."""
    path_moves: Annotated[Array, Rows(Axis.PATH, np.int32)]
    """Number of moves that lead to each node of the path."""
    seen: Annotated[Array, Rows(Axis.PLAYER, INT, (Axis.ACTION,), fill=-1)]
    """``offset`` plus the number of the player's move with this action that was noted last."""
    offset: Annotated[Array, one(INT)]
    """[1] base of the entries of ``seen`` in this playout; smaller entries belong to earlier
    ones."""


@kernel
def record_path(record: MoveRecord, search: Any, depth: int, nodes: int) -> None:
    """Write the moves of the path to the record."""
    tree, path = search.tree, search.path
    moves = 0
    for index in range(depth):
        record.path_moves[index] = moves
        player = int(tree.node_player[path.nodes[index]])
        if player >= 0:
            record.players[moves] = player
            record.actions[moves] = tree.edge_action[path.edges[index]]
            moves += 1
    record.path_moves[depth] = moves
    # At a leaf with simultaneous moves, all of its nodes start at the same move.
    for index in range(depth + 1, depth + nodes):
        record.path_moves[index] = moves


@kernel
def record_playout(record: MoveRecord, search: Any, depth: int, playout: int) -> int:
    """Append the moves of one playout to those of the path; returns the total number."""
    frame = search.frame
    moves = int(record.path_moves[depth])
    first_move = 0 if playout == 0 else frame.playout_ends[playout - 1]
    for move in range(first_move, frame.playout_ends[playout]):
        record.players[moves] = frame.move_players[move]
        record.actions[moves] = frame.move_actions[move]
        moves += 1
    return moves


@kernel
def see_playout(record: MoveRecord, search: Any, depth: int, playout: int) -> int:
    """Note in ``seen`` the first use of each action in a playout, without copying its moves.

    Returns the number of moves, including the path's.
    """
    frame, actions = search.frame, search.settings.num_actions
    first_move = 0 if playout == 0 else int(frame.playout_ends[playout - 1])
    end, before = int(frame.playout_ends[playout]), int(record.path_moves[depth]) - first_move
    number = int(record.offset[0]) + before
    # Backwards, so that the earliest use of an action is written last.
    for move in range(end - 1, first_move - 1, -1):
        row = frame.move_players[move] * actions + frame.move_actions[move]
        record.seen[row] = number + move
    return before + end
