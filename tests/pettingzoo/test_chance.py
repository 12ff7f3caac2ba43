"""Searches of PettingZoo's environments do not know what chance will do."""

import logging
import random
import statistics
from typing import ClassVar

import numpy as np
import pettingzoo
import pytest
from helpers import dice, zoo
from pettingzoo.classic.rlcard_envs import leduc_holdem
from pettingzoo.utils import wrappers
from rave_pettingzoo import (
    AECState,
    ParallelState,
    PNMCTSAgent,
    RegretMatchingAgent,
    UCTAgent,
    checks,
    evaluate,
    make_agent,
    register_cloner,
)
from rave_pettingzoo.adapter import PettingZooGame
from rave_pettingzoo.cloning import _registered

from rave_agents import Limit, SearchConfig, Searcher, UnsupportedGameError
from rave_agents.errors import GameError
from rave_agents.testing import check_game_state

EPISODES = 60


def searched(env, dice_seed, **options):
    """The agent after a search, and its action."""
    told = dice.live(env, dice_seed)
    if told is not None:
        options = {"player": "first", **options}
    agent = UCTAgent(env, **{"simulations": 40, "seed": dice_seed, **options})
    return agent, agent.act(told[0]["first"] if told is not None else env.observe("player"))


def earned(env, seed, **options):
    _, action = searched(env, seed, **options)
    if isinstance(env, pettingzoo.ParallelEnv):
        return env.step({"first": action, "second": 0})[1]["first"]
    env.step(action)
    return env.rewards["player"]


@pytest.mark.full(but=2)
@pytest.mark.parametrize("make", [dice.zoo_coin, dice.together_coin])
@pytest.mark.parametrize("keeper", [*dice.KEEPERS, *dice.OUTSIDE])
def test_dice_that_will_fall_make_no_difference(make, keeper):
    env = make(keeper)()
    results = [searched(env, seed, seed=1)[0].last_result.actions for seed in range(4)]
    assert all(result == results[0] for result in results)


@pytest.mark.slow
def test_dice_that_will_fall_make_no_difference_in_a_long_game():
    env = dice.Pig()
    results = []
    for seed in range(3):
        env.reset(seed=seed)
        agent = UCTAgent(env, simulations=40, seed=1)
        agent.act()
        results.append(agent.last_result.actions)
    assert results[0] == results[1] == results[2]


def test_a_wrapped_environment_is_searched_likewise():
    env = wrappers.BaseWrapper(wrappers.OrderEnforcingWrapper(dice.zoo_coin(dice.Python)()))
    results = [searched(env, seed, seed=1)[0].last_result.actions for seed in range(4)]
    assert all(result == results[0] for result in results)


class Guess(dice.Attribute, zoo.Counting):
    """The first agent's move flips a coin that all see; the second wins by naming it."""

    metadata: ClassVar = {"name": "guess"}

    def reset(self, seed=None, options=None):
        super().reset(seed, options)
        self.begin(seed)
        self.coin = None

    def observe(self, agent):
        return 2 if self.coin is None else self.coin

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
        elif self.coin is None:
            self.coin = self.flip()
            self.agent_selection = "second"
        else:
            won = 1 if action == self.coin else -1
            self.rewards = {"first": -won, "second": won}
            self.terminations = dict.fromkeys(self.agents, True)


@pytest.mark.slow
def test_different_outcomes_of_an_action_are_different_positions():
    """Who tells them apart knows that the second agent wins; a sequence of actions draws."""
    env = Guess()
    env.reset(seed=1)
    agent = UCTAgent(env, simulations=500, seed=1)
    agent.act(env.observe("first"))
    assert agent.last_result.value < -0.8


class Worth(Guess):
    """The coin is told by a reward alone."""

    metadata: ClassVar = {"name": "worth"}

    def observe(self, agent):
        return 0 if self.coin is None else 1

    def step(self, action):
        flipped = self.coin is None
        super().step(action)
        if flipped and self.coin is not None:
            self.rewards = {"first": 0.0, "second": 0.01 * self.coin}


@pytest.mark.slow
def test_rewards_tell_positions_apart():
    env = Worth()
    env.reset(seed=1)
    agent = UCTAgent(env, simulations=500, seed=1)
    agent.act(env.observe("first"))
    assert agent.last_result.value < -0.8


def test_nothing_is_proven_where_chance_is_drawn():
    env = Guess()
    env.reset(seed=1)
    with pytest.raises(UnsupportedGameError, match="draws chance itself, nothing can be proven"):
        PNMCTSAgent(env, simulations=10).act()


def test_what_was_found_is_in_the_result():
    env = Guess()
    env.reset(seed=1)
    agent = UCTAgent(env, simulations=10, seed=1)
    agent.act(env.observe("first"))
    report = agent.last_result.state.chance
    assert report.sources == ("rng (numpy.random.Generator)",)
    assert report.games == 32


def test_an_environment_without_chance_is_searched_as_before():
    env = zoo.Counting()
    env.reset(seed=1)
    state = AECState(env)
    assert not state.chance.found
    assert not state.draws_chance()
    assert not state.hides_information()


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("make", [dice.zoo_coin, dice.together_coin])
@pytest.mark.parametrize("keeper", [dice.Deck, dice.Counted])
def test_what_was_drawn_before_is_refused_with_the_remedy(make, keeper):
    with pytest.raises(UnsupportedGameError, match="decides and shows only later") as caught:
        searched(make(keeper)(), 1)
    for remedy in ("worlds=", "hidden='see'", "metadata['hidden_information'] = None"):
        assert remedy in str(caught.value)
    total = {earned(make(keeper)(), seed, hidden="see") for seed in range(8)}
    assert total == {dice.SURE, 1.0}


def shuffled(env, agent, rng):
    env.unwrapped.cards = rng.integers(2, size=len(env.unwrapped.cards)).tolist()
    return env


@pytest.mark.full
@pytest.mark.parametrize("make", [dice.zoo_coin, dice.together_coin])
def test_worlds_make_what_was_drawn_before_fair(make):
    env = make(dice.Deck)()
    mean = statistics.mean(earned(env, seed, worlds=shuffled) for seed in range(EPISODES))
    assert mean == pytest.approx(dice.SURE, abs=0.08)
    results = [searched(env, s, seed=1, worlds=shuffled)[0].last_result for s in range(3)]
    assert all(result.actions == results[0].actions for result in results)


def test_worlds_of_a_parallel_environment_are_checked_by_their_agents():
    env = dice.together_coin(dice.Deck)()

    def over(given, agent, rng):
        given.agents = ["first"]
        return given

    with pytest.raises(GameError, match=r"agents \['first'\] where"):
        searched(env, 1, worlds=over)
    with pytest.raises(GameError, match="must return an environment, got None"):
        searched(env, 1, worlds=lambda given, agent, rng: None)
    observations, infos = dice.live(env, 1)
    with pytest.raises(ValueError, match="player must be the agent that the worlds are for"):
        ParallelState(env, observations=observations, infos=infos, worlds=shuffled)


class Bets(dice.Attribute, pettingzoo.ParallelEnv):
    """Two agents bet on coins. The masks, who is left and the length all hang on chance."""

    metadata: ClassVar = {"name": "bets"}

    def __init__(self):
        super().__init__()
        self.possible_agents = ["first", "second"]
        self.agents = []

    def action_space(self, agent):
        return zoo.spaces.Discrete(3)

    def told(self):
        mask = np.array([1, 1, self.coin], np.int8)
        return dict.fromkeys(self.agents, self.coin), {
            a: {"action_mask": mask} for a in self.agents
        }

    def reset(self, seed=None, options=None):
        self.begin(seed)
        self.agents, self.coin, self.turn = self.possible_agents[:], 1, 0
        return self.told()

    def step(self, actions):
        assert set(actions) == set(self.agents)
        assert all(action < 2 + self.coin for action in actions.values())
        self.coin, self.turn = self.flip(), self.turn + 1
        rewards = {agent: float(actions[agent] == self.coin) for agent in self.agents}
        over = self.turn == 6 or self.flip() + self.flip() + self.flip() == 3
        left = self.agents if self.flip() or len(self.agents) == 1 else self.agents[:1]
        ended = {agent: over or agent not in left for agent in self.agents}
        cut = dict.fromkeys(self.agents, False)
        observations, infos = self.told()
        self.agents = [] if over else left[:]
        return observations, rewards, ended, cut, infos


@pytest.mark.full
@pytest.mark.parametrize("kind", [UCTAgent, RegretMatchingAgent])
def test_masks_and_agents_that_hang_on_chance_are_played_together(kind):
    env = Bets()
    observations, infos = env.reset(seed=3)
    agent = kind(env, player="second", simulations=500, seed=1)
    assert agent(env, observations=observations, infos=infos) in range(3)
    assert agent.last_result.simulations == 500


class Rolls(zoo.Turns):
    """Counting in turns as a Parallel environment, with a die."""

    def reset(self, seed=None, options=None):
        self.rng = random.Random(seed)
        return super().reset(seed, options)

    def step(self, actions):
        self.sum += self.rng.randrange(2)
        return super().step(actions)


@pytest.mark.slow
def test_a_parallel_game_of_turns_is_searched_with_its_own_dice():
    env = Rolls()
    results = []
    for seed in range(4):
        observations, infos = env.reset(seed=seed)
        state = ParallelState(env, observations=observations, infos=infos)
        assert state.draws_chance()
        searcher = Searcher(SearchConfig.preset("uct"), seed=1)
        results.append(searcher.search(state, Limit(simulations=100)).actions)
    assert all(result == results[0] for result in results)


@pytest.mark.slow
def test_states_of_chance_conform():
    def make():
        env = dice.Pig(20)
        env.reset(seed=5)
        return AECState(env)

    check_game_state(make, games=2)


@pytest.fixture
def registered():
    yield register_cloner
    _registered.clear()


@pytest.mark.full
def test_generators_of_registered_clones_are_drawn_anew(registered):
    kind = dice.zoo_coin(dice.Contained)

    def clone(env):
        new = kind()
        new.reset(seed=0)
        vars(new).update({k: v for k, v in vars(env).items() if k != "kept"})
        for name, value in vars(env).items():
            if isinstance(value, list | dict) and name != "kept":
                setattr(new, name, value.copy())
        state = env.kept["here"][1].inner.bit_generator.state
        new.kept["here"][1].inner.bit_generator.state = state
        return new

    registered(kind, clone)
    mean = statistics.mean(earned(kind(), seed) for seed in range(30))
    assert mean == pytest.approx(dice.SURE, abs=0.1)


@pytest.mark.slow
def test_see_may_stand_in_a_spec():
    env = dice.zoo_coin(dice.Python)()
    total = set()
    for seed in range(8):
        env.reset(seed=seed)
        env.step(make_agent("uct(simulations=30,chance=see)", env, seed=1).act(0))
        total.add(env.rewards["player"])
    assert total == {dice.SURE, 1.0}


class Better(leduc_holdem.raw_env):
    """Leduc Hold'em of one's own."""


def test_a_subclass_hides_what_its_class_hides():
    env = Better()
    env.reset(seed=1)
    with pytest.raises(UnsupportedGameError, match="hides the other player's card"):
        UCTAgent(env, simulations=10)
    with pytest.raises(UnsupportedGameError, match="hides the other player's card"):
        Searcher().search(AECState(env), Limit(simulations=10))


@pytest.mark.parametrize(
    ("said", "reason"), [("the sum", "hides the sum"), (True, "hides what it declares as hidden")]
)
def test_an_environment_says_itself_what_it_hides(said, reason):
    class Closed(zoo.Counting):
        metadata: ClassVar = {**zoo.Counting.metadata, "hidden_information": said}

    env = Closed()
    env.reset(seed=1)
    with pytest.raises(UnsupportedGameError, match=reason):
        UCTAgent(env, simulations=10)
    assert UCTAgent(env, simulations=10, hidden="see").act() in (0, 1)


def test_an_odd_declaration_is_refused():
    class Odd(zoo.Counting):
        metadata: ClassVar = {**zoo.Counting.metadata, "hidden_information": 3}

    env = Odd()
    env.reset(seed=1)
    with pytest.raises(TypeError, match=r"metadata\['hidden_information'\].*it is 3"):
        UCTAgent(env)


@pytest.mark.slow
def test_the_first_search_of_an_unknown_environment_says_what_is_assumed_once(caplog):
    class Unknown(zoo.Counting):
        metadata: ClassVar = {"name": "unknown"}

    class Declared(zoo.Counting):
        metadata: ClassVar = {"name": "declared", "hidden_information": None}

    checks._assumed.clear()
    with caplog.at_level(logging.WARNING, "rave_agents"):
        for kind in (Unknown, Unknown, Declared, dice.zoo_coin(dice.Python)):
            env = kind()
            env.reset(seed=1)
            UCTAgent(env, simulations=5, seed=1).act()
        UCTAgent(zoo.classic("tictactoe-v3"), simulations=5).act()
    assert len(caplog.records) == 1
    assert "unknown is assumed to hide nothing" in caplog.text
    assert "worlds=function" in caplog.text
    assert "metadata['hidden_information']" in caplog.text


@pytest.mark.slow
def test_games_begin_with_other_dice_for_each_seed():
    game = PettingZooGame("pig", dice.Pig(90))

    def turns(seed):
        state, seen = game.seeded_initial_state(seed), []
        for _ in range(8):
            state.apply_action(0)
            seen.append(state.env.turn)
        return tuple(seen)

    assert len({turns(seed) for seed in range(5)}) == 5
    assert turns(3) == turns(3)
    with pytest.raises(UnsupportedGameError, match="nothing can be proven"):
        game.check_search(SearchConfig.preset("pn_mcts"))


@pytest.mark.slow
def test_evaluate_plays_games_of_chance():
    result = evaluate(
        lambda: dice.Pig(20),
        {"first": "uct(simulations=10)", "second": "random"},
        episodes=2,
        progress=False,
    )
    assert len(result.episodes) == 2
