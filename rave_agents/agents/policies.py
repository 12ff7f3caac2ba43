"""Understands policies of all kinds: how each is asked for an action.

A policy may be a function, or an object with one of these methods, in this order:

- ``choose_at(view)``: this package's agents for environments;
- ``step(state)``: a ``pyspiel.Bot``, and agents of this package;
- ``action_probabilities(state)``: OpenSpiel's policies;
- ``predict(observation, ...)``: Stable-Baselines3, sb3-contrib; a recurrent model's state is kept;
- ``compute_single_action(observation, ...)``: RLlib;
- ``compute_actions(observations, ...)``: RLlib; observations are a batch of one;
- ``compute_action(observation, ...)``: Tianshou;
- ``forward_inference(batch)``: RLlib's modules, with a batch of one;
- ``get_action(observation, ...)``: AgileRL; with tensors also CleanRL's;
- ``get_action_and_value(observation, ...)``: CleanRL;
- ``act(observation, ...)``: most others.

Parameters are filled by their names, ``policy(observation, agent)`` for example: see
``libraries.NAMES``. ``state`` is the framework's own state, ``pyspiel.State`` for OpenSpiel.
PyTorch's modules get tensors with a batch of one. ``answers`` says what a policy may answer.
"""

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rave_agents.agents.answers import Draws, best_action, drawn_action
from rave_agents.agents.views import AnyView, StateView, observation_like
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.agent import Effort
from rave_agents.frameworks.libraries import METHODS, NAMES, STATE_METHODS, is_torch_module

Act = Callable[[AnyView], Any]
"""Answers a view."""


class Policy(NamedTuple):
    """A policy, ready for an episode."""

    act: Act
    """Chooses an action."""
    reset: Callable[[], Any]
    """Called before each episode."""
    reseed: Callable[[int], Any] = id
    """Seeds its draws anew; by default there are none."""


_FIXED: Mapping[str, Any] = {"deterministic": True, "explore": False, "training": False}
"""Parameters that ask for the policy's best action, with the value that does."""


def policy_name(policy: Any) -> str:
    """Return a policy's display name."""
    if isinstance(policy, str):
        return policy
    named = getattr(policy, "__name__", None) if inspect.isroutine(policy) else None
    return named or type(policy).__name__


def understood(policy: Any, *, seed: int | None = None, unnamed: str = "observation") -> Policy:
    """Make a policy from an object or a function of another library.

    Args:
        policy: the object or the function.
        seed: seeds the draws from a policy's probabilities.
        unnamed: what a function's first parameter of an unknown name gets: ``"observation"`` or
            ``"state"``.

    Raises:
        TypeError: if it has none of the forms that this module names.
    """
    if isinstance(policy, type):
        raise TypeError(f"A policy must be an object, got the class {policy.__name__} itself.")
    asked = _asked(policy, unnamed)
    draws = Draws(seed)

    def act(view: AnyView) -> Any:
        answer = asked.act(view)
        if isinstance(answer, int | np.integer):
            return answer
        return drawn_action(answer, _known_mask(view), draws)

    return Policy(act, asked.reset, draws.reseed)


def _known_mask(view: AnyView) -> Any:
    """The mask, or one of all actions where they are numbered; else None."""
    if view.mask is not None or isinstance(view, StateView):
        return view.mask
    count = getattr(_space(view), "n", None)
    return None if not isinstance(count, int | np.integer) else np.ones(int(count), np.int8)


def asked_method(policy: Any) -> str | None:
    """The name of the method by which an object, or those of a class, is asked for an action."""
    if steps(policy):
        return "step"
    names = (*STATE_METHODS, *METHODS)
    return next((name for name in names if callable(getattr(policy, name, None))), None)


def steps(policy: Any) -> bool:
    """True if a policy has ``step(state)``; other libraries have other methods of this name."""
    step = getattr(policy, "step", None)
    if not callable(step) or _is_missing(policy) or is_torch_module(policy):
        return False
    try:
        parameters = list(inspect.signature(step).parameters.values())
    except (TypeError, ValueError):
        return True
    if isinstance(policy, type):
        parameters = parameters[1:]
    return bool(parameters) and parameters[0].name not in ("action", "actions", "time_step")


def _is_missing(policy: Any) -> bool:
    """True for a ``pyspiel.Bot`` of the user's own that does not define ``step``."""
    kind = policy if isinstance(policy, type) else type(policy)
    owner = next((each for each in kind.__mro__ if "step" in vars(each)), kind)
    return (
        owner is not kind
        and (owner.__module__, owner.__name__) == ("pyspiel", "Bot")
        and (kind.__module__ != "pyspiel")
    )


def _asked(policy: Any, unnamed: str) -> Policy:
    if callable(getattr(policy, "choose_at", None)):
        return Policy(policy.choose_at, _resetter(policy))
    method = asked_method(policy)
    if method is None and not callable(policy):
        raise TypeError(lacks_method(policy))
    if method == "step":
        return Policy(_stepping(policy), _resetter(policy, "restart"))
    inside = _takes_inner_observation(policy, method)
    if method in ("predict", "compute_single_action", "compute_actions", "compute_action"):
        fit = _fitted(policy, inside)
        asked = _Recurrent(getattr(policy, method), fit, batches=method == "compute_actions")
        return Policy(asked, _both(asked.reset, _resetter(policy)))
    return Policy(_act_of(policy, method, inside, unnamed), _resetter(policy))


def _act_of(policy: Any, method: str | None, inside: bool, unnamed: str) -> Act:
    """Return how a policy that keeps nothing here is asked."""
    function = policy if method is None else getattr(policy, method)
    if method in STATE_METHODS:
        return lambda view: function(view.state)
    if method == "forward_inference":
        return _inferring(policy)
    if is_torch_module(policy):
        return _of_tensors(policy, function)
    if method is None and type(policy).__module__.partition(".")[0] == "tianshou":
        return _tianshou(policy, inside)
    more = method in ("get_action", "get_action_and_value")  # They tell more than the action.
    takes_state = next(iter(_parameters(function)), "") == "state"  # Of RL, an observation.
    first = unnamed if method is None or takes_state else "observation"
    return _called(function, _filled(function, first, method), _fitted(policy, inside), more)


def lacks_method(policy: Any) -> str:
    """The message for an object, or a class of objects, that cannot be asked for an action."""
    kind = policy if isinstance(policy, type) else type(policy)
    if _is_missing(policy):
        return f"{kind.__name__} is a pyspiel.Bot that lacks the method step(state)."
    if callable(getattr(policy, "step", None)):
        signature = _signature(policy.step)
        advice = "a function policy(state) that calls it"
        if "time_step" in signature:
            advice = "the policy that open_spiel.python.rl_agent_policy.RLAgentPolicy makes of it"
        return (
            f"{kind.__name__}.step{signature} takes no state, and {kind.__name__} has no other "
            f"method that chooses an action: give {advice}."
        )
    return (
        f"{kind.__name__} cannot be asked for an action: it lacks step(state), "
        f"action_probabilities(state), {', '.join(f'{each}()' for each in METHODS)} and "
        "__call__. A method of another name can be given itself, as agent.method."
    )


def _signature(function: Callable[..., Any]) -> str:
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError):
        return "(...)"


def _stepping(policy: Any) -> Act:
    """Ask an agent at a state; those of this package take a GameState."""
    ours = isinstance(getattr(policy, "effort", None), Effort)
    is_native = type(policy).__module__ == "pyspiel"

    def act(view: AnyView) -> Any:
        state = view.position if ours else view.state
        if is_native and not any(each.__module__ == "pyspiel" for each in type(state).__mro__):
            raise UnsupportedGameError(
                f"{type(policy).__name__} is a bot of OpenSpiel's, and the game is none: it has no "
                "pyspiel.State."
            )
        return policy.step(state)

    return act


def _inferring(module: Any) -> Act:
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


def inner_observation(observation: Any) -> Any:
    """Return the observation inside a dictionary that has the mask beside it."""
    if isinstance(observation, Mapping) and "observation" in observation:
        return observation["observation"]
    return observation


class _Recurrent:
    """Asks a method that takes and returns a state, such as an LSTM's; keeps it in an episode."""

    def __init__(self, method: Callable[..., Any], fit: Act, *, batches: bool) -> None:
        self._method = method
        self._fit = fit
        self._batches = batches
        parameters = _parameters(method)
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


def _fitted(policy: Any, inside: bool) -> Act:
    """Return the function that gives a policy its observation, in the form of its space."""
    space = getattr(policy, "observation_space", None)
    spaces, shape = getattr(space, "spaces", None), getattr(space, "shape", None)

    def fit(view: AnyView) -> Any:
        seen = inner_observation(view.observation) if inside else view.observation
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


def _called(
    function: Callable[..., Any],
    filled: tuple[list[str], dict[str, str]],
    fit: Act,
    unwraps: bool,
) -> Act:
    """Return how a function is called: its parameters are filled by name, else by place."""
    fixed = {name: value for name, value in _FIXED.items() if name in _parameters(function)}
    placed, named = filled

    def value(view: AnyView, meaning: str) -> Any:
        return fit(view) if meaning == "observation" else getattr(view, meaning)

    def act(view: AnyView) -> Any:
        given = [value(view, meaning) for meaning in placed]
        options = {name: value(view, meaning) for name, meaning in named.items()}
        answer = function(*given, **options, **fixed)
        return answer[0] if unwraps and isinstance(answer, tuple) else answer

    return act


def _filled(
    function: Callable[..., Any], unnamed: str, method: str | None
) -> tuple[list[str], dict[str, str]]:
    """Match a function's parameters with the fields of a view: by position, and by keyword.

    A first parameter of an unknown name gets what is ``unnamed``, a second one the mask. A method
    of a library's may have a ``state`` of its own, such as an LSTM's.
    """
    names = NAMES if method is None else {n: m for n, m in NAMES.items() if n != "state"}
    placed: list[str] = []
    named: dict[str, str] = {}
    parameters = _parameters(function).values()
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


def _of_tensors(module: Any, function: Any) -> Act:
    """Ask a module of PyTorch: a batch of one in; actions, or values of all actions, out."""
    torch = sys.modules["torch"]
    method = module.forward if function is module else function
    masks = [name for name in _parameters(method) if NAMES.get(name) == "mask"]

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
            seen = batch(inner_observation(view.observation), torch.float32)
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
    return isinstance(view, StateView) or not getattr(_space(view), "shape", ())


def _space(view: AnyView) -> Any:
    """The action space of the agent that is to move."""
    space = getattr(view.env, "action_space", None)
    return space(view.agent) if callable(space) else space


def _tianshou(policy: Any, inside: bool) -> Act:
    """Ask a policy of Tianshou, which takes and returns a Batch."""

    def act(view: AnyView) -> Any:
        from tianshou.data import Batch  # type: ignore[import-not-found]  # noqa: PLC0415  (optional: Tianshou)

        seen = inner_observation(view.observation)
        if view.mask is not None and not inside:
            seen = Batch(obs=np.asarray(seen)[None], mask=np.asarray(view.mask, bool)[None])
        else:
            seen = np.asarray(seen)[None]
        return best_action(policy(Batch(obs=seen, info=Batch())).act, view.mask)

    return act


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def _resetter(policy: Any, name: str = "reset") -> Callable[[], Any]:
    """The function that tells a policy of a new episode: ``reset()``, if it needs no arguments."""
    reset = getattr(policy, name, None)
    if not callable(reset):
        return lambda: None
    needed = [
        parameter
        for parameter in _parameters(reset).values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    return (lambda: None) if needed else reset
