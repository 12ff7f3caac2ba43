"""Proof numbers (Allis 1994) for PN-MCTS.

A player's proof number is the minimum number of leaves that must be won to prove a win against
every play of the others and chance; the disproof number is the minimum number of leaves that must
be not won to prove that the player cannot force a win. A player wins if their return exceeds all
others'. At an OR node the player to move is the one whose win is to be proven; all others, and
chance nodes, are AND nodes.
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Gt, Le

from rave_agents.compiler.arrays import FLOAT, NODE, Array, Axis, Kept, Rows, one
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.compiler.part_fields import Takes
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.amaf.trust import FullTrust, is_learned
from rave_agents.kernel.declarations import GameTraits, becomes, taking_part
from rave_agents.kernel.players import AllPlayers, SearchingPlayer, holds_for
from rave_agents.kernel.proofs.bonuses import MaxBonus, Ranking, bonuses
from rave_agents.kernel.proofs.trust import LearnedBonusTrust, bonus_trust, compare_with_values
from rave_agents.kernel.tree import UNEXPANDED, edge_rows

LEAST_TRUST = 0.25
"""With a solver, proof numbers are not kept up to date while trust in the bonus is below this."""

NOBODY = -1
"""Sentinel for a player: no winner (a draw), or no player for whom bonuses were computed."""


class NoProofNumbers(NamedTuple):
    """No proof numbers are kept."""


class ProofNumbers(NamedTuple):
    """PN-MCTS: a bonus for edges that are close to a proof (Kowalski et al. 2023)."""

    goal: Annotated[Any, Takes(AllPlayers, SearchingPlayer)] = AllPlayers()
    """Whose win is to be proven. ``AllPlayers``: each player prefers the move closest to proving
    their own win (Kowalski et al. 2025). ``SearchingPlayer``: this player prefers the move closest
    to proving their win, the others the move closest to disproving it (Kowalski et al. 2023).
    """
    bonus: Annotated[Any, Takes(bonuses)] = MaxBonus()
    """The bonus of a move by its number among its siblings, in [0, 1], see ``bonuses.py``."""
    constant: Annotated[float, Ge(0)] = 0.2
    """C_pn, at least 0: weight of the bonus added to the score (Kowalski et al. 2023: 1, with C =
    sqrt(2))."""
    visits: Annotated[float, Gt(0), Le(math.inf)] = 1.0
    """Visits of an edge at which its bonus has half its weight, as a multiple of the squared number
    of moves of its node; above 0. Until roughly all pairs of a move and a reply were visited, proof
    numbers reflect the positions behind the moves, later mostly the visits. Infinity, as published,
    keeps the weight constant; with graded utilities or chance it is limited to 1."""
    weight: Annotated[float, Ge(0), Le(1)] = 0.0
    """Share w of the bonus in ``(1 - w) score + w bonus``, in [0, 1]; it fades with graded
    utilities or chance."""
    bonus_trust: Annotated[Any, Takes(FullTrust, LearnedBonusTrust)] = FullTrust()
    """The trust in the bonus, a factor of ``constant``: ``FullTrust``, or ``LearnedBonusTrust``,
    which falls where the bonus misleads, see ``trust.py``."""


@implements(taking_part, ProofNumbers)
def _takes_part_proof_numbers(part: ProofNumbers) -> str:
    return "proof numbers"


@implements(becomes, ProofNumbers)
def _becomes(numbers: ProofNumbers, game: GameTraits) -> ProofNumbers | NoProofNumbers:
    """``NoProofNumbers`` for learned trust with an evaluator, whose values are more informative."""
    idle = game.has_values and is_learned(numbers.bonus_trust)
    return NoProofNumbers() if idle else numbers


@runs_as(ProofNumbers)
class Numbers(NamedTuple):
    """Proof and disproof numbers of every node, for each player's win."""

    options: ProofNumbers
    bonus_trust: Any
    viewer: Annotated[Array, one(np.int64, fill=NOBODY, kept=Kept.ROOT)]
    """[1] searching player for whom ``edge_bonus`` was computed, or ``NOBODY``."""
    proof: Annotated[Array, Rows(Axis.NODE, FLOAT, (Axis.PLAYER,))]
    """The player's proof number."""
    disproof: Annotated[Array, Rows(Axis.NODE, FLOAT, (Axis.PLAYER,))]
    """The player's disproof number."""
    edge_bonus: Annotated[Array, Rows(Axis.EDGE, np.float32)]
    """Bonus of the edge by the numbers of the node's children, in [0, 1]."""
    idle: Annotated[Array, one(np.int64)]
    """[1] 1 while numbers and bonuses are not updated, since nothing reads them."""
    ranking: Ranking
    """Buffers."""


@open_function
def is_idle(numbers: Any) -> bool:
    """True while the numbers are not updated, since nothing reads them."""
    return False


@implements(is_idle, Numbers)
def _is_idle(numbers: Numbers) -> bool:
    return bool(numbers.idle[0] != 0)


@open_function
def rest_or_resume(numbers: Any, search: Any) -> None:
    """With a solver, update the numbers only while the bonus is trusted."""


@implements(rest_or_resume, Numbers)
def _rest_or_resume(numbers: Numbers, search: Any) -> None:
    idle = bonus_trust(numbers.bonus_trust) < LEAST_TRUST
    if is_idle(numbers) and not idle:
        # Children have larger rows than parents, so going down visits children first.
        for node in range(search.tree.used[NODE] - 1, -1, -1):
            if search.tree.node_edge_count[node] > 0:
                hooks.update_node(numbers, search, node)
    numbers.idle[0] = idle


@implements(hooks.begin_node, Numbers)
def _begin_numbers(numbers: Numbers, search: Any, node: int) -> None:
    players = search.settings.num_players
    for place in range(node * players, (node + 1) * players):
        numbers.proof[place] = 1.0
        numbers.disproof[place] = 1.0


@kernel
def exceeds_all(search: Any, returns: Any, first: int, player: int) -> bool:
    """True if a player's return exceeds all others'; ``returns`` holds them from ``first`` on."""
    for other in range(search.settings.num_players):
        if other != player and returns[first + other] >= returns[first + player]:
            return False
    return True


@kernel
def winner_of(search: Any, returns: Any, first: int) -> int:
    """The player with the strictly greatest return, or ``NOBODY``.

    A single player wins with the game's greatest utility.
    """
    players = search.settings.num_players
    for player in range(players):
        # With several players the comparison in `exceeds_all` decides alone.
        most = players > 1 or returns[first] >= search.settings.greatest_utility
        if most and exceeds_all(search, returns, first, player):
            return player
    return NOBODY


@implements(hooks.prove_end, Numbers)
def _number_end(
    numbers: Numbers, search: Any, node: int, returns: Any, first: int, distance: int
) -> None:
    players = search.settings.num_players
    winner = winner_of(search, returns, first)
    for player in range(players):
        won = player == winner
        numbers.proof[node * players + player] = 0.0 if won else math.inf
        numbers.disproof[node * players + player] = math.inf if won else 0.0


@implements(hooks.update_node, Numbers)
def update_numbers(numbers: Numbers, search: Any, node: int) -> bool:
    """Update the proof and disproof numbers of a node for each player's win (Allis 1994).

    OR node (the player moves): min of proof numbers, sum of disproof numbers. AND node: the
    reverse. A proven or disproven node keeps its numbers even if its children are forgotten.
    """
    tree, players = search.tree, search.settings.num_players
    mover = int(tree.node_player[node])
    changed = False
    for player in range(players):
        place = node * players + player
        # Decided numbers are final.
        if numbers.proof[place] == 0.0 or numbers.disproof[place] == 0.0:
            continue
        # OR node: min of proof, sum of disproof numbers. AND node: swap the two arrays.
        easiest, all_of = numbers.proof, numbers.disproof
        if player != mover:
            easiest, all_of = all_of, easiest
        least, total = math.inf, 0.0
        for edge in edge_rows(tree, node):
            child = tree.edge_child[edge]
            below = child * players + player
            least = min(least, 1.0 if child == UNEXPANDED else easiest[below])
            # An unexpanded child counts as 1, the number of a new leaf.
            total += 1.0 if child == UNEXPANDED else all_of[below]
        proof, disproof = (least, total) if player == mover else (total, least)
        if proof != numbers.proof[place] or disproof != numbers.disproof[place]:
            numbers.proof[place] = proof
            numbers.disproof[place] = disproof
            changed = True
    update_bonuses(numbers, search, node)
    return changed


@kernel
def update_bonuses(numbers: Numbers, search: Any, node: int) -> None:
    """Compute the bonuses of a decision node's edges from the numbers of its children."""
    tree = search.tree
    mover = int(tree.node_player[node])
    if mover < 0:
        return
    first = tree.node_first_edge[node]
    count = tree.node_edge_count[node]
    for index in range(count):
        rank_by_numbers(numbers, search, first + index, mover, index)
    bonuses(numbers.options.bonus, numbers.ranking, numbers.edge_bonus, first, count)


@kernel
def rank_by_numbers(numbers: Numbers, search: Any, edge: int, mover: int, index: int) -> None:
    """Write the two numbers that rank an edge for the player who moves; smaller is better.

    The first is the distance from the goal. The second, for two players, is the distance from the
    lesser goal: to avoid losing, or to win themselves.
    """
    ranking, players = numbers.ranking, search.settings.num_players
    child = search.tree.edge_child[edge]
    ranking.first[index] = 1.0
    ranking.second[index] = 1.0 if players == 2 else 0.0
    if child != UNEXPANDED:
        place = child * players
        searcher = search.settings.searching_player
        ranking.second[index] = 0.0
        if holds_for(numbers.options.goal, search, mover):
            ranking.first[index] = numbers.proof[place + mover]
            # To avoid losing is to disprove the opponent's win.
            if players == 2:
                ranking.second[index] = numbers.disproof[place + 1 - mover]
        else:
            ranking.first[index] = numbers.disproof[place + searcher]
            if players == 2:
                ranking.second[index] = numbers.proof[place + mover]


@implements(hooks.on_begin, Numbers)
def _refresh_bonuses(numbers: Numbers, search: Any) -> None:
    """Recompute the bonuses of all edges if they were computed for another searching player."""
    if numbers.viewer[0] != search.settings.searching_player and not is_idle(numbers):
        for node in range(search.tree.used[NODE]):
            update_bonuses(numbers, search, node)
        numbers.viewer[0] = search.settings.searching_player


@implements(hooks.after_backup, Numbers)
def _after_backup(numbers: Numbers, search: Any) -> int:
    compare_with_values(numbers.bonus_trust, search, numbers.edge_bonus, is_idle(numbers))
    return codes.DONE


@open_function
def own_numbers(numbers: Any, search: Any, node: int) -> tuple[float, float]:
    """A node's proof and disproof number for the searching player.

    The proof number is 0 once the win is proven, the disproof number once it is disproven.
    """
    return 1.0, 1.0


@implements(own_numbers, Numbers)
def _own_numbers(numbers: Numbers, search: Any, node: int) -> tuple[float, float]:
    place = node * search.settings.num_players + search.settings.searching_player
    return numbers.proof[place], numbers.disproof[place]


@open_function
def lasts(numbers: Any) -> bool:
    """True if the bonus keeps its weight longer than it is informative."""
    return False


@implements(lasts, Numbers)
def _lasts(numbers: Numbers) -> bool:
    return numbers.options.visits > 1.0 or numbers.options.weight > 0.0


class NodeBonus(NamedTuple):
    """The weights of the bonus at a node."""

    counts: bool
    """True if some weight is above 0."""
    constant: float
    """``C_pn``: the constant times the trust in the bonus."""
    half_visits: float
    """``K``: the visits of an edge at which the constant has half its weight."""
    weight: float
    """``w``: the share of the bonus in the score."""
    fading_weight: float
    """The same share where it fades with visits as ``C_pn`` does."""


@open_function
def bonus_at(numbers: Any, search: Any, node: int, exact: bool) -> Any:
    """The weights of the bonus at a node; ``exact`` if only winning matters."""
    return numbers


@implements(bonus_at, Numbers)
def _bonus_at(numbers: Numbers, search: Any, node: int, exact: bool) -> NodeBonus:
    options, count = numbers.options, search.tree.node_edge_count[node]
    # Where more than winning matters, the bonus must fade: after one visit per edge at the latest.
    visits = options.visits if exact else min(options.visits, 1.0)
    trust = 0.0 if is_idle(numbers) else bonus_trust(numbers.bonus_trust)
    constant = trust * options.constant
    weight, fading = (options.weight, 0.0) if exact else (0.0, options.weight)
    counts = constant > 0.0 or options.weight > 0.0
    return NodeBonus(counts, constant, visits * count * count, weight, fading)


@open_function
def with_bonus(numbers: Any, at_node: Any, search: Any, edge: int, score: float) -> float:
    """A score plus the edge's proof-number bonus."""
    return score


@implements(with_bonus, Numbers)
def pn_score(numbers: Numbers, at_node: NodeBonus, search: Any, edge: int, score: float) -> float:
    """``(1 - w) score + w bonus + C_pn bonus / (1 + (n / K)²)``.

    ``K`` is the number of visits at which the last term has half its weight; ``C_pn`` is the
    constant times the trust in the bonus. Kowalski et al. (2023) add ``C_pn bonus``: infinite ``K``
    and ``w = 0``. Unless only winning matters, ``w`` fades like the last term, so that values
    decide in the end.
    """
    if score == math.inf or not at_node.counts:
        return score
    bonus = float(numbers.edge_bonus[edge])
    faded = float(search.tree.edge_visits[edge]) / at_node.half_visits
    fading = 1.0 + faded * faded
    weight = at_node.weight
    if at_node.fading_weight > 0.0:
        weight = at_node.fading_weight / fading
    return (1.0 - weight) * score + weight * bonus + at_node.constant * bonus / fading
