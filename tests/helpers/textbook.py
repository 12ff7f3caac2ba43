"""The reference search with all parts that the kernel has beside its own.

It draws from the same random streams as the kernel, so that whole trees can be compared.
"""

import math
import struct

from helpers.examples import load_example
from helpers.textbook_playouts import Playouts, weighing

from rave_agents.parts import (
    GRAVE,
    HRAVE,
    MCPS,
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

reference = load_example("reference_search")
CHANCE, TERMINAL = reference.CHANCE, reference.TERMINAL
MASK = 2**32 - 1


class Xoshiro:
    """xoshiro128++ 1.0 (Blackman & Vigna), from its published description.

    Its draws are the kernel's; they have the names of ``random.Random``.
    """

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

    def randrange(self, bound):
        return self.word() * bound // 2**32

    def choice(self, entries):
        return entries[self.randrange(len(entries))]

    def random(self):
        return self.word() / 2**32


class Edge(reference.Edge):
    """An edge, or what AMAF knows of an action."""

    def __init__(self, action, prior):
        # Trees keep single precision.
        super().__init__(action, struct.unpack("f", struct.pack("f", prior))[0])
        self.squares, self.wins, self.win_moves = 0.0, 0.0, 0.0
        self.permutations = 0, 0.0


class Textbook(reference.ReferenceSearch):
    """``words`` are the first states of the two streams.

    Of the config's parts only the classes and the numbers are heeded, never their functions.
    ``weigh`` is what a playout policy of one's own makes of an action, see ``weighing``.
    """

    def __init__(self, config, state, tree_words, playout_words, evaluator=None, weigh=None):
        super().__init__(state, ties=Xoshiro(tree_words), playouts=Xoshiro(playout_words))
        self.config, self.evaluator = config, evaluator
        self.expand_visits = config.expand_visits
        weigh = None if evaluator is not None else weigh or weighing(config.playouts)
        self.policy = Playouts(weigh, state.num_players(), self.playouts)
        self.tolerance = config.ties.tolerance if isinstance(config.ties, TiesWithin) else 0.0
        self.amaf = None if isinstance(config.amaf, NoAmaf) else config.amaf
        self.permutations, self.noted, self.way = None, [], []
        if isinstance(config.amaf, MCPS):
            self.permutations, self.amaf = config.amaf, config.amaf.tables
        self.has_tables = isinstance(self.amaf, GRAVE | HRAVE)
        self.ref = self.amaf.ref if isinstance(self.amaf, GRAVE) else math.inf
        self.winning_weight = 0.0
        if self.amaf is not None and isinstance(self.amaf.winning, WinningMoves):
            self.winning_weight = self.amaf.winning.weight
        self.near_ties, self.table_node, self.scores = 0, None, {}
        self.whole = getattr(getattr(state, "rules", None), "_whole", True)
        self.searcher = state.current_player()
        self.has_chance = False
        # Sums of winning moves have single precision in the kernel.
        self.precision = 1e-6 if self.winning_weight else 1e-9
        self.stated = config.utility_range == "game" and math.isfinite(state.max_utility())
        self.low, self.high = state.min_utility(), state.max_utility()
        if not self.stated:
            self.low, self.high = math.inf, -math.inf

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
        self.policy.learn(results, self.low, self.high)

    def mean_values(self, results):
        """The mean of the playouts' values, for each player."""
        values = [0.0] * self.state.num_players()
        for _, returns in results:
            values = [v + self.kept(u) for v, u in zip(values, returns, strict=True)]
        return [v / len(results) for v in values]

    def simulate(self):
        self.table_node = None
        path, leaf, state = self.select()
        above = [node for node, _ in path]
        if leaf is None and (not path or path[-1][1].n + 1 >= self.expand_visits):
            leaf = self.expand(path, state)
            self.policy.look_at(path, leaf)
        results = self.outcomes_of(above, leaf, state)
        self.observe(results)
        if self.has_tables:
            self.give_table(above + ([leaf] if leaf else []))
        if self.amaf is not None:
            for number, (moves, returns) in enumerate(results):
                self.credit_playout(path, leaf, moves, returns, 1.0 / len(results), number == 0)
        for moves, returns in results:
            before = [(node.player, edge.action) for node, edge in path if node.player >= 0]
            self.noted.append(({*before, *moves}, returns))
        self.back_up(path, leaf, self.mean_values(results))

    def back_up(self, path, leaf, values):
        mover, movers = 0, []
        for node, _ in path:
            mover = node.player if node.player >= 0 else mover
            movers.append(mover)
        for (node, edge), mover in reversed(list(zip(path, movers, strict=True))):
            node.visits += 1
            edge.n += 1
            edge.total += values[mover]
            edge.squares += values[mover] ** 2
            values = self.passed_on(node, edge, values)
        if leaf is not None:
            leaf.visits += 1

    def passed_on(self, node, edge, values):
        """What counts above a node, of a simulation that took this edge there."""
        return values

    def outcomes_of(self, above, leaf, state):
        """[(moves, returns)] that a simulation counts, at a leaf that may have no node."""
        return self.results_of(state)

    def make_node(self, state, visits):
        node = super().make_node(state, visits)
        self.has_chance = self.has_chance or node.player == CHANCE
        entries = [(edge.action, edge.prior) for edge in node.edges]
        if node.player >= 0 and self.evaluator is not None:
            entries = self.evaluator.prior(state)
        return self.new_node(node.player, entries, visits)

    def new_node(self, player, entries, visits):
        node = reference.Node(player, [Edge(*entry) for entry in entries], visits)
        node.table, node.table_playouts, node.counted = None, 0, 0
        node.alone = True  # whether nobody else moves at the same time
        return node

    def choose(self, node):
        nearest = self.table_node is None or node.table_playouts > self.ref
        if node.table is not None and nearest:
            self.table_node = node
        if node is self.root:
            self.way = []
        edge = self.choice_at(node)
        self.way.append((node.player, edge.action))
        return edge

    def choice_at(self, node):
        if node.player == CHANCE:
            return super().choose(node)
        amaf = self.amaf_of_siblings(node) if self.heeds_amaf(node.player) else {}
        if self.permutations is not None:
            self.count_permutations(node)
            if self.table_node is not None and self.heeds_amaf(node.player):
                self.add_permutations(node, amaf)
        if amaf and isinstance(self.amaf.edges, VisitedEdges):
            amaf = {edge: sums for edge, sums in amaf.items() if edge.n > 0}
        known = {edge: amaf.get(edge, (0.0, 0.0)) for edge in node.edges}
        self.scores = {edge: self.score(node, edge, *known[edge]) for edge in node.edges}
        self.count_near_ties(known)
        best = super().choose(node)
        if self.tolerance > 0:
            equals, bar = 0, max(self.scores.values()) - self.tolerance
            for edge, score in self.scores.items():
                self.near_ties += abs(bar - score) < self.precision
                if score >= bar:
                    equals += 1
                    if self.ties.randrange(equals) == 0:
                        best = edge
        return best

    def urgency(self, node, edge):
        return self.scores[edge]

    def count_near_ties(self, known):
        """Count the scores that are equal here, or elsewhere, but for rounding."""
        best, best_known = None, None
        for edge, score in self.scores.items():
            known_of = (edge.n, edge.total, *known[edge])
            if score == best and known_of != best_known and math.isfinite(score):
                self.near_ties += not self.whole
            if best is not None and (score != best or self.winning_weight > 0):
                self.near_ties += abs(score - best) < self.precision
            if best is None or score > best:
                best, best_known = score, known_of

    def heeds_amaf(self, player):
        if self.amaf is None:
            return False
        return player == self.searcher or not isinstance(self.amaf.players, SearchingPlayer)

    def amaf_of_siblings(self, node):
        """{edge: (AMAF visits, sum of values)}, winning moves included."""
        known, rates = {}, {}
        if self.has_tables and self.table_node is None:
            return known
        for edge in node.edges:
            row = edge
            if self.has_tables:
                row = self.table_node.table.get((node.player, edge.action), Edge(edge.action, 0.0))
            if row.amaf_n > 0:
                known[edge] = (row.amaf_n, self.scaled_sum(row.amaf_total, row.amaf_n))
            rates[edge] = 0.0
            if row.wins > 0:
                rates[edge] = (row.wins / row.amaf_n) / (row.win_moves / row.wins)
        w, best = self.winning_weight, max(rates.values())
        if w > 0 and best > 0:
            top = max(total / n for n, total in known.values())
            for edge, (n, total) in known.items():
                known[edge] = (n, (1 - w) * total + w * n * rates[edge] / best * top)
        return known

    def count_permutations(self, node):
        """Count the playouts with all moves of the way to a node, and each of its actions."""
        noted = len(self.noted)
        if noted == node.counted or noted < node.counted * (1 + self.permutations.refresh):
            return
        node.counted = noted
        way = {move for move in self.way if move[0] >= 0}
        for edge in node.edges:
            having = [
                self.kept(returns[node.player])
                for moves, returns in self.noted
                if way <= moves and (node.player, edge.action) in moves
            ]
            edge.permutations = len(having), sum(having)

    def add_permutations(self, node, amaf):
        for edge in node.edges:
            n, total = edge.permutations
            if n > 0:
                n_amaf, amaf_total = amaf.get(edge, (0.0, 0.0))
                amaf[edge] = n_amaf + n, amaf_total + self.scaled_sum(total, n)

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
        # Both roots of ``each``, rounded as in the kernel: near ties are to fall as there.
        root, inverse = math.sqrt(math.log(node.visits)), 1 / math.sqrt(max(edge.n, 1))
        match self.config.rule if node.alone else self.config.simultaneous:
            case UCB1(c):
                return c * root * inverse
            case AdaptiveUCB1(c, chance_factor, chance_c, late_c, late_visits):
                if self.has_chance:
                    c = max(c * chance_factor, chance_c)
                ripe = (node.visits / (len(node.edges) * late_visits) - 1) / 3
                c = max(c, late_c * max(0, min(1, ripe)))
                return c * root * inverse
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

    def results_of(self, state):
        """[(moves, returns)] of each playout; one without moves at the game's end."""
        if state.is_terminal():
            return [([], state.returns())]
        if self.evaluator is not None:
            return [([], self.evaluator.evaluate(state))]
        return [self.play_out(state.clone()) for _ in range(self.config.playout_count)]

    def random_action(self, state):
        if state.is_chance_node():
            return reference.draw(state.chance_outcomes(), self.playouts)
        return self.policy.draw(state.current_player(), state.legal_actions())

    def play_out(self, state):
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

    def credit_playout(self, path, leaf, moves, returns, share, first_playout):
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
                for row in self.rows(node, player, action):
                    self.credit(row, weight, returns[player], distance + 1)

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
            return [edge for edge in edges if edge.action == action]
        if node.table is None:
            return []
        return [node.table.setdefault((player, action), Edge(action, 0.0))]

    def credit(self, row, weight, utility, number):
        row.amaf_n += weight
        row.amaf_total += weight * self.kept(utility)
        if self.mean(self.kept(utility), 1) > 0.5:
            row.wins += weight
            row.win_moves += weight * number
