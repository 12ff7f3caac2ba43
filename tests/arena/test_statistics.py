import math

import numpy as np
import pytest
import scipy

from rave_agents.arena.statistics import MatchScore, elo_difference, score_interval


@pytest.mark.parametrize(("wins", "losses"), [(0, 10), (1, 9), (5, 5), (37, 63), (10, 0)])
def test_without_draws_the_interval_is_wilsons(wins, losses):
    expected = scipy.stats.binomtest(wins, wins + losses).proportion_ci(method="wilson")
    assert MatchScore(wins, 0, losses).interval == pytest.approx((expected.low, expected.high))


def test_ends_of_the_interval_solve_the_equation():
    score, games, z = 0.6, 50.5, 1.959964
    for mean in score_interval(score, games):
        assert (score - mean) ** 2 == pytest.approx(z**2 * mean * (1 - mean) / games, rel=1e-5)


def test_draws_enter_by_the_dispersion_with_four_games_more():
    phi = (100 * 0.15 + 4 * 0.25) / (104 * 0.25)  # a game's variance is 0.25 - 0.4 / 4
    assert MatchScore(30, 40, 30).interval == pytest.approx(score_interval(0.5, 100 / phi))


def test_draws_narrow_the_interval():
    def width(score):
        low, high = score.interval
        return high - low

    assert (
        width(MatchScore(10, 80, 10)) < width(MatchScore(30, 40, 30)) < width(MatchScore(50, 0, 50))
    )


@pytest.mark.parametrize(
    "rates",
    [
        (0.5, 0.0, 0.5),
        (0.3, 0.4, 0.3),
        (0.05, 0.9, 0.05),
        (0.6, 0.1, 0.3),
        (0.1, 0.3, 0.6),
        (0.0, 1.0, 0.0),
        (1.0, 0.0, 0.0),
        (0.0, 0.5, 0.5),
    ],
)
@pytest.mark.parametrize("games", [40, 200])
def test_the_interval_covers_the_expected_score(rates, games):
    matches = np.random.default_rng(0).multinomial(games, rates, size=2000)
    expected = rates[0] + rates[1] / 2
    covered = 0
    for wins, draws, losses in matches:
        low, high = MatchScore(int(wins), int(draws), int(losses)).interval
        covered += low <= expected <= high
    assert covered / len(matches) >= 0.93


def test_the_coverage_is_not_far_too_large():
    matches = np.random.default_rng(0).multinomial(400, (0.3, 0.4, 0.3), size=2000)
    intervals = [MatchScore(*map(int, match)).interval for match in matches]
    assert np.mean([low <= 0.5 <= high for low, high in intervals]) <= 0.975


@pytest.mark.parametrize("counts", [(0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 500), (0, 500, 0)])
def test_the_interval_holds_the_score_and_stays_in_the_unit_interval(counts):
    score = MatchScore(*counts)
    low, high = score.interval
    assert 0.0 <= low <= score.score <= high <= 1.0


def test_seats_exchanged_mirror_the_interval():
    low, high = MatchScore(7, 3, 2).interval
    assert MatchScore(2, 3, 7).interval == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(
    ("score", "elo"),
    [(0.5, 0.0), (10 / 11, 400.0), (1 / 11, -400.0), (0.0, -math.inf), (1.0, math.inf)],
)
def test_elo_difference(score, elo):
    assert elo_difference(score) == pytest.approx(elo)


def test_elo_interval_is_that_of_the_score():
    score = MatchScore(5, 2, 3)
    assert score.elo_interval == tuple(map(elo_difference, score.interval))


def test_no_games_say_nothing():
    score = MatchScore(0, 0, 0)
    assert math.isnan(score.score)
    assert math.isnan(score.elo)
    assert score.interval == (0.0, 1.0)


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="at least 0"):
        MatchScore(1, -1, 0)
