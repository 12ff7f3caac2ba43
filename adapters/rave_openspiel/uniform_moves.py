"""Uniformly random moves and chance outcomes, and their probabilities."""

import math
from collections.abc import Callable, Sequence

import pyspiel

Unit = Callable[[], float]
"""Draws a uniform random number in [0, 1)."""


def log_probability(state: pyspiel.State, action: int) -> float | None:
    """Log probability of an action if all move uniformly at random; None if illegal."""
    if state.is_chance_node():
        for outcome, probability in state.chance_outcomes():
            if outcome == action and probability > 0:
                return math.log(probability)
        return None
    legal = state.legal_actions()
    return -math.log(len(legal)) if action in legal else None


def choices(state: pyspiel.State) -> Sequence[int]:
    """Return the legal actions, or the chance outcomes."""
    if state.is_chance_node():
        return [outcome for outcome, _ in state.chance_outcomes()]
    return state.legal_actions()  # type: ignore[no-any-return]


def weighted_choices(state: pyspiel.State) -> list[tuple[int, float]]:
    """The possible actions or chance outcomes, each with its log probability."""
    if state.is_chance_node():
        return [(outcome, math.log(p)) for outcome, p in state.chance_outcomes() if p > 0]
    legal = state.legal_actions()
    return [(action, -math.log(len(legal))) for action in legal]


def drawn(state: pyspiel.State, unit: Unit) -> tuple[int, float]:
    """Draw a uniformly random action, or a chance outcome, with its log probability."""
    if not state.is_chance_node():
        legal = state.legal_actions()
        return int(legal[int(unit() * len(legal))]), -math.log(len(legal))
    remaining = unit()
    outcomes = state.chance_outcomes()
    for outcome, probability in outcomes:
        remaining -= probability
        if remaining < 0.0:
            return int(outcome), math.log(probability)
    # Probabilities may sum to a little less than 1: take the last possible outcome.
    outcome, probability = next(pair for pair in reversed(outcomes) if pair[1] > 0)
    return int(outcome), math.log(probability)
