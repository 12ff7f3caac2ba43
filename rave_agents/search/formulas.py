"""One pure function per formula of the literature.

Symbols, the same in every function: ``n`` visits and ``q`` mean value of an edge, ``N`` visits of
its node; ``n_amaf`` and ``q_amaf`` the same of its AMAF statistics; ``c`` the exploration constant;
``p`` the prior probability. Values are those of the player who moves at the node, in [0, 1].
"""

import math

from rave_agents.search.compiler import formula


@formula
def ucb1_exploration(ln_N: float, n: float, c: float) -> float:
    """``c sqrt(ln N / n)``, UCB1's exploration (Auer et al. 2002; Kocsis & Szepesvári 2006).

    The logarithm is the same for all edges of a node, so the caller takes it once. An edge without
    visits is treated as one with a single visit.
    """
    return c * math.sqrt(ln_N / max(n, 1.0))


@formula
def puct_exploration(sqrt_N: float, n: float, c: float, p: float) -> float:
    """``c p sqrt(N) / (n + 1)``, the exploration term of PUCT (Silver et al. 2017)."""
    return c * p * sqrt_N / (n + 1.0)


@formula
def tuned_exploration(ln_N: float, n: float, variance: float, c: float) -> float:
    """``c sqrt(ln N / n min(1/4, s² + sqrt(2 ln N / n)))``, UCB1-Tuned's (Auer et al. 2002).

    ``variance`` is s², that of the edge's values. Auer et al. have c = 1. An edge without visits is
    treated as one with a single visit.
    """
    per_visit = ln_N / max(n, 1.0)
    return c * math.sqrt(per_visit * min(0.25, variance + math.sqrt(2.0 * per_visit)))


@formula
def beta_hand_selected(n: float, k: float) -> float:
    """``sqrt(k / (3 n + k))`` (Gelly & Silver 2011, section 4.4); ``k`` visits weigh both alike."""
    return math.sqrt(k / (3.0 * n + k))


@formula
def beta_minimum_mse(n: float, n_amaf: float, b: float) -> float:
    """``ñ / (n + ñ + 4 n ñ b²)`` with the AMAF bias ``b`` (Gelly & Silver 2011, eqs. 46, 47)."""
    return n_amaf / (n + n_amaf + 4.0 * n * n_amaf * b * b)


@formula
def beta_fuego(n: float, n_amaf: float, w_initial: float, w_final: float) -> float:
    """``ñ / (n (1 / w_initial + ñ / w_final) + ñ)`` (Enzenberger et al. 2010, Fuego).

    ``w_initial`` is what the first AMAF visit weighs in visits, ``w_final`` what all of them weigh
    at most.
    """
    return n_amaf / (n * (1.0 / w_initial + n_amaf / w_final) + n_amaf)


@formula
def beta_pachi(n: float, n_amaf: float, equivalence: float) -> float:
    """``ñ / (ñ + n + n ñ / equivalence)`` (Baudiš & Gailly 2012, Pachi)."""
    return n_amaf / (n_amaf + n + n * n_amaf / equivalence)


@formula
def beta_grave(n: float, n_amaf: float, bias: float) -> float:
    """``ñ / (ñ + n + bias ñ n)`` (Cazenave 2015)."""
    return n_amaf / (n_amaf + n + bias * n_amaf * n)


@formula
def linear_weight(distance: float, length: float, first: float, last: float) -> float:
    """``first + (last - first) distance / length``: an AMAF update's weight.

    ``distance`` is how many moves lie between the node and the move, ``length`` how many the
    simulated game has from the node on. Fuego documents 2 to 0, and computes 2 to 1.
    """
    return first + (last - first) * distance / length


@formula
def stepped_weight(distance: int, length: int) -> float:
    """``1 + floor(3 (length - distance) / (length + 1))``: 3, 2 or 1 by thirds (Pachi)."""
    return 1.0 + (3 * (length - distance)) // (length + 1)


@formula
def weighted_win_rate(visits: float, wins: float, win_moves: float) -> float:
    """``(wins / visits) / (win_moves / wins)``: the win rate by the mean winning move number.

    ``win_moves`` is the sum of the numbers of the move in won simulations, 1 for a simulation's
    first (Kozlovsky 2013, on the Computer-go list). 0 without wins.
    """
    if wins <= 0.0:
        return 0.0
    return (wins / visits) / (win_moves / wins)


@formula
def blend(beta: float, value: float, amaf_value: float) -> float:
    """``(1 - β) value + β amaf_value`` (Gelly & Silver 2011, equation 13)."""
    return (1.0 - beta) * value + beta * amaf_value


@formula
def proof_exploration(bonus: float, n: float, C_pn: float, K: float) -> float:
    """``C_pn bonus / (1 + (n / K)²)``: what proof numbers add to an edge's score.

    ``K`` is the number of visits at which it has half its weight. Kowalski et al. (2023) add
    ``C_pn bonus``, which is ``K`` infinite.
    """
    faded = n / K
    return C_pn * bonus / (1.0 + faded * faded)


def lower_confidence_bound(q: float, n: float, A: float) -> float:
    """``q - A / sqrt(n)``, what the secure child maximises (Chaslot et al. 2008).

    Winands et al. (2008) print it with a plus sign; ``A = -1`` gives their form.
    """
    return q - A / math.sqrt(n)


@formula
def scaled(utility: float, low: float, high: float) -> float:
    """``(utility - low) / (high - low)``: a utility scaled to [0, 1]; 0 while ``low == high``."""
    if high <= low:
        return 0.0
    return (utility - low) / (high - low)
