"""Understands policies of other libraries: how each is asked for an action, and what it answers.

A policy may be a function, or an object with one of these methods, in this order:

- ``predict(observation, ...)``: Stable-Baselines3, sb3-contrib; a recurrent model's state is kept;
- ``compute_single_action(observation, ...)``: RLlib;
- ``compute_actions(observations, ...)``: RLlib; observations are a batch of one;
- ``compute_action(observation, ...)``: Tianshou;
- ``get_action(observation, ...)``: AgileRL; with tensors also CleanRL's;
- ``get_action_and_value(observation, ...)``: CleanRL;
- ``act(observation, ...)``: most others.

Parameters are filled by their names, ``policy(observation, agent)`` for example: see
``libraries.NAMES``.
PyTorch's modules get tensors with a batch of one.
"""

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rave_agents.agents.libraries import METHODS, NAMES, is_torch_module
from rave_agents.agents.named_agents import AgentSpec


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
    agent: Any = None
    """The agent that is to move; in a single-agent environment the policy's seat, or None."""
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


_FIXED: Mapping[str, Any] = {"deterministic": True, "explore": False, "training": False}
"""Parameters that ask for the policy's best action, with the value that does."""


def policy_name(policy: Any) -> str:
    """Return a policy's display name."""
    if isinstance(policy, str | AgentSpec):
        return str(policy)
    if inspect.isroutine(policy):
        return str(policy.__name__)
    return type(policy).__name__


def understood(policy: Any) -> Policy:
    """Make a policy from an object or a function of another library.

    Raises:
        TypeError: if it has none of the forms that this module names.
    """
    if isinstance(policy, type):
        raise TypeError(f"A policy must be an object, got the class {policy.__name__} itself.")
    method = next((name for name in METHODS if callable(getattr(policy, name, None))), None)
    if method is None and not callable(policy):
        raise TypeError(
            "A policy must be an agent's spec such as 'rave(simulations=200)', a function of "
            f"observation and mask, or an object with one of {', '.join(METHODS)}; got {policy!r}. "
            "A method of another name can be given itself, as policy.method."
        )
    tensors = is_torch_module(policy)
    inside = _takes_inner_observation(policy, method) or (tensors and method != "predict")
    if method in ("predict", "compute_single_action", "compute_actions", "compute_action"):
        asked = _Recurrent(getattr(policy, method), inside, batches=method == "compute_actions")
        return Policy(asked, _both(asked.reset, _resetter(policy)))
    function = policy if method is None else getattr(policy, method)
    if method is None and type(policy).__module__.partition(".")[0] == "tianshou":
        return Policy(_tianshou(policy, inside), _resetter(policy))
    if tensors:
        return Policy(_of_tensors(policy, function), _resetter(policy))
    more = method in ("get_action", "get_action_and_value")  # They tell more than the action.
    return Policy(_called(function, inside, more), _resetter(policy))


def plain_action(answer: Any) -> Any:
    """Convert an answer to an action: an array of one number becomes the number."""
    several = isinstance(answer, np.ndarray) and answer.size != 1
    item = getattr(answer, "item", None)
    if not callable(item) or several:
        return answer
    number = item()
    whole = isinstance(number, float) and number.is_integer()
    return int(number) if whole and not isinstance(answer, np.floating) else number


def discrete_action(answer: Any) -> Any:
    """Convert an answer to one of several numbered actions.

    Of a tuple the action comes first, as in ``(action, log_probability)``; a list or an array of
    one number becomes the number. Whatever else it is stays as it is.
    """
    if isinstance(answer, tuple) and answer:
        answer = answer[0]
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    return plain_action(answer)


def shaped_action(answer: Any, shape: tuple[int, ...], kind: Any) -> Any:
    """Convert an answer to an array of this shape and ``dtype``, as far as it is one.

    Tensors become arrays; of a tuple the action comes first; a batch of one is opened. Whatever
    else it is stays as it is.
    """
    first = answer[0] if isinstance(answer, tuple) and answer else answer
    detach = getattr(first, "detach", None)
    array = np.asarray(detach().cpu() if callable(detach) else first)
    if array.shape == (1, *shape):
        array = array[0]
    if array.shape != shape or not np.can_cast(array.dtype, kind, "same_kind"):
        return answer
    return array.astype(kind)


def is_allowed(action: Any, mask: Any, size: int | None) -> bool:
    """True if an action is one of the integers 0 to ``size`` - 1, and the mask allows it.

    Args:
        action: what a policy chose.
        mask: whether each action is allowed; None for all.
        size: the number of actions; None where they are not discrete.
    """
    if size is None and mask is None:
        return True
    if isinstance(action, bool | np.bool_) or not isinstance(action, int | np.integer):
        return False
    count = len(mask) if size is None else size
    return bool(0 <= action < count and (mask is None or np.ravel(mask)[action]))


def inner_observation(observation: Any) -> Any:
    """Return the observation inside a dictionary that has the mask beside it."""
    if isinstance(observation, Mapping) and "observation" in observation:
        return observation["observation"]
    return observation


class _Recurrent:
    """Asks a method that takes and returns a state, such as an LSTM's; keeps it in an episode."""

    def __init__(self, method: Callable[..., Any], inside: bool, *, batches: bool) -> None:
        self._method = method
        self._inside = inside
        self._batches = batches
        parameters = _parameters(method)
        self._fixed = {name: value for name, value in _FIXED.items() if name in parameters}
        self._named = {
            name: meaning
            for name, meaning in NAMES.items()
            if name in parameters and name not in ("observation", "obs")
        }
        names = ("state_batches",) if batches else ("state",)
        self._state_name = next((name for name in names if name in parameters), None)
        self._marks_start = "episode_start" in parameters
        self.reset()

    def reset(self) -> None:
        """Forget the state: an episode begins."""
        self._state: Any = None
        self._start = True

    def __call__(self, view: View) -> Any:
        observation = inner_observation(view.observation) if self._inside else view.observation
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


def _both(first: Callable[[], Any], second: Callable[[], Any]) -> Callable[[], None]:
    def reset() -> None:
        first()
        second()

    return reset


def _takes_inner_observation(policy: Any, method: str | None) -> bool:
    """True if a model was trained on the observation inside the dictionary: its space is plain."""
    space = getattr(policy, "observation_space", None)
    if space is None or method is None:
        return False
    return not hasattr(space, "spaces")


def _called(function: Callable[..., Any], inside: bool, unwraps: bool) -> Callable[[View], Any]:
    """Return how a function is called: its parameters are filled by name, else by place."""
    fixed = {name: value for name, value in _FIXED.items() if name in _parameters(function)}
    placed, named = _filled(function)

    def act(view: View) -> Any:
        values = view._replace(observation=inner_observation(view.observation)) if inside else view
        given = [getattr(values, meaning) for meaning in placed]
        options = {name: getattr(values, meaning) for name, meaning in named.items()}
        answer = function(*given, **options, **fixed)
        return answer[0] if unwraps and isinstance(answer, tuple) else answer

    return act


def _filled(function: Callable[..., Any]) -> tuple[list[str], dict[str, str]]:
    """Match a function's parameters with the fields of ``View``: by position, and by keyword.

    A first parameter of an unknown name gets the observation, a second one the mask.
    """
    placed: list[str] = []
    named: dict[str, str] = {}
    parameters = _parameters(function).values()
    meant = {NAMES.get(parameter.name) for parameter in parameters}
    unknown = iter([meaning for meaning in ("observation", "mask") if meaning not in meant])
    by_place = True
    for parameter in parameters:
        meaning = NAMES.get(parameter.name)
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
                    f"{parameter.name!r} is none of {', '.join(NAMES)}."
                )
            placed.append(place)
        elif meaning is not None:
            named[parameter.name] = meaning
    if not placed and "observation" not in named.values():
        placed = ["observation"]
    return placed, named


def _of_tensors(module: Any, function: Any) -> Callable[[View], Any]:
    """Ask a module of PyTorch: a batch of one in; actions, or values of all actions, out."""
    torch = sys.modules["torch"]
    method = module.forward if function is module else function
    masks = [name for name in _parameters(method) if NAMES.get(name) == "mask"]

    def act(view: View) -> Any:
        first = next(iter(module.parameters()), None)
        device = None if first is None else first.device

        def batch(thing: Any, kind: Any) -> Any:
            return torch.as_tensor(np.asarray(thing)[None], dtype=kind, device=device)

        options = {}
        if masks and view.mask is not None:
            options[masks[0]] = batch(view.mask, torch.bool)
        with torch.no_grad():
            answer = function(batch(inner_observation(view.observation), torch.float32), **options)
        if not _is_discrete(view):
            return answer
        return best_action(answer[0] if isinstance(answer, tuple) else answer, view.mask)

    return act


def _is_discrete(view: View) -> bool:
    """True if the actions are numbered, as far as the environment tells."""
    space = getattr(view.env, "action_space", None)
    space = space(view.agent) if callable(space) else space
    return not getattr(space, "shape", ())


def _tianshou(policy: Any, inside: bool) -> Callable[[View], Any]:
    """Ask a policy of Tianshou, which takes and returns a Batch."""

    def act(view: View) -> Any:
        from tianshou.data import Batch  # type: ignore[import-not-found]  # noqa: PLC0415  (optional: Tianshou)

        seen = inner_observation(view.observation)
        if view.mask is not None and not inside:
            seen = Batch(obs=np.asarray(seen)[None], mask=np.asarray(view.mask, bool)[None])
        else:
            seen = np.asarray(seen)[None]
        return best_action(policy(Batch(obs=seen, info=Batch())).act, view.mask)

    return act


def best_action(answer: Any, mask: Any) -> Any:
    """Return the action of an answer: real numbers for all actions are values, the best counts."""
    detach = getattr(answer, "detach", None)
    numbers = np.asarray(detach().cpu() if callable(detach) else answer)
    if numbers.size == 1 or not np.issubdtype(numbers.dtype, np.floating):
        return numbers.reshape(-1)[0] if numbers.size == 1 else numbers
    values = numbers.reshape(-1).astype(float)
    if mask is not None and len(np.ravel(mask)) == len(values):
        values = np.where(np.ravel(np.asarray(mask)) != 0, values, -np.inf)
    return int(np.argmax(values))


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def _resetter(policy: Any) -> Callable[[], Any]:
    """The function that tells a policy of a new episode: ``reset()``, if it needs no arguments."""
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
