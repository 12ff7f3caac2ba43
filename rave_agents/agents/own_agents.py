"""User agents, recognised by their shape.

An agent is a spec such as ``"rave(simulations=200)"``; an object with ``step(state)``, or a class
of such objects; or a function ``policy(observation, action_mask)``. ``libraries`` has functions
that make agents of what other libraries have.
"""

import copy
import functools
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from rave_agents.agents.answers import checked_probabilities, discrete_action
from rave_agents.agents.views import AnyView, Observe, StateView, framework_state
from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.errors import UnknownNameError, UnsupportedGameError
from rave_agents.evaluators.models import is_torch_module
from rave_agents.frameworks.adapters import AdapterAbilities, adapters, as_game_state
from rave_agents.frameworks.agent import AgentAbilities, Effort
from rave_agents.game.arguments import check_names, is_integer
from rave_agents.game.game_state import GameState
from rave_agents.game.object_names import name_of
from rave_agents.game.signatures import is_needed, parameters_of

MADE_WITH = ("game", "player", "seed")
"""Parameters of a maker that are filled in for each game."""

SHAPES = (
    "an agent is a spec, such as 'rave(simulations=200)'; an object with step(state), or a class "
    "of such objects; or a function policy(observation, action_mask). from_sb3(model), "
    "from_torch(module), from_policy(policy), from_step(function) and from_maker(function) of "
    "rave_agents make agents of other objects. In a spec an object of your own is written "
    "module:name or path/to/file.py:name"
)
"""The shapes of agents, for messages."""


class Policy:
    """Chooses actions from a player's view."""

    function: Callable[..., Any] | None = None
    """The user's function, if any; a spec sets its further parameters."""
    advice: str = ""
    """A sentence for the message about an illegal action."""
    is_bound: bool = False
    """True for an agent that is bound to an environment and shows its last search."""

    def choose_at(self, view: AnyView) -> Any:
        """Return the action to play."""
        raise NotImplementedError

    def probabilities_at(self, view: AnyView) -> Any:
        """Return the probability of each action that it may play: 1 for the one it chooses."""
        return {discrete_action(self.choose_at(view)): 1.0}

    def reset(self) -> None:
        """Start a new game or episode."""

    def reseed(self, seed: int) -> None:
        """Seed the policy's random choices."""

    def fresh(self, seed: int, player: Any) -> Self:
        """Return a policy for one game; models and functions are shared."""
        own = copy.copy(self)
        own.reset()
        own.reseed(seed)
        return own

    def inform(self, state: GameState, player: int, action: int) -> None:
        """Note an action of any player."""

    def inform_all(self, state: GameState, actions: Sequence[int]) -> None:
        """Note a joint action."""

    @property
    def agent(self) -> Any:
        """The user's object, if there is one."""
        return self


class _Steps(Policy):
    """Asks an object with ``step(state)``, which gets the state of its framework."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        # This package's agents take a GameState; OpenSpiel's C++ bots take a pyspiel.State only.
        self._is_ours = isinstance(AgentAbilities(agent).effort, Effort)
        self._is_native = type(agent).__module__ == "pyspiel"

    @property
    def agent(self) -> Any:
        return self._agent

    def choose_at(self, view: AnyView) -> Any:
        return self._agent.step(self._native_state(view.position))

    def probabilities_at(self, view: AnyView) -> Any:
        asked = AgentAbilities(self._agent)
        if asked.action_probabilities is not None:
            return asked.action_probabilities(self._native_state(view.position))
        if asked.step_with_policy is not None and asked.provides_policy():
            return asked.step_with_policy(self._native_state(view.position))[0]
        return super().probabilities_at(view)

    def reset(self) -> None:
        AgentAbilities(self._agent).restart()

    def fresh(self, seed: int, player: Any) -> Self:
        """Return a policy with a copy of the object, or the object where it cannot be copied."""
        # Games must not influence each other through an object that both use.
        try:
            own = (remaker(self._agent) or functools.partial(copy.deepcopy, self._agent))()
        except Exception as error:
            if is_raised_by_handler(error):
                raise
            own = self._agent
        AgentAbilities(own).seed(seed)
        if isinstance(AgentAbilities(own).player_id, int):
            own.player_id = player
        return type(self)(own)

    def inform(self, state: Any, player: int, action: int) -> None:
        """Pass an action to the object's ``inform_action``, if it has one."""
        informed = AgentAbilities(self._agent).inform_action
        # The base method of pyspiel.Bot does nothing, and rejects other states.
        if informed is not None and not _is_of_bot(type(self._agent), "inform_action"):
            informed(self._native_state(state), player, action)

    def inform_all(self, state: Any, actions: Sequence[int]) -> None:
        """Pass a joint action to the object's ``inform_actions``, if it has one."""
        informed = AgentAbilities(self._agent).inform_actions
        if informed is not None:
            informed(self._native_state(state), list(actions))

    def _native_state(self, position: Any) -> Any:
        state = position if self._is_ours else framework_state(position)
        if self._is_native and not any(k.__module__ == "pyspiel" for k in type(state).__mro__):
            raise UnsupportedGameError(
                f"{type(self._agent).__name__} is a bot of OpenSpiel's, and the game is none: it "
                "has no pyspiel.State."
            )
        return state


class _Observes(Policy):
    """Asks a function ``policy(observation, action_mask)``, or one of the observation alone."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        known = parameters_of(function)
        needed = [each for each in (known or {}).values() if is_needed(each)]
        # Fixed here: parameters of a spec, bound later, change the signature.
        self._takes_mask = known is None or "action_mask" in known or len(needed) > 1

    def choose_at(self, view: AnyView) -> Any:
        assert self.function is not None
        if self._takes_mask:
            return self.function(view.observation, view.mask)
        return self.function(view.observation)


class Maker:
    """A class or a function that makes an agent for each game.

    Args:
        make: called with those of ``game``, ``player`` and ``seed`` that it names, and with the
            parameters of a spec.
    """

    def __init__(self, make: Callable[..., Any]) -> None:
        self.function = make

    def made(self, parameters: Mapping[str, Any], game: Any, player: Any, seed: int) -> Policy:
        """Make the agent for a seat.

        Raises:
            TypeError: if it makes no agent.
        """
        names = parameters_of(self.function) or {}
        filled = {"game": game, "player": player, "seed": seed}
        options = {name: value for name, value in filled.items() if name in names}
        made = self.function(**{**options, **parameters})
        try:
            if isinstance(made, type):
                raise TypeError(f"the class {made.__name__} itself.")
            policy = _recognised(made)
        except TypeError as error:
            raise TypeError(f"it must make an agent; it made {made!r}: {error}") from None
        assert isinstance(policy, Policy)
        policy.reset()
        policy.reseed(seed)
        return policy

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Refuse to call it without a parameter that it needs."""
        known = parameters_of(self.function) or {}
        needed = [name for name, each in known.items() if is_needed(each)]
        unknown = [name for name in needed if name not in (*parameters, *MADE_WITH)]
        if unknown:
            name = name_of(self.function)
            raise TypeError(
                f"{name} needs {', '.join(unknown)}, which is not given: write "
                f"{name}({unknown[0]}=...). Only {', '.join(MADE_WITH)} are filled for each game."
            )


def own_agent(value: Any) -> Policy | Maker:
    """Recognise a user's agent by its shape.

    Raises:
        TypeError: if it has none of the shapes; the message lists them.
    """
    remaker(value)  # An adapter may refuse an agent of its framework, with the reason.
    return _recognised(value)


def _recognised(value: Any) -> Policy | Maker:
    if isinstance(value, Policy | Maker):
        return value
    if isinstance(value, type) and (issubclass(value, Policy) or _has_step(value)):
        return Maker(value)
    if not isinstance(value, type):
        if _has_step(value):
            return _Steps(value)
        if callable(value) and _advice(value) is None:
            return _Observes(_checked_function(value))
    raise TypeError(f"{SHAPES[0].upper()}{SHAPES[1:]}; got {_describe(value)}")


def remaker(value: Any) -> Callable[[], Any] | None:
    """A function that makes an uncopyable object anew, from its framework's adapter.

    Raises:
        TypeError: if the framework's agent cannot play.
    """
    for adapter in adapters().values():
        remade: Callable[[], Any] | None = AdapterAbilities(adapter).remade_agent(value)
        if remade is not None:
            return remade
    return None


def with_parameters(own: Policy | Maker, parameters: Mapping[str, Any]) -> Policy | Maker:
    """Return the agent with the parameters of a spec.

    Raises:
        UnknownNameError: for a parameter that it does not take.
        TypeError: if it needs another one.
    """
    if own.function is None:
        if parameters:
            raise UnknownNameError(
                f"{type(own.agent).__name__} is an object, made already: only a class or a "
                "function takes parameters."
            )
        return own
    settable = settable_parameters(own)
    if settable is not None:
        name = name_of(own.function)
        check_names(f"parameter of {name}", parameters, settable, UnknownNameError)
    if isinstance(own, Maker) or not parameters:
        return own
    twin = copy.copy(own)
    twin.function = functools.partial(own.function, **parameters)
    return twin


def settable_parameters(own: Policy | Maker) -> tuple[str, ...] | None:
    """The names of the parameters that a spec may set; None if it takes any."""
    if own.function is None:
        return ()
    known = parameters_of(own.function)
    if known is None or any(each.kind is each.VAR_KEYWORD for each in known.values()):
        return None
    return tuple(known)


def _has_step(value: Any) -> bool:
    """True for an object or a class with ``step(state)``, rather than another ``step``."""
    step = AgentAbilities(value).step
    if step is None or is_torch_module(value):
        return False
    # A function found on a class still has ``self`` in front.
    names = list(parameters_of(step) or ("state",))[1 if inspect.isfunction(step) else 0 :]
    return bool(names) and names[0] not in ("action", "actions", "time_step")


def _is_of_bot(kind: type, method: str) -> bool:
    """True for a method that a class of the user's inherits from ``pyspiel.Bot``."""
    owner = next((each for each in kind.__mro__ if method in vars(each)), kind)
    return kind.__module__ != "pyspiel" and owner.__module__ == "pyspiel"


def _checked_function(function: Any) -> Any:
    known = parameters_of(function)
    if known is None:  # A function of C has no signature.
        return function
    needed = [name for name, each in known.items() if is_needed(each)]
    name = name_of(function)
    if needed[:1] == ["state"]:
        raise TypeError(f"{name} is a function of state: give from_step({name}).")
    if set(MADE_WITH) & set(needed):
        raise TypeError(f"{name} makes an agent for a game or a player: give from_maker({name}).")
    second = needed[1] if len(needed) > 1 else "action_mask"
    if not 1 <= len(needed) <= 2 or second in ("agent", "info", "env"):
        raise TypeError(
            f"{name}({', '.join(needed)}) must be a function policy(observation, action_mask). For "
            "the environment or the agent's name give from_maker(make), where make(game, player) "
            "returns such a function."
        )
    return function


def _describe(value: Any) -> str:
    if value is None or isinstance(value, bool | int | float | bytes | list | tuple | dict):
        return f"{value!r}."
    kind = value if isinstance(value, type) else type(value)
    advice = _advice(value)
    if advice is None and AgentAbilities(value).step is not None:
        advice = "its step takes no state; give an object with a step(state) that calls it"
    methods = ("act", "get_action", "compute_single_action", "compute_action", "forward")
    method = next((each for each in methods if hasattr(value, each)), None)
    if advice is None and method is not None:
        advice = f"give a function policy(observation, action_mask) that calls its {method}"
    what = "the class" if value is kind else "an object of"
    return f"{what} {kind.__name__}: {advice or 'it has no step(state)'}."


def _advice(value: Any) -> str | None:
    """The function that makes an agent of another library's object; None for any other object."""
    if is_torch_module(value):
        return "give from_torch(module)"
    if AgentAbilities(value).action_probabilities is not None:
        return "give from_policy(policy)"
    if AgentAbilities(value).predict is not None:
        return "give from_sb3(model)"
    if "time_step" in (parameters_of(AgentAbilities(value).step) or ()):
        return "give from_policy(open_spiel.python.rl_agent_policy.RLAgentPolicy(...))"
    return None


class Player:
    """A user's agent with all methods of ``Agent``; it measures the agent's time.

    Other attributes, such as ``last_result`` or ``clock``, are forwarded.

    Args:
        policy: the agent, made for this game.
        seat: its seat.
        observe: the observation of a state by a seat, where an environment shows the game; None for
            the game's own.
    """

    def __init__(self, policy: Policy, seat: int, observe: Observe | None) -> None:
        self._policy = policy
        self._seat = seat
        self._observe = observe
        self._is_ours = isinstance(AgentAbilities(policy.agent).effort, Effort)
        self.effort: Effort = Effort()
        """Moves and time spent; simulations by the agent's own account, if it has one."""
        self.advice: str = policy.advice
        """A sentence for the message about an illegal action."""

    def __getattr__(self, name: str) -> Any:
        # Private names are ours: before ``__init__`` a lookup of ``_policy`` would recurse.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._policy.agent, name)

    @property
    def clock(self) -> Any:
        """The clock of an agent that has one, such as this package's bots."""
        return self._policy.agent.clock

    @clock.setter
    def clock(self, clock: Any) -> None:
        self._policy.agent.clock = clock

    def restart(self) -> None:
        """Start a new game."""
        self._policy.reset()

    def step(self, state: GameState) -> Any:
        """Return the action that it plays."""
        answer, start = self._asked(state, self._policy.choose_at)
        answer = discrete_action(answer)
        return answer - start if is_integer(answer) else answer

    def action_probabilities(self, state: GameState) -> dict[Any, float]:
        """Return the probability of each action that it may play.

        Raises:
            ValueError: if the agent's answer has no probabilities.
        """
        answer, start = self._asked(state, self._policy.probabilities_at)
        found = checked_probabilities(answer)
        return {each - start if is_integer(each) else each: p for each, p in found.items()}

    def _asked(self, state: GameState, ask: Callable[[AnyView], Any]) -> tuple[Any, int]:
        """An answer of the policy, timed, and the number of its first action.

        Spaces may begin at another number than 0; a game's actions do not.
        """
        state = as_game_state(state)
        started = time.perf_counter()
        view = StateView(state, self._seat, self._observe)
        answer = ask(view)
        timed = self.effort.plus(0, time.perf_counter() - started)
        self.effort = self._policy.agent.effort if self._is_ours else timed
        return answer, view.start

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Pass an action to the agent."""
        self._policy.inform(state, player, action)

    def inform_actions(self, state: GameState, actions: Sequence[int]) -> None:
        """Pass a joint action to the agent."""
        self._policy.inform_all(state, actions)
