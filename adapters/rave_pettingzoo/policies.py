"""Converts policies of all usual forms into one: a function of the environment and its outputs."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rave_agents.agents.named_agents import AgentSpec
from rave_pettingzoo.agents import make_agent
from rave_pettingzoo.loop_agent import LoopAgent
from rave_pettingzoo.worlds import WorldFunction


class View(NamedTuple):
    """The inputs of a policy when an agent is to move."""

    env: Any
    """The live environment."""
    observation: Any
    """The selected agent's observation."""
    mask: Any
    """Its mask, 1 for each action that is allowed; None if the environment gives none."""
    info: Any
    """Its info."""
    player: Any = None
    """The agent, in a Parallel environment; None in AEC environments, where it is selected."""
    observations: Mapping[Any, Any] | None = None
    """The observations of all agents, in a Parallel environment."""
    infos: Mapping[Any, Any] | None = None
    """The infos of all agents, in a Parallel environment."""


class Policy(NamedTuple):
    """A policy, ready for an episode."""

    act: Callable[[View], Any]
    """Chooses an action."""
    reset: Callable[[], Any]
    """Called before each episode."""


def policy_name(policy: Any) -> str:
    """Return a policy's display name."""
    if isinstance(policy, str | AgentSpec):
        return str(policy)
    if inspect.isroutine(policy):
        return str(policy.__name__)
    return type(policy).__name__


def make_policy(
    policy: Any,
    env: Any,
    *,
    player: Any,
    seed: int,
    translate: bool,
    worlds: WorldFunction | None,
) -> Policy:
    """Make a policy for an environment.

    Args:
        policy: an agent's spec; one of this package's agents; an object with ``act`` or
            ``predict``, such as a Stable-Baselines3 model; or a function. Functions and ``act`` get
            the observation, and the mask too where they take a second argument. ``predict`` gets
            ``action_masks`` where it takes it.
        env: the environment to play in.
        player: the agent to play for in a Parallel environment, for policies made from a spec; else
            None.
        seed: the seed of an agent made from a spec.
        translate: as for ``SearchAgent``.
        worlds: as for ``SearchAgent``.

    Raises:
        TypeError: if ``policy`` has none of these forms.
    """
    if isinstance(policy, str | AgentSpec):
        policy = make_agent(
            policy, env, player=player, seed=seed, translate=translate, worlds=worlds
        )
    if isinstance(policy, LoopAgent):
        return Policy(_asked(policy), policy.reset)
    if isinstance(policy, type):
        raise TypeError(f"A policy must be an object, got the class {policy.__name__} itself.")
    reset = _resetter(policy)
    if callable(getattr(policy, "predict", None)):
        return Policy(_predictor(policy), reset)
    if callable(getattr(policy, "act", None)):
        return Policy(_called(policy.act), reset)
    if callable(policy):
        return Policy(_called(policy), reset)
    raise TypeError(
        "A policy must be an agent's spec such as 'rave(simulations=200)', a function of "
        f"observation and mask, or an object with act or predict; got {policy!r}."
    )


def _asked(agent: LoopAgent) -> Callable[[View], Any]:
    return lambda view: agent(
        view.env, player=view.player, observations=view.observations, infos=view.infos
    )


def _called(function: Callable[..., Any]) -> Callable[[View], Any]:
    name = _mask_parameter(function)
    if name is None:
        return lambda view: function(view.observation)
    if name == "":
        return lambda view: function(view.observation, view.mask)
    return lambda view: function(view.observation, **{name: view.mask})


def _predictor(model: Any) -> Callable[[View], Any]:
    parameters = _parameters(model.predict)
    masks = "action_masks" in parameters
    deterministic = "deterministic" in parameters
    space = getattr(model, "observation_space", None)
    # A model of a plain space was trained on the observation inside the dictionary.
    inside = space is not None and not hasattr(space, "spaces")

    def predict(view: View) -> Any:
        observation = view.observation
        if inside and isinstance(observation, Mapping) and "observation" in observation:
            observation = observation["observation"]
        options: dict[str, Any] = {"action_masks": view.mask} if masks else {}
        if deterministic:
            options["deterministic"] = True
        answer = model.predict(observation, **options)
        return answer[0] if isinstance(answer, tuple) else answer

    return predict


def _mask_parameter(function: Callable[..., Any]) -> str | None:
    """How a function takes the mask: "" as second argument, by a keyword, or not at all."""
    parameters = _parameters(function)
    positional = [
        parameter
        for parameter in parameters.values()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    for name in ("action_mask", "action_masks", "mask"):
        if name in parameters:
            return name if parameters[name] not in positional[:2] else ""
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters.values()):
        return ""
    required = [parameter for parameter in positional if parameter.default is parameter.empty]
    return "" if len(required) >= 2 else None


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def _resetter(policy: Any) -> Callable[[], Any]:
    reset = getattr(policy, "reset", None)
    if not callable(reset):
        return lambda: None
    needed = [
        parameter
        for parameter in _parameters(reset).values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    return (lambda: None) if needed else reset


def plain_action(action: Any) -> Any:
    """Convert an action for the environment: an array of one number becomes the number."""
    several = isinstance(action, np.ndarray) and action.size != 1
    item = getattr(action, "item", None)
    return item() if callable(item) and not several else action
