"""Searches that keep regrets of information sets, from the start of the game."""

import math
from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Gt, Le

from rave_agents.compiler.dispatch import implements, python_function
from rave_agents.kernel.declarations import refusal


@python_function
def keeps_regrets(regrets: Any) -> bool:
    """True if the search keeps regrets of information sets, from the start of the game."""
    return False


class NoRegrets(NamedTuple):
    """A tree search of the position."""


class MCCFR(NamedTuple):
    """External-sampling Monte-Carlo CFR from the start of the game, see ``equilibrium/``.

    The defaults are those of the paper (Lanctot et al. 2009).
    """

    regret_power: Annotated[float, Ge(0), Le(8)] = 0.0
    """Regrets of iteration t weigh t to this power. 0: all the same. 1: linear CFR (Brown &
    Sandholm 2019)."""
    average_power: Annotated[float, Ge(0), Le(8)] = 0.0
    """Strategies of iteration t weigh t to this power in the average."""
    floor: bool = False
    """True to raise negative regrets to 0 after each update (regret matching+, Tammelin 2014)."""
    growth: Annotated[float, Ge(1), Le(math.inf)] = 1024.0
    """Histories that a traversal may add to the tree, at least 1. Where it would need more, a
    random playout gives the value below them: in games with longer traversals, strategies are those
    of the paper only once the tree has grown. Infinity for no limit."""
    sweeps: bool = False
    """True to sample no more once the whole tree fits into the memory, and the limit allows enough
    sweeps over it: then CFR+ (Tammelin 2014), see ``equilibrium/sweeps.py``. A sweep counts as many
    simulations as enter as many histories."""
    first_sweeps: Annotated[int, Ge(0), Le(5000)] = 0
    """Sweeps over the whole tree that come first, in place of samples, and count as no simulations.
    After them, a sweep counts as one simulation for each 1,024 histories. With ``sweeps``; 0 to
    sample first."""
    targeting: Annotated[float, Ge(0), Le(1)] = 0.0
    """The share of traversals that begin at the information set which is searched, with hidden
    information; see ``equilibrium/targeting.py``. For games that are much larger than the limit
    allows to search from their start."""
    tremble: Annotated[float, Ge(0), Le(64)] = 0.0
    """In sweep t, the others are taken to move at random with the probability (tremble / t)²: early
    strategies win more against weak opponents, and are more exploitable."""


class AdaptiveRegrets(NamedTuple):
    """``MCCFR`` with linear weights and sweeps where the limit is large enough for the game.

    Small games are swept whatever the simulations; see ``small_game``. In games of two players with
    a constant sum that are too large, traversals are directed to the player's information set if
    the limit is small, and random games are short and have few deals; see ``directed_simulations``.

    For several players with hidden information or simultaneous moves, without an evaluator; else
    ``NoRegrets``. The size of the game is estimated by random walks.
    """

    least_entries: Annotated[float, Gt(0)] = 8.0
    """Mean number of times that the simulations must enter each history of the game."""
    histories_per_second: Annotated[float, Gt(0)] = 5e5
    """Histories of the game for each second at most; of a game in Python, a fiftieth."""
    small_game: Annotated[float, Ge(0)] = 32_768.0
    """Histories of a game that is swept 16 times before simulations count: its tree is made in
    about 0.05 s, once for all moves and games. Of a game in Python, a fiftieth. With perfect
    information each move makes a tree: 512 histories for each simulation at most. A limited time
    must suffice eight times over. 0 for none."""
    directed_simulations: Annotated[float, Ge(0)] = 400.0
    """Simulations up to which traversals are directed, in place of determinizations; of a limited
    time, 4,000 a second. 0 for none."""
    longest_directed: Annotated[float, Ge(0)] = 32.0
    """Mean number of moves of a random game up to which traversals are directed. With more moves
    hidden, hardly a path leads to the player's information set."""
    most_deals: Annotated[float, Ge(0)] = 1000.0
    """The same for the number of sequences of chance outcomes."""


CONVERGENT = MCCFR(regret_power=1.0, average_power=1.0, sweeps=True)
"""The variant of ``AdaptiveRegrets``; measured, see docs/theory/regrets.md."""

SWEPT_FIRST = CONVERGENT._replace(first_sweeps=16, tremble=5.0)
"""Its variant in small games."""

DIRECTED = MCCFR(regret_power=1.0, average_power=1.0, growth=1.0, targeting=0.9)
"""Its variant in games that are too large for the limit."""


@python_function
def adapts_regrets(regrets: Any) -> bool:
    """True if the game's size and the limit decide whether regrets are kept."""
    return False


@implements(adapts_regrets, AdaptiveRegrets)
def _adapts_regrets(regrets: AdaptiveRegrets) -> bool:
    return True


@implements(keeps_regrets, MCCFR)
def _keeps_regrets(regrets: MCCFR) -> bool:
    return True


@implements(refusal, MCCFR)
def _refusal(regrets: MCCFR, config: Any) -> str:
    if config.needs_proofs:
        return "regrets=mccfr proves nothing: leave proofs out."
    if config.hidden == "see":
        return "regrets=mccfr needs to see nothing that is hidden: leave hidden out."
    return ""
