"""Ranking: what tables of tournaments are made of, whatever framework played the games."""

import math

import pytest

from rave_agents.arena.ranking import Ranking
from rave_agents.arena.ratings import Outcome

GAMES = [("a", "b", 1.0), ("b", "a", 0.5), ("b", "c", 1.0), ("c", "b", 0.5), ("a", "b", 0.0)]


def ranked(games, names=("a", "b", "c"), anchor=None):
    outcomes = [Outcome(*game, unit) for unit, game in enumerate(games)]
    return Ranking(tuple(names), outcomes, anchor)


def test_scores_are_counted_from_both_sides():
    ranking = ranked(GAMES)
    assert str(ranking.score("a", "b")) == "1-1-1"
    assert str(ranking.score("b", "c")) == "1-1-0"
    assert str(ranking.score("c")) == "0-1-1"
    assert ranking.score("a", "c").games == 0


def test_the_table_has_columns_of_its_own_between_ratings_and_scores():
    header, *rows = ranked(GAMES, anchor="b").table("policy", {"mean return": ["1", "2", "3"]})
    assert header == ["", "policy", "Elo", "95 % interval", "mean return", "1", "2", "3"]
    by_name = {row[1]: row for row in rows}
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert by_name["b"][2] == "+0"
    place = rows.index(by_name["b"])
    assert by_name["b"][5 + place] == "-"
    assert by_name["c"][5 + place] == "0.250"


@pytest.mark.parametrize(("last", "transitive"), [(1.0, True), (0.5, True), (0.0, False)])
def test_a_circle_of_wins_is_not_transitive(last, transitive):
    assert (
        ranked([("a", "b", 1.0), ("b", "c", 1.0), ("a", "c", last)]).is_transitive() is transitive
    )


def test_without_games_nothing_is_known():
    ranking = ranked([])
    assert math.isnan(ranking.score("a").score)
    assert all(map(math.isnan, ranking.cross_table()[0]))
    assert ranking.is_transitive()
