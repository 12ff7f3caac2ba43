"""Proof numbers for OpenSpiel's Python ``MCTSBot``: an evaluator that looks ahead from each leaf.

``MCTSBot`` asks its evaluator for the value of each new leaf, and for prior probabilities when it
returns to one. ``PNEvaluator`` takes both from one small search with proof numbers and a solver: a
solved leaf has its exact outcome, any other the mean of the simulations, and moves are ranked by
their proof numbers.
"""

import collections
import random
from collections.abc import Hashable
from typing import Annotated, NamedTuple

import numpy as np
import pyspiel
from annotated_types import Ge
from numpy.typing import NDArray
from open_spiel.python.algorithms import mcts

from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.game.endless import until_over
from rave_agents.game.game_state import drawn_outcome
from rave_agents.game.validation import Positive, Seed, validated
from rave_agents.kernel.proofs.report import edge_proof, known_ends
from rave_agents.kernel.tree import ROOT, edge_rows
from rave_agents.parts import CheckRefutations, DrawLayer, RankBonus
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.searcher import Searcher
from rave_openspiel.evaluator import softmax_prior
from rave_openspiel.playouts import RandomPlayouts, random_bots
from rave_openspiel.positions import position_key
from rave_openspiel.support import (
    check_one_at_a_time,
    check_perfect_information,
    check_state,
)

SEARCHES_KEPT = 2**14
"""Number of searches kept; the least recently used one is dropped first."""


class _Found(NamedTuple):
    values: NDArray[np.float64]
    prior: list[tuple[int, float]]


class PNEvaluator(mcts.Evaluator):  # type: ignore[misc]
    """Values and priors from a small search with proof numbers at each leaf.

    For the stock bot with the selection that reads priors::

        evaluator = PNEvaluator(game, seed=1)
        bot = mcts.MCTSBot(
            game, 4, 100, evaluator, child_selection_fn=mcts.SearchNode.puct_value
        )

    The search is the preset ``pn_mcts`` with immediate expansion, refutation checks and rank
    bonuses. The prior of a move is a softmax of its strength::

        prior ∝ exp(strength / T)     T = temperature

    The strength is 1 for a move that is proven to have the position's exact outcome, 0 for a proven
    loss, and else 1 - rank / moves, in [0, 1): the move with the smallest proof number has rank 1,
    and moves with equal proof numbers share a rank (``RankBonus``). In quiet positions that may be
    all of them: the prior is then uniform.

    The value for the player to move is the position's exact outcome if the search solves it, else
    the mean of its simulations; for the other of two players it is the game's utility sum minus
    that value. Where there are more players, or no such sum, the search has only the mover's value:
    unless it solves the position, the values are the mean returns of the same number of random
    playouts. At a chance node, outcomes are drawn until a player is to move.

    ``evaluate`` and ``prior`` of one position share a search, and so do later visits: each position
    keeps its value. The given states are never changed. ``copy.deepcopy`` and ``pickle`` keep
    everything, the random streams included.

    Args:
        game: the game to play; sequential, with perfect information and no hidden chance.
        simulations: simulations of each search, at least 2 (the first one only lists the moves);
            fewer where it solves the position.
        temperature: T, above 0; towards 0 all probability goes to the strongest moves, and towards
            infinity the prior is uniform.
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
        simulations: Annotated[int, Ge(2)] = 30,
        temperature: Positive = 0.3,
        seed: Seed = None,
    ) -> None:
        check_perfect_information(game)
        check_one_at_a_time(game, "PNEvaluator")
        self.game = game
        """The game."""
        self.simulations: int = simulations
        """Simulations of each search."""
        self.temperature: float = temperature
        """T, in units of strength."""
        self._random = random.Random(seed)
        config = SearchConfig.preset("pn_mcts").replace(
            # A search this small must expand at once and look two moves ahead; its priors are
            # ranks.
            expand_visits=1,
            checks=CheckRefutations(),
            bonus=RankBonus(DrawLayer()),
            constant=0.3,
            search_forced_moves=True,
        )
        self._searcher = Searcher(config, seed=self._random.getrandbits(64))
        self._limit = Limit(simulations=self.simulations)
        self._playouts = RandomPlayouts(game)
        self._found: collections.OrderedDict[Hashable, _Found] = collections.OrderedDict()

    def evaluate(self, state: pyspiel.State) -> NDArray[np.float64]:
        """Return the value of a state for every player, in that player's utility.

        At a terminal state these are the returns.

        Raises:
            TypeError: if ``state`` is not a ``pyspiel.State``.
            ValueError: if ``state`` belongs to another game.

        """
        check_state(self.game, state)
        if state.is_chance_node():
            state = state.clone()
            for _ in until_over(state, "A run of chance"):
                if not state.is_chance_node():
                    break
                state.apply_action(drawn_outcome(state, self._random))
        if state.is_terminal():
            return np.array(state.returns())
        return self._search(state).values.copy()  # A caller's changes must not reach later visits.

    def prior(self, state: pyspiel.State) -> list[tuple[int, float]]:
        """Return every legal action with its prior probability, by the formula above.

        At a chance node these are the outcomes with their probabilities; at a terminal state the
        list is empty. Raises the same errors as ``evaluate``.
        """
        check_state(self.game, state)
        if state.is_chance_node():
            return state.chance_outcomes()  # type: ignore[no-any-return]
        if state.is_terminal():
            return []
        return list(self._search(state).prior)

    def _search(self, state: pyspiel.State) -> _Found:
        """Return the result of a search of a position, the same each time for the same position."""
        key = position_key(state)
        found = self._found.get(key)
        if key is None or found is None:
            result = self._searcher.search(state, self._limit)
            found = _Found(self._values(state, result), self._prior(result))
            if key is None:  # A position without identity: nothing to find it by later.
                return found
            self._found[key] = found
            if len(self._found) > SEARCHES_KEPT:
                self._found.popitem(last=False)
        else:
            self._found.move_to_end(key)
        return found

    def _values(self, state: pyspiel.State, result: SearchResult) -> NDArray[np.float64]:
        if result.outcome is not None:
            return np.array(result.outcome)
        players, total = self.game.num_players(), self.game.utility_sum()
        if players == 1:
            return np.array([result.value])
        if players == 2 and total is not None:
            assert result.value is not None
            values = np.full(2, total - result.value)
            values[result.player] = result.value
            return values
        # One player's value says nothing of how the others share the rest.
        bots = random_bots(players, lambda: self._random.getrandbits(31))
        returns = [
            self._playouts.play(state.clone(), bots, self._random.getrandbits(31))[2]
            for _ in range(self.simulations)
        ]
        return np.array(returns).mean(axis=0)  # type: ignore[no-any-return]

    def _prior(self, result: SearchResult) -> list[tuple[int, float]]:
        rooted = self._searcher.rooted_tree()
        assert rooted is not None
        tree, proofs = rooted.arrays, rooted.proofs
        ends = known_ends(rooted.running.proofs, rooted.search())
        # Of proven moves only those as good as the position itself get the full strength.
        best = None if result.outcome is None else result.outcome[result.player]
        strengths = []
        for edge in edge_rows(tree, ROOT):
            proof = edge_proof(tree, proofs, ROOT, edge, ends)
            strength = 0.0 if proof.lost else float(proofs.edge_bonus[edge])
            strengths.append(1.0 if proof.solved and proof.outcome == best else strength)
        actions = [row.action for row in result.actions]
        return softmax_prior(actions, np.array(strengths), self.temperature)
