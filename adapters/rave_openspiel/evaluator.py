"""RAVE for OpenSpiel's Python ``MCTSBot``: an evaluator whose playouts give it priors.

The stock bot asks its evaluator for two things: a value of each new leaf, and, when it comes back
to a leaf, a prior probability of each action there. ``RaveEvaluator`` answers the first with random
playouts and remembers from them, for each player and action, how playouts ended in which that
player made that move at any time: the all-moves-as-first (AMAF) mean, on which rapid action value
estimation rests (Gelly & Silver 2011). The second it answers from these means.

There is one table for all positions of a game, since most leaves of a small tree are judged by too
few playouts to have tables of their own. What keeps it near the position is that playouts start at
the leaves of the search, and that later ones weigh more than earlier ones.
"""

import math
import random

import numpy as np
import pyspiel
from numpy.typing import NDArray
from open_spiel.python.algorithms import mcts

from rave_agents.game.arguments import checked_seed, is_integer
from rave_openspiel.playouts import RandomPlayouts, random_bots
from rave_openspiel.support import (
    check_one_at_a_time,
    check_perfect_information,
    check_state,
)

REBASE_ABOVE = 1e100
"""Playouts get ever greater weights; from this weight on all of them are scaled back."""


class AmafTable:
    """AMAF statistics of playouts, the later of which weigh more.

    Args:
        num_players: how many players the game has.
        num_distinct_actions: one more than the largest action of any player.
        half_life: after so many playouts one weighs half as much as the newest.
    """

    def __init__(self, num_players: int, num_distinct_actions: int, half_life: float) -> None:
        self.num_playouts: int = 0
        """Playouts added."""
        self.low: float = math.inf
        """The least utility that any player had from them."""
        self.high: float = -math.inf
        """The greatest."""
        self._visits = np.zeros((num_players, num_distinct_actions))
        self._utilities = np.zeros((num_players, num_distinct_actions))
        self._total_visits = 0.0
        self._total_utilities = np.zeros(num_players)
        self._growth = 2.0 ** (1.0 / half_life)
        self._weight = 1.0

    def add(
        self, players: NDArray[np.int32], actions: NDArray[np.intp], returns: NDArray[np.float64]
    ) -> None:
        """Add a playout: who moved, what he played, and the utilities that it gave the players."""
        self._weight *= self._growth
        if self._weight > REBASE_ABOVE:
            self._rebase()
        weight = self._weight
        # An assignment by index arrays counts a move once, however often it was played.
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
        """``(ñ q̃ + k μ) / (ñ + k)`` of a player's actions, in his utility.

        ñ and q̃ are the action's visits and mean, μ the player's mean over all playouts, and k is
        ``equivalent_visits``, above 0; a visit is one in the newest playout. At least one playout
        must have been added.
        """
        pull = equivalent_visits * self._weight
        average = self._total_utilities[player] / self._total_visits
        visits, utilities = self._visits[player, actions], self._utilities[player, actions]
        return (utilities + pull * average) / (visits + pull)  # type: ignore[no-any-return]

    def _rebase(self) -> None:
        """Give the newest playout the weight 1 and all others theirs relative to it."""
        self._visits /= self._weight
        self._utilities /= self._weight
        self._total_visits /= self._weight
        self._total_utilities /= self._weight
        self._weight = 1.0


def softmax_prior(
    actions: list[int], strengths: NDArray[np.float64], temperature: float
) -> list[tuple[int, float]]:
    """Every action and its probability, ``∝ exp(strength / temperature)``."""
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

    The statistics are forgotten when a state comes that does not go on from the first one since:
    another game has begun. The given states are never changed. ``copy.deepcopy`` and ``pickle``
    keep everything, the random stream included.

    Args:
        game: the game to play; sequential, with perfect information and no hidden chance.
        n_rollouts: playouts for each value, at least 1.
        temperature: T, above 0, in units of the range of utilities; towards 0 all probability goes
            to the best action, and towards infinity the prior is uniform.
        equivalent_visits: k, above 0: how many visits pull an estimate to the average.
        half_life: after so many playouts one weighs half as much as the newest; at least 1, and
            ``math.inf`` to weigh all alike.
        min_playouts: a prior rests on at least so many playouts, at least 1. Where fewer are
            remembered, as at the start of a game, ``prior`` adds what is missing.
        seed: decides everything random, an integer of at least 0; None for one that the system
            draws.

    Raises:
        UnsupportedGameError: (a ValueError) if the search cannot play the game; it says why.
        TypeError: for a value of the wrong type.
        ValueError: for a value that is not allowed.

    """

    def __init__(
        self,
        game: pyspiel.Game,
        *,
        n_rollouts: int = 1,
        temperature: float = 0.07,
        equivalent_visits: float = 5.0,
        half_life: float = 300.0,
        min_playouts: int = 30,
        seed: int | None = None,
    ) -> None:
        check_perfect_information(game)
        check_one_at_a_time(game, "RaveEvaluator")
        self.game = game
        """The game that it judges."""
        self.n_rollouts: int = checked_count("n_rollouts", n_rollouts)
        """Playouts for each value."""
        self.temperature: float = checked_positive("temperature", temperature)
        """T, in units of the range of utilities."""
        self.equivalent_visits: float = checked_positive("equivalent_visits", equivalent_visits)
        """k, the visits that pull an estimate to the average."""
        self.half_life: float = _checked_half_life(half_life)
        """Playouts after which one weighs half as much as the newest."""
        self.min_playouts: int = checked_count("min_playouts", min_playouts)
        """Playouts that a prior rests on at least."""
        self._random = random.Random(checked_seed(seed))
        self._random_playouts = RandomPlayouts(game)
        self._table = self._empty_table()
        self._start: tuple[str, list[int]] | None = None

    def evaluate(self, state: pyspiel.State) -> NDArray[np.float64]:
        """The mean utility of every player over random playouts from a state.

        Where the game is over, it is what the players have won.

        Raises:
            TypeError: if ``state`` is no ``pyspiel.State``.
            ValueError: if it belongs to another game.

        """
        self._follow(state)
        if state.is_terminal():
            return np.array(state.returns())
        return self._play(state, self.n_rollouts) / self.n_rollouts

    def prior(self, state: pyspiel.State) -> list[tuple[int, float]]:
        """Every legal action and its probability, by the formula above.

        At a chance node these are the outcomes and theirs; where the game is over there are none.
        Raises what ``evaluate`` does.
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
        scale = self.temperature * spread if spread > 0.0 else 1.0
        return softmax_prior(actions, estimates, scale)

    def _play(self, state: pyspiel.State, playouts: int) -> NDArray[np.float64]:
        """Play from a state that is not terminal, remember it, and sum the returns."""
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
        """Check the state, and forget what is known of another game's course."""
        check_state(self.game, state)
        position, history = state.starting_state_str(), state.history()
        if self._start is not None:
            start_position, start_history = self._start
            if position == start_position and history[: len(start_history)] == start_history:
                return
            self._table = self._empty_table()
        self._start = position, history

    def _empty_table(self) -> AmafTable:
        return AmafTable(self.game.num_players(), self.game.num_distinct_actions(), self.half_life)


def checked_count(name: str, value: int, *, least: int = 1) -> int:
    """The value, refused if it is not an integer of at least ``least``."""
    if not is_integer(value):
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value!r}.")
    return int(value)


def _checked_number(name: str, value: float) -> float:
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    return float(value)


def checked_positive(name: str, value: float) -> float:
    """The value, refused if it is not a finite number above 0."""
    number = _checked_number(name, value)
    if not 0.0 < number < math.inf:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}.")
    return number


def _checked_half_life(value: float) -> float:
    number = _checked_number("half_life", value)
    if not number >= 1.0:
        raise ValueError(f"half_life must be at least 1 playout, got {value!r}.")
    return number
