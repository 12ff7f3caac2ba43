"""Agents of other libraries' objects: models, modules, policies, functions of a state.

For any other library, write a function ``policy(observation, action_mask)`` of two lines.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rave_agents.agents.answers import checked_probabilities
from rave_agents.agents.own_agents import Maker, Policy
from rave_agents.agents.views import AnyView, framework_state, observation_like
from rave_agents.environments.masks import without_mask
from rave_agents.environments.spaces import EnvAbilities, SpaceAbilities
from rave_agents.evaluators.models import is_torch_module
from rave_agents.frameworks.agent import AgentAbilities
from rave_agents.game.signatures import parameters_of

PREDICTS = ("observation", "state", "episode_start", "deterministic", "action_masks")
"""Parameters of the method ``predict`` of Stable-Baselines3 and sb3-contrib."""


def from_sb3(model: Any) -> Policy:
    """Make an agent of a model of Stable-Baselines3 or sb3-contrib.

    It plays the model's best action. A model that was trained on PettingZoo's observations plays in
    OpenSpiel's game, and the other way round; the state of a recurrent model is kept in a game.

    Args:
        model: the model, or any object with its ``predict(observation, state=, episode_start=,
            deterministic=, action_masks=)``; without ``action_masks`` it may play illegal actions.

    Raises:
        TypeError: if it has no ``predict``.
    """
    if isinstance(model, type) or AgentAbilities(model).predict is None:
        raise TypeError(f"from_sb3 takes a model with predict(observation, ...), got {model!r}.")
    return _Model(model)


def from_torch(module: Any) -> Policy:
    """Make an agent of a module of PyTorch that gives a value, or a logit, for each action.

    It is called with a batch of one observation (float32, [1, ...]) and returns the values
    [1, actions], or a tuple that begins with them. It plays the legal action with the highest
    value.

    Raises:
        TypeError: if it is no ``torch.nn.Module``.
    """
    if not is_torch_module(module):
        raise TypeError(f"from_torch takes a torch.nn.Module, got {module!r}.")
    return _Module(module)


def from_policy(policy: Any) -> Policy:
    """Make an agent that draws its actions from probabilities.

    Args:
        policy: a policy of OpenSpiel's, with ``action_probabilities(state)``, or such a function of
            the framework's own state. It returns probabilities by action, or pairs. An agent of
            OpenSpiel's reinforcement learning becomes such a policy by
            ``open_spiel.python.rl_agent_policy.RLAgentPolicy``.

    Raises:
        TypeError: if it is neither.
    """
    function = AgentAbilities(policy).action_probabilities or policy
    if isinstance(policy, type) or not callable(function):
        raise TypeError(
            "from_policy takes an object with action_probabilities(state), or such a function, got "
            f"{policy!r}."
        )
    return _Drawn(function)


def from_step(function: Callable[..., Any]) -> Policy:
    """Make an agent of a function of the framework's own state that returns an action.

    ``state`` is a ``pyspiel.State`` in OpenSpiel's games, and in environments that have such a
    state. It may be used as a decorator; further parameters are set in a spec, as in
    ``"./bots.py:captures(last=False)"``.

    Raises:
        TypeError: if it is no function.
    """
    return _OfState(_function("from_step", function))


def from_maker(make: Callable[..., Any]) -> Maker:
    """Let a function make an agent for each game, as a class does.

    Args:
        make: gets those of ``game`` (the framework's own, or the environment), ``player`` (the
            seat, from 0) and ``seed`` that it names; further parameters are set in a spec. It
            returns an object with ``step(state)``, a function ``policy(observation, action_mask)``,
            or what the other functions of this module return. It may be used as a decorator.

    Raises:
        TypeError: if it is no function.
    """
    return Maker(_function("from_maker", make))


def _function(name: str, function: Any) -> Any:
    if not callable(function):
        raise TypeError(f"{name} takes a function, got {function!r}.")
    return function


class _Model(Policy):
    """Asks a model of Stable-Baselines3; keeps the state of a recurrent one in an episode."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._known = parameters_of(model.predict) or PREDICTS
        if "action_masks" not in self._known:
            kind = type(model).__name__
            self.advice = (
                f" {kind}.predict takes no mask of the legal actions; that of "
                "sb3_contrib.MaskablePPO does."
            )
        self.reset()

    @property
    def agent(self) -> Any:
        return self._model

    def reset(self) -> None:
        self._state: Any = None
        self._starts = True

    def choose_at(self, view: AnyView) -> Any:
        given = {
            "state": self._state,
            "episode_start": np.array([self._starts]),
            "deterministic": True,
            "action_masks": view.mask,
        }
        self._starts = False
        options = {name: value for name, value in given.items() if name in self._known}
        action, self._state = self._model.predict(_observed_by(self._model, view), **options)
        return action


class _Module(Policy):
    """Plays the legal action to which a module of PyTorch gives the highest value."""

    def __init__(self, module: Any) -> None:
        self._module = module

    @property
    def agent(self) -> Any:
        return self._module

    def choose_at(self, view: AnyView) -> Any:
        import torch  # noqa: PLC0415  (optional: a module needs it)

        first = next(iter(self._module.parameters()), None)
        device = None if first is None else first.device
        seen = np.asarray(without_mask(view.observation), np.float32)[None]
        # Dropout and batch normalisation must not change the answer; training goes on afterwards.
        training = bool(self._module.training)
        self._module.eval()
        try:
            with torch.no_grad():
                answer = self._module(torch.as_tensor(seen, device=device))
        finally:
            self._module.train(training)
        answer = answer[0] if isinstance(answer, tuple) else answer
        # A value head may follow the policy: only the first output is read.
        values = answer.detach().cpu().numpy().reshape(-1)
        allowed = np.ones(len(values)) if view.mask is None else np.ravel(view.mask)
        if len(allowed) != len(values):
            raise ValueError(
                f"{type(self._module).__name__} must give a value for each of the {len(allowed)} "
                f"actions, it gave {len(values)}."
            )
        return int(np.argmax(np.where(allowed != 0, values, -np.inf)))


class _OfState(Policy):
    """Asks a function of the framework's own state."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def choose_at(self, view: AnyView) -> Any:
        assert self.function is not None
        return self.function(framework_state(view.position))


class _Drawn(_OfState):
    """Draws from the probabilities that a function of the state returns."""

    def reseed(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def choose_at(self, view: AnyView) -> Any:
        found = self.probabilities_at(view)
        return list(found)[int(self._random.choice(len(found), p=list(found.values())))]

    def probabilities_at(self, view: AnyView) -> dict[int, float]:
        return checked_probabilities(super().choose_at(view))


def _observed_by(model: Any, view: AnyView) -> Any:
    space = EnvAbilities(model).observation_space
    spaces, shape = SpaceAbilities(space).spaces, SpaceAbilities(space).shape
    # A plain space: the model was trained on the observation without the mask next to it.
    is_plain = space is not None and spaces is None
    seen = without_mask(view.observation) if is_plain else view.observation
    if isinstance(spaces, Mapping) and isinstance(seen, np.ndarray):
        # The model was trained on a dictionary, as PettingZoo gives it: rebuild it from the parts.
        return {name: view.mask if "mask" in name else seen for name in spaces}
    if not shape or not isinstance(seen, np.ndarray) or sorted(seen.shape) == sorted(shape):
        return seen  # Same sizes in another order: the library transposes images itself.
    like = observation_like(view, tuple(shape))
    if like is None and seen.size == int(np.prod(shape)):
        like = seen.reshape(shape)
    if like is None:
        raise ValueError(
            f"{type(model).__name__} observes arrays of the shape {tuple(shape)}, and here they "
            f"have the shape {seen.shape}: it was made for another game, or another observation of "
            "it."
        )
    return like
