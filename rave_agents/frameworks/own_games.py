"""``as_game``: coerces user input to a Game; the user's own games in that form."""

import difflib
import functools
import inspect
import re
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from rave_agents.config.specs import format_call
from rave_agents.environments.spaces import EnvAbilities
from rave_agents.errors import RaveAgentsError, UnknownNameError
from rave_agents.frameworks.adapters import (
    AdapterAbilities,
    Game,
    GameAbilities,
    adapters,
    as_game_state,
    load_game,
    missing_adapters,
)
from rave_agents.frameworks.copies import is_of_package
from rave_agents.frameworks.sources import Source, find_source
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.arguments import check_names
from rave_agents.game.game_state import GameState, lacks_methods
from rave_agents.game.object_names import file_of, name_of, place_of, split_place
from rave_agents.game.signatures import is_needed, parameters_of
from rave_agents.games.kit.base_rules import BaseRules

TAKES = (
    "a game must be the name of an installed framework's, such as 'hex(board_size=9)'; one of your "
    "own by module:Name or path/to/file.py:Name, such as 'nim:Nim' or './nim.py:Nim(sticks=7)'; a "
    "class or an object with GameState's methods, Rules, a pyspiel.Game, an environment, or a "
    "function that makes one of these"
)
"""Everything that ``as_game`` takes, for messages."""


class OwnGame:
    """A user's game with the interface of ``Game``.

    Args:
        name: its name in tables and files.
        source: its origin.
    """

    def __init__(self, name: str, source: Source) -> None:
        self.name = name
        self.source = source
        """The origin of the game."""
        value = source.value
        made = value(**source.parameters) if is_maker(value) else value
        self.game, self._start = _inner_game(made)
        """The game of a framework that it is, or None."""
        start = self.new_initial_state()
        self.num_players: int = int(start.num_players())
        self.parameters: dict[str, Any] = _parameters(self.rules, source)
        """All known parameters with their values."""

    @property
    def rules(self) -> Any:
        """The compiled rules; None for another game."""
        return _rules_at(self._start)

    def new_initial_state(self) -> GameState:
        """Return the initial state."""
        if self.game is not None:
            return self.game.new_initial_state()
        assert self._start is not None
        return self._start.clone()

    def with_parameters(self, **changes: Any) -> Self:
        """Return the same game with other values of some parameters.

        Raises:
            TypeError, ValueError: if it has no such parameters, or not such values.
        """
        if not is_maker(self.source.value):
            raise TypeError(f"{self.name} is given as an object: its parameters are set.")
        parameters = {**self.source.parameters, **changes}
        _check_parameters(self.source.value, parameters)
        name = format_call(self.name.partition("(")[0], parameters)
        return type(self)(name, self.source._replace(parameters=parameters))

    def __getattr__(self, name: str) -> Any:
        """Other attributes of the framework's game, such as ``seeded_initial_state``."""
        # Not ``self.game``: before ``__init__``, as in unpickling, that would recurse for ever.
        game = self.__dict__.get("game")
        if game is None or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(game, name)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        return type(self), (self.name, self.source)


def as_game(game: Any) -> Game:
    """Coerce user input to a Game.

    Args:
        game: a game's name in an installed framework, such as ``"hex(board_size=9)"``; the name of
            an object in a module or a file, ``"nim:Nim"`` or ``"./my/nim.py:Nim"``, with parameters
            in parentheses where it is a class or a function; a class or an object with the methods
            of ``GameState``, or that has ``new_initial_state()``; a class or an object of
            ``rave_agents.games.Rules``; a ``pyspiel.Game`` or a class of one; an environment of
            PettingZoo or Gymnasium; or a function without parameters that makes any of these.

    Raises:
        UnknownNameError: for a name, a module, a file or a parameter that does not exist; the
            message offers the nearest.
        UnsupportedGameError: if the search cannot play the game.
        TypeError: for anything else; for a state that lacks methods the message names them.
    """
    if isinstance(game, str):
        return _named_game(game)
    if _is_game(game):
        return _check_game(game)
    # ``game.new_initial_state`` itself, given as a maker, means its game.
    owner: Any = getattr(game, "__self__", None)
    if (start := GameAbilities(owner).new_initial_state) is not None and game == start:
        return as_game(owner)
    return _own_game(Source(game), None)


def _is_game(value: Any) -> bool:
    """True for an object with the interface of ``Game``; rules are none, they need wrapping."""
    return (
        not isinstance(value, type)
        and isinstance(GameAbilities(value).name, str)
        and isinstance(GameAbilities(value).num_players, int)
        and GameAbilities(value).new_initial_state is not None
        and not _is_rules(value)
    )


def _check_game(game: Any) -> Game:
    """A game with the interface of ``Game``, refused if a user's states cannot be copied."""
    if not is_of_package(type(game)):
        as_game_state(game.new_initial_state())
    return game  # type: ignore[no-any-return]


def _is_rules(value: Any) -> bool:
    return issubclass(value if isinstance(value, type) else type(value), BaseRules)


def is_maker(value: Any) -> bool:
    """True for a class or a function that makes a game, rather than being one."""
    if isinstance(value, type | types.FunctionType | types.MethodType | types.BuiltinFunctionType):
        return True
    if isinstance(value, functools.partial):
        return True
    # Callable objects may be games or environments too: these forms come first.
    is_state = isinstance(value, GameState) or GameAbilities(value).new_initial_state
    return callable(value) and not is_state and EnvAbilities(value).reset is None


def _named_game(text: str) -> Game:
    place = split_place(text)
    if place is None or place[0] in {*adapters(), *missing_adapters()}:
        return load_game(text)
    # ``module:Env-v0`` looks like an object's place, but is an id: the module registers it.
    if _is_gymnasium_id(place[1]):
        return load_game(f"gymnasium:{text.strip()}")
    try:
        source = find_source(text, "game", "nim:Nim")
    except UnknownNameError as error:
        near = difflib.get_close_matches(place[0], adapters(), n=1, cutoff=0.6)
        hint = f" Did you mean the framework {near[0]!r}?" if near else ""
        raise UnknownNameError(f"{str(error).strip()}{hint}") from error
    if source.parameters and not is_maker(source.value):
        raise UnknownNameError(
            f"{text.strip()} is an object, made already: only a class or a function takes "
            "parameters."
        )
    if _is_game(source.value):
        return _check_game(source.value)
    return _own_game(source, text.strip())


def _is_gymnasium_id(name: str) -> bool:
    """True for the second half of ``module:Environment-v0``, as Gymnasium writes it."""
    return re.fullmatch(r"[\w/.-]*-v\d+\s*(\(.*)?", name, re.DOTALL) is not None


def _own_game(source: Source, name: str | None) -> Game:
    value = source.value
    if is_maker(value):
        _check_class(value)
        _check_parameters(value, source.parameters)
    elif not (EnvAbilities(value).reset or isinstance(value, types.ModuleType | GameState)):
        wrapped = _wrap_by_adapter(value)
        if wrapped is not None:
            return wrapped  # A framework's game can be sent to other processes by itself.
    return OwnGame(name or _name_of(source), source)


def _check_class(kind: Any) -> None:
    lacking = lacks_methods(kind) if isinstance(kind, type) else ""
    if lacking and not any(hasattr(kind, name) for name in ("new_initial_state", "reset")):
        raise TypeError(lacking)


def _check_parameters(maker: Any, parameters: Mapping[str, Any]) -> None:
    name = name_of(maker)
    if _is_rules(maker):
        check_names(
            f"parameter of {name}", parameters, maker.parameter_defaults(), UnknownNameError
        )
        return
    takes = parameters_of(maker)
    if takes is None:
        return
    if not any(each.kind is each.VAR_KEYWORD for each in takes.values()):
        check_names(f"parameter of {name}", parameters, takes, UnknownNameError)
    needed = [each for each in takes if is_needed(takes[each]) and each not in parameters]
    if needed:
        kind = "class" if isinstance(maker, type) else "function"
        raise TypeError(
            f"{name} needs {', '.join(needed)}: a {kind} that makes a game is called without what "
            f"is not given, such as {name}({needed[0]}=...)."
        )


def _wrap_by_adapter(value: Any) -> Game | None:
    for adapter in adapters().values():
        wrapped = AdapterAbilities(adapter).wrap_game(value)
        if wrapped is not None:
            return wrapped
    return None


def _inner_game(made: Any) -> tuple[Game | None, GameState | None]:
    """A framework's game, or else the initial state.

    Raises:
        TypeError: if it has none of the forms; the message names missing methods or the forms.
    """
    if _is_game(made):
        return made, None
    if isinstance(made, GameState):
        return None, as_game_state(made)
    wrapped = _wrap_by_adapter(made)
    if wrapped is not None:
        return wrapped, None
    start = GameAbilities(made).new_initial_state
    try:
        return None, as_game_state(made if start is None else start())
    except RaveAgentsError:
        raise
    except TypeError as error:
        if lacks_methods(made):
            raise
        given = "None" if made is None else f"{type(made).__name__} {made!r}"[:200]
        raise TypeError(f"{TAKES[0].upper()}{TAKES[1:]}: got {given}.") from error


def _rules_at(state: Any) -> Any:
    """The rules of a position on compiled rules; None for another game's."""
    # By its attribute: the class of these positions loads the compiler.
    rules = getattr(state, "rules", None)
    return rules if isinstance(rules, BaseRules) else None


def _name_of(source: Source) -> str:
    """A name for tables and files, stable between runs."""
    value = source.value
    rules = _rules_at(value) or value
    if _is_rules(rules):
        rules = rules() if isinstance(rules, type) else rules
        of_package = type(rules).__module__.startswith("rave_agents.")
        name = format_call(_place_of(type(rules)), rules.parameters)
        return f"{rules if of_package else name}{_with_moves(value)}"
    if is_maker(value):
        return format_call(_place_of(value), dict(source.parameters))
    if isinstance(value, types.ModuleType):
        return value.__name__.rpartition(".")[2]
    if EnvAbilities(value).reset is not None:
        return _name_of_environment(value)
    if (get_game := StateAbilities(value).get_game) is not None:
        return f"{get_game()}{_with_moves(value)}"
    return f"{format_call(_place_of(type(value)), _plain_attributes(value))}{_with_moves(value)}"


_PLAIN = (bool, int, float, str)
"""Types of parameters that appear in a game's name."""


def _place_of(maker: Any) -> str:
    """``module:Name`` of a class or a function; of a script the name of its file."""
    maker = maker.func if isinstance(maker, functools.partial) else maker
    module = place_of(maker) or None
    name = getattr(maker, "__qualname__", type(maker).__name__)
    if module == "__main__":
        file = file_of("__main__")
        module = Path(file).stem if file else None
    return f"{module}:{name}" if module else str(name)


def _name_of_environment(env: Any) -> str:
    """The environment's name, with the parameters kept by its specification or by EzPickle."""
    offers = EnvAbilities(env)
    spec, raw, metadata = offers.spec, offers.unwrapped or env, offers.metadata or {}
    named = getattr(spec, "id", None) or metadata.get("name") or type(raw).__name__
    kept = getattr(spec, "kwargs", None) or _ezpickled(raw)
    plain = {key: each for key, each in kept.items() if isinstance(each, _PLAIN)}
    plain.pop("render_mode", None)  # It changes no rules, and results would not compare.
    return format_call(str(named), plain)


def _ezpickled(env: Any) -> dict[str, Any]:
    """An environment's arguments recorded by EzPickle, without the defaults."""
    held = vars(env)
    arguments, named = held.get("_ezpickle_args", ()), held.get("_ezpickle_kwargs", {})
    try:
        signature = inspect.signature(type(env))
        given = signature.bind_partial(*arguments, **named).arguments
    except (TypeError, ValueError):
        return {}
    known = signature.parameters
    return {key: each for key, each in given.items() if each is not known[key].default}


def _plain_attributes(value: Any) -> dict[str, Any]:
    """Constructor parameters that the object keeps as attributes, if they are numbers or texts."""
    try:
        names = inspect.signature(type(value)).parameters
    except (TypeError, ValueError):
        return {}
    found = {name: getattr(value, name, None) for name in names}
    return {name: kept for name, kept in found.items() if isinstance(kept, _PLAIN)}


def _with_moves(state: Any) -> str:
    """The moves that lead to a position, if it has a history: part of its name."""
    if StateAbilities(state).apply_action is None:
        return ""
    of_state = StateAbilities(state).history
    history = list(of_state()) if callable(of_state) else []
    return f" after {' '.join(map(str, history))}" if history else ""


def _parameters(rules: Any, source: Source) -> dict[str, Any]:
    if _is_rules(rules):
        return dict(rules.parameters)
    if not is_maker(source.value):
        return _plain_attributes(source.value)
    known = (parameters_of(source.value) or {}).values()
    defaults = {each.name: each.default for each in known if each.default is not each.empty}
    return {**defaults, **source.parameters}
