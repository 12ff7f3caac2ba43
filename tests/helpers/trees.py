"""Looking at whole trees. What is looked at is a searcher's first tree, or one of them."""

import itertools
import math

from rave_agents.compiler.arrays import EDGE, GROWING, NODE, TABLE, Axis
from rave_agents.compiler.dispatch import records_of
from rave_agents.kernel.amaf.nodes import EdgeAmaf
from rave_agents.kernel.amaf.tables import AmafTables
from rave_agents.kernel.amaf.views import NO_TABLE
from rave_agents.kernel.proofs.solver import UNSOLVED
from rave_agents.kernel.tree import ROOT, UNEXPANDED, edge_rows
from rave_agents.tree.joint_positions import find_joint_child, joint_visits, position_nodes
from rave_agents.tree.search_tree import SearchTree
from rave_agents.tree.storage import declared_arrays


def search_tree(shown):
    """The tree of a searcher (its first thread's), or itself."""
    return shown if isinstance(shown, SearchTree) else shown._trees.searches[0].tree


def all_arrays(shown):
    """Every array of a tree and of the parts that keep something beside it."""
    whole = search_tree(shown)
    records = (whole.arrays, whole.path, *whole.running)
    return [pair for record in records for pair in declared_arrays(record)]


def stored(shown):
    """The rows in use of every array that grows with the tree, as plain values."""
    whole = search_tree(shown)
    used = []
    for array, rows in all_arrays(whole):
        if rows.axis in GROWING and whole.storage.sizes[rows.axis] > 0:
            items = len(array) // whole.storage.sizes[rows.axis]
            used.append(array[: items * int(whole.arrays.used[rows.axis])].tolist())
    return used


def positions_judged(shown):
    """What was played up to each position, and how many simulations ended there."""
    tree = search_tree(shown).arrays
    histories = {ROOT: ()}
    for node in range(tree.used[NODE]):
        ended = int(tree.node_visits[node])
        for edge in edge_rows(tree, node):
            visits, child = int(tree.edge_visits[edge]), int(tree.edge_child[edge])
            ended -= visits
            history = (*histories[node], int(tree.edge_action[edge]))
            if child != UNEXPANDED:
                histories[child] = history
            elif visits > 0:
                yield history, visits
        yield histories[node], ended


def growing_bytes(shown):
    """Bytes of all arrays that grow with the tree, used rows and free ones."""
    growing = (*GROWING, Axis.PLACE)
    return sum(array.nbytes for array, rows in all_arrays(shown) if rows.axis in growing)


class _Interrupted:
    """An array of which Ctrl-C comes as soon as it has been resized."""

    def __init__(self, array):
        self.array = array

    def __len__(self):
        return len(self.array)

    def __setitem__(self, rows, values):
        self.array[rows] = values

    def resize(self, size, refcheck):
        self.array.resize(size, refcheck=refcheck)
        raise KeyboardInterrupt


def interrupt_resize(storage, place, resize):
    """Call ``resize``, interrupted once it has resized the array at this place of the storage."""
    arrays = list(storage._arrays)
    storage._arrays[place] = (_Interrupted(arrays[place][0]), arrays[place][1])
    try:
        resize()
    except KeyboardInterrupt:
        return True
    finally:
        storage._arrays = arrays
    return False


def amaf_of_edge(whole, edge):
    """The AMAF visits of an edge and the sum of their values; 0 where edges have none."""
    amaf = whole.running.amaf
    if not isinstance(amaf, EdgeAmaf):
        return 0.0, 0.0
    return float(amaf.visits[edge]), float(amaf.value_sum[edge])


def dump(shown, node=0, path=(), into=None):
    """``{path: (player, visits, [(action, prior, n, W, amaf n, amaf W, expanded), ...])}``."""
    into = {} if into is None else into
    whole = search_tree(shown)
    tree = whole.arrays
    rows = []
    for edge in edge_rows(tree, node):
        child = int(tree.edge_child[edge])
        action = int(tree.edge_action[edge])
        row = (
            action,
            float(tree.edge_prior[edge]),
            int(tree.edge_visits[edge]),
            float(tree.edge_value_sum[edge]),
            *amaf_of_edge(whole, edge),
            child != UNEXPANDED,
        )
        rows.append(row)
        if child != UNEXPANDED:
            dump(whole, child, (*path, action), into)
    into[path] = (int(tree.node_player[node]), int(tree.node_visits[node]), rows)
    return into


def dump_joint(shown, node=0, path=(), into=None):
    """``{path: ([(player, visits, [(action, n, W, amaf n, amaf W), ...]), ...], joint)}``.

    A list of nodes for each position; joint is ``{actions: (n, [W of each player], expanded)}``
    where several move.
    """
    into = {} if into is None else into
    whole = search_tree(shown)
    tree, moves = whole.arrays, whole.running.moves
    nodes = position_nodes(moves, node)
    rows = []
    for row in nodes:
        edges = []
        for edge in edge_rows(tree, row):
            n, total = int(tree.edge_visits[edge]), float(tree.edge_value_sum[edge])
            edges.append((int(tree.edge_action[edge]), n, total, *amaf_of_edge(whole, edge)))
        rows.append((int(tree.node_player[row]), int(tree.node_visits[row]), edges))
    joint, steps = {}, [(int(tree.edge_action[edge]),) for edge in edge_rows(tree, nodes[0])]
    if len(nodes) > 1:
        known = joint_visits(tree, moves, node)
        steps = [row.actions for row in known]
        for row in known:
            child = find_joint_child(tree, moves, node, row.actions)
            joint[row.actions] = (row.visits, list(row.value_sums), child != UNEXPANDED)
    into[path] = (rows, joint)
    for step in steps:
        child = find_joint_child(tree, moves, node, step)
        if child != UNEXPANDED:
            dump_joint(whole, child, (*path, *step), into)
    return into


def dump_textbook(node, path=(), into=None, scale=lambda total, n: total):
    """The same of a textbook tree; ``scale(total, n)`` gives what the kernel keeps."""
    into = {} if into is None else into
    rows = []
    for edge in node.edges:
        amaf = (edge.amaf_n, scale(edge.amaf_total, edge.amaf_n))
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


def check_tree(shown, *, refutations=False, judged=False, tolerance=1e-9):
    """Assert that a tree is whole: rows in order, visits that add up, values within bounds.

    Where leaves are ``judged`` in batches, chance nodes never are.
    """
    whole = search_tree(shown)
    tree = whole.arrays
    nodes, edges = int(tree.used[NODE]), int(tree.used[EDGE])
    assert (tree.used <= tree.capacity).all()
    for array, rows in all_arrays(whole):
        if rows.axis in (NODE, EDGE):
            assert len(array) >= tree.capacity[rows.axis]
    assert nodes > 0
    parents = [0] * nodes
    next_edge = 0
    for node in range(nodes):
        rows = edge_rows(tree, node)
        if len(rows):
            assert rows.start == next_edge
            next_edge = rows.stop
        elif tree.node_player[node] != -4:
            assert whole.proofs.distance[node] != UNSOLVED, "only what is proven lacks its edges"
        below = 0
        for edge in rows:
            visits = int(tree.edge_visits[edge])
            below += visits
            assert -tolerance <= tree.edge_value_sum[edge] <= visits + tolerance * (visits + 1)
            n, total = amaf_of_edge(whole, edge)
            assert -tolerance * (n + 1) <= total <= n + tolerance * (n + 1)
            child = int(tree.edge_child[edge])
            if child != UNEXPANDED:
                assert node < child < nodes
                parents[child] += 1
                assert tree.node_visits[child] == visits
        own = int(tree.node_visits[node]) - below
        assert own >= 0
        checked = refutations and (len(rows) == 0 or is_refuted(tree, node))
        if tree.node_player[node] != -4 and not checked:
            passed = judged and tree.node_player[node] == -1
            assert own >= 1 or passed, (
                "every node was a leaf at least once, if it is not a checked child"
            )
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


def has_tables(shown):
    """Whether AMAF statistics lie in tables."""
    return isinstance(search_tree(shown).running.amaf, AmafTables)


def first_row(rooted, table, player):
    """The row of a player's action 0 in a table: tables lie behind each other, players in them."""
    state = rooted.state
    return (table * state.num_players() + player) * state.num_distinct_actions()


def dump_tables(rooted, node=0, path=(), into=None):
    """``{path: (playouts, {(player, action): (n, W, wins, win moves)})}`` of nodes with a table."""
    into = {} if into is None else into
    tree, tables = rooted.arrays, rooted.amaf
    table = int(tables.node_table[node])
    if table != NO_TABLE:
        assert tables.owner[table] == node
        arrays = [tables.visits, tables.value_sum]
        if hasattr(tables.winning, "wins"):
            arrays += [tables.winning.wins, tables.winning.win_moves]
        rows = {}
        counts = rooted.state.num_players(), rooted.state.num_distinct_actions()
        for player, action in itertools.product(*map(range, counts)):
            row = first_row(rooted, table, player) + action
            if tables.visits[row] != 0.0:
                rows[player, action] = tuple(float(array[row]) for array in arrays)
        into[path] = (int(tables.playouts[table]), rows)
    for edge in edge_rows(tree, node):
        if tree.edge_child[edge] != UNEXPANDED:
            step = int(tree.edge_action[edge])
            dump_tables(rooted, int(tree.edge_child[edge]), (*path, step), into)
    return into


def check_tables(rooted, *, tolerance=1e-9):
    """Assert that tables are whole: one for each owner, values within bounds, room as promised."""
    tree, tables = rooted.arrays, rooted.amaf
    used, room = int(tree.used[TABLE]), int(tree.capacity[TABLE])
    rows = first_row(rooted, 1, 0)
    assert used <= room <= min(len(tables.owner), len(tables.playouts))
    assert room * rows <= min(len(tables.visits), len(tables.value_sum))
    nodes = int(tree.used[NODE])
    owners = {node for node in range(nodes) if tables.node_table[node] != NO_TABLE}
    assert owners == set(tables.owner[:used].tolist())
    assert len(owners) == used
    visits, sums = tables.visits[: used * rows], tables.value_sum[: used * rows]
    assert (sums >= -tolerance * (visits + 1)).all()
    assert (sums <= visits + tolerance * (visits + 1)).all()
    for node in owners:
        assert tables.node_table[node] < used
        assert 0 <= tables.playouts[tables.node_table[node]] <= tree.node_visits[node]


def find_records(record, kind):
    """All records of a class in a record."""
    return [found for found in records_of(record) if isinstance(found, kind)]
