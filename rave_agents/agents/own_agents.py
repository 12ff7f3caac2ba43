"""Agents of the user's own: classes, functions and objects, made and asked as they want to be.

An agent of one's own is

- a class of agents, or a function that makes one, called with those of its parameters that have
  known names: ``game`` (OpenSpiel's ``pyspiel.Game``, else the game or the environment), ``player``
  or ``player_id``, ``seed``, ``rng``; what else it needs is given with it, as
  ``module:Name(depth=2)``;
- an object that ``policies`` understands, such as a ``pyspiel.Bot`` or a model. Each game gets a
  copy of its own, where it can be copied and is no model; one that has a method ``seed`` is told
  the game's, and one that has a ``player_id`` gets its seat;
- a function that chooses an action, see ``policies``.
"""

import copy
import functools
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from rave_agents.agents.answers import discrete_action
from rave_agents.agents.calls import policy_name
from rave_agents.agents.policies import (
    Policy,
    asked_method,
    informing,
    lacks_method,
    steps,
    understood,
)
from rave_agents.agents.views import Observe, StateView, framework_game, framework_state
from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.config.specs import format_call
from rave_agents.errors import UnknownNameError
from rave_agents.frameworks.adapters import (
    AdapterAbilities,
    Game,
    GameAbilities,
    adapters,
    as_game_state,
)
from rave_agents.frameworks.agent import AgentAbilities, Effort
from rave_agents.frameworks.libraries import NAMES, is_torch_module
from rave_agents.frameworks.sources import Source
from rave_agents.game.arguments import check_names, is_integer
from rave_agents.game.game_state import GameState
from rave_agents.game.object_names import name_of
from rave_agents.game.signatures import is_needed, parameters_of

_SEATS = ("player", "player_id", "seat")
_RANDOM = ("rng", "random_state")
_OF_MODELS = ("learn", "train", "save", "state_dict", "get_weights")
"""Methods of models, which are too large to be copied for each game."""

MADE_WITH = ("game", *_SEATS, "seed", *_RANDOM)
"""Names of parameters of what makes an agent, which are filled."""


class Seat(NamedTuple):
    """The place that an agent is made for."""

    game: Any
    """The game in its framework's own form, or the environment."""
    player: Any
    """The player's number, or an environment's name of the agent."""
    seed: int
    """A seed for whatever it draws."""
    in_environment: bool = False
    """True if what it plays in is an environment: there policies take observations."""


class OwnAgent:
    """An agent of the user's own, under the name that it has in tables.

    Args:
        name: the name.
        source: its origin.
        makes: whether the origin makes agents, in place of being one; None to tell by its form.

    Raises:
        UnknownNameError: for a parameter that it does not take.
        TypeError: if it cannot be asked for an action.
    """

    def __init__(self, name: str, source: Source, makes: bool | None = None) -> None:
        self.name = name
        self.source = source
        """Its origin."""
        self.makes: bool = _makes(source) is not False if makes is None else makes
        """True for a class or a function that makes agents."""
        self._is_unclear = self.makes and _makes(source) is None
        _check(source, makes=self.makes)

    @property
    def value(self) -> Any:
        """The class, the function or the object."""
        return self.source.value

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters that it is given."""
        return self.source.parameters

    @property
    def kind(self) -> str:
        """``"factory"``, ``"policy"`` or ``"object"``."""
        if self.makes:
            return "factory"
        return "policy" if inspect.isroutine(self.value) else "object"

    @property
    def is_shared(self) -> bool:
        """True if games in an environment share the user's object, so that it is made once."""
        names = set(parameters_of(self.value) or ())
        bound = names.intersection(("game", "seed", *_RANDOM))
        return not (self.makes or bound or steps(self.value))

    def takes(self, name: str) -> bool:
        """True if it has a parameter of this name that a spec may set."""
        return callable(self.value) and name in (_settable(self.value) or ())

    def with_parameters(self, changes: Mapping[str, Any]) -> Self:
        """Return the same agent with other values of some parameters.

        Raises:
            UnknownNameError: for a parameter that it does not take.
        """
        parameters = {**self.source.parameters, **changes}
        name = format_call(self.name.partition("(")[0], parameters)
        return type(self)(name, self.source._replace(parameters=parameters), self.makes)

    def made(self, seat: Seat, *, copies: bool = True) -> Any:
        """Make the user's own object or function for a seat.

        A function of two parameters whose names do not tell is taken for ``make(game, player)`` at
        a game, and for ``policy(observation, mask)`` in an environment.

        Args:
            seat: the place.
            copies: whether an object that is given is copied, even if it has no ``step``.

        Raises:
            TypeError: if what is made cannot be asked for an action.
        """
        if self.makes and not (self._is_unclear and seat.in_environment):
            made = _filled_call(self.value, self.source.parameters, seat)
            if not isinstance(made, type) and (asked_method(made) or callable(made)):
                return made
            raise TypeError(f"{self} must make an agent; it made {made!r}: {lacks_method(made)}")
        if inspect.isroutine(self.value) or isinstance(self.value, functools.partial):
            return _bound(self.value, self.source.parameters, seat)
        return fresh(self.value, seat) if copies or steps(self.value) else self.value

    def make(
        self, game: Game, player: int, seed: int | None = None, observe: Observe | None = None
    ) -> "Player":
        """Make the agent for a game's seat.

        Args:
            game: the game.
            player: the seat, from 0.
            seed: for whatever it draws; None for a seed that the system draws.
            observe: the observation of a state by a seat where an environment shows the game; only
                what has ``step`` is then copied. None for the game itself.

        Raises:
            TypeError: if what a class or a function makes is no agent.
            Exception: whatever they raise.
        """
        drawn = int(np.random.SeedSequence(seed).generate_state(1)[0]) if seed is None else seed
        theirs = framework_game(game)
        in_environment = observe is not None or GameAbilities(game).env is not None
        seat = Seat(theirs, player, drawn, in_environment)
        made = self.made(seat, copies=observe is None)
        return Player(made, seat, observe)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"OwnAgent({self.name!r})"

    def __reduce__(self) -> Any:
        maker = None if self.makes or self.source.place else _remaker(self.value)
        if maker is not None:
            return _remade, (self.name, maker)
        return type(self), (self.name, self.source, self.makes)


def own_agent(value: Any, name: str | None = None) -> OwnAgent:
    """Make an agent of a class, a function or an object.

    Raises:
        TypeError: if it cannot be asked for an action; the message says what it lacks.
    """
    source = value if isinstance(value, Source) else Source(value)
    kind = source.value
    named = name or (kind.__name__ if isinstance(kind, type) else policy_name(kind))
    agent = OwnAgent(named, source)
    _remaker(kind)
    return agent


def _remaker(value: Any) -> Callable[[], Any] | None:
    """Find the maker of an object that Python cannot copy, by the adapter of its framework.

    Raises:
        TypeError: if the framework's agent cannot play.
    """
    for adapter in adapters().values():
        remade = AdapterAbilities(adapter).remade_agent(value)
        if remade is not None:
            return remade
    return None


def _remade(name: str, maker: Callable[[], Any]) -> OwnAgent:
    return OwnAgent(name, Source(maker()))


def _makes(source: Source) -> bool | None:
    """True for a class, and a function that takes no position; None for one that may take any."""
    value = source.value
    if isinstance(value, type):
        return True
    parameters = parameters_of(value)
    is_function = inspect.isroutine(value) or isinstance(value, functools.partial)
    if not is_function or parameters is None:
        return False
    open_ones = [each for name, each in parameters.items() if name not in source.parameters]
    if any(each.name in NAMES and each.name not in MADE_WITH for each in open_ones):
        return False
    needed = [each.name for each in open_ones if is_needed(each)]
    if not needed:
        return not any(each.kind is each.VAR_POSITIONAL for each in open_ones)
    if "game" in needed or all(name in MADE_WITH for name in needed):
        return True
    return None if len(needed) >= 2 else False


def _check(source: Source, *, makes: bool) -> None:
    """Refuse at once what cannot be an agent, and parameters that it does not take."""
    value = source.value
    is_called = _calls(value) if isinstance(value, type) else callable(value)
    if not is_called and asked_method(value) is None:
        raise TypeError(lacks_method(value))
    name = name_of(value)
    if not makes and not inspect.isroutine(value) and source.parameters:
        raise UnknownNameError(
            f"{source.place or name} is an object, made already: only a class or a function takes "
            "parameters."
        )
    settable = _settable(value) if source.parameters else None
    if settable is not None:
        check_names(f"parameter of {name}", source.parameters, settable, UnknownNameError)
    if makes:
        _check_needed(value, name, source.parameters)


def _calls(kind: type) -> bool:
    """True if the objects of a class can be called."""
    return any("__call__" in vars(each) for each in kind.__mro__)


def _settable(function: Callable[..., Any]) -> list[str] | None:
    """The names of the parameters that a user may set; None if it takes any."""
    parameters = parameters_of(function)
    if parameters is None or any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return None
    return list(parameters)


def _check_needed(maker: Callable[..., Any], name: str, given: Mapping[str, Any]) -> None:
    needed = [name for name, each in (parameters_of(maker) or {}).items() if is_needed(each)]
    unknown = [each for each in needed if each not in given and each not in MADE_WITH]
    is_by_place = not isinstance(maker, type) and len(unknown) <= 2
    if unknown and not is_by_place:
        raise TypeError(
            f"{name} needs {', '.join(unknown)}, which is not given: write "
            f"{name}({unknown[0]}=...), or give a function make(game, player) that makes it."
        )


def _filled_call(maker: Callable[..., Any], given: Mapping[str, Any], seat: Seat) -> Any:
    """Call what makes an agent with the parameters that it takes, by name, else by place."""
    parameters = parameters_of(maker)
    if parameters is None:
        return maker(**given)
    names = set(parameters)
    left = [] if "game" in names else [seat.game]
    left += [] if names.intersection(_SEATS) else [seat.player]
    options, placed = dict(given), []
    named = _fills(maker, seat)
    for each in parameters.values():
        if each.name in given:
            continue
        if each.name in named:
            options[each.name] = named[each.name]()
        elif is_needed(each) and left and each.kind is each.POSITIONAL_ONLY:
            placed.append(left.pop(0))
        elif is_needed(each) and left:
            options[each.name] = left.pop(0)
        elif each.kind is each.VAR_KEYWORD:
            options.setdefault("seed", seat.seed)
    return maker(*placed, **options)


def _fills(maker: Any, seat: Seat) -> Mapping[str, Callable[[], Any]]:
    """Give the value of each parameter of a known name."""
    is_bot = any(each.__module__ == "pyspiel" for each in getattr(maker, "__mro__", ()))
    makes_random = np.random.RandomState if is_bot else np.random.default_rng
    return {
        "game": lambda: seat.game,
        **dict.fromkeys(_SEATS, lambda: seat.player),
        "seed": lambda: seat.seed,
        "rng": lambda: makes_random(seat.seed),
        "random_state": lambda: np.random.RandomState(seat.seed),
    }


def _bound(function: Callable[..., Any], given: Mapping[str, Any], seat: Seat) -> Any:
    """A function of positions with its other parameters filled: those given, game, seed, rng."""
    names = set(parameters_of(function) or ())
    fills = _fills(function, seat)
    options = {name: fills[name]() for name in ("game", "seed", *_RANDOM) if name in names}
    options.update(given)
    return functools.partial(function, **options) if options else function


def fresh(value: Any, seat: Seat) -> Any:
    """Return an object for one game: a copy where it can be copied, told of its seed and seat."""
    if is_torch_module(value) or any(callable(getattr(value, name, None)) for name in _OF_MODELS):
        return value  # What a model keeps in an episode is kept outside of it.
    try:
        own = (_remaker(value) or functools.partial(copy.deepcopy, value))()
    except Exception as error:
        if is_raised_by_handler(error):
            raise
        return value  # It is restarted.
    if callable(getattr(own, "seed", None)):
        own.seed(seat.seed)
    if isinstance(getattr(own, "player_id", None), int):
        own.player_id = seat.player
    return own


def _advice(made: Any) -> str:
    """The remedy for a model that is not told which actions are legal; empty for what is."""
    parameters = parameters_of(getattr(made, "predict", None))
    if parameters is None or any(NAMES.get(name) == "mask" for name in parameters):
        return ""
    kind = type(made).__name__
    return (
        f" {kind}.predict takes no mask of the legal actions; that of sb3_contrib.MaskablePPO does."
    )


class Player:
    """An agent of the user's own with all methods of ``Agent``, and with its time taken.

    What else it has, such as ``last_result`` or ``clock``, is there as well.
    """

    def __init__(self, made: Any, seat: Seat, observe: Observe | None) -> None:
        self._made = made
        self._seat: int = seat.player
        self._observe = observe
        unnamed = "observation" if seat.in_environment else "state"
        self._policy: Policy = understood(made, seed=seat.seed, unnamed=unnamed)
        self._is_ours = isinstance(AgentAbilities(made).effort, Effort)
        self._inform = informing(made)
        self.reseed: Callable[[int], Any] = self._policy.reseed
        """Seeds the draws from probabilities anew, for another game."""
        self.effort: Effort = Effort()
        """Moves and time spent; simulations by its own account, where it has one."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._made, name)

    @property
    def clock(self) -> Any:
        """The clock of what has one, such as this package's bots."""
        return self._made.clock

    @clock.setter
    def clock(self, clock: Any) -> None:
        self._made.clock = clock

    @property
    def advice(self) -> str:
        """A sentence for the message about an action that is not legal."""
        return _advice(self._made)

    def restart(self) -> None:
        """A new game begins."""
        self._policy.reset()

    def step(self, state: GameState) -> Any:
        """Return the action that it plays."""
        state = as_game_state(state)
        started = time.perf_counter()
        view = StateView(state, self._seat, self._observe)
        answer = discrete_action(self._policy.act(view))
        timed = self.effort.plus(0, time.perf_counter() - started)
        self.effort = self._made.effort if self._is_ours else timed
        return answer - view.start if is_integer(answer) else answer

    def inform_action(self, state: GameState, player: int, action: int) -> None:
        """Tell it of an action, if it wants to know."""
        if self._inform is not None:
            self._inform(self._its(state), player, action)

    def inform_actions(self, state: GameState, actions: Sequence[int]) -> None:
        """Tell it of a joint action, if it wants to know."""
        inform = AgentAbilities(self._made).inform_actions
        if inform is not None:
            inform(self._its(state), list(actions))

    def _its(self, state: GameState) -> Any:
        return state if self._is_ours else framework_state(state)
