"""A search whose memory is full: it forgets the least visited leaves, and goes on."""

import signal

import numpy as np
import pyspiel
import pytest
from helpers.exhaustive import Exhaustive, check_numbers, check_solved
from helpers.games import joint_random_game, random_game
from helpers.observed import drawing, observed_game
from helpers.spiel import PythonState
from helpers.trees import (
    check_tables,
    check_tree,
    dump,
    dump_joint,
    growing_bytes,
    has_tables,
    search_tree,
    stored,
)
from rave_openspiel import OpenSpielState

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.compiler.arrays import EDGE, NODE
from rave_agents.kernel.players import TERMINAL
from rave_agents.kernel.tree import ROOT, UNEXPANDED, edge_rows
from rave_agents.parts import PUCT, UCB1, NoSolver, PowerMean, ProofNumbers, Proofs, Solver
from rave_agents.searcher import tree_search
from rave_agents.tree import search_tree as search_trees
from rave_agents.tree.pruning import Pruning, most_that_fit
from rave_agents.tree.search_tree import SearchTree

pytestmark = pytest.mark.compiled

MEGABYTE = 2**20
PRESETS = (
    *("uct", "rave", "grave", "mcps", "rave_winning_move", "uct_solver"),
    *("pn_mcts", "rave_pn", "auto"),
)


@pytest.fixture
def few_nodes(monkeypatch):
    """Trees of few nodes forget, too."""
    monkeypatch.setattr(search_trees, "LEAST_NODES", 6)


def searched(preset, state, simulations, *, seed=1, evaluator=None, **changes):
    config = SearchConfig.preset(preset) if isinstance(preset, str) else preset
    searcher = Searcher(config.replace(**changes), seed=seed, evaluator=evaluator)
    return searcher, searcher.search(state, Limit(simulations=simulations))


def connect_four():
    return pyspiel.load_game("connect_four").new_initial_state()


@pytest.mark.full(but=["rave"])
@pytest.mark.parametrize("preset", PRESETS)
def test_the_tree_stays_whole_within_the_memory_and_goes_on_growing(preset):
    state, memory = connect_four(), 0.05 if "pn" not in preset and preset != "auto" else 0.1
    searcher, result = searched(preset, state, 2000, max_memory_mb=memory)
    tree = search_tree(searcher)
    assert tree.forgotten > 100
    assert result.memory_full
    assert not tree.full
    assert result.root_visits == result.simulations == 2000
    assert result.memory_bytes == growing_bytes(searcher) <= memory * MEGABYTE
    assert sum(row.visits for row in result.actions) == 1999
    check_tree(tree, refutations=tree.proves)
    if has_tables(tree):
        check_tables(tree)


def test_a_search_that_is_not_full_forgets_nothing_and_is_as_before(monkeypatch):
    def refuse(tree, paths):
        raise AssertionError

    monkeypatch.setattr(SearchTree, "_forget", refuse)
    large, result = searched("rave", connect_four(), 800)
    small, _ = searched("rave", connect_four(), 800, max_memory_mb=1.5 * used_megabytes(large))
    assert not result.memory_full
    assert dump(small) == dump(large)


def used_megabytes(searcher):
    tree = search_tree(searcher)
    return float(tree.arrays.used @ tree.storage.row_bytes) / MEGABYTE


def test_nodes_that_stay_are_those_with_the_most_visits_and_the_latest_of_equals():
    visits = np.array([9, 5, 5, 2, 1, 2, 1, 1])
    sizes = np.array([10.0, 10, 10, 10, 10, 10, 10, 10])
    for room, expected in {
        0: [],
        29: [0, 2],
        30: [0, 1, 2],
        40: [0, 1, 2, 5],
        50: [0, 1, 2, 3, 5],
        65: [0, 1, 2, 3, 5, 7],
        1000: range(8),
    }.items():
        assert np.flatnonzero(most_that_fit(visits, sizes, room)).tolist() == list(expected), room


@pytest.mark.full
def test_a_forgotten_position_gets_its_node_with_the_visits_that_it_had():
    searcher, _ = searched("uct", connect_four(), 4000, max_memory_mb=0.06)
    tree = searcher.tree
    again = 0
    for node in range(1, int(tree.used[NODE])):
        taken = sum(int(tree.edge_visits[edge]) for edge in edge_rows(tree, node))
        again += tree.node_player[node] != TERMINAL and tree.node_visits[node] - taken > 2
    assert again > 10, "more visits than the two before a first node are those of a forgotten one"


@pytest.mark.full(but=["rave"])
@pytest.mark.parametrize("preset", ["rave", "grave", "mcps", "auto"])
def test_the_seed_decides_however_the_search_is_sliced(preset, monkeypatch):
    first, result = searched(preset, connect_four(), 1500, max_memory_mb=0.08)
    monkeypatch.setattr(tree_search, "SLICE_SECONDS", 0.0002)
    second, again = searched(preset, connect_four(), 1500, max_memory_mb=0.08)
    assert search_tree(first).forgotten == search_tree(second).forgotten > 0
    assert stored(first) == stored(second)
    assert [row.visits for row in result.actions] == [row.visits for row in again.actions]


def test_the_bridge_which_keeps_states_by_their_rows_builds_the_tree_of_python(monkeypatch):
    monkeypatch.setenv("RAVE_AGENTS_GAMES", "openspiel")
    state = pyspiel.load_game("connect_four(rows=4,columns=5)").new_initial_state()
    trees = []
    for kind in (OpenSpielState, PythonState):
        searcher, _ = searched("uct_solver", kind(state), 800, max_memory_mb=0.02)
        assert search_tree(searcher).forgotten > 0
        trees.append(dump(searcher))
    assert trees[0] == trees[1]


@pytest.mark.full
def test_each_thread_forgets_for_itself():
    searcher, result = searched("rave", connect_four(), 20_000, max_memory_mb=0.4, threads=2)
    again, _ = searched("rave", connect_four(), 20_000, max_memory_mb=0.4, threads=2)
    assert result.memory_bytes <= 0.4 * MEGABYTE
    assert result.root_visits == 20_000
    for one, other in zip(searcher._trees.searches, again._trees.searches, strict=True):
        assert one.tree.forgotten > 0
        check_tree(one.tree)
        assert stored(one.tree) == stored(other.tree)


@pytest.mark.full(but=[4])
@pytest.mark.parametrize("leaves", [1, 4])
def test_simulations_that_wait_for_an_evaluator_keep_their_way(leaves, few_nodes):
    config = SearchConfig(rule=PUCT(1.0), leaves=leaves, max_memory_mb=0.01)
    state = observed_game(5, depth=12, chance=0.2)
    results = [searched(config, state, 400, evaluator=drawing(3)) for _ in range(2)]
    searcher, result = results[0]
    assert search_tree(searcher).forgotten > 0
    assert result.root_visits == 400
    assert sum(row.visits for row in result.actions) == 399
    check_tree(searcher, judged=True)
    assert dump(searcher) == dump(results[1][0])


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("preset", ["uct", "rave"])
def test_where_players_move_at_the_same_time(preset, seed, few_nodes):
    state = joint_random_game(seed, width=4, depth=30, num_players=3, together=0.9)
    player = next(p for p in range(3) if state.legal_actions(p))
    searcher = Searcher(SearchConfig.preset(preset).replace(max_memory_mb=0.015), seed=seed)
    result = searcher.search(state, Limit(simulations=2000), player=player)
    assert search_tree(searcher).forgotten > 0
    assert result.root_visits == 2000
    positions = dump_joint(searcher)
    assert len(positions) > 10
    for nodes, joint in positions.values():
        visits = {node_visits for _, node_visits, _ in nodes}
        assert len(visits) == 1, "all who move there are visited together"
        for _, _, edges in nodes:
            taken = sum(edge[1] for edge in edges)
            assert taken <= max(visits)
            if joint:
                assert taken == sum(n for n, _, _ in joint.values())


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("game", ["phantom_ttt", "dark_hex(board_size=3)"])
def test_where_something_is_hidden(game, seed):
    state = pyspiel.load_game(game).new_initial_state()
    searcher, result = searched("rave", state, 6000, seed=seed, max_memory_mb=0.15)
    again, _ = searched("rave", state, 6000, seed=seed, max_memory_mb=0.15)
    whole = search_tree(searcher)
    tree, children = whole.arrays, whole.running.moves.children
    nodes, edges, _, entries = tree.used.tolist()
    assert whole.forgotten > 0
    assert result.root_visits == 6000
    assert stored(searcher) == stored(again)
    owned = [edge for node in range(nodes) for edge in edge_rows(tree, node)]
    assert len(set(owned)) == len(owned) <= edges
    reached = [int(child) for child in children.child[:entries] if child != UNEXPANDED]
    assert sorted(reached) == list(range(1, nodes)), "each but the root is reached by one entry"
    assert (children.edge[:entries] < nodes).all()
    for entry in np.flatnonzero(children.child[:entries] != UNEXPANDED):
        assert tree.node_visits[children.child[entry]] == children.visits[entry]


@pytest.mark.full
@pytest.mark.parametrize("block", range(8))
def test_what_is_proven_stays_true(block, few_nodes):
    forgot = 0
    kinds = {"zero_sum": True}, {"chance": 0.3}, {"num_players": 3}
    for seed in range(12 * block, 12 * block + 12):
        state = random_game(seed, depth=6, width=6, low=-1.0, high=1.0, **kinds[seed % 3])
        solver = Solver() if seed % 4 else NoSolver()
        changes = {"rule": UCB1(3.0), "max_memory_mb": 0.008, "search_forced_moves": True}
        config = SearchConfig(proofs=Proofs(solver, ProofNumbers()), **changes)
        searcher, _ = searched(config, state, 300, seed=seed)
        tree, truth = search_tree(searcher), Exhaustive(state.rules)
        forgot += tree.forgotten > 0
        check_tree(tree)
        check_numbers(tree, truth)
        if seed % 4:
            check_solved(tree, truth)
    assert forgot > 2


@pytest.mark.full
def test_a_position_is_proven_in_less_memory_than_its_tree_takes():
    game, moves = "connect_four(rows=4,columns=5)", "4 2 4 3 1 1"
    state = pyspiel.load_game(game).new_initial_state()
    for move in moves.split():
        state.apply_action(int(move))
    config, limit = SearchConfig.preset("rave_pn"), Limit(simulations=10**6)
    whole = Searcher(config, seed=1).search(state, limit)
    needed = whole.memory_bytes / MEGABYTE
    small = Searcher(config.replace(max_memory_mb=needed / 4), seed=1).search(state, limit)
    assert small.memory_full
    assert small.outcome == whole.outcome is not None


@pytest.mark.full
@pytest.mark.parametrize("preset", ["rave", "uct_solver", "grave", "mcps"])
def test_a_kept_tree_goes_on_and_forgets_again(preset):
    # RAVE that does not explore settles on one line and fills no memory.
    explores = {"late_c": 0.5} if preset == "rave" else {}
    searcher, result = searched(preset, connect_four(), 6000, max_memory_mb=0.25, **explores)
    state = connect_four()
    for _ in range(4):
        state.apply_action(result.action)
        searcher.advance(result.action)
        check_tree(searcher, refutations=True)
        before = search_tree(searcher)
        assert before.forgotten == 0
        result = searcher.search(state, Limit(simulations=6000))
        assert result.simulations == 6000
        assert search_tree(searcher).forgotten > 0
        check_tree(searcher, refutations=True)


@pytest.mark.full
def test_a_proven_position_whose_proof_is_forgotten_is_searched_anew():
    """The move that loses stays known as lost; what refutes it is searched again."""
    searcher, _ = searched("uct_solver", connect_four(), 6000, max_memory_mb=0.25)
    whole = search_tree(searcher)
    tree, distance = whole.arrays, whole.proofs.distance
    bare = [
        node
        for node in range(1, int(tree.used[NODE]))
        if tree.node_player[node] != TERMINAL and tree.node_edge_count[node] == 0
    ]
    assert bare
    assert all(distance[node] > 0 for node in bare)
    paths = {ROOT: ()}
    for node in range(int(tree.used[NODE])):
        for edge in edge_rows(tree, node):
            if tree.edge_child[edge] != UNEXPANDED:
                paths[int(tree.edge_child[edge])] = (*paths[node], int(tree.edge_action[edge]))
    path = paths[bare[0]]
    state = connect_four()
    for action in path:
        state.apply_action(action)
    searcher.follow(path)
    assert searcher.tree is None
    result = searcher.search(state, Limit(simulations=6000))
    assert result.outcome is not None


def test_ctrl_c_while_it_forgets_leaves_the_tree_whole(monkeypatch):
    keep = Pruning.keep

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        keep(*arguments)

    monkeypatch.setattr(Pruning, "keep", interrupted)
    config = SearchConfig.preset("rave").replace(max_memory_mb=0.05)
    searcher = Searcher(config, seed=1)
    with pytest.raises(KeyboardInterrupt):
        searcher.search(connect_four(), Limit(simulations=6000))
    assert searcher.result().simulations > 100
    assert search_tree(searcher).forgotten > 0
    check_tree(searcher)
    monkeypatch.setattr(Pruning, "keep", keep)
    assert searcher.search(connect_four(), Limit(simulations=500)).simulations == 500


def test_a_failure_while_it_forgets_drops_the_tree(monkeypatch):
    def fails(*arguments):
        raise MemoryError

    monkeypatch.setattr(Pruning, "keep", fails)
    searcher = Searcher(SearchConfig.preset("rave").replace(max_memory_mb=0.05), seed=1)
    with pytest.raises(MemoryError):
        searcher.search(connect_four(), Limit(simulations=6000))
    assert searcher.tree is None


@pytest.mark.full
def test_values_of_nodes_stay_where_these_are_forgotten():
    """An edge keeps its value and the weight of its simulations: they count as ended after it."""
    config = SearchConfig(backup=PowerMean(2.0), max_memory_mb=0.25)
    searcher, _ = searched(config, connect_four(), 6000)
    whole = search_tree(searcher)
    backup, tree = whole.running.backup, whole.arrays
    used = int(tree.used[EDGE])
    assert whole.forgotten > 0
    assert (backup.visits[:used] == tree.edge_visits[:used]).all()
    cut = np.flatnonzero((tree.edge_child[:used] == UNEXPANDED) & (tree.edge_visits[:used] > 2))
    assert len(cut) > 10
    assert (backup.end_visits[cut] == backup.visits[cut]).all()


def test_a_tree_of_few_nodes_stays_as_it_is():
    searcher, result = searched("rave", connect_four(), 500, max_memory_mb=0.01)
    assert result.memory_full
    assert search_tree(searcher).full
    assert search_tree(searcher).forgotten == 0
    check_tree(searcher)


def test_a_move_that_has_no_time_to_forget_goes_on_without(monkeypatch):
    """Its successor forgets."""
    monkeypatch.setattr(search_trees, "SECONDS_TO_FORGET", 1.0)
    searcher, _ = searched("rave", connect_four(), 100, max_memory_mb=0.05)
    result = searcher.search(connect_four(), Limit(simulations=1500, seconds=1000.0), moves=())
    whole = search_tree(searcher)
    assert (whole.full, whole.forgotten) == (True, 0)
    assert result.memory_full
    assert result.simulations == 1500
    searcher.search(connect_four(), Limit(simulations=100), moves=())
    assert not whole.full
    assert whole.forgotten > 0
    check_tree(searcher)


def test_once_the_memory_was_full_nodes_come_on_the_second_visit():
    config = SearchConfig.preset("rave").replace(expand_visits=1, max_memory_mb=0.05)
    searcher, _ = searched(config, connect_four(), 1500)
    tree = searcher.tree
    nodes = np.arange(int(tree.used[NODE]))
    once = nodes[(tree.node_visits[nodes] == 1) & (tree.node_player[nodes] != TERMINAL)]
    assert search_tree(searcher).forgotten > 0
    assert len(once) == 0
