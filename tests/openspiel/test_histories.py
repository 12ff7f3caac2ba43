"""Histories replayed in C++: the same as in Python, and errors and time limits come out."""

import math
import time

import numpy as np
import pytest
from helpers.spiel import decision
from rave_openspiel import OpenSpielState
from rave_openspiel.histories_check import check
from rave_openspiel.history_chain import Budget
from rave_openspiel.knowledge import OutOfBudget
from rave_openspiel.native import optional_library
from rave_openspiel.native_histories import HistoriesLibrary, NativeChain, NativeKnowledge

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.simulate.random_stream import StreamUnit, make_stream


@pytest.fixture
def library():
    found = optional_library(HistoriesLibrary)
    if found is None:
        pytest.skip("there is no compiler")
    return found


@pytest.mark.full
def test_the_library_draws_the_histories_that_python_draws(library):
    check(library)


@pytest.mark.full(but=["go_fish"])
@pytest.mark.parametrize(
    ("name", "moves"), [("go_fish", 9), ("dark_hex(board_size=3)", 9), ("oh_hell", 3)]
)
def test_searches_grow_the_same_trees_with_the_library_and_without(name, moves, monkeypatch):
    results = []
    for switch in ("0", "1"):
        monkeypatch.setenv("RAVE_AGENTS_NATIVE", switch)
        searcher = Searcher(SearchConfig.preset("uct"), seed=1)
        result = searcher.search(OpenSpielState(decision(name, moves, 1)), Limit(simulations=60))
        rows = [(row.action, row.visits, row.value) for row in result.actions]
        results.append((rows, result.worlds.drawn, result.worlds.distinct, result.worlds.method))
    assert results[0] == results[1]


@pytest.fixture
def native(library):
    state = decision("go_fish", 9, 1)
    unit = StreamUnit(make_stream(np.random.SeedSequence(1)))
    known = NativeKnowledge(library, state, state.current_player(), math.inf)
    return known, NativeChain(known, unit), unit


def test_a_budget_of_actions_and_a_time_end_the_chain(native):
    known, chain, _ = native
    budget = Budget(3.5 * len(known.truth) / 2)
    chain.advance(known.truth, 100, budget)
    assert chain.tried == 4  # The last one overdraws the budget.
    assert budget.spent
    chain.reset_counts()
    assert chain.advance(known.truth, 100, Budget(math.inf, time.perf_counter())).actions == (
        known.truth.actions
    )
    assert chain.tried == 0


def test_a_filter_that_is_out_of_time_says_so(native):
    known, _, unit = native
    known.ends = time.perf_counter() - 1.0
    with pytest.raises(OutOfBudget):
        known.begun(unit)
