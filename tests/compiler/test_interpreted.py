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
from rave_agents.parts import (
    GRAVE,
    HRAVE,
    PUCT,
    UCB1,
    BlendScores,
    CheckTerminal,
    DirichletNoise,
    Fuego,
    HandSelected,
    Linear,
    NodeAmaf,
    Pachi,
    Proofs,
    SteeredPlayouts,
    Stepped,
    UCB1Tuned,
    VisitedEdges,
    WinningMoves,
    action_weight,
    implements,
    score,
)


class OwnRule(NamedTuple):
    c: float = 1.0


@implements(score, OwnRule)
def own_score(rule, amaf, node, edge):
    beta = edge.n_amaf / (edge.n + edge.n_amaf + 1.0)
    explored = rule.c * math.sqrt(edge.p * math.log(node.N + 1.0) / (edge.n + 1))
    return (1.0 - beta) * min(edge.q, 1.0) + beta * edge.q_amaf + explored


class PoweredPlayouts(NamedTuple):
    power: float = 0.5


@implements(action_weight, PoweredPlayouts)
def own_weight(policy, action):
    return (1.0 + action.q) / (1.0 + action.n) ** policy.power


RAVE = SearchConfig(amaf=NodeAmaf())
CASES = {
    "uct": (SearchConfig(), {}, False),
    "rave": (SearchConfig(rule=UCB1(0.3), amaf=NodeAmaf(HandSelected(20.0))), {}, False),
    "minimum_mse": (RAVE.replace(playout_count=3), {}, False),
    "ucb_blend": (RAVE.replace(blending=BlendScores(), expand_visits=1), {}, False),
    "puct": (SearchConfig(rule=PUCT(0.5), first_play_urgency=0.5), {}, True),
    "puct_rave": (RAVE.replace(rule=PUCT(0.5)), {"chance": 0.3}, True),
    "puct_blend": (RAVE.replace(rule=PUCT(0.5), blending=BlendScores()), {}, True),
    "noise": (SearchConfig(rule=PUCT(0.5), root_noise=DirichletNoise()), {}, True),
    "observed": (RAVE, {"stated": False, "whole": False, "num_players": 3}, False),
    "chance": (RAVE, {"chance": 0.4, "low": -7.0, "high": 30.0}, False),
    "grave": (SearchConfig(amaf=GRAVE(ref=5, table_visits=2)), {"chance": 0.3}, False),
    "global": (SearchConfig(amaf=HRAVE(Fuego(), edges=VisitedEdges())), {}, False),
    "linear": (RAVE.replace(schedule=Pachi(), weighting=Linear()), {}, False),
    "stepped": (SearchConfig(amaf=GRAVE(weighting=Stepped()), playout_count=3), {}, False),
    "solver": (RAVE.replace(proofs=Proofs(checks=CheckTerminal())), {}, False),
    "proof_numbers": (SearchConfig.preset("pn_mcts"), {}, False),
    "tuned": (RAVE.replace(rule=UCB1Tuned(0.5)), {}, False),
    "steered": (RAVE.replace(playouts=SteeredPlayouts(0.05)), {}, False),
    "own_playouts": (SearchConfig(playouts=PoweredPlayouts()), {}, False),
    "winning": (RAVE.replace(winning=WinningMoves(0.4)), {}, False),
    "winning_table": (
        SearchConfig(amaf=GRAVE(weighting=Linear(), winning=WinningMoves(0.4))),
        {"stated": False, "whole": False},
        False,
    ),
    "own_rule": (SearchConfig(rule=OwnRule(), amaf=GRAVE(), expand_visits=1), {}, False),
    "one_player": (SearchConfig(utility_range="observed"), {"num_players": 1}, False),
}


def digest(name):
    """A digest of the tree, of the kept subtree after a move, and of the search that follows."""
    config, rules, evaluated = CASES[name]
    state = random_game(11, **{"depth": 8, **rules})
    evaluator = RandomEvaluator() if evaluated else None
    searcher = Searcher(config, seed=3, evaluator=evaluator)
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
def interpreted(request):
    names = {
        item.callspec.params["name"]
        for item in request.session.items
        if item.nodeid.startswith(request.node.nodeid + "::") and hasattr(item, "callspec")
    }
    program = (
        f"import sys; sys.path[:0] = [{str(pathlib.Path(__file__).parents[1])!r}, "
        f"{str(pathlib.Path(__file__).parent)!r}]\n"
        "import json, test_interpreted as cases\n"
        "from rave_agents.compiler.dispatch import JIT_DISABLED\n"
        "assert JIT_DISABLED\n"
        f"print(json.dumps({{name: cases.digest(name) for name in {sorted(names)}}}))"
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


@pytest.mark.full(but=["rave"])
@pytest.mark.compiled
@pytest.mark.parametrize("name", CASES)
def test_interpreted_and_compiled_trees_are_equal(name, interpreted):
    compiled = digest(name)
    assert compiled[1] > 10, "the tree should be worth comparing"
    assert tuple(interpreted[name]) == compiled
