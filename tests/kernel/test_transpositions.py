"""Positions that several orders of moves lead to share their node."""

import math
import random

import pytest
from helpers.graphs import GraphRules, GraphState
from helpers.interpreter import interpreted
from helpers.trees import search_tree

from rave_agents import Limit, SearchConfig, Searcher, UnsupportedGameError
from rave_agents.compiler.arrays import NODE
from rave_agents.games import RulesState, rules_class
from rave_agents.kernel.tree import ROOT, UNEXPANDED, edge_rows
from rave_agents.parts import Transpositions

PRESETS = ("uct", "rave", "grave", "uct_solver", "pn_mcts", "rave_pn")


def searched(preset, state, simulations, *, seed=1, evaluator=None, **changes):
    changes = {"transpositions": Transpositions(), "search_forced_moves": True, **changes}
    config = SearchConfig.preset(preset).replace(**changes)
    searcher = Searcher(config, seed=seed, evaluator=evaluator)
    return searcher, searcher.search(state, Limit(simulations=simulations))


def game(name, **parameters):
    return RulesState(rules_class(name)(**parameters))


def links_in(tree):
    """The edges that lead to each node, as pairs of the node above and the edge."""
    arrays, found = tree.arrays, {}
    for node in range(int(arrays.used[NODE])):
        for edge in edge_rows(arrays, node):
            if arrays.edge_child[edge] != UNEXPANDED:
                found.setdefault(int(arrays.edge_child[edge]), []).append((node, edge))
    return found


def check_graph(searcher, *, whole=True):
    """Assert that nodes stand for positions, and count what all edges to them count.

    Returns the number of nodes to which several edges lead. ``whole`` is False where nodes were
    forgotten: those that are left know more than the edges to them.
    """
    tree = search_tree(searcher)
    arrays, shared, into = tree.arrays, tree.moves, links_in(tree)
    states, depths, movers, waiting = {ROOT: tree.state.clone()}, {ROOT: 0}, {ROOT: -1}, [ROOT]
    while waiting:
        node = waiting.pop()
        state, mover = states[node], int(arrays.node_player[node])
        mover = mover if mover >= 0 else movers[node]
        assert arrays.node_player[node] == (-4 if state.is_terminal() else state.current_player())
        for edge in edge_rows(arrays, node):
            child = int(arrays.edge_child[edge])
            if child == UNEXPANDED:
                continue
            after = state.clone()
            after.apply_action(int(arrays.edge_action[edge]))
            if child in states:
                assert after.position_key() == states[child].position_key()
                assert (depths[child], movers[child]) == (depths[node] + 1, mover)
            else:
                states[child], depths[child], movers[child] = after, depths[node] + 1, mover
                waiting.append(child)
    assert len(states) == arrays.used[NODE]
    told = [node for node in states if shared.links[node] > 0]
    keys = {(states[node].position_key(), depths[node], movers[node]) for node in told}
    assert len(keys) == len(told)
    several = 0
    for node in told:
        edges = [edge for _, edge in into.get(node, [])]
        assert len(edges) <= shared.links[node]
        several += len(edges) > 1
        if node != ROOT and whole:
            counted = sum(int(arrays.edge_visits[edge]) for edge in edges)
            assert shared.links[node] == len(edges)
            assert shared.visits[node] == arrays.node_visits[node] == counted
            assert -1e-9 <= shared.value_sum[node] <= counted + 1e-9
        if len(edges) == 1 and whole and node != ROOT:
            assert shared.value_sum[node] == pytest.approx(arrays.edge_value_sum[edges[0]])
    sums, visits = arrays.edge_value_sum, arrays.edge_visits
    used = sum(int(count) for count in arrays.node_edge_count[: arrays.used[NODE]])
    assert (sums[:used] >= -1e-9).all()
    assert (sums[:used] <= visits[:used] + 1e-9).all()
    return several


class LayeredRules(GraphRules):
    """A graph whose edges go to the next of its layers, so that many ways lead to each node."""

    def __init__(self, seed, *, layers=7, size=4, width=3, num_players=2):
        super().__init__(seed, nodes=1 + layers * size, num_players=num_players, loops=False)
        draw = random.Random(seed)
        self.ends, self.edges, self.num_distinct_actions = {}, [], width
        for node in range(1 + layers * size):
            first = 1 + size * math.ceil(node / size)
            ended = first >= 1 + layers * size
            if ended:
                own = [float(draw.choice(self.values)) for _ in range(num_players)]
                self.ends[node] = [own[0], -own[0]] if num_players == 2 else own
            self.edges.append([] if ended else [first + draw.randrange(size) for _ in range(width)])


def layered_game(seed, **rules):
    return GraphState(LayeredRules(seed, **rules))


@pytest.mark.full
@pytest.mark.parametrize("preset", PRESETS)
def test_a_node_stands_for_a_position_and_counts_what_all_edges_to_it_count(preset):
    searcher, _ = searched(preset, game("tic_tac_toe"), 500, expand_visits=1)
    assert check_graph(searcher) > 10


def check_bounds(searcher, rules):
    """Assert that what is proven of each node holds by the rules; returns how many are solved."""
    tree = search_tree(searcher)
    proofs, where, waiting, solved = tree.proofs, {ROOT: tree.state.node}, [ROOT], 0
    forced = [
        {value: rules.forced(player, value) for value in rules.values}
        for player in range(rules.num_players)
    ]
    while waiting:
        node = waiting.pop()
        for player, holds in enumerate(forced):
            sure = max(value for value in rules.values if holds[value][where[node]])
            assert proofs.low[node][player] <= sure <= proofs.high[node][player]
        solved += bool(proofs.distance[node] >= 0)
        for edge in edge_rows(tree.arrays, node):
            child = int(tree.arrays.edge_child[edge])
            if child != UNEXPANDED and child not in where:
                where[child] = rules.edges[where[node]][int(tree.arrays.edge_action[edge])]
                waiting.append(child)
    return solved


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["uct_solver", "rave_pn"])
def test_what_is_proven_of_a_position_holds_whatever_the_order_of_moves(preset):
    solved = shared = 0
    for seed in range(12):
        state = layered_game(seed, num_players=1 + seed % 2)
        searcher, result = searched(preset, state, 200, expand_visits=1 + seed % 2, seed=seed)
        solved += check_bounds(searcher, state.rules)
        shared += check_graph(searcher)
        assert result.proven is not None
    assert solved > 100
    assert shared > 40


def test_a_position_solved_on_another_path_solves_the_one_above_it():
    """Without proofs that catch up, the search would go on and on to a root that is solved."""
    for seed in range(10):
        state = layered_game(seed)
        _, result = searched("uct_solver", state, 500, expand_visits=1)
        assert result.simulations < 500


def grown(searcher):
    """All that a search knows of its nodes and edges, but for keys."""
    tree = search_tree(searcher)
    known = [tree.moves.links, tree.moves.visits, tree.moves.value_sum, *tree.arrays[2:]]
    return [array.tolist() for array in known]


@pytest.mark.compiled
@pytest.mark.full
@pytest.mark.parametrize("preset", ["rave", "rave_pn"])
def test_compiled_and_interpreted_searches_grow_equal_graphs(preset):
    searcher, _ = searched(preset, game("tic_tac_toe"), 600, expand_visits=1)
    with interpreted():
        twin, _ = searched(preset, game("tic_tac_toe"), 600, expand_visits=1)
    assert grown(searcher) == grown(twin)
    assert check_graph(searcher) > 10


@pytest.mark.full
def test_a_kept_tree_goes_on_as_a_graph():
    """Nodes below the new root may have been there before it."""
    several = kept = 0
    for seed in range(6):
        state, draw = game("tic_tac_toe"), random.Random(seed)
        searcher, _ = searched("rave", state, 400, seed=seed, expand_visits=1)
        for _ in range(4):
            state.apply_action(draw.choice(state.legal_actions()))
            result = searcher.search(state, Limit(simulations=150), reuse=True)
            kept += result.root_visits > result.simulations
            several += check_graph(searcher, whole=False)
    assert kept > 12
    assert several > 20


@pytest.mark.full
@pytest.mark.parametrize("preset", ["rave", "uct_solver"])
def test_a_full_memory_forgets_nodes_that_no_edge_leads_to_any_more(preset):
    # RAVE that does not explore settles on one line and fills no memory.
    explores = {"late_c": 0.5} if preset == "rave" else {}
    small = game("connect_four", rows=4, columns=4)
    searcher, _ = searched(preset, small, 3000, expand_visits=1, max_memory_mb=0.1, **explores)
    tree = search_tree(searcher)
    assert tree.forgotten > 100
    assert check_graph(searcher, whole=False) > 5


def test_what_cannot_share_positions_is_refused_or_goes_without():
    unkeyed = GraphState(LayeredRules(1), keyed=False)
    with pytest.raises(UnsupportedGameError, match=r"position_key\(\)"):
        searched("uct", unkeyed, 10)
    searcher, _ = searched("uct", unkeyed, 10, transpositions=Transpositions(optional=True))
    assert type(search_tree(searcher).moves).__name__ == "Alternating"
