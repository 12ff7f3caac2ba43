"""Small games for the tests: one random, one written out by hand."""

import copy
import functools
import math
import random
from typing import Self

from rave_agents.simulate.python_simulator import PythonSimulator

CHANCE, TERMINAL = -1, -4


class PlainState:
    """What states written for tests share: two players who win 1 or -1, without chance."""

    def clone(self) -> Self:
        return copy.copy(self)

    def is_terminal(self):
        return self.current_player() == TERMINAL

    def is_chance_node(self):
        return self.current_player() == CHANCE

    def chance_outcomes(self):
        return []

    def num_players(self):
        return 2

    def min_utility(self):
        return -1.0

    def max_utility(self):
        return 1.0


class Unseen(PlainState):
    """Something is hidden, and all worlds look the same: they are the position itself."""

    def hides_information(self):
        return True

    def worlds(self, player, unit):
        return self.clone

    def view(self, player):
        return self.position_key()


class Position(PlainState):
    """What both games share: a position is the tuple of the actions that led to it."""

    def __init__(self, rules, history=()):
        self.rules = rules
        self.history = history

    def clone(self) -> Self:
        return type(self)(self.rules, self.history)

    def __deepcopy__(self, memo):
        return self.clone()  # The rules say which game it is.

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


class RandomGame:
    """A game as OpenSpiel's are, with a name and a start."""

    name = "random game"
    num_players = 2

    def new_initial_state(self):
        return random_game(4, depth=9)


def random_game(seed, **rules):
    return Position(RandomRules(seed, **rules))


def written_game(nodes, **rules):
    return Position(WrittenRules(nodes, **rules))


SIMULTANEOUS = -2


class JointPosition(Position):
    """A position of a game in which players may move at the same time.

    A joint action is one entry of the history: the actions of those who move, in their order.
    """

    def legal_actions(self, player=None):
        if player is None:
            return self.rules.actions(self.history)
        return list(self.rules.joint(self.history).get(player, []))

    def apply_actions(self, actions):
        movers = self.rules.joint(self.history)
        self.history = (*self.history, tuple(int(actions[player]) for player in movers))


class JointRandomRules(RandomRules):
    """Random games in which several players often move at the same time, with chance between."""

    def __init__(self, seed, *, together=0.6, **rules):
        super().__init__(seed, **rules)
        self._together = together
        self.joint = functools.cache(self._joint)

    def _describe(self, history):
        described = super()._describe(history)
        if (
            described[0] >= 0
            and random.Random(f"{self.seed} s {history}").random() < self._together
        ):
            return SIMULTANEOUS, [], [], described[3]
        return described

    def _joint(self, history):
        """{player: actions} of those who move; some have a single action, some none."""
        draw = random.Random(f"{self.seed} joint {history}")
        counts = [draw.choice([0, 1, *range(1, self.width + 1)]) for _ in range(self.num_players)]
        counts[draw.randrange(self.num_players)] = draw.randint(1, self.width)
        return {
            player: draw.sample(range(self.num_distinct_actions), count)
            for player, count in enumerate(counts)
            if count > 0
        }


class JointWrittenRules(WrittenRules):
    """As WrittenRules; ``{history: {player: actions}}`` where players move at the same time."""

    def player(self, history):
        return SIMULTANEOUS if isinstance(self.nodes[history], dict) else super().player(history)

    def joint(self, history):
        return self.nodes[history]


def joint_random_game(seed, **rules):
    return JointPosition(JointRandomRules(seed, **rules))


def joint_game(nodes, **rules):
    return JointPosition(JointWrittenRules(nodes, **rules))


def matrix_game(payoffs, *, others=None):
    """A game of one move at the same time; ``payoffs[row][column]`` is player 0's.

    The other wins what he loses, or what ``others`` says.
    """
    rows, columns = len(payoffs), len(payoffs[0])
    nodes = {(): {0: range(rows), 1: range(columns)}}
    for row in range(rows):
        for column in range(columns):
            own = payoffs[row][column]
            other = -own if others is None else others[row][column]
            nodes[((row, column),)] = [float(own), float(other)]
    values = [value for ends in nodes.values() if isinstance(ends, list) for value in ends]
    return joint_game(
        nodes, low=min(values), high=max(values), num_distinct_actions=max(rows, columns)
    )
