"""Analysis commands for GoGui: visits, values and AMAF values on the board, and the best line."""

import dataclasses
import re
from collections.abc import Callable

from rave_agents.gtp.protocol import COLOURS, GtpError
from rave_agents.gtp.vertices import Vertices
from rave_agents.gtp_engine.thinking import point_share
from rave_agents.results.action_statistics import ActionStatistics
from rave_agents.results.search_result import SearchResult

_MOVES_SHOWN = 12
"""Moves of the principal variation that are shown, at most."""

_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclasses.dataclass(frozen=True)
class Shown:
    """The search that analysis commands show."""

    result: SearchResult | None = None
    """Its result; None before the first search."""
    vertices: Vertices | None = None
    """Writes the moves of its game."""


def plain(text: str) -> str:
    """Strip the terminal's colour codes from a text."""
    return _ANSI.sub("", text)


def colour_map(share: float) -> str:
    """A colour for a share in [0, 1]: blue at 0, green at 0.5, red at 1."""
    share = min(1.0, max(0.0, share))
    stops = [(0x30, 0x50, 0xE0), (0x40, 0xC0, 0x60), (0xE0, 0x40, 0x30)]
    low, high = (stops[0], stops[1]) if share < 0.5 else (stops[1], stops[2])
    part = 2 * share if share < 0.5 else 2 * share - 1
    return "#" + "".join(f"{round(a + part * (b - a)):02x}" for a, b in zip(low, high, strict=True))


def _found(shown: Shown) -> tuple[SearchResult, Vertices]:
    if shown.result is None or shown.vertices is None:
        raise GtpError("nothing has been searched yet")
    return shown.result, shown.vertices


def _map(
    shown: Shown,
    share: Callable[[SearchResult, ActionStatistics], float | None],
    label: Callable[[ActionStatistics], str],
) -> str:
    result, vertices = _found(shown)
    lines = []
    for row in result.actions:
        part = share(result, row)
        word = vertices.write(result.state, row.action)
        if part is not None and re.fullmatch(r"[A-Za-z]\d+", word):
            lines += [f"COLOR {colour_map(part)} {word}", f"LABEL {word} {label(row)}"]
    return "\n".join(lines)


def _share_of_visits(result: SearchResult, row: ActionStatistics) -> float | None:
    most = max(other.visits for other in result.actions)
    return row.visits / most if row.visits else None


def _share_of_amaf_visits(result: SearchResult, row: ActionStatistics) -> float | None:
    most = max(other.amaf_visits for other in result.actions)
    return row.amaf_visits / most if row.amaf_visits else None


def _visits(shown: Shown) -> str:
    return _map(shown, _share_of_visits, lambda row: str(row.visits))


def _values(shown: Shown) -> str:
    return _map(shown, lambda r, row: point_share(r, row.value), lambda row: f"{row.value:.2f}")


def _amaf_visits(shown: Shown) -> str:
    return _map(shown, _share_of_amaf_visits, lambda row: f"{row.amaf_visits:.0f}")


def _amaf_values(shown: Shown) -> str:
    return _map(
        shown,
        lambda r, row: point_share(r, row.amaf_value),
        lambda row: f"{row.amaf_value:.2f}",
    )


def _variation(shown: Shown) -> str:
    result, vertices = _found(shown)
    state = result.state.clone()
    words = ["VAR"]
    for action in result.principal_variation[:_MOVES_SHOWN]:
        words += [COLOURS[state.current_player()], vertices.write(state, action)]
        state.apply_action(action)
    return " ".join(words)


def _table(shown: Shown) -> str:
    return "\n" + str(_found(shown)[0])


SHOWS: dict[str, Callable[[Shown], str]] = {
    "rave-visits": _visits,
    "rave-values": _values,
    "rave-amaf_visits": _amaf_visits,
    "rave-amaf_values": _amaf_values,
    "rave-variation": _variation,
    "rave-table": _table,
}
"""The commands that show the last search, by name."""

ANALYZE_COMMANDS = (
    "gfx/Visits/rave-visits",
    "gfx/Values/rave-values",
    "gfx/AMAF Visits/rave-amaf_visits",
    "gfx/AMAF Values/rave-amaf_values",
    "gfx/Principal Variation/rave-variation",
    "string/Search Table/rave-table",
)
"""The same commands in GoGui's format: the type of the answer, a label, the command."""
