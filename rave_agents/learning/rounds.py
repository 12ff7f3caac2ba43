"""Rounds of learning: how long they last, what they tell, and the loop of all learners."""

import math
import time
from collections.abc import Callable
from typing import Annotated, NamedTuple, Protocol, TypeVar

from annotated_types import Ge

from rave_agents.game.game_state import GameState
from rave_agents.game.validation import checked
from rave_agents.results.numbers import counted
from rave_agents.results.view import View

MINUTES = 5.0
"""Minutes of learning where nothing is said of its length."""

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Learned(NamedTuple):
    """Progress of learning."""

    games: int
    """Games that were played."""
    positions: int
    """Their positions."""
    loss: float
    """The mean loss of the last round: squared, logistic or a network's; NaN before the first."""
    seconds: float
    """Seconds since learning began."""


class Budget:
    """Games or minutes of learning, in equal rounds.

    Args:
        minutes: above 0; None for ``MINUTES`` if no games are given either.
        games: at least ``rounds``; None where time counts.
        rounds: at least 1.

    Raises:
        TypeError, ValueError: for a number that is not allowed, and for both.
    """

    def __init__(self, minutes: float | None, games: int | None, rounds: int) -> None:
        if games is not None:
            checked("games", Annotated[int, Ge(rounds)], games)
            if minutes is not None:
                raise ValueError("Give minutes or games, not both.")
        self.rounds = rounds
        self._games = games
        self._seconds = math.inf if games is not None else 60.0 * (minutes or MINUTES)
        self.begin()

    def begin(self) -> None:
        """Start the clock anew."""
        self._begun = time.perf_counter()

    @property
    def seconds_used(self) -> float:
        """Seconds since learning began."""
        return time.perf_counter() - self._begun

    @property
    def seconds_left(self) -> float:
        """Seconds until the end; infinite where games count."""
        return self._seconds - self.seconds_used

    def tell(self, fitted: Callable[[T], object] | None, value: T) -> bool:
        """Call ``fitted``, off the clock. Returns whether learning is to go on."""
        begun = time.perf_counter()
        goes_on = fitted is None or fitted(value) is not False
        self._begun += time.perf_counter() - begun
        return goes_on

    def is_over(self, fit: int, played: int) -> bool:
        """True if a round, counted from 0, has had its share, with so many games in all."""
        if self._games is None:
            return self.seconds_used >= (fit + 1) * self._seconds / self.rounds
        return played >= (fit + 1) * self._games // self.rounds

    def games_left(self, fit: int, played: int) -> int | None:
        """Games that are left of a round, if these count; None where time does."""
        if self._games is None:
            return None
        return (fit + 1) * self._games // self.rounds - played

    def view(self, learned: Learned) -> View:
        """Progress as a display shows it."""
        loss = "" if math.isnan(learned.loss) else f", loss {learned.loss:.4f}"
        told = f"{counted(learned.games, 'game')}, {counted(learned.positions, 'position')}{loss}"
        if self._games is not None:
            return View(learned.games, self._games, "", lambda width: told)
        done = min(int(learned.seconds), int(self._seconds))
        return View(done, int(self._seconds), "", lambda width: told)


class Learner(Protocol[T_co]):
    """A learner that plays and learns in rounds of its own."""

    @property
    def games(self) -> int:
        """Games played so far."""

    @property
    def positions(self) -> int:
        """Positions learned from."""

    @property
    def error(self) -> float:
        """The mean loss of its last round."""

    def learn_round(self, games: int | None = None) -> None:
        """Play a round, of so many games at most, and learn from them."""

    def value(self) -> T_co:
        """A copy of what is learned so far."""


def learn_rounds(
    learner: Learner[T],
    budget: Budget,
    tell: Callable[[Learned], object] | None,
    fitted: Callable[[T], object] | None,
) -> T:
    """Learn round by round of the learner's own; ``fitted`` is called as often as asked."""
    for fit in range(budget.rounds):
        while not budget.is_over(fit, learner.games):
            learner.learn_round(budget.games_left(fit, learner.games))
            if tell is not None:
                tell(Learned(learner.games, learner.positions, learner.error, budget.seconds_used))
        value = learner.value()
        if not budget.tell(fitted, value):
            break
    return value


def bounded_utilities(state: GameState) -> tuple[float, float] | None:
    """The least and the greatest utility of a game; None if they are unbounded or equal."""
    low, high = float(state.min_utility()), float(state.max_utility())
    return (low, high) if -math.inf < low < high < math.inf else None
