"""Every formula expanded by hand."""

import math

import pytest

from rave_agents.search import formulas


def test_ucb1_exploration():
    # 0.7 sqrt(ln 100 / 4) = 0.7 sqrt(4.605170 / 4) = 0.7 * 1.072983
    assert formulas.ucb1_exploration(math.log(100), 4.0, 0.7) == pytest.approx(0.751088, abs=1e-6)
    assert formulas.ucb1_exploration(math.log(100), 4.0, 0.0) == 0.0


def test_ucb1_exploration_treats_no_visit_as_one():
    assert formulas.ucb1_exploration(2.0, 0.0, 0.5) == formulas.ucb1_exploration(2.0, 1.0, 0.5)
    assert formulas.ucb1_exploration(2.0, 0.0, 0.5) == pytest.approx(0.5 * math.sqrt(2))


def test_puct_exploration():
    # 1.5 * 0.2 * 10 / (4 + 1)
    assert formulas.puct_exploration(10.0, 4.0, 1.5, 0.2) == pytest.approx(0.6)
    assert formulas.puct_exploration(10.0, 0.0, 1.5, 0.2) == pytest.approx(3.0)


def test_beta_hand_selected():
    assert formulas.beta_hand_selected(0.0, 500.0) == 1.0
    assert formulas.beta_hand_selected(500.0, 500.0) == 0.5  # sqrt(500 / 2000)
    assert formulas.beta_hand_selected(40.0, 15.0) == pytest.approx(1 / 3)  # sqrt(15 / 135)


def test_beta_minimum_mse():
    assert formulas.beta_minimum_mse(0.0, 7.0, 0.05) == 1.0
    assert formulas.beta_minimum_mse(10.0, 30.0, 0.0) == 0.75
    # 30 / (10 + 30 + 4 * 10 * 30 * 0.1 * 0.1) = 30 / 52
    assert formulas.beta_minimum_mse(10.0, 30.0, 0.1) == pytest.approx(30 / 52)


def test_beta_fuego():
    assert formulas.beta_fuego(0.0, 7.0, 0.9, 5000.0) == 1.0
    # 30 / (10 (1 / 0.5 + 30 / 20) + 30) = 30 / 65
    assert formulas.beta_fuego(10.0, 30.0, 0.5, 20.0) == pytest.approx(30 / 65)


def test_beta_fuego_falls_as_its_weights_say():
    # The first AMAF visit weighs w_initial visits, all of them w_final at most: β = w / (w + n).
    assert formulas.beta_fuego(1.0, 1e-9, 0.9, 5000.0) == pytest.approx(0.9e-9, rel=1e-6)
    assert formulas.beta_fuego(5000.0, 1e12, 0.9, 5000.0) == pytest.approx(0.5)


def test_beta_pachi():
    assert formulas.beta_pachi(0.0, 7.0, 3500.0) == 1.0
    # 30 / (30 + 10 + 10 * 30 / 50) = 30 / 46
    assert formulas.beta_pachi(10.0, 30.0, 50.0) == pytest.approx(30 / 46)


def test_beta_grave():
    assert formulas.beta_grave(0.0, 7.0, 1e-5) == 1.0
    # 30 / (30 + 10 + 0.02 * 30 * 10) = 30 / 46
    assert formulas.beta_grave(10.0, 30.0, 0.02) == pytest.approx(30 / 46)


def test_linear_weight():
    assert [formulas.linear_weight(d, 4, 2.0, 0.0) for d in range(5)] == [2.0, 1.5, 1.0, 0.5, 0.0]
    assert [formulas.linear_weight(d, 4, 2.0, 1.0) for d in range(0, 5, 2)] == [2.0, 1.5, 1.0]


def test_stepped_weight():
    # 1 + floor(3 (8 - d) / 9)
    weights = [formulas.stepped_weight(distance, 8) for distance in range(8)]
    assert weights == [3.0, 3.0, 3.0, 2.0, 2.0, 2.0, 1.0, 1.0]
    assert [formulas.stepped_weight(distance, 2) for distance in range(2)] == [3.0, 2.0]


def test_weighted_win_rate():
    # The numbers of the message to the Computer-go list of 31 March 2013: six simulations, three
    # of them won, with the move at 20, 25 and 72: (3 / 6) / (117 / 3) = 0.0128205
    assert formulas.weighted_win_rate(6.0, 3.0, 20.0 + 25.0 + 72.0) == 0.5 / 39
    assert formulas.weighted_win_rate(6.0, 3.0, 117.0) == pytest.approx(0.0128205, abs=1e-7)
    assert formulas.weighted_win_rate(6.0, 0.0, 0.0) == 0.0
    assert formulas.weighted_win_rate(0.0, 0.0, 0.0) == 0.0


@pytest.mark.parametrize(
    ("beta", "a", "d"),
    [
        (lambda n, n_amaf: formulas.beta_minimum_mse(n, n_amaf, 0.15), 1.0, 4 * 0.15**2),
        (lambda n, n_amaf: formulas.beta_fuego(n, n_amaf, 0.9, 50.0), 1 / 0.9, 1 / 50.0),
        (lambda n, n_amaf: formulas.beta_pachi(n, n_amaf, 35.0), 1.0, 1 / 35.0),
        (lambda n, n_amaf: formulas.beta_grave(n, n_amaf, 0.02), 1.0, 0.02),
    ],
    ids=["minimum_mse", "fuego", "pachi", "grave"],
)
def test_blended_mean_is_the_blend_by_each_schedule(beta, a, d):
    for n, q, n_amaf, q_amaf in [
        (0, 0, 3, 0.4),
        (1, 1, 1, 1),
        (10, 0.3, 30, 0.7),
        (900, 0.2, 5, 1),
    ]:
        expected = formulas.blend(beta(float(n), float(n_amaf)), q, q_amaf)
        found = formulas.blended_mean(float(n), n * q, float(n_amaf), n_amaf * q_amaf, a, d)
        assert found == pytest.approx(expected, rel=1e-12)


def test_blend():
    assert formulas.blend(0.0, 0.2, 0.9) == 0.2
    assert formulas.blend(1.0, 0.2, 0.9) == 0.9
    assert formulas.blend(0.25, 0.2, 0.6) == pytest.approx(0.3)


def test_lower_confidence_bound():
    assert formulas.lower_confidence_bound(0.6, 25.0, 1.0) == pytest.approx(0.4)
    assert formulas.lower_confidence_bound(0.6, 25.0, -1.0) == pytest.approx(0.8)


def test_scaled():
    assert formulas.scaled(-1.0, -1.0, 1.0) == 0.0
    assert formulas.scaled(1.0, -1.0, 1.0) == 1.0
    assert formulas.scaled(4.0, 2.0, 10.0) == 0.25
    assert formulas.scaled(3.0, 3.0, 3.0) == 0.0
    assert formulas.scaled(3.0, math.inf, -math.inf) == 0.0


def test_proof_exploration():
    assert formulas.proof_exploration(0.5, 0.0, 0.4, 100.0) == pytest.approx(0.2)
    assert formulas.proof_exploration(0.5, 100.0, 0.4, 100.0) == pytest.approx(0.1)
    assert formulas.proof_exploration(0.5, 300.0, 0.4, 100.0) == pytest.approx(0.02)  # 0.2 / 10
    assert formulas.proof_exploration(0.5, 1e9, 0.4, math.inf) == pytest.approx(0.2)
