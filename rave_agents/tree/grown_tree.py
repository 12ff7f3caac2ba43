"""A tree and all that belongs to it, growing together inside one memory budget."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.arrays import CHILD, EDGE, GROWING, NODE, TABLE, Axis
from rave_agents.compiler.dispatch import classes_of
from rave_agents.kernel import refutations  # noqa: F401  (it implements hooks)
from rave_agents.kernel.amaf_tables import HRAVE
from rave_agents.kernel.hooks import checks_children, rows_needed
from rave_agents.kernel.proof_numbers import NOBODY, Numbers
from rave_agents.kernel.search import Path, Search, Settings
from rave_agents.kernel.simultaneous import JointMoves
from rave_agents.kernel.solver import Bounds
from rave_agents.kernel.tree import UNEXPANDED, Tree, edge_nodes
from rave_agents.simulate.frame import Frame, Header
from rave_agents.tree.composition import Parts
from rave_agents.tree.storage import (
    Sizes,
    Storage,
    allocated,
    assembled,
    find_records,
    places_for,
    refill,
)

_MEGABYTE = 2**20
_FIRST_NODES = 64

LEAST_GROWTH = 1.01
"""Growth below which the memory counts as full: otherwise the last bytes would be handed out one
small reallocation after the other."""

_Counts = NDArray[np.float64]
"""[4] how many nodes, edges, tables and children."""


class GrownTree:
    """The arrays of a search, and how they grow, shrink and count their memory.

    Args:
        parts: what the search is composed of.
        megabytes: how much memory there is.
        num_players: players of the game.
        num_actions: distinct actions of the game.
        frame: says how many actions a position may have before the frame must grow.
    """

    def __init__(
        self, parts: Parts, *, megabytes: float, num_players: int, num_actions: int, frame: Frame
    ) -> None:
        self.full: bool = False
        """Whether the budget is used up, so that no node may be added."""
        self.parts = parts
        self._megabytes = megabytes
        self._budget = megabytes * _MEGABYTE
        self._game = (num_players, num_actions)
        sizes: Sizes = dict.fromkeys(GROWING, 0)
        sizes |= {Axis.PLACE: places_for(0), Axis.ONE: 1}
        sizes |= {Axis.PLAYER: num_players, Axis.ACTION: num_actions, **_frame_sizes(frame)}
        self._allocate(sizes)
        actions = int(frame.header[Header.ACTION_CAPACITY])
        first = self._counts(actions)
        first[:2] = max(_FIRST_NODES, first[NODE]), max(first[EDGE], 2 * actions)
        if self._cost(first) > self._budget:
            first = self._least(actions)
        self._resize(first)

    def _allocate(self, sizes: Sizes) -> None:
        self.tree: Tree = allocated(Tree, sizes)
        self.path: Path = allocated(Path, sizes)
        self.running: Parts = Parts(*(assembled(part, sizes) for part in self.parts))
        """The parts with their arrays."""
        self.storage: Storage = Storage(self.tree, (self.path, *self.running), sizes)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the arrays, and what is in the arrays.

        Arrays that are pickled themselves borrow their memory from the pickle, and cannot grow.
        """
        if not self.storage.whole:
            self.storage.resize({})
        arrays = ("tree", "path", "running", "storage")
        state = {name: value for name, value in vars(self).items() if name not in arrays}
        return state | {"sizes": self.storage.sizes, "values": self.storage.values()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Allocate the arrays anew."""
        sizes, values = state.pop("sizes"), state.pop("values")
        vars(self).update(state)
        self._allocate(sizes)
        for array, value in zip(self.storage.values(), values, strict=True):
            array[:] = value

    def fits(self, parts: Parts) -> bool:
        """Whether it keeps what a search of these parts reads and writes."""
        classes, own = tuple(classes_of(parts)), tuple(classes_of(self.parts))
        return classes == own and parts == self.parts  # Tuples do not compare their classes.

    def can_begin_anew(
        self, parts: Parts, *, megabytes: float, num_players: int, num_actions: int
    ) -> bool:
        """Whether a search of another position can use it, once it is cleared."""
        game = (num_players, num_actions)
        return self.fits(parts) and game == self._game and megabytes == self._megabytes

    @property
    def has_root(self) -> bool:
        """Whether the root has its node yet."""
        return bool(self.tree.used[NODE] > 0)

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays, used rows and free ones."""
        return self.storage.bytes

    def begin(self, frame: Frame) -> None:
        """Make room for what goes with a frame, and forget what playouts have shown."""
        wanted = _frame_sizes(frame)
        short = any(self.storage.sizes[axis] < size for axis, size in wanted.items())
        if short or not self.storage.whole:
            self.storage.resize(wanted)
        refill(self.running.playouts)

    def fit_frame(self, frame: Frame) -> None:
        """Make room for what goes with a larger frame."""
        self.storage.resize(_frame_sizes(frame))

    def grow(self, actions: int) -> None:
        """Make room for one more position with so many actions, or set ``full``."""
        used = self._counts(actions)
        wanted = self._limited(np.maximum(self.tree.capacity, 2 * used))
        if self._cost(wanted) > self._budget:
            growth = self._budget / self._cost(used)
            if growth < LEAST_GROWTH:
                if self.has_root:
                    self.full = True
                    return
                wanted = self._least(actions)
            else:
                wanted = self._limited(np.floor(used * growth))
        self._resize(wanted)

    def is_refuted(self, node: int) -> bool:
        """Whether a node may lack edges, since one of them was known to win and to be enough."""
        solver = getattr(self.running.proofs, "solver", None)
        return bool(
            isinstance(solver, Bounds)
            and self.tree.node_edge_count[node] == 1
            and solver.distance[node] == 1
            and checks_children(self.running.proofs)
        )

    def keep(self, node: int) -> None:
        """Make a node the root, and drop all that is not below it."""
        tree, moves = self.tree, self.running.moves
        nodes, edges, tables, children = (int(count) for count in tree.used)
        edge_node = edge_nodes(tree)
        child = tree.edge_child[:edges]
        ancestor = np.arange(nodes)
        ancestor[child[child != UNEXPANDED]] = edge_node[child != UNEXPANDED]
        if isinstance(moves, JointMoves):
            followed = np.flatnonzero(moves.node_followers[:nodes] > 0)
            ancestor[followed + 1] = followed
            leading = np.flatnonzero(moves.children.child[:children] >= 0)
            reached = moves.children.child[leading]
            ancestor[reached] = edge_node[moves.children.edge[leading]]
        kept = _below(ancestor, node)
        rows = {Axis.NODE: _new_rows(kept), Axis.EDGE: _new_rows(kept[edge_node])}
        owners = getattr(self.running.amaf, "owner", np.zeros(0, np.int32))[:tables]
        rows[Axis.TABLE] = _new_rows(kept[owners])
        rows[Axis.CHILD] = np.zeros(0, np.int64)
        if isinstance(moves, JointMoves):
            rows[Axis.CHILD] = _rename_entries(moves, rows[Axis.EDGE], children)
        self.storage.keep(rows)
        for numbers in find_records(self.running.proofs, Numbers):
            numbers.viewer[0] = NOBODY  # The next search may be another player's.
        counts = tree.node_edge_count[: tree.used[NODE]]
        tree.node_first_edge[: len(counts)] = np.cumsum(counts) - counts
        self.full = False

    def clear(self) -> None:
        """Drop all nodes, and keep the memory."""
        self.storage.clear()
        self.full = False

    def search(self, **others: Any) -> Search:
        """The record that the loop works on; ``others`` are its frame, stream, settings, range."""
        return Search(tree=self.tree, path=self.path, **others, **self.running._asdict())

    def _counts(self, actions: int) -> _Counts:
        """What is used with one more position of so many actions."""
        nothing: Any = None
        settings = _settings_for_counting(self._game)
        search = Search(self.tree, nothing, nothing, nothing, settings, nothing, *self.running)
        needed = [
            sum(
                rows_needed(part, search, axis, actions)
                for part in (self.running.amaf, self.running.proofs, self.running.moves)
            )
            for axis in range(len(GROWING))
        ]
        needed[NODE] += 1
        needed[EDGE] += actions
        needed[TABLE] = 1
        return self._limited(self.tree.used + np.array(needed, np.float64))

    def _limited(self, counts: _Counts) -> _Counts:
        """Without tables that there never are."""
        counts = np.asarray(counts, np.float64)
        if self.storage.row_bytes[TABLE] == 0:
            counts[TABLE] = 0
        elif isinstance(self.parts.amaf, HRAVE):
            counts[TABLE] = min(counts[TABLE], 1)
        if self.storage.row_bytes[CHILD] == 0:
            counts[CHILD] = 0
        return counts

    def _least(self, actions: int) -> _Counts:
        """Room for the root, which has its node whatever that takes, and for a table if it fits."""
        least = self._counts(actions)
        if self._cost(least) > self._budget:
            least[TABLE] = 0
        return least

    def _cost(self, counts: _Counts) -> float:
        return float(counts @ self.storage.row_bytes)

    def _resize(self, counts: _Counts) -> None:
        self.storage.resize({axis: int(counts[axis]) for axis in GROWING})


def _frame_sizes(frame: Frame) -> Sizes:
    """The rows of what goes with a frame."""
    path = int(frame.header[Header.PATH_CAPACITY]) + int(frame.header[Header.NUM_PLAYERS])
    return {Axis.PATH: path, Axis.MOVE: path + int(frame.header[Header.MOVE_CAPACITY])}


def _settings_for_counting(game: tuple[int, int]) -> Settings:
    return Settings(*game, 0, 0.0, 0.0, 0.0, 0.0, 0, True, True, 0, 0)


def _below(ancestor: NDArray[np.int64], root: int) -> NDArray[np.bool_]:
    """Which nodes are the root or below it, given what is above each."""
    kept: NDArray[np.bool_] = np.arange(len(ancestor)) == root
    while True:  # An ancestor's ancestor is twice as far, so that few rounds do.
        more = kept | kept[ancestor]
        if np.array_equal(more, kept):
            return kept
        kept, ancestor = more, ancestor[ancestor]


def _new_rows(kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The new row of each, negative where it is dropped."""
    return np.where(kept, np.cumsum(kept) - 1, -1)


def _rename_entries(
    moves: JointMoves, edge_rows: NDArray[np.int64], count: int
) -> NDArray[np.int64]:
    """Bring the keys of joint actions to the new rows of edges; returns those of the entries."""
    children = moves.children
    edge = edge_rows[children.edge[:count]]
    entries = _new_rows(edge >= 0)
    before = children.beside[:count]
    children.edge[:count] = edge
    children.beside[:count] = np.where(
        before >= 0, edge_rows[np.maximum(before, 0)], -1 - entries[np.maximum(-1 - before, 0)]
    )
    return entries
