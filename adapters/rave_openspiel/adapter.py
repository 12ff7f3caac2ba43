"""OpenSpiel as ``rave_agents.frameworks.Adapter``: its games by name and its own agents."""

import functools
import importlib.metadata
from collections.abc import Mapping, Sequence
from typing import Any

import pyspiel

from rave_agents.agents import AgentType
from rave_agents.config import unknown_name
from rave_agents.errors import UnknownNameError, UnsupportedGameError
from rave_agents.frameworks import GameInfo
from rave_openspiel import stock
from rave_openspiel.states import OpenSpielState

_Type = pyspiel.GameType


class OpenSpielGame:
    """A ``pyspiel.Game`` as ``rave_agents.frameworks.Game``.

    Args:
        game: the game; refused unless it is sequential with perfect information and no hidden
            chance.

    Raises:
        UnsupportedGameError: if the search cannot play it; the message says why.
    """

    def __init__(self, game: pyspiel.Game) -> None:
        check_supported(game)
        self.game = game
        """The wrapped ``pyspiel.Game``."""
        self.name = str(game)
        self.num_players = int(game.num_players())

    def new_initial_state(self) -> OpenSpielState:
        """The position at the game's start, before any chance move."""
        return OpenSpielState(self.game.new_initial_state())


def refusal(game_type: pyspiel.GameType) -> str | None:
    """Why the search cannot play games of this type; None if it can."""
    if game_type.dynamics != _Type.Dynamics.SEQUENTIAL:
        kind = str(game_type.dynamics).rpartition(".")[2]
        return (
            f"its dynamics are {kind}, and the search needs SEQUENTIAL: one player moves at a time"
        )
    if game_type.information != _Type.Information.PERFECT_INFORMATION:
        kind = str(game_type.information).rpartition(".")[2]
        return (
            f"it is a game of {kind}, and the search needs PERFECT_INFORMATION: it would "
            "otherwise look at what is hidden from the player"
        )
    if game_type.chance_mode == _Type.ChanceMode.SAMPLED_STOCHASTIC:
        return (
            "its chance mode is SAMPLED_STOCHASTIC, and the search needs DETERMINISTIC or "
            "EXPLICIT_STOCHASTIC: a clone would know the outcomes to come"
        )
    return None


def check_supported(game: pyspiel.Game) -> None:
    """Raise UnsupportedGameError if the search cannot play the game."""
    if not isinstance(game, pyspiel.Game):
        raise TypeError(f"game must be a pyspiel.Game, got {game!r}.")
    reason = refusal(game.get_type())
    if reason is not None:
        raise UnsupportedGameError(f"{game} cannot be searched: {reason}.")


@functools.cache
def _known_games() -> dict[str, pyspiel.GameType]:
    import open_spiel.python.games  # noqa: F401, PLC0415  (registers the Python games)

    return {game_type.short_name: game_type for game_type in pyspiel.registered_games()}


class OpenSpielAdapter:
    """See ``rave_agents.frameworks.Adapter``."""

    name = "openspiel"

    def wrap(self, state: Any) -> OpenSpielState | None:
        """A ``pyspiel.State`` as a GameState; None for anything else."""
        return OpenSpielState(state) if isinstance(state, pyspiel.State) else None

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
            GameInfo(name, game_type.long_name, refusal(game_type) is None)
            for name, game_type in sorted(_known_games().items())
            if game_type.default_loadable
        ]

    def agent_types(self) -> Mapping[str, AgentType]:
        """OpenSpiel's own MCTS bots."""
        return stock.AGENT_TYPES

    def diagnosis(self) -> Mapping[str, str]:
        """The installed version and how states are played."""
        return {
            "open_spiel": importlib.metadata.version("open_spiel"),
            "playouts": "C++ games by pyspiel.evaluate_bots, Python games move by move",
        }


ADAPTER = OpenSpielAdapter()
