"""Refutations: a reply that wins against one move is tried against the others at its node.

If a player threatens to win, most of the opponent's moves lose to the same reply. Finding that out
by expanding each move takes many simulations; the provider tries the reply against all moves at
once.
"""

from typing import Any

from rave_agents.compiler.arrays import EDGE, NODE
from rave_agents.compiler.dispatch import implements, kernel
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.hooks import begin_node, is_solved, prove_end, update_node
from rave_agents.kernel.players import TERMINAL
from rave_agents.kernel.proofs.numbers import exceeds_all, rest_or_resume
from rave_agents.kernel.proofs.part import CheckRefutations, Proven, update_path
from rave_agents.kernel.proofs.solver import UNSOLVED, has_outcomes
from rave_agents.kernel.provider import call_provider
from rave_agents.kernel.tree import UNEXPANDED, add_node, edge_rows

NO_REPLY = -1


@implements(hooks.rows_needed, CheckRefutations)
def _rows_needed(checks: CheckRefutations, search: Any, axis: int, actions: int) -> int:
    """Two nodes and an edge for each sibling that the reply is tried against."""
    if axis == NODE:
        return 2 * actions
    return actions if axis == EDGE else 0


@implements(hooks.after_backup, Proven)
def _after_backup(proofs: Proven, search: Any) -> int:
    catch_up(proofs, search)
    hooks.after_backup(proofs.numbers, search)
    if has_outcomes(proofs.solver):
        rest_or_resume(proofs.numbers, search)
    return hooks.after_backup(proofs.options.checks, search)


@kernel
def catch_up(proofs: Proven, search: Any) -> None:
    """With shared nodes, update the path of a simulation that added no leaf."""
    header = search.frame.header
    if hooks.shares_nodes(search.moves) and header[codes.EXPAND] == 0:
        depth = int(header[codes.PATH_LENGTH])
        leaf, _ = hooks.find_leaf(search.moves, search, depth)
        update_path(proofs, search, depth - 1 if leaf == UNEXPANDED else depth, False, False)


@implements(hooks.after_backup, CheckRefutations)
def check_refutations(checks: CheckRefutations, search: Any) -> int:
    """If the last simulation added a node with a winning reply, try the reply against its siblings.

    An unexpanded sibling that loses to it gets a solved node with the reply as its only edge. The
    tree must have room for two nodes and an edge per sibling.
    """
    tree, proofs, header, path = search.tree, search.proofs, search.frame.header, search.path
    depth = int(header[codes.PATH_LENGTH])
    if header[codes.EXPAND] == 0 or depth == 0:
        return codes.DONE
    node, leaf = int(path.nodes[depth - 1]), int(path.nodes[depth])
    if tree.node_player[node] < 0 or proofs.solver.distance[node] != UNSOLVED:
        return codes.DONE
    winning = winning_reply(proofs, search, leaf)
    if winning == NO_REPLY:
        return codes.DONE
    count = list_unexpanded(search, node)
    if count == 0:
        return codes.DONE
    # The provider returns to the parent and tries the reply after each of the listed moves.
    header[codes.PATH_LENGTH] = depth - 1
    header[codes.NUM_ACTIONS] = count
    header[codes.PLAYER] = tree.node_player[leaf]
    header[codes.REPLY] = winning
    header[codes.STEP] = codes.TRY_REPLY
    status = call_provider(search)
    if status != codes.DONE:
        return status
    add_refuted_siblings(proofs, search, node)
    update_path(proofs, search, depth - 1, True, True)
    return codes.DONE


@kernel
def add_refuted_siblings(proofs: Proven, search: Any, node: int) -> None:
    """Prove the node's unexpanded edges that lose to the frame's reply."""
    tree, frame = search.tree, search.frame
    index = 0
    for edge in edge_rows(tree, node):
        if tree.edge_child[edge] != UNEXPANDED:
            continue
        place = index * search.settings.num_players
        if frame.child_ends[index] != 0 and wins(
            search, frame.child_returns, place, frame.header[codes.PLAYER]
        ):
            add_refuted(proofs, search, node, edge, index)
        index += 1


@kernel
def winning_reply(proofs: Proven, search: Any, node: int) -> int:
    """The action that wins at once at a node, or ``NO_REPLY``."""
    tree, solver = search.tree, proofs.solver
    player = int(tree.node_player[node])
    if player < 0 or not is_solved(solver, node):
        return NO_REPLY
    for edge in edge_rows(tree, node):
        child = tree.edge_child[edge]
        if (
            child != UNEXPANDED
            and tree.node_edge_count[child] == 0
            and is_solved(solver, child)
            and wins(search, solver.low, child * search.settings.num_players, player)
        ):
            return int(tree.edge_action[edge])
    return NO_REPLY


@kernel
def wins(search: Any, returns: Any, first: int, player: int) -> bool:
    """True if a player gets the game's greatest utility, and all others less.

    The returns of all players begin at ``first``.
    """
    wins_most = returns[first + player] >= search.settings.greatest_utility
    return wins_most and exceeds_all(search, returns, first, player)


@kernel
def list_unexpanded(search: Any, node: int) -> int:
    """Write the actions of a node's unexpanded edges to the frame.

    Returns how many there are; 0 if they do not fit.
    """
    tree, frame = search.tree, search.frame
    count = 0
    for edge in edge_rows(tree, node):
        if tree.edge_child[edge] == UNEXPANDED:
            if count == frame.header[codes.ACTION_CAPACITY]:
                return 0
            frame.actions[count] = tree.edge_action[edge]
            count += 1
    return count


@kernel
def add_refuted(proofs: Proven, search: Any, before: int, above: int, index: int) -> None:
    """Add a child whose only edge, the reply, ends the game or makes the win certain.

    The frame holds the reply, its player and, at ``index``, the end of the game. ``above`` is an
    edge of the node ``before``, whose player would move after a reply that does not end the game.
    """
    tree, frame = search.tree, search.frame
    # 0 in `child_ends` means no win, 1 a terminal child, n a certain win n - 1 moves from the end.
    distance = int(frame.child_ends[index]) - 1
    node = add_node(tree, frame.header[codes.PLAYER], tree.edge_visits[above], 1)
    end = add_node(tree, TERMINAL if distance == 0 else tree.node_player[before], 0, 0)
    edge = tree.node_first_edge[node]
    tree.edge_action[edge] = frame.header[codes.REPLY]
    tree.edge_prior[edge] = 1.0
    tree.edge_child[edge] = end
    tree.edge_child[above] = node
    begin_node(proofs, search, node)
    place = index * search.settings.num_players
    prove_end(proofs, search, end, frame.child_returns, place, distance)
    update_node(proofs, search, node)
