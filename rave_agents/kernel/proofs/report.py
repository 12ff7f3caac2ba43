"""Reports of proofs for the root, its actions, or any node of the tree."""

import math
from typing import Any, NamedTuple

import numpy as np

from rave_agents.compiler.arrays import Array
from rave_agents.compiler.dispatch import implements, python_function
from rave_agents.kernel.declarations import report_moves, report_root
from rave_agents.kernel.proofs.numbers import Numbers, is_idle
from rave_agents.kernel.proofs.part import LUCK, Proven, has_plain_ends
from rave_agents.kernel.proofs.solver import UNSOLVED, has_outcomes
from rave_agents.kernel.tree import ROOT, UNEXPANDED, Tree, edge_rows

NumberPair = tuple[float | None, float | None]
"""A proof number and a disproof number; None without proof numbers."""


class ProofArrays(NamedTuple):
    """Proofs of a tree's nodes; empty arrays if a kind is not kept."""

    low: Array
    """[nodes, players] lower bound of each player's utility."""
    high: Array
    """[nodes, players] upper bound."""
    distance: Array
    """[nodes] moves from a solved node to the end, else ``UNSOLVED``."""
    proof: Array
    """[nodes, players] each player's proof number; empty while they are not kept."""
    disproof: Array
    """[nodes, players] each player's disproof number."""
    edge_bonus: Array
    """[edges] the edge's proof-number bonus, in [0, 1]."""


@python_function
def proof_arrays(proofs: Any, players: int) -> ProofArrays:
    """The arrays of the part that keeps proofs."""
    none = np.zeros((0, players))
    return ProofArrays(none, none, _NO_DISTANCES, none, none, _NO_BONUSES)


_NO_DISTANCES, _NO_BONUSES = np.zeros(0, np.int32), np.zeros(0, np.float32)


@implements(proof_arrays, Proven)
def _proof_arrays(proofs: Proven, players: int) -> ProofArrays:
    solver, numbers = proofs.solver, proofs.numbers
    low = high = proof = disproof = np.zeros((0, players))
    distance, edge_bonus = _NO_DISTANCES, _NO_BONUSES
    if has_outcomes(solver):
        low, high = solver.low.reshape(-1, players), solver.high.reshape(-1, players)
        distance = solver.distance
    if isinstance(numbers, Numbers) and not is_idle(numbers):
        proof, disproof = numbers.proof.reshape(-1, players), numbers.disproof.reshape(-1, players)
        edge_bonus = numbers.edge_bonus
    return ProofArrays(low, high, distance, proof, disproof, edge_bonus)


class EdgeProof(NamedTuple):
    """Proven facts of an action: utilities and proof numbers of the player who takes it."""

    low: float = -math.inf
    """Lower bound of the player's utility after the action."""
    high: float = math.inf
    """Upper bound of the player's utility after the action."""
    distance: int = UNSOLVED
    """Moves to the end, including the action, if it is solved, else ``UNSOLVED``."""
    lost: bool = False
    """True if another player is proven to end with more."""
    proof_number: float | None = None
    """Proof number after the action; None without proof numbers."""
    disproof_number: float | None = None
    """Disproof number after the action; None likewise."""

    @property
    def solved(self) -> bool:
        """True if the outcome is known."""
        return self.distance != UNSOLVED

    @property
    def outcome(self) -> float | None:
        """The player's utility after the action if it is solved, else None."""
        return self.low if self.solved else None


NO_PROOF = EdgeProof()
"""The proof of an action in a search without proofs."""


class Ends(NamedTuple):
    """The kinds of outcomes seen in a tree, needed to interpret proof numbers without a solver."""

    low: float
    """The least utility."""
    high: float
    """The greatest."""
    plain: bool
    """True if games end only in win, draw or loss, see ``proofs.has_plain_ends``."""
    luck: bool
    """True if the tree has chance nodes."""

    @property
    def draw(self) -> float:
        """The utility of a draw, if ``plain``."""
        return (self.low + self.high) / 2


def known_ends(proofs: Proven, search: Any) -> Ends:
    """The kinds of outcomes seen in a tree with proofs."""
    low, high = search.utilities.bounds.tolist()
    return Ends(low, high, has_plain_ends(proofs, search), bool(proofs.facts[LUCK]))


def edge_proof(tree: Tree, proofs: ProofArrays, node: int, edge: int, ends: Ends) -> EdgeProof:
    """The proven facts of an edge of a decision node."""
    mover = int(tree.node_player[node])
    child = int(tree.edge_child[edge])
    has_numbers = len(proofs.proof) > 0
    number = disproof = None
    if has_numbers and child == UNEXPANDED:
        number = disproof = 1.0
    elif has_numbers:
        number, disproof = float(proofs.proof[child, mover]), float(proofs.disproof[child, mover])
    if child == UNEXPANDED or len(proofs.distance) == 0:
        found = EdgeProof(proof_number=number, disproof_number=disproof)
        return (
            found if child == UNEXPANDED else _bounded_by_numbers(found, proofs, mover, child, ends)
        )
    lows, distance = proofs.low[child].tolist(), int(proofs.distance[child])
    low, solved = lows[mover], distance != UNSOLVED
    return EdgeProof(
        low=low,
        high=float(proofs.high[child, mover]),
        distance=1 + distance if solved else UNSOLVED,
        lost=solved and max(lows) > low,  # Sharing the maximum is no loss.
        proof_number=number,
        disproof_number=disproof,
    )


def _bounded_by_numbers(
    found: EdgeProof, proofs: ProofArrays, mover: int, child: int, ends: Ends
) -> EdgeProof:
    """Add the bounds that follow from proof numbers alone.

    In games of win, draw and loss, a proven win has the greatest utility, another player's proven
    win the least. A player who cannot force a win may still be lucky; without chance they draw at
    best, and of two players the opponent then draws at least.
    """
    if not ends.plain:
        return found
    numbers, disproofs = proofs.proof[child].tolist(), proofs.disproof[child].tolist()
    if numbers[mover] == 0.0:
        return found._replace(low=ends.high, high=ends.high)
    if min(numbers) == 0.0:
        return found._replace(low=ends.low, high=ends.low, lost=True)
    if len(numbers) != 2 or ends.luck:
        return found
    return found._replace(
        low=ends.draw if disproofs[1 - mover] == 0.0 else ends.low,
        high=ends.draw if disproofs[mover] == 0.0 else ends.high,
    )


def solved_outcome(proofs: ProofArrays, node: int = ROOT) -> tuple[float, ...] | None:
    """The utilities of all players at a solved node, else None."""
    if len(proofs.distance) == 0 or proofs.distance[node] == UNSOLVED:
        return None
    return tuple(proofs.low[node].tolist())


def win_numbers(proofs: ProofArrays, player: int, node: int = ROOT) -> NumberPair:
    """The proof and disproof number of a player's win at a node; None without proof numbers."""
    if len(proofs.proof) == 0:
        return None, None
    return float(proofs.proof[node, player]), float(proofs.disproof[node, player])


def solving_edge(tree: Tree, proofs: ProofArrays, node: int) -> int | None:
    """The edge of a solved node that leads to its outcome; None at a terminal one.

    A winner prefers the shortest known line, a loser the longest.
    """
    mover = int(tree.node_player[node])
    best, best_key = None, (-math.inf, False, -math.inf)
    for edge in edge_rows(tree, node):
        child = int(tree.edge_child[edge])
        if child == UNEXPANDED or proofs.distance[child] == UNSOLVED:
            continue
        key = _preference(proofs, mover, child)
        if best is None or key > best_key:
            best, best_key = edge, key
    return best


def _preference(proofs: ProofArrays, mover: int, child: int) -> tuple[float, bool, float]:
    """Sort key: greater for the solved child that the player to move prefers, see ``is_better``."""
    distance = float(proofs.distance[child])
    if mover < 0:
        return 0.0, True, distance
    value = float(proofs.low[child, mover])
    lost = bool(np.any(proofs.low[child] > value))
    return value, not lost, distance if lost else -distance


def winning_edge(tree: Tree, proofs: ProofArrays, node: int) -> int | None:
    """The most visited edge of a decision node with a proven win; None without one."""
    mover = int(tree.node_player[node])
    if mover < 0 or win_numbers(proofs, mover, node)[0] != 0.0:
        return None
    won = [
        edge
        for edge in edge_rows(tree, node)
        if (child := int(tree.edge_child[edge])) != UNEXPANDED
        and win_numbers(proofs, mover, child)[0] == 0.0
    ]
    return max(won, key=lambda edge: int(tree.edge_visits[edge]), default=None)


@implements(report_moves, Proven)
def _report_moves(
    proofs: Proven, search: Any, node: int, edges: range
) -> dict[str, list[EdgeProof]]:
    tree, arrays = search.tree, proof_arrays(proofs, search.settings.num_players)
    ends = known_ends(proofs, search)
    return {"proof": [edge_proof(tree, arrays, node, e, ends) for e in edges]}


@implements(report_root, Proven)
def _report_root(proofs: Proven, search: Any) -> dict[str, Any]:
    tree, arrays = search.tree, proof_arrays(proofs, search.settings.num_players)
    ends, outcome = known_ends(proofs, search), solved_outcome(arrays)
    proof_number, disproof_number = win_numbers(arrays, int(tree.node_player[ROOT]))
    return {
        "outcome": outcome,
        "distance": UNSOLVED if outcome is None else int(arrays.distance[ROOT]),
        "proof_number": proof_number,
        "disproof_number": disproof_number,
        "clear_cut": search.settings.num_players == 2 and ends.plain and not ends.luck,
        "expected": ends.luck,
    }
