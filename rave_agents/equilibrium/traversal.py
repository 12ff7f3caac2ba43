"""External-sampling Monte-Carlo counterfactual regret minimization, with an explicit stack.

An iteration traverses the tree of histories once for each player (Lanctot, Waugh, Zinkevich &
Bowling 2009). The traversal for a player tries all of their actions, and draws one of every other
player, by the current strategy, and of chance. Where the player moves, an action's regret grows by
its sampled value less that of the current strategy, which regret matching makes of the regrets:
proportional to the positive ones. The average of these strategies approaches an equilibrium with
two players and constant sums.

The average is updated where the next player moves (simple averaging): such a history is reached
with the probability that this player's own strategy reaches it, which weighs their average.

A history is visited by asking the game, once; later traversals read the arrays. A traversal adds at
most ``growth`` histories, and none once the memory is used up: below, a random playout gives the
value.
"""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.entry import entry
from rave_agents.compiler.layout import call_address
from rave_agents.equilibrium.records import (
    ACTION_ROOM,
    ACTIONS,
    ANSWER_FULL,
    ANSWERED,
    AVERAGE_WEIGHT,
    CAPACITY,
    CHANCE,
    DEPTH,
    DONE,
    END_ROOM,
    ENDS,
    ENTERED,
    ENTERING,
    FAILED,
    FIRST_KEY,
    FROZEN,
    GOES_ON,
    GROWN,
    HISTORIES,
    HISTORY_ROOM,
    IN_PYTHON,
    INDEX_ROOM,
    INDEXED,
    ITERATION,
    LAST,
    LENGTH,
    LISTS_FULL,
    NO_TURNS,
    NUM_ACTIONS,
    PLAYER,
    PLAYOUT,
    PLAYOUTS,
    POOL_ROOM,
    REGRET_WEIGHT,
    ROOM_FULL,
    SECOND_KEY,
    SET_ROOM,
    SETS,
    SETS_DIFFER,
    STACK_FULL,
    STACK_ROOM,
    START,
    STATUS,
    TERMINAL,
    TRAVERSER,
    UNVISITED,
    VALUE,
    Search,
)
from rave_agents.simulate.random_stream import random_unit


@entry("the search of information sets")
def run(search: Search, steps: int) -> int:
    """Take ``steps`` steps down or up; returns the reason why the search stopped."""
    control = search.control
    index_sets(search)
    for _ in range(steps):
        if control[DEPTH] < 0:
            if control[TRAVERSER] == 0 and control[ITERATION] >= control[LAST]:
                return DONE
            begin_traversal(search)
        status = enter(search) if control[ENTERING] != 0 else leave(search)
        if status != GOES_ON:
            return status
    return GOES_ON


@entry("the visits of all histories")
def visit_all(search: Search, visits: int) -> int:
    """Visit the histories that no traversal has met; returns the reason why it stopped."""
    control, histories = search.control, search.histories
    index_sets(search)
    history = control[HISTORIES] - 1
    for _ in range(visits):
        while history >= 0 and histories.player[history] != UNVISITED:
            history -= 1
        if history < 0:
            return DONE
        depth, above = 0, history
        while above != START:
            depth, above = depth + 1, histories.parent[above]
        if depth >= control[STACK_ROOM]:
            return STACK_FULL
        at, above = depth, history
        while above != START:
            at -= 1
            search.visit.path[at] = histories.action[above]
            above = histories.parent[above]
        control[GROWN] = 0
        status = visit(search, depth, history)
        if status != GOES_ON or control[FROZEN] != 0:
            return status
        # The children are the last ones now: visited next, they share the game's path so far.
        history = control[HISTORIES] - 1
    return GOES_ON


@kernel
def begin_traversal(search: Search) -> None:
    """Go to the start of the game, with new weights at the first player's turn."""
    control, numbers, variant = search.control, search.numbers, search.variant
    if control[TRAVERSER] == 0:
        iteration = control[ITERATION] + 1.0
        numbers[REGRET_WEIGHT] = iteration**variant.regret_power
        numbers[AVERAGE_WEIGHT] = iteration**variant.average_power
    search.stack.history[0] = START
    search.stack.begin[0] = 0
    control[DEPTH], control[ENTERING], control[GROWN] = 0, 1, 0


@kernel
def end_traversal(search: Search) -> None:
    """The next player's turn, or the next iteration."""
    control = search.control
    control[TRAVERSER] += 1
    if control[TRAVERSER] == search.num_players:
        control[TRAVERSER] = 0
        control[ITERATION] += 1


@kernel
def go_up(search: Search) -> None:
    """Leave a history, whose value is known."""
    control = search.control
    control[DEPTH] -= 1
    control[ENTERING] = 0
    if control[DEPTH] < 0:
        end_traversal(search)


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
def enter(search: Search) -> int:
    """Take the value of the history at the end of the path, or go on to one of its children."""
    control, stack, histories = search.control, search.stack, search.histories
    depth = control[DEPTH]
    history = stack.history[depth]
    control[ENTERED] += 1
    if histories.player[history] == UNVISITED:
        status = visit(search, depth, history)
        if status != GOES_ON:
            return status
    player = histories.player[history]
    # Still unvisited, after a visit: a playout has given its value.
    if player in (UNVISITED, TERMINAL):
        search.numbers[VALUE] = value_at_end(search, history)
        go_up(search)
        return GOES_ON
    begin, count = stack.begin[depth], histories.size[history]
    if depth + 1 >= control[STACK_ROOM] or begin + count > control[POOL_ROOM]:
        return STACK_FULL
    if player == CHANCE:
        go_down(search, depth, drawn_outcome(search, history), begin)
        return GOES_ON
    place = histories.place[history]
    match_regrets(search, place, begin)
    if player == (control[TRAVERSER] + 1) % search.num_players:
        add_strategy(search, place, begin)
    if player == control[TRAVERSER]:
        go_down(search, depth, 0, begin + count)
        return GOES_ON
    go_down(search, depth, drawn_action(search, begin, count), begin)
    return GOES_ON


@kernel
def value_at_end(search: Search, history: int) -> float:
    """The return of the traversing player at the end of the game, or of the last playout."""
    seat = search.control[TRAVERSER]
    if search.histories.player[history] == TERMINAL:
        value = search.returns[search.histories.place[history] * search.num_players + seat]
    else:
        value = search.visit.returns[seat]
    return float(value)


@kernel
def leave(search: Search) -> int:
    """Take over the value of a child; try the next action, or update the regrets."""
    control, stack, histories, pool = search.control, search.stack, search.histories, search.pool
    depth = control[DEPTH]
    history = stack.history[depth]
    if histories.player[history] != control[TRAVERSER]:
        go_up(search)
        return GOES_ON
    begin, count, tried = stack.begin[depth], histories.size[history], stack.place[depth]
    pool.value[begin + tried] = search.numbers[VALUE]
    if tried + 1 < count:
        go_down(search, depth, tried + 1, begin + count)
        return GOES_ON
    value = 0.0
    for at in range(begin, begin + count):
        value += pool.strategy[at] * pool.value[at]
    add_regrets(search, histories.place[history], begin, value)
    search.numbers[VALUE] = value
    go_up(search)
    return GOES_ON


@kernel
def match_regrets(search: Search, place: int, begin: int) -> None:
    """Write the current strategy of an information set to the pool: regret matching.

    Proportional to the positive regrets; uniform if there are none (Hart & Mas-Colell 2000).
    """
    first, count = search.sets.first[place], search.sets.size[place]
    regret, strategy = search.actions.regret, search.pool.strategy
    total = 0.0
    for at in range(count):
        total += max(regret[first + at], 0.0)
    for at in range(count):
        if total > 0.0:
            strategy[begin + at] = max(regret[first + at], 0.0) / total
        else:
            strategy[begin + at] = 1.0 / count


@kernel
def add_strategy(search: Search, place: int, begin: int) -> None:
    """Add the strategy in the pool to the average of an information set."""
    first, weight = search.sets.first[place], search.numbers[AVERAGE_WEIGHT]
    for at in range(search.sets.size[place]):
        search.actions.strategy[first + at] += weight * search.pool.strategy[begin + at]


@kernel
def add_regrets(search: Search, place: int, begin: int, value: float) -> None:
    """Add to the regrets of an information set what each action returned beyond ``value``."""
    actions, pool, weight = search.actions, search.pool, search.numbers[REGRET_WEIGHT]
    first = search.sets.first[place]
    for at in range(search.sets.size[place]):
        sampled = pool.value[begin + at]
        regret = actions.regret[first + at] + weight * (sampled - value)
        actions.regret[first + at] = max(regret, 0.0) if search.variant.floor else regret
        actions.value[first + at] += sampled
    search.sets.updates[place] += 1


@kernel
def drawn_action(search: Search, begin: int, count: int) -> int:
    """The place of an action drawn by the strategy in the pool."""
    unit = random_unit(search.stream)
    for at in range(count - 1):
        unit -= search.pool.strategy[begin + at]
        if unit < 0.0:
            return int(at)
    return int(count - 1)


@kernel
def drawn_outcome(search: Search, history: int) -> int:
    """The place of an outcome drawn by chance."""
    histories = search.histories
    first, count = histories.first[history], histories.size[history]
    unit = random_unit(search.stream)
    for at in range(count - 1):
        unit -= histories.chance[first + at]
        if unit < 0.0:
            return int(at)
    return int(count - 1)


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
