"""Replays do not foresee chance, whatever draws it and however late it shows."""

import ctypes
import ctypes.util
import os
import random
import statistics
import threading
import time

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from helpers.envs import begun
from rave_gymnasium import PlanningState, Replayable, UCTAgent

from rave_agents import UnsupportedGameError
from rave_agents.environments import chance
from rave_agents.errors import CloneError

FLIPS = 5
"""Coins that are thrown in an episode, after the idle steps."""

erand48 = ctypes.CDLL(ctypes.util.find_library("c")).erand48
erand48.restype = ctypes.c_double


class Coins(gymnasium.Env):
    """After idle steps, guess a coin at each step; a lock keeps it from being copied."""

    observation_space, action_space = spaces.Discrete(1000), spaces.Discrete(2)

    flips = FLIPS

    def __init__(self, idle=0):
        self.idle, self.lock = idle, threading.Lock()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        self.seed_dice(seed)
        return 0, {}

    def seed_dice(self, seed):
        pass

    def step(self, action):
        self.steps += 1
        if self.steps <= self.idle:
            return self.steps, 0.0, False, False, {}
        hit = action == int(self.flip() < 0.5)
        return self.steps, float(hit), self.steps == self.idle + self.flips, False, {}


class Own(Coins):
    def flip(self):
        return self.np_random.random()


class Python(Coins):
    def seed_dice(self, seed):
        self.rng = random.Random(seed)

    def flip(self):
        return self.rng.random()


class Kept(Coins):
    """Seeded only where there is a seed, as Gymnasium asks."""

    def seed_dice(self, seed):
        if seed is not None:
            self.rng = np.random.RandomState(seed)

    def flip(self):
        return self.rng.random_sample()


class Global(Coins):
    def seed_dice(self, seed):
        random.seed(seed)

    def flip(self):
        return random.random()


class GlobalNumPy(Coins):
    def flip(self):
        return np.random.random()


class System(Coins):
    def flip(self):
        return os.urandom(1)[0] / 256


class LongSystem(System):
    flips = 40


class Hidden(Coins):
    """Draws in C, where no generator can be found."""

    def seed_dice(self, seed):
        if seed is not None:
            self.state = (ctypes.c_ushort * 3)(seed % 2**16, seed // 2**16 % 2**16, 7)
            erand48(self.state)

    def flip(self):
        return erand48(self.state)


class Visible(Hidden):
    """Shows at its reset by what it was seeded, so that it cannot be seeded otherwise unseen."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return int(erand48(self.state) * 500) + 100, {}


class SeededByDraw(Hidden):
    """Seeds what draws in C by a number from ``np_random``, after one that it shows."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        start = int(self.np_random.integers(100)) + 100
        super().seed_dice(int(self.np_random.integers(2**31)))
        return start, {}


def made(kind, idle=0):
    name = f"{kind.__name__}{idle}-v0"
    if name not in gymnasium.registry:
        gymnasium.register(name, lambda: kind(idle), max_episode_steps=500)
    return Replayable(gymnasium.make(name))


def hits(kind, idle=0, episodes=10, flips=FLIPS, **options):
    """The share of coins that an agent guesses, and the agent."""
    env = made(kind, idle)
    agent = UCTAgent(env, **{"simulations": 8, "horizon": 1, "seed": 1, **options})
    right = []
    for seed in range(episodes):
        env.reset(seed=seed)
        for _ in range(idle):
            env.step(0)
        for _ in range(flips):
            right.append(env.step(agent.act())[1])
    return statistics.mean(right), agent


KINDS = [Own, Python, Kept, Global, GlobalNumPy, System, SeededByDraw]


@pytest.mark.slow
@pytest.mark.full(but=["Python", "Hidden"])
@pytest.mark.parametrize("kind", [*KINDS, Hidden])
def test_the_next_coin_is_not_known(kind):
    share, agent = hits(kind, episodes=20, flips=1)
    assert 0.2 < share < 0.8
    assert agent.last_result.state.chance.found
    assert not agent.env.unsure


@pytest.mark.full
@pytest.mark.parametrize("kind", [Python, Kept, Hidden])
def test_chance_that_shows_late_is_not_known_either(kind):
    share, _ = hits(kind, idle=120, episodes=20, flips=1)
    assert 0.2 < share < 0.8


@pytest.mark.full
@pytest.mark.parametrize("kind", [Own, Python, Kept, Global])
def test_a_replay_repeats_the_coins_that_were_seen(kind):
    share, _ = hits(kind, episodes=5)
    assert 0.2 < share < 0.8


class Copied(Hidden):
    """Can be copied, and a copy throws the same coins."""

    def __init__(self, idle=0):
        self.idle = idle


class CopiedVisible(Copied, Visible):
    pass


@pytest.mark.full(but=["0.0"])
@pytest.mark.parametrize("pause", [0.0, 0.01])
def test_copies_that_would_throw_the_same_coins_are_refused(pause):
    class Slow(Copied):
        def step(self, action):
            time.sleep(pause)
            return super().step(action)

    env = begun(Slow(20))
    with pytest.raises(UnsupportedGameError, match="decides and shows only later"):
        UCTAgent(env, simulations=8).act()


@pytest.mark.parametrize(
    ("kind", "idle", "said"),
    [
        (Copied, 150, "the first 100 steps after resets by different seeds tell nothing of it"),
        (CopiedVisible, 0, "no two resets that look alike were compared"),
    ],
)
def test_where_copies_may_foresee_it_is_said(kind, idle, said, caplog):
    chance.say_it_may_foresee.cache_clear()
    for _ in range(2):
        env = begun(kind(idle))
        assert said in str(PlanningState(env).chance)
    assert caplog.text.count("may foresee outcomes of chance") == 1


def test_nothing_is_said_where_all_can_be_looked_into(caplog):
    env = Python(150)
    del env.lock
    env.reset(seed=1)
    assert not PlanningState(env).chance.unsure
    assert "may foresee" not in caplog.text  # Not all text: checks that take long are logged.


def test_a_generator_that_cannot_be_found_is_refused_once_it_has_shown():
    with pytest.raises(UnsupportedGameError, match=r"cannot be replayed fairly.*hidden generator"):
        hits(Hidden, idle=1, flips=FLIPS, episodes=100)


def test_where_nobody_can_tell_the_state_says_so(caplog):
    chance.say_it_may_foresee.cache_clear()
    env = begun(made(Visible, 1))
    for _ in range(2):
        assert "it is unknown whether a hidden generator" in str(PlanningState(env).chance)
    assert caplog.text.count("may foresee outcomes of chance") == 1


def test_the_global_generators_stay_as_they_are():
    env = begun(made(Global, 2))
    before = random.getstate(), np.random.get_state()[1].tolist()
    UCTAgent(env, simulations=8, horizon=3, seed=1).act()
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


@pytest.mark.slow
def test_the_same_seed_gives_the_same_plan():
    def plan(kind):
        env = begun(made(kind, 2), 3)
        agent = UCTAgent(env, simulations=8, horizon=4, seed=1)
        agent.act()
        return agent.last_result.actions

    for kind in (Own, Hidden):
        assert plan(kind) == plan(kind)


def test_chance_from_the_system_that_shows_cannot_be_replayed():
    env = begun(made(LongSystem))
    for _ in range(30):
        env.step(0)
    with pytest.raises(CloneError, match="the same seed and actions show different observations"):
        PlanningState(env)
