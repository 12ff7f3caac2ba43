"""Policies of other libraries: how each is asked for an action, and what its answer means."""

import numpy as np
import pytest

from rave_agents.agents.answers import discrete_action, is_allowed, plain_action, shaped_action
from rave_agents.agents.policies import understood
from rave_agents.agents.views import View

MASK = np.array([0, 0, 1, 1], np.int8)
BOARD = np.arange(4.0)
SEEN = {"observation": BOARD, "action_mask": MASK}
VIEW = View(env="env", observation=SEEN, mask=MASK, info={"turn": 3}, agent="player_1")


class Box:
    shape = (4,)


class AsRLlib:
    """As RLlib's Algorithm computes actions: an action alone, or with states and more."""

    def __init__(self, recurrent):
        self.recurrent = recurrent
        self.states = []

    def compute_single_action(self, observation, state=None, *, explore=None, policy_id=None):
        assert explore is False
        self.states.append(state)
        action = int(np.flatnonzero(observation["action_mask"])[0])
        return (action, ["h", len(self.states)], {}) if self.recurrent else action


class AsAgileRL:
    """As AgileRL's DQN acts: an observation and its mask in, an array of actions out."""

    observation_space = Box()

    def get_action(self, obs, epsilon=0.0, action_mask=None):
        assert obs.shape == (4,)
        assert epsilon == 0.0
        return np.flatnonzero(action_mask)[:1]


class AsTianshou:
    def compute_action(self, obs, info=None, state=None):
        assert info == {"turn": 3}
        return np.flatnonzero(obs["action_mask"])[0]


class AsBatches:
    """As RLlib's Policy computes actions of a batch, with states and more beside them."""

    def compute_actions(self, obs_batch, state_batches=None, *, explore=None):
        assert explore is False
        assert obs_batch["observation"].shape == (1, 4)
        return np.argmax(obs_batch["action_mask"], axis=1), [], {"logits": 0}


class AsRecurrentPPO:
    observation_space = Box()

    def __init__(self):
        self.seen = []

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        self.seen.append((state, bool(episode_start[0])))
        return np.array([2]), ("lstm", len(self.seen))


@pytest.mark.parametrize(
    "policy",
    [AsRLlib(False), AsRLlib(True), AsBatches(), AsAgileRL(), AsTianshou(), AsRecurrentPPO()],
)
def test_objects_of_other_libraries_are_asked_by_their_own_methods(policy):
    assert plain_action(understood(policy).act(VIEW)) == 2


def test_the_state_of_a_recurrent_policy_is_kept_in_an_episode_and_forgotten_after_it():
    model = AsRecurrentPPO()
    policy = understood(model)
    for _ in range(2):
        policy.reset()
        policy.act(VIEW)
        policy.act(VIEW)
    assert model.seen == [(None, True), (("lstm", 1), False), (None, True), (("lstm", 3), False)]
    algorithm = AsRLlib(True)
    policy = understood(algorithm)
    policy.act(VIEW)
    policy.act(VIEW)
    assert algorithm.states == [None, ["h", 1]]


@pytest.mark.parametrize(
    ("policy", "asked"),
    [
        (lambda observation, agent: (observation, agent), (SEEN, "player_1")),
        (lambda agent, obs: (agent, obs), ("player_1", SEEN)),
        (lambda x, *, info, env: (x, info, env), (SEEN, {"turn": 3}, "env")),
        (lambda x, y: (x, y), (SEEN, MASK)),
        (lambda x, temperature=1.0: (x, temperature), (SEEN, 1.0)),
        (lambda x, temperature=1.0, mask=None: (x, mask), (SEEN, MASK)),
        (lambda *seen: seen, (SEEN, MASK)),
        (lambda *, observation, agent_id: (observation, agent_id), (SEEN, "player_1")),
    ],
)
def test_parameters_are_filled_by_their_names_and_else_by_their_place(policy, asked):
    got = understood(policy).act(VIEW)
    assert all(one is other or one == other for one, other in zip(got, asked, strict=True))


def test_a_function_that_wants_more_than_there_is_is_refused():
    with pytest.raises(TypeError, match="its parameter 'key' is none of observation"):
        understood(lambda observation, mask, key: 0)


@pytest.mark.needs("torch")
class TestTorch:
    """PyTorch's modules, as CleanRL writes them."""

    @pytest.fixture(autouse=True)
    def torch(self):
        import torch

        return torch

    def network(self, torch, **methods):
        class Network(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(torch.ones(1))

            def forward(self, x):
                assert x.shape == (1, 4)
                return self.weight * torch.tensor([[9.0, 8.0, 6.0, 7.0]])

        for name, method in methods.items():
            setattr(Network, name, method)
        return Network()

    def test_values_of_all_actions_give_the_best_that_is_allowed(self, torch):
        assert plain_action(understood(self.network(torch)).act(VIEW)) == 3

    def test_actions_come_first_where_a_method_tells_more(self, torch):
        def get_action_and_value(self, x, action=None):
            assert x.shape == (1, 4)
            assert x.dtype == torch.float32
            return torch.tensor([2]), torch.tensor([-0.1]), torch.tensor([0.5]), self(x)

        network = self.network(torch, get_action_and_value=get_action_and_value)
        assert plain_action(understood(network).act(VIEW)) == 2

    def test_a_mask_goes_where_it_is_taken(self, torch):
        def get_action(self, x, invalid_action_mask=None):
            return torch.nonzero(invalid_action_mask[0])[:1, 0]

        network = self.network(torch, get_action=get_action)
        assert plain_action(understood(network).act(VIEW)) == 2


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


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        (3, 3),
        ((3, 0.5, "more"), 3),
        ([3], 3),
        ((np.array([3]), 0.5), 3),
        (np.float32(3).reshape(1), 3),
        ([1, 2], [1, 2]),
        ("3", "3"),
        (None, None),
    ],
)
def test_an_answer_is_the_number_of_an_action_wherever_it_is_found(answer, action):
    assert discrete_action(answer) == action


@pytest.mark.parametrize(
    "answer",
    [
        np.array([0.5, 1.0]),
        [0.5, 1.0],
        np.array([[0.5, 1.0]], np.float32),
        (np.array([0.5, 1.0]), -1.3),
    ],
)
def test_an_answer_is_an_array_of_the_spaces_shape_and_type(answer):
    action = shaped_action(answer, (2,), np.float32)
    assert action.dtype == np.float32
    assert action.tolist() == [0.5, 1.0]


@pytest.mark.parametrize("answer", [None, "left", [1.0], np.zeros((2, 2))])
def test_an_answer_of_another_shape_stays_as_it_is(answer):
    assert shaped_action(answer, (2,), np.float32) is answer
