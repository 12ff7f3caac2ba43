"""The length at which a game counts as endless, and the error for it."""

from collections.abc import Iterator
from typing import Any

from rave_agents.errors import GameError
from rave_agents.game.abilities import StateAbilities

LONGEST_GAME = 1 << 20
"""Moves of a playout or a game, chance outcomes included, after which it counts as endless."""


def endless_game(
    game: str, what: str = "A playout", needed: str = "it must end at some time, whatever is played"
) -> GameError:
    """The error for a game that does not end.

    Args:
        game: its name.
        what: the kind of play, such as ``"A playout"``.
        needed: the requirement that the game violates.
    """
    return GameError(
        f"{what} of {game} has not ended after {LONGEST_GAME} moves: {needed}. A search of a game "
        "without an end needs a value function that ends playouts after playout_moves moves, an "
        "evaluator in their place, or in an environment a horizon."
    )


def until_over(state: Any, what: str = "A game") -> Iterator[int]:
    """Yield the number of each move of a game that the caller plays in ``state``, from 0.

    Args:
        state: the position; it changes between two moves.
        what: the kind of play, for the error.

    Raises:
        GameError: if the game does not end.
    """
    for move in range(LONGEST_GAME):
        if state.is_terminal():
            return
        yield move
    if not state.is_terminal():
        raise endless_game(game_name(state), what)


def game_name(state: Any) -> str:
    """The name of a state's game: of its framework, or else of its class."""
    offers = StateAbilities(state)
    if offers.get_game is not None:
        return str(offers.get_game())
    if offers.env is not None:
        return str(offers.env)
    return type(state).__name__ if offers.game_key is None else str(offers.game_key())
