"""Evaluators and value functions that break the interface."""

import math

import numpy as np
from helpers.broken import add_kind
from helpers.games import RandomEvaluator, RandomRules
from helpers.observed import Observed

from rave_agents import BatchEvaluator, Limit, SearchConfig, Searcher
from rave_agents.compiler.dispatch import JIT_DISABLED

NAN, INF = math.nan, math.inf

PRESETS = ("puct", "uct", "rave", "auto") if JIT_DISABLED else ("uct",)

VALUES = {
    "NaN": [NAN, 0.0],
    "infinite": [INF, -INF],
    "beyond": [2.0, -2.0],
    "one": [0.5],
    "three": [0.0, 0.0, 0.0],
    "dict": {0: 0.5, 1: -0.5},
    "None": None,
    "texts": ["0.5", "-0.5"],
    "set": {0.5, -0.5},
    "nested": [[0.5, -0.5]],
    "complex": [1j, -1j],
}

PRIORS = {
    "zeros": lambda right: [(action, 0.0) for action, _ in right],
    "sum of 800": lambda right: [(action, 800.0 / len(right)) for action, _ in right],
    "below 0": lambda right: [(action, -1.0) for action, _ in right],
    "NaN": lambda right: [(action, NAN) for action, _ in right],
    "infinite": lambda right: [(action, INF) for action, _ in right],
    "1e308": lambda right: [(action, 1e308) for action, _ in right],
    "one too many": lambda right: [*right, (77, 0.0)],
    "one too few": lambda right: right[:-1],
    "twice": lambda right: [*right[:-1], right[0]] if len(right) > 1 else [*right, *right],
    "illegal": lambda right: [(action + 50, chance) for action, chance in right],
    "halves": lambda right: [(action + 0.5, chance) for action, chance in right],
    "none": lambda right: [],
    "None": lambda right: None,
    "dict": dict,
    "texts": lambda right: [(str(action), str(chance)) for action, chance in right],
    "numbers": lambda right: [chance for _, chance in right],
    "triples": lambda right: [(action, chance, 0) for action, chance in right],
    "complex": lambda right: [(action, 1j) for action, _ in right],
}

POLICIES = {
    "NaN": lambda policy: policy * NAN,
    "1e308": lambda policy: policy + 1e308,
    "below 0": lambda policy: policy - 3.0,
    "zeros": lambda policy: policy * 0.0,
    "infinite": lambda policy: policy + INF,
    "narrow": lambda policy: policy[:, :1],
    "wide": lambda policy: np.ones((len(policy), 99)),
    "flat": np.ravel,
    "short": lambda policy: policy[:0],
    "texts": lambda policy: policy.astype(str),
    "complex": lambda policy: policy + 1j,
    "None": lambda policy: None,
    "dict": lambda policy: {0: policy},
    "ragged": lambda policy: [[1.0], [1.0, 2.0]],
}

BATCH_VALUES = {
    "NaN": lambda values: values + NAN,
    "beyond": lambda values: values + 2.0,
    "1e308": lambda values: values + 1e308,
    "many": lambda values: np.zeros((len(values), 7)),
    "short": lambda values: values[:0],
    "long": lambda values: np.zeros(len(values) + 1),
    "number": lambda values: 0.0,
    "dict": lambda values: {0: 0.0},
    "cube": lambda values: np.zeros((len(values), 2, 2)),
}

ANSWERS = {
    "one array": lambda policy, values: policy,
    "three arrays": lambda policy, values: (policy, values, values),
    "dict": lambda policy, values: {"moves": policy, "worth": values},
    "None": lambda policy, values: None,
}


def searched(draw, **given):
    """A search of a right game with something broken beside it."""
    rules = RandomRules(draw.randrange(1000), chance=0.2, zero_sum=True)
    # The solver of endgames asks no evaluator.
    config = SearchConfig.preset(draw.choice(PRESETS)).replace(endgame_share=0.0)
    if isinstance(given.get("evaluator"), BatchEvaluator):
        config = config.replace(leaves=draw.choice((1, 4)))
    elif callable(given.get("evaluator")):
        config = config.replace(playout_moves=draw.choice((0, 1, 2)))
    searcher = Searcher(config, seed=draw.randrange(1000), **given)
    return searcher.search(Observed(rules), Limit(simulations=100))


def broken_evaluator(draw, method, wrong):
    """An evaluator that answers rightly some times, and wrongly then."""
    draw.met, first, calls = False, draw.choice((0, 1, 10)), [0]

    class Broken(RandomEvaluator):
        pass

    def answer(self, state):
        right = getattr(RandomEvaluator, method)(self, state)
        calls[0] += 1
        if calls[0] <= first:
            return right
        draw.met = True
        return wrong(right) if callable(wrong) else wrong

    setattr(Broken, method, answer)
    return searched(draw, evaluator=Broken())


def broken_batches(draw, wrong):
    """Likewise for batches."""
    draw.met, first, calls = False, draw.choice((0, 1, 10)), [0]

    def answer(batch):
        policy = np.ones(batch.legal_actions_mask.shape)
        values = np.zeros((len(batch.players), 2))
        calls[0] += 1
        if calls[0] <= first:
            return policy, values
        draw.met = True
        return wrong(policy, values)

    return searched(draw, evaluator=BatchEvaluator(answer, policy="probabilities", cache=False))


for label, wrong in VALUES.items():
    add_kind(f"evaluator values {label}", lambda d, w=wrong: broken_evaluator(d, "evaluate", w))
    add_kind(f"value function {label}", lambda d, w=wrong: searched(d, evaluator=lambda state: w))
for label, wrong in PRIORS.items():
    add_kind(f"evaluator prior {label}", lambda d, w=wrong: broken_evaluator(d, "prior", w))
for label, wrong in POLICIES.items():
    add_kind(
        f"batches policy {label}",
        lambda d, w=wrong: broken_batches(d, lambda policy, values: (w(policy), values)),
    )
for label, wrong in BATCH_VALUES.items():
    add_kind(
        f"batches values {label}",
        lambda d, w=wrong: broken_batches(d, lambda policy, values: (policy, w(values))),
    )
for label, wrong in ANSWERS.items():
    add_kind(f"batches {label}", lambda d, w=wrong: broken_batches(d, w))
