"""Ranking: what tables of tournaments are made of, whatever framework played the games."""

import math

import pytest

from rave_agents.arena.ratings import Outcome
from rave_agents.arena.standings import Ranking
from rave_agents.results.tables import Column

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


def test_the_table_of_ratings_has_columns_of_its_own_beside_the_cross_table():
    own = Column("mean return", ["1", "2", "3"])
    ratings, cross = ranked(GAMES, anchor="b").tables("policy", [own], "title")
    header, *rows = ratings.rows
    assert header == ["", "policy", "Elo", "95 % interval", "mean return"]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert {row[1]: row[2] for row in rows}["b"] == "+0"
    header, *rows = cross.rows
    assert header == ["", "policy", "1", "2", "3"]
    names = [row[1] for row in rows]
    assert rows[names.index("b")][2 + names.index("b")] == "-"
    assert rows[names.index("c")][2 + names.index("b")] == "0.250"


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
