"""Values and priors of positions as a provider of simulations asks for them."""

from collections.abc import Sequence
from typing import Any

from rave_agents.errors import UnsupportedGameError
from rave_agents.game.game_state import PlayerId
from rave_agents.game.object_names import name_of
from rave_agents.game.utility_limits import utility_limits
from rave_agents.simulate.evaluations import checked_values
from rave_agents.simulate.evaluator import EvaluatorAbilities


class PositionValue:
    """Values of positions by a value function; a provider gets it in an evaluator's place.

    Other providers can use it as an evaluator with uniform priors.

    Args:
        function: takes a state and returns the further utility that the player to move expects, or
            a list for all players; an object whose ``evaluate`` does so; or a value function that
            the provider compiles.
        root: a position of the game; it states players and utilities.
        playout_moves: moves of players after which a playout is cut; infinity for none.
    """

    def __init__(self, function: Any, root: Any, playout_moves: float) -> None:
        self.function = function
        self.playout_moves = playout_moves
        self._name = f"The value function {name_of(function)}"
        self._limits = utility_limits(root)
        self._values = function if callable(function) else EvaluatorAbilities(function).evaluate

    def evaluate(self, state: Any) -> Sequence[float]:
        """The expected further utility of every player, in addition to rewards received before.

        Raises:
            GameError: if the value function gives an invalid value.
            UnsupportedGameError: if it can only be compiled with rules that this game lacks.
        """
        if self._values is None:
            raise UnsupportedGameError(
                f"{self._name} is compiled with the rules of a game of rave_agents.games, which "
                "this is not: give a function of a state."
            )
        mover = state.current_player()
        return checked_values(self._name, self._values(state), self._limits, mover)

    def prior(self, state: Any) -> Sequence[tuple[int, float]]:
        """Every legal action, all with the same probability; at a chance node the outcomes."""
        if state.current_player() == PlayerId.CHANCE:
            return state.chance_outcomes()  # type: ignore[no-any-return]
        actions = state.legal_actions()
        return [(int(action), 1.0 / len(actions)) for action in actions]


class PositionPriors:
    """Priors of positions for playouts; a provider gets it in an evaluator's place.

    Args:
        source: has ``prior(state)``, as an evaluator.
    """

    def __init__(self, source: Any) -> None:
        self.source = source
        """Their source."""
        self.prior: Any = source.prior
        """The priors of a state."""
        self.source_name: str = f"{type(source).__name__}.prior(state)"
        """The name of their source, for messages."""
