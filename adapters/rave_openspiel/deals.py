"""Games whose chance mode is SAMPLED_STOCHASTIC: deals by a generator of the game, from a seed."""

import re

import numpy as np
import pyspiel

from rave_agents.errors import UnsupportedGameError

_MERSENNE_TWISTER = 625
"""Words of a ``std::mt19937``'s state: its numbers, and how many of them are used up."""

_SECTION = re.compile(r"(\[GameRNGState\]\n)(.*?)(\n\[State\])", re.DOTALL)
"""The generator in what ``serialize_game_and_state`` writes."""


def deals_by_itself(game: pyspiel.Game) -> bool:
    """Whether chance is drawn by a generator of the game."""
    mode = game.get_type().chance_mode
    return bool(mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC)


def seeded_state(game: pyspiel.Game, seed: int) -> pyspiel.State:
    """The start of a game whose generator begins with a seed, in a copy of the game.

    Args:
        game: the game; its own generator stays as it is.
        seed: from 0 to 2**32 - 1.

    Raises:
        UnsupportedGameError: if the game's generator is of an unknown kind.
    """
    text = pyspiel.serialize_game_and_state(game, game.new_initial_state())
    found = _SECTION.search(text)
    words = len(found[2].split()) if found else 0
    if words == _MERSENNE_TWISTER:
        # As std::mt19937(seed).
        numbers = np.random.RandomState(seed).get_state(legacy=False)["state"]["key"]
        generator = " ".join(map(str, [*numbers, len(numbers)]))
    elif words == 1:  # A seed, or how many deals there were.
        generator = str(seed % 2**31)
    else:
        raise UnsupportedGameError(f"{game} deals by a generator that cannot be seeded.")
    seeded = _SECTION.sub(lambda match: f"{match[1]}{generator}{match[3]}", text)
    return pyspiel.deserialize_game_and_state(seeded)[1]
