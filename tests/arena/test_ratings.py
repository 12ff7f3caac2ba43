import itertools
import math

import numpy as np
import pytest

from rave_agents.arena.ratings import Outcome, rate


def games(first, second, wins, draws, losses):
    scores = [1.0] * wins + [0.5] * draws + [0.0] * losses
    return [Outcome(first, second, score, (first, second, n)) for n, score in enumerate(scores)]


def drawn(strengths, nu, units, random, *, cancelling=False):
    """Games by the model; with ``cancelling`` the second of a pair tends to undo the first."""
    outcomes = []
    for (one, a), (two, b) in itertools.combinations(enumerate(strengths), 2):
        weights = np.array([math.exp((b - a) / 2), nu, math.exp((a - b) / 2)])
        for unit in range(units):
            score = random.choice([0, 0.5, 1], p=weights / weights.sum())
            pair = [score, 1 - score if cancelling else score]
            outcomes += [Outcome(str(one), str(two), s, (one, two, unit)) for s in pair]
    return outcomes


def test_two_agents_have_the_closed_form():
    ratings = rate(games("a", "b", 36, 40, 24))
    expected = 400 * math.log10((36 + 20) / (24 + 20))
    assert ratings.difference("a", "b")[0] == pytest.approx(expected)
    assert ratings["a"] == pytest.approx(-ratings["b"])


@pytest.mark.slow
def test_strengths_are_found_again():
    strengths = np.array([0.0, 0.5, 1.0, 2.0])
    ratings = rate(drawn(strengths, 1.0, 4000, np.random.default_rng(0)), ["0", "1", "2", "3"])
    scale = 400 / math.log(10) * 2 / 3
    expected = scale * (strengths - strengths.mean())
    assert ratings.values == pytest.approx(tuple(expected), abs=10)
    assert ratings.order == ("3", "2", "1", "0")
    assert sum(ratings.values) == pytest.approx(0, abs=1e-6)


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("cancelling", [False, True])
def test_intervals_of_differences_cover_whether_the_games_of_a_pair_are_alike_or_cancel(cancelling):
    random = np.random.default_rng(3)
    strengths = [0.0, 0.4, 1.2]
    if cancelling:
        strengths = [0.0, 0.0, 0.0]  # what a pair's games together tell
    scale = 400 / math.log(10) * 2 / 2.5
    covered = []
    for _ in range(60):
        ratings = rate(drawn(strengths, 0.5, 40, random, cancelling=cancelling), ["0", "1", "2"])
        for one, two in itertools.combinations(range(3), 2):
            _, (low, high) = ratings.difference(str(one), str(two))
            covered.append(low <= scale * (strengths[one] - strengths[two]) <= high)
    assert np.mean(covered) >= 0.92


def test_games_of_a_pair_that_are_alike_widen_the_interval():
    alone = [Outcome("a", "b", s, n) for n, s in enumerate([1, 1, 0, 0] * 20)]
    alike = [Outcome("a", "b", s, n // 2) for n, s in enumerate([1, 1, 0, 0] * 20)]

    def width(outcomes):
        low, high = rate(outcomes).difference("a", "b")[1]
        return high - low

    assert width(alike) > 1.3 * width(alone)


def test_an_anchor_keeps_its_rating_and_differences_stay():
    outcomes = games("a", "b", 6, 2, 3) + games("b", "c", 5, 1, 4)
    free, held = rate(outcomes), rate(outcomes, anchor="b")
    assert held["b"] == 0
    assert held.interval("b") == (0, 0)
    for one, two in itertools.combinations("abc", 2):
        assert held.difference(one, two)[0] == pytest.approx(free.difference(one, two)[0])
        assert held.difference(one, two)[1] == pytest.approx(free.difference(one, two)[1])


def test_one_who_won_all_is_infinite_with_a_lower_bound():
    ratings = rate(games("a", "b", 5, 2, 5) + games("z", "a", 10, 0, 0) + games("z", "b", 10, 0, 0))
    assert ratings["z"] == math.inf
    assert ratings.order[0] == "z"
    low, high = ratings.interval("z")
    assert high == math.inf
    assert 250 < low < 400
    assert ratings["a"] == pytest.approx(ratings["b"], abs=1e-6)


def test_more_wins_without_a_loss_raise_the_bound():
    def bound(count):
        others = games("a", "b", 5, 0, 5)
        return rate(others + games("z", "a", count, 0, 0)).interval("z")[0]

    assert bound(3) < bound(30)


def test_agents_who_never_met_cannot_be_compared():
    outcomes = games("a", "b", 3, 1, 3) + games("b", "c", 3, 0, 3) + games("x", "y", 2, 0, 1)
    ratings = rate(outcomes)
    assert math.isfinite(ratings["a"])
    assert math.isnan(ratings["x"])
    assert ratings.interval("x") == (-math.inf, math.inf)
    assert set(ratings.order[-2:]) == {"x", "y"}


def test_no_games_rate_nobody():
    assert math.isnan(rate(games("a", "b", 3, 1, 3), ["a", "b", "c"])["c"])
    assert all(math.isnan(v) or v == 0 for v in rate([], ["a", "b"]).values)


def test_names_and_scores_are_checked():
    with pytest.raises(ValueError, match="Did you mean 'rave'"):
        rate([Outcome("rave", "uct", 1.0, 0)], anchor="rav")
    with pytest.raises(ValueError, match="Not the outcome"):
        rate([Outcome("a", "b", 0.3, 0)])
    with pytest.raises(ValueError, match="Not the outcome"):
        rate([Outcome("a", "a", 1.0, 0)])
