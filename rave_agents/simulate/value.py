"""A value function as a provider of simulations asks it: its answers are checked."""

import math
from collections.abc import Sequence
from typing import Any

from rave_agents.errors import GameError, UnsupportedGameError
from rave_agents.game.arguments import is_number
from rave_agents.game.game_state import PlayerId

ROUNDING = 1e-6
"""How far values may lie outside the utilities, as a share of their range: single precision."""


class PositionValue:
    """Judges positions by a value function; a provider gets it in an evaluator's place.

    A provider that does not know it takes it for an evaluator with uniform priors.

    Args:
        function: takes a state and returns what the player to move may still expect, a number, or
            what every player may; or another value function, which the provider knows.
        root: a position of the game; it states players and utilities.
        playout_moves: moves of players after which a playout is cut; infinity for none.
    """

    def __init__(self, function: Any, root: Any, playout_moves: float) -> None:
        self.function = function
        self.playout_moves = playout_moves
        self._name = getattr(function, "__name__", type(function).__name__)
        self._players = int(root.num_players())
        stated = getattr(root, "utility_sum", None)
        self._sum: float | None = None if stated is None else stated()
        self._low, self._high = float(root.min_utility()), float(root.max_utility())
        allowed = ROUNDING * (self._high - self._low)
        self._slack = allowed if math.isfinite(allowed) else 0.0

    def evaluate(self, state: Any) -> Sequence[float]:
        """What every player may still expect, beside what they have been paid before.

        Raises:
            GameError: if the value function gives anything else than is allowed.
            UnsupportedGameError: if it can only be compiled with rules that this game has not.
        """
        if not callable(self.function):
            raise UnsupportedGameError(
                f"The value function {self._name} is compiled with the rules of a game of "
                "rave_agents.games, which this is not: give a function of a state."
            )
        value = self.function(state)
        shape = getattr(value, "shape", None)
        if is_number(value) or shape == ():
            values = self._of_all(state.current_player(), float(value), value)
        else:
            try:
                values = [float(number) for number in value]
            except (TypeError, ValueError):
                raise self._refusal(value) from None
        low, high = self._low - self._slack, self._high + self._slack
        in_range = all(low <= number <= high and math.isfinite(number) for number in values)
        if len(values) != self._players or not in_range:
            raise self._refusal(value)
        return values

    def prior(self, state: Any) -> Sequence[tuple[int, float]]:
        """Every legal action, all with the same probability; at a chance node the outcomes."""
        if state.current_player() == PlayerId.CHANCE:
            return state.chance_outcomes()  # type: ignore[no-any-return]
        actions = state.legal_actions()
        return [(int(action), 1.0 / len(actions)) for action in actions]

    def _of_all(self, player: int, number: float, given: Any) -> list[float]:
        """Every player's value, given that of the player to move."""
        if self._players == 1:
            return [number]
        if self._players != 2 or self._sum is None or player < 0:
            raise self._refusal(given)
        return [number, self._sum - number] if player == 0 else [self._sum - number, number]

    def _refusal(self, given: Any) -> GameError:
        one = self._players == 1 or (self._players == 2 and self._sum is not None)
        wanted = "the expected return of the player to move, or " if one else ""
        where = ""
        if self._low > -math.inf or self._high < math.inf:
            where = f", from {self._low:g} to {self._high:g}, the game's utilities"
        text = repr(given)
        text = text if len(text) <= 200 else f"{text[:200]} ..."
        return GameError(
            f"The value function {self._name} must return {wanted}the expected returns of all "
            f"{self._players} players, finite numbers{where}: got {text}."
        )
