"""Time management: how much time a game gives, and how much of it a move is worth.

A ``Clock`` belongs to one player. ``TimeControl`` is what the game's rules give him, ``TimePolicy``
how he spends it. Nothing here reads the time: who plays tells the clock what each move took.
"""

import dataclasses
import enum
import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from rave_agents.game.arguments import unknown_name
from rave_agents.searcher.watch import Thoughts

LEAST_SECONDS = 0.001
"""What a move gets where nothing is left."""

_SPREAD = 4
"""Over how many moves saved time is spread where each move has a planned time."""


class Schedule(enum.StrEnum):
    """How many moves the remaining time is divided by."""

    MOVES_LEFT = "moves_left"
    """Those expected to be left, as random games from the position last."""
    BASIC = "basic"
    """A constant: ``C``."""
    MAX_PLY = "max_ply"
    """``C + max(MaxPly - ply, 0)`` (Huang, Coulom & Lin 2010)."""


class Phase(NamedTuple):
    """Planned time of some moves."""

    seconds: float
    """For each of them."""
    last_move: float
    """Number of the last one, counting the player's own from 1; infinity for all that follow."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class TimeControl:
    """The time that one player has: a main time and what follows it, or a plan for each move.

    Main time may grow by an increment with each move. When it is used up, byo-yomi begins: in each
    period so many moves have to be made. A period that is overstepped is lost, and the last one
    loses the game. A plan, ``phases``, loses no game: time that a move leaves over is there for
    later ones.
    """

    main: float = 0.0
    """Seconds for the whole game, at least 0."""
    increment: float = 0.0
    """Seconds added after each move, at least 0."""
    period: float = 0.0
    """Seconds of a byo-yomi period, at least 0; 0 for none."""
    period_moves: int = 1
    """Moves to be made in a period, at least 1: 1 is Japanese, more is Canadian byo-yomi."""
    periods: int = 1
    """How many periods there are, at least 1."""
    phases: tuple[Phase, ...] = ()
    """A plan in place of all these: the last phase has no last move."""

    def __post_init__(self) -> None:
        for name in ("main", "increment", "period"):
            _require_seconds(name, getattr(self, name))
        for name in ("period_moves", "periods"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{name} must be an integer, got {value!r}.")
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}.")
        if self.phases and (self.main or self.increment or self.period):
            raise ValueError("phases plan every move: they go with no main time and no byo-yomi.")
        if not self.phases and not (self.main or self.increment or self.period):
            raise ValueError("A clock needs time: a main time, a byo-yomi period or phases.")
        if self.increment and self.period:
            raise ValueError("increment and period do not go together: give one of them.")
        last = 0.0
        for phase in self.phases:
            _require_seconds("the seconds of a phase", phase.seconds)
            if phase.seconds == 0 or not phase.last_move > last:
                raise ValueError(
                    "Phases must have seconds above 0 and last moves that grow, got "
                    f"{phase.seconds:g} to {phase.last_move:g} after {last:g}."
                )
            last = phase.last_move
        if self.phases and last != math.inf:
            raise ValueError(f"The last phase must have no last move; it ends at {last:g}.")

    def __str__(self) -> str:
        if self.phases:
            first = [f"{phase.seconds:g} to {phase.last_move:g}" for phase in self.phases[:-1]]
            return ", ".join([*first, f"{self.phases[-1].seconds:g} a move"])
        text = f"{self.main:g}"
        if self.increment:
            text += f"+{self.increment:g}"
        if self.period:
            many = f"/{self.period_moves}" if self.period_moves > 1 else ""
            text += f"+{self.periods}x{self.period:g}{many}"
        return text


@dataclasses.dataclass(frozen=True, kw_only=True)
class TimePolicy:
    """How a player spends his time."""

    schedule: Schedule = Schedule.MOVES_LEFT
    """What the remaining main time is divided by; see ``Schedule``."""
    c: float = 30.0
    """C of the schedules ``basic`` and ``max_ply``, in moves, above 0. Huang, Coulom & Lin use 80
    on 19x19, where a game has some 120 moves of each side."""
    max_ply: float = 80.0
    """MaxPly of the schedule ``max_ply``, in moves of both sides, at least 0 (Huang, Coulom & Lin
    2010: 80)."""
    least_moves: float = 4.0
    """With ``moves_left`` the remaining time is divided by at least this, at least 1: the end may
    be further away than random games tell."""
    lag: float = 0.05
    """Seconds that a move may take beyond what the search sees, at least 0; kept in reserve for
    every move that is expected."""
    early_stop: bool = True
    """Whether a move ends as soon as the runner-up cannot catch up in the time left (STOP of Baier
    & Winands 2012)."""
    unstable: float = 0.5
    """UNST of Huang, Coulom & Lin (2010): part of its time that a move gets in addition where the
    most visited move is not the best valued; at least 0."""
    behind: float = 1.0
    """BEHIND of the same: likewise where the value of the move is below ``behind_below``."""
    behind_below: float = 0.4
    """On the scale from 0, lost, to 1, won; in [0, 1]."""

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "schedule", Schedule(self.schedule))
        except ValueError:
            raise ValueError(unknown_name("schedule", self.schedule, list(Schedule))) from None
        if not isinstance(self.early_stop, bool):
            raise TypeError(f"early_stop must be True or False, got {self.early_stop!r}.")
        for name in ("c", "max_ply", "least_moves", "lag", "unstable", "behind", "behind_below"):
            _require_seconds(name, getattr(self, name))
        if self.c == 0:
            raise ValueError("c must be above 0, got 0.")
        if self.least_moves < 1:
            raise ValueError(f"least_moves must be at least 1, got {self.least_moves!r}.")
        if self.behind_below > 1:
            raise ValueError(f"behind_below must be in [0, 1], got {self.behind_below!r}.")


@dataclasses.dataclass
class Allotment:
    """The time of one move, and what may change it: a ``Watch``."""

    seconds: float
    """How long to think."""
    most: float
    """How long at most, extensions included."""
    policy: TimePolicy
    """What extends and what ends the move."""
    _extended: bool = False

    def enough(self, thoughts: Thoughts, seconds: float, simulations_left: float) -> bool:
        """See ``Watch``."""
        return self.policy.early_stop and thoughts.lead > simulations_left

    def more(self, thoughts: Thoughts) -> float:
        """See ``Watch``: once, by UNST and BEHIND."""
        if self._extended or not thoughts.visits:
            return 0.0
        self._extended = True
        part = self.policy.unstable * thoughts.unstable
        if thoughts.values[thoughts.chosen] < self.policy.behind_below:
            part += self.policy.behind
        return max(0.0, min(part * self.seconds, self.most - self.seconds))


class Clock:
    """One player's clock.

    ``allot`` tells what the next move is worth, ``charge`` takes what it used.

    Args:
        control: the time that he has.
        policy: how he spends it.
    """

    def __init__(self, control: TimeControl, policy: TimePolicy | None = None) -> None:
        self.control = control
        self.policy = TimePolicy() if policy is None else policy
        self.restart()

    @classmethod
    def parse(cls, text: "str | float | TimeControl | Clock") -> Self:
        """A new clock from how people write it.

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
            TypeError, ValueError: for what is not of that form, or a value that is not allowed.
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
        return cls(_parse_control(times, str(text)), _parse_policy(settings))

    def restart(self) -> None:
        """A new game begins."""
        control = self.control
        self.moves = 0
        """Moves that the player has made."""
        self.main_left = control.main
        """Seconds of the main time that are left."""
        self.period_left = control.period
        """Seconds that are left of the byo-yomi period."""
        self.period_moves_left = control.period_moves
        """Moves to be made in it."""
        self.periods_left = control.periods if control.period else 0
        """Periods that are left, this one included."""
        self.saved = 0.0
        """With phases: seconds that earlier moves left over; below 0, used too much."""
        self.flagged = False
        """Whether the game is lost on time."""

    @property
    def in_byo_yomi(self) -> bool:
        """Whether the main time is used up and periods run."""
        return self.main_left <= 0 and self.control.period > 0

    @property
    def needs_moves_left(self) -> bool:
        """Whether ``allot`` makes use of ``moves_left``."""
        return not self.control.phases and not self.in_byo_yomi

    def allot(self, *, moves_left: float = 1.0, ply: int = 0) -> Allotment:
        """The time of the next move.

        Args:
            moves_left: moves of this player that are expected, the next one included.
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
        """Take the time of a move that was made; returns whether it was made in time."""
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
        """Set what a controller says is left.

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
        """What is left, as ``set_left`` takes it."""
        if self.in_byo_yomi:
            return self.period_left, self.period_moves_left
        return self.main_left, 0

    def _planned(self) -> float:
        number = self.moves + 1
        return next(p.seconds for p in self.control.phases if number <= p.last_move)

    def _expected(self, moves_left: float, ply: int) -> float:
        """How many moves the remaining time is divided by."""
        policy = self.policy
        if policy.schedule is Schedule.BASIC:
            return max(1.0, policy.c)
        if policy.schedule is Schedule.MAX_PLY:
            return max(1.0, policy.c + max(policy.max_ply - ply, 0.0))
        return max(policy.least_moves, moves_left)

    def _from_main(self, expected: float, moves_left: float) -> tuple[float, float]:
        """The seconds of a move out of the main time, and how many at most."""
        lag, control = self.policy.lag, self.control
        left = self.main_left - lag * (max(expected, moves_left) + 1)
        seconds = (left + control.increment * (expected - 1)) / expected
        most = left
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
        changed = [
            f"{field.name}={getattr(self.policy, field.name)}"
            for field in dataclasses.fields(TimePolicy)
            if getattr(self.policy, field.name) != field.default
        ]
        return ", ".join([str(self.control), *changed])

    def __repr__(self) -> str:
        return f"Clock.parse({str(self)!r})"


_NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"


def _parse_control(parts: Sequence[str], text: str) -> TimeControl:
    phases = []
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        to_move = re.fullmatch(rf"{_NUMBER}\s*to\s*(\d+)", part)
        plain = re.fullmatch(rf"{_NUMBER}(\s*a move)?", part)
        if to_move is not None and not last:
            phases.append(Phase(float(to_move[1]), int(to_move[2])))
        elif plain is not None and last and (phases or plain[2]):
            phases.append(Phase(float(plain[1]), math.inf))
            return TimeControl(phases=tuple(phases))
    match = re.fullmatch(rf"{_NUMBER}(?:\+(?:(\d+)x)?{_NUMBER}(?:/(\d+))?)?", parts[0])
    if len(parts) != 1 or match is None:
        raise ValueError(
            f"Not a clock: {text!r}. It reads '60' (seconds for the game), '60+1' (with an "
            "increment), '60+3x10' (three byo-yomi periods of 10 s), '60+1x300/25' (300 s for "
            "every 25 moves), '2 a move', or '4 to 4, 8.3 to 26, 4'."
        )
    main, periods, added, moves = match.groups()
    if periods is None and moves is None:
        return TimeControl(main=float(main), increment=float(added or 0))
    return TimeControl(
        main=float(main),
        period=float(added),
        periods=int(periods or 1),
        period_moves=int(moves or 1),
    )


def _parse_policy(parts: Sequence[str]) -> TimePolicy:
    values: dict[str, Any] = {}
    known = {field.name: field.default for field in dataclasses.fields(TimePolicy)}
    for part in parts:
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in known:
            raise ValueError(unknown_name("setting of a clock", name, known))
        if name == "schedule":
            values[name] = value
        elif name == "early_stop":
            truth = {"true": True, "false": False}
            if value.lower() not in truth:
                raise ValueError(f"early_stop must be True or False, got {value!r}.")
            values[name] = truth[value.lower()]
        else:
            try:
                values[name] = float(value)
            except ValueError:
                raise ValueError(f"{name} must be a number, got {value!r}.") from None
    return TimePolicy(**values)


def _require_seconds(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    if not 0 <= value < math.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}.")
