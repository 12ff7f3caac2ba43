"""What is proven of a position: bounds of its outcome, proof and disproof numbers.

Bounds (Cazenave & Saffidine 2010, for each player's utility) hold for best play of all: a position
whose outcome is certain is solved, and stands for that outcome from then on. Where several moves
are equally good for the player who moves, the outcome is that of one of them, as in OpenSpiel's
solver (max^n).

Proof numbers count the least leaves that must be won to prove that a player wins whatever all the
others and chance do; disproof numbers the least that must not be won to prove that he cannot force
a win. A player wins if his return is greater than everybody else's.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.game import PlayerId
from rave_agents.search.compiler import inlined, kernel
from rave_agents.search.parameters import Bonus, Parameters
from rave_agents.search.tree import NODES_USED, UNEXPANDED, Tree

CHANCE = int(PlayerId.CHANCE)
TERMINAL = int(PlayerId.TERMINAL)

RANK = int(Bonus.RANK)
DENSE_RANK = int(Bonus.DENSE_RANK)
MAX = int(Bonus.MAX)

UNSOLVED = -1
"""The distance of a node that is not solved."""

NOBODY = -1
"""The viewer of bonuses that must be computed anew."""


class Proofs(NamedTuple):
    """What is proven of the nodes of a tree with room for Nc nodes and Ec edges, P players."""

    viewer: NDArray[np.int64]
    """[1] the searching player for whom ``edge_bonus`` was computed, or ``NOBODY``."""
    low: NDArray[np.float64]
    """[Nc, P] the least utility that each player can still end with; empty without the solver."""
    high: NDArray[np.float64]
    """[Nc, P] the greatest; where the node is solved, the same."""
    distance: NDArray[np.int32]
    """[Nc] of a solved node the moves to the end, or ``UNSOLVED``."""
    proof: NDArray[np.float64]
    """[Nc, P] each player's proof number; empty without proof numbers."""
    disproof: NDArray[np.float64]
    """[Nc, P] each player's disproof number; empty likewise."""
    edge_bonus: NDArray[np.float32]
    """[Ec] what the numbers of the node's children say for the edge, in [0, 1]; empty likewise."""


class Ranking(NamedTuple):
    """Buffers for ranking the edges of a node, with room for as many as there are actions."""

    order: NDArray[np.int32]
    """The edges of the node, from the easiest to prove to the hardest."""
    first: NDArray[np.float64]
    """The number that ranks each edge."""
    second: NDArray[np.float64]
    """The number that breaks its ties."""


def make_ranking(num_actions: int) -> Ranking:
    """Buffers for nodes with up to so many edges."""
    return Ranking(np.zeros(num_actions, np.int32), np.zeros(num_actions), np.zeros(num_actions))


def allocate_proofs(num_players: int) -> Proofs:
    """Nothing proven, and no room for anything yet."""
    return Proofs(
        viewer=np.full(1, NOBODY),
        low=np.empty((0, num_players), np.float64),
        high=np.empty((0, num_players), np.float64),
        distance=np.empty(0, np.int32),
        proof=np.empty((0, num_players), np.float64),
        disproof=np.empty((0, num_players), np.float64),
        edge_bonus=np.empty(0, np.float32),
    )


def node_proof_bytes(num_players: int, *, solver: bool, proof_numbers: bool) -> int:
    """Bytes that a node takes."""
    return (16 * num_players + 4) * solver + 16 * num_players * proof_numbers


EDGE_BONUS_BYTES = 4
"""Bytes that an edge takes with proof numbers."""


def grow_proofs(
    proofs: Proofs, nodes: int, edges: int, *, solver: bool, proof_numbers: bool
) -> None:
    """Make room for so many nodes and edges, in place."""
    players = proofs.low.shape[1]
    sizes: list[tuple[NDArray[Any], tuple[int, ...]]] = []
    if solver:
        sizes += [(proofs.low, (nodes, players)), (proofs.high, (nodes, players))]
        sizes += [(proofs.distance, (nodes,))]
    if proof_numbers:
        sizes += [(proofs.proof, (nodes, players)), (proofs.disproof, (nodes, players))]
        sizes += [(proofs.edge_bonus, (edges,))]
    for array, shape in sizes:
        array.resize(shape, refcheck=False)


def keep_proofs(proofs: Proofs, new_rows: NDArray[np.int64]) -> None:
    """Follow ``tree.keep_subtree``, in place; the loop computes the edges' bonuses anew.

    Args:
        proofs: what is proven; it changes.
        new_rows: what ``keep_subtree`` returned.
    """
    kept = new_rows >= 0
    for array in proofs[1:-1]:
        if len(array) > 0:
            array[: np.count_nonzero(kept)] = array[: len(kept)][kept]
    proofs.viewer[0] = NOBODY


@inlined
def begin_proof(proofs: Proofs, parameters: Parameters, node: int) -> None:
    """A new node of which nothing is known."""
    for player in range(proofs.low.shape[1]):
        if parameters.solver:
            proofs.low[node, player] = parameters.least_utility
            proofs.high[node, player] = parameters.greatest_utility
        if parameters.proof_numbers:
            proofs.proof[node, player] = 1.0
            proofs.disproof[node, player] = 1.0
    if parameters.solver:
        proofs.distance[node] = UNSOLVED


@kernel
def prove_terminal(
    proofs: Proofs, parameters: Parameters, node: int, returns: NDArray[np.float64], row: int
) -> None:
    """A terminal node: its returns, in a row of ``returns``, are its outcome."""
    players = proofs.low.shape[1]
    for player in range(players):
        if parameters.solver:
            proofs.low[node, player] = returns[row, player]
            proofs.high[node, player] = returns[row, player]
        if parameters.proof_numbers:
            won = players > 1 or returns[row, player] >= parameters.greatest_utility
            for other in range(players):
                if other != player and returns[row, other] >= returns[row, player]:
                    won = False
            proofs.proof[node, player] = 0.0 if won else math.inf
            proofs.disproof[node, player] = math.inf if won else 0.0
    if parameters.solver:
        proofs.distance[node] = 0


@inlined
def update_proofs(
    tree: Tree, proofs: Proofs, ranking: Ranking, parameters: Parameters, node: int
) -> bool:
    """Derive what is proven of an expanded node from its children. Returns whether it changed."""
    if tree.node_player[node] == TERMINAL:
        return True
    changed = False
    if parameters.solver:
        changed = update_bounds(tree, proofs, parameters, node)
    if parameters.proof_numbers:
        changed = update_numbers(tree, proofs, node) or changed
        update_bonuses(tree, proofs, ranking, parameters, node)
    return changed


@inlined
def update_numbers(tree: Tree, proofs: Proofs, node: int) -> bool:
    """Proof and disproof numbers of a node (Allis 1994), for each player as the one who proves.

    He needs one child where he moves, and all of them elsewhere.
    """
    mover = tree.node_player[node]
    first = tree.node_first_edge[node]
    changed = False
    for player in range(proofs.proof.shape[1]):
        proof_sum, proof_min, disproof_sum, disproof_min = 0.0, math.inf, 0.0, math.inf
        for edge in range(first, first + tree.node_edge_count[node]):
            child = tree.edge_child[edge]
            proof, disproof = 1.0, 1.0
            if child != UNEXPANDED:
                proof, disproof = proofs.proof[child, player], proofs.disproof[child, player]
            proof_sum += proof
            proof_min = min(proof_min, proof)
            disproof_sum += disproof
            disproof_min = min(disproof_min, disproof)
        proof = proof_min if player == mover else proof_sum
        disproof = disproof_sum if player == mover else disproof_min
        if proof != proofs.proof[node, player] or disproof != proofs.disproof[node, player]:
            proofs.proof[node, player] = proof
            proofs.disproof[node, player] = disproof
            changed = True
    return changed


@kernel
def update_bounds(tree: Tree, proofs: Proofs, parameters: Parameters, node: int) -> bool:
    """Bounds of a node's outcome, and whether it is solved. A solved node never changes."""
    if proofs.distance[node] != UNSOLVED:
        return False
    solution = find_solution(tree, proofs, parameters, node)
    if solution != UNEXPANDED:
        for player in range(proofs.low.shape[1]):
            proofs.low[node, player] = proofs.low[solution, player]
            proofs.high[node, player] = proofs.low[solution, player]
        proofs.distance[node] = 1 + proofs.distance[solution]
        return True
    mover = tree.node_player[node]
    first = tree.node_first_edge[node]
    end = first + tree.node_edge_count[node]
    sure = sure_utility(tree, proofs, parameters, node)
    constant_sum = mover != CHANCE and not math.isnan(parameters.utility_sum)
    changed = False
    for player in range(proofs.low.shape[1]):
        least, greatest = math.inf, -math.inf
        for edge in range(first, end):
            child = tree.edge_child[edge]
            low, high, top = (
                parameters.least_utility,
                parameters.greatest_utility,
                parameters.greatest_utility,
            )
            if child != UNEXPANDED:
                low, high = proofs.low[child, player], proofs.high[child, player]
                if mover != CHANCE:
                    top = proofs.high[child, mover]
            if mover == CHANCE or top >= sure:  # He takes no move that is surely worse.
                least = min(least, low)
                greatest = max(greatest, high)
        if player == mover:
            least = sure
        elif constant_sum:  # What is sure for one is out of reach for the other.
            greatest = min(greatest, parameters.utility_sum - sure)
        if least != proofs.low[node, player] or greatest != proofs.high[node, player]:
            proofs.low[node, player] = least
            proofs.high[node, player] = greatest
            changed = True
    return changed


@kernel
def sure_utility(tree: Tree, proofs: Proofs, parameters: Parameters, node: int) -> float:
    """What the player who moves at a node can be sure of; ``-inf`` at a chance node."""
    mover = tree.node_player[node]
    sure = -math.inf
    if mover != CHANCE:
        first = tree.node_first_edge[node]
        for edge in range(first, first + tree.node_edge_count[node]):
            child = tree.edge_child[edge]
            low = parameters.least_utility
            sure = max(sure, low if child == UNEXPANDED else proofs.low[child, mover])
    return sure


@kernel
def find_solution(tree: Tree, proofs: Proofs, parameters: Parameters, node: int) -> int:
    """The solved child whose outcome is the node's, or ``UNEXPANDED`` if it is not solved.

    At a chance node all outcomes must agree. Among equally good children a winner takes the
    shortest way, a loser the longest.
    """
    mover = tree.node_player[node]
    first = tree.node_first_edge[node]
    solution = int(UNEXPANDED)
    greatest = -math.inf
    for edge in range(first, first + tree.node_edge_count[node]):
        child = int(tree.edge_child[edge])
        if child == UNEXPANDED:
            if mover == CHANCE:
                return UNEXPANDED
            greatest = parameters.greatest_utility
            continue
        if mover == CHANCE:
            if proofs.distance[child] == UNSOLVED:
                return UNEXPANDED
            if solution != UNEXPANDED:
                for player in range(proofs.low.shape[1]):
                    if proofs.low[child, player] != proofs.low[solution, player]:
                        return UNEXPANDED
            if solution == UNEXPANDED or proofs.distance[child] > proofs.distance[solution]:
                solution = child
            continue
        greatest = max(greatest, proofs.high[child, mover])
        if proofs.distance[child] != UNSOLVED and (
            solution == UNEXPANDED or is_better(proofs, mover, child, solution)
        ):
            solution = child
    if mover != CHANCE and solution != UNEXPANDED and proofs.low[solution, mover] < greatest:
        return UNEXPANDED
    return solution


@kernel
def is_better(proofs: Proofs, mover: int, child: int, other: int) -> bool:
    """Whether a solved child is better for the player who moves than another one.

    Of equal utilities he prefers those that nobody exceeds, and then the shorter way; where
    somebody exceeds both, he has lost, and prefers the longer way.
    """
    value = proofs.low[child, mover]
    if value != proofs.low[other, mover]:
        return value > proofs.low[other, mover]
    lost, other_lost = False, False
    for player in range(proofs.low.shape[1]):
        lost = lost or proofs.low[child, player] > value
        other_lost = other_lost or proofs.low[other, player] > value
    if lost != other_lost:
        return other_lost
    if lost:
        return proofs.distance[child] > proofs.distance[other]
    return proofs.distance[child] < proofs.distance[other]


@kernel
def update_bonuses(
    tree: Tree, proofs: Proofs, ranking: Ranking, parameters: Parameters, node: int
) -> None:
    """What the numbers of a decision node's children say for its edges, by the configured form."""
    mover = tree.node_player[node]
    if mover < 0:
        return
    first = tree.node_first_edge[node]
    count = tree.node_edge_count[node]
    for index in range(count):
        edge_numbers(tree, proofs, ranking, parameters, mover, first + index, index)
    if parameters.proof_bonus in (RANK, DENSE_RANK):
        rank_edges(proofs, ranking, first, count, parameters.proof_bonus == DENSE_RANK)
        return
    least, greatest, total = math.inf, 0.0, 0.0
    for index in range(count):
        number = ranking.first[index]
        if number < math.inf:
            least = min(least, number)
            greatest = max(greatest, number)
            total += number
    for index in range(count):
        number = ranking.first[index]
        bonus = 0.0
        if number < math.inf:
            if parameters.proof_bonus == MAX:
                bonus = 1.0 - (number - least) / (1.0 + greatest - least)
            else:
                bonus = 1.0 - number / (1.0 + total)
        proofs.edge_bonus[first + index] = bonus


@kernel
def edge_numbers(
    tree: Tree,
    proofs: Proofs,
    ranking: Ranking,
    parameters: Parameters,
    mover: int,
    edge: int,
    index: int,
) -> None:
    """Write the two numbers that rank an edge for the player who moves, the smaller the better.

    The first is how far he is from his goal: the searching player from proving his win, another
    one from disproving it; with numbers of every player, each from his own win. The second, for
    two players who can draw, is how far he is from the lesser goal: not to lose, or to win himself.
    """
    child = tree.edge_child[edge]
    ranking.first[index] = 1.0
    ranking.second[index] = 0.0
    own_goal = parameters.every_player or mover == parameters.searching_player
    two = parameters.draw_layer and proofs.proof.shape[1] == 2
    if child == UNEXPANDED:
        ranking.second[index] = 1.0 if two else 0.0
        return
    if own_goal:
        ranking.first[index] = proofs.proof[child, mover]
        if two:
            ranking.second[index] = proofs.disproof[child, 1 - mover]
    else:
        ranking.first[index] = proofs.disproof[child, parameters.searching_player]
        if two:
            ranking.second[index] = proofs.proof[child, mover]


@kernel
def rank_edges(proofs: Proofs, ranking: Ranking, first: int, count: int, dense: bool) -> None:
    """Write ``1 - rank / highest rank`` (dense ranks), or ``1 - rank / count``, to the edges.

    Ranks begin at 1, and equal numbers share one.
    """
    sort_edges(ranking, count)
    rank = 0
    highest = 0
    for turn in range(2 if dense else 1):  # The highest rank is known after the first turn.
        rank = 0
        for place in range(count):
            index = ranking.order[place]
            if place == 0 or comes_before(ranking, ranking.order[place - 1], index):
                rank = rank + 1 if dense else place + 1
            divisor = highest if dense else count
            if turn == 1 or not dense:
                proofs.edge_bonus[first + index] = 1.0 - rank / divisor
        highest = rank


@kernel
def comes_before(ranking: Ranking, one: int, other: int) -> bool:
    """Whether an edge is easier to prove than another."""
    if ranking.first[one] != ranking.first[other]:
        return ranking.first[one] < ranking.first[other]
    return ranking.second[one] < ranking.second[other]


@kernel
def sort_edges(ranking: Ranking, count: int) -> None:
    """Sort ``ranking.order`` (Shell 1959)."""
    for index in range(count):
        ranking.order[index] = index
    gap = count // 2
    while gap > 0:
        for index in range(gap, count):
            moved = ranking.order[index]
            place = index
            while place >= gap and comes_before(ranking, moved, ranking.order[place - gap]):
                ranking.order[place] = ranking.order[place - gap]
                place -= gap
            ranking.order[place] = moved
        gap //= 2


@inlined
def refresh_bonuses(tree: Tree, proofs: Proofs, ranking: Ranking, parameters: Parameters) -> None:
    """Compute the bonuses of all edges anew where they are not those of the searching player."""
    if proofs.viewer[0] != parameters.searching_player:
        for node in range(tree.used[NODES_USED]):
            update_bonuses(tree, proofs, ranking, parameters, node)
        proofs.viewer[0] = parameters.searching_player


@inlined
def has_room_for_proofs(tree: Tree, proofs: Proofs, parameters: Parameters) -> bool:
    """Whether there is as much room as in the tree."""
    nodes, edges = tree.node_player.shape[0], tree.edge_action.shape[0]
    if parameters.solver and min(proofs.high.shape[0], proofs.distance.shape[0]) < nodes:
        return False
    return not parameters.proof_numbers or (
        proofs.disproof.shape[0] >= nodes and proofs.edge_bonus.shape[0] >= edges
    )
