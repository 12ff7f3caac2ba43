"""A game read from an SGF or PGN file."""

from typing import NamedTuple

from rave_agents.game.game_state import GameState


class ReadGame(NamedTuple):
    """The main line of a game in a file."""

    start: GameState
    """The position before the first move; handicap stones lie there."""
    actions: tuple[int, ...]
    """The actions from there, at most to the end of the game."""
    laid: tuple[int, ...] | None = ()
    """The actions from the game's own beginning to ``start``; None where the file has a FEN."""
    goes_on: str = ""
    """A sentence on the file's moves after the end by the game's rules; empty if there are none."""


def ending(label: str, how: str, rest: int) -> str:
    """The sentence for a file whose moves go on after the end.

    Args:
        label: the last move that counts.
        how: the way the game ends there.
        rest: the number of moves after it.
    """
    moves = "1 move follows" if rest == 1 else f"{rest} moves follow"
    return f"the game is over after {label}, {how}, and {moves} in the file"
