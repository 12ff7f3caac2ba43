"""Whole trees of the kernel against a textbook implementation, on random games and configs."""

import pytest
from helpers.cases import random_case
from helpers.interpreter import interpreted_but_for
from helpers.streams import first_words
from helpers.textbook import Textbook
from helpers.trees import assert_close, check_tables, check_tree, dump, dump_tables, dump_textbook

from rave_agents import Limit, Searcher

CASES_PER_TEST = 25


def textbook_for(config, state, evaluator, seed):
    """A textbook search on the streams that a searcher of this seed uses for its first search."""
    return Textbook(config, state, *first_words(seed), evaluator=evaluator)


def assert_same_tables(rooted, book):
    """Every row of every table, up to rounding."""

    def check(node, path):
        assert (path in tables) == (node.table is not None), path
        if node.table is not None:
            playouts, rows = tables[path]
            assert playouts == node.table_playouts, path
            known = {key: stats for key, stats in node.table.items() if stats.n != 0.0}
            assert rows.keys() == known.keys(), path
            for key, stats in known.items():
                total = book.scaled_sum(stats.total, stats.n)
                expected = [stats.n, total, stats.wins, stats.win_moves]
                assert rows[key][:2] == pytest.approx(expected[:2], rel=1e-9, abs=1e-9)
                # Sums of winning moves have single precision.
                assert rows[key][2:] == pytest.approx(expected[2 : len(rows[key])], rel=1e-5)
        for edge in node.edges:
            if edge.child is not None:
                check(edge.child, (*path, edge.action))

    tables = dump_tables(rooted)
    check(book.root, ())


@pytest.mark.parametrize("block", range(24))
def test_whole_trees_equal_the_textbooks(block):
    compared = 0
    for seed in range(block * CASES_PER_TEST, (block + 1) * CASES_PER_TEST):
        state, config, evaluator, simulations = random_case(seed)
        searcher = Searcher(
            config.replace(search_forced_moves=True), seed=seed, evaluator=evaluator
        )
        with interpreted_but_for(seed, every=CASES_PER_TEST):
            searcher.search(state, Limit(simulations=simulations))
        book = textbook_for(config, state, evaluator, seed)
        book.search(simulations)
        check_tree(searcher)
        if book.near_ties > 0:
            continue  # Rounding decides, and the two sum up in another order.
        compared += 1
        try:
            scaled = dump_textbook(book.root, scale=book.scaled_sum)
            assert_close(dump(searcher), scaled)
            if config.amaf in ("grave", "global"):
                check_tables(searcher.rooted_tree())
                assert_same_tables(searcher.rooted_tree(), book)
        except AssertionError as error:
            raise AssertionError(f"case {seed}: {config}, {evaluator=}") from error
    assert compared > 0.5 * CASES_PER_TEST


def test_the_cases_reach_every_branch():
    """The random cases have what the comparison is meant to cover."""
    cases = [random_case(seed) for seed in range(24 * CASES_PER_TEST)]
    configs = [config for _, config, _, _ in cases]
    kinds = {
        "selection": 3,
        "amaf_players": 2,
        "tie_tolerance": 2,
        "amaf": 4,
        "rave_schedule": 5,
        "rave_blend": 2,
        "amaf_weighting": 3,
        "utility_range": 2,
        "amaf_unvisited": 2,
        "playout_temperature": 3,
    }
    for field, count in kinds.items():
        assert len({getattr(config, field) for config in configs}) == count, field
    assert {state.num_players() for state, *_ in cases} == {1, 2, 3}
    assert {config.playouts for config in configs} == {1, 2, 3}
    assert sum(evaluator is not None for *_, evaluator, _ in cases) > 100
    assert sum(state.rules.chance > 0 for state, *_ in cases) > 100
