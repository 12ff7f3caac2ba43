"""Monte-Carlo tree search as the papers tell it: nodes are objects, nothing is fast.

It draws from the same random streams as the kernel, so that whole trees can be compared.
"""

import math
import struct

from helpers.textbook_playouts import Playouts, weighing

from rave_agents.parts import (
    GRAVE,
    HRAVE,
    PUCT,
    UCB1,
    AdaptiveUCB1,
    BlendScores,
    Fuego,
    GraveBias,
    HandSelected,
    Linear,
    MinimumMSE,
    NoAmaf,
    NodeAmaf,
    Pachi,
    ScheduledPUCT,
    SearchingPlayer,
    Stepped,
    TiesWithin,
    UCB1Tuned,
    VisitedEdges,
    WinningMoves,
)

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


class Statistics:
    """What AMAF knows of an action."""

    def __init__(self):
        self.n, self.total, self.wins, self.win_moves = 0.0, 0.0, 0.0, 0.0


class Edge:
    def __init__(self, action, prior):
        self.action = action
        self.prior = struct.unpack("f", struct.pack("f", prior))[0]  # trees keep single precision
        self.n, self.total, self.squares = 0, 0.0, 0.0
        self.amaf = Statistics()
        self.child = None


class Node:
    def __init__(self, player, edges, visits):
        self.player, self.edges, self.visits = player, edges, visits
        self.table, self.table_playouts = None, 0
        self.alone = True  # whether nobody else moves at the same time


class Textbook:
    """``words`` are the first states of the two streams.

    Of the config's parts only the classes and the numbers are heeded, never their functions.
    ``weigh`` is what a playout policy of one's own makes of an action, see ``weighing``.
    """

    def __init__(self, config, state, tree_words, playout_words, evaluator=None, weigh=None):
        self.config, self.state, self.evaluator = config, state, evaluator
        self.tie_breaks, self.playout_randoms = Xoshiro(tree_words), Xoshiro(playout_words)
        weigh = None if evaluator is not None else weigh or weighing(config.playouts)
        self.playouts = Playouts(weigh, state.num_players(), self.playout_randoms)
        self.tolerance = config.ties.tolerance if isinstance(config.ties, TiesWithin) else 0.0
        self.amaf = None if isinstance(config.amaf, NoAmaf) else config.amaf
        self.has_tables = isinstance(config.amaf, GRAVE | HRAVE)
        self.ref = config.amaf.ref if isinstance(config.amaf, GRAVE) else math.inf
        self.winning_weight = 0.0
        if self.amaf is not None and isinstance(self.amaf.winning, WinningMoves):
            self.winning_weight = self.amaf.winning.weight
        self.root, self.near_ties = None, 0
        self.whole = getattr(getattr(state, "rules", None), "_whole", True)
        self.searcher = state.current_player()
        self.has_chance = False
        # Sums of winning moves have single precision in the kernel.
        self.precision = 1e-6 if self.winning_weight else 1e-9
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

    def scaled_sum(self, total, n):
        """A sum on the scale [0, 1] for each visit."""
        if self.stated:
            return total
        return (total - n * self.low) / (self.high - self.low) if self.high > self.low else 0.0

    def observe(self, results):
        """Widen bounds that the game does not state; learn from playouts."""
        for _, returns in results:
            self.low = self.low if self.stated else min([self.low, *returns])
            self.high = self.high if self.stated else max([self.high, *returns])
        self.playouts.learn(results, self.low, self.high)

    def mean_values(self, results):
        """The mean of the playouts' values, for each player."""
        values = [0.0] * self.state.num_players()
        for _, returns in results:
            values = [v + self.kept(u) for v, u in zip(values, returns, strict=True)]
        return [v / len(results) for v in values]

    def simulate(self):
        state, node, path, reference = self.state.clone(), self.root, [], None
        while node is not None and not self.ends_at(node):
            if node.table is not None and (reference is None or node.table_playouts > self.ref):
                reference = node
            edge = self.choose(node, reference)
            path.append((node, edge))
            state.apply_action(edge.action)
            node = edge.child
        visits = path[-1][1].n if path else 0
        if node is None and (not path or visits + 1 >= self.config.expand_visits):
            node = self.make_node(state, visits)
            self.playouts.look_at(path, node)
            if path:
                path[-1][1].child = node
            else:
                self.root = node
        results = self.outcomes_of([parent for parent, _ in path], node, state)
        self.observe(results)
        if self.has_tables:
            self.give_table([parent for parent, _ in path] + ([node] if node else []))
        if self.amaf is not None:
            for number, (moves, returns) in enumerate(results):
                self.update_amaf(path, node, moves, returns, 1.0 / len(results), number == 0)
        values = self.mean_values(results)
        mover, movers = 0, []
        for parent, _ in path:
            mover = parent.player if parent.player >= 0 else mover
            movers.append(mover)
        for (parent, edge), mover in reversed(list(zip(path, movers, strict=True))):
            parent.visits += 1
            edge.n += 1
            edge.total += values[mover]
            edge.squares += values[mover] ** 2
            values = self.passed_on(parent, edge, values)
        if node is not None:
            node.visits += 1

    def ends_at(self, node):
        """Whether selection stops here."""
        return node.player == TERMINAL

    def passed_on(self, node, edge, values):
        """What counts above a node, of a simulation that took this edge there."""
        return values

    def outcomes_of(self, above, leaf, state):
        """[(moves, returns)] that a simulation counts, at a leaf that may have no node."""
        return self.play_out(state)

    def make_node(self, state, visits):
        player = state.current_player()
        if player == TERMINAL:
            entries = []
        elif player == CHANCE:
            entries = state.chance_outcomes()
            self.has_chance = True
        elif self.evaluator is not None:
            entries = self.evaluator.prior(state)
        else:
            entries = [(a, 1.0 / len(state.legal_actions())) for a in state.legal_actions()]
        return Node(player, [Edge(action, p) for action, p in entries], visits)

    def choose(self, node, reference):
        if node.player == CHANCE:
            unit = self.tie_breaks.unit()
            return drawn([(edge, edge.prior) for edge in node.edges], unit)
        known = self.amaf_of_siblings(node, reference) if self.heeds_amaf(node.player) else {}
        best, best_score, best_known, equals = None, None, None, 0
        scores = {}
        for edge in node.edges:
            hidden = edge.n == 0 and known and isinstance(self.amaf.edges, VisitedEdges)
            amaf = (0.0, 0.0) if hidden else known.get(edge, (0.0, 0.0))
            score = scores[edge] = self.urgency(node, edge, *amaf)
            known_of = (edge.n, edge.total, *amaf)
            if score == best_score and known_of != best_known and math.isfinite(score):
                self.near_ties += not self.whole  # Equal here, and but for rounding elsewhere.
            if best is not None and (score != best_score or self.winning_weight > 0):
                self.near_ties += abs(score - best_score) < self.precision
            if best is None or score > best_score:
                best, best_score, best_known, equals = edge, score, known_of, 1
            elif score == best_score:
                equals += 1
                if self.tie_breaks.below(equals) == 0:
                    best = edge
        if self.tolerance > 0:
            equals = 0
            for edge, score in scores.items():
                bar = best_score - self.tolerance
                self.near_ties += abs(bar - score) < self.precision
                if score >= bar:
                    equals += 1
                    if self.tie_breaks.below(equals) == 0:
                        best = edge
        return best

    def heeds_amaf(self, player):
        if self.amaf is None:
            return False
        return player == self.searcher or not isinstance(self.amaf.players, SearchingPlayer)

    def amaf_of_siblings(self, node, reference):
        """{edge: (AMAF visits, sum of values)}, winning moves included."""
        known, rates = {}, {}
        if self.has_tables and reference is None:
            return known
        for edge in node.edges:
            stats = edge.amaf
            if self.has_tables:
                stats = reference.table.get((node.player, edge.action), Statistics())
            if stats.n > 0:
                known[edge] = (stats.n, self.scaled_sum(stats.total, stats.n))
            rates[edge] = 0.0
            if stats.wins > 0:
                rates[edge] = (stats.wins / stats.n) / (stats.win_moves / stats.wins)
        w, best = self.winning_weight, max(rates.values())
        if w > 0 and best > 0:
            top = max(total / n for n, total in known.values())
            for edge, (n, total) in known.items():
                known[edge] = (n, (1 - w) * total + w * n * rates[edge] / best * top)
        return known

    def urgency(self, node, edge, amaf_n, amaf_sum):
        return self.score(node, edge, amaf_n, amaf_sum)

    def value_sum(self, node, edge):
        """The sum of an edge's values."""
        return self.scaled_sum(edge.total, edge.n)

    def score(self, node, edge, amaf_n, amaf_sum):
        n, na = edge.n, amaf_n
        w = self.value_sum(node, edge)
        q, q_amaf = w / n if n else 0.0, amaf_sum / na if na else 0.0
        bonus = self.exploration(node, edge)
        if na == 0 and n == 0:
            q = self.config.first_play_urgency
        if na == 0:
            return q + bonus
        if isinstance(self.amaf.blending, BlendScores):
            w, q, bonus = w + n * bonus, q + bonus, 0.0
        # (1 - beta) q + beta q_amaf with beta = na / (na + n v), as a fraction as in the kernel:
        # rounded otherwise, it would part ties, or make some.
        match self.amaf.schedule:
            case HandSelected(k):
                beta = math.sqrt(k / (3 * n + k))
                return (1 - beta) * q + beta * q_amaf + bonus
            case MinimumMSE(bias):
                v = 1 + na * 4 * bias**2
            case Fuego(initial, final):
                v = 1 / initial + na * (1 / final)
            case Pachi(equivalence):
                v = 1 + na * (1 / equivalence)
            case GraveBias(bias):
                v = 1 + na * bias
        return (amaf_sum + w * v) / (na + n * v) + bonus

    def exploration(self, node, edge):
        each = math.log(node.visits) / max(edge.n, 1)
        match self.config.rule if node.alone else self.config.simultaneous:
            case UCB1(c):
                return c * math.sqrt(each)
            case AdaptiveUCB1(c, chance_factor, chance_c):
                if self.has_chance:
                    c = max(c * chance_factor, chance_c)
                return c * math.sqrt(each)
            case UCB1Tuned(c):
                bound = self.variance(edge) + math.sqrt(2 * each)
                return c * math.sqrt(each * min(0.25, bound))
            case PUCT(c):
                return c * edge.prior * math.sqrt(node.visits) / (edge.n + 1)
            case ScheduledPUCT(c_init, c_base):
                c = math.log((1 + node.visits + c_base) / c_base) + c_init
                return c / 2 * edge.prior * math.sqrt(node.visits) / (edge.n + 1)
            case rule:
                raise NotImplementedError(rule)

    def variance(self, edge):
        if edge.n == 0:
            return 0.0
        mean, scale = edge.total / edge.n, 1.0
        if not self.stated:
            scale = self.high - self.low if self.high > self.low else math.inf
        return max(edge.squares / edge.n - mean**2, 0.0) / scale**2

    def play_out(self, state):
        """[(moves, returns)] of each playout; one without moves at the game's end."""
        if state.is_terminal():
            return [([], state.returns())]
        if self.evaluator is not None:
            return [([], self.evaluator.evaluate(state))]
        return [self.random_game(state.clone()) for _ in range(self.config.playout_count)]

    def random_action(self, state):
        if state.is_chance_node():
            return drawn(state.chance_outcomes(), self.playout_randoms.unit())
        return self.playouts.draw(state.current_player(), state.legal_actions())

    def random_game(self, state):
        moves = []
        while not state.is_terminal():
            action = self.random_action(state)
            if not state.is_chance_node():
                moves.append((state.current_player(), action))
            state.apply_action(action)
        return moves, state.returns()

    def give_table(self, nodes):
        """One node of the way gets a table: the first that should have one and has none."""
        for depth, node in enumerate(nodes):
            wanted = depth == 0 or (
                isinstance(self.amaf, GRAVE) and node.visits + 1 >= self.amaf.table_visits
            )
            if wanted and node.table is None and node.edges:
                node.table = {}
                return

    def update_amaf(self, path, leaf, moves, returns, share, first_playout):
        played, starts = [], []
        for node, edge in path:
            starts.append((node, len(played)))
            played += [(node.player, edge.action)] if node.player >= 0 else []
        leaves = leaf if isinstance(leaf, list) else [leaf] if leaf is not None else []
        starts += [(leaf, len(played)) for leaf in leaves]
        played += moves
        for node, start in starts:
            if node.table is not None:
                node.table_playouts += first_playout
            later, counted = played[start:], set()
            for distance, (player, action) in enumerate(later):
                if (player, action) in counted:
                    continue
                counted.add((player, action))
                weight = share * self.weight(distance, len(later))
                for stats in self.rows(node, player, action):
                    self.credit(stats, weight, returns[player], distance + 1)

    def weight(self, distance, length):
        match self.amaf.weighting:
            case Linear(first, last):
                return first + (last - first) * distance / length
            case Stepped():
                return 1 + 3 * (length - distance) // (length + 1)
        return 1.0

    def rows(self, node, player, action):
        """The statistics that a move of this player is credited to at a node."""
        if isinstance(self.amaf, NodeAmaf):
            edges = node.edges if node.player == player else []
            return [edge.amaf for edge in edges if edge.action == action]
        return [] if node.table is None else [node.table.setdefault((player, action), Statistics())]

    def credit(self, stats, weight, utility, number):
        stats.n += weight
        stats.total += weight * self.kept(utility)
        if self.mean(self.kept(utility), 1) > 0.5:
            stats.wins += weight
            stats.win_moves += weight * number
