"""Use of a value function in the tree: implicit minimax backups.

The provider judges every child of a new node. These judgements are backed up by max^n (Luckhardt &
Irani 1986; minimax for two players), separately from the means of simulations; selection mixes the
two: implicit minimax backups (Lanctot et al. 2014).
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Gt, Le

from rave_agents.compiler.arrays import Array, Axis, Rows
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.declarations import (
    GameTraits,
    becomes,
    gives_priors,
    least_expand_visits,
    taking_part,
)
from rave_agents.kernel.players import CHANCE
from rave_agents.kernel.rules import reads_priors
from rave_agents.kernel.tree import edge_rows
from rave_agents.kernel.utilities import scaled


class NoJudging(NamedTuple):
    """No value function, or one used only at the end of cut playouts."""


class Judging(NamedTuple):
    """The use of a value function; ignored without one."""

    playout_moves: Annotated[float, Ge(0), Le(math.inf)] = 6.0
    """Playouts are cut after this many moves of players and the position is judged; a whole number,
    at least 0. At 0 there are no playouts; at infinity they run to the end."""
    minimax: Annotated[float, Ge(0), Le(1)] = 0.3
    """Weight α of minimax values against the means of simulations, in [0, 1] (Lanctot et al.: 0.1
    to 0.6)."""
    first_play: bool = True
    """True if an edge without visits gets the value function's value instead of
    ``first_play_urgency``."""

    prior_temperature: Annotated[float, Gt(0), Le(math.inf)] = 0.1
    """Temperature T of a new node's prior probabilities, for rules that use them, such as PUCT: the
    softmax of ``v / T`` over the values v of its actions, in [0, 1]; above 0. At infinity priors
    are uniform."""

    least_expand_visits: Annotated[int, Ge(1), Le(2**20)] = 2
    """A child gets a node on this visit at the earliest, even if ``expand_visits`` is lower, since
    expansion evaluates all of its children; at least 1."""

    def conflict(self) -> str | None:
        """The reason why these fields conflict, or None."""
        if self.playout_moves != math.inf and self.playout_moves != int(self.playout_moves):
            return f"playout_moves must be a whole number or infinity, got {self.playout_moves}."
        return None


@implements(taking_part, Judging)
def _takes_part_implicit_minimax(part: Judging) -> str:
    return "implicit minimax" if part.minimax > 0.0 else "first-play values"


@implements(becomes, Judging)
def _becomes(judging: Judging, game: GameTraits) -> Judging | NoJudging:
    counts = judging.minimax > 0.0 or judging.first_play or game.priors
    return judging if game.valued and counts and game.plain else NoJudging()


@implements(least_expand_visits, Judging)
def _least_expand_visits(judging: Judging) -> int:
    return judging.least_expand_visits


@implements(gives_priors, Judging)
def _gives_priors(judging: Judging) -> bool:
    return judging.prior_temperature < math.inf


@runs_as(Judging)
class JudgedEdges(NamedTuple):
    """The judgements of the tree's edges."""

    options: Judging
    utilities: Annotated[Array, Rows(Axis.EDGE, np.float32, (Axis.PLAYER,))]
    """The expected utility of each player after the edge: the value function's, or max^n of the
    subtree's."""


class Mixing(NamedTuple):
    """The mixture of means and minimax values at a node."""

    judging: Any
    """The part that holds the values."""
    node: int
    """The node."""
    weight: float
    """The weight of minimax values."""


@open_function
def mixing_at(judging: Any, search: Any, node: int) -> Any:
    """The mixture of means and minimax values at a node."""
    return judging


@open_function
def mixed_sum(mixing: Any, search: Any, edge: int, n: float, value_sum: float) -> float:
    """The sum of an edge's values, mixed with its minimax value."""
    return value_sum


@open_function
def first_value(judging: Any, search: Any, node: int, edge: int, unjudged: float) -> float:
    """The value of an edge without visits and AMAF visits; ``unjudged`` without a judgement."""
    return unjudged


@kernel
def judged_value(judging: Any, search: Any, node: int, edge: int) -> float:
    """The judged value of an edge for the player who moves at its node, in [0, 1]."""
    mover = int(search.tree.node_player[node])
    utility = judging.utilities[edge * search.settings.num_players + mover]
    return min(max(scaled(search.utilities, float(utility)), 0.0), 1.0)


@open_function
def minimax_weight(judging: Any) -> float:
    """The weight of minimax values against the means of simulations, in [0, 1]."""
    return 0.0


@implements(minimax_weight, JudgedEdges)
def _minimax_weight(judging: JudgedEdges) -> float:
    return judging.options.minimax


@implements(mixing_at, JudgedEdges)
def minimax_mixing(judging: Any, search: Any, node: int) -> Mixing:
    """The mixture by ``minimax_weight``."""
    return Mixing(judging, node, minimax_weight(judging))


@implements(mixed_sum, Mixing)
def implicit_minimax(mixing: Mixing, search: Any, edge: int, n: float, value_sum: float) -> float:
    """``(1 - α) sum + α n v``, α the weight and v the minimax value (Lanctot et al. 2014)."""
    weight = mixing.weight
    if n == 0.0 or weight == 0.0:
        return value_sum
    value = judged_value(mixing.judging, search, mixing.node, edge)
    return (1.0 - weight) * value_sum + weight * n * value


@implements(first_value, JudgedEdges)
def _first_value(judging: JudgedEdges, search: Any, node: int, edge: int, unjudged: float) -> float:
    return judged_value(judging, search, node, edge) if judging.options.first_play else unjudged


@implements(hooks.checks_children, JudgedEdges)
def _checks_children(judging: JudgedEdges) -> int:
    return codes.JUDGE_CHILDREN


@implements(hooks.on_expand, JudgedEdges)
def _take_judgements(judging: JudgedEdges, search: Any, depth: int, nodes: int) -> None:
    players = search.settings.num_players
    # The frame lists children in the order of the edges, players innermost, as `utilities` does.
    edges = edge_rows(search.tree, search.path.nodes[depth])
    for place in range(len(edges) * players):
        judging.utilities[edges.start * players + place] = search.frame.child_returns[place]
    if reads_priors(search.rule) and judging.options.prior_temperature < math.inf:
        set_priors(judging, search, search.path.nodes[depth])


@kernel
def set_priors(judging: Any, search: Any, node: int) -> None:
    """``p ∝ exp(v / T)``: v the value of an action for the player who moves, T the temperature."""
    tree = search.tree
    if tree.node_player[node] < 0:
        return
    best, total = 0.0, 0.0
    for edge in edge_rows(tree, node):
        best = max(best, judged_value(judging, search, node, edge))
    for edge in edge_rows(tree, node):
        # Subtracting the best value keeps the exponential from overflowing.
        less = judged_value(judging, search, node, edge) - best
        weight = math.exp(less / judging.options.prior_temperature)
        tree.edge_prior[edge] = weight
        total += weight
    for edge in edge_rows(tree, node):
        tree.edge_prior[edge] /= total


@implements(hooks.on_backup, JudgedEdges)
def _back_up_judgements(judging: JudgedEdges, search: Any, depth: int, nodes: int) -> None:
    """Update the expected utilities of the path's edges."""
    back_up_expected(judging, search, depth, nodes)


@kernel
def back_up_expected(judging: Any, search: Any, depth: int, nodes: int) -> None:
    """Update the expected utilities of the path's edges, from the leaf to the root."""
    for index in range(depth + nodes - 2, -1, -1):
        expect(judging, search, search.path.nodes[index + 1], search.path.edges[index])


@kernel
def expect(judging: Any, search: Any, node: int, edge: int) -> None:
    """Write a node's expected utilities to the edge that leads to it.

    Decision node: those of the edge that is best for the player to move. Chance node: the mean by
    probability. Solved node: its outcome. A terminal node keeps its judgement.
    """
    tree, players = search.tree, search.settings.num_players
    mover, utilities = int(tree.node_player[node]), judging.utilities
    edges = edge_rows(tree, node)
    if hooks.is_solved(search.proofs, node):
        hooks.give_outcome(search.proofs, search, node)
        for player in range(players):
            utilities[edge * players + player] = search.frame.returns[player]
        return
    if len(edges) == 0:
        return
    best = edges.start
    for player in range(players if mover == CHANCE else 0):
        total = 0.0
        for below in edges:
            total += tree.edge_prior[below] * utilities[below * players + player]
        utilities[edge * players + player] = total
    if mover != CHANCE:
        for below in edges:
            if utilities[below * players + mover] > utilities[best * players + mover]:
                best = below
        for player in range(players):
            utilities[edge * players + player] = utilities[best * players + player]
