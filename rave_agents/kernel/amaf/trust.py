"""Trust in AMAF values: full, or learned from how long actions keep their meaning.

AMAF assumes that an action means much the same whenever it is taken. In Hex it does. Two kinds of
games break the assumption; action persistence detects both, see ``measures/action_persistence.py``:

* An action is legal again after its player took it. In Connect Four, a column is another cell each
  time.
* An action that its player did not take is no longer legal at their next turn. In Checkers and
  Amazons the same number later means another move.

With hidden information, the spread of values counts too, see ``hidden_trust.py``.

With simultaneous moves, the value of an action depends on the others' simultaneous actions. With an
evaluator, playouts are short or missing, and the edges' own values are less noisy. A search with
learned trust keeps no AMAF statistics in either case, see ``nodes.py``.
"""

from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Le

from rave_agents.compiler.arrays import Array
from rave_agents.compiler.dispatch import implements, open_function, python_function
from rave_agents.compiler.part_fields import Takes
from rave_agents.kernel.declarations import reads_lifetimes
from rave_agents.kernel.measures.action_persistence import GONE, LEGAL_AGAIN
from rave_agents.kernel.rules import reads_priors

EXPLORATION_KEPT, PRIORS_KEPT = 0.1, 0.35
"""Share of the rule's exploration that remains under full trust in games without chance; the second
for rules that explore by priors."""

TRUSTED = 0.5
"""Trust in AMAF values from which nodes are expanded later and no online values are learned."""

ENOUGH_TAKEN = 128
"""Taken actions that must have been followed up before trust counts. In a shallow tree all of them
seem to be gone: in Mancala, sown pits are empty for a move or two."""


class FullTrust(NamedTuple):
    """Full trust: AMAF values have weight β (Gelly & Silver 2011), bonuses their constant."""


class LearnedTrust(NamedTuple):
    """AMAF values are trusted as far as actions stay legal until taken, and only until then.

    Under full trust, AMAF replaces most of the rule's exploration, except in games with chance.
    """

    unvisited: Annotated[float, Ge(0), Le(1)] = 1.0
    """Value of an edge that has AMAF visits only, for the share of it that is not trusted, in [0,
    1]. Below 1, a winning edge may be tried again before all such edges were tried."""
    expand_visits: Annotated[int, Ge(1), Le(2**20)] = 1
    """Where AMAF values are trusted, a child gets a node on this visit at the earliest, even if the
    configuration's ``expand_visits`` is lower; at least 1. The parent's AMAF values replace much of
    what a node would add, and nodes cost time."""


@open_function
def trust_of(trust: Any, search: Any) -> float:
    """The current trust in AMAF values, from 0 to 1."""
    return 1.0


@open_function
def measured_trust(amaf: Any, search: Any) -> float:
    """The trust in AMAF values as measured, once enough actions were followed up.

    From 0 to 1; 0 until then, and for trust that is not learned.
    """
    return 0.0


@implements(measured_trust, LearnedTrust)
def _measured_trust(trust: LearnedTrust, search: Any) -> float:
    taken = search.lifetimes.taken
    return trust_of(trust, search) if taken[GONE] + taken[LEGAL_AGAIN] >= ENOUGH_TAKEN else 0.0


Trust = Annotated[Any, Takes(FullTrust, LearnedTrust, trust_of)]
"""The type of a field that takes a trust in AMAF values: one of these, ``HiddenTrust``, or a part
of one's own that implements ``trust_of``. It finds ``search.lifetimes`` if it implements
``reads_lifetimes`` too."""


@implements(reads_lifetimes, LearnedTrust)
def _reads_lifetimes(trust: LearnedTrust) -> bool:
    return True


@implements(trust_of, LearnedTrust)
def _trust_of(trust: LearnedTrust, search: Any) -> float:
    return float(search.lifetimes.trust[0])


@python_function
def is_learned(trust: Any) -> bool:
    """True if trust is learned during the search."""
    return False


@implements(is_learned, LearnedTrust)
def _is_learned(trust: LearnedTrust) -> bool:
    return True


@open_function
def on_credited(trust: Any, search: Any, visits: Array, value_sum: Array) -> None:
    """Called after a simulation was credited to the edges' AMAF statistics."""


@open_function
def value_of_unvisited(trust: Any) -> float:
    """The value of an edge with AMAF visits only, for its untrusted share, in [0, 1]."""
    return 1.0


@implements(value_of_unvisited, LearnedTrust)
def _value_of_unvisited(trust: LearnedTrust) -> float:
    return trust.unvisited


@open_function
def visits_under_trust(trust: Any, search: Any) -> int:
    """The earliest visit on which a child gets a node, given the trust in AMAF values."""
    return 1


@implements(visits_under_trust, LearnedTrust)
def _visits_under_trust(trust: LearnedTrust, search: Any) -> int:
    return trust.expand_visits if measured_trust(trust, search) >= TRUSTED else 1


@open_function
def exploration_left(trust: Any, search: Any, trusted: float) -> float:
    """The share of the rule's exploration that remains at this trust in AMAF values."""
    return 1.0


@implements(exploration_left, LearnedTrust)
def _exploration_left(trust: LearnedTrust, search: Any, trusted: float) -> float:
    if search.lifetimes.chance[0] != 0:
        return 1.0
    kept = PRIORS_KEPT if reads_priors(search.rule) else EXPLORATION_KEPT
    return 1.0 - (1.0 - kept) * trusted
