"""Whole games and whole trees, looked at to the last position: what a proof must agree with."""

import functools
import itertools
import math

from rave_agents.compiler.arrays import NODE
from rave_agents.kernel.proofs.numbers import NOBODY
from rave_agents.kernel.proofs.solver import UNSOLVED
from rave_agents.kernel.tree import UNEXPANDED, edge_rows
from rave_agents.parts import (
    AllPlayers,
    DenseRankBonus,
    DrawLayer,
    MaxBonus,
    ProofNumbers,
    RankBonus,
    Solver,
    SumBonus,
)

CHANCE, TERMINAL = -1, -4
TOLERANCE = 1e-9

CHANCE_TOLERANCE = 1e-6
"""The same where chance may move: the search keeps probabilities in single precision."""


class Exhaustive:
    """The truth about a game from its rules: ``player``, ``actions``, ``outcomes``, ``returns``."""

    def __init__(self, rules):
        self.rules = rules
        self.values = functools.cache(self._values)
        self.can_force_a_win = functools.cache(self._can_force_a_win)

    def _values(self, history):
        """The returns that best play may lead to (max^n): one vector for every way to break ties.

        At a chance node they are expected ones.
        """
        if self.rules.player(history) == TERMINAL:
            return frozenset([tuple(self.rules.returns(history))])
        return self.combined(
            history, {action: self.values((*history, action)) for action in self.steps(history)}
        )

    def combined(self, history, below):
        """The same, from the vectors of each action or outcome."""
        mover = self.rules.player(history)
        if mover == CHANCE:
            weights = [weight for _, weight in self.rules.outcomes(history)]
            return frozenset(
                tuple(
                    round(math.fsum(map(math.prod, zip(weights, column, strict=True))), 12)
                    for column in zip(*choice, strict=True)
                )
                for choice in itertools.product(*below.values())
            )
        # Each of the others may be as bad for him as its own ties allow.
        sure = max(min(vector[mover] for vector in vectors) for vectors in below.values())
        vectors = frozenset().union(*below.values())
        return frozenset(vector for vector in vectors if vector[mover] >= sure - TOLERANCE)

    def steps(self, history):
        """The actions, or the chance outcomes."""
        if self.rules.player(history) == CHANCE:
            return [outcome for outcome, _ in self.rules.outcomes(history)]
        return self.rules.actions(history)

    def _can_force_a_win(self, history, player):
        """Whether a player wins whatever all the others and chance do."""
        mover = self.rules.player(history)
        if mover == TERMINAL:
            return wins(self.rules.returns(history), player, self.rules.high)
        below = (self.can_force_a_win((*history, a), player) for a in self.steps(history))
        return any(below) if mover == player else all(below)


def wins(returns, player, greatest):
    """Whether a player has more than everybody else; alone, as much as there is."""
    others = [value for other, value in enumerate(returns) if other != player]
    return returns[player] > max(others) if others else returns[player] >= greatest


def histories(tree, root=()):
    """The history of each node in use, by row."""
    found = {0: tuple(root)}
    for node in range(int(tree.used[NODE])):
        for edge in edge_rows(tree, node):
            if tree.edge_child[edge] != UNEXPANDED:
                found[int(tree.edge_child[edge])] = (*found[node], int(tree.edge_action[edge]))
    return found


def check_solved(rooted, truth):
    """Assert that bounds hold the values of best play, and that a solved node has one of them.

    Above a solved node it is that outcome which counts, not another way to break ties.
    """
    tree, proofs = rooted.arrays, rooted.proofs
    chance = bool((tree.node_player[: int(tree.used[NODE])] == CHANCE).any())
    tolerance = CHANCE_TOLERANCE if chance else TOLERANCE
    where = histories(tree, rooted.state.history)
    known = {}
    for node in sorted(where, reverse=True):
        history = where[node]
        below = {action: truth.values((*history, action)) for action in truth.steps(history)}
        for edge in edge_rows(tree, node):
            if tree.edge_child[edge] != UNEXPANDED:
                below[int(tree.edge_action[edge])] = known[int(tree.edge_child[edge])]
        possible = truth.combined(history, below) if below else truth.values(history)
        low, high = tuple(proofs.low[node].tolist()), tuple(proofs.high[node].tolist())
        if proofs.distance[node] >= 0:
            assert low == high
            close = [v for v in possible if max_difference(v, low) <= tolerance]
            assert close, (history, low, possible)
            possible = frozenset([low])
        for vector in possible:
            for least, value, greatest in zip(low, vector, high, strict=True):
                assert least - tolerance <= value <= greatest + tolerance, (history, vector)
        known[node] = possible


def max_difference(one, other):
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def check_numbers(rooted, truth):
    """Assert that a proof number is 0 only for who can force a win, and a disproof number if not.

    Where one is 0 the other is infinite, and there alone.
    """
    proofs = rooted.proofs
    for node, history in histories(rooted.arrays, rooted.state.history).items():
        for player in range(truth.rules.num_players):
            proof, disproof = (
                float(proofs.proof[node, player]),
                float(proofs.disproof[node, player]),
            )
            assert proof >= 0.0 <= disproof
            assert (proof == 0.0) == (disproof == math.inf), (history, player)
            assert (disproof == 0.0) == (proof == math.inf), (history, player)
            if proof == 0.0 or disproof == 0.0:
                assert truth.can_force_a_win(history, player) == (proof == 0.0), (history, player)


# What the arrays hold, computed anew from the leaves up.


def check_derived(rooted, config, searching_player):
    """Assert that every node's bounds, numbers and bonuses are those that its children give.

    The bonuses are not computed anew before a simulation needs them.
    """
    tree, proofs = rooted.arrays, rooted.proofs
    counted = isinstance(config.proofs.numbers, ProofNumbers)
    viewer = NOBODY
    if counted:
        viewer = int(rooted.running.proofs.numbers.viewer[0])
    assert viewer in (searching_player, NOBODY)
    utilities = float(rooted.state.min_utility()), float(rooted.state.max_utility())
    for node in range(int(tree.used[NODE])):
        edges = edge_rows(tree, node)
        children = [int(tree.edge_child[edge]) for edge in edges]
        mover = int(tree.node_player[node])
        if mover == TERMINAL:
            continue
        if isinstance(config.proofs.solver, Solver):
            if mover == CHANCE:
                weights = [float(tree.edge_prior[edge]) for edge in edges]
                check_expected_bounds(proofs, node, children, weights, utilities)
            else:
                total = rooted.state.utility_sum()
                check_derived_bounds(proofs, node, mover, children, utilities, total)
        if counted:
            numbers = [numbers_of(proofs, child) for child in children]
            assert numbers_of(proofs, node) == derived_numbers(numbers, mover)
            if mover != CHANCE and viewer != NOBODY:
                expected = derived_bonuses(numbers, mover, config.proofs.numbers, searching_player)
                for edge, bonus in zip(edges, expected, strict=True):
                    assert math.isclose(proofs.edge_bonus[edge], bonus, abs_tol=1e-6)


def numbers_of(proofs, node):
    """(proof, disproof) for each player; 1 and 1 where nothing is known."""
    players = proofs.proof.shape[1]
    if node == UNEXPANDED:
        return [(1.0, 1.0)] * players
    return [(float(proofs.proof[node, p]), float(proofs.disproof[node, p])) for p in range(players)]


def derived_numbers(children, mover):
    """A node's numbers by Allis (1994)."""
    derived = []
    for player, pairs in enumerate(zip(*children, strict=True)):
        proof, disproof = zip(*pairs, strict=True)
        own = player == mover
        derived.append((min(proof), sum(disproof)) if own else (sum(proof), min(disproof)))
    return derived


def derived_bonuses(children, mover, part, searching_player):
    """What the part, ``ProofNumbers``, makes of the children's numbers."""
    keys = [edge_key(numbers, mover, part, searching_player) for numbers in children]
    if isinstance(part.bonus, RankBonus):
        return [1 - (1 + sum(other < key for other in keys)) / len(keys) for key in keys]
    if isinstance(part.bonus, DenseRankBonus):
        ranks = sorted(set(keys))
        return [1 - (1 + ranks.index(key)) / len(ranks) for key in keys]
    finite = [number for number, _ in keys if number < math.inf]
    if isinstance(part.bonus, SumBonus):
        whole = 1 + sum(finite)
        return [1 - number / whole if number < math.inf else 0.0 for number, _ in keys]
    assert isinstance(part.bonus, MaxBonus)
    bonuses = []
    for number, _ in keys:
        if number == math.inf:
            bonuses.append(0.0)
        else:
            bonuses.append(1 - (number - min(finite)) / (1 + max(finite) - min(finite)))
    return bonuses


def edge_key(numbers, mover, part, searching_player):
    """How far who moves is from their goal, and from the lesser one, not to lose."""
    ranked = isinstance(part.bonus, RankBonus | DenseRankBonus)
    lesser = ranked and isinstance(part.bonus.draws, DrawLayer) and len(numbers) == 2
    if isinstance(part.goal, AllPlayers) or mover == searching_player:
        return numbers[mover][0], numbers[1 - mover][1] if lesser else 0.0
    return numbers[searching_player][1], numbers[mover][0] if lesser else 0.0


def check_derived_bounds(proofs, node, mover, children, utilities, utility_sum):
    players = proofs.low.shape[1]
    bounds = [bounds_of(proofs, child, utilities) for child in children]
    solved = [child for child in children if child != UNEXPANDED and proofs.distance[child] >= 0]
    own = bounds_of(proofs, node, utilities)
    sure = max(low[mover] for low, _ in bounds)
    likely = [(low, high) for low, high in bounds if high[mover] >= sure]
    best = max((proofs.low[child, mover] for child in solved), default=-math.inf)
    settled = bool(solved) and best >= max(high[mover] for _, high in bounds)
    # A winner takes the shortest way, who has less than somebody else the longest.
    ways = [child for child in solved if proofs.low[child, mover] == best]
    distances = [int(proofs.distance[child]) for child in ways]
    lost = [max(proofs.low[child]) > best for child in ways]
    if not any(lost):
        distance = 1 + min(distances, default=0)
    elif all(lost):
        distance = 1 + max(distances)
    else:
        distance = None
    assert settled == (proofs.distance[node] >= 0)
    if settled:
        if distance is not None:
            assert int(proofs.distance[node]) == distance
        assert own in [bounds_of(proofs, child, utilities) for child in solved]
        return
    for player in range(players):
        least = min(low[player] for low, _ in likely)
        greatest = max(high[player] for _, high in likely)
        if utility_sum is not None and mover != player:
            greatest = min(greatest, utility_sum - sure)
        assert own[0][player] == (sure if player == mover else least)
        assert own[1][player] == greatest


def check_expected_bounds(proofs, node, children, weights, utilities):
    """Assert the same of a chance node: its bounds are the expected ones."""
    bounds = [bounds_of(proofs, child, utilities) for child in children]
    total = math.fsum(weights)
    for player in range(proofs.low.shape[1]):
        for side, own in enumerate(bounds_of(proofs, node, utilities)):
            pairs = zip(weights, (each[side][player] for each in bounds), strict=True)
            expected = math.fsum(weight * value for weight, value in pairs) / total
            assert math.isclose(own[player], expected, abs_tol=1e-9)
    distances = [UNSOLVED if c == UNEXPANDED else int(proofs.distance[c]) for c in children]
    solved = UNSOLVED not in distances
    assert int(proofs.distance[node]) == (1 + max(distances) if solved else UNSOLVED)


def bounds_of(proofs, node, utilities):
    """(least, greatest) for each player."""
    if node == UNEXPANDED:
        players = proofs.low.shape[1]
        return (utilities[0],) * players, (utilities[1],) * players
    return tuple(proofs.low[node].tolist()), tuple(proofs.high[node].tolist())
