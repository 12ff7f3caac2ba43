"""Agents for games in which players move at the same time, in PettingZoo's Parallel form.

First rock-paper-scissors, where the one right thing is to be unpredictable; then a small game
written here: two drivers meet on a road of two lanes, and each may keep their lane or change it.

    python examples/simultaneous_moves.py
"""

import collections

import pettingzoo
from gymnasium import spaces
from rave_pettingzoo import RaveAgent, RegretMatchingAgent


class Drivers(pettingzoo.ParallelEnv):
    """Two drivers in opposite directions: five times they choose a lane, and must not meet in one.

    A driver who changes lane pays a little for it.
    """

    metadata = {"name": "drivers_v0", "render_modes": []}  # noqa: RUF012

    def __init__(self):
        self.possible_agents = ["north", "south"]
        self.agents = []

    def observation_space(self, agent):
        """Both lanes, as each sees them."""
        return spaces.MultiDiscrete([2, 2])

    def action_space(self, agent):
        """The lane to take."""
        return spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        """Both start in lane 0."""
        self.agents = list(self.possible_agents)
        self.lanes, self.meetings = [0, 0], 0
        return self._seen(), {agent: {} for agent in self.agents}

    def step(self, actions):
        """Both choose at the same time."""
        before, self.lanes = self.lanes, [int(actions[agent]) for agent in self.agents]
        self.meetings += 1
        crash = self.lanes[0] == self.lanes[1]
        rewards = {
            agent: (-1.0 if crash else 1.0) - 0.1 * (before[seat] != self.lanes[seat])
            for seat, agent in enumerate(self.agents)
        }
        over = dict.fromkeys(self.agents, self.meetings == 5)
        answer = self._seen(), rewards, over, dict.fromkeys(self.agents, False)
        infos = {agent: {} for agent in self.agents}
        if self.meetings == 5:
            self.agents = []
        return *answer, infos

    def _seen(self):
        return {agent: tuple(self.lanes) for agent in self.agents}


def play(env, agents):
    """One game; the rewards of each, summed up."""
    observations, _ = env.reset(seed=1)
    totals = collections.Counter()
    while env.agents:
        actions = {name: agents[name].act(observations[name]) for name in env.agents}
        observations, rewards, _, _, _ = env.step(actions)
        totals.update(rewards)
    return dict(totals)


def main():
    """Play both games and print the results."""
    rps = pettingzoo.make("parallel", "classic/rps-v2", num_actions=3, max_cycles=3)
    rps.reset(seed=1)
    players = {
        name: RegretMatchingAgent(rps, player=name, simulations=2000, seed=seat)
        for seat, name in enumerate(rps.possible_agents)
    }
    print("rock-paper-scissors:", play(rps, players))
    mix = players["player_0"].last_result.policy
    print("the last mix:", {action: round(share, 2) for action, share in mix})

    road = Drivers()
    road.reset()
    players = {
        name: RaveAgent(road, player=name, simulations=1000, seed=seat)
        for seat, name in enumerate(road.possible_agents)
    }
    print("drivers:", play(road, players))
    print(players["north"].last_result)


if __name__ == "__main__":
    main()
