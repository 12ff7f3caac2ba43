"""Environments in which whoever sees the dice earns more, and many ways to keep a generator."""

import functools
import os
import random

import gymnasium
import numpy as np
import pettingzoo
from gymnasium import spaces
from helpers.zoo import TurnBased

SURE = 0.6
"""What the first action earns; the second a fair coin of 0 or 1, so that nobody earns more."""


class Holder:
    """An object that holds a generator in a slot."""

    __slots__ = ("inner",)

    def __init__(self, inner):
        self.inner = inner


class Loaded(random.Random):
    """A generator of one's own: a congruence in an attribute."""

    def seed(self, number=0, version=2):
        self.number = hash(number) % 2**31

    def random(self):
        self.number = (self.number * 1103515245 + 12345) % 2**31
        return self.number / 2**31


module_random = random.Random(3)
module_generator = np.random.default_rng(3)


class Keeper:
    """Keeps its generator as its subclasses do; ``draw`` flips a fair coin."""

    def begin(self, seed):
        """A reset."""

    def flip(self):
        raise NotImplementedError


class Attribute(Keeper):
    """``numpy.random.Generator``, as most do."""

    def begin(self, seed):
        self.rng = np.random.default_rng(seed)

    def flip(self):
        return int(self.rng.integers(2))


class Python(Keeper):
    """``random.Random``."""

    def begin(self, seed):
        self.rng = random.Random(seed)

    def flip(self):
        return int(self.rng.random() < 0.5)


class Own(Python):
    """A subclass of ``random.Random``."""

    def begin(self, seed):
        self.rng = Loaded(seed)


class Contained(Keeper):
    """In a dictionary, in a list, in a slot of another object."""

    def begin(self, seed):
        self.kept = {"here": [None, Holder(np.random.Generator(np.random.Philox(seed)))]}

    def flip(self):
        return int(self.kept["here"][1].inner.integers(2))


class Global(Keeper):
    """The functions of the module ``random``."""

    def flip(self):
        return random.randrange(2)


class GlobalNumPy(Keeper):
    """The functions of the module ``numpy.random``."""

    def flip(self):
        return np.random.randint(2)


class Module(Keeper):
    """A variable of its module."""

    def flip(self):
        return helped()


def helped():
    return module_random.randrange(2) ^ int(module_generator.integers(2))


class OfClass(Keeper):
    """A variable of its class."""

    rng = np.random.default_rng(11)

    def flip(self):
        return int(self.rng.integers(2))


class System(Keeper):
    """The operating system, which nobody foresees."""

    def flip(self):
        return os.urandom(1)[0] % 2


KEEPERS = [Attribute, Python, Own, Contained]
OUTSIDE = [Global, GlobalNumPy, Module, OfClass]


class Deck(Keeper):
    """What will come was drawn at the reset."""

    def begin(self, seed):
        self.cards = np.random.default_rng(seed).integers(2, size=20).tolist()

    def flip(self):
        return self.cards.pop()


class Counted(Keeper):
    """A generator made at each flip, by the reset's seed and a count."""

    def begin(self, seed):
        self.seed, self.count = seed, 0

    def flip(self):
        self.count += 1
        return random.Random(f"{self.seed} {self.count}").randrange(2)


@functools.cache
def gym_coin(keeper, actions=2):
    """A class of Gymnasium environments: the first action is sure, the last one a coin.

    Those between lead on, once; then the first-listed actions meet no chance at once.
    """

    class Coin(keeper, gymnasium.Env):
        action_space = spaces.Discrete(actions)
        observation_space = spaces.Discrete(3)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.begin(seed)
            return 0, {}

        def step(self, action):
            reward = float(self.flip()) if action == actions - 1 else SURE
            return 1 + int(reward == 1), reward, True, False, {}

    Coin.__name__ = Coin.__qualname__ = f"Coin{keeper.__name__}"
    return Coin


@functools.cache
def zoo_coin(keeper):
    """The same as an AEC environment for one agent."""

    class Coin(keeper, TurnBased):
        metadata = {"name": f"coin_{keeper.__name__}"}  # noqa: RUF012

        def __init__(self):
            super().__init__(["player"])

        def observation_space(self, agent):
            return spaces.Discrete(3)

        def reset(self, seed=None, options=None):
            self.begin(seed)
            self.shown = 0
            super().reset()

        def observe(self, agent):
            return self.shown

        def take(self, agent, action):
            reward = SURE if action == 0 else float(self.flip())
            self.shown = 1 + int(reward == 1)
            self.rewards = {"player": reward}
            self.terminations = {"player": True}

    return Coin


@functools.cache
def together_coin(keeper):
    """The same as a Parallel environment for two agents, each with a coin of its own."""

    class Coin(keeper, pettingzoo.ParallelEnv):
        metadata = {"name": f"coins_{keeper.__name__}"}  # noqa: RUF012

        def __init__(self):
            super().__init__()
            self.possible_agents = ["first", "second"]
            self.agents = []

        def action_space(self, agent):
            return spaces.Discrete(2)

        def observation_space(self, agent):
            return spaces.Discrete(2)

        def reset(self, seed=None, options=None):
            self.begin(seed)
            self.agents = self.possible_agents[:]
            return dict.fromkeys(self.agents, 0), {agent: {} for agent in self.agents}

        def step(self, actions):
            rewards = {a: float(self.flip()) if actions[a] else SURE for a in self.agents}
            over = dict.fromkeys(self.agents, True)
            infos = {agent: {} for agent in self.agents}
            self.agents = []
            return dict.fromkeys(over, 1), rewards, over, dict.fromkeys(over, False), infos

    return Coin


class Pig(Python, TurnBased):
    """Roll (0) or hold (1): a 1 loses what the turn has brought. Who has the goal wins."""

    metadata = {"name": "pig"}  # noqa: RUF012

    def __init__(self, goal=50):
        super().__init__()
        self.goal = goal

    def observation_space(self, agent):
        return spaces.Box(0, 200, (3,), np.int64)

    def reset(self, seed=None, options=None):
        self.begin(seed)
        super().reset()
        self.score = dict.fromkeys(self.agents, 0)
        self.turn = 0

    def observe(self, agent):
        return np.array([self.score[agent], self.score[self.other(agent)], self.turn])

    def roll(self):
        return self.rng.randrange(6) + 1

    def take(self, agent, action):
        if action == 1:
            self.score[agent] += self.turn
            self.turn = 0
            self.agent_selection = self.other(agent)
        elif (rolled := self.roll()) == 1:
            self.turn = 0
            self.agent_selection = self.other(agent)
        else:
            self.turn += rolled
        if max(self.score[agent], self.score[agent] + self.turn) >= self.goal:
            self.rewards = {agent: 1, self.other(agent): -1}
            self.terminations = dict.fromkeys(self.agents, True)


def live(env, seed):
    """Reset an environment with the dice of this seed, wherever they come from: what it told."""
    told = env.reset(seed=seed)
    random.seed(seed)
    np.random.seed(seed)
    module_random.seed(seed)
    module_generator.bit_generator.state = np.random.PCG64(seed).state
    OfClass.rng = np.random.default_rng(seed)
    return told
