"""The base of results of several matches: tournaments, sweeps, curves and races."""

import abc
import dataclasses
from collections.abc import Sequence

from rave_agents.arena.match_result import MatchResult
from rave_agents.records.record import GameRecord
from rave_agents.results.result import GrowingResult


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class MatchesResult(GrowingResult):
    """A result of several matches, which grows with each game."""

    latest: tuple[int, GameRecord] | None = None
    """The latest finished game, with the index of its match."""
    interrupted: bool = False
    """True if the run was interrupted."""

    @property
    @abc.abstractmethod
    def all_matches(self) -> Sequence[MatchResult]:
        """The matches, in the order of their indices."""

    @property
    def finished(self) -> int:
        """Number of finished games over all matches."""
        return sum(match.finished for match in self.all_matches)

    @property
    def latest_line(self) -> str:
        """One line on the latest finished game; empty if there is none."""
        return "" if self.latest is None else self.line_of(*self.latest)

    def line_of(self, index: int, record: GameRecord) -> str:
        """One line on a game of the match with this index."""
        return record.line(self.all_matches[index].agents)
