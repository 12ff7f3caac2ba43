"""The loop of all learners: rounds of self-play and fitting, for some games or minutes.

In each round all processes play with the same evaluator, from different seeds; then this process
learns from their games. So equal seeds, games and numbers of processes learn equally, wherever the
processes run.
"""

import abc
import math
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

import numpy as np
from annotated_types import Ge

from rave_agents.arena.workers import local_executor
from rave_agents.errors import UnsupportedGameError
from rave_agents.game.facts import Facts
from rave_agents.game.validation import checked
from rave_agents.results.numbers import counted
from rave_agents.results.progress import Progress, View, shown

MINUTES = 5.0
"""Minutes of learning by default."""

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Played = TypeVar("Played")


class Learned(NamedTuple):
    """Progress of learning."""

    games: int
    """Games played."""
    positions: int
    """Positions learned from."""
    loss: float
    """The mean loss of the last fit: squared, logistic or a network's; NaN before the first."""
    seconds: float
    """Seconds since learning began."""


class Learner(abc.ABC, Generic[T_co]):
    """Plays games of self-play and fits to their positions.

    Args:
        seed: decides everything random.
        jobs: processes that play, at least 1.
        executor: runs them; None for processes of this machine, or for this one if ``jobs`` is 1.
    """

    def __init__(self, *, seed: int = 0, jobs: int = 1, executor: Executor | None = None) -> None:
        self.games: int = 0
        """Games played."""
        self.positions: int = 0
        """Positions learned from."""
        self.loss: float = math.nan
        """The mean loss of the last fit; NaN before the first."""
        own = executor is None and jobs > 1
        self.executor: Executor | None = local_executor(jobs) if own else executor
        self.seeds: np.random.SeedSequence = np.random.SeedSequence(seed)
        self._jobs = jobs

    @abc.abstractmethod
    def learn_round(self, games: int | None = None) -> None:
        """Play and learn. Its number of games is the learner's choice, but at most ``games``."""

    @abc.abstractmethod
    def value(self) -> T_co:
        """A copy of the value, policy or network learned so far."""

    def shares(self, games: int) -> Iterable[tuple[int, np.random.SeedSequence]]:
        """The games of a round that each process plays, and their seed."""
        # Spawned seeds depend on the round and the number of processes only.
        for place, seed in enumerate(self.seeds.spawn(self._jobs)):
            yield (games + place) // self._jobs, seed

    def play(self, function: Callable[[Any], Played], shares: Iterable[Any]) -> list[Played]:
        """Call a function with each process's share of a round, in the processes."""
        run: Any = map if self.executor is None else self.executor.map
        return list(run(function, shares))


class Budget:
    """Games or minutes of learning, in equal rounds.

    Args:
        minutes: above 0; None for ``MINUTES`` unless games are given.
        games: at least ``rounds``; None for minutes.
        rounds: at least 1.

    Raises:
        ValueError: for both minutes and games, or fewer games than rounds.
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
        """Start the clock."""
        self._begun = time.perf_counter()

    @property
    def seconds_used(self) -> float:
        """Seconds since learning began."""
        return time.perf_counter() - self._begun

    @property
    def seconds_left(self) -> float:
        """Seconds until the end; infinite for a number of games."""
        return self._seconds - self.seconds_used

    def games_left(self, ended: int, played: int) -> float:
        """Games left of a round, after ``ended`` rounds and ``played`` games; infinite for time."""
        if self._games is not None:
            return (ended + 1) * self._games // self.rounds - played
        return math.inf if self.seconds_used < (ended + 1) * self._seconds / self.rounds else 0

    def goes_on(self, fitted: Callable[[T], object] | None, value: T) -> bool:
        """Call ``fitted`` with the clock stopped. Returns False if it ends learning."""
        begun = time.perf_counter()
        goes_on = fitted is None or fitted(value) is not False
        self._begun += time.perf_counter() - begun  # Checks of strength take no learning time.
        return goes_on

    def view(self, learned: Learned) -> View:
        """Progress as a display shows it."""
        loss = "" if math.isnan(learned.loss) else f", loss {learned.loss:.4f}"
        line = f"{counted(learned.games, 'game')}, {counted(learned.positions, 'position')}{loss}"
        if self._games is not None:
            return View(learned.games, self._games, "", lambda width: line)
        done = min(int(learned.seconds), int(self._seconds))
        return View(done, int(self._seconds), "", lambda width: line)


def learn_rounds(
    learner: Learner[T],
    budget: Budget,
    progress: Progress[Learned],
    fitted: Callable[[T], object] | None,
) -> T:
    """Learn until the budget is used up, or ``fitted`` returns False after one of its rounds.

    A round of the budget consists of rounds of the learner's own size, at least one in the first.
    """
    budget.begin()
    with shown(progress, budget.view) as show:
        for ended in range(budget.rounds):
            while (left := budget.games_left(ended, learner.games)) > 0 or learner.games == 0:
                learner.learn_round(int(left) if 0 < left < math.inf else None)
                if show is not None:
                    used = budget.seconds_used
                    show(Learned(learner.games, learner.positions, learner.loss, used))
            value = learner.value()
            if not budget.goes_on(fitted, value):
                break
    return value


def check_learnable(facts: Facts, name: str) -> None:
    """Refuse a game that no learner takes.

    Raises:
        UnsupportedGameError: for simultaneous moves, or utilities without bounds.
    """
    bounded = -math.inf < facts.limits.low < facts.limits.high < math.inf
    if facts.simultaneous or not bounded:
        raise UnsupportedGameError(
            f"{name} cannot be learned: that needs a game in which one player moves at a time and "
            "utilities are bounded."
        )


def check_observed(facts: Facts, name: str) -> None:
    """Refuse a game without observations.

    Raises:
        UnsupportedGameError: if its states have none.
    """
    if not facts.observations:
        raise UnsupportedGameError(f"{name} shows no observations to learn from.")
