"""The rule of races: bets on pairs of games, driven by sources of known means."""

import math

import numpy as np
import pytest

from rave_agents.arena.elimination import _STAKES, LEVEL, Elimination, Evidence


def fortune(values, mean, sign, stakes=_STAKES):
    """Money of a bettor, as the module's docstring has it."""
    return np.mean(
        [
            math.prod(1 + sign * f * (value - mean) / max(mean, 1 - mean) for value in values)
            for f in stakes
        ]
    )


def test_money_is_that_of_the_formula():
    evidence = Evidence()
    values = [1.0, 0.5, 0.75, 0.0, 1.0]
    for value in values:
        evidence.add(value)
    assert math.exp(evidence.for_first) == pytest.approx(fortune(values, 0.5, 1))
    assert math.exp(evidence.for_second) == pytest.approx(fortune(values, 0.5, -1))


def test_ends_of_an_interval_are_means_at_which_money_reaches_the_limit():
    evidence = Evidence()
    values = [1.0, 0.75, 0.5, 1.0, 0.25, 1.0, 0.75, 0.5] * 3
    for value in values:
        evidence.add(value)
    low, high = evidence.interval(math.log(20))
    assert fortune(values, low, 1) == pytest.approx(20, rel=1e-6)
    assert fortune(values, high, -1) == pytest.approx(20, rel=1e-6)
    assert low < evidence.mean < high


def test_without_values_nothing_is_known():
    assert Evidence().interval(3.0) == (0.0, 1.0)
    assert Evidence(bounded=False).interval(3.0) == (-math.inf, math.inf)


@pytest.mark.parametrize(("agents", "pairs"), [(2, 8), (7, 13)])
def test_who_loses_all_is_dropped_after_a_few_pairs(agents, pairs):
    rule = Elimination(agents)
    while not rule.dropped:
        rule.add(0, 1, 1.0)
    assert len(rule.evidence(0, 1).values) == pairs
    assert rule.dropped == {1: 0}


def test_an_interval_leaves_out_a_half_as_soon_as_one_is_dropped():
    random = np.random.default_rng(5)
    rule = Elimination(3)
    while not rule.dropped:
        assert rule.interval(0, 2)[0] <= 0.5
        rule.add(0, 2, random.choice([0.5, 1.0, 0.75]))
    assert rule.interval(0, 2)[0] > 0.5
    assert rule.interval(2, 0)[1] < 0.5
    assert rule.mean(2, 0) == pytest.approx(1 - rule.mean(0, 2))


def test_those_who_always_draw_are_level():
    rule = Elimination(3)
    while not (rule.is_level(1) and rule.is_level(2)):
        for one, two in rule.next_pairings(1):
            rule.add(one, two, 0.5)
    assert not rule.challengers
    assert not rule.dropped
    low, high = rule.interval(0, 1)
    assert 0.5 - LEVEL <= low < high <= 0.5 + LEVEL


def test_a_leader_with_ten_to_one_against_it_yields_before_it_is_dropped():
    rule = Elimination(4)
    while rule.leader == 0:
        assert not rule.dropped
        rule.add(0, 3, 0.0)
    assert rule.leader == 3
    assert not rule.dropped
    assert rule.left == [3, 0, 1, 2]


def test_the_last_is_left_where_all_beat_each_other_in_a_circle():
    rule = Elimination(3)
    for one, two, value in ((0, 1, 1.0), (1, 2, 1.0), (0, 2, 0.0)):
        for _ in range(40):
            rule.add(one, two, value)
    assert len(rule.left) == 1
    assert rule.leader == rule.left[0]


def test_one_that_was_dropped_does_not_lead_by_games_that_end_late():
    rule = Elimination(3)
    while not rule.dropped:
        rule.add(0, 2, 1.0)
    assert (rule.leader, rule.dropped) == (0, {2: 0})
    for _ in range(40):
        rule.add(0, 2, 0.0)
        assert rule.leader in rule.left


def test_the_leader_plays_who_has_played_least_first():
    rule = Elimination(4)
    rule.add(0, 1, 0.5)
    assert rule.next_pairings(5) == [(0, 2), (0, 3), (0, 2), (0, 3), (0, 1)]


def test_returns_are_compared_whatever_their_size():
    random = np.random.default_rng(1)
    values = random.normal(0.7, 1.0, 200)
    found = []
    for size in (1.0, 1000.0):
        rule = Elimination(2, bounded=False)
        while not rule.dropped:
            rule.add(0, 1, size * values[len(rule.evidence(0, 1).values)])
        found.append((len(rule.evidence(0, 1).values), np.array(rule.interval(0, 1)) / size))
    assert found[0][0] == found[1][0]
    assert found[0][1] == pytest.approx(found[1][1])
    assert 0 < found[0][1][0] < 0.7 < found[0][1][1]


def games(random, means, one, two):
    """A pair of independent games with two agents of these strengths."""
    return random.binomial(2, 0.5 + (means[one] - means[two]) / 2) / 2


def split_openings(random, means, one, two):
    """A pair of games that one agent wins both: what an opening gives to an agent, not a seat."""
    return float(random.random() < 0.5 + (means[one] - means[two]) / 2)


def draws(random, means, one, two):
    """A pair of games that are mostly drawn."""
    if random.random() < DRAWN:
        return 0.5
    return games(random, means, one, two)


def race(random, means, source, pairs):
    rule = Elimination(len(means))
    for _ in range(pairs):
        for one, two in rule.next_pairings(1):
            rule.add(one, two, source(random, means, one, two))
    return rule


DRAWN = 0.6
SOURCES = [games, split_openings, draws]


SIZES = [(20, 40), pytest.param(200, 200, marks=pytest.mark.full)]
"""Races, and pairs of games of each."""


@pytest.mark.parametrize(("races", "pairs"), SIZES)
@pytest.mark.parametrize("source", SOURCES)
def test_the_best_is_dropped_in_at_most_five_of_a_hundred_races(source, races, pairs):
    """The best is not the first leader, and is a little better only: the hardest case."""
    random = np.random.default_rng(45)
    means = [0.0, 0.0, 0.1]
    dropped = sum(2 in race(random, means, source, pairs).dropped for _ in range(races))
    assert dropped <= 0.05 * races


@pytest.mark.parametrize(("races", "pairs"), SIZES)
@pytest.mark.parametrize("source", SOURCES)
def test_equal_agents_are_told_apart_in_at_most_five_of_a_hundred_races(source, races, pairs):
    random = np.random.default_rng(46)
    apart = sum(bool(race(random, [0.0] * 3, source, pairs).dropped) for _ in range(races))
    assert apart <= 0.05 * races


@pytest.mark.full(but=1)
@pytest.mark.parametrize("source", SOURCES)
def test_a_better_agent_is_found(source):
    random = np.random.default_rng(47)
    rule = race(random, [0.0, -0.3, 0.5], source, 300)
    assert rule.left == [2]


@pytest.mark.full
@pytest.mark.parametrize("source", SOURCES)
def test_intervals_hold_at_all_times_in_ninety_five_of_a_hundred_races(source):
    random = np.random.default_rng(48)
    means, share = [0.0, 0.2, -0.2], 1 - DRAWN if source is draws else 1.0
    failed = 0
    for _ in range(100):
        rule = Elimination(3)
        missed = False
        for number in range(120):
            for one, two in rule.next_pairings(1):
                rule.add(one, two, source(random, means, one, two))
                if number % 5 == 4:
                    low, high = rule.interval(one, two)
                    missed |= not low <= 0.5 + share * (means[one] - means[two]) / 2 <= high
        failed += missed
    assert failed <= 5


@pytest.mark.full
def test_skewed_returns_of_equal_agents_are_told_apart_in_at_most_five_of_a_hundred_races():
    """One return in five is 100: the greatest so far grows only then."""
    random = np.random.default_rng(49)
    apart = 0
    for _ in range(300):
        rule = Elimination(2, bounded=False)
        for one, two in random.choice([0.0, 1.0, 100.0], p=[0.4, 0.4, 0.2], size=(200, 2)):
            rule.add(0, 1, one - two)
        apart += bool(rule.dropped)
    assert apart <= 15
