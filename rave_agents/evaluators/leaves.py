"""Simulations in two halves: to a leaf that an evaluator judges, and from its answer to the end.

A waiting simulation keeps its path and the provider's description of the leaf, so each has its own
frame and path; the tree is shared. While it waits, its edges count one more visit with value 0, a
loss, so that other simulations avoid them (virtual loss; Chaslot, Winands & van den Herik 2008).

Chance nodes are not judged: they are expanded, and the simulation continues to a decision.
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
"""Rows of simulations without one in the batch: the answer was cached, or the game has ended."""

STEP, NEXT_ROW, FIRST_OBSERVATION, LOGITS = range(4)
COMMON_LENGTH = 4

SEEK, UNCOUNT, GO_ON, DROP = range(4)
"""Commands of ``advance``: run to a leaf; take back the virtual loss; continue with the answer;
drop the waiting simulation."""

NOT_WAITING, JUST_WAITING, COUNTED = range(3)

MOST_ENDS = 256
"""Simulations without evaluation after which Python checks the limits again."""

BEYOND = 2**31 - 2
"""Positions of a path beyond the tree have numbers from here downwards."""


class Answers(NamedTuple):
    """The rows of a batch, flat: the evaluator's input and its answer."""

    observations: Array
    """[rows, size] observations: the bits of float32 numbers as int32."""
    masks: Array
    """[rows, actions] int8, 1 for a legal action."""
    players: Array
    """[rows] the players to move."""
    policy: Array
    """[rows, actions] logits or probabilities; those of illegal actions are not read."""
    values: Array
    """[rows, players] expected returns from the position on, in the game's utilities."""
    common: Array
    """[COMMON_LENGTH] the command of ``advance``; the first free row; the address of the batch's
    first observation; 1 if the policy is logits."""


class LeafSearch(NamedTuple):
    """A search, with the frame and path of one of its simulations, and the batch it writes to."""

    search: Search
    answers: Answers
    cache: CacheArrays
    waiting: Array
    """[1] the number of waiting simulations of this tree."""
    control: Array
    """[CONTROL_LENGTH] the simulations at which to end; 1 for virtual losses; the state of this
    simulation (``NOT_WAITING`` ...); its first row, ``KNOWN`` or ``ENDED``; the position's key
    in the cache, two numbers."""


@entry("the search with an evaluator")
def advance(leaf: LeafSearch, number: int) -> int:
    """Carry out the command in ``common``. Returns a ``Status``."""
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
    """Simulations that take a step one after the other, called by compiled code."""

    functions: Array
    """[simulations] the address of each ``advance``, as a C function; 0 for none."""
    records: Array
    """[simulations] the address of its record."""
    expected: Array
    """[2] the status after which the next one follows; the status of the last one."""


@entry("the search with an evaluator")
def advance_all(table: StepTable, places: int) -> int:
    """Advance simulations from one place to before another, see ``from_to``.

    Returns the place of the first one with another status than expected or without a C function;
    else the end.
    """
    # An entry takes one number: two places of 32 bits.
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
    """Run simulations until one waits for an evaluation, and write its leaf to the batch.

    Returns ``PENDING`` for a waiting simulation, or if others must finish first; ``DONE`` at the
    limit, or after many simulations without evaluation; else the reason that ended the search.
    """
    search, control = leaf.search, leaf.control
    if leaf.waiting[0] > 0 and search.tree.used[NODE] == 0:
        return PENDING  # The root is not expanded yet: no other simulation can select.
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
    """Run a simulation, to its end or to a leaf that waits; or expand a chance node."""
    search, header, common = leaf.search, leaf.search.frame.header, leaf.answers.common
    width = 4 * header[OBSERVATION]
    # The provider writes the leaf's observation straight into the next row of the batch.
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
    """End a simulation at the end of a game. Returns a ``Status``."""
    # A return outside the scale widens it, and rescales all value sums. Visits that wait have no
    # value yet, so this one waits, too, until they have.
    if leaf.waiting[0] == 0 or not may_widen(leaf.search.utilities):
        return end_simulation(leaf.search)
    leaf.control[ROW] = ENDED
    return wait(leaf)


@kernel
def wait(leaf: LeafSearch) -> int:
    """Wait for an answer, or continue at once with a cached one. Returns a ``Status``."""
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
    """True if a simulation with a cached answer need not wait for the others.

    The root waits, since its noise is drawn with the answer; so does a simulation whose value could
    widen the scale while others wait, see ``end_or_wait``.
    """
    search = leaf.search
    return search.tree.used[NODE] > 0 and not (leaf.waiting[0] > 1 and may_widen(search.utilities))


@kernel
def is_answered(leaf: LeafSearch) -> bool:
    """Look up the leaf in the cache; if it is there, write its answer to the frame."""
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
    """Describe a leaf that gets no node; at chance nodes, draw outcomes until a player moves."""
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
    """The number of rows of the leaf: one for each player to move."""
    header = frame.header
    return int(header[codes.NUM_MOVERS]) if header[codes.PLAYER] == SIMULTANEOUS else 1


@kernel
def end_of(frame: Frame, index: int) -> int:
    """The place after the last action of a mover in the frame's list."""
    header = frame.header
    if header[codes.PLAYER] == SIMULTANEOUS:
        return int(frame.mover_ends[index])
    return int(header[codes.NUM_ACTIONS])


@kernel
def ask(leaf: LeafSearch) -> None:
    """Write the leaf's players and legal actions to the batch; its observations are there."""
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
    """Add visits (1, or -1 to take them back) to the path of a waiting simulation."""
    for index in range(depth):
        search.tree.node_visits[search.path.nodes[index]] += visits
        search.tree.edge_visits[search.path.edges[index]] += visits


@kernel
def uncount(leaf: LeafSearch) -> None:
    """Take back the virtual loss of a waiting simulation."""
    if leaf.control[WAITING] == COUNTED:
        count_waiting(leaf.search, int(leaf.search.frame.header[codes.PATH_LENGTH]), -1)
        leaf.control[WAITING] = JUST_WAITING


@kernel
def go_on(leaf: LeafSearch) -> int:
    """End a simulation with its answer. Returns a ``Status``."""
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
    """Write the leaf's priors and all players' returns to the frame and the cache."""
    row, control, cache = leaf.control[ROW], leaf.control, leaf.cache
    frame, answers, settings = leaf.search.frame, leaf.answers, leaf.search.settings
    players, rows, first = settings.num_players, rows_of(frame), 0
    for player in range(players):
        # With simultaneous moves each mover's own row has the value for this player.
        own = row
        for index in range(rows if rows > 1 else 0):
            if frame.movers[index] == player:
                own = row + index
        frame.returns[player] += frame.discount[0] * answers.values[own * players + player]
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
    # Subtracting the largest logit keeps exp() from overflowing; the softmax stays the same.
    for place in range(first, end):
        given = float(policy[policy_row + frame.actions[place]])
        weight = math.exp(given - most) if logits else given
        frame.probabilities[place] = weight
        total += weight
    for place in range(first, end):
        frame.probabilities[place] /= total


def new_control(*, virtual: bool) -> Array:
    """``LeafSearch.control`` of a new simulation."""
    control = np.zeros(CONTROL_LENGTH, np.int64)
    control[VIRTUAL] = virtual
    return control
