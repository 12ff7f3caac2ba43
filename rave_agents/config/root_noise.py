"""Noise in the root's priors, so that searches of one position differ.

Your own noise implements ``noisy``, which Python calls once per search.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import implements, python_function


@python_function
def noisy(
    noise: Any, priors: NDArray[np.float32], random: np.random.Generator
) -> NDArray[np.float32]:
    """The root's priors with noise.

    Args:
        noise: the part.
        priors: one for each of the root's actions; they sum to 1.
        random: the generator to draw from.
    """
    return priors


class NoNoise(NamedTuple):
    """The priors stay as they are."""


class DirichletNoise(NamedTuple):
    """A share of Dirichlet noise (Silver et al. 2017)."""

    epsilon: Annotated[float, Ge(0), Le(1)] = 0.25
    """Its share, in [0, 1] (Silver et al. 2017: 0.25)."""
    alpha: Annotated[float, Gt(0)] = 0.3
    """Its concentration, above 0 (Silver et al. 2017: 0.3 chess, 0.03 Go)."""


@implements(noisy, DirichletNoise)
def dirichlet(
    noise: DirichletNoise, priors: NDArray[np.float32], random: np.random.Generator
) -> NDArray[np.float32]:
    """``(1 - ε) p + ε Dir(α)`` (Silver et al. 2017)."""
    drawn = random.dirichlet(np.full(len(priors), noise.alpha))
    return ((1.0 - noise.epsilon) * priors + noise.epsilon * drawn).astype(np.float32)
