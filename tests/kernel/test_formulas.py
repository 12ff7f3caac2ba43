"""Every formula expanded by hand."""

import math
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from rave_agents.compiler.arrays import Axis
from rave_agents.compiler.dispatch import implements
from rave_agents.config.final_moves import lower_confidence_bound
from rave_agents.kernel.adaptive_rule import AdaptiveUCB1, LateUCB1
from rave_agents.kernel.amaf.nodes import NodeAmaf
from rave_agents.kernel.amaf.schedules import (
    Fuego,
    GraveBias,
    HandSelected,
    MinimumMSE,
    Pachi,
    beta,
    blend,
)
from rave_agents.kernel.amaf.trust import FullTrust, LearnedTrust, exploration_left
from rave_agents.kernel.amaf.views import BlendScores, BlendValues, View
from rave_agents.kernel.amaf.weightings import Linear, Stepped, Uniform, update_weight
from rave_agents.kernel.amaf.winning_moves import weighted_win_rate
from rave_agents.kernel.measures.action_persistence import CountLifetimes
from rave_agents.kernel.proofs.numbers import Numbers, ProofNumbers, bonus_at, pn_score
from rave_agents.kernel.ramp import ramp
from rave_agents.kernel.rules import (
    PUCT,
    UCB1,
    Edge,
    Node,
    ScheduledPUCT,
    UCB1Tuned,
    blended,
    exploration,
    node_term,
)
from rave_agents.kernel.utilities import GameRange, ObservedRange, scaled
from rave_agents.kernel.visit_terms import LISTED, inverse_root, listed_inverse_root
from rave_agents.tree.storage import assembled


def edge(**known):
    """What a rule is told of an edge, of which nothing is known but this."""
    root = listed_inverse_root(known.get("n", 0.0))
    return Edge(**{**dict.fromkeys(Edge._fields, 0.0), "row": 0, "inverse_root": root, **known})


def explored(rule, N, edges=3, **known):
    return exploration(rule, Node(N, node_term(rule, N, edges), 0.5, 0, 0.0, edges), edge(**known))


def test_ucb1_exploration():
    # 0.7 sqrt(ln 100 / 4) = 0.7 sqrt(4.605170 / 4) = 0.7 * 1.072983
    assert explored(UCB1(0.7), 100.0, n=4.0) == pytest.approx(0.751088, abs=1e-6)
    assert explored(UCB1(0.0), 100.0, n=4.0) == 0.0
    # No visit counts as one.
    assert explored(UCB1(0.5), 100.0, n=0.0) == explored(UCB1(0.5), 100.0, n=1.0)
    # 0.5 sqrt(ln 100) = 0.5 * 2.145966
    assert explored(UCB1(0.5), 100.0, n=0.0) == pytest.approx(1.072983, abs=1e-6)


@pytest.mark.parametrize("N", [LISTED - 1, LISTED])
def test_terms_of_visits_that_are_listed_go_on_as_those_that_are_computed(N):
    root = math.sqrt(math.log(N) / N)
    assert explored(UCB1(0.5), float(N), n=float(N)) == pytest.approx(0.5 * root, rel=1e-12)
    assert listed_inverse_root(float(N)) == inverse_root(float(N))


@pytest.mark.parametrize(
    ("seen", "chance_c", "c"), [(0, 0.0, 0.5), (1, 0.0, 1.0), (0, 1.5, 0.5), (1, 1.5, 1.5)]
)
def test_adaptive_ucb1_exploration(seen, chance_c, c):
    rule = assembled(AdaptiveUCB1(c=0.5, chance_factor=2.0, chance_c=chance_c), {Axis.ONE: 1})
    rule.seen[0] = seen
    assert explored(rule, 100.0, n=4.0) == explored(UCB1(c), 100.0, n=4.0)


@pytest.mark.parametrize(
    ("N", "c"), [(20.0, 0.1), (30.0, 0.1), (75.0, 0.35), (120.0, 0.7), (500.0, 0.7)]
)
@pytest.mark.parametrize("chance", [False, True])
def test_late_exploration_comes_in_with_the_visits_for_each_edge(chance, N, c):
    """From 10 visits for each of 3 edges to 40."""
    rule = AdaptiveUCB1(c=0.1, late_c=0.7, late_visits=10.0)
    rule = assembled(rule, {Axis.ONE: 1}) if chance else LateUCB1(rule)
    assert explored(rule, N, n=4.0) == pytest.approx(explored(UCB1(c), N, n=4.0))


@pytest.mark.parametrize(
    ("rule", "chance", "share"),
    [(UCB1(), 0, 0.55), (UCB1(), 1, 1.0), (PUCT(), 0, 0.675), (PUCT(), 1, 1.0)],
)
def test_amaf_that_is_trusted_explores_in_place_of_the_rule_but_for_chance(rule, chance, share):
    search = SimpleNamespace(rule=rule, lifetimes=assembled(CountLifetimes(), {Axis.ONE: 1}))
    search.lifetimes.chance[0] = chance
    assert exploration_left(LearnedTrust(), search, 0.5) == pytest.approx(share)
    assert exploration_left(LearnedTrust(), search, 0.0) == 1.0


def test_ucb1_tuned_exploration():
    sizes = {Axis.EDGE: 3}
    rule = assembled(UCB1Tuned(2.0), sizes)
    rule.square_sum[1], rule.square_sum[2] = 1.0, 30.0
    # Row 1: mean 0.5, mean square 1/4: no variance. A variance in [0, 1] is at most 1/4.
    found = explored(rule, 1e6, n=4.0, plain_sum=2.0, row=1)
    assert found == pytest.approx(2 * math.sqrt(math.log(1e6) / 4 * 0.25))
    found = explored(rule, math.exp(0.04), n=4.0, plain_sum=2.0, row=1)
    assert found == pytest.approx(2 * math.sqrt(0.01 * math.sqrt(0.02)))
    # Row 2: mean 0.5, mean square 0.3: variance 0.05.
    found = explored(rule, math.exp(0.04), n=100.0, plain_sum=50.0, row=2)
    assert found == pytest.approx(2 * math.sqrt(0.0004 * (0.05 + math.sqrt(0.0008))))
    # Without visits: as with one.
    assert explored(rule, math.e, n=0.0, row=0) == pytest.approx(2 * math.sqrt(0.25))


def test_puct_exploration():
    # 1.5 * 0.2 * 10 / (4 + 1)
    assert explored(PUCT(1.5), 100.0, n=4.0, p=0.2) == pytest.approx(0.6)
    assert explored(PUCT(1.5), 100.0, n=0.0, p=0.2) == pytest.approx(3.0)
    # A weight that grows: (1.25 + ln((1 + 100 + 101) / 101)) / 2 * 0.2 * 10 / (4 + 1)
    expected = (1.25 + math.log(2.0)) / 2 * 0.4
    assert explored(ScheduledPUCT(1.25, 101.0), 100.0, n=4.0, p=0.2) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("schedule", "n", "n_amaf", "weight"),
    [
        (HandSelected(500.0), 500.0, 7.0, 0.5),  # sqrt(500 / 2000)
        (HandSelected(15.0), 40.0, 7.0, 1 / 3),  # sqrt(15 / 135)
        (MinimumMSE(0.0), 10.0, 30.0, 0.75),
        (MinimumMSE(0.1), 10.0, 30.0, 30 / 52),  # 30 / (10 + 30 + 4 * 10 * 30 * 0.1 * 0.1)
        (Fuego(0.5, 20.0), 10.0, 30.0, 30 / 65),  # 30 / (10 (1 / 0.5 + 30 / 20) + 30)
        # The first AMAF visit weighs w_initial visits, all of them w_final at most: w / (w + n).
        (Fuego(0.9, 5000.0), 1.0, 1e-9, 0.9e-9),
        (Fuego(0.9, 5000.0), 5000.0, 1e12, 0.5),
        (Pachi(50.0), 10.0, 30.0, 30 / 46),  # 30 / (30 + 10 + 10 * 30 / 50)
        (GraveBias(0.02), 10.0, 30.0, 30 / 46),  # 30 / (30 + 10 + 0.02 * 30 * 10)
    ],
)
def test_beta(schedule, n, n_amaf, weight):
    assert beta(schedule, n, n_amaf) == pytest.approx(weight, rel=1e-6)
    assert beta(schedule, 0.0, n_amaf) == 1.0


@pytest.mark.parametrize(
    "schedule",
    [HandSelected(20.0), MinimumMSE(0.15), Fuego(0.9, 50.0), Pachi(35.0), GraveBias(0.02)],
)
def test_each_schedule_blends_by_its_beta(schedule):
    for n, q, n_amaf, q_amaf in [
        (0, 0, 3, 0.4),
        (1, 1, 1, 1),
        (10, 0.3, 30, 0.7),
        (900, 0.2, 5, 1),
    ]:
        weight = beta(schedule, float(n), float(n_amaf))
        found = blend(schedule, float(n), n * q, float(n_amaf), n_amaf * q_amaf)
        assert found == pytest.approx((1 - weight) * q + weight * q_amaf, rel=1e-12)


class Constant(NamedTuple):
    weight: float


@implements(beta, Constant)
def _constant(schedule, n, n_amaf):
    return schedule.weight


def test_blend():
    assert blend(Constant(0.0), 10.0, 2.0, 10.0, 9.0) == 0.2
    assert blend(Constant(1.0), 10.0, 2.0, 10.0, 9.0) == 0.9
    assert blend(Constant(0.25), 10.0, 2.0, 10.0, 6.0) == pytest.approx(0.3)
    assert blend(Constant(0.25), 0.0, 0.0, 10.0, 6.0) == pytest.approx(0.15)


BLENDED = edge(n=10.0, q=0.2, value_sum=2.0, n_amaf=10.0, q_amaf=0.6, amaf_value_sum=6.0)


QUARTER = NodeAmaf(schedule=Constant(0.25))


def seen_with(trust, options=QUARTER, t=1.0, left=1.0):
    """AMAF statistics as a node sees them, with trust t, where so much exploration is left."""
    amaf = SimpleNamespace(options=options)
    return View(amaf, trust, 0, counts=True, trust=t, exploration=left, scale=0.0)


@pytest.mark.parametrize(
    ("trust", "blending", "score"),
    [
        (FullTrust(), BlendValues(), 0.75 * 0.2 + 0.25 * 0.6 + 0.4),
        (FullTrust(), BlendScores(), 0.75 * (0.2 + 0.4) + 0.25 * 0.6),
        (LearnedTrust(), BlendValues(), 0.9 * 0.2 + 0.1 * 0.6 + 0.5 * 0.4),
        (LearnedTrust(), BlendScores(), 0.9 * (0.2 + 0.5 * 0.4) + 0.1 * 0.6),
    ],
)
def test_exploration_is_added_or_blended_as_far_as_amaf_is_trusted(trust, blending, score):
    t, left = (1.0, 1.0) if trust == FullTrust() else (0.4, 0.5)
    view = seen_with(trust, QUARTER._replace(blending=blending), t=t, left=left)
    assert blended(view, BLENDED, 0.4) == pytest.approx(score)


@pytest.mark.parametrize(
    "schedule",
    [HandSelected(20.0), MinimumMSE(0.15), Fuego(0.9, 50.0), Pachi(35.0), GraveBias(0.02)],
)
@pytest.mark.parametrize("t", [0.0, 0.3, 1.0])
def test_each_schedule_weighs_amaf_by_its_beta_and_by_trust(schedule, t):
    for n, q, n_amaf, q_amaf in [(1, 1, 1, 1), (10, 0.3, 30, 0.7), (900, 0.2, 5, 1)]:
        weight = t * beta(schedule, float(n), float(n_amaf))
        known = edge(n=float(n), q=q, value_sum=n * q, n_amaf=float(n_amaf), q_amaf=q_amaf)
        known = known._replace(amaf_value_sum=n_amaf * q_amaf)
        found = blended(seen_with(LearnedTrust(), NodeAmaf(schedule=schedule), t=t), known, 0.0)
        assert found == pytest.approx((1 - weight) * q + weight * q_amaf, rel=1e-12)


@pytest.mark.parametrize(
    ("blending", "score"),
    [
        (BlendValues(), 0.6 * 0.5 + 0.4 * 0.8 + 0.3 * 0.1),
        (BlendScores(), 0.6 * (0.5 + 0.3 * 0.1) + 0.4 * 0.8),
    ],
)
def test_amaf_visits_alone_count_as_far_as_they_are_trusted(blending, score):
    known = edge(n_amaf=10.0, q_amaf=0.8, amaf_value_sum=8.0)
    amaf = NodeAmaf(blending=blending)
    view = seen_with(LearnedTrust(unvisited=0.5), amaf, t=0.4, left=0.3)
    assert blended(view, known, 0.1) == pytest.approx(score)


def test_weights_of_updates():
    assert [update_weight(Uniform(), distance, 3) for distance in range(3)] == [1.0] * 3
    line = [update_weight(Linear(2.0, 0.0), distance, 4) for distance in range(5)]
    assert line == [2.0, 1.5, 1.0, 0.5, 0.0]
    assert [update_weight(Linear(2.0, 1.0), d, 4) for d in range(0, 5, 2)] == [2.0, 1.5, 1.0]

    # 1 + floor(3 (8 - d) / 9)
    weights = [update_weight(Stepped(), distance, 8) for distance in range(8)]
    assert weights == [3.0, 3.0, 3.0, 2.0, 2.0, 2.0, 1.0, 1.0]
    assert [update_weight(Stepped(), distance, 2) for distance in range(2)] == [3.0, 2.0]


def test_weighted_win_rate():
    # The numbers of the message to the Computer-go list of 31 March 2013: six simulations, three
    # of them won, with the move at 20, 25 and 72: (3 / 6) / (117 / 3) = 0.0128205
    assert weighted_win_rate(6.0, 3.0, 20.0 + 25.0 + 72.0) == 0.5 / 39
    assert weighted_win_rate(6.0, 3.0, 117.0) == pytest.approx(0.0128205, abs=1e-7)
    assert weighted_win_rate(6.0, 0.0, 0.0) == 0.0
    assert weighted_win_rate(0.0, 0.0, 0.0) == 0.0


def test_lower_confidence_bound():
    assert lower_confidence_bound(0.6, 25.0, 1.0) == pytest.approx(0.4)
    assert lower_confidence_bound(0.6, 25.0, -1.0) == pytest.approx(0.8)


@pytest.mark.parametrize("kind", [GameRange, ObservedRange])
def test_scaled(kind):
    def on_scale(utility, low, high):
        return scaled(kind(np.array([low, high])), utility)

    assert on_scale(-1.0, -1.0, 1.0) == 0.0
    assert on_scale(1.0, -1.0, 1.0) == 1.0
    assert on_scale(4.0, 2.0, 10.0) == 0.25
    assert on_scale(3.0, 3.0, 3.0) == 0.0
    assert on_scale(3.0, math.inf, -math.inf) == 0.0


def proof_score(bonus, n, score=0.0, *, count=1, exact=True, **options):
    """The score of an edge with n visits among so many siblings."""
    options = ProofNumbers(**{"weight": 0.0, **options})
    edge_bonus = np.array([bonus])
    numbers = Numbers(options, options.bonus_trust, None, None, None, edge_bonus, np.zeros(1), None)
    tree = SimpleNamespace(node_edge_count=np.array([count]), edge_visits=np.array([n]))
    search = SimpleNamespace(tree=tree)
    return pn_score(numbers, bonus_at(numbers, search, 0, exact), search, 0, score)


def test_proof_score():
    # The bonus has half its weight at 100 visits: 0.5 * 0.4 / (1 + (n / 100)²).
    assert proof_score(0.5, 0, constant=0.4, visits=100.0) == pytest.approx(0.2)
    assert proof_score(0.5, 100, constant=0.4, visits=100.0) == pytest.approx(0.1)
    assert proof_score(0.5, 300, constant=0.4, visits=100.0) == pytest.approx(0.02)  # 0.2 / 10
    assert proof_score(0.5, 10**9, constant=0.4, visits=math.inf) == pytest.approx(0.2)
    # With 5 moves, at 4 * 25 visits.
    assert proof_score(0.5, 100, count=5, constant=0.4, visits=4.0) == pytest.approx(0.1)
    assert proof_score(0.5, 0, 0.8, constant=0.4, weight=0.25, visits=1.0) == pytest.approx(
        0.75 * 0.8 + 0.25 * 0.5 + 0.2
    )
    assert proof_score(0.5, 0, math.inf, constant=0.4, visits=1.0) == math.inf


def test_proof_score_fades_where_to_win_is_not_all_that_counts():
    def faded(n, **options):
        return proof_score(0.5, n, 0.8, count=5, exact=False, **options)

    # At 25 visits half the weight, whatever is asked for: 0.5 * 0.4 / 2.
    assert faded(25, constant=0.4, visits=math.inf) == pytest.approx(0.8 + 0.1)
    assert faded(25, constant=0.0, weight=0.5) == pytest.approx(0.75 * 0.8 + 0.25 * 0.5)


@pytest.mark.parametrize(
    ("x", "none", "full", "share"),
    [(1, 2, 4, 0), (2, 2, 4, 0), (3, 2, 4, 0.5), (5, 2, 4, 1), (3.5, 4, 2, 0.25), (5, 4, 2, 0)],
)
def test_a_ramp_rises_or_falls_from_none_to_full(x, none, full, share):
    assert ramp(float(x), float(none), float(full)) == share
