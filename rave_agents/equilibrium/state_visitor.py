"""The visitor of any ``GameState``; see ``rave_agents.simulate.visits``."""

import hashlib
from typing import Any, NamedTuple

from rave_agents.errors import UnsupportedGameError
from rave_agents.game import endless
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import (
    GameState,
    PlayerId,
    draws_chance,
    hides_information,
    is_simultaneous,
    joint_action,
    legal_actions_of,
    moving_players,
)
from rave_agents.game.utility_limits import MOST_ACTIONS, utility_limits
from rave_agents.simulate.checked_answers import CheckedAnswers
from rave_agents.simulate.expansion import Answered
from rave_agents.simulate.python_callback import PythonCallback
from rave_agents.simulate.random_stream import random_below, random_unit
from rave_agents.simulate.visits import Visit, VisitPlace


class _Level(NamedTuple):
    """What a visitor knows of a history."""

    state: GameState
    movers: tuple[int, ...]
    """The players who move at the same time; empty where one does."""
    chosen: tuple[int, ...]
    """The choices of the first of them."""
    views: tuple[Any, ...]
    """What each player has seen and done where they moved before; empty with perfect
    information."""
    moves: tuple[int, ...]
    """The moves that are over."""

    @property
    def player(self) -> int:
        """Who is to move."""
        if self.movers:
            return self.movers[len(self.chosen)]
        return int(self.state.current_player())


class StateVisitor:
    """Visits histories by calling the methods of states in Python.

    Args:
        start: the start of the game, copied.
        visit: the buffers shared with the search.

    Raises:
        UnsupportedGameError: if the state draws chance itself, or hides information without a view.
    """

    provider = "python"
    outside_interpreter = False

    def __init__(self, start: GameState, visit: Visit) -> None:
        offers = StateAbilities(start)
        if draws_chance(start):
            raise UnsupportedGameError(
                "A search from the start of the game needs the probabilities of chance: "
                f"{type(start).__name__} draws chance itself."
            )
        self._hides = hides_information(start)
        if self._hides and offers.view is None:
            raise UnsupportedGameError(
                f"{type(start).__name__} hides information, but has no view(player), which says "
                "what a player knows."
            )
        self._recalls = bool(offers.recalls_all())
        limits = utility_limits(start)
        simultaneous = offers.apply_actions is not None
        self._checks = CheckedAnswers(
            limits, int(start.num_distinct_actions()), simultaneous=simultaneous, evaluator=None
        )
        self._checks.most_outcome = MOST_ACTIONS  # The tree has no row for each outcome.
        self._limits = limits
        views = ((),) * limits.players if self._hides and not self._recalls else ()
        state = start.clone()
        self._levels = [_Level(state, self._movers(state), (), views, ())]
        self._path: list[int] = []
        self._callback = PythonCallback(self._answer, visit.header.data, int(VisitPlace.STATUS))
        self.bind(visit)

    @property
    def address(self) -> int:
        """See ``Visitor``."""
        return self._callback.address

    def bind(self, visit: Visit) -> None:
        """See ``Visitor``."""
        self._visit = visit
        self._callback.memory = visit.header.data
        visit.header[VisitPlace.IN_PYTHON] = 1

    def raise_pending(self) -> None:
        """See ``Visitor``."""
        self._callback.raise_error()

    def _movers(self, state: GameState) -> tuple[int, ...]:
        return tuple(self._checks.checked_movers(state)) if is_simultaneous(state) else ()

    def _answer(self, address: int) -> int:
        visit, header = self._visit, self._visit.header
        path = visit.path[: header[VisitPlace.LENGTH]].tolist()
        level = self._level(path)
        player = level.player
        header[VisitPlace.PLAYER], header[VisitPlace.NUM_ACTIONS] = player, 0
        if player == PlayerId.TERMINAL:
            visit.returns[:] = self._limits.returns(level.state.returns())
            return Answered.DONE
        if header[VisitPlace.PLAYOUT]:
            visit.returns[:] = self._playout(level)
            return Answered.DONE
        outcomes: Any = None
        if player == PlayerId.CHANCE:
            outcomes = list(level.state.chance_outcomes())
            self._checks.checked_outcomes(outcomes)
            actions = [int(outcome) for outcome, _ in outcomes]
        else:
            actions = self._checks.checked_actions(player, self._legal(level))
            header[VisitPlace.FIRST_KEY : VisitPlace.SECOND_KEY + 1] = self._key(level)
        header[VisitPlace.NUM_ACTIONS] = header[VisitPlace.REQUIRED_ACTIONS] = len(actions)
        if len(actions) > header[VisitPlace.CAPACITY]:
            return Answered.FULL
        visit.actions[: len(actions)] = actions
        if outcomes is not None:
            visit.chances[: len(outcomes)] = [float(chance) for _, chance in outcomes]
        return Answered.DONE

    def _legal(self, level: _Level) -> Any:
        return legal_actions_of(level.state, level.player)

    def _key(self, level: _Level) -> list[int]:
        """The key of the information set of the player who moves."""
        player = level.player
        known: Any = level.moves
        if self._hides:
            before = () if self._recalls else level.views[player]
            known = (*before, level.state.view(player))  # type: ignore[attr-defined]
        digest = hashlib.blake2b(repr((player, known)).encode(), digest_size=16).digest()
        return [int.from_bytes(half, "little", signed=True) for half in (digest[:8], digest[8:])]

    def _level(self, path: list[int]) -> _Level:
        """What is known of a path; the levels of the last one serve as far as both agree."""
        same = 0
        while same < min(len(path), len(self._path)) and path[same] == self._path[same]:
            same += 1
        del self._levels[same + 1 :], self._path[same:]
        for action in path[same:]:
            if len(self._path) > endless.LONGEST_GAME:
                raise endless.endless_game(type(self._levels[0].state).__name__)
            self._levels.append(self._after(self._levels[-1], action))
            self._path.append(action)
        return self._levels[-1]

    def _after(self, level: _Level, action: int) -> _Level:
        state, player, views = level.state, level.player, level.views
        if views and player >= 0:
            # Only their own decisions: what happens between must not show how many moves it took.
            seen = (*views[player], state.view(player), action)  # type: ignore[attr-defined]
            views = (*views[:player], seen, *views[player + 1 :])
        chosen = (*level.chosen, action)
        if level.movers and len(chosen) < len(level.movers):
            return level._replace(chosen=chosen, views=views)
        after = state.clone()
        if level.movers:
            joint = joint_action(level.movers, chosen, after.num_players())
            after.apply_actions(joint)  # type: ignore[attr-defined]
        else:
            after.apply_action(action)
        moves = level.moves if self._hides else (*level.moves, *chosen)
        return _Level(after, self._movers(after), (), views, moves)

    def _playout(self, level: _Level) -> Any:
        """The returns of random play to the end, drawn as ``visitor.cpp`` does."""
        state, chosen, stream = level.state.clone(), list(level.chosen), self._visit.stream
        for _ in range(endless.LONGEST_GAME):
            player = int(state.current_player())
            if player == PlayerId.TERMINAL:
                return self._limits.returns(state.returns())
            if player == PlayerId.CHANCE:
                unit = random_unit(stream)
                state.apply_action(self._checks.drawn_outcome(state.chance_outcomes(), unit))
                continue
            together = player == PlayerId.SIMULTANEOUS
            movers = moving_players(state) if together else [player]
            while len(chosen) < len(movers):
                mover = movers[len(chosen)]
                legal = self._checks.checked_actions(mover, legal_actions_of(state, mover))
                chosen.append(legal[random_below(stream, len(legal))])
            if together:
                joint = joint_action(movers, chosen, state.num_players())
                state.apply_actions(joint)  # type: ignore[attr-defined]
            else:
                state.apply_action(chosen[0])
            chosen = []
        raise endless.endless_game(type(state).__name__)
