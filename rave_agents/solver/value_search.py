"""``ValueSearch``: what a player can force, by statements that are proven or refuted in turn."""

import math
from collections.abc import Callable
from typing import NamedTuple

from rave_agents.game.game_state import GameState
from rave_agents.simulate.utility_limits import utility_limits
from rave_agents.solver.proof_search import ProofProgress, ProofSearch

LONGEST_TRIAL = 100_000
"""Moves of the game that finds a first value where utilities have no stated bounds, at most."""


class Interval(NamedTuple):
    """Bounds on what a player can force against all others."""

    low: float
    """He can force at least this much."""
    high: float
    """He can force no more than this."""

    @property
    def is_point(self) -> bool:
        """True if the value is known."""
        return self.low == self.high


class ValueSearch:
    """Narrows the bounds on what a player can force from a position.

    A proof of "at least x" tells the least return along it, which may be above x; a refutation the
    greatest. Each next x is the middle one of the returns met between the bounds.

    Args:
        search: the search for proofs.
        state: the position.
        player: the player.
    """

    def __init__(self, search: ProofSearch, state: GameState, player: int) -> None:
        self.search = search
        self.state = state
        self.player = player
        low, high = float(state.min_utility()), float(state.max_utility())
        if search.repetition is None and search.may_loop:
            low = -math.inf
        self.limits: Interval = Interval(low, high)
        """The bounds that hold of every position."""
        self.interval: Interval = self.limits
        """The bounds by now."""
        self.at_least: float = self._first()
        """The return that is looked at."""
        self.tried: list[float] = []
        """The returns that were looked at."""

    def _first(self) -> float:
        high = self.interval.high
        if math.isfinite(high):
            return high
        state = self.state.clone()
        for _ in range(LONGEST_TRIAL):
            if state.is_terminal():
                return float(state.returns()[self.player])
            state.apply_action(state.legal_actions()[0])
        return 0.0

    def _next(self) -> float:
        """The next return to look at."""
        low, high = self.interval
        met = [value for value in self.search.values_met if low < value <= high]
        return sorted(met)[len(met) // 2] if met else math.nextafter(low, math.inf)

    def run(
        self,
        *,
        positions: int | None = None,
        seconds: float | None = None,
        watch: Callable[[ProofProgress], object] | None = None,
    ) -> Interval:
        """Narrow the bounds until they meet or a limit is reached."""
        begun, spent, now = self.search.positions, 0.0, 0.0

        def count(progress: ProofProgress) -> None:
            nonlocal now
            now = progress.seconds
            if watch is not None:
                watch(progress)

        while not self.interval.is_point:
            now = 0.0
            if self.at_least not in self.tried:
                self.tried.append(self.at_least)
            left = None if positions is None else positions - (self.search.positions - begun)
            time_left = None if seconds is None else seconds - spent
            if (left is not None and left <= 0) or (time_left is not None and time_left <= 0):
                break
            proven = self.search.prove(
                self.state,
                self.player,
                self.at_least,
                positions=left,
                seconds=time_left,
                watch=count,
            )
            spent += now
            if proven is None:
                continue
            self._take(proven)
        return self.interval

    def _take(self, proven: bool) -> None:
        """Narrow the bounds by a statement that is settled."""
        low, high = self.interval
        found = self.search.answer(self.state, self.player, self.at_least)
        value = self.at_least if found is None else found.value
        if proven:
            low = min(high, max(low, value, self.at_least))
        elif value < self.at_least:
            high = max(low, min(high, value))
        else:
            high = max(low, math.nextafter(self.at_least, -math.inf))
        self.interval = Interval(low, high)
        if not self.interval.is_point:
            self.at_least = self._next()


def loops_are_drawn(state: GameState) -> float | None:
    """The worth of endless play where nothing is said: a draw, of two who share a constant sum."""
    limits = utility_limits(state)
    return None if math.isnan(limits.sum_of_two) else limits.sum_of_two / 2


def action_bounds(values: ValueSearch) -> dict[int, tuple[float, float]]:
    """Bounds on what the player can force after each action, by what the table knows."""
    found = {}
    least, most = values.limits
    met = [value for value in values.search.values_met if least <= value <= most]
    looked_at = dict.fromkeys([*met, *values.tried, values.at_least, values.interval.high])
    bounds = [near for value in looked_at for near in (value, math.nextafter(value, math.inf))]
    after = values.search.answers_after(values.state, values.player, bounds)
    for action, answers in after.items():
        low, high = least, most
        for told in answers:
            if told is not None and told.proven:
                low = max(low, told.value)
            elif told is not None:
                high = min(high, told.value)
        found[action] = (low, high)
    return found
