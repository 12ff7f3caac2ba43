"""Values, bounds and lines in games that may go on for ever, against a fixpoint."""

import math
import os
import random

import numpy as np
import pytest
from helpers.graphs import GraphRules, GraphState

from rave_agents.solver.best_line import best_line
from rave_agents.solver.proof_search import ProofSearch
from rave_agents.solver.value_search import ValueSearch, action_bounds

GAMES = int(os.environ.get("RAVE_AGENTS_LOOPS", "10000"))
"""Games of the full run, with up to six questions each."""

SCORES = [(-1, 0, 1), (-1, 1), (-2, -1, 1, 2), (-3, -2, -1, 0, 1, 2, 3)]


def exact_values(rules, player, repetition):
    """What the player can force from each node."""
    values = dict.fromkeys(range(len(rules.players)), -math.inf)
    for value in sorted({*rules.values} | ({repetition} - {None})):
        truth = rules.forced(player, value, repetition)
        values |= {node: float(value) for node, holds in truth.items() if holds}
    return values


def check_game(seed, questions=6):
    """Ask one table for values at several nodes, and check all that is found there."""
    draw = random.Random(seed)
    players = draw.choice([1, 2, 2, 2, 3])
    rules = GraphRules(
        seed,
        nodes=draw.randint(4, 16),
        num_players=players,
        width=draw.randint(2, 4),
        values=draw.choice(SCORES),
        loops=seed % 5 > 0,
    )
    repetition = draw.choice([None, *map(float, rules.values)])
    search = ProofSearch(GraphState(rules), max_memory_mb=1, repetition=repetition)
    inner = [node for node in range(len(rules.players)) if node not in rules.ends]
    for node in draw.sample(inner, min(questions, len(inner))):
        player = draw.choice([rules.players[node], draw.randrange(players)])
        exact = exact_values(rules, player, repetition)
        values = ValueSearch(search, GraphState(rules, node), player)
        assert values.run() == (exact[node], exact[node]), (seed, node)
        for action, (low, high) in action_bounds(values).items():
            assert low <= exact[rules.edges[node][action]] <= high, (seed, node, action)
        for first in (None, *range(len(rules.edges[node]))):
            line = best_line(values, first, positions=None if first is None else 0)
            check_line(rules, node, line, exact, repetition, first)


def check_line(rules, node, line, exact, repetition, first):
    """A line keeps the value with each move until an end, or a repetition that is worth as much."""
    value, path = exact[node], [node]
    for action in line:
        path.append(rules.edges[path[-1]][action])
        assert exact[path[-1]] == value, (rules.seed, path)
    # Best play after another first move may lead back to the root, which is not shown.
    if first is None and path[-1] not in rules.ends:
        endless = -math.inf if repetition is None else repetition
        assert path[-1] in path[:-1], (rules.seed, path)
        assert value == endless, (rules.seed, path)


@pytest.mark.parametrize("seed", range(40))
def test_one_table_has_right_values_bounds_and_lines(seed):
    check_game(seed)


@pytest.mark.full
@pytest.mark.parametrize("part", range(10))
def test_one_table_has_right_values_bounds_and_lines_in_many_games(part):
    for seed in range(100 + part, 100 + GAMES, 10):
        check_game(seed)


def written_graph(edges, players, ends):
    rules = GraphRules(0, values=(-2, 2))
    rules.edges, rules.players, rules.ends = edges, players, ends
    return rules


def test_a_position_that_waits_for_one_further_up_has_its_value():
    """A (0) ends with 1 or goes to B (1), from where play must come back to A."""
    rules = written_graph([[2, 1], [0], []], [0, 0, 0], {2: [1.0, -1.0]})
    search = ProofSearch(GraphState(rules), max_memory_mb=1, repetition=0.0)
    for node in (0, 1):
        values = ValueSearch(search, GraphState(rules, node), 0)
        assert values.run() == (1.0, 1.0)
        assert all(low <= 1.0 <= high for low, high in action_bounds(values).values())


def test_equal_numbers_make_equal_statements():
    state = GraphState(written_graph([[0, 1], []], [0, 0], {1: [0.0, 0.0]}))
    search = ProofSearch(state, max_memory_mb=1, repetition=np.int64(-0))
    assert search.prove(state, 0, -0.0)
    assert search.answer(state, 0, 0) == search.answer(state, 0, 0.0) is not None
