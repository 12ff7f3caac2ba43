"""Agents of what other libraries have: how each is asked for an action, what its answer means."""

import numpy as np
import pytest

from rave_agents import as_agent, from_maker, from_policy, from_sb3, from_step, from_torch
from rave_agents.agents.answers import discrete_action, is_allowed, shaped_action
from rave_agents.agents.views import View

MASK = np.array([0, 0, 1, 1], np.int8)
BOARD = np.arange(4.0)
SEEN = {"observation": BOARD, "action_mask": MASK}
VIEW = View(env="env", observation=SEEN, mask=MASK, agent="player_1")


class Box:
    shape = (4,)


class Recurrent:
    """As sb3-contrib's RecurrentPPO predicts."""

    observation_space = Box()

    def __init__(self):
        self.seen = []

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        assert observation is BOARD
        assert deterministic
        self.seen.append((state, bool(episode_start[0])))
        return np.array([2]), ("lstm", len(self.seen))


def test_the_state_of_a_recurrent_model_is_kept_in_an_episode_and_forgotten_after_it():
    model = Recurrent()
    policy = from_sb3(model)
    for _ in range(2):
        policy.reset()
        assert discrete_action(policy.choose_at(VIEW)) == 2
        policy.choose_at(VIEW)
    assert model.seen == [(None, True), (("lstm", 1), False), (None, True), (("lstm", 3), False)]


def test_each_game_has_a_recurrent_state_of_its_own_and_shares_the_model():
    model = Recurrent()
    spec = as_agent(from_sb3(model))
    one, other = (spec.policy("game", 0, 1) for _ in range(2))
    one.choose_at(VIEW)
    other.choose_at(VIEW)
    assert model.seen == [(None, True), (None, True)]


@pytest.mark.parametrize(
    ("policy", "asked"),
    [
        (lambda observation, action_mask: (observation, action_mask), (SEEN, MASK)),
        (lambda x, y: (x, y), (SEEN, MASK)),
        (lambda observation: (observation,), (SEEN,)),
        (lambda x, temperature=1.0: (x, temperature), (SEEN, 1.0)),
        (lambda x, action_mask=None: (x, action_mask), (SEEN, MASK)),
    ],
)
def test_a_function_gets_the_observation_and_the_mask(policy, asked):
    got = as_agent(policy).own.choose_at(VIEW)
    assert all(one is other or one == other for one, other in zip(got, asked, strict=True))


@pytest.mark.needs("torch")
class TestTorch:
    @pytest.fixture(autouse=True)
    def torch(self):
        import torch

        return torch

    def network(self, torch, answer):
        class Network(torch.nn.Module):
            def forward(self, x):
                assert x.shape == (1, 4)
                assert x.dtype == torch.float32
                assert not self.training
                assert not torch.is_grad_enabled()
                return answer

        return Network()

    def test_the_best_legal_value_is_played(self, torch):
        values = torch.tensor([[9.0, 8.0, 6.0, 7.0]])
        for answer in (values, (values, torch.tensor([0.5]))):
            network = self.network(torch, answer)
            assert from_torch(network).choose_at(VIEW) == 3
            assert network.training

    def test_another_number_of_values_is_refused(self, torch):
        with pytest.raises(ValueError, match="a value for each of the 4 actions, it gave 2"):
            from_torch(self.network(torch, torch.zeros(1, 2))).choose_at(VIEW)


@pytest.mark.parametrize(
    ("make", "given", "message"),
    [
        (from_sb3, object(), "from_sb3 takes a model with predict"),
        (from_sb3, Recurrent, "from_sb3 takes a model with predict"),
        (from_torch, len, "from_torch takes a torch.nn.Module"),
        (from_policy, object(), "from_policy takes an object with action_probabilities"),
        (from_step, 3, "from_step takes a function"),
        (from_maker, 3, "from_maker takes a function"),
    ],
)
def test_each_function_refuses_what_it_does_not_take(make, given, message):
    with pytest.raises(TypeError, match=message):
        make(given)


@pytest.mark.parametrize(
    ("action", "allowed"),
    [
        (2, True),
        (np.int64(3), True),
        (0, False),
        (4, False),
        (-1, False),
        (2.5, False),
        (None, False),
        (True, False),
    ],
)
def test_an_action_is_allowed_if_it_is_in_the_space_and_the_mask(action, allowed):
    assert is_allowed(action, MASK, 4) is allowed


@pytest.mark.parametrize("answer", [3, np.array([3]), np.array(3), np.int64(3)])
def test_an_answer_is_the_number_of_an_action(answer):
    assert discrete_action(answer) == 3


@pytest.mark.parametrize("answer", [np.array([0.5, 1.0]), [0.5, 1.0], np.float32([[0.5, 1.0]])])
def test_an_answer_is_an_array_of_the_spaces_shape_and_type(answer):
    action = shaped_action(answer, (2,), np.float32)
    assert action.dtype == np.float32
    assert action.tolist() == [0.5, 1.0]


@pytest.mark.parametrize("answer", [None, "left", [1.0], np.zeros((2, 2))])
def test_an_answer_of_another_shape_stays_as_it_is(answer):
    assert shaped_action(answer, (2,), np.float32) is answer
