"""A tree and its AMAF tables, growing together inside one memory budget."""

from typing import NamedTuple

import numpy as np

from rave_agents.config import SearchConfig
from rave_agents.options import Amaf, ProofNumbers, Selection
from rave_agents.search import tree as trees
from rave_agents.search.amaf import (
    AmafTables,
    allocate_tables,
    grow_tables,
    keep_tables,
    table_bytes,
)
from rave_agents.search.children import entry_bytes
from rave_agents.search.hidden import (
    HIDDEN_EDGE_BYTES,
    Hidden,
    allocate_hidden,
    clear_hidden,
    grow_hidden,
)
from rave_agents.search.proofs import (
    EDGE_BONUS_BYTES,
    Proofs,
    allocate_proofs,
    grow_proofs,
    keep_proofs,
    node_proof_bytes,
)
from rave_agents.search.simultaneous import (
    SIMULTANEOUS_NODE_BYTES,
    STRATEGY_EDGE_BYTES,
    Simultaneous,
    allocate_simultaneous,
    clear_simultaneous,
    followers_and_children,
    grow_simultaneous,
    keep_simultaneous,
)
from rave_agents.search.tree import NODES_USED, Tree

_MEGABYTE = 2**20
_FIRST_NODES = 64
_FIXED_BYTES = trees.memory_bytes(trees.allocate(0, 0, amaf=False)) + sum(
    array.nbytes for array in (*allocate_tables(0, 0), *allocate_proofs(0))
)
_TABLES = 2

LEAST_GROWTH = 1.01
"""Growth below which the memory counts as full: otherwise the last bytes would be handed out one
small reallocation after the other."""


_Counts = np.ndarray
"""[4] how many nodes, edges, tables and children."""


class _Kept(NamedTuple):
    """What a search of some configuration reads and writes."""

    at_edges: bool
    tables: bool
    one_table: bool
    winning_moves: bool
    solver: bool
    proof_numbers: bool
    squares: bool
    strategies: bool


def _kept(config: SearchConfig) -> _Kept:
    return _Kept(
        at_edges=config.amaf is Amaf.NODE,
        tables=config.amaf in (Amaf.GRAVE, Amaf.GLOBAL),
        one_table=config.amaf is Amaf.GLOBAL,
        winning_moves=config.counts_winning_moves,
        solver=config.solver,
        proof_numbers=config.proof_numbers is not ProofNumbers.NONE,
        squares=config.selection is Selection.UCB1_TUNED,
        strategies=config.mixes,
    )


class GrownTree:
    """The arrays of a search, and how they grow, shrink and count their memory.

    Args:
        config: says what is kept at all.
        megabytes: how much memory there is.
        num_players: players of the game.
        num_actions: distinct actions of the game.
        frame_actions: actions that a position may have before the frame must grow.
        simultaneous: whether players may move at the same time.
        hidden: whether each simulation has a world of its own; such a tree cannot be kept.
    """

    def __init__(
        self,
        config: SearchConfig,
        *,
        megabytes: float,
        num_players: int,
        num_actions: int,
        frame_actions: int,
        simultaneous: bool = False,
        hidden: bool = False,
    ) -> None:
        self.full = False
        """Whether the budget is used up, so that no node may be added."""
        self._megabytes = megabytes
        self._budget = megabytes * _MEGABYTE
        self._kept = _kept(config)
        self._checks_children = config.check_terminal
        self._checks_refutations = config.check_refutations
        self._num_players = num_players
        self._is_simultaneous = simultaneous
        self._is_hidden = hidden
        self.proofs: Proofs = allocate_proofs(num_players)
        self.tables: AmafTables = allocate_tables(num_players, num_actions)
        self.simultaneous: Simultaneous = allocate_simultaneous(num_players)
        """Where players move at the same time, what the tree has beside."""
        self.hidden: Hidden = allocate_hidden()
        """Where something is hidden, what the tree has beside."""
        first = self._counts(0, 0, 0, 0, frame_actions)
        first[:2] = max(_FIRST_NODES, first[0]), 2 * frame_actions
        if self._cost(first) > self._budget:
            first = self._least(frame_actions)
        nodes, edges = int(first[0]), int(first[1])
        self.tree: Tree = trees.allocate(nodes, edges, *self._edge_kinds)
        self._grow_others(first)

    def fits(self, config: SearchConfig) -> bool:
        """Whether it keeps what a search of this configuration reads and writes."""
        return _kept(config) == self._kept

    def can_begin_anew(
        self,
        config: SearchConfig,
        *,
        megabytes: float,
        num_players: int,
        num_actions: int,
        simultaneous: bool = False,
        hidden: bool = False,
    ) -> bool:
        """Whether a search of another position can use it, once it is cleared."""
        shape = self.tables.shape.tolist()
        return (
            self.fits(config)
            and shape == [num_players, num_actions]
            and simultaneous == self._is_simultaneous
            and hidden == self._is_hidden
            and megabytes == self._megabytes
        )

    @property
    def has_root(self) -> bool:
        """Whether the root has its node yet."""
        return bool(self.tree.used[NODES_USED] > 0)

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays, used rows and free ones."""
        arrays: list[np.ndarray] = [*self.tree, *self.tables, *self.proofs]
        if self._is_simultaneous:
            arrays += [*self.simultaneous[:-1], *self.simultaneous.children]
        if self._is_hidden:
            arrays += [*self.hidden.children, *self.hidden[1:]]
        return sum(array.nbytes for array in arrays)

    def grow(self, actions: int) -> None:
        """Make room for one more position with so many actions, or set ``full``."""
        children = self.hidden.children if self._is_hidden else self.simultaneous.children
        nodes, edges = self.tree.used
        used = self._counts(nodes, edges, self.tables.used[0], children.used[0], actions)
        room = [len(self.tree.node_player), len(self.tree.edge_action)]
        wanted = np.maximum([*room, len(self.tables.owner), len(children.edge)], 2 * used)
        wanted[_TABLES] = min(wanted[_TABLES], 1) if self._kept.one_table else wanted[_TABLES]
        if self._cost(wanted) > self._budget:
            growth = self._budget / self._cost(used)
            if growth < LEAST_GROWTH:
                if self.has_root:
                    self.full = True
                    return
                wanted = self._least(actions)
            else:
                wanted = np.floor(used * growth)
                if self._kept.one_table:
                    wanted[_TABLES] = min(wanted[_TABLES], 1)
        trees.grow(self.tree, int(wanted[0]), int(wanted[1]))
        self._grow_others(wanted)

    def is_refuted(self, node: int) -> bool:
        """Whether a node may lack edges, since one of them was known to win and to be enough."""
        return bool(
            self._checks_refutations
            and self.tree.node_edge_count[node] == 1
            and self.proofs.distance[node] == 1
        )

    def keep(self, node: int) -> None:
        """Make a node the root, and drop all that is not below it."""
        links = None
        if self._is_simultaneous:
            links = followers_and_children(self.tree, self.simultaneous)
        rows, edge_rows = trees.keep_subtree(self.tree, node, links)
        if self._kept.tables:
            keep_tables(self.tables, rows)
        keep_proofs(self.proofs, rows)
        if self._is_simultaneous:
            keep_simultaneous(self.simultaneous, rows, edge_rows)
        self.full = False

    def clear(self) -> None:
        """Drop all nodes, and keep the memory: to fetch new memory takes longer than to fill it."""
        self.tree.used[:] = 0
        self.tables.used[:] = 0
        clear_simultaneous(self.simultaneous)
        clear_hidden(self.hidden)
        self.full = False

    def _counts(self, nodes: int, edges: int, tables: int, children: int, actions: int) -> _Counts:
        """What is used with one more position: nodes, edges, tables, entries of the children."""
        # Of one that comes with so many actions each may end the game; or each player has a node.
        nodes += 1 + actions * self._checks_children
        if self._checks_refutations:
            nodes, actions = nodes + 2 * actions, 2 * actions
        if self._is_simultaneous:
            nodes, children = nodes + self._num_players - 1, children + self._num_players - 1
        children += self._is_hidden
        if self._kept.tables:
            tables = 1 if self._kept.one_table else tables + 1
        return np.array([nodes, edges + actions, tables, children], np.float64)

    def _least(self, actions: int) -> _Counts:
        """Room for the root, which has its node whatever that takes, and for a table if it fits."""
        least = self._counts(0, 0, 0, 0, actions)
        if self._cost(least) > self._budget:
            least[_TABLES] = 0
        return least

    @property
    def _edge_kinds(self) -> tuple[bool, bool, bool]:
        """What ``trees.allocate`` is asked for."""
        kept = self._kept
        return kept.at_edges, kept.at_edges and kept.winning_moves, kept.squares

    def _cost(self, counts: _Counts) -> float:
        node_bytes = trees.NODE_BYTES + 4 * self._kept.tables
        node_bytes += SIMULTANEOUS_NODE_BYTES * self._is_simultaneous
        node_bytes += node_proof_bytes(
            self._num_players,
            solver=self._kept.solver,
            proof_numbers=self._kept.proof_numbers,
        )
        edge_bytes = trees.edge_bytes(*self._edge_kinds)
        edge_bytes += STRATEGY_EDGE_BYTES * (self._kept.strategies and self._is_simultaneous)
        edge_bytes += EDGE_BONUS_BYTES * self._kept.proof_numbers
        edge_bytes += HIDDEN_EDGE_BYTES * self._is_hidden
        one_table = table_bytes(self.tables, winning_moves=self._kept.winning_moves)
        one_child = entry_bytes(self._num_players) * self._is_simultaneous
        one_child += entry_bytes(0) * self._is_hidden
        costs = np.array([node_bytes, edge_bytes, one_table, one_child], np.float64)
        return float(_FIXED_BYTES + counts @ costs)

    def _grow_others(self, counts: _Counts) -> None:
        """Make room in all that belongs to the tree's nodes and edges."""
        nodes, edges, tables, children = map(int, counts)
        grow_proofs(
            self.proofs,
            nodes,
            edges,
            solver=self._kept.solver,
            proof_numbers=self._kept.proof_numbers,
        )
        if self._is_hidden:
            grow_hidden(self.hidden, edges, children)
        if self._is_simultaneous:
            grow_simultaneous(
                self.simultaneous, nodes, edges, children, strategies=self._kept.strategies
            )
        if self._kept.tables:
            grow_tables(self.tables, nodes, tables, winning_moves=self._kept.winning_moves)
