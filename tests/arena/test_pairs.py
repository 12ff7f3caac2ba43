import numpy as np
import pytest

from rave_agents.arena.statistics import PAIR_SCORES, MatchScore, PairCounts, units_interval


def test_whole_pairs_are_counted_by_the_points_of_the_first_agent():
    scores = {0: [1, 1], 1: [0.5, 1], 2: [0, 1], 3: [0.5, 0.5], 4: [0, 0], 5: [0, 0.5], 6: [1]}
    assert PairCounts.of(scores).counts == (1, 1, 2, 1, 1)


def test_the_score_of_pairs_is_that_of_their_games():
    assert PairCounts((365, 16618, 36229, 16974, 390)).score == pytest.approx(
        MatchScore(36433, 68692, 36027).score
    )


def test_single_games_have_the_interval_of_a_match():
    games = [(1.0, 1, 30), (0.5, 1, 40), (0.0, 1, 30)]
    assert units_interval(games) == pytest.approx(MatchScore(30, 40, 30).interval)


def test_a_game_without_its_other_counts_as_one_game():
    whole, single = [(2, 2, 5), (0, 2, 5)], [(1, 1, 10)]
    low, high = units_interval(whole + single)
    assert low < 20 / 30 < high


def test_independent_games_in_pairs_have_wilsons_interval():
    low, high = PairCounts((25, 0, 50, 0, 25)).interval
    assert (low, high) == pytest.approx(MatchScore(100, 0, 100).interval)


def test_pairs_that_cancel_out_have_a_narrower_interval_than_their_games():
    low, high = PairCounts((0, 0, 50, 0, 0)).interval
    low_games, high_games = MatchScore(50, 0, 50).interval
    assert low_games < low < 0.5 < high < high_games


@pytest.mark.parametrize("pairs", [20, 200])
@pytest.mark.parametrize(
    "chances",
    [
        (0.1, 0.2, 0.4, 0.2, 0.1),
        (0.05, 0.0, 0.9, 0.0, 0.05),
        (0.02, 0.1, 0.3, 0.4, 0.18),
        (0.5, 0.0, 0.0, 0.0, 0.5),
        (0.0, 0.1, 0.8, 0.1, 0.0),
    ],
)
def test_the_interval_covers_the_expected_score(chances, pairs):
    drawn = np.random.default_rng(1).multinomial(pairs, chances, size=1000)
    expected = np.dot(chances, PAIR_SCORES)
    intervals = [PairCounts(tuple(map(int, counts))).interval for counts in drawn]
    assert np.mean([low <= expected <= high for low, high in intervals]) >= 0.93


def test_no_pairs_say_nothing():
    assert PairCounts().interval == (0.0, 1.0)
    assert np.isnan(PairCounts().score)


def test_counts_are_checked():
    with pytest.raises(ValueError, match="five integers"):
        PairCounts((1, 2, 3))
