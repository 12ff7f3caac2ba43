"""Adapters of game frameworks, found by entry point.

An adapter is an object with the methods of ``Adapter``, which its package registers in the
entry-point group ``rave_agents.adapters``. So third parties can add one.
"""

import difflib
import functools
import importlib.metadata
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from rave_agents.config.specs import split_call
from rave_agents.errors import UnknownNameError
from rave_agents.extras import install_command
from rave_agents.frameworks.agent import AgentType
from rave_agents.frameworks.copies import check_copies, is_of_package
from rave_agents.frameworks.information_sets import InformationSets
from rave_agents.game.abilities import Abilities, Method, Offered
from rave_agents.game.arguments import unknown_name
from rave_agents.game.game_state import GameState, lacks_methods

ENTRY_POINT_GROUP = "rave_agents.adapters"


class Game(Protocol):
    """A game for matches; ``GameAbilities`` lists its optional attributes."""

    name: str
    """The game's name in its framework, parameters included."""
    num_players: int
    """The number of players."""

    def new_initial_state(self) -> GameState:
        """Return the initial state."""


class GameAbilities(Abilities):
    """What a game may offer in addition to the attributes of ``Game``."""

    __slots__ = ()

    name: Offered[Any] = Offered(None)
    num_players: Offered[Any] = Offered(None)
    new_initial_state: Offered[Callable[[], Any] | None] = Method(None)
    """The attributes of ``Game`` itself; other objects lack them."""
    parameters: Offered[Mapping[str, Any]] = Offered({})
    """All parameters of the game with their values; a GTP program gets board size and komi from
    them."""
    with_parameters: Offered[Callable[..., Any] | None] = Method(None)
    """``with_parameters(**changes)``: the game with other values of some parameters."""
    position_of: Offered[Callable[[str], Any] | None] = Method(None)
    """``position_of(text)``: the position that a text describes in the game's own notation, such as
    a FEN; None for a text of another form. Raises ValueError for a wrong one."""
    position_form: Offered[str] = Offered("")
    """The name of that notation, for messages."""
    seeded_initial_state: Offered[Callable[[int], Any] | None] = Method(None)
    """``seeded_initial_state(seed)``: the initial state with the chance outcomes of a 31-bit seed,
    where states draw chance themselves; ``new_initial_state()`` then always has the same outcomes.
    None for a game that draws no chance."""
    check_search: Offered[Callable[[Any], object]] = Method(lambda config: None)
    """``check_search(config)``: raises UnsupportedGameError if a search with this configuration
    cannot play the game."""
    in_turns: Offered[Callable[[], Any] | None] = Method(None)
    """``in_turns()``: the game in which players who move at the same time move in turn, and none
    sees the others' choices of the round."""
    information_sets: Offered[Callable[[int], InformationSets] | None] = Method(None)
    """``information_sets(most)``: the information sets at which players have a choice. Raises
    UnsupportedGameError if they cannot be enumerated, or are more than ``most``."""
    unclaimed: Offered[Callable[[Any], Any] | None] = Method(None)
    """``unclaimed(state)``: the position if no player had claimed a draw."""
    moves_after_draw: Offered[Callable[[Any], Mapping[str, Any]]] = Method(lambda state: {})
    """``moves_after_draw(state)``: the legal moves of a drawn position, and the positions after
    them."""
    env: Offered[Any] = Offered(None)
    """The environment, for a game made from one."""
    mirror: Offered[Callable[[str | None], Any] | None] = Method(None)
    """``mirror(render_mode)``: an environment that shows the game's observations and pictures."""
    source: Offered[Any] = Offered(None)
    """Where the game came from; another process can make it again from that."""
    game: Offered[Any] = Offered(None)
    """The game inside one that wraps another."""
    rules: Offered[Any] = Offered(None)
    """The compiled rules of the game."""
    framework_game: Offered[Any] = Offered(None)
    """The game in the framework's own form, for its users' agents; by default the game itself."""


def is_dealt(game: Game) -> bool:
    """True if a game's initial state may differ by a seed."""
    return GameAbilities(game).seeded_initial_state is not None


def seeded_start(game: Game, draw: Callable[[], int]) -> GameState:
    """Return a game's initial state, with chance outcomes from a drawn seed where it takes one.

    Args:
        game: the game.
        draw: draws the seed; called only if the game takes one.
    """
    seeded = GameAbilities(game).seeded_initial_state
    state: GameState = game.new_initial_state() if seeded is None else seeded(draw())
    return state


class GameInfo(NamedTuple):
    """One line of the list of games."""

    name: str
    """The name that ``load_game`` takes."""
    description: str
    """A few words on the game."""
    supported: bool
    """True if the search can play it."""


class Adapter(Protocol):
    """The interface of an adapter; ``AdapterAbilities`` lists its optional methods."""

    name: str
    """The framework's name, the prefix of its games: ``"openspiel"``."""

    def wrap(self, state: Any) -> GameState | None:
        """Wrap a state of the framework as a GameState; None for any other object."""

    def load_game(self, spec: str) -> Game:
        """Load the game of this name; raises UnknownNameError or UnsupportedGameError."""

    def games(self) -> Sequence[GameInfo]:
        """List the framework's games."""

    def agent_types(self) -> Mapping[str, AgentType]:
        """Return the agents that only this framework has, by name."""

    def diagnosis(self) -> Mapping[str, str]:
        """Return what ``rave-agents doctor`` prints about the framework: names and findings."""


class AdapterAbilities(Abilities):
    """What an adapter may offer in addition to the methods of ``Adapter``."""

    __slots__ = ()

    errors: Offered[tuple[type[Exception], ...]] = Offered(())
    """The framework's exceptions for unsupported operations of a game."""
    wrap_game: Offered[Callable[[Any], Game | None]] = Method(lambda value: None)
    """``wrap_game(game)``: a game of the framework as a Game; None for any other object."""
    is_plain: Offered[Callable[[str], bool]] = Method(lambda spec: False)
    """``is_plain(spec)``: whether this spec names one of the framework's own games, so that loading
    it imports or calls no other module and opens no file: it is safe in an untrusted file."""
    remade_agent: Offered[Callable[[Any], Callable[[], Any] | None]] = Method(lambda agent: None)
    """``remade_agent(agent)``: a function that makes an agent of the framework's users anew if
    Python cannot copy it; None for any other object. Raises TypeError for one that cannot play."""
    observation_like: Offered[Callable[[Any, int, tuple[int, ...]], Any]] = Method(
        lambda position, player, shape: None
    )
    """``observation_like(position, player, shape)``: an observation of a position in the form of
    the framework if that has this shape, else None."""
    alpha_rank: Offered[Callable[..., Any] | None] = Method(None)
    """``alpha_rank(...)``: computes α-Rank from scores."""


@functools.cache
def _load() -> tuple[dict[str, Adapter], dict[str, str]]:
    adapters, missing = {}, {}
    # An adapter whose framework is missing fails to import: that is no error, but a reason to show.
    for entry_point in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
        try:
            adapters[entry_point.name] = entry_point.load()
        except ModuleNotFoundError as error:
            missing[entry_point.name] = f"{error.name} is not installed"
        except ImportError as error:
            missing[entry_point.name] = str(error)
    return adapters, missing


def adapters() -> dict[str, Adapter]:
    """The adapters of installed frameworks, by name."""
    return _load()[0]


def missing_adapters() -> dict[str, str]:
    """The adapters that could not be imported, by name, with the reason."""
    return _load()[1]


_state_classes: set[type] = set()
"""Classes of this package's states: checking an object against the protocol takes 0.1 ms."""


def as_game_state(state: Any) -> GameState:
    """Return the state itself if it is a GameState, else wrapped by the adapter that knows it.

    Raises:
        TypeError: if no adapter knows the state, or its ``clone`` gives no copy.
        GameError: if its ``apply_action`` changes nothing.
    """
    if type(state) in _state_classes:
        return state  # type: ignore[no-any-return]
    if isinstance(state, type):
        name = state.__name__
        raise TypeError(
            lacks_methods(state)
            or f"state must be an object, such as {name}(), got the class {name}."
        )
    if isinstance(state, GameState):
        check_copies(state)
        # Only our classes are remembered: a user may redefine theirs, as in a notebook.
        if is_of_package(type(state)):
            _state_classes.add(type(state))
        return state
    for adapter in adapters().values():
        wrapped = adapter.wrap(state)
        if wrapped is not None:
            return wrapped
    lacking = lacks_methods(state)
    if lacking:
        raise TypeError(lacking)
    raise TypeError(
        f"state must be a GameState or an installed framework's state, got {type(state).__name__} "
        f"(installed: {', '.join(adapters()) or 'none'}; see rave_agents.GameState)."
    )


def framework_errors() -> tuple[type[Exception], ...]:
    """The installed frameworks' exceptions for unsupported operations of a game."""
    return tuple(e for adapter in adapters().values() for e in AdapterAbilities(adapter).errors)


def load_game(spec: str) -> Game:
    """Load a framework's game by its name, such as ``"hex(board_size=9)"``; see ``as_game``.

    A framework's name and a colon may precede it (``"openspiel:hex"``). Without them, the first
    installed framework that has the game loads it.

    Raises:
        UnknownNameError: if no installed framework has the game.
        UnsupportedGameError: if the search cannot play the game.
    """
    prefix, colon, rest = spec.partition(":")
    # A colon inside parentheses belongs to a parameter's value.
    named = bool(colon) and "(" not in prefix
    try:
        name, _ = split_call(rest if named else spec, "game")
    except ValueError as error:
        raise UnknownNameError(f"{spec!r} is no game's name: {error}") from error
    if named:
        if prefix in missing_adapters():
            raise UnknownNameError(
                f"The framework {prefix!r} is not installed: {missing_adapters()[prefix]}"
            )
        if prefix not in adapters():
            raise UnknownNameError(unknown_name("framework", prefix, adapters()))
        return adapters()[prefix].load_game(rest)
    if not adapters():
        reasons = "; ".join(f"{name}: {why}" for name, why in missing_adapters().items())
        raise UnknownNameError(
            f"No game framework is installed, so there is no game {spec!r} "
            f"({reasons or 'no adapter is registered'}). Install one, for example: "
            f"{install_command('openspiel') or 'pip install open_spiel'}"
        )
    errors = {}
    for framework, adapter in adapters().items():
        try:
            return adapter.load_game(spec)
        except UnknownNameError as error:
            errors[framework] = error
    listed = {key: [game.name for game in adapters()[key].games()] for key in errors}
    # All frameworks refuse it: the one that has a game of this name knows why.
    for framework, reason in errors.items():
        if name in listed[framework]:
            raise reason  # The game exists; something else in the spec does not.
    raise UnknownNameError(
        unknown_game(name, [game for names in listed.values() for game in names])
    )


def unknown_game(name: str, known: Iterable[str]) -> str:
    """The message for a game that does not exist, with the nearest that do, but without a list."""
    near = difflib.get_close_matches(name, sorted(set(known)), n=3, cutoff=0.6)
    if name.endswith(".py"):
        advice = f"A game in a file is written with its name there: {name}:Name."
    elif re.fullmatch(r"\w+(\.\w+)+", name):
        module, _, attribute = name.rpartition(".")
        advice = f"A game of your own is written with a colon: {module}:{attribute}."
    elif near:
        advice = f"Did you mean {' or '.join(map(repr, near))}?"
    else:
        advice = (
            "'rave-agents games' lists the games there are; one of your own is written module:Name "
            "or path/to/file.py:Name."
        )
    return f"Unknown game {name!r}. {advice}"
