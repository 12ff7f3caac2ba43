"""Games that never end: a search says so, whichever way players move."""

import time

import pytest
from helpers.endless import (
    Endless,
    EndlessChance,
    EndlessHidden,
    EndlessHiddenChance,
    EndlessTogether,
)

from rave_agents import Limit, Searcher
from rave_agents.errors import GameError
from rave_agents.game import endless


@pytest.mark.parametrize(
    "kind", [Endless, EndlessChance, EndlessTogether, EndlessHidden, EndlessHiddenChance]
)
def test_a_search_says_that_a_game_does_not_end(kind, monkeypatch):
    monkeypatch.setattr(endless, "LONGEST_GAME", 1000)
    with pytest.raises(
        GameError, match=f"of {kind.__name__} has not ended after 1000 moves.*horiz"
    ):
        Searcher(seed=1).search(kind(), Limit(simulations=20), player=0)


def test_a_playout_of_an_endless_game_ends_with_the_seconds():
    started = time.perf_counter()
    result = Searcher(seed=1).search(Endless(), Limit(seconds=0.1))
    assert result.simulations == 0
    assert time.perf_counter() - started < 2.0


def test_an_evaluator_searches_a_game_that_does_not_end():
    class Evaluator:
        def evaluate(self, state):
            return [0.0, 0.0]

        def prior(self, state):
            return [(0, 0.5), (1, 0.5)]

    result = Searcher(seed=1, evaluator=Evaluator()).search(Endless(), Limit(simulations=50))
    assert result.simulations == 50


def test_a_game_that_is_played_says_that_it_does_not_end(monkeypatch):
    monkeypatch.setattr(endless, "LONGEST_GAME", 1000)
    with pytest.raises(GameError, match="A game of Endless has not ended after 1000 moves"):
        list(endless.until_over(Endless()))
