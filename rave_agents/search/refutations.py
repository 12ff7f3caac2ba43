"""Refutations: a reply that wins against one move is tried against the others at its node.

Where a player threatens to win, most moves of the other lose to the same reply. Each would take
simulations of its own until it is expanded; the provider tells of all of them at once.
"""

import numpy as np
from numpy.typing import NDArray

from rave_agents.search.amaf import AmafTables, begin_tables
from rave_agents.search.backup import Scratch, backup_proofs
from rave_agents.search.compiler import kernel
from rave_agents.search.parameters import Parameters
from rave_agents.search.proofs import (
    TERMINAL,
    UNSOLVED,
    Proofs,
    begin_proof,
    prove_terminal,
    update_proofs,
)
from rave_agents.search.simulator import Frame, Header, Status, Step, call_simulate, header_address
from rave_agents.search.tree import NODES_USED, UNEXPANDED, Tree, add_node

DONE = int(Status.DONE)
PATH_LENGTH = int(Header.PATH_LENGTH)
EXPAND = int(Header.EXPAND)
PLAYER = int(Header.PLAYER)
NUM_ACTIONS = int(Header.NUM_ACTIONS)
ACTION_CAPACITY = int(Header.ACTION_CAPACITY)
STEP = int(Header.STEP)
REPLY = int(Header.REPLY)
TRY_REPLY = int(Step.TRY_REPLY)

NO_REPLY = -1


@kernel
def check_refutations(
    tree: Tree,
    tables: AmafTables,
    proofs: Proofs,
    frame: Frame,
    scratch: Scratch,
    parameters: Parameters,
    simulate_address: int,
) -> int:
    """If the last simulation added a node that loses to a reply, look where else this reply wins.

    A sibling without a node that it wins against gets one with the reply as its only edge, solved.
    The tree must have room for two nodes and an edge for each of them. Returns a ``Status``.
    """
    header = frame.header
    depth = int(header[PATH_LENGTH])
    if not parameters.check_refutations or header[EXPAND] == 0 or depth == 0:
        return DONE
    node, leaf = scratch.path_nodes[depth - 1], scratch.path_nodes[depth]
    if tree.node_player[node] < 0 or proofs.distance[node] != UNSOLVED:
        return DONE
    winning = winning_reply(tree, proofs, parameters, leaf)
    if winning == NO_REPLY:
        return DONE
    count = list_unexpanded(tree, frame, node)
    if count == 0:
        return DONE
    header[PATH_LENGTH] = depth - 1
    header[NUM_ACTIONS] = count
    header[PLAYER] = tree.node_player[leaf]
    header[REPLY] = winning
    header[STEP] = TRY_REPLY
    status = call_simulate(simulate_address, header_address(frame))
    if status != DONE:
        return status
    replier = header[PLAYER]
    first = tree.node_first_edge[node]
    index = 0
    for edge in range(first, first + tree.node_edge_count[node]):
        if tree.edge_child[edge] != UNEXPANDED:
            continue
        ends = frame.child_ends[index] != 0
        if ends and wins(frame.child_returns, index, replier, parameters):
            add_refuted(tree, tables, proofs, frame, scratch, parameters, edge, index)
        index += 1
    backup_proofs(tree, proofs, scratch.path_nodes, scratch.ranking, parameters, depth - 1)
    return DONE


@kernel
def winning_reply(tree: Tree, proofs: Proofs, parameters: Parameters, node: int) -> int:
    """The action that wins at once for the player who moves at a node, or ``NO_REPLY``."""
    player = tree.node_player[node]
    if player < 0 or proofs.distance[node] != 1:
        return NO_REPLY
    first = tree.node_first_edge[node]
    for edge in range(first, first + tree.node_edge_count[node]):
        child = tree.edge_child[edge]
        if (
            child != UNEXPANDED
            and proofs.distance[child] == 0
            and wins(proofs.low, child, player, parameters)
        ):
            return int(tree.edge_action[edge])
    return NO_REPLY


@kernel
def wins(returns: NDArray[np.float64], row: int, player: int, parameters: Parameters) -> bool:
    """Whether a player has the most that can be had, and everybody else less."""
    if returns[row, player] < parameters.greatest_utility:
        return False
    for other in range(returns.shape[1]):
        if other != player and returns[row, other] >= returns[row, player]:
            return False
    return True


@kernel
def list_unexpanded(tree: Tree, frame: Frame, node: int) -> int:
    """Write the actions of a node's edges without a node behind them to the frame.

    Returns how many there are; 0 if they do not fit.
    """
    count = 0
    first = tree.node_first_edge[node]
    for edge in range(first, first + tree.node_edge_count[node]):
        if tree.edge_child[edge] == UNEXPANDED:
            if count == frame.header[ACTION_CAPACITY]:
                return 0
            frame.actions[count] = tree.edge_action[edge]
            count += 1
    return count


@kernel
def add_refuted(
    tree: Tree,
    tables: AmafTables,
    proofs: Proofs,
    frame: Frame,
    scratch: Scratch,
    parameters: Parameters,
    above: int,
    index: int,
) -> None:
    """Give an edge a node where the reply, its only edge, ends the game.

    The frame has the reply and who plays it, and in its row ``index`` how the game ends.
    """
    node = add_node(tree, frame.header[PLAYER], tree.edge_visits[above], 1)
    end = add_node(tree, TERMINAL, 0, 0)
    edge = tree.node_first_edge[node]
    tree.edge_action[edge] = frame.header[REPLY]
    tree.edge_prior[edge] = 1.0
    tree.edge_child[edge] = end
    tree.edge_child[above] = node
    if parameters.tables:
        begin_tables(tables, node, tree.used[NODES_USED])
    begin_proof(proofs, parameters, node)
    prove_terminal(proofs, parameters, end, frame.child_returns, index)
    update_proofs(tree, proofs, scratch.ranking, parameters, node)
