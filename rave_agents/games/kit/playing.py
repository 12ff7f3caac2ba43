"""``simulate`` for any ``Rules``: a path, its leaf (``leaves.py``) and playouts (``playouts.py``).

Written once, compiled for each game, with actions as 64-bit integers alone, so that no rule is
compiled twice; see ``rave_agents.simulate.simulator`` for what it must do.
"""

from typing import Any, NamedTuple

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.game.endless import LONGEST_GAME
from rave_agents.games.kit.base_rules import CHANCE, TERMINAL
from rave_agents.games.kit.leaves import (
    NOBODY,
    check_children,
    finish,
    foreseen_winner,
    judge,
    list_leaf,
    try_reply,
    write_foreseen,
)
from rave_agents.games.kit.memory import (
    LEAF,
    PLAYOUT,
    RECORDS,
    ROOT,
    array_at,
    copy_state,
    in_memory,
    states_at,
    table_at,
)
from rave_agents.games.kit.playouts import play_on
from rave_agents.games.kit.refusals import BAD_PLAYER, ENDLESS, GUARD, refuse
from rave_agents.games.kit.showing import show_playout
from rave_agents.simulate.frame import HEADER_LENGTH, Header, Status, Step

# Compiled code takes plain numbers as constants.
PATH_LENGTH = int(Header.PATH_LENGTH)
EXPAND = int(Header.EXPAND)
PLAYOUTS = int(Header.PLAYOUTS)
LEAF_PLAYER = int(Header.PLAYER)
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
PLAYOUT_MOVES = int(Header.PLAYOUT_MOVES)
PLAYOUT_START = int(Header.PLAYOUT_START)
WEIGHTS = int(Header.WEIGHTS)
STEP = int(Header.STEP)
TRY_REPLY = int(Step.TRY_REPLY)
PROVIDER = int(Header.PROVIDER)
BUFFERS = int(Header.PATH)
OBSERVATION, SAMPLES = int(Header.OBSERVATION), int(Header.SAMPLES)
DONE, FRAME_FULL, FAILED = int(Status.DONE), int(Status.FRAME_FULL), int(Status.FAILED)

MOVE_ROOT = 100
"""A step for the kit's own GameState: the path leads the root itself on, and it is described."""


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
    """[rows * columns of the board] where a value function, or who shows it, finds the cells, and
    ``judging_room`` behind them."""
    cells_after: Any
    """The same, of the board after a move."""
    weights: Any
    """The value function's, or the policy's, own numbers."""
    choices: Any
    states: Any
    """[RECORDS] the records."""
    replies: Any
    """A list for legal actions of a move that is tried."""
    carrier: Any
    """[carrier_words] the cells that a win for certain needs."""
    room: Any
    """[foresight_room] where rules look for who wins."""


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
    winner = foreseen_winner(rules, leaf, player, frame)
    if header[EXPAND] and winner == NOBODY:
        status = describe_leaf(rules, states, place, player, actions, probabilities, frame)
        if status != DONE:
            return status
    if header[STEP] == MOVE_ROOT:
        return DONE
    status = play_from_leaf(rules, states, actions, probabilities, frame)
    if winner != NOBODY:
        write_foreseen(rules, winner, frame)
    if rules.num_shown > 0 and status == DONE and header[SAMPLES] > 0:
        show_playout(rules, states, frame)
    return status


@kernel
def describe_leaf(
    rules: Any, states: Any, place: int, player: int, actions: Any, probabilities: Any, frame: Any
) -> int:
    """List the actions at a record, and what is asked of their children. Returns a ``Status``."""
    header = frame.header
    status = list_leaf(rules, states[place], player, actions, probabilities, frame)
    if status == DONE and header[CHECK_CHILDREN] != 0:
        fine = check_children(rules, states, actions, probabilities, frame)
        status = DONE if fine else FAILED
    if status == DONE and rules.gives_priors and player != CHANCE and header[STEP] != MOVE_ROOT:
        rules.give_priors(states, np.int64(player), frame)
        header[UNIFORM] = 0
    return status


def entry(rules: Any, address: int) -> int:
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
    cells = scratch + 8 * (players + GUARD)
    board = rules.num_board_cells + rules.judging_room
    foresight = cells + 8 * (2 * (board + GUARD) // 8 + 1)
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
        array_at(cells, board, np.int8),
        array_at(cells + board + GUARD, board, np.int8),
        array_at(header[WEIGHTS], rules.num_weights, np.float32),
        table_at(at[20], 2, actions, np.int32),
        states_at(rules, own),
        array_at(lists + 16 * room, room, np.int32),
        array_at(foresight, rules.carrier_words, np.uint64),
        array_at(foresight + 8 * rules.carrier_words, rules.foresight_room, np.int16),
    )
    return simulate(
        rules,
        states_at(rules, own),
        array_at(lists + 8 * room, room, np.int32),
        array_at(lists, room, np.float64),
        in_memory(frame),
    )
