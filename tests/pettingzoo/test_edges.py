"""Positions at the edge: masks that allow nothing, ended episodes, impossible boards, views."""

import copy
import logging
from typing import ClassVar

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium import spaces
from helpers import zoo
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from rave_gymnasium import UCTAgent as PlanningAgent
from rave_pettingzoo import AECState, ParallelState, RaveAgent, UCTAgent, evaluate, make_agent

AGENTS = ["guard", "prisoner"]


class Chase(pettingzoo.ParallelEnv):
    """A guard and a prisoner on a row of four places, as in Farama's tutorial with action masks.

    The mask forbids to leave the row or to stay; the guard waits in the first step: it may nothing.
    """

    metadata: ClassVar = {"name": "chase_v0", "hidden_information": None}
    possible_agents: ClassVar = AGENTS
    render_mode = None

    def observation_space(self, agent):
        return spaces.Dict({"observation": spaces.MultiDiscrete([4, 4])})

    def action_space(self, agent):
        return spaces.Discrete(2)

    def told(self):
        seen = np.array([self.places[agent] for agent in AGENTS])
        masks = {a: np.array([p > 0, p < 3], np.int8) for a, p in self.places.items()}
        if self.time == 0:
            masks["guard"][:] = 0
        return {a: {"observation": seen, "action_mask": masks[a]} for a in self.agents}

    def reset(self, seed=None, options=None):
        self.agents = AGENTS[:]
        self.places = {"guard": 0, "prisoner": 2}
        self.time = 0
        return self.told(), {agent: {} for agent in self.agents}

    def step(self, actions):
        for agent in AGENTS:
            if self.time > 0 or agent == "prisoner":
                self.places[agent] += 2 * actions[agent] - 1
            assert actions[agent] in (0, 1)
        self.time += 1
        caught = self.places["guard"] == self.places["prisoner"]
        rewards = {"guard": float(caught), "prisoner": -float(caught)}
        cut = dict.fromkeys(AGENTS, self.time == 6)
        seen = self.told()
        if caught or self.time == 6:
            self.agents = []
        return seen, rewards, dict.fromkeys(AGENTS, caught), cut, {agent: {} for agent in AGENTS}


@pytest.mark.slow
def test_an_agent_whose_mask_allows_nothing_has_the_first_action_in_parallel():
    env = Chase()
    observations, _ = env.reset()
    agents = {name: UCTAgent(env, player=name, simulations=50, seed=1) for name in AGENTS}
    assert agents["guard"].act(observations) == 0
    assert agents["guard"].act(observations["guard"]) == 0
    while env.agents:
        actions = {name: agents[name].act(observations) for name in env.agents}
        observations, _, _, _, _ = env.step(actions)


@pytest.mark.slow
def test_episodes_with_such_masks_are_evaluated():
    result = evaluate(Chase, {"guard": "uct(simulations=30)", "prisoner": "random"}, episodes=4)
    assert [policy.illegal_moves for policy in result.policies] == [0, 0]


def test_an_agent_whose_mask_allows_nothing_has_the_first_action_in_turns():
    class Blocked(zoo.Counting):
        def observe(self, agent):
            return {"observation": self.get(), "action_mask": np.zeros(2, np.int8)}

    env = Blocked()
    env.reset()
    assert AECState(env).legal_actions() == [0]
    assert make_agent("random", env, seed=1).act() == 0
    assert UCTAgent(env, simulations=5, seed=1).act(env.last()[0]) == 0


def finished_turns():
    env = zoo.classic("tictactoe-v3")
    for move in (0, 3, 1, 4, 2):
        env.step(move)
    while env.agents:
        env.step(None)
    return env


def finished_together():
    env = pettingzoo.make("parallel", "classic/rps-v2", max_cycles=1)
    env.reset(seed=1)
    env.step(dict.fromkeys(env.agents, 0))
    return env


def finished_alone(name, actions):
    env = gymnasium.make(name, **({"is_slippery": False} if "Lake" in name else {}))
    env.reset(seed=1)
    for action in actions:
        env.step(action)
    return env


@pytest.mark.parametrize(
    "ask",
    [
        lambda: UCTAgent(finished_turns(), simulations=5).act(),
        lambda: make_agent("random", finished_turns()).act(),
        lambda: UCTAgent(finished_together(), player="player_0", simulations=5).act(),
        lambda: PlanningAgent(finished_alone("CartPole-v1", [1] * 12), simulations=5).act(),
        lambda: PlanningAgent(finished_alone("FrozenLake-v1", [1, 2]), simulations=5).act(),
    ],
)
def test_ended_episodes_are_refused_alike(ask):
    with pytest.raises(ValueError, match=r"The episode of .* is over: call env.reset\(\) first"):
        ask()


def test_an_impossible_board_is_searched_in_the_environment(caplog):
    env = zoo.classic("tictactoe-v3")
    env.unwrapped.board.squares[:6] = [1, 1, 2, 2, 1, 1]
    with caplog.at_level(logging.WARNING, "rave_agents"):
        assert RaveAgent(env, simulations=20, seed=1).act() in (6, 7, 8)
    assert "is searched" in caplog.text


def test_an_agent_for_each_player_plays_in_the_parallel_view_of_turns():
    env = turn_based_aec_to_parallel(zoo.Counting())
    env.reset(seed=1)
    agents = {name: RaveAgent(env, player=name, simulations=50, seed=1) for name in env.agents}
    assert agents["second"].act() == 0
    while env.agents:
        env.step({name: agents[name].act() for name in env.agents})


def test_a_deep_copy_of_a_structure_keeps_agent_and_environment_together():
    env = Chase()
    observations, _ = env.reset()
    kept = copy.deepcopy({"env": env, "agent": UCTAgent(env, player="guard", simulations=5)})
    assert kept["agent"].env is kept["env"]
    assert kept["agent"].act(observations) == 0


class Leaving(pettingzoo.ParallelEnv):
    """Three agents get 1 a step; the first leaves after one step, the others after three."""

    metadata: ClassVar = {"name": "leaving_v0", "hidden_information": None}
    possible_agents: ClassVar = ["early", "late", "last"]
    render_mode = None

    def observation_space(self, agent):
        return spaces.Discrete(4)

    def action_space(self, agent):
        return spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        self.agents, self.time = self.possible_agents[:], 0
        return dict.fromkeys(self.agents, 0), {agent: {} for agent in self.agents}

    def step(self, actions):
        self.time += 1
        told = self.agents
        ended = {agent: self.time == 3 or agent == "early" for agent in told}
        self.agents = [agent for agent in told if not ended[agent]]
        seen, rewards, cut = (dict.fromkeys(told, each) for each in (self.time, 1.0, False))
        return seen, rewards, ended, cut, {agent: {} for agent in told}


def test_the_others_play_on_when_an_agent_has_left():
    env = Leaving()
    observations, infos = env.reset()
    state = ParallelState(env, observations=observations, infos=infos, simultaneous=True)
    while not state.is_terminal():
        movers = [seat for seat in range(3) if state.legal_actions(seat)]
        state.apply_actions([0 if seat in movers else None for seat in range(3)])
    assert state.returns() == [1.0, 3.0, 3.0]
