"""``expand`` for any ``Rules``: a position's moves and the keys of the positions after them.

Written once, compiled for each game; see ``rave_agents.simulate.expansion`` for what it must do.
"""

from typing import Any, NamedTuple

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.game.utility_limits import CHANCE_ROUNDING
from rave_agents.games.kit.base_rules import CHANCE, TERMINAL
from rave_agents.games.kit.images import hash_images
from rave_agents.games.kit.memory import array_at, clear, copy_state, in_memory, states_at
from rave_agents.games.kit.position_hash import hash_record
from rave_agents.games.kit.refusals import (
    BAD_ACTION,
    BAD_CHANCE,
    BAD_COUNT,
    BAD_PLAYER,
    BAD_RETURNS,
    GUARD,
    NO_PLACE,
    refuse,
    wrong_place,
)
from rave_agents.simulate.evaluations import is_value
from rave_agents.simulate.expansion import (
    FORESEEN,
    HEADER_WORDS,
    MOST_CARRIER_WORDS,
    Answered,
    Place,
)

# Compiled code takes plain numbers as constants.
DEPTH, ACTION, PLAYER = int(Place.DEPTH), int(Place.ACTION), int(Place.PLAYER)
NUM_ACTIONS, COUNT_MOVES = int(Place.NUM_ACTIONS), int(Place.COUNT_MOVES)
REQUIRED_ACTIONS, PROVIDER = int(Place.REQUIRED_ACTIONS), int(Place.PROVIDER)
ACTION_CAPACITY, ADDRESSES = int(Place.ACTION_CAPACITY), int(Place.ACTIONS)
STACK, DEPTHS = int(Place.STACK), int(Place.DEPTHS)
CARRIER_WORDS, FORESEE = int(Place.CARRIER_WORDS), int(Place.FORESEE)
WEIGHTS, VALUES = int(Place.WEIGHTS), int(Place.VALUES)
FAILED, DONE, FULL = int(Answered.FAILED), int(Answered.DONE), int(Answered.FULL)


class Listing(NamedTuple):
    """The buffers of an ``Expansion`` and of the rules, under the same names."""

    header: Any
    actions: Any
    ends: Any
    returns: Any
    keys: Any
    moves: Any
    chances: Any
    movers: Any
    images: Any
    carriers: Any
    values: Any
    listed: Any
    """[list_room] where rules write legal actions."""
    probabilities: Any
    """[list_room] where rules write probabilities."""
    scratch: Any
    """[players] where rules write returns; ``GUARD`` numbers lie on either side."""
    sums: Any
    """[2 * images] where the keys of a position's images are added up."""
    cells: Any
    """[cells + judging_room] where rules describe a board; a value function keeps more behind."""
    room: Any
    """[foresight_room] where rules look for who wins."""
    weights: Any
    """[num_weights] the value function's own numbers."""


@kernel
def list_moves(rules: Any, state: Any, player: int, listing: Any) -> int:
    """List legal actions, or outcomes of chance, as the rules write them; returns how many.

    It is below 1 if that is refused.
    """
    header = listing.header
    if rules.may_meet_chance and player == CHANCE:
        count = rules.chance_outcomes(state, listing.listed, listing.probabilities)
    elif 0 <= player < rules.num_players:
        count = rules.legal_actions(state, listing.listed)
    else:
        return refuse(listing, BAD_PLAYER, player)
    if not 0 < count <= rules.max_actions:
        return refuse(listing, BAD_COUNT, count)
    if rules.is_checked:
        top = rules.num_outcomes if player == CHANCE else rules.num_distinct_actions
        place = wrong_place(listing.listed, count, top)
        if place != NO_PLACE:
            return refuse(listing, BAD_ACTION, listing.listed[place])
    if rules.may_meet_chance and player == CHANCE:
        total = 0.0
        for place in range(count):
            total += listing.probabilities[place]
            if not listing.probabilities[place] >= 0.0:
                return refuse(listing, BAD_CHANCE, 0)
        if not abs(total - 1.0) < CHANCE_ROUNDING:
            return refuse(listing, BAD_CHANCE, 0)
    header[NUM_ACTIONS] = count
    return count


@kernel
def write_end(rules: Any, state: Any, listing: Any, row: int) -> bool:
    """Write the returns of a game that is over; returns whether they are what the rules state."""
    players = rules.num_players
    clear(listing.scratch)
    rules.returns(state, listing.scratch)
    total, fine = 0.0, True
    for player in range(players):
        value = listing.scratch[player]
        fine = fine and is_value(value, rules.least_return, rules.greatest_return)
        total += value
        listing.returns[row * players + player] = value
    return fine and rules.least_total <= total <= rules.greatest_total


@kernel
def is_foreseen(rules: Any, state: Any, player: int, listing: Any, place: int) -> bool:
    """True if it is certain who wins after a player's action; writes how, and a carrier."""
    words, begin = listing.header[CARRIER_WORDS], place * rules.num_players
    carrier = listing.carriers[place * words : (place + 1) * words]
    moves = rules.foresee_end(state, player, carrier, listing.room)
    if moves == 0:
        return False
    winner = player if moves > 0 else 1 - player
    rules.write_winner(listing.returns[begin : begin + rules.num_players], winner)
    listing.moves[place] = abs(moves)
    return True


@kernel
def judge_child(rules: Any, child: Any, player: int, listing: Any, place: int) -> None:
    """Write what the player who moves after an action is to expect: 0 to 1."""
    clear(listing.scratch)
    rules.judge(child, listing.cells, listing.weights, listing.scratch)
    value = (listing.scratch[player] - rules.min_utility) / (rules.max_utility - rules.min_utility)
    # A value that is no number says nothing.
    listing.values[place] = 0.5 if np.isnan(value) else min(1.0, max(0.0, value))


@kernel
def look_at_child(rules: Any, states: Any, words: Any, listing: Any, place: int) -> bool:
    """Write what is known after an action; returns whether its returns are what is stated."""
    header = listing.header
    depth, player, count = header[DEPTH], header[PLAYER], header[NUM_ACTIONS]
    child = states[depth + 1]
    copy_state(states, depth, depth + 1)
    rules.play(child, np.int64(listing.actions[place]))
    next_player = rules.player(child)
    if next_player == TERMINAL:
        listing.ends[place] = 1
        return write_end(rules, child, listing, place)
    if (
        rules.foresees
        and header[FORESEE] != 0
        and is_foreseen(rules, child, player, listing, place)
    ):
        listing.ends[place] = FORESEEN
        return True
    listing.movers[place] = next_player
    write_key(rules, states, words, listing, depth + 1, 2 * place)
    if rules.is_judged and next_player >= 0:
        judge_child(rules, child, next_player, listing, place)
    if rules.placement:
        listing.moves[place] = max(1, count - 1)
    elif header[COUNT_MOVES] != 0:
        listing.moves[place] = max(1, list_moves(rules, child, next_player, listing))
        header[NUM_ACTIONS] = count
    return True


@kernel
def expand(rules: Any, states: Any, words: Any, listing: Any) -> int:
    """Expand a position; returns an ``Answered``.

    Args:
        rules: the rules.
        states: a record for each depth.
        words: the same memory as unsigned words.
        listing: the buffers.
    """
    header = listing.header
    depth = header[DEPTH]
    if depth > 0:
        copy_state(states, depth - 1, depth)
        rules.play(states[depth], np.int64(header[ACTION]))
    player = rules.player(states[depth])
    header[PLAYER] = player
    header[NUM_ACTIONS] = 0
    if player == TERMINAL:
        return DONE
    count = list_moves(rules, states[depth], player, listing)
    if count < 1:
        return FAILED
    if count > header[ACTION_CAPACITY]:
        header[REQUIRED_ACTIONS] = rules.max_actions
        return FULL
    for place in range(count):
        listing.actions[place] = listing.listed[place]
        listing.ends[place] = 0
        listing.moves[place] = 1
        if rules.may_meet_chance and player == CHANCE:
            listing.chances[place] = listing.probabilities[place]
    for place in range(count):
        if not look_at_child(rules, states, words, listing, place):
            refuse(listing, BAD_RETURNS, 0)
            return FAILED
    return DONE


@kernel
def write_key(rules: Any, states: Any, words: Any, listing: Any, depth: int, at: int) -> None:
    """Write the key of the position at a depth, which its images share, to two places."""
    if rules.num_images > 1:
        hash_images(rules, states[depth], listing, at)
    else:
        hash_record(rules, words, depth, listing.keys, at)


ROOT_KEY = -1
"""The depth at which the key of the root alone is asked for."""


@kernel
def answer(rules: Any, states: Any, words: Any, listing: Any) -> int:
    """Expand a position, or write the root's key, as the header says."""
    if listing.header[DEPTH] == ROOT_KEY:
        root: Any = np.int64(0)
        write_key(rules, states, words, listing, root, root)
        return DONE
    return expand(rules, states, words, listing)


def entry(rules: Any, address: int) -> int:
    """``answer`` as the solver calls it: it finds buffers and records by addresses alone."""
    header = array_at(address, HEADER_WORDS, np.int64)
    at = header[ADDRESSES:]
    room, capacity, players = rules.list_room, header[ACTION_CAPACITY], rules.num_players
    own = header[PROVIDER]
    cells = own + 16 * room + 16 * GUARD + 8 * players + 16 * rules.num_images
    num_cells = rules.num_board_cells + rules.judging_room
    listing = Listing(
        header,
        array_at(at[0], capacity, np.int32),
        array_at(at[1], capacity, np.int8),
        array_at(at[2], capacity * players, np.float64),
        array_at(at[3], 2 * capacity, np.uint64),
        array_at(at[4], capacity, np.int32),
        array_at(at[5], capacity, np.float64),
        array_at(at[6], capacity, np.int32),
        array_at(at[7], capacity, np.int8),
        array_at(at[8], MOST_CARRIER_WORDS * capacity, np.uint64),
        array_at(header[VALUES], capacity, np.float64),
        array_at(own + 8 * room, room, np.int32),
        array_at(own, room, np.float64),
        array_at(own + 16 * room + 8 * GUARD, players, np.float64),
        array_at(own + 16 * room + 16 * GUARD + 8 * players, 2 * rules.num_images, np.uint64),
        array_at(cells, num_cells, np.int8),
        array_at(cells + 8 * (num_cells // 8 + 1), rules.foresight_room, np.int16),
        array_at(header[WEIGHTS], rules.num_weights, np.float32),
    )
    stack = header[STACK]
    words = array_at(stack, header[DEPTHS] * (rules.record_bytes >> 3), np.uint64)
    return answer(rules, states_at(rules, stack), words, in_memory(listing))
