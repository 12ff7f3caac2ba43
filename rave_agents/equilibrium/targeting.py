"""Directed traversals: they begin at the information set that is searched.

A search from the start of a large game seldom comes to the position where it is asked. Online
outcome sampling (Lisý, Lanctot & Bowling 2015) therefore directs a share of its iterations to the
player's information set. Here a directed traversal draws a path from the start: at the player's own
decisions their actions in the game, elsewhere by chance and the average strategies. A path that
shows the player something else than they have seen is dropped, and the history at which it turned
out is marked, so that no later path leads there. The traversal begins where the path arrives.

A path is drawn with a higher probability than by chance and the strategies, since marked children
are left out. Its importance weight, the product of the shares that were not marked, weighs what the
traversal adds, in units of the mean weight: an information set of the player is then updated by the
same distribution of histories as in traversals from the start.

This holds for the player. The others' strategies are fitted to the player's information set, though
they cannot see it: the subgame is solved unsafely. Traversals from the start correct them.
"""

from rave_agents.compiler.dispatch import kernel
from rave_agents.equilibrium.histories import go_down, go_to_start
from rave_agents.equilibrium.records import (
    ARRIVED,
    ARRIVED_WEIGHT,
    CHANCE,
    DEPTH,
    DIRECTED,
    FACTOR,
    FLOOR,
    GOES_ON,
    GROWN,
    LIKELIHOOD,
    PASSED,
    STACK_FULL,
    STACK_ROOM,
    STAMP,
    TARGET,
    TARGET_PLAYER,
    TERMINAL,
    TRIES,
    UNVISITED,
    Search,
)
from rave_agents.simulate.random_stream import random_unit

MOST_TRIES = 64
"""Paths that a directed traversal draws before it begins at the start."""

OTHERS_EVEN = 0.1
"""The share of even play in the strategies of the others that paths are drawn by: they may play
actions that the average strategy does not."""


@kernel
def choose_direction(search: Search) -> None:
    """Decide whether the traversal is directed."""
    control = search.control
    control[DIRECTED] = control[TRIES] = 0
    targeting = search.variant.targeting
    # Without a target no number is drawn: the search is exactly the one from the start.
    if targeting > 0.0 and control[TARGET_PLAYER] >= 0 and random_unit(search.stream) < targeting:
        control[DIRECTED] = 1


@kernel
def step_on_path(search: Search) -> int:
    """Go on with the path of a directed traversal."""
    control, stack, histories = search.control, search.stack, search.histories
    depth = control[DEPTH]
    history = stack.history[depth]
    control[GROWN] = 0  # The limit of growth is for what follows the path.
    player = histories.player[history]
    if depth + 1 >= control[STACK_ROOM]:
        return STACK_FULL
    # Still unvisited if the memory is full.
    if player in (UNVISITED, TERMINAL):
        place = -1
    elif player != control[TARGET_PLAYER]:
        place = drawn_unmarked(search, history)
    elif histories.place[history] != stack.target_set[control[PASSED]]:
        place = -1
    elif control[PASSED] == control[TARGET]:
        begin_here(search, depth)
        return GOES_ON
    else:
        place = place_of(search, history, stack.target_action[control[PASSED]])
        control[PASSED] += 1
    if place < 0:
        drop_path(search)
    else:
        go_down(search, depth, place, 0)
    return GOES_ON


@kernel
def place_of(search: Search, history: int, action: int) -> int:
    """The place of the child after an action."""
    place, first = 0, search.histories.first[history]
    while search.histories.action[first + place] != action:
        place += 1
    return place


@kernel
def begin_here(search: Search, depth: int) -> None:
    """Begin the traversal at the end of the path, with its weight."""
    control, numbers = search.control, search.numbers
    control[DIRECTED], control[FLOOR] = 0, depth
    numbers[ARRIVED_WEIGHT] += numbers[LIKELIHOOD]
    control[ARRIVED] += 1
    numbers[FACTOR] = numbers[LIKELIHOOD] * control[ARRIVED] / numbers[ARRIVED_WEIGHT]


@kernel
def drop_path(search: Search) -> None:
    """Mark the end of the path, and draw another; after many, traverse from the start."""
    control = search.control
    search.histories.marked[search.stack.history[control[DEPTH]]] = control[STAMP]
    control[TRIES] += 1
    control[DIRECTED] = 1 if control[TRIES] < MOST_TRIES else 0
    go_to_start(search)


@kernel
def drawn_unmarked(search: Search, history: int) -> int:
    """The place of a child that is not marked, drawn by its share; -1 if all are marked."""
    histories, stamp = search.histories, search.control[STAMP]
    first, count = histories.first[history], histories.size[history]
    total = strategy_total(search, history)
    mass, last = 0.0, -1
    for at in range(count):
        if histories.marked[first + at] != stamp:
            mass += share(search, history, at, total)
            last = at
    if last < 0:
        return -1
    search.numbers[LIKELIHOOD] *= mass
    unit = random_unit(search.stream) * mass
    for at in range(last):
        if histories.marked[first + at] != stamp:
            unit -= share(search, history, at, total)
            if unit < 0.0:
                return int(at)
    return int(last)


@kernel
def strategy_total(search: Search, history: int) -> float:
    """The sum of the average strategy's weights where a player moves."""
    histories, total = search.histories, 0.0
    if histories.player[history] != CHANCE:
        first = search.sets.first[histories.place[history]]
        for at in range(histories.size[history]):
            total += search.actions.strategy[first + at]
    return total


@kernel
def share(search: Search, history: int, at: int, total: float) -> float:
    """The probability of a child by chance, or by the average strategy and some even play."""
    histories = search.histories
    if histories.player[history] == CHANCE:
        return float(histories.chance[histories.first[history] + at])
    even = 1.0 / histories.size[history]
    if total <= 0.0:
        return float(even)
    first = search.sets.first[histories.place[history]]
    average = search.actions.strategy[first + at] / total
    return float(OTHERS_EVEN * even + (1.0 - OTHERS_EVEN) * average)
