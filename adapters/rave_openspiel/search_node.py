"""The search tree as nodes, with the fields and methods of OpenSpiel's own ``mcts.SearchNode``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import pyspiel
from open_spiel.python.algorithms import mcts

from rave_agents.game.game_state import PlayerId
from rave_agents.kernel.amaf.report import AmafStatistics
from rave_agents.kernel.declarations import report_moves
from rave_agents.kernel.proofs.report import solved_outcome
from rave_agents.kernel.tree import ROOT, UNEXPANDED, edge_rows
from rave_agents.tree.search_tree import SearchTree

NO_EDGE = -1


if TYPE_CHECKING:
    _StockNode = object  # OpenSpiel's class has no types.
else:
    _StockNode = mcts.SearchNode


class SearchNode(_StockNode):
    """A read-only view of one node of a search tree, for scripts that walk or print it.

    It has what OpenSpiel's own has, ``uct_value`` and ``puct_value`` included, and reads the tree's
    arrays on access. A node is an action with its statistics; ``children`` are the actions after
    it.

    Args:
        tree: the tree from ``Searcher.release_tree``.
        parent: the node above; None for the root, from which all others are reached.
        edge: row of the edge that leads here, for a node below the root.

    """

    __slots__ = ("_children", "_edge", "_mover", "_outcome", "_parent", "_player", "_row", "_tree")

    def __init__(
        self, tree: SearchTree, parent: SearchNode | None = None, edge: int = NO_EDGE
    ) -> None:
        self._tree = tree
        self._parent = parent
        self._edge = edge
        self._children: list[SearchNode] | None = None
        self._outcome: list[float] | None = None
        arrays = tree.arrays
        if parent is None:
            self._row = ROOT
            self._player = int(arrays.node_player[ROOT])
        else:
            self._row = int(arrays.edge_child[edge])
            self._player = int(arrays.node_player[parent._row])
        # Rewards need a player's perspective: below a chance outcome, that of the last mover.
        self._mover: int = self._player
        if self._player < 0 and parent is not None:
            self._mover = parent._mover

    @property
    def action(self) -> int | None:
        """The action that leads here; None at the root."""
        if self._parent is None:
            return None
        # With many ids the tree stores dense numbers in their place.
        stored, numbers = int(self._tree.arrays.edge_action[self._edge]), self._tree.numbers
        return stored if numbers is None else numbers.ids([stored])[0]

    @property
    def player(self) -> int:
        """The player who took the action; ``PlayerId.CHANCE`` for a chance outcome.

        At the root, the player to move.
        """
        return self._player

    @property
    def prior(self) -> float:
        """Prior probability of the action, Dirichlet noise included; 1 at the root."""
        return 1.0 if self._parent is None else float(self._tree.arrays.edge_prior[self._edge])

    @property
    def explore_count(self) -> int:
        """Simulations through this node."""
        arrays = self._tree.arrays
        if self._parent is None:
            return int(arrays.node_visits[ROOT])
        return int(arrays.edge_visits[self._edge])

    @property
    def total_reward(self) -> float:
        """Sum of the returns of those simulations, however backed up, in the game's utilities.

        They are ``player``'s returns; after a chance outcome those of the last player who moved
        before it. At the root it is the children's mean times ``explore_count``, because the
        simulations that ended at the root itself are counted, but their returns are not kept.
        """
        if self._parent is None:
            visits = sum(child.explore_count for child in self.children)
            total = sum(child.total_reward for child in self.children)
            return total / visits * self.explore_count if visits > 0 else 0.0
        return self._utilities(self._tree.arrays.edge_value_sum[self._edge], self.explore_count)

    @property
    def amaf_count(self) -> float:
        """AMAF visits of the action: simulations in which its player took it here or later.

        0 at the root, and everywhere in a search without AMAF. Where AMAF is kept in tables
        (``GRAVE`` or ``HRAVE``), 0 below nodes that have no table of their own.
        """
        return self._amaf().visits

    @property
    def amaf_total_reward(self) -> float:
        """Sum of ``player``'s returns in those simulations, in the game's utilities."""
        amaf = self._amaf()
        return self._utilities(amaf.value_sum, amaf.visits)

    @property
    def outcome(self) -> list[float] | None:
        """The returns of all players if the game is over or the outcome is proven; else None.

        The end of a game is known once it has a node, see ``SearchConfig.expand_visits``;
        ``SearchConfig.proofs`` proves more.
        """
        if self._row != UNEXPANDED:
            proven = solved_outcome(self._tree.proofs, self._row)
            if proven is not None:
                return list(proven)
        if self._row == UNEXPANDED or self._tree.arrays.node_player[self._row] != PlayerId.TERMINAL:
            return None
        # The tree keeps no states: play the path again, once.
        if self._outcome is None:
            state = self._tree.state.clone()
            for action in self._path():
                state.apply_action(action)
            self._outcome = [float(value) for value in state.returns()]
        return self._outcome

    @property
    def children(self) -> list[SearchNode]:
        """A node for every action after this one, in the game's order.

        The list is empty at an unexpanded node and at a terminal one.
        """
        if self._children is None:
            rows = () if self._row == UNEXPANDED else edge_rows(self._tree.arrays, self._row)
            self._children = [type(self)(self._tree, self, edge) for edge in rows]
        return self._children

    def sort_key(self) -> tuple[float, int, float]:
        """Rank the node among its siblings: by outcome, then visits, then total reward.

        A proven win of its mover ranks above, and a proven loss below, unknown and drawn outcomes.
        Below a solved node unknown outcomes rank last: they are no better than its own.
        """
        outcome = self.outcome
        is_passed_over = self._parent is not None and bool(self._parent.outcome)
        known = -math.inf if is_passed_over else 0.0
        if outcome:
            known = outcome[self._mover]
        return (known, self.explore_count, self.total_reward)

    def best_child(self) -> SearchNode:
        """Return the child with the greatest ``sort_key``.

        Raises:
            ValueError: if there are no children.

        """
        if not self.children:
            raise ValueError("This node has no children: the search has not expanded it.")
        return max(self.children, key=SearchNode.sort_key)

    def children_str(self, state: pyspiel.State | None = None) -> str:
        """Describe the children, one a line, best first.

        Args:
            state: the position at this node, for the names of the actions; without it they are
                numbers.

        """
        ranked = sorted(self.children, key=SearchNode.sort_key, reverse=True)
        return "\n".join(child.to_str(state) for child in ranked)

    def to_str(self, state: pyspiel.State | None = None) -> str:
        """Describe the node in one line.

        Args:
            state: the position in which its action was taken, for the action's name; without it
                the action is a number.

        """
        action: Any = self.action
        if state is not None and self._parent is not None:
            action = state.action_to_string(state.current_player(), action)
        visits, outcome = self.explore_count, self.outcome
        value = self.total_reward / visits if visits > 0 else 0.0
        known = f"{outcome[self._mover]:4.1f}" if outcome else "none"
        return (
            f"{action!s:>6}: player: {self.player}, prior: {self.prior:5.3f}, "
            f"value: {value:6.3f}, sims: {visits:5d}, outcome: {known}, "
            f"{len(self.children):3d} children"
        )

    def to_string(self, state: pyspiel.State) -> str:
        """Describe the node as ``to_str`` does: the name that ``pyspiel.SearchNode`` has for it."""
        return self.to_str(state)

    def __str__(self) -> str:
        return self.to_str()

    def _amaf(self) -> AmafStatistics:
        parent = self._parent
        if parent is None or parent._player_to_move() < 0:
            return AmafStatistics()
        tree, edges = self._tree, range(self._edge, self._edge + 1)
        reported = report_moves(tree.amaf, tree.search(), parent._row, edges)
        return cast(AmafStatistics, reported.get("amaf", [AmafStatistics()])[0])

    def _player_to_move(self) -> int:
        return int(self._tree.arrays.node_player[self._row])

    def _utilities(self, value_sum: float, visits: float) -> float:
        if visits == 0:
            return 0.0
        low, high = self._tree.low, self._tree.high
        # Value sums are of values in [0, 1]: the inverse map, for ``visits`` terms.
        return low * visits + float(value_sum) * (high - low)

    def _path(self) -> list[int]:
        """List the actions from the root to here."""
        actions: list[int] = []
        node = self
        while node._parent is not None:
            action = node.action
            assert action is not None
            actions.append(action)
            node = node._parent
        return actions[::-1]


class CppSearchNode(SearchNode):
    """A node that marks unknown values as the C++ ``pyspiel.SearchNode`` does."""

    __slots__ = ()

    @property
    def action(self) -> int:
        """The action that leads here; ``INVALID_ACTION`` at the root."""
        action = super().action
        return pyspiel.INVALID_ACTION if action is None else action

    @property
    def outcome(self) -> list[float]:
        """The returns of all players if the game is over or the outcome is proven; else empty."""
        return super().outcome or []


def tree_report(tree: SearchTree, state: pyspiel.State, action: int) -> list[str]:
    """Describe a tree in the lines that the stock bot prints.

    Args:
        tree: the tree.
        state: its root position.
        action: the root's action whose children are shown too.

    """
    root = SearchNode(tree)
    lines = ["Root:", root.to_str(state), "Children:", root.children_str(state)]
    chosen = next(child for child in root.children if child.action == action)
    if chosen.children:
        after = state.clone()
        after.apply_action(action)
        lines += ["Children of chosen:", chosen.children_str(after)]
    return lines
