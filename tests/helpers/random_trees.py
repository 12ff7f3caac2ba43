"""Random game trees of every structure, with the exact value of each action of the root.

A tree has one to four players, chance or none, outcomes of win, draw and loss or graded ones, of
constant sum, general sum or cooperation, rewards on the way, forced moves, and positions that
several ways lead to. All trees of one kind are one compiled game: the tree lies in its record.
"""

import functools
import random
from typing import NamedTuple

import numpy as np

from rave_agents.game.arguments import unknown_name
from rave_agents.games import CHANCE, TERMINAL, Rules

NODES, CHILDREN, ACTIONS = 160, 4, 6
LEAST, GREATEST = -10.0, 10.0

KINDS = {
    "alone": (1, "graded"),
    "win, draw, loss": (2, "ranked"),
    "zero sum": (2, "zero_sum"),
    "general sum": (2, "graded"),
    "cooperation": (2, "common"),
    "three, first wins": (3, "ranked"),
    "three, general sum": (3, "graded"),
    "four, general sum": (4, "graded"),
}
"""How many players each kind of tree has, and how their utilities go together."""


class RandomTree(Rules):
    """A tree that stands in the record."""

    name = "random_tree"
    players: int = 2
    utilities: str = "ranked"

    def setup(self):
        if self.utilities not in ("ranked", "zero_sum", "graded", "common"):
            raise ValueError(unknown_name("utilities", self.utilities, ("ranked", "graded")))
        self.num_players = self.players
        self.num_distinct_actions = ACTIONS
        ranked = self.utilities == "ranked"
        self.min_utility, self.max_utility = (-1.0, 1.0) if ranked else (LEAST, GREATEST)
        constant = self.players == 2 and self.utilities in ("ranked", "zero_sum")
        self.utility_sum = 0.0 if constant else None
        self.fields = {
            "at": np.int64,
            "mover": (np.int64, NODES),
            "count": (np.int64, NODES),
            "action": (np.int64, NODES * CHILDREN),
            "child": (np.int64, NODES * CHILDREN),
            "share": (np.float64, NODES * CHILDREN),
            "reward": (np.float64, NODES * self.players),
            "won": (np.float64, (self.players,)),
        }

    def begin(self, state):
        state.mover[0] = TERMINAL

    def player(self, state):
        return state.mover[state.at]

    def legal_actions(self, state, actions):
        for index in range(state.count[state.at]):
            actions[index] = state.action[state.at * CHILDREN + index]
        return state.count[state.at]

    def chance_outcomes(self, state, actions, probabilities):
        for index in range(state.count[state.at]):
            actions[index] = state.action[state.at * CHILDREN + index]
            probabilities[index] = state.share[state.at * CHILDREN + index]
        return state.count[state.at]

    def play(self, state, action):
        for index in range(state.count[state.at]):
            if state.action[state.at * CHILDREN + index] == action:
                state.at = state.child[state.at * CHILDREN + index]
                break
        for player in range(self.players):
            state.won[player] += state.reward[state.at * self.players + player]

    def returns(self, state, returns):
        for player in range(self.players):
            returns[player] = state.won[player]


class Node(NamedTuple):
    """A node of a tree in Python."""

    mover: int
    actions: list
    children: list
    shares: list
    rewards: list


def random_tree(kind, seed):
    """The nodes of a tree; the root is the last."""
    draw = random.Random(f"{kind} {seed}")
    players, utilities = KINDS[kind]
    chance = draw.choice((0.0, 0.0, 0.2, 0.4))
    rewarded = utilities != "ranked" and draw.random() < 0.4
    shared = draw.choice((0.0, 0.0, 0.2))
    depth = draw.randint(2, 5)
    nodes = []

    def rewards(scale):
        if utilities == "zero_sum":
            x = draw.uniform(-scale, scale)
            return [x, -x]
        if utilities == "common":
            return [draw.uniform(-scale, scale)] * players
        return [draw.uniform(-scale, scale) for _ in range(players)]

    def outcome():
        if utilities == "ranked":
            winner = draw.randrange(-1, players)
            if winner < 0:
                return [0.0] * players
            return [1.0 if player == winner else -1.0 for player in range(players)]
        return rewards(5.0 if rewarded else 10.0)

    def grown(left, by_level):
        known = by_level.setdefault(left, [])
        if known and draw.random() < shared:
            return draw.choice(known)
        ends = left == 0 or (left < depth and draw.random() < 0.2) or len(nodes) > NODES - 40
        if ends:
            node = Node(TERMINAL, [], [], [], outcome())
        else:
            mover = CHANCE if left < depth and draw.random() < chance else draw.randrange(players)
            count = draw.choice((1, 2, 2, 3, 3, 4)) if left < depth else draw.randint(2, 4)
            actions = sorted(draw.sample(range(ACTIONS), count))
            children = [grown(left - 1, by_level) for _ in range(count)]
            weights = [draw.choice((0.05, 0.3, 1.0)) for _ in range(count)]
            shares = [weight / sum(weights) for weight in weights] if mover == CHANCE else []
            way = rewards(5.0 / depth) if rewarded and left < depth else [0.0] * players
            node = Node(mover, actions, children, shares, way)
        nodes.append(node)
        known.append(len(nodes) - 1)
        return len(nodes) - 1

    grown(depth, {})
    return nodes


@functools.cache
def _empty_state(kind):
    """The state that others are cloned from; to find rules' machine code takes a search's time."""
    players, utilities = KINDS[kind]
    return RandomTree(players=players, utilities=utilities).new_initial_state()


def tree_state(kind, nodes):
    """The root of a tree as a state of compiled rules."""
    players, _ = KINDS[kind]
    state = _empty_state(kind).clone()

    def write(record):
        record.at = len(nodes) - 1
        for row, node in enumerate(nodes):
            record.mover[row], record.count[row] = node.mover, len(node.actions)
            first = row * CHILDREN
            for index, action in enumerate(node.actions):
                record.action[first + index] = action
                record.child[first + index] = node.children[index]
                if node.shares:
                    record.share[first + index] = node.shares[index]
            record.reward[row * players : (row + 1) * players] = node.rewards

    state.change(write)
    return state


def action_values(nodes):
    """For each action of the root the least and the greatest value that it has for who moves.

    Expectimax and max^n. They differ only where another player has equally good moves.
    """
    least, greatest = [], []
    for node in nodes:
        if node.mover == TERMINAL:
            low = high = np.zeros(len(node.rewards))
        elif node.mover == CHANCE:
            low = np.dot(node.shares, [least[child] for child in node.children])
            high = np.dot(node.shares, [greatest[child] for child in node.children])
        else:
            sure = max(least[child][node.mover] for child in node.children)
            best = [c for c in node.children if greatest[c][node.mover] >= sure - 1e-9]
            low = np.min([least[child] for child in best], axis=0)
            high = np.max([greatest[child] for child in best], axis=0)
        least.append(low + np.array(node.rewards))
        greatest.append(high + np.array(node.rewards))
    root = nodes[-1]
    return {
        action: (float(least[child][root.mover]), float(greatest[child][root.mover]))
        for action, child in zip(root.actions, root.children, strict=True)
    }


def regret(values, action, width):
    """The least that an action costs who takes it, as a share of the range of utilities."""
    best = max(low for low, _ in values.values())
    return max(0.0, best - values[action][1]) / width
