"""Searches over GTP: the last one on GoGui's board, and running ones in the lines of Leela Zero."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rave_agents.agents.state_agents import StateAgent
from rave_agents.engines.client.gtp import GtpError
from rave_agents.engines.client.vertices import COLOURS, Vertices
from rave_agents.engines.engine import FOREVER, best_first, known_value, point_share, think
from rave_agents.engines.gtp_protocol import parse_colour
from rave_agents.game.game_state import GameState
from rave_agents.results.action_statistics import ActionStatistics
from rave_agents.results.search_result import SearchResult

_MOVES_SHOWN = 12
"""Moves of the principal variation that are shown, at most."""

_LEAST_INTERVAL = 0.1
"""Seconds between two lines, at least."""

_STOPS = ((0x30, 0x50, 0xE0), (0x40, 0xC0, 0x60), (0xE0, 0x40, 0x30))
"""Blue, green and red: the colours of the shares 0, 0.5 and 1."""


def colour_of(share: float) -> str:
    """The colour of a share in [0, 1]: blue at 0, green at 0.5, red at 1."""
    # Two halves: from blue to green, and from green to red.
    part, half = 2 * min(1.0, max(0.0, share)), int(share >= 0.5)
    mixed = (a + (part - half) * (b - a) for a, b in zip(*_STOPS[half : half + 2], strict=True))
    return "#" + "".join(f"{round(each):02x}" for each in mixed)


def _map(
    share: Callable[[SearchResult, ActionStatistics], float | None],
    label: Callable[[ActionStatistics], str],
) -> Callable[[SearchResult, Vertices], str]:
    """A command that colours and labels the points of the board."""

    def show(result: SearchResult, vertices: Vertices) -> str:
        lines = []
        for row in result.actions:
            part, word = share(result, row), vertices.write(result.state, row.action)
            if part is not None and re.fullmatch(r"[A-Za-z]\d+", word):
                lines += [f"COLOR {colour_of(part)} {word}", f"LABEL {word} {label(row)}"]
        return "\n".join(lines)

    return show


def _share_of_visits(result: SearchResult, row: ActionStatistics) -> float | None:
    return row.visits / max(each.visits for each in result.actions) if row.visits else None


def _share_of_amaf_visits(result: SearchResult, row: ActionStatistics) -> float | None:
    most = max(each.amaf_visits for each in result.actions)
    return row.amaf_visits / most if row.amaf_visits else None


def _variation(result: SearchResult, vertices: Vertices) -> str:
    state, words = result.state.clone(), ["VAR"]
    for action in result.principal_variation[:_MOVES_SHOWN]:
        words += [COLOURS[state.current_player()], vertices.write(state, action)]
        state.apply_action(action)
    return " ".join(words)


SHOWS: dict[str, tuple[str, Callable[[SearchResult, Vertices], str]]] = {
    "rave-visits": ("gfx/Visits", _map(_share_of_visits, lambda row: str(row.visits))),
    "rave-values": (
        "gfx/Values",
        _map(lambda found, row: point_share(found, row.value), lambda row: f"{row.value:.2f}"),
    ),
    "rave-amaf_visits": (
        "gfx/AMAF Visits",
        _map(_share_of_amaf_visits, lambda row: f"{row.amaf_visits:.0f}"),
    ),
    "rave-amaf_values": (
        "gfx/AMAF Values",
        _map(
            lambda found, row: point_share(found, row.amaf_value),
            lambda row: f"{row.amaf_value:.2f}",
        ),
    ),
    "rave-variation": ("gfx/Principal Variation", _variation),
    "rave-table": ("string/Search Table", lambda result, vertices: f"\n{result}"),
}
"""The commands that show the last search: GoGui's type and label, and the answer."""


class Asked(NamedTuple):
    """The request for an analysis."""

    player: int | None
    """The player whose move is looked for; None for the one to move."""
    interval: float
    """Seconds between two lines."""

    @classmethod
    def parse(cls, arguments: Sequence[str]) -> "Asked":
        """Read a colour and an interval in hundredths of a second, both optional.

        Raises:
            GtpError: for anything else.
        """
        player, interval = None, 1.0
        for word in arguments:
            if word.isdecimal():
                interval = int(word) / 100
            elif word in ("avoid", "allow", "minmoves", "maxmoves"):
                raise GtpError(f"{word} is not supported")
            elif word != "interval":
                player = parse_colour(word)
        return cls(player, max(_LEAST_INTERVAL, interval))


def analyse(
    agent: StateAgent,
    state: GameState,
    interval: float,
    *,
    ends: Callable[[], bool] | None,
    show: Callable[[SearchResult], None],
) -> SearchResult:
    """Search a position, and show the result so far every ``interval`` seconds.

    The search ends once ``ends`` returns True; without it, by the agent's own limits.
    """
    last = 0.0

    def look(result: SearchResult) -> bool:
        nonlocal last
        if ends is not None and ends():
            return True
        if result.seconds >= last + interval:
            last = result.seconds
            show(result)
        return False

    if ends is not None:
        return think(agent, state, FOREVER, None, look)
    return think(agent, state, agent.limit, agent.clock, look)


def info_line(result: SearchResult, vertices: Vertices) -> str:
    """All moves with visits, the best first: win rates and priors in ten-thousandths."""
    return " ".join(
        _info(result, row, order, vertices)
        for order, row in enumerate(best_first(result))
        if row.visits
    )


def _info(result: SearchResult, row: ActionStatistics, order: int, vertices: Vertices) -> str:
    share = point_share(result, known_value(row))
    assert share is not None  # It has visits.
    line = result.principal_variation if row.action == result.action else (row.action,)
    state, words = result.state.clone(), []
    for action in map(int, line):
        words.append(vertices.write(state, action))
        state.apply_action(action)
    return (
        f"info move {words[0]} visits {row.visits} winrate {round(10_000 * share)} "
        f"prior {round(10_000 * row.prior)} order {order} pv {' '.join(words)}"
    )
