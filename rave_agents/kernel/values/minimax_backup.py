"""Minimax backups: an edge has the value of the position that best play leads to.

With a greedy rule this is best-first minimax (Korf & Chickering 1996) in its unbounded form
(Cohen-Solal 2025): every simulation follows the principal variation and expands its end. A value
function judges all children of a new node at once. If an evaluator or playouts give values of
leaves only, each child needs a simulation.

Values are backed up by max^n (Luckhardt & Irani 1986): every player maximises their own value. In
two-player constant-sum games this is minimax. With a solver, proven outcomes come first and solved
moves are skipped: the completion of Cohen-Solal (2026).
"""

from typing import Any, NamedTuple

from rave_agents.compiler.dispatch import implements
from rave_agents.kernel.backup import MeanBackup, edge_value
from rave_agents.kernel.declarations import (
    GameTraits,
    becomes,
    game_refusal,
    judging_beside,
    refusal,
    rule_with_minimax,
    taking_part,
    with_minimax,
)
from rave_agents.kernel.tree import edge_rows
from rave_agents.kernel.values.implicit_minimax import Judging, judged_value
from rave_agents.kernel.values.node_values import (
    node_value,
    refuse_several_nodes,
    takes_best,
)


class MinimaxBackup(NamedTuple):
    """The value of an edge assumes that everybody takes their best edge from there on.

    A value function judges every edge of a new node, without playouts. If only leaves have values,
    an edge without visits counts as the evaluation of its node.
    """


class JudgedMinimax(NamedTuple):
    """``MinimaxBackup`` with a value function, see ``implicit_minimax.py``."""


@implements(taking_part, MinimaxBackup, JudgedMinimax)
def _takes_part_minimax_backups(part: Any) -> str:
    return "minimax backups"


class AdaptiveBackup(NamedTuple):
    """``MinimaxBackup`` if a learned value's file recommends it, else ``MeanBackup``.

    The selection rule must adapt as well, as ``AdaptiveUCB1`` does. Another rule, or another use of
    values (``judging``), keeps averages.
    """


@implements(becomes, AdaptiveBackup)
def _becomes_mean(backup: AdaptiveBackup, game: GameTraits) -> MeanBackup:
    return MeanBackup()


@implements(with_minimax, AdaptiveBackup)
def _with_minimax(backup: AdaptiveBackup, config: Any) -> Any:
    rule = rule_with_minimax(config.rule)
    if rule is None or config.judging != Judging():
        return config
    return config.replace(rule=rule, backup=MinimaxBackup())


@implements(becomes, MinimaxBackup)
def _becomes(backup: MinimaxBackup, game: GameTraits) -> MinimaxBackup | JudgedMinimax:
    return JudgedMinimax() if game.valued else backup


@implements(judging_beside, MinimaxBackup)
def _judging_beside(backup: MinimaxBackup, judging: Judging) -> Judging:
    """Judge every edge at once, without playouts, since means are not used."""
    return judging._replace(playout_moves=0.0, minimax=0.0, first_play=True, least_expand_visits=1)


@implements(refusal, MinimaxBackup)
def _refusal(backup: MinimaxBackup, config: Any) -> str:
    if config.judging._replace(prior_temperature=Judging().prior_temperature) == Judging():
        return ""
    return (
        "backup=minimax_backup judges all moves of a new node and makes no playouts: leave out "
        "playout_moves, minimax, first_play and least_expand_visits."
    )


implements(game_refusal, MinimaxBackup)(refuse_several_nodes)


@implements(edge_value, JudgedMinimax)
def _edge_value(backup: JudgedMinimax, search: Any, node: int, edge: int) -> float:
    """The mover's value; at chance nodes, which are not compared, the mean of the simulations."""
    if search.tree.node_player[node] < 0:
        return float(search.tree.edge_value_sum[edge]) / float(search.tree.edge_visits[edge])
    return judged_value(search.judging, search, node, edge)


@implements(node_value, MinimaxBackup)
def best_edge(backup: MinimaxBackup, search: Any, node: int) -> float:
    """``max q``: q the values of the node's edges with visits."""
    best = 0.0
    for edge in edge_rows(search.tree, node):
        if search.tree.edge_visits[edge] > 0:
            best = max(best, edge_value(search.backup, search, node, edge))
    return best


@implements(takes_best, MinimaxBackup)
def _takes_best(backup: MinimaxBackup) -> bool:
    return True
