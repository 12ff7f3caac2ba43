"""Records of finished games, and games read from SGF or PGN files."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from rave_agents.frameworks.agent import Effort
from rave_agents.game.game_state import GameState
from rave_agents.records import fields


@dataclasses.dataclass(frozen=True, kw_only=True)
class GameRecord:
    """One finished game."""

    number: int
    """Its number in the match, from 0."""
    first_seat: int
    """The seat of the match's first agent, 0 or 1; with other numbers of players, the seat that one
    agent has alone, see ``first_seats``."""
    opening: tuple[int, ...]
    """The random actions and chance outcomes of its opening."""
    actions: tuple[int, ...]
    """All actions and chance outcomes, including the opening's; for simultaneous moves, one action
    per player."""
    returns: tuple[float, ...]
    """The returns of seat 0, seat 1, ..., in the game's utilities."""
    efforts: tuple[Effort, Effort]
    """The effort of the first and second agent."""
    ending: str = ""
    """Reason for an end outside the rules, such as ``seat 1 resigned``; else empty."""
    fault: bool = False
    """True if the loser failed or broke the rules, so the game says little about its strength."""

    @property
    def first_seats(self) -> tuple[int, ...]:
        """All seats of the match's first agent."""
        return seats_of_first(self.number, self.first_seat, len(self.returns))

    @property
    def margin(self) -> float:
        """The difference of the agents' mean returns: the first agent won if it is positive.

        In a single-player game the other's return counts as 0.
        """
        if len(self.returns) == 2:
            return self.returns[self.first_seat] - self.returns[1 - self.first_seat]
        mine = [self.returns[seat] for seat in self.first_seats]
        others = [r for seat, r in enumerate(self.returns) if seat not in self.first_seats]
        return _mean(mine) - _mean(others)

    @property
    def score(self) -> float:
        """The first agent's score: 1 for a win, 1/2 for a draw, 0 for a loss."""
        return 0.5 if self.margin == 0 else float(self.margin > 0)

    @property
    def pair(self) -> int:
        """The number of the pair of games with the same opening."""
        return self.number // 2

    def line(self, agents: tuple[str, str]) -> str:
        """The game in one line, with the names of the first and the second agent."""
        one, two = agents
        word = "drew with"
        if self.margin != 0:
            one, two = (one, two) if self.margin > 0 else (two, one)
            word = "beat"
        why = f" ({self.ending})" if self.ending else ""
        return f"game {self.number + 1}: {one} {word} {two}, {len(self.actions)} moves{why}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON."""
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
    def from_dict(cls, values: Mapping[str, Any], players: int = 2) -> Self:
        """The record from values of ``to_dict``; other keys are ignored.

        Args:
            values: plain values.
            players: the game's number of players.

        Raises:
            ValueError: if they are invalid, naming the field.
        """
        opening = fields.listed(fields.field(values, "opening"), "opening", fields.integer)
        actions = fields.listed(fields.field(values, "actions"), "actions", fields.integer)
        shared = min(len(opening), len(actions))  # A forfeit may end the game in its opening.
        if actions[:shared] != opening[:shared]:
            raise ValueError("actions must begin with those of opening.")
        returns = fields.listed(fields.field(values, "returns"), "returns", fields.number, players)
        efforts = fields.listed(fields.field(values, "efforts"), "efforts", _effort, 2)
        return cls(
            number=fields.integer(fields.field(values, "number"), "number"),
            first_seat=fields.integer(
                fields.field(values, "first_seat"), "first_seat", 0, max(players, 2) - 1
            ),
            opening=opening,
            actions=actions,
            returns=returns,
            efforts=(efforts[0], efforts[1]),
            ending=fields.text(values.get("ending", ""), "ending"),
            fault=fields.flag(values.get("fault", False), "fault"),
        )


class ReadGame(NamedTuple):
    """The main line of a game in a file."""

    start: GameState
    """The position before the first move, including handicap stones."""
    actions: tuple[int, ...]
    """The actions from there, up to the end of the game."""
    laid: tuple[int, ...] | None = ()
    """The actions from the initial position to ``start``; None if the file has a FEN."""
    goes_on: str = ""
    """A sentence on moves after the game's end; empty if there are none."""


def ending(label: str, how: str, rest: int) -> str:
    """The sentence for a file whose moves continue after the end.

    Args:
        label: the last move that counts.
        how: how the game ends there.
        rest: the number of moves after it.
    """
    moves = "1 move follows" if rest == 1 else f"{rest} moves follow"
    return f"the game is over after {label}, {how}, and {moves} in the file"


def seats_of_first(number: int, first_seat: int, players: int) -> tuple[int, ...]:
    """All seats of the first agent in the game with this number, see ``play``.

    Args:
        number: the game's number in the match, from 0.
        first_seat: the first agent's of two seats; else the seat that an agent has alone.
        players: the game's number of players.
    """
    if players == 2 or number % 2 == 0:
        return (first_seat,)
    # In odd games of several players the second agent is alone.
    return tuple(seat for seat in range(players) if seat != first_seat)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def _effort(value: Any, what: str) -> Effort:
    if not isinstance(value, dict) or set(value) != set(Effort._fields):
        raise ValueError(
            f"{what} must have {', '.join(Effort._fields)}, got {fields.brief(value)}."
        )
    return Effort(
        moves=fields.integer(value["moves"], f"{what}.moves"),
        simulations=fields.integer(value["simulations"], f"{what}.simulations"),
        seconds=fields.number(value["seconds"], f"{what}.seconds", 0.0),
    )
