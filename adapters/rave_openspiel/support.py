"""Which of OpenSpiel's games the search can play."""

import pyspiel

from rave_agents.errors import UnsupportedGameError

_Type = pyspiel.GameType


def refusal(game_type: pyspiel.GameType) -> str | None:
    """Why the search cannot play games of this type; None if it can."""
    if game_type.dynamics not in (_Type.Dynamics.SEQUENTIAL, _Type.Dynamics.SIMULTANEOUS):
        kind = str(game_type.dynamics).rpartition(".")[2]
        return f"its dynamics are {kind}, and the search needs SEQUENTIAL or SIMULTANEOUS"
    # A one-shot game hides nothing but what is decided at the same moment.
    one_shot = (
        game_type.dynamics == _Type.Dynamics.SIMULTANEOUS
        and game_type.information == _Type.Information.ONE_SHOT
    )
    if game_type.information != _Type.Information.PERFECT_INFORMATION and not one_shot:
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


def hides_information(game_type: pyspiel.GameType) -> bool:
    """Whether something is hidden from players in games of this type."""
    return bool(game_type.information == _Type.Information.IMPERFECT_INFORMATION)


def check_supported(game: pyspiel.Game) -> None:
    """Raise UnsupportedGameError if the search cannot play the game."""
    if not isinstance(game, pyspiel.Game):
        raise TypeError(f"game must be a pyspiel.Game, got {game!r}.")
    reason = refusal(game.get_type())
    if reason is not None:
        raise UnsupportedGameError(f"{game} cannot be searched: {reason}.")


def check_state(game: pyspiel.Game, state: object) -> None:
    """Raise TypeError for what is no ``pyspiel.State``, ValueError for one of another game."""
    if not isinstance(state, pyspiel.State):
        raise TypeError(f"state must be a pyspiel.State, got {state!r}.")
    if state.get_game() != game:
        raise ValueError(f"This evaluator is for {game}, but the state is of {state.get_game()}.")
