"""The textbook's search with hidden information, and random games that hide something."""

import itertools
import math

from helpers.games import Position, RandomRules
from helpers.textbook import CHANCE, TERMINAL, Edge, Textbook

from rave_agents.compiler.arrays import NODE
from rave_agents.kernel.tree import edge_rows


class DealtRules(RandomRules):
    """A random game that depends on a deal; every deal has the same root position."""

    def _describe(self, position):
        deal, history = position
        return super()._describe((deal, *history) if history else ())

    def __str__(self):
        return f"random game {self.seed} with a deal"


class Dealt(Position):
    """A position of such a game: the deal, and the actions.

    Each player sees a bit of the deal, their own actions, and even ones of others and of chance.
    """

    deals = 8

    def __init__(self, rules, history=(), deal=0, complete=True, seen=()):
        super().__init__(rules, history)
        self.deal, self.complete, self.seen = deal, complete, seen

    def clone(self):
        return Dealt(self.rules, self.history, self.deal, self.complete, self.seen)

    def _described(self):
        return self.rules.describe((self.deal, self.history))

    def apply_action(self, action):
        self.seen = (*self.seen, (self.current_player(), action))
        super().apply_action(action)

    def current_player(self):
        return self._described()[0]

    def legal_actions(self):
        return list(self._described()[1])

    def chance_outcomes(self):
        return list(self._described()[2])

    def returns(self):
        return list(self._described()[3])

    def hides_information(self):
        return True

    def recalls_all(self):
        return self.complete

    def worlds(self, player, unit):
        deals = [deal for deal in range(self.deals) if self._may_have(deal, player)]

        def world():
            dealt = self.clone()
            dealt.deal = deals[int(unit() * len(deals))]
            return dealt

        return world

    def _may_have(self, deal, player):
        """True if the same moves with another deal lead to what the player sees here."""
        dealt = Dealt(self.rules, (), deal, self.complete)
        for mover, action in self.seen:
            legal = [outcome for outcome, _ in dealt.chance_outcomes()] or dealt.legal_actions()
            if dealt.current_player() != mover or action not in legal:
                return False
            dealt.apply_action(action)
        known = (Dealt.current_player, Dealt.legal_actions, lambda state: state.view(player))
        return all(look(dealt) == look(self) for look in known)

    def view(self, player):
        """All that the player sees, or else only the latest of it."""
        seen = [a for mover, a in self.seen if mover == player or a % 2 == 0]
        return self.deal >> player & 1, tuple(seen if self.complete else seen[-1:])


class InformationSetTextbook(Textbook):
    """``nodes`` maps the player to move and what they know to nodes, in the order of creation."""

    def __init__(self, config, state, *words):
        super().__init__(config, state, *words)
        self.nodes, self.visits, self.legal = {}, {}, []
        self.after = {}
        self.complete = state.recalls_all()

    def move_to(self, state, playout_words):
        """Search another position next, with the nodes that were reached below it."""
        here = state.current_player(), state.view(self.searcher)
        below, found = {(*here, None)}, {(*here, None)}
        while found:
            found = {key for before in found for key in self.after.get(before, ())} - below
            below |= found
        if here[0] != self.searcher or (*here, None) not in self.nodes:
            below = set()
            if not self.stated:
                self.low, self.high = math.inf, -math.inf
        for known in self.nodes, self.visits, self.after:
            for key in known.keys() - below:
                del known[key]
        self.state, self.playouts.s = state, [int(word) for word in playout_words]
        self.policy.begin_search()

    def search(self, simulations):
        self.draw_world = self.new_worlds(simulations)
        return super().search(simulations)

    def new_worlds(self, simulations):
        """A function that draws a world."""
        return self.state.worlds(self.searcher, self.playouts.random)

    def simulate(self):
        self.table_node = None
        state, path, known, keys = self.draw_world(), [], {}, []
        while True:
            while state.current_player() == CHANCE:
                state.apply_action(self.random_action(state))
            key = self.key_of(state, known, keys, path)
            keys.append(key)
            node = self.nodes.get(key)
            if node is None or node.player == TERMINAL:
                break
            self.legal = state.legal_actions()
            path.append((node, self.choose(node), self.legal))
            known[node.player] = (key, path[-1][1].action)
            state.apply_action(path[-1][1].action)
        for before, after in itertools.pairwise(keys):
            self.after.setdefault(before, set()).add(after)
        visits = self.visits.get(key, 0)
        taken = [(parent, edge) for parent, edge, _ in path]
        if node is None and (not path or visits + 1 >= self.expand_visits):
            node = self.nodes[key] = self.make_node(state, visits)
            self.policy.look_at(taken, node)
        for key in keys[1:]:
            self.visits[key] = self.visits.get(key, 0) + 1
        results = self.outcomes_of([parent for parent, _ in taken], node, state)
        self.observe(results)
        if self.has_tables:
            self.give_table([parent for parent, _ in taken] + ([node] if node else []))
        if self.amaf is not None:
            for number, (moves, returns) in enumerate(results):
                self.credit_playout(taken, node, moves, returns, 1.0 / len(results), number == 0)
        for parent, _, legal in path:
            for edge in parent.edges:
                edge.available += edge.action in legal
        self.back_up(taken, node, self.mean_values(results))

    def key_of(self, state, known, keys, path):
        """The mover and what they know: their view, with what they knew at their last decision."""
        player = state.current_player()
        if player == TERMINAL:
            return player, keys[-1], path[-1][1].action
        return player, state.view(player), None if self.complete else known.get(player)

    def choose(self, node):
        """Choose among the legal edges; those that were illegal so far are added."""
        edges = {edge.action: edge for edge in node.edges}
        for action in self.legal:
            if action not in edges:
                edges[action] = self.new_edge(action, 1 / len(self.legal))
        node.edges = [edge for edge in edges.values() if edge.action in self.legal]
        best = super().choose(node)
        node.edges = list(edges.values())
        return best

    def exploration(self, node, edge):
        visits, node.visits = node.visits, edge.available + 1
        bonus = super().exploration(node, edge)
        node.visits = visits
        return bonus

    def new_edge(self, action, prior):
        edge = Edge(action, prior)
        edge.available = 0
        return edge

    def new_node(self, player, entries, visits):
        node = super().new_node(player, [], visits)
        node.edges = [self.new_edge(*entry) for entry in entries]
        return node

    def dump(self):
        """``[(player, visits, [(action, n, W, available), ...]), ...]``."""
        return [
            (
                node.player,
                node.visits,
                [
                    (edge.action, edge.n, self.scaled_sum(edge.total, edge.n), edge.available)
                    for edge in node.edges
                ],
            )
            for node in self.nodes.values()
        ]


def dumped(tree):
    """See ``InformationSetTextbook.dump``."""
    arrays, moves = tree.arrays, tree.running.moves

    def edges(node):
        return [
            (
                int(arrays.edge_action[edge]),
                int(arrays.edge_visits[edge]),
                float(arrays.edge_value_sum[edge]),
                int(moves.edge_available[edge]),
            )
            for edge in edge_rows(arrays, node)
        ]

    return [
        (int(arrays.node_player[node]), int(arrays.node_visits[node]), edges(node))
        for node in range(int(arrays.used[NODE]))
    ]


def next_decision(state, action, draw):
    """The moves until the player has a choice again, and the state; None if they never do.

    The player takes an action; all else is random.
    """
    player, moves, state = state.current_player(), [action], state.clone()
    state.apply_action(action)
    while state.current_player() != player or len(state.legal_actions()) < 2:
        if state.is_terminal():
            return None
        chance = state.current_player() == CHANCE
        actions = [a for a, _ in state.chance_outcomes()] if chance else state.legal_actions()
        moves.append(draw.choice(actions))
        state.apply_action(moves[-1])
    return moves, state
