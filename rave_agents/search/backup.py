"""Backup: what a simulation found out goes to the nodes and edges on its way.

This is the one place where perspective is flipped: each edge gets the value of the player who moves
at its node.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.search.amaf import (
    NO_TABLE,
    AmafTables,
    MoveRecord,
    add_table,
    credit_edges,
    credit_edges_by_every_move,
    credit_table,
    find_previous,
    make_move_record,
)
from rave_agents.search.children import NO_ENTRY, add_entry
from rave_agents.search.compiler import inlined, kernel
from rave_agents.search.formulas import scaled
from rave_agents.search.own_formula import FAILURE_LENGTH
from rave_agents.search.parameters import Parameters
from rave_agents.search.playout_policy import PlayoutPolicy
from rave_agents.search.proofs import UNSOLVED, Proofs, Ranking, make_ranking, update_proofs
from rave_agents.search.simulator import Frame, Header
from rave_agents.search.simultaneous import ALONE, Simultaneous, after_entry
from rave_agents.search.tree import EDGES_USED, UNEXPANDED, Tree

NUM_PLAYERS = int(Header.NUM_PLAYERS)
NUM_PLAYOUTS = int(Header.NUM_PLAYOUTS)

LOW = 0
HIGH = 1

ROUNDING = 1e-9
"""Means that differ by no more are equal but for rounding."""


class Scratch(NamedTuple):
    """What the loop needs beside the tree and the frame."""

    path_nodes: NDArray[np.int64]
    """[PATH_CAPACITY + NUM_PLAYERS] nodes of the simulation, from the root on; at a leaf where
    players move at the same time, those of all of them."""
    path_edges: NDArray[np.int64]
    """[PATH_CAPACITY] edges taken at them."""
    path_entries: NDArray[np.int64]
    """[PATH_CAPACITY] where players move at the same time: the entry reached by what they have
    taken so far, ``NO_ENTRY`` if there is none yet; ``ALONE`` after an edge that needs none."""
    path_movers: NDArray[np.int64]
    """[PATH_CAPACITY] whose value each edge holds."""
    values: NDArray[np.float64]
    """[NUM_PLAYERS] value of a playout, or of a simulation, for each player, in [0, 1]."""
    utility_range: NDArray[np.float64]
    """[2] the utilities that are 0 and 1 on that scale, at ``LOW`` and ``HIGH``; the range is empty
    (inf, -inf) until the first return is seen, if the game does not state it."""
    record: MoveRecord
    """The moves of the simulation."""
    simulations: NDArray[np.int64]
    """[1] simulations backed up."""
    selections: NDArray[np.int64]
    """[1] edges selected at decision nodes."""
    ranking: Ranking
    """Buffers for proof numbers."""
    policy: PlayoutPolicy
    """What playouts are steered by."""
    formula_failure: NDArray[np.float64]
    """[FAILURE_LENGTH] where a selection formula of the user's own notes that it raised."""


def make_scratch(
    frame: Frame,
    *,
    num_distinct_actions: int,
    utility_range: NDArray[np.float64],
    policy: PlayoutPolicy,
) -> Scratch:
    """Buffers that go with a frame; range and policy are used as they are, not copied."""
    depth = int(frame.header[Header.PATH_CAPACITY])
    num_players = int(frame.header[NUM_PLAYERS])
    return Scratch(
        path_nodes=np.zeros(depth + num_players, np.int64),
        path_edges=np.zeros(depth, np.int64),
        path_entries=np.zeros(depth, np.int64),
        path_movers=np.zeros(depth, np.int64),
        values=np.zeros(num_players, np.float64),
        utility_range=utility_range,
        record=make_move_record(
            depth, int(frame.header[Header.MOVE_CAPACITY]), num_players, num_distinct_actions
        ),
        simulations=np.zeros(1, np.int64),
        selections=np.zeros(1, np.int64),
        ranking=make_ranking(num_distinct_actions),
        policy=policy,
        formula_failure=np.zeros(FAILURE_LENGTH),
    )


@kernel
def observe_returns(
    tree: Tree,
    tables: AmafTables,
    simultaneous: Simultaneous | None,
    frame: Frame,
    scratch: Scratch,
) -> None:
    """Widen the utility range to hold all returns of the frame; rescale the tree if it moved."""
    low, high = scratch.utility_range[LOW], scratch.utility_range[HIGH]
    new_low, new_high = low, high
    for playout in range(frame.header[NUM_PLAYOUTS]):
        for player in range(frame.header[NUM_PLAYERS]):
            new_low = min(new_low, frame.returns[playout, player])
            new_high = max(new_high, frame.returns[playout, player])
    if new_low == low and new_high == high:
        return
    scratch.utility_range[LOW] = new_low
    scratch.utility_range[HIGH] = new_high
    if high < low:
        return
    factor = (high - low) / (new_high - new_low)
    shift = (low - new_low) / (new_high - new_low)
    for edge in range(tree.used[EDGES_USED]):
        if tree.edge_square_sum.shape[0] > 0:  # Every value v becomes factor v + shift.
            tree.edge_square_sum[edge] = (
                factor * factor * tree.edge_square_sum[edge]
                + 2.0 * factor * shift * tree.edge_value_sum[edge]
                + shift * shift * tree.edge_visits[edge]
            )
        tree.edge_value_sum[edge] = rescaled(
            tree.edge_value_sum[edge], tree.edge_visits[edge], low, high, new_low, new_high
        )
        if tree.edge_amaf_visits.shape[0] > 0:
            tree.edge_amaf_value_sum[edge] = rescaled(
                tree.edge_amaf_value_sum[edge],
                tree.edge_amaf_visits[edge],
                low,
                high,
                new_low,
                new_high,
            )
    for row in range(tables.used[0] * tables.shape[0] * tables.shape[1]):
        tables.value_sum[row] = rescaled(
            tables.value_sum[row], tables.visits[row], low, high, new_low, new_high
        )
    if simultaneous is not None:
        for edge in range(simultaneous.edge_regret.shape[0]):
            simultaneous.edge_regret[edge] *= factor
        children = simultaneous.children
        for entry in range(children.used[0]):
            for player in range(children.value_sum.shape[1]):
                children.value_sum[entry, player] = rescaled(
                    children.value_sum[entry, player],
                    children.visits[entry],
                    low,
                    high,
                    new_low,
                    new_high,
                )


@kernel
def rescaled(
    value_sum: float, visits: float, low: float, high: float, new_low: float, new_high: float
) -> float:
    """A sum of values, scaled from one utility range to another."""
    utilities = value_sum * (high - low) + visits * low
    return (utilities - visits * new_low) / (new_high - new_low)


@kernel
def set_values(frame: Frame, scratch: Scratch, first: int, end: int) -> None:
    """The mean values of the playouts from ``first`` to before ``end``, for each player."""
    low, high = scratch.utility_range[LOW], scratch.utility_range[HIGH]
    for player in range(frame.header[NUM_PLAYERS]):
        total = 0.0
        for playout in range(first, end):
            total += scaled(frame.returns[playout, player], low, high)
        scratch.values[player] = total / (end - first)


@kernel
def find_movers(tree: Tree, scratch: Scratch, depth: int) -> None:
    """Find whose value each edge of the path holds.

    It is the node's player's, at a chance node that of the last player before it, and of player 0
    if there is none.
    """
    mover = 0
    for index in range(depth):
        player = tree.node_player[scratch.path_nodes[index]]
        if player >= 0:
            mover = player
        scratch.path_movers[index] = mover


@kernel
def backup_values(
    tree: Tree,
    proofs: Proofs | None,
    scratch: Scratch,
    parameters: Parameters,
    depth: int,
    leaf_nodes: int,
) -> None:
    """Count the simulation on its path of ``depth`` edges, with ``scratch.values``.

    Where solved children are passed over, most simulations go to moves that their player would not
    choose: above such a node the outcome that they passed over counts, as long as it is better than
    the mean of the move taken.
    """
    for index in range(depth - 1, -1, -1):
        node, edge = scratch.path_nodes[index], scratch.path_edges[index]
        value = scratch.values[scratch.path_movers[index]]
        tree.node_visits[node] += 1
        tree.edge_visits[edge] += 1
        tree.edge_value_sum[edge] += value
        if tree.edge_square_sum.shape[0] > 0:
            tree.edge_square_sum[edge] += value * value
        if proofs is not None and parameters.skip_solved and parameters.solver:
            give_better_known(tree, proofs, scratch, node, edge)
    for index in range(depth, depth + leaf_nodes):
        tree.node_visits[scratch.path_nodes[index]] += 1


@kernel
def give_better_known(tree: Tree, proofs: Proofs, scratch: Scratch, node: int, edge: int) -> None:
    """Put a solved sibling's outcome into ``scratch.values`` if it is better than an edge's mean.

    Only at an unsolved decision node, and for who moves there.
    """
    mover = tree.node_player[node]
    if mover < 0 or proofs.distance[node] != UNSOLVED:
        return
    low, high = scratch.utility_range[LOW], scratch.utility_range[HIGH]
    sure = proofs.low[node, mover]
    mean = tree.edge_value_sum[edge] / tree.edge_visits[edge]
    if scaled(sure, low, high) <= mean + ROUNDING:
        return
    first = tree.node_first_edge[node]
    for sibling in range(first, first + tree.node_edge_count[node]):
        child = tree.edge_child[sibling]
        if (
            child != UNEXPANDED
            and proofs.distance[child] != UNSOLVED
            and proofs.low[child, mover] == sure
        ):
            for player in range(proofs.low.shape[1]):
                scratch.values[player] = scaled(proofs.low[child, player], low, high)
            return


@kernel
def add_entries(simultaneous: Simultaneous, scratch: Scratch, depth: int) -> None:
    """Give the joint actions of the path the entries that they lack; there must be room."""
    for index in range(1, depth):
        if scratch.path_entries[index] == NO_ENTRY:
            before = scratch.path_entries[index - 1]
            beside = scratch.path_edges[index - 1] if before == ALONE else after_entry(before)
            edge = scratch.path_edges[index]
            scratch.path_entries[index] = add_entry(simultaneous.children, edge, beside)


@kernel
def backup_entries(simultaneous: Simultaneous, scratch: Scratch, depth: int) -> None:
    """Count the simulation at the entries of its path, with ``scratch.values``."""
    children = simultaneous.children
    for index in range(depth):
        entry = scratch.path_entries[index]
        if entry >= 0:
            children.visits[entry] += 1
            for player in range(children.value_sum.shape[1]):
                children.value_sum[entry, player] += scratch.values[player]


@inlined
def backup_proofs(
    tree: Tree,
    proofs: Proofs,
    path_nodes: NDArray[np.int64],
    ranking: Ranking,
    parameters: Parameters,
    depth: int,
) -> None:
    """Tell the nodes of the path, from the new one up, what is proven; up to one that stays."""
    for index in range(depth, -1, -1):
        if not update_proofs(tree, proofs, ranking, parameters, path_nodes[index]):
            return


@kernel
def record_path(tree: Tree, scratch: Scratch, depth: int, leaf_nodes: int) -> None:
    """Put the moves of the path into the record."""
    record = scratch.record
    moves = 0
    for index in range(depth):
        record.path_moves[index] = moves
        player = tree.node_player[scratch.path_nodes[index]]
        if player >= 0:
            record.players[moves] = player
            record.actions[moves] = tree.edge_action[scratch.path_edges[index]]
            moves += 1
    record.path_moves[depth] = moves
    for index in range(depth + 1, depth + leaf_nodes):
        record.path_moves[index] = moves


@kernel
def record_playout(frame: Frame, record: MoveRecord, depth: int, playout: int) -> int:
    """Put the moves of one playout behind those of the path; returns how many moves there are."""
    moves = record.path_moves[depth]
    first_move = 0 if playout == 0 else frame.playout_ends[playout - 1]
    for move in range(first_move, frame.playout_ends[playout]):
        record.players[moves] = frame.move_players[move]
        record.actions[moves] = frame.move_actions[move]
        moves += 1
    return moves


@inlined
def backup_playouts(
    tree: Tree,
    tables: AmafTables,
    frame: Frame,
    scratch: Scratch,
    parameters: Parameters,
    depth: int,
    leaf_nodes: int,
) -> None:
    """Credit every playout to the AMAF statistics; together they count as one visit."""
    playouts = frame.header[NUM_PLAYOUTS]
    for playout in range(playouts):
        set_values(frame, scratch, playout, playout + 1)
        share = 1.0 / playouts
        backup_amaf(tree, tables, frame, scratch, parameters, depth, leaf_nodes, playout, share)


@kernel
def backup_amaf(
    tree: Tree,
    tables: AmafTables,
    frame: Frame,
    scratch: Scratch,
    parameters: Parameters,
    depth: int,
    leaf_nodes: int,
    playout: int,
    share: float,
) -> None:
    """Credit one playout, with its ``scratch.values``, to the AMAF statistics of the path's nodes.

    An action that its player took at the node or later in the simulation gets the playout's value,
    with the update's weight times ``share``; the first time that he took it, or each time, as the
    parameters say.
    """
    record = scratch.record
    moves = record_playout(frame, record, depth, playout)
    last = depth - 1 + leaf_nodes
    if parameters.tables:
        find_previous(record, moves)
    move = moves - 1
    for index in range(last, -1, -1):
        node = scratch.path_nodes[index]
        start = record.path_moves[index]
        player = tree.node_player[node]
        if parameters.tables:
            table = tables.node_table[node]
            if table != NO_TABLE:
                if playout == 0:
                    tables.playouts[table] += 1
                credit_table(tables, record, parameters, table, start, moves, share, scratch.values)
        elif parameters.every_occurrence:
            if player >= 0:
                value = scratch.values[player]
                credit_edges_by_every_move(
                    tree, record, parameters, node, start, moves, share, value
                )
        else:
            while move >= start:
                record.seen[record.players[move], record.actions[move]] = record.offset[0] + move
                move -= 1
            if player >= 0:
                value = scratch.values[player]
                credit_edges(tree, record, parameters, node, start, moves, share, value)
    record.offset[0] += moves + 1


@kernel
def give_table(
    tree: Tree,
    tables: AmafTables,
    scratch: Scratch,
    parameters: Parameters,
    depth: int,
    leaf_nodes: int,
) -> None:
    """Give a table to the first node of the path that has none and should have one."""
    last = depth - 1 + leaf_nodes
    if not parameters.every_node_has_table:
        last = 0
    for index in range(last + 1):
        node = scratch.path_nodes[index]
        if tables.used[0] == tables.owner.shape[0]:
            return
        wanted = index == 0 or tree.node_visits[node] + 1 >= parameters.grave_table_visits
        if wanted and tables.node_table[node] == NO_TABLE and tree.node_edge_count[node] > 0:
            add_table(tables, node)
            return
