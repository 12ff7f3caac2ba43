"""Checks of the answers of states and evaluators.

A node's answers are checked in full, once. Playouts store only players and actions, so for their
moves a range check is enough.
"""

import bisect
import itertools
import math
import operator
from collections.abc import Sequence
from typing import Any

from rave_agents.errors import GameError
from rave_agents.game.arguments import is_integer
from rave_agents.game.arrays import is_sequence, listed
from rave_agents.game.game_state import PlayerId, moving_players
from rave_agents.game.utility_limits import (
    CHANCE_ROUNDING,
    MOST_ACTIONS,
    MOST_LEGAL,
    MOST_OUTCOMES,
    UtilityLimits,
    shown,
)
from rave_agents.simulate.evaluations import Distribution, checked_priors, checked_values
from rave_agents.simulate.evaluator import Evaluator, EvaluatorAbilities
from rave_agents.simulate.value import PositionPriors

CHANCE = int(PlayerId.CHANCE)
SIMULTANEOUS = int(PlayerId.SIMULTANEOUS)
TERMINAL = int(PlayerId.TERMINAL)


class CheckedAnswers:
    """Checks the answers of states and evaluators; errors say what is wrong.

    Args:
        limits: the game's limits of players and returns.
        num_distinct_actions: actions are below this number.
        simultaneous: whether players may move at the same time.
        evaluator: the source of values in place of playouts, or of priors; or None.
    """

    def __init__(
        self,
        limits: UtilityLimits,
        num_distinct_actions: int,
        *,
        simultaneous: bool,
        evaluator: Evaluator | PositionPriors | None,
    ) -> None:
        self._limits = limits
        self._num_players = limits.players
        self._least, self._greatest = limits.least, limits.greatest
        self._least_total, self._greatest_total = limits.least_total, limits.greatest_total
        self._num_distinct_actions = num_distinct_actions
        self.simultaneous: bool = simultaneous
        self._priors = evaluator
        """The source of priors; None for equal ones."""
        self._evaluator = None if isinstance(evaluator, PositionPriors) else evaluator
        """The source of the leaves' values; None for playouts."""
        named = EvaluatorAbilities(evaluator).source_name
        self._prior_source = named or f"{type(evaluator).__name__}.prior(state)"
        self._values_source = f"{type(evaluator).__name__}.evaluate(state)"
        self.most_outcome: int = MOST_OUTCOMES
        """The largest outcome of chance that fits the search's tables."""

    def checked_movers(self, state: Any) -> Sequence[int]:
        """The players who move at the same time; refused if there are none, or undeclared."""
        if not self.simultaneous:
            raise GameError(
                f"current_player() gave {SIMULTANEOUS}, SIMULTANEOUS, but the state's class has no "
                "apply_actions."
            )
        movers = moving_players(state, self._num_players)
        if len(movers) == 0:
            raise GameError(
                "legal_actions(player) is empty for every player, but the state is not terminal."
            )
        return movers

    def checked_actions(self, player: int, actions: Sequence[int]) -> list[int]:
        """Legal actions as a list, refused if they do not fit the search's tables."""
        return checked_actions(player, actions, self._num_players, self._num_distinct_actions)

    def refusal(self, player: int, actions: Any) -> GameError:
        """The error in the player to move, or in their legal actions."""
        return wrong_actions(player, actions, self._num_players, self._num_distinct_actions)

    def checked_outcomes(self, outcomes: Sequence[tuple[int, float]]) -> Distribution:
        """Chance outcomes and their probabilities, refused if they are not a distribution."""
        try:
            actions = [operator.index(action) for action, _ in outcomes]
            chances = [float(chance) for _, chance in outcomes]
        except (TypeError, ValueError):
            raise GameError(
                "chance_outcomes() must give pairs of a whole number and its probability, got "
                f"{shown(outcomes)}."
            ) from None
        # ``fsum`` raises for an infinity; so do sums beyond it.
        total = math.fsum(chances) if max(map(abs, chances), default=0.0) < 1e9 else math.inf
        if not abs(total - 1.0) < CHANCE_ROUNDING:
            raise GameError(f"The probabilities of chance_outcomes() sum to {total}, not to 1.")
        if min(chances) < 0.0:
            raise GameError(
                f"chance_outcomes() has the probability {min(chances)}, which is below 0."
            )
        if min(actions) < 0 or max(actions) > self.most_outcome:
            wrong = min(actions) if min(actions) < 0 else max(actions)
            raise GameError(
                f"chance_outcomes() has the outcome {wrong}: outcomes are from 0 to "
                f"{self.most_outcome}."
            )
        if len(set(actions)) < len(actions):
            raise GameError(
                f"chance_outcomes() has the outcome {_repeated(actions)} twice: give each outcome "
                "once, with its whole probability."
            )
        return actions, chances

    def drawn_outcome(self, outcomes: Sequence[tuple[int, float]], unit: float) -> int:
        """The chance outcome at ``unit``, in [0, 1), of the cumulative distribution.

        Refused if the probabilities are no distribution, wherever the draw falls.
        """
        rest, drawn = unit, None
        # The usual case in one pass without lists; everything else is checked in full below.
        try:
            for action, chance in outcomes:
                if chance < 0.0 or type(action) is not int:
                    break
                rest -= chance
                if rest < 0.0 and drawn is None:
                    drawn = action
            else:
                if abs(unit - rest - 1.0) < CHANCE_ROUNDING:
                    return action if drawn is None else drawn
        except (TypeError, ValueError):
            pass
        actions, chances = self.checked_outcomes(outcomes)
        place = bisect.bisect_right(list(itertools.accumulate(chances)), unit)
        # Rounding can leave ``unit`` above the sum: the last outcome takes the rest.
        return actions[min(place, len(actions) - 1)]

    def checked_prior(self, state: Any) -> Distribution:
        """The evaluator's priors, refused unless they are a distribution over the legal actions."""
        assert self._priors is not None
        prior = self._priors.prior(state)
        legal = self.checked_actions(state.current_player(), state.legal_actions())
        return checked_priors(self._prior_source, prior, legal)

    def checked_values(self, state: Any) -> Sequence[float]:
        """The evaluator's values, refused if they are not one utility for each player."""
        assert self._evaluator is not None
        values = self._evaluator.evaluate(state)
        return checked_values(self._values_source, values, self._limits)

    def checked_returns(self, returns: Sequence[float]) -> Sequence[float]:
        """Returns, refused if they violate the game's stated limits."""
        # The usual case of a list within the bounds, several times faster than the full check.
        if type(returns) is list and len(returns) == self._num_players:
            least, greatest, total = self._least, self._greatest, 0.0
            try:
                for each in returns:
                    if not least <= each <= greatest:
                        break
                    total += each
                else:
                    if self._least_total <= total <= self._greatest_total:  # No infinity.
                        return returns
            except TypeError:
                pass
        return self._limits.returns(returns)

    def checked_rewards(self, rewards: Sequence[float]) -> Sequence[float]:
        """Check rewards collected on the way: a number for each player."""
        # The limits hold for a whole game: partial sums may leave them.
        numbers = self._limits._replace(least=-math.inf, greatest=math.inf).numbers(rewards)
        if numbers is None:
            raise GameError(
                f"The collected rewards must be {self._num_players} finite numbers, got "
                f"{shown(rewards)}."
            )
        return numbers


def checked_actions(
    player: int, actions: Sequence[int], num_players: int, num_distinct_actions: int
) -> list[int]:
    """The legal actions of a player as a list.

    Raises:
        GameError: if there is no such player, or if they are not different whole numbers from 0 to
            below ``num_distinct_actions``, at least one.
    """
    top = num_distinct_actions
    try:
        if 0 < len(actions) <= min(top, MOST_LEGAL) and 0 <= player < num_players:
            listed = actions if type(actions) is list else _as_list(actions)
            operator.index(listed[0])  # One look suffices: a list rarely mixes types.
            if min(listed) >= 0 and max(listed) < top and len(set(listed)) == len(listed):
                return listed
    except TypeError:
        pass
    raise wrong_actions(player, actions, num_players, top)


def wrong_actions(player: int, actions: Any, num_players: int, top: int) -> GameError:
    """The error in the player to move or in their legal actions, for ``checked_actions``."""
    if not is_integer(player) or not 0 <= player < num_players:
        return GameError(
            f"current_player() gave {player!r}: a search needs a player from 0 to "
            f"{num_players - 1}, CHANCE ({CHANCE}), SIMULTANEOUS ({SIMULTANEOUS}) or "
            f"TERMINAL ({TERMINAL})."
        )
    if not is_sequence(actions):
        return GameError(f"legal_actions() must give a list of actions, got {shown(actions)}.")
    if not 0 < len(actions) <= MOST_LEGAL:
        empty = f"is empty for player {player}, but the state is not terminal."
        many = (
            f"has {len(actions)} actions, and a search takes at most {MOST_LEGAL} at a position: "
            "let a mask, or the game, leave out those that make no sense."
        )
        return GameError(f"legal_actions() {empty if len(actions) == 0 else many}")
    listed = list(itertools.islice(actions, top + 1))  # Among more than ``top``, one repeats.
    strange = [action for action in listed if not _is_whole(action)]
    if strange:
        return GameError(
            f"legal_actions() has {strange[0]!r}: actions are whole numbers from 0 to {top - 1}."
        )
    if min(listed) < 0 or max(listed) >= top:
        return GameError(
            f"legal_actions() reaches from {min(listed)} to {max(listed)}, but "
            f"num_distinct_actions() allows 0 to {top - 1}."
        )
    return GameError(
        f"legal_actions() has {_repeated(listed)} twice: give each legal action once, got "
        f"{shown(actions)}."
    )


def not_whole(actions: Sequence[Any]) -> GameError:
    """The error for a list with an action that is not a whole number, or too large."""
    strange = next((action for action in actions if not _is_whole(action)), actions[0])
    return GameError(f"legal_actions() has {strange!r}: actions are whole numbers.")


def checked_whole(actions: Sequence[Any]) -> Sequence[int]:
    """Actions, refused if one is no whole number."""
    if not all(map(is_integer, actions)):
        raise not_whole(actions)
    return actions


def _as_list(actions: Any) -> list[int]:
    """A list of actions from another kind of sequence."""
    if not is_sequence(actions):
        raise TypeError
    return list(listed(actions))


def _is_whole(action: Any) -> bool:
    """True for a whole number of eight bytes."""
    try:
        return -MOST_ACTIONS <= operator.index(action) <= MOST_ACTIONS
    except TypeError:
        return False


def _repeated(actions: Sequence[int]) -> int | None:
    """The first repeated action."""
    seen: set[int] = set()
    for action in actions:
        if action in seen:
            return action
        seen.add(action)
    return None
