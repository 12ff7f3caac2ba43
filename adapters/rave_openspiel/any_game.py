"""Coerces user input to a ``pyspiel.Game``."""

from typing import Any

import pyspiel

from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import GameAbilities
from rave_agents.frameworks.own_games import as_game
from rave_openspiel.rules_game import game_of_rules


def as_openspiel_game(game: Any) -> pyspiel.Game:
    """Return a ``pyspiel.Game``: the one given, the one of a name, or one on the user's ``Rules``.

    Args:
        game: anything that ``rave_agents.as_game`` takes.

    Raises:
        UnsupportedGameError: for a game that is neither OpenSpiel's nor on ``Rules``.
        UnknownNameError, TypeError: as ``as_game`` raises them.
    """
    if isinstance(game, pyspiel.Game):
        return game
    if isinstance(game, pyspiel.State):
        return game.get_game()
    made = as_game(game)
    # Wrappers nest: unwrap until the object is OpenSpiel's own, or has no inner game.
    found: Any = made
    while found is not None and not isinstance(found, pyspiel.Game):
        found = GameAbilities(found).game
    if found is not None:
        return found
    rules = GameAbilities(made).rules
    if rules is None:
        raise UnsupportedGameError(
            f"{made.name} is no game of OpenSpiel, whose states its bots play: "
            "rave_agents.make_agent makes an agent for it."
        )
    return game_of_rules(rules)
