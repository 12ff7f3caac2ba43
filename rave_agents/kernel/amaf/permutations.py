"""Monte Carlo Permutation Search (MCPS; Cazenave 2025, arXiv 2510.06381).

Three sources tell the value of an action a at a node s, for the player who moves there:

    N, Q    simulations that take a at s
    Ñ, Q̃    simulations through s, or its reference ancestor, that take a there or later (GRAVE)
    N̂, Q̂    all simulations that contain a and every move of the path to s, in any order

They are blended with the weights of least variance. The mean of n results with variance σ² has the
variance σ² / n; if all results have the same variance and the means are independent, the blend of
least variance weights each mean by its number of results:

    (N Q + Ñ Q̃ + N̂ Q̂) / (N + Ñ + N̂)

GRAVE's formula with bias 0 is the same without the third source. The weights are derived here from
that principle, not copied from the paper.

Each move of a player has a set of bits: the playouts that contain it, with the moves in the tree
that led to them; 2 kB for each player and action of the game. The playouts that count at a node are
the intersection of the sets of its path's moves, 63 at once.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge

from rave_agents.compiler.arrays import FLOAT, INT, Array, Axis, Kept, Rows, one
from rave_agents.compiler.dispatch import implements, kernel
from rave_agents.compiler.layout import count_bits
from rave_agents.compiler.part_fields import Takes
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.amaf.schedules import GraveBias
from rave_agents.kernel.amaf.tables import GRAVE, HRAVE, AmafTables
from rave_agents.kernel.amaf.views import (
    View,
    amaf_sums,
    ranks,
    record_playout,
    reference,
    view_at,
)
from rave_agents.kernel.declarations import (
    GameTraits,
    game_refusal,
    most_rows,
    refusal,
    report_moves,
    taking_part,
)
from rave_agents.kernel.moves.transpositions import NoTranspositions
from rave_agents.kernel.rules import Edge, blended
from rave_agents.kernel.tree import edge_rows
from rave_agents.kernel.utilities import rescale_sums, set_values

BITS = 63
"""Bits used of each word: the sign bit stays clear."""

WORDS = 256
"""Words of a move's set of simulations."""

KEPT_PLAYOUTS = BITS * WORDS
"""Number of playouts that are kept, 16,128; then each new one replaces the oldest."""

ALL_BITS = 2**BITS - 1


class MCPS(NamedTuple):
    """AMAF statistics, and those of all simulations that contain the moves of a node's path."""

    tables: Annotated[Any, Takes(GRAVE, HRAVE)] = GRAVE(schedule=GraveBias(0.0))
    """The AMAF statistics. Their schedule weights the sum of both other sources against the edge's
    own visits; ``GraveBias(0)`` has the weights of least variance."""
    refresh: Annotated[float, Ge(0)] = 0.1
    """A node's permutation statistics are counted anew once the number of playouts has grown by
    this share, at least 0. 0 is the published form, and slower."""


@implements(taking_part, MCPS)
def _takes_part(part: MCPS) -> str:
    return "permutations"


@implements(refusal, MCPS)
def _refusal(part: MCPS, config: Any) -> str:
    if isinstance(config.transpositions, NoTranspositions):
        return ""
    return (
        "amaf=mcps takes statistics by the path to a node, and with transpositions a node has "
        "several: use transpositions=no_transpositions."
    )


@implements(game_refusal, MCPS)
def _game_refusal(part: MCPS, game: GameTraits) -> str:
    if game.plain:
        return ""
    return (
        "amaf=mcps takes statistics by the path to a node, and with simultaneous moves or hidden "
        "information the player who moves does not know the path: use amaf=grave or amaf=node_amaf."
    )


@runs_as(MCPS)
class Permutations(NamedTuple):
    """The playouts kept, and the statistics that nodes have from them.

    Another root starts with no playouts: those of before do not begin at it.
    """

    options: MCPS
    tables: AmafTables
    visits: Annotated[Array, Rows(Axis.EDGE, FLOAT, kept=Kept.ROOT)]
    """Kept playouts that contain the edge's action and the moves of its path (N̂)."""
    value_sum: Annotated[Array, Rows(Axis.EDGE, FLOAT, kept=Kept.ROOT)]
    """Sum of their values, for the player who moves at the edge's node."""
    counted: Annotated[Array, Rows(Axis.NODE, INT, kept=Kept.ROOT)]
    """Number of playouts noted when the node's edges were last counted."""
    noted: Annotated[Array, one(INT, kept=Kept.ROOT)]
    """[1] number of playouts noted, including those that have been replaced."""
    contains: Annotated[Array, Rows(Axis.PLAYER, INT, (Axis.ACTION,), length=WORDS, kept=Kept.ROOT)]
    """[player, word, action] bits of the playouts that contain the player's action."""
    won: Annotated[Array, Rows(Axis.PLAYER, INT, length=WORDS, kept=Kept.ROOT)]
    """[player, word] bits of the playouts with the value 1 for the player."""
    between: Annotated[Array, Rows(Axis.PLAYER, INT, length=WORDS, kept=Kept.ROOT)]
    """[player, word] bits of the playouts with a value other than 0 and 1."""
    values: Annotated[Array, Rows(Axis.PLAYER, FLOAT, length=KEPT_PLAYOUTS, kept=Kept.ROOT)]
    """[player, playout] the player's value."""


class PermutationView(NamedTuple):
    """AMAF and permutation statistics as one node uses them."""

    part: Permutations
    tables: View
    """The AMAF statistics."""


@implements(view_at, Permutations)
def _view(part: Permutations, search: Any, node: int, depth: int, table: int) -> PermutationView:
    noted, counted = int(part.noted[0]), int(part.counted[node])
    if noted > counted and noted >= counted * (1.0 + part.options.refresh):
        count_permutations(part, search, node, depth)
        part.counted[node] = noted
    return PermutationView(part, view_at(part.tables, search, node, depth, table))


@implements(amaf_sums, PermutationView)
def _sums(view: PermutationView, search: Any, edge: int, n: float) -> tuple[float, float]:
    visits, value_sum = amaf_sums(view.tables, search, edge, n)
    if view.tables.counts and ranks(view.tables.amaf.options.edges, n):
        visits += view.part.visits[edge]
        value_sum += view.part.value_sum[edge]
    return visits, value_sum


@implements(blended, PermutationView)
def _blended(view: PermutationView, edge: Edge, explored: float) -> float:
    return blended(view.tables, edge, explored)


@kernel
def count_permutations(part: Permutations, search: Any, node: int, depth: int) -> None:
    """Count the kept playouts with all moves of the path, and each action of its last node.

    The path has ``depth`` edges.
    """
    tree, path, actions = search.tree, search.path, search.settings.num_actions
    edges = edge_rows(tree, node)
    for edge in edges:
        part.visits[edge], part.value_sum[edge] = 0.0, 0.0
    player = int(tree.node_player[node])
    for word in range(min(int(part.noted[0]) // BITS + 1, WORDS)):
        found = ALL_BITS
        for index in range(depth):
            mover = int(tree.node_player[path.nodes[index]])
            if mover >= 0:
                action = int(tree.edge_action[path.edges[index]])
                found &= int(part.contains[(mover * WORDS + word) * actions + action])
        # Few playouts contain a long path: most words end here.
        if found != 0:
            add_word(part, search, player, word, found, edges)


@kernel
def add_word(
    part: Permutations, search: Any, player: int, word: int, found: int, edges: range
) -> None:
    """Count the playouts ``found`` in a word at the edges whose action they contain, too."""
    first = (player * WORDS + word) * search.settings.num_actions
    won = found & int(part.won[player * WORDS + word])
    between = found & int(part.between[player * WORDS + word])
    for edge in edges:
        having = int(part.contains[first + search.tree.edge_action[edge]])
        part.visits[edge] += count_bits(found & having)
        part.value_sum[edge] += count_bits(won & having)
        left = between & having
        while left != 0:
            place = count_bits((left & -left) - 1)  # Of the lowest bit.
            part.value_sum[edge] += part.values[player * KEPT_PLAYOUTS + word * BITS + place]
            left &= left - 1


@implements(hooks.on_backup, Permutations)
def _note_playouts(part: Permutations, search: Any, depth: int, nodes: int) -> None:
    hooks.on_backup(part.tables, search, depth, nodes)
    for playout in range(search.frame.header[codes.NUM_PLAYOUTS]):
        set_values(search, playout, playout + 1)
        moves = record_playout(part.tables.record, search, depth, playout)
        note_playout(part, search, moves)


@kernel
def note_playout(part: Permutations, search: Any, moves: int) -> None:
    """Keep the playout whose ``moves`` moves are recorded, in place of the oldest."""
    record, actions = part.tables.record, search.settings.num_actions
    place = int(part.noted[0]) % KEPT_PLAYOUTS
    word, bit = place // BITS, 1 << (place % BITS)
    for player in range(search.settings.num_players):
        if part.noted[0] >= KEPT_PLAYOUTS:
            first = (player * WORDS + word) * actions
            for row in range(first, first + actions):
                part.contains[row] &= ~bit
        set_value(part, player, place, search.path.values[player])
    for move in range(moves):
        row = (record.players[move] * WORDS + word) * actions + record.actions[move]
        part.contains[row] |= bit
    part.noted[0] += 1


@kernel
def set_value(part: Permutations, player: int, place: int, value: float) -> None:
    """Write a player's value of the playout in a place."""
    row, bit = player * WORDS + place // BITS, 1 << (place % BITS)
    part.values[player * KEPT_PLAYOUTS + place] = value
    part.won[row] &= ~bit
    part.between[row] &= ~bit
    if value == 1.0:
        part.won[row] |= bit
    elif value != 0.0:
        part.between[row] |= bit


@implements(hooks.on_rescale, Permutations)
def _rescale(part: Permutations, search: Any, factor: float, shift: float) -> None:
    hooks.on_rescale(part.tables, search, factor, shift)
    rescale_sums(part.value_sum, part.visits, search.tree.used[1], factor, shift)
    for player in range(search.settings.num_players):
        for place in range(min(int(part.noted[0]), KEPT_PLAYOUTS)):
            value = part.values[player * KEPT_PLAYOUTS + place]
            set_value(part, player, place, factor * value + shift)


@implements(hooks.rows_needed, Permutations)
def _rows_needed(part: Permutations, search: Any, axis: int, actions: int) -> int:
    return hooks.rows_needed(part.tables, search, axis, actions)


@implements(most_rows, Permutations)
def _most_rows(part: Permutations, axis: int) -> float:
    most: float = most_rows(part.tables, axis)
    return most


@implements(reference, Permutations)
def _reference(part: Permutations, search: Any, node: int, above: int) -> int:
    return reference(part.tables, search, node, above)


@implements(hooks.copy_edge, Permutations)
def _copy(part: Permutations, old: int, new: int) -> None:
    part.visits[new] = part.visits[old]
    part.value_sum[new] = part.value_sum[old]


@implements(report_moves, Permutations)
def _report_moves(
    part: Permutations, search: Any, node: int, edges: range
) -> dict[str, list[float]]:
    """The node's permutation statistics as last counted; values are utilities."""
    rows, (low, high) = slice(edges.start, edges.stop), search.utilities.bounds.tolist()
    visits, sums = part.visits[rows], part.value_sum[rows]
    values = low + sums / np.maximum(visits, 1.0) * (high - low)
    return {"permutation_visits": visits.tolist(), "permutation_value": values.tolist()}
