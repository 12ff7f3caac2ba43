"""Positions with simultaneous moves.

Such a position is a run of nodes in consecutive rows of the tree: one per player who moves, in
player order. Each is an ordinary node with its player's edges, visits and values, so every player
has an independent bandit and none sees the others' choices. A simulation takes an edge at each node
of the run; the table ``children`` maps the joint action to its child. A key is an edge together
with what was taken before it in the run: at the second node the first node's edge, from the third
node on the entry reached so far, encoded by ``after_entry``.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.arrays import CHILD, FLOAT, NODE, Array, Axis, Rows
from rave_agents.compiler.dispatch import implements, kernel
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.hooks import count_value, find_leaf, on_rescale
from rave_agents.kernel.move_policies import sees_others
from rave_agents.kernel.moves.alternating import (
    RowsOf,
    add_described,
    entry_nodes,
    follow_edge,
    followers,
    rename_entries,
    set_ancestors,
    take_edge,
    walk,
)
from rave_agents.kernel.moves.child_table import NO_ENTRY, Children, add_entry, find_entry
from rave_agents.kernel.players import SIMULTANEOUS
from rave_agents.kernel.rules import UCB1
from rave_agents.kernel.selection import choose
from rave_agents.kernel.tree import UNEXPANDED

ALONE = -2
"""Sentinel for an entry: the edge alone determines its child, or is the first of a joint action."""


class Simultaneous(NamedTuple):
    """Simultaneous moves are chosen by one independent bandit per player (decoupled UCT)."""

    choice: Any = UCB1(3.0)
    """How each player chooses there: a selection rule, or a mixed strategy, see ``strategies.py``.
    Too little exploration correlates the players' choices."""


@runs_as(Simultaneous)
class JointMoves(NamedTuple):
    """Arrays of a search with simultaneous moves in addition to the tree's."""

    options: Simultaneous
    choice: Any
    node_followers: Annotated[Array, Rows(Axis.NODE, np.int8)]
    """Number of following nodes of the same position; 0 at a single node."""
    children: Children
    """The children of joint actions. Prefixes of a joint action (without the last player's) have
    entries with visits and values too."""
    entry_value_sum: Annotated[Array, Rows(Axis.CHILD, FLOAT, (Axis.PLAYER,))]
    """Sum of each player's values over the simulations through the entry."""


@implements(hooks.rows_needed, JointMoves)
def _rows_needed(moves: JointMoves, search: Any, axis: int, actions: int) -> int:
    # Up to one node per player, the first of which the loop has counted; one entry per edge but the
    # first.
    return search.settings.num_players - 1 if axis in (NODE, CHILD) else 0


@kernel
def after_entry(entry: int) -> int:
    """Encode an entry as second half of a key; negative, so never confused with an edge."""
    return -1 - entry


implements(hooks.select, JointMoves)(walk)


@kernel
def follows(moves: JointMoves, path: Any, index: int) -> bool:
    """True if the path's nodes at ``index`` and before it belong to the same position."""
    return index > 0 and moves.node_followers[path.nodes[index - 1]] > 0


@implements(sees_others, JointMoves)
def _sees_others(moves: JointMoves) -> bool:
    return False


@implements(take_edge, JointMoves)
def _take_edge(moves: JointMoves, search: Any, node: int, depth: int, table: int) -> int:
    if moves.node_followers[node] > 0 or follows(moves, search.path, depth):
        return choose(moves.choice, search, node, depth, table)
    return choose(search.rule, search, node, depth, table)


@implements(follow_edge, JointMoves)
def _follow_edge(moves: JointMoves, search: Any, depth: int) -> int:
    """The node of the position's next player; after the last player, the child."""
    path, frame, index = search.path, search.frame, depth - 1
    path.entries[index] = ALONE
    if follows(moves, path, index):
        frame.path_nodes[index] = frame.path_nodes[index - 1]
        path.entries[index] = path.entries[index - 1]
        # Without an entry for the prefix there is none for the longer joint action either.
        if path.entries[index] != NO_ENTRY:
            beside = beside_at(path, index)
            path.entries[index] = find_entry(moves.children, path.edges[index], beside)
    if moves.node_followers[path.nodes[index]] > 0:
        # The run's nodes are consecutive rows.
        return int(path.nodes[index]) + 1
    node, _ = find_leaf(moves, search, depth)
    return node


@kernel
def beside_at(path: Any, index: int) -> int:
    """Second half of the key of the path's edge at ``index``, not the first of its run."""
    before = path.entries[index - 1]
    return int(path.edges[index - 1] if before == ALONE else after_entry(before))


@implements(hooks.find_leaf, JointMoves)
def _find_leaf(moves: JointMoves, search: Any, depth: int) -> tuple[int, int]:
    if depth == 0:
        return UNEXPANDED, 0
    entry = search.path.entries[depth - 1]
    if entry == NO_ENTRY:
        return UNEXPANDED, 0
    if entry != ALONE:
        return int(moves.children.child[entry]), int(moves.children.visits[entry])
    edge = search.path.edges[depth - 1]
    return int(search.tree.edge_child[edge]), int(search.tree.edge_visits[edge])


@implements(hooks.on_simulated, JointMoves)
def _add_entries(moves: JointMoves, search: Any, depth: int) -> None:
    """Add missing entries of the path's joint actions; the tree has room."""
    path = search.path
    if not search.settings.may_expand:
        return
    for index in range(1, depth):
        if path.entries[index] == NO_ENTRY:
            beside = beside_at(path, index)
            path.entries[index] = add_entry(search, moves.children, path.edges[index], beside)


@implements(hooks.add_leaf, JointMoves)
def _add_leaf(moves: JointMoves, search: Any, depth: int, visits: int) -> int:
    header, path = search.frame.header, search.path
    leaf, count = search.tree.used[NODE], 1
    if header[codes.PLAYER] == SIMULTANEOUS:
        count = header[codes.NUM_MOVERS]
        add_movers(moves, search, visits)
    else:
        add_described(search, header[codes.PLAYER], 0, header[codes.NUM_ACTIONS], visits)
    for index in range(count):
        path.nodes[depth + index] = leaf + index
    if depth > 0:
        entry = path.entries[depth - 1]
        if entry != ALONE:
            moves.children.child[entry] = leaf
        else:
            search.tree.edge_child[path.edges[depth - 1]] = leaf
    return int(count)


@kernel
def add_movers(moves: JointMoves, search: Any, visits: int) -> None:
    """Add a node for each player who moves at the position described by the frame."""
    frame = search.frame
    movers, first = frame.header[codes.NUM_MOVERS], 0
    for index in range(movers):
        end = int(frame.mover_ends[index])
        node = add_described(search, frame.movers[index], first, end, visits)
        moves.node_followers[node] = movers - 1 - index
        first = end


@implements(hooks.on_backup, JointMoves)
def _backup_entries(moves: JointMoves, search: Any, depth: int, nodes: int) -> None:
    """Count the simulation at the entries of its path, with ``path.values``."""
    hooks.on_backup(moves.choice, search, depth, nodes)
    path, players = search.path, search.settings.num_players
    for index in range(depth):
        entry = path.entries[index]
        count_value(moves.choice, path.edges[index], path.values[path.movers[index]])
        if entry >= 0:
            moves.children.visits[entry] += 1
            for player in range(players):
                moves.entry_value_sum[entry * players + player] += path.values[player]


@implements(hooks.on_rescale, JointMoves)
def _rescale(moves: JointMoves, search: Any, factor: float, shift: float) -> None:
    on_rescale(moves.choice, search, factor, shift)
    players = search.settings.num_players
    for entry in range(search.tree.used[CHILD]):
        for row in range(entry * players, (entry + 1) * players):
            # A sum of n values v becomes Σ (factor v + shift) = factor Σ v + n shift.
            shifted = shift * moves.children.visits[entry]
            moves.entry_value_sum[row] = factor * moves.entry_value_sum[row] + shifted


@implements(followers, JointMoves)
def _followers(moves: JointMoves, node: int) -> int:
    return int(moves.node_followers[node])


@implements(set_ancestors, JointMoves)
def _set_ancestors(moves: JointMoves, tree: Any, ancestor: NDArray[np.int32]) -> None:
    followed = np.flatnonzero(moves.node_followers[: tree.used[NODE]] > 0)
    ancestor[followed + 1] = followed


@implements(entry_nodes, JointMoves)
def _entry_nodes(moves: JointMoves, count: int, nodes_of: RowsOf) -> NDArray[Any]:
    return nodes_of(moves.children.edge[:count])


@implements(rename_entries, JointMoves)
def _rename_entries(moves: JointMoves, count: int, new: Any) -> None:
    edges, before = moves.children.edge[:count], moves.children.beside[:count]
    edges[:] = new.edges[edges]
    # A negative second half encodes an entry, others an edge.
    after = before < 0
    entries = -1 - new.entries[np.where(after, -1 - before, 0)]
    before[:] = np.where(after, entries, new.edges[np.where(after, 0, before)])
