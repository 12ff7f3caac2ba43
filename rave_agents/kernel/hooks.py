"""Hooks: the functions that the loop calls on parts. The bodies here are the defaults.

``part`` is any part of the search; ``search`` is the whole record.
"""

from typing import Any

from rave_agents.compiler.dispatch import open_function
from rave_agents.kernel import codes
from rave_agents.kernel.tree import ROOT


@open_function
def on_begin(part: Any, search: Any) -> None:
    """Called when the loop starts."""


@open_function
def rows_needed(part: Any, search: Any, axis: int, actions: int) -> int:
    """Maximum rows of an axis that a simulation may add, not counting the new node's own.

    ``actions`` is the maximum number of actions of the new node.
    """
    return 0


@open_function
def visits_to_expand(amaf: Any, search: Any, visits: int) -> int:
    """The visit on which a child gets a node; ``visits`` is the configuration's."""
    return visits


@open_function
def on_expand(part: Any, search: Any, depth: int, nodes: int) -> None:
    """Called when the leaf, ``depth`` edges from the root, got ``nodes`` new nodes."""


@open_function
def on_backup(part: Any, search: Any, depth: int, nodes: int) -> None:
    """Count a finished simulation on its path of ``depth`` edges and on its leaf's nodes."""


@open_function
def count_value(rule: Any, edge: int, value: float) -> None:
    """Add a simulation's value to an edge; the tree has already counted it."""


@open_function
def give_better_known(proofs: Any, search: Any, node: int, edge: int) -> None:
    """Write a proven outcome that beats an edge of the node to ``path.values``."""


@open_function
def share_value(moves: Any, search: Any, index: int, end: int) -> None:
    """Count the value of the path's edge at ``index`` at its child node, too.

    The path has ``end`` nodes, including its leaf's. Leaves in ``path.values`` the values for the
    edges above.
    """


@open_function
def shares_nodes(moves: Any) -> bool:
    """True if several edges may lead to a node."""
    return False


@open_function
def is_shared(moves: Any, node: int) -> bool:
    """True if several edges lead to a node, so its statistics may come from other paths."""
    return False


@open_function
def awaits_values(rule: Any, search: Any) -> bool:
    """True if the next selection needs the values of all simulations that wait for an evaluator."""
    return False


@open_function
def on_rescale(part: Any, search: Any, factor: float, shift: float) -> None:
    """Called when the scale of values changes: every value v becomes ``factor v + shift``."""


@open_function
def copy_edge(part: Any, old: int, new: int) -> None:
    """Copy an edge's statistics into another row."""


@open_function
def is_decided(proofs: Any, search: Any) -> bool:
    """True if nothing is left to search at the root, which must have a node."""
    return False


@open_function
def is_solved(proofs: Any, node: int) -> bool:
    """True if a node's outcome is proven, so that it needs no simulation."""
    return False


@open_function
def give_outcome(proofs: Any, search: Any, node: int) -> None:
    """Write the outcome of a solved node to the frame, as a simulation's returns."""


@open_function
def begin_node(proofs: Any, search: Any, node: int) -> None:
    """Prepare a new node without any proof."""


@open_function
def prove_end(proofs: Any, search: Any, node: int, returns: Any, first: int, distance: int) -> None:
    """Note the outcome of a terminal node, whose returns begin at ``first``.

    Or of a node whose winner is certain, ``distance`` moves from the end.
    """


@open_function
def update_node(proofs: Any, search: Any, node: int) -> bool:
    """Derive an expanded node's proof from its children. Returns whether it changed."""
    return False


@open_function
def after_backup(proofs: Any, search: Any) -> int:
    """Called after a simulation was counted; may examine more of the tree. Returns a ``Status``.

    The header's ``EXPAND`` is 1 if the simulation added a leaf.
    """
    return codes.DONE


@open_function
def checks_children(part: Any) -> int:
    """The provider's checks of a new node's children, a ``CheckChildren``."""
    return 0


@open_function
def asks_winner(part: Any) -> int:
    """1 if the provider is to report a certain winner before the game ends; else 0."""
    return 0


@open_function
def samples_refused(judging: Any, most: int) -> int:
    """The number of a playout's ``most`` samples that the provider may leave out."""
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
    """The node at the end of a path of ``depth`` edges, and its visits so far.

    The node is ``UNEXPANDED`` if there is none yet.
    """
    return ROOT, 0


@open_function
def on_simulated(moves: Any, search: Any, depth: int) -> None:
    """Called when the provider has described the leaf and played on, before a node is added."""


@open_function
def add_leaf(moves: Any, search: Any, depth: int, visits: int) -> int:
    """Add the leaf's node, or one per player with simultaneous moves; returns how many."""
    return 0


@open_function
def is_available(moves: Any, edge: int) -> bool:
    """True if an edge may be taken in this simulation."""
    return True
