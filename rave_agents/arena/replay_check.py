"""Check in a separate process that games from a file can be replayed, see ``plain_games``."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from rave_agents.arena.replay import replay
from rave_agents.frameworks.plain_games import (
    FAILED,
    answer_items,
    bounded,
    make_plain_game,
    reason_of,
)
from rave_agents.records.record import GameRecord


class Replayable(NamedTuple):
    """A game from a file."""

    game: str
    """The game's name in the file."""
    seed: int
    """The match's seed."""
    record: GameRecord
    """The recorded game."""


def reasons_against(games: Sequence[Replayable]) -> list[str]:
    """The reasons why games cannot be replayed here; empty for those that can.

    Args:
        games: games from a file.
    """
    requests = [(each.game, each.seed, each.record.to_dict()) for each in games]
    return [FAILED if reason is None else reason for reason in bounded(__name__, requests)]


def _reason_against(request: Any) -> str:
    game, seed, values = request
    try:
        record = GameRecord.from_dict(values)
        for step in replay(make_plain_game(game), (None, None), record, seed):
            str(step.state)
    except Exception as error:
        return reason_of(error)
    return ""


if __name__ == "__main__":
    answer_items(_reason_against)
