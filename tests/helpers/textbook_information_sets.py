"""The textbook's search with hidden information, and random games that hide something."""

from helpers.games import Position, RandomRules
from helpers.textbook import CHANCE, TERMINAL, Edge, Textbook


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
        def world():
            own = self.deal >> player & 1
            deals = [deal for deal in range(self.deals) if deal >> player & 1 == own]
            dealt = self.clone()
            dealt.deal = deals[int(unit() * len(deals))]
            return dealt

        return world

    def view(self, player):
        """All that the player sees, or else only the latest of it."""
        seen = [a for mover, a in self.seen if mover == player or a % 2 == 0]
        return self.deal >> player & 1, tuple(seen if self.complete else seen[-1:])


class InformationSetTextbook(Textbook):
    """``nodes`` maps the player to move and what they know to nodes, in the order of creation."""

    def __init__(self, config, state, *words):
        super().__init__(config, state, *words)
        self.draw_world = state.worlds(state.current_player(), self.playouts.random)
        self.nodes, self.visits, self.legal = {}, {}, []

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
        return player, state.view(player), None if state.complete else known.get(player)

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
