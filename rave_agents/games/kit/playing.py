"""``simulate`` for any ``Rules``: paths, playouts, checks of children and replies.

Written once, compiled for each game, with actions as 64-bit integers alone, so that no rule is
compiled twice; see ``rave_agents.simulate.simulator`` for what it must do. It
draws what every provider draws that lists the legal actions and takes one, unless the game has a
``draw`` or ``playout`` of its own: so it grows the same trees.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.game.endless import LONGEST_GAME
from rave_agents.games.kit.base_rules import CHANCE, TERMINAL
from rave_agents.games.kit.choices import chosen_place
from rave_agents.games.kit.memory import array_at, copy_state, states_at, table_at
from rave_agents.games.kit.refusals import (
    BAD_ACTION,
    BAD_CHANCE,
    BAD_COUNT,
    BAD_PLAYER,
    BAD_PLAYOUT,
    BAD_RETURNS,
    BAD_VALUE,
    ENDLESS,
    GUARD,
    NO_PLACE,
    TWICE,
    refuse,
    take_chances,
    take_numbers,
    wrong_place,
)
from rave_agents.games.kit.showing import show_board, show_playout
from rave_agents.simulate.frame import HEADER_LENGTH, CheckChildren, Header, Status, Step
from rave_agents.simulate.random_stream import random_below, random_unit

# Compiled code takes plain numbers as constants.
PATH_LENGTH = int(Header.PATH_LENGTH)
EXPAND = int(Header.EXPAND)
PLAYOUTS = int(Header.PLAYOUTS)
LEAF_PLAYER = int(Header.PLAYER)
NUM_ACTIONS = int(Header.NUM_ACTIONS)
UNIFORM = int(Header.UNIFORM)
NUM_PLAYOUTS = int(Header.NUM_PLAYOUTS)
REQUIRED_ACTIONS = int(Header.REQUIRED_ACTIONS)
REQUIRED_MOVES = int(Header.REQUIRED_MOVES)
NUM_PLAYERS = int(Header.NUM_PLAYERS)
PATH_CAPACITY = int(Header.PATH_CAPACITY)
ACTION_CAPACITY = int(Header.ACTION_CAPACITY)
MOVE_CAPACITY = int(Header.MOVE_CAPACITY)
CHECK_CHILDREN = int(Header.CHECK_CHILDREN)
NUM_WEIGHTS = int(Header.NUM_WEIGHTS)
EVEN_WEIGHTS = int(Header.EVEN_WEIGHTS)
PLAYOUT_MOVES = int(Header.PLAYOUT_MOVES)
PLAYOUT_START = int(Header.PLAYOUT_START)
WEIGHTS = int(Header.WEIGHTS)
STEP = int(Header.STEP)
REPLY = int(Header.REPLY)
TRY_REPLY = int(Step.TRY_REPLY)
PROVIDER = int(Header.PROVIDER)
BUFFERS = int(Header.PATH)
JUDGE, OBSERVE = int(CheckChildren.JUDGE), int(CheckChildren.OBSERVE)
OBSERVATION, SAMPLES = int(Header.OBSERVATION), int(Header.SAMPLES)
DONE, FRAME_FULL, FAILED = int(Status.DONE), int(Status.FRAME_FULL), int(Status.FAILED)


MOVE_ROOT = 100
"""A step for the kit's own GameState: the path leads the root itself on, and it is described."""

ROOT, LEAF, PLAYOUT = 0, 1, 2
"""The records of a provider: where the search is, where a path leads, where it is played on; then
two where moves are tried, see ``choices.py``."""

RECORDS = 5


class Buffers(NamedTuple):
    """The fields of a ``Frame`` that playing uses, under the same names."""

    header: Any
    path: Any
    actions: Any
    probabilities: Any
    move_players: Any
    move_actions: Any
    playout_ends: Any
    returns: Any
    playout_stream: Any
    child_ends: Any
    child_returns: Any
    action_weights: Any
    child_observations: Any
    child_players: Any
    samples: Any
    sample_players: Any
    scratch: Any
    """[players] where rules and value functions write; ``GUARD`` numbers lie on either side."""
    cells: Any
    """[rows * columns of the board] where a value function, or who shows it, finds the cells."""
    weights: Any
    """The value function's own numbers."""
    choices: Any
    states: Any
    """[RECORDS] the records."""
    replies: Any
    """A list for legal actions of a move that is tried."""


@kernel
def judge(rules: Any, state: Any, frame: Any, returns: Any, row: int) -> bool:
    """Write what each player has won or, while the game goes on, is to expect.

    Returns whether these are numbers within the utilities.
    """
    if not rules.is_judged or rules.player(state) == TERMINAL:
        return write_returns(rules, state, frame, returns, row)
    for player in range(frame.scratch.shape[0]):
        frame.scratch[player] = 0.0
    rules.judge(state, frame.cells, frame.weights, frame.scratch)
    return take_numbers(rules, frame, returns, row, BAD_VALUE)


@kernel
def write_returns(rules: Any, state: Any, frame: Any, returns: Any, row: int) -> bool:
    """Write what each player has won. Returns whether that is what the rules say of returns."""
    for player in range(frame.scratch.shape[0]):
        frame.scratch[player] = 0.0
    rules.returns(state, frame.scratch)
    return take_numbers(rules, frame, returns, row, BAD_RETURNS)


@kernel
def outcome(actions: Any, probabilities: Any, count: int, stream: Any) -> Any:
    """An outcome of chance, drawn by the probabilities."""
    rest = random_unit(stream)
    for place in range(count):
        rest -= probabilities[place]
        if rest < 0.0:
            return actions[place]
    return actions[count - 1]


@kernel
def weight_of(rules: Any, weights: Any, action: int) -> float:
    """The weight of an action; 0 if there is no such action."""
    if not rules.is_checked or 0 <= action < weights.shape[0]:
        return weights[action]
    return 0.0


@kernel
def weighted_place(rules: Any, actions: Any, count: int, weights: Any, stream: Any) -> int:
    """The place of one of the actions, drawn in proportion to the weights."""
    total = 0.0
    for place in range(count):
        total += weight_of(rules, weights, actions[place])
    drawn = random_unit(stream) * total
    place = 0
    total = weight_of(rules, weights, actions[0])
    while total <= drawn and place + 1 < count:
        place += 1
        total += weight_of(rules, weights, actions[place])
    return place


@kernel
def draws_by_weights(frame: Any) -> bool:
    """True if playouts draw actions by their weights."""
    return frame.action_weights.shape[1] > 0 and frame.header[EVEN_WEIGHTS] == 0


@kernel
def draws_plainly(rules: Any, frame: Any) -> bool:
    """True if playouts draw actions with equal probabilities."""
    return not rules.is_chosen and not draws_by_weights(frame)


def drawn_place(rules: Any, actions: Any, count: int, player: int, frame: Any, end: int) -> int:
    """The place of one of the actions: uniformly, or by the frame's weights if there are any."""
    if draws_by_weights(frame):
        weights = frame.action_weights[player]
        return weighted_place(rules, actions, count, weights, frame.playout_stream)
    return random_below(frame.playout_stream, count)


def way_of_drawing(rules: Any) -> Callable[..., int]:
    """The function that draws the place of an action; only that is compiled."""
    return chosen_place if rules.is_chosen else drawn_place


def take_place(rules: Any, actions: Any, count: int, player: int, frame: Any, end: int) -> int:
    """The place of one of the actions, drawn or chosen by the search's policy.

    It is below 0 if that has failed.
    """
    return way_of_drawing(rules)(rules, actions, count, player, frame, end)


@kernel
def drawn_outcome(rules: Any, state: Any, actions: Any, probabilities: Any, frame: Any) -> Any:
    """An outcome of chance; what the rules break, which is below 0, if there is none."""
    if rules.chance_is_even:
        count = rules.even_outcomes(state)
    else:
        count = rules.chance_outcomes(state, actions, probabilities)
    if not 0 < count <= rules.max_actions:
        return refuse(frame, BAD_COUNT, count)
    if rules.chance_is_even:
        return random_below(frame.playout_stream, count)
    action = np.int64(outcome(actions, probabilities, count, frame.playout_stream))
    return action if 0 <= action < rules.num_outcomes else refuse(frame, BAD_ACTION, action)


@kernel
def drawn_action(rules: Any, state: Any, player: int, actions: Any, frame: Any, end: int) -> Any:
    """A player's action; what the rules break, which is below 0, if there is none."""
    if not 0 <= player < rules.num_players:
        return refuse(frame, BAD_PLAYER, player)
    if rules.draws_itself and (draws_plainly(rules, frame) or rules.knows_better(state)):
        action = rules.draw(state, frame.playout_stream)
    else:
        count = rules.legal_actions(state, actions)
        if not 0 < count <= rules.max_actions:
            return refuse(frame, BAD_COUNT, count)
        place = take_place(rules, actions, count, player, frame, end)
        if place < 0:
            return place
        action = np.int64(actions[place])
    fits = 0 <= action < rules.num_distinct_actions
    return action if fits else refuse(frame, BAD_ACTION, action)


def draw_on(
    rules: Any, state: Any, actions: Any, probabilities: Any, frame: Any, end: int, last: int
) -> int:
    """``play_on`` move by move."""
    outcomes = 0
    while True:
        player = rules.player(state)
        if player == TERMINAL:
            return end
        if player == CHANCE:
            outcomes += 1
            if outcomes > LONGEST_GAME:
                return refuse(frame, ENDLESS, outcomes)
            action = drawn_outcome(rules, state, actions, probabilities, frame)
            if action < 0:
                return action
        else:
            if end == last:
                return end
            if end == frame.move_players.shape[0]:
                return -1
            action = drawn_action(rules, state, player, actions, frame, end)
            if action < 0:
                return action
            frame.move_players[end] = player
            frame.move_actions[end] = action
            end += 1
        rules.play(state, action)


def place_on(
    rules: Any, state: Any, actions: Any, probabilities: Any, frame: Any, end: int, last: int
) -> int:
    """``play_on`` where a list of actions shrinks; it stays in order, as others draw from it."""
    count = 0
    while True:
        player = rules.player(state)
        if player == TERMINAL or end == last:
            return end
        if end == frame.move_players.shape[0]:
            return -1
        if rules.is_checked and not 0 <= player < rules.num_players:
            return refuse(frame, BAD_PLAYER, player)
        if count == 0:
            count = rules.legal_actions(state, actions)
            if not 0 < count <= rules.max_actions:
                return refuse(frame, BAD_COUNT, count)
        place = take_place(rules, actions, count, player, frame, end)
        if place < 0:
            return place
        action = np.int64(actions[place])
        if rules.is_checked and not 0 <= action < rules.num_distinct_actions:
            return refuse(frame, BAD_ACTION, action)
        count -= 1
        for later in range(place, count):
            actions[later] = actions[later + 1]
        frame.move_players[end] = player
        frame.move_actions[end] = action
        end += 1
        rules.play(state, action)


def play_itself(
    rules: Any, state: Any, actions: Any, probabilities: Any, frame: Any, end: int, last: int
) -> int:
    """``play_on`` by the game's own ``playout``, unless a policy draws or it is cut."""
    if not draws_plainly(rules, frame) or last >= 0:
        return play_moves(rules, state, actions, probabilities, frame, end, last)
    players, moves, begin = frame.move_players, frame.move_actions, end
    end = rules.playout(state, players, moves, end, frame.playout_stream)
    if end == -1 or not rules.is_checked:
        return end
    if not begin <= end <= players.shape[0]:
        return refuse(frame, BAD_PLAYOUT, end)
    signs, last_player, last_action = 0, 0, 0
    for place in range(max(begin, 0), end):  # So that the compiler knows that it is not below 0.
        signs |= players[place] | moves[place]
        last_player = max(last_player, players[place])
        last_action = max(last_action, moves[place])
    if signs < 0 or last_player >= rules.num_players:
        return refuse(frame, BAD_PLAYER, last_player)
    if last_action >= rules.num_distinct_actions:
        return refuse(frame, BAD_ACTION, last_action)
    return end


def way_of_moves(rules: Any) -> Callable[..., int]:
    """The function that plays moves one after the other; only this one is compiled."""
    return place_on if rules.placement else draw_on


def way_of_playouts(rules: Any) -> Callable[..., int]:
    """The function that plays playouts; only this one is compiled."""
    return play_itself if rules.plays_itself else way_of_moves(rules)


def play_moves(
    rules: Any, state: Any, actions: Any, probabilities: Any, frame: Any, end: int, last: int
) -> int:
    """Play at random to the end, or to the frame's move ``last``, move by move."""
    return way_of_moves(rules)(rules, state, actions, probabilities, frame, end, last)


def play_on(
    rules: Any, state: Any, actions: Any, probabilities: Any, frame: Any, end: int, last: int
) -> int:
    """Play at random to the end, or until the frame has ``last`` moves and a player is to move.

    Returns how many moves the frame then has, or -1 if it is full, or what the rules break. With -1
    for ``last`` it goes on to the end.
    """
    return way_of_playouts(rules)(rules, state, actions, probabilities, frame, end, last)


@kernel
def list_leaf(
    rules: Any, state: Any, player: int, actions: Any, probabilities: Any, frame: Any
) -> int:
    """List a position's actions, or outcomes of chance, in the frame. Returns a ``Status``."""
    header = frame.header
    if frame.actions.shape[0] < rules.max_actions:
        header[REQUIRED_ACTIONS] = rules.max_actions
        return FRAME_FULL
    header[UNIFORM] = player != CHANCE
    top = rules.num_distinct_actions
    if player == CHANCE:
        top = rules.num_outcomes
        count = rules.chance_outcomes(state, actions, probabilities)
    else:
        count = rules.legal_actions(state, actions)
    header[NUM_ACTIONS] = count
    if not 0 < count <= rules.max_actions:
        refuse(frame, BAD_COUNT, count)
        return FAILED
    place = wrong_place(actions, count, top) if rules.is_checked else NO_PLACE
    if place != NO_PLACE:
        refuse(frame, TWICE if 0 <= actions[place] < top else BAD_ACTION, actions[place])
        return FAILED
    for place in range(count):
        frame.actions[place] = actions[place]
    if player == CHANCE and not take_chances(probabilities, count, frame):
        refuse(frame, BAD_CHANCE, 0)
        return FAILED
    return DONE


@kernel
def check_children(rules: Any, states: Any, actions: Any, probabilities: Any, frame: Any) -> bool:
    """Tell which actions end the game, and with what returns; judge or show the others if asked to.

    Returns whether all returns and values are what the rules say of them.
    """
    child = states[PLAYOUT]
    for index in range(frame.header[NUM_ACTIONS]):
        copy_state(states, LEAF, PLAYOUT)
        rules.play(child, np.int64(frame.actions[index]))
        frame.child_ends[index] = 0
        if rules.player(child) == TERMINAL:
            frame.child_ends[index] = 1
            if not write_returns(rules, child, frame, frame.child_returns, index):
                return False
        elif rules.is_judged and frame.header[CHECK_CHILDREN] == JUDGE:
            first: Any = np.int64(0)
            # Chance alone.
            if play_moves(rules, child, actions, probabilities, frame, first, first) < 0:
                return False
            if not judge(rules, child, frame, frame.child_returns, index):
                return False
        elif rules.num_shown > 0 and frame.header[CHECK_CHILDREN] == OBSERVE:
            frame.child_players[index] = rules.player(child)
            show_board(rules, child, frame.cells, frame.child_observations, index)
    return True


@kernel
def try_reply(rules: Any, states: Any, actions: Any, frame: Any) -> bool:
    """Tell which of the frame's actions the reply may answer, and so ends the game, and how.

    Returns whether counts and returns are what the rules say of them.
    """
    child = states[PLAYOUT]
    reply = frame.header[REPLY]
    for index in range(frame.header[NUM_ACTIONS]):
        copy_state(states, LEAF, PLAYOUT)
        rules.play(child, np.int64(frame.actions[index]))
        frame.child_ends[index] = 0
        if rules.player(child) == frame.header[LEAF_PLAYER]:
            legal = False
            count = rules.legal_actions(child, actions)
            if not 0 < count <= rules.max_actions:
                refuse(frame, BAD_COUNT, count)
                return False
            for place in range(count):
                legal = legal or actions[place] == reply
            if legal:
                rules.play(child, reply)
                if rules.player(child) == TERMINAL:
                    frame.child_ends[index] = 1
                    if not write_returns(rules, child, frame, frame.child_returns, index):
                        return False
    return True


@kernel
def finish(rules: Any, state: Any, frame: Any) -> int:
    """Give the returns of a game that is over at the leaf."""
    frame.header[NUM_ACTIONS] = 0
    frame.header[NUM_PLAYOUTS] = 1
    frame.playout_ends[0] = 0
    first: Any = np.int64(0)
    return DONE if write_returns(rules, state, frame, frame.returns, first) else FAILED


@kernel
def play_from_leaf(rules: Any, states: Any, actions: Any, probabilities: Any, frame: Any) -> int:
    """The playouts of a simulation; returns its ``Status``."""
    header, playout = frame.header, states[PLAYOUT]
    header[NUM_PLAYOUTS] = header[PLAYOUTS]
    if rules.is_chosen and header[ACTION_CAPACITY] < rules.max_actions:
        header[REQUIRED_ACTIONS] = rules.max_actions
        return FRAME_FULL
    end = 0
    for index in range(header[PLAYOUTS]):
        copy_state(states, LEAF, PLAYOUT)
        header[PLAYOUT_START] = end
        room = header[MOVE_CAPACITY] - end
        last = end + header[PLAYOUT_MOVES] if header[PLAYOUT_MOVES] >= 0 else -1
        end = play_on(rules, playout, actions, probabilities, frame, end, last)
        if end < 0:
            if end != -1:
                return FAILED
            if room >= LONGEST_GAME:
                refuse(frame, ENDLESS, room)
                return FAILED
            longest = max(2 * header[MOVE_CAPACITY], rules.max_game_length * header[PLAYOUTS])
            header[REQUIRED_MOVES] = longest
            return FRAME_FULL
        frame.playout_ends[index] = end
        if not judge(rules, playout, frame, frame.returns, index):
            return FAILED
    return DONE


@kernel
def simulate(rules: Any, states: Any, actions: Any, probabilities: Any, frame: Any) -> int:
    """One simulation, or another step, on the records of a provider; returns its ``Status``."""
    header = frame.header
    place = LEAF
    if header[STEP] == MOVE_ROOT:
        place = ROOT
    else:
        copy_state(states, ROOT, LEAF)
    leaf = states[place]
    for depth in range(header[PATH_LENGTH]):
        rules.play(leaf, np.int64(frame.path[depth]))
    if header[STEP] == TRY_REPLY:
        return DONE if try_reply(rules, states, actions, frame) else FAILED
    player = rules.player(leaf)
    header[LEAF_PLAYER] = player
    if player == TERMINAL:
        return finish(rules, leaf, frame)
    if player != CHANCE and not 0 <= player < rules.num_players:
        refuse(frame, BAD_PLAYER, player)
        return FAILED
    if header[EXPAND]:
        status = list_leaf(rules, leaf, player, actions, probabilities, frame)
        if status == DONE and header[CHECK_CHILDREN] != 0:
            fine = check_children(rules, states, actions, probabilities, frame)
            status = DONE if fine else FAILED
        if status != DONE:
            return status
    if header[STEP] == MOVE_ROOT:
        return DONE
    status = play_from_leaf(rules, states, actions, probabilities, frame)
    if rules.num_shown > 0 and status == DONE and header[SAMPLES] > 0:
        show_playout(rules, states, frame)
    return status


def simulate_at(rules: Any, address: int) -> int:
    """``simulate`` as the loop calls it: it finds frame and records by addresses alone."""
    header = array_at(address, HEADER_LENGTH, np.int64)
    at = header[BUFFERS:]
    players = header[NUM_PLAYERS]
    actions, moves = header[ACTION_CAPACITY], header[MOVE_CAPACITY]
    playouts = header[PLAYOUTS]
    shown, samples = header[OBSERVATION], header[SAMPLES]
    own = header[PROVIDER]
    lists = own + RECORDS * rules.record_bytes
    room = rules.list_room
    scratch = lists + 24 * room + 8 * GUARD
    frame = Buffers(
        header,
        array_at(at[0], header[PATH_CAPACITY], np.int32),
        array_at(at[1], actions, np.int32),
        array_at(at[2], actions, np.float64),
        array_at(at[3], moves, np.int32),
        array_at(at[4], moves, np.int32),
        array_at(at[5], playouts, np.int32),
        table_at(at[6], playouts, players, np.float64),
        array_at(at[7], 4, np.int64),
        array_at(at[8], actions, np.int8),
        table_at(at[9], actions, players, np.float64),
        table_at(at[13], players, header[NUM_WEIGHTS], np.float64),
        table_at(at[16], actions, shown, np.float32),
        array_at(at[17], actions, np.int32),
        table_at(at[18], samples, shown, np.float32),
        array_at(at[19], samples, np.int32),
        array_at(scratch, players, np.float64),
        array_at(scratch + 8 * (players + GUARD), rules.num_board_cells, np.int8),
        array_at(header[WEIGHTS], rules.num_weights, np.float32),
        table_at(at[20], 2, actions, np.int32),
        states_at(rules, own),
        array_at(lists + 16 * room, room, np.int32),
    )
    return simulate(
        rules,
        states_at(rules, own),
        array_at(lists + 8 * room, room, np.int32),
        array_at(lists, room, np.float64),
        frame,
    )
