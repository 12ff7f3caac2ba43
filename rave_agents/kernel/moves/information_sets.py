"""Hidden information: a node for each information set of the player to move (ISMCTS).

Cowling, Powley & Whitehouse 2012, "Information set Monte Carlo tree search", multiple-observer
variant: every simulation starts from a new determinization drawn by the provider, and each player
chooses by what they know in it. A node is an information set of the player to move: all positions
that they cannot distinguish. So nobody in the tree sees what is hidden from them, and everybody
sees their own cards. There are no chance nodes: the determinization resolves chance.

A node's key is the pair of Lanctot's IS-MCTS in OpenSpiel, the player to move and their information
state. Where the provider shows only what a player sees now, their observations and actions at their
own decisions since the root take its place:

    key = h(u),    h(u) = (h(u'), a', o)    with their last decision u', their action a', and o

Several edges of others may lead to a node. Where the information state is the key, so that the tree
can be kept for a later root, the table of nodes also holds *links*, the nodes that came before
another one. The legal actions at a node may differ between
determinizations. Selection compares those legal in the present one; in place of the node's visits
it uses the number of simulations in which the action was available. An action seen legal for the
first time gets a new edge, see ``added_edges.py``.
"""

import enum
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.arrays import CHILD, INT, NODE, Array, Axis, Rows, one
from rave_agents.compiler.dispatch import implements, kernel
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.adaptive_rule import hides_chance
from rave_agents.kernel.amaf.views import NO_TABLE, reference
from rave_agents.kernel.hooks import is_available
from rave_agents.kernel.moves.added_edges import add_missing, find_edges, is_edge
from rave_agents.kernel.moves.alternating import (
    RowsOf,
    add_described,
    entry_nodes,
    linked_entries,
    rename_entries,
)
from rave_agents.kernel.moves.child_table import NO_ENTRY, Children, add_entry, find_entry, joined
from rave_agents.kernel.players import TERMINAL
from rave_agents.kernel.provider import call_provider
from rave_agents.kernel.rules import Node, node_term
from rave_agents.kernel.selection import NO_EDGE, choose, node_for
from rave_agents.kernel.tree import ROOT, UNEXPANDED, edge_rows


class Views(enum.IntEnum):
    """The views that a provider gives of a position."""

    COMPLETE = 0
    """All that the player to move has seen and done: an information state."""
    OWN = 1
    """What the player to move sees now."""
    COMMON = 2
    """What all players see now: nothing is hidden but the outcomes of chance to come."""


_COMPLETE, _COMMON = int(Views.COMPLETE), int(Views.COMMON)

FIRST_LINK = -16
"""A link from a node to an entry has the key ``(FIRST_LINK - node, entry)``; keys of nodes begin
with a player, which is above ``FIRST_LINK``."""

LINKS_FREE = 32
"""Rows kept free for the links of one simulation. If they are not enough, later simulations that
take the same way add the rest."""


class InformationSets(NamedTuple):
    """Every simulation uses its own determinization (ISMCTS)."""

    views: int = int(Views.OWN)
    """The provider's ``Views``."""


@runs_as(InformationSets)
class Determinizations(NamedTuple):
    """Arrays of an information-set search in addition to the tree's."""

    options: InformationSets
    children: Children
    """The nodes, found by the player to move and the key of what they know; and the links."""
    parent: Annotated[Array, Rows(Axis.CHILD, np.int32, points_to=NODE)]
    """The node before the one of the entry on the first path to it; that from which a link leads.
    """
    histories: Annotated[Array, Rows(Axis.PLAYER, INT)]
    """Key of each player's observations and actions in the present simulation."""
    edge_available: Annotated[Array, Rows(Axis.EDGE, np.int32)]
    """Availability count: simulations through the node in which the action was legal."""
    edge_met: Annotated[Array, Rows(Axis.EDGE, INT)]
    """Number of the last such simulation."""
    number: Annotated[Array, one(INT)]
    """[1] number of the present simulation."""
    edge_of: Annotated[Array, Rows(Axis.ACTION, np.int32)]
    """Edge row of each action at the node listed last; stale for other nodes, see ``is_edge``."""


@implements(hooks.rows_needed, Determinizations)
def _rows_needed(moves: Determinizations, search: Any, axis: int, actions: int) -> int:
    return 1 + LINKS_FREE if axis == CHILD else 0


@implements(hides_chance, Determinizations)
def _hides_chance(moves: Determinizations) -> bool:
    return True


@implements(hooks.is_available, Determinizations)
def _is_available(moves: Determinizations, edge: int) -> bool:
    # Comparing simulation numbers saves clearing the marks after each simulation.
    return bool(moves.edge_met[edge] == moves.number[0])


@implements(node_for, Determinizations)
def _node_for(moves: Determinizations, rule: Any, node: Node, edge: int) -> Node:
    """Replace the node's visits by the edge's availability count, including this simulation."""
    N = float(moves.edge_available[edge] + 1)
    return Node(
        N, node_term(rule, N, node.edges), node.value, node.depth, node.explored, node.edges
    )


@implements(hooks.select, Determinizations)
def walk_in_determinization(moves: Determinizations, search: Any) -> int:  # noqa: PLR0911
    """Draw a determinization, and walk in it to a position without a node or to the end."""
    tree, path, frame = search.tree, search.path, search.frame
    header = frame.header
    moves.number[0] += 1
    for player in range(search.settings.num_players):
        moves.histories[player] = 0
    status = take_step(search, codes.BEGIN)
    key = find_key(moves, search, 0)
    if status != codes.DONE or tree.used[NODE] == 0:
        return status
    node, depth, table = ROOT, 0, NO_TABLE
    path.nodes[0] = node
    while tree.node_player[node] != TERMINAL:
        if depth == header[codes.PATH_CAPACITY]:
            return codes.FRAME_FULL
        available = meet_actions(moves, search, node)
        # 0: edges may no longer be added and none is legal here. -1: no room for new edges.
        if available <= 0:
            return codes.DONE if available == 0 else codes.TREE_FULL
        table = reference(search.amaf, search, node, table)
        edge = choose(search.rule, search, node, depth, table)
        if edge == NO_EDGE:
            return codes.NO_SCORE
        path.edges[depth] = edge
        frame.path[depth] = tree.edge_action[edge]
        frame.path_nodes[depth] = node
        depth += 1
        header[codes.PATH_LENGTH] = depth
        mover = int(tree.node_player[node])
        # With the player: keys of different players may be equal.
        move = int(frame.path[depth - 1]) * search.settings.num_players + mover
        after = joined(key, move)
        moves.histories[whose_history(moves, mover)] = after
        status = take_step(search, codes.ADVANCE)
        if status != codes.DONE:
            return status
        key = find_key(moves, search, after)
        entry = find_entry(moves.children, int(header[codes.PLAYER]), key)
        path.entries[depth - 1] = entry
        if entry == NO_ENTRY or moves.children.child[entry] == UNEXPANDED:
            return codes.DONE
        node = int(moves.children.child[entry])
        path.nodes[depth] = node
    return codes.DONE


@kernel
def take_step(search: Any, step: int) -> int:
    """Let the provider take one step of a simulation; the next one is ``FINISH`` by default."""
    header = search.frame.header
    header[codes.STEP] = step
    status = call_provider(search)
    header[codes.STEP] = codes.FINISH
    return status


@kernel
def whose_history(moves: Determinizations, player: int) -> int:
    """The row of ``histories`` for a player's decision; one for all if nothing is hidden."""
    return 0 if moves.options.views == _COMMON else player


@kernel
def find_key(moves: Determinizations, search: Any, after: int) -> int:
    """Replace the view of the position in the header by the key of its node, and return it.

    ``after`` is the key of the last node and the action taken there. The header keeps the key until
    the simulation ends, since several simulations may wait for an evaluator.
    """
    header = search.frame.header
    player, key = int(header[codes.PLAYER]), int(header[codes.VIEW])
    if player == TERMINAL:
        key = after  # Nobody has to know anything: each end has a node of its own.
    elif moves.options.views != _COMPLETE:
        key = joined(int(moves.histories[whose_history(moves, player)]), key)
    header[codes.VIEW] = key
    return key


@implements(hooks.find_leaf, Determinizations)
def _find_leaf(moves: Determinizations, search: Any, depth: int) -> tuple[int, int]:
    if depth == 0:
        return (ROOT if search.tree.used[NODE] > 0 else UNEXPANDED), 0
    entry = search.path.entries[depth - 1]
    if entry == NO_ENTRY:
        return UNEXPANDED, 0
    return int(moves.children.child[entry]), int(moves.children.visits[entry])


@implements(hooks.on_simulated, Determinizations)
def _add_entries(moves: Determinizations, search: Any, depth: int) -> None:
    """Add the leaf's entry if it has none, and the links of the path; the tree has room."""
    path = search.path
    if not search.settings.may_expand or depth == 0:
        return
    if path.entries[depth - 1] == NO_ENTRY:
        player, key = search.frame.header[codes.PLAYER], search.frame.header[codes.VIEW]
        entry = add_entry(search, moves.children, int(player), int(key))
        moves.parent[entry] = path.nodes[depth - 1]
        path.entries[depth - 1] = entry
    if moves.options.views == _COMPLETE:
        for index in range(depth):
            add_link(moves, search, int(path.nodes[index]), int(path.entries[index]))


@kernel
def add_link(moves: Determinizations, search: Any, before: int, entry: int) -> None:
    """Note that a node came before another one's entry, unless that is known or room is short."""
    if moves.parent[entry] == before or search.tree.used[CHILD] == search.tree.capacity[CHILD]:
        return
    if find_entry(moves.children, FIRST_LINK - before, entry) == NO_ENTRY:
        link = add_entry(search, moves.children, FIRST_LINK - before, entry)
        moves.parent[link] = before


@implements(hooks.add_leaf, Determinizations)
def _add_leaf(moves: Determinizations, search: Any, depth: int, visits: int) -> int:
    header, path = search.frame.header, search.path
    leaf = add_described(search, header[codes.PLAYER], 0, header[codes.NUM_ACTIONS], visits)
    path.nodes[depth] = leaf
    if depth > 0:
        moves.children.child[path.entries[depth - 1]] = leaf
    return 1


@implements(hooks.on_backup, Determinizations)
def _count_visits(moves: Determinizations, search: Any, depth: int, nodes: int) -> None:
    """Count a simulation at the entries of its path and at all edges that were available."""
    for index in range(depth):
        entry = search.path.entries[index]
        if entry != NO_ENTRY:
            moves.children.visits[entry] += 1
        for edge in edge_rows(search.tree, search.path.nodes[index]):
            if is_available(moves, edge):
                moves.edge_available[edge] += 1


@kernel
def meet_actions(moves: Determinizations, search: Any, node: int) -> int:
    """Mark the edges of the frame's legal actions, and add missing ones.

    Returns how many are marked; -1, without a change, if there is no room for missing edges.
    """
    frame = search.frame
    actions = frame.header[codes.NUM_ACTIONS]
    find_edges(moves, search, node)
    missing = 0
    for index in range(actions):
        action = frame.actions[index]
        if not is_edge(search, node, action, moves.edge_of[action]):
            missing += 1
    if missing > 0 and search.settings.may_expand:
        if not add_missing(moves, search, node, missing):
            return -1
        find_edges(moves, search, node)
    marked = 0
    for index in range(actions):
        action = frame.actions[index]
        edge = moves.edge_of[action]
        if is_edge(search, node, action, edge):
            moves.edge_met[edge] = moves.number[0]
            marked += 1
    return marked


@implements(entry_nodes, Determinizations)
def _entry_nodes(moves: Determinizations, count: int, nodes_of: RowsOf) -> NDArray[Any]:
    return moves.parent[:count]


@implements(linked_entries, Determinizations)
def _linked_entries(moves: Determinizations, count: int) -> NDArray[Any]:
    children = moves.children
    links = children.edge[:count] <= FIRST_LINK
    linked: NDArray[Any] = np.where(links, children.beside[:count], np.arange(count))
    return linked


@implements(rename_entries, Determinizations)
def _rename_entries(moves: Determinizations, count: int, new: Any) -> None:
    children, parent = moves.children, moves.parent[:count]
    links = np.flatnonzero(children.edge[:count] <= FIRST_LINK)
    children.edge[links] = FIRST_LINK - parent[links]
    entries = children.beside[links] = new.entries[children.beside[links]]
    # The first parent may be gone; a node that has stayed without it has a link from another one.
    orphans = parent[entries] < 0
    parent[entries[orphans]] = parent[links[orphans]]
