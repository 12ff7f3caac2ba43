"""Numbers in texts for people."""

import math


def fixed(value: float | None, places: int = 3) -> str:
    """A number with this many decimals; - where it is unknown."""
    return "-" if value is None or math.isnan(value) else f"{value:.{places}f}"


def whole(value: float | None) -> str:
    """A number without decimals; - where it is unknown."""
    return "-" if value is None or math.isnan(value) else f"{value:,.0f}"


def elo_text(rating: float) -> str:
    """A rating or a difference of two; - where there is none."""
    return "-" if math.isnan(rating) else f"{rating:+z.0f}"


def elo_interval_text(interval: tuple[float, float]) -> str:
    """The interval of a rating."""
    return " to ".join(map(elo_text, interval))


def interval_text(interval: tuple[float, float]) -> str:
    """The interval of a score."""
    low, high = interval
    return f"{low:.3f} to {high:.3f}"


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def played(finished: int, planned: int, noun: str) -> str:
    """Finished games of those that were planned, with their noun."""
    return (
        counted(finished, noun) if finished >= planned else f"{finished:,} of {planned:,} {noun}s"
    )
