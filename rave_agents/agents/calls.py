"""Calls of policies and models: what is filled into which parameter, in which form."""

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rave_agents.agents.answers import best_action
from rave_agents.agents.views import AnyView, StateView, observation_like
from rave_agents.environments.masks import without_mask
from rave_agents.frameworks.libraries import NAMES, is_torch_module
from rave_agents.game.signatures import parameters_of

Act = Callable[[AnyView], Any]
"""Answers a view."""


_FIXED: Mapping[str, Any] = {"deterministic": True, "explore": False, "training": False}
"""Parameters that ask for the policy's best action, with the value that does."""


def policy_name(policy: Any) -> str:
    """Return a policy's display name."""
    if isinstance(policy, str):
        return policy
    named = getattr(policy, "__name__", None) if inspect.isroutine(policy) else None
    return named or type(policy).__name__


class Recurrent:
    """Asks a method that takes and returns a state, such as an LSTM's; keeps it in an episode."""

    def __init__(self, method: Callable[..., Any], fit: Act, *, batches: bool) -> None:
        self._method = method
        self._fit = fit
        self._batches = batches
        parameters = parameters_of(method) or {}
        self._fixed = {name: value for name, value in _FIXED.items() if name in parameters}
        self._named = {
            name: meaning
            for name, meaning in NAMES.items()
            if name in parameters and name not in ("observation", "obs", "state")
        }
        names = ("state_batches",) if batches else ("state",)
        self._state_name = next((name for name in names if name in parameters), None)
        self._marks_start = "episode_start" in parameters
        self.reset()

    def reset(self) -> None:
        """Forget the state: an episode begins."""
        self._state: Any = None
        self._start = True

    def __call__(self, view: AnyView) -> Any:
        """Ask the method for an action."""
        observation = self._fit(view)
        options = {name: getattr(view, meaning) for name, meaning in self._named.items()}
        if self._batches:
            observation = _batch_of_one(observation)
            options = {name: _batch_of_one(value) for name, value in options.items()}
        options.update(self._fixed)
        if self._state_name is not None and not self._start:
            options[self._state_name] = self._state
        if self._marks_start:
            options["episode_start"] = np.array([self._start])
        self._start = False
        answer = self._method(observation, **options)
        if isinstance(answer, tuple):
            self._state = answer[1] if len(answer) > 1 else None
            answer = answer[0]
        return answer[0] if self._batches else answer


def _batch_of_one(thing: Any) -> Any:
    """A batch of one observation, mask or info."""
    if isinstance(thing, Mapping):
        return {name: _batch_of_one(value) for name, value in thing.items()}
    return [thing] if thing is None or isinstance(thing, str) else np.asarray(thing)[None]


def takes_inner_observation(policy: Any, method: str | None) -> bool:
    """True if a model was trained on the observation inside the dictionary: its space is plain."""
    space = getattr(policy, "observation_space", None)
    if space is None or method is None:
        return False
    return not hasattr(space, "spaces")


def fitted(policy: Any, inside: bool) -> Act:
    """Return the function that gives a policy its observation, in the form of its space."""
    space = getattr(policy, "observation_space", None)
    spaces, shape = getattr(space, "spaces", None), getattr(space, "shape", None)

    def fit(view: AnyView) -> Any:
        seen = without_mask(view.observation) if inside else view.observation
        if isinstance(spaces, Mapping) and isinstance(seen, np.ndarray):
            return {n: view.mask if NAMES.get(n) == "mask" else seen for n in spaces}
        if not shape or not isinstance(seen, np.ndarray) or sorted(seen.shape) == sorted(shape):
            return seen  # A library moves the channels of pictures itself.
        like = observation_like(view, tuple(shape))
        if like is None and seen.size == int(np.prod(shape)):
            like = seen.reshape(shape)
        if like is None:
            raise ValueError(
                f"{type(policy).__name__} observes arrays of the shape {tuple(shape)}, and here "
                f"they have the shape {seen.shape}: it was made for another game, or another "
                "observation of it."
            )
        return like

    return fit


def called(
    function: Callable[..., Any],
    filled: tuple[list[str], dict[str, str]],
    fit: Act,
    unwraps: bool,
) -> Act:
    """Return how a function is called: its parameters are filled by name, else by place."""
    takes = parameters_of(function) or {}
    fixed = {name: value for name, value in _FIXED.items() if name in takes}
    placed, named = filled

    def value(view: AnyView, meaning: str) -> Any:
        return fit(view) if meaning == "observation" else getattr(view, meaning)

    def act(view: AnyView) -> Any:
        given = [value(view, meaning) for meaning in placed]
        options = {name: value(view, meaning) for name, meaning in named.items()}
        answer = function(*given, **options, **fixed)
        return answer[0] if unwraps and isinstance(answer, tuple) else answer

    return act


def filled_parameters(
    function: Callable[..., Any], unnamed: str, method: str | None
) -> tuple[list[str], dict[str, str]]:
    """Match a function's parameters with the fields of a view: by position, and by keyword.

    A first parameter of an unknown name gets what is ``unnamed``, a second one the mask. A method
    of a library's may have a ``state`` of its own, such as an LSTM's.
    """
    names = NAMES if method is None else {n: m for n, m in NAMES.items() if n != "state"}
    placed: list[str] = []
    named: dict[str, str] = {}
    parameters = (parameters_of(function) or {}).values()
    meant = {names.get(parameter.name) for parameter in parameters}
    first = () if {"observation", "state"} & meant else (unnamed,)
    unknown = iter([meaning for meaning in (*first, "mask") if meaning not in meant])
    by_place = True
    for parameter in parameters:
        meaning = names.get(parameter.name)
        if parameter.kind is parameter.VAR_POSITIONAL:
            placed.extend(unknown)
        elif parameter.kind is parameter.VAR_KEYWORD:
            continue
        elif parameter.kind is parameter.KEYWORD_ONLY:
            if meaning is not None:
                named[parameter.name] = meaning
        elif meaning is None and (parameter.default is not parameter.empty or not by_place):
            by_place = False
        elif by_place:
            place = next(unknown, None) if meaning is None else meaning
            if place is None:
                raise TypeError(
                    f"{policy_name(function)} cannot be called as a policy: its parameter "
                    f"{parameter.name!r} is none of {', '.join(names)}."
                )
            placed.append(place)
        elif meaning is not None:
            named[parameter.name] = meaning
    if not placed and not {"observation", "state", "env"}.intersection(named.values()):
        placed = [unnamed]
    return placed, named


def asked_with_tensors(module: Any, function: Any) -> Act:
    """Ask a module of PyTorch: a batch of one in; actions, or values of all actions, out."""
    torch = sys.modules["torch"]
    method = module.forward if function is module else function
    masks = [name for name in parameters_of(method) or () if NAMES.get(name) == "mask"]

    def act(view: AnyView) -> Any:
        first = next(iter(module.parameters()), None)
        device = None if first is None else first.device

        def batch(thing: Any, kind: Any) -> Any:
            return torch.as_tensor(np.asarray(thing)[None], dtype=kind, device=device)

        options = {}
        if masks and view.mask is not None:
            options[masks[0]] = batch(view.mask, torch.bool)
        training = bool(module.training)
        module.eval()
        try:
            seen = batch(without_mask(view.observation), torch.float32)
            with torch.no_grad():
                answer = function(seen, **options)
        finally:
            module.train(training)
        if not _is_discrete(view):
            return answer
        return best_action(answer[0] if isinstance(answer, tuple) else answer, view.mask)

    return act


def _is_discrete(view: AnyView) -> bool:
    """True if the actions are numbered, as far as the environment tells."""
    return isinstance(view, StateView) or not getattr(action_space(view), "shape", ())


def action_space(view: AnyView) -> Any:
    """The action space of the agent that is to move."""
    space = getattr(view.env, "action_space", None)
    return space(view.agent) if callable(space) else space


def asked_with_batches(policy: Any, inside: bool) -> Act:
    """Ask a policy of Tianshou, which takes and returns a Batch."""

    def act(view: AnyView) -> Any:
        from tianshou.data import Batch  # type: ignore[import-not-found]  # noqa: PLC0415  (optional: Tianshou)

        seen = without_mask(view.observation)
        if view.mask is not None and not inside:
            seen = Batch(obs=np.asarray(seen)[None], mask=np.asarray(view.mask, bool)[None])
        else:
            seen = np.asarray(seen)[None]
        return best_action(policy(Batch(obs=seen, info=Batch())).act, view.mask)

    return act


def inferring(module: Any) -> Act:
    """Ask a module of RLlib, which takes and returns a dictionary of batches."""
    tensors = is_torch_module(module)

    def batch(thing: Any) -> Any:
        if isinstance(thing, Mapping):
            return {name: batch(value) for name, value in thing.items()}
        array = np.asarray(thing)[None]
        return sys.modules["torch"].as_tensor(array) if tensors else array

    def act(view: AnyView) -> Any:
        answer = module.forward_inference({"obs": batch(view.observation)})
        chosen = answer.get("actions")
        if chosen is not None:
            return best_action(chosen, None)
        return best_action(answer["action_dist_inputs"], view.mask)

    return act
