"""Levels of strength: heights of a path from matches, and ten places at equal distances."""

import math

import numpy as np
import pytest
from helpers.examples import load_example

from rave_agents.arena.statistics import MatchScore
from rave_agents.evaluators.levels import LEVELS, PATH, level_at

example = load_example("level_ladder")

RUNGS = len(PATH) - 1


def matches_along(step, games=1000):
    """Matches of neighbouring rungs that lie so many Elo points apart."""
    wins = round(games / (1 + 10 ** (-step / 400)))
    score = MatchScore(wins, 0, games - wins)
    return [example.LevelMatch(rung + 1.0, float(rung), score) for rung in range(RUNGS)]


def test_heights_are_those_that_the_scores_tell():
    heights = example.heights_of(matches_along(60))
    assert heights == pytest.approx([60 * rung for rung in range(RUNGS + 1)], rel=0.05)


def test_the_path_never_falls_and_stays_finite_where_all_was_won_or_lost():
    won = [
        example.LevelMatch(3.0, 0.0, MatchScore(20, 0, 0)),
        example.LevelMatch(9.0, 4.0, MatchScore(0, 0, 20)),
    ]
    heights = example.heights_of(won)
    assert all(np.diff(heights) >= 0)
    assert heights[9] - heights[4] < 5
    assert math.isfinite(heights[-1])


def test_a_path_of_which_nothing_is_known_rises_as_usual():
    assert np.diff(example.heights_of([])) == pytest.approx(example.USUAL_STEPS)


def test_levels_lie_at_equal_distances_from_the_top_down():
    heights = [0.0, *np.cumsum(range(10, 10 + RUNGS)).tolist()]
    places, distance = example.places_of(heights)
    elos = np.interp(places, range(RUNGS + 1), heights)
    assert np.diff(elos) == pytest.approx(distance, abs=0.1)
    assert places[-1] == RUNGS
    assert 0 < elos[0] < 2 * distance


def test_a_longer_path_is_used_from_the_top_down():
    places, distance = example.places_of([300.0 * rung for rung in range(RUNGS + 1)])
    assert distance == example.MOST_ELO
    assert places[0] > 2


def test_where_nothing_is_better_than_random_play_the_levels_are_as_good_as_it():
    places, distance = example.places_of([0.0] * (RUNGS + 1))
    assert distance == 0
    assert len(places) == LEVELS


def test_places_between_two_rungs_mix_them():
    assert [level_at(place) for place in range(RUNGS + 1)] == list(PATH)
    between = level_at(RUNGS - 0.5)
    assert between.simulations == round(math.sqrt(500 * 1000))
    assert between.temperature == 0.25
    assert level_at(0.5).random_moves == 0.9


def test_places_below_the_top_ask_no_solver_of_endgames_as_levels_do_not():
    assert example.agent_at(RUNGS - 0.5).parameters["endgame_share"] == 0.0
    assert "endgame_share" not in example.agent_at(RUNGS).parameters


@pytest.mark.full
def test_levels_are_measured_and_go_on_from_a_file_of_matches(tmp_path):
    path = tmp_path / "results.jsonl"
    whole = example.measured_levels("tic_tac_toe", 4, 0, path)
    assert len(whole[0].levels) == LEVELS
    lines = path.read_text().splitlines()
    assert len(lines) == LEVELS
    path.write_text("\n".join(lines[:6]) + "\n")
    assert example.measured_levels("tic_tac_toe", 4, 0, path) == whole
    assert path.read_text().splitlines() == lines


@pytest.mark.compiled
@pytest.mark.full
@pytest.mark.parametrize("game", ["hex(board_size=7)"])
def test_neighbouring_levels_lie_apart(game):
    """Wide margins: of 64 games the score's standard error is 0.06."""
    scores = [score.score for score in example.checked_levels(game, 64, 1)]
    assert all(0.5 <= score <= 0.88 for score in scores[1:]), scores
