"""Numbers as text."""

import math
from typing import Any


def finite(value: Any) -> Any:
    """A value for strict JSON: None in place of an infinite number or NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def fixed(value: float | None, places: int = 3) -> str:
    """A number with this many decimals, never minus zero; "-" if unknown."""
    return "-" if value is None or math.isnan(value) else f"{value:z.{places}f}"


def whole(value: float | None) -> str:
    """A number without decimals; "-" if unknown."""
    return "-" if value is None or math.isnan(value) else f"{value:,.0f}"


def elo_text(rating: float) -> str:
    """A rating or a difference of two ratings; "-" without one."""
    return "-" if math.isnan(rating) else f"{rating:+z.0f}"


def elo_interval_text(interval: tuple[float, float]) -> str:
    """The interval of a rating; "-" if it excludes nothing."""
    return " to ".join(map(elo_text, interval)) if _excludes_some(interval) else "-"


def interval_text(interval: tuple[float, float], places: int = 3) -> str:
    """The interval of a score; "-" if it excludes nothing, as without games."""
    if not _excludes_some(interval):
        return "-"
    low, high = interval
    return f"{low:.{places}f} to {high:.{places}f}"


def score_text(score: float, interval: tuple[float, float], places: int = 3) -> str:
    """A score and its interval; "-" without games."""
    known = not math.isnan(score)
    return f"{fixed(score, places)} ({interval_text(interval, places)})" if known else "-"


def _excludes_some(interval: tuple[float, float]) -> bool:
    """True if an interval is known and excludes some scores or ratings."""
    return interval not in {(0.0, 1.0), (-math.inf, math.inf)} and not any(
        map(math.isnan, interval)
    )


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun if number == 1 else _plural(noun)}"


def played(finished: int, planned: int, noun: str) -> str:
    """Finished games out of the planned ones, with their noun."""
    if finished >= planned:
        return counted(finished, noun)
    return f"{finished:,} of {planned:,} {_plural(noun)}"


def _plural(noun: str) -> str:
    return f"{noun}{'es' if noun.endswith('ch') else 's'}"
