"""Mixed strategies where players move at the same time: regret matching and Exp3.

Each player has, for every action, a sum of regrets (or of Exp3's estimated gains), from which the
strategy of the next simulation follows; and the sum of the strategies so far, without what they
explore. The average strategy, not the last one, approaches an equilibrium.
"""

import math

import numpy as np
from numpy.typing import NDArray

from rave_agents.search.backup import Scratch
from rave_agents.search.children import NO_ENTRY, find_entry
from rave_agents.search.compiler import kernel
from rave_agents.search.formulas import blend
from rave_agents.search.parameters import Parameters, Strategy
from rave_agents.search.random_stream import Stream, random_below, random_unit
from rave_agents.search.selection import amaf_weight
from rave_agents.search.simultaneous import ALONE, Simultaneous, after_entry
from rave_agents.search.tree import Tree

REGRET_MATCHING = int(Strategy.REGRET_MATCHING)
EXP3 = int(Strategy.EXP3)


@kernel
def explored_share(parameters: Parameters, visits: int) -> float:
    """The share of choices that are uniformly random: γ in Exp3, γ / sqrt(N) with regrets."""
    if parameters.strategy == EXP3:
        return parameters.gamma
    return parameters.gamma / math.sqrt(max(visits, 1))


@kernel
def strategy_weight(regret: float, top: float, rate: float, parameters: Parameters) -> float:
    """What an action's probability is proportional to, its exploration left out."""
    if parameters.strategy == EXP3:
        return math.exp(rate * (regret - top))
    return max(regret, 0.0)


@kernel
def strategy_norm(
    regrets: NDArray[np.float64], parameters: Parameters
) -> tuple[float, float, float]:
    """The greatest regret, Exp3's learning rate γ / K, and the sum of all actions' weights."""
    count = regrets.shape[0]
    top = -math.inf
    for index in range(count):
        top = max(top, regrets[index])
    rate = parameters.gamma / count
    norm = 0.0
    for index in range(count):
        norm += strategy_weight(regrets[index], top, rate, parameters)
    return top, rate, norm


@kernel
def count_unvisited(tree: Tree, node: int) -> int:
    """How many of a node's edges have no visits."""
    first = int(tree.node_first_edge[node])
    count = 0
    for edge in range(first, first + tree.node_edge_count[node]):
        if tree.edge_visits[edge] == 0:
            count += 1
    return count


@kernel
def draw_edge(
    tree: Tree, simultaneous: Simultaneous, node: int, parameters: Parameters, stream: Stream
) -> int:
    """An edge drawn from the strategy of a node's player, exploration included.

    With regret matching every edge is taken once before any is taken twice.
    """
    first = int(tree.node_first_edge[node])
    count = int(tree.node_edge_count[node])
    if parameters.strategy == REGRET_MATCHING:
        unvisited = count_unvisited(tree, node)
        if unvisited > 0:
            left = random_below(stream, unvisited)
            for edge in range(first, first + count):
                if tree.edge_visits[edge] == 0:
                    if left == 0:
                        return edge
                    left -= 1
    if random_unit(stream) < explored_share(parameters, tree.node_visits[node]):
        return first + random_below(stream, count)
    regrets = simultaneous.edge_regret[first : first + count]
    top, rate, norm = strategy_norm(regrets, parameters)
    if norm <= 0.0:
        return first + random_below(stream, count)
    left_over = random_unit(stream) * norm
    last = 0
    for index in range(count):
        weight = strategy_weight(regrets[index], top, rate, parameters)
        if weight > 0.0:
            last = index
            left_over -= weight
            if left_over < 0.0:
                return first + index
    return first + last


@kernel
def backup_strategies(
    tree: Tree, simultaneous: Simultaneous, scratch: Scratch, parameters: Parameters, depth: int
) -> None:
    """Tell every player of the path, with ``scratch.values``, what his other actions had brought.

    To be called before the simulation is counted at edges and entries.
    """
    index = 0
    while index < depth:
        followers = int(simultaneous.node_followers[scratch.path_nodes[index]])
        for place in range(followers + 1 if followers > 0 else 0):
            update_strategy(tree, simultaneous, scratch, parameters, index, place, followers)
        index += 1 + followers


@kernel
def update_strategy(
    tree: Tree,
    simultaneous: Simultaneous,
    scratch: Scratch,
    parameters: Parameters,
    start: int,
    place: int,
    followers: int,
) -> None:
    """Add a simulation to the regrets and the average strategy of one of those who moved.

    Args:
        tree: the tree.
        simultaneous: what it has beside; it changes.
        scratch: the path and the values of the simulation.
        parameters: the flags and constants.
        start: the place in the path of the first who moved there.
        place: how many of them come before this one.
        followers: how many follow the first.
    """
    node = int(scratch.path_nodes[start + place])
    taken = int(scratch.path_edges[start + place])
    player = int(tree.node_player[node])
    value = scratch.values[player]
    first = int(tree.node_first_edge[node])
    count = int(tree.node_edge_count[node])
    regrets = simultaneous.edge_regret[first : first + count]
    top, rate, norm = strategy_norm(regrets, parameters)
    share = explored_share(parameters, tree.node_visits[node])
    settled = parameters.strategy == EXP3 or count_unvisited(tree, node) == 0
    use_amaf = parameters.amaf and (
        not parameters.only_own_amaf or player == parameters.searching_player
    )
    for index in range(count):
        edge = first + index
        weight = strategy_weight(regrets[index], top, rate, parameters)
        probability = weight / norm if norm > 0.0 else 1.0 / count
        if settled:
            simultaneous.edge_strategy[edge] += probability
        if parameters.strategy == EXP3:
            estimate = known_value(tree, edge, 0.0, 0.0, use_amaf, parameters) if use_amaf else 0.0
            estimate = max(estimate, 0.0)
            if edge == taken:
                chance = (1.0 - share) * probability + share / count
                estimate += (value - estimate) / chance
            simultaneous.edge_regret[edge] += estimate
        elif edge != taken:
            entry = other_entry(simultaneous, scratch, start, place, followers, edge)
            n, total = 0.0, 0.0
            if entry != NO_ENTRY:
                n = float(simultaneous.children.visits[entry])
                total = simultaneous.children.value_sum[entry, player]
            estimate = known_value(tree, edge, n, total, use_amaf, parameters)
            if estimate >= 0.0:
                simultaneous.edge_regret[edge] += estimate - value


@kernel
def known_value(
    tree: Tree, edge: int, n: float, total: float, use_amaf: bool, parameters: Parameters
) -> float:
    """What an action is worth: with the others' n times seen, or else alone; negative if unknown.

    AMAF is blended in by the same β as elsewhere, which falls with the visits that there are.
    """
    value = -1.0
    if n > 0.0:
        value = total / n
    elif tree.edge_visits[edge] > 0:
        n = float(tree.edge_visits[edge])
        value = tree.edge_value_sum[edge] / n
    if use_amaf and tree.edge_amaf_visits[edge] > 0.0:
        n_amaf = tree.edge_amaf_visits[edge]
        q_amaf = tree.edge_amaf_value_sum[edge] / n_amaf
        if n == 0.0:
            return q_amaf
        return blend(amaf_weight(n, n_amaf, parameters), value, q_amaf)
    return value


@kernel
def other_entry(
    simultaneous: Simultaneous,
    scratch: Scratch,
    start: int,
    place: int,
    followers: int,
    edge: int,
) -> int:
    """The entry that another edge of one mover leads to, with what the others have taken."""
    entry = int(ALONE)
    if place > 1:
        entry = int(scratch.path_entries[start + place - 1])
    for index in range(max(place, 1), followers + 1):
        taken = edge if index == place else int(scratch.path_edges[start + index])
        if index == 1:
            beside = edge if place == 0 else int(scratch.path_edges[start])
        else:
            beside = after_entry(entry)
        entry = find_entry(simultaneous.children, taken, beside)
        if entry == NO_ENTRY:
            return entry
    return entry
