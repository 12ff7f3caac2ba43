"""Simulations in two halves: to a leaf that an evaluator is to judge, and on with its answer.

What a simulation needs to go on, its path and what the provider said of the leaf, stays in its
frame and path. So each simulation that waits has a frame and a path of its own; the tree is shared.
While it waits, its edges count one visit more, with value 0, a loss: so that other simulations look
elsewhere (virtual loss; Chaslot, Winands & van den Herik 2008).

A chance node is not judged: it gets its node, and the simulation goes on to a player's position.
"""

import math
from typing import NamedTuple

import numpy as np

from rave_agents.compiler.arrays import NODE, Array
from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.entry import entry
from rave_agents.compiler.layout import call_address
from rave_agents.evaluators.cache import PLACES, CacheArrays, is_known, keep, key_of, read_known
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.loop import (
    begin_simulation,
    end_simulation,
    expand_leaf,
    has_room,
    ready,
)
from rave_agents.kernel.players import CHANCE, SIMULTANEOUS
from rave_agents.kernel.provider import call_provider
from rave_agents.kernel.search import Search
from rave_agents.kernel.tree import UNEXPANDED
from rave_agents.kernel.utilities import may_widen
from rave_agents.simulate.frame import Frame, Header, Status
from rave_agents.simulate.random_stream import random_unit

PENDING = int(Status.PENDING)
OBSERVATION = int(Header.OBSERVATION)
OBSERVATIONS_ADDRESS = int(Header.PATH) + Frame._fields[1:].index("observations")

LAST, VIRTUAL, WAITING, ROW, FIRST_KEY, SECOND_KEY = range(6)
CONTROL_LENGTH = 6

KNOWN, ENDED = -1, -2
"""The rows of simulations that need no answer: it was known, or the game has ended. All that they
need is in their frames."""

STEP, NEXT_ROW, FIRST_OBSERVATION, LOGITS = range(4)
COMMON_LENGTH = 4

SEEK, UNCOUNT, GO_ON, DROP = range(4)
"""Commands of ``advance``: run to a leaf; no longer count that it waits; go on with the answer;
drop the simulation that waits."""

NOT_WAITING, JUST_WAITING, COUNTED = range(3)

MOST_ENDS = 256
"""Simulations that need no evaluation after which Python looks at the limits again."""

BEYOND = 2**31 - 2
"""The positions of a path that leads out of the tree have numbers from here on downwards."""


class Answers(NamedTuple):
    """The rows of a batch, flat: what an evaluator is asked beside observations, and its answer."""

    observations: Array
    """[rows, size] what players observe: the bits of floating-point numbers as int32."""
    masks: Array
    """[rows, actions] int8, 1 for a legal action."""
    players: Array
    """[rows] who moves."""
    policy: Array
    """[rows, actions] logits or probabilities; those of illegal actions are not read."""
    values: Array
    """[rows, players] what each player may still expect, in the game's utilities."""
    common: Array
    """[COMMON_LENGTH] which step ``advance`` takes; the first row that is not in use; the address
    of the batch's first observation; whether the policy is logits."""


class LeafSearch(NamedTuple):
    """A search, with the frame and path of one of its simulations, and the batch it writes to."""

    search: Search
    answers: Answers
    cache: CacheArrays
    waiting: Array
    """[1] how many simulations of this tree wait."""
    control: Array
    """[CONTROL_LENGTH] the count of simulations at which to end; whether waiting simulations count
    as lost; whether this one waits, and counts; where its rows begin, or ``KNOWN``; what stands for
    the position in the cache, two numbers."""


@entry("the search with an evaluator")
def advance(leaf: LeafSearch, number: int) -> int:
    """Take the step that ``common`` says. Returns a ``Status``."""
    step = leaf.answers.common[STEP]
    if step == SEEK:
        return seek(leaf) if leaf.control[WAITING] == NOT_WAITING else PENDING
    if leaf.control[WAITING] == NOT_WAITING:
        return codes.DONE
    if step == GO_ON:
        return go_on(leaf)
    uncount(leaf)
    if step == DROP:
        leaf.control[WAITING] = NOT_WAITING
        leaf.waiting[0] -= 1
    return codes.DONE


class StepTable(NamedTuple):
    """The simulations that take a step one after the other, as compiled code calls them."""

    functions: Array
    """[simulations] the address of each one's ``advance``, as a C function; 0 for none."""
    records: Array
    """[simulations] the address of its record."""
    expected: Array
    """[2] the status with which the next one may follow; the status of the last one."""


@entry("the search with an evaluator")
def advance_all(table: StepTable, places: int) -> int:
    """Let simulations take their step, from one place to before another, see ``from_to``.

    Returns the place of the first that has another status than is expected, or has no C function,
    or the end.
    """
    for place in range(places >> 32, places & 0xFFFFFFFF):
        if table.functions[place] == 0:
            table.expected[1] = table.expected[0]
            return place
        status = call_address(table.functions[place], table.records[place])
        table.expected[1] = status
        if status != table.expected[0]:
            return place
    return places & 0xFFFFFFFF


def from_to(first: int, end: int) -> int:
    """Two places as one number."""
    return (first << 32) | end


@kernel
def seek(leaf: LeafSearch) -> int:
    """Run simulations until one waits for an evaluation, and write what is asked to the batch.

    Returns ``PENDING`` then, and if what waits already comes first; ``DONE`` if the limit is
    reached, or if many simulations needed no evaluation; else what ended the search.
    """
    search, control = leaf.search, leaf.control
    if leaf.waiting[0] > 0 and search.tree.used[NODE] == 0:
        return PENDING
    hooks.on_begin(search.proofs, search)
    for _ in range(MOST_ENDS):
        if search.path.simulations[0] + leaf.waiting[0] >= control[LAST]:
            return codes.DONE if leaf.waiting[0] == 0 else PENDING
        if leaf.waiting[0] > 0 and hooks.awaits_values(search.rule, search):
            return PENDING
        status = ready(search)
        if status == codes.DONE:
            status = seek_once(leaf)
        if status != codes.DONE:
            return status
    return codes.DONE


@kernel
def seek_once(leaf: LeafSearch) -> int:
    """One simulation, whole or to a leaf that waits; or one more chance node. Returns a Status."""
    search, header, common = leaf.search, leaf.search.frame.header, leaf.answers.common
    width = 4 * header[OBSERVATION]
    header[OBSERVATIONS_ADDRESS] = common[FIRST_OBSERVATION] + common[NEXT_ROW] * width
    status = begin_simulation(search)
    if status != codes.DONE:
        return status
    if header[codes.NUM_PLAYOUTS] != 0:
        return end_or_wait(leaf)
    depth = int(header[codes.PATH_LENGTH])
    if header[codes.STEP] == codes.WHOLE:
        if header[codes.EXPAND] != 0 and header[codes.PLAYER] == CHANCE:
            hooks.on_simulated(search.moves, search, depth)
            expand_leaf(search, depth)
            return codes.DONE
        if header[codes.EXPAND] == 0:
            status = describe_beyond(search, depth)
            header[codes.PATH_LENGTH] = depth
            if status != codes.DONE:
                return status
            if header[codes.NUM_PLAYOUTS] != 0:
                header[codes.EXPAND] = 0
                return end_or_wait(leaf)
    if not is_answered(leaf):
        ask(leaf)
    return wait(leaf)


@kernel
def end_or_wait(leaf: LeafSearch) -> int:
    """End a simulation at the end of a game, unless that would move values of visits without one.

    Returns a ``Status``.
    """
    if leaf.waiting[0] == 0 or not may_widen(leaf.search.utilities):
        return end_simulation(leaf.search)
    leaf.control[ROW] = ENDED
    return wait(leaf)


@kernel
def wait(leaf: LeafSearch) -> int:
    """Wait for an answer, or go on at once with one that is known. Returns a ``Status``."""
    search, control = leaf.search, leaf.control
    leaf.waiting[0] += 1
    control[WAITING] = JUST_WAITING
    if control[ROW] == KNOWN and may_go_on(leaf):
        return go_on(leaf)
    if control[VIRTUAL] != 0:
        count_waiting(search, int(search.frame.header[codes.PATH_LENGTH]), 1)
        control[WAITING] = COUNTED
    return PENDING


@kernel
def may_go_on(leaf: LeafSearch) -> bool:
    """True if a simulation whose answer is known need not wait for the others.

    The root does, since noise comes with it; and where a new scale would move the values of visits
    that have none yet.
    """
    search = leaf.search
    return search.tree.used[NODE] > 0 and not (leaf.waiting[0] > 1 and may_widen(search.utilities))


@kernel
def is_answered(leaf: LeafSearch) -> bool:
    """True if the evaluator has been asked the same before; then its answer is in the frame now."""
    frame, answers, cache, control = leaf.search.frame, leaf.answers, leaf.cache, leaf.control
    if cache.sizes[PLACES] == 0 or frame.header[codes.PLAYER] == SIMULTANEOUS:
        return False
    begin = answers.common[NEXT_ROW] * frame.header[OBSERVATION]
    first, second = key_of(cache, frame, answers.observations, begin)
    control[FIRST_KEY], control[SECOND_KEY] = first, second
    if not is_known(cache, first, second):
        return False
    read_known(cache, first, frame)
    control[ROW] = KNOWN
    return True


@kernel
def describe_beyond(search: Search, depth: int) -> int:
    """List the actions at a leaf that gets no node; where chance moves, those after an outcome."""
    frame, header = search.frame, search.frame.header
    header[codes.EXPAND] = 1
    while True:
        status = call_provider(search)
        if status != codes.DONE or header[codes.PLAYER] != CHANCE:
            return status
        if depth == header[codes.PATH_CAPACITY]:
            header[codes.PATH_LENGTH] = depth
            return codes.FRAME_FULL
        rest, place = random_unit(search.stream), 0
        while place + 1 < header[codes.NUM_ACTIONS]:
            rest -= frame.probabilities[place]
            if rest < 0.0:
                break
            place += 1
        frame.path[depth] = frame.actions[place]
        frame.path_nodes[depth] = BEYOND - depth
        depth += 1
        header[codes.PATH_LENGTH] = depth


@kernel
def rows_of(frame: Frame) -> int:
    """Number of players who move at the leaf, each of whom has a row."""
    header = frame.header
    return int(header[codes.NUM_MOVERS]) if header[codes.PLAYER] == SIMULTANEOUS else 1


@kernel
def end_of(frame: Frame, index: int) -> int:
    """One more than the place of the last of a mover's actions in the frame's list."""
    header = frame.header
    if header[codes.PLAYER] == SIMULTANEOUS:
        return int(frame.mover_ends[index])
    return int(header[codes.NUM_ACTIONS])


@kernel
def ask(leaf: LeafSearch) -> None:
    """Write who moves at the leaf, and what is legal there; observations are there already."""
    frame, answers = leaf.search.frame, leaf.answers
    row = answers.common[NEXT_ROW]
    actions = leaf.search.settings.num_actions
    rows, first = rows_of(frame), 0
    for index in range(rows):
        place, end = (row + index) * actions, end_of(frame, index)
        for action in range(actions):
            answers.masks[place + action] = 0
        for listed in range(first, end):
            answers.masks[place + frame.actions[listed]] = 1
        answers.players[row + index] = frame.header[codes.PLAYER]
        if frame.header[codes.PLAYER] == SIMULTANEOUS:
            answers.players[row + index] = frame.movers[index]
        first = end
    leaf.control[ROW] = row
    answers.common[NEXT_ROW] = row + rows


@kernel
def count_waiting(search: Search, depth: int, visits: int) -> None:
    """Add visits to the path of a simulation that waits, or take them back."""
    for index in range(depth):
        search.tree.node_visits[search.path.nodes[index]] += visits
        search.tree.edge_visits[search.path.edges[index]] += visits


@kernel
def uncount(leaf: LeafSearch) -> None:
    """A waiting simulation no longer counts as lost."""
    if leaf.control[WAITING] == COUNTED:
        count_waiting(leaf.search, int(leaf.search.frame.header[codes.PATH_LENGTH]), -1)
        leaf.control[WAITING] = JUST_WAITING


@kernel
def go_on(leaf: LeafSearch) -> int:
    """End a simulation with the answer to what it asked. Returns a ``Status``."""
    search, header = leaf.search, leaf.search.frame.header
    if search.settings.may_expand and not has_room(search):
        return codes.TREE_FULL
    depth = int(header[codes.PATH_LENGTH])
    uncount(leaf)
    leaf.control[WAITING] = NOT_WAITING
    leaf.waiting[0] -= 1
    found, _ = hooks.find_leaf(search.moves, search, depth)
    if found != UNEXPANDED:
        search.path.nodes[depth] = found  # Another simulation has added it meanwhile.
    if leaf.control[ROW] == ENDED:
        header[codes.EXPAND] = found == UNEXPANDED and header[codes.EXPAND] != 0
        return end_simulation(search)
    header[codes.EXPAND] = found == UNEXPANDED and (depth == 0 or search.settings.may_expand)
    header[codes.NUM_PLAYOUTS] = 1
    header[codes.UNIFORM] = 0
    search.frame.playout_ends[0] = 0
    if leaf.control[ROW] != KNOWN:
        read_answer(leaf)
    return end_simulation(search)


@kernel
def read_answer(leaf: LeafSearch) -> None:
    """Write the priors of the leaf's actions and all players' returns to the frame; keep them."""
    row, control, cache = leaf.control[ROW], leaf.control, leaf.cache
    frame, answers, settings = leaf.search.frame, leaf.answers, leaf.search.settings
    players, rows, first = settings.num_players, rows_of(frame), 0
    for player in range(players):
        told = row
        for index in range(rows if rows > 1 else 0):
            if frame.movers[index] == player:
                told = row + index
        frame.returns[player] += frame.discount[0] * answers.values[told * players + player]
    for index in range(rows):
        end = end_of(frame, index)
        write_priors(leaf, (row + index) * settings.num_actions, first, end)
        first = end
    if cache.sizes[PLACES] > 0 and frame.header[codes.PLAYER] != SIMULTANEOUS:
        keep(cache, control[FIRST_KEY], control[SECOND_KEY], frame, answers.values, row * players)


@kernel
def write_priors(leaf: LeafSearch, policy_row: int, first: int, end: int) -> None:
    """The probabilities of a player's legal actions, which sum to 1."""
    frame, policy = leaf.search.frame, leaf.answers.policy
    logits = leaf.answers.common[LOGITS] != 0
    most, total = -math.inf, 0.0
    for place in range(first, end):
        most = max(most, float(policy[policy_row + frame.actions[place]]))
    for place in range(first, end):
        given = float(policy[policy_row + frame.actions[place]])
        weight = math.exp(given - most) if logits else given
        frame.probabilities[place] = weight
        total += weight
    for place in range(first, end):
        frame.probabilities[place] /= total


def new_control(*, virtual: bool) -> Array:
    """The numbers beside a search, see ``LeafSearch.control``."""
    control = np.zeros(CONTROL_LENGTH, np.int64)
    control[VIRTUAL] = virtual
    return control
