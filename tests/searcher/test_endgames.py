"""Exact endgames: what the solver proves in a share of a move's budget is played."""

import copy
import random

import pytest
from helpers.broken import Draw
from helpers.broken.states import FAULTS, with_fault
from helpers.games import RandomRules
from helpers.graphs import GraphRules, GraphState
from helpers.observed import Observed
from helpers.own_games.subtraction import Subtraction
from helpers.random_trees import KINDS, action_values, random_tree, regret, tree_state

from rave_agents import GameError, Limit, SearchConfig, Searcher, as_game
from rave_agents.searcher.endgames import EndgameSolver, log_size

SOLVING = SearchConfig(endgame_share=0.9)
ENOUGH = Limit(simulations=2000)


class Sticks(Subtraction):
    """The game of sticks, which says that one player's loss is the other's gain."""

    def clone(self):
        other = type(self)(self.sticks)
        other.player = self.player
        return other

    def utility_sum(self):
        return 0.0


class KeyedSticks(Sticks):
    """The same with keys."""

    def position_key(self):
        return self.sticks, self.player


def compared(result):
    """All of a result but its time."""
    return {**result.to_dict(), "seconds": None}


def test_a_proven_win_is_played_without_simulations():
    result = Searcher(SOLVING, seed=1).search(Sticks(7), ENOUGH)
    assert (result.action, result.proven, result.outcome) == (2, "win", (1.0, -1.0))
    assert result.simulations == 0 < result.solver_positions
    assert "the exact solver expanded" in result.remarks[0]
    assert dict(result.training_policy) == {0: 0.0, 1: 0.0, 2: 1.0}


def test_a_win_is_proven_where_the_returns_of_others_are_unknown():
    result = Searcher(SOLVING, seed=1).search(Subtraction(7), ENOUGH)
    assert (result.action, result.proven, result.outcome) == (2, "win", None)


@pytest.mark.slow
@pytest.mark.full(but=3)
@pytest.mark.parametrize("seed", range(12))
def test_the_principal_variation_of_a_draw_ends_with_a_draw(seed):
    state = as_game("tic_tac_toe").new_initial_state()
    draw = random.Random(seed)
    for _ in range(3):
        state.apply_action(draw.choice(state.legal_actions()))
    result = Searcher(SOLVING, seed=seed).search(state, Limit(simulations=5000))
    assert result.outcome is not None
    for action in result.principal_variation:
        state.apply_action(action)
    assert state.is_terminal()
    assert tuple(state.returns()) == result.outcome


def test_the_proven_line_is_the_principal_variation():
    result = Searcher(SOLVING, seed=1).search(Sticks(7), ENOUGH)
    state = Sticks(7)
    for action in result.principal_variation:
        state.apply_action(action)
    assert state.is_terminal()
    assert state.returns()[0] == 1.0


def test_a_win_that_the_rules_foresee_is_played():
    state = as_game("connect_four").new_initial_state()
    for column in (5, 5, 3, 0, 5, 1, 1, 3):
        state.apply_action(column)
    result = Searcher(SOLVING, seed=1).search(state, ENOUGH)
    assert (result.action, result.proven) == (4, "win")  # Two lines of three have one more.
    assert [move.distance for move in result.actions if move.action == 4] == [3]


@pytest.mark.parametrize("name", ["tic_tac_toe", "python_tic_tac_toe"])
def test_of_several_wins_the_nearest_is_played(name):
    """One move completes a row, and another makes two at once."""
    state = as_game(name).new_initial_state()
    for cell in (0, 3, 1, 4, 8):
        state.apply_action(cell)
    result = Searcher(SOLVING, seed=1).search(state, ENOUGH)
    assert (result.action, result.proven, result.simulations) == (5, "win", 0)


@pytest.mark.slow
def test_a_proven_loss_is_searched_for_the_move_to_make():
    result = Searcher(SOLVING, seed=1).search(Sticks(8), ENOUGH)
    assert result.proven == "loss"
    assert result.simulations > 0


def test_without_a_share_nothing_is_proven_before():
    searcher = Searcher(SearchConfig.preset("auto").replace(endgame_share=0), seed=1)
    assert searcher.search(Sticks(7), Limit(simulations=10)).solver_positions == 0


def test_a_level_has_no_solver():
    result = Searcher(SOLVING.replace(level=3), seed=1).search(Sticks(7), ENOUGH)
    assert result.solver_positions == 0


@pytest.mark.full
@pytest.mark.compiled
@pytest.mark.parametrize("name", ["connect_four", "othello", "clobber", "dots_and_boxes"])
def test_auto_plays_what_the_solver_proves_near_the_end(name):
    searcher = Searcher(SearchConfig.preset("auto"), seed=1)
    end = as_game(name).new_initial_state()
    line, draw = [], random.Random(2)
    while not end.is_terminal():
        line.append(end.clone())
        end.apply_action(draw.choice(end.legal_actions()))
    result = searcher.search(line[-5], ENOUGH)
    assert result.outcome is not None
    assert result.solver_positions > 0


@pytest.mark.parametrize("name", ["pig", "nim(pile_sizes=40;41;42;43;44)"])
def test_games_of_chance_and_large_ones_are_not_tried(name):
    searcher = Searcher(SOLVING, seed=1)
    state = as_game(name).new_initial_state()
    assert searcher.search(state, Limit(simulations=50)).solver_positions == 0


def test_equal_seeds_and_simulations_give_equal_results():
    results = [
        Searcher(SOLVING, seed=3).search(KeyedSticks(10), Limit(simulations=200)) for _ in range(2)
    ]
    assert results[0].solver_positions > 0
    assert compared(results[0]) == compared(results[1])


@pytest.mark.slow
def test_the_table_is_kept_between_moves_and_copied_with_the_searcher():
    searcher, later = Searcher(SOLVING, seed=1), KeyedSticks(16)
    searcher.search(KeyedSticks(18), ENOUGH)
    other = copy.copy(searcher)
    kept, of_copy = (each.search(later, ENOUGH, moves=[0, 0]) for each in (searcher, other))
    anew = Searcher(SOLVING, seed=1).search(later, ENOUGH)
    assert kept.solver_positions == of_copy.solver_positions < anew.solver_positions
    assert kept.outcome == of_copy.outcome == anew.outcome is not None


@pytest.mark.slow
def test_moves_recorded_since_one_root_are_not_taken_for_those_since_another():
    searcher = Searcher(SOLVING, seed=1)
    assert searcher.search(Sticks(8), ENOUGH).proven == "loss"
    assert searcher.search(Sticks(6), ENOUGH, moves=[0, 0]).proven == "win"


def test_a_search_that_begins_anew_has_an_empty_table():
    searcher = Searcher(SOLVING, seed=1)
    first, second = (searcher.search(KeyedSticks(18), ENOUGH) for _ in range(2))
    assert first.solver_positions == second.solver_positions


def test_failed_attempts_become_rarer():
    solver = EndgameSolver(0.5)
    searcher = Searcher(SOLVING, seed=1)
    searcher.search(Sticks(60), Limit(simulations=1))
    root = searcher._trees.root
    tries = [solver.solve(root, Limit(simulations=60)) for _ in range(20)]
    assert tries[0] is None or tries[0].value is None
    assert tries[-1] is None


@pytest.mark.parametrize("seed", range(20))
def test_proven_moves_of_random_graphs_keep_their_value(seed):
    rules = GraphRules(seed, nodes=20, loops=seed % 2 == 0)
    if 0 in rules.ends:
        return
    result = Searcher(SOLVING, seed=seed).search(GraphState(rules), ENOUGH)
    if result.solver_positions == 0 or result.outcome is None:
        return
    mover = rules.players[0]
    value = result.outcome[mover]
    truth = rules.forced(mover, value, 0.0)
    assert truth[0]
    assert not any(rules.forced(mover, more, 0.0)[0] for more in (0.0, 1.0) if more > value)
    if value > 0 or seed % 2:
        assert truth[rules.edges[0][result.action]]


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(20))
def test_proven_moves_of_random_trees_cost_nothing(kind, seed):
    nodes = random_tree(kind, seed)
    if len(nodes) == 1 or nodes[-1].mover < 0:
        return
    state, values = tree_state(kind, nodes), action_values(nodes)
    result = Searcher(SOLVING, seed=seed).search(state, ENOUGH)
    if result.solver_positions == 0:
        return
    assert result.proven == "win" or KINDS[kind][0] > 2 or result.outcome is not None
    if result.outcome is not None or result.proven == "win":
        width = state.max_utility() - state.min_utility()
        assert regret(values, result.action, width) < 1e-6


@pytest.mark.parametrize(
    ("method", "fault", "depth"),
    [
        ("legal_actions", "none", 0),
        ("legal_actions", "none", 1),
        ("legal_actions", "None", 1),
        ("legal_actions", "10**9", 1),
        ("legal_actions", "halves", 1),
        ("current_player", "None", 0),
        ("returns", "number", 0),
    ],
)
def test_what_is_wrong_with_a_game_is_told_as_it_is_without_the_solver(method, fault, depth):
    kind = with_fault(Draw(1), Observed, method, FAULTS[method][fault], depth)
    root, told = kind(RandomRules(1, zero_sum=True)), []
    for config in (SearchConfig(), SOLVING):
        with pytest.raises((GameError, TypeError, ValueError)) as error:
            Searcher(config, seed=1).search(root, ENOUGH)
        told.append((type(error.value), str(error.value)))
    assert told[0] == told[1]


def test_a_result_without_simulations_has_the_proven_value():
    result = Searcher(SOLVING, seed=1).search(Sticks(7), ENOUGH)
    assert (result.simulations, result.value) == (0, 1.0)


def test_the_size_of_a_game_is_told_by_its_moves():
    assert log_size(Sticks(1), most=5.0) == 0.0
    assert log_size(Sticks(60), most=5.0) is None
    assert 0.0 < log_size(Sticks(6), most=20.0) < 6.0
