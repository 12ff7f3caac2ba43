"""States of the user's own that break the interface."""

import itertools
import math

import numpy as np
from helpers.broken import add_kind
from helpers.games import JointPosition, JointRandomRules, Position, RandomRules
from helpers.observed import Observed

from rave_agents import BatchEvaluator, Limit, SearchConfig, Searcher
from rave_agents.compiler.dispatch import JIT_DISABLED

NAN, INF = math.nan, math.inf

PRESETS = ("uct", "rave", "auto", "uct_solver", "pn_mcts", "puct")
if not JIT_DISABLED:
    PRESETS = ("uct", "auto")
"""Compiled, so that the run need not compile many."""
JOINT_PRESETS = ("uct", "rave") if JIT_DISABLED else ("uct",)
SIMULATIONS = 150


def named(*values):
    """Values by their texts."""
    return {repr(value): value for value in values}


FAULTS = {
    "current_player": named(2, 100, 10**10, -3, -7, -2, "0", None, 0.5, [0]),
    "legal_actions": {
        "none": [],
        "twice": lambda right: [*right, right[0]] if right else right,
        "twice a thousand times": lambda right: right * 1000,
        "99": lambda right: [*right, 99],
        "-1": lambda right: [-1, *right],
        "2**40": lambda right: [*right, 2**40],
        "halves": lambda right: [action + 0.5 for action in right],
        "NaN": lambda right: [NAN for _ in right],
        "texts": lambda right: [str(action) for action in right],
        "set": set,
        "dict": dict.fromkeys,
        "nested": lambda right: [right],
        "table": lambda right: np.array([right, right]),
        "generator": iter,
        "10**9": lambda right: range(10**9),
        "number": len,
        **named(None, "012"),
    },
    "chance_outcomes": {
        "below 0": [(0, 1.5), (1, -0.5)],
        "twice": [(0, 0.5), (0, 0.5)],
        "sum of 0.2": [(0, 0.1), (1, 0.1)],
        "sum of 2": [(0, 1.0), (1, 1.0)],
        "outcome 2**40": [(2**40, 0.5), (1, 0.5)],
        "outcome 0.5": [(0.5, 0.5), (1, 0.5)],
        **named([], [(0, NAN), (1, 1.0)], [(0, INF), (1, -INF)], [(0, 1e308), (1, 1e308)]),
        **named([(-1, 0.5), (1, 0.5)], [("0", "0.5"), ("1", "0.5")]),
        **named([(0, 0.5, 1), (1, 0.5, 1)], [(0, 1j), (1, 1.0)], {0: 0.5, 1: 0.5}, None),
    },
    "returns": {
        "beyond": [5.0, -5.0],
        "other sum": [1.0, 1.0],
        **named([1.0], [0.0, 0.0, 0.0], [], [NAN, 0.0], [0.0, NAN], [INF, -INF], [1e308, 1e308]),
        **named(
            ["1", "-1"], {0: 1.0, 1: -1.0}, None, 1.0, [[1.0, -1.0]], [1j, -1j], [np.ones(3)] * 2
        ),
    },
}
"""For each method what it gives in place of what is right: a value, or a function of that."""

EVERYWHERE = {
    "num_players": named(0, -1, 100, 10**9, 2.5, "2", None),
    "num_distinct_actions": named(0, -3, 1, 2**70, 2.5, None),
    "min_utility": named(NAN, 3.0, INF, None, "-1"),
    "max_utility": named(NAN, -3.0, -INF, None, [1.0]),
    "utility_sum": named(NAN, 5.0, INF, "0"),
}
"""Likewise, at the root as elsewhere."""

ODD = {
    "num_players": named(3, 1, 100),
    "num_distinct_actions": named(1, 10**6),
    "is_terminal": named(True, False, 2, np.bool_(True)),
    "clone": {"itself": "self"},
    "position_key": named([1], 0),
    "observation": {"long": np.zeros(99), "short": np.zeros(1), "NaN": np.full(16, NAN)},
}
"""Likewise below the root, where a search may play on: it need not notice."""


def with_fault(draw, base, method, wrong, depth):
    """A class of states one of whose methods goes wrong from a depth on."""
    draw.met = False

    def answer(self, *arguments):
        if len(self.history) < depth:
            return getattr(base, method)(self, *arguments)
        draw.met = True
        if isinstance(wrong, str) and wrong == "self":
            return self
        return wrong(getattr(base, method)(self, *arguments)) if callable(wrong) else wrong

    return type("Broken", (base,), {method: answer})


class NothingLegal(JointPosition):
    """Nobody who moves at the same time has an action."""

    def legal_actions(self, player=None):
        return []


def evaluated(batch):
    return np.zeros(batch.legal_actions_mask.shape), np.zeros((len(batch.players), 2))


def search(draw, kind, rules, *, joint=False):
    """A search of a state, by a preset, with playouts or an evaluator of batches."""
    preset = draw.choice(JOINT_PRESETS if joint else PRESETS)
    config = SearchConfig.preset(preset).replace(
        expand_visits=draw.choice((1, 1, 5)), search_forced_moves=True
    )
    evaluator = None
    if not joint and preset == "puct" and draw.random() < 0.7:
        config = config.replace(leaves=draw.choice((1, 4)))
        evaluator = BatchEvaluator(evaluated)
    player = 0 if joint else None
    searcher = Searcher(config, seed=draw.randrange(1000), evaluator=evaluator)
    return searcher.search(kind(rules), Limit(simulations=SIMULATIONS), player=player)


def tree_of(draw, method):
    """Random rules in which a search meets the method."""
    chance = 0.9 if method == "chance_outcomes" else 0.2
    depth = draw.choice((2, 3, 5))
    return RandomRules(draw.randrange(1000), depth=depth, chance=chance, zero_sum=True)


def runner(method, wrong, depths):
    def run(draw):
        kind = with_fault(draw, Observed, method, wrong, draw.choice(depths))
        return search(draw, kind, tree_of(draw, method))

    return run


def joint_runner(wrong):
    def run(draw):
        def legal(self, player=None):
            right = JointPosition.legal_actions(self, player)
            if len(self.history) < depth or not right:
                return right
            draw.met = True
            return wrong(right) if callable(wrong) else wrong

        draw.met = False
        depth = draw.choice((0, 1, 2))
        kind = type("Broken", (JointPosition,), {"legal_actions": legal})
        rules = JointRandomRules(draw.randrange(1000), together=1.0, depth=4)
        while 0 not in rules.joint(()):
            rules = JointRandomRules(draw.randrange(1000), together=1.0, depth=4)
        return search(draw, kind, rules, joint=True)

    return run


for method, faults in FAULTS.items():
    for label, wrong in faults.items():
        # An empty set of outcomes or of returns is met below the root alone.
        depths = (0, 1, 2) if method in ("current_player", "legal_actions") else (0,)
        if label.startswith("twice"):  # Noticed where the position gets a node, not in playouts.
            depths = (0,)
            add_kind(f"state below {method} {label}", runner(method, wrong, (1, 2)), refused=False)
        # Not always noticed in playouts.
        played = ("twice", "outcome 2**40")
        refused = method != "chance_outcomes" or label not in played
        add_kind(f"state {method} {label}", runner(method, wrong, depths), refused=refused)
for method, faults in EVERYWHERE.items():
    for label, wrong in faults.items():
        add_kind(f"state {method} {label}", runner(method, wrong, (0,)))
for method, faults in ODD.items():
    for label, wrong in faults.items():
        add_kind(f"state below {method} {label}", runner(method, wrong, (1, 2)), refused=False)
for label, wrong in FAULTS["legal_actions"].items():
    add_kind(f"simultaneous legal_actions {label}", joint_runner(wrong), refused=label != "none")


def shares_history(draw):
    """Clones that share what changes: every move changes the caller's state."""

    class Shared(Position):
        def __init__(self, rules, history=()):
            super().__init__(rules, history)
            self.shared = history if isinstance(history, list) else list(history)

        def clone(self):
            return Shared(self.rules, self.shared)

        def apply_action(self, action):
            self.shared.append(int(action))
            self.history = tuple(self.shared)

    return search(draw, Shared, tree_of(draw, "clone"))


def changes_at_random(draw):
    """Another number of actions each time that is asked."""
    turns = itertools.count()

    class Changing(Observed):
        def legal_actions(self):
            right = super().legal_actions()
            return right[: 1 + next(turns) % len(right)] if right else right

    return search(draw, Changing, tree_of(draw, "legal_actions"))


add_kind("state clones share history", shares_history, refused=False)
add_kind("state changes at random", changes_at_random, refused=False)
add_kind(
    "simultaneous nobody moves",
    lambda draw: search(draw, NothingLegal, JointRandomRules(3, together=1.0), joint=True),
)
