"""Session: a game between people and agents, with its moves, clocks and undo."""

import copy
import dataclasses
import functools
import time
from collections.abc import Sequence

import numpy as np

from rave_agents.agents.answers import checked_action
from rave_agents.agents.named_agents import AgentSpec
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
"""Marks the seat of a person."""


@dataclasses.dataclass(frozen=True, eq=False)
class Turn:
    """The actions played at one position."""

    player: int
    """The seat, or a ``PlayerId`` for chance and for players who move at the same time."""
    players: tuple[int, ...]
    """The seats that acted; empty for chance."""
    actions: tuple[int, ...]
    """Their actions, or the outcome of chance."""
    names: tuple[str, ...]
    """The same in the game's notation."""
    seconds: float = 0.0
    """The time that they took."""
    value: float | None = None
    """The value for seat 0 by the agent that moved, in the game's utilities; None if unknown."""


@dataclasses.dataclass
class _Kept:
    """A position, to which ``undo`` can return."""

    state: GameState
    clocks: list[Clock | None]


class Session:
    """One game between people and agents.

    It only applies the rules: it starts no thread and asks no agent. It keeps every position, so
    undo needs no method of the game.

    Args:
        game: the game, see ``as_game``.
        seats: the agent of each seat, or ``PERSON``.
        position: the position to start from; None for the initial position.
        clock: the time control of each seat, see ``Clock.parse``; None for unlimited time.
        seed: the seed of chance outcomes.

    Raises:
        ValueError: for another number of seats than the game has.
    """

    def __init__(
        self,
        game: Game,
        seats: Sequence[AgentSpec | None],
        *,
        position: Position | None = None,
        clock: str | None = None,
        seed: int = 0,
    ) -> None:
        if len(seats) != game.num_players:
            raise ValueError(f"{game.name} has {game.num_players} seats, got {len(seats)}.")
        self.game: Game = game
        self.seats: list[AgentSpec | None] = list(seats)
        """The agent of each seat, or ``PERSON``."""
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
        """Begin another game, with the next seed for chance outcomes."""
        self.seed += 1
        if self.start.actions == ():
            self.start = set_up(self.game, seed=self.seed)
        self.restart()

    def restart(self) -> None:
        """Begin this game anew."""
        clocks = [None if self.clock is None else Clock.parse(self.clock) for _ in self.seats]
        self.turns: list[Turn] = []
        """The turns so far, in order."""
        self.chosen: dict[int, int] = {}
        """Actions chosen so far where players move at the same time, by seat."""
        self.ending: str = ""
        """The reason for an end outside the rules; else empty."""
        self._lost_by: int | None = None
        # One more than turns: the position before each turn, and the current one.
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
        """The seats that must choose an action now."""
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
        """The name of a seat: ``Black (seat 0)``, or ``seat 0`` in a game without sides."""
        return f"{self.sides[seat]} (seat {seat})" if self.sides else f"seat {seat}"

    @property
    def seating(self) -> str:
        """The sides in a sentence: ``You play Black (seat 0); auto plays White (seat 1).``."""
        if len(self.seats) == 1:
            return ""
        you = " and ".join(map(self.seat_name, self.people))
        parts = [f"you play {you}"] if you else []
        parts += [
            f"{who} plays {self.seat_name(seat)}"
            for seat, who in enumerate(self.seats)
            if who is not PERSON
        ]
        sentence = "; ".join(parts)
        # Names of agents keep their first letter.
        return f"{sentence[0].upper() if you else sentence[0]}{sentence[1:]}."

    @property
    def people(self) -> list[int]:
        """The seats of people."""
        return [seat for seat, who in enumerate(self.seats) if who is PERSON]

    def legal(self, seat: int) -> dict[int, str]:
        """The actions that a seat may choose now, and their names."""
        if seat not in self.movers:
            return {}
        return legal_names(self.state, seat if self.together else None)

    def choose(self, seat: int, action: int, *, value: float | None = None) -> None:
        """Choose an action; simultaneous actions are played once all have chosen.

        Args:
            seat: the seat.
            action: the action.
            value: the value for seat 0 by the agent that chose it; None if unknown.

        Raises:
            ValueError: if the seat is not to move, or the action is not legal.
        """
        if seat not in self.movers:
            raise ValueError(f"Seat {seat} is not to move.")
        state = self.state
        checked_action(action, [int(each) for each in legal_actions_of(state, seat)])
        seconds = self.elapsed
        clock = self.clocks[seat]
        probe = copy.copy(clock)  # ``_play`` charges the clock itself.
        if probe is not None and not probe.charge(seconds):
            self.lose(seat, "lost on time")
            return
        if not self.together:
            name = action_name(state, action)
            self._play(Turn(seat, (seat,), (action,), (name,), seconds, value), [seat])
            return
        self.chosen[seat] = action
        if not self.movers:
            players = tuple(sorted(self.chosen))
            actions = tuple(self.chosen[each] for each in players)
            pairs = zip(actions, players, strict=True)
            names = tuple(action_name(state, *pair) for pair in pairs)
            self._play(Turn(int(PlayerId.SIMULTANEOUS), players, actions, names, seconds), players)

    def draw_chance(self) -> int:
        """Draw and play a chance outcome, which is the same again after an undo.

        Raises:
            ValueError: if chance is not to move.
        """
        if not self.is_chance:
            raise ValueError("Chance is not to move.")
        # A stream per turn: an undo must not draw another outcome.
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
        """End the game outside the rules.

        Args:
            seat: the loser.
            why: the reason, such as ``resigned``.
        """
        self.ending = f"seat {seat} {why}"
        self._lost_by = seat

    def undo(self) -> bool:
        """Go back to the last turn of a person, or by one turn if there are no people.

        Returns:
            Whether there was anything to undo.
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
        """Move everyone on by one seat; two players change seats."""
        self.seats = [*self.seats[-1:], *self.seats[:-1]]

    def replay_start(self) -> None:
        """Turn the moves that lead to the start into turns, to continue a saved game."""
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
        """Seconds since the position was reached."""
        return time.monotonic() - self._since

    def resume_clock(self) -> None:
        """Restart the time of the current move, as after a pause."""
        self._since = time.monotonic()

    def time_left(self, seat: int) -> float | None:
        """Seconds that a seat has left now; None without a clock."""
        clock = self.clocks[seat]
        if clock is None:
            return None
        left, _ = clock.time_left()
        return max(0.0, left - self.elapsed) if seat in self.movers else left

    @property
    def clocks(self) -> list[Clock | None]:
        """The clocks of the seats when the position was reached."""
        return self._kept[-1].clocks

    def clock_of(self, seat: int) -> Clock | None:
        """A copy of a seat's clock; None without one."""
        return copy.copy(self.clocks[seat])

    def check_time(self) -> bool:
        """End the game if a player to move is out of time; returns whether it ended."""
        for seat in self.movers:
            clock = self.clock_of(seat)
            if clock is not None and not clock.charge(self.elapsed):
                self.lose(seat, "lost on time")
                return True
        return False

    @property
    def beginning(self) -> GameState:
        """The initial position, from which ``actions`` lead; not to be changed."""
        return (
            self.start.state if self.start.actions == () else beginning(self.game, self.start.seed)
        )

    @property
    def actions(self) -> tuple[int, ...]:
        """All actions and chance outcomes from the initial position.

        Raises:
            ValueError: if no moves are found that lead to the start of the session.
        """
        played = [action for turn in self.turns for action in turn.actions]
        return (*moves_to(self.game, self.start), *played)
