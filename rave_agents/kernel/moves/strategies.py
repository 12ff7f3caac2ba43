"""Mixed strategies for simultaneous moves: regret matching and Exp3.

For every action of a player there is a sum of regrets (or of Exp3's estimated gains), which
determines the strategy of the next simulation, and the sum of all strategies so far without their
exploration. The average strategy, not the last one, converges to an equilibrium.
"""

import math
from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Gt, Le

from rave_agents.compiler.arrays import EDGE, FLOAT, Array, Axis, Rows
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.compiler.part_fields import part_name
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import hooks
from rave_agents.kernel.amaf.nodes import EdgeAmaf
from rave_agents.kernel.amaf.schedules import blend
from rave_agents.kernel.backup import edge_sum
from rave_agents.kernel.declarations import (
    GameTraits,
    game_refusal,
    is_mixed,
    refusal,
    report_moves,
)
from rave_agents.kernel.moves.child_table import NO_ENTRY, find_entry
from rave_agents.kernel.moves.simultaneous import ALONE, after_entry
from rave_agents.kernel.players import holds_for
from rave_agents.kernel.selection import choose
from rave_agents.kernel.tree import edge_rows
from rave_agents.simulate.random_stream import random_below, random_unit


class RegretMatching(NamedTuple):
    """Draws actions in proportion to their positive regrets.

    Hart & Mas-Colell 2000; Lanctot et al. 2014. Every edge is taken once before any is taken twice.
    """

    gamma: Annotated[float, Ge(0), Le(1)] = 0.3
    """γ, in [0, 1]: choices are uniformly random with probability γ / sqrt(N)."""


class Exp3(NamedTuple):
    """Draws actions by exponential weights of estimated gains (Auer et al. 2003)."""

    gamma: Annotated[float, Gt(0), Le(1)] = 0.3
    """γ, in (0, 1]: the probability of a uniformly random choice (Tak et al. 2014: 0.3)."""


@implements(is_mixed, RegretMatching, Exp3)
def _is_mixed(strategy: Any) -> bool:
    return True


@implements(refusal, RegretMatching, Exp3)
def _refusal(strategy: Any, config: Any) -> str:
    if not config.needs_proofs:
        return ""
    return (
        f"simultaneous={part_name(type(strategy))} is for simultaneous moves, where there is no "
        "solver and there are no proof numbers: leave proofs out."
    )


@implements(game_refusal, RegretMatching, Exp3)
def _game_refusal(strategy: Any, game: GameTraits) -> str:
    if not game.plain:
        return ""
    return (
        f"simultaneous={part_name(type(strategy))} is for simultaneous moves, but in this game, as "
        "in every search with hidden information, one player moves at a time: use a preset "
        "without mixed strategies, such as 'uct'."
    )


@runs_as(Exp3)
@runs_as(RegretMatching)
class MixedStrategy(NamedTuple):
    """The sums that determine each player's strategy."""

    options: Any
    edge_regret: Annotated[Array, Rows(Axis.EDGE, FLOAT)]
    """Sum of regrets, or of Exp3's estimated gains."""
    edge_strategy: Annotated[Array, Rows(Axis.EDGE, FLOAT)]
    """Sum of the edge's probabilities in the strategies so far, without exploration."""


@open_function
def explored_share(strategy: Any, visits: int) -> float:
    """The probability of a uniformly random choice at a node with these visits."""
    return float(strategy.gamma / math.sqrt(max(visits, 1)))


@implements(explored_share, Exp3)
def _share_exp3(strategy: Exp3, visits: int) -> float:
    return strategy.gamma


@open_function
def strategy_weight(strategy: Any, regret: float, top: float, rate: float) -> float:
    """Weight of an action: its probability without exploration, up to a common factor."""
    return 0.0


@implements(strategy_weight, RegretMatching)
def regret_matching(strategy: RegretMatching, regret: float, top: float, rate: float) -> float:
    """``max(regret, 0)`` (Hart & Mas-Colell 2000)."""
    return max(regret, 0.0)


@implements(strategy_weight, Exp3)
def exp3(strategy: Exp3, regret: float, top: float, rate: float) -> float:
    """``exp(γ / K gain)``, divided by the weight of the greatest gain (Auer et al. 2003)."""
    # Subtracting the greatest gain avoids overflow and leaves the probabilities the same.
    return math.exp(rate * (regret - top))


@open_function
def tries_all(strategy: Any) -> bool:
    """True if every edge is taken once before any is taken twice."""
    return True


@implements(tries_all, Exp3)
def _tries_all(strategy: Exp3) -> bool:
    return False


@kernel
def strategy_norm(part: MixedStrategy, search: Any, node: int) -> tuple[float, float, float]:
    """The greatest regret, Exp3's learning rate γ / K, and the sum of all actions' weights."""
    top = -math.inf
    for edge in edge_rows(search.tree, node):
        top = max(top, part.edge_regret[edge])
    rate = part.options.gamma / search.tree.node_edge_count[node]
    norm = 0.0
    for edge in edge_rows(search.tree, node):
        norm += strategy_weight(part.options, part.edge_regret[edge], top, rate)
    return top, rate, norm


@kernel
def count_unvisited(search: Any, node: int) -> int:
    """Number of a node's edges without visits."""
    count = 0
    for edge in edge_rows(search.tree, node):
        if search.tree.edge_visits[edge] == 0:
            count += 1
    return count


@implements(choose, MixedStrategy)
def draw_edge(part: MixedStrategy, search: Any, node: int, depth: int, table: int) -> int:
    """An edge drawn from the strategy of a node's player, exploration included."""
    tree, stream = search.tree, search.stream
    first = int(tree.node_first_edge[node])
    count = int(tree.node_edge_count[node])
    if tries_all(part.options):
        unvisited = count_unvisited(search, node)
        if unvisited > 0:
            left = random_below(stream, unvisited)
            for edge in edge_rows(tree, node):
                if tree.edge_visits[edge] == 0:
                    if left == 0:
                        return edge
                    left -= 1
    if random_unit(stream) < explored_share(part.options, tree.node_visits[node]):
        return first + random_below(stream, count)
    top, rate, norm = strategy_norm(part, search, node)
    if norm <= 0.0:
        return first + random_below(stream, count)
    left_over = random_unit(stream) * norm
    last = first
    for edge in edge_rows(tree, node):
        weight = strategy_weight(part.options, part.edge_regret[edge], top, rate)
        if weight > 0.0:
            last = edge
            left_over -= weight
            if left_over < 0.0:
                return edge
    # Rounding left a rest: take the last edge with a positive weight.
    return last


@implements(hooks.on_backup, MixedStrategy)
def _learn(part: MixedStrategy, search: Any, depth: int, nodes: int) -> None:
    """Update the strategies of all players of the path who moved simultaneously."""
    start = 0
    while start < depth:
        followers = int(search.moves.node_followers[search.path.nodes[start]])
        if followers > 0:
            for index in range(start, start + followers + 1):
                update_strategy(part, search, start, index)
        start += 1 + followers


@kernel
def update_strategy(part: MixedStrategy, search: Any, start: int, index: int) -> None:
    """Update the regrets and the average strategy at the path's node ``index``.

    ``start`` is the place in the path of the first node of the same position.
    """
    tree, node = search.tree, int(search.path.nodes[index])
    top, rate, norm = strategy_norm(part, search, node)
    # The first visits are forced, so they do not enter the average strategy.
    settled = not tries_all(part.options) or count_unvisited(search, node) == 0
    for edge in edge_rows(tree, node):
        weight = strategy_weight(part.options, part.edge_regret[edge], top, rate)
        probability = weight / norm if norm > 0.0 else 1.0 / tree.node_edge_count[node]
        if settled:
            part.edge_strategy[edge] += probability
        part.edge_regret[edge] += regret(part.options, search, start, index, edge, probability)


@open_function
def regret(
    strategy: Any, search: Any, start: int, index: int, edge: int, probability: float
) -> float:
    """Regret that a simulation adds to an edge; it was drawn with this probability."""
    return 0.0


@implements(regret, Exp3)
def exp3_gain(
    strategy: Exp3, search: Any, start: int, index: int, edge: int, probability: float
) -> float:
    """The taken action's value over its probability, 0 for the others (Auer et al. 2003).

    With AMAF every action has its AMAF estimate, which the value corrects for the taken action.
    """
    tree, path = search.tree, search.path
    node = int(path.nodes[index])
    player = int(tree.node_player[node])
    n, total = float(tree.edge_visits[edge]), edge_sum(search.backup, search, node, edge)
    estimate = max(amaf_value(search.amaf, search, edge, player, n, total), 0.0)
    if edge == path.edges[index]:
        share = explored_share(strategy, tree.node_visits[node])
        # The probability with which the edge was really drawn, exploration included.
        chance = (1.0 - share) * probability + share / tree.node_edge_count[node]
        estimate += (path.values[player] - estimate) / chance
    return estimate


@implements(regret, RegretMatching)
def regret_of_others(
    strategy: RegretMatching, search: Any, start: int, index: int, edge: int, probability: float
) -> float:
    """The edge's value against the others' actions minus the one obtained (Lanctot et al. 2014)."""
    path, players = search.path, search.settings.num_players
    if edge == path.edges[index]:
        return 0.0
    node = int(path.nodes[index])
    player = int(search.tree.node_player[node])
    entry = other_entry(search, start, index, edge)
    n, total = float(search.tree.edge_visits[edge]), edge_sum(search.backup, search, node, edge)
    # The value against exactly these actions if that was seen, else the edge's mean.
    if entry != NO_ENTRY and search.moves.children.visits[entry] > 0:
        n = float(search.moves.children.visits[entry])
        total = search.moves.entry_value_sum[entry * players + player]
    estimate = amaf_value(search.amaf, search, edge, player, n, total)
    if estimate < 0.0 and n > 0.0:
        estimate = total / n
    return estimate - path.values[player] if estimate >= 0.0 else 0.0


@open_function
def amaf_value(amaf: Any, search: Any, edge: int, player: int, n: float, total: float) -> float:
    """The mean of n values, blended with AMAF; negative if AMAF is not used."""
    return -1.0


@implements(amaf_value, EdgeAmaf)
def _amaf_value(amaf: Any, search: Any, edge: int, player: int, n: float, total: float) -> float:
    n_amaf = amaf.visits[edge]
    if not holds_for(amaf.options.players, search, player):
        return -1.0
    if n_amaf > 0.0:
        return blend(amaf.options.schedule, n, total, n_amaf, amaf.value_sum[edge])
    return total / n if n > 0.0 else -1.0


@kernel
def other_entry(search: Any, start: int, index: int, edge: int) -> int:
    """The entry of the joint action in which one mover takes ``edge`` instead."""
    path = search.path
    entry = int(path.entries[index - 1]) if index > start else ALONE
    taken = edge if index == start else int(path.edges[start])
    last = start + int(search.moves.node_followers[path.nodes[start]])
    for place in range(max(index, start + 1), last + 1):
        beside = taken if entry == ALONE else after_entry(entry)
        taken = edge if place == index else int(path.edges[place])
        entry = find_entry(search.moves.children, taken, beside)
        if entry == NO_ENTRY:
            return entry
    return entry


@implements(hooks.on_rescale, MixedStrategy)
def _rescale(part: MixedStrategy, search: Any, factor: float, shift: float) -> None:
    for edge in range(search.tree.used[EDGE]):
        # Regrets are differences of values: the shift cancels.
        part.edge_regret[edge] *= factor


@implements(report_moves, MixedStrategy)
def _report_moves(
    part: MixedStrategy, search: Any, node: int, edges: range
) -> dict[str, list[float]]:
    return {"strategy": part.edge_strategy[edges.start : edges.stop].tolist()}
