"""RAVE: AMAF statistics at the edges of each node (Gelly & Silver 2011)."""

from typing import Annotated, Any, NamedTuple

from rave_agents.compiler.arrays import EDGE, FLOAT, Array, Axis, Rows
from rave_agents.compiler.dispatch import implements, kernel
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.amaf.schedules import MinimumMSE, Schedule
from rave_agents.kernel.amaf.trust import (
    FullTrust,
    Trust,
    exploration_left,
    is_learned,
    measured_trust,
    on_credited,
    trust_of,
    visits_under_trust,
)
from rave_agents.kernel.amaf.views import (
    AllEdges,
    Blending,
    BlendValues,
    Edges,
    MoveRecord,
    NoAmaf,
    Players,
    View,
    lie_at_edges,
    record_path,
    see_playout,
    view_at,
    winning_scale,
)
from rave_agents.kernel.amaf.weightings import Uniform, Weighting, update_weight
from rave_agents.kernel.amaf.winning_moves import WON, NoWinningMoves, Winning, note_win
from rave_agents.kernel.declarations import GameTraits, becomes, taking_part
from rave_agents.kernel.hooks import copy_edge
from rave_agents.kernel.players import AllPlayers, holds_for
from rave_agents.kernel.tree import edge_rows
from rave_agents.kernel.utilities import rescale_sums, set_values


class NodeAmaf(NamedTuple):
    """AMAF statistics at the edges of each node (RAVE)."""

    schedule: Schedule = MinimumMSE()
    """The schedule of their weight β, which falls as visits come in, see ``schedules.py``."""
    blending: Blending = BlendValues()
    """The quantity that β blends: ``BlendValues`` or ``BlendScores``."""
    players: Players = AllPlayers()
    """The players whose choices use them: ``AllPlayers`` or the ``SearchingPlayer``."""
    edges: Edges = AllEdges()
    """The edges that they rank: ``AllEdges`` or ``VisitedEdges``."""
    weighting: Weighting = Uniform()
    """The weight of an update, see ``weightings.py``."""
    winning: Winning = NoWinningMoves()
    """Statistics of winning moves, if they are counted, see ``winning_moves.py``."""
    trust: Trust = FullTrust()
    """The trust in AMAF values: ``FullTrust`` or ``LearnedTrust``, see ``trust.py``."""


@implements(taking_part, NodeAmaf)
def _takes_part_amaf(part: NodeAmaf) -> str:
    return "AMAF"


@implements(becomes, NodeAmaf)
def _becomes(amaf: NodeAmaf, game: GameTraits) -> NodeAmaf | NoAmaf:
    """``NoAmaf`` for learned trust with simultaneous moves or an evaluator's values.

    See ``trust.py``.
    """
    at_once = game.simultaneous and not game.determinized
    misleads = at_once or game.has_values
    return NoAmaf() if misleads and is_learned(amaf.trust) else amaf


@runs_as(NodeAmaf)
class EdgeAmaf(NamedTuple):
    """The statistics at edges. Values are those of the player who moves at the edge's node."""

    options: NodeAmaf
    winning: Any
    trust: Any
    visits: Annotated[Array, Rows(Axis.EDGE, FLOAT)]
    """AMAF visits."""
    value_sum: Annotated[Array, Rows(Axis.EDGE, FLOAT)]
    """Sum of the values of the AMAF visits."""
    record: MoveRecord
    """The moves of the present simulation."""


@implements(lie_at_edges, EdgeAmaf)
def _lie_at_edges(amaf: EdgeAmaf) -> bool:
    return True


@implements(view_at, EdgeAmaf)
def _view(amaf: EdgeAmaf, search: Any, node: int, depth: int, table: int) -> View:
    player = int(search.tree.node_player[node])
    counts = holds_for(amaf.options.players, search, player)
    scale = winning_scale(amaf.winning, amaf, search, node, 0)
    trust = trust_of(amaf.trust, search)
    left = exploration_left(amaf.trust, search, trust)
    return View(amaf, amaf.trust, 0, counts, trust, left, scale)


@implements(measured_trust, EdgeAmaf)
def _measured_trust(amaf: EdgeAmaf, search: Any) -> float:
    return measured_trust(amaf.trust, search)


@implements(hooks.visits_to_expand, EdgeAmaf)
def _visits_to_expand(amaf: EdgeAmaf, search: Any, visits: int) -> int:
    return max(visits, visits_under_trust(amaf.trust, search))


@implements(hooks.on_backup, EdgeAmaf)
def _credit_playouts(amaf: EdgeAmaf, search: Any, depth: int, nodes: int) -> None:
    """Credit every playout to the nodes of the path; all playouts together count as one visit."""
    record, tree, path = amaf.record, search.tree, search.path
    actions = search.settings.num_actions
    record_path(record, search, depth, nodes)
    playouts = search.frame.header[codes.NUM_PLAYOUTS]
    for playout in range(playouts):
        set_values(search, playout, playout + 1)
        # Each playout raises the offset, so entries of `seen` from earlier playouts fall below it
        # and need no clearing.
        offset = int(record.offset[0])
        moves = see_playout(record, search, depth, playout)
        move = int(record.path_moves[depth]) - 1
        # From the leaf to the root: `seen` then always holds, for the current node, the first
        # occurrence of each action at or after it, because earlier moves overwrite later ones.
        for index in range(depth - 1 + nodes, -1, -1):
            start = record.path_moves[index]
            while move >= start:
                record.seen[record.players[move] * actions + record.actions[move]] = offset + move
                move -= 1
            node = path.nodes[index]
            if tree.node_player[node] >= 0:
                credit_edges(amaf, search, node, 1.0 / playouts, start, moves)
        record.offset[0] += moves + 1
    on_credited(amaf.trust, search, amaf.visits, amaf.value_sum)


@kernel
def credit_edges(
    amaf: EdgeAmaf, search: Any, node: int, share: float, start: int, moves: int
) -> None:
    """Credit one playout, worth ``share`` visits, to the edges of a node.

    An edge is credited by the first time its player took its action from the node on. The record
    holds ``moves`` moves, the first one at the node is number ``start``, and ``record.seen`` must
    hold the first occurrences from there on. The loops are free of branches, so the processor has
    nothing to mispredict.
    """
    tree, visits, value_sum, seen = search.tree, amaf.visits, amaf.value_sum, amaf.record.seen
    weighting, length, offset = amaf.options.weighting, moves - start, amaf.record.offset[0]
    player = int(tree.node_player[node])
    row = player * search.settings.num_actions
    value = search.path.values[player]
    # A lost playout adds nothing to the sums: half the memory traffic in games of win and loss.
    if value == 0.0:
        for edge in edge_rows(tree, node):
            move = seen[row + tree.edge_action[edge]] - offset
            weight = share * update_weight(weighting, move - start, length)
            visits[edge] += weight if move >= 0 else 0.0
        return
    won = value > WON
    for edge in edge_rows(tree, node):
        move = seen[row + tree.edge_action[edge]] - offset
        weight = share * update_weight(weighting, move - start, length)
        weight = weight if move >= 0 else 0.0
        new_visits, new_sum = visits[edge] + weight, value_sum[edge] + weight * value
        visits[edge], value_sum[edge] = new_visits, new_sum
        note_win(amaf.winning, edge, won and move >= 0, weight, move - start + 1)


@implements(hooks.on_rescale, EdgeAmaf)
def _rescale(amaf: EdgeAmaf, search: Any, factor: float, shift: float) -> None:
    rescale_sums(amaf.value_sum, amaf.visits, search.tree.used[EDGE], factor, shift)


@implements(hooks.copy_edge, EdgeAmaf)
def _copy(amaf: EdgeAmaf, old: int, new: int) -> None:
    amaf.visits[new] = amaf.visits[old]
    amaf.value_sum[new] = amaf.value_sum[old]
    copy_edge(amaf.winning, old, new)
