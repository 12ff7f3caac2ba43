"""OpenSpiel as an ``Adapter``: its games by name and its own agents."""

import functools
import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyspiel

from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import UnknownNameError, UnsupportedGameError
from rave_agents.frameworks.adapters import GameInfo, unknown_game
from rave_agents.frameworks.agent import AgentType
from rave_openspiel import (
    alpha_rank,
    bare_playouts,
    compiled_games,
    native,
    pickling,
    registry,
    stock,
)
from rave_openspiel.deals import deals_by_itself, seeded_state
from rave_openspiel.fen import FEN_GAMES, fen_state, moves_after_draw, unclaimed
from rave_openspiel.information_sets import OpenSpielSets, enumerate_sets
from rave_openspiel.plain_games import is_plain
from rave_openspiel.states import OpenSpielState
from rave_openspiel.support import check_supported, check_worlds, plays, registered_games
from rave_openspiel.turn_based import in_turns


class OpenSpielGame:
    """A ``pyspiel.Game`` with the interface ``rave_agents.frameworks.adapters.Game``.

    Args:
        game: the game; ``rave_openspiel.refusal`` says whether the search can play it.

    Raises:
        UnsupportedGameError: if the search cannot play it; the message says why.
    """

    def __init__(self, game: pyspiel.Game) -> None:
        check_supported(game)
        self.game = game
        """The wrapped ``pyspiel.Game``."""
        self.name: str = str(game)
        self.num_players: int = int(game.num_players())
        self.parameters: dict[str, Any] = dict(game.get_parameters())
        """All parameters of the game, default values included."""

    @property
    def framework_game(self) -> pyspiel.Game:
        """The ``pyspiel.Game``, for agents of OpenSpiel's users."""
        return self.game

    def check_search(self, config: SearchConfig) -> None:
        """Refuse a search that cannot play this game fairly.

        Raises:
            UnsupportedGameError: if the game hides information and there are no determinizations
                (worlds) to search, or if the search tries to prove something there.
        """
        check_worlds(self.game, config, None)

    def in_turns(self) -> "OpenSpielGame":
        """Return the game in which players move in turn, unseen by those of the same round."""
        return OpenSpielGame(in_turns(self.game))

    def information_sets(self, most: int) -> OpenSpielSets:
        """Return the information sets with a choice.

        Raises:
            UnsupportedGameError: see ``enumerate_sets``.
        """
        return enumerate_sets(self, most)

    def new_initial_state(self) -> OpenSpielState:
        """Return the initial state, before any chance move."""
        return OpenSpielState(self.game.new_initial_state())

    def position_of(self, text: str) -> OpenSpielState | None:
        """Return the position of a FEN; None for another text, and in games without FEN.

        Raises:
            ValueError: for a FEN of another game.
        """
        state = fen_state(self.game, text)
        return None if state is None else OpenSpielState(state)

    def unclaimed(self, state: OpenSpielState) -> OpenSpielState | None:
        """Return the position where nobody has claimed a draw; None if the game is over.

        Chess goes on there: OpenSpiel ends it by repetition and after fifty moves.
        """
        found = unclaimed(state.state)
        return None if found is None else OpenSpielState(found)

    def moves_after_draw(self, state: OpenSpielState) -> dict[str, OpenSpielState]:
        """Return the states after each legal move of chess where neither side can mate."""
        moves = moves_after_draw(state.state)
        return {word: OpenSpielState(after) for word, after in moves.items()}

    @property
    def position_form(self) -> str:
        """The form of ``position_of``, for messages; empty if there is none."""
        return "a FEN" if self.game.get_type().short_name in FEN_GAMES else ""

    @property
    def seeded_initial_state(self) -> Callable[[int], OpenSpielState] | None:
        """Returns the initial state for a seed, if the game itself deals; else None."""
        if not deals_by_itself(self.game):
            return None
        return lambda seed: OpenSpielState(seeded_state(self.game, seed))

    def __reduce__(self) -> Any:
        """Pickle the game together with the classes of games that Python registered."""
        return _game_of, pickling.packed(self.game)


def _game_of(*packed: Any) -> OpenSpielGame:
    return OpenSpielGame(pickling.unpacked(*packed))


_SIZES = (
    *("board_size", "size", "rows", "columns", "cols", "num_rows", "num_cols", "width", "height"),
    *("m", "n"),
)


def _check_sizes(spec: str) -> None:
    """Refuse sizes below 1, for which some games abort the process.

    Raises:
        UnsupportedGameError: for a size below 1.
        pyspiel.SpielError: if OpenSpiel cannot parse the spec.
    """
    # Sizes by name only: other parameters, such as a limit, may well be 0 or -1.
    for name, value in pyspiel.game_parameters_from_string(spec).items():
        if name in _SIZES and isinstance(value, int) and value < 1:
            raise UnsupportedGameError(f"{spec} cannot be played: {name} must be at least 1.")


FIRST_MOVES = 4
"""Moves after which a game that was loaded by its name must still go on or be over."""


def _check_first_moves(game: pyspiel.Game) -> None:
    """Refuse a board too small to play on; some games detect that only in their states.

    Raises:
        UnsupportedGameError: if a player has no legal action early in an unfinished game.
        pyspiel.SpielError: if the game has no first state.
    """
    state = game.new_initial_state()
    for _ in range(FIRST_MOVES):
        if state.is_terminal() or state.is_simultaneous_node() or state.is_mean_field_node():
            break
        legal = state.legal_actions()
        if not legal:
            raise UnsupportedGameError(
                f"{game} cannot be played: it is not over after {len(state.history())} moves, and "
                "the player to move has no legal action."
            )
        state.apply_action(legal[0])


@functools.cache
def _known_games() -> dict[str, pyspiel.GameType]:
    return {game_type.short_name: game_type for game_type in registered_games()}


class OpenSpielAdapter:
    """OpenSpiel's adapter; see ``rave_agents.frameworks.adapters.Adapter``."""

    name = "openspiel"
    errors = (pyspiel.SpielError,)

    def wrap(self, state: Any) -> OpenSpielState | None:
        """Return a ``pyspiel.State`` as a GameState; None for any other object.

        Raises:
            UnsupportedGameError: if the search cannot play its game.
        """
        if not isinstance(state, pyspiel.State):
            return None
        check_supported(state.get_game())
        return OpenSpielState(state)

    def wrap_game(self, game: Any) -> OpenSpielGame | None:
        """Return a ``pyspiel.Game`` as a Game; None for any other object.

        Raises:
            UnsupportedGameError: if the search cannot play it.
        """
        return OpenSpielGame(game) if isinstance(game, pyspiel.Game) else None

    def remade_agent(self, agent: Any) -> Any:
        """Return a factory of copies of a user's bot; None for any other object."""
        return pickling.remade_bot(agent)

    def load_game(self, spec: str) -> OpenSpielGame:
        """Load the game of this name, such as ``"hex(board_size=9)"``."""
        name = spec.partition("(")[0].strip()
        if name not in _known_games():
            raise UnknownNameError(unknown_game(name, _known_games()))
        try:
            _check_sizes(spec)  # Before anything that may abort the process.
            game = pyspiel.load_game(spec)
            _check_first_moves(game)
        except pyspiel.SpielError as error:
            raise UnknownNameError(f"OpenSpiel cannot load {spec!r}: {error}") from error
        return OpenSpielGame(game)

    def is_plain(self, spec: str) -> bool:
        """Return whether the spec names a game with parameters that open no file."""
        return is_plain(spec, _known_games())

    def games(self) -> Sequence[GameInfo]:
        """List every registered game that loads without parameters."""
        return [
            GameInfo(name, game_type.long_name, plays(game_type))
            for name, game_type in sorted(_known_games().items())
            if game_type.default_loadable
        ]

    def agent_types(self) -> Mapping[str, AgentType]:
        """Return OpenSpiel's own MCTS bots."""
        return {**stock.AGENT_TYPES, **bare_playouts.AGENT_TYPES}

    def alpha_rank(self, payoffs: Sequence[Sequence[float]]) -> list[float]:
        """See ``rave_openspiel.alpha_rank``."""
        return alpha_rank.alpha_rank(payoffs)

    def diagnosis(self) -> Mapping[str, str]:
        """Return the installed version, and how states are simulated."""
        return {
            "open_spiel": importlib.metadata.version("open_spiel"),
            "compiled games": compiled_games.diagnosis(),
            "native bridge": native.diagnosis(),
            "bot registry": registry.diagnosis(),
            "playouts": (
                f"C++ games by {'the bridge' if native.is_in_use() else 'pyspiel.evaluate_bots'}, "
                "Python games move by move"
            ),
        }


ADAPTER = OpenSpielAdapter()
