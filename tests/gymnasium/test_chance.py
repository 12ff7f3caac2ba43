"""Plans do not know what chance will do, however an environment keeps its generator."""

import logging
import random
import statistics

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from helpers import dice
from helpers.envs import Counting, begun
from rave_gymnasium import PlanningState, UCTAgent

from rave_agents import Limit, SearchConfig, Searcher, UnsupportedGameError
from rave_agents.environments import chance
from rave_agents.environments.copying import equal
from rave_agents.environments.generators import saved
from rave_agents.parts import Proofs

EPISODES = 60


def live(env, seed):
    dice.live(env, seed)
    return env


def earned(agent_type, env, seed, **options):
    agent = agent_type(live(env, seed), **{"simulations": 40, "seed": seed, **options})
    return env.step(agent.act())[1]


@pytest.mark.full(but=2)
@pytest.mark.parametrize("keeper", [*dice.KEEPERS, *dice.OUTSIDE])
def test_dice_that_will_fall_make_no_difference(keeper):
    env = dice.gym_coin(keeper)()
    results = []
    for seed in range(4):
        agent = UCTAgent(live(env, seed), simulations=40, seed=1)
        agent.act()
        results.append(agent.last_result.actions)
    assert all(result == results[0] for result in results)


@pytest.mark.full(but=3)
@pytest.mark.parametrize("keeper", [*dice.KEEPERS, *dice.OUTSIDE])
def test_generators_of_the_caller_stay_as_they_are(keeper):
    def now():
        outside = random, np.random, dice.module_random, dice.module_generator, dice.OfClass.rng
        states = [
            saved(one) if not hasattr(one, "getstate") else one.getstate() for one in outside[2:]
        ]
        return [random.getstate(), np.random.get_state(legacy=False), *states]

    env = live(dice.gym_coin(keeper)(), 3)
    before = now()
    UCTAgent(env, simulations=40, seed=1).act()
    assert equal(now(), before)
    twin = live(dice.gym_coin(keeper)(), 3)
    flips = [twin.flip() for _ in range(20)]
    live(env, 3)
    UCTAgent(env, simulations=40, seed=1).act()
    assert [env.flip() for _ in range(20)] == flips


@pytest.mark.full(but=4)
@pytest.mark.parametrize(
    ("keeper", "said"),
    [
        (dice.Attribute, "steps draw from rng (numpy.random.Generator)"),
        (dice.Contained, "kept['here'][1].inner (numpy.random.Generator)"),
        (dice.Python, "rng (random.Random)"),
        (dice.Own, "rng (helpers.dice.Loaded)"),
        (dice.Global, "the module random"),
        (dice.GlobalNumPy, "the module numpy.random"),
        (dice.Module, "helpers.dice.module_random (random.Random)"),
        (dice.OfClass, "OfClass.rng (numpy.random.Generator)"),
        (dice.System, "outcomes that no known generator decides"),
    ],
)
def test_what_was_found_is_told(keeper, said):
    state = PlanningState(live(dice.gym_coin(keeper)(), 1))
    assert state.chance.found
    assert said in str(state.chance)
    assert state.chance.games == chance.GAMES


def test_an_environment_without_chance_has_none_and_keeps_its_trees():
    env = begun(gymnasium.make("CartPole-v1"))
    state = PlanningState(env)
    assert str(state.chance) == f"no chance found ({chance.GAMES} random games)"
    assert not state.draws_chance()


class Behind(Counting):
    """Chance is behind the first-listed action, after a sure step."""

    def step(self, action):
        self.time += 1
        if action == 1 or self.time < 2:
            return self.time, dice.SURE * action, bool(action), False, {}
        return self.time, float(self.np_random.integers(2)), True, False, {}


@pytest.mark.full
def test_chance_that_few_games_meet_is_drawn_too():
    env = Behind()
    total = [0.0] * EPISODES
    for seed in range(EPISODES):
        env.reset(seed=seed)
        over = False
        while not over:
            agent = UCTAgent(env, simulations=30, seed=seed)
            _, reward, over, _, _ = env.step(agent.act())
            total[seed] += reward
    assert statistics.mean(total) < 0.7


class Late(Counting):
    """Chance comes where random games do not get: after twelve steps to the right."""

    def step(self, action):
        self.time = self.time + 1 if action == 1 else 0
        won = self.time == 12 and self.np_random.random() < 0.5
        return self.time, float(won) + 0.01 * action, self.time == 12, False, {}


@pytest.mark.slow
def test_chance_that_a_search_meets_first_makes_it_begin_anew():
    env = begun(Late())
    state = PlanningState(env)
    assert not state.chance.found
    agent = UCTAgent(env, simulations=600, seed=1, horizon=13, c=0.3)
    agent.act()
    assert "np_random" in str(PlanningState(env).chance)
    assert agent.last_result.simulations == 600


class Gamble(gymnasium.Env):
    """After a coin that is shown one bets on it; who bets right gets 1."""

    action_space = spaces.Discrete(2)
    observation_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.side = None
        return 2, {}

    def step(self, action):
        if self.side is None:
            self.side = int(self.np_random.integers(2))
            return self.side, 0.0, False, False, {}
        return 2, float(action == self.side), True, False, {}


def test_different_outcomes_of_an_action_are_different_positions():
    """Who tells them apart bets right every time; a sequence of actions is worth one half."""
    env = begun(Gamble())
    agent = UCTAgent(env, simulations=400, seed=1)
    agent.act()
    assert agent.last_result.value > 0.9


class Noisy(gymnasium.Env):
    """Every observation is another: outcomes cannot be told apart but for once."""

    action_space = spaces.Discrete(2)
    observation_space = spaces.Box(-9.0, 9.0, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = self.right = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        self.right += action
        seen = self.np_random.normal(size=1).astype(np.float32)
        return seen, float(self.right == 6), self.steps == 6, False, {}


@pytest.mark.slow
def test_noise_does_not_keep_the_tree_from_growing():
    env = begun(Noisy())
    agent = UCTAgent(env, simulations=300, seed=1)
    assert agent.act() == 1
    assert not agent.last_result.state.chance.alike
    assert agent.last_result.value > 0.5


@pytest.mark.parametrize("keeper", [dice.Deck, dice.Counted])
def test_what_was_drawn_before_is_refused_with_the_remedy(keeper):
    env = live(dice.gym_coin(keeper)(), 1)
    with pytest.raises(UnsupportedGameError, match="decides and shows only later") as caught:
        UCTAgent(env, simulations=10, seed=1).act()
    for remedy in ("hidden='see'", "metadata['hidden_information']", "from a generator"):
        assert remedy in str(caught.value)
    assert UCTAgent(env, simulations=10, seed=1, hidden="see").act() in (0, 1)


def test_an_environment_says_itself_that_nothing_is_hidden():
    class Open(dice.gym_coin(dice.Deck)):
        metadata = {"hidden_information": None}  # noqa: RUF012

    class Closed(dice.gym_coin(dice.Attribute)):
        metadata = {"hidden_information": "the coin"}  # noqa: RUF012

    assert UCTAgent(live(Open(), 1), simulations=10).act() in (0, 1)
    with pytest.raises(UnsupportedGameError, match="hides the coin"):
        UCTAgent(live(Closed(), 1), simulations=10)


class Fixed(random.Random):
    """A generator that nobody can seed."""

    def seed(self, number=0, version=2):
        super().seed(5)


def test_a_generator_that_cannot_be_reseeded_is_refused_with_the_remedy():
    class Stuck(dice.Python):
        def begin(self, seed):
            self.rng = Fixed()

    env = live(dice.gym_coin(Stuck)(), 1)
    with pytest.raises(UnsupportedGameError, match=r"rng \(.*Fixed\) cannot be reseeded.*'see'"):
        UCTAgent(env, simulations=10).act()
    assert UCTAgent(env, simulations=10, chance="see").act() in (0, 1)


@pytest.mark.full(but=1)
@pytest.mark.parametrize("keeper", [*dice.KEEPERS, *dice.OUTSIDE])
def test_see_looks_at_what_will_come_and_says_so(keeper, caplog):
    chance.say_it_sees_chance.cache_clear()
    env = dice.gym_coin(keeper)()
    with caplog.at_level(logging.WARNING, "rave_agents"):
        total = [earned(UCTAgent, env, seed, chance="see") for seed in range(8)]
    assert set(total) == {dice.SURE, 1.0}
    assert caplog.text.count("SEES THE OUTCOMES OF CHANCE TO COME") == 1


def test_another_word_for_chance_is_refused():
    env = live(dice.gym_coin(dice.Attribute)(), 1)
    with pytest.raises(ValueError, match="chance must be 'draw' or 'see', got 'look'"):
        UCTAgent(env, chance="look")


def test_nothing_is_proven_where_chance_is_drawn():
    state = PlanningState(live(dice.gym_coin(dice.Attribute)(), 1))
    with pytest.raises(UnsupportedGameError, match="draws chance itself, nothing can be proven"):
        Searcher(SearchConfig(proofs=Proofs())).search(state, Limit(simulations=10))


@pytest.mark.needs("torch")
def test_pytorchs_generators_are_the_searchs_own():
    import torch

    class Torch(dice.Keeper):
        def begin(self, seed):
            self.rng = torch.Generator().manual_seed(seed)

        def flip(self):
            one = torch.randint(2, (1,), generator=self.rng)
            return int(one) ^ int(torch.randint(2, (1,)))

    env = dice.gym_coin(Torch)()
    torch.manual_seed(1)
    before = torch.get_rng_state()
    mean = statistics.mean(earned(UCTAgent, env, seed) for seed in range(EPISODES))
    assert mean < 0.7
    torch.manual_seed(1)
    UCTAgent(live(env, 1), simulations=20).act()
    assert torch.equal(torch.get_rng_state(), before)
