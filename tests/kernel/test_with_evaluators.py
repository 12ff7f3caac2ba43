"""Adaptive parts with an evaluator: what is known of positions decides how moves are chosen."""

import math

import numpy as np
import pyspiel
import pytest
from helpers.games import random_game
from rave_openspiel import OpenSpielState

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.kernel.amaf.views import NoAmaf
from rave_agents.kernel.playouts import UniformPlayouts
from rave_agents.kernel.rules import PUCT, UCB1
from rave_agents.kernel.selection import AdaptiveUrgency, FixedUrgency
from rave_agents.kernel.tree import edge_rows
from rave_agents.kernel.values.implicit_minimax import NoJudging
from rave_agents.parts import Judging, NoProofNumbers, Solver
from rave_agents.simulate.evaluator import EvaluatorKind
from rave_agents.tree.composition import searched_game

NONE = EvaluatorKind()
POSITIONS = EvaluatorKind(positions=True)
LEAVES = EvaluatorKind(leaves=True)
PRIORS = EvaluatorKind(priors=True)
BOTH = EvaluatorKind(leaves=True, priors=True)


def parts(evaluator, preset="auto", **changes):
    config = SearchConfig.preset(preset).replace(**changes)
    state = OpenSpielState(pyspiel.load_game("tic_tac_toe").new_initial_state())
    return searched_game(state, config, evaluator).parts


@pytest.mark.parametrize("evaluator", [POSITIONS, LEAVES, BOTH])
def test_auto_keeps_no_amaf_values_beside_given_ones(evaluator):
    assert parts(evaluator).amaf == NoAmaf()


@pytest.mark.parametrize("evaluator", [NONE, PRIORS])
def test_auto_keeps_amaf_values_of_playouts(evaluator):
    assert parts(evaluator).amaf != NoAmaf()


def test_playouts_that_are_cut_are_not_steered():
    assert parts(POSITIONS).playouts == UniformPlayouts()
    assert parts(NONE).playouts != UniformPlayouts()
    assert parts(PRIORS).playouts != UniformPlayouts()


@pytest.mark.parametrize("evaluator", [POSITIONS, PRIORS, BOTH])
def test_auto_selects_by_puct_where_there_are_priors(evaluator):
    found = parts(evaluator)
    assert found.rule == PUCT(SearchConfig.preset("auto").rule.priors_c)
    assert found.first_play == AdaptiveUrgency()


def test_without_priors_it_explores_less_by_values():
    assert parts(POSITIONS, prior_temperature=math.inf).rule == UCB1(0.2)
    assert parts(LEAVES).rule == UCB1(0.2)
    assert parts(LEAVES, c=0.6).rule == UCB1(0.3)
    assert parts(LEAVES).first_play == FixedUrgency()


@pytest.mark.parametrize("preset", ["rave", "grave", "hrave", "rave_pn"])
def test_rave_explores_by_values_and_keeps_its_statistics(preset):
    found = parts(LEAVES, preset)
    assert found.rule == UCB1(0.2)
    assert found.amaf != NoAmaf()


@pytest.mark.parametrize("preset", ["uct", "uct_solver", "puct"])
def test_a_rule_that_was_asked_for_stays(preset):
    assert parts(BOTH, preset).rule == SearchConfig.preset(preset).rule


@pytest.mark.parametrize("evaluator", [POSITIONS, LEAVES])
def test_the_solver_stays_without_proof_numbers(evaluator):
    assert parts(evaluator).proofs.solver == Solver()
    assert parts(evaluator).proofs.numbers == NoProofNumbers()
    assert parts(PRIORS).proofs.numbers != NoProofNumbers()
    assert parts(evaluator, "pn_mcts").proofs.numbers != NoProofNumbers()


def test_nodes_whose_children_are_evaluated_come_later():
    state = OpenSpielState(pyspiel.load_game("tic_tac_toe").new_initial_state())
    auto = SearchConfig.preset("auto")
    assert searched_game(state, auto, POSITIONS).expand_visits == 2
    assert searched_game(state, auto, BOTH).expand_visits == auto.expand_visits == 1
    at_once = auto.replace(least_expand_visits=1)
    assert searched_game(state, at_once, POSITIONS).expand_visits == 1


class Drawn:
    """A value that follows from the position alone."""

    def __call__(self, state):
        value = float(np.random.default_rng([7, *state.history]).uniform(-1.0, 1.0))
        return [value, -value]


@pytest.mark.parametrize("temperature", [0.1, 1.0])
def test_priors_are_the_softmax_of_the_values_of_children(temperature):
    game = random_game(3, width=4, depth=6, zero_sum=True)
    config = SearchConfig.preset("puct").replace(
        judging=Judging(playout_moves=0, prior_temperature=temperature)
    )
    searcher = Searcher(config, seed=1, evaluator=Drawn())
    searcher.search(game, Limit(simulations=50))
    tree, mover = searcher.tree, game.current_player()
    values = []
    for edge in edge_rows(tree, 0):
        child = game.clone()
        child.apply_action(int(tree.edge_action[edge]))
        given = child.returns() if child.is_terminal() else Drawn()(child)
        values.append((given[mover] + 1) / 2)
    weights = np.exp((np.array(values) - max(values)) / temperature)
    rows = edge_rows(tree, 0)
    found = tree.edge_prior[rows.start : rows.stop]
    assert found == pytest.approx(weights / weights.sum(), abs=1e-5)


def test_children_are_not_evaluated_for_priors_that_no_rule_reads():
    unused = {"minimax": 0.0, "first_play": False}
    assert parts(POSITIONS, "uct", **unused).judging == NoJudging()
    assert parts(POSITIONS, "puct", **unused).judging == Judging(**unused)
    assert parts(POSITIONS, "puct", prior_temperature=math.inf, **unused).judging == NoJudging()


def test_a_rule_without_priors_leaves_them_equal():
    game = random_game(3, width=4, depth=6, zero_sum=True)
    searcher = Searcher(SearchConfig(judging=Judging()), seed=1, evaluator=Drawn())
    priors = {row.prior for row in searcher.search(game, Limit(simulations=50)).actions}
    assert len(priors) == 1


class Surely:
    """Nearly all probability is on the first action."""

    def prior(self, state):
        legal = state.legal_actions()
        rest = 0.01 / max(len(legal) - 1, 1)
        return [(action, 0.99 if place == 0 else rest) for place, action in enumerate(legal)]


def test_moves_that_are_improbable_need_not_be_tried():
    game = random_game(2, width=8, depth=8, zero_sum=True)
    searcher = Searcher(SearchConfig.preset("auto"), seed=1, evaluator=Surely())
    visits = [row.visits for row in searcher.search(game, Limit(simulations=6)).actions]
    assert 0 in visits
