"""GRAVE and HRAVE: AMAF statistics in tables of all players' actions.

A table has a row for every player and every action of the game, whether legal at its node or not.
With GRAVE (Cazenave 2015) every node that may serve as reference for its descendants has a table;
with HRAVE a single table at the root serves the whole search.
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Le, Lt

from rave_agents.compiler.arrays import FLOAT, NODE, TABLE, Array, Axis, Rows
from rave_agents.compiler.dispatch import implements, kernel, open_function
from rave_agents.compiler.part_fields import part_name
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.amaf.schedules import MinimumMSE, Schedule
from rave_agents.kernel.amaf.trust import FullTrust
from rave_agents.kernel.amaf.views import (
    NO_TABLE,
    AllEdges,
    Blending,
    BlendValues,
    Edges,
    MoveRecord,
    Players,
    View,
    record_path,
    record_playout,
    reference,
    row_of,
    view_at,
    winning_scale,
)
from rave_agents.kernel.amaf.weightings import Uniform, Weighting, update_weight
from rave_agents.kernel.amaf.winning_moves import (
    WON,
    NoWinningMoves,
    TableWins,
    Winning,
    WinningMoves,
    note_win,
)
from rave_agents.kernel.declarations import is_mixed, most_rows, refusal, taking_part
from rave_agents.kernel.players import AllPlayers, holds_for
from rave_agents.kernel.utilities import rescale_sums, set_values


class GRAVE(NamedTuple):
    """Each node uses the nearest ancestor's table with more than ``ref`` playouts (GRAVE)."""

    ref: Annotated[int, Ge(0), Lt(2**31)] = 20
    """A table with more playouts than this serves the nodes below it, at least 0. Cazenave (2015)
    uses 50, Ludii 100."""
    table_visits: Annotated[int, Ge(1), Le(2**20)] = 10
    """A node gets its own table on this visit, at least 1. 1 is the published form; larger values
    save memory, since most nodes never reach ``ref``."""
    schedule: Schedule = MinimumMSE()
    """The schedule of β; this and all fields that follow are those of ``NodeAmaf``."""
    blending: Blending = BlendValues()
    players: Players = AllPlayers()
    edges: Edges = AllEdges()
    weighting: Weighting = Uniform()
    winning: Winning = NoWinningMoves()


class HRAVE(NamedTuple):
    """One table at the root for the whole search (HRAVE): GRAVE with an infinite ``ref``."""

    schedule: Schedule = MinimumMSE()
    """The schedule of β; this and all fields that follow are those of ``NodeAmaf``."""
    blending: Blending = BlendValues()
    players: Players = AllPlayers()
    edges: Edges = AllEdges()
    weighting: Weighting = Uniform()
    winning: Winning = NoWinningMoves()


@implements(taking_part, GRAVE, HRAVE)
def _takes_part_amaf(part: Any) -> str:
    return "AMAF"


@implements(refusal, GRAVE, HRAVE)
def _refusal(amaf: Any, config: Any) -> str:
    if not is_mixed(config.simultaneous):
        return ""
    return (
        f"simultaneous={part_name(type(config.simultaneous))} takes AMAF statistics from the nodes "
        f"themselves: use amaf=node_amaf or no_amaf, not {part_name(type(amaf))}."
    )


_ROWS = Rows(Axis.TABLE, FLOAT, (Axis.PLAYER, Axis.ACTION))


@runs_as(HRAVE)
@runs_as(GRAVE)
class AmafTables(NamedTuple):
    """The tables. Values are those of the player who took the action."""

    options: Any
    winning: Annotated[Any, {WinningMoves: TableWins}]
    node_table: Annotated[Array, Rows(Axis.NODE, np.int32, fill=-1, points_to=Axis.TABLE)]
    """The node's table, or ``NO_TABLE``."""
    owner: Annotated[Array, Rows(Axis.TABLE, np.int32, points_to=Axis.NODE)]
    """The node whose table it is."""
    playouts: Annotated[Array, Rows(Axis.TABLE, np.int32)]
    """Simulations that were credited to it."""
    visits: Annotated[Array, _ROWS]
    """AMAF visits of each player's actions."""
    value_sum: Annotated[Array, _ROWS]
    """Sum of the values of the AMAF visits."""
    record: MoveRecord
    """The moves of the present simulation."""
    previous: Annotated[Array, Rows(Axis.MOVE, np.int32)]
    """Number of the player's previous move with the same action, -1 if there is none."""


@open_function
def table_limits(options: Any) -> tuple[float, float]:
    """The visit on which a node gets a table, and the playouts it needs to become a reference."""
    return math.inf, math.inf


@implements(table_limits, GRAVE)
def _table_limits(options: GRAVE) -> tuple[float, float]:
    return float(options.table_visits), float(options.ref)


@implements(hooks.rows_needed, AmafTables)
def _rows_needed(amaf: AmafTables, search: Any, axis: int, actions: int) -> int:
    # The root gets its node without a table where the memory has no room for one.
    visits, _ = table_limits(amaf.options)
    return 1 if axis == TABLE and visits < math.inf and search.tree.used[NODE] > 0 else 0


@implements(most_rows, AmafTables)
def _most_rows(amaf: AmafTables, axis: int) -> float:
    """HRAVE has one table, the root's."""
    visits, _ = table_limits(amaf.options)
    return 1 if axis == TABLE and visits == math.inf else math.inf


@implements(reference, AmafTables)
def _reference(amaf: AmafTables, search: Any, node: int, above: int) -> int:
    own = int(amaf.node_table[node])
    _, playouts = table_limits(amaf.options)
    # A table without enough playouts still serves if no ancestor has one: that is the root's.
    if own != NO_TABLE and (above == NO_TABLE or amaf.playouts[own] > playouts):
        return own
    return above


@implements(view_at, AmafTables)
def _view(amaf: AmafTables, search: Any, node: int, depth: int, table: int) -> View:
    player = int(search.tree.node_player[node])
    counts = table != NO_TABLE and holds_for(amaf.options.players, search, player)
    row = table_row(search, max(table, 0), player)
    scale = winning_scale(amaf.winning, amaf, search, node, row) if counts else 0.0
    return View(amaf, FullTrust(), row, counts, 1.0, 1.0, scale)


@implements(row_of, AmafTables)
def _row_of(amaf: AmafTables, search: Any, first: int, edge: int) -> int:
    # Tables have a row per action of the game, not per edge of a node.
    return first + int(search.tree.edge_action[edge])


@kernel
def table_row(search: Any, table: int, player: int) -> int:
    """The row of a player's action 0 in a table; the other actions follow."""
    settings = search.settings
    return (table * settings.num_players + player) * settings.num_actions


@implements(hooks.on_backup, AmafTables)
def _credit_playouts(amaf: AmafTables, search: Any, depth: int, nodes: int) -> None:
    """Credit every playout to the tables of the path; together they count as one visit."""
    record, path = amaf.record, search.path
    record_path(record, search, depth, nodes)
    # Before crediting, so that a new table counts this simulation, too.
    give_table(amaf, search, depth - 1 + nodes)
    for playout in range(search.frame.header[codes.NUM_PLAYOUTS]):
        set_values(search, playout, playout + 1)
        moves = record_playout(record, search, depth, playout)
        find_previous(amaf, search, moves)
        # From the leaf to the root; each table sees the moves from its own node on.
        for index in range(depth - 1 + nodes, -1, -1):
            table = amaf.node_table[path.nodes[index]]
            if table != NO_TABLE:
                # A simulation with several playouts counts once.
                if playout == 0:
                    amaf.playouts[table] += 1
                credit_table(amaf, search, table, record.path_moves[index], moves)
        record.offset[0] += moves + 1


@kernel
def give_table(amaf: AmafTables, search: Any, last: int) -> None:
    """Give a table to the first node of the path, up to ``last``, that is due one."""
    tree = search.tree
    visits, _ = table_limits(amaf.options)
    for index in range(last + 1):
        node = search.path.nodes[index]
        if tree.used[TABLE] == tree.capacity[TABLE]:
            return
        if (
            amaf.node_table[node] == NO_TABLE
            and (index == 0 or tree.node_visits[node] + 1 >= visits)
            and tree.node_edge_count[node] > 0
        ):
            amaf.node_table[node] = tree.used[TABLE]
            amaf.owner[tree.used[TABLE]] = node
            tree.used[TABLE] += 1
            return


@kernel
def find_previous(amaf: AmafTables, search: Any, moves: int) -> None:
    """Set ``previous`` for the record's first ``moves`` moves."""
    record = amaf.record
    offset = record.offset[0]
    for move in range(moves):
        row = record.players[move] * search.settings.num_actions + record.actions[move]
        # `offset` grows with each playout, so entries of earlier playouts become negative: no
        # clearing.
        seen = record.seen[row] - offset
        amaf.previous[move] = seen if seen >= 0 else -1
        record.seen[row] = offset + move


@kernel
def credit_table(amaf: AmafTables, search: Any, table: int, start: int, moves: int) -> None:
    """Credit a playout with ``path.values`` to a table: each player's first use of each action."""
    record, values = amaf.record, search.path.values
    share = 1.0 / search.frame.header[codes.NUM_PLAYOUTS]
    for move in range(start, moves):
        # First occurrence from this node on: the previous use of the action lies before the node.
        if amaf.previous[move] < start:
            player = record.players[move]
            row = table_row(search, table, player) + record.actions[move]
            length = moves - start
            # Early moves may weigh more, see `weightings.py`.
            weight = share * update_weight(amaf.options.weighting, move - start, length)
            amaf.visits[row] += weight
            amaf.value_sum[row] += weight * values[player]
            won = values[player] > WON
            note_win(amaf.winning, row, won, weight, move - start + 1)


@implements(hooks.on_rescale, AmafTables)
def _rescale(amaf: AmafTables, search: Any, factor: float, shift: float) -> None:
    rows = table_row(search, search.tree.used[TABLE], 0)
    rescale_sums(amaf.value_sum, amaf.visits, rows, factor, shift)
