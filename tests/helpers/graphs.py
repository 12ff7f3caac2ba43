"""Random games whose positions are the nodes of a graph, with transpositions and loops."""

import random

from helpers.games import PlainState

TERMINAL = -4


class GraphRules:
    """A random graph: each node has a player and followers, or is an end with returns.

    Without loops every edge goes to a later node.
    """

    def __init__(self, seed, *, nodes=12, num_players=2, width=3, loops=True, values=(-1, 0, 1)):
        draw = random.Random(seed)
        self.seed, self.num_players, self.values = seed, num_players, values
        self.num_distinct_actions = width
        self.players, self.edges, self.ends = [], [], {}
        for node in range(nodes):
            self.players.append(draw.randrange(num_players))
            first = 0 if loops else node + 1
            last = not loops and node + 1 >= nodes
            if last or (node > 0 and draw.random() < 0.3):
                own = [float(draw.choice(values)) for _ in range(num_players)]
                if num_players == 2:
                    own[1] = -own[0]
                self.ends[node] = own
                self.edges.append([])
            else:
                count = draw.randint(1, width)
                self.edges.append([draw.randrange(first, nodes) for _ in range(count)])

    def forced(self, player, at_least, repetition=None):
        """The nodes from which a player can force a return: the truth, by iteration to a fixpoint.

        Endless play is worth ``repetition``: enough, and the greatest fixpoint is taken; else the
        least.
        """
        loops_win = repetition is not None and repetition >= at_least
        holds = {
            node: self.ends[node][player] >= at_least if node in self.ends else loops_win
            for node in range(len(self.players))
        }
        while True:
            after = {
                node: value
                if node in self.ends
                else (any if self.players[node] == player else all)(
                    holds[each] for each in self.edges[node]
                )
                for node, value in holds.items()
            }
            if after == holds:
                return holds
            holds = after


class GraphState(PlainState):
    """A position of such a game."""

    def __init__(self, rules, node=0, keyed=True):
        self.rules, self.node, self.keyed = rules, node, keyed

    def current_player(self):
        return TERMINAL if self.is_terminal() else self.rules.players[self.node]

    def is_terminal(self):
        return self.node in self.rules.ends

    def has_chance_nodes(self):
        return False

    def legal_actions(self):
        return list(range(len(self.rules.edges[self.node])))

    def apply_action(self, action):
        self.node = self.rules.edges[self.node][action]

    def returns(self):
        return self.rules.ends.get(self.node, [0.0] * self.rules.num_players)

    def num_players(self):
        return self.rules.num_players

    def num_distinct_actions(self):
        return self.rules.num_distinct_actions

    def min_utility(self):
        return float(min(self.rules.values))

    def max_utility(self):
        return float(max(self.rules.values))

    def utility_sum(self):
        return 0.0 if self.rules.num_players == 2 else None

    def position_key(self):
        return (self.rules.seed, self.node) if self.keyed else None
