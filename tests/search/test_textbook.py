"""Whole trees of the kernel against a textbook implementation, on random games and configs."""

import random

import pytest
from helpers.games import RandomEvaluator, random_game
from helpers.streams import first_words
from helpers.textbook import Textbook
from helpers.trees import assert_close, check_tables, check_tree, dump, dump_tables, dump_textbook

from rave_agents import Limit, SearchConfig, Searcher

CASES_PER_TEST = 25


def random_case(seed):
    """A random game, configuration and evaluator."""
    draw = random.Random(f"case {seed}")
    whole = draw.random() < 0.5
    stated = draw.random() < 0.7
    state = random_game(
        seed,
        num_players=draw.randint(1, 3),
        width=draw.randint(2, 6),
        depth=draw.randint(1, 9),
        chance=draw.choice([0.0, 0.0, 0.3]),
        low=draw.choice([-1.0, 0.0, -300.0, 5.0]),
        high=draw.choice([6.0, 7.0, 1000.0]),
        # Equal utilities under bounds that move are equal up to rounding alone.
        whole=whole and stated,
        stated=stated,
    )
    evaluator = RandomEvaluator() if draw.random() < 0.3 else None
    selection = draw.choice(["ucb1", "puct"])
    config = SearchConfig(
        selection=selection,
        exploration=draw.choice([0.0, 0.3, 0.7, 2.5]),
        first_play_urgency=draw.choice([float("inf"), 0.5, 0.0, 1.1]),
        amaf=(amaf := draw.choice(["none", "node", "node", "grave", "global"])),
        grave_ref=draw.choice([0, 3, 50]),
        grave_table_visits=draw.choice([1, 1, 4]),
        rave_schedule=draw.choice(["hand_selected", "minimum_mse", "fuego", "pachi", "grave"]),
        fuego_initial=draw.choice([0.9, 1.0]),
        fuego_final=draw.choice([20.0, 5000.0]),
        pachi_equivalence=draw.choice([10.0, 3500.0]),
        grave_bias=draw.choice([1e-5, 0.01]),
        amaf_weighting=draw.choice(["uniform", "linear", "stepped"]),
        amaf_weight_first=draw.choice([2.0, 3.0]),
        amaf_weight_last=draw.choice([0.0, 1.0]),
        amaf_occurrences=draw.choice(["first", "first", "every"]),
        amaf_prior_visits=draw.choice([0.0, 0.0, 8.0]) if amaf != "none" else 0.0,
        amaf_prior_value=draw.choice([0.5, 0.35]),
        winning_move_weight=draw.choice([0.0, 0.0, 0.3, 1.0]) if amaf != "none" else 0.0,
        plain_selection_period=draw.choice([0, 0, 2, 5]),
        rave_k=draw.choice([0.5, 20.0, 500.0]),
        rave_bias=draw.choice([0.0, 0.05, 0.5]),
        rave_blend="value" if selection == "puct" else draw.choice(["value", "ucb"]),
        expand_visits=draw.choice([1, 1, 2, 3, 7]),
        playouts=1 if evaluator else draw.choice([1, 1, 2, 3]),
        utility_range=draw.choice(["game", "game", "game", "observed"]) if not whole else "game",
        amaf_unvisited=draw.random() < 0.75,
    )
    return state, config, evaluator, draw.choice([1, 2, 10, 60, 150])


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

    tables = dump_tables(rooted.arrays, rooted.tables)
    check(book.root, ())


@pytest.mark.parametrize("block", range(24))
def test_whole_trees_equal_the_textbooks(block):
    compared = 0
    for seed in range(block * CASES_PER_TEST, (block + 1) * CASES_PER_TEST):
        state, config, evaluator, simulations = random_case(seed)
        searcher = Searcher(
            config.replace(search_forced_moves=True), seed=seed, evaluator=evaluator
        )
        searcher.search(state, Limit(simulations=simulations))
        book = textbook_for(config, state, evaluator, seed)
        book.search(simulations)
        check_tree(searcher.tree)
        if book.near_ties > 0:
            continue  # Rounding decides, and the two sum up in another order.
        compared += 1
        try:
            scaled = dump_textbook(book.root, scale=book.scaled_sum)
            assert_close(dump(searcher.tree), scaled)
            if config.amaf in ("grave", "global"):
                check_tables(searcher.tree, searcher.rooted_tree().tables)
                assert_same_tables(searcher.rooted_tree(), book)
        except AssertionError as error:
            raise AssertionError(f"case {seed}: {config}, {evaluator=}") from error
    assert compared > 0.5 * CASES_PER_TEST


def test_the_cases_reach_every_branch():
    """The random cases have what the comparison is meant to cover."""
    cases = [random_case(seed) for seed in range(24 * CASES_PER_TEST)]
    configs = [config for _, config, _, _ in cases]
    kinds = {
        "selection": 2,
        "amaf": 4,
        "rave_schedule": 5,
        "rave_blend": 2,
        "amaf_weighting": 3,
        "amaf_occurrences": 2,
        "utility_range": 2,
        "amaf_unvisited": 2,
    }
    for field, count in kinds.items():
        assert len({getattr(config, field) for config in configs}) == count, field
    assert {state.num_players() for state, *_ in cases} == {1, 2, 3}
    assert {config.playouts for config in configs} == {1, 2, 3}
    assert sum(evaluator is not None for *_, evaluator, _ in cases) > 100
    assert sum(state.rules.chance > 0 for state, *_ in cases) > 100
