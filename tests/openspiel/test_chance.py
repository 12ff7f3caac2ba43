"""Chance in OpenSpiel's games, explicit or drawn inside an action, is not foreseen."""

import statistics

import numpy as np
import pyspiel
import pytest
from helpers import zoo
from helpers.spiel import own_type, written_game
from rave_openspiel import OpenSpielState, UCTBot
from rave_pettingzoo import UCTAgent

from rave_agents import Limit, Searcher, UnsupportedGameError

SURE = 0.6


class _State(pyspiel.State):
    """0.6 for sure, or a coin: a chance node, or drawn inside the action."""

    def __init__(self, game, rng):
        super().__init__(game)
        self.rng = rng
        self.result = None
        self.flipping = False

    def current_player(self):
        if self.result is not None:
            return pyspiel.PlayerId.TERMINAL
        return pyspiel.PlayerId.CHANCE if self.flipping else 0

    def _legal_actions(self, player):
        return [0, 1]

    def chance_outcomes(self):
        return [(0, 0.5), (1, 0.5)]

    def _apply_action(self, action):
        if self.flipping:
            self.result = float(action)
        elif action == 0:
            self.result = SURE
        elif self.rng is None:
            self.flipping = True
        else:
            self.result = float(self.rng.integers(2))

    def _action_to_string(self, player, action):
        return f"{player}:{action}"

    def is_terminal(self):
        return self.result is not None

    def returns(self):
        return [0.0 if self.result is None else self.result]

    def __str__(self):
        return f"{self.result} {self.flipping}"

    def information_state_string(self, player=None):
        return str(self)

    observation_string = information_state_string


def _game(name, mode, seed):
    views = ("information_state_string", "observation_string")
    kind = own_type(name, players=1, chance=mode, utility="GENERAL_SUM", provides=views)

    def state(game):
        return _State(game, None if seed is None else np.random.default_rng(seed))

    return written_game(kind, state, actions=2, length=2, outcomes=2)


@pytest.mark.slow
def test_an_explicit_coin_is_not_foreseen():
    game = _game("explicit_coin", "EXPLICIT_STOCHASTIC", None)
    total = []
    for seed in range(60):
        state = game.new_initial_state()
        state.apply_action(UCTBot(game, simulations=60, seed=seed).step(state))
        if state.is_chance_node():
            state.apply_action(int(np.random.default_rng(seed).integers(2)))
        total.append(state.returns()[0])
    assert statistics.mean(total) == pytest.approx(SURE, abs=0.1)


def test_chance_inside_an_action_is_refused_with_the_reason():
    game = _game("sampled_coin", "SAMPLED_STOCHASTIC", 1)
    with pytest.raises(UnsupportedGameError, match="a clone would know the outcomes to come"):
        UCTBot(game, simulations=10)
    with pytest.raises(UnsupportedGameError, match="a clone would know the outcomes to come"):
        Searcher().search(OpenSpielState(game.new_initial_state()), Limit(simulations=10))


def test_shimmys_environments_of_such_games_are_refused_too():
    env = zoo.shimmy("stones_and_gems")
    with pytest.raises(UnsupportedGameError, match="the outcomes of chance to come"):
        UCTAgent(env, simulations=10)


def test_a_shimmy_environment_of_a_game_of_chance_is_searched_in_chance_nodes():
    results = []
    for seed in range(3):
        env = zoo.shimmy("pig", players=2)
        env.np_random = np.random.default_rng(seed)
        agent = UCTAgent(env, simulations=200, seed=1)
        agent.act()
        results.append(agent.last_result.actions)
    assert results[0] == results[1] == results[2]
