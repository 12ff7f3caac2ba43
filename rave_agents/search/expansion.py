"""Expansion: the leaf of a simulation becomes a node with edges."""

from rave_agents.search.compiler import kernel
from rave_agents.search.simulator import Frame, Header
from rave_agents.search.tree import Tree, add_node

PLAYER = int(Header.PLAYER)
NUM_ACTIONS = int(Header.NUM_ACTIONS)
UNIFORM = int(Header.UNIFORM)


@kernel
def expand(tree: Tree, frame: Frame, visits: int) -> int:
    """Make a node of the position that the frame describes. Returns its row.

    ``visits`` are those that the position had before it was expanded.
    """
    count = frame.header[NUM_ACTIONS]
    uniform = frame.header[UNIFORM] != 0
    node = add_node(tree, frame.header[PLAYER], visits, count)
    first = tree.node_first_edge[node]
    for index in range(count):
        tree.edge_action[first + index] = frame.actions[index]
        tree.edge_prior[first + index] = 1.0 / count if uniform else frame.probabilities[index]
    return node
