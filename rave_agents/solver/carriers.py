"""Carriers of proofs: the empty cells that a proof uses, compiled.

In a game whose players fill cells, where a stone on any cell never hurts its owner and exactly one
player has won in the end, whoever has proven a win may leave all other cells to the opponent. So
where the opponent is to move and has lost after one action, they have lost after every other action
outside the carrier of that proof, and these need not be looked at; what is left is the *must-play
region* (van Rijswijck 2002; Hayward, Björnsson, Johanson, Kan, Po & van Rijswijck 2005).

Seen from a position, the carrier of a win after an action is the action's cell and the carrier
there; of a position where all actions lose, it is what the carriers after enough of them have
together: enough that each action is one of them or outside the carrier of one.
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
"""Rows of ``Search.used``: the carrier of the node that is left; what is left to play there; a
carrier as an image has it."""

ONE, PLACES = np.uint64(1), np.uint64(BITS - 1)


def words_of(cells: int) -> int:
    """Words that a carrier of so many cells takes; 0 if none is kept."""
    words = -(-cells // BITS)
    return words if words <= MOST_CARRIER_WORDS else 0


def turned_cells(rules: Any) -> NDArray[np.int64]:
    """Each cell's place in each image of a position, and each place's cell, as one list."""
    places = np.arange(rules.num_distinct_actions)[None]
    if rules.num_images > 1:
        places = images_of(rules.board_shape, rules.turns)
    return np.concatenate([places, np.argsort(places, axis=1)]).ravel()


@kernel
def turned_cell(search: Search, cell: Any, image: Any, back: int) -> Any:
    """A cell's place in an image; or, with ``back`` 1, the cell of a place there."""
    return search.turned[(back * search.num_images + image) * search.num_cells + cell]


@kernel
def turn(search: Search, cells: Any, at: int, image: Any, back: int) -> None:
    """Write a carrier's cells as an image has them into the last room of ``used``, or back."""
    count, used = search.control[CELL_WORDS], search.used
    for place in range(count):
        used[2 * count + place] = NOTHING
    for place in range(count):
        rest, cell = cells[at * count + place], np.int64(place * BITS)
        while rest != NOTHING:
            if rest & ONE != NOTHING:
                target = turned_cell(search, cell, image, back)
                used[2 * count + target // BITS] |= ONE << (np.uint64(target) & PLACES)
            rest >>= ONE
            cell += 1


@kernel
def recall_child(search: Search, at: int) -> Any:
    """The table's word of a child, whose carrier is written into the pool; 0 for nothing."""
    pool = search.pool
    word = recall(search.table, pool.keys[2 * at], pool.keys[2 * at + 1], pool.cells, at)
    if pool.image[at] != 0 and word != NOTHING and state_of(word) != OPEN:
        turn(search, pool.cells, at, pool.image[at], 1)
        copy_cells(search, search.used, TURNED, pool.cells, at)
    return word


@kernel
def store_cells(
    search: Search, first: Any, second: Any, word: Any, image: Any, cells: Any, at: int
) -> None:
    """Keep a settled position with its carrier, both as the image has them whose key it is."""
    if image == 0:
        store_with_cells(search.table, first, second, word, cells, at)
        return
    turn(search, cells, at, image, 0)
    store_with_cells(search.table, first, second, word, search.used, TURNED)


@kernel
def copy_cells(search: Search, source: Any, row: int, target: Any, target_row: int) -> None:
    """Write one carrier over another."""
    count = search.control[CELL_WORDS]
    for place in range(count):
        target[target_row * count + place] = source[row * count + place]


@kernel
def forget_cells(search: Search, at: int) -> None:
    """Write an empty carrier into the pool."""
    count = search.control[CELL_WORDS]
    for place in range(at * count, (at + 1) * count):
        search.pool.cells[place] = NOTHING


@kernel
def told_move(search: Search, depth: int, at: int) -> int:
    """A move as an entry has it: its place; with carriers, its cell in the key's image."""
    if search.control[CELL_WORDS] == 0:
        return int(min(at - search.stack.first[depth], MOST_DISTANCE))
    return int(turned_cell(search, search.pool.action[at], search.stack.image[depth], 0))


@kernel
def has_cell(cells: Any, begin: int, cell: Any) -> bool:
    """True if a cell is in the carrier that begins at a word."""
    return bool(cells[begin + cell // BITS] >> (np.uint64(cell) & PLACES) & ONE != NOTHING)


@kernel
def is_lost(search: Search, depth: int, at: int) -> bool:
    """True if a child of the node at a depth is settled, and lost for who moves at the node."""
    word = search.pool.word[at]
    wins = PROVEN if search.stack.is_own[depth] != 0 else REFUTED
    return bool(word != NOTHING and state_of(word) != wins)


@kernel
def leave_out(search: Search, depth: int, at: int) -> None:
    """Settle the open children whose actions are outside the carrier of a lost one."""
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
            keep_left_out(search, at, other)


@kernel
def keep_left_out(search: Search, at: int, other: int) -> None:
    """Write into the table that a child of the root is lost, by the proof of another one."""
    pool = search.pool
    word, move = pool.word[at], move_of(pool.word[at])
    move = turned_cell(search, move, pool.image[at], 1)
    move = turned_cell(search, move, pool.image[other], 0)
    told = packed_settled(state_of(word), value_of(word), move, distance_of(word))
    told = with_work(told, work_of(word))
    first, second = pool.keys[2 * other], pool.keys[2 * other + 1]
    store_cells(search, first, second, told, pool.image[other], pool.cells, other)


@kernel
def use_won(search: Search, at: int) -> None:
    """Write the carrier of a node that a child decides for who moves there."""
    count, pool, used = search.control[CELL_WORDS], search.pool, search.used
    if count == 0:
        return
    copy_cells(search, pool.cells, at, used, LEFT)
    cell = pool.action[at]
    used[cell // BITS] |= ONE << (np.uint64(cell) & PLACES)


@kernel
def use_lost(search: Search, depth: int) -> None:
    """Write the carrier of a node where all actions lose: of few of them, the smallest first."""
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
                rest &= rest - ONE
                cells += 1
        if cells < least:
            least, chosen = cells, at
    copy_cells(search, pool.cells, chosen, used, LEFT)
    copy_cells(search, pool.cells, chosen, used, MUST_PLAY)
    for at in range(first, first + size):
        if not has_cell(used, count, pool.action[at]):
            continue
        for place in range(count):
            used[place] |= pool.cells[at * count + place]
            used[count + place] &= pool.cells[at * count + place]
