"""Expansion: the leaf of a simulation becomes a node with edges."""

from rave_agents.game import PlayerId
from rave_agents.search.compiler import inlined
from rave_agents.search.parameters import Parameters
from rave_agents.search.proofs import Proofs, begin_proof, prove_terminal
from rave_agents.search.simulator import Frame, Header
from rave_agents.search.tree import Tree, add_node

TERMINAL = int(PlayerId.TERMINAL)
PLAYER = int(Header.PLAYER)
NUM_ACTIONS = int(Header.NUM_ACTIONS)
UNIFORM = int(Header.UNIFORM)


@inlined
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


@inlined
def begin_proofs(
    tree: Tree, proofs: Proofs, frame: Frame, parameters: Parameters, node: int
) -> None:
    """Note what the frame says of a new node, and make nodes of its children that end the game."""
    if tree.node_player[node] == TERMINAL:
        prove_terminal(proofs, parameters, node, frame.returns, 0)
        return
    begin_proof(proofs, parameters, node)
    if parameters.check_terminal:
        first = tree.node_first_edge[node]
        for index in range(tree.node_edge_count[node]):
            if frame.child_ends[index] != 0:
                child = add_node(tree, TERMINAL, 0, 0)
                tree.edge_child[first + index] = child
                prove_terminal(proofs, parameters, child, frame.child_returns, index)
