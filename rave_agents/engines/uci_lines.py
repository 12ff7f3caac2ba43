"""Lines of the Universal Chess Interface: the limits of ``go``, and ``info`` about a search."""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Self

from rave_agents.engines.client.uci_moves import UciMoves
from rave_agents.engines.engine import best_first, known_value, point_share
from rave_agents.game.game_state import GameState
from rave_agents.results.action_statistics import ActionStatistics
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.time_control import TimeControl

_NUMBERS = frozenset(
    ["wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "movetime", "mate"]
)
_MARKS = frozenset(["infinite", "ponder"])


@dataclasses.dataclass(frozen=True)
class Go:
    """A request to search."""

    nodes: int | None = None
    """Simulations for each action."""
    depth: int | None = None
    """Length of the expected line in moves."""
    seconds: float | None = None
    """Seconds for the move."""
    clocks: tuple[TimeControl | None, TimeControl | None] = (None, None)
    """The clocks of White, who moves first, and Black."""
    infinite: bool = False
    """True if only ``stop`` ends the search."""
    ponder: bool = False
    """True if the limits hold from ``ponderhit`` on only."""
    search_moves: tuple[str, ...] = ()
    """The moves to choose from; empty for all."""

    @classmethod
    def parse(cls, words: Sequence[str]) -> Self:
        """Read the words after ``go``; unknown ones are ignored.

        Raises:
            ValueError: if a number is missing or no integer.
        """
        numbers: dict[str, int] = {}
        marks, moves, left = set(), [], list(words)
        while left:
            word = left.pop(0)
            if word in _NUMBERS:
                text = left.pop(0) if left else ""
                if not text.lstrip("-").isdecimal():
                    raise ValueError(f"{word} takes an integer, got {text!r}.")
                numbers[word] = int(text)
            elif word in _MARKS:
                marks.add(word)
            elif word == "searchmoves":
                while left and left[0] not in _NUMBERS | _MARKS:
                    moves.append(left.pop(0))
        # Some clients send 0 or less, also for the time left: search as little as possible.
        least = {name: max(1, number) for name, number in numbers.items()}
        return cls(
            nodes=least.get("nodes"),
            depth=least.get("depth"),
            seconds=least["movetime"] / 1000 if "movetime" in least else None,
            clocks=(_control("w", numbers), _control("b", numbers)),
            infinite=bool(marks),
            ponder="ponder" in marks,
            search_moves=tuple(moves),
        )


def _control(side: str, numbers: Mapping[str, int]) -> TimeControl | None:
    """The time that a side has left; None without a clock."""
    if f"{side}time" not in numbers:
        return None
    left = max(1, numbers[f"{side}time"]) / 1000
    gain = max(0, numbers.get(f"{side}inc", 0)) / 1000
    moves = numbers.get("movestogo", 0)
    if moves > 0:
        return TimeControl(main=0.0, period=left + gain, period_moves=moves)
    return TimeControl(main=left, increment=gain)


MOST_CENTIPAWNS = 10_000
"""The greatest score of a move whose outcome is not proven."""


def info_lines(
    moves: UciMoves,
    result: SearchResult,
    start: GameState,
    begun: Sequence[int],
    count: int,
) -> Iterator[str]:
    """Write an ``info`` line for each of the ``count`` best moves.

    The turn began at ``start``; of its actions, those in ``begun`` are chosen.
    """
    milliseconds = round(1000 * result.seconds)
    speed = round(result.simulations / result.seconds) if result.seconds > 0 else 0
    for rank, row in enumerate(best_first(result)[:count], 1):
        own = row.action == result.action  # Only the chosen move has a line; others have one move.
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
    """The value of a move for the player who plays it.

    A share s of the points is 400·log10(s / (1 − s)) centipawns, the Elo difference with which s is
    the expected score. A proven win or loss is the number of moves until then, negative for a loss.
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
    # Elo's formula, solved for the difference: s = 1 / (1 + 10^(-d/400)).
    centipawns = round(400 * math.log10(share / (1 - share)))
    return f"cp {max(-MOST_CENTIPAWNS, min(MOST_CENTIPAWNS, centipawns))}"
