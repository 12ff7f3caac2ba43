"""The hooks by which parts take part in a search. The bodies here are the defaults.

``part`` is any of a search's parts; ``search`` is the whole record.
"""

from typing import Any

from rave_agents.compiler.dispatch import open_function
from rave_agents.kernel import codes
from rave_agents.kernel.tree import ROOT


@open_function
def on_begin(part: Any, search: Any) -> None:
    """The loop begins to run."""


@open_function
def rows_needed(part: Any, search: Any, axis: int, actions: int) -> int:
    """Rows of an axis that a simulation may add beside the new node's own, at most.

    ``actions`` are the actions that the new node may have at most.
    """
    return 0


@open_function
def visits_to_expand(amaf: Any, search: Any, visits: int) -> int:
    """The visit on which a child gets a node; ``visits`` is the configuration's."""
    return visits


@open_function
def on_expand(part: Any, search: Any, depth: int, nodes: int) -> None:
    """The leaf, ``depth`` edges from the root, has been expanded: it has ``nodes`` new nodes."""


@open_function
def on_backup(part: Any, search: Any, depth: int, nodes: int) -> None:
    """A simulation has ended: count it on its path of ``depth`` edges, and on its leaf's nodes."""


@open_function
def count_value(rule: Any, edge: int, value: float) -> None:
    """Add the value of a simulation that took an edge; the tree has counted it already."""


@open_function
def give_better_known(proofs: Any, search: Any, node: int, edge: int) -> None:
    """Put a proven outcome that beats an edge of the node into ``path.values``."""


@open_function
def share_value(moves: Any, search: Any, index: int, end: int) -> None:
    """The path's edge at ``index`` has been counted: count its value at the node behind it, too.

    The path has ``end`` nodes, those of its leaf included. What the edges above are to count is in
    ``path.values``.
    """


@open_function
def shares_nodes(moves: Any) -> bool:
    """True if several edges may lead to a node."""
    return False


@open_function
def is_shared(moves: Any, node: int) -> bool:
    """True if several edges lead to a node: what is known of it may come from other paths."""
    return False


@open_function
def awaits_values(rule: Any, search: Any) -> bool:
    """True if the next simulation takes an action by the values of all that still wait."""
    return False


@open_function
def on_rescale(part: Any, search: Any, factor: float, shift: float) -> None:
    """The scale of values has changed: every value v is ``factor v + shift`` from now on."""


@open_function
def copy_edge(part: Any, old: int, new: int) -> None:
    """Copy an edge's statistics into another row."""


@open_function
def is_decided(proofs: Any, search: Any) -> bool:
    """True if nothing is left to search at the root, which has a node."""
    return False


@open_function
def is_solved(proofs: Any, node: int) -> bool:
    """True if a node's outcome is known, so that it needs no simulation."""
    return False


@open_function
def give_outcome(proofs: Any, search: Any, node: int) -> None:
    """Write the outcome of a node that ``is_solved`` into the frame, as a simulation's returns."""


@open_function
def begin_node(proofs: Any, search: Any, node: int) -> None:
    """Prepare a new node of which nothing is proven."""


@open_function
def prove_end(proofs: Any, search: Any, node: int, returns: Any, first: int, distance: int) -> None:
    """Note the outcome of a terminal node: its returns stand from the place ``first`` on.

    Or of one whose winner is foreseen, ``distance`` moves from the end.
    """


@open_function
def update_node(proofs: Any, search: Any, node: int) -> bool:
    """Derive what is proven of an expanded node from its children. Returns whether it changed."""
    return False


@open_function
def after_backup(proofs: Any, search: Any) -> int:
    """A simulation has been counted: examine more of the tree if need be. Returns a ``Status``.

    The header's ``EXPAND`` is 1 if it has added a leaf.
    """
    return codes.DONE


@open_function
def checks_children(part: Any) -> int:
    """The provider's checks of a new node's children, a ``CheckChildren``."""
    return 0


@open_function
def asks_winner(part: Any) -> int:
    """1 if the provider is to tell who wins for certain, though the game goes on; else 0."""
    return 0


@open_function
def samples_refused(judging: Any, most: int) -> int:
    """The number of a playout's ``most`` samples that the provider need not show."""
    return 0


@open_function
def select(moves: Any, search: Any) -> int:
    """Walk from the root to a leaf. Returns a ``Status``.

    Writes the edges taken to ``path`` and their number to the header's ``PATH_LENGTH``. The walk
    ends at an edge without a child node, at a terminal node, or at a solved one.
    """
    return 0


@open_function
def find_leaf(moves: Any, search: Any, depth: int) -> tuple[int, int]:
    """The node that a path of ``depth`` edges leads to, and how often it was reached.

    The node is ``UNEXPANDED`` if there is none yet.
    """
    return ROOT, 0


@open_function
def on_simulated(moves: Any, search: Any, depth: int) -> None:
    """The provider has described the leaf and played on; nothing has been added yet."""


@open_function
def add_leaf(moves: Any, search: Any, depth: int, visits: int) -> int:
    """Add the leaf's node, or one for each player who moves there; returns how many."""
    return 0


@open_function
def is_available(moves: Any, edge: int) -> bool:
    """True if an edge may be taken in this simulation."""
    return True
