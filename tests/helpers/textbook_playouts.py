"""The textbook's playouts: uniformly random, or by what a policy makes of those before."""

import itertools
import math
import statistics

from rave_agents.parts import SteeredPlayouts, UniformPlayouts

BETWEEN_UPDATES = 16
LOOKING, BETWEEN_LOOKS = 128, 16


def weighing(policy):
    """What a policy makes of an action: a function of the numbers that it is told of it.

    These are its player and itself, how often it was taken, its value, the mean value of the
    player's actions, and the trust. None for uniformly random playouts.
    """
    match policy:
        case UniformPlayouts():
            return None
        case SteeredPlayouts(temperature):
            return lambda player, action, n, q, mean, trust: math.exp(
                trust * (q - mean) / temperature
            )
    raise NotImplementedError(policy)


class Playouts:
    """Draws actions by their weights, from all playouts so far, kept as they were played."""

    def __init__(self, weigh, players, randoms):
        self.weigh, self.players, self.randoms = weigh, players, randoms
        self.gone, self.again, self.simulations = 0, 1, 0
        self.begin_search()

    def begin_search(self):
        """Forget the playouts; whether actions keep their meaning is known for the whole game."""
        self.playouts, self.weights, self.known = [], {}, None

    def draw(self, player, actions):
        if self.weigh is None:
            return self.randoms.choice(actions)
        sums = list(itertools.accumulate(self.weight(player, action) for action in actions))
        place = self.randoms.random() * sums[-1]
        return next((a for a, s in zip(actions, sums, strict=True) if place < s), actions[-1])

    def weight(self, player, action):
        """By what was known at the last update."""
        if self.known is None:
            return 1.0
        if (player, action) not in self.weights:
            returns_of, mean_of, trust, low, high = self.known
            own = returns_of[player].get(action, [])
            value = (sum(own) + high) / (len(own) + 1)  # One win beside those seen.
            q, mean = ((utility - low) / (high - low) for utility in (value, mean_of[player]))
            weight = self.weigh(player, action, len(own), q, mean, trust)
            self.weights[player, action] = weight
        return self.weights[player, action]

    def look_at(self, path, node):
        """Of the actions that the node's player took on the path, which are legal again?

        Simulations after the first ones look more seldom.
        """
        if self.simulations >= LOOKING and self.simulations % BETWEEN_LOOKS != 0:
            return
        legal = [edge.action for edge in node.edges]
        for before, edge in path:
            if before.player == node.player and node.player >= 0:
                self.again += edge.action in legal
                self.gone += edge.action not in legal

    def learn(self, results, low, high):
        """A simulation has ended with these playouts."""
        self.simulations += 1
        for moves, returns in results:
            if moves and self.weigh is not None:
                self.playouts.append((moves, returns))
                if len(self.playouts) % BETWEEN_UPDATES == 0 and high > low:
                    self.update(low, high)

    def update(self, low, high):
        meaning = max(0.0, (self.gone - self.again) / (self.gone + self.again))
        returns_of = [self.returns_of_actions(player) for player in range(self.players)]
        everything = [list(itertools.chain(*taken.values())) for taken in returns_of]
        mean_of = [statistics.mean(returns) if returns else high for returns in everything]
        self.known = returns_of, mean_of, meaning * self.significance(returns_of), low, high
        self.weights = {}

    def returns_of_actions(self, player):
        """Their returns in the order of playouts, for each action that they took."""
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
