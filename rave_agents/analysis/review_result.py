"""A ``Review`` of a game and its ``ReviewedMove``s."""

import collections
import dataclasses
import functools
from typing import Any

from rave_agents.game.game_state import GameState
from rave_agents.results.numbers import fixed
from rave_agents.results.result import Result
from rave_agents.results.rows import Field, exact_columns, table_columns
from rave_agents.results.tables import Column, Table

INACCURACY, MISTAKE, BLUNDER = 0.1, 0.2, 0.4
"""The least loss of value for each word, as a share of the range of utilities."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReviewedMove:
    """One move of a game; values are the mover's, in the game's utilities."""

    number: int
    """Number of the action in the game, from 1."""
    player: int
    """The player who moved; a ``PlayerId`` for chance and simultaneous moves."""
    name: str
    """The move in the game's notation."""
    value: float | None = None
    """The value of the position before it, with the best move; None if unknown."""
    value_after: float | None = None
    """The value of the position after it; None if unknown."""
    exact: bool = False
    """True if both are proven."""
    best: str = ""
    """The best move by the search; empty without a search."""
    best_action: int | None = None
    """Its action; None without a search."""
    line: tuple[str, ...] = ()
    """The principal variation of the search."""
    reply: str = ""
    """The best reply to the played move; empty if unknown."""
    refuted: bool = False
    """True if that reply wins, and no other searched reply does."""
    lost: float = 0.0
    """The value lost, as a share of the range of utilities; 0 if unknown."""
    sentences: tuple[str, ...] = ()
    """Sentences about it."""

    @property
    def word(self) -> str:
        """``blunder``, ``mistake``, ``inaccuracy``, or nothing."""
        for least, word in ((BLUNDER, "blunder"), (MISTAKE, "mistake"), (INACCURACY, "inaccuracy")):
            if self.lost >= least:
                return word
        return ""

    @property
    def refuted_by(self) -> str | None:
        """The reply that refutes it; None if there is none."""
        return self.reply if self.refuted else None


_fixed = functools.partial(fixed, places=2)

_FIELDS = (
    Field("number", "number"),
    Field("player", "player", "seat"),
    Field("name", "name"),
    Field("value", "value", "value", _fixed),
    Field("value_after", "value_after", "after", _fixed),
    Field("lost", "lost"),
    Field("exact", "exact"),
    Field("best", "best", "best", is_text=True),
    Field("", "word", "is", is_text=True),
    Field("refuted_by", "refuted_by"),
)
"""The values of a move in tables and CSV."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Review(Result):
    """A game and an agent's judgement of its moves."""

    game: str
    """The game's name."""
    agent: str
    """The agent's spec with its limit."""
    moves: tuple[ReviewedMove, ...]
    """All moves."""
    states: tuple[GameState, ...] = dataclasses.field(compare=False)
    """The position before each move, and the last one."""
    played: tuple[int | None, ...]
    """The action of each move; None where players moved at the same time."""
    values: tuple[float | None, ...]
    """The value of each position for seat 0; None if unknown."""
    returns: tuple[float, ...] | None
    """The returns, if the game is over; else None."""
    interrupted: bool = False
    """True if moves at the end were not reviewed."""

    @property
    def mistakes(self) -> list[ReviewedMove]:
        """The moves that lost at least ``INACCURACY``."""
        return [move for move in self.moves if move.word]

    def summary(self) -> str:
        """One line."""
        ends = "" if self.returns is None else f", returns {list(self.returns)}"
        words = collections.Counter(move.word for move in self.mistakes)
        found = ", ".join(f"{count} {_plural(word, count)}" for word, count in words.items())
        return (
            f"{self.game}, {len(self.moves)} moves{ends}, by {self.agent}: {found or 'no mistake'}"
        )

    @property
    def remarks(self) -> list[str]:
        """The sentences on each mistake."""
        return [" ".join(move.sentences) for move in self.mistakes]

    def columns(self) -> dict[str, list[Any]]:
        """A row for each move."""
        return exact_columns(_FIELDS, self.moves)

    def tables(self) -> list[Table]:
        """The mistakes."""
        rows = self.mistakes
        moves = Column("move", [f"{row.number}. {row.name}" for row in rows], text=True)
        return [Table([moves, *table_columns(_FIELDS, rows)])] if rows else []

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "game": self.game,
            "agent": self.agent,
            "returns": None if self.returns is None else list(self.returns),
            "values": list(self.values),
            "moves": [{**dataclasses.asdict(move), "word": move.word} for move in self.moves],
        }


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
