"""What is proven at the root, and what the final move makes of it."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rave_agents.config import SearchConfig
from rave_agents.search import tree as trees
from rave_agents.search.compiler import interpreted
from rave_agents.search.formulas import scaled
from rave_agents.search.proofs import UNSOLVED, Proofs, is_better
from rave_agents.search.tree import ROOT, UNEXPANDED, Tree

DRAW = 0.5
"""What a draw is worth on the scale [0, 1]."""


class EdgeProof(NamedTuple):
    """What is proven of an action; utilities are the game's, numbers those of who takes it."""

    low: float = -math.inf
    """The least utility that the action can bring him."""
    high: float = math.inf
    """The greatest."""
    distance: int = UNSOLVED
    """Moves to the end, the action included, if its outcome is known, else ``UNSOLVED``."""
    lost: bool = False
    """Whether somebody else is known to have more than he in the end."""
    proof_number: float | None = None
    """Proof number after the action; None where there are none."""
    disproof_number: float | None = None
    """Disproof number after the action; None likewise."""
    draw_proof: float | None = None
    """For two players, the proof number of his not losing; None likewise."""

    @property
    def solved(self) -> bool:
        """Whether the outcome is known."""
        return self.distance != UNSOLVED

    @property
    def outcome(self) -> float | None:
        """The utility that the action brings him, if it is known."""
        return self.low if self.solved else None


def edge_proof(tree: Tree, proofs: Proofs, node: int, edge: int) -> EdgeProof:
    """What is proven of an edge of a decision node."""
    mover = int(tree.node_player[node])
    child = int(tree.edge_child[edge])
    if child == UNEXPANDED:
        numbers = (1.0, 1.0) if len(proofs.proof) > 0 else (None, None)
        return EdgeProof(proof_number=numbers[0], disproof_number=numbers[1])
    found = EdgeProof()
    if len(proofs.distance) > 0:
        low = float(proofs.low[child, mover])
        solved = proofs.distance[child] != UNSOLVED
        found = EdgeProof(
            low=low,
            high=float(proofs.high[child, mover]),
            distance=1 + int(proofs.distance[child]) if solved else UNSOLVED,
            lost=bool(solved and proofs.low[child].max() > low),
        )
    if len(proofs.proof) > 0:
        two = proofs.proof.shape[1] == 2
        winners = np.flatnonzero(proofs.proof[child] == 0.0)
        found = found._replace(
            lost=found.lost or bool(np.any(winners != mover)),
            proof_number=float(proofs.proof[child, mover]),
            disproof_number=float(proofs.disproof[child, mover]),
            draw_proof=float(proofs.disproof[child, 1 - mover]) if two else None,
        )
    return found


def solved_outcome(proofs: Proofs, node: int = ROOT) -> tuple[float, ...] | None:
    """The utilities of all players at a node, if they are known."""
    if len(proofs.distance) == 0 or proofs.distance[node] == UNSOLVED:
        return None
    return tuple(proofs.low[node].tolist())


def win_numbers(
    proofs: Proofs, player: int, node: int = ROOT
) -> tuple[float, float] | tuple[None, None]:
    """The proof and the disproof number of a player's win at a node; None without such numbers."""
    if len(proofs.proof) == 0:
        return None, None
    return float(proofs.proof[node, player]), float(proofs.disproof[node, player])


def solving_edge(tree: Tree, proofs: Proofs, node: int) -> int | None:
    """At a solved node an edge that leads to its outcome; None at a terminal one.

    A winner takes the shortest known way, a loser the longest.
    """
    mover = int(tree.node_player[node])
    best, best_child = None, UNEXPANDED
    for edge in trees.edge_rows(tree, node):
        child = int(tree.edge_child[edge])
        if child == UNEXPANDED or proofs.distance[child] == UNSOLVED:
            continue
        if mover < 0:
            better = best is None or proofs.distance[child] > proofs.distance[best_child]
        else:
            better = best is None or bool(interpreted(is_better)(proofs, mover, child, best_child))
        if better:
            best, best_child = edge, child
    return best


def final_edges(
    tree: Tree,
    proofs: Proofs,
    edges: Sequence[int],
    config: SearchConfig,
    bounds: tuple[float, float],
    key: Callable[[int], tuple[float, float]],
) -> list[int]:
    """Those of the root's edges that the final move may take, by what is proven.

    A solved root leaves the shortest known win, or the longest loss. Otherwise no move is left that
    cannot be best or is lost, as long as there is another; and where the value of what ``key``
    prefers is below ``config.contempt``, moves that are sure to bring a draw or more are preferred.

    Args:
        tree: the tree.
        proofs: what is proven of it.
        edges: the root's edges.
        config: the search's tunables.
        bounds: the utilities that are 0 and 1 on the scale of values.
        key: what the final move maximises otherwise.
    """
    if not config.final_proven or (len(proofs.distance) == 0 and len(proofs.proof) == 0):
        return list(edges)
    rows = {edge: edge_proof(tree, proofs, ROOT, edge) for edge in edges}
    if solved_outcome(proofs) is not None:
        best = solving_edge(tree, proofs, ROOT)
        assert best is not None
        alike = (rows[best].outcome, rows[best].distance)
        return [edge for edge in edges if (rows[edge].outcome, rows[edge].distance) == alike]
    won = [edge for edge in edges if rows[edge].proof_number == 0.0]
    if won:
        return won
    sure = max(row.low for row in rows.values())
    left = [e for e in edges if not rows[e].lost and not rows[e].low < sure >= rows[e].high]
    left = left or list(edges)
    chosen = max(left, key=key)
    visits = float(tree.edge_visits[chosen])
    if visits > 0 and float(tree.edge_value_sum[chosen]) / visits < config.contempt:
        safe = [
            e for e in left if rows[e].draw_proof == 0.0 or scaled(rows[e].low, *bounds) >= DRAW
        ]
        return safe or left
    return left
