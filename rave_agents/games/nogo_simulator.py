"""Simulations of NoGo, compiled: a provider, see ``rave_agents.simulate.simulator``."""

import ctypes
import functools
import math
from typing import Any

import numba
import numpy as np

from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.compiler.progress import announced_compilation
from rave_agents.game.game_state import PlayerId
from rave_agents.games import nogo_rules as rules
from rave_agents.games.compiler import (
    CALLBACK,
    compiled_callback,
    pointer_to,
    rule,
)
from rave_agents.games.nogo_rules import INFO, PLAYER, ROWS, Board
from rave_agents.simulate.simulator import HEADER_LENGTH, Frame, Header, Status, Step

TERMINAL = int(PlayerId.TERMINAL)

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
PATH_CAPACITY = int(Header.PATH_CAPACITY)
ACTION_CAPACITY = int(Header.ACTION_CAPACITY)
MOVE_CAPACITY = int(Header.MOVE_CAPACITY)
CHECK_CHILDREN = int(Header.CHECK_CHILDREN)
NUM_WEIGHTS = int(Header.NUM_WEIGHTS)
STEP = int(Header.STEP)
REPLY = int(Header.REPLY)
TRY_REPLY = int(Step.TRY_REPLY)
PROVIDER = int(Header.PROVIDER)
BUFFERS = int(Header.PATH)
DONE, FRAME_FULL = int(Status.DONE), int(Status.FRAME_FULL)


ROOT, LEAF, PLAYOUT = 0, 1, 2
"""The boards of a provider: where the search is, where a path leads, where it is played on."""


@rule
def finish(board: Any, returns: Any, row: int) -> None:
    """Write the returns of a finished game: the player to move has lost."""
    loser = board[INFO, PLAYER]
    returns[row, loser] = -1.0
    returns[row, 1 - loser] = 1.0


@rule
def play_on(board: Any, frame: Any, end: int) -> int:
    """Play at random to the end; returns how many moves the frame then has, or -1 if it is full."""
    while True:
        cell = rules.draw_move(board, frame.action_weights, frame.playout_stream)
        if cell == rules.NO_CELL:
            return end
        if end == frame.move_players.shape[0]:
            return -1
        frame.move_players[end] = board[INFO, PLAYER]
        frame.move_actions[end] = rules.action_of(board, cell)
        rules.play(board, cell)
        end += 1


@rule
def check_children(board: Any, child: Any, frame: Any, count: int) -> None:
    """Write to the frame which actions end the game, and with what returns."""
    for index in range(count):
        rules.copy_board(board, child)
        rules.play(child, rules.cell_of(child, frame.actions[index]))
        frame.child_ends[index] = 0 if rules.has_move(child) else 1
        if frame.child_ends[index]:
            finish(child, frame.child_returns, index)


@rule
def try_reply(board: Any, child: Any, frame: Any) -> None:
    """Write to the frame after which of its actions the reply ends the game, and with what."""
    for index in range(frame.header[NUM_ACTIONS]):
        rules.copy_board(board, child)
        rules.play(child, rules.cell_of(child, frame.actions[index]))
        reply = rules.cell_of(child, frame.header[REPLY])
        frame.child_ends[index] = 0
        if rules.is_legal(child, child[INFO, PLAYER], reply):
            rules.play(child, reply)
            if not rules.has_move(child):
                frame.child_ends[index] = 1
                finish(child, frame.child_returns, index)


@rule
def simulate(boards: Any, frame: Any) -> int:
    """One simulation on the boards of a provider; returns its ``Status``."""
    header = frame.header
    leaf, playout = boards[LEAF], boards[PLAYOUT]
    rules.copy_board(boards[ROOT], leaf)
    for depth in range(header[PATH_LENGTH]):
        rules.play(leaf, rules.cell_of(leaf, frame.path[depth]))
    if header[STEP] == TRY_REPLY:
        try_reply(leaf, playout, frame)
        return DONE
    if not rules.has_move(leaf):
        header[LEAF_PLAYER] = TERMINAL
        header[NUM_ACTIONS] = 0
        header[NUM_PLAYOUTS] = 1
        frame.playout_ends[0] = 0
        finish(leaf, frame.returns, 0)
        return DONE
    header[LEAF_PLAYER] = leaf[INFO, PLAYER]
    if header[EXPAND]:
        count = rules.list_moves(leaf, frame.actions)
        header[NUM_ACTIONS] = count
        header[UNIFORM] = 1
        if count > frame.actions.shape[0]:
            header[REQUIRED_ACTIONS] = 2 * count
            return FRAME_FULL
        if header[CHECK_CHILDREN]:
            check_children(leaf, playout, frame, count)
    header[NUM_PLAYOUTS] = header[PLAYOUTS]
    end = 0
    for index in range(header[PLAYOUTS]):
        rules.copy_board(leaf, playout)
        end = play_on(playout, frame, end)
        if end < 0:
            points = leaf[INFO, rules.SIZE] * leaf[INFO, rules.SIZE]
            header[REQUIRED_MOVES] = points * header[PLAYOUTS]
            return FRAME_FULL
        frame.playout_ends[index] = end
        finish(playout, frame.returns, index)
    return DONE


def _entry(address: int) -> int:
    """``simulate`` as the loop calls it: compiled, it finds frame and boards by addresses alone."""
    header = numba.carray(pointer_to(address), (HEADER_LENGTH,), np.int64)
    at = header[BUFFERS:]
    players = 2
    actions = header[ACTION_CAPACITY]
    moves = header[MOVE_CAPACITY]
    playouts = header[PLAYOUTS]
    frame = Frame(
        header,
        numba.carray(pointer_to(at[0]), (header[PATH_CAPACITY],), np.int32),
        numba.carray(pointer_to(at[1]), (actions,), np.int32),
        numba.carray(pointer_to(at[2]), (actions,), np.float64),
        numba.carray(pointer_to(at[3]), (moves,), np.int32),
        numba.carray(pointer_to(at[4]), (moves,), np.int32),
        numba.carray(pointer_to(at[5]), (playouts,), np.int32),
        numba.carray(pointer_to(at[6]), (playouts, players), np.float64),
        numba.carray(pointer_to(at[7]), (4,), np.int64),
        numba.carray(pointer_to(at[8]), (actions,), np.int8),
        numba.carray(pointer_to(at[9]), (actions, players), np.float64),
        numba.carray(pointer_to(at[10]), (header[PATH_CAPACITY],), np.int32),
        numba.carray(pointer_to(at[11]), (players,), np.int32),
        numba.carray(pointer_to(at[12]), (players,), np.int32),
        numba.carray(pointer_to(at[13]), (players, header[NUM_WEIGHTS]), np.float64),
    )
    cells = numba.carray(pointer_to(header[PROVIDER]), (1,), np.int32)[0]
    boards = numba.carray(pointer_to(header[PROVIDER]), (3, ROWS, cells), np.int32)
    return simulate(boards, frame)


@functools.cache
def _compiled_entry() -> Any:
    return compiled_callback(_entry)


@functools.cache
def prepare() -> None:
    """Compile the rules, or load them from the cache, so that no search's clock pays for it."""
    if JIT_DISABLED:
        return
    with announced_compilation("NoGo's rules"):
        _compiled_entry()


class NoGoSimulator:
    """A provider of simulations of NoGo; see ``rave_agents.simulate.simulator.Simulator``.

    Args:
        board: the root position, copied.
        frame: the buffers shared with the loop.
    """

    outside_interpreter: bool = not JIT_DISABLED
    provider: str = "python" if JIT_DISABLED else "compiled rules"

    def __init__(self, board: Board, frame: Frame) -> None:
        self.deadline: float = math.inf  # No simulation takes long enough to be stopped half-way.
        self._boards = np.zeros((3, *board.shape), np.int32)
        self._boards[ROOT] = board
        if JIT_DISABLED:
            self._callback = CALLBACK(self._interpreted)
            self.address: int = ctypes.cast(self._callback, ctypes.c_void_p).value or 0
        else:
            self.address = int(_compiled_entry().address)
        self.bind(frame)

    def bind(self, frame: Frame) -> None:
        """Use this frame from now on."""
        self.frame = frame
        frame.header[Header.PROVIDER] = self._boards.ctypes.data

    def raise_pending(self) -> None:
        """Nothing fails in compiled code; interpreted, it is Ctrl-C."""
        raise KeyboardInterrupt

    def _interpreted(self, address: int) -> int:
        return int(simulate(self._boards, self.frame))
