"""β schedules: the weight of an edge's AMAF value against its own mean.

``n`` and ``q`` are the visits and mean value of an edge, ``n_amaf`` (ñ) and ``q_amaf`` those of its
AMAF statistics. A custom schedule implements ``beta``.
"""

import math
from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Gt

from rave_agents.compiler.dispatch import implements, open_function
from rave_agents.compiler.part_fields import Takes


@open_function
def beta(schedule: Any, n: float, n_amaf: float) -> float:
    """The weight of the AMAF value, from 0 to 1, for ``n_amaf`` above 0.

    ``ñ / (ñ + n w)``, with w by ``own_weight``.
    """
    return n_amaf / (n_amaf + n * own_weight(schedule, n_amaf))


@open_function
def own_weight(schedule: Any, n_amaf: float) -> float:
    """The weight w of a visit of the edge, where ``β = ñ / (ñ + n w)``."""
    return 1.0


@open_function
def blend(schedule: Any, n: float, value_sum: float, n_amaf: float, amaf_value_sum: float) -> float:
    """``(1 - β) q + β q_amaf`` (Gelly & Silver 2011, equation 13), for ``n_amaf`` above 0."""
    weight = beta(schedule, n, n_amaf)
    q = value_sum / n if n > 0.0 else 0.0
    return (1.0 - weight) * q + weight * (amaf_value_sum / n_amaf)


@open_function
def blend_trusted(
    schedule: Any, t: float, n: float, value_sum: float, n_amaf: float, amaf_value_sum: float
) -> float:
    """``(1 - t β) q + t β q_amaf`` with trust t in AMAF, for n and ``n_amaf`` above 0."""
    usual = blend(schedule, n, value_sum, n_amaf, amaf_value_sum)
    return (1.0 - t) * (value_sum / n) + t * usual


Schedule = Annotated[Any, Takes(blend, beta)]
"""Type of a field that holds a schedule."""


class HandSelected(NamedTuple):
    """``β = sqrt(k / (3 n + k))``."""

    k: Annotated[float, Gt(0)] = 500.0
    """Equivalence parameter: β = 1/2 at n = k, above 0. Gelly & Silver found 1,000 and more best in
    Go."""


@implements(beta, HandSelected)
def beta_hand_selected(schedule: HandSelected, n: float, n_amaf: float) -> float:
    """``sqrt(k / (3 n + k))`` (Gelly & Silver 2011, section 4.4)."""
    return math.sqrt(schedule.k / (3.0 * n + schedule.k))


class MinimumMSE(NamedTuple):
    """``β = ñ / (n + ñ + 4 n ñ b²)``: the least squared error of the blend."""

    bias: Annotated[float, Ge(0)] = 0.035
    """b, at least 0: the mean bias of AMAF values, on the scale [0, 1]."""


@implements(own_weight, MinimumMSE)
def own_weight_minimum_mse(schedule: MinimumMSE, n_amaf: float) -> float:
    """``1 + 4 ñ b²``, so that β = ñ / (n + ñ + 4 n ñ b²) (Gelly & Silver 2011, eqs. 46, 47)."""
    return 1.0 + n_amaf * (4.0 * schedule.bias * schedule.bias)


class Fuego(NamedTuple):
    """``β = ñ / (n (1 / initial + ñ / final) + ñ)``."""

    initial: Annotated[float, Gt(0)] = 1.0
    """The weight of the first AMAF visit, in visits, above 0 (Fuego: 0.9 or 1.0)."""
    final: Annotated[float, Gt(0)] = 5000.0
    """The limit of the weight of all AMAF visits, in visits, above 0 (Fuego: 5,000 to 20,000)."""


@implements(own_weight, Fuego)
def own_weight_fuego(schedule: Fuego, n_amaf: float) -> float:
    """``1 / initial + ñ / final``, so that β = ñ / (n (1 / initial + ñ / final) + ñ).

    Enzenberger et al. 2010, Fuego.
    """
    return 1.0 / schedule.initial + n_amaf * (1.0 / schedule.final)


class Pachi(NamedTuple):
    """``β = ñ / (ñ + n + n ñ / equivalence)``."""

    equivalence: Annotated[float, Gt(0)] = 3500.0
    """The equivalence of AMAF visits, in visits, above 0 (Pachi: 3,000 to 4,000)."""


@implements(own_weight, Pachi)
def own_weight_pachi(schedule: Pachi, n_amaf: float) -> float:
    """``1 + ñ / equivalence``, so that β = ñ / (ñ + n + n ñ / equivalence).

    Baudiš & Gailly 2012, Pachi.
    """
    return 1.0 + n_amaf * (1.0 / schedule.equivalence)


class GraveBias(NamedTuple):
    """``β = ñ / (ñ + n + bias ñ n)``."""

    bias: Annotated[float, Ge(0)] = 1e-5
    """The bias of AMAF values, at least 0 (Cazenave 2015: 1e-5)."""


@implements(own_weight, GraveBias)
def own_weight_grave(schedule: GraveBias, n_amaf: float) -> float:
    """``1 + bias ñ``, so that β = ñ / (ñ + n + bias ñ n) (Cazenave 2015)."""
    return 1.0 + n_amaf * schedule.bias


@implements(blend, MinimumMSE, Fuego, Pachi, GraveBias)
def blend_as_one_fraction(
    schedule: Any, n: float, value_sum: float, n_amaf: float, amaf_value_sum: float
) -> float:
    """``(1 - β) q + β q_amaf`` with ``β = ñ / (ñ + n w)``, as one fraction.

    With the sums n q and ñ q_amaf it equals ``(ñ q_amaf + n q w) / (ñ + n w)``: one division
    instead of three, and defined for n = 0.
    """
    weight = own_weight(schedule, n_amaf)
    return (amaf_value_sum + value_sum * weight) / (n_amaf + n * weight)


@implements(blend_trusted, MinimumMSE, Fuego, Pachi, GraveBias)
def blend_trusted_as_one_fraction(
    schedule: Any, t: float, n: float, value_sum: float, n_amaf: float, amaf_value_sum: float
) -> float:
    """``(1 - t β) q + t β q_amaf`` with ``β = ñ / (ñ + n w)``, as one fraction.

    With the sums of values it is ``(n (n q w + t ñ q_amaf) + (1 - t) n q ñ) / (n (ñ + n w))``.
    """
    weight = own_weight(schedule, n_amaf)
    # One division again; expand t β with β = ñ / (ñ + n w) to check it.
    sums = n * (value_sum * weight + t * amaf_value_sum) + (1.0 - t) * value_sum * n_amaf
    return sums / (n * (n_amaf + n * weight))
