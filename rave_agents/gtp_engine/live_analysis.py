"""Analysis while a search runs, as Leela Zero's ``lz-analyze`` gives it and Sabaki reads it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rave_agents.agents.state_agents import SearchAgent
from rave_agents.game.game_state import GameState
from rave_agents.gtp.protocol import GtpError, parse_colour
from rave_agents.gtp.vertices import Vertices
from rave_agents.gtp_engine.thinking import (
    FOREVER,
    best_first,
    known_value,
    point_share,
    think,
)
from rave_agents.results.action_statistics import ActionStatistics
from rave_agents.results.search_result import SearchResult

_LEAST_INTERVAL = 0.1
"""Seconds between two lines, at least."""


class Asked(NamedTuple):
    """The request for an analysis."""

    player: int | None
    """The player whose move is looked for; None for who is to move."""
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


def search(
    agent: object,
    state: GameState,
    asked: Asked,
    *,
    ends: Callable[[], bool] | None,
    tell: Callable[[SearchResult], None],
) -> SearchResult:
    """Search a position, and tell of it now and then.

    Args:
        agent: who searches.
        state: the position.
        asked: how often to tell.
        ends: whether to end, asked again and again; None to end as the agent does.
        tell: called with the result so far.

    Raises:
        GtpError: if the agent does not search.
    """
    if not isinstance(agent, SearchAgent):
        raise GtpError("this agent does not search")
    told = 0.0

    def look(result: SearchResult) -> bool:
        nonlocal told
        if ends is not None and ends():
            return True
        if result.seconds >= told + asked.interval:
            told = result.seconds
            tell(result)
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
    return (
        f"info move {vertices.write(result.state, row.action)} visits {row.visits} "
        f"winrate {round(10_000 * share)} prior {round(10_000 * row.prior)} order {order} "
        f"pv {' '.join(_words(result, line, vertices))}"
    )


def _words(result: SearchResult, line: Sequence[int], vertices: Vertices) -> list[str]:
    state, words = result.state.clone(), []
    for action in line:
        words.append(vertices.write(state, int(action)))
        state.apply_action(int(action))
    return words
