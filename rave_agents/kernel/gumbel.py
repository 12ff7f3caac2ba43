"""Planning with Gumbel noise: sequential halving at the root, completed values everywhere.

Danihelka, Guez, Schrittwieser & Silver 2022, "Policy improvement by planning with Gumbel". Symbols:
``p`` an action's prior probability, ``g`` its Gumbel noise, ``N(a)`` and ``q(a)`` the visits and
the mean value of its edge, ``v`` the evaluator's value of its node. Values are those of the player
who moves at the node, in [0, 1] on the scale of ``utility_range``.

At the root ``m`` actions are sampled without replacement: those with the greatest ``g + ln p``
(Gumbel-Top-k). Sequential halving allots the simulations to them, ranked by ``g + ln p + σ(q)``.
Below the root the visits follow the improved policy, without noise.
"""

import math
from typing import Annotated, Any, NamedTuple

from annotated_types import Ge, Le

from rave_agents.compiler.arrays import FLOAT, INT, NODE, Array, Axis, Kept, Rows, one
from rave_agents.compiler.dispatch import implements, kernel
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.backup import edge_sum
from rave_agents.kernel.hooks import is_available
from rave_agents.kernel.proofs.edges import is_pruned, proven_at, with_proof_bonus, within_bounds
from rave_agents.kernel.selection import NO_EDGE, choose
from rave_agents.kernel.tree import ROOT, edge_rows
from rave_agents.kernel.values.implicit_minimax import mixed_sum, mixing_at
from rave_agents.simulate.random_stream import random_below

UNKNOWN = -1
"""Sentinel: a node without an evaluator's value."""

LEAST_PRIOR = 1e-37
"""Replaces a prior of 0, whose logarithm would be infinite."""

FAR = 2**40
"""Exceeds any number of visits."""


class Gumbel(NamedTuple):
    """Gumbel AlphaZero: sequential halving at the root, the improved policy below it.

    It needs a number of simulations as the search's limit, and ``final_move=survivor``. Both are
    in the preset ``gumbel``.
    """

    max_considered: Annotated[int, Ge(1)] = 16
    """m, the maximum number of root actions considered, at least 1 (Danihelka et al.: 16)."""
    c_visit: Annotated[float, Ge(0), Le(1e6)] = 50.0
    """Added to the visits of the most visited action in the scale of values, in [0, 1e6]."""
    c_scale: Annotated[float, Ge(0), Le(1e6)] = 1.0
    """Weight of values in [0, 1] against the logarithms of priors, at least 0 (Danihelka et al.: 1
    in Go and chess, 0.1 in Atari)."""
    gumbel_scale: Annotated[float, Ge(0), Le(1e6)] = 1.0
    """The scale of the noise, at least 0: 1 to draw actions in proportion to the policy, as in
    self-play; 0 for the best one, as in evaluation."""


@runs_as(Gumbel)
class GumbelSearch(NamedTuple):
    """Arrays of Gumbel planning in addition to the tree's."""

    options: Gumbel
    node_value: Annotated[Array, Rows(Axis.NODE, FLOAT, fill=UNKNOWN)]
    """The evaluator's value of a node when it was added, for the player who moves there; or
    ``UNKNOWN``."""
    noise: Annotated[Array, Rows(Axis.ACTION, FLOAT, kept=Kept.ROOT)]
    """The Gumbel noise of the root's actions."""
    visits_before: Annotated[Array, Rows(Axis.ACTION, INT, kept=Kept.ROOT)]
    """Visits of the root's actions before this search, if the tree was kept."""
    budget: Annotated[Array, one(INT, kept=Kept.ROOT)]
    """[1] simulations of this search that take an action at the root."""


class Completion(NamedTuple):
    """Numbers shared by the completed values of all actions of a node."""

    mixed: float
    """The value of actions without visits, see ``mixed_value``."""
    scale: float
    """σ(q) by q, see ``value_scale``."""
    visits: float
    """The visits of all actions."""
    best: float
    """The greatest value of an action."""


@kernel
def sequential_halving(taken: int, simulations: int, considered: int) -> tuple[int, bool]:
    """The visits that the next action must have so far, and whether it begins a new phase.

    With ``m`` considered actions and ``n`` simulations there are ``⌈log2 m⌉`` phases. In a phase
    each of ``k`` actions, at first all ``m``, gets ``max(1, ⌊n / (⌈log2 m⌉ k)⌋)`` visits, in turn;
    then the better half survives: ``k`` becomes ``max(2, ⌊k / 2⌋)``. Simulations left at the end go
    to the last two (Karnin et al. 2013; Danihelka et al. 2022).

    Args:
        taken: simulations that have taken an action.
        simulations: ``n``.
        considered: ``m``, at least 1.
    """
    if considered <= 1:
        return taken, False
    phases = 0
    # ⌈log2 m⌉ in integers: a rounded logarithm could be one too many.
    while (1 << phases) < considered:
        phases += 1
    visits, going_on = 0, considered
    while True:
        each = max(1, simulations // (phases * going_on))
        # The next simulation falls into this phase: within a round all k actions have the same
        # visits.
        if taken < each * going_on:
            return visits + taken // going_on, taken == 0
        taken -= each * going_on
        visits += each
        going_on = max(2, going_on // 2)


@kernel
def completed_value(search: Any, proven: Any, node: int, edge: int, missing: float) -> float:
    """The value of an edge, or ``missing`` if it has no visits, clipped to proven bounds."""
    n = float(search.tree.edge_visits[edge])
    if n == 0.0:
        return float(within_bounds(proven, search, edge, 1.0, missing))
    value_sum = edge_sum(search.backup, search, node, edge)
    value_sum = mixed_sum(mixing_at(search.judging, search, node), search, edge, n, value_sum)
    return float(within_bounds(proven, search, edge, n, value_sum)) / n


@kernel
def prior_of(search: Any, edge: int) -> float:
    """``p``, but never 0."""
    return max(float(search.tree.edge_prior[edge]), LEAST_PRIOR)


@kernel
def value_scale(options: Gumbel, most_visits: float) -> float:
    """``σ(q) / q = (c_visit + max_b N(b)) c_scale`` (Danihelka et al. 2022, equation 8)."""
    return (options.c_visit + most_visits) * options.c_scale


@kernel
def mixed_value(value: float, visits: float, weighted: float, weight: float) -> float:
    """``(v + ΣN Σ p q / Σ p) / (1 + ΣN)``, sums over visited actions (the same, appendix D).

    Args:
        value: ``v``.
        visits: ``ΣN``.
        weighted: ``Σ p q``.
        weight: ``Σ p``.
    """
    if visits == 0.0:
        return value
    mean = weighted / weight
    return mean if value == UNKNOWN else (value + visits * mean) / (1.0 + visits)


@kernel
def completion(part: GumbelSearch, search: Any, proven: Any, node: int) -> Completion:
    """Compute a node's ``Completion`` from the actions that may be taken."""
    tree = search.tree
    visits, most, weighted, weight = 0.0, 0.0, 0.0, 0.0
    for edge in edge_rows(tree, node):
        n = float(tree.edge_visits[edge])
        if n > 0.0 and is_available(search.moves, edge):
            p = prior_of(search, edge)
            visits += n
            most = max(most, n)
            weighted += p * completed_value(search, proven, node, edge, 0.0)
            weight += p
    mixed = mixed_value(float(part.node_value[node]), visits, weighted, weight)
    best = 0.0
    for edge in edge_rows(tree, node):
        if is_available(search.moves, edge):
            best = max(best, completed_value(search, proven, node, edge, mixed))
    return Completion(mixed, value_scale(part.options, most), visits, best)


@kernel
def policy_weight(search: Any, proven: Any, node: int, edge: int, known: Completion) -> float:
    """``p exp(σ(q) - max_b σ(q(b)))``: the improved policy up to a common factor.

    That policy is the softmax of ``ln p + σ(q)`` (Danihelka et al. 2022, equation 11), where q is
    ``mixed_value`` for an action without visits.
    """
    q = completed_value(search, proven, node, edge, known.mixed)
    return prior_of(search, edge) * math.exp(known.scale * (q - known.best))


@kernel
def root_score(
    part: GumbelSearch, search: Any, proven: Any, node: int, edge: int, known: Completion
) -> float:
    """``g + ln p + σ(q)`` (Danihelka et al. 2022, algorithm 2)."""
    q = completed_value(search, proven, node, edge, known.mixed)
    noise = float(part.noise[search.tree.edge_action[edge]])
    return noise + math.log(prior_of(search, edge)) + known.scale * q


@kernel
def visits_since(part: GumbelSearch, search: Any, edge: int) -> int:
    """The visits of one of the root's edges in this search."""
    before = part.visits_before[search.tree.edge_action[edge]]
    return int(search.tree.edge_visits[edge]) - int(before)


@kernel
def turn(part: GumbelSearch, search: Any) -> tuple[int, bool]:
    """The root's next visits by ``sequential_halving``."""
    taken, actions = 0, 0
    for edge in edge_rows(search.tree, ROOT):
        if is_available(search.moves, edge):
            taken += visits_since(part, search, edge)
            actions += 1
    considered = max(1, min(actions, part.options.max_considered))
    return sequential_halving(taken, int(part.budget[0]), considered)


@kernel
def distance_to_turn(since: int, wanted: int) -> int:
    """Distance of an edge from its turn; too few visits count as farther than too many."""
    return since - wanted if since >= wanted else FAR + wanted - since


@implements(choose, GumbelSearch)
def choose_by_gumbel(part: GumbelSearch, search: Any, node: int, depth: int, table: int) -> int:
    """The edge to take at a decision node; ties are broken at random."""
    if node == ROOT:
        return halved_edge(part, search)
    return improving_edge(part, search, node)


@kernel
def halved_edge(part: GumbelSearch, search: Any) -> int:
    """The root action with the greatest ``root_score`` among those whose turn it is.

    Pruned actions, and those proven to yield the minimum, come last.
    """
    proven = proven_at(search.proofs, search, ROOT)
    known = completion(part, search, proven, ROOT)
    wanted, _ = turn(part, search)
    best, nearest, most, ties = NO_EDGE, 4 * FAR, -math.inf, 0
    for edge in edge_rows(search.tree, ROOT):
        if not is_available(search.moves, edge):
            continue
        distance = distance_to_turn(visits_since(part, search, edge), wanted)
        # Twice FAR outweighs every distance, so pruned actions stay ordered among themselves.
        if is_pruned(proven, search, edge, float(search.tree.edge_visits[edge])) or (
            within_bounds(proven, search, edge, 1.0, 1.0) <= 0.0
        ):
            distance += 2 * FAR
        score = root_score(part, search, proven, ROOT, edge, known)
        if distance < nearest or (distance == nearest and score > most):
            best, nearest, most, ties = edge, distance, score, 1
        elif distance == nearest and score == most:
            ties += 1
            if random_below(search.stream, ties) == 0:
                best = edge
    return best


@kernel
def improving_edge(part: GumbelSearch, search: Any, node: int) -> int:
    """The action with the greatest ``π'(a) - N(a) / (1 + ΣN)`` (Danihelka et al. 2022, eq. 14).

    π' is the improved policy, see ``policy_weight``; the shares of visits converge to it.
    """
    tree = search.tree
    proven = proven_at(search.proofs, search, node)
    known = completion(part, search, proven, node)
    total = 0.0
    for edge in edge_rows(tree, node):
        if is_available(search.moves, edge):
            total += policy_weight(search, proven, node, edge, known)
    # `last`: the best edge so far is pruned; any edge that is not pruned replaces it.
    best, most, ties, last = NO_EDGE, -math.inf, 0, True
    for edge in edge_rows(tree, node):
        if not is_available(search.moves, edge):
            continue
        n = float(tree.edge_visits[edge])
        share = policy_weight(search, proven, node, edge, known) / total
        score = with_proof_bonus(proven, search, edge, share - n / (1.0 + known.visits))
        pruned = is_pruned(proven, search, edge, n)
        if (last and not pruned) or (pruned == last and score > most):
            best, most, ties, last = edge, score, 1, pruned
        elif pruned == last and score == most:
            ties += 1
            if random_below(search.stream, ties) == 0:
                best = edge
    return best


@implements(hooks.awaits_values, GumbelSearch)
def _awaits_values(part: GumbelSearch, search: Any) -> bool:
    """True at the start of a phase, which ranks actions by the values found before."""
    _, begins = turn(part, search)
    return begins


@implements(hooks.on_backup, GumbelSearch)
def _note_values(part: GumbelSearch, search: Any, depth: int, nodes: int) -> None:
    """Store the evaluator's values of new nodes."""
    if search.frame.header[codes.EXPAND] == 0:
        return
    for index in range(depth, depth + nodes):
        node = search.path.nodes[index]
        player = int(search.tree.node_player[node])
        if player >= 0:
            part.node_value[node] = search.path.values[player]


@implements(hooks.on_rescale, GumbelSearch)
def _rescale_values(part: GumbelSearch, search: Any, factor: float, shift: float) -> None:
    for node in range(search.tree.used[NODE]):
        if part.node_value[node] != UNKNOWN:
            part.node_value[node] = factor * part.node_value[node] + shift
