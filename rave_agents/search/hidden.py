"""Hidden information: one tree over what the searching player can tell apart (ISMCTS).

Cowling, Powley & Whitehouse 2012, "Information set Monte Carlo tree search", with a single
observer: every simulation begins in another world, which the provider draws. A node stands for all
positions that look the same to the searching player. Where he moves, his action and what he sees
next tell the child apart; where another moves, what he sees next alone, so that several edges may
lead to one child. Chance has no nodes: the world draws its outcomes.

In each world other actions may be legal at a node. The legal ones compete, each with the number of
simulations in which it was available in the place of the node's visits. An action that is met for
the first time gets an edge then: the edges of a node are consecutive rows, so that they are written
anew behind all others unless they are the last ones; the rows that they leave stay unused, and
count as used memory.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.search.children import (
    NO_ENTRY,
    Children,
    add_entry,
    allocate_children,
    clear_children,
    find_entry,
    grow_children,
)
from rave_agents.search.compiler import kernel
from rave_agents.search.simulator import Frame, Header, Status
from rave_agents.search.tree import EDGES_USED, UNEXPANDED, Tree

DONE = int(Status.DONE)
TREE_FULL = int(Status.TREE_FULL)
NUM_ACTIONS = int(Header.NUM_ACTIONS)
REQUIRED_ACTIONS = int(Header.REQUIRED_ACTIONS)
ACTION_CAPACITY = int(Header.ACTION_CAPACITY)
VIEW = int(Header.VIEW)


class Hidden(NamedTuple):
    """What a tree with room for Ec edges has beside, where something is hidden."""

    children: Children
    """The children: by the node (in the place of the edge) and what the searching player sees,
    mixed with his action where he moves."""
    edge_available: NDArray[np.int32]
    """[Ec] simulations that came through the node in a world where the action was legal."""
    edge_met: NDArray[np.int64]
    """[Ec] the last of them, by its number."""
    number: NDArray[np.int64]
    """[1] the number of this simulation."""
    nodes_met: NDArray[np.int64]
    """[1] nodes of this simulation's path whose edges were marked."""


HIDDEN_EDGE_BYTES = 12
"""Bytes that an edge takes."""


def allocate_hidden() -> Hidden:
    """Nothing, and no room for any yet."""
    return Hidden(
        children=allocate_children(),
        edge_available=np.empty(0, np.int32),
        edge_met=np.empty(0, np.int64),
        number=np.zeros(1, np.int64),
        nodes_met=np.zeros(1, np.int64),
    )


def grow_hidden(hidden: Hidden, edges: int, entries: int) -> None:
    """Make room for so many edges and entries, in place."""
    hidden.edge_available.resize(edges, refcheck=False)
    hidden.edge_met.resize(edges, refcheck=False)
    grow_children(hidden.children, entries)


def clear_hidden(hidden: Hidden) -> None:
    """Drop all, and keep the memory."""
    clear_children(hidden.children)


@kernel
def begin_edges(hidden: Hidden, first: int, end: int) -> None:
    """New edges, from ``first`` to before ``end``, have not been available yet."""
    for edge in range(first, end):
        hidden.edge_available[edge] = 0
        hidden.edge_met[edge] = 0


@kernel
def child_number(frame: Frame, action: int, own: bool) -> int:
    """What tells a child apart at its node: what is seen, and the player's own action."""
    seen = frame.header[VIEW]
    return seen ^ (action + 1) if own else seen


@kernel
def entry_of(hidden: Hidden, frame: Frame, node: int, action: int, own: bool) -> int:
    """The entry of the child that the frame describes, or ``NO_ENTRY``."""
    return find_entry(hidden.children, node, child_number(frame, action, own))


@kernel
def add_child_entry(hidden: Hidden, frame: Frame, node: int, action: int, own: bool) -> int:
    """A new entry for the child that the frame describes; there must be room."""
    return add_entry(hidden.children, node, child_number(frame, action, own))


@kernel
def hidden_child_and_visits(hidden: Hidden, entry: int) -> tuple[int, int]:
    """The node of an entry, or ``UNEXPANDED``, and how often it was reached."""
    if entry == NO_ENTRY:
        return UNEXPANDED, 0
    return int(hidden.children.child[entry]), int(hidden.children.visits[entry])


@kernel
def count_visits(hidden: Hidden, path_entries: NDArray[np.int64], depth: int) -> None:
    """Count a finished simulation at the entries of its path of ``depth`` edges."""
    for index in range(depth):
        if path_entries[index] != NO_ENTRY:
            hidden.children.visits[path_entries[index]] += 1
    hidden.nodes_met[0] = 0


@kernel
def find_edges(tree: Tree, node: int, edge_of: NDArray[np.int32]) -> None:
    """Note for each action of a node where its edge is."""
    first = tree.node_first_edge[node]
    for edge in range(first, first + tree.node_edge_count[node]):
        edge_of[tree.edge_action[edge]] = edge


@kernel
def is_edge(tree: Tree, node: int, action: int, edge: int) -> bool:
    """Whether an edge, which may be any number, is that of a node's action."""
    first = tree.node_first_edge[node]
    return bool(
        first <= edge < first + tree.node_edge_count[node] and tree.edge_action[edge] == action
    )


@kernel
def meet_actions(
    tree: Tree,
    hidden: Hidden,
    frame: Frame,
    edge_of: NDArray[np.int32],
    node: int,
    may_expand: bool,
) -> int:
    """Mark the edges of the actions that the frame lists, and add those that are missing.

    Returns DONE, or TREE_FULL if there is no room; then nothing has changed.
    """
    actions = frame.header[NUM_ACTIONS]
    find_edges(tree, node, edge_of)
    missing = 0
    for index in range(actions):
        action = frame.actions[index]
        if not is_edge(tree, node, action, edge_of[action]):
            missing += 1
    if missing > 0 and may_expand:
        if not add_missing(tree, hidden, frame, edge_of, node, missing):
            return TREE_FULL
        find_edges(tree, node, edge_of)
    for index in range(actions):
        action = frame.actions[index]
        edge = edge_of[action]
        if is_edge(tree, node, action, edge):
            hidden.edge_available[edge] += 1
            hidden.edge_met[edge] = hidden.number[0]
    hidden.nodes_met[0] += 1
    return DONE


@kernel
def add_missing(
    tree: Tree,
    hidden: Hidden,
    frame: Frame,
    edge_of: NDArray[np.int32],
    node: int,
    missing: int,
) -> bool:
    """Give a node edges for those of the frame's actions that have none; so many are missing.

    Returns whether there was room, beside that for the edges of one more node, which the simulation
    may go on to add.
    """
    old, count = int(tree.node_first_edge[node]), int(tree.node_edge_count[node])
    end = int(tree.used[EDGES_USED])
    first = old if old + count == end else end
    new_end = first + count + missing
    reserve = frame.header[ACTION_CAPACITY]
    if new_end + reserve > tree.edge_action.shape[0]:
        frame.header[REQUIRED_ACTIONS] = count + missing + reserve
        return False
    edge = first + count
    for index in range(frame.header[NUM_ACTIONS]):
        action = frame.actions[index]
        if not is_edge(tree, node, action, edge_of[action]):
            begin_edge(tree, hidden, edge, action, 1.0 / frame.header[NUM_ACTIONS])
            edge += 1
    if first != old:
        for index in range(count):
            copy_edge(tree, hidden, old + index, first + index)
        tree.node_first_edge[node] = first
    tree.node_edge_count[node] = count + missing
    tree.used[EDGES_USED] = new_end
    return True


@kernel
def begin_edge(tree: Tree, hidden: Hidden, edge: int, action: int, prior: float) -> None:
    """A new edge of an action."""
    tree.edge_action[edge] = action
    tree.edge_prior[edge] = prior
    tree.edge_child[edge] = UNEXPANDED
    tree.edge_visits[edge] = 0
    tree.edge_value_sum[edge] = 0.0
    if tree.edge_square_sum.shape[0] > 0:
        tree.edge_square_sum[edge] = 0.0
    if tree.edge_amaf_visits.shape[0] > 0:
        tree.edge_amaf_visits[edge] = 0.0
        tree.edge_amaf_value_sum[edge] = 0.0
    if tree.edge_amaf_wins.shape[0] > 0:
        tree.edge_amaf_wins[edge] = 0.0
        tree.edge_amaf_win_moves[edge] = 0.0
    begin_edges(hidden, edge, edge + 1)


@kernel
def copy_edge(tree: Tree, hidden: Hidden, old: int, new: int) -> None:
    """Write what is known of an edge into another row."""
    tree.edge_action[new] = tree.edge_action[old]
    tree.edge_prior[new] = tree.edge_prior[old]
    tree.edge_child[new] = tree.edge_child[old]
    tree.edge_visits[new] = tree.edge_visits[old]
    tree.edge_value_sum[new] = tree.edge_value_sum[old]
    if tree.edge_square_sum.shape[0] > 0:
        tree.edge_square_sum[new] = tree.edge_square_sum[old]
    if tree.edge_amaf_visits.shape[0] > 0:
        tree.edge_amaf_visits[new] = tree.edge_amaf_visits[old]
        tree.edge_amaf_value_sum[new] = tree.edge_amaf_value_sum[old]
    if tree.edge_amaf_wins.shape[0] > 0:
        tree.edge_amaf_wins[new] = tree.edge_amaf_wins[old]
        tree.edge_amaf_win_moves[new] = tree.edge_amaf_win_moves[old]
    hidden.edge_available[new] = hidden.edge_available[old]
    hidden.edge_met[new] = hidden.edge_met[old]


@kernel
def some_available(tree: Tree, hidden: Hidden, node: int) -> bool:
    """Whether an edge of the node was marked in this simulation."""
    first = tree.node_first_edge[node]
    for edge in range(first, first + tree.node_edge_count[node]):
        if hidden.edge_met[edge] == hidden.number[0]:
            return True
    return False


@kernel
def take_back(tree: Tree, hidden: Hidden, path_nodes: NDArray[np.int64]) -> None:
    """A simulation that could not be finished: its marks do not count."""
    for index in range(hidden.nodes_met[0]):
        node = path_nodes[index]
        first = tree.node_first_edge[node]
        for edge in range(first, first + tree.node_edge_count[node]):
            if hidden.edge_met[edge] == hidden.number[0]:
                hidden.edge_available[edge] -= 1
    hidden.nodes_met[0] = 0
