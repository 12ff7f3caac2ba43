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
STATISTICS = ("rave", "grave", "hrave", "rave_pn")


def parts(evaluator, preset="auto", **changes):
    config = SearchConfig.preset(preset).replace(**changes)
    state = OpenSpielState(pyspiel.load_game("tic_tac_toe").new_initial_state())
    return searched_game(state, config, evaluator).parts


GIVEN = SearchConfig.preset("auto").rule.priors_c
KNOWN = {
    # With values of positions, AMAF values and steered playouts say nothing more.
    "auto, positions": ("auto", POSITIONS, {}, {"amaf": NoAmaf(), "playouts": UniformPlayouts()}),
    "auto, leaves": ("auto", LEAVES, {}, {"amaf": NoAmaf(), "first_play": FixedUrgency()}),
    "auto, leaves and priors": ("auto", BOTH, {}, {"amaf": NoAmaf(), "rule": PUCT(GIVEN)}),
    # It selects by PUCT where there are priors, and explores less by values.
    "auto, priors": ("auto", PRIORS, {}, {"rule": PUCT(GIVEN), "first_play": AdaptiveUrgency()}),
    "auto, softmax": (
        "auto",
        POSITIONS,
        {},
        {"rule": PUCT(GIVEN), "first_play": AdaptiveUrgency()},
    ),
    "no softmax": ("auto", POSITIONS, {"prior_temperature": math.inf}, {"rule": UCB1(0.2)}),
    "less by values": ("auto", LEAVES, {}, {"rule": UCB1(0.2)}),
    "half of c": ("auto", LEAVES, {"c": 0.6}, {"rule": UCB1(0.3)}),
    **{name: (name, LEAVES, {}, {"rule": UCB1(0.2)}) for name in STATISTICS},
    # A rule that was asked for stays.
    **{
        name: (name, BOTH, {}, {"rule": SearchConfig.preset(name).rule})
        for name in ("uct", "uct_solver", "puct")
    },
}


@pytest.mark.parametrize(("preset", "evaluator", "changes", "expected"), KNOWN.values(), ids=KNOWN)
@pytest.mark.full(but=len(KNOWN))
def test_what_is_known_of_positions_decides_the_parts(preset, evaluator, changes, expected):
    found = parts(evaluator, preset, **changes)
    assert {name: getattr(found, name) for name in expected} == expected


def test_playouts_alone_keep_amaf_values_and_steer_playouts():
    for evaluator in (NONE, PRIORS):
        assert parts(evaluator).amaf != NoAmaf()
        assert parts(evaluator).playouts != UniformPlayouts()
    assert all(parts(LEAVES, preset).amaf != NoAmaf() for preset in STATISTICS)


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
