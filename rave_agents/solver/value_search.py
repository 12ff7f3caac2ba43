"""``ValueSearch``: the return that a player can force, by a sequence of proofs."""

import math
from collections.abc import Callable
from typing import NamedTuple

from rave_agents.game.game_state import GameState
from rave_agents.game.utility_limits import utility_limits
from rave_agents.solver.proof_search import ProofProgress, ProofSearch

LONGEST_TRIAL = 100_000
"""Maximum length of the game that finds a first value if utilities are unbounded."""


class Interval(NamedTuple):
    """Bounds on the return that a player can force against all others."""

    low: float
    """The player can force at least this return."""
    high: float
    """The player cannot force more than this."""

    @property
    def is_point(self) -> bool:
        """True if the value is known."""
        return self.low == self.high


class ValueSearch:
    """Narrows the bounds on the return that a player can force from a position.

    A proof of "at least x" yields the least return along it, which may exceed x; a refutation
    yields the greatest. The next x is the median of the returns met between the bounds.

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
        """The bounds that hold in every position."""
        self.interval: Interval = self.limits
        """The current bounds."""
        self.at_least: float = self._first()
        """The return that is tested now."""
        self.tried: list[float] = []
        """The returns tested so far."""

    def _first(self) -> float:
        high = self.interval.high
        # A proof of the greatest return ends the search at once.
        if math.isfinite(high):
            return high
        state = self.state.clone()
        for _ in range(LONGEST_TRIAL):
            if state.is_terminal():
                return float(state.returns()[self.player])
            state.apply_action(state.legal_actions()[0])
        return 0.0

    def _next(self) -> float:
        """The next return to test."""
        low, high = self.interval
        # A value that no end has cannot be exact: bisect among the returns met.
        met = [value for value in self.search.values_met if low < value <= high]
        # None met in between: "more than low" as one statement closes the gap.
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
        """Narrow the bounds by a settled statement."""
        low, high = self.interval
        found = self.search.answer(self.state, self.player, self.at_least)
        value = self.at_least if found is None else found.value
        if proven:
            low = min(high, max(low, value, self.at_least))
        elif value < self.at_least:
            high = max(low, min(high, value))
        else:
            # Refuted without a value below it: the next smaller float bounds the value.
            high = max(low, math.nextafter(self.at_least, -math.inf))
        self.interval = Interval(low, high)
        if not self.interval.is_point:
            self.at_least = self._next()


def loops_are_drawn(state: GameState) -> float | None:
    """The default value of endless play: a draw, in two-player constant-sum games."""
    limits = utility_limits(state)
    return None if math.isnan(limits.sum_of_two) else limits.sum_of_two / 2


def action_bounds(values: ValueSearch) -> dict[int, tuple[float, float]]:
    """Bounds on the return that the player can force after each action, from the table."""
    found = {}
    least, most = values.limits
    met = [value for value in values.search.values_met if least <= value <= most]
    looked_at = dict.fromkeys([*met, *values.tried, values.at_least, values.interval.high])
    bounds = [near for value in looked_at for near in (value, math.nextafter(value, math.inf))]
    after = values.search.answers_after(values.state, values.player, bounds)
    for action, answers in after.items():
        low, high = least, most
        for answer in answers:
            if answer is not None and answer.proven:
                low = max(low, answer.value)
            elif answer is not None:
                high = min(high, answer.value)
        found[action] = (low, high)
    return found
