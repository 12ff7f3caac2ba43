"""Monte-Carlo tree search as the papers tell it: nodes are objects, nothing is fast.

It draws from the same random streams as the kernel, so that whole trees can be compared.
"""

import math
import struct

CHANCE, TERMINAL = -1, -4
MASK = 2**32 - 1


class Xoshiro:
    """xoshiro128++ 1.0 (Blackman & Vigna), from its published description."""

    def __init__(self, words):
        self.s = [int(word) for word in words]

    def word(self):
        def rotl(x, k):
            return ((x << k) | (x >> (32 - k))) & MASK

        s = self.s
        result = (rotl((s[0] + s[3]) & MASK, 7) + s[0]) & MASK
        t = (s[1] << 9) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 11)
        return result

    def below(self, bound):
        return self.word() * bound // 2**32

    def unit(self):
        return self.word() / 2**32


def drawn(weighted, unit):
    for outcome, probability in weighted:
        unit -= probability
        if unit < 0:
            return outcome
    return weighted[-1][0]


class Edge:
    def __init__(self, action, prior):
        self.action = action
        self.prior = struct.unpack("f", struct.pack("f", prior))[0]  # trees keep single precision
        self.n, self.total, self.amaf_n, self.amaf_total = 0, 0.0, 0.0, 0.0
        self.child = None


class Node:
    def __init__(self, player, edges, visits):
        self.player, self.edges, self.visits = player, edges, visits


class Textbook:
    """``config`` has SearchConfig's fields; ``words`` are the first states of the two streams."""

    def __init__(self, config, state, tree_words, playout_words, evaluator=None):
        self.config, self.state, self.evaluator = config, state, evaluator
        self.tie_breaks, self.playout_randoms = Xoshiro(tree_words), Xoshiro(playout_words)
        self.root = None
        self.stated = config.utility_range == "game" and math.isfinite(state.max_utility())
        self.low, self.high = state.min_utility(), state.max_utility()
        if not self.stated:
            self.low, self.high = math.inf, -math.inf

    def search(self, simulations):
        for _ in range(simulations):
            self.simulate()
        return self.root

    # Unknown bounds: sums stay in the game's utilities, and are scaled when they are looked at.
    def kept(self, utility):
        return (utility - self.low) / (self.high - self.low) if self.stated else utility

    def mean(self, total, n):
        if self.stated:
            return total / n
        return (total / n - self.low) / (self.high - self.low) if self.high > self.low else 0.0

    def simulate(self):
        state, node, path = self.state.clone(), self.root, []
        while node is not None and node.player != TERMINAL:
            edge = self.choose(node)
            path.append((node, edge))
            state.apply_action(edge.action)
            node = edge.child
        visits = path[-1][1].n if path else 0
        if node is None and (not path or visits + 1 >= self.config.expand_visits):
            node = self.make_node(state, visits)
            if path:
                path[-1][1].child = node
            else:
                self.root = node
        results = self.play_out(state)
        for _, returns in results:
            self.low = self.low if self.stated else min([self.low, *returns])
            self.high = self.high if self.stated else max([self.high, *returns])
        if self.config.amaf == "node":
            for moves, returns in results:
                self.update_amaf(path, node, moves, returns, 1.0 / len(results))
        values = [0.0] * self.state.num_players()
        for _, returns in results:
            values = [v + self.kept(u) for v, u in zip(values, returns, strict=True)]
        values = [v / len(results) for v in values]
        mover = 0
        for parent, edge in path:
            mover = parent.player if parent.player >= 0 else mover
            parent.visits += 1
            edge.n += 1
            edge.total += values[mover]
        if node is not None:
            node.visits += 1

    def make_node(self, state, visits):
        player = state.current_player()
        if player == TERMINAL:
            entries = []
        elif player == CHANCE:
            entries = state.chance_outcomes()
        elif self.evaluator is not None:
            entries = self.evaluator.prior(state)
        else:
            entries = [(a, 1.0 / len(state.legal_actions())) for a in state.legal_actions()]
        return Node(player, [Edge(action, p) for action, p in entries], visits)

    def choose(self, node):
        if node.player == CHANCE:
            unit = self.tie_breaks.unit()
            return drawn([(edge, edge.prior) for edge in node.edges], unit)
        best, best_score, equals = None, None, 0
        for edge in node.edges:
            score = self.score(node, edge)
            if best is None or score > best_score:
                best, best_score, equals = edge, score, 1
            elif score == best_score:
                equals += 1
                if self.tie_breaks.below(equals) == 0:
                    best = edge
        return best

    def score(self, node, edge):
        config = self.config
        if config.selection == "puct":
            bonus = config.exploration * edge.prior * math.sqrt(node.visits) / (edge.n + 1)
        else:
            bonus = config.exploration * math.sqrt(math.log(node.visits) / max(edge.n, 1))
        if edge.amaf_n == 0:
            if edge.n == 0:
                return config.first_play_urgency + bonus
            return self.mean(edge.total, edge.n) + bonus
        q_amaf = self.mean(edge.amaf_total, edge.amaf_n)
        q = self.mean(edge.total, edge.n) if edge.n else 0.0
        if config.rave_schedule == "minimum_mse":
            b, n, na = config.rave_bias, edge.n, edge.amaf_n
            beta = na / (n + na + 4 * n * na * b * b)
        else:
            beta = math.sqrt(config.rave_k / (3 * edge.n + config.rave_k))
        if config.rave_blend == "ucb":
            return (1 - beta) * (q + bonus) + beta * q_amaf
        return (1 - beta) * q + beta * q_amaf + bonus

    def play_out(self, state):
        """[(moves, returns)] of each playout; one without moves at the game's end."""
        if state.is_terminal():
            return [([], state.returns())]
        if self.evaluator is not None:
            return [([], self.evaluator.evaluate(state))]
        return [self.random_game(state.clone()) for _ in range(self.config.playouts)]

    def random_game(self, state):
        moves = []
        while not state.is_terminal():
            if state.is_chance_node():
                action = drawn(state.chance_outcomes(), self.playout_randoms.unit())
            else:
                actions = state.legal_actions()
                action = actions[self.playout_randoms.below(len(actions))]
                moves.append((state.current_player(), action))
            state.apply_action(action)
        return moves, state.returns()

    def update_amaf(self, path, leaf, moves, returns, weight):
        whole = [(node.player, edge.action) for node, edge in path] + moves
        nodes = [node for node, _ in path] + ([leaf] if leaf is not None else [])
        for ply, node in enumerate(nodes):
            later = set(whole[ply:])
            for edge in node.edges if node.player >= 0 else []:
                if (node.player, edge.action) in later:
                    edge.amaf_n += weight
                    edge.amaf_total += weight * self.kept(returns[node.player])
