"""Plan of a match, a sweep, a tournament or a curve: tables, each with numbered games.

A game is identified by its key: the index of its table and its number there. Its result depends
only on these, not on the executor or the order of the games.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self

MOST_GAMES = 1_000_000
"""Maximum number of games at a table, to catch typing errors and save memory for openings."""


class Key(NamedTuple):
    """Identity of a game."""

    table: int
    """The index of its table."""
    number: int
    """The game's number at the table, from 0."""


class Record(Protocol):
    """The record of a finished game."""

    @property
    def number(self) -> int:
        """The game's number at its table, from 0."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON."""


class AnyTable(Protocol):
    """A table at which games are played; it is pickled for other processes."""

    @property
    def name(self) -> str:
        """The game's name."""

    def play(self, number: int) -> Record:
        """Play the game of this number from beginning to end."""

    def warm_up(self) -> None:
        """Prepare for the first game in a process; errors are left to that game."""

    def describe_failure(self, number: int, error: Exception) -> tuple[str, Exception]:
        """A description of the failed game, and its error."""

    def read(self, line: Mapping[str, Any]) -> Record:
        """The record in a line of a file.

        Raises:
            ValueError: if it has none, or the game cannot have this result.
        """


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """All games to be played, and how a file records them."""

    header: Mapping[str, Any]
    """Strict JSON values that determine all games; ``format`` names the kind of run."""
    tables: Sequence[AnyTable]
    """The tables at which games are played."""
    labels: Sequence[Mapping[str, Any]]
    """For each table, the values that identify its lines in the file."""
    games: int
    """Number of games at each table."""
    group: int = 2
    """Number of consecutive games that share an opening."""

    def keys(self, shard: "Shard | None" = None) -> Iterator[Key]:
        """Round-robin over tables: the first games of all tables, then the second ones, ...

        So load on the machine affects all tables alike. A shard has complete groups of games.
        """
        for number in range(self.games):
            for table in range(len(self.tables)):
                unit = number // self.group * len(self.tables) + table
                if shard is None or unit % shard.count == shard.index - 1:
                    yield Key(table, number)


@dataclasses.dataclass(frozen=True)
class Shard:
    """One part of all games, for machines that run independently."""

    index: int
    """Number of the part, from 1."""
    count: int
    """Number of parts."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a part such as ``3/40``.

        Raises:
            ValueError: for another form, or a part that does not exist.
        """
        found = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise ValueError(f"A shard must be PART/PARTS, such as 3/40; got {text!r}.")
        return cls(int(found[1]), int(found[2]))
