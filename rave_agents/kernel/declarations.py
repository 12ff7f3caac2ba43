"""Declarations of parts: functions that Python calls before, between and after runs of the loop.

A part says by them what it needs, what it becomes in a game, what it refuses and what it reports.
The bodies here are the defaults. ``hooks.py`` has the functions that the loop itself calls.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import python_function


class GameTraits(NamedTuple):
    """The traits of a game, and of its search, by which parts become others."""

    chance: bool = True
    """True if chance may move, or simulations begin in different worlds."""
    simultaneous: bool = False
    """True if players may move at the same time, and choose so."""
    determinized: bool = False
    """True if each simulation begins in a world of its own."""
    hidden: bool = False
    """True if that is because something is hidden from players, not by chance alone."""
    evaluated: bool = False
    """True if an evaluator gives values of leaves, so that there are no playouts."""
    valued: bool = False
    """True if there is a value function."""
    priors: bool = False
    """True if an evaluator gives prior probabilities of actions, or they are made of its values."""
    keyed: bool = True
    """True if positions are told by keys, so that one met by another order of moves is known. This
    is looked into only where a part asks for keys."""
    observed: bool = False
    """True if playouts show what players observe, for the search to learn from."""

    @property
    def has_values(self) -> bool:
        """True if leaves or other positions have values that are not those of whole playouts."""
        return self.evaluated or self.valued

    @property
    def plain(self) -> bool:
        """True where one player moves at a time, in one and the same world."""
        return not (self.simultaneous or self.determinized)


# Of options, before the search is composed.


@python_function
def refusal(part: Any, config: Any) -> str:
    """The reason why a configuration with this part in it is refused; empty if it is not."""
    return ""


@python_function
def game_refusal(part: Any, game: GameTraits) -> str:
    """The reason why a search of such a game is refused with this part; empty if it is not."""
    return ""


@python_function
def becomes(part: Any, game: GameTraits) -> Any:
    """The part that takes this one's place in a search of a game; parts in it have theirs."""
    return part


@python_function
def needs_simulations(part: Any) -> bool:
    """True if a search needs a number of simulations as its limit."""
    return False


@python_function
def needs_observations(part: Any) -> bool:
    """True if a part learns from what players observe in playouts, where a game shows it."""
    return False


@python_function
def reads_lifetimes(part: Any) -> bool:
    """True if a part reads ``search.lifetimes``, which are counted where one does."""
    return False


@python_function
def least_expand_visits(part: Any) -> int:
    """Visits at least after which a child gets a node, where to add one takes long."""
    return 1


@python_function
def gives_priors(part: Any) -> bool:
    """True if a part makes priors of the values of a value function."""
    return False


@python_function
def judging_beside(backup: Any, judging: Any) -> Any:
    """The use of a value function beside a backup; ``judging`` is the configuration's."""
    return judging


@python_function
def with_minimax(backup: Any, config: Any) -> Any:
    """The configuration where a value function is known to be better with minimax backups."""
    return config


@python_function
def rule_with_minimax(rule: Any) -> Any:
    """The selection rule that takes this one's place there; None if averages are to stay."""
    return None


@python_function
def asks_keys(part: Any) -> bool:
    """True if a part asks the provider for the keys of positions."""
    return False


@python_function
def keeps_amaf(amaf: Any) -> bool:
    """True if there are AMAF statistics."""
    return True


@python_function
def keeps_proofs(proofs: Any) -> bool:
    """True if it keeps what is proven."""
    return False


@python_function
def is_mixed(choice: Any) -> bool:
    """True if players who move at the same time follow mixed strategies."""
    return False


@python_function
def gives_weights(policy: Any) -> bool:
    """True if a policy gives actions weights, and playouts are not uniform by it."""
    return True


@python_function
def draws_by_weights(playouts: Any) -> bool:
    """True if playouts draw actions by the frame's weights."""
    return False


@python_function
def taking_part(part: Any) -> str:
    """The word by which a result lists a part that took part in it; empty for the usual ones."""
    return ""


@python_function
def asks_rules(policy: Any) -> bool:
    """True if a game's compiled rules choose moves where they know more of them."""
    return False


# Of parts with their arrays, between runs of the loop.


@python_function
def begin_search(part: Any, search: Any, simulations: float, random: np.random.Generator) -> None:
    """Prepare for a search of so many simulations, infinity for no limit; ``random`` is noise's."""


@python_function
def add_actions(part: Any, first: int, random: np.random.Generator) -> None:
    """Prepare the rows of actions from ``first`` on, which are new; ``random`` is noise's."""


@python_function
def most_rows(part: Any, axis: int) -> float:
    """The most rows of an axis that there ever are."""
    return np.inf


@python_function
def proven_nodes(proofs: Any, nodes: int) -> NDArray[np.bool_]:
    """Mark those of so many nodes whose outcome is proven: nothing below them is needed."""
    return np.zeros(nodes, np.bool_)


@python_function
def on_forgotten(part: Any, edges: NDArray[np.int64]) -> None:
    """The nodes that these edges lead to are about to be forgotten.

    Their simulations count as if they had ended right after the edge.
    """


@python_function
def on_rerooted(part: Any, count: int) -> None:
    """The root is now the position after so many moves from the root before."""


# Of parts with their arrays, after the search.


@python_function
def report_root(part: Any, search: Any) -> Mapping[str, Any]:
    """Figures of the root, by their names: one's own stand in ``SearchResult.reports``."""
    return {}


@python_function
def report_moves(part: Any, search: Any, node: int, edges: range) -> Mapping[str, Sequence[Any]]:
    """Figures of the root's actions, by their names, one for each of a node's edges.

    The node is that of the player whose move is searched for. Figures of one's own stand in
    ``SearchResult.action_reports``.
    """
    return {}
