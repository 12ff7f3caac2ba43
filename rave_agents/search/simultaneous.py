"""Positions at which several players move at the same time.

Such a position is a run of nodes, consecutive rows of the tree: one for each player who moves, in
the order of the players. Each is a node like any other, with its player's edges, visits and values:
so every player has a bandit of his own, and none sees what the others take. A simulation takes an
edge at each node of the run; what they lead to together, stands in a table of ``children``. Its
keys are an edge and, beside it, what was taken before it in the run: at the second node the first
one's edge; from the third on the entry that was reached, as ``after_entry`` writes it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.search.children import (
    NO_ENTRY,
    Children,
    allocate_children,
    clear_children,
    grow_children,
    keep_children,
    lookup,
)
from rave_agents.search.compiler import kernel
from rave_agents.search.tree import NO_EDGE, UNEXPANDED, Tree, edge_nodes, edge_rows, find_edge

ALONE = -2
"""In the place of an entry: an edge that leads to its child by itself, or the first of several that
are taken at the same time."""


class Simultaneous(NamedTuple):
    """What a tree with room for Nc nodes and Ec edges has beside, where players move together."""

    node_followers: NDArray[np.int8]
    """[Nc] how many nodes of the same position follow; 0 at a node that stands alone."""
    edge_regret: NDArray[np.float64]
    """[Ec] sum of regrets, or of Exp3's estimated gains; empty unless a strategy needs it."""
    edge_strategy: NDArray[np.float64]
    """[Ec] sum of the probabilities that the strategies gave it; empty likewise."""
    children: Children
    """The children of joint actions, with visits and value sums of all players; the entries of the
    first actions of a joint one, all but the last player's, have visits and values too."""


def allocate_simultaneous(num_players: int) -> Simultaneous:
    """No position, and no room for any yet."""
    return Simultaneous(
        node_followers=np.empty(0, np.int8),
        edge_regret=np.empty(0, np.float64),
        edge_strategy=np.empty(0, np.float64),
        children=allocate_children(num_players),
    )


SIMULTANEOUS_NODE_BYTES = 1
"""Bytes that a node takes."""

STRATEGY_EDGE_BYTES = 16
"""Bytes that an edge takes where players follow mixed strategies."""


def grow_simultaneous(
    simultaneous: Simultaneous, nodes: int, edges: int, entries: int, *, strategies: bool
) -> None:
    """Make room for so many nodes, edges and entries, in place."""
    simultaneous.node_followers.resize(nodes, refcheck=False)
    for array in (simultaneous.edge_regret, simultaneous.edge_strategy):
        array.resize(edges if strategies else 0, refcheck=False)
    grow_children(simultaneous.children, entries)


@kernel
def after_entry(entry: int) -> int:
    """The number beside an edge that is taken after an entry: never that of an edge."""
    return -1 - entry


@kernel
def begin_strategy(tree: Tree, simultaneous: Simultaneous, node: int) -> None:
    """A new node's player regrets nothing yet."""
    if simultaneous.edge_regret.shape[0] > 0:
        first = int(tree.node_first_edge[node])
        for edge in range(first, first + tree.node_edge_count[node]):
            simultaneous.edge_regret[edge] = 0.0
            simultaneous.edge_strategy[edge] = 0.0


def position_nodes(tree: Tree, simultaneous: Simultaneous, node: int) -> range:
    """The nodes of the position that begins with a node: its own, and those of who else moves."""
    if len(simultaneous.node_followers) == 0:
        return range(node, node + 1)
    return range(node, node + 1 + int(simultaneous.node_followers[node]))


def players_node(tree: Tree, simultaneous: Simultaneous, node: int, player: int) -> int:
    """The node of a player at the position that begins with a node; that node if he has none."""
    nodes = position_nodes(tree, simultaneous, node)
    return next((row for row in nodes if tree.node_player[row] == player), node)


def find_joint_entry(simultaneous: Simultaneous, edges: Sequence[int]) -> int:
    """The entry that the edges of all movers of a position lead to, or ``NO_ENTRY``."""
    beside, entry = edges[0], NO_ENTRY
    for edge in edges[1:]:
        entry = lookup(simultaneous.children, edge, beside)
        if entry == NO_ENTRY:
            break
        beside = -1 - entry
    return entry


def find_joint_child(
    tree: Tree, simultaneous: Simultaneous, node: int, actions: Sequence[int]
) -> int:
    """The row of the node that the actions of all movers lead to, or ``UNEXPANDED``."""
    nodes = position_nodes(tree, simultaneous, node)
    edges = [find_edge(tree, row, action) for row, action in zip(nodes, actions, strict=True)]
    if NO_EDGE in edges:
        return UNEXPANDED
    if len(edges) == 1:
        return int(tree.edge_child[edges[0]])
    entry = find_joint_entry(simultaneous, edges)
    return UNEXPANDED if entry == NO_ENTRY else int(simultaneous.children.child[entry])


class JointVisits(NamedTuple):
    """What is known of a joint action of a position."""

    actions: tuple[int, ...]
    """The action of each who moves there, in the order of the players."""
    visits: int
    """Simulations that took it."""
    value_sums: tuple[float, ...]
    """Sums of every player's values in them, scaled to [0, 1]."""


def joint_visits(tree: Tree, simultaneous: Simultaneous, node: int) -> list[JointVisits]:
    """Every joint action of a position that was visited; empty where one player moves alone."""
    nodes = position_nodes(tree, simultaneous, node)
    if len(nodes) == 1:
        return []
    children = simultaneous.children
    count = int(children.used[0])
    edges = edge_rows(tree, nodes[-1])
    last = np.flatnonzero(
        (children.edge[:count] >= edges.start) & (children.edge[:count] < edges.stop)
    )
    joint = []
    for entry in last.tolist():
        taken, beside = [int(children.edge[entry])], int(children.beside[entry])
        while beside < 0:
            taken.append(int(children.edge[-1 - beside]))
            beside = int(children.beside[-1 - beside])
        taken.append(beside)
        actions = tuple(int(tree.edge_action[edge]) for edge in reversed(taken))
        value_sums = tuple(children.value_sum[entry].tolist())
        joint.append(JointVisits(actions, int(children.visits[entry]), value_sums))
    return sorted(joint)


def followers_and_children(tree: Tree, simultaneous: Simultaneous) -> NDArray[np.int64]:
    """[L, 2] pairs of a node and one that follows it otherwise than by ``Tree.edge_child``."""
    used = int(tree.used[0])
    followed = np.flatnonzero(simultaneous.node_followers[:used] > 0)
    children = simultaneous.children
    count = int(children.used[0])
    leading = np.flatnonzero(children.child[:count] >= 0)
    parents = edge_nodes(tree)[children.edge[leading]]
    pairs = [np.stack([followed, followed + 1]), np.stack([parents, children.child[leading]])]
    return np.concatenate(pairs, axis=1).T.astype(np.int64)


def keep_simultaneous(
    simultaneous: Simultaneous,
    node_rows: NDArray[np.int64],
    edge_rows: NDArray[np.int64],
) -> None:
    """Follow ``tree.keep_subtree``, in place.

    Args:
        simultaneous: what is kept beside the tree; it changes.
        node_rows: the new row of every node, as ``keep_subtree`` returned it.
        edge_rows: the new row of every edge, likewise.
    """
    kept = node_rows >= 0
    followers = simultaneous.node_followers
    followers[: np.count_nonzero(kept)] = followers[: len(kept)][kept]
    kept = edge_rows >= 0
    for array in (simultaneous.edge_regret, simultaneous.edge_strategy):
        if len(array) > 0:
            array[: np.count_nonzero(kept)] = array[: len(kept)][kept]
    children = simultaneous.children
    count = int(children.used[0])
    edge = edge_rows[children.edge[:count]]
    kept = edge >= 0
    entry_rows = np.cumsum(kept) - 1
    before = children.beside[:count]
    beside = np.where(
        before >= 0, edge_rows[np.maximum(before, 0)], -1 - entry_rows[np.maximum(-1 - before, 0)]
    )
    child = children.child[:count]
    keep_children(children, kept, edge, beside, np.where(child >= 0, node_rows[child], child))


def clear_simultaneous(simultaneous: Simultaneous) -> None:
    """Drop all, and keep the memory."""
    clear_children(simultaneous.children)
