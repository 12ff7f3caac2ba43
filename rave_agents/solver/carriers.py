"""Carriers of proofs: the empty cells that a proof depends on, compiled.

Suppose players fill cells, extra stones never hurt their owner, and exactly one player wins in the
end, as in Hex. A player with a proven win may then concede all cells outside the proof's carrier.
So if the opponent is to move and loses after one action, every action outside the carrier of that
proof loses too and is pruned; the remaining cells are the *must-play region* (van Rijswijck 2002;
Hayward, Björnsson, Johanson, Kan, Po & van Rijswijck 2005).

At an OR node the carrier is the winning action's cell plus the carrier after it. At an AND node it
is the union of the carriers after enough actions: enough that every action is either among them or
outside one of their carriers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import kernel
from rave_agents.games.kit.images import images_of
from rave_agents.simulate.expansion import MOST_CARRIER_WORDS
from rave_agents.solver.records import (
    CELL_WORDS,
    MOST_DISTANCE,
    NO_CHILD,
    NO_DEPTH,
    Search,
)
from rave_agents.solver.table import (
    BITS,
    NOTHING,
    OPEN,
    PROVEN,
    REFUTED,
    distance_of,
    move_of,
    packed_settled,
    recall,
    state_of,
    store_with_cells,
    value_of,
    with_work,
    work_of,
)

LEFT, MUST_PLAY, TURNED = 0, 1, 2
"""Rows of ``Search.used``: the carrier of the node being left, its must-play region, and a carrier
mapped to a symmetric image."""

ONE, PLACES = np.uint64(1), np.uint64(BITS - 1)


def words_of(cells: int) -> int:
    """Words of a carrier of so many cells; 0 if carriers are not kept."""
    words = -(-cells // BITS)
    return words if words <= MOST_CARRIER_WORDS else 0


def turned_cells(rules: Any) -> NDArray[np.int64]:
    """The map of cells to places in each symmetric image, and its inverse, as one list."""
    places = np.arange(rules.num_distinct_actions)[None]
    if rules.num_images > 1:
        places = images_of(rules.board_shape, rules.turns)
    return np.concatenate([places, np.argsort(places, axis=1)]).ravel()


@kernel
def turned_cell(search: Search, cell: Any, image: Any, back: int) -> Any:
    """The place of a cell in an image; with ``back`` 1, the inverse."""
    return search.turned[(back * search.num_images + image) * search.num_cells + cell]


@kernel
def turn(search: Search, cells: Any, at: int, image: Any, back: int) -> None:
    """Map a carrier to an image, or back; writes it to the last row of ``used``."""
    count, used = search.control[CELL_WORDS], search.used
    for place in range(count):
        used[2 * count + place] = NOTHING
    for place in range(count):
        rest, cell = cells[at * count + place], np.int64(place * BITS)
        while rest != NOTHING:
            # Bit by bit through the word; symmetries permute single cells.
            if rest & ONE != NOTHING:
                target = turned_cell(search, cell, image, back)
                used[2 * count + target // BITS] |= ONE << (np.uint64(target) & PLACES)
            rest >>= ONE
            cell += 1


@kernel
def recall_child(search: Search, at: int) -> Any:
    """The table's word of a child, or 0; writes its carrier to the pool."""
    pool = search.pool
    word = recall(search.table, pool.keys[2 * at], pool.keys[2 * at + 1], pool.cells, at)
    # The entry belongs to a symmetric image: map its carrier back to this position.
    if pool.image[at] != 0 and word != NOTHING and state_of(word) != OPEN:
        turn(search, pool.cells, at, pool.image[at], 1)
        copy_cells(search, search.used, TURNED, pool.cells, at)
    return word


@kernel
def store_cells(
    search: Search, first: Any, second: Any, word: Any, image: Any, cells: Any, at: int
) -> None:
    """Store a settled position and its carrier in the coordinates of the key's image."""
    if image == 0:
        store_with_cells(search.table, first, second, word, cells, at)
        return
    turn(search, cells, at, image, 0)
    store_with_cells(search.table, first, second, word, search.used, TURNED)


@kernel
def copy_cells(search: Search, source: Any, row: int, target: Any, target_row: int) -> None:
    """Copy a carrier."""
    count = search.control[CELL_WORDS]
    for place in range(count):
        target[target_row * count + place] = source[row * count + place]


@kernel
def forget_cells(search: Search, at: int) -> None:
    """Clear a carrier in the pool."""
    count = search.control[CELL_WORDS]
    for place in range(at * count, (at + 1) * count):
        search.pool.cells[place] = NOTHING


@kernel
def entry_move(search: Search, depth: int, at: int) -> int:
    """A move as stored in an entry: its index or, with carriers, its cell in the key's image."""
    if search.control[CELL_WORDS] == 0:
        return int(min(at - search.stack.first[depth], MOST_DISTANCE))
    return int(turned_cell(search, search.pool.action[at], search.stack.image[depth], 0))


@kernel
def has_cell(cells: Any, begin: int, cell: Any) -> bool:
    """True if a cell belongs to the carrier that starts at the word ``begin``."""
    return bool(cells[begin + cell // BITS] >> (np.uint64(cell) & PLACES) & ONE != NOTHING)


@kernel
def is_lost(search: Search, depth: int, at: int) -> bool:
    """True if a child of the node at a depth is settled as a loss for the node's mover."""
    word = search.pool.word[at]
    wins = PROVEN if search.stack.is_own[depth] != 0 else REFUTED
    return bool(word != NOTHING and state_of(word) != wins)


@kernel
def prune_outside(search: Search, depth: int, at: int) -> None:
    """Settle the open children whose actions lie outside a lost child's carrier."""
    count = search.control[CELL_WORDS]
    if count == 0 or not is_lost(search, depth, at):
        return
    stack, pool = search.stack, search.pool
    for other in range(stack.first[depth], stack.first[depth] + stack.size[depth]):
        if pool.word[other] != NOTHING or has_cell(pool.cells, at * count, pool.action[other]):
            continue
        pool.word[other] = pool.word[at]
        pool.rests[other] = NO_DEPTH
        copy_cells(search, pool.cells, at, pool.cells, other)
        if depth == 0:
            store_refuted(search, at, other)


@kernel
def store_refuted(search: Search, at: int, other: int) -> None:
    """Store a child of the root as lost by another child's proof."""
    pool = search.pool
    word, move = pool.word[at], move_of(pool.word[at])
    # The answering move: from the image of one child to the position, then to the other's image.
    move = turned_cell(search, move, pool.image[at], 1)
    move = turned_cell(search, move, pool.image[other], 0)
    entry = packed_settled(state_of(word), value_of(word), move, distance_of(word))
    entry = with_work(entry, work_of(word))
    first, second = pool.keys[2 * other], pool.keys[2 * other + 1]
    store_cells(search, first, second, entry, pool.image[other], pool.cells, other)


@kernel
def use_won(search: Search, at: int) -> None:
    """Write the carrier of a node won by its mover: the child's plus the action's cell."""
    count, pool, used = search.control[CELL_WORDS], search.pool, search.used
    if count == 0:
        return
    copy_cells(search, pool.cells, at, used, LEFT)
    cell = pool.action[at]
    used[cell // BITS] |= ONE << (np.uint64(cell) & PLACES)


@kernel
def use_lost(search: Search, depth: int) -> None:
    """Write the carrier of a node where all actions lose, starting from the smallest one."""
    count, pool, used = search.control[CELL_WORDS], search.pool, search.used
    if count == 0:
        return
    first, size = search.stack.first[depth], search.stack.size[depth]
    least, chosen = BITS * MOST_CARRIER_WORDS + 1, NO_CHILD
    for at in range(first, first + size):
        cells = 0
        for place in range(count):
            rest = pool.cells[at * count + place]
            while rest != NOTHING:
                # Clears the lowest bit, so the loop counts the bits.
                rest &= rest - ONE
                cells += 1
        if cells < least:
            least, chosen = cells, at
    copy_cells(search, pool.cells, chosen, used, LEFT)
    copy_cells(search, pool.cells, chosen, used, MUST_PLAY)
    for at in range(first, first + size):
        # Outside the must-play region so far: an earlier carrier already refutes this action.
        if not has_cell(used, count, pool.action[at]):
            continue
        for place in range(count):
            used[place] |= pool.cells[at * count + place]
            # The region shrinks with each proof; the carrier grows.
            used[count + place] &= pool.cells[at * count + place]
