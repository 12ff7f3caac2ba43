"""What ends a search: simulations are exact, seconds are kept."""

import time

import pytest
from helpers.games import Position, random_game

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.parts import NodeAmaf


def tolerance(seconds):
    return max(0.05 * seconds, 0.020)


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    Searcher().search(random_game(1), Limit(simulations=1))


@pytest.mark.full(but=2)
@pytest.mark.parametrize("simulations", [1, 2, 3, 100, 12_345])
def test_simulations_are_exact(simulations):
    result = Searcher(seed=1).search(random_game(1), Limit(simulations=simulations))
    assert result.simulations == result.root_visits == simulations
    assert sum(row.visits for row in result.actions) == simulations - 1


@pytest.mark.parametrize("playout_count", [1, 8])
def test_playouts_do_not_count_as_simulations(playout_count):
    config = SearchConfig(playout_count=playout_count)
    assert Searcher(config).search(random_game(1), Limit(simulations=77)).root_visits == 77


def slow_game(method, pause=0.002):
    class Slow(Position):
        pass

    def sleep(self, *arguments):
        time.sleep(pause)
        return getattr(Position, method)(self, *arguments)

    setattr(Slow, method, sleep)
    return Slow(random_game(6, depth=30, width=4).rules)


@pytest.mark.full
@pytest.mark.compiled
@pytest.mark.parametrize("seconds", [0.05, 0.4])
@pytest.mark.parametrize("method", [None, "apply_action", "legal_actions", "clone", "returns"])
def test_seconds_are_kept(method, seconds):
    state = random_game(6, depth=30, width=4) if method is None else slow_game(method)
    overruns = []
    for seed in range(5):  # another process may take the processor for a while
        searcher = Searcher(SearchConfig(amaf=NodeAmaf(), expand_visits=1), seed=seed)
        started = time.perf_counter()
        result = searcher.search(state, Limit(seconds=seconds))
        elapsed = time.perf_counter() - started
        overruns.append(elapsed - seconds)
        assert seconds <= result.seconds <= elapsed
        assert result.simulations > 0
        assert result.action in state.legal_actions()
        if overruns[-1] <= tolerance(seconds):
            return
    pytest.fail(f"overruns {overruns}")


def test_the_limit_that_comes_first_ends_the_search():
    searcher = Searcher(seed=1)
    result = searcher.search(random_game(1), Limit(simulations=50, seconds=60.0))
    assert result.root_visits == 50
    result = searcher.search(random_game(1), Limit(simulations=2**31 - 1, seconds=0.05))
    assert result.seconds < 1.0
    assert 0 < result.simulations < 2**31 - 1


def test_a_legal_action_is_there_if_no_simulation_completes():
    state = slow_game("apply_action", pause=0.03)
    result = Searcher(seed=1).search(state, Limit(seconds=0.01))
    assert result.simulations == 0
    assert result.action in state.legal_actions()
    assert result.value is None
    assert sum(probability for _, probability in result.policy) == pytest.approx(1.0)
    actions = {Searcher(seed=seed).search(state, Limit(seconds=1e-9)).action for seed in range(30)}
    assert actions == set(state.legal_actions())


def test_progress_is_reported_as_time_passes():
    results = []
    final = Searcher(seed=1).search(random_game(1), Limit(seconds=0.55), progress=results.append)
    assert 3 <= len(results) <= 11
    counts = [result.simulations for result in results]
    assert counts == sorted(counts)
    assert counts[0] > 0
    assert final.simulations >= counts[-1]
    seconds = [result.seconds for result in results]
    assert seconds == sorted(seconds)
    assert seconds[0] >= 0.1


def test_an_exception_in_progress_comes_out_as_it_is():
    error = ZeroDivisionError()

    def progress(result):
        raise error

    searcher = Searcher(seed=1)
    with pytest.raises(ZeroDivisionError) as raised:
        searcher.search(random_game(1), Limit(seconds=5.0), progress=progress)
    assert raised.value is error
    assert searcher.result().simulations > 0
    assert searcher.search(random_game(1), Limit(simulations=5)).root_visits == 5
