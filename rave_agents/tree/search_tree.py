"""The tree of a search: its arrays and parts, within one memory budget."""

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
from rave_agents.kernel.moves.alternating import followers, has_several_parents, linked_entries
from rave_agents.kernel.proofs import refutations  # noqa: F401  (it implements hooks)
from rave_agents.kernel.proofs.part import lacks_edges
from rave_agents.kernel.proofs.report import ProofArrays, proof_arrays
from rave_agents.kernel.search import Path, Search, Settings, neutral_settings
from rave_agents.kernel.tree import ROOT, UNEXPANDED, Tree
from rave_agents.kernel.utilities import HIGH, LOW, GameRange
from rave_agents.simulate.action_numbers import NUMBER_BYTES, ActionNumbers
from rave_agents.simulate.frame import Frame, Header
from rave_agents.tree.composition import Parts, Prepared
from rave_agents.tree.joint_positions import find_joint_child, find_known
from rave_agents.tree.pruning import LinkedPruning, Pruning, SharedPruning, WaitingPath
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
"""Below this growth factor the memory counts as full; otherwise the last bytes would be given out
in many tiny reallocations."""

LARGE_TREE, LARGE_GROWTH = 2**24, 1.25
"""From this many bytes a tree grows by a quarter instead of doubling: free rows of a large tree
waste memory, and copying takes little time."""

KEPT_SHARE = 0.5
"""Share of the memory still in use after the least visited leaves were forgotten. A smaller share
loses more statistics, a larger one needs forgetting more often."""

LEAST_NODES, LEAST_SHARE = 64, 0.1
"""Forgetting needs at least this many nodes in the tree, and must remove at least this share of
them; otherwise the tree stays unchanged."""

SECONDS_TO_FORGET = 0.3 / 2**30
"""Upper estimate of the time to forget, in seconds per byte of the tree."""

_Counts = NDArray[np.float64]
"""[4] numbers of nodes, edges, tables and child entries."""


class SearchTree:
    """The tree of a search: its arrays, its root position and the scale of its values.

    It grows, shrinks and counts its memory. Arrays are created once and reallocated in place.

    Args:
        root: the root position, shared and never changed by the tree.
        megabytes: the memory budget.
        frame: the buffers, which limit the number of actions of a position.
        numbers: the numbering of actions used in the tree instead of the game's actions; None if
            the tree holds the actions themselves.
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
        """The numbering of actions; None if the tree holds the actions themselves."""
        self.root = root
        """The root position; clone it before playing on."""
        game = root.game
        self.utility_range: NDArray[Any] = np.array([math.inf, -math.inf])
        """The utilities that map to the values 0 and 1; infinite while unknown."""
        self.noised: bool = False
        """True if noise was added to the root's priors."""
        self.full: bool = False
        """True if the budget is used up: no nodes may be added."""
        self.forgotten: int = 0
        """Number of nodes forgotten below this root to make room for others."""
        self.parts: Parts = game.parts
        """The parts of the search."""
        self._is_late = False
        self._megabytes = megabytes
        self.num_players: int = game.facts.num_players
        """Players of the game."""
        self._game_actions = game.facts.num_actions
        self.num_actions: int = game.facts.num_actions if numbers is None else numbers.capacity
        """Rows of each player in tables of actions."""
        sizes: Sizes = dict.fromkeys(GROWING, 0)
        sizes |= {Axis.PLACE: places_for(0), Axis.ONE: 1, **_frame_sizes(frame)}
        sizes |= {Axis.PLAYER: game.facts.num_players, Axis.ACTION: self.num_actions}
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
        """The path of the present simulation, and the number of all simulations."""
        self.running: Parts = Parts(*(assembled(part, sizes) for part in self.parts))
        """The parts with their arrays."""
        self.records: tuple[Any, ...] = tuple(records_of(self.running))
        """The running parts and the records nested in them."""
        self.joint: bool = type(self.running.moves) in followers.implementations
        """True if positions may have simultaneous moves."""
        kind = type(self.running.moves)
        self._pruning: type[Pruning] = Pruning
        if kind in has_several_parents.implementations:
            self._pruning = SharedPruning
        elif kind in linked_entries.implementations:
            self._pruning = LinkedPruning
        self.proves: bool = type(self.running.proofs) in proof_arrays.implementations
        """True if the tree keeps proofs."""
        self.has_plain_sums: bool = type(self.running.backup) in edge_sums.implementations
        """True if the edges' value sums are plain sums over simulations."""
        self.storage: Storage = Storage(self.arrays, (self.path, *self.running), sizes)

    def __getstate__(self) -> dict[str, Any]:
        """All attributes except the arrays, plus the arrays' values.

        Unpickled arrays borrow their memory from the pickle and could not be resized in place.
        """
        if not self.storage.whole:
            self.storage.resize({})
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

    def root_edges(self) -> tuple[list[int], list[int], list[float]]:
        """The actions, visits and value sums of the root, if one player moves there."""
        arrays = self.arrays
        first = int(arrays.node_first_edge[ROOT])
        end = first + int(arrays.node_edge_count[ROOT])
        sums = arrays.edge_value_sum[first:end]
        if not self.has_plain_sums:
            sums = edge_sums(self.running.backup, self.search(), ROOT, range(first, end))
        actions: list[int] = arrays.edge_action[first:end].tolist()
        if self.numbers is not None:
            actions = self.numbers.ids(actions)
        return actions, arrays.edge_visits[first:end].tolist(), sums.tolist()

    def fits(self, parts: Parts) -> bool:
        """True if it has exactly the arrays that a search with these parts uses."""
        if parts is self.parts:
            return True
        classes, own = tuple(classes_of(parts)), tuple(classes_of(self.parts))
        return classes == own and parts == self.parts  # Tuples of different classes compare equal.

    def can_begin_anew(self, game: Prepared, megabytes: float) -> bool:
        """True if a search of another position can reuse it after clearing."""
        facts = game.facts
        same = (facts.limits.players, facts.num_actions) == (self.num_players, self._game_actions)
        return self.fits(game.parts) and same and megabytes == self._megabytes

    @property
    def has_root(self) -> bool:
        """True once the root has its node."""
        return bool(self.arrays.used[NODE] > 0)

    @property
    def state(self) -> GameState:
        """The position at the root; clone it before playing on."""
        return self.root.state

    @property
    def player(self) -> int:
        """The player whose move is searched for."""
        return self.root.player

    @property
    def low(self) -> float:
        """The utility that maps to the value 0; ``inf`` while unknown."""
        return float(self.utility_range[LOW])

    @property
    def high(self) -> float:
        """The utility that maps to the value 1; ``-inf`` while unknown."""
        return float(self.utility_range[HIGH])

    @property
    def amaf(self) -> Any:
        """The AMAF statistics."""
        return self.running.amaf

    @property
    def moves(self) -> Any:
        """The additional arrays for the kind of moves."""
        return self.running.moves

    @property
    def proofs(self) -> ProofArrays:
        """The proofs of the nodes."""
        return proof_arrays(self.running.proofs, self.num_players)

    def begin(self, frame: Frame, simulations: float, random: np.random.Generator) -> None:
        """Begin a search: make room for the arrays that depend on its frame.

        Args:
            frame: the buffers shared with the provider.
            simulations: the search's limit; infinity for none.
            random: the generator for the parts' noise.
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
        """Resize the arrays that depend on the frame."""
        wanted = _frame_sizes(frame)
        short = any(self.storage.sizes[axis] < size for axis, size in wanted.items())
        if short or not self.storage.whole:
            self.storage.resize(wanted)
        self._frame = frame

    def reserve(self, nodes: int, actions: int) -> None:
        """Make room for more nodes, if they need only a small part of the memory.

        This allocates a known need at once instead of in several steps. Allows for up to half as
        many actions again at deeper nodes.
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

        If the memory is used up, the least visited leaves are forgotten.

        Args:
            actions: the number of its actions.
            paths: those of waiting simulations.
            seconds: the time left; if it may be too short to forget anything, the tree stays
                ``full`` until the next search begins.

        Returns:
            Whether nodes have moved to other rows.
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
        """Make room for all actions met so far, or stop counting new ones.

        If memory is short, actions met only in playouts are no longer counted; if that is not
        enough, the tree becomes ``full``.
        """
        numbers = self.numbers
        assert numbers is not None
        wider = 2 * max(numbers.capacity, len(numbers))
        counts = self.arrays.capacity.astype(np.float64)
        # AMAF tables have a row per action, so they grow with the numbering.
        counts[TABLE] *= wider / self.num_actions
        needed = self._cost(counts) + wider * (self.storage.action_bytes + NUMBER_BYTES)
        share = needed / (self._megabytes * _MEGABYTE)
        if share <= 0.5 or not self.has_root or (share <= 1.0 and not numbers.counts_playouts):
            before, numbers.capacity, self.num_actions = self.num_actions, wider, wider
            self.storage.widen(wider)
            for part in self.records:
                add_actions(part, before, random)
        else:
            numbers.close(to_playouts=numbers.counts_playouts)
            self.full = numbers.closed

    def follow(self, path: Sequence[int]) -> None:
        """Keep the subtree after a path of actions and chance outcomes from the root, in place.

        For simultaneous moves, the path lists all players' actions one after the other. The tree is
        cleared if it does not contain the path.
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
                first, count = int(arrays.node_first_edge[node]), 1
                end = first + int(arrays.node_edge_count[node])
                actions = arrays.edge_action[first:end].tolist()
                if path[place] in actions:
                    node = int(arrays.edge_child[first + actions.index(path[place])])
                else:
                    node = UNEXPANDED
            place += count
            if self.proves and node != UNEXPANDED and lacks_edges(proofs, arrays, node):
                node = UNEXPANDED
        self._keep_below(node, place)

    def move_to(self, key: int) -> None:
        """Keep what may follow an information set of the root's player, in place.

        The tree is cleared if it does not contain that set.

        Args:
            key: the key of all that the player has seen and done, see ``Header.VIEW``.
        """
        found = self.has_root
        self._keep_below(find_known(self.arrays, self.moves, self.player, key) if found else ROOT)

    def _keep_below(self, node: int, moves: int = 0) -> None:
        """Make a node the root, so many moves ahead; clear the tree if it is ``UNEXPANDED``."""
        if node == UNEXPANDED or (self.numbers is not None and self.numbers.closed):
            self.clear()
        elif node != ROOT:
            self.storage.torn = True
            if self._pruning is not Pruning:  # In a graph, descendants may have smaller rows.
                self.storage.swap_nodes(ROOT, node)
                node = ROOT
            self._pruning(self.arrays, self.storage, self.running).keep_below(node)
            for part in self.records:
                if type(part) in on_rerooted.implementations:
                    on_rerooted(part, moves)
            self.full, self.forgotten = False, 0
            self.storage.fill(Kept.ROOT)
            self.storage.torn = False
        self.noised = False

    def _forget(self, paths: Sequence[WaitingPath]) -> bool:
        """Forget the least visited leaves. Returns False if that would free too little.

        Args:
            paths: those of waiting simulations, which keep their nodes and get the new rows.
        """
        if self.arrays.used[NODE] < LEAST_NODES:
            return False
        pruning = self._pruning(self.arrays, self.storage, self.running)
        pinned = [node for path in paths for node in path.nodes.tolist()]
        stays, ends = pruning.most_visited(KEPT_SHARE * self._budget, pinned)
        dropped = int(np.count_nonzero(~stays))
        if dropped < LEAST_SHARE * pruning.count:
            return False

        def forget() -> None:
            pruning.forget(stays, ends, paths)
            self.storage.torn = False

        self.storage.torn = True
        self.forgotten += dropped
        # It takes a while in a large tree: exceptions of Ctrl-C wait, so that no result is lost.
        uninterrupted(forget)
        return True

    def clear(self) -> None:
        """Drop all nodes but keep the memory."""
        self.storage.torn = True
        self.storage.clear()
        if self.numbers is not None:
            self.numbers.clear()
        self.utility_range[LOW], self.utility_range[HIGH] = math.inf, -math.inf
        self.full = self.noised = False
        self.forgotten = 0
        self.storage.fill(Kept.ROOT)
        self.storage.torn = False

    def clear_learned(self) -> None:
        """Forget what was learned of the game, such as action persistence."""
        self.storage.fill(Kept.GAME)

    def search(self, *, frame: Any = None, stream: Any = None, utilities: Any = None) -> Search:
        """A ``Search`` record of this tree for reading, without simulations."""
        settings, shape = self._settings, (self.num_players, self.num_actions, self.root.player)
        if settings is None or settings[:3] != shape:
            settings = self._settings = neutral_settings(*shape)
        utilities = GameRange(self.utility_range) if utilities is None else utilities
        return Search(self.arrays, frame, self.path, stream, settings, utilities, *self.running)

    def _counts(self, actions: int) -> _Counts:
        """The rows needed with one more position of ``actions`` actions."""
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
        """Limit counts to the tables and entries that can exist."""
        counts = np.asarray(counts, np.float64)
        if self.storage.row_bytes[TABLE] == 0:
            counts[TABLE] = 0
        else:
            counts[TABLE] = min(counts[TABLE], most_rows(self.running.amaf, TABLE))
        if self.storage.row_bytes[CHILD] == 0:
            counts[CHILD] = 0
        return counts

    def _least(self, actions: int) -> _Counts:
        """Rows for the root, which always gets its node, and for its table if that fits."""
        least = self._counts(actions)
        if self._cost(least) > self._budget:
            least[TABLE] = 0
        return least

    @property
    def _budget(self) -> float:
        """The bytes available for nodes, edges, tables and child entries."""
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
    """The sizes of the axes that depend on the frame."""
    path = int(frame.header[Header.PATH_CAPACITY]) + int(frame.header[Header.NUM_PLAYERS])
    return {
        Axis.PATH: path,
        Axis.MOVE: path + int(frame.header[Header.MOVE_CAPACITY]),
        Axis.FEATURE: 1 + int(frame.header[Header.OBSERVATION]),
    }
