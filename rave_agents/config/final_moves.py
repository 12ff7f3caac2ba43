"""Final move selection: the action played after the search (Chaslot et al. 2008).

Your own final move implements ``preference``, which Python calls for each move of the root.
"""

import math
from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Le

from rave_agents.compiler.dispatch import implements, python_function
from rave_agents.config.regrets import keeps_regrets
from rave_agents.kernel.declarations import is_mixed, refusal
from rave_agents.kernel.halving import halves, halving_refusal


@python_function
def preference(final_move: Any, value: float, visits: int, sure: float) -> tuple[float, float]:
    """Sort key of a move with visits: the final move has the greatest; the second breaks ties.

    Args:
        final_move: the part.
        value: the move's mean value for who moves, on the scale [0, 1].
        visits: its visits, at least 1.
        sure: the proven lower bound of its value; minus infinity if nothing is proven.
    """
    return visits, value


class RobustChild(NamedTuple):
    """Most visits; among equals the best mean."""


class MaxChild(NamedTuple):
    """The best mean; among equals the most visits."""


@implements(preference, MaxChild)
def max_child(final_move: MaxChild, value: float, visits: int, sure: float) -> tuple[float, float]:
    """``q``."""
    return value, visits


class SecureChild(NamedTuple):
    """The best lower confidence bound ``q - A / sqrt(n)``."""

    A: float = 1.0
    """Weight of a move's uncertainty: the greater, the more careful. Winands et al. (2008) print a
    plus sign, with A = 1."""


@implements(preference, SecureChild)
def secure_child(
    final_move: SecureChild, value: float, visits: int, sure: float
) -> tuple[float, float]:
    """``q - A / sqrt(n)``, and at least the proven value (Chaslot et al. 2008)."""
    # A proven bound needs no visits: without it a move proven early would look uncertain.
    return max(lower_confidence_bound(value, visits, final_move.A), sure), visits


def lower_confidence_bound(q: float, n: float, A: float) -> float:
    """``q - A / sqrt(n)``, the criterion of the secure child (Chaslot et al. 2008).

    Winands et al. (2008) print it with a plus sign; ``A = -1`` gives their form.
    """
    return q - A / math.sqrt(n)


class VisitShares(NamedTuple):
    """Draws in proportion to visits where information is hidden.

    There opponents can exploit a player whose move is sure. Few visits are noise and exploration:
    moves with less than a share of the greatest number are left out (thresholding: Ganzfried,
    Sandholm & Waugh 2012, "Strategy purification and thresholding"). So are moves that cost too
    much, as many do after few simulations. At temperature 0, draws as at 1. In other games it is
    ``MatrixEquilibrium``: where players move at the same time, most visits are exploration. For a
    single player it is the robust child.
    """

    threshold: Annotated[float, Ge(0), Le(1)] = 0.2
    """Least visits of a move that may be drawn, as a share of the most visited move's; in [0, 1].
    At 0 all moves may be drawn, at 1 the most visited ones alone. Measured, see
    docs/laboratory.md."""
    margin: Annotated[float, Ge(0), Le(1)] = 0.02
    """The most that the mean value of a move that may be drawn is below that of the most visited
    one, on the scale [0, 1]. Likewise measured."""
    visits: Annotated[float, Ge(0)] = 100.0
    """Least visits of a move that may be drawn, at least 0: after fewer, values may differ by
    chance alone. Where no move has as many, the most visited one is played."""


class BestOutcome(NamedTuple):
    """The greatest proven return, 0 for an open one; then the most visits.

    The final move of OpenSpiel's MCTS bots (``SearchNode.best_child``). Among equals the best mean.
    Once the position is solved, only moves that are proven to achieve its outcome are played.
    """


class Maximin(NamedTuple):
    """The best mean against the worst reply, where players move at the same time.

    Elsewhere the robust child.
    """

    visits: Annotated[float, Ge(0)] = 10.0
    """Visits added to each reply at the action's mean value, to shrink replies with few visits;
    actions with fewer visits are left out while others remain. At least 0."""


class MatrixEquilibrium(NamedTuple):
    """Draws from an equilibrium of the matrix of mean values, where two players move together.

    The simulations through the root give the mean value of each joint action. Regret matching+
    finds a strategy to which no reply in this matrix is better (Tammelin 2014); the most visited
    action has one, as a rule. Elsewhere, and with a temperature, it is the robust child.
    """

    visits: Annotated[float, Ge(0)] = 25.0
    """Visits added to each joint action, at least 0: after few simulations its mean is noise. They
    have the value that the two actions add to the mean of all simulations."""
    threshold: Annotated[float, Ge(0), Le(1)] = 0.1
    """Least probability of an action that may be drawn, as a share of the greatest one."""
    fewest: Annotated[float, Ge(0)] = 3.0
    """Least mean visits of a joint action: with fewer, the most visited action is played."""


class Survivor(NamedTuple):
    """The best action that sequential halving has kept, with ``rule=gumbel``.

    It has the greatest ``g + ln p + σ(q)``, see ``kernel/gumbel.py`` (Danihelka et al.
    2022). Where several players move at the same time, it is the robust child.
    """


@implements(halves, Survivor)
def _halves(final_move: Survivor) -> bool:
    return True


implements(refusal, Survivor)(halving_refusal)


# Regret matching and Exp3 converge on average only: the last strategy may cycle, and visits
# include the exploration.
class AverageStrategy(NamedTuple):
    """Draws from the average strategy of regret matching or Exp3, without its exploration.

    With regrets of information sets (``regrets=mccfr``), from theirs. Elsewhere, where a player
    moves alone, it is the robust child.
    """


@implements(refusal, AverageStrategy)
def _refusal(final_move: AverageStrategy, config: Any) -> str:
    if is_mixed(config.simultaneous) or keeps_regrets(config.regrets):
        return ""
    return "final_move=average_strategy needs simultaneous=regret_matching or exp3, or regrets."
