"""Games whose players observe the whole history, and evaluators of batches that read it."""

import functools
import math
import random

import numpy as np
from helpers.games import CHANCE, TERMINAL, JointPosition, Position, RandomRules

from rave_agents import Batch, BatchEvaluator

LENGTH = 16


def written(history):
    seen = np.full(LENGTH, -1.0, np.float32)
    seen[: len(history)] = history
    return seen


def read(row):
    return tuple(int(action) for action in row if action >= 0)


class Observed(Position):
    """A position of which every player sees the history."""

    def observation(self, player):
        return written(self.history)


def observed_game(seed, **rules):
    return Observed(RandomRules(seed, **rules))


class LongRules(RandomRules):
    """A game whose ends no short search comes to: players take turns, four actions each."""

    def _describe(self, history):
        if len(history) == LENGTH:
            return TERMINAL, [], [], [0.0, 0.0]
        return len(history) % 2, [0, 1, 2, 3], [], [0.0, 0.0]


def long_game():
    return Observed(LongRules(0, zero_sum=True))


class JointObserved(JointPosition):
    """Likewise where players move at the same time: a joint action counts as one number."""

    def observation(self, player):
        joint = [hash(step) % 97 if isinstance(step, tuple) else step for step in self.history]
        return np.append(written(joint), np.float32(player))


def best(rules, history, value_of):
    """The action of best play, and the values of all."""
    player = rules.player(history)
    values = {a: value_of((*history, a))[player] for a in rules.actions(history)}
    return max(values, key=values.get), values


def truth_of(rules):
    """What each player gets by best play, as a function of the history."""

    @functools.cache
    def value(history):
        player = rules.player(history)
        if player == TERMINAL:
            return tuple(rules.returns(history))
        if player == CHANCE:
            below = [(weight, value((*history, a))) for a, weight in rules.outcomes(history)]
            return tuple(
                math.fsum(weight * values[seat] for weight, values in below)
                for seat in range(rules.num_players)
            )
        action, _ = best(rules, history, value)
        return value((*history, action))

    return value


def truthful(state, *, own=False):
    """Tells what best play brings, and that all actions are alike.

    With ``own`` it tells what the player to move gets, and no more.
    """
    value = truth_of(state.rules)

    def judge(batch):
        values = np.array([value(read(row)) for row in batch.observations])
        if own:
            values = values[np.arange(len(values)), batch.players]
        return np.zeros(batch.legal_actions_mask.shape), values

    return BatchEvaluator(judge)


def drawn(seed, batch, players):
    """Priors and values that follow from the position alone, in numbers that add up exactly."""
    policy = np.zeros(batch.legal_actions_mask.shape)
    values = np.zeros((len(policy), players))
    for row, (seen, mask) in enumerate(
        zip(batch.observations, batch.legal_actions_mask, strict=True)
    ):
        draw = random.Random(f"{seed} {read(seen)}")
        legal = np.flatnonzero(mask)
        weights = [1] * len(legal)
        for _ in range(64 - len(legal)):
            weights[draw.randrange(len(legal))] += 1
        policy[row, legal] = np.array(weights) / 64
        values[row] = [draw.randint(-8, 8) / 8 for _ in range(players)]
    return policy, values


def drawing(seed, players=2, sizes=None, *, cache=True):
    """Judges by ``drawn``, and notes the sizes of batches."""

    def judge(batch):
        if sizes is not None:
            sizes.append(len(batch.players))
        return drawn(seed, batch, players)

    return BatchEvaluator(judge, policy="probabilities", cache=cache)


class Single:
    """The same, one leaf at a time: what OpenSpiel calls an ``Evaluator``."""

    def __init__(self, seed):
        self.seed = seed

    def _ask(self, state):
        mask = np.zeros((1, state.num_distinct_actions()), bool)
        mask[0, state.legal_actions()] = True
        batch = Batch(written(state.history)[None], mask, np.array([state.current_player()]))
        return drawn(self.seed, batch, state.num_players())

    def evaluate(self, state):
        return self._ask(state)[1][0].tolist()

    def prior(self, state):
        policy = self._ask(state)[0][0]
        return [(action, policy[action]) for action in state.legal_actions()]


def drawn_evaluator():
    return drawing(1)
