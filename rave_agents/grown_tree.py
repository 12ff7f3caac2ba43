"""A tree and its AMAF tables, growing together inside one memory budget."""

from typing import NamedTuple

import numpy as np

from rave_agents.config import SearchConfig
from rave_agents.options import Amaf, ProofNumbers
from rave_agents.search import tree as trees
from rave_agents.search.amaf import (
    AmafTables,
    allocate_tables,
    grow_tables,
    keep_tables,
    table_bytes,
)
from rave_agents.search.proofs import (
    EDGE_BONUS_BYTES,
    Proofs,
    allocate_proofs,
    grow_proofs,
    keep_proofs,
    node_proof_bytes,
)
from rave_agents.search.tree import EDGES_USED, NODES_USED, Tree

_MEGABYTE = 2**20
_FIRST_NODES = 64
_FIXED_BYTES = trees.memory_bytes(trees.allocate(0, 0, amaf=False)) + sum(
    array.nbytes for array in (*allocate_tables(0, 0), *allocate_proofs(0))
)

LEAST_GROWTH = 1.01
"""Growth below which the memory counts as full: otherwise the last bytes would be handed out one
small reallocation after the other."""


class _Kept(NamedTuple):
    """What a search of some configuration reads and writes."""

    at_edges: bool
    tables: bool
    one_table: bool
    winning_moves: bool
    solver: bool
    proof_numbers: bool


def _kept(config: SearchConfig) -> _Kept:
    return _Kept(
        at_edges=config.amaf is Amaf.NODE,
        tables=config.amaf in (Amaf.GRAVE, Amaf.GLOBAL),
        one_table=config.amaf is Amaf.GLOBAL,
        winning_moves=config.counts_winning_moves,
        solver=config.solver,
        proof_numbers=config.proof_numbers is not ProofNumbers.NONE,
    )


class GrownTree:
    """The arrays of a search, and how they grow, shrink and count their memory.

    Args:
        config: says what is kept at all.
        megabytes: how much memory there is.
        num_players: players of the game.
        num_actions: distinct actions of the game.
        frame_actions: actions that a node may have before the frame must grow.
    """

    def __init__(
        self,
        config: SearchConfig,
        *,
        megabytes: float,
        num_players: int,
        num_actions: int,
        frame_actions: int,
    ) -> None:
        self.full = False
        """Whether the budget is used up, so that no node may be added."""
        self._megabytes = megabytes
        self._budget = megabytes * _MEGABYTE
        self._kept = _kept(config)
        self._checks_children = config.check_terminal
        self.proofs: Proofs = allocate_proofs(num_players)
        self.tables: AmafTables = allocate_tables(num_players, num_actions)
        first = np.array([_FIRST_NODES, 2 * frame_actions, self._wanted_tables(0)], np.float64)
        if self._cost(first) > self._budget:
            first = self._least(frame_actions)
        nodes, edges, count = (int(count) for count in first)
        self.tree: Tree = trees.allocate(
            nodes, edges, self._kept.at_edges, self._kept.at_edges and self._kept.winning_moves
        )
        self._grow_proofs(nodes, edges)
        if self._kept.tables:
            self._grow_tables(nodes, count)

    def fits(self, config: SearchConfig) -> bool:
        """Whether it keeps what a search of this configuration reads and writes."""
        return _kept(config) == self._kept

    def can_begin_anew(
        self, config: SearchConfig, *, megabytes: float, num_players: int, num_actions: int
    ) -> bool:
        """Whether a search of another position can use it, once it is cleared."""
        shape = self.tables.shape.tolist()
        return (
            self.fits(config)
            and shape == [num_players, num_actions]
            and megabytes == self._megabytes
        )

    @property
    def has_root(self) -> bool:
        """Whether the root has its node yet."""
        return bool(self.tree.used[NODES_USED] > 0)

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays, used rows and free ones."""
        arrays = (*self.tree, *self.tables, *self.proofs)
        return sum(array.nbytes for array in arrays)

    def grow(self, actions: int) -> None:
        """Make room for one more node with so many actions, or set ``full``."""
        used = np.array(
            [
                self.tree.used[NODES_USED] + self._new_nodes(actions),
                self.tree.used[EDGES_USED] + actions,
                self._wanted_tables(int(self.tables.used[0])),
            ],
            np.float64,
        )
        room = [len(self.tree.node_player), len(self.tree.edge_action), len(self.tables.owner)]
        wanted = np.maximum(room, 2 * used)
        wanted[2] = min(wanted[2], 1) if self._kept.one_table else wanted[2]
        if self._cost(wanted) > self._budget:
            growth = self._budget / self._cost(used)
            if growth < LEAST_GROWTH:
                if self.has_root:
                    self.full = True
                    return
                wanted = self._least(actions)
            else:
                wanted = np.floor(used * growth)
                wanted[2] = min(wanted[2], 1) if self._kept.one_table else wanted[2]
        nodes, edges, tables = (int(count) for count in wanted)
        trees.grow(self.tree, nodes, edges)
        self._grow_proofs(nodes, edges)
        if self._kept.tables:
            self._grow_tables(nodes, tables)

    def keep(self, node: int) -> None:
        """Make a node the root, and drop all that is not below it."""
        rows = trees.keep_subtree(self.tree, node)
        if self._kept.tables:
            keep_tables(self.tables, rows)
        keep_proofs(self.proofs, rows)
        self.full = False

    def clear(self) -> None:
        """Drop all nodes, and keep the memory: to fetch new memory takes longer than to fill it."""
        self.tree.used[:] = 0
        self.tables.used[:] = 0
        self.full = False

    def _least(self, actions: int) -> np.ndarray:
        """Room for the root, which has its node whatever that takes, and for a table if it fits."""
        least = np.array([self._new_nodes(actions), actions, self._wanted_tables(0)], np.float64)
        if self._cost(least) > self._budget:
            least[2] = 0
        return least

    def _wanted_tables(self, used: int) -> int:
        if not self._kept.tables:
            return 0
        return 1 if self._kept.one_table else used + 1

    def _cost(self, counts: np.ndarray) -> float:
        nodes, edges, tables = counts
        node_bytes = trees.NODE_BYTES + 4 * self._kept.tables
        node_bytes += node_proof_bytes(
            self.proofs.low.shape[1],
            solver=self._kept.solver,
            proof_numbers=self._kept.proof_numbers,
        )
        edge_bytes = trees.edge_bytes(
            self._kept.at_edges, self._kept.at_edges and self._kept.winning_moves
        )
        edge_bytes += EDGE_BONUS_BYTES * self._kept.proof_numbers
        one_table = table_bytes(self.tables, winning_moves=self._kept.winning_moves)
        variable = nodes * node_bytes + edges * edge_bytes + tables * one_table
        return float(_FIXED_BYTES + variable)

    def _new_nodes(self, actions: int) -> int:
        """Nodes that come with one with so many actions, if each of them ends the game."""
        return 1 + actions * self._checks_children

    def _grow_proofs(self, nodes: int, edges: int) -> None:
        grow_proofs(
            self.proofs,
            nodes,
            edges,
            solver=self._kept.solver,
            proof_numbers=self._kept.proof_numbers,
        )

    def _grow_tables(self, nodes: int, tables: int) -> None:
        grow_tables(self.tables, nodes, tables, winning_moves=self._kept.winning_moves)
