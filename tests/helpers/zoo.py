"""PettingZoo's classic environments, and small ones that are awkward to copy."""

import functools
import os
import random
from typing import ClassVar

import numpy as np
import pettingzoo
from gymnasium import spaces
from gymnasium.utils import EzPickle

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

CLASSIC = {
    "tictactoe-v3": {},
    "connect_four-v3": {},
    "go-v5": {"board_size": 5},
    "chess-v6": {},
    "rps-v2": {},
    "leduc_holdem-v4": {},
    "texas_holdem-v4": {},
    "texas_holdem_no_limit-v6": {},
    "hanabi-v5": {},
}


def classic(name, *, seed=0, **options):
    env = pettingzoo.make("aec", f"classic/{name}", **{**CLASSIC[name], **options})
    env.reset(seed=seed)
    return env


def gin_rummy(*, seed=0, **options):
    """Gin Rummy, which PettingZoo has up to 1.26; later versions only have its base class."""
    try:
        from pettingzoo.classic import gin_rummy_v4
    except ImportError:
        env = _gin_rummy_type()(**options)
    else:
        env = gin_rummy_v4.env(**options)
    env.reset(seed=seed)
    return env


@functools.cache
def _gin_rummy_type():
    from pettingzoo.classic.rlcard_envs.rlcard_base import RLCardBase

    class GinRummy(RLCardBase, EzPickle):
        metadata: ClassVar = {"name": "gin_rummy_v4", "render_modes": []}

        def __init__(self):
            EzPickle.__init__(self)
            RLCardBase.__init__(self, "gin-rummy", 2, (4, 52))
            self.render_mode = None
            self.env.game.judge.scorer.get_payoff = self._payoff

        def _payoff(self, player, game):
            return 0.5 if game.round.going_out_player_id == player.player_id else -0.5

    # Environments are known by the full names of their classes.
    GinRummy.__module__ = "pettingzoo.classic.rlcard_envs.gin_rummy"
    GinRummy.__qualname__ = "raw_env"
    return GinRummy


def own_leduc(*, seed=0):
    """Leduc Hold'em of a class of the user's own, whose worlds are not known."""
    from pettingzoo.classic.rlcard_envs import leduc_holdem

    class OwnLeduc(leduc_holdem.raw_env):
        pass

    env = OwnLeduc()
    env.reset(seed=seed)
    return env


def shimmy(name, *, seed=0, **config):
    from shimmy.openspiel_compatibility import OpenSpielCompatibilityV0

    env = OpenSpielCompatibilityV0(game_name=name, config=config or None)
    env.reset(seed=seed)
    return env


def deal(env, agent, rng):
    """Leduc Hold'em with the cards that the agent does not see dealt again."""
    game = env.unwrapped.env.game
    other = game.players[1 - env.possible_agents.index(agent)]
    unseen = sorted([other.hand, *game.dealer.deck], key=str)
    other.hand, *game.dealer.deck = rng.permutation(unseen)
    return env


def mask_of(env):
    observation, _, terminated, truncated, info = env.last()
    if terminated or truncated:
        return None
    if "action_mask" in info:
        return info["action_mask"]
    if isinstance(observation, dict):
        return observation["action_mask"]
    return np.ones(int(env.action_space(env.agent_selection).n), np.int8)


def legal_of(env):
    mask = mask_of(env)
    return None if mask is None else np.flatnonzero(mask).tolist()


def play(env, steps, choices):
    """Random steps; stops at the end."""
    for _ in range(steps):
        if not env.agents:
            return
        legal = legal_of(env)
        env.step(None if legal is None else choices.choice(legal))


def seen(env):
    """All that an environment shows of itself."""
    if not env.agents:
        return ()
    views = {agent: env.observe(agent) for agent in env.agents}
    told = env.rewards, env.terminations, env.truncations, env.infos, env.agents
    return env.agent_selection, views, *map(_plain, told), env.last()


def _plain(value):
    return dict(value) if isinstance(value, dict) else list(value)


class TurnBased(pettingzoo.AECEnv):
    """Agents who say 0 or 1 in turn; what PettingZoo asks of all environments of turns."""

    def __init__(self, agents=("first", "second")):
        super().__init__()
        self.possible_agents = [*agents]
        self.agents = []
        self.render_mode = None

    def action_space(self, agent):
        return spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]

    def other(self, agent):
        return self.possible_agents[1 - self.possible_agents.index(agent)]

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        self.take(agent, action)
        self._accumulate_rewards()

    def take(self, agent, action):
        """What an action does."""
        raise NotImplementedError


class Counting(TurnBased, EzPickle):
    """Two agents add 1 or 2 in turn; who reaches 7 first wins. Subclasses hide the sum."""

    metadata: ClassVar = {"name": "counting_v0", "is_parallelizable": False, "render_modes": []}

    def __init__(self):
        EzPickle.__init__(self)
        super().__init__()
        self.action_spaces = {a: spaces.Discrete(2) for a in self.possible_agents}
        self.observation_spaces = {a: spaces.Discrete(9) for a in self.possible_agents}

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def action_space(self, agent):
        return self.action_spaces[agent]

    def get(self):
        return self.sum

    def put(self, value):
        self.sum = value

    def reset(self, seed=None, options=None):
        super().reset(seed, options)
        self.put(0)

    def observe(self, agent):
        return np.int64(min(self.get(), 8))

    def take(self, agent, action):
        self.put(self.get() + int(action) + 1)
        self.agent_selection = self.other(agent)
        if self.get() >= 7:
            self.rewards = {agent: 1, self.other(agent): -1}
            self.terminations = dict.fromkeys(self.agents, True)


class Sharing(Counting):
    """Keeps its sum in a list that a function remembers, which a copy has in common."""

    def reset(self, seed=None, options=None):
        cell = [0]
        self.read = lambda: cell[0]
        self.write = lambda value: cell.__setitem__(0, value)
        super().reset(seed, options)

    def get(self):
        return self.read()

    def put(self, value):
        self.write(value)


class Shared(Counting):
    """Keeps its sum in one place for all of its kind."""

    place: ClassVar = [0]

    def get(self):
        return self.place[0]

    def put(self, value):
        self.place[0] = value


class Elsewhere(Counting):
    """Keeps its sum outside, under its own identity, as wrappers of C++ programs do."""

    sums: ClassVar = {}

    def get(self):
        return self.sums.get(id(self), 0)

    def put(self, value):
        self.sums[id(self)] = value


class Unpicklable(Counting):
    """Holds what cannot be copied."""

    def reset(self, seed=None, options=None):
        super().reset(seed, options)
        self.stream = (number for number in range(10))


class Failing(Counting):
    """Its step raises at 5."""

    def step(self, action):
        super().step(action)
        if action is not None and self.get() == 5:
            raise ArithmeticError("five is right out")


class Turns(pettingzoo.ParallelEnv):
    """Counting to 7 in turns as a Parallel environment: who is not to move can only say 0."""

    def __init__(self):
        self.possible_agents = ["first", "second"]
        self.metadata = {"name": "turns"}
        self.agents = []

    def action_space(self, agent):
        return spaces.Discrete(3)

    def infos(self):
        return {
            agent: {"action_mask": np.array([0, 1, 1] if index == self.turn else [1, 0, 0])}
            for index, agent in enumerate(self.agents)
        }

    def reset(self, seed=None, options=None):
        self.agents = self.possible_agents[:]
        self.turn, self.sum = 0, 0
        return dict.fromkeys(self.agents, 0), self.infos()

    def step(self, actions):
        self.sum += sum(actions.values())
        over = self.sum >= 7
        rewards = {a: over * (1 if i == self.turn else -1) for i, a in enumerate(self.agents)}
        self.turn = 1 - self.turn
        ended = dict.fromkeys(self.agents, over)
        answer = dict.fromkeys(self.agents, self.sum), rewards, ended, dict.fromkeys(ended, False)
        infos = self.infos()
        if over:
            self.agents = []
        return *answer, infos


def choices(seed):
    return random.Random(seed)


class Endless(pettingzoo.ParallelEnv):
    """Two agents who each gain what they say, 0 to 2, for ever; they see their last gain."""

    metadata: ClassVar = {"name": "endless_together_v0", "hidden_information": None}
    possible_agents: ClassVar = ["first", "second"]
    render_mode = None

    def observation_space(self, agent):
        return spaces.Box(0, 2, (1,), np.float64)

    def action_space(self, agent):
        return spaces.Discrete(3)

    def reset(self, seed=None, options=None):
        self.agents = self.possible_agents[:]
        return {a: np.zeros(1) for a in self.agents}, {a: {} for a in self.agents}

    def step(self, actions):
        no = dict.fromkeys(self.agents, False)
        rewards = {agent: float(action) for agent, action in actions.items()}
        seen = {agent: np.full(1, reward) for agent, reward in rewards.items()}
        return seen, rewards, no, no, {a: {} for a in self.agents}
