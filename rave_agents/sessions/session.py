"""Session: one game between people and agents, its moves, clocks and undo."""

import copy
import dataclasses
import functools
import time
from collections.abc import Sequence

import numpy as np

from rave_agents.agents.answers import checked_action
from rave_agents.agents.named_agents import AnyAgent
from rave_agents.arena.referee import decided_returns
from rave_agents.frameworks.adapters import Game
from rave_agents.game.game_state import (
    GameState,
    PlayerId,
    hides_information,
    is_simultaneous,
    joint_action,
    legal_actions_of,
    moving_players,
)
from rave_agents.game.notation import action_name, legal_names
from rave_agents.records.openings import draw_outcome
from rave_agents.records.positions import Position, beginning, moves_to, set_up
from rave_agents.records.reader import plies
from rave_agents.searcher.clock import Clock
from rave_agents.sessions.sides import side_names

PERSON = None
"""The mark of a seat that a person has."""


@dataclasses.dataclass(frozen=True, eq=False)
class Turn:
    """The actions that were played at one position."""

    player: int
    """The seat, or a ``PlayerId`` for chance and for players who move at the same time."""
    players: tuple[int, ...]
    """The seats that acted; empty for chance."""
    actions: tuple[int, ...]
    """Their actions, or the outcome of chance."""
    names: tuple[str, ...]
    """The same in the game's notation."""
    seconds: float = 0.0
    """The time that it took."""
    value: float | None = None
    """The value for seat 0 by the agent that moved, in the game's utilities; None if unknown."""
    proven: bool = False
    """True if that value is proven."""


@dataclasses.dataclass
class _Kept:
    """The position to which ``undo`` returns."""

    state: GameState
    clocks: list[Clock | None]


class Session:
    """One game between people and agents.

    It knows the rules alone: it starts no thread and asks no agent. The position is never undone,
    but kept: undo goes back to a copy.

    Args:
        game: the game, see ``as_game``.
        seats: who sits in each seat, an agent or ``PERSON``.
        position: where to begin; None for the game's beginning.
        clock: the time of each seat, see ``Clock.parse``; None for as long as they like.
        seed: decides the outcomes of chance.

    Raises:
        ValueError: for another number of seats than the game has.
    """

    def __init__(
        self,
        game: Game,
        seats: Sequence[AnyAgent | None],
        *,
        position: Position | None = None,
        clock: str | None = None,
        seed: int = 0,
    ) -> None:
        if len(seats) != game.num_players:
            raise ValueError(f"{game.name} has {game.num_players} seats, got {len(seats)}.")
        self.game: Game = game
        self.seats: list[AnyAgent | None] = list(seats)
        """The agents of the seats: an agent or ``PERSON``."""
        self.seed: int = seed
        self.clock: str | None = None if clock is None else str(Clock.parse(clock))
        """The time control of each seat; None without one."""
        if position is None or position.actions == ():
            dealt = seed if position is None or position.seed is None else position.seed
            position = set_up(game, seed=dealt)
        self.start: Position = position
        """The position at which the game begins."""
        self.hides: bool = hides_information(position.state)
        """True if something is hidden from players."""
        self.restart()

    def begin_anew(self) -> None:
        """Begin another game: what chance decides is drawn by the next seed."""
        self.seed += 1
        if self.start.actions == ():
            self.start = set_up(self.game, seed=self.seed)
        self.restart()

    def restart(self) -> None:
        """Begin this game anew."""
        clocks = [None if self.clock is None else Clock.parse(self.clock) for _ in self.seats]
        self.turns: list[Turn] = []
        """The turns that were played, in order."""
        self.chosen: dict[int, int] = {}
        """Actions chosen so far where players move at the same time, by seat."""
        self.ending: str = ""
        """The reason why the game is over otherwise than by its rules; else empty."""
        self._lost_by: int | None = None
        self._kept = [_Kept(self.start.state.clone(), clocks)]
        self._since = time.monotonic()

    @property
    def state(self) -> GameState:
        """The position; not to be changed."""
        return self._kept[-1].state

    def before(self, turn: int) -> GameState:
        """The position before a turn; not to be changed."""
        return self._kept[turn].state

    def after(self, turn: int) -> GameState:
        """The position after a turn; not to be changed."""
        return self._kept[turn + 1].state

    @property
    def over(self) -> bool:
        """True if the game is over."""
        return bool(self.ending) or self.state.is_terminal()

    @property
    def returns(self) -> list[float]:
        """Each seat's return."""
        if self._lost_by is not None:
            return [float(each) for each in decided_returns(self.state, self._lost_by)]
        return [float(each) for each in self.state.returns()]

    @property
    def is_chance(self) -> bool:
        """True if chance moves next."""
        return not self.over and self.state.is_chance_node()

    @property
    def together(self) -> bool:
        """True if players move at the same time here."""
        return not self.over and is_simultaneous(self.state)

    @property
    def movers(self) -> list[int]:
        """The seats that have to choose an action now."""
        if self.over or self.is_chance:
            return []
        if self.together:
            return [seat for seat in moving_players(self.state) if seat not in self.chosen]
        return [int(self.state.current_player())]

    @functools.cached_property
    def sides(self) -> tuple[str, ...]:
        """The names of the seats' sides, such as Black and White; empty if the game has none."""
        return side_names(self.start.state)

    def seat_name(self, seat: int) -> str:
        """A seat in messages: ``Black (seat 0)``, or ``seat 0`` in a game without names."""
        return f"{self.sides[seat]} (seat {seat})" if self.sides else f"seat {seat}"

    @property
    def seating(self) -> str:
        """Who plays which side, a sentence: ``You play Black (seat 0); auto plays White ...``."""
        if len(self.seats) == 1:
            return ""
        you = " and ".join(map(self.seat_name, self.people))
        parts = [f"you play {you}"] if you else []
        parts += [
            f"{who} plays {self.seat_name(seat)}"
            for seat, who in enumerate(self.seats)
            if who is not PERSON
        ]
        told = "; ".join(parts)
        return f"{told[0].upper() if you else told[0]}{told[1:]}."

    @property
    def people(self) -> list[int]:
        """The seats of people."""
        return [seat for seat, who in enumerate(self.seats) if who is PERSON]

    def legal(self, seat: int) -> dict[int, str]:
        """The actions that a seat may choose now, and their names."""
        if seat not in self.movers:
            return {}
        return legal_names(self.state, seat if self.together else None)

    def choose(
        self, seat: int, action: int, *, value: float | None = None, proven: bool = False
    ) -> None:
        """Choose an action; where others move at the same time it is played when all have chosen.

        Args:
            seat: whose.
            action: the action.
            value: for seat 0, by whoever chose it.
            proven: whether that value is proven.

        Raises:
            ValueError: if the seat is not to move, or the action is not legal.
        """
        if seat not in self.movers:
            raise ValueError(f"Seat {seat} is not to move.")
        state = self.state
        checked_action(action, [int(each) for each in legal_actions_of(state, seat)])
        seconds = self.elapsed
        clock = self.clocks[seat]
        probe = copy.copy(clock)
        if probe is not None and not probe.charge(seconds):
            self.lose(seat, "lost on time")
            return
        if not self.together:
            name = action_name(state, action)
            self._play(Turn(seat, (seat,), (action,), (name,), seconds, value, proven), [seat])
            return
        self.chosen[seat] = action
        if not self.movers:
            players = tuple(sorted(self.chosen))
            actions = tuple(self.chosen[each] for each in players)
            pairs = zip(actions, players, strict=True)
            names = tuple(action_name(state, *pair) for pair in pairs)
            self._play(Turn(int(PlayerId.SIMULTANEOUS), players, actions, names, seconds), players)

    def draw_chance(self) -> int:
        """Draw and play an outcome of chance; the same at the same turn, so that undo is no lure.

        Raises:
            ValueError: if chance is not to move.
        """
        if not self.is_chance:
            raise ValueError("Chance is not to move.")
        random = np.random.default_rng([self.seed, len(self.turns)])
        outcome = draw_outcome(self.state, random)
        name = action_name(self.state, outcome)
        self._play(Turn(int(PlayerId.CHANCE), (), (outcome,), (name,)), ())
        return outcome

    def _play(self, turn: Turn, charged: Sequence[int]) -> None:
        state = self.state.clone()
        if turn.player == PlayerId.SIMULTANEOUS:
            joint = joint_action(turn.players, turn.actions, state.num_players())
            state.apply_actions(joint)  # type: ignore[attr-defined]
        else:
            state.apply_action(turn.actions[0])
        clocks = copy.deepcopy(self.clocks)
        for seat in charged:
            clock = clocks[seat]
            if clock is not None:
                clock.charge(turn.seconds)
        self._kept.append(_Kept(state, clocks))
        self.turns.append(turn)
        self.chosen = {}
        self._since = time.monotonic()

    def lose(self, seat: int, why: str) -> None:
        """End the game otherwise than by its rules.

        Args:
            seat: who loses.
            why: such as ``resigned``.
        """
        self.ending = f"seat {seat} {why}"
        self._lost_by = seat

    def undo(self) -> bool:
        """Go back to the last turn in which a person chose, or else by one turn.

        Returns:
            Whether there was any.
        """
        people = set(self.people)
        if self.chosen.keys() & people:
            self.chosen = {}
            return True
        own = [n for n, turn in enumerate(self.turns) if people.intersection(turn.players)]
        if not self.turns or (people and not own):
            return False
        self.go_back(own[-1] if own else len(self.turns) - 1)
        return True

    def go_back(self, turn: int) -> None:
        """Go back to the position before a turn."""
        del self.turns[turn:], self._kept[turn + 1 :]
        self.chosen, self.ending, self._lost_by = {}, "", None
        self._since = time.monotonic()

    def swap(self) -> None:
        """Let everybody move on by one seat: of two players, each takes the other's."""
        self.seats = [*self.seats[-1:], *self.seats[:-1]]

    def replay_start(self) -> None:
        """Take the moves that lead to the beginning as turns, as in a game that is gone on with."""
        actions = list(self.start.actions or ())
        seed = self.seed if self.start.seed is None else self.start.seed
        self.start = set_up(self.game, seed=seed)
        self.restart()
        for ply in plies(self.state, actions):
            if ply.actions:
                player = int(ply.state.current_player())
                self._play(Turn(player, ply.players, ply.actions, ply.names), ())

    # Clocks.

    @property
    def elapsed(self) -> float:
        """Seconds since the position came about."""
        return time.monotonic() - self._since

    def resume_clock(self) -> None:
        """Begin the time of the present move anew, as after a pause."""
        self._since = time.monotonic()

    def time_left(self, seat: int) -> float | None:
        """Seconds that a seat has, those since its turn began taken off; None without a clock."""
        clock = self.clocks[seat]
        if clock is None:
            return None
        left, _ = clock.time_left()
        return max(0.0, left - self.elapsed) if seat in self.movers else left

    @property
    def clocks(self) -> list[Clock | None]:
        """The seats' clocks, as they were when the position came about."""
        return self._kept[-1].clocks

    def clock_of(self, seat: int) -> Clock | None:
        """A copy of a seat's clock; None without one."""
        return copy.copy(self.clocks[seat])

    def check_time(self) -> bool:
        """End the game if somebody who is to move has no time left; returns whether it ended."""
        for seat in self.movers:
            clock = self.clock_of(seat)
            if clock is not None and not clock.charge(self.elapsed):
                self.lose(seat, "lost on time")
                return True
        return False

    @property
    def beginning(self) -> GameState:
        """The game's beginning, from which ``actions`` lead; not to be changed."""
        return (
            self.start.state if self.start.actions == () else beginning(self.game, self.start.seed)
        )

    @property
    def actions(self) -> tuple[int, ...]:
        """All actions and chance outcomes from the game's beginning.

        Raises:
            ValueError: if none lead to the position at which the session began.
        """
        played = [action for turn in self.turns for action in turn.actions]
        return (*moves_to(self.game, self.start), *played)
