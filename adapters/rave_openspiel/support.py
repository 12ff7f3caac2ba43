"""Checks whether the search can play an OpenSpiel game."""

import pyspiel

from rave_agents.config.regrets import keeps_regrets
from rave_agents.config.search_config import SearchConfig
from rave_agents.environments.worlds import remedy
from rave_agents.errors import UnsupportedGameError
from rave_agents.game.validation import checked
from rave_agents.searcher.checks import check_hidden
from rave_openspiel.same_game import is_same_game
from rave_openspiel.worlds import (
    DEALT_AT_ONCE,
    NO_WORLDS,
    WorldFunction,
    no_worlds,
    warn_seldom_settled,
)

_Type = pyspiel.GameType


def registered_games() -> list[pyspiel.GameType]:
    """The types of all games, those that are written in Python included."""
    import open_spiel.python.games  # noqa: F401, PLC0415  (slow: registers all of them)

    return list(pyspiel.registered_games())


def refusal(game_type: pyspiel.GameType | pyspiel.Game) -> str | None:
    """Return why the search cannot play a game, or games of a type; None if it can.

    Raises:
        TypeError: if the argument is neither a ``pyspiel.Game`` nor a ``pyspiel.GameType``.
    """
    if isinstance(game_type, pyspiel.Game):
        game_type = game_type.get_type()
    if not isinstance(game_type, _Type):
        raise TypeError(
            f"game_type must be a pyspiel.GameType or a pyspiel.Game, got {game_type!r}; "
            "pyspiel.load_game makes a game of its name."
        )
    if game_type.dynamics not in (_Type.Dynamics.SEQUENTIAL, _Type.Dynamics.SIMULTANEOUS):
        kind = str(game_type.dynamics).rpartition(".")[2]
        return f"its dynamics are {kind}, and the search needs SEQUENTIAL or SIMULTANEOUS"
    return _refusal_of_chance(game_type)


def _refusal_of_chance(game_type: pyspiel.GameType) -> str | None:
    if (
        game_type.chance_mode == _Type.ChanceMode.SAMPLED_STOCHASTIC
        and game_type.short_name not in DEALT_AT_ONCE
    ):
        return (
            "its chance mode is SAMPLED_STOCHASTIC, and the search needs DETERMINISTIC or "
            "EXPLICIT_STOCHASTIC: a clone would know the outcomes to come"
        )
    return None


def check_chance(game: pyspiel.Game) -> None:
    """Raise UnsupportedGameError if clones of the game's states foresee chance."""
    reason = _refusal_of_chance(game.get_type())
    if reason is not None:
        raise UnsupportedGameError(f"{game} cannot be searched: {reason}.")


def plays(game_type: pyspiel.GameType) -> bool:
    """True if the search plays games of this type without a source of worlds or cheating."""
    if hides_information(game_type) and game_type.short_name in NO_WORLDS:
        return False
    return refusal(game_type) is None


def hides_information(game_type: pyspiel.GameType) -> bool:
    """True if games of this type hide information from players."""
    return bool(game_type.information == _Type.Information.IMPERFECT_INFORMATION)


def check_perfect_information(game: pyspiel.Game) -> None:
    """Raise UnsupportedGameError if the game hides information, or the search cannot play it."""
    check_supported(game)
    if hides_information(game.get_type()):
        raise UnsupportedGameError(
            f"{game} cannot be searched here: it is a game of IMPERFECT_INFORMATION, and this "
            "search needs PERFECT_INFORMATION, since it would see hidden information."
        )


def check_worlds(game: pyspiel.Game, config: SearchConfig, worlds: WorldFunction | None) -> None:
    """Raise UnsupportedGameError if a search of this configuration cannot play the game fairly.

    Args:
        game: the game.
        config: the search's configuration.
        worlds: the user's source of worlds, if any.
    """
    hides = hides_information(game.get_type()) and config.hidden == "determinize"
    if not hides or keeps_regrets(config.regrets):
        return
    reason = None if worlds is not None else no_worlds(game)
    if reason is not None:
        raise UnsupportedGameError(
            f"{game} is a game of IMPERFECT_INFORMATION without worlds to search: {reason}. "
            f"{remedy('state', 'player', 'a state')}"
        )
    check_hidden(config, simultaneous=False)
    if worlds is None:
        warn_seldom_settled(game.get_type().short_name)


def is_simultaneous(game: pyspiel.Game) -> bool:
    """True if players may move at the same time in the game."""
    return bool(game.get_type().dynamics == _Type.Dynamics.SIMULTANEOUS)


def searches_joint_moves(game_type: pyspiel.GameType, config: SearchConfig) -> bool:
    """True if a search has simultaneous moves; a search with worlds plays them in turn."""
    hidden = hides_information(game_type) and config.hidden == "determinize"
    return bool(game_type.dynamics == _Type.Dynamics.SIMULTANEOUS) and not hidden


def check_one_at_a_time(game: pyspiel.Game, what: str) -> None:
    """Raise UnsupportedGameError, naming ``what``, for a game with simultaneous moves."""
    if is_simultaneous(game):
        raise UnsupportedGameError(
            f"{what} needs a game in which one player moves at a time: in {game} players move at "
            "the same time."
        )


def check_supported(game: pyspiel.Game) -> None:
    """Raise UnsupportedGameError if the search cannot play the game."""
    checked("game", pyspiel.Game, game)
    reason = refusal(game.get_type())
    if reason is not None:
        raise UnsupportedGameError(f"{game} cannot be searched: {reason}.")


def check_state(game: pyspiel.Game, state: object) -> None:
    """Raise TypeError if ``state`` is not a state, ValueError if it is of another game."""
    if not isinstance(state, pyspiel.State):  # Not ``checked``: this runs at each leaf.
        raise TypeError(f"state must be a pyspiel.State, got {state!r}.")
    if not is_same_game(state.get_game(), game):
        raise ValueError(f"This evaluator is for {game}, but the state is of {state.get_game()}.")
