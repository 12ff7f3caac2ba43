"""The textbook's playouts: uniformly random, or steered to what won most in those before."""

import itertools
import math
import statistics

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
        meaning = max(0.0, (self.gone - self.again) / (self.gone + self.again))
        returns_of = [self.returns_of_actions(player) for player in range(self.players)]
        factor = meaning * self.significance(returns_of) / self.temperature / (high - low)
        self.weights = {}
        for player, taken in enumerate(returns_of):
            if taken:
                mean = statistics.mean(itertools.chain(*taken.values()))
                self.weights[player] = math.exp(factor * (high - mean))
                for action, own in taken.items():
                    value = (sum(own) + high) / (len(own) + 1)
                    self.weights[player, action] = math.exp(factor * (value - mean))

    def returns_of_actions(self, player):
        """His returns in the order of playouts, for each action that he took."""
        taken = {}
        for played, returns in self.playouts:
            for mover, action in played:
                if mover == player:
                    taken.setdefault(action, []).append(returns[player])
        return taken

    def significance(self, returns_of):
        spread = chance = 0.0
        for taken in filter(None, returns_of):
            everything = list(itertools.chain(*taken.values()))
            mean, variance = statistics.mean(everything), statistics.pvariance(everything)
            for own in taken.values():
                spread += len(own) * (statistics.mean(own) - mean) ** 2
                chance += variance * max(0.0, 1.0 - len(own) / len(self.playouts))
        if spread <= 0.0:
            return 0.0
        share = 1.0 - chance / spread
        return max(0.0, min(1.0, (share - 0.1) / (0.25 - 0.1)))
