"""Masks of actions in PettingZoo's environments, in their AEC and Parallel forms."""

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium import spaces
from pettingzoo.utils import BaseWrapper
from rave_pettingzoo import RegretMatchingAgent, UCTAgent, make_agent

from rave_agents.errors import GameError

N = 40


class Nim(pettingzoo.AECEnv):
    """Two agents take 10 or 20 of 50 in turn; who takes the last wins. Another number raises."""

    metadata = {"name": "nim", "hidden_information": None}  # noqa: RUF012
    render_mode = None
    possible_agents = ["a", "b"]  # noqa: RUF012
    where = "observation"

    def action_space(self, agent):
        return spaces.Discrete(N)

    def observation_space(self, agent):
        box = spaces.Box(0, 50, (1,), np.int8)
        masks = spaces.Box(0, 1, (N,), np.int8)
        return spaces.Dict(observation=box, action_mask=masks) if self.shows() else box

    def shows(self):
        return self.where == "observation"

    def mask(self):
        return np.array([k in (10, 20) and k <= self.left for k in range(N)], np.int8)

    def observe(self, agent):
        seen = np.array([self.left], np.int8)
        return {"observation": seen, "action_mask": self.mask()} if self.shows() else seen

    def reset(self, seed=None, options=None):
        self.agents, self.left, self.agent_selection = ["a", "b"], 50, "a"
        self.rewards, self._cumulative_rewards = dict.fromkeys("ab", 0), dict.fromkeys("ab", 0)
        self.terminations, self.truncations = dict.fromkeys("ab", False), dict.fromkeys("ab", False)
        self._tell()

    def _tell(self):
        mask = self.mask()
        told = mask.tolist() if self.where == "list in info" else mask
        self.infos = {a: {"action_mask": told} if "info" in self.where else {} for a in "ab"}

    def step(self, action):
        me = self.agent_selection
        if self.terminations[me]:
            return self._was_dead_step(action)
        if not self.mask()[action]:
            raise LookupError(f"illegal {action}")
        self.left -= int(action)
        self._cumulative_rewards[me] = 0
        self.rewards = dict.fromkeys("ab", 0)
        if self.left == 0:
            self.rewards = {x: 1 if x == me else -1 for x in "ab"}
            self.terminations = dict.fromkeys("ab", True)
        self.agent_selection = "b" if me == "a" else "a"
        self._tell()
        return self._accumulate_rewards()


class ByMethod(Nim):
    where = "method"

    def action_mask(self):
        return self.mask()


class ByMethodOfAnAgent(Nim):
    where = "method"

    def action_masks(self, agent):
        return self.mask()


class ForStableBaselines(BaseWrapper, gymnasium.Env):
    """Like the wrapper of PettingZoo's tutorial on MaskablePPO."""

    def step(self, action):
        super().step(action)

    def observe(self, agent):
        return super().observe(agent)["observation"]

    def observation_space(self, agent):
        return super().observation_space(agent)["observation"]

    def action_mask(self):
        return super().observe(self.agent_selection)["action_mask"]


class Stripping(BaseWrapper):
    """Takes the mask from the observation, and counts steps."""

    def step(self, action):
        self.steps = getattr(self, "steps", 0) + 1
        super().step(action)

    def observe(self, agent):
        return super().observe(agent)["observation"]

    def observation_space(self, agent):
        return super().observation_space(agent)["observation"]


def nim(where):
    env = Nim()
    env.where = where
    return env


AEC = {
    "observation": Nim,
    "info": lambda: nim("info"),
    "list in info": lambda: nim("list in info"),
    "method": ByMethod,
    "method of an agent": ByMethodOfAnAgent,
    "wrapper with a method": lambda: ForStableBaselines(Nim()),
    "wrapper that leaves it out": lambda: Stripping(Nim()),
}


@pytest.mark.full(but=4)
@pytest.mark.parametrize("make", AEC.values(), ids=AEC)
def test_the_mask_is_found_in_turns(make):
    env = make()
    env.reset(seed=1)
    assert make_agent("random", env, seed=1).act() in (10, 20)
    agent = UCTAgent(env, simulations=100, seed=1)
    assert agent.act(env.observe("a")) == 20
    assert len(agent.last_result.actions) == 2
    env.step(20)
    agent.act()
    assert len(agent.last_result.actions) == 2


def test_a_mask_that_the_environment_does_not_show_is_refused():
    env = nim("nowhere")
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"environment shows no mask\. A mask .* is looked for"):
        UCTAgent(env, simulations=20, seed=1).act(None, env.mask())
    with pytest.raises(GameError, match=r"nim raised LookupError: illegal \d+ .* is looked for"):
        UCTAgent(env, simulations=20, seed=1).act()


def test_a_mask_of_the_wrong_length_names_its_agent():
    env = Nim()
    env.reset(seed=1)
    env.mask = lambda: [1, 0, 1]
    with pytest.raises(ValueError, match=r"action_mask of 'a' must have 40 entries.*got 3"):
        UCTAgent(env, simulations=20, seed=1).act()


class Gate(pettingzoo.ParallelEnv):
    """At first each agent can take 0 alone, then one of 0, 10 and 20; another action raises."""

    metadata = {"name": "gate", "hidden_information": None}  # noqa: RUF012
    render_mode = None
    possible_agents = ["a", "b"]  # noqa: RUF012

    def __init__(self, where, first):
        self.where, self.first = where, first

    def action_space(self, agent):
        return spaces.Discrete(N)

    def observation_space(self, agent):
        box = spaces.Box(0, 9, (1,), np.float32)
        masks = spaces.Box(0, 1, (N,), np.int8)
        return spaces.Dict(observation=box, action_mask=masks) if self.where == "obs" else box

    def mask(self):
        legal = self.first if self.time == 0 else (0, 10, 20)
        return np.array([k in legal for k in range(N)], np.int8)

    def seen(self):
        told = {"action_mask": self.mask()}
        shown = np.array([self.time], np.float32)
        return (
            {a: {"observation": shown, **told} if self.where == "obs" else shown for a in "ab"},
            {a: told if self.where == "info" else {} for a in "ab"},
        )

    def reset(self, seed=None, options=None):
        self.agents, self.time = ["a", "b"], 0
        return self.seen()

    def step(self, actions):
        if not all(self.mask()[action] for action in actions.values()):
            raise LookupError("illegal")
        self.time += 1
        observations, infos = self.seen()
        over = dict.fromkeys("ab", self.time == 3)
        self.agents = [] if self.time == 3 else self.agents
        rewards = {agent: float(action) for agent, action in actions.items()}
        return observations, rewards, over, dict.fromkeys("ab", False), infos


class GateByMethod(Gate):
    def action_masks(self, agent):
        return self.mask()


@pytest.mark.parametrize("where", ["info", "obs", "method"])
def test_a_mask_at_the_reset_of_a_parallel_environment_is_heeded(where):
    env = (GateByMethod if where == "method" else Gate)(where, first=(0,))
    observations, infos = env.reset(seed=1)
    agent = UCTAgent(env, player="a", simulations=50, seed=1)
    assert agent.act(observations["a"], infos["a"].get("action_mask")) == 0
    masks = {name: info.get("action_mask") for name, info in infos.items()}
    assert agent.act(observations, masks) == 0
    observations, _, _, _, infos = env.step({"a": 0, "b": 0})
    assert agent.act(observations, infos) == 20


@pytest.mark.slow
@pytest.mark.parametrize("where", ["info", "obs", "method"])
def test_all_masks_of_a_parallel_environment_are_heeded_in_a_search(where):
    env = (GateByMethod if where == "method" else Gate)(where, first=(10, 30))
    observations, infos = env.reset(seed=1)
    agent = RegretMatchingAgent(env, player="b", simulations=200, seed=1)
    assert agent.act(observations, infos) == 30
    assert agent(env, observations=observations, infos=infos) == 30


def test_a_mask_of_another_agent_that_is_not_known_is_asked_for():
    env = Gate("info", first=(10, 30))
    observations, infos = env.reset(seed=1)
    with pytest.raises(GameError, match=r"gate raised LookupError: illegal .* is looked for"):
        UCTAgent(env, player="a", simulations=50, seed=1).act(
            observations["a"], infos["a"]["action_mask"]
        )
