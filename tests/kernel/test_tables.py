"""AMAF tables: GRAVE's reference, the global table, re-rooting, memory."""

import pytest
from helpers.games import random_game, written_game
from helpers.trees import (
    check_tables,
    check_tree,
    dump,
    dump_tables,
    growing_bytes,
    interrupt_resize,
)

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.compiler.arrays import NODE, TABLE
from rave_agents.parts import (
    GRAVE,
    HRAVE,
    UCB1,
    NoAmaf,
    NodeAmaf,
    NoWinningMoves,
    WinningMoves,
)
from rave_agents.tree.storage import Storage

MEGABYTE = 2**20


def searched(state, simulations=400, *, seed=1, **changes):
    config = SearchConfig(amaf=GRAVE(), expand_visits=1, search_forced_moves=True)
    searcher = Searcher(config.replace(**changes), seed=seed)
    return searcher, searcher.search(state, Limit(simulations=simulations))


def whole(searcher):
    """The tree and its tables, checked, as plain values."""
    rooted = searcher.rooted_tree()
    check_tree(rooted)
    check_tables(rooted)
    return dump(rooted), dump_tables(rooted)


def test_both_colours_and_moves_not_yet_legal_are_in_the_table():
    # Player 0 plays 1 and later 5, player 1 plays 3 in between: nothing else can happen.
    nodes = {(): (0, [1]), (1,): (1, [3]), (1, 3): (0, [5]), (1, 3, 5): [0.75, 0.25]}
    searcher, _ = searched(
        written_game(nodes), 4, amaf=GRAVE(table_visits=1, winning=WinningMoves())
    )
    tables = whole(searcher)[1]
    assert tables[()] == (4, {(0, 1): (4, 3, 4, 4), (1, 3): (4, 1, 0, 0), (0, 5): (4, 3, 4, 12)})
    # Below, what was played before the node is not there.
    assert tables[1,] == (3, {(1, 3): (3, 0.75, 0, 0), (0, 5): (3, 2.25, 3, 6)})
    assert tables[1, 3] == (2, {(0, 5): (2, 1.5, 2, 2)})
    assert (1, 3, 5) not in tables


def test_a_node_gets_its_table_on_the_configured_visit():
    searcher, _ = searched(random_game(2, depth=8), 600, table_visits=40)
    tree, tables = whole(searcher)
    assert 1 < len(tables) < len(tree)
    for path, (player, visits, _) in tree.items():
        if path in tables:
            assert path == () or visits >= 40
            assert tables[path][0] == (visits if path == () else visits - 39)
        else:
            assert visits < 40 or player == -4


@pytest.mark.slow
def test_a_kept_subtree_keeps_its_tables():
    for seed in range(2):
        state = random_game(seed, depth=9, chance=0.2)
        searcher, result = searched(state, 800, seed=seed, table_visits=3)
        tree, tables = whole(searcher)
        searcher.advance(result.action)
        if searcher.tree is None:
            continue
        kept, kept_tables = whole(searcher)
        below = {path[1:]: table for path, table in tables.items() if path[:1] == (result.action,)}
        assert kept_tables == below
        assert len(kept) < len(tree)


def test_a_kept_root_without_a_table_gets_one():
    state = random_game(1, depth=9)
    searcher, result = searched(state, 200, table_visits=10_000)
    searcher.advance(result.action)
    assert whole(searcher)[1] == {}
    state.apply_action(result.action)
    searcher.search(state, Limit(simulations=25))
    assert whole(searcher)[1][()][0] == 25


def test_the_global_table_is_new_in_each_search():
    state = random_game(1, depth=9)
    searcher, result = searched(state, 300, amaf=HRAVE())
    assert whole(searcher)[1][()][0] == 300
    searcher.advance(result.action)
    assert whole(searcher)[1] == {}
    state.apply_action(result.action)
    result = searcher.search(state, Limit(simulations=80))
    assert result.root_visits > 100
    assert whole(searcher)[1][()][0] == 80


KINDS = [NoAmaf(), NodeAmaf(), GRAVE(), HRAVE()]
COUNTED_KINDS = [amaf._replace(winning=WinningMoves()) for amaf in KINDS[1:]]


@pytest.mark.full(but=1)
@pytest.mark.parametrize("after", [*KINDS, *COUNTED_KINDS])
@pytest.mark.parametrize("before", KINDS)
def test_a_tree_of_another_kind_is_not_searched_on(before, after):
    state = random_game(1, depth=9)
    searcher, result = searched(state, 300, amaf=before)
    searcher.advance(result.action)
    state.apply_action(result.action)
    kept = searcher.config == searcher.config.replace(amaf=after)
    searcher.config = searcher.config.replace(amaf=after)
    result = searcher.search(state, Limit(simulations=400))
    assert (result.root_visits > 400) == kept
    check_tree(searcher)
    if isinstance(after, GRAVE | HRAVE):
        check_tables(searcher.rooted_tree())


@pytest.mark.slow
@pytest.mark.full(but=["0.03-winning1-amaf0"])
@pytest.mark.parametrize("amaf", [GRAVE(table_visits=2), HRAVE()])
@pytest.mark.parametrize("winning", [NoWinningMoves(), WinningMoves()])
@pytest.mark.parametrize("megabytes", [1e-6, 0.03, 0.3, 1.0])
def test_tables_are_counted_and_stay_inside_the_budget(amaf, winning, megabytes):
    state = random_game(1, depth=20, width=9, low=0.0, high=5.0)
    amaf = amaf._replace(winning=winning)
    count = 1000 if megabytes <= 0.03 else 9000
    searcher, result = searched(state, count, rule=UCB1(50.0), amaf=amaf, max_memory_mb=megabytes)
    assert result.memory_bytes == growing_bytes(searcher)
    assert result.root_visits == count
    if megabytes > 1e-6:
        assert 0.6 * megabytes * MEGABYTE < result.memory_bytes <= megabytes * MEGABYTE
        assert (int(searcher.tree.used[TABLE]) > 10) == isinstance(amaf, GRAVE)
    assert result.memory_full == (megabytes < 0.5 or isinstance(amaf, GRAVE))
    whole(searcher)


@pytest.mark.parametrize("amaf", [GRAVE(), HRAVE()])
def test_a_table_that_does_not_fit_is_left_out(amaf):
    state = random_game(1, depth=20, width=9)
    state.rules.num_distinct_actions = 5000  # 160 kB a table
    searcher, result = searched(state, 500, amaf=amaf, max_memory_mb=0.1)
    assert result.memory_full
    assert result.memory_bytes <= 0.1 * MEGABYTE
    assert result.root_visits == 500
    assert whole(searcher)[1] == {}
    assert {row.amaf_visits for row in result.actions} == {0.0}


def test_a_node_made_after_an_interrupted_growth_has_no_table(monkeypatch):
    """Ctrl-C comes when an array has its new rows, and before they are filled."""
    state = random_game(1, depth=12, width=8)
    searcher, _ = searched(state, 300, table_visits=5)
    expected = whole(searcher)
    resize, interrupted = Storage.resize, []

    def resize_twice(storage, sizes):
        places = [
            place
            for place, (_, rows) in enumerate(storage._arrays)
            if (rows.axis, rows.points_to) == (NODE, TABLE)
        ]
        if not interrupted and storage.tree.used[TABLE] > 0 and sizes[NODE] != storage.sizes[NODE]:
            assert len(places) == 1
            assert interrupt_resize(storage, places[0], lambda: resize(storage, sizes))
            interrupted.append(True)
        resize(storage, sizes)

    monkeypatch.setattr(Storage, "resize", resize_twice)
    other = Searcher(searcher.config, seed=1)
    other.search(state, Limit(simulations=300))
    assert interrupted
    assert whole(other) == expected


def test_statistics_of_the_root_are_those_of_its_table():
    state = random_game(5, depth=9, low=-10.0, high=30.0)
    for amaf in (GRAVE(winning=WinningMoves()), HRAVE(winning=WinningMoves())):
        searcher, result = searched(state, 300, amaf=amaf)
        rows = whole(searcher)[1][()][1]
        for row in result.actions:
            n, total, wins, moves = rows[result.player, row.action]
            assert row.amaf_visits == n
            assert row.amaf_value == pytest.approx(-10.0 + 40.0 * total / n)
            number = None if wins == 0 else moves / wins
            assert row.winning_move_number == number
            rate = 0.0 if wins == 0 else (wins / n) / number
            assert row.weighted_win_rate == pytest.approx(rate)
