"""The tree of histories: visits, which ask the game, and the index of information sets."""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.layout import call_address
from rave_agents.equilibrium.records import (
    ACTION_ROOM,
    ACTIONS,
    ANSWER_FULL,
    ANSWERED,
    CAPACITY,
    CHANCE,
    DEPTH,
    END_ROOM,
    ENDS,
    ENTERING,
    FACTOR,
    FAILED,
    FIRST_KEY,
    FLOOR,
    FROZEN,
    GOES_ON,
    GROWN,
    HISTORIES,
    HISTORY_ROOM,
    IN_PYTHON,
    INDEX_ROOM,
    INDEXED,
    LENGTH,
    LIKELIHOOD,
    LISTS_FULL,
    NO_TURNS,
    NUM_ACTIONS,
    PASSED,
    PLAYER,
    PLAYOUT,
    PLAYOUTS,
    ROOM_FULL,
    SECOND_KEY,
    SET_ROOM,
    SETS,
    SETS_DIFFER,
    START,
    STATUS,
    TERMINAL,
    UNVISITED,
    Search,
)


@kernel
def go_to_start(search: Search) -> None:
    """Begin a path at the start of the game."""
    control, numbers = search.control, search.numbers
    search.stack.history[0] = START
    search.stack.begin[0] = 0
    control[DEPTH], control[ENTERING], control[GROWN] = 0, 1, 0
    control[PASSED] = control[FLOOR] = 0
    numbers[FACTOR] = numbers[LIKELIHOOD] = 1.0


@kernel
def go_down(search: Search, depth: int, place: int, end: int) -> None:
    """Go to a child; the pool's numbers from ``end`` on are free for it."""
    stack, control = search.stack, search.control
    child = search.histories.first[stack.history[depth]] + place
    stack.place[depth] = place
    stack.history[depth + 1], stack.begin[depth + 1] = child, end
    search.visit.path[depth] = search.histories.action[child]
    control[DEPTH], control[ENTERING] = depth + 1, 1


@kernel
def visit(search: Search, depth: int, history: int) -> int:
    """Ask the game about a history, and add it to the tree if there is room for it."""
    control, header = search.control, search.visit.header
    stays = control[FROZEN] != 0 or control[GROWN] >= search.variant.growth
    if not stays and not has_room(search):
        return ROOM_FULL
    header[LENGTH] = depth
    header[PLAYOUT] = 1 if stays else 0
    header[STATUS] = 0
    answered = int(call_address(search.visit_address, search.header_address))
    # A callback into Python cannot return its answer as a C function does.
    if header[IN_PYTHON] != 0:
        answered = int(header[STATUS])
    if answered != ANSWERED:
        return LISTS_FULL if answered == ANSWER_FULL else FAILED
    if stays:
        control[PLAYOUTS] += 1
        return GOES_ON
    control[GROWN] += 1
    return add_history(search, history)


@kernel
def has_room(search: Search) -> bool:
    """True if the arrays have room for one more history, with as many actions as a visit lists."""
    control, most = search.control, search.visit.header[CAPACITY]
    return bool(
        control[HISTORIES] + most <= control[HISTORY_ROOM]
        and control[ACTIONS] + most <= control[ACTION_ROOM]
        and control[SETS] < control[SET_ROOM]
        and control[ENDS] < control[END_ROOM]
    )


@kernel
def add_history(search: Search, history: int) -> int:
    """Write what the game has answered about a history to the arrays."""
    control, header, histories = search.control, search.visit.header, search.histories
    player, count = header[PLAYER], header[NUM_ACTIONS]
    if player == TERMINAL:
        end = control[ENDS]
        control[ENDS] = end + 1
        for seat in range(search.num_players):
            search.returns[end * search.num_players + seat] = search.visit.returns[seat]
        histories.place[history], histories.player[history] = end, TERMINAL
        return GOES_ON
    if player != CHANCE:
        if player < 0:
            return NO_TURNS
        place = find_set(search)
        if place < 0:
            return SETS_DIFFER
        histories.place[history] = place
    first = control[HISTORIES]
    control[HISTORIES] = first + count
    for at in range(count):
        histories.player[first + at] = UNVISITED
        histories.parent[first + at] = history
        histories.action[first + at] = search.visit.actions[at]
        if player == CHANCE:
            histories.chance[first + at] = search.visit.chances[at]
    histories.first[history], histories.size[history] = first, count
    histories.player[history] = player
    return GOES_ON


@kernel
def find_set(search: Search) -> int:
    """The information set of the visited history, added if it is new; -1 if its actions differ."""
    control, header, sets = search.control, search.visit.header, search.sets
    slot = index_slot(search, header[FIRST_KEY], header[SECOND_KEY])
    count: Any = np.int64(header[NUM_ACTIONS])
    if search.slots[slot] != 0:
        known = search.slots[slot] - 1
        if sets.size[known] != count or sets.player[known] != header[PLAYER]:
            return -1
        first = sets.first[known]
        for at in range(count):
            if search.actions.action[first + at] != search.visit.actions[at]:
                return -1
        return int(known)
    place, first = control[SETS], control[ACTIONS]
    control[SETS], control[ACTIONS], control[INDEXED] = place + 1, first + count, place + 1
    search.slots[slot] = place + 1
    sets.keys[2 * place], sets.keys[2 * place + 1] = header[FIRST_KEY], header[SECOND_KEY]
    sets.player[place], sets.size[place], sets.first[place] = header[PLAYER], count, first
    for at in range(count):
        search.actions.action[first + at] = search.visit.actions[at]
    return int(place)


@kernel
def index_slot(search: Search, one: int, two: int) -> int:
    """The place in the index of the information set with a key, or of a free slot for it."""
    mask = search.control[INDEX_ROOM] - 1
    slot = one & mask
    while search.slots[slot] != 0:
        known = search.slots[slot] - 1
        if search.sets.keys[2 * known] == one and search.sets.keys[2 * known + 1] == two:
            break
        slot = (slot + 1) & mask
    return int(slot)


@kernel
def index_sets(search: Search) -> None:
    """Enter the information sets that the index lacks: all of them, once it has grown."""
    control, keys = search.control, search.sets.keys
    for place in range(control[INDEXED], control[SETS]):
        search.slots[index_slot(search, keys[2 * place], keys[2 * place + 1])] = place + 1
    control[INDEXED] = control[SETS]
