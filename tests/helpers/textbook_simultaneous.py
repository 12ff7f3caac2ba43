"""The textbook's search where players move at the same time: decoupled UCT, with RAVE."""

from helpers.textbook import CHANCE, TERMINAL, Textbook

from rave_agents.game.game_state import joint_action, moving_players

SIMULTANEOUS = -2


class Place:
    """A position: a node for each who moves there, and where their actions lead together."""

    low, high = 0.0, 1.0  # It is never solved.

    def __init__(self, nodes):
        self.nodes = nodes
        self.children, self.visits, self.totals = {}, {}, {}


class SimultaneousTextbook(Textbook):
    """``root`` is a Place; the searching player is told."""

    def __init__(self, *arguments, searcher, **others):
        super().__init__(*arguments, **others)
        self.searcher = searcher

    def simulate(self):
        state, place, path, steps = self.state.clone(), self.root, [], []
        self.table_node = None
        while place is not None and place.nodes[0].player != TERMINAL:
            taken = [(node, self.choose(node)) for node in place.nodes]
            path += taken
            actions = tuple(edge.action for _, edge in taken)
            if state.current_player() == SIMULTANEOUS:
                movers = [node.player for node in place.nodes]
                state.apply_actions(joint_action(movers, actions, state.num_players()))
            else:
                state.apply_action(actions[0])
            steps.append((place, actions))
            place = place.children.get(actions)
        visits = steps[-1][0].visits.get(steps[-1][1], 0) if steps else 0
        if place is None and (not steps or visits + 1 >= self.expand_visits):
            place = self.make_place(state, visits)
            for node in place.nodes:
                self.policy.look_at(path, node)
            if steps:
                steps[-1][0].children[steps[-1][1]] = place
            else:
                self.root = place
        self.count(path, steps, place, self.results_of(state))

    def count(self, path, steps, place, results):
        leaves = [] if place is None else place.nodes
        self.observe(results)
        if self.has_tables:
            self.give_table([parent for parent, _ in path] + leaves)
        if self.amaf is not None:
            for number, (moves, returns) in enumerate(results):
                self.credit_playout(path, leaves, moves, returns, 1.0 / len(results), number == 0)
        values = self.mean_values(results)
        mover = 0
        for node, edge in path:
            mover = node.player if node.player >= 0 else mover
            node.visits += 1
            edge.n += 1
            edge.total += values[mover]
            edge.squares += values[mover] ** 2
        for parent, actions in steps:
            parent.visits[actions] = parent.visits.get(actions, 0) + 1
            known = parent.totals.get(actions, [0.0] * len(values))
            parent.totals[actions] = [t + v for t, v in zip(known, values, strict=True)]
        for leaf in leaves:
            leaf.visits += 1

    def make_place(self, state, visits):
        if state.current_player() != SIMULTANEOUS:
            return Place([self.make_node(state, visits)])
        nodes = []
        for player in moving_players(state):
            legal = state.legal_actions(player)
            nodes.append(self.new_node(player, [(a, 1.0 / len(legal)) for a in legal], visits))
        for node in nodes:
            node.alone = len(nodes) == 1
        return Place(nodes)

    def play_out(self, state):
        moves = []
        while not state.is_terminal():
            if state.current_player() != SIMULTANEOUS:
                player = state.current_player()
                action = self.random_action(state)
                moves += [] if player == CHANCE else [(player, action)]
                state.apply_action(action)
                continue
            movers = moving_players(state)
            actions = [self.policy.draw(mover, state.legal_actions(mover)) for mover in movers]
            moves += zip(movers, actions, strict=True)
            state.apply_actions(joint_action(movers, actions, state.num_players()))
        return moves, state.returns()

    def dump(self, place=None, path=(), into=None):
        """The same as ``helpers.trees.dump_joint``."""
        place = self.root if place is None else place
        into = {} if into is None else into
        joint = {}
        if len(place.nodes) > 1:
            for actions, n in place.visits.items():
                totals = [self.scaled_sum(total, n) for total in place.totals[actions]]
                joint[actions] = (n, totals, actions in place.children)
        rows = []
        for node in place.nodes:
            edges = []
            for edge in node.edges:
                amaf = (edge.amaf_n, self.scaled_sum(edge.amaf_total, edge.amaf_n))
                edges.append((edge.action, edge.n, self.scaled_sum(edge.total, edge.n), *amaf))
            rows.append((node.player, node.visits, edges))
        into[path] = (rows, joint)
        for actions, child in place.children.items():
            self.dump(child, (*path, *actions), into)
        return into
