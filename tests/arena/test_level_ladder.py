"""Levels of strength: a ladder of matches, and ten rungs at equal distances."""

import pytest

from rave_agents.arena.level_ladder import MOST_ELO, elo_of, ladder, levels_of, measure_levels
from rave_agents.arena.statistics import MatchScore
from rave_agents.knowledge.levels import DOUBLING, LEVELS, Level


def test_levels_lie_at_equal_distances_between_the_rungs():
    rungs = ladder(known=False)
    levels, distance = levels_of(rungs, [100.0 * number for number in range(10)])
    assert distance == 100
    assert levels == rungs


def test_a_longer_ladder_is_used_from_the_top_down():
    levels, distance = levels_of(ladder(known=False), [300.0 * number for number in range(10)])
    assert distance == MOST_ELO
    assert levels[-1].simulations == 1000
    assert levels[-3].simulations == 500
    assert levels[0].simulations > DOUBLING[3].simulations


def test_rungs_that_are_no_better_than_those_below_count_as_one():
    elos = [0.0, 100.0, 90.0, 300.0, 400.0, 500.0, 600.0, 700.0, 800.0, 900.0]
    rungs = ladder(known=False)
    levels, distance = levels_of(rungs, elos)
    assert distance == 100
    assert levels[3:] == rungs[3:]
    assert DOUBLING[2].simulations <= levels[1].simulations <= levels[2].simulations < 16


def test_a_ladder_on_which_nothing_is_better_has_one_level():
    levels, distance = levels_of(ladder(known=False), [9.0 - number for number in range(10)])
    assert distance == 0
    assert {*levels} == {DOUBLING[-1]._replace(known=False)}


def test_a_level_between_rungs_without_and_with_knowledge_is_the_nearer_one():
    rungs = (*ladder(known=True)[8:10], DOUBLING[-1])
    levels, _ = levels_of(rungs, [0.0, 90.0, 900.0])
    assert {level.known for level in levels} == {False, True}


def test_a_match_that_was_won_altogether_tells_finite_points():
    assert elo_of(MatchScore(20, 0, 0)) == pytest.approx(-elo_of(MatchScore(0, 0, 20)))
    assert elo_of(MatchScore(20, 0, 0)) < 1000


@pytest.mark.full
def test_the_levels_of_a_small_game_are_measured():
    result = measure_levels("tic_tac_toe", games=2, progress=False)
    assert result.game == "tic_tac_toe()"
    assert len(result.levels) == LEVELS
    assert all(isinstance(level, Level) for level in result.levels)
    assert "Elo points apart" in str(result)
