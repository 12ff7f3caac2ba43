"""Tests whether a search foresees dice: a search that does earns more than fair play can.

    python examples/fair_chance.py --episodes 400

The coin: one action earns 0.6 for sure, the other 0 or 1 by a fair coin, so that fair play earns at
most 0.6; a search that foresees the coin earns 0.8. Pig, to 50: against a player who holds at 20, a
search of 100 simulations that draws its own dice wins a quarter to a third of the games, and one
that foresees the dice almost all. ``--see`` lets the agents cheat.
"""

# ruff: noqa: D102  (the methods of environments are those of their frameworks)

import argparse
import math
import random
import statistics

import gymnasium
import numpy as np
import pettingzoo
from gymnasium import spaces
from rave_gymnasium import UCTAgent as Planner
from rave_pettingzoo import UCTAgent

SURE = 0.6


class Coin(gymnasium.Env):
    """One step: 0.6 for sure, or a coin."""

    action_space = spaces.Discrete(2)
    observation_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        reward = float(self.np_random.integers(2)) if action == 1 else SURE
        return 1 + int(reward == 1), reward, True, False, {}


class Coins(pettingzoo.ParallelEnv):
    """The same for two agents at the same time."""

    def __init__(self):
        self.metadata = {"name": "coins", "hidden_information": None}
        self.possible_agents = ["first", "second"]
        self.agents = []

    def action_space(self, agent):
        return spaces.Discrete(2)

    def observation_space(self, agent):
        return spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        self.rng = np.random.default_rng(seed)
        self.agents = self.possible_agents[:]
        return dict.fromkeys(self.agents, 0), {agent: {} for agent in self.agents}

    def step(self, actions):
        rewards = {a: float(self.rng.integers(2)) if actions[a] else SURE for a in self.agents}
        over, self.agents = dict.fromkeys(self.agents, True), []
        return (
            dict.fromkeys(over, 1),
            rewards,
            over,
            dict.fromkeys(over, False),
            {agent: {} for agent in over},
        )


class Pig(pettingzoo.AECEnv):
    """Roll (0) or hold (1): a 1 loses what the turn has brought. Who first has 50 wins."""

    def __init__(self, goal=50):
        super().__init__()
        self.metadata = {"name": "pig", "hidden_information": None}
        self.possible_agents = ["first", "second"]
        self.agents = []
        self.goal = goal

    def action_space(self, agent):
        return spaces.Discrete(2)

    def observation_space(self, agent):
        return spaces.Box(0, 200, (3,), np.int64)

    def reset(self, seed=None, options=None):
        self.rng = random.Random(seed)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.score = dict.fromkeys(self.agents, 0)
        self.turn = 0
        self.agent_selection = "first"

    def other(self, agent):
        return "second" if agent == "first" else "first"

    def observe(self, agent):
        return np.array([self.score[agent], self.score[self.other(agent)], self.turn])

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        rolled = self.rng.randrange(6) + 1 if action == 0 else 0
        self.turn = 0 if rolled == 1 else self.turn + rolled
        if action == 1:
            self.score[agent] += self.turn
            self.turn = 0
        if self.score[agent] + self.turn >= self.goal:
            self.rewards = {agent: 1, self.other(agent): -1}
            self.terminations = dict.fromkeys(self.agents, True)
        elif action == 1 or rolled == 1:
            self.agent_selection = self.other(agent)
        self._accumulate_rewards()


def coin(seed, options):
    """The return of one episode of the coin."""
    env = Coin()
    env.reset(seed=seed)
    return env.step(Planner(env, seed=seed, **options).act())[1]


def coins(seed, options):
    """The first agent's return of one episode of the coins."""
    env = Coins()
    observations, infos = env.reset(seed=seed)
    agent = UCTAgent(env, player="first", seed=seed, **options)
    action = agent(env, observations=observations, infos=infos)
    return env.step({"first": action, "second": 0})[1]["first"]


def pig(seed, options):
    """1 for a game of Pig that is won, else 0; the seats are exchanged."""
    env = Pig()
    env.reset(seed=seed)
    own = env.possible_agents[seed % 2]
    agent = UCTAgent(env, seed=seed, **options)
    while not env.terminations[own]:
        reached = env.score[env.agent_selection] + env.turn
        holds = int(env.turn >= 20 or reached >= env.goal)
        env.step(agent.act() if env.agent_selection == own else holds)
    return float(env.rewards[own] == 1)


def main():
    """Play, and print the mean of each with its 95 % interval."""
    parser = argparse.ArgumentParser(description="Whether a search foresees the dice.")
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--see", action="store_true", help="let the agents look")
    given = parser.parse_args()
    options = {"simulations": given.simulations, "chance": "see" if given.see else "draw"}
    for name, play in (("coin, Gymnasium", coin), ("coin, Parallel", coins), ("Pig, AEC", pig)):
        earned = [play(seed, options) for seed in range(given.episodes)]
        error = 1.96 * statistics.pstdev(earned) / math.sqrt(len(earned))
        print(f"{name:16} {statistics.mean(earned):.3f} +- {error:.3f}  ({len(earned)} episodes)")


if __name__ == "__main__":
    main()
