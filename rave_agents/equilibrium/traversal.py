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
value. In large games a traversal may begin at the player's information set, see ``targeting.py``.
"""

from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.entry import entry
from rave_agents.equilibrium.histories import (
    go_down,
    go_to_start,
    index_sets,
    visit,
)
from rave_agents.equilibrium.records import (
    AVERAGE_WEIGHT,
    CHANCE,
    DEPTH,
    DIRECTED,
    DONE,
    ENTERED,
    ENTERING,
    FACTOR,
    FLOOR,
    FROZEN,
    GOES_ON,
    GROWN,
    HISTORIES,
    ITERATION,
    LAST,
    POOL_ROOM,
    REGRET_WEIGHT,
    STACK_FULL,
    STACK_ROOM,
    START,
    TERMINAL,
    TRAVERSER,
    UNVISITED,
    VALUE,
    Search,
)
from rave_agents.equilibrium.targeting import choose_direction, step_on_path
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
    go_to_start(search)
    choose_direction(search)


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
    if control[DEPTH] < control[FLOOR]:
        control[DEPTH] = -1
        end_traversal(search)


@kernel
def enter(search: Search) -> int:
    """Visit the history at the end of the path if it is new, and go on from there."""
    control, stack, histories = search.control, search.stack, search.histories
    depth = control[DEPTH]
    history = stack.history[depth]
    control[ENTERED] += 1
    if histories.player[history] == UNVISITED:
        status = visit(search, depth, history)
        if status != GOES_ON:
            return status
    return step_on_path(search) if control[DIRECTED] != 0 else descend(search)


@kernel
def descend(search: Search) -> int:
    """Take the value of the visited history at the end of the path, or go on to a child."""
    control, stack, histories = search.control, search.stack, search.histories
    depth = control[DEPTH]
    history = stack.history[depth]
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
    first, numbers = search.sets.first[place], search.numbers
    weight = numbers[AVERAGE_WEIGHT] * numbers[FACTOR]
    for at in range(search.sets.size[place]):
        search.actions.strategy[first + at] += weight * search.pool.strategy[begin + at]


@kernel
def add_regrets(search: Search, place: int, begin: int, value: float) -> None:
    """Add to the regrets of an information set what each action returned beyond ``value``."""
    actions, pool, numbers = search.actions, search.pool, search.numbers
    weight = numbers[REGRET_WEIGHT] * numbers[FACTOR]
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
