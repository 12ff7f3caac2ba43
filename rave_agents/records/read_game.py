"""A game read from an SGF or PGN file."""

from typing import NamedTuple

from rave_agents.game.game_state import GameState


class ReadGame(NamedTuple):
    """The main line of a game in a file."""

    start: GameState
    """The position before the first move, including handicap stones."""
    actions: tuple[int, ...]
    """The actions from there, up to the end of the game."""
    laid: tuple[int, ...] | None = ()
    """The actions from the initial position to ``start``; None if the file has a FEN."""
    goes_on: str = ""
    """A sentence on moves after the game's end; empty if there are none."""


def ending(label: str, how: str, rest: int) -> str:
    """The sentence for a file whose moves continue after the end.

    Args:
        label: the last move that counts.
        how: how the game ends there.
        rest: the number of moves after it.
    """
    moves = "1 move follows" if rest == 1 else f"{rest} moves follow"
    return f"the game is over after {label}, {how}, and {moves} in the file"
