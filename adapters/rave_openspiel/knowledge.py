"""A player's knowledge of a game: their observations and actions, and the histories that fit them.

A *moment* is a position at which the player's observation counts. If the player can count the moves
of the others (``counts_moves``), every decision is a moment. If not, as in games where others may
try illegal moves unseen, only the player's own decisions are moments, with any number of moves of
others between two of them.
"""

import math
import time
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import pyspiel

from rave_agents.errors import UnsupportedGameError
from rave_agents.game.endless import LONGEST_GAME, endless_game
from rave_openspiel.player_views import viewer
from rave_openspiel.positions import position_key, replayed_start
from rave_openspiel.uniform_moves import Unit, drawn, log_probability
from rave_openspiel.unseen_moves import counts_moves, probing_end


class Moment(NamedTuple):
    """A moment: a position as the player knows it."""

    mover: int
    """The player who moves."""
    view: str
    """The player's information state or observation."""
    legal: list[int] | None
    """The player's legal actions, where they move."""
    action: int | None
    """The action they then took; None if another moves, and at the last moment."""


class Line:
    """A history of the game, with the probabilities of its actions."""

    def __init__(self, start: pyspiel.State) -> None:
        self.states: list[pyspiel.State] = [start]
        """The state before each action, and the last one."""
        self.movers: list[int] = []
        """The player of each action."""
        self.actions: list[int] = []
        """The action or chance outcome of each step."""
        self.weights: list[float] = []
        """The logarithm of each action's probability; 0 for the player's own."""
        self.moments: list[int | None] = [None]
        """The index of each state's moment; None if the state is not a moment."""

    def cut(self, step: int) -> "Line":
        """Return the first actions as a new line."""
        line = Line.__new__(Line)
        line.states = self.states[: step + 1]
        line.movers = self.movers[:step]
        line.actions = self.actions[:step]
        line.weights = self.weights[:step]
        line.moments = self.moments[: step + 1]
        return line

    def add(self, action: int, weight: float) -> pyspiel.State:
        """Append an action."""
        state = self.states[-1]
        self.movers.append(state.current_player())
        state = state.child(action)
        self.states.append(state)
        self.actions.append(action)
        self.weights.append(weight)
        self.moments.append(None)
        return state

    def world(self) -> pyspiel.State:
        """A copy of the last state."""
        return self.states[-1].clone()

    def drop_last(self) -> None:
        """Take the last action back."""
        for parts in (self.states, self.movers, self.actions, self.weights, self.moments):
            parts.pop()

    def __len__(self) -> int:
        return len(self.actions)


class _TrueHistory(NamedTuple):
    """The history replayed last, cached since the next search usually extends it."""

    kind: tuple[type, Hashable]
    """The class of the states, and the key of the initial position; None if that is unknown."""
    line: Line
    """Every action has its prior weight, the player's too, so that any player can use the line."""

    def until(self, history: Sequence[tuple[int, int]]) -> "_TrueHistory":
        """The common beginning with another history."""
        known = zip(self.line.movers, self.line.actions, history, strict=False)
        different = (step for step, (*own, move) in enumerate(known) if tuple(own) != move)
        common = next(different, min(len(self.line), len(history)))
        return _TrueHistory(self.kind, self.line.cut(common))


_last: list[_TrueHistory] = []  # At most one: states of a whole game are large.


class OutOfBudget(Exception):  # noqa: N818 (it ends a walk; it is no error)
    """The budget is spent."""


class Knowledge:
    """A player's knowledge at a state, with the true history, which they do not know.

    Args:
        state: the true position.
        player: the player, who is to move there.
        ends: the ``time.perf_counter()`` time until which histories may be replayed.

    Raises:
        UnsupportedGameError: if the history cannot be replayed.
        OutOfBudget: if the time ends first.
    """

    def __init__(self, state: pyspiel.State, player: int, ends: float = math.inf) -> None:
        game = state.get_game()
        self.player = player
        self.ends = ends
        """The time at which replays end, before the next action; writable at any time."""
        self.step_seconds: float = 0.0
        """Seconds to replay one action; 0 if none was replayed."""
        self.counts_moves: bool = counts_moves(game, probing_end(ends))
        """True if the player can count the moves of the others."""
        self._view = viewer(game)
        self.start: pyspiel.State = replayed_start(state)
        """The position at which every history begins."""
        self.truth: Line = self._true_line(state)
        """The true history."""
        self.moments: list[Moment] = [
            self._moment(step)
            for step, now in enumerate(self.truth.states)
            if self.is_moment(now.current_player())
        ]
        """All moments, the current one last."""
        # ``_moment`` reads the truth, so moments come first and are numbered afterwards.
        numbers = iter(range(len(self.moments)))
        self.truth.moments = [
            next(numbers) if self.is_moment(now.current_player()) else None
            for now in self.truth.states
        ]

    def look_at_clock(self) -> None:
        """Raise ``OutOfBudget`` if the time for replays is over."""
        if self.ends < math.inf and time.perf_counter() > self.ends:
            raise OutOfBudget

    def is_moment(self, mover: int) -> bool:
        """True if a position where this player moves is a moment."""
        return mover == self.player or (self.counts_moves and mover >= 0)

    def fits(self, state: pyspiel.State, moment: int) -> bool:
        """True if a state looks to the player like a given moment."""
        known = self.moments[moment]
        return (
            state.current_player() == known.mover
            and self._view(state, self.player) == known.view
            and (known.legal is None or state.legal_actions() == known.legal)
        )

    def looks(self, state: pyspiel.State) -> str:
        """The player's view of a state."""
        return self._view(state, self.player)

    def log_probability(self, state: pyspiel.State, action: int) -> float | None:
        """Log probability of an action if the others move uniformly at random; None if illegal.

        The player's own actions have 0, since they are given.
        """
        found = log_probability(state, action)
        return found if found is None or state.current_player() != self.player else 0.0

    def replayed(
        self, line: Line, first: int, choose: Callable[[pyspiel.State, int], int]
    ) -> Line | None:
        """Replay a line with other actions of the same movers between the same moments.

        Args:
            line: the line.
            first: the first step whose action may differ.
            choose: returns the action at a state and a step.

        Returns:
            The new line; None if an action is illegal, or the player would see something else.
        """
        new = line.cut(first)
        state = new.states[-1]
        for step in range(first, len(line)):
            self.look_at_clock()
            if state.current_player() != line.movers[step]:
                return None
            if line.movers[step] == self.player:  # Legal: the views agree so far.
                state = new.add(line.actions[step], 0.0)
            else:
                action = choose(state, step)
                weight = self.log_probability(state, action)
                if weight is None:
                    return None
                state = new.add(action, weight)
            moment = line.moments[step + 1]
            # A moment too many is as wrong as one that differs: the player would have noticed.
            if moment is None:
                if self.is_moment(state.current_player()):
                    return None
            elif not self.fits(state, moment):
                return None
            new.moments[-1] = moment
        return new

    def begun(self, unit: Unit) -> tuple[Line | None, int]:
        """Draw a line from the start to the first moment; see ``continued``."""
        line = Line(self.start)
        if self.is_moment(self.start.current_player()):
            line.moments[0] = 0
            return (line if self.fits(self.start, 0) else None), 1
        return self._extend(line, 0, unit, 0)

    def continued(self, line: Line, unit: Unit) -> tuple[Line | None, int]:
        """Extend a line from its last moment to the next one, with random actions of the others.

        Returns:
            The longer line, or None if the player would see something else at the next moment; and
            the number of actions that were played.
        """
        moment = line.moments[-1]
        assert moment is not None
        longer = line.cut(len(line))  # Particles share a line after resampling: copy first.
        action = self.moments[moment].action
        if action is not None:
            longer.add(action, 0.0)
            if self.is_moment(longer.states[-1].current_player()):
                longer.moments[-1] = moment + 1
                return (longer if self.fits(longer.states[-1], moment + 1) else None), 1
        return self._extend(longer, moment + 1, unit, int(action is not None))

    def _extend(self, line: Line, moment: int, unit: Unit, played: int) -> tuple[Line | None, int]:
        state = line.states[-1]
        for _ in range(LONGEST_GAME):
            self.look_at_clock()
            if state.is_terminal():
                return None, played
            action, weight = drawn(state, unit)
            state = line.add(action, weight)
            played += 1
            if self.is_moment(state.current_player()):
                line.moments[-1] = moment
                return (line if self.fits(state, moment) else None), played
        raise endless_game(str(state.get_game()))

    def _true_line(self, state: pyspiel.State) -> Line:
        history = [(move.player, move.action) for move in state.full_history()]
        kind = type(state), position_key(self.start)
        # An unknown start equals no other, not even the same state's a moment ago.
        known = next((each for each in _last if None not in kind and each.kind == kind), None)
        if known is None:
            known = _TrueHistory(kind, Line(self.start))
        known = known.until(history)
        _last[:] = [known]
        line = known.line
        self.start = line.states[0]  # The cached one: lines share their states by identity.
        started, common = time.perf_counter(), len(line)
        for player, action in history[common:]:
            self.look_at_clock()
            now = line.states[-1]
            weight = log_probability(now, action)
            if now.current_player() != player or weight is None:
                raise UnsupportedGameError(
                    f"The history of this state of {state.get_game()} cannot be replayed: action "
                    f"{action} of player {player} is not legal where it was played."
                )
            line.add(action, weight)
        if len(line) > common:
            self.step_seconds = (time.perf_counter() - started) / (len(line) - common)
        # A copy: the cached line keeps its weights for the other players.
        truth = line.cut(len(line))
        truth.weights = [
            0.0 if mover == self.player else weight
            for mover, weight in zip(line.movers, line.weights, strict=True)
        ]
        return truth

    def _moment(self, step: int) -> Moment:
        state = self.truth.states[step]
        own = state.current_player() == self.player
        return Moment(
            int(state.current_player()),
            self.looks(state),
            state.legal_actions() if own else None,
            self.truth.actions[step] if own and step < len(self.truth) else None,
        )
