"""Seeded deals of games whose own generator deals (chance mode SAMPLED_STOCHASTIC)."""

import re

import numpy as np
import pyspiel

from rave_agents.errors import UnsupportedGameError

_MERSENNE_TWISTER = 625
"""Words in the state of a ``std::mt19937``: its 624 numbers, and the count of used ones."""

_SECTION = re.compile(r"(\[GameRNGState\]\n)(.*?)(\n\[State\])", re.DOTALL)
"""The generator's state in the text of ``serialize_game_and_state``, the only access to it."""


def deals_by_itself(game: pyspiel.Game) -> bool:
    """True if the game draws chance with a generator of its own."""
    mode = game.get_type().chance_mode
    return bool(mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC)


def seeded_state(game: pyspiel.Game, seed: int) -> pyspiel.State:
    """Return the initial state of a copy of the game whose generator has this seed.

    Args:
        game: the game; its own generator is not changed.
        seed: from 0 to 2**32 - 1.

    Raises:
        UnsupportedGameError: if the game's generator is of an unknown kind.
    """
    text = pyspiel.serialize_game_and_state(game, game.new_initial_state())
    found = _SECTION.search(text)
    words = len(found[2].split()) if found else 0
    if words == _MERSENNE_TWISTER:
        # NumPy's legacy seeding is that of std::mt19937(seed). A used count of 624 makes the next
        # draw twist first, as in a freshly seeded generator.
        numbers = np.random.RandomState(seed).get_state(legacy=False)["state"]["key"]
        generator = " ".join(map(str, [*numbers, len(numbers)]))
    elif words == 1:  # A seed, or the number of deals so far.
        generator = str(seed % 2**31)
    else:
        raise UnsupportedGameError(f"{game} deals by a generator that cannot be seeded.")
    seeded = _SECTION.sub(lambda match: f"{match[1]}{generator}{match[3]}", text)
    # Deserialising makes another game, so the caller's generator is untouched.
    return pyspiel.deserialize_game_and_state(seeded)[1]
