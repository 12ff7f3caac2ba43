"""The textbook's playouts: uniformly random, or steered to what won most in those before."""

import itertools
import math

BETWEEN_UPDATES = 16


class SteeredPlayouts:
    """Draws actions by a temperature, from all playouts so far, kept as they were played."""

    def __init__(self, temperature, players, randoms):
        self.temperature, self.players, self.randoms = temperature, players, randoms
        self.playouts, self.weights = [], {}
        self.gone, self.again = 0, 1

    def draw(self, player, actions):
        if self.temperature == math.inf:
            return actions[self.randoms.below(len(actions))]
        sums = list(itertools.accumulate(self.weight(player, action) for action in actions))
        place = self.randoms.unit() * sums[-1]
        return next((a for a, s in zip(actions, sums, strict=True) if place < s), actions[-1])

    def weight(self, player, action):
        """Of an unseen action if this one was not seen before the last update."""
        return self.weights.get((player, action), self.weights.get(player, 1.0))

    def look_at(self, path, node):
        """Of the actions that the node's player took on the path, which are legal again?"""
        legal = [edge.action for edge in node.edges]
        for before, edge in path:
            if before.player == node.player and node.player >= 0:
                self.again += edge.action in legal
                self.gone += edge.action not in legal

    def learn(self, results, low, high):
        for moves, returns in results:
            if moves and self.temperature < math.inf:
                self.playouts.append((moves, returns))
                if len(self.playouts) % BETWEEN_UPDATES == 0 and high > low:
                    self.update(low, high)

    def update(self, low, high):
        trust = max(0.0, (self.gone - self.again) / (self.gone + self.again))
        taken = {}
        for played, returns in self.playouts:
            for player, action in played:
                taken.setdefault((player, action), []).append(returns[player])
        means = [
            sum(returns[player] for _, returns in self.playouts) / len(self.playouts)
            for player in range(self.players)
        ]

        def weight(player, utility):
            gain = (utility - means[player]) / (high - low)
            return math.exp(trust * gain / self.temperature)

        self.weights = {player: weight(player, high) for player in range(self.players)}
        for (player, action), utilities in taken.items():
            mean = (sum(utilities) + high) / (len(utilities) + 1)
            self.weights[player, action] = weight(player, mean)
