"""NoGo in OpenSpiel: the Python game ``nogo(board_size=9)``.

Importing ``rave_openspiel`` registers it (``nogo_type.py``), so that ``pyspiel.load_game`` and all
of OpenSpiel's tools know it. The rules are those of ``rave_agents.games``; the search recognises
the game's states by their ``common_state`` and simulates them by compiled code.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel
from numpy.typing import NDArray
from open_spiel.python.observation import IIGObserverForPublicInfoGame

from rave_agents.games.nogo import DEFAULT_SIZE, NoGoState
from rave_agents.games.nogo_rules import LARGEST, SMALLEST
from rave_openspiel.nogo_type import NOGO

PLANES = ("black", "white", "empty", "white to move")
"""What the planes of the observation tensor are."""


class NoGoGame(pyspiel.Game):  # type: ignore[misc]
    """NoGo as OpenSpiel's game; ``rave_agents.games.NoGoState`` has the rules."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = dict(params or {})
        size = given.get("board_size", DEFAULT_SIZE)
        if not SMALLEST <= size <= LARGEST:
            raise pyspiel.SpielError(
                f"board_size must be from {SMALLEST} to {LARGEST}, got {size}."
            )
        self.board_size: int = int(size)
        """Points on a side."""
        info = pyspiel.GameInfo(
            num_distinct_actions=self.board_size**2,
            max_chance_outcomes=0,
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=self.board_size**2,
        )
        super().__init__(NOGO, info, given)

    def new_initial_state(self) -> NoGoSpielState:
        """The empty board."""
        return NoGoSpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
        """An object that turns states into tensors and strings."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return BoardObserver(self.board_size, params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


class NoGoSpielState(pyspiel.State):  # type: ignore[misc]
    """A position of NoGo as OpenSpiel's state."""

    def __init__(self, game: NoGoGame) -> None:
        super().__init__(game)
        self.common_state: NoGoState = NoGoState(game.board_size)
        """The position behind the interface of ``rave_agents``."""

    def current_player(self) -> int:
        """The player to move, or ``pyspiel.PlayerId.TERMINAL``."""
        return self.common_state.current_player()

    def _legal_actions(self, player: int) -> list[int]:
        return self.common_state.legal_actions()

    def _apply_action(self, action: int) -> None:
        self.common_state.apply_action(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.common_state.action_to_string(player, action)

    def is_terminal(self) -> bool:
        """Whether the player to move has no legal move."""
        return self.common_state.is_terminal()

    def returns(self) -> list[float]:
        """1 for the winner and -1 for the loser; 0 for both while the game goes on."""
        return self.common_state.returns()

    def __str__(self) -> str:
        return str(self.common_state)


class BoardObserver:
    """Observes the board as a tensor of shape [4, size, size], a1 first, and as text.

    Args:
        board_size: points on a side.
        params: must be empty.

    Raises:
        ValueError: for parameters.
    """

    def __init__(self, board_size: int, params: Any = None) -> None:
        if params:
            raise ValueError(f"NoGo's observation takes no parameters, got {params!r}.")
        self.tensor: NDArray[np.float32] = np.zeros(len(PLANES) * board_size**2, np.float32)
        """The observation, flat."""
        planes = self.tensor.reshape(len(PLANES), board_size, board_size)
        self.dict: dict[str, NDArray[np.float32]] = {"observation": planes}
        """The same by planes, see ``PLANES``."""

    def set_from(self, state: NoGoSpielState, player: int) -> None:
        """Write the state's observation into the tensor; both players see the same."""
        planes = self.tensor.reshape(len(PLANES), -1)
        planes[:] = 0.0
        colours = np.array(state.common_state.colours())
        planes[colours, np.arange(len(colours))] = 1.0
        planes[3] = float(state.current_player() == 1)

    def string_from(self, state: NoGoSpielState, player: int) -> str:
        """The board as text."""
        return str(state)
