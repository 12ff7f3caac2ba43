"""Pickles OpenSpiel's games for worker processes, with the games that Python registered.

pyspiel pickles a game as its name, which another process knows only if it has imported the game's
module. cloudpickle, which ``loky`` uses, pickles a script's classes by value, but needs a reducer
for ``GameInfo`` and an importable metaclass, which pyspiel lacks.
"""

import copy
import copyreg
import operator
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

import pyspiel

from rave_agents.frameworks.adapters import GameAbilities
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
    # Types before the text: loading it there needs every inner game registered first.
    registered = [(kind, made_by) for kind, made_by in kinds if not is_native_class(made_by)]
    return registered, str(game) if registered else game


def _maker(game: pyspiel.Game) -> type:
    """The class that makes the game: of its rules, or else its own."""
    rules = GameAbilities(game).rules
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


class RemadeBot:
    """Maker of copies of a bot that Python defines and pyspiel can neither copy nor pickle.

    Args:
        bot: the bot.
    """

    def __init__(self, bot: pyspiel.Bot) -> None:
        self._bot = bot

    def __call__(self) -> pyspiel.Bot:
        """Make a bot with a deep copy of the bot's attributes."""
        return _bot_of(type(self._bot), copy.deepcopy(vars(self._bot)))

    def __reduce__(self) -> Any:
        return _remaker_of, (type(self._bot), dict(vars(self._bot)))


def _remaker_of(kind: type, kept: Mapping[str, Any]) -> RemadeBot:
    return RemadeBot(_bot_of(kind, kept))


def _bot_of(kind: Any, kept: Mapping[str, Any]) -> pyspiel.Bot:
    bot = kind.__new__(kind)
    pyspiel.Bot.__init__(bot)
    vars(bot).update(kept)
    return bot


def remade_bot(bot: Any) -> RemadeBot | None:
    """Return a factory of copies of a bot; None for another object, or a bot that copies itself.

    Raises:
        TypeError: for a bot without ``step``, a C++ class of OpenSpiel, and a C++ bot made for one
            seat: some abort the process in another.
    """
    if type(bot) is pyspiel.Bot:  # So are C++ bots whose own class Python does not know.
        raise TypeError(
            "A C++ bot of OpenSpiel plays the one seat that it was made for, and does not report "
            "which: give from_maker(make) with a function that makes it for either, such as lambda "
            "player: pyspiel.make_uniform_random_bot(player, 1)."
        )
    if isinstance(bot, type) and issubclass(bot, pyspiel.Bot) and bot.__module__ == "pyspiel":
        raise TypeError(
            f"pyspiel.{bot.__name__} is a C++ class of OpenSpiel, made with arguments that are not "
            f"known here: give from_maker(make), where make(game, player) returns a "
            f"pyspiel.{bot.__name__}."
        )
    kind = bot if isinstance(bot, type) else type(bot)
    if issubclass(kind, pyspiel.Bot) and kind.__module__ != "pyspiel":
        owner = next(each for each in kind.__mro__ if "step" in vars(each))
        if owner is pyspiel.Bot:
            raise TypeError(f"{kind.__name__} is a pyspiel.Bot that lacks the method step(state).")
    if not isinstance(bot, pyspiel.Bot) or type(bot).__module__ == "pyspiel":
        return None
    # Methods of classes below ``pyspiel.Bot`` only: ``object`` has them all.
    own = (vars(kind) for kind in type(bot).__mro__[: type(bot).__mro__.index(pyspiel.Bot)])
    copied = {"__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__"}
    return None if any(copied & names.keys() for names in own) else RemadeBot(bot)


def _reduced_info(info: pyspiel.GameInfo) -> tuple[Any, ...]:
    return _info_of, (dict(zip(_INFO, operator.attrgetter(*_INFO)(info), strict=True)),)


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
