"""Settings of a clock: the time a game gives a player, and how the player spends it."""

import dataclasses
import enum
import math
import re
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Le

from rave_agents.game.arguments import unknown_argument
from rave_agents.game.validation import Count, NonNegative, Positive, check_fields, checked


class Schedule(enum.StrEnum):
    """Estimates of the divisor of the remaining time, in moves."""

    MOVES_LEFT = "moves_left"
    """The expected number of moves left, estimated by random games."""
    BASIC = "basic"
    """A constant: ``C``."""
    MAX_PLY = "max_ply"
    """``C + max(MaxPly - ply, 0)`` (Huang, Coulom & Lin 2010)."""


class Phase(NamedTuple):
    """Planned time per move for a range of moves."""

    seconds: float
    """Seconds per move."""
    last_move: float
    """Number of the last of these moves, counting the player's own from 1; infinity for all
    following moves."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class TimeControl:
    """The time of one player: a main time and byo-yomi, or a plan for each move.

    Main time may grow by an increment per move. When it is used up, byo-yomi begins: a number of
    moves must be made in each period. Exceeding a period uses it up, and exceeding the last one
    loses the game. A plan, ``phases``, cannot lose on time: time saved by a move is available to
    later ones.
    """

    main: NonNegative = 0.0
    """Seconds for the whole game, at least 0."""
    increment: NonNegative = 0.0
    """Seconds added after each move, at least 0."""
    period: NonNegative = 0.0
    """Seconds of a byo-yomi period, at least 0; 0 for none."""
    period_moves: Count = 1
    """Moves to be made in a period, at least 1: 1 is Japanese, more is Canadian byo-yomi."""
    periods: Count = 1
    """Number of periods, at least 1."""
    phases: tuple[Phase, ...] = ()
    """A plan instead of all these; the last phase has no last move."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.phases and (self.main or self.increment or self.period):
            raise ValueError("phases plan every move: leave out main, increment and period.")
        if not self.phases and not (self.main or self.increment or self.period):
            raise ValueError("A clock needs time: a main time, a byo-yomi period or phases.")
        if self.increment and self.period:
            raise ValueError("increment and period exclude each other: give only one of them.")
        last = 0.0
        for phase in self.phases:
            checked("the seconds of a phase", Positive, phase.seconds)
            if not phase.last_move > last:
                raise ValueError(
                    f"Phases must have increasing last moves, got {phase.last_move:g} after "
                    f"{last:g}."
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
    """How a player divides the time among moves."""

    schedule: Schedule = Schedule.MOVES_LEFT
    """The divisor of the remaining main time; see ``Schedule``."""
    c: Positive = 30.0
    """C of the schedules ``basic`` and ``max_ply``, in moves, above 0. Huang, Coulom & Lin use 80
    on 19x19, where each side makes some 120 moves."""
    max_ply: NonNegative = 80.0
    """MaxPly of the schedule ``max_ply``, in moves of both sides, at least 0 (Huang, Coulom & Lin
    2010: 80)."""
    least_moves: Annotated[float, Ge(1)] = 4.0
    """Minimum divisor of the remaining time with ``moves_left``, at least 1: the end may be further
    away than random games suggest."""
    lag: NonNegative = 0.05
    """Seconds per move outside the search, such as network lag, at least 0; reserved for every
    expected move."""
    early_stop: bool = True
    """True to end a move as soon as the runner-up cannot catch up in the time left (STOP of Baier &
    Winands 2012)."""
    unstable: NonNegative = 0.5
    """UNST of Huang, Coulom & Lin (2010): extra time, as a share of the move's time, if the most
    visited move does not have the best value; at least 0."""
    behind: NonNegative = 1.0
    """BEHIND of Huang, Coulom & Lin (2010): extra time if the move's value is below
    ``behind_below``."""
    behind_below: Annotated[float, Ge(0), Le(1)] = 0.4
    """Value below which a player is behind, in [0, 1], from lost to won."""

    def __post_init__(self) -> None:
        check_fields(self)


_NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"


def parse_control(parts: Sequence[str], text: str) -> TimeControl:
    """The time control in ``parts``, the comma-separated pieces of ``text``."""
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


def parse_policy(parts: Sequence[str]) -> TimePolicy:
    """The policy with the settings ``parts``, each a ``name=value``."""
    values: dict[str, Any] = {}
    known = {field.name: field.default for field in dataclasses.fields(TimePolicy)}
    for part in parts:
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in known:
            raise ValueError(unknown_argument("setting of a clock", name, known))
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
