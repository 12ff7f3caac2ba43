"""Plan of a match, a sweep, a tournament or a curve: tables, each with numbered games.

A game is known by its key: the index of its table and its number there. What comes of it depends
on these alone, so that neither the engine that plays it nor the order of the games matters.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self

MOST_GAMES = 1_000_000
"""Games at a table: more are a slip, and openings take memory."""


class Key(NamedTuple):
    """Identity of a game."""

    table: int
    """The index of its table."""
    number: int
    """Its number there, from 0."""


class Record(Protocol):
    """The record of a finished game."""

    @property
    def number(self) -> int:
        """The game's number at its table, from 0."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON."""


class AnyTable(Protocol):
    """A table where games are played; it is sent to other processes by value."""

    @property
    def name(self) -> str:
        """The game's name, for people."""

    def play(self, number: int) -> Record:
        """Play the game of this number from beginning to end."""

    def warm_up(self) -> None:
        """Do what only the first game in a process needs; errors are left to that game."""

    def describe_failure(self, number: int, error: Exception) -> tuple[str, Exception]:
        """A description of the failed game, for people, and the error that it failed with."""

    def read(self, line: Mapping[str, Any]) -> Record:
        """The record that a line of a file has.

        Raises:
            ValueError: if it has none, or the game cannot have come out like this.
        """


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """All games that are to be played, and how they are kept in a file."""

    header: Mapping[str, Any]
    """Strict JSON values that decide all games; ``format`` says what it is."""
    tables: Sequence[AnyTable]
    """The tables at which games are played."""
    labels: Sequence[Mapping[str, Any]]
    """Values by which a line of the file is known as a game of each table."""
    games: int
    """Games at each table."""
    group: int = 2
    """Consecutive games that start from one opening."""

    def keys(self, shard: "Shard | None" = None) -> Iterator[Key]:
        """The games, in the order in which they are begun: the first of all tables, ...

        So whatever slows the machine down for a while slows all tables alike. A shard has whole
        groups of games.
        """
        for number in range(self.games):
            for table in range(len(self.tables)):
                unit = number // self.group * len(self.tables) + table
                if shard is None or unit % shard.count == shard.index - 1:
                    yield Key(table, number)


@dataclasses.dataclass(frozen=True)
class Shard:
    """One part of all games, for machines that do not know of each other."""

    index: int
    """Number of the part, from 1."""
    count: int
    """Number of parts."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """The part that a text such as ``3/40`` names.

        Raises:
            ValueError: if it is not of that form, or there is no such part.
        """
        found = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise ValueError(f"A shard must be PART/PARTS, such as 3/40; got {text!r}.")
        return cls(int(found[1]), int(found[2]))
