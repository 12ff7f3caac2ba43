"""Ratings against profile likelihoods by brute force, against evalica, and in every result."""

import functools
import itertools
import json
import math

import numpy as np
import pytest
import scipy
from helpers.examples import load_example

from rave_agents.arena import rate
from rave_agents.arena.ratings import Outcome
from rave_agents.arena.report_data import ReportData
from rave_agents.arena.result import RunResult
from rave_agents.arena.run import Pairing
from rave_agents.arena.standings import Standings
from rave_agents.arena.statistics import MatchScore, elo_difference
from rave_agents.frameworks.agent import Effort
from rave_agents.records.record import GameRecord
from rave_agents.web.report_page import report_page

POINTS = 400 / math.log(10)
LEAST_LOSS = scipy.stats.chi2.ppf(0.95, 1) / 2


def games(first, second, wins, draws, losses):
    scores = [1.0] * wins + [0.5] * draws + [0.0] * losses
    return [Outcome(first, second, score, (first, second, n)) for n, score in enumerate(scores)]


def tournament(scores, **options):
    """A tournament of two agents with these scores of the first, two games an opening."""
    records = [
        GameRecord(
            number=number, first_seat=0, opening=(), actions=(),
            returns=(2 * score - 1, 1 - 2 * score), efforts=(Effort(), Effort()),
        )
        for number, score in enumerate(scores)
    ]  # fmt: skip
    return RunResult(
        show=functools.partial(Standings, by_name={"a": "a", "b": "b"}, **options),
        pairings=(Pairing("go", ("a", "b")),),
        records=(tuple(records),),
        seed=0,
        games_planned=(100,),
    )


RESULTS = [
    pytest.param([1] * 5 + [0.5] * 3, id="5-3-0"),
    pytest.param([1] * 95 + [0.5] * 5, id="95-5-0"),
    pytest.param([0.5] * 3 + [0] * 5, id="0-3-5"),
    pytest.param([1] * 10, id="won all"),
    pytest.param([0] * 10, id="lost all"),
    pytest.param([0.5] * 8, id="draws only"),
    pytest.param([1, 0] * 10 + [1, 1, 1], id="pairs that cancel, and half a pair"),
    pytest.param([1], id="one game"),
    pytest.param([], id="no games"),
]


def same(value):
    return pytest.approx(value, abs=1e-5, nan_ok=True)


@pytest.mark.parametrize("scores", RESULTS)
def test_match_tournament_and_rate_say_the_same(scores):
    result = tournament(scores)
    match = result.matches[0]
    expected = match.score.elo, match.elo_interval
    for ratings in (result.ratings(), result.ratings("go"), rate(result.outcomes(), ("a", "b"))):
        value, interval = ratings.difference("a", "b")
        assert value == same(expected[0])
        assert interval == same(expected[1])
        value, (low, high) = ratings.difference("b", "a")
        assert (-value, (-high, -low)) == (same(expected[0]), same(expected[1]))
    held = tournament(scores, anchor="b").ratings()
    assert (held["a"], held.interval("a")) == (same(expected[0]), same(expected[1]))
    assert (held["b"], held.interval("b")) == (0, (0, 0))


@pytest.mark.parametrize("scores", RESULTS)
def test_json_has_the_same_and_is_strict(scores):
    result = tournament(scores, anchor="b")
    values = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    (match,) = values["matches"]
    (of_a,) = [row for row in values["standings"] if row["agent"] == "a"]
    assert of_a["elo"] == pytest.approx(match["elo"], abs=1e-5)
    for one, two in zip(of_a["elo_ci95"], match["elo_ci95"], strict=True):
        assert one == pytest.approx(two, abs=1e-5)
    alone = result.matches[0].to_dict()
    assert (alone["elo"], alone["elo_ci95"]) == (match["elo"], match["elo_ci95"])


@pytest.mark.parametrize("scores", [[1] * 5 + [0.5] * 3, [1] * 10])
def test_the_report_has_the_same(scores):
    result = tournament(scores)
    page = report_page(ReportData("tournament", {}, result, {"a": None, "b": None}), games=0)
    value, (low, high) = result.matches[0].score.elo, result.matches[0].elo_interval
    if math.isinf(value):
        assert f"a is at least {low:+.0f} above b." in page
        assert "-inf to" in page
    else:
        assert f"a is {value:+.0f} above b ({low:+.0f} to {high:+.0f})." in page


def test_the_report_draws_the_bound_of_one_who_won_all():
    result = tournament([1] * 10, anchor="b")
    (axes,) = result.plot().axes
    assert axes.yaxis_inverted()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]  # from the top
    (arrow,) = (line for line in axes.lines if line.get_marker() == ">")
    assert arrow.get_xdata()[0] == same(result.matches[0].elo_interval[0])


def test_draws_without_a_loss_have_a_finite_difference():
    assert rate(games("a", "b", 5, 3, 0)).difference("a", "b")[0] == pytest.approx(254.73, abs=0.01)
    value, (low, high) = rate(games("a", "b", 95, 5, 0)).difference("a", "b")
    assert value == pytest.approx(636.43, abs=0.01)
    assert 450 < low < value < high < 850


def trinomial_profile(wins, draws, losses):
    """Elo differences at which the likelihood of all shares of wins and draws is high enough."""
    share = np.linspace(0, 1, 1001)
    shares = [share[:, None], share[None, :], 1 - share[:, None] - share[None, :]]
    possible = shares[2] >= -1e-12
    shares[2] = np.maximum(shares[2], 0)
    counts = (wins, draws, losses)
    likelihood = sum(scipy.special.xlogy(n, p) for n, p in zip(counts, shares, strict=True))
    best = likelihood[possible].max()
    means = (shares[0] + shares[1] / 2)[possible & (likelihood >= best - LEAST_LOSS)]
    return elo_difference(means.min()), elo_difference(means.max())


@pytest.mark.parametrize(
    "counts", [(36, 40, 24), (30, 0, 10), (10, 80, 10), (60, 30, 10), (95, 5, 0), (20, 20, 2)]
)
def test_two_agents_have_the_profile_likelihood_of_wins_draws_and_losses(counts):
    low, high = trinomial_profile(*counts)
    _, ends = rate(games("a", "b", *counts)).difference("a", "b")
    assert ends == pytest.approx((low, high), abs=0.09 * (high - low))


BALANCED = {("a", "b"): (20, 10), ("b", "c"): (20, 10), ("a", "c"): (24, 6)}
"""Scores at 2 to 1, 2 to 1 and 4 to 1, which three ratings fit exactly."""
ONE_SIDED = {("a", "b"): (10, 10), ("b", "c"): (10, 10), ("z", "a"): (8, 0), ("z", "b"): (4, 0)}


def played(scores):
    return [o for (one, two), (won, lost) in scores.items() for o in games(one, two, won, 0, lost)]


def profile(scores, one, two):
    """The greatest log-likelihood by the difference of two agents, and where it lies."""
    names = sorted({name for pair in scores for name in pair} - {one, two})

    def most(difference):
        def loss(others):
            at = dict(zip(names, others, strict=True)) | {one: difference, two: 0.0}
            odds = [(at[i] - at[j], won, lost) for (i, j), (won, lost) in scores.items()]
            return sum(
                won * np.logaddexp(0, -d) + lost * np.logaddexp(0, d) for d, won, lost in odds
            )

        options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 4000, "maxfev": 4000}
        found = scipy.optimize.minimize(
            loss, np.full(len(names), difference / 2), method="Nelder-Mead", options=options
        )
        return -found.fun, dict(zip(names, found.x, strict=True)) | {one: difference, two: 0.0}

    return most


@pytest.mark.parametrize(("one", "two"), [("a", "b"), ("a", "c"), ("b", "c")])
def test_differences_have_the_greatest_likelihood(one, two):
    most = profile(BALANCED, one, two)
    found = scipy.optimize.minimize_scalar(lambda d: -most(d)[0], bracket=(0, 1)).x
    value, _ = rate(played(BALANCED)).difference(one, two)
    assert value == pytest.approx(POINTS * found, abs=0.01)


@pytest.mark.parametrize(
    ("scores", "one", "two", "factor"),
    [(BALANCED, "a", "b", 90 / 89), (BALANCED, "a", "c", 90 / 89), (ONE_SIDED, "z", "c", 40 / 39)],
)
def test_ends_of_an_interval_are_where_the_slope_of_the_profile_likelihood_is_refuted(
    scores, one, two, factor
):
    """``ℓ_p'² = z² V``; V sums φ n E(1-E) times the square of how each difference changes.

    The games vary as the fit expects, so that φ is ``factor``, for fitted ratings lessen the
    spread, and (4 φ₀ + n factor) / (4 + n) with the φ₀ that the m other games give in that way.
    """
    most, step = profile(scores, one, two), 1e-3
    counts = {pair: sum(score) for pair, score in scores.items()}
    spread = {pair: n if min(scores[pair]) else 0 for pair, n in counts.items()}
    ends = rate(played(scores)).difference(one, two)[1]
    for end in filter(math.isfinite, ends):
        (low, before), (_, at), (high, after) = (
            most(end / POINTS + change) for change in (-step, 0, step)
        )
        variance = 0.0
        for (i, j), n in counts.items():
            others, games_of_others = (sum(of.values()) - of[i, j] for of in (spread, counts))
            added = 4 * others / games_of_others
            prior = (others * factor + added) / (others + added)
            phi = (factor * n + 4 * prior) / (n + 4) if spread[i, j] else prior
            change = (after[i] - after[j] - before[i] + before[j]) / (2 * step)
            expected = 1 / (1 + math.exp(at[j] - at[i]))
            variance += phi * n * expected * (1 - expected) * change**2
        slope = (high - low) / (2 * step)
        assert abs(slope) == pytest.approx(1.959964 * math.sqrt(variance), rel=2e-3)


def test_with_many_games_it_is_the_interval_of_the_likelihood_ratio():
    scores = {pair: (10 * won, 10 * lost) for pair, (won, lost) in BALANCED.items()}
    most = profile(scores, "a", "c")
    value, ends = rate(played(scores)).difference("a", "c")
    for end in ends:
        lost = most(value / POINTS)[0] - most(end / POINTS)[0]
        assert lost == pytest.approx(LEAST_LOSS, rel=0.05)


@pytest.mark.parametrize("draws", [0, 5])
def test_the_bound_of_one_who_won_all_is_one_sided(draws):
    outcomes = games("a", "b", 5, draws, 5) + games("z", "a", 10, 0, 0)
    value, (low, high) = rate(outcomes).difference("z", "a")
    assert (value, high) == (math.inf, math.inf)
    share = 1 / (1 + math.exp(-low / POINTS))
    assert share**10 == pytest.approx(0.05, abs=0.025)


def test_a_bound_grows_with_the_doubt_about_those_who_lost():
    def bound(count):
        outcomes = games("z", "a", 10, 0, 0) + games("a", "b", count, 0, count)
        return rate(outcomes).difference("z", "b")[1][0]

    assert bound(3) < bound(30) < MatchScore(10, 0, 0).elo_interval[0]


def test_one_who_lost_all_mirrors_one_who_won_all():
    won = rate(games("a", "b", 5, 2, 5) + games("z", "a", 9, 0, 0)).interval("z")
    lost = rate(games("a", "b", 5, 2, 5) + games("z", "a", 0, 0, 9)).interval("z")
    assert lost == pytest.approx((-won[1], -won[0]), abs=1e-5)


def test_a_chain_of_shut_outs_has_bounds():
    ratings = rate(
        [*games("a", "b", 5, 0, 5), *games("y", "a", 9, 0, 0), *games("z", "y", 9, 0, 0)]
    )
    assert ratings.order == ("z", "y", "a", "b")
    (_, (low, _)), (_, (lower, _)) = ratings.difference("z", "a"), ratings.difference("y", "a")
    assert 0 < lower < low < math.inf


def test_two_who_beat_the_same_agent_cannot_be_compared():
    ratings = rate(games("y", "a", 9, 0, 0) + games("z", "a", 3, 0, 0))
    value, interval = ratings.difference("y", "z")
    assert math.isnan(value)
    assert interval == (-math.inf, math.inf)


def test_agents_of_another_component_are_compared_among_themselves():
    ratings = rate(games("a", "b", 9, 2, 9) + games("x", "y", 5, 3, 0))
    assert math.isnan(ratings["x"])
    value, ends = ratings.difference("x", "y")
    assert value == pytest.approx(MatchScore(5, 3, 0).elo)
    assert all(map(math.isfinite, ends))


def test_games_that_all_end_alike_do_not_make_a_difference_certain():
    _, (low, high) = rate(games("a", "b", 0, 500, 0)).difference("a", "b")
    assert low == pytest.approx(-high)
    assert 0.5 < high < 10


@pytest.mark.needs("evalica")
@pytest.mark.parametrize("seed", range(5))
def test_ratings_are_those_of_evalica(seed):
    evalica = pytest.importorskip("evalica")
    random = np.random.default_rng(seed)
    names = [*"abcdef"]
    winners = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
    outcomes = [
        Outcome(one, two, float(random.choice([1, 0.5, 0], p=[0.5, 0.3, 0.2])), n)
        for one, two in itertools.combinations(names, 2)
        for n in range(12)
    ]
    theirs = evalica.bradley_terry(
        [o.first for o in outcomes], [o.second for o in outcomes],
        [winners[o.score] for o in outcomes], tie_weight=0.5, tolerance=1e-12, limit=100_000,
    ).scores  # fmt: skip
    ours = rate(outcomes, names)
    expected = {name: 400 * math.log10(theirs[name]) for name in names}
    mean = sum(expected.values()) / len(names)
    for name in names:
        assert ours[name] == pytest.approx(expected[name] - mean, abs=1e-3)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_intervals_of_a_thousand_pairs_of_known_strength_cover_it(seed):
    counts = load_example("rating_intervals").coverage(1000, seed)
    held, missed = counts["all"]
    assert held + missed == 1000
    assert 0.93 <= held / 1000 <= 0.97
    held, missed = counts["shut-outs"]
    assert held + missed >= 30
    assert held / (held + missed) >= 0.93
