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
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rave_agents.agents.answers import Draws, drawn_action
from rave_agents.agents.calls import (
    Act,
    Recurrent,
    action_space,
    asked_with_batches,
    asked_with_tensors,
    called,
    filled_parameters,
    fitted,
    inferring,
    takes_inner_observation,
)
from rave_agents.agents.views import AnyView, StateView
from rave_agents.environments.spaces import SpaceAbilities
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.agent import Effort
from rave_agents.frameworks.libraries import METHODS, STATE_METHODS, is_torch_module
from rave_agents.game.signatures import parameters_of


class Policy(NamedTuple):
    """A policy, ready for an episode."""

    act: Act
    """Chooses an action."""
    reset: Callable[[], Any]
    """Called before each episode."""
    reseed: Callable[[int], Any] = id
    """Seeds its draws anew; by default there are none."""


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
    count = SpaceAbilities(action_space(view)).n or None
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
    parameters = parameters_of(step)
    if parameters is None:
        return True
    names = list(parameters)[1 if isinstance(policy, type) else 0 :]
    return bool(names) and names[0] not in ("action", "actions", "time_step")


def _is_missing(policy: Any) -> bool:
    """True for a ``pyspiel.Bot`` of the user's own that does not define ``step``."""
    kind = policy if isinstance(policy, type) else type(policy)
    return kind.__module__ != "pyspiel" and _is_of_bot(kind, "step")


def _is_of_bot(kind: type, method: str) -> bool:
    """True for a method that a class has from ``pyspiel.Bot`` itself."""
    owner = next((each for each in kind.__mro__ if method in vars(each)), kind)
    return (owner.__module__, owner.__name__) == ("pyspiel", "Bot")


def informing(policy: Any) -> Callable[[Any, int, int], Any] | None:
    """The method that tells a policy of an action; None if it does not want to know.

    That of ``pyspiel.Bot`` itself does nothing, and takes no state but OpenSpiel's.
    """
    inform: Callable[[Any, int, int], Any] | None = getattr(policy, "inform_action", None)
    if inform is None or _is_of_bot(type(policy), "inform_action"):
        return None
    if type(policy).__module__ != "pyspiel":
        return inform

    def informed(state: Any, player: int, action: int) -> None:
        _check_openspiel(policy, state)
        inform(state, player, action)

    return informed


def _check_openspiel(policy: Any, state: Any) -> None:
    """Refuse to show a bot of C++ what is no state of OpenSpiel's."""
    if not any(each.__module__ == "pyspiel" for each in type(state).__mro__):
        raise UnsupportedGameError(
            f"{type(policy).__name__} is a bot of OpenSpiel's, and the game is none: it has no "
            "pyspiel.State."
        )


def _asked(policy: Any, unnamed: str) -> Policy:
    if callable(getattr(policy, "choose_at", None)):
        return Policy(policy.choose_at, _resetter(policy))
    method = asked_method(policy)
    if method is None and not callable(policy):
        raise TypeError(lacks_method(policy))
    if method == "step":
        return Policy(_stepping(policy), _resetter(policy, "restart"))
    inside = takes_inner_observation(policy, method)
    if method in ("predict", "compute_single_action", "compute_actions", "compute_action"):
        fit = fitted(policy, inside)
        asked = Recurrent(getattr(policy, method), fit, batches=method == "compute_actions")
        return Policy(asked, _both(asked.reset, _resetter(policy)))
    return Policy(_act_of(policy, method, inside, unnamed), _resetter(policy))


def _act_of(policy: Any, method: str | None, inside: bool, unnamed: str) -> Act:
    """Return how a policy that keeps nothing here is asked."""
    function = policy if method is None else getattr(policy, method)
    if method in STATE_METHODS:
        return lambda view: function(view.state)
    if method == "forward_inference":
        return inferring(policy)
    if is_torch_module(policy):
        return asked_with_tensors(policy, function)
    if method is None and type(policy).__module__.partition(".")[0] == "tianshou":
        return asked_with_batches(policy, inside)
    more = method in ("get_action", "get_action_and_value")  # They tell more than the action.
    takes_state = next(iter(parameters_of(function) or ()), "") == "state"  # Of RL, an observation.
    first = unnamed if method is None or takes_state else "observation"
    return called(
        function, filled_parameters(function, first, method), fitted(policy, inside), more
    )


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
        if is_native:
            _check_openspiel(policy, state)
        return policy.step(state)

    return act


def _both(first: Callable[[], Any], second: Callable[[], Any]) -> Callable[[], None]:
    def reset() -> None:
        first()
        second()

    return reset


def _resetter(policy: Any, name: str = "reset") -> Callable[[], Any]:
    """The function that tells a policy of a new episode: ``reset()``, if it needs no arguments."""
    reset = getattr(policy, name, None)
    if not callable(reset):
        return lambda: None
    needed = [
        parameter
        for parameter in (parameters_of(reset) or {}).values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    return (lambda: None) if needed else reset
