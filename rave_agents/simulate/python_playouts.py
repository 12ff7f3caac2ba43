"""Random play of a state, through its Python methods."""

import array
import bisect
import itertools
import math
import time
from collections.abc import Sequence
from typing import Any

from rave_agents.game import endless
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import joint_action
from rave_agents.game.utility_limits import UtilityLimits
from rave_agents.simulate.action_numbers import ActionNumbers
from rave_agents.simulate.checked_answers import CHANCE, SIMULTANEOUS, TERMINAL, CheckedAnswers
from rave_agents.simulate.evaluator import Evaluator
from rave_agents.simulate.move_choice import MoveChoice
from rave_agents.simulate.random_stream import RandomWords
from rave_agents.simulate.simulator import DeadlinePassed, Header
from rave_agents.simulate.value import PositionValue

EVEN_WEIGHTS = int(Header.EVEN_WEIGHTS)

Playout = tuple[Any, Sequence[int], Sequence[float]]
"""The player of each move (as C integers), the actions, and the returns."""


class PythonPlayouts(CheckedAnswers):
    """Plays states at random, to the end or for some moves.

    Args:
        words: the source of random numbers.
        limits: the game's limits of players and returns.
        num_distinct_actions: actions are below this number.
        simultaneous: whether players may move at the same time.
        evaluator: evaluates positions in place of playouts; a ``PositionValue`` only cuts them, and
            ``PositionPriors`` do not affect them.
    """

    def __init__(
        self,
        words: RandomWords,
        limits: UtilityLimits,
        num_distinct_actions: int,
        *,
        simultaneous: bool,
        evaluator: Evaluator | None,
    ) -> None:
        self.deadline: float = math.inf
        """The deadline at which a simulation is dropped, on the clock of ``time.perf_counter``."""
        self.words: RandomWords = words
        self._value = evaluator if isinstance(evaluator, PositionValue) else None
        self._action_weights: Any = None
        self._header: Any = None
        self._numbers: ActionNumbers | None = None
        super().__init__(
            limits,
            num_distinct_actions,
            simultaneous=simultaneous,
            evaluator=None if self._value is not None else evaluator,
        )

    def playout(self, state: Any) -> Playout:
        """Play at random to the end, in ``state`` itself."""
        players, moves = self._play_moves(state, math.inf)
        return players, moves, self.checked_returns(state.returns())

    def cut_playout(self, state: Any, last: float) -> Playout:
        """Play ``last`` moves at random in ``state`` itself; returns, or the value at the cut."""
        assert self._value is not None
        players, moves = self._play_moves(state, last)
        if state.current_player() == TERMINAL:
            return players, moves, self.checked_returns(state.returns())
        so_far, weight = self.collected(state)
        # Values are of rewards still to come: add those received, and discount the rest.
        values = zip(self.checked_rewards(so_far), self._value.evaluate(state), strict=True)
        return players, moves, [earned + weight * still for earned, still in values]

    def collected(self, state: Any) -> tuple[Sequence[float], float]:
        """The rewards of all players on the way to a position, and the weight of the rest."""
        found = StateAbilities(state).collected
        return ([0.0] * self._num_players, 1.0) if found is None else found()

    def _play_moves(self, state: Any, last: float) -> tuple[Any, list[int]]:
        """Play at random, to the end or until a player is to move after ``last`` moves."""
        players = array.array("i")
        moves: list[int] = []
        below = self.words.below
        weighted = self._draws_by_weights()
        policy = self._policy()
        num_players, num_distinct_actions = self._num_players, self._num_distinct_actions
        for _ in range(endless.LONGEST_GAME):
            if (player := state.current_player()) == TERMINAL:
                return players, moves
            if time.perf_counter() > self.deadline:
                raise DeadlinePassed
            if player == CHANCE:
                unit = self.words.unit()
                state.apply_action(self.drawn_outcome(state.chance_outcomes(), unit))
                continue
            if len(moves) >= last:  # After chance: only a player's position has a value.
                return players, moves
            if player == SIMULTANEOUS:
                if len(moves) >= endless.LONGEST_GAME:
                    break
                movers = self.checked_movers(state)
                joint = [
                    self._drawn_action(m, state.legal_actions(m), weighted)
                    if policy is None
                    else policy.choose(None, m, state.legal_actions(m), players, moves)
                    for m in movers
                ]
                players.extend(movers)
                moves.extend(joint)
                state.apply_actions(joint_action(movers, joint, num_players))
                continue
            actions = state.legal_actions()
            try:
                if policy is not None:
                    action = policy.choose(state, player, actions, players, moves)
                else:
                    action = (
                        self._weighted_action(player, actions)
                        if weighted
                        else actions[below(len(actions))]
                    )
                # One comparison a move; the refusal below finds out what is wrong.
                if not (0 <= player < num_players and 0 <= action < num_distinct_actions):
                    raise LookupError
                players.append(player)
            except (TypeError, ValueError, LookupError, OverflowError):
                raise self.refusal(player, actions) from None
            moves.append(action)
            state.apply_action(action)
        raise endless.endless_game(endless.game_name(state))

    def _policy(self) -> MoveChoice | None:
        """The policy that chooses each move of a playout; None without one."""
        return None

    def _draws_by_weights(self) -> bool:
        return self._action_weights is not None and self._header[EVEN_WEIGHTS] == 0

    def _drawn_action(self, player: int, actions: Sequence[int], weighted: bool) -> int:
        """A random one of the actions of a player who moves at the same time as others."""
        try:
            action = (
                self._weighted_action(player, actions)
                if weighted
                else actions[self.words.below(len(actions))]
            )
            if 0 <= action < self._num_distinct_actions:
                return action
        except (TypeError, ValueError, LookupError):
            pass
        raise self.refusal(player, actions)

    def _weighted_action(self, player: int, actions: Sequence[int]) -> int:
        """A random one of a player's legal actions, by their weights."""
        weights = self._action_weights
        rows = actions if self._numbers is None else self._numbers.known(actions)
        # Weights belong to (player, action): they do not depend on the position.
        sums = list(itertools.accumulate(weights[player, row] for row in rows))
        place = bisect.bisect_right(sums, self.words.unit() * sums[-1])
        return actions[min(place, len(actions) - 1)]  # The product may round up to the sum.
