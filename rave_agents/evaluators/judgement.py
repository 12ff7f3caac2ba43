"""An evaluator's answer, looked through in one pass: whether a search can take it as it is.

Most answers are; what is not is looked at by ``batch_evaluator.py``, which mends or refuses it.
"""

import math
from typing import NamedTuple

from rave_agents.compiler.arrays import Array
from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.entry import entry
from rave_agents.evaluators.leaves import LOGITS, NEXT_ROW, Answers

LOW, HIGH, UTILITY_SUM = range(3)
LIMITS_LENGTH = 3

ACTIONS, PLAYERS, OWN = range(3)
SIZES_LENGTH = 3


class Judgement(NamedTuple):
    """An answer and what the game says of it."""

    answers: Answers
    """The policy is there, and the values unless they are those of the player to move alone."""
    own_values: Array
    """[rows] what the player to move expects."""
    limits: Array
    """[LIMITS_LENGTH] the least and the greatest utility; the sum of two players', or NaN."""
    sizes: Array
    """[SIZES_LENGTH] the game's distinct actions; its players; 1 if ``own_values`` are given."""


@entry("the search with an evaluator")
def take_answer(judgement: Judgement, number: int) -> int:
    """Write all players' values. Returns 1 if a search can use them and the policy, else 0."""
    sizes = judgement.sizes
    if sizes[OWN] != 0 and not write_values(judgement):
        return 0
    answers, limits = judgement.answers, judgement.limits
    rows = answers.common[NEXT_ROW]
    for place in range(rows * sizes[PLAYERS]):
        value = answers.values[place]
        if not (limits[LOW] <= value <= limits[HIGH] and -math.inf < value < math.inf):
            return 0
    for row in range(rows):
        if not has_priors(answers, row * sizes[ACTIONS], (row + 1) * sizes[ACTIONS]):
            return 0
    return 1


@kernel
def write_values(judgement: Judgement) -> bool:
    """Write what all players expect, where it follows from the value of the player to move."""
    answers, total = judgement.answers, judgement.limits[UTILITY_SUM]
    players = judgement.sizes[PLAYERS]
    if players > 2 or (players == 2 and math.isnan(total)):
        return False
    for row in range(answers.common[NEXT_ROW]):
        first = judgement.own_values[row]
        if answers.players[row] == 1:
            first = total - first
        answers.values[row * players] = first
        if players == 2:
            answers.values[row * players + 1] = total - first
    return True


@kernel
def has_priors(answers: Answers, begin: int, end: int) -> bool:
    """Whether the policy of a row gives its legal actions probabilities."""
    logits = answers.common[LOGITS] != 0
    none = -math.inf if logits else 0.0
    total = none
    for place in range(begin, end):
        if answers.masks[place] != 0:
            given = answers.policy[place]
            if not (none <= given < math.inf):
                return False
            total = max(total, given) if logits else total + given
    return bool(none < total < math.inf)
