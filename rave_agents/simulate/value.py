"""A value function as a provider of simulations asks it: its answers are checked."""

from collections.abc import Sequence
from typing import Any

from rave_agents.errors import GameError, UnsupportedGameError
from rave_agents.game.arguments import is_number
from rave_agents.game.game_state import PlayerId
from rave_agents.simulate.utility_limits import shown, utility_limits


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
        self._limits = utility_limits(root)

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
        one = is_number(value) or getattr(value, "shape", None) == ()
        given = self._of_all(state.current_player(), value) if one else value
        values = self._limits.numbers(given)
        if values is None:
            raise self._refusal(value)
        return values

    def prior(self, state: Any) -> Sequence[tuple[int, float]]:
        """Every legal action, all with the same probability; at a chance node the outcomes."""
        if state.current_player() == PlayerId.CHANCE:
            return state.chance_outcomes()  # type: ignore[no-any-return]
        actions = state.legal_actions()
        return [(int(action), 1.0 / len(actions)) for action in actions]

    @property
    def _one_is_enough(self) -> bool:
        """Whether what the player to move expects says what every player does."""
        limits = self._limits
        return limits.players == 1 or (limits.players == 2 and limits.total is not None)

    def _of_all(self, player: int, given: Any) -> list[float]:
        """Every player's value, given that of the player to move."""
        number, total = float(given), self._limits.total
        if not self._one_is_enough or player < 0:
            raise self._refusal(given)
        if total is None or self._limits.players == 1:
            return [number]
        return [number, total - number] if player == 0 else [total - number, number]

    def _refusal(self, given: Any) -> GameError:
        wanted = "the expected return of the player to move, or " if self._one_is_enough else ""
        return GameError(
            f"The value function {self._name} must return {wanted}the expected returns of all "
            f"{self._limits.players} players, finite numbers{self._limits.where}: got "
            f"{shown(given)}."
        )
