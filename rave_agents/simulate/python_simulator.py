"""Simulations of any GameState, by a ctypes callback into Python."""

import ctypes
import functools
import math
import struct
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.errors import GameError
from rave_agents.game import endless
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import joint_action
from rave_agents.game.utility_limits import (
    MOST_ACTIONS,
    MOST_LEGAL,
    UtilityLimits,
    utility_limits,
)
from rave_agents.simulate.action_numbers import ActionNumbers
from rave_agents.simulate.checked_answers import (
    CHANCE,
    SIMULTANEOUS,
    TERMINAL,
    checked_whole,
    not_whole,
)
from rave_agents.simulate.evaluator import Evaluator
from rave_agents.simulate.frame import CheckChildren, moves_played
from rave_agents.simulate.move_choice import MoveChoice
from rave_agents.simulate.python_callback import PythonCallback
from rave_agents.simulate.python_playouts import PythonPlayouts
from rave_agents.simulate.random_stream import RandomWords
from rave_agents.simulate.simulator import (
    DeadlinePassed,
    Frame,
    FrameTooSmall,
    Header,
    Status,
    Step,
)
from rave_agents.simulate.world_record import RecordedWorlds

# Looking up an enum member takes longer than the access that uses it.
PATH_LENGTH = int(Header.PATH_LENGTH)
EXPAND = int(Header.EXPAND)
PLAYOUTS = int(Header.PLAYOUTS)
PLAYER = int(Header.PLAYER)
NUM_ACTIONS = int(Header.NUM_ACTIONS)
UNIFORM = int(Header.UNIFORM)
NUM_MOVERS = int(Header.NUM_MOVERS)
NUM_WEIGHTS = int(Header.NUM_WEIGHTS)
CHOOSE = int(Header.CHOOSE)
OBSERVATION = int(Header.OBSERVATION)
NUM_PLAYOUTS = int(Header.NUM_PLAYOUTS)
REQUIRED_ACTIONS = int(Header.REQUIRED_ACTIONS)
REQUIRED_MOVES = int(Header.REQUIRED_MOVES)
ACTION_CAPACITY = int(Header.ACTION_CAPACITY)
MOVE_CAPACITY = int(Header.MOVE_CAPACITY)
CHECK_CHILDREN = int(Header.CHECK_CHILDREN)
STEP = int(Header.STEP)
VIEW = int(Header.VIEW)
REPLY = int(Header.REPLY)
IN_PYTHON = int(Header.IN_PYTHON)
STATUS = int(Header.STATUS)
TELL_KEYS = int(Header.TELL_KEYS)
KEY_TOLD = int(Header.KEY_TOLD)
FIRST_KEY = int(Header.FIRST_KEY)
WHOLE = int(Step.WHOLE)
BEGIN = int(Step.BEGIN)
ADVANCE = int(Step.ADVANCE)
TRY_REPLY = int(Step.TRY_REPLY)
JUDGE = int(CheckChildren.JUDGE)
DONE = int(Status.DONE)
STOPPED = int(Status.STOPPED)
FRAME_FULL = int(Status.FRAME_FULL)

OBSERVATIONS_ADDRESS = int(Header.PATH) + Frame._fields[1:].index("observations")


class PythonSimulator(PythonPlayouts):
    """A provider of simulations that calls a state's Python methods.

    ``root`` is cloned for each simulation and never changed. It may be any object with the methods
    of GameState that concern moves and returns. With an ``observer``, every simulation takes place
    in a world (a determinization) that the observer cannot tell from the root, see
    ``world_source``. A ``PositionValue`` in the evaluator's place cuts playouts. Subclasses replace
    ``playout`` or the checks where a framework offers something faster.

    An exception ends the loop, with the tree whole, and ``raise_pending`` raises it.
    """

    outside_interpreter = False

    key_of: Callable[[Any], tuple[int, int] | None] | None = None
    """Gives 128 bits of a state's key, or None; set where ``TELL_KEYS`` asks for them."""

    def __init__(
        self,
        root: Any,
        frame: Frame,
        *,
        num_distinct_actions: int,
        evaluator: Evaluator | None = None,
        observer: int | None = None,
    ) -> None:
        super().__init__(
            RandomWords(frame.playout_stream),
            self.stated_limits(root),
            num_distinct_actions,
            simultaneous=StateAbilities(root).apply_actions is not None,
            evaluator=evaluator,
        )
        self.root = root
        self.observer: int = 0 if observer is None else observer
        """The player with whose knowledge worlds must agree."""
        self.worlds: RecordedWorlds | None = None
        """The source of worlds, with the record of them; None without an observer."""
        self._world: Any = None
        self._playout_start = 0
        self._returns_row = struct.Struct(f"{self._num_players}d")
        self._callback = PythonCallback(self._answer, frame.header.data, STATUS)
        self.bind(frame)
        if observer is not None:
            self.worlds = self.world_source()
            self.worlds.moves_played = lambda: moves_played(self.frame)

    @property
    def address(self) -> int:
        """See ``Simulator``; another one after ``raise_pending``."""
        return self._callback.address

    def stated_limits(self, root: Any) -> UtilityLimits:
        """The root's own statement of players and utilities; a bare position has none."""
        if hasattr(root, "min_utility"):
            return utility_limits(root)
        return UtilityLimits.of(int(root.num_players()), -math.inf, math.inf, None)

    def bind(self, frame: Frame) -> None:
        """Use this frame from now on."""
        self.frame = frame
        # Items of a memoryview are read several times faster than those of an array.
        self._header = self._callback.memory = frame.header.data
        self._header[IN_PYTHON] = 1
        self._path = frame.path.data
        self._actions = frame.actions.data
        self._move_players = frame.move_players.data
        self._move_actions = frame.move_actions.data
        self._playout_ends = frame.playout_ends.data
        self._returns = frame.returns.data
        self._child_ends = frame.child_ends.data
        self._action_weights = frame.action_weights.data if self._header[NUM_WEIGHTS] > 0 else None

    def number_actions(self, numbers: ActionNumbers) -> None:
        """Exchange numbers with the search in place of actions from now on.

        If the search's tables lack room for one, ``simulate`` returns FRAME_FULL.
        """
        self._numbers = numbers
        self.most_outcome = MOST_ACTIONS

    def raise_pending(self) -> None:
        """Raise the exception that ended the last simulation, the very same object."""
        self._callback.raise_error()

    def _answer(self, header: int) -> int:
        try:
            return self._simulate()
        except DeadlinePassed:
            return STOPPED
        except FrameTooSmall:
            return FRAME_FULL

    def _simulate(self) -> int:
        header = self._header
        if time.perf_counter() > self.deadline:
            return STOPPED
        if header[STEP] != WHOLE:
            return self._take_step(header[STEP])
        # States are replayed from the root: a state for each node would take too much memory.
        state = self.leaf(self.actions_of(self._path[: header[PATH_LENGTH]].tolist()))
        player = state.current_player()
        try:
            header[PLAYER] = player
        except (TypeError, ValueError, OverflowError):
            raise self.refusal(player, ()) from None
        if player == TERMINAL:
            return self._finish(state)
        if header[EXPAND] and not self._list_actions(state, player):
            return FRAME_FULL
        if header[EXPAND] and header[TELL_KEYS]:
            self._write_key(state)
        if self._evaluator is not None:
            return self._give_returns(self.checked_values(state))
        return self._play(state)

    def _write_key(self, state: Any) -> None:
        """Write the key of a position, if it has one."""
        key = None if self.key_of is None else self.key_of(state)
        if key is not None:
            self._header[KEY_TOLD] = 1
            _WORDS.pack_into(self._header, 8 * FIRST_KEY, *key)

    def _take_step(self, step: int) -> int:
        """One step of a simulation, or a reply to try."""
        header = self._header
        if step == TRY_REPLY:
            return self._try_reply()
        if step == BEGIN:
            assert self.worlds is not None
            self._world = self.worlds()
        elif step == ADVANCE:
            (action,) = self.actions_of((self._path[header[PATH_LENGTH] - 1],))
            self._world.apply_action(action)
        else:
            return self._finish_world(self._world)
        state = self._world
        for _ in range(endless.LONGEST_GAME):
            if (player := state.current_player()) != CHANCE:
                break
            if time.perf_counter() > self.deadline:
                raise DeadlinePassed
            unit = self.words.unit()
            state.apply_action(self.drawn_outcome(state.chance_outcomes(), unit))
        else:
            raise endless.endless_game(endless.game_name(state), "A run of chance")
        try:
            header[PLAYER] = player
        except (TypeError, ValueError, OverflowError):
            raise self.refusal(player, ()) from None
        header[NUM_ACTIONS] = 0
        if player == TERMINAL:
            return DONE
        actions = self.checked_actions(player, state.legal_actions())
        # Nodes of a determinized search are information sets: the mover's view names the node.
        header[VIEW] = hash(self.view(state, player))
        return DONE if self._give_actions(actions, ()) else FRAME_FULL

    def _finish_world(self, state: Any) -> int:
        player = state.current_player()
        if player == TERMINAL:
            return self._finish(state)
        if self._priors is None:
            return self._play(state)
        if self._header[EXPAND] and not self._list_actions(state, player):
            return FRAME_FULL
        if self._evaluator is None:
            return self._play(state)
        return self._give_returns(self.checked_values(state))

    def world_source(self) -> RecordedWorlds:
        """The source of worlds: each call gives a new one."""
        source = self.root.worlds(self.observer, self.words.unit)
        return RecordedWorlds(source, method="function", key=world_key)

    def view(self, state: Any, player: int) -> Hashable:
        """A player's view."""
        seen: Hashable = state.view(player)
        return seen

    def root_view(self) -> int:
        """The number of what the observer sees at the root."""
        return hash(self.view(self.root, self.observer))

    def _finish(self, state: Any) -> int:
        self._header[NUM_ACTIONS] = 0
        return self._give_returns(self.checked_returns(state.returns()))

    def _give_returns(self, returns: Sequence[float]) -> int:
        """One vector of returns, and no moves."""
        self._header[NUM_PLAYOUTS] = 1
        self.frame.playout_ends[0] = 0
        self.frame.returns[0] = returns
        return DONE

    def _list_actions(self, state: Any, player: int) -> bool:
        actions: Sequence[int]
        probabilities: Sequence[float] = ()
        if player == SIMULTANEOUS:
            actions = self._list_movers(state)
        elif player == CHANCE:
            actions, probabilities = self.checked_outcomes(state.chance_outcomes())
        elif self._priors is not None:
            actions, probabilities = self.checked_prior(state)
        else:
            actions = self.checked_actions(player, state.legal_actions())
        if not self._give_actions(actions, probabilities):
            return False
        if self._header[CHECK_CHILDREN]:
            self._check_children(state, actions)
        return True

    def _give_actions(self, actions: Sequence[int], probabilities: Sequence[float]) -> bool:
        """Write the frame's list of actions; returns False if they do not fit."""
        count = len(actions)
        header = self._header
        header[NUM_ACTIONS] = count
        if count > header[ACTION_CAPACITY]:
            if count > MOST_LEGAL:  # No frame will ever hold so many.
                raise self.refusal(0, actions)
            header[REQUIRED_ACTIONS] = 2 * count  # Doubled, so that frames grow rarely.
            return False
        if self._numbers is not None:
            actions = self._numbers.of_position(checked_whole(actions))
            if self._numbers.overflows:
                return False
        try:
            _integers(count).pack_into(self._actions, 0, *actions)
        except struct.error:
            raise not_whole(actions) from None
        header[UNIFORM] = not probabilities
        if probabilities:
            self.frame.probabilities[:count] = probabilities
        return True

    def _list_movers(self, state: Any) -> Sequence[int]:
        """Write to the frame who moves; returns the actions of all of them, in their order."""
        movers = self.checked_movers(state)
        actions: list[int] = []
        for index, player in enumerate(movers):
            actions += self.checked_actions(player, state.legal_actions(player))
            self.frame.movers[index] = player
            self.frame.mover_ends[index] = len(actions)
        self._header[NUM_MOVERS] = len(movers)
        return actions

    def _check_children(self, state: Any, actions: Sequence[int]) -> None:
        """Write which actions end the game, their returns, and the values of the others."""
        for index, action in enumerate(actions):
            if time.perf_counter() > self.deadline:
                raise DeadlinePassed
            child = self.child(state, action)
            ends = bool(child.is_terminal())
            self._child_ends[index] = ends
            if ends:
                self.frame.child_returns[index] = self.checked_returns(child.returns())
            elif self._value is not None and self._header[CHECK_CHILDREN] == JUDGE:
                self.frame.child_returns[index] = self.cut_playout(child, 0)[2]

    def _try_reply(self) -> int:
        """Write after which of the frame's actions the reply ends the game, and the returns."""
        header = self._header
        state = self.leaf(self.actions_of(self._path[: header[PATH_LENGTH]].tolist()))
        player, (reply,) = header[PLAYER], self.actions_of((header[REPLY],))
        actions = self.actions_of(self._actions[: header[NUM_ACTIONS]].tolist())
        for index, action in enumerate(actions):
            if time.perf_counter() > self.deadline:
                raise DeadlinePassed
            child = self.child(state, action)
            self._child_ends[index] = False
            if child.current_player() != player or reply not in child.legal_actions():
                continue
            child.apply_action(reply)
            if child.is_terminal():
                self._child_ends[index] = True
                self.frame.child_returns[index] = self.checked_returns(child.returns())
        return DONE

    def child(self, state: Any, action: int) -> Any:
        """The position after an action."""
        child = state.clone()
        child.apply_action(action)
        return child

    def _policy(self) -> MoveChoice | None:
        header = self._header
        chooses = header[NUM_PLAYOUTS] > 0 and header[CHOOSE] != 0
        return MoveChoice(self.frame, self, self._playout_start) if chooses else None

    def _play(self, state: Any) -> int:
        header = self._header
        playouts = header[PLAYOUTS]
        header[NUM_PLAYOUTS] = playouts
        if playouts == 0:
            return self._show(state)
        capacity = header[MOVE_CAPACITY]
        end = 0
        for playout in range(playouts):
            self._playout_start = end
            # The last playout may consume the state itself.
            leaf = state.clone() if playout + 1 < playouts else state
            if self._value is None:
                players, actions, returns = self.playout(leaf)
            else:
                players, actions, returns = self.cut_playout(leaf, self._value.playout_moves)
            if self._numbers is not None:
                actions = self._numbers.of_playout(checked_whole(actions))
                if self._numbers.overflows:
                    return FRAME_FULL
            start = end
            end += len(actions)
            if end > capacity:
                # Extrapolated to all playouts, and doubled: the whole simulation is repeated.
                header[REQUIRED_MOVES] = 2 * end * playouts // (playout + 1)
                return FRAME_FULL
            self._move_players[start:end] = players
            try:
                _integers(end - start).pack_into(self._move_actions, 4 * start, *actions)
            except struct.error:
                raise not_whole(actions) from None
            self._playout_ends[playout] = end
            self._returns_row.pack_into(self._returns, playout * self._returns_row.size, *returns)
        return DONE

    def _show(self, state: Any) -> int:
        """Write the movers' observations, for an evaluator to judge the position later."""
        player = state.current_player()
        if player == CHANCE:
            return DONE
        simultaneous = player == SIMULTANEOUS
        movers = self.checked_movers(state) if simultaneous else (player,)
        rows = self.observations()
        for row, mover in zip(rows, movers, strict=False):
            seen = np.asarray(self.observation(state, mover), np.float32)
            if seen.size != row.size:
                raise GameError(
                    f"The observation of player {mover} has {seen.size} numbers, but there were "
                    f"{row.size} at the root: all of a game must have one size."
                )
            row[:] = seen.reshape(-1)
        so_far, self.frame.discount[0] = self.collected(state)
        self.frame.returns[0] = self.checked_rewards(so_far)
        return DONE

    def observations(self) -> NDArray[np.float32]:
        """The destination of observations: the frame's buffer, or the address in its header."""
        # With several leaves in flight, the search points the header to another row for each.
        header, buffer = self.frame.header, self.frame.observations
        address = int(header[OBSERVATIONS_ADDRESS])
        if address == buffer.ctypes.data:
            return buffer
        given = (ctypes.c_float * buffer.size).from_address(address)
        return np.ctypeslib.as_array(given).reshape(buffer.shape)

    def observation(self, state: Any, player: int) -> Any:
        """A player's observation, as an array."""
        return state.observation(player)

    def actions_of(self, numbers: Sequence[int]) -> Sequence[int]:
        """The actions behind the search's numbers."""
        return numbers if self._numbers is None else self._numbers.ids(numbers)

    def leaf(self, path: Sequence[int]) -> Any:
        """The position that a path of actions leads to."""
        state = self.root.clone()
        place = 0
        while place < len(path):
            if time.perf_counter() > self.deadline:
                raise DeadlinePassed
            if state.current_player() == SIMULTANEOUS:
                movers = self.checked_movers(state)
                actions = path[place : place + len(movers)]
                state.apply_actions(joint_action(movers, actions, self._num_players))
                place += len(movers)
            else:
                state.apply_action(path[place])
                place += 1
        return state


def world_key(world: Any) -> Hashable:
    """A world's identity: its ``position_key``; None without one."""
    key = StateAbilities(world).position_key
    return None if key is None else key()


_WORDS = struct.Struct("=QQ")
"""Two words of 64 bits."""


@functools.cache
def _integers(count: int) -> struct.Struct:
    """Packing of ``count`` C integers: the fastest way to write a list of actions to a buffer."""
    return struct.Struct(f"{count}i")
