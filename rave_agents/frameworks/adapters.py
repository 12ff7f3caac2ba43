"""The game frameworks that are plugged in: adapters, found by entry point.

An adapter is an object with the methods of ``Adapter``, registered by its package under the
entry-point group ``rave_agents.adapters``. This package imports none by name, so that anybody's
framework can join.
"""

import functools
import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from rave_agents.errors import UnknownNameError
from rave_agents.frameworks.agent import AgentType
from rave_agents.game.arguments import unknown_name
from rave_agents.game.game_state import GameState

ENTRY_POINT_GROUP = "rave_agents.adapters"


class Game(Protocol):
    """A game that matches can be played on.

    It may also have ``parameters``, a mapping of all its parameters with their values, from which a
    GTP program is told the size of the board and the komi; and ``check_search(config)``, which
    raises UnsupportedGameError for a search that cannot play the game. Where the game's states draw
    chance themselves, ``seeded_initial_state(seed)`` gives a start with other outcomes to come for
    each seed, a 31-bit number; ``new_initial_state()`` is then always the same one. It may be None
    for a game that draws none.
    """

    name: str
    """How the framework writes the game, its parameters included."""
    num_players: int
    """How many players it has."""

    def new_initial_state(self) -> GameState:
        """The position at the game's start."""


def seeded_start(game: Game, draw: Callable[[], int]) -> GameState:
    """The position at a game's start, with outcomes of chance to come as drawn.

    Args:
        game: the game.
        draw: draws the seed; called only where the game takes one.
    """
    seeded = getattr(game, "seeded_initial_state", None)
    state: GameState = game.new_initial_state() if seeded is None else seeded(draw())
    return state


class GameInfo(NamedTuple):
    """One line of the list of games."""

    name: str
    """The name that ``load_game`` takes."""
    description: str
    """What kind of game it is."""
    supported: bool
    """Whether the search can play it."""


class Adapter(Protocol):
    """What an adapter offers."""

    name: str
    """The framework's name, the prefix of its games: ``"openspiel"``."""

    def wrap(self, state: Any) -> GameState | None:
        """The framework's state as a GameState; None if it is not one of its states."""

    def load_game(self, spec: str) -> Game:
        """The game of this name; raises UnknownNameError or UnsupportedGameError."""

    def games(self) -> Sequence[GameInfo]:
        """The games that the framework has."""

    def agent_types(self) -> Mapping[str, AgentType]:
        """Agents that only this framework has, by name."""

    def diagnosis(self) -> Mapping[str, str]:
        """What ``rave-agents doctor`` tells of it: names and findings."""


@functools.cache
def _load() -> tuple[dict[str, Adapter], dict[str, str]]:
    adapters, missing = {}, {}
    for entry_point in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
        try:
            adapters[entry_point.name] = entry_point.load()
        except ImportError as error:
            missing[entry_point.name] = str(error)
    return adapters, missing


def adapters() -> dict[str, Adapter]:
    """The adapters whose frameworks are installed, by name."""
    return _load()[0]


def missing_adapters() -> dict[str, str]:
    """The adapters that could not be imported, with the reason."""
    return _load()[1]


def as_game_state(state: Any) -> GameState:
    """The state itself if it is a GameState, else as an adapter wraps it.

    Raises:
        TypeError: if no adapter knows it.
    """
    if isinstance(state, GameState):
        return state
    for adapter in adapters().values():
        wrapped = adapter.wrap(state)
        if wrapped is not None:
            return wrapped
    raise TypeError(
        f"{type(state).__name__} is no GameState, and no installed adapter knows it "
        f"(installed: {', '.join(adapters()) or 'none'}; see rave_agents.GameState)."
    )


def load_game(spec: str) -> Game:
    """A game by its name, such as ``"hex(board_size=9)"``.

    A framework's name and a colon may stand before it (``"openspiel:hex"``); without them the
    first installed framework that has the game is taken.

    Raises:
        UnknownNameError: if no installed framework has it.
        UnsupportedGameError: if the search cannot play it.
    """
    prefix, colon, rest = spec.partition(":")
    if colon and "(" not in prefix:
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
            f"({reasons or 'none is known'}). Install one, for example: "
            "pip install 'rave-agents[openspiel]'"
        )
    errors = {}
    for framework, adapter in adapters().items():
        try:
            return adapter.load_game(spec)
        except UnknownNameError as error:
            errors[framework] = error
    name = spec.partition("(")[0].strip()
    listed = {key: [game.name for game in adapters()[key].games()] for key in errors}
    for framework, reason in errors.items():
        if name in listed[framework]:
            raise reason  # The game exists; something else in the spec does not.
    raise UnknownNameError(
        unknown_name("game", name, [game for names in listed.values() for game in names])
    )
