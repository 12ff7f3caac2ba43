"""What NoGo is called in OpenSpiel; its rules are loaded with the first game."""

import ctypes
from typing import Any

import pyspiel

NOGO = pyspiel.GameType(
    short_name="nogo",
    long_name="NoGo",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"board_size": 9},
)
"""The type of the game."""


def _make_nogo(params: dict[str, Any] | None = None) -> pyspiel.Game:
    from rave_openspiel.nogo import NoGoGame  # noqa: PLC0415  (imports Numba)

    return NoGoGame(params)


def register_nogo() -> None:
    """Register the game with OpenSpiel, unless a game of that name is there."""
    if NOGO.short_name not in pyspiel.registered_names():
        # C++ lets go of it only after the interpreter has ended: it must not be freed then.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(_make_nogo))
        pyspiel.register_game(NOGO, _make_nogo)
