"""OpenSpiel's own tests of its MCTS bot, as they are installed, with this package's bots."""

import unittest

import numpy as np
import pytest
from open_spiel.python.algorithms import mcts, mcts_test
from rave_openspiel import PNMCTSBot, RavePNBot, UCTSolverBot

CHOICES = "test_choose_"
"""Tests of the stock bot's own nodes, without a bot; ``test_mcts_scenarios.py`` has their like."""

NAMES = [
    name
    for name in unittest.TestLoader().getTestCaseNames(mcts_test.MctsBotTest)
    if not name.startswith(CHOICES)
]


def in_place_of_the_stock_bot(kind):
    """A constructor with the stock bot's parameters."""

    def make(game, uct_c, max_simulations, evaluator, solve=False, random_state=None):
        seed = 1 if random_state is None else int(random_state.randint(2**31))
        return kind(
            game,
            simulations=max_simulations,
            seed=seed,
            c=uct_c / 2.0,
            playout_count=evaluator.n_rollouts,
        )

    return make


@pytest.mark.full(but=["PNMCTSBot"])
@pytest.mark.parametrize("kind", [UCTSolverBot, PNMCTSBot, RavePNBot])
@pytest.mark.parametrize("name", NAMES)
def test_the_stock_bots_own_test_holds(name, kind, monkeypatch):
    monkeypatch.setattr(mcts, "MCTSBot", in_place_of_the_stock_bot(kind))
    np.random.seed(1)
    result = unittest.TestResult()
    mcts_test.MctsBotTest(name).run(result)
    problems = [text for _, text in result.failures + result.errors]
    assert not problems, problems[0]
