"""Environments whose episodes never end."""

import pytest
from helpers.zoo import Counting, Endless
from rave_pettingzoo import UCTAgent

from rave_agents.errors import GameError
from rave_agents.game import endless


class NeverSeven(Counting):
    """The sum stays low."""

    def put(self, value):
        self.sum = min(value, 3)


@pytest.mark.slow
@pytest.mark.full(but=["Endless"])
@pytest.mark.parametrize("make", [NeverSeven, Endless])
def test_without_a_horizon_a_search_says_that_episodes_do_not_end(make, monkeypatch):
    monkeypatch.setattr(endless, "LONGEST_GAME", 1000)
    env = make()
    env.reset(seed=1)
    player = {} if make is NeverSeven else {"player": env.possible_agents[0]}
    agent = UCTAgent(env, simulations=10, horizon=None, seed=1, **player)
    with pytest.raises(GameError, match="has not ended after 1000 moves"):
        agent.act()
