"""All-moves-as-first statistics (AMAF): where they live, and how a playout is credited to them.

At the edges (RAVE) each edge has its own. In tables (GRAVE, the global table) a node has a row for
every player and every action of the game, legal there or not: the global table is one table at the
root; with GRAVE every node that may become a reference for those below it has one.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.search.compiler import inlined, kernel
from rave_agents.search.formulas import linear_weight, stepped_weight
from rave_agents.search.parameters import Parameters, Weighting
from rave_agents.search.tree import Tree

UNIFORM = int(Weighting.UNIFORM)
LINEAR = int(Weighting.LINEAR)
STEPPED = int(Weighting.STEPPED)

NO_TABLE = -1
"""The table of a node that has none."""

WON = 0.5
"""A simulation is won by a player whose value is above this."""


class AmafTables(NamedTuple):
    """Tables with room for T of them; a table has R = players x actions rows.

    Values are those of the player who took the action, scaled to [0, 1].
    """

    used: NDArray[np.int64]
    """[1] tables in use."""
    shape: NDArray[np.int64]
    """[2] players and actions."""
    node_table: NDArray[np.int32]
    """[nodes of the tree] the node's table, or ``NO_TABLE``; empty where there are no tables."""
    owner: NDArray[np.int32]
    """[T] the node whose table it is."""
    playouts: NDArray[np.int32]
    """[T] simulations that were credited to it."""
    visits: NDArray[np.float64]
    """[T * R] AMAF visits."""
    value_sum: NDArray[np.float64]
    """[T * R] sum of the values of the AMAF visits."""
    wins: NDArray[np.float32]
    """[T * R] those AMAF visits that were won; empty unless winning moves are counted."""
    win_moves: NDArray[np.float32]
    """[T * R] sum of the move's numbers over them; empty likewise."""


def allocate_tables(num_players: int, num_actions: int) -> AmafTables:
    """No tables, and no room for any yet."""
    return AmafTables(
        used=np.zeros(1, np.int64),
        shape=np.array([num_players, num_actions], np.int64),
        node_table=np.empty(0, np.int32),
        owner=np.empty(0, np.int32),
        playouts=np.empty(0, np.int32),
        visits=np.empty(0, np.float64),
        value_sum=np.empty(0, np.float64),
        wins=np.empty(0, np.float32),
        win_moves=np.empty(0, np.float32),
    )


def table_bytes(tables: AmafTables, *, winning_moves: bool) -> int:
    """Bytes that one table takes."""
    rows = int(tables.shape[0] * tables.shape[1])
    return rows * (24 if winning_moves else 16) + 8


def grow_tables(tables: AmafTables, nodes: int, count: int, *, winning_moves: bool) -> None:
    """Make room for so many tables in a tree with room for so many nodes, in place.

    The loop asks ``node_table`` and ``owner`` for the room there is: ``owner`` is never longer than
    the others, even if this is interrupted.
    """
    rows = count * int(tables.shape[0] * tables.shape[1])
    sizes: list[tuple[NDArray[Any], int]] = [
        (tables.owner, count),
        (tables.playouts, count),
        (tables.value_sum, rows),
        (tables.visits, rows),
        (tables.win_moves, rows if winning_moves else 0),
        (tables.wins, rows if winning_moves else 0),
    ]
    tables.node_table.resize(nodes, refcheck=False)
    for array, size in sizes if count < len(tables.owner) else reversed(sizes):
        array.resize(size, refcheck=False)


class MoveRecord(NamedTuple):
    """The moves of one simulation, those of chance left out."""

    players: NDArray[np.int32]
    """[M] who made the move."""
    actions: NDArray[np.int32]
    """[M] what he played."""
    previous: NDArray[np.int32]
    """[M] the number of the move by which he played the same before, -1 for none."""
    path_moves: NDArray[np.int32]
    """[PATH_CAPACITY + players] for each node of the path how many moves lead to it."""
    seen: NDArray[np.int64]
    """[players, actions] ``offset`` plus the number of the move that was seen last."""
    offset: NDArray[np.int64]
    """[1] what ``seen`` is counted from in this playout; smaller entries are of earlier ones."""
    edge_of: NDArray[np.int32]
    """[actions] where the action's edge may be at a node."""


def make_move_record(
    path_capacity: int, move_capacity: int, num_players: int, num_actions: int
) -> MoveRecord:
    """A record with room for the moves of a path and of a playout."""
    moves = path_capacity + move_capacity
    return MoveRecord(
        players=np.zeros(moves, np.int32),
        actions=np.zeros(moves, np.int32),
        previous=np.zeros(moves, np.int32),
        path_moves=np.zeros(path_capacity + num_players, np.int32),
        seen=np.full((num_players, num_actions), -1, np.int64),
        offset=np.zeros(1, np.int64),
        edge_of=np.zeros(num_actions, np.int32),
    )


@inlined
def begin_tables(tables: AmafTables, first: int, end: int) -> None:
    """New nodes, from ``first`` to before ``end``, have no tables."""
    for node in range(first, end):
        tables.node_table[node] = NO_TABLE


@kernel
def add_table(tables: AmafTables, node: int) -> None:
    """Give a node an empty table."""
    table = tables.used[0]
    tables.used[0] += 1
    tables.node_table[node] = table
    tables.owner[table] = node
    tables.playouts[table] = 0
    rows = tables.shape[0] * tables.shape[1]
    for row in range(table * rows, (table + 1) * rows):
        tables.visits[row] = 0.0
        tables.value_sum[row] = 0.0
        if tables.wins.shape[0] > 0:
            tables.wins[row] = 0.0
            tables.win_moves[row] = 0.0


@kernel
def table_row(tables: AmafTables, table: int, player: int) -> int:
    """The row of a player's action 0 in a table; those of the others follow."""
    return (table * tables.shape[0] + player) * tables.shape[1]


class AmafRows(NamedTuple):
    """The statistics that count at a node; by place of the edge, or by action where tables are."""

    visits: NDArray[np.float64]
    value_sum: NDArray[np.float64]
    wins: NDArray[np.float32]
    win_moves: NDArray[np.float32]


@kernel
def amaf_rows(tree: Tree, tables: AmafTables, parameters: Parameters, node: int, row: int) -> Any:
    """The statistics that count at a node, with tables from the row of its player's action 0 on."""
    if parameters.tables:
        end = row + tables.shape[1]
        return AmafRows(
            tables.visits[row:end],
            tables.value_sum[row:end],
            tables.wins[row:end],
            tables.win_moves[row:end],
        )
    first = int(tree.node_first_edge[node])
    end = first + int(tree.node_edge_count[node])
    return AmafRows(
        tree.edge_amaf_visits[first:end],
        tree.edge_amaf_value_sum[first:end],
        tree.edge_amaf_wins[first:end],
        tree.edge_amaf_win_moves[first:end],
    )


@kernel
def update_weight(parameters: Parameters, distance: int, length: int) -> float:
    """What a move counts that comes ``distance`` moves after the node.

    From the node on the simulated game lasts ``length`` moves.
    """
    if parameters.weighting == LINEAR:
        return linear_weight(distance, length, parameters.weight_first, parameters.weight_last)
    if parameters.weighting == STEPPED:
        return stepped_weight(distance, length)
    return 1.0


@kernel
def credit_edges(
    tree: Tree,
    record: MoveRecord,
    parameters: Parameters,
    node: int,
    start: int,
    moves: int,
    share: float,
    value: float,
) -> None:
    """Credit a playout to a node's edges: each by its player's first such move since the node.

    ``record.seen`` must hold the first occurrences from move ``start`` on.
    """
    player = tree.node_player[node]
    first = int(tree.node_first_edge[node])
    end = first + int(tree.node_edge_count[node])
    actions = tree.edge_action[first:end]
    visits = tree.edge_amaf_visits[first:end]
    value_sum = tree.edge_amaf_value_sum[first:end]
    seen = record.seen[player]
    offset = record.offset[0]
    if parameters.weighting == UNIFORM and not parameters.winning_moves:
        # Without a branch in the loop, which no processor could foretell.
        if value == 0.0:
            for index in range(end - first):
                visits[index] += share if seen[actions[index]] >= offset else 0.0
            return
        for index in range(end - first):
            weight = share if seen[actions[index]] >= offset else 0.0
            new_visits, new_sum = visits[index] + weight, value_sum[index] + weight * value
            visits[index], value_sum[index] = new_visits, new_sum
        return
    won = parameters.winning_moves and value > WON
    for index in range(end - first):
        move = seen[actions[index]] - offset
        if move >= 0:
            weight = share * update_weight(parameters, move - start, moves - start)
            visits[index] += weight
            value_sum[index] += weight * value
            if won:
                tree.edge_amaf_wins[first + index] += weight
                tree.edge_amaf_win_moves[first + index] += weight * (move - start + 1)


@kernel
def credit_edges_by_every_move(
    tree: Tree,
    record: MoveRecord,
    parameters: Parameters,
    node: int,
    start: int,
    moves: int,
    share: float,
    value: float,
) -> None:
    """Credit a playout to a node's edges: each by every such move of its player since the node."""
    player = tree.node_player[node]
    won = parameters.winning_moves and value > WON
    first = tree.node_first_edge[node]
    end = first + tree.node_edge_count[node]
    for edge in range(first, end):
        record.edge_of[tree.edge_action[edge]] = edge
    for move in range(start, moves):
        if record.players[move] == player:
            edge = int(record.edge_of[record.actions[move]])
            if first <= edge < end and tree.edge_action[edge] == record.actions[move]:
                weight = share * update_weight(parameters, move - start, moves - start)
                tree.edge_amaf_visits[edge] += weight
                tree.edge_amaf_value_sum[edge] += weight * value
                if won:
                    tree.edge_amaf_wins[edge] += weight
                    tree.edge_amaf_win_moves[edge] += weight * (move - start + 1)


@kernel
def credit_table(
    tables: AmafTables,
    record: MoveRecord,
    parameters: Parameters,
    table: int,
    start: int,
    moves: int,
    share: float,
    values: NDArray[np.float64],
) -> None:
    """Credit a playout to a table: every move since the node, of every player.

    ``record.previous`` must be set. Only first occurrences count, unless the parameters say every.
    """
    num_players, num_actions = tables.shape[0], tables.shape[1]
    for move in range(start, moves):
        if parameters.every_occurrence or record.previous[move] < start:
            player = record.players[move]
            row = (table * num_players + player) * num_actions + record.actions[move]
            weight = share * update_weight(parameters, move - start, moves - start)
            tables.visits[row] += weight
            tables.value_sum[row] += weight * values[player]
            if parameters.winning_moves and values[player] > WON:
                tables.wins[row] = np.float64(tables.wins[row]) + weight
                tables.win_moves[row] = np.float64(tables.win_moves[row]) + weight * (
                    move - start + 1
                )


@kernel
def find_previous(record: MoveRecord, moves: int) -> None:
    """Set ``record.previous`` for so many moves."""
    offset = record.offset[0]
    for move in range(moves):
        player, action = record.players[move], record.actions[move]
        seen = record.seen[player, action] - offset
        record.previous[move] = seen if seen >= 0 else -1
        record.seen[player, action] = offset + move


def keep_tables(tables: AmafTables, new_rows: NDArray[np.int64]) -> None:
    """Follow ``keep_subtree``: drop the tables of dropped nodes, in place.

    Args:
        tables: the tables; they change.
        new_rows: what ``keep_subtree`` returned.
    """
    used = int(tables.used[0])
    owners = new_rows[tables.owner[:used]]
    kept = owners >= 0
    rows = np.repeat(kept, int(tables.shape[0] * tables.shape[1]))
    for array, mask in (
        (tables.playouts, kept),
        (tables.visits, rows),
        (tables.value_sum, rows),
        (tables.wins, rows),
        (tables.win_moves, rows),
    ):
        if len(array) > 0:
            array[: np.count_nonzero(mask)] = array[: len(mask)][mask]
    tables.used[0] = np.count_nonzero(kept)
    tables.owner[: tables.used[0]] = owners[kept]
    tables.node_table[:] = NO_TABLE
    tables.node_table[owners[kept]] = np.arange(tables.used[0])
