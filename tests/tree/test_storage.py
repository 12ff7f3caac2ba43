"""The arrays of parts: allocated, grown, kept, cleared and counted by their declarations."""

from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest
from helpers.trees import find_records, interrupt_resize

from rave_agents.compiler.arrays import EDGE, GROWING, LANES, NODE, TABLE, Array, Axis, Rows, one
from rave_agents.compiler.runtime import RUNS_AS, runs_as
from rave_agents.kernel.tree import Tree
from rave_agents.tree.storage import (
    Storage,
    allocated,
    assembled,
    declared_arrays,
    places_for,
)


class Inner(NamedTuple):
    marks: Annotated[Array, Rows(Axis.NODE, np.int8, (Axis.PLAYER, Axis.ACTION), fill=7)]


class Part(NamedTuple):
    constant: float = 2.5


class Running(NamedTuple):
    options: Part
    table: Annotated[Array, Rows(Axis.NODE, np.int32, fill=-1, points_to=Axis.TABLE)]
    owner: Annotated[Array, Rows(Axis.TABLE, np.int32, points_to=Axis.NODE)]
    pair: Annotated[Array, Rows(Axis.EDGE, np.float64, length=2)]
    counts: Annotated[Array, one(np.int64, 3, fill=4)]
    inner: Inner


RUNS_AS[Part] = Running
SIZES = dict.fromkeys(GROWING, 0) | {
    Axis.PLACE: places_for(0),
    Axis.ONE: 1,
    Axis.PLAYER: 2,
    Axis.ACTION: 3,
}


def stored(nodes=4, edges=5, tables=3):
    tree = allocated(Tree, SIZES)
    running = assembled(Part(), SIZES)
    storage = Storage(tree, (running,), SIZES)
    storage.resize({Axis.NODE: nodes, Axis.EDGE: edges, Axis.TABLE: tables})
    return storage, tree, running


def test_a_part_is_assembled_with_its_arrays_and_those_of_inner_records():
    storage, _, running = stored()
    assert running.options == Part()
    lengths = {"table": 4, "owner": 3, "pair": 10, "counts": 3}
    assert {name: len(getattr(running, name)) for name in lengths} == lengths
    assert running.inner.marks.tolist() == [7] * (4 * 2 * 3)
    assert running.table.dtype == np.int32
    assert running.counts.tolist() == [4, 4, 4]
    assert [type(record) for record in find_records(running, Inner)] == [Inner]
    storage.resize({Axis.EDGE: 5 + LANES})
    assert storage.tree.capacity.tolist() == [4, 5, 3, 0]


def test_there_is_room_for_all_edges_but_some_spare_ones():
    storage, tree, _ = stored(edges=20)
    assert tree.capacity.tolist() == [4, 20 - LANES, 3, 0]
    storage.resize({Axis.EDGE: LANES - 1})
    assert tree.capacity.tolist() == [4, 0, 3, 0]


def test_a_part_without_arrays_runs_as_itself():
    class Plain(NamedTuple):
        constant: float = 1.0

    assert assembled(Plain(3.0), SIZES) == Plain(3.0)
    with pytest.raises(KeyError):
        RUNS_AS[Plain]
    assert runs_as(Plain)(Running) is Running
    assert RUNS_AS.pop(Plain) is Running


def test_items_that_are_rows_have_32_bits():
    class Wide(NamedTuple):
        owner: Annotated[Array, Rows(Axis.TABLE, np.int64, points_to=Axis.NODE)]

    with pytest.raises(TypeError, match=r"Wide.owner points to rows.*np.int32: got .*int64"):
        allocated(Wide, SIZES)


def test_resizing_keeps_what_there_is_and_fills_the_new_rows():
    storage, tree, running = stored()
    tree.used[:3] = 2, 3, 1
    running.table[:] = [0, -1, 5, 5]
    running.pair[:] = np.arange(10)
    storage.resize({Axis.NODE: 6, Axis.EDGE: 3})
    assert running.table.tolist() == [0, -1, 5, 5, -1, -1]
    assert running.pair.tolist() == [0, 1, 2, 3, 4, 5]
    assert running.inner.marks.tolist() == [7] * (6 * 2 * 3)
    assert len(tree.node_visits) == 6
    assert len(tree.edge_visits) == 3
    storage.resize({Axis.EDGE: 3 + LANES})
    assert tree.capacity.tolist() == [6, 3, 3, 0]


def test_keeping_drops_rows_and_renames_what_points_to_them():
    storage, tree, running = stored()
    tree.used[:3] = 4, 5, 3
    tree.node_first_edge[:], tree.node_edge_count[:] = [3, 1, 4, 5], [1, 2, 1, 0]
    running.table[:] = [2, -1, 0, 1]
    running.owner[:] = [2, 3, 0]
    running.pair[:] = np.arange(10)
    running.inner.marks[:] = np.repeat(np.arange(4), 6)
    tree.edge_child[:5] = [1, 2, 3, -1, -1]
    new = storage.keep(np.array([False, True, True, True]), np.zeros(0, np.int32))
    assert [rows.tolist() for rows in new] == [[-1, 0, 1, 2], [-1, 0, 1, -1, 2], [0, 1, -1], []]
    assert tree.used.tolist() == [3, 3, 2, 0]
    assert tree.node_first_edge.tolist() == [0, 2, 3, 0]
    assert running.table.tolist() == [-1, 0, 1, -1]  # The last row is free, and filled.
    assert running.owner.tolist() == [1, 2, 0]
    assert running.pair.tolist() == [2, 3, 4, 5, 8, 9, 0, 0, 0, 0]
    assert running.inner.marks.tolist() == [1] * 6 + [2] * 6 + [3] * 6 + [7] * 6
    assert tree.edge_child.tolist() == [1, 2, -1, 0, 0]
    assert running.counts.tolist() == [4, 4, 4]


def test_clearing_fills_what_was_in_use_and_keeps_the_room():
    storage, tree, running = stored(edges=5 + LANES)
    tree.used[:3] = 4, 5, 3
    running.table[:] = 1
    running.pair[:] = 3.0
    storage.clear()
    assert tree.used.tolist() == [0, 0, 0, 0]
    assert tree.capacity.tolist() == [4, 5, 3, 0]
    assert running.table.tolist() == [-1] * 4
    assert running.pair[:10].tolist() == [0.0] * 10


def test_bytes_count_only_what_grows():
    storage, _, _ = stored()
    own = 4 * (4 + 6) + 3 * 4 + 5 * 16
    shared = 4 * (1 + 4 + 4 + 4) + 5 * (4 + 4 + 4 + 4 + 8)
    assert storage.bytes == own + shared
    assert storage.row_bytes.tolist() == [13 + 10, 24 + 16, 4, 0]
    assert storage.bytes == storage.row_bytes @ [4, 5, 3, 0]


@pytest.mark.parametrize("entries", [0, 1, 2, 3, 64, 65, 1000])
def test_places_are_a_power_of_two_and_at_least_twice_the_entries(entries):
    places = places_for(entries)
    assert places & (places - 1) == 0
    assert max(2, 2 * entries) <= places <= max(2, 4 * entries)


@pytest.mark.parametrize("nodes", [3, 40])
def test_interrupted_resizing_never_promises_room_that_is_not_there(nodes):
    """Ctrl-C after any of the arrays; another resizing mends it."""
    count = len(stored()[0]._arrays)
    interrupted = 0
    for place in range(count):
        storage, tree, running = stored(nodes=10, edges=10)
        tree.used[:2] = 2, 2
        running.table[:2] = 1
        sizes = {Axis.NODE: nodes, Axis.EDGE: nodes}
        interrupted += interrupt_resize(storage, place, lambda sizes=sizes: storage.resize(sizes))  # noqa: B023
        for record in (tree, running):
            for array, rows in declared_arrays(record):
                if rows.axis in GROWING:
                    items = {Axis.PLAYER: 2, Axis.ACTION: 3}
                    width = rows.length * int(np.prod([items[axis] for axis in rows.inner]))
                    assert len(array) >= tree.capacity[rows.axis] * width
        storage.resize({})
        assert storage.whole
        assert running.table[:2].tolist() == [1, 1]
        assert set(running.table[2:].tolist()) <= {-1}
        assert set(running.inner.marks[12:].tolist()) <= {7}
    assert interrupted > 8


def test_every_array_of_a_record_is_declared():
    _, tree, running = stored()
    declared: list[Any] = [array for array, _ in declared_arrays(running)]
    assert len(declared) == 5
    assert len(list(declared_arrays(tree))) == len(tree)
    assert (NODE, EDGE, TABLE) == (0, 1, 2)
