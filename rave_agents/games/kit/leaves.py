"""Positions that a path leads to: their actions, what their children are, how a game has ended."""

from typing import Any

import numpy as np

from rave_agents.compiler.dispatch import kernel
from rave_agents.games.kit.base_rules import CHANCE, TERMINAL
from rave_agents.games.kit.memory import LEAF, PLAYOUT, clear, copy_state
from rave_agents.games.kit.playouts import play_moves
from rave_agents.games.kit.refusals import (
    BAD_ACTION,
    BAD_CHANCE,
    BAD_COUNT,
    BAD_RETURNS,
    BAD_VALUE,
    NO_PLACE,
    TWICE,
    refuse,
    take_chances,
    take_numbers,
    wrong_place,
)
from rave_agents.games.kit.showing import show_board
from rave_agents.simulate.frame import CheckChildren, Header, Status

# Compiled code takes plain numbers as constants.
LEAF_PLAYER = int(Header.PLAYER)
NUM_ACTIONS = int(Header.NUM_ACTIONS)
NUM_PLAYOUTS = int(Header.NUM_PLAYOUTS)
UNIFORM = int(Header.UNIFORM)
REQUIRED_ACTIONS = int(Header.REQUIRED_ACTIONS)
CHECK_CHILDREN = int(Header.CHECK_CHILDREN)
REPLY = int(Header.REPLY)
EXPAND = int(Header.EXPAND)
PATH_LENGTH = int(Header.PATH_LENGTH)
FORESEE, FORESEEN = int(Header.FORESEE), int(Header.FORESEEN)
NOBODY = -1
"""No winner that is certain."""

MOST_MOVES = 127
"""The most that ``child_ends`` holds."""
JUDGE, OBSERVE = int(CheckChildren.JUDGE), int(CheckChildren.OBSERVE)
DONE, FRAME_FULL, FAILED = int(Status.DONE), int(Status.FRAME_FULL), int(Status.FAILED)


@kernel
def judge(rules: Any, state: Any, frame: Any, returns: Any, row: int) -> bool:
    """Write what each player has won or, while the game goes on, is to expect.

    Returns whether these are numbers within the utilities.
    """
    if not rules.is_judged or rules.player(state) == TERMINAL:
        return write_returns(rules, state, frame, returns, row)
    clear(frame.scratch)
    rules.judge(state, frame.cells, frame.weights, frame.scratch)
    return take_numbers(rules, frame, returns, row, BAD_VALUE)


@kernel
def write_returns(rules: Any, state: Any, frame: Any, returns: Any, row: int) -> bool:
    """Write what each player has won. Returns whether that is what the rules say of returns."""
    clear(frame.scratch)
    rules.returns(state, frame.scratch)
    return take_numbers(rules, frame, returns, row, BAD_RETURNS)


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
    if rules.may_meet_chance and player == CHANCE:
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
    if rules.may_meet_chance and player == CHANCE and not take_chances(probabilities, count, frame):
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
                elif rules.foresees and frame.header[FORESEE] != 0:
                    player = frame.header[LEAF_PLAYER]
                    moves = rules.foresee_end(child, player, frame.carrier, frame.room)
                    if moves > 0:
                        frame.child_ends[index] = min(1 + moves, MOST_MOVES)
                        write_winner(rules, frame, frame.child_returns, index, player)
    return True


@kernel
def take_winner(rules: Any, scratch: Any, player: int) -> None:
    """Write the returns of a game that a player wins to where rules write them."""
    clear(scratch)
    rules.write_winner(scratch, player)


@kernel
def write_winner(rules: Any, frame: Any, returns: Any, row: int, player: int) -> None:
    """Write the returns of a game that a player wins."""
    take_winner(rules, frame.scratch, player)
    for place in range(frame.scratch.shape[0]):
        returns[row, place] = frame.scratch[place]


@kernel
def foreseen_winner(rules: Any, state: Any, player: int, frame: Any) -> int:
    """The certain winner of a leaf where ``player`` is to move, if that is asked; or ``NOBODY``."""
    header = frame.header
    if not rules.foresees or header[FORESEE] == 0 or header[EXPAND] == 0:
        return NOBODY
    if header[PATH_LENGTH] == 0:  # A root needs its actions.
        return NOBODY
    moves = rules.foresee_end(state, 1 - player, frame.carrier, frame.room)
    header[FORESEEN] = abs(moves)
    if moves == 0:
        return NOBODY
    return 1 - player if moves > 0 else player


@kernel
def write_foreseen(rules: Any, winner: int, frame: Any) -> None:
    """Tell of a leaf that a player wins, as all playouts do.

    Playouts are made all the same, so that AMAF values come from as many moves as elsewhere.
    """
    header = frame.header
    header[NUM_ACTIONS] = 0
    if header[NUM_PLAYOUTS] == 0:
        header[NUM_PLAYOUTS] = 1
        frame.playout_ends[0] = 0
    for row in range(header[NUM_PLAYOUTS]):
        write_winner(rules, frame, frame.returns, row, winner)


@kernel
def finish(rules: Any, state: Any, frame: Any) -> int:
    """Give the returns of a game that is over at the leaf."""
    frame.header[NUM_ACTIONS] = 0
    frame.header[NUM_PLAYOUTS] = 1
    frame.playout_ends[0] = 0
    first: Any = np.int64(0)
    return DONE if write_returns(rules, state, frame, frame.returns, first) else FAILED
