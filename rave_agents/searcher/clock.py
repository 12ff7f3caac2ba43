"""Time management: the time a game gives, and how much of it to spend on a move.

A ``Clock`` belongs to one player. Its ``TimeControl`` is the time that the game gives, its
``TimePolicy`` how the player spends it. Nothing here reads the time: the caller charges the clock
for each move.
"""

import dataclasses
import math
from typing import Self

from rave_agents.searcher.time_control import (
    Schedule,
    TimeControl,
    TimePolicy,
    parse_control,
    parse_policy,
)
from rave_agents.searcher.watch import RootStatistics

LEAST_SECONDS = 0.001
"""Time of a move if no time is left."""

_SPREAD = 4
"""With planned times per move, saved time is spread over this many moves."""


@dataclasses.dataclass
class Allotment:
    """The time of one move; as a ``Watch``, it may end or extend the move."""

    seconds: float
    """Seconds to think."""
    most: float
    """Maximum seconds, including extensions."""
    policy: TimePolicy
    """The policy for extending and ending the move."""
    _extended: bool = False

    def should_stop(
        self, statistics: RootStatistics, seconds: float, simulations_left: float
    ) -> bool:
        """See ``Watch``."""
        return self.policy.early_stop and statistics.lead > simulations_left

    def extension_seconds(self, statistics: RootStatistics) -> float:
        """See ``Watch``: extends once, by UNST and BEHIND."""
        if self._extended or not statistics.visits:
            return 0.0
        self._extended = True
        part = self.policy.unstable * statistics.unstable
        if statistics.values[statistics.chosen] < self.policy.behind_below:
            part += self.policy.behind
        return max(0.0, min(part * self.seconds, self.most - self.seconds))


class Clock:
    """One player's clock.

    ``allot`` returns the time of the next move, ``charge`` takes the time it used.

    Args:
        control: the time that the player has.
        policy: how they spend it.
    """

    def __init__(self, control: TimeControl, policy: TimePolicy | None = None) -> None:
        self.control: TimeControl = control
        self.policy: TimePolicy = TimePolicy() if policy is None else policy
        self.restart()

    @classmethod
    def parse(cls, text: "str | float | TimeControl | Clock") -> Self:
        """Parse a clock.

        ========================  ====================================================
        ``60``                    60 s for the game
        ``60+1``                  and 1 s more with each move
        ``60+3x10``               and then three byo-yomi periods of 10 s for a move
        ``60+1x300/25``           and then 300 s for every 25 moves
        ``2 a move``              2 s for each move in the mean
        ``4 to 4, 8.3 to 26, 4``  4 s to the 4th move, 8.3 s to the 26th, then 4 s
        ========================  ====================================================

        Fields of ``TimePolicy`` may follow: ``60+1, schedule=max_ply, c=20``.

        Raises:
            TypeError, ValueError: for an invalid text or value.
        """
        if isinstance(text, Clock):
            return cls(text.control, text.policy)
        if isinstance(text, TimeControl):
            return cls(text)
        if isinstance(text, bool) or not isinstance(text, str | int | float):
            raise TypeError(f"clock must be a text such as '60+1', got {text!r}.")
        parts = [part.strip() for part in str(text).split(",")]
        settings = [part for part in parts if "=" in part]
        times = [part for part in parts if "=" not in part]
        return cls(parse_control(times, str(text)), parse_policy(settings))

    def restart(self) -> None:
        """Start a new game."""
        control = self.control
        self.moves: int = 0
        """Moves that the player has made."""
        self.main_left: float = control.main
        """Seconds left of the main time."""
        self.period_left: float = control.period
        """Seconds left of the byo-yomi period."""
        self.period_moves_left: int = control.period_moves
        """Moves still to be made in the period."""
        self.periods_left: int = control.periods if control.period else 0
        """Periods left, including this one."""
        self.saved: float = 0.0
        """With phases, seconds saved by earlier moves; negative if they overspent."""
        self.flagged: bool = False
        """True if the player has lost on time."""

    @property
    def in_byo_yomi(self) -> bool:
        """True if the main time is used up and periods run."""
        return self.main_left <= 0 and self.control.period > 0

    @property
    def needs_moves_left(self) -> bool:
        """True if ``allot`` uses ``moves_left``."""
        return not self.control.phases and not self.in_byo_yomi

    def allot(self, *, moves_left: float = 1.0, ply: int = 0) -> Allotment:
        """The time of the next move.

        Args:
            moves_left: expected moves of this player, including the next one.
            ply: moves of all players so far.
        """
        if self.control.phases:
            planned = self._planned()
            seconds = planned + (self.saved / _SPREAD if self.saved > 0 else self.saved)
            most = planned + self.saved
        elif self.in_byo_yomi:
            seconds = self.period_left / self.period_moves_left - self.policy.lag
            most = self.period_left - self.policy.lag * self.period_moves_left
            if self.period_moves_left > 1:
                most = min(most, 2 * seconds)
        else:
            seconds, most = self._from_main(self._expected(moves_left, ply), moves_left)
        seconds = max(LEAST_SECONDS, seconds)
        return Allotment(seconds, max(seconds, most), self.policy)

    def charge(self, seconds: float) -> bool:
        """Charge the time of a move; returns whether it was in time."""
        if seconds < 0 or not math.isfinite(seconds):
            raise ValueError(f"seconds must be a finite number of at least 0, got {seconds!r}.")
        control = self.control
        if control.phases:
            self.saved += self._planned() - seconds
        elif seconds <= self.main_left:
            self.main_left += control.increment - seconds
        else:
            self._charge_periods(seconds - self.main_left)
            self.main_left = 0.0
        self.moves += 1
        return not self.flagged

    def set_left(self, seconds: float, moves: int = 0) -> None:
        """Set the remaining time, as reported by a controller.

        Args:
            seconds: of the main time or, with ``moves``, of the byo-yomi period.
            moves: to be made in the period; 0 in main time.
        """
        if self.control.phases:
            return
        if moves == 0:
            self.main_left = seconds
        else:
            self.main_left = 0.0
            self.period_left, self.period_moves_left = seconds, moves
        self.flagged = False

    def time_left(self) -> tuple[float, int]:
        """The remaining time in the form of ``set_left``."""
        if self.in_byo_yomi:
            return self.period_left, self.period_moves_left
        return self.main_left, 0

    def _planned(self) -> float:
        number = self.moves + 1
        return next(p.seconds for p in self.control.phases if number <= p.last_move)

    def _expected(self, moves_left: float, ply: int) -> float:
        """Divisor of the remaining time, in moves."""
        policy = self.policy
        if policy.schedule is Schedule.BASIC:
            return max(1.0, policy.c)
        if policy.schedule is Schedule.MAX_PLY:
            return max(1.0, policy.c + max(policy.max_ply - ply, 0.0))
        return max(policy.least_moves, moves_left)

    def _from_main(self, expected: float, moves_left: float) -> tuple[float, float]:
        """The seconds of a move from the main time, and the maximum."""
        lag, control = self.policy.lag, self.control
        moves = max(expected, moves_left)
        # Keep the lag of all expected moves in reserve, and one more for safety.
        left = self.main_left - lag * (moves + 1)
        # Future increments count as well, except the one after the last expected move.
        seconds = (left + control.increment * (expected - 1)) / expected
        # Later moves pay their lag from their own increment first.
        most = self.main_left - 2 * lag - max(0.0, lag - control.increment) * (moves - 1)
        if control.period:
            spare = control.period / control.period_moves - lag
            seconds = max(seconds, min(spare, self.main_left + spare))
            most = self.main_left + spare
        return min(seconds, most), most

    def _charge_periods(self, seconds: float) -> None:
        while seconds > self.period_left and self.periods_left > 0:
            seconds -= self.period_left
            self.periods_left -= 1
            self._renew_period()
        if self.periods_left == 0:
            self.flagged = True
            return
        self.period_left -= seconds
        self.period_moves_left -= 1
        if self.period_moves_left == 0:
            self._renew_period()

    def _renew_period(self) -> None:
        self.period_left = self.control.period
        self.period_moves_left = self.control.period_moves

    def __str__(self) -> str:
        defaults = {field.name: field.default for field in dataclasses.fields(TimePolicy)}
        values = dataclasses.asdict(self.policy)
        changed = [f"{name}={values[name]}" for name in defaults if values[name] != defaults[name]]
        return ", ".join([str(self.control), *changed])

    def __repr__(self) -> str:
        return f"Clock.parse({str(self)!r})"
