"""Declarations of parts: functions called in Python before, between and after runs of the loop.

With them a part declares its needs, its replacement in a given game, its refusals and its reports.
The bodies here are the defaults. The functions called by the loop itself are in ``hooks.py``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import python_function


class GameTraits(NamedTuple):
    """The traits of a game and its search that decide which parts replace others."""

    chance: bool = True
    """True if the game has chance nodes, or simulations start from different determinizations."""
    simultaneous: bool = False
    """True if the game has simultaneous moves and they are searched as such."""
    determinized: bool = False
    """True if each simulation starts from its own determinization."""
    hidden: bool = False
    """True if the reason is hidden information, not chance alone."""
    complete_views: bool = False
    """True if the provider identifies positions by information states."""
    evaluated: bool = False
    """True if an evaluator gives the values of leaves in place of playouts."""
    valued: bool = False
    """True if a value function judges positions."""
    priors: bool = False
    """True if an evaluator gives prior probabilities, or they are derived from its values."""
    keyed: bool = True
    """True if positions have keys, so that transpositions are recognised. Determined only if a part
    asks for keys."""
    observed: bool = False
    """True if playouts provide observations for online learning."""

    @property
    def has_values(self) -> bool:
        """True if leaves or other positions have values that do not come from whole playouts."""
        return self.evaluated or self.valued

    @property
    def plain(self) -> bool:
        """True if one player moves at a time and all simulations start from the same state."""
        return not (self.simultaneous or self.determinized)


# Called on options, before the search is composed.


@python_function
def refusal(part: Any, config: Any) -> str:
    """The reason to refuse a configuration with this part; empty to accept it."""
    return ""


@python_function
def game_refusal(part: Any, game: GameTraits) -> str:
    """The reason to refuse a search of such a game with this part; empty to accept."""
    return ""


@python_function
def becomes(part: Any, game: GameTraits) -> Any:
    """The part that replaces this one in a search of the game; nested parts likewise."""
    return part


@python_function
def needs_simulations(part: Any) -> bool:
    """True if the search's limit must be a number of simulations."""
    return False


@python_function
def needs_observations(part: Any) -> bool:
    """True if a part learns from the players' observations in playouts, if the game has any."""
    return False


@python_function
def reads_lifetimes(part: Any) -> bool:
    """True if a part reads ``search.lifetimes``, which are counted only then."""
    return False


@python_function
def least_expand_visits(part: Any) -> int:
    """Minimum visits before a child gets a node, for parts that make a new node expensive."""
    return 1


@python_function
def gives_priors(part: Any) -> bool:
    """True if a part derives priors from a value function."""
    return False


@python_function
def judging_beside(backup: Any, judging: Any) -> Any:
    """The use of a value function under this backup; ``judging`` is the configuration's."""
    return judging


@python_function
def with_minimax(backup: Any, config: Any) -> Any:
    """The configuration for a value function that is known to be better with minimax backups."""
    return config


@python_function
def rule_with_minimax(rule: Any) -> Any:
    """The selection rule that replaces this one with minimax backups; None to keep averages."""
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
    """True if the part keeps proofs."""
    return False


@python_function
def is_mixed(choice: Any) -> bool:
    """True if simultaneous moves are chosen by mixed strategies."""
    return False


@python_function
def gives_weights(policy: Any) -> bool:
    """True if a policy weights actions, so that playouts are not uniform."""
    return True


@python_function
def draws_by_weights(playouts: Any) -> bool:
    """True if playouts draw actions by the frame's weights."""
    return False


@python_function
def taking_part(part: Any) -> str:
    """The word that names this part in a result's list of parts; empty for the usual ones."""
    return ""


@python_function
def asks_rules(policy: Any) -> bool:
    """True if the playout knowledge of a game's compiled rules chooses moves."""
    return False


# Called on parts with their arrays, between runs of the loop.


@python_function
def begin_search(part: Any, search: Any, simulations: float, random: np.random.Generator) -> None:
    """Prepare for a search of so many simulations (infinity: no limit); ``random`` draws noise."""


@python_function
def add_actions(part: Any, first: int, random: np.random.Generator) -> None:
    """Prepare the rows of new actions, from ``first`` on; ``random`` draws noise."""


@python_function
def most_rows(part: Any, axis: int) -> float:
    """Upper bound of the rows of an axis."""
    return np.inf


@python_function
def proven_nodes(proofs: Any, nodes: int) -> NDArray[np.bool_]:
    """Mark the nodes with a proven outcome: their subtrees are no longer needed."""
    return np.zeros(nodes, np.bool_)


@python_function
def on_forgotten(part: Any, edges: NDArray[np.int64]) -> None:
    """Called before the nodes behind these edges are forgotten.

    Their simulations count as if they had ended right after the edge.
    """


@python_function
def on_rerooted(part: Any, count: int) -> None:
    """Called after the root has moved ``count`` moves ahead."""


# Called on parts with their arrays, after the search.


@python_function
def report_root(part: Any, search: Any) -> Mapping[str, Any]:
    """Figures of the root by name; those of custom parts appear in ``SearchResult.reports``."""
    return {}


@python_function
def report_moves(part: Any, search: Any, node: int, edges: range) -> Mapping[str, Sequence[Any]]:
    """Figures of the root's actions by name, one value per edge of the node.

    The node belongs to the player whose move is searched for. Figures of custom parts appear in
    ``SearchResult.action_reports``.
    """
    return {}
