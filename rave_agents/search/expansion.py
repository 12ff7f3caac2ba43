"""Expansion: the leaf of a simulation becomes a node with edges."""

from rave_agents.game import PlayerId
from rave_agents.search.compiler import inlined, kernel
from rave_agents.search.parameters import Parameters
from rave_agents.search.proofs import Proofs, begin_proof, prove_terminal
from rave_agents.search.simulator import Frame, Header
from rave_agents.search.simultaneous import Simultaneous, begin_strategy
from rave_agents.search.tree import NODES_USED, Tree, add_node

SIMULTANEOUS = int(PlayerId.SIMULTANEOUS)
TERMINAL = int(PlayerId.TERMINAL)
PLAYER = int(Header.PLAYER)
NUM_ACTIONS = int(Header.NUM_ACTIONS)
NUM_MOVERS = int(Header.NUM_MOVERS)
UNIFORM = int(Header.UNIFORM)


@kernel
def expand(tree: Tree, simultaneous: Simultaneous | None, frame: Frame, visits: int) -> int:
    """Make nodes of the position that the frame describes: one, or one for each who moves there.

    Returns the row of the first. ``visits`` are those that the position had before it was expanded.
    """
    player = frame.header[PLAYER]
    if simultaneous is None or player != SIMULTANEOUS:
        node = add_expanded(tree, frame, player, 0, frame.header[NUM_ACTIONS], visits)
        if simultaneous is not None:
            simultaneous.node_followers[node] = 0
            begin_strategy(tree, simultaneous, node)
        return node
    leaf = tree.used[NODES_USED]
    movers, first = frame.header[NUM_MOVERS], 0
    for index in range(movers):
        end = int(frame.mover_ends[index])
        node = add_expanded(tree, frame, frame.movers[index], first, end, visits)
        simultaneous.node_followers[node] = movers - 1 - index
        begin_strategy(tree, simultaneous, node)
        first = end
    return leaf


@kernel
def add_expanded(tree: Tree, frame: Frame, player: int, first: int, end: int, visits: int) -> int:
    """A node with an edge for each of the frame's actions from ``first`` to before ``end``."""
    uniform = frame.header[UNIFORM] != 0
    count = end - first
    node = add_node(tree, player, visits, count)
    first_edge = tree.node_first_edge[node]
    for index in range(count):
        prior = 1.0 / count if uniform else frame.probabilities[first + index]
        tree.edge_action[first_edge + index] = frame.actions[first + index]
        tree.edge_prior[first_edge + index] = prior
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
