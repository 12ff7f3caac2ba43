"""Proofs against the truth of small games, looked at to the last position."""

import math
import random

import pytest
from helpers.graphs import GraphRules, GraphState

from rave_agents.solver.proof_search import ProofSearch
from rave_agents.solver.value_search import ValueSearch


def check_graph(seed, **options):
    """Prove statements about every position of a random game, with one small table."""
    draw = random.Random(seed)
    players = draw.choice([1, 2, 2, 2, 3])
    rules = GraphRules(
        seed, nodes=draw.randint(3, 24), num_players=players, width=draw.randint(1, 4), **options
    )
    repetition = draw.choice([None, None, -1.0, 0.0, 1.0])
    search = ProofSearch(GraphState(rules), max_memory_mb=1, repetition=repetition)
    for node in draw.sample(range(len(rules.players)), min(4, len(rules.players))):
        player, at_least = draw.randrange(players), draw.choice([0.0, 0.5, 1.0])
        truth = rules.forced(player, at_least, repetition)
        state = GraphState(rules, node)
        assert search.prove(state, player, at_least, positions=10000) == truth[node], (seed, node)
        for at in range(len(rules.players)):
            known = search.answer(GraphState(rules, at), player, at_least)
            assert known is None or known.proven == truth[at], (seed, node, at)
            if known is not None and at not in rules.ends:
                check_answer(rules, at, known, truth, player, at_least)


def check_answer(rules, node, known, truth, player, at_least):
    """An answer's action keeps what it says."""
    if known.proven == (rules.players[node] == player):
        assert truth[rules.edges[node][known.action]] == known.proven
    else:
        assert known.action is None
    assert (known.value >= at_least) == known.proven or known.value == at_least


@pytest.mark.parametrize("seed", range(60))
def test_proofs_in_games_with_loops_are_right(seed):
    check_graph(seed)


@pytest.mark.parametrize("seed", range(30))
def test_proofs_in_games_without_loops_are_right(seed):
    check_graph(seed, loops=False)


def test_lines_of_play_may_be_longer_than_there_is_room_for_at_first():
    rules = GraphRules(0, nodes=301, width=1)
    for node in range(301):
        rules.edges[node], rules.players[node] = [node + 1] if node < 300 else [], 0
    rules.ends = {300: [1.0, -1.0]}
    search = ProofSearch(GraphState(rules, 0), max_memory_mb=1)
    assert search.prove(GraphState(rules, 0), 0, 1.0)
    assert search.positions == 300


def test_a_game_without_any_end_is_settled():
    """Nothing is forced there, and no value is met that could be looked at next."""
    rules = GraphRules(1, nodes=4)
    rules.ends.clear()
    rules.edges = [[1, 2], [3, 0], [0], [0, 1]]
    search = ProofSearch(GraphState(rules), max_memory_mb=1)
    assert ValueSearch(search, GraphState(rules), 0).run() == (-math.inf, -math.inf)


def written_graph(edges, players, ends):
    rules = GraphRules(0, nodes=1)
    rules.edges, rules.players, rules.ends = edges, players, ends
    return rules


def test_of_two_proven_moves_the_shorter_is_told():
    """Node 0 leads to 1, from where it takes two moves to win, and to the win itself."""
    rules = written_graph([[1, 2], [2], []], [0, 0, 0], {2: [1.0, -1.0]})
    search = ProofSearch(GraphState(rules), max_memory_mb=1)
    assert search.prove(GraphState(rules, 1), 0, 1.0)
    assert search.prove(GraphState(rules), 0, 1.0)
    answer = search.answer(GraphState(rules), 0, 1.0)
    assert (answer.action, answer.distance) == (1, 1)


def test_what_rests_on_a_position_is_settled_with_it():
    """Play can only go round, which counts enough: 1 is proven as soon as 0 is."""
    rules = written_graph([[1], [0]], [0, 1], {})
    search = ProofSearch(GraphState(rules), max_memory_mb=1, repetition=0.0)
    assert search.prove(GraphState(rules), 0, 0.0, positions=100)
    assert search.answer(GraphState(rules, 1), 0, 0.0).proven


def test_returns_that_are_looked_at_are_those_of_the_game():
    """Player 0 moves, and draws at best: the greatest return of all is looked at, and the next."""
    rules = written_graph([[1, 2], [], []], [0, 0, 0], {1: [-1.0, 1.0], 2: [0.0, 0.0]})
    state = GraphState(rules)
    values = ValueSearch(ProofSearch(state, max_memory_mb=1), state, 0)
    assert values.run() == (0.0, 0.0)
    assert values.tried == [1.0, 0.0]
