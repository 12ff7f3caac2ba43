"""Check that games out of a file can be replayed, in a process of its own, see ``plain_games``."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from rave_agents.arena.record import GameRecord
from rave_agents.arena.replay import replay
from rave_agents.frameworks.plain_games import (
    FAILED,
    answer_items,
    bounded,
    make_plain_game,
    reason_of,
)


class Replayable(NamedTuple):
    """A game out of a file."""

    game: str
    """The game, as the file names it."""
    seed: int
    """The match's."""
    record: GameRecord
    """The recorded game."""


def reasons_against(games: Sequence[Replayable]) -> list[str]:
    """Reasons that each of these games cannot be replayed here; empty for one that can.

    Args:
        games: out of a file.
    """
    told = [(each.game, each.seed, each.record.to_dict()) for each in games]
    return [FAILED if reason is None else reason for reason in bounded(__name__, told)]


def _reason_against(told: Any) -> str:
    game, seed, values = told
    try:
        record = GameRecord.from_dict(values)
        for step in replay(make_plain_game(game), (None, None), record, seed):
            str(step.state)
    except Exception as error:
        return reason_of(error)
    return ""


if __name__ == "__main__":
    answer_items(_reason_against)
