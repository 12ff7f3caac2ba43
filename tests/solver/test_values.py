"""Searches for a proof that begin with what a value function expects of positions."""

import pickle
import random
from typing import NamedTuple

import pytest

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.analysis.solve import solve_position
from rave_agents.evaluators.shipped import value_for
from rave_agents.games import GAMES, rules_class
from rave_agents.games.breakthrough import Breakthrough
from rave_agents.games.connect_four import ConnectFour
from rave_agents.games.othello import Othello
from rave_agents.games.y import Y
from rave_agents.parts import implements, position_value
from rave_agents.solver.proof_search import ProofSearch

RULES = [Breakthrough(rows=5, columns=4), Y(board_size=5)]


class Wrong(NamedTuple):
    """Expects that player 0 wins wherever the board has few pieces."""


@implements(position_value, Wrong)
def _expect(value, rules, state, returns):
    returns[0] = 1.0
    returns[1] = -1.0


class Added(NamedTuple):
    """Adds what player 0 is to expect, more after some moves than others, to what it finds."""


@implements(position_value, Added)
def _add(value, rules, state, returns):
    lead = (state.moves % 7) / 10.0
    returns[0] += lead
    returns[1] -= lead


class Written(NamedTuple):
    """The same, written."""


@implements(position_value, Written)
def _write(value, rules, state, returns):
    lead = (state.moves % 7) / 10.0
    returns[0] = lead
    returns[1] = -lead


def random_position(rules, moves, seed):
    draw = random.Random(seed)
    state = rules.new_initial_state()
    for _ in range(moves):
        state.apply_action(draw.choice(state.legal_actions()))
    return state


def positions_for(state, value):
    search = ProofSearch(state, max_memory_mb=32, value=value)
    outcome = search.prove(state, state.current_player(), 1.0)
    assert outcome is not None
    return outcome, search.positions


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("rules", "moves", "seed"),
    [
        (ConnectFour(), 12, 17),
        (ConnectFour(), 11, 11),
        (Othello(), 46, 46),
        (Y(board_size=7), 2, 2),
    ],
    ids=str,
)
def test_shipped_values_spare_positions_and_prove_the_same(rules, moves, seed):
    state = random_position(rules, moves, seed)
    plain, with_value = positions_for(state, None), positions_for(state, value_for(rules))
    assert with_value[0] == plain[0]
    assert with_value[1] < plain[1] / 2


@pytest.mark.full
@pytest.mark.compiled
@pytest.mark.parametrize("rules", RULES, ids=str)
def test_a_wrong_value_proves_the_same(rules):
    state = rules.new_initial_state()
    assert positions_for(state, Wrong())[0] == positions_for(state, None)[0]


@pytest.mark.full
@pytest.mark.compiled
def test_a_value_finds_zeros_where_it_writes():
    state = random_position(ConnectFour(rows=4, columns=5), 4, 1)
    assert positions_for(state, Added()) == positions_for(state, Written())


@pytest.mark.full
@pytest.mark.compiled
def test_a_solver_asks_what_is_shipped_unless_told_otherwise():
    game = "y(board_size=7)"
    known = solve_position(game, moves="d4")
    assert known.bounds == solve_position(game, moves="d4", known=False).bounds
    assert known.positions < solve_position(game, moves="d4", known=False).positions
    same = solve_position(game, moves="d4", evaluator=value_for(Y(board_size=7)), known=False)
    assert same.positions == known.positions


def test_a_value_in_python_is_refused():
    def value(state):
        return 0.0

    with pytest.raises(ValueError, match="compiled with the rules of tic_tac_toe"):
        solve_position("tic_tac_toe", evaluator=value)


@pytest.mark.compiled
def test_a_search_with_a_value_can_be_pickled():
    state = Y(board_size=5).new_initial_state()
    search = ProofSearch(state, max_memory_mb=1, value=Wrong())
    assert search.prove(state, 0, 1.0)
    copy = pickle.loads(pickle.dumps(search))
    assert copy.prove(state, 0, 1.0)
    assert copy.positions == search.positions


@pytest.mark.compiled
def test_an_agent_with_a_value_finds_the_same_proof_before_it_moves():
    state = random_position(Othello(), 52, 3)
    config = SearchConfig.preset("auto")
    results = [
        Searcher(config.replace(known=known), seed=1).search(state, Limit(simulations=2000))
        for known in (True, False)
    ]
    assert results[0].outcome == results[1].outcome is not None


@pytest.mark.compiled
@pytest.mark.full(but=["lines_of_action"])
@pytest.mark.parametrize("name", GAMES)
def test_every_game_without_chance_is_searched(name):
    rules = rules_class(name)()
    if not rules.has_chance:
        state = rules.new_initial_state()
        search = ProofSearch(state, max_memory_mb=1)
        search.prove(state, state.current_player(), rules.max_utility, positions=100)
        assert search.positions > 0
