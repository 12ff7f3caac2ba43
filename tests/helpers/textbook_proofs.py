"""The textbook with a solver and proof numbers: what is proven is derived anew at every turn."""

import math
import struct
from itertools import pairwise

import numpy as np
from helpers.exhaustive import derived_bonuses, derived_numbers, wins
from helpers.textbook import CHANCE, TERMINAL, Textbook

from rave_agents.parts import CheckNothing, CheckRefutations, NoProofNumbers, NoSolver, SkipSolved

SET_ASIDE = 1e9
"""What an edge that is not worth a visit falls behind the others."""


class Proof:
    """What is proven of a node: each player's utility bounds and numbers, and plies to the end."""

    def __init__(self, players, low, high):
        self.low, self.high, self.distance = (low,) * players, (high,) * players, None
        self.numbers = [(1.0, 1.0)] * players

    @property
    def solved(self):
        return self.distance is not None


class ProvingTextbook(Textbook):
    """A search that stops when its root is proven, by a solver, by proof numbers, or both.

    A node's children that end the game are made with it if they are checked for, and those refuted
    by the same reply as a new one's if refutations are.
    """

    def __init__(self, config, state, *streams, **options):
        super().__init__(config, state, *streams, **options)
        self.players, self.searcher = state.num_players(), state.current_player()
        self.utilities = state.min_utility(), state.max_utility()
        self.utility_sum = state.utility_sum() if self.players == 2 else None
        proofs = config.proofs
        self.solves = not isinstance(proofs.solver, NoSolver)
        self.numbers = None if isinstance(proofs.numbers, NoProofNumbers) else proofs.numbers
        self.skips = isinstance(proofs.skipping, SkipSolved)
        self.checks_terminal = not isinstance(proofs.checks, CheckNothing)
        self.checks_refutations = isinstance(proofs.checks, CheckRefutations)
        self.unknown = Proof(self.players, *self.utilities)
        self.ends = []

    def search(self, simulations):
        for _ in range(simulations):
            if self.root is not None and self.is_proven(self.root):
                break
            self.simulate()
        return self.root

    def is_proven(self, root):
        if self.solves:
            return root.proof.solved
        won = self.numbers is not None and root.proof.numbers[self.searcher][0] == 0.0
        return won and self.has_plain_ends()

    def simulate(self):
        self.expanded = None
        super().simulate()
        if self.checks_refutations and self.expanded is not None:
            self.check_refutations(*self.expanded)

    def outcomes_of(self, above, leaf, state):
        if leaf is not None and leaf.proof is not None and self.solves and leaf.proof.solved:
            return [([], leaf.proof.low)]
        results = super().outcomes_of(above, leaf, state)
        if leaf is not None and leaf.proof is None:
            self.expanded = above, leaf
            self.prove_leaf(leaf, state)
            for node in reversed(above):
                self.derive(node)
            if self.solves and leaf.proof.solved:
                return [([], leaf.proof.low)]
        return results

    def passed_on(self, node, edge, values):
        """Where solved children are passed over, the outcome of the best counts above the node."""
        if not (self.skips and self.solves) or node.player < 0 or node.proof.solved:
            return values
        mover, sure = node.player, node.proof.low[node.player]
        if self.scaled(sure) <= self.mean(edge.total, edge.n) + 1e-9:
            return values
        children = [other.child.proof for other in node.edges if other.child is not None]
        for proof in children:
            if proof.solved and proof.low[mover] == sure:
                return [self.kept(utility) for utility in proof.low]
        return values

    # What is proven of a node.

    def make_node(self, state, visits):
        node = super().make_node(state, visits)
        node.proof = None
        return node

    def prove_leaf(self, leaf, state):
        if leaf.player == TERMINAL:
            leaf.proof = self.end(state.returns())
            return
        for edge in leaf.edges:
            child = state.clone()
            child.apply_action(edge.action)
            if self.checks_terminal and child.is_terminal():
                edge.child = self.make_node(child, 0)
                edge.child.proof = self.end(child.returns())
        leaf.proof = Proof(self.players, *self.utilities)
        self.derive(leaf)

    def check_refutations(self, above, leaf):
        if not above or above[-1].player < 0 or above[-1].proof.solved or leaf.player < 0:
            return
        state = self.state.clone()
        for node, child in pairwise([*above, leaf]):
            parent = state.clone()
            state.apply_action(next(e.action for e in node.edges if e.child is child))
        wins = [edge for edge in leaf.edges if self.is_win(edge.child, leaf.player)]
        if not wins:
            return
        for edge in above[-1].edges:
            if edge.child is None:
                self.check_reply(parent.clone(), edge, leaf.player, wins[0].action)
        for node in reversed(above):
            self.derive(node)

    def is_win(self, node, player):
        if node is None or node.player != TERMINAL:
            return False
        return node.proof.low[player] >= self.utilities[1]

    def check_reply(self, state, edge, player, reply):
        state.apply_action(edge.action)
        if state.current_player() != player or reply not in state.legal_actions():
            return
        node = self.make_node(state, edge.n)
        node.edges = [answer for answer in node.edges if answer.action == reply]
        state.apply_action(reply)
        if not state.is_terminal() or state.returns()[player] < self.utilities[1]:
            return
        edge.child = node
        node.edges[0].prior = 1.0
        node.edges[0].child = self.make_node(state, 0)
        node.edges[0].child.proof = self.end(state.returns())
        node.proof = Proof(self.players, *self.utilities)
        self.derive(node)

    def end(self, returns):
        proof = Proof(self.players, 0.0, 0.0)
        proof.low = proof.high = tuple(returns)
        proof.distance = 0
        won = [wins(returns, player, self.utilities[1]) for player in range(self.players)]
        self.ends.append((tuple(returns), won))
        proof.numbers = [(0.0, math.inf) if w else (math.inf, 0.0) for w in won]
        return proof

    def derive(self, node):
        below = [self.unknown if e.child is None else e.child.proof for e in node.edges]
        node.proof.numbers = derived_numbers([proof.numbers for proof in below], node.player)
        if node.proof.solved:
            return
        if node.player == CHANCE:
            self.derive_expected(node, below)
            return
        solution = self.solution(node.player, below)
        if solution is not None:
            node.proof.low = node.proof.high = solution.low
            node.proof.distance = 1 + solution.distance
            if self.solves:
                node.low = node.high  # Selection ends here.
            return
        mover = node.player
        sure = max(proof.low[mover] for proof in below)
        likely = [proof for proof in below if proof.high[mover] >= sure]
        low = [min(column) for column in zip(*(proof.low for proof in likely), strict=True)]
        high = [max(column) for column in zip(*(proof.high for proof in likely), strict=True)]
        low[mover] = sure
        if self.utility_sum is not None:
            high[1 - mover] = min(high[1 - mover], self.utility_sum - sure)
        node.proof.low, node.proof.high = tuple(low), tuple(high)

    def derive_expected(self, node, below):
        """A chance node's bounds are expected ones; it is solved once all outcomes are."""
        weights = [float(np.float32(edge.prior)) for edge in node.edges]

        def expected(values):
            total = sum(weight * value for weight, value in zip(weights, values, strict=True))
            return min(max(total / sum(weights), min(values)), max(values))

        proof = node.proof
        proof.low = tuple(map(expected, zip(*(each.low for each in below), strict=True)))
        proof.high = tuple(map(expected, zip(*(each.high for each in below), strict=True)))
        if all(each.solved for each in below):
            proof.high = proof.low
            proof.distance = 1 + max(each.distance for each in below)
            if self.solves:
                node.low = node.high  # Selection ends here.

    def solution(self, mover, below):
        """The proof that a solved node takes over; None if the node is not solved."""
        solved = [proof for proof in below if proof.solved]
        best = None
        for proof in solved:
            if best is None or self.prefers(mover, proof, best):
                best = proof
        if best is None or best.low[mover] < max(proof.high[mover] for proof in below):
            return None
        return best

    def prefers(self, mover, one, other):
        if one.low[mover] != other.low[mover]:
            return one.low[mover] > other.low[mover]
        one_lost, other_lost = (max(end.low) > end.low[mover] for end in (one, other))
        if one_lost != other_lost:
            return other_lost
        return one.distance > other.distance if one_lost else one.distance < other.distance

    # What selection makes of it.

    def scaled(self, utility):
        return (utility - self.low) / (self.high - self.low) if self.high > self.low else 0.0

    def value_sum(self, node, edge):
        total = super().value_sum(node, edge)
        if edge.n == 0 or edge.child is None or not self.solves:
            return total
        low, high = (self.scaled(end[node.player]) for end in self.bounds(edge))
        return min(max(total, edge.n * low), edge.n * high)

    def bounds(self, edge):
        return edge.child.proof.low, edge.child.proof.high

    def score(self, node, edge, amaf_n, amaf_sum):
        score = super().score(node, edge, amaf_n, amaf_sum)
        if self.numbers is not None and score != math.inf:
            score = self.with_bonus(node, edge, score)
        if edge.child is None:
            return score
        proof, mover = edge.child.proof, node.player
        aside = False
        if self.solves:
            sure = node.proof.low[mover]
            aside = proof.low[mover] < sure and proof.high[mover] <= sure
            score = self.scaled(proof.low[mover]) if proof.solved else score
        if self.skips and edge.n > self.config.proofs.skipping.visits:
            aside = aside or (self.settled(proof) and not self.settled(node.proof))
        return score - SET_ASIDE if aside else score

    def settled(self, proof):
        if self.solves:
            return proof.solved
        return 0.0 in proof.numbers[self.searcher] and self.to_win_is_all()

    def to_win_is_all(self):
        return self.has_plain_ends() and not self.has_chance

    def has_plain_ends(self):
        """A winner has the most, all others the least; where nobody wins, all have the middle."""
        for returns, won in self.ends:
            for utility, is_winner in zip(returns, won, strict=True):
                drawn = not any(won) and self.players > 1
                due = (self.low + self.high) / 2 if drawn else (self.low, self.high)[is_winner]
                if abs(utility - due) > 1e-9 * (self.high - self.low):
                    return False
        return True

    def with_bonus(self, node, edge, score):
        part = self.numbers
        below = [self.unknown if e.child is None else e.child.proof for e in node.edges]
        numbers = [proof.numbers for proof in below]
        bonuses = derived_bonuses(numbers, node.player, part, self.searcher)
        bonus = bonuses[node.edges.index(edge)]
        bonus = struct.unpack("f", struct.pack("f", bonus))[0]  # trees keep single precision
        exact = self.to_win_is_all()
        half_life = (part.visits if exact else min(part.visits, 1)) * len(node.edges) ** 2
        fading = 1 / (1 + (edge.n / half_life) ** 2)
        weight = part.weight if exact else part.weight * fading
        return (1 - weight) * score + weight * bonus + part.constant * bonus * fading
