"""Planning in Gymnasium's environments by clones."""

import copy

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from helpers.envs import Counting, begun
from rave_gymnasium import PlanningState, PUCTAgent, RaveAgent, UCTAgent
from rave_gymnasium.cloning import CLONER, REPLACED, planning_env

from rave_agents import Limit, SearchConfig, Searcher, UnsupportedGameError
from rave_agents.environments.copying import equal
from rave_agents.environments.wrappers import class_name
from rave_agents.errors import CloneError, GameError
from rave_agents.frameworks.adapters import as_game_state, load_game

CLONED = [
    "CartPole-v1",
    "MountainCar-v0",
    "Acrobot-v1",
    "FrozenLake-v1",
    "CliffWalking-v1",
    "Taxi-v4",
    "Blackjack-v1",
]


def made(name, seed=0, **options):
    return begun(gymnasium.make(name, **options), seed)


def walk(env, steps, seed):
    random = np.random.default_rng(seed)
    trace = []
    for _ in range(steps):
        trace.append(env.step(int(random.integers(env.action_space.n))))
        if trace[-1][2] or trace[-1][3]:
            break
    return trace


@pytest.mark.slow
@pytest.mark.full(but=2)
@pytest.mark.parametrize("name", CLONED)
def test_clone_goes_on_like_the_original_and_leaves_it_alone(name):
    for seed in range(10):
        env = made(name, seed)
        if walk(env, seed % 5, seed) and walk(copy.deepcopy(env), 1, 0)[0][2]:
            continue
        twin, stranger = planning_env(env), planning_env(env)
        walk(stranger, 50, seed + 100)
        expected = walk(copy.deepcopy(env.unwrapped), 50, seed)
        assert equal(walk(twin, 50, seed), expected)
        assert equal(walk(env.unwrapped, 50, seed), expected)


def test_environments_that_share_objects_with_their_clones_are_those_known_to():
    kinds = {class_name(made(name).unwrapped) for name in CLONED}
    assert kinds >= REPLACED


def test_lunar_lander_is_refused_with_the_reason():
    pytest.importorskip("Box2D")
    with pytest.raises(CloneError, match="LunarLander cannot be copied: cannot pickle 'Swig"):
        UCTAgent(made("LunarLander-v3"), simulations=5).act()


def test_mujoco_is_refused_with_the_reason():
    class MujocoEnv(gymnasium.Env):
        """As Gymnasium's environments of MuJoCo are known by."""

        action_space = spaces.Discrete(2)
        observation_space = spaces.Discrete(2)

    with pytest.raises(CloneError, match="MuJoCo keeps the simulation outside"):
        PlanningState(MujocoEnv())


def test_mujoco_in_an_environment_of_ones_own_is_refused():
    data = type("MjData", (), {"__module__": "mujoco._structs"})()
    env = begun(Line(), 0)
    env.data = data
    with pytest.raises(CloneError, match="MuJoCo keeps the simulation outside"):
        PlanningState(env)


class Line(gymnasium.Env):
    """Go left or right on a line of 9; the right end gives 1. Subclasses are awkward to copy."""

    action_space = spaces.Discrete(2, start=5)
    observation_space = spaces.Discrete(9)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 4
        return self.place, {}

    def step(self, action):
        if action not in (5, 6):  # An assert of pytest's refers to the whole session, which
            raise ValueError(action)  # is then looked through for random generators.
        self.place += 2 * int(action) - 11
        return self.place, float(self.place == 8), self.place in (0, 8), False, {}


class Outside(Line):
    """Keeps its place outside."""

    places = {}  # noqa: RUF012

    @property
    def place(self):
        return self.places[id(self)]

    @place.setter
    def place(self, value):
        self.places[id(self)] = value


class Failing(Line):
    def step(self, action):
        if self.place == 6:
            raise ArithmeticError("no further")
        return super().step(action)


@pytest.mark.full
def test_environment_of_ones_own_is_planned_in_with_its_own_action_numbers():
    env = begun(Line(), 0)
    agent = UCTAgent(env, simulations=1000, seed=1, discount=0.9)
    total = 0.0
    for _ in range(4):
        action = agent.act()
        assert action == 6
        total += env.step(action)[1]
    assert total == 1.0


class Pictured(Line):
    """Shows an array instead of a number."""

    observation_space = spaces.Box(0.0, 8.0, (2,), np.float64)

    def step(self, action):
        _, *rest = super().step(action)
        return np.full(2, self.place, np.float64), *rest


@pytest.mark.full(but=1)
@pytest.mark.parametrize(
    "make",
    [
        Pictured,
        lambda: gymnasium.wrappers.TransformReward(made("CartPole-v1"), lambda reward: -reward),
        lambda: gymnasium.wrappers.FrameStackObservation(made("CartPole-v1"), 3),
    ],
)
def test_environments_that_show_arrays_are_planned_in(make):
    env = begun(make(), 0)
    assert RaveAgent(env, simulations=20, seed=1).act() in range(7)


def test_wrong_copy_is_refused():
    env = begun(Outside(), 0)
    with pytest.raises(CloneError, match="Outside cannot be cloned correctly"):
        PlanningState(env)
    assert env.place == 4


def test_exception_of_a_step_is_told_as_the_environments_own():
    gymnasium.register("Failing-v0", entry_point=Failing)
    env = begun(gymnasium.make("Failing-v0", disable_env_checker=True), 0)
    said = r"Failing-v0 raised ArithmeticError: no further .* after the actions (5|6)(, (5|6))+\."
    with pytest.raises(GameError, match=said) as caught:
        UCTAgent(env, simulations=100, seed=1).act()
    assert isinstance(caught.value.__cause__, ArithmeticError)
    assert env.unwrapped.place == 4


@pytest.mark.slow
def test_agent_crosses_the_lake_that_is_not_slippery():
    env = made("FrozenLake-v1", is_slippery=False)
    agent = UCTAgent(env, simulations=100, seed=1, discount=0.95)
    for _ in range(20):
        _, reward, terminated, _, _ = env.step(agent.act())
        if terminated:
            break
    assert reward == 1.0


def test_plan_does_not_know_what_chance_will_do():
    """Two clones with other random numbers drift apart; a simulation has numbers of its own."""
    env = made("FrozenLake-v1")
    state = PlanningState(env, horizon=20)
    assert state.is_random
    places = set()
    for seed in range(20):
        simulation = state.simulation(seed)
        for _ in range(3):
            if not simulation.over:
                simulation.apply_action(2)
        places.add(simulation.env.s)
    assert len(places) > 1
    stream = repr(env.unwrapped.np_random.bit_generator.state)
    Searcher(SearchConfig.preset("uct"), seed=1).search(state, Limit(simulations=100))
    assert repr(env.unwrapped.np_random.bit_generator.state) == stream


def test_value_of_a_slippery_step_is_that_of_all_its_outcomes():
    """On the lake ``SG`` every step but one to the left reaches the goal once in three times."""
    env = made("FrozenLake-v1", desc=["SG"])
    config = SearchConfig.preset("uct").replace(expand_visits=1)
    state = PlanningState(env, horizon=1)
    result = Searcher(config, seed=1).search(state, Limit(simulations=1000))
    assert result.value == pytest.approx(1 / 3, abs=0.05)
    assert next(row.value for row in result.actions if row.action == 0) == 0.0


def test_live_environment_is_not_changed():
    env = made("CartPole-v1", 3)
    walk(env, 5, 1)
    before = env.unwrapped.state.copy(), env._elapsed_steps
    RaveAgent(env, simulations=50, seed=1).act()
    assert np.array_equal(env.unwrapped.state, before[0])
    assert env._elapsed_steps == before[1]


def test_steps_of_the_time_limit_are_counted():
    env = made("MountainCar-v0", max_episode_steps=10)
    walk(env, 7, 0)
    state = PlanningState(env, horizon=None)
    for _ in range(3):
        assert not state.is_terminal()
        state.apply_action(0)
    assert state.is_terminal()
    assert state.returns() == [-3.0]


def test_returns_are_discounted_up_to_the_horizon():
    state = PlanningState(made("MountainCar-v0"), discount=0.5, horizon=3)
    clones = state.clone()
    for _ in range(3):
        state.apply_action(0)
    assert state.is_terminal()
    assert state.returns() == [-1.75]
    assert clones.returns() == [0.0]


def test_mask_limits_the_first_action():
    env = made("CartPole-v1")
    agent = UCTAgent(env, simulations=20, seed=1)
    assert agent.act(None, np.array([0, 1], np.int8)) == 1
    assert agent.predict(None, action_masks=[True, False]) == (0, None)
    with pytest.raises(ValueError, match="got 3"):
        agent.act(None, [1, 1, 1])
    with pytest.raises(ValueError, match="must allow at least one action"):
        agent.act(None, [0, 0])


class Masked(Line):
    """Refuses to go where it was before; tells by masks."""

    def reset(self, *, seed=None, options=None):
        _, info = super().reset(seed=seed)
        return self.place, {**info, "action_mask": self.mask()}

    def mask(self):
        return np.array([self.place <= 4, self.place >= 4], np.int8)

    def step(self, action):
        if not self.mask()[action - 5]:
            raise ArithmeticError("not allowed")
        *seen, info = super().step(action)
        return *seen, {**info, "action_mask": self.mask()}


class Asked(Masked):
    def action_masks(self):
        return self.mask().astype(bool)


@pytest.mark.full(but=1)
@pytest.mark.parametrize("kind", [Masked, Asked])
def test_masked_environment_is_checked_and_planned_in_by_its_masks(kind):
    env = kind()
    _, info = env.reset(seed=0)
    _, _, _, _, info = env.step(6)
    agent = UCTAgent(env, simulations=50, seed=1)
    assert agent.act(None, info["action_mask"] if kind is Masked else None) == 6


def test_equal_seeds_plan_equally():
    env = made("FrozenLake-v1")
    agents = [UCTAgent(env, simulations=100, seed=5) for _ in range(2)]
    assert agents[0].act() == agents[1].act()
    assert agents[0].last_result.actions == agents[1].last_result.actions


def test_blackjack_is_planned_in_by_who_may_see_the_dealers_card():
    agent = UCTAgent(made("Blackjack-v1"), simulations=50, seed=1, hidden="see")
    assert agent.act() in (0, 1)


def test_environment_is_a_game_state_to_every_searcher():
    state = as_game_state(made("CartPole-v1"))
    assert isinstance(state, PlanningState)
    assert load_game("gymnasium:FrozenLake-v1(is_slippery=False)").num_players == 1


@pytest.mark.parametrize(
    ("make", "error", "reason"),
    [
        (lambda: UCTAgent(made("Pendulum-v1")), UnsupportedGameError, "Discrete"),
        (lambda: UCTAgent(made("Blackjack-v1")), UnsupportedGameError, "hidden='see' searches"),
        (
            lambda: Searcher().search(PlanningState(made("Blackjack-v1")), Limit(simulations=5)),
            UnsupportedGameError,
            "hides the dealer's card",
        ),
        (lambda: UCTAgent(made("CartPole-v1"), see_hidden=True), TypeError, "'see_hidden'"),
        (lambda: UCTAgent("CartPole-v1"), TypeError, "gymnasium.Env, got str"),
        (lambda: UCTAgent(made("CartPole-v1"), discount=1.5), ValueError, "discount must be"),
        (lambda: UCTAgent(made("CartPole-v1"), horizon=0), ValueError, "horizon must be"),
        (lambda: UCTAgent(made("CartPole-v1"), horizn=2), TypeError, "Did you mean 'horizon'"),
        (lambda: PlanningState(gymnasium.make("CartPole-v1")), ValueError, "not been reset"),
        (lambda: load_game("gymnasium:CartPol-v1"), ValueError, "Did you mean 'CartPole-v1'"),
        (lambda: load_game("gymnasium:CartPole"), ValueError, "such as CartPole-v1"),
        (lambda: load_game("gymnasium:CartPole-v1(pole=3)"), ValueError, "pole"),
    ],
)
def test_what_cannot_be_is_refused(make, error, reason):
    with pytest.raises(error, match=reason):
        make()


def test_plan_to_the_end_needs_a_time_limit():
    env = begun(Line(), 0)
    with pytest.raises(ValueError, match="needs an environment with a time limit"):
        PlanningState(env, horizon=None)


def test_clone_of_a_clone_is_a_clone():
    env = made("Taxi-v4", 2)
    walk(env, 3, 1)
    first = planning_env(env)
    assert equal(walk(CLONER.clone(first), 30, 4), walk(first, 30, 4))


def test_a_copy_of_an_agent_goes_on_as_it_does_and_neither_disturbs_the_other():
    env = made("FrozenLake-v1")
    agent, same = (UCTAgent(env, simulations=20, seed=1, horizon=10) for _ in range(2))
    agent.act()
    same.act()

    def played(one):
        found = []
        for _ in range(5):
            one.act()
            found.append([row.visits for row in one.last_result.actions])
        return found

    expected = played(same)
    twin = copy.copy(agent)
    assert twin.env is env
    assert played(twin) == expected
    assert played(agent) == expected


class Sloppy(gymnasium.Env):
    """Says nothing in its infos, and pays arrays of one number."""

    observation_space = gymnasium.spaces.Discrete(1)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return 0, {}

    def step(self, action):
        return 0, np.array([float(action)]), False, False, None


def test_a_reward_may_be_an_array_of_one_number_and_an_info_none():
    env = Sloppy()
    env.reset()
    assert UCTAgent(env, simulations=20, horizon=2, seed=1).act() == 1


class Short(Counting):
    """Two steps; after them nothing is allowed."""

    def step(self, action):
        self.time += 1
        return self.time, float(action), self.time == 2, False, {}

    def action_masks(self):
        return np.full(2, self.time < 2)


def test_an_episode_that_is_soon_over_is_checked_from_its_beginning():
    gymnasium.register("Short-v0", Short)
    try:
        env = begun(gymnasium.make("Short-v0"))
        assert UCTAgent(env, simulations=20, seed=1).act() == 1
    finally:
        del gymnasium.registry["Short-v0"]


def test_an_evaluator_of_batches_plans_with_rewards_that_are_still_to_come():
    """Of CartPole's steps each pays 1, so that what is expected counts beside what was paid."""
    env = gymnasium.make("CartPole-v1")
    observation, _ = env.reset(seed=1)
    seen = []

    def net(batch):
        seen.extend(batch.observations)
        return np.zeros(batch.legal_actions_mask.shape), np.full(len(batch.players), 10.0)

    agent = PUCTAgent(env, simulations=3, seed=1, evaluator=net, discount=0.5, horizon=50)
    agent.act(observation)
    assert seen[0] == pytest.approx(observation)
    values = [row.value for row in agent.last_result.actions]
    assert values == pytest.approx([1.0 + 0.5 * 10.0] * 2)
    with pytest.raises(ValueError, match="Give the environment's last observation"):
        agent.act()
