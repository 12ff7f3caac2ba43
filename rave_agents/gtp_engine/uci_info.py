"""The ``info`` lines of UCI, by which an engine tells of a search while it thinks."""

import math
from collections.abc import Iterator, Sequence

from rave_agents.game.game_state import GameState
from rave_agents.gtp.uci_moves import UciMoves
from rave_agents.gtp_engine.thinking import best_first, known_value, point_share
from rave_agents.results.action_statistics import ActionStatistics
from rave_agents.results.search_result import SearchResult

MOST_CENTIPAWNS = 10_000
"""The greatest score that is told of what is not proven."""


def info_lines(
    moves: UciMoves,
    result: SearchResult,
    start: GameState,
    begun: Sequence[int],
    count: int,
) -> Iterator[str]:
    """Write an ``info`` line for each of the best moves.

    Args:
        moves: writes the game's moves.
        result: of the search.
        start: the position at which the turn began.
        begun: actions of this turn that have been chosen.
        count: lines at most, the best move first.
    """
    milliseconds = round(1000 * result.seconds)
    speed = round(result.simulations / result.seconds) if result.seconds > 0 else 0
    for rank, row in enumerate(best_first(result)[:count], 1):
        own = row.action == result.action
        actions = result.principal_variation if own else (row.action,)
        line = variation(moves, start, [*begun, *actions])
        yield " ".join(
            [
                f"info depth {max(1, len(line))} multipv {rank} score {score(result, row)}",
                f"nodes {result.simulations} nps {speed} time {milliseconds}",
                *(["pv", *line] if line else []),
            ]
        )


def variation(moves: UciMoves, start: GameState, actions: Sequence[int]) -> list[str]:
    """Write the whole turns of a line."""
    now, words = start.clone(), []
    for first in range(0, len(actions) - moves.turn + 1, moves.turn):
        turn = [int(action) for action in actions[first : first + moves.turn]]
        words.append(moves.write(now, turn))
        for action in turn:
            now.apply_action(action)
    return words


def score(result: SearchResult, row: ActionStatistics) -> str:
    """The value of a move for who plays it.

    A share s of the points is told as 400·log10(s / (1 − s)) centipawns, the difference in Elo that
    it stands for; a proven win or loss by the number of moves until then, below 0 where it is lost.
    """
    low, high = result.state.min_utility(), result.state.max_utility()
    if row.outcome is not None and low < high and row.outcome in (low, high):
        plies = max(1, row.distance or 1)
        return f"mate {(plies + 1) // 2}" if row.outcome == high else f"mate -{plies // 2 or 1}"
    share = point_share(result, known_value(row))
    if share is None:
        return "cp 0"
    if not 0.0 < share < 1.0:
        return f"cp {MOST_CENTIPAWNS if share > 0 else -MOST_CENTIPAWNS}"
    centipawns = round(400 * math.log10(share / (1 - share)))
    return f"cp {max(-MOST_CENTIPAWNS, min(MOST_CENTIPAWNS, centipawns))}"
