"""OpenSpiel as an ``Adapter``: its games by name and its own agents."""

import functools
import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyspiel

from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import UnknownNameError
from rave_agents.frameworks.adapters import GameInfo
from rave_agents.frameworks.agent import AgentType
from rave_agents.game.arguments import unknown_name
from rave_openspiel import bare_playouts, native, registry, stock, travel
from rave_openspiel.deals import deals_by_itself, seeded_state
from rave_openspiel.states import OpenSpielState
from rave_openspiel.support import check_supported, check_worlds, plays


class OpenSpielGame:
    """A ``pyspiel.Game`` as ``rave_agents.frameworks.adapters.Game``.

    Args:
        game: the game; ``rave_openspiel.refusal`` tells which are refused.

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
        """All parameters of the game, those with default values included."""

    def check_search(self, config: SearchConfig) -> None:
        """Refuse a search that cannot play this game fairly.

        Raises:
            UnsupportedGameError: if something is hidden and there are no worlds to search; or if
                it is asked to prove something there.
        """
        check_worlds(self.game, config, None)

    def new_initial_state(self) -> OpenSpielState:
        """The position at the game's start, before any chance move."""
        return OpenSpielState(self.game.new_initial_state())

    @property
    def seeded_initial_state(self) -> Callable[[int], OpenSpielState] | None:
        """Gives the start of a game from a seed, where a generator of the game deals; else None."""
        if not deals_by_itself(self.game):
            return None
        return lambda seed: OpenSpielState(seeded_state(self.game, seed))

    def __reduce__(self) -> Any:
        """The game for another process, with the classes of the games that Python registered."""
        return _game_of, travel.packed(self.game)


def _game_of(*packed: Any) -> OpenSpielGame:
    return OpenSpielGame(travel.unpacked(*packed))


@functools.cache
def _known_games() -> dict[str, pyspiel.GameType]:
    import open_spiel.python.games  # noqa: F401, PLC0415  (registers the Python games)

    return {game_type.short_name: game_type for game_type in pyspiel.registered_games()}


class OpenSpielAdapter:
    """See ``rave_agents.frameworks.adapters.Adapter``."""

    name = "openspiel"

    def wrap(self, state: Any) -> OpenSpielState | None:
        """A ``pyspiel.State`` as a GameState; None for anything else.

        Raises:
            UnsupportedGameError: if the search cannot play its game.
        """
        if not isinstance(state, pyspiel.State):
            return None
        check_supported(state.get_game())
        return OpenSpielState(state)

    def load_game(self, spec: str) -> OpenSpielGame:
        """The game of this name, such as ``"hex(board_size=9)"``."""
        name = spec.partition("(")[0].strip()
        if name not in _known_games():
            raise UnknownNameError(unknown_name("game", name, _known_games()))
        try:
            game = pyspiel.load_game(spec)
        except pyspiel.SpielError as error:
            raise UnknownNameError(f"OpenSpiel cannot load {spec!r}: {error}") from error
        return OpenSpielGame(game)

    def games(self) -> Sequence[GameInfo]:
        """Every registered game that can be loaded by its name alone."""
        return [
            GameInfo(name, game_type.long_name, plays(game_type))
            for name, game_type in sorted(_known_games().items())
            if game_type.default_loadable
        ]

    def agent_types(self) -> Mapping[str, AgentType]:
        """OpenSpiel's own MCTS bots."""
        return {**stock.AGENT_TYPES, **bare_playouts.AGENT_TYPES}

    def alpha_rank(self, payoffs: Sequence[Sequence[float]]) -> list[float]:
        """See ``rave_openspiel.alpha_rank``."""
        from rave_openspiel.alpha_rank import alpha_rank  # noqa: PLC0415 Slow to import.

        return alpha_rank(payoffs)

    def diagnosis(self) -> Mapping[str, str]:
        """The installed version and how states are played."""
        return {
            "open_spiel": importlib.metadata.version("open_spiel"),
            "native bridge": native.diagnosis(),
            "bot registry": registry.diagnosis(),
            "playouts": (
                f"C++ games by {'the bridge' if native.is_in_use() else 'pyspiel.evaluate_bots'}, "
                "Python games move by move"
            ),
        }


ADAPTER = OpenSpielAdapter()
