"""Small games for the tests: one random, one written out by hand."""

import functools
import math
import random
from typing import Self

from rave_agents.search.python_simulator import PythonSimulator

CHANCE, TERMINAL = -1, -4


class Position:
    """What both games share: a position is the tuple of the actions that led to it."""

    def __init__(self, rules, history=()):
        self.rules = rules
        self.history = history

    def clone(self) -> Self:
        return type(self)(self.rules, self.history)

    def is_terminal(self):
        return self.current_player() == TERMINAL

    def is_chance_node(self):
        return self.current_player() == CHANCE

    def apply_action(self, action):
        self.history = (*self.history, int(action))

    def num_players(self):
        return self.rules.num_players

    def num_distinct_actions(self):
        return self.rules.num_distinct_actions

    def min_utility(self):
        return self.rules.low

    def max_utility(self):
        return self.rules.high

    def utility_sum(self):
        return getattr(getattr(self, "rules", None), "utility_sum", None)

    def current_player(self):
        return self.rules.player(self.history)

    def legal_actions(self):
        return self.rules.actions(self.history)

    def chance_outcomes(self):
        return self.rules.outcomes(self.history)

    def returns(self):
        return self.rules.returns(self.history)

    def position_key(self):
        return (id(self.rules), self.history)

    def action_to_string(self, player, action):
        return f"p{player}:{action}" if player >= 0 else f"chance:{action}"

    def __str__(self):
        return f"{self.rules} {self.history}"


class ParallelSimulator(PythonSimulator):
    """Says that it can run in several threads, as a provider of native code does."""

    outside_interpreter = True


class Parallel(Position):
    """A position whose simulations threads may run at the same time."""

    def simulator(self, frame, evaluator):
        return ParallelSimulator(
            self.clone(), frame, num_distinct_actions=self.num_distinct_actions()
        )


class RandomRules:
    """A random game tree: everything follows from the seed and the history.

    ``width`` actions at most, from so few different ones that the same actions come up again and
    again below a node. Utilities are whole numbers in [low, high], or real numbers; of two players
    one wins what the other loses if the game is ``zero_sum``.
    """

    def __init__(
        self,
        seed,
        *,
        num_players=2,
        width=4,
        depth=6,
        chance=0.0,
        low=-1.0,
        high=1.0,
        whole=True,
        stated=True,
        zero_sum=False,
    ):
        self.seed = seed
        self.num_players = num_players
        self.num_distinct_actions = width + 2
        self.width = width
        self.depth = depth
        self.chance = chance
        self.low, self.high = (low, high) if stated else (-math.inf, math.inf)
        self._utilities = (low, high)
        self._whole = whole
        self._zero_sum = zero_sum
        self.utility_sum = 0.0 if zero_sum else None
        self.describe = functools.cache(self._describe)

    def _describe(self, history):
        """(player, actions, outcomes, returns) of a position."""
        draw = random.Random(f"{self.seed} {history}")
        ends = len(history) >= self.depth or (len(history) > 1 and draw.random() < 0.12)
        if ends:
            returns = [self._utility(draw) for _ in range(self.num_players)]
            return TERMINAL, [], [], [returns[0], -returns[0]] if self._zero_sum else returns
        if history and draw.random() < self.chance:
            count = draw.randint(1, 3)
            weights = [draw.random() + 0.05 for _ in range(count)]
            outcomes = [(i, weight / sum(weights)) for i, weight in enumerate(weights)]
            return CHANCE, [], outcomes, [0.0] * self.num_players
        player = draw.randrange(self.num_players)
        count = draw.randint(2, self.width) if not history else draw.randint(1, self.width)
        actions = draw.sample(range(self.num_distinct_actions), count)
        return player, actions, [], [0.0] * self.num_players

    def _utility(self, draw):
        low, high = self._utilities
        return float(draw.randint(int(low), int(high))) if self._whole else draw.uniform(low, high)

    def player(self, history):
        return self.describe(history)[0]

    def actions(self, history):
        return list(self.describe(history)[1])

    def outcomes(self, history):
        return list(self.describe(history)[2])

    def returns(self, history):
        return list(self.describe(history)[3])

    def __str__(self):
        return f"random game {self.seed}"


class RandomEvaluator:
    """Values and priors that follow from the position alone, as a network's would."""

    def _draw(self, state, what):
        return random.Random(f"{what} {state.rules.seed} {state.history}")

    def evaluate(self, state):
        draw = self._draw(state, "value")
        low, high = state.rules._utilities
        return [draw.uniform(low, high) for _ in range(state.num_players())]

    def prior(self, state):
        draw = self._draw(state, "prior")
        actions = state.legal_actions()
        weights = [draw.random() for _ in actions]
        return [(a, w / sum(weights)) for a, w in zip(actions, weights, strict=True)]


class WrittenRules:
    """A game tree written out: ``{history: (player, actions)}``, ``{history: [(outcome, p), ...]}``
    for chance, and ``{history: [returns]}`` at its ends."""

    def __init__(self, nodes, *, num_players=2, num_distinct_actions=10, low=0.0, high=1.0):
        self.nodes = nodes
        self.num_players = num_players
        self.num_distinct_actions = num_distinct_actions
        self.low, self.high = low, high

    def player(self, history):
        node = self.nodes[history]
        if isinstance(node, tuple):
            return node[0]
        return CHANCE if isinstance(node[0], tuple) else TERMINAL

    def actions(self, history):
        node = self.nodes[history]
        return list(node[1]) if isinstance(node, tuple) else []

    def outcomes(self, history):
        return self.nodes[history]

    def returns(self, history):
        node = self.nodes[history]
        return [0.0] * self.num_players if self.player(history) != TERMINAL else node

    def __str__(self):
        return "written game"


def random_game(seed, **rules):
    return Position(RandomRules(seed, **rules))


def written_game(nodes, **rules):
    return Position(WrittenRules(nodes, **rules))
