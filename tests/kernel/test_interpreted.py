"""The kernel gives the same trees in the interpreter as compiled."""

import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys
from typing import NamedTuple

import pytest
from helpers.games import RandomEvaluator, random_game
from helpers.trees import dump

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.kernel.dispatch import implements
from rave_agents.kernel.rules import score


class OwnRule(NamedTuple):
    c: float = 1.0


@implements(score, OwnRule)
def own_score(rule, amaf, node, edge):
    beta = edge.n_amaf / (edge.n + edge.n_amaf + 1.0)
    explored = rule.c * math.sqrt(edge.p * math.log(node.N + 1.0) / (edge.n + 1))
    return (1.0 - beta) * min(edge.q, 1.0) + beta * edge.q_amaf + explored


CASES = {
    "uct": ({}, {}, False),
    "rave": ({"amaf": "node", "exploration": 0.3, "rave_k": 20.0}, {}, False),
    "minimum_mse": ({"amaf": "node", "rave_schedule": "minimum_mse", "playouts": 3}, {}, False),
    "ucb_blend": ({"amaf": "node", "rave_blend": "ucb", "expand_visits": 1}, {}, False),
    "puct": ({"selection": "puct", "first_play_urgency": 0.5}, {}, True),
    "puct_rave": ({"selection": "puct", "amaf": "node"}, {"chance": 0.3}, True),
    "noise": ({"selection": "puct", "dirichlet_epsilon": 0.25}, {}, True),
    "observed": ({"amaf": "node"}, {"stated": False, "whole": False, "num_players": 3}, False),
    "chance": ({"amaf": "node"}, {"chance": 0.4, "low": -7.0, "high": 30.0}, False),
    "grave": ({"amaf": "grave", "grave_ref": 5, "grave_table_visits": 2}, {"chance": 0.3}, False),
    "global": ({"amaf": "global", "rave_schedule": "fuego", "amaf_unvisited": False}, {}, False),
    "linear": ({"amaf": "node", "amaf_weighting": "linear", "rave_schedule": "pachi"}, {}, False),
    "stepped": ({"amaf": "grave", "amaf_weighting": "stepped", "playouts": 3}, {}, False),
    "solver": ({"amaf": "node", "solver": True, "check_terminal": True}, {}, False),
    "proof_numbers": (SearchConfig.preset("pn_mcts").to_dict(), {}, False),
    "tuned": ({"amaf": "node", "selection": "ucb1_tuned"}, {}, False),
    "steered": ({"amaf": "node", "playout_temperature": 0.05}, {}, False),
    "winning": ({"amaf": "node", "winning_move_weight": 0.4}, {}, False),
    "winning_table": (
        {"amaf": "grave", "winning_move_weight": 0.4, "amaf_weighting": "linear"},
        {"stated": False, "whole": False},
        False,
    ),
    "own_rule": ({"amaf": "grave", "selection": OwnRule(), "expand_visits": 1}, {}, False),
    "one_player": ({"utility_range": "observed"}, {"num_players": 1}, False),
}


def digest(name):
    """A digest of the tree, of the kept subtree after a move, and of the search that follows."""
    changes, rules, evaluated = CASES[name]
    state = random_game(11, **{"depth": 8, **rules})
    evaluator = RandomEvaluator() if evaluated else None
    searcher = Searcher(SearchConfig(**changes), seed=3, evaluator=evaluator)
    result = searcher.search(state, Limit(simulations=120))
    trees = [dump(searcher)]
    searcher.advance(result.action)
    state.apply_action(result.action)
    if state.current_player() >= 0 and searcher.tree is not None:
        trees.append(dump(searcher))
        searcher.search(state, Limit(simulations=150))
        trees.append(dump(searcher) if searcher.tree is not None else {})
    text = "\n".join(repr(sorted(tree.items())) for tree in trees)
    return hashlib.sha256(text.encode()).hexdigest(), len(trees[0])


@pytest.fixture(scope="module")
def interpreted():
    program = (
        f"import sys; sys.path[:0] = [{str(pathlib.Path(__file__).parents[1])!r}, "
        f"{str(pathlib.Path(__file__).parent)!r}]\n"
        "import json, test_interpreted as cases\n"
        "from rave_agents.kernel.dispatch import JIT_DISABLED\n"
        "assert JIT_DISABLED\n"
        "print(json.dumps({name: cases.digest(name) for name in cases.CASES}))"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", CASES)
def test_interpreted_and_compiled_trees_are_equal(name, interpreted):
    compiled = digest(name)
    assert compiled[1] > 10, "the tree should be worth comparing"
    assert tuple(interpreted[name]) == compiled
