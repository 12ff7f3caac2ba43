"""Models of other libraries as evaluators: how each is asked, what it lacks."""

import numpy as np
import pytest
from helpers.envs import begun
from helpers.observed import Single, long_game
from pettingzoo.classic import connect_four_v3
from rave_openspiel import PUCTBot
from rave_pettingzoo import PUCTAgent

from rave_agents import (
    BatchEvaluator,
    Limit,
    SearchConfig,
    Searcher,
    as_evaluator,
    make_agent,
)

pyspiel = pytest.importorskip("pyspiel")
PUCT = SearchConfig.preset("puct")


def first_priors(evaluator, state):
    result = Searcher(PUCT, seed=1, evaluator=evaluator).search(state, Limit(simulations=20))
    return [row.prior for row in result.actions]


def softmax(logits):
    weights = np.exp(np.asarray(logits) - np.max(logits))
    return weights / weights.sum()


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def connect_four():
    return pyspiel.load_game("connect_four").new_initial_state()


@pytest.mark.full
def test_a_torch_module_is_asked_in_evaluation_mode_without_gradients(torch, connect_four):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.last = torch.nn.Linear(126, 8)
            self.modes = []

        def forward(self, seen):
            self.modes.append((self.training, torch.is_grad_enabled()))
            out = self.last(seen.flatten(1))
            return out[:, :7], torch.tanh(out[:, 7:])

    torch.manual_seed(0)
    net = Net()
    priors = first_priors(as_evaluator(net), connect_four)
    assert set(net.modes) == {(False, False)}
    assert net.training
    with torch.no_grad():
        seen = torch.tensor(connect_four.observation_tensor()).reshape(1, 3, 6, 7)
        logits = net(seen)[0][0].numpy()
    assert priors == pytest.approx(softmax(logits).tolist(), abs=1e-5)


@pytest.mark.full
def test_each_part_of_a_module_keeps_its_mode(torch, connect_four):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.frozen = torch.nn.BatchNorm1d(126).eval()
            self.last = torch.nn.Linear(126, 8)

        def forward(self, seen):
            assert not self.last.training
            out = self.last(self.frozen(seen.flatten(1)))
            return out[:, :7], torch.tanh(out[:, 7:])

    net = Net()
    first_priors(as_evaluator(net), connect_four)
    assert [module.training for module in net.modules()] == [True, False, True]


@pytest.mark.parametrize(
    "function",
    [
        lambda observations: (np.zeros((len(observations), 7)), np.zeros(len(observations))),
        lambda observations, action_mask=None: (
            np.where(action_mask, 0.0, -np.inf),
            np.zeros(len(observations)),
        ),
        lambda batch: {
            "logits": np.zeros(batch.legal_actions_mask.shape),
            "value": np.zeros((len(batch.players), 1)),
        },
    ],
    ids=["observations", "mask", "batch"],
)
def test_a_callable_gets_what_its_parameters_name(function, connect_four):
    assert first_priors(as_evaluator(function), connect_four) == pytest.approx([1 / 7] * 7)


def test_an_alpha_zero_model_tells_the_value_of_the_first_player(connect_four):
    class Model:
        def inference(self, observations, masks):
            assert observations.shape == (len(masks), 126)
            return np.full((len(masks), 1), 0.5), masks / masks.sum(axis=1, keepdims=True)

    class Evaluates:
        """As OpenSpiel's ``AlphaZeroEvaluator``."""

        _model = Model()

        def evaluate(self, state):
            raise AssertionError

        prior = evaluate

    for model in (Model(), Evaluates()):
        evaluator = as_evaluator(model)
        searcher = Searcher(PUCT, seed=1, evaluator=evaluator)
        assert searcher.search(connect_four, Limit(simulations=8)).value == pytest.approx(0.5)
        after = connect_four.child(3)
        assert searcher.search(after, Limit(simulations=8)).value == pytest.approx(-0.5)


def test_what_judges_already_is_taken_as_it_is():
    judges = BatchEvaluator(len)
    assert as_evaluator(judges) is judges
    single = Single(1)
    assert as_evaluator(single) is single


class Predicts:
    def predict(self, observation):
        return 0


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Predicts(), "Predicts has none"),
        (lambda height: 0.0, "[Ii]ts parameter 'height' does not say"),
        (lambda obs, action_mask: 0.0, "[Ii]ts parameter 'obs' does not say"),
    ],
)
def test_a_model_that_lacks_something_is_told_what(model, message):
    with pytest.raises(TypeError, match=message):
        as_evaluator(model)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("networks", "nor of the form module:Name"),
        ("networks.net", "written with a colon, networks:net"),
        ("no_such_module:net", "There is no module"),
        ("helpers.observed:long_gam", "Did you mean 'long_game'"),
    ],
)
def test_the_name_of_a_model_is_checked(name, message):
    with pytest.raises(ValueError, match=message):
        as_evaluator(name)


@pytest.mark.full
def test_a_maskable_ppo_is_searched_with_in_the_environment_that_it_was_trained_in(torch):
    sb3 = pytest.importorskip("sb3_contrib")
    from gymnasium import Env, spaces

    class Trained(Env):
        observation_space = spaces.Box(0, 1, (6, 7, 2), np.int8)
        action_space = spaces.Discrete(7)

        def reset(self, *, seed=None, options=None):
            return np.zeros((6, 7, 2), np.int8), {}

        def step(self, action):
            return np.zeros((6, 7, 2), np.int8), 0.0, True, False, {}

        def action_masks(self):
            return np.ones(7, bool)

    model = sb3.MaskablePPO("MlpPolicy", Trained(), n_steps=8, batch_size=8, seed=1)
    env = begun(connect_four_v3.env())
    agent = PUCTAgent(env, simulations=30, seed=1, evaluator=model)
    observation, *_ = env.last()
    action = agent.act(observation) if hasattr(agent, "act") else agent(observation)
    assert observation["action_mask"][action]
    seen, _ = model.policy.obs_to_tensor(observation["observation"][None])
    logits = model.policy.get_distribution(seen).distribution.logits[0].detach().numpy()
    priors = [row.prior for row in agent.last_result.actions]
    assert priors == pytest.approx(softmax(logits).tolist(), abs=1e-5)


def test_bots_take_evaluators_of_batches(connect_four):
    def net(batch):
        policy = np.zeros(batch.legal_actions_mask.shape)
        policy[:, 5] = 4.0
        return policy, np.zeros(len(batch.players))

    bot = PUCTBot(connect_four.get_game(), simulations=30, seed=1, evaluator=net)
    assert bot.step(connect_four) == 5


def test_a_game_that_is_long_is_searched_with_a_model_made_by_name():
    made = as_evaluator("helpers.observed:drawn_evaluator")
    assert isinstance(made, BatchEvaluator)
    result = Searcher(PUCT, seed=1, evaluator=made).search(long_game(), Limit(simulations=20))
    assert result.simulations == 20


def test_an_agents_spec_names_its_model():
    game = type("Game", (), {"name": "long", "new_initial_state": staticmethod(long_game)})
    spec = "puct(simulations=30,leaves=4,evaluator=helpers.observed:drawn_evaluator)"
    agent = make_agent(spec, game, 0, seed=1)
    assert agent.step(long_game()) in range(4)
    assert isinstance(agent.searcher.evaluator, BatchEvaluator)
