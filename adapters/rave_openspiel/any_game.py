"""A game of OpenSpiel, made of whatever a user has."""

from typing import Any

import pyspiel

from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.own_games import as_game
from rave_openspiel.rules_game import register_rules


def as_openspiel_game(game: Any) -> pyspiel.Game:
    """Return a ``pyspiel.Game``: the one given, the one of a name, or one on the user's ``Rules``.

    Args:
        game: anything that ``rave_agents.as_game`` takes.

    Raises:
        UnsupportedGameError: for a game that is not OpenSpiel's and no ``Rules``.
        UnknownNameError, TypeError: as ``as_game`` raises them.
    """
    if isinstance(game, pyspiel.Game):
        return game
    made = as_game(game)
    found: Any = made
    while found is not None and not isinstance(found, pyspiel.Game):
        found = getattr(found, "game", None)
    if found is not None:
        return found
    rules = getattr(made, "rules", None)
    if rules is None:
        raise UnsupportedGameError(
            f"{made.name} is no game of OpenSpiel, whose states its bots play: "
            "rave_agents.make_agent makes an agent for it."
        )
    register_rules(type(rules))
    registered = pyspiel.load_game(rules.name, rules.parameters)
    if getattr(registered, "rules", None) != rules:
        raise UnsupportedGameError(
            f"OpenSpiel has another game that is called {rules.name!r}: give "
            f"{type(rules).__name__} another name."
        )
    return registered
