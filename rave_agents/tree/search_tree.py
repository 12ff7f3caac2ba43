"""The tree of a search: its arrays and all that belongs to them, inside one memory budget."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.arrays import CHILD, EDGE, GROWING, LANES, NODE, TABLE, Axis, Kept
from rave_agents.compiler.dispatch import classes_of, records_of
from rave_agents.compiler.signals import uninterrupted
from rave_agents.game.game_state import GameState
from rave_agents.kernel.backup import edge_sums
from rave_agents.kernel.declarations import add_actions, begin_search, most_rows, on_rerooted
from rave_agents.kernel.hooks import rows_needed
from rave_agents.kernel.moves.alternating import followers, has_several_parents
from rave_agents.kernel.proofs import refutations  # noqa: F401  (it implements hooks)
from rave_agents.kernel.proofs.part import lacks_edges
from rave_agents.kernel.proofs.report import ProofArrays, proof_arrays
from rave_agents.kernel.search import Path, Search, Settings, neutral_settings
from rave_agents.kernel.tree import ROOT, UNEXPANDED, Tree
from rave_agents.kernel.utilities import HIGH, LOW, GameRange
from rave_agents.simulate.action_numbers import NUMBER_BYTES, ActionNumbers
from rave_agents.simulate.frame import Frame, Header
from rave_agents.tree.composition import Parts, SearchedGame
from rave_agents.tree.joint_positions import find_joint_child
from rave_agents.tree.pruning import Pruning, SharedPruning, WaitingPath
from rave_agents.tree.root_position import RootPosition
from rave_agents.tree.storage import (
    Sizes,
    Storage,
    allocated,
    assembled,
    places_for,
)

_MEGABYTE = 2**20
_FIRST_NODES = 64

LEAST_GROWTH = 1.01
"""Growth below which the memory counts as full: otherwise the last bytes would be handed out one
small reallocation after the other."""

LARGE_TREE, LARGE_GROWTH = 2**24, 1.25
"""Bytes from which on a tree grows by a quarter, no longer to twice its size: free rows of a large
tree take much memory, and moving the others little time."""

KEPT_SHARE = 0.5
"""The share of the memory that stays in use when the least visited leaves are forgotten. Less would
be kept, and more would be kept in vain and moved more often."""

LEAST_NODES, LEAST_SHARE = 64, 0.1
"""Nodes that a tree must have for some to be forgotten, and the share of them that makes it worth
the time; else the tree stays as it is."""

SECONDS_TO_FORGET = 0.3 / 2**30
"""Seconds that it may take for each byte of a tree."""

_Counts = NDArray[np.float64]
"""[4] how many nodes, edges, tables and children."""


class SearchTree:
    """The tree of a search: its arrays, its root position and what its values are scaled by.

    It grows, shrinks and counts its memory. The arrays are made once, and reallocated in place.

    Args:
        root: the root position, which the tree shares and never changes.
        megabytes: how much memory there is.
        frame: says how many actions a position may have before the frame must grow.
        numbers: what the provider gives the game's actions, which stand in the tree in their place;
            None where it tells the actions themselves.
    """

    def __init__(
        self,
        root: RootPosition,
        *,
        megabytes: float,
        frame: Frame,
        numbers: ActionNumbers | None = None,
    ) -> None:
        self.numbers = numbers
        """The numbers that stand for actions; None where they stand for themselves."""
        self.root = root
        """The root position; who plays on in it clones it."""
        game = root.game
        self.utility_range = np.array([math.inf, -math.inf])
        """The utilities that are 0 and 1 on the scale of values, as far as they are known."""
        self.noised = False
        """True if the root's priors have their noise."""
        self.full: bool = False
        """True if the budget is used up, so that no node may be added."""
        self.forgotten: int = 0
        """Nodes that were forgotten to make room for others, below this root."""
        self.parts = game.parts
        """The parts of the search."""
        self._is_late = False
        self._megabytes = megabytes
        self.num_players = game.num_players
        """Players of the game."""
        self._game_actions = game.num_actions
        self.num_actions = game.num_actions if numbers is None else numbers.capacity
        """Rows of each player in tables of actions."""
        sizes: Sizes = dict.fromkeys(GROWING, 0)
        sizes |= {Axis.PLACE: places_for(0), Axis.ONE: 1, **_frame_sizes(frame)}
        sizes |= {Axis.PLAYER: game.num_players, Axis.ACTION: self.num_actions}
        self._frame = frame
        self._allocate(sizes)
        if numbers is not None and not self.storage.has_actions:
            numbers.most_of_playouts = 0  # Nothing is kept of them.
            numbers.clear()
        actions = int(frame.header[Header.ACTION_CAPACITY])
        first = self._counts(actions)
        first[:2] = max(_FIRST_NODES, first[NODE]), max(first[EDGE], 2 * actions)
        if self._cost(first) > self._budget:
            first = self._least(actions)
        self._resize(first)

    def _allocate(self, sizes: Sizes) -> None:
        self._settings: Settings | None = None
        self.arrays: Tree = allocated(Tree, sizes)
        """The statistics of nodes and edges; values are scaled to [0, 1]."""
        self.path: Path = allocated(Path, sizes)
        """The way of the simulation that runs, and the count of all."""
        self.running: Parts = Parts(*(assembled(part, sizes) for part in self.parts))
        """The parts with their arrays."""
        self.records: tuple[Any, ...] = tuple(records_of(self.running))
        """The parts as they run, and the records in them."""
        self.joint: bool = type(self.running.moves) in followers.implementations
        """True if several players may move at a position."""
        shared = type(self.running.moves) in has_several_parents.implementations
        self._pruning: type[Pruning] = SharedPruning if shared else Pruning
        self.proves: bool = type(self.running.proofs) in proof_arrays.implementations
        """True if what is proven is kept."""
        self.has_plain_sums: bool = type(self.running.backup) in edge_sums.implementations
        """True if the sums of edges' values are those of their simulations."""
        self.storage: Storage = Storage(self.arrays, (self.path, *self.running), sizes)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the arrays, and the values in them.

        Arrays that are pickled themselves borrow their memory from the pickle, and cannot grow.
        """
        self.mend()
        arrays = ("arrays", "path", "running", "records", "storage")
        state = {name: value for name, value in vars(self).items() if name not in arrays}
        return state | {"sizes": self.storage.sizes, "values": self.storage.values()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Allocate the arrays again, and fill them."""
        sizes, values = state.pop("sizes"), state.pop("values")
        vars(self).update(state)
        self._allocate(sizes)
        for array, value in zip(self.storage.values(), values, strict=True):
            array[:] = value

    def fits(self, parts: Parts) -> bool:
        """True if it keeps all arrays that a search of these parts reads and writes."""
        if parts is self.parts:
            return True
        classes, own = tuple(classes_of(parts)), tuple(classes_of(self.parts))
        return classes == own and parts == self.parts  # Tuples do not compare their classes.

    def can_begin_anew(self, game: SearchedGame, megabytes: float) -> bool:
        """True if a search of another position can use it, once it is cleared."""
        same = (game.num_players, game.num_actions) == (self.num_players, self._game_actions)
        return self.fits(game.parts) and same and megabytes == self._megabytes

    @property
    def has_root(self) -> bool:
        """True once the root has its node."""
        return bool(self.arrays.used[NODE] > 0)

    @property
    def state(self) -> GameState:
        """The position at the root; who plays on in it clones it."""
        return self.root.state

    @property
    def player(self) -> int:
        """The player whose moves are looked at there."""
        return self.root.player

    @property
    def low(self) -> float:
        """The utility that is 0 on the scale of values, ``inf`` if none is known yet."""
        return float(self.utility_range[LOW])

    @property
    def high(self) -> float:
        """The utility that is 1 on that scale, ``-inf`` likewise."""
        return float(self.utility_range[HIGH])

    @property
    def amaf(self) -> Any:
        """The AMAF statistics."""
        return self.running.amaf

    @property
    def moves(self) -> Any:
        """The arrays beside nodes and edges for the order of moves."""
        return self.running.moves

    @property
    def proofs(self) -> ProofArrays:
        """The proofs of the nodes."""
        return proof_arrays(self.running.proofs, self.num_players)

    def mend(self) -> None:
        """Give all arrays their size, if an exception came while they were resized."""
        if not self.storage.whole:
            self.storage.resize({})

    def begin(self, frame: Frame, simulations: float, random: np.random.Generator) -> None:
        """Begin a search of so many simulations: make room for what goes with its frame.

        Args:
            frame: the buffers shared with the provider.
            simulations: those of the search; infinity for no limit.
            random: the generator that the parts' noise is drawn from.
        """
        if frame is not self._frame or not self.storage.whole:
            self.fit_frame(frame)
        if self._is_late:
            self.full = self._is_late = False
        self.storage.fill(Kept.SEARCH)
        for part in self.records:
            if type(part) in begin_search.implementations:
                begin_search(part, self.search(), simulations, random)

    def fit_frame(self, frame: Frame) -> None:
        """Make room for what goes with another frame."""
        wanted = _frame_sizes(frame)
        short = any(self.storage.sizes[axis] < size for axis, size in wanted.items())
        if short or not self.storage.whole:
            self.storage.resize(wanted)
        self._frame = frame

    def reserve(self, nodes: int, actions: int) -> None:
        """Make room for some more nodes, if that is no great part of the memory.

        What is known to be needed is so allocated once, and not in several steps. Below a node with
        so many actions there are up to half as many again.
        """
        largest = int(self._frame.header[Header.ACTION_CAPACITY])
        more = np.array([nodes + 1, 1.5 * nodes * actions + largest, 0, 0], np.float64)
        wanted = np.maximum(self.arrays.capacity, self.arrays.used + more)
        if (wanted > self.arrays.capacity).any() and 16 * self._cost(wanted) <= self._budget:
            self._resize(wanted)

    def grow(
        self, actions: int, paths: Sequence[WaitingPath] = (), seconds: float = math.inf
    ) -> bool:
        """Make room for one more position with these actions, or set ``full``.

        Where the memory is used up, the least visited leaves are forgotten.

        Args:
            actions: of the position.
            paths: of simulations that wait meanwhile.
            seconds: the time left; if it may be too short to forget anything, the tree stays
                ``full`` until the next search begins.

        Returns:
            Whether nodes have other rows now.
        """
        used = self._counts(actions)
        growth = 2.0 if self._cost(used) < LARGE_TREE else LARGE_GROWTH
        wanted = self._limited(np.maximum(self.arrays.capacity, np.ceil(growth * used)))
        if self._cost(wanted) <= self._budget:
            self._resize(wanted)
            return False
        forgets = False
        if self._budget < LEAST_GROWTH * self._cost(used) and self.has_root:
            self._is_late = seconds < SECONDS_TO_FORGET * self.storage.bytes
            forgets = not self._is_late and self._forget(paths)
            used = self._counts(actions)
        left = self._budget / self._cost(used)
        if left >= LEAST_GROWTH:
            self._resize(self._limited(np.floor(used * left)))
        elif self.has_root:
            self.full = True
        else:
            self._resize(self._least(actions))
        return forgets

    def fit_actions(self, random: np.random.Generator) -> None:
        """Make room for the actions that have occurred, or let no more of them count.

        Where the memory is short, actions that are met in playouts alone go without at first;
        then the tree is ``full``.
        """
        numbers = self.numbers
        assert numbers is not None
        wider = 2 * max(numbers.capacity, len(numbers))
        counts = self.arrays.capacity.astype(np.float64)
        counts[TABLE] *= wider / self.num_actions
        needed = self._cost(counts) + wider * (self.storage.action_bytes + NUMBER_BYTES)
        share = needed / (self._megabytes * _MEGABYTE)
        if share <= 0.5 or not self.has_root or (share <= 1.0 and not numbers.counts_playouts):
            before, numbers.capacity, self.num_actions = self.num_actions, wider, wider
            try:
                self.storage.widen(wider)
            except BaseException:
                self.clear()
                raise
            for part in self.records:
                add_actions(part, before, random)
        else:
            numbers.close(to_playouts=numbers.counts_playouts)
            self.full = numbers.closed

    def follow(self, path: Sequence[int]) -> None:
        """Keep what is below the actions and chance outcomes of a path from the root, in place.

        Where several players move at the same time, their actions follow each other in the path.
        All is dropped if the tree does not know the way.
        """
        arrays, moves, proofs = self.arrays, self.running.moves, self.running.proofs
        if self.numbers is not None:
            path = self.numbers.known(path)
        node, place = ROOT, 0
        while place < len(path) and arrays.used[NODE] > 0 and node != UNEXPANDED:
            if self.joint:
                count = 1 + followers(moves, node)
                node = find_joint_child(arrays, moves, node, path[place : place + count])
            else:
                count, first = 1, int(arrays.node_first_edge[node])
                actions = arrays.edge_action[first : first + int(arrays.node_edge_count[node])]
                found = np.flatnonzero(actions == path[place])
                node = int(arrays.edge_child[first + found[0]]) if len(found) > 0 else UNEXPANDED
            place += count
            if self.proves and node != UNEXPANDED and lacks_edges(proofs, arrays, node):
                node = UNEXPANDED
        if node == UNEXPANDED or (self.numbers is not None and self.numbers.closed):
            self.clear()
        elif node != ROOT:
            if self._pruning is SharedPruning:  # Nodes below it may stand before it.
                self.storage.swap_nodes(ROOT, node)
                node = ROOT
            pruning = self._pruning(self.arrays, self.storage, self.running)
            pruning.keep(pruning.below(np.arange(pruning.count) == node))
            for part in self.records:
                if type(part) in on_rerooted.implementations:
                    on_rerooted(part, place)
            self.full, self.forgotten = False, 0
            self.storage.fill(Kept.ROOT)
        self.noised = False

    def _forget(self, paths: Sequence[WaitingPath]) -> bool:
        """Forget the least visited leaves. Returns whether that made enough room.

        Args:
            paths: of simulations that wait, which keep their nodes, and get the new rows.
        """
        if self.arrays.used[NODE] < LEAST_NODES:
            return False
        pruning = self._pruning(self.arrays, self.storage, self.running)
        pinned = [node for path in paths for node in path.nodes.tolist()]
        stays, ends = pruning.most_visited(KEPT_SHARE * self._budget, pinned)
        dropped = int(np.count_nonzero(~stays))
        if dropped < LEAST_SHARE * pruning.count:
            return False

        try:
            uninterrupted(lambda: pruning.forget(stays, ends, paths))
        finally:
            if pruning.is_done:
                self.forgotten += dropped
            else:
                self.clear()
        return True

    def clear(self) -> None:
        """Drop all nodes, and keep the memory."""
        self.storage.clear()
        if self.numbers is not None:
            self.numbers.clear()
        self.utility_range[:] = math.inf, -math.inf
        self.full = self.noised = False
        self.forgotten = 0
        self.storage.fill(Kept.ROOT)

    def clear_learned(self) -> None:
        """Forget what was seen of the game beyond the nodes, such as how long actions last."""
        self.storage.fill(Kept.GAME)

    def search(self, *, frame: Any = None, stream: Any = None, utilities: Any = None) -> Search:
        """A record of this tree with which nothing is simulated."""
        settings, shape = self._settings, (self.num_players, self.num_actions, self.root.player)
        if settings is None or settings[:3] != shape:
            settings = self._settings = neutral_settings(*shape)
        utilities = GameRange(self.utility_range) if utilities is None else utilities
        return Search(self.arrays, frame, self.path, stream, settings, utilities, *self.running)

    def _counts(self, actions: int) -> _Counts:
        """The rows in use with one more position of so many actions."""
        search = self.search()
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
        return self._limited(self.arrays.used + np.array(needed, np.float64))

    def _limited(self, counts: _Counts) -> _Counts:
        """Limit counts: no tables that are never made."""
        counts = np.asarray(counts, np.float64)
        if self.storage.row_bytes[TABLE] == 0:
            counts[TABLE] = 0
        else:
            counts[TABLE] = min(counts[TABLE], most_rows(self.running.amaf, TABLE))
        if self.storage.row_bytes[CHILD] == 0:
            counts[CHILD] = 0
        return counts

    def _least(self, actions: int) -> _Counts:
        """Room for the root, which has its node whatever that takes, and for a table if it fits."""
        least = self._counts(actions)
        if self._cost(least) > self._budget:
            least[TABLE] = 0
        return least

    @property
    def _budget(self) -> float:
        """The bytes that nodes, edges, tables and children may take."""
        numbered = 0 if self.numbers is None else self.num_actions
        of_numbers = numbered * (self.storage.action_bytes + NUMBER_BYTES)
        of_spare_edges = LANES * self.storage.row_bytes[EDGE]
        return float(self._megabytes * _MEGABYTE - of_numbers - of_spare_edges)

    def _cost(self, counts: _Counts) -> float:
        return float(counts @ self.storage.row_bytes)

    def _resize(self, counts: _Counts) -> None:
        sizes = {axis: int(counts[axis]) for axis in GROWING}
        sizes[Axis.EDGE] += LANES
        self.storage.resize(sizes)


def _frame_sizes(frame: Frame) -> Sizes:
    """The rows of what goes with a frame."""
    path = int(frame.header[Header.PATH_CAPACITY]) + int(frame.header[Header.NUM_PLAYERS])
    return {
        Axis.PATH: path,
        Axis.MOVE: path + int(frame.header[Header.MOVE_CAPACITY]),
        Axis.FEATURE: 1 + int(frame.header[Header.OBSERVATION]),
    }
