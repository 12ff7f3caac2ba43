"""Monte-Carlo tree search to read: UCT, with RAVE and a solver if asked for, in plain Python.

The compiled search builds the same trees from the same random numbers, node by node, visit by visit
and value by value; a test compares them. Start at ``simulate``. The symbols are the papers':

    N       visits of a node
    n, q    visits of an edge, and the mean value for the player who moves at its node, in [0, 1]
    ñ, q̃    the same over all simulations in which the edge's action was played here or later (AMAF)
    c       exploration (UCB1)
    b       bias of AMAF values: the larger, the sooner q outweighs them (RAVE)

UCT: Kocsis & Szepesvári 2006, https://doi.org/10.1007/11871842_29
RAVE: Gelly & Silver 2011, https://doi.org/10.1016/j.artint.2011.03.007
Solver: Cazenave & Saffidine 2010, https://doi.org/10.1007/978-3-642-17928-0_9
"""

import math
import random

import pyspiel
from rave_openspiel.states import OpenSpielState

CHANCE, TERMINAL = -1, -4  # current_player() where nobody decides, as in OpenSpiel


class Node:
    """A position in the tree."""

    def __init__(self, player, edges, visits):
        self.player, self.edges, self.visits = player, edges, visits
        self.low, self.high = 0.0, 1.0  # Bounds of player 0's value; equal: solved.


class Edge:
    """An action at a node, or an outcome at a chance node."""

    def __init__(self, action, prior):
        self.action, self.prior, self.child = action, prior, None
        self.n, self.total = 0, 0.0  # q = total / n
        self.amaf_n, self.amaf_total = 0.0, 0.0  # q̃ = amaf_total / ñ


class ReferenceSearch:
    """A search of a ``GameState``, with ties broken and playouts drawn by a ``random.Random``.

    ``bias`` is RAVE's b (None: no RAVE). The solver is for two players whose returns sum to zero.
    """

    def __init__(self, state, *, c=0.5, bias=None, solver=False, ties=random, playouts=random):
        self.state, self.c, self.bias, self.solver = state, c, bias, solver
        self.ties, self.playouts, self.root = ties, playouts, None
        self.expand_visits = 2  # A leaf becomes a node on its second visit.

    def search(self, simulations):
        """Simulate, at most so often and until the root is solved; return the root."""
        for _ in range(simulations):
            if self.root is None or self.root.low < self.root.high:
                self.simulate()
        return self.root

    def simulate(self):
        """Select, expand, play out, back up."""
        path, leaf, state = self.select()
        if leaf is None and (not path or path[-1][1].n + 1 >= self.expand_visits):
            leaf = self.expand(path, state)
        solved = leaf is not None and leaf.low == leaf.high
        moves, values = ([], [leaf.low, 1 - leaf.low]) if solved else self.play_out(state)
        if self.bias is not None:
            self.update_amaf(path, leaf, moves, values)
        self.back_up(path, leaf, values)

    def select(self):
        """Follow the most urgent edges from the root to a leaf, which may have no node yet."""
        state, node, path = self.state.clone(), self.root, []
        while node is not None and node.player != TERMINAL and node.low < node.high:
            edge = self.choose(node)
            path.append((node, edge))
            state.apply_action(edge.action)
            node = edge.child
        return path, node, state

    def choose(self, node):
        """Return the most urgent edge, a random one of equals; at a chance node an outcome."""
        if node.player == CHANCE:
            return draw([(edge, edge.prior) for edge in node.edges], self.ties)
        best, best_urgency, equals = None, None, 0
        for edge in node.edges:
            urgency = self.urgency(node, edge)
            if best is None or urgency > best_urgency:
                best, best_urgency, equals = edge, urgency, 1
            elif urgency == best_urgency:
                equals += 1
                if self.ties.randrange(equals) == 0:
                    best = edge
        return best

    def urgency(self, node, edge):
        """Return ``value + c sqrt(ln N / n)``, or what is certain of an edge."""
        total, penalty = edge.total, 0.0
        if self.solver and edge.child is not None:
            low, high, sure = edge.child.low, edge.child.high, node.low
            if node.player == 1:
                low, high, sure = 1 - high, 1 - low, 1 - node.high
            penalty = 1e9 if low < sure >= high else 0.0  # It cannot be best.
            if low == high:
                return low - penalty
            total = min(max(total, edge.n * low), edge.n * high)
        exploration = self.c * math.sqrt(math.log(node.visits)) * (1 / math.sqrt(max(edge.n, 1)))
        return self.value(edge, total) + exploration - penalty

    def value(self, edge, total):
        """Return ``(1 - β) q + β q̃`` with ``β = ñ / (n + ñ + 4 n ñ b²)``, as one fraction."""
        if self.bias is not None and edge.amaf_n > 0:
            weight = 1 + edge.amaf_n * (4 * self.bias**2)
            return (edge.amaf_total + total * weight) / (edge.amaf_n + edge.n * weight)
        return total / edge.n if edge.n > 0 else math.inf  # Every edge is tried once.

    def expand(self, path, state):
        """Make a node at the end of the path."""
        leaf = self.make_node(state, path[-1][1].n if path else 0)
        if path:
            path[-1][1].child = leaf
        else:
            self.root = leaf
        if self.solver and leaf.player == TERMINAL:
            leaf.low = leaf.high = self.scaled(state.returns())[0]
            for node, _ in reversed(path):
                self.update_bounds(node)
        return leaf

    def make_node(self, state, visits):
        """Make the node of a position, with an edge for every action or outcome of chance."""
        player = state.current_player()
        actions = state.legal_actions() if player >= 0 else []
        weighted = [(action, 1 / len(actions)) for action in actions]
        if player == CHANCE:
            weighted = state.chance_outcomes()
        return Node(player, [Edge(*each) for each in weighted], visits)

    def update_bounds(self, node):
        """Derive bounds from the children's: each player takes the best, chance takes any."""
        children = [edge.child or Node(TERMINAL, [], 0) for edge in node.edges]
        node.low = (max if node.player == 0 else min)(child.low for child in children)
        node.high = (min if node.player == 1 else max)(child.high for child in children)

    def play_out(self, state):
        """Play at random to the end; return the moves with their players, and the values."""
        moves = []
        while not state.is_terminal():
            if state.is_chance_node():
                action = draw(state.chance_outcomes(), self.playouts)
            else:
                action = self.playouts.choice(state.legal_actions())
                moves.append((state.current_player(), action))
            state.apply_action(action)
        return moves, self.scaled(state.returns())

    def scaled(self, returns):
        """Return utilities on the scale [0, 1]."""
        least, greatest = self.state.min_utility(), self.state.max_utility()
        return [(utility - least) / (greatest - least) for utility in returns]

    def update_amaf(self, path, leaf, moves, values):
        """Credit the edges of each node whose action its player took there or later."""
        played = [(node.player, edge.action) for node, edge in path] + moves
        nodes = [node for node, _ in path] + ([] if leaf is None else [leaf])
        for depth, node in enumerate(nodes):
            later = set(played[depth:])
            for edge in node.edges:
                if node.player != CHANCE and (node.player, edge.action) in later:
                    edge.amaf_n += 1
                    edge.amaf_total += values[node.player]

    def back_up(self, path, leaf, values):
        """Count a visit and its value; after chance, that of the player who moved last."""
        mover = 0
        for node, edge in path:
            mover = mover if node.player == CHANCE else node.player
            node.visits += 1
            edge.n += 1
            edge.total += values[mover]
        if leaf is not None:
            leaf.visits += 1


def draw(weighted, generator):
    """Return one of ``[(outcome, probability), ...]``."""
    unit = generator.random()
    for outcome, probability in weighted:
        unit -= probability
        if unit < 0:
            return outcome
    return weighted[-1][0]


if __name__ == "__main__":
    game = pyspiel.load_game("tic_tac_toe")
    for edge in ReferenceSearch(OpenSpielState(game.new_initial_state())).search(1000).edges:
        print(f"action {edge.action}: {edge.n} visits, value {edge.total / edge.n:.3f}")
