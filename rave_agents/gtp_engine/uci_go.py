"""The command ``go`` of the Universal Chess Interface: how long to think, and about what."""

import dataclasses
from typing import Self

from rave_agents.searcher.time_control import TimeControl

_NUMBERS = frozenset(
    ["wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "movetime", "mate"]
)
_MARKS = frozenset(["infinite", "ponder"])


@dataclasses.dataclass(frozen=True)
class Go:
    """The request of a ``go``."""

    numbers: dict[str, int]
    """Its numbers by their names, times in milliseconds."""
    infinite: bool
    """True if only ``stop`` ends the search."""
    search_moves: tuple[str, ...]
    """The moves to choose from; empty for all."""
    ponder: bool = False
    """True if ``ponderhit`` starts the time that it says."""

    @classmethod
    def parse(cls, words: list[str]) -> Self:
        """Read the words behind ``go``; what UCI does not name is passed over.

        Raises:
            ValueError: if a number is missing or none.
        """
        numbers: dict[str, int] = {}
        infinite, ponder, moves = False, False, []
        left = list(words)
        while left:
            word = left.pop(0)
            if word in _NUMBERS:
                text = left.pop(0) if left else ""
                if not text.lstrip("-").isdecimal():
                    raise ValueError(f"{word} takes an integer, got {text!r}.")
                numbers[word] = int(text)
            elif word in _MARKS:
                infinite, ponder = True, ponder or word == "ponder"
            elif word == "searchmoves":
                while left and left[0] not in _NUMBERS | _MARKS:
                    moves.append(left.pop(0))
        return cls(numbers, infinite, tuple(moves), ponder)

    def hit(self) -> Self:
        """The request once the move that was pondered on has been played."""
        return dataclasses.replace(self, infinite=False, ponder=False)

    @property
    def nodes(self) -> int | None:
        """Simulations for each action; None if it does not say."""
        return max(1, self.numbers["nodes"]) if "nodes" in self.numbers else None

    @property
    def depth(self) -> int | None:
        """Moves that the expected line is to have; None if it does not say."""
        return max(1, self.numbers["depth"]) if "depth" in self.numbers else None

    @property
    def seconds(self) -> float | None:
        """Seconds for the move; None if it does not say."""
        return max(1, self.numbers["movetime"]) / 1000 if "movetime" in self.numbers else None

    def control(self, *, white: bool) -> TimeControl | None:
        """The time that a side has left; None if it does not say."""
        side = "w" if white else "b"
        if f"{side}time" not in self.numbers:
            return None
        left = max(1, self.numbers[f"{side}time"]) / 1000
        gain = max(0, self.numbers.get(f"{side}inc", 0)) / 1000
        moves = self.numbers.get("movestogo", 0)
        if moves > 0:
            return TimeControl(main=0.0, period=left + gain, period_moves=moves)
        return TimeControl(main=left, increment=gain)
