"""Trust in AMAF values: full, or as far as actions mean the same whenever taken.

An AMAF value says something about an action that means much the same whenever it is taken. In Hex
it does. There are two kinds of games in which it does not, and both show themselves in what
becomes of actions, see ``measures/action_persistence.py``:

* An action is legal again after its player took it. In Connect Four, a column is another cell each
  time.
* An action that its player did not take is no longer legal at their next turn. In Checkers and in
  Amazons it was one for that moment: who takes it later takes it somewhere else.

Where something is hidden, more is looked at, see ``hidden_trust.py``.

Where players move at the same time, what an action is worth depends on what the others take beside
it. Where an evaluator gives values, playouts are short or there are none, and actions have values
that are less noisy. A search whose trust is learned keeps no AMAF statistics there, see
``nodes.py``.
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
"""Shares of the rule's exploration that are left under full trust, unless chance has a part; the
second where the rule explores by priors."""

TRUSTED = 0.5
"""The trust in AMAF values from which on nodes come later, and no values are learned."""

ENOUGH_TAKEN = 128
"""Actions taken of which the search must have seen what became of them, before that. In a shallow
tree all seem to be gone: in Mancala, pits that are sown are empty for a move or two."""


class FullTrust(NamedTuple):
    """All is trusted: AMAF values weigh β (Gelly & Silver 2011), bonuses their constant."""


class LearnedTrust(NamedTuple):
    """AMAF values are trusted as far as actions stay legal until they are taken, and no longer.

    Where they are, AMAF explores in place of most of what the rule does, unless chance has a part
    in the game.
    """

    unvisited: Annotated[float, Ge(0), Le(1)] = 1.0
    """The value of an edge with AMAF visits alone, as far as they are not trusted, in [0, 1]. Below
    1, not all such edges are tried before one that wins is tried again."""
    expand_visits: Annotated[int, Ge(1), Le(2**20)] = 1
    """A child gets a node not before this visit where AMAF values are trusted, whatever the
    configuration's ``expand_visits``; at least 1. There AMAF values of its parent tell much of what
    a node would, and nodes take time."""


@open_function
def trust_of(trust: Any, search: Any) -> float:
    """The trust in AMAF values at this moment, from 0 to 1."""
    return 1.0


@open_function
def measured_trust(amaf: Any, search: Any) -> float:
    """The trust in AMAF values that follows from what the search sees, once it has seen enough.

    From 0 to 1; 0 until then, and where trust follows from nothing.
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
    """True if trust follows from what the search sees."""
    return False


@implements(is_learned, LearnedTrust)
def _is_learned(trust: LearnedTrust) -> bool:
    return True


@open_function
def on_credited(trust: Any, search: Any, visits: Array, value_sum: Array) -> None:
    """A simulation has been credited to the AMAF statistics of edges, which are given."""


@open_function
def value_of_unvisited(trust: Any) -> float:
    """The value of an edge with AMAF visits alone, as far as they are not trusted, in [0, 1]."""
    return 1.0


@implements(value_of_unvisited, LearnedTrust)
def _value_of_unvisited(trust: LearnedTrust) -> float:
    return trust.unvisited


@open_function
def visits_under_trust(trust: Any, search: Any) -> int:
    """The least visit on which a child gets a node, by how far AMAF values are trusted."""
    return 1


@implements(visits_under_trust, LearnedTrust)
def _visits_under_trust(trust: LearnedTrust, search: Any) -> int:
    return trust.expand_visits if measured_trust(trust, search) >= TRUSTED else 1


@open_function
def exploration_left(trust: Any, search: Any, trusted: float) -> float:
    """The share of the rule's exploration that is left where AMAF values are trusted so far."""
    return 1.0


@implements(exploration_left, LearnedTrust)
def _exploration_left(trust: LearnedTrust, search: Any, trusted: float) -> float:
    if search.lifetimes.chance[0] != 0:
        return 1.0
    kept = PRIORS_KEPT if reads_priors(search.rule) else EXPLORATION_KEPT
    return 1.0 - (1.0 - kept) * trusted
