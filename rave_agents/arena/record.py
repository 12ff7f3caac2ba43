"""What is kept of a finished game."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

from rave_agents.frameworks.agent import Effort


@dataclasses.dataclass(frozen=True, kw_only=True)
class GameRecord:
    """One finished game."""

    number: int
    """Its number in the match, from 0."""
    first_seat: int
    """The seat of the match's first agent: 0 or 1."""
    opening: tuple[int, ...]
    """The random actions and chance outcomes that it started with."""
    actions: tuple[int, ...]
    """All actions and chance outcomes, those of the opening included; where players move at the
    same time, one action of each."""
    returns: tuple[float, float]
    """What seat 0 and seat 1 won, in the game's utilities."""
    efforts: tuple[Effort, Effort]
    """What the first and the second agent spent."""
    ending: str = ""
    """Why the game ended otherwise than by its rules, such as ``seat 1 resigned``; else empty."""
    fault: bool = False
    """Whether the loser failed or broke the rules, so that the game says little of their play."""

    @property
    def margin(self) -> float:
        """The first agent's return less the second's: the first won if it is above 0."""
        return self.returns[self.first_seat] - self.returns[1 - self.first_seat]

    @property
    def score(self) -> float:
        """The first agent's score: 1 for a win, 1/2 for a draw, 0 for a loss."""
        return 0.5 if self.margin == 0 else float(self.margin > 0)

    @property
    def pair(self) -> int:
        """The number that it has in common with the other game from its opening."""
        return self.number // 2

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON."""
        return {
            "number": self.number,
            "first_seat": self.first_seat,
            "opening": list(self.opening),
            "actions": list(self.actions),
            "returns": list(self.returns),
            "efforts": [effort._asdict() for effort in self.efforts],
            **({"ending": self.ending} if self.ending else {}),
            **({"fault": True} if self.fault else {}),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The record that ``to_dict`` made these values of; other keys are ignored.

        Raises:
            KeyError, TypeError, ValueError: if they are none.
        """
        return_0, return_1 = (float(value) for value in values["returns"])
        first, second = (Effort(**effort) for effort in values["efforts"])
        return cls(
            number=int(values["number"]),
            first_seat=int(values["first_seat"]),
            opening=tuple(map(int, values["opening"])),
            actions=tuple(map(int, values["actions"])),
            returns=(return_0, return_1),
            efforts=(first, second),
            ending=str(values.get("ending", "")),
            fault=bool(values.get("fault", False)),
        )
