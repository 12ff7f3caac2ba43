"""RAVE for OpenSpiel's Python ``MCTSBot``: an evaluator whose playouts give it priors.

``MCTSBot`` asks its evaluator for the value of each new leaf and, when it returns to a leaf, for
the prior probability of each action there. ``RaveEvaluator`` values leaves by random playouts. From
these it keeps, for each player and action, the mean return of the playouts in which the player took
that action at any time: the all-moves-as-first (AMAF) mean of rapid action value estimation (Gelly
& Silver 2011). The priors follow from these means. One table serves all positions of a game, since
most leaves of a small tree get too few playouts for tables of their own. The table stays close to
the current position because playouts start at the leaves of the search, and later ones weigh more.
"""

import math
import random
from typing import Annotated, Any

import numpy as np
import pyspiel
from annotated_types import Ge, Le
from numpy.typing import NDArray
from open_spiel.python.algorithms import mcts

from rave_agents.game.validation import Count, Positive, Seed, validated
from rave_agents.simulate.action_numbers import MOST_DENSE, ActionNumbers
from rave_openspiel.playouts import RandomPlayouts, random_bots
from rave_openspiel.positions import Traits, moves_between
from rave_openspiel.states import OpenSpielState
from rave_openspiel.support import (
    check_one_at_a_time,
    check_perfect_information,
    check_state,
)

REBASE_ABOVE = 1e100
"""Weight above which all weights are scaled down, far from overflow at 1.8e308."""


class AmafTable:
    """AMAF statistics of playouts, in which later playouts weigh more.

    Args:
        num_players: the number of players.
        num_distinct_actions: one more than the largest action of any player.
        half_life: the number of playouts after which a playout's weight has halved.
    """

    def __init__(self, num_players: int, num_distinct_actions: int, half_life: float) -> None:
        self.num_playouts: int = 0
        """The number of playouts added."""
        self.low: float = math.inf
        """The least utility that any player got in a playout."""
        self.high: float = -math.inf
        """The greatest utility that any player got in a playout."""
        self._numbers: ActionNumbers | None = None
        columns = num_distinct_actions
        # Some games have far more ids than legal actions: number those that occur.
        if num_players * num_distinct_actions > MOST_DENSE:
            self._numbers = ActionNumbers(num_players)
            columns = self._numbers.capacity
        self._visits = np.zeros((num_players, columns))
        self._utilities = np.zeros((num_players, columns))
        self._total_visits = 0.0
        self._total_utilities = np.zeros(num_players)
        self._growth = 2.0 ** (1.0 / half_life)
        self._weight = 1.0

    def add(
        self, players: NDArray[np.int32], actions: NDArray[np.intp], returns: NDArray[np.float64]
    ) -> None:
        """Add a playout: the movers, their actions, and the players' utilities at its end."""
        # Decay in reverse: growing the newest weight costs O(1), shrinking the table O(actions).
        self._weight *= self._growth
        if self._weight > REBASE_ABOVE:
            self._rebase()
        weight = self._weight
        actions = self._columns(actions)
        # AMAF counts a move once for each playout: ``+=`` with index arrays adds to a repeated
        # index once, where ``np.add.at`` would add for each occurrence.
        self._visits[players, actions] += weight
        self._utilities[players, actions] += weight * returns[players]
        self._total_visits += weight
        self._total_utilities += weight * returns
        self.low = min(self.low, float(returns.min()))
        self.high = max(self.high, float(returns.max()))
        self.num_playouts += 1

    def estimates(
        self, player: int, actions: list[int], equivalent_visits: float
    ) -> NDArray[np.float64]:
        """``(ñ q̃ + k μ) / (ñ + k)`` for each action of a player, in the player's utility.

        ñ and q̃ are the action's visits and mean, μ the player's mean over all playouts, and k is
        ``equivalent_visits``, above 0; a visit in the newest playout counts 1. At least one playout
        must have been added.
        """
        pull = equivalent_visits * self._weight  # In table units: the newest visit weighs that.
        average = self._total_utilities[player] / self._total_visits
        columns = self._columns(actions)
        visits, utilities = self._visits[player, columns], self._utilities[player, columns]
        return (utilities + pull * average) / (visits + pull)  # type: ignore[no-any-return]

    def _columns(self, actions: Any) -> Any:
        """The table's columns of these actions; new ones are allocated."""
        numbers = self._numbers
        if numbers is None:
            return actions
        columns = numbers.of_position(list(actions))
        if numbers.overflows:
            more = ((0, 0), (0, 2 * len(numbers) - numbers.capacity))
            numbers.capacity = 2 * len(numbers)
            self._visits = np.pad(self._visits, more)
            self._utilities = np.pad(self._utilities, more)
        return columns

    def _rebase(self) -> None:
        """Rescale all weights so that the newest playout has weight 1."""
        self._visits /= self._weight
        self._utilities /= self._weight
        self._total_visits /= self._weight
        self._total_utilities /= self._weight
        self._weight = 1.0


def softmax_prior(
    actions: list[int], strengths: NDArray[np.float64], temperature: float
) -> list[tuple[int, float]]:
    """Pair each action with its probability, ``∝ exp(strength / temperature)``."""
    # Subtracting the maximum keeps exp from overflowing and cancels in the ratio.
    weights = np.exp((strengths - strengths.max()) / temperature)
    return list(zip(actions, (weights / weights.sum()).tolist(), strict=True))


class RaveEvaluator(mcts.Evaluator):  # type: ignore[misc]
    """Values from random playouts, and priors from their AMAF statistics.

    For the stock bot with the selection that reads priors::

        evaluator = RaveEvaluator(game, seed=1)
        bot = mcts.MCTSBot(
            game, 4, 300, evaluator, child_selection_fn=mcts.SearchNode.puct_value
        )

    The exploration constant, here 4, is for utilities from -1 to 1: the bot does not scale it.

    The prior of an action is a softmax of shrunken AMAF means. For the player to move, let ñ and q̃
    be an action's AMAF visits and mean utility, both with the weights of ``half_life``, and μ the
    player's mean utility over all playouts with the same weights. Then::

        estimate = (ñ q̃ + k μ) / (ñ + k)            k = equivalent_visits
        prior ∝ exp(estimate / (T (high - low)))     T = temperature

    where low and high are the least and the greatest utility that playouts have shown. An action
    that no playout has tried counts as an average one.

    A state that does not continue the current game starts a new one and clears the statistics. The
    given states are never changed. ``copy.deepcopy`` and ``pickle`` keep
    everything, the random stream included.

    Args:
        game: the game to play; sequential, with perfect information and no hidden chance.
        n_rollouts: playouts for each value, at least 1.
        temperature: T, above 0, in units of the range of utilities; towards 0 all probability goes
            to the best action, and towards infinity the prior is uniform.
        equivalent_visits: k, above 0: how many visits pull an estimate to the average.
        half_life: the number of playouts after which a playout's weight has halved, at least 1;
            ``math.inf`` for equal weights.
        min_playouts: the least number of playouts behind a prior, at least 1. If fewer are
            remembered, as at the start of a game, ``prior`` runs the missing ones.
        seed: seeds every random choice, an integer of at least 0; None for a seed that the system
            draws.

    Raises:
        UnsupportedGameError: (a ValueError) if the search cannot play the game; the message says
            why.
        TypeError: for a value of the wrong type.
        ValueError: for a value that is not allowed.

    """

    @validated
    def __init__(
        self,
        game: pyspiel.Game,
        *,
        n_rollouts: Count = 1,
        temperature: Positive = 0.07,
        equivalent_visits: Positive = 5.0,
        half_life: Annotated[float, Ge(1), Le(math.inf)] = 300.0,
        min_playouts: Count = 30,
        seed: Seed = None,
    ) -> None:
        check_perfect_information(game)
        check_one_at_a_time(game, "RaveEvaluator")
        self.game = game
        """The game that it evaluates."""
        self.n_rollouts: int = n_rollouts
        """Playouts for each value."""
        self.temperature: float = temperature
        """T, in units of the range of utilities."""
        self.equivalent_visits: float = equivalent_visits
        """k, the visits that pull an estimate to the average."""
        self.half_life: float = half_life
        """Number of playouts after which a playout's weight has halved."""
        self.min_playouts: int = min_playouts
        """The least number of playouts behind a prior."""
        self._random = random.Random(seed)
        self._random_playouts = RandomPlayouts(game)
        self._table = self._empty_table()
        self._start: tuple[OpenSpielState, Traits] | None = None

    def evaluate(self, state: pyspiel.State) -> NDArray[np.float64]:
        """Return every player's mean utility over random playouts from a state.

        At a terminal state these are the returns.

        Raises:
            TypeError: if ``state`` is not a ``pyspiel.State``.
            ValueError: if ``state`` belongs to another game.

        """
        self._follow(state)
        if state.is_terminal():
            return np.array(state.returns())
        return self._play(state, self.n_rollouts) / self.n_rollouts

    def prior(self, state: pyspiel.State) -> list[tuple[int, float]]:
        """Return every legal action with its prior probability, by the formula above.

        At a chance node these are the outcomes with their probabilities; at a terminal state the
        list is empty. Raises the same errors as ``evaluate``.
        """
        self._follow(state)
        if state.is_chance_node():
            return state.chance_outcomes()  # type: ignore[no-any-return]
        if state.is_terminal():
            return []
        if self._table.num_playouts < self.min_playouts:
            self._play(state, self.min_playouts - self._table.num_playouts)
        actions = state.legal_actions()
        estimates = self._table.estimates(state.current_player(), actions, self.equivalent_visits)
        spread = self._table.high - self._table.low
        # Without a spread all means are equal, and any scale gives the uniform prior.
        scale = self.temperature * spread if spread > 0.0 else 1.0
        return softmax_prior(actions, estimates, scale)

    def _play(self, state: pyspiel.State, playouts: int) -> NDArray[np.float64]:
        """Run playouts from a non-terminal state, remember them, and sum their returns."""
        num_players = self.game.num_players()
        bots = random_bots(num_players, lambda: self._random.getrandbits(31))
        has_chance = self._random_playouts.has_chance
        total = np.zeros(num_players)
        for _ in range(playouts):
            seed = self._random.getrandbits(31) if has_chance else 0
            players, actions, utilities = self._random_playouts.play(state.clone(), bots, seed)
            returns = np.array(utilities)
            self._table.add(np.asarray(players), np.array(actions, np.intp), returns)
            total += returns
        return total

    def _follow(self, state: pyspiel.State) -> None:
        """Check the state, and forget the statistics of another game."""
        check_state(self.game, state)
        if self._start is not None:
            before, traits = self._start
            if moves_between(before.state, state, traits) is not None:
                return
            self._table = self._empty_table()
        before = OpenSpielState(state).clone()  # The bot goes on to change its own state.
        self._start = before, before.traits

    def _empty_table(self) -> AmafTable:
        return AmafTable(self.game.num_players(), self.game.num_distinct_actions(), self.half_life)
