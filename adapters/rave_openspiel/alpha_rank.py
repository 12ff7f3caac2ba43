"""alpha-rank, as OpenSpiel computes it."""

from collections.abc import Sequence

import numpy as np

from rave_agents.errors import UnsupportedGameError
from rave_agents.extras import missing


def alpha_rank(payoffs: Sequence[Sequence[float]]) -> list[float]:
    """Each strategy's share of the stationary distribution in a symmetric game of two.

    Args:
        payoffs: the mean payoff of each strategy (row) against each (column).

    Raises:
        UnsupportedGameError: without networkx, which OpenSpiel's module imports.
    """
    try:
        from open_spiel.python.egt import alpharank  # noqa: PLC0415  (optional: networkx)
    except ImportError as error:
        raise UnsupportedGameError(
            f"{missing('alpha-rank needs', 'alpharank', 'networkx')} ({error})."
        ) from error
    if len(payoffs) == 1:  # The Markov chain over strategies has no transitions.
        return [1.0]
    *_, shares, _, _ = alpharank.compute(
        [np.asarray(payoffs, dtype=float)], use_inf_alpha=True, inf_alpha_eps=0.01
    )
    return [float(share) for share in shares]
