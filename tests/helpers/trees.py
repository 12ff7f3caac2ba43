"""Looking at whole trees."""

import itertools
import math

from rave_agents.search.amaf import NO_TABLE, table_row
from rave_agents.search.compiler import interpreted
from rave_agents.search.proofs import UNSOLVED
from rave_agents.search.simultaneous import find_joint_child, joint_visits, position_nodes
from rave_agents.search.tree import EDGES_USED, NODES_USED, UNEXPANDED, edge_rows, has_amaf


def dump(tree, node=0, path=(), into=None):
    """``{path: (player, visits, [(action, prior, n, W, amaf n, amaf W, expanded), ...])}``."""
    into = {} if into is None else into
    rows = []
    for edge in edge_rows(tree, node):
        amaf = (0.0, 0.0)
        if has_amaf(tree):
            amaf = (float(tree.edge_amaf_visits[edge]), float(tree.edge_amaf_value_sum[edge]))
        child = int(tree.edge_child[edge])
        action = int(tree.edge_action[edge])
        row = (
            action,
            float(tree.edge_prior[edge]),
            int(tree.edge_visits[edge]),
            float(tree.edge_value_sum[edge]),
            *amaf,
            child != UNEXPANDED,
        )
        rows.append(row)
        if child != UNEXPANDED:
            dump(tree, child, (*path, action), into)
    into[path] = (int(tree.node_player[node]), int(tree.node_visits[node]), rows)
    return into


def dump_joint(tree, simultaneous, node=0, path=(), into=None):
    """``{path: ([(player, visits, [(action, n, W, amaf n, amaf W), ...]), ...], joint)}``.

    A list of nodes for each position; joint is ``{actions: (n, [W of each player], expanded)}``
    where several move.
    """
    into = {} if into is None else into
    nodes = position_nodes(tree, simultaneous, node)
    rows = []
    for row in nodes:
        edges = []
        for edge in edge_rows(tree, row):
            amaf = (0.0, 0.0)
            if has_amaf(tree):
                amaf = (float(tree.edge_amaf_visits[edge]), float(tree.edge_amaf_value_sum[edge]))
            n, total = int(tree.edge_visits[edge]), float(tree.edge_value_sum[edge])
            edges.append((int(tree.edge_action[edge]), n, total, *amaf))
        rows.append((int(tree.node_player[row]), int(tree.node_visits[row]), edges))
    joint, steps = {}, [(int(tree.edge_action[edge]),) for edge in edge_rows(tree, nodes[0])]
    if len(nodes) > 1:
        known = joint_visits(tree, simultaneous, node)
        steps = [row.actions for row in known]
        for row in known:
            child = find_joint_child(tree, simultaneous, node, row.actions)
            joint[row.actions] = (row.visits, list(row.value_sums), child != UNEXPANDED)
    into[path] = (rows, joint)
    for step in steps:
        child = find_joint_child(tree, simultaneous, node, step)
        if child != UNEXPANDED:
            dump_joint(tree, simultaneous, child, (*path, *step), into)
    return into


def dump_textbook(node, path=(), into=None, scale=lambda total, n: total):
    """The same of a textbook tree; ``scale(total, n)`` gives what the kernel keeps."""
    into = {} if into is None else into
    rows = []
    for edge in node.edges:
        amaf = (edge.amaf.n, scale(edge.amaf.total, edge.amaf.n))
        value_sum = scale(edge.total, edge.n)
        rows.append((edge.action, edge.prior, edge.n, value_sum, *amaf, edge.child is not None))
        if edge.child is not None:
            dump_textbook(edge.child, (*path, edge.action), into, scale)
    into[path] = (node.player, node.visits, rows)
    return into


def dump_proofs(tree, proofs, node=0, path=(), into=None):
    """``{path: {"low": ..., "high": ..., "distance": ..., "numbers": ...}}``, what there is."""
    into = {} if into is None else into
    known = {}
    if len(proofs.distance) > 0:
        known["low"], known["high"] = tuple(proofs.low[node]), tuple(proofs.high[node])
        distance = int(proofs.distance[node])
        known["distance"] = None if distance == UNSOLVED else distance
    if len(proofs.proof) > 0:
        pairs = zip(proofs.proof[node], proofs.disproof[node], strict=True)
        known["numbers"] = list(pairs)
    into[path] = known
    for edge in edge_rows(tree, node):
        if tree.edge_child[edge] != UNEXPANDED:
            step = int(tree.edge_action[edge])
            dump_proofs(tree, proofs, int(tree.edge_child[edge]), (*path, step), into)
    return into


def dump_textbook_proofs(node, path=(), into=None):
    """The same of a textbook tree."""
    into = {} if into is None else into
    into[path] = vars(node.proof)
    for edge in node.edges:
        if edge.child is not None:
            dump_textbook_proofs(edge.child, (*path, edge.action), into)
    return into


def is_refuted(tree, node):
    """Whether a node may be one that was found to lose to the reply that its sibling loses to."""
    children = [int(tree.edge_child[edge]) for edge in edge_rows(tree, node)]
    return len(children) == 1 and children[0] != UNEXPANDED and tree.node_player[children[0]] == -4


def check_tree(tree, *, refutations=False, tolerance=1e-9):
    """Assert that a tree is whole: rows in order, visits that add up, values within bounds."""
    nodes, edges = int(tree.used[NODES_USED]), int(tree.used[EDGES_USED])
    assert nodes <= len(tree.node_player)
    assert edges <= len(tree.edge_action)
    assert nodes > 0
    parents = [0] * nodes
    next_edge = 0
    for node in range(nodes):
        rows = edge_rows(tree, node)
        if len(rows):
            assert rows.start == next_edge
            next_edge = rows.stop
        else:
            assert tree.node_player[node] == -4
        below = 0
        for edge in rows:
            visits = int(tree.edge_visits[edge])
            below += visits
            assert -tolerance <= tree.edge_value_sum[edge] <= visits + tolerance * (visits + 1)
            if has_amaf(tree):
                n = float(tree.edge_amaf_visits[edge])
                assert (
                    -tolerance * (n + 1)
                    <= tree.edge_amaf_value_sum[edge]
                    <= n + tolerance * (n + 1)
                )
            child = int(tree.edge_child[edge])
            if child != UNEXPANDED:
                assert node < child < nodes
                parents[child] += 1
                assert tree.node_visits[child] == visits
        own = int(tree.node_visits[node]) - below
        assert own >= 0
        if tree.node_player[node] != -4 and not (refutations and is_refuted(tree, node)):
            assert own >= 1, "every node was a leaf at least once, if it is not a checked child"
    assert next_edge == edges
    assert parents == [0] + [1] * (nodes - 1)


def assert_close(actual, expected):
    """Two dumps are equal: numbers that count exactly, sums up to rounding."""
    assert actual.keys() == expected.keys()
    for path, (player, visits, rows) in expected.items():
        got_player, got_visits, got_rows = actual[path]
        assert (got_player, got_visits) == (player, visits), path
        assert len(got_rows) == len(rows), path
        for got, want in zip(got_rows, rows, strict=True):
            exact = (0, 1, 2, 6)
            assert [got[i] for i in exact] == [want[i] for i in exact], (path, got, want)
            for i in (3, 4, 5):
                assert math.isclose(got[i], want[i], rel_tol=1e-9, abs_tol=1e-9), (path, got, want)


def dump_tables(tree, tables, node=0, path=(), into=None):
    """``{path: (playouts, {(player, action): (n, W, wins, win moves)})}`` of nodes with a table."""
    into = {} if into is None else into
    table = int(tables.node_table[node])
    if table != NO_TABLE:
        assert tables.owner[table] == node
        rows = {}
        for player, action in itertools.product(*map(range, tables.shape.tolist())):
            row = interpreted(table_row)(tables, table, player) + action
            if tables.visits[row] != 0.0:
                arrays = (tables.visits, tables.value_sum, tables.wins, tables.win_moves)
                rows[player, action] = tuple(float(array[row]) for array in arrays if len(array))
        into[path] = (int(tables.playouts[table]), rows)
    for edge in edge_rows(tree, node):
        if tree.edge_child[edge] != UNEXPANDED:
            step = int(tree.edge_action[edge])
            dump_tables(tree, tables, int(tree.edge_child[edge]), (*path, step), into)
    return into


def check_tables(tree, tables, *, tolerance=1e-9):
    """Assert that tables are whole: one for each owner, values within bounds, room as promised."""
    used = int(tables.used[0])
    rows = int(tables.shape[0] * tables.shape[1])
    assert used <= len(tables.owner) <= len(tables.playouts)
    assert len(tables.owner) * rows <= min(len(tables.visits), len(tables.value_sum))
    nodes = int(tree.used[NODES_USED])
    owners = {node for node in range(nodes) if tables.node_table[node] != NO_TABLE}
    assert owners == set(tables.owner[:used].tolist())
    assert len(owners) == used
    visits, sums = tables.visits[: used * rows], tables.value_sum[: used * rows]
    assert (sums >= -tolerance * (visits + 1)).all()
    assert (sums <= visits + tolerance * (visits + 1)).all()
    for node in owners:
        assert tables.node_table[node] < used
        assert 0 <= tables.playouts[tables.node_table[node]] <= tree.node_visits[node]
