"""Removing nodes of a tree, together with their edges, AMAF tables and entries of children.

Used to keep a subtree when the root moves on, and to forget the least visited leaves when the
memory is full. The edge to a forgotten node keeps its visits and values: the position becomes a
leaf again, and the next simulation that reaches it adds its node.
"""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.arrays import CHILD, EDGE, NODE, TABLE, Array
from rave_agents.compiler.dispatch import records_of
from rave_agents.kernel.declarations import on_forgotten, proven_nodes
from rave_agents.kernel.moves.alternating import (
    Alternating,
    entry_nodes,
    has_several_parents,
    linked_entries,
    rename_entries,
    set_ancestors,
)
from rave_agents.kernel.players import TERMINAL
from rave_agents.kernel.tree import ROOT, UNEXPANDED, Tree
from rave_agents.tree.storage import Storage

MOST_TOLD_APART = 2**16
"""Nodes with at least this many visits are treated as equally visited."""

Nodes = NDArray[np.bool_]
"""A set of nodes, as a boolean per node in use."""


class WaitingPath(NamedTuple):
    """Rows on the path of a waiting simulation, as views of the arrays that hold them."""

    nodes: Array
    edges: Array
    entries: Array
    positions: Array
    """``Frame.path_nodes``."""


class Pruning:
    """A tree's nodes with their edges, tables and entries, before some are dropped.

    Args:
        tree: the tree.
        storage: all of its arrays.
        running: its parts, with their arrays.
    """

    def __init__(self, tree: Tree, storage: Storage, running: Any) -> None:
        self._tree, self._storage, self._running = tree, storage, running
        nodes, _, tables, _ = tree.used.tolist()
        self.count: int = nodes
        """Nodes in use."""
        self._table_owners: Array = storage.owners[:tables]
        self._kind = type(running.moves)

    @functools.cached_property
    def _owners(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The nodes with edges, and their first edges in ascending order."""
        tree = self._tree
        owners = tree.node_edge_count[: self.count].nonzero()[0].astype(np.int32)
        firsts = tree.node_first_edge[owners]
        if (firsts[1:] < firsts[:-1]).any():  # Edges added after expansion lie behind all others.
            order = np.argsort(firsts, kind="stable")
            owners, firsts = owners[order], firsts[order]
        return owners, firsts

    @functools.cached_property
    def _entry_owners(self) -> NDArray[np.int32]:
        """The node to which each entry of the table of children belongs."""
        if self._kind not in entry_nodes.implementations:
            return np.zeros(0, np.int32)
        entries = int(self._tree.used[CHILD])
        return entry_nodes(self._running.moves, entries, self._owners_of)

    @functools.cached_property
    def _expanded(self) -> NDArray[np.int64]:
        """The edges with a child node."""
        children = self._tree.edge_child[: self._tree.used[EDGE]]
        return np.flatnonzero(children != UNEXPANDED)

    @functools.cached_property
    def parent(self) -> NDArray[np.int32]:
        """Each node's parent; the root's is itself."""
        tree, moves = self._tree, self._running.moves
        parent = np.arange(self.count, dtype=np.int32)
        parent[tree.edge_child[self._expanded]] = self._owners_of(self._expanded)
        if len(self._entry_owners) > 0 and self._kind not in has_several_parents.implementations:
            child = moves.children.child[: len(self._entry_owners)]
            parent[child[child >= 0]] = self._entry_owners[child >= 0]
        if self._kind in set_ancestors.implementations:
            set_ancestors(moves, tree, parent)
        return parent

    def _owners_of(self, edges: NDArray[Any]) -> NDArray[np.int32]:
        """The nodes to which edges belong: the last one whose first edge is not behind."""
        owners, firsts = self._owners
        return owners[firsts.searchsorted(edges, side="right") - 1]

    def below(self, marked: Nodes) -> Nodes:
        """The marked nodes, and all nodes below them."""
        ancestor, found, before, count = self.parent, marked, -1, int(marked.sum())
        while count != before:  # Pointer doubling: logarithmic in the depth.
            found, ancestor = found | found[ancestor], ancestor[ancestor]
            before, count = count, int(np.count_nonzero(found))
        return found

    def within(self, marked: Nodes) -> Nodes:
        """The marked nodes all of whose ancestors are marked."""
        return ~self.below(~marked)

    def after(self, marked: Nodes) -> Nodes:
        """The nodes whose parent is marked."""
        found: Nodes = marked[self.parent]
        return found

    def most_visited(self, most_bytes: float, pinned: Sequence[int]) -> tuple[Nodes, Nodes]:
        """The nodes that stay when the least visited leaves go, and those that lose their edges.

        A proven or terminal position stays as long as its parent, whose proof needs it; its subtree
        is no longer needed.

        Args:
            most_bytes: approximate memory for them.
            pinned: nodes that stay in any case, with all of their ancestors.
        """
        tree, nodes, row_bytes = self._tree, self.count, self._storage.row_bytes
        settled = proven_nodes(self._running.proofs, nodes)
        settled = settled | (tree.node_player[:nodes] == TERMINAL)
        fixed = [ROOT, *pinned]
        settled[fixed] = False
        gone = ~self.within(~settled)
        ends = settled & self.after(~gone)
        bytes_of = row_bytes[EDGE] * tree.node_edge_count[:nodes] + row_bytes[NODE]
        bytes_of += row_bytes[NODE] * np.bincount(self.parent[ends], minlength=nodes)
        for owners, axis in (self._table_owners, TABLE), (self._entry_owners, CHILD):
            if len(owners) > 0:
                bytes_of += row_bytes[axis] * np.bincount(owners, minlength=nodes)
        bytes_of[gone] = 0.0
        visits = np.minimum(tree.node_visits[:nodes], MOST_TOLD_APART)
        stays = most_that_fit(visits, bytes_of, most_bytes) & ~gone
        stays[fixed] = True
        stays = self.within(stays)
        ends &= self.after(stays)
        return stays | ends, ends

    def forget(self, stays: Nodes, ends: Nodes, paths: Sequence[WaitingPath]) -> None:
        """Drop all nodes but those of ``most_visited``; waiting simulations get new rows."""
        child = self._tree.edge_child[self._expanded]
        # Edges of nodes that stay whose child goes.
        cut = self._expanded[stays[self._owners_of(self._expanded)] & ~stays[child]]
        for part in records_of(self._running):
            if type(part) in on_forgotten.implementations:
                on_forgotten(part, cut)
        self._tree.node_edge_count[: self.count][ends] = 0
        self.keep(stays, paths)

    def _owners_of_entries(self, stays: Nodes) -> NDArray[np.int32]:
        """The node with which each entry stays or goes."""
        return self._entry_owners

    def keep_below(self, node: int) -> None:
        """Keep a node, which becomes the root, and all nodes below it."""
        if self._kind is Alternating:
            self._storage.keep_below(node)
            return
        stays = np.zeros(self.count, np.bool_)
        stays[node] = True
        self.keep(self.below(stays))

    def keep(self, stays: Nodes, paths: Sequence[WaitingPath] = ()) -> None:
        """Drop all other nodes. Waiting simulations get the new rows of their paths."""
        new = self._storage.keep(stays, self._owners_of_entries(stays))
        if len(self._entry_owners) > 0:
            rename_entries(self._running.moves, int(self._tree.used[CHILD]), new)
            self._storage.index_entries()
        for path in paths:
            _rename(path.nodes, new.nodes)
            _rename(path.positions, new.nodes)
            _rename(path.edges, new.edges)
            _rename(path.entries, new.entries)


class SharedPruning(Pruning):
    """Pruning of a graph: a node stays as long as one of its incoming edges does."""

    def below(self, marked: Nodes) -> Nodes:
        """The marked nodes, and all nodes below them."""
        return self._reached(np.flatnonzero(marked), np.ones(self.count, np.bool_))

    def within(self, marked: Nodes) -> Nodes:
        """The marked nodes that a path of marked nodes connects to the root."""
        start = np.flatnonzero(marked[ROOT : ROOT + 1])
        return self._reached(start, marked)

    def after(self, marked: Nodes) -> Nodes:
        """The children of marked nodes."""
        found = np.zeros(self.count, np.bool_)
        child = self._tree.edge_child[self._expanded]
        found[child[marked[self._owners_of(self._expanded)]]] = True
        return found

    def _reached(self, start: NDArray[Any], through: Nodes) -> Nodes:
        """The nodes of ``start``, and those reachable from them within ``through``."""
        tree, reached, nodes = self._tree, np.zeros(self.count, np.bool_), start
        while len(nodes) > 0:
            reached[nodes] = True
            firsts = tree.node_first_edge[nodes]
            # All edges of all nodes of this level at once.
            edges = _concatenated(firsts, firsts + tree.node_edge_count[nodes])
            children = tree.edge_child[edges]
            children = children[children != UNEXPANDED]
            nodes = np.unique(children[through[children] & ~reached[children]])
        return reached


class LinkedPruning(Pruning):
    """Pruning of information sets: a node stays as long as a link leads to it."""

    @functools.cached_property
    def _links(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The nodes from which links lead, in ascending order, and those to which they lead."""
        moves = self._running.moves
        after = moves.children.child[linked_entries(moves, len(self._entry_owners))]
        rows = np.flatnonzero(after != UNEXPANDED)
        rows = rows[np.argsort(self._entry_owners[rows], kind="stable")]
        return self._entry_owners[rows], after[rows]

    def below(self, marked: Nodes) -> Nodes:
        """The marked nodes, and all nodes that links from them reach."""
        return self._reached(marked, np.ones(self.count, np.bool_))

    def within(self, marked: Nodes) -> Nodes:
        """The marked nodes that links between marked nodes connect to the root."""
        start = np.zeros(self.count, np.bool_)
        start[ROOT] = marked[ROOT]
        return self._reached(start, marked)

    def after(self, marked: Nodes) -> Nodes:
        """The nodes to which links from marked nodes lead."""
        found = np.zeros(self.count, np.bool_)
        before, after = self._links
        found[after[marked[before]]] = True
        return found

    def _reached(self, start: Nodes, through: Nodes) -> Nodes:
        """The nodes of ``start``, and those that links between nodes of ``through`` reach."""
        before, after = self._links
        ends = np.searchsorted(before, np.arange(self.count + 1))
        reached, nodes = start.copy(), np.flatnonzero(start)
        while len(nodes) > 0:
            links = after[_concatenated(ends[nodes], ends[nodes + 1])]
            nodes = np.unique(links[through[links] & ~reached[links]])
            reached[nodes] = True
        return reached

    def _owners_of_entries(self, stays: Nodes) -> NDArray[np.int32]:
        """For an entry, a node that stays and has a link to it, if there is one."""
        owners = self._entry_owners.copy()
        rows = np.flatnonzero(stays[owners])
        owners[linked_entries(self._running.moves, len(owners))[rows]] = self._entry_owners[rows]
        return owners


def _concatenated(firsts: NDArray[Any], ends: NDArray[Any]) -> NDArray[Any]:
    """The numbers of several ranges, one range after the other."""
    counts = ends - firsts
    behind = np.cumsum(counts)
    return np.repeat(firsts - (behind - counts), counts) + np.arange(counts.sum())


def _rename(rows: Array, new_rows: NDArray[Any]) -> None:
    """Replace old rows by new ones; other numbers (sentinels) stay."""
    known = (rows >= 0) & (rows < len(new_rows))
    rows[known] = new_rows[rows[known]]


def most_that_fit(
    visits: NDArray[np.int32], bytes_of: NDArray[np.float64], most_bytes: float
) -> Nodes:
    """The most visited nodes that fit into ``most_bytes`` together; among equals the latest."""
    # sums[v]: bytes of all nodes with at least v visits.
    sums = np.cumsum(np.bincount(visits, bytes_of)[::-1])[::-1]
    least = len(sums) - int(np.searchsorted(sums[::-1], most_bytes, side="right"))
    fits: Nodes = visits >= least
    # Fill the rest with nodes of the next lower count, latest rows first.
    equals = np.flatnonzero(visits == least - 1)[::-1]
    left = most_bytes - (sums[least] if least < len(sums) else 0.0)
    fits[equals[np.cumsum(bytes_of[equals]) <= left]] = True
    return fits
