"""Translation of the arguments of OpenSpiel's MCTS bots to this package's search."""

import math
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

from rave_agents.config.final_moves import BestOutcome
from rave_agents.config.root_noise import DirichletNoise, NoNoise
from rave_agents.errors import UnsupportedGameError
from rave_agents.game.endless import until_over
from rave_agents.game.validation import Count, NonNegative, checked
from rave_agents.kernel.proofs.part import NoProofs, Proofs
from rave_agents.kernel.rules import PUCT, UCB1
from rave_openspiel.pointers import rollouts_of
from rave_openspiel.simulator import utility_bounds
from rave_openspiel.support import check_supported, hides_information, is_simultaneous

NO_LIMIT_MB = 2**30
"""A limit in megabytes that no machine reaches."""


class PastChance:
    """An evaluator that evaluates a chance node by a position after it, drawn at random.

    Args:
        evaluator: evaluates positions at which a player is to move.
        seed: of the draws.
    """

    def __init__(self, evaluator: Any, seed: int) -> None:
        self._evaluator = evaluator
        self._random = np.random.default_rng(seed)

    def evaluate(self, state: pyspiel.State) -> Any:
        """The value of the position, or of one after it, for every player."""
        if state.is_chance_node():
            state = state.clone()
            for _ in until_over(state, "A run of chance"):
                if not state.is_chance_node():
                    break
                outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(int(self._random.choice(outcomes, p=probabilities)))
            if state.is_terminal():
                return state.returns()
        return self._evaluator.evaluate(state)

    def prior(self, state: pyspiel.State) -> Any:
        """The evaluator's priors."""
        return self._evaluator.prior(state)


def check_game(game: pyspiel.Game) -> None:
    """Raise UnsupportedGameError if OpenSpiel's bots cannot play the game."""
    check_supported(game)
    if is_simultaneous(game):
        raise UnsupportedGameError(
            f"OpenSpiel's MCTS bots play games in which one player moves at a time, and in {game} "
            "players move at the same time: take RaveBot or RegretMatchingBot with the seat that "
            "they play, such as RaveBot(game, player_id=0, simulations=1000)."
        )


def leaf_evaluator(evaluator: Any) -> tuple[Any, int]:
    """Return the evaluator of leaves, None for random playouts, and the number of playouts.

    Raises:
        TypeError: if it is no evaluator.
        ValueError: if it has no rollouts.
    """
    if isinstance(evaluator, pyspiel.RandomRolloutEvaluator):
        return None, checked("n_rollouts", Count, rollouts_of(evaluator))
    # Exactly this class: a subclass may evaluate in another way, and so must be called.
    if type(evaluator) is RandomRolloutEvaluator and evaluator.max_length is None:
        return None, checked("n_rollouts", Count, evaluator.n_rollouts)
    lacks = [name for name in ("evaluate", "prior") if not hasattr(evaluator, name)]
    if lacks or isinstance(evaluator, type):
        raise TypeError(
            "evaluator must be an object with evaluate(state) and prior(state), such as "
            f"RandomRolloutEvaluator(1), got {evaluator!r}."
        )
    return evaluator, 1


def search_changes(game: pyspiel.Game, uct_c: float, solve: bool, *, puct: bool) -> dict[str, Any]:
    """Return the changes to plain UCT that these arguments request.

    Args:
        game: the game to play.
        uct_c: the exploration constant for the game's utilities.
        solve: whether outcomes are proven, where that is possible.
        puct: whether actions are selected by PUCT.

    Raises:
        TypeError, ValueError: if ``uct_c`` is not a finite number of at least 0.
    """
    low, high = utility_bounds(game)
    if not 0.0 < high - low < math.inf:
        low, high = -1.0, 1.0  # Unknown bounds: the usual range, in which uct_c is tuned.
    c = checked("uct_c", NonNegative, uct_c) / (high - low)
    proves = solve and not hides_information(game.get_type())
    changes: dict[str, Any] = {
        "rule": UCB1(c),
        "proofs": Proofs() if proves else NoProofs(),
        # OpenSpiel's solver learns of a terminal child on its first visit.
        "expand_visits": 1 if proves else 2,
        "final_move": BestOutcome(),
        "reuse_tree": False,
    }
    if puct:
        # An action without visits has the value 0 in puct_value.
        unvisited = min(max(-low / (high - low), 0.0), 1.0)
        changes |= {"rule": PUCT(c), "first_play_urgency": unvisited}
    return changes


def root_noise(dirichlet_noise: tuple[float, float] | None) -> DirichletNoise | NoNoise:
    """Return the noise in the root's priors; TypeError if it is no pair."""
    if not dirichlet_noise:
        return NoNoise()
    try:
        epsilon, alpha = dirichlet_noise
    except (TypeError, ValueError):
        raise TypeError(
            f"dirichlet_noise must be a pair (epsilon, alpha) or None, got {dirichlet_noise!r}."
        ) from None
    return DirichletNoise(epsilon, alpha)


def drawn_seed(random_state: Any) -> int:
    """Draw a seed; TypeError if this is no generator of NumPy's."""
    draw = getattr(random_state, "randint", None) or getattr(random_state, "integers", None)
    if draw is None:
        raise TypeError(
            f"random_state must be a numpy.random.RandomState or None, got {random_state!r}."
        )
    return int(draw(2**31 - 1))
