"""``Rules`` as a ``pyspiel.Game`` and a ``pyspiel.State``, with observation tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel
from numpy.typing import NDArray
from open_spiel.python.observation import IIGObserverForPublicInfoGame

from rave_agents.games.kit.rules import Rules
from rave_agents.games.kit.rules_state import RulesState


class RulesGame(pyspiel.Game):  # type: ignore[misc]
    """A game as OpenSpiel's; its ``rules`` have the rules.

    Args:
        kind: the game's type.
        rules: the class of its rules.
        params: its parameters.

    Raises:
        pyspiel.SpielError: for a parameter that is not allowed.
    """

    def __init__(
        self, kind: pyspiel.GameType, rules: type[Rules], params: dict[str, Any] | None = None
    ) -> None:
        given = dict(params or {})
        try:
            self.rules: Rules = rules(**given)
            """The rules."""
        except (TypeError, ValueError) as error:
            # What ``pyspiel.load_game`` raises for its own games.
            raise pyspiel.SpielError(str(error)) from error
        made = self.rules
        chance = rules.chance_outcomes is not Rules.chance_outcomes
        info = pyspiel.GameInfo(
            num_distinct_actions=made.num_distinct_actions,
            max_chance_outcomes=made.max_actions if chance else 0,
            num_players=made.num_players,
            min_utility=made.min_utility,
            max_utility=made.max_utility,
            utility_sum=made.utility_sum,
            max_game_length=made.max_game_length or _UNKNOWN_LENGTH,
        )
        super().__init__(kind, info, given)

    def new_initial_state(self) -> RulesSpielState:
        """The position at the game's start."""
        return RulesSpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
        """An object that turns states into tensors and strings."""
        # With perfect recall, an observer must show the history: OpenSpiel's own does.
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return RulesObserver(self.rules, params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


_UNKNOWN_LENGTH = 10_000
"""The longest game if the rules do not state it."""


class RulesSpielState(pyspiel.State):  # type: ignore[misc]
    """A position as OpenSpiel's state."""

    def __init__(self, game: RulesGame) -> None:
        super().__init__(game)
        self.common_state: RulesState = game.rules.new_initial_state()
        """The position behind the interface of ``rave_agents``."""

    def current_player(self) -> int:
        """The player to move, or a ``pyspiel.PlayerId``."""
        return self.common_state.current_player()

    def _legal_actions(self, player: int) -> list[int]:
        return self.common_state.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Every outcome of chance and its probability."""
        return self.common_state.chance_outcomes()

    def _apply_action(self, action: int) -> None:
        self.common_state.apply_action(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.common_state.action_to_string(player, action)

    def is_terminal(self) -> bool:
        """True if the game is over."""
        return self.common_state.is_terminal()

    def returns(self) -> list[float]:
        """The return of each player; 0 while the game goes on."""
        return self.common_state.returns()

    def __str__(self) -> str:
        return str(self.common_state)


class RulesObserver:
    """Observes a position as the tensor of ``Rules.observation``, and as text.

    Args:
        rules: the game.
        params: must be empty.

    Raises:
        ValueError: for parameters.
    """

    def __init__(self, rules: Rules, params: Any = None) -> None:
        if params:
            raise ValueError(f"The observation of {rules} takes no parameters, got {params!r}.")
        shown = rules.new_initial_state().observation(0)
        self.tensor: NDArray[np.float32] = np.zeros(shown.size, np.float32)
        """The observation, flat."""
        self.dict: dict[str, NDArray[np.float32]] = {
            "observation": self.tensor.reshape(shown.shape)
        }
        """The same in its own shape."""

    def set_from(self, state: RulesSpielState, player: int) -> None:
        """Write the state's observation into the tensor; all players see the same."""
        self.tensor[:] = state.common_state.observation(player).ravel()

    def string_from(self, state: RulesSpielState, player: int) -> str:
        """The position as text."""
        return str(state)
