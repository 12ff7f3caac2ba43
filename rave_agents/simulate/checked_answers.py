"""What a state answers, refused where a search cannot use it."""

import math
from collections.abc import Sequence
from typing import Any

from rave_agents.errors import GameError
from rave_agents.game.game_state import PlayerId, moving_players
from rave_agents.simulate.evaluator import Evaluator

CHANCE = int(PlayerId.CHANCE)
SIMULTANEOUS = int(PlayerId.SIMULTANEOUS)
TERMINAL = int(PlayerId.TERMINAL)


class CheckedAnswers:
    """The checks of what states and evaluators answer, each with what was wrong.

    Args:
        num_players: how many players the game has.
        num_distinct_actions: actions are below this number.
        simultaneous: whether players may move at the same time.
        evaluator: what judges positions in place of playouts, or None.
    """

    def __init__(
        self,
        num_players: int,
        num_distinct_actions: int,
        *,
        simultaneous: bool,
        evaluator: Evaluator | None,
    ) -> None:
        self._num_players = num_players
        self._num_distinct_actions = num_distinct_actions
        self.simultaneous: bool = simultaneous
        self._evaluator = evaluator

    def checked_movers(self, state: Any) -> Sequence[int]:
        """Who moves at the same time, refused if it is nobody or the search was not told."""
        if not self.simultaneous:
            raise GameError(
                f"current_player() gave {SIMULTANEOUS}, SIMULTANEOUS, but the state's class has no "
                "apply_actions."
            )
        movers = moving_players(state)
        if len(movers) == 0:
            raise GameError(
                "legal_actions(player) is empty for every player, but the state is not terminal."
            )
        return movers

    def checked_actions(self, state: Any, player: int, actions: Sequence[int]) -> Sequence[int]:
        """Legal actions, refused where they would not fit the search's tables."""
        if not 0 <= player < self._num_players:
            raise GameError(
                f"current_player() gave {player}: a search needs a player from 0 to "
                f"{self._num_players - 1}, CHANCE ({CHANCE}), SIMULTANEOUS ({SIMULTANEOUS}) or "
                f"TERMINAL ({TERMINAL})."
            )
        if len(actions) == 0:
            raise GameError(
                f"legal_actions() is empty for player {player}, but the state is not terminal."
            )
        if min(actions) < 0 or max(actions) >= self._num_distinct_actions:
            raise GameError(
                f"legal_actions() reaches from {min(actions)} to {max(actions)}, but "
                f"num_distinct_actions() allows 0 to {self._num_distinct_actions - 1}."
            )
        return actions

    def checked_outcomes(
        self, outcomes: Sequence[tuple[int, float]]
    ) -> Sequence[tuple[int, float]]:
        """Chance outcomes, refused if their probabilities do not sum to 1."""
        total = math.fsum(probability for _, probability in outcomes)
        if not abs(total - 1.0) < 1e-6:
            raise GameError(f"The probabilities of chance_outcomes() sum to {total}, not to 1.")
        return outcomes

    def checked_prior(self, state: Any) -> Sequence[tuple[int, float]]:
        """The evaluator's priors, refused if they are not those of the legal actions."""
        assert self._evaluator is not None
        prior = list(self._evaluator.prior(state))
        player = state.current_player()
        legal = self.checked_actions(state, player, state.legal_actions())
        if sorted(action for action, _ in prior) != sorted(legal):
            raise GameError(
                "The evaluator's prior(state) does not list exactly the legal actions: it has "
                f"{len(prior)} actions, legal are {len(legal)}."
            )
        if not all(0.0 <= probability < math.inf for _, probability in prior):
            raise GameError(
                "The evaluator's prior(state) has a probability that is not at least 0."
            )
        return prior

    def checked_returns(self, returns: Sequence[float]) -> Sequence[float]:
        """Returns, refused if they are not one finite number for each player."""
        if len(returns) != self._num_players:
            raise GameError(
                f"Expected returns for {self._num_players} players, "
                f"got {len(returns)}: {returns!r}."
            )
        if not all(map(math.isfinite, returns)):
            raise GameError(f"Returns must be finite numbers, got {returns!r}.")
        return returns
