"""The table of children that an edge alone does not tell."""

import numpy as np
import pytest

from rave_agents.search import children as module
from rave_agents.search.children import NO_ENTRY, allocate_children, clear_children
from rave_agents.search.compiler import interpreted
from rave_agents.search.tree import UNEXPANDED

find, add = interpreted(module.find_entry), interpreted(module.add_entry)
has_room = interpreted(module.has_room_for_children)


@pytest.fixture(autouse=True)
def interpreted_kernel(monkeypatch):
    """The functions that these call run in the interpreter too."""
    monkeypatch.setattr(module, "first_place", interpreted(module.first_place))


def random_keys(count, seed=1, *, crowded=False):
    random = np.random.default_rng(seed)
    high = 40 if crowded else 2**31
    edges = random.integers(0, high, count)
    besides = random.integers(-high, high, count)
    return list(dict.fromkeys(zip(edges.tolist(), besides.tolist(), strict=True)))


def filled(keys, room, values=0):
    table = allocate_children(values)
    module.grow_children(table, room)
    for edge, beside in keys:
        assert find(table, edge, beside) == NO_ENTRY
        add(table, edge, beside)
    return table


@pytest.mark.parametrize("crowded", [False, True])
def test_every_key_leads_to_its_own_entry(crowded):
    keys = random_keys(500, crowded=crowded)
    table = filled(keys, len(keys))
    assert [find(table, *key) for key in keys] == list(range(len(keys)))
    strangers = set(random_keys(500, seed=2, crowded=crowded)) - set(keys)
    assert len(strangers) > 0
    assert all(find(table, *key) == NO_ENTRY for key in strangers)


def test_edge_and_number_are_both_compared():
    table = filled([(1, 2), (2, 1), (1, -3), (3, 2**62), (3, -(2**62))], 5)
    assert find(table, 2, 2) == NO_ENTRY
    assert find(table, 1, -2) == NO_ENTRY
    assert find(table, 3, 2**62) == 3


def test_a_new_entry_is_empty():
    table = filled([(7, 8)], 4, values=3)
    assert table.child[0] == UNEXPANDED
    assert table.visits[0] == 0
    assert table.value_sum[0].tolist() == [0.0, 0.0, 0.0]


def test_room_is_for_entries_and_never_more_than_half_of_the_places_are_taken():
    table = filled(random_keys(3), 4)
    assert has_room(table, 1)
    assert not has_room(table, 2)
    for room in (1, 5, 64, 100):
        module.grow_children(table, max(room, 3))
        assert 2 * len(table.edge) <= len(table.places) <= 4 * len(table.edge)
        assert np.log2(len(table.places)).is_integer()


@pytest.mark.parametrize("room", [200, 4096])
def test_growing_and_shrinking_keep_every_entry(room):
    keys = random_keys(200)
    table = filled(keys, 1000, values=2)
    table.child[:200] = np.arange(200) + 5
    table.value_sum[:200] = np.arange(400).reshape(200, 2)
    module.grow_children(table, room)
    assert [find(table, *key) for key in keys] == list(range(200))
    assert table.child[:200].tolist() == list(range(5, 205))
    assert table.value_sum[199].tolist() == [398.0, 399.0]


def test_memory_is_counted():
    table = allocate_children(2)
    empty = sum(array.nbytes for array in table)
    for room in (10, 64, 1000):
        module.grow_children(table, room)
        taken = sum(array.nbytes for array in table) - empty
        assert taken <= room * module.entry_bytes(2)


def test_dropped_entries_are_gone_and_the_others_have_their_new_keys():
    keys = random_keys(100)
    table = filled(keys, 128, values=1)
    table.visits[:100] = np.arange(100)
    table.value_sum[:100, 0] = np.arange(100) / 2
    kept = np.arange(100) % 3 == 0
    edge, beside = table.edge[:100].astype(np.int64) + 1, table.beside[:100] - 1
    module.keep_children(table, kept, edge, beside, np.arange(100))
    assert table.used[0] == 34
    for entry, number in enumerate(range(0, 100, 3)):
        old_edge, old_beside = keys[number]
        assert find(table, old_edge, old_beside) == NO_ENTRY
        assert find(table, old_edge + 1, old_beside - 1) == entry
        assert table.visits[entry] == table.child[entry] == number
        assert table.value_sum[entry, 0] == number / 2


def test_a_cleared_table_has_nothing_and_all_its_room():
    keys = random_keys(50)
    table = filled(keys, 50)
    clear_children(table)
    assert all(find(table, *key) == NO_ENTRY for key in keys)
    assert has_room(table, 50)
    assert not has_room(table, 51)
