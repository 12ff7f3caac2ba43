"""Worlds (determinizations) of the game ``negotiation``, by editing a serialized state.

The game's own generator draws everything at its chance node, whose outcomes can be neither listed
nor chosen, so that no history can be replayed. A serialized state holds all that was drawn,
however, and only the other player's utilities are hidden.
"""

import random

import pyspiel

from rave_openspiel.uniform_moves import Unit

GREATEST_UTILITY = 10
"""The largest utility of one item; ``kMaxValue`` of the game."""

_UTILITIES_LINE = 2
"""The line of the serialized state where the utilities begin, after steps and items."""


class NegotiationWorlds:
    """Worlds with other utilities of the other player, each independent of the others.

    By the rules each item is worth 0 to 10 to a player, uniformly, and not all of them nothing.

    Args:
        state: the true position.
        player: who is to move there.
        unit: draws the seed of every random choice.
    """

    method = "resample"
    cycle = 0
    """Every world is drawn independently."""

    def __init__(self, state: pyspiel.State, player: int, unit: Unit) -> None:
        self._game = state.get_game()
        self._lines = state.serialize().rstrip("\n").split("\n")
        self._place = _UTILITIES_LINE + 1 - player
        self._items = len(self._lines[1].split())
        self._random = random.Random(int(unit() * 2**32))

    def __call__(self) -> pyspiel.State:
        """Draw the next world."""
        utilities = [0]
        while not any(utilities):
            utilities = [self._random.randint(0, GREATEST_UTILITY) for _ in range(self._items)]
        self._lines[self._place] = " ".join(map(str, utilities))
        return self._game.deserialize_state("\n".join(self._lines))
