"""OpenSpiel's games on their way to other processes, with what Python has registered.

pyspiel pickles a game as its name, which another process knows only if its module is imported
there. A class that a script defines is pickled by what it consists of (cloudpickle does that for
``joblib``); two things that this needs are missing in pyspiel and are given here.
"""

import copyreg
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

import pyspiel

from rave_openspiel.native import inner_games, is_native_class

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
    """What ``unpacked`` takes to make the game in another process."""
    kinds = [(each.get_type(), type(each)) for each in (game, *inner_games(game))]
    registered = [(kind, made_by) for kind, made_by in kinds if not is_native_class(made_by)]
    return registered, str(game) if registered else game


def unpacked(
    registered: Sequence[tuple[pyspiel.GameType, type]], game: pyspiel.Game | str
) -> pyspiel.Game:
    """The game; the games of Python that it is made of are registered if they are not."""
    known = pyspiel.registered_names()
    for kind, made_by in registered:
        if kind.short_name not in known:
            pyspiel.register_game(kind, made_by)
    return pyspiel.load_game(game) if isinstance(game, str) else game


def _reduced_info(info: pyspiel.GameInfo) -> tuple[Any, ...]:
    return _info_of, ({name: getattr(info, name) for name in _INFO},)


def _info_of(values: Mapping[str, Any]) -> pyspiel.GameInfo:
    return pyspiel.GameInfo(**values)


def _make_metaclass_known() -> None:
    """Let pickle find the metaclass of pyspiel's classes under the name that it says it has."""
    metaclass = type(pyspiel.Game)
    module = sys.modules.setdefault(metaclass.__module__, types.ModuleType(metaclass.__module__))
    if not hasattr(module, metaclass.__name__):
        setattr(module, metaclass.__name__, metaclass)


copyreg.pickle(pyspiel.GameInfo, _reduced_info)
_make_metaclass_known()
