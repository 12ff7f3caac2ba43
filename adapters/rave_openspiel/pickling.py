"""Pickles OpenSpiel's games for worker processes, with the games that Python registered.

pyspiel pickles a game as its name, which another process knows only if it has imported the game's
module. cloudpickle, which ``loky`` uses, pickles a class of a script by value; this module adds
two things that cloudpickle needs and pyspiel lacks.
"""

import copyreg
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

import pyspiel

from rave_agents.games.kit.rules import Rules
from rave_openspiel.native import inner_games
from rave_openspiel.pointers import is_native_class
from rave_openspiel.rules_game import register_rules

_INFO = (
    "num_distinct_actions",
    "max_chance_outcomes",
    "num_players",
    "min_utility",
    "max_utility",
    "utility_sum",
    "max_game_length",
)


def packed(game: pyspiel.Game) -> tuple[Any, ...]:
    """Return the arguments with which ``unpacked`` makes the game in another process."""
    kinds = [(each.get_type(), _maker(each)) for each in (game, *inner_games(game))]
    registered = [(kind, made_by) for kind, made_by in kinds if not is_native_class(made_by)]
    return registered, str(game) if registered else game


def _maker(game: pyspiel.Game) -> type:
    """The class that makes the game: that of its rules, or else its own."""
    rules = getattr(game, "rules", None)
    return type(rules) if isinstance(rules, Rules) else type(game)


def unpacked(
    registered: Sequence[tuple[pyspiel.GameType, type]], game: pyspiel.Game | str
) -> pyspiel.Game:
    """Make the game; register the Python games that it consists of first."""
    known = pyspiel.registered_names()
    for kind, made_by in registered:
        if kind.short_name not in known and issubclass(made_by, Rules):
            register_rules(made_by)
        elif kind.short_name not in known:
            pyspiel.register_game(kind, made_by)
    return pyspiel.load_game(game) if isinstance(game, str) else game


def _reduced_info(info: pyspiel.GameInfo) -> tuple[Any, ...]:
    return _info_of, ({name: getattr(info, name) for name in _INFO},)


def _info_of(values: Mapping[str, Any]) -> pyspiel.GameInfo:
    return pyspiel.GameInfo(**values)


def _make_metaclass_known() -> None:
    """Make the metaclass of pyspiel's classes importable under its stated name, for pickle."""
    metaclass = type(pyspiel.Game)
    module = sys.modules.setdefault(metaclass.__module__, types.ModuleType(metaclass.__module__))
    if not hasattr(module, metaclass.__name__):
        setattr(module, metaclass.__name__, metaclass)


copyreg.pickle(pyspiel.GameInfo, _reduced_info)
_make_metaclass_known()
