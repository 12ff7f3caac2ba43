"""The table of children that an edge alone does not tell."""

from types import SimpleNamespace
from typing import Annotated, NamedTuple

import numpy as np
import pytest

from rave_agents.compiler.arrays import CHILD, FLOAT, GROWING, NODE, Array, Axis, Rows
from rave_agents.kernel.moves.child_table import NO_ENTRY, Children, add_entry, find_entry
from rave_agents.kernel.tree import UNEXPANDED, Tree
from rave_agents.tree.storage import Storage, allocated, places_for


class Table(NamedTuple):
    """A table, and values for each of its entries."""

    children: Children
    value_sum: Annotated[Array, Rows(Axis.CHILD, FLOAT, (Axis.PLAYER,))]


class Filled:
    """A table in its storage: with room for so many entries of so many values, and these keys."""

    def __init__(self, keys, room, values=0):
        sizes = dict.fromkeys(GROWING, 0)
        sizes |= {Axis.PLACE: places_for(0), Axis.ONE: 1, Axis.PLAYER: values}
        self.tree = allocated(Tree, sizes)
        self.table = allocated(Table, sizes)
        self.storage = Storage(self.tree, (self.table,), sizes)
        self.storage.resize({Axis.CHILD: room})
        for edge, beside in keys:
            assert self.find(edge, beside) == NO_ENTRY
            add_entry(SimpleNamespace(tree=self.tree), self.table.children, edge, beside)

    def find(self, edge, beside):
        return find_entry(self.table.children, edge, beside)


def random_keys(count, seed=1, *, crowded=False):
    random = np.random.default_rng(seed)
    high = 40 if crowded else 2**31
    edges = random.integers(0, high, count)
    besides = random.integers(-high, high, count)
    return list(dict.fromkeys(zip(edges.tolist(), besides.tolist(), strict=True)))


@pytest.mark.parametrize("crowded", [False, True])
def test_every_key_leads_to_its_own_entry(crowded):
    keys = random_keys(500, crowded=crowded)
    filled = Filled(keys, len(keys))
    assert [filled.find(*key) for key in keys] == list(range(len(keys)))
    strangers = set(random_keys(500, seed=2, crowded=crowded)) - set(keys)
    assert len(strangers) > 0
    assert all(filled.find(*key) == NO_ENTRY for key in strangers)


def test_a_new_entry_is_empty():
    filled = Filled([(7, 8)], 4, values=3)
    assert filled.table.children.child[0] == UNEXPANDED
    assert filled.table.children.visits[0] == 0
    assert filled.table.value_sum[:3].tolist() == [0.0, 0.0, 0.0]


def test_never_more_than_half_of_the_places_are_taken():
    filled = Filled(random_keys(3), 4)
    children = filled.table.children
    assert filled.tree.capacity[CHILD] == 4
    for room in (3, 5, 64, 100):
        filled.storage.resize({Axis.CHILD: room})
        assert filled.tree.capacity[CHILD] == len(children.edge) == room
        assert children.size[0] == len(children.places)
        assert 2 * len(children.edge) <= len(children.places) <= 4 * len(children.edge)
        assert np.log2(len(children.places)).is_integer()


@pytest.mark.parametrize("room", [200, 4096])
def test_growing_and_shrinking_keep_every_entry(room):
    keys = random_keys(200)
    filled = Filled(keys, 1000, values=2)
    filled.table.children.child[:200] = np.arange(200) + 5
    filled.table.value_sum[:400] = np.arange(400)
    filled.storage.resize({Axis.CHILD: room})
    assert [filled.find(*key) for key in keys] == list(range(200))
    assert filled.table.children.child[:200].tolist() == list(range(5, 205))
    assert filled.table.value_sum[398:400].tolist() == [398.0, 399.0]


def test_memory_is_counted():
    filled = Filled([], 0, values=2)
    empty = filled.storage.bytes
    for room in (10, 64, 1000):
        filled.storage.resize({Axis.CHILD: room})
        taken = filled.storage.bytes - empty
        children = filled.table.children
        grown = (children.edge, children.beside, children.child, children.visits)
        assert taken == (
            sum(array.nbytes for array in (*grown, children.places, filled.table.value_sum))
            - places_for(0) * children.places.itemsize
        )
        assert taken <= room * filled.storage.row_bytes[CHILD]


def test_dropped_entries_are_gone_and_the_others_have_their_new_keys():
    keys = random_keys(100)
    filled = Filled(keys, 128, values=1)
    children = filled.table.children
    children.visits[:100] = np.arange(100)
    filled.table.value_sum[:100] = np.arange(100) / 2
    filled.storage.resize({Axis.NODE: 100})
    filled.tree.used[NODE] = 100
    children.edge[:100] += 1
    children.beside[:100] -= 1
    children.child[:100] = np.arange(100)
    # Every third entry is that of a node that stays; the others are those of node 0.
    owners = np.where(np.arange(100) % 3 == 0, 99, 0)
    filled.storage.keep(np.arange(100) >= 7, owners)
    filled.storage.index_entries()
    assert filled.tree.used[CHILD] == 34
    for entry, number in enumerate(range(0, 100, 3)):
        old_edge, old_beside = keys[number]
        assert filled.find(old_edge, old_beside) == NO_ENTRY
        assert filled.find(old_edge + 1, old_beside - 1) == entry
        assert children.visits[entry] == number
        assert children.child[entry] == max(number - 7, UNEXPANDED)
        assert filled.table.value_sum[entry] == number / 2


def test_a_cleared_table_has_nothing_and_all_its_room():
    keys = random_keys(50)
    filled = Filled(keys, 50)
    filled.storage.clear()
    assert all(filled.find(*key) == NO_ENTRY for key in keys)
    assert filled.tree.used[CHILD] == 0
    assert filled.tree.capacity[CHILD] == 50
    for key in keys:
        add_entry(SimpleNamespace(tree=filled.tree), filled.table.children, *key)
    assert [filled.find(*key) for key in keys] == list(range(50))
