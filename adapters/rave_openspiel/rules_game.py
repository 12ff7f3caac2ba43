"""Games that are written as ``rave_agents.games.Rules``, in OpenSpiel.

``register_rules`` makes a game known to ``pyspiel.load_game`` and all of OpenSpiel's tools. The
search recognises the game's states by their ``common_state`` and simulates them by compiled code.
"""

import ctypes
from collections.abc import Mapping
from typing import Any

import pyspiel

from rave_agents.game.validation import validated
from rave_agents.games.kit.rules import Rules

_Type = pyspiel.GameType


def game_type(
    name: str,
    parameters: Mapping[str, Any],
    *,
    long_name: str = "",
    num_players: int = 2,
    chance: bool = False,
    zero_sum: bool = True,
) -> pyspiel.GameType:
    """The type of a game of perfect information whose returns come at the end.

    Args:
        name: the short name.
        parameters: its parameters with their defaults.
        long_name: the name in print.
        num_players: the number of players.
        chance: whether chance takes part.
        zero_sum: whether returns sum up to 0.
    """
    modes, sums = _Type.ChanceMode, _Type.Utility
    return pyspiel.GameType(
        short_name=name,
        long_name=long_name or name,
        dynamics=_Type.Dynamics.SEQUENTIAL,
        chance_mode=modes.EXPLICIT_STOCHASTIC if chance else modes.DETERMINISTIC,
        information=_Type.Information.PERFECT_INFORMATION,
        utility=sums.ZERO_SUM if zero_sum else sums.GENERAL_SUM,
        reward_model=_Type.RewardModel.TERMINAL,
        max_num_players=num_players,
        min_num_players=num_players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=dict(parameters),
    )


@validated
def register_rules(rules: type[Rules]) -> None:
    """Register a game with OpenSpiel under its ``name``, unless a game of that name is there.

    Raises:
        TypeError: for anything but a class of rules.
        ValueError: for rules without a name.
    """
    if not rules.name:
        raise ValueError(f"{rules.__name__} has no name, by which OpenSpiel could know it.")
    kind = _type_of(rules())
    register(kind, lambda params=None: new_game(kind, rules, params))


def game_of_rules(rules: Rules) -> pyspiel.Game:
    """The game of these rules as OpenSpiel's, registered or not."""
    return new_game(_type_of(rules), type(rules), rules.parameters)


def _type_of(rules: Rules) -> pyspiel.GameType:
    kind = type(rules)
    return game_type(
        rules.name or kind.__name__,
        rules.parameter_defaults(),
        long_name=kind.__name__,
        num_players=rules.num_players,
        # Rules declare chance by overriding the method.
        chance=kind.chance_outcomes is not Rules.chance_outcomes,
        zero_sum=rules.utility_sum == 0,
    )


def new_game(kind: pyspiel.GameType, rules: type[Rules], params: Any = None) -> pyspiel.Game:
    """A game of a type, with its rules."""
    from rave_openspiel.rules_state import RulesGame  # noqa: PLC0415  (slow: OpenSpiel's tensors)

    return RulesGame(kind, rules, params)


def register(kind: pyspiel.GameType, make: Any) -> None:
    """Register a factory of a type's games, unless a game of that name is there."""
    if kind.short_name not in pyspiel.registered_names():
        # C++ drops its reference after the interpreter has ended, when freeing is too late.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(make))
        pyspiel.register_game(kind, make)
