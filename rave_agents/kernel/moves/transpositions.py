"""Transpositions: positions reached by different orders of moves share a node.

The tree becomes a directed acyclic graph: several edges may lead to a node. The depth is part of a
node's identity, so there are no cycles: a position that recurs later gets another node. The
provider describes the leaf's position by a 128-bit key, and a hash table finds its node, if any.

A simulation is counted on the path it took. An edge to a shared node takes the node's value (UCT2
of Childs, Brodeur & Kocsis 2008), and the correction is backed up to the root, clipped to the range
of one simulation (Czech, Korus & Kersting 2021).
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.arrays import CHILD, FLOAT, NODE, Array, Axis, Rows, one
from rave_agents.compiler.dispatch import implements, kernel
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.declarations import (
    GameTraits,
    asks_keys,
    becomes,
    game_refusal,
    on_rerooted,
    taking_part,
)
from rave_agents.kernel.moves import alternating
from rave_agents.kernel.moves.alternating import (
    Alternating,
    RowsOf,
    entry_nodes,
    find_leaf,
    has_several_parents,
)
from rave_agents.kernel.moves.child_table import NO_ENTRY, Children, add_entry, find_entry
from rave_agents.kernel.players import TERMINAL
from rave_agents.kernel.utilities import rescale_sums

NOBODY = -1
"""Sentinel for a player: no player has moved before the edge."""

DEPTH_STEP = 131
"""Separates depths in keys; must exceed the number of players."""

_POSITIVE = 0x7FFFFFFF

walk, add_leaf = kernel(alternating.walk), kernel(alternating.add_leaf)


class NoTranspositions(NamedTuple):
    """Every order of moves has its own nodes: the tree is a tree."""


class Transpositions(NamedTuple):
    """Positions reached by different orders of equally many moves share a node."""

    optional: bool = False
    """True to search without transpositions, instead of raising an error, where positions cannot be
    identified: with hidden information, simultaneous moves, or a game without ``position_key``."""


@implements(taking_part, Transpositions)
def _takes_part_transpositions(part: Transpositions) -> str:
    return "transpositions"


@implements(becomes, NoTranspositions)
def _becomes_a_tree(transpositions: NoTranspositions, game: GameTraits) -> Alternating:
    return Alternating()


@implements(becomes, Transpositions)
def _becomes(transpositions: Transpositions, game: GameTraits) -> Any:
    left_out = transpositions.optional and not (game.keyed and game.plain)
    return Alternating() if left_out else transpositions


@implements(game_refusal, Transpositions)
def _game_refusal(transpositions: Transpositions, game: GameTraits) -> str:
    if transpositions.optional or game.plain:
        return ""
    return (
        "transpositions share the statistics of a position. With simultaneous moves or hidden "
        "information, the search cannot identify positions: use "
        "transpositions=no_transpositions."
    )


@implements(asks_keys, Transpositions)
def _asks_keys(transpositions: Transpositions) -> bool:
    return True


@runs_as(Transpositions)
class SharedNodes(NamedTuple):
    """Arrays of a search with transpositions in addition to the tree's."""

    options: Transpositions
    children: Children
    """The nodes by the keys of their positions, see ``key_at``."""
    links: Annotated[Array, Rows(Axis.NODE, np.int32)]
    """Number of edges that lead to the node; 0 if its position has no key."""
    value_sum: Annotated[Array, Rows(Axis.NODE, FLOAT)]
    """Sum of the values of its simulations, for the player whose value these edges hold."""
    visits: Annotated[Array, Rows(Axis.NODE, np.int32)]
    """Number of these simulations, not counting those that wait for an evaluator."""
    moves_before: Annotated[Array, one(np.int64)]
    """[1] moves from the tree's first root to the present one."""


@implements(hooks.rows_needed, SharedNodes)
def _rows_needed(moves: SharedNodes, search: Any, axis: int, actions: int) -> int:
    return 1 if axis == CHILD else 0


@implements(hooks.is_shared, SharedNodes)
def _is_shared(moves: SharedNodes, node: int) -> bool:
    return bool(moves.links[node] > 1)


@implements(hooks.shares_nodes, SharedNodes)
def _shares_nodes(moves: SharedNodes) -> bool:
    return True


implements(hooks.find_leaf, SharedNodes)(find_leaf)


@implements(hooks.select, SharedNodes)
def _select(moves: SharedNodes, search: Any) -> int:
    search.frame.header[codes.KEY_TOLD] = 0
    return walk(moves, search)


@kernel
def mover_before(search: Any, depth: int) -> int:
    """The player whose value the last of the path's ``depth`` edges holds, or ``NOBODY``."""
    for index in range(depth - 1, -1, -1):
        player = int(search.tree.node_player[search.path.nodes[index]])
        if player >= 0:
            return player
    return NOBODY


@kernel
def key_at(moves: SharedNodes, search: Any, depth: int) -> int:
    """Half of a leaf's key: the position's second word, the depth and the previous mover.

    The other half is the first word.
    """
    # The mover before counts: edges to a shared node must all hold the same player's value.
    moment = DEPTH_STEP * (moves.moves_before[0] + depth) + mover_before(search, depth)
    # The depth keeps positions on different plies apart, so the graph has no cycles.
    return int((search.frame.header[codes.SECOND_KEY] + moment) & _POSITIVE)


@implements(hooks.on_simulated, SharedNodes)
def link_leaf(moves: SharedNodes, search: Any, depth: int) -> None:
    """Link the path's last edge to the node of the leaf's position, if it exists.

    The edge's earlier simulations are added to the node.
    """
    header, tree, path = search.frame.header, search.tree, search.path
    has_key = header[codes.KEY_TOLD] != 0 and header[codes.PLAYER] != TERMINAL
    if not has_key or header[codes.EXPAND] == 0 or depth == 0:
        return
    first = header[codes.FIRST_KEY]
    entry = find_entry(moves.children, key_at(moves, search, depth), first)
    if entry == NO_ENTRY:
        return
    node, edge = int(moves.children.child[entry]), path.edges[depth - 1]
    tree.edge_child[edge] = node
    path.nodes[depth] = node
    # Nothing is left to add.
    header[codes.EXPAND] = 0
    moves.links[node] += 1
    moves.value_sum[node] += tree.edge_value_sum[edge]
    moves.visits[node] += tree.edge_visits[edge]
    tree.node_visits[node] += tree.edge_visits[edge]
    if hooks.is_solved(search.proofs, node):
        hooks.give_outcome(search.proofs, search, node)  # Exact, so it replaces the playouts.


@implements(hooks.add_leaf, SharedNodes)
def _add_leaf(moves: SharedNodes, search: Any, depth: int, visits: int) -> int:
    nodes = add_leaf(moves, search, depth, visits)
    header, tree, path = search.frame.header, search.tree, search.path
    if header[codes.KEY_TOLD] != 0 and header[codes.PLAYER] != TERMINAL:
        leaf = int(path.nodes[depth])
        key, first = key_at(moves, search, depth), header[codes.FIRST_KEY]
        entry = add_entry(search, moves.children, key, first)
        moves.children.child[entry] = leaf
        moves.links[leaf] = 1
        if depth > 0:
            moves.value_sum[leaf] = tree.edge_value_sum[path.edges[depth - 1]]
            moves.visits[leaf] = tree.edge_visits[path.edges[depth - 1]]
    return nodes


@implements(hooks.share_value, SharedNodes)
def share_value(moves: SharedNodes, search: Any, index: int, end: int) -> None:
    """Count a simulation at the child of the path's edge at ``index``, and correct the edge.

    An edge with n visits to a shared node of value V gets the sum ``n V``. The resulting change of
    its sum, including the simulation's own value, is the value backed up to the edges above,
    clipped to the range of a simulation's value.
    """
    tree, path = search.tree, search.path
    # The last node may be missing; before any player's move an edge holds nobody's value.
    if index + 1 == end or mover_before(search, index + 1) == NOBODY:
        return
    child = path.nodes[index + 1]
    if moves.links[child] == 0:
        return
    edge, mover = path.edges[index], path.movers[index]
    value = path.values[mover]
    moves.value_sum[child] += value
    moves.visits[child] += 1
    if moves.links[child] == 1:
        return
    # n V: the edge counts as if all its simulations had the node's mean.
    corrected = tree.edge_visits[edge] * moves.value_sum[child] / moves.visits[child]
    change = corrected - tree.edge_value_sum[edge] + value
    tree.edge_value_sum[edge] = corrected
    if search.settings.num_players == 2 and not math.isnan(search.settings.utility_sum):
        # Constant sum: both values must stay in [0, 1] and add up to the same total.
        total = value + path.values[1 - mover]
        path.values[mover] = min(max(change, 0.0, total - 1.0), 1.0, total)
        path.values[1 - mover] = total - path.values[mover]
    else:
        path.values[mover] = min(max(change, 0.0), 1.0)


@implements(hooks.on_rescale, SharedNodes)
def _rescale(moves: SharedNodes, search: Any, factor: float, shift: float) -> None:
    rescale_sums(moves.value_sum, moves.visits, search.tree.used[NODE], factor, shift)


@implements(on_rerooted, SharedNodes)
def _on_rerooted(moves: SharedNodes, count: int) -> None:
    moves.moves_before[0] += count


@implements(has_several_parents, SharedNodes)
def _has_several_parents(moves: SharedNodes) -> bool:
    return True


@implements(entry_nodes, SharedNodes)
def _entry_nodes(moves: SharedNodes, count: int, nodes_of: RowsOf) -> NDArray[Any]:
    return moves.children.child[:count]
