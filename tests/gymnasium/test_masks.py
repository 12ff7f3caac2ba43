"""Masks of actions in Gymnasium's environments, wherever their users' libraries put them."""

import logging

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from helpers.envs import begun
from rave_gymnasium import RaveAgent, Replayable, UCTAgent
from rave_gymnasium.cloning import _warn_of_unknown_mask

from rave_agents.errors import CloneError, GameError

N = 60


class Pick(gymnasium.Env):
    """Three picks; only multiples of 20 not yet taken are allowed. Another one ends it, or raises.

    With 100 simulations an agent that does not know the masks hardly picks one of them.
    """

    action_space = spaces.Discrete(N)
    observation_space = spaces.MultiBinary(N)
    raises = False

    def mask(self):
        return np.array([k % 20 == 0 and k not in self.taken for k in range(N)], np.int8)

    def seen(self):
        return np.array([k in self.taken for k in range(N)], np.int8), {}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.taken = set()
        return self.seen()

    def step(self, action):
        if not self.mask()[action]:
            if self.raises:
                raise LookupError(f"illegal action {action}")
            seen, info = self.seen()
            return seen, -1.0, True, False, info
        self.taken.add(int(action))
        seen, info = self.seen()
        return seen, 1.0, len(self.taken) == 3, False, info


class InInfo(Pick):
    def seen(self):
        return super().seen()[0], {"action_mask": self.mask()}


class InInfoAsList(Pick):
    def seen(self):
        return super().seen()[0], {"action_mask": self.mask().astype(bool).tolist()}


class InInfoUnderAnotherKey(Pick):
    def seen(self):
        return super().seen()[0], {"valid_action_mask": self.mask()}


class InObservation(Pick):
    observation_space = spaces.Dict(
        observation=spaces.MultiBinary(N), action_mask=spaces.MultiBinary(N)
    )

    def seen(self):
        return {"observation": super().seen()[0], "action_mask": self.mask()}, {}


class AsTianshouDoes(Pick):
    observation_space = spaces.Dict(obs=spaces.MultiBinary(N), mask=spaces.MultiBinary(N))

    def seen(self):
        return {"obs": super().seen()[0], "mask": self.mask().astype(bool)}, {}


class ByMethod(Pick):
    def action_masks(self):
        return self.mask().astype(bool)


class Answers(Pick):
    def action_masks(self):
        return self.answer


class ByAnotherMethod(Pick):
    def valid_action_mask(self):
        return self.mask()


class ByConvention(Pick):
    """Gymnasium's tutorial on environments of one's own has these methods."""

    def _get_obs(self):
        return super().seen()[0]

    def _get_info(self):
        return {"action_mask": self.mask()}

    def seen(self):
        return self._get_obs(), self._get_info()


class ActionMasker(gymnasium.Wrapper):
    """A wrapper like sb3-contrib's of this name."""

    def __init__(self, env, function):
        super().__init__(env)
        self.function = getattr(env, function) if isinstance(function, str) else function

    def action_masks(self):
        named = hasattr(self.function, "__self__")
        return self.function() if named else self.function(self.env)


class ShowsMask(gymnasium.ObservationWrapper):
    """Puts the mask into the observation."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = InObservation.observation_space

    def observation(self, observation):
        return {"observation": observation, "action_mask": self.unwrapped.mask()}


def mask_of(env):
    return env.unwrapped.mask()


PLACES = {
    "observation": InObservation,
    "tianshou's observation": AsTianshouDoes,
    "method": ByMethod,
    "another method": ByAnotherMethod,
    "by convention": ByConvention,
    "wrapper's method": lambda: ActionMasker(Pick(), mask_of),
    "wrapper that names a method": lambda: ActionMasker(Pick(), "mask"),
    "wrapper inside others": lambda: gymnasium.wrappers.TimeLimit(
        gymnasium.wrappers.TransformReward(ActionMasker(Pick(), mask_of), float), 50
    ),
    "wrapper of the observation": lambda: ShowsMask(Pick()),
    "observation that a wrapper flattens": lambda: gymnasium.wrappers.FilterObservation(
        InObservation(), ["observation", "action_mask"]
    ),
}


def played(env, observation, mask=None):
    agent = UCTAgent(env, simulations=100, horizon=10, seed=1)
    action = agent.act(observation, mask)
    assert env.unwrapped.mask()[action]
    assert agent.last_result.value == 3.0 - len(env.unwrapped.taken)
    assert len(agent.last_result.actions) == env.unwrapped.mask().sum()
    return action


@pytest.mark.full(but=5)
@pytest.mark.parametrize("raises", [False, True], ids=["ends", "raises"])
@pytest.mark.parametrize("make", PLACES.values(), ids=PLACES)
def test_the_mask_is_found_where_it_is(make, raises):
    env = make()
    env.unwrapped.raises = raises
    observation, _ = env.reset(seed=1)
    observation, *_ = env.step(played(env, observation))
    assert env.unwrapped.taken
    played(env, observation)


@pytest.mark.full(but=2)
@pytest.mark.parametrize("raises", [False, True], ids=["ends", "raises"])
@pytest.mark.parametrize("kind", [InInfo, InInfoAsList, InInfoUnderAnotherKey, Pick])
def test_a_mask_in_an_info_is_given_to_act(kind, raises):
    env = kind()
    env.raises = raises and kind is not Pick
    observation, info = env.reset(seed=1)
    mask = next(iter(info.values()), env.mask())
    agent = UCTAgent(env, simulations=100, horizon=1 if kind is Pick else 10, seed=1)
    assert env.mask()[agent.act(observation, mask)]
    assert agent.predict(observation, action_masks=mask)[0] % 20 == 0


@pytest.mark.parametrize(
    "form", [list, tuple, np.array, lambda mask: np.array(mask, bool), lambda mask: [mask]]
)
def test_masks_have_any_form(form):
    env = begun(Pick())
    agent = UCTAgent(env, simulations=20, horizon=1, seed=1)
    assert agent.act(None, form(env.mask().tolist())) % 20 == 0


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        ([1, 0], "must have 60 entries, one for each action, got 2"),
        (np.zeros(N), "must allow at least one action, but it allows none of 60"),
        (["yes"] * N, "must hold True or False"),
    ],
)
@pytest.mark.parametrize("where", ["given", "observation", "method"])
def test_a_mask_that_cannot_be_one_is_refused(mask, said, where):
    env = {"given": Pick, "observation": InObservation, "method": Answers}[where]()
    observation, _ = env.reset(seed=1)
    env.answer = mask
    if where == "observation":
        observation = {**observation, "action_mask": mask}
    with pytest.raises(ValueError, match=said):
        UCTAgent(env, simulations=20).act(observation, mask if where == "given" else None)


def test_a_mask_of_the_wrong_length_in_a_step_is_refused():
    class Short(InInfo):
        def mask(self):
            return super().mask()[: N - len(self.taken)]

    env = Short()
    observation, info = env.reset(seed=1)
    with pytest.raises(GameError, match=r"Short.*must have 60 entries.*, got 59"):
        UCTAgent(env, simulations=20).act(observation, info["action_mask"])


def test_an_illegal_action_that_raises_tells_where_masks_are_looked_for():
    env = Pick()
    env.raises = True
    env.reset(seed=1)
    with pytest.raises(GameError) as caught:
        RaveAgent(env, simulations=20, seed=1).act()
    for said in ("Pick raised LookupError: illegal action", "step 1", "action_masks()", "act("):
        assert said in str(caught.value)
    assert isinstance(caught.value.__cause__, LookupError)


def test_a_mask_that_is_known_only_later_is_asked_for(caplog):
    _warn_of_unknown_mask.cache_clear()
    env = begun(InInfo())
    with caplog.at_level(logging.WARNING, "rave_agents"):
        UCTAgent(env, simulations=20, seed=1).act()
    assert 'act(observation, info["action_mask"])' in caplog.text


def test_a_replay_has_the_masks_of_the_environment():
    gymnasium.register("Pick-v0", ByMethod)
    try:
        env = Replayable(gymnasium.make("Pick-v0", disable_env_checker=True))
        observation, _ = env.reset(seed=1)
        observation, *_ = env.step(20)
        agent = UCTAgent(env, simulations=50, horizon=10, seed=1)
        assert agent.act(observation) in (0, 40)
        assert agent.last_result.value == 2.0
        masked = ActionMasker(gymnasium.make("Pick-v0", disable_env_checker=True), mask_of)
        env = begun(Replayable(masked))
        with pytest.raises(CloneError, match=r"leaves out .*ActionMasker, whose masks"):
            UCTAgent(env, simulations=20).act()
    finally:
        del gymnasium.registry["Pick-v0"]
