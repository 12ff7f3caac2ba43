"""An evaluator of the user's own, whose answers are checked."""

import math
from collections.abc import Sequence
from typing import Any

from rave_agents.errors import GameError
from rave_agents.game.arguments import is_number
from rave_agents.game.game_state import GameState
from rave_agents.simulate.evaluator import Evaluator
from rave_agents.simulate.value import ROUNDING


class CheckedEvaluator:
    """Asks another evaluator, and refuses answers that a search cannot use.

    Args:
        evaluator: judges positions.
        root: a position of the game; it states the utilities.
    """

    def __init__(self, evaluator: Evaluator, root: GameState) -> None:
        self._evaluator = evaluator
        self._name = type(evaluator).__name__
        self._players = root.num_players()
        self._low, self._high = float(root.min_utility()), float(root.max_utility())
        allowed = ROUNDING * (self._high - self._low)
        self._slack = allowed if math.isfinite(allowed) else 0.0

    def evaluate(self, state: Any) -> Sequence[float]:
        """The expected returns of every player.

        Raises:
            GameError: if they are not one number within the utilities for each player.
        """
        values = self._evaluator.evaluate(state)
        try:
            listed = list(values)
        except TypeError:
            raise self._refusal(values) from None
        if len(listed) != self._players or not all(map(is_number, listed)):
            raise self._refusal(values)
        numbers = [float(value) for value in listed]
        low, high = self._low - self._slack, self._high + self._slack
        if not all(low <= number <= high and math.isfinite(number) for number in numbers):
            raise self._refusal(values)
        return numbers

    def prior(self, state: Any) -> Sequence[tuple[int, float]]:
        """Every legal action and its probability.

        Raises:
            GameError: if they are not pairs of an action and a number.
        """
        prior = self._evaluator.prior(state)
        try:
            return [(int(action), float(probability)) for action, probability in prior]
        except (TypeError, ValueError):
            raise GameError(
                f"{self._name}.prior(state) must return a list of pairs (action, probability), one "
                f"for each legal action: got {_shown(prior)}."
            ) from None

    def _refusal(self, values: Any) -> GameError:
        where = ""
        if self._low > -math.inf or self._high < math.inf:
            where = f", from {self._low:g} to {self._high:g}, the game's utilities"
        return GameError(
            f"{self._name}.evaluate(state) must return the expected return of each player, "
            f"{self._players} finite number{'s' * (self._players > 1)}{where}: got "
            f"{_shown(values)}."
        )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]} ..."
