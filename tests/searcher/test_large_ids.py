"""Games whose ids are large: memory goes by the actions that occur."""

import pickle
import tracemalloc

import pytest
from helpers.large_ids import Cells, CellsByDice, CellsTogether, CellsUnseen, Fresh, FreshUnseen

from rave_agents import BatchEvaluator, Limit, SearchConfig, Searcher
from rave_agents.errors import UnsupportedGameError
from rave_agents.simulate import action_numbers

FEW = 1200
LARGE = (10**9, 2**40)

CASES = [
    (preset, kind)
    for preset in SearchConfig.preset_names()
    for kind in (Cells, CellsByDice, CellsTogether, CellsUnseen)
    if preset != "gumbel"
    and (kind in (Cells, CellsByDice) or not SearchConfig.preset(preset).needs_proofs)
    and (preset, kind) != ("mccfr", CellsUnseen)  # It has no start().
    and (kind is CellsTogether or preset not in ("regret_matching", "exp3"))
]


def found(state, config, simulations=50, **options):
    """What a search finds, in cells."""
    searcher = Searcher(config, seed=1, **options)
    result = searcher.search(state, Limit(simulations=simulations), player=0)
    rows = [(row.action // state.step, *row[1:]) for row in result.actions]
    line = [action // state.step for action in result.principal_variation]
    assert result.action in state.legal_actions(*[0] * isinstance(state, CellsTogether))
    return result.action // state.step, rows, line, result.nodes


@pytest.mark.full(but=["auto-Cells", "grave-CellsUnseen", "rave-CellsTogether", "rave-CellsByDice"])
@pytest.mark.parametrize(("preset", "kind"), CASES)
def test_a_search_finds_the_same_whatever_the_ids(preset, kind):
    config = SearchConfig.preset(preset)
    expected = found(kind(FEW), config)
    for ids in LARGE:
        assert found(kind(ids), config) == expected


def test_memory_goes_by_the_actions_that_occur():
    tracemalloc.start()
    try:
        found(Cells(10**9), SearchConfig.preset("grave"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10e6


def test_gumbel_draws_noise_for_actions_of_any_ids():
    config = SearchConfig.preset("gumbel")
    action, rows, _, _ = found(Cells(2**40), config)
    assert (action, rows) == found(Cells(10**9), config)[:2]


def test_an_evaluator_gives_priors_of_large_ids():
    class Evaluator:
        def evaluate(self, state):
            return [0.0, 0.0]

        def prior(self, state):
            legal = state.legal_actions()
            return [(action, 1.0 / len(legal)) for action in legal]

    config = SearchConfig.preset("puct")
    assert found(Cells(2**40), config, evaluator=Evaluator()) == found(
        Cells(FEW), config, evaluator=Evaluator()
    )


@pytest.mark.slow
def test_a_kept_tree_is_led_by_actions_of_large_ids():
    results = []
    for ids in (FEW, 2**40):
        state = Cells(ids)
        searcher = Searcher(SearchConfig.preset("rave"), seed=1)
        for _ in range(4):
            result = searcher.search(state, Limit(simulations=100))
            searcher.advance(result.action)
            state.apply_action(result.action)
        results.append((state.taken, result.root_visits, result.simulations))
    assert results[0] == results[1]
    assert result.root_visits > result.simulations


def test_a_pickled_searcher_goes_on_with_actions_of_large_ids():
    state = Cells(2**40)
    searcher = Searcher(SearchConfig.preset("grave"), seed=1)
    action = searcher.search(state, Limit(simulations=60)).action
    state.apply_action(action)
    results = []
    for each in (pickle.loads(pickle.dumps(searcher)), searcher):
        each.advance(action)
        result = each.search(state, Limit(simulations=60))
        results.append((result.action, result.root_visits, result.principal_variation))
    assert results[0] == results[1]
    assert result.root_visits > 60


@pytest.mark.full(but=["rave-Fresh", "grave-Fresh", "rave-FreshUnseen"])
@pytest.mark.parametrize("kind", [Fresh, FreshUnseen])
@pytest.mark.parametrize("preset", ["rave", "grave", "mcps", "hrave", "auto"])
def test_where_ids_are_always_new_the_memory_is_bounded(preset, kind, monkeypatch):
    monkeypatch.setattr(action_numbers, "FIRST_CAPACITY", 32)
    config = SearchConfig.preset(preset).replace(max_memory_mb=0.4)
    searcher = Searcher(config, seed=1)
    state = kind()
    for _ in range(2):
        result = searcher.search(state, Limit(simulations=100))
        assert result.simulations == 100
        assert result.action in state.legal_actions()
        tree = searcher.rooted_tree()
        assert tree.num_actions > 32
        assert tree.storage.bytes + tree.num_actions * tree.storage.action_bytes < 0.45e6
        searcher.advance(result.action)
        state.apply_action(result.action)


def test_an_evaluator_of_batches_refuses_ids_that_no_table_can_have():
    class Observed(Cells):
        def observation(self, player):
            return [0.0]

    searcher = Searcher(seed=1, evaluator=BatchEvaluator(lambda batch: ([], [])))
    with pytest.raises(UnsupportedGameError, match=r"num_distinct_actions\(\) is 1000000000"):
        searcher.search(Observed(10**9), Limit(simulations=10))
