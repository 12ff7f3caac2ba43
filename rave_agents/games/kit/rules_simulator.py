"""The provider of simulations of ``Rules``; see ``rave_agents.simulate.simulator``."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.errors import GameError
from rave_agents.game.endless import endless_game
from rave_agents.game.game_state import compiled_form
from rave_agents.games.kit import keyed_playing, machine, playing
from rave_agents.games.kit.base_rules import NO_ACTION, BaseRules
from rave_agents.games.kit.choices import chosen_rules
from rave_agents.games.kit.memory import RECORDS, ROOT
from rave_agents.games.kit.playing import MOVE_ROOT, Buffers
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
    TWICE,
)
from rave_agents.simulate.frame import Frame, Header, Status, Step
from rave_agents.simulate.python_callback import PythonCallback
from rave_agents.simulate.simulator import simulated

# Plain numbers: members of enumerations take three times as long as indices.
_STEP, _EXPAND, _WHOLE = int(Header.STEP), int(Header.EXPAND), int(Step.WHOLE)
_CHECK_CHILDREN = int(Header.CHECK_CHILDREN)
_FORESEE, _FORESEEN = int(Header.FORESEE), int(Header.FORESEEN)
_PATH_LENGTH, _LAST_ACTION = int(Header.PATH_LENGTH), int(Header.LAST_ACTION)
_PLAYER, _NUM_ACTIONS, _DONE = int(Header.PLAYER), int(Header.NUM_ACTIONS), int(Status.DONE)


class RulesSimulator:
    """A provider of simulations by compiled rules; interpreted with ``NUMBA_DISABLE_JIT=1``.

    Args:
        rules: the rules.
        root: the position, a record of shape [1], copied.
        frame: the buffers shared with the loop.
        last_action: the move that has led to the root.
        weights: the own numbers of the value function, or of the policy, if it has any.
        interpreted: whether the rules run as plain Python.
    """

    def __init__(
        self,
        rules: BaseRules,
        root: NDArray[Any],
        frame: Frame,
        *,
        last_action: int = NO_ACTION,
        weights: NDArray[np.float32] | None = None,
        interpreted: bool = JIT_DISABLED,
    ) -> None:
        self.outside_interpreter: bool = not interpreted
        self.provider: str = "interpreted rules" if interpreted else "compiled rules"
        self.deadline: float = math.inf  # No simulation takes long enough to be stopped half-way.
        self.is_sensible = False
        """True if playouts follow patterns that the rules know."""
        self.rules = rules = chosen_rules(rules) if frame.header[Header.CHOOSE] else rules
        self.last_action: int = last_action
        """The move that has led to the root; ``NO_ACTION`` if there is none, or it is unknown."""
        self._most_moves = max(rules.num_distinct_actions, rules.num_outcomes)
        own, room, players = RECORDS * rules.record_bytes, rules.list_room, rules.num_players
        # Words, so that each record and list begins at a whole one.
        words = own // 8 + 3 * room + players + 2 * GUARD
        board = rules.num_board_cells + rules.judging_room + GUARD
        foresight = words + 2 * board // 8 + 1
        ends = foresight + rules.carrier_words
        self._memory = np.zeros(ends + rules.foresight_room // 4 + 1, np.int64)
        memory = self._memory.view(np.uint8)
        size = rules.record.itemsize
        self._states = memory[: RECORDS * size].view(rules.record)
        lists = memory[own:]
        self._probabilities = lists[: 8 * room].view(np.float64)
        self._actions = lists[8 * room : 12 * room].view(np.int32)
        self._replies = lists[16 * room : 20 * room].view(np.int32)
        self._scratch = lists[24 * room + 8 * GUARD :][: 8 * players].view(np.float64)
        boards = memory[8 * words :].view(np.int8)
        self._cells, self._cells_after = (
            boards[first : first + board - GUARD] for first in (0, board)
        )
        self._carrier = self._memory[foresight:ends].view(np.uint64)
        self._room = self._memory[ends:].view(np.int16)[: rules.foresight_room]
        self._weights = np.zeros(0, np.float32) if weights is None else weights
        self._states[ROOT] = root[0]
        self.tells_keys = bool(frame.header[Header.TELL_KEYS])
        self._callback: PythonCallback | None = None
        if interpreted:
            self._callback = PythonCallback(self._interpreted, frame.header.data, Header.STATUS)
        self.kit = keyed_playing if self.tells_keys else playing
        """The module that plays the rules: with keys of positions, or without."""
        self._compiled_address = 0 if interpreted else machine.loaded(rules, self.kit).address
        self.bind(frame)

    @property
    def root(self) -> NDArray[Any]:
        """The position, a record of shape [1]."""
        return self._states[ROOT : ROOT + 1]

    @property
    def address(self) -> int:
        """See ``Simulator``."""
        return self._compiled_address if self._callback is None else self._callback.address

    def bind(self, frame: Frame) -> None:
        """Use this frame from now on."""
        self.frame = frame
        frame.header[Header.PROVIDER] = self._memory.ctypes.data
        frame.header[Header.WEIGHTS] = self._weights.ctypes.data
        frame.header[Header.LAST_ACTION] = self.last_action
        if self._callback is not None:
            self._callback.memory = frame.header.data
            frame.header[Header.IN_PYTHON] = 1
        named = {name: frame._asdict().get(name) for name in Buffers._fields}
        own = {"scratch": self._scratch, "cells": self._cells, "weights": self._weights}
        own |= {"cells_after": self._cells_after}
        own |= {"states": self._states.view(np.recarray), "replies": self._replies}
        own |= {"carrier": self._carrier, "room": self._room}
        self._buffers = Buffers(**named | own)

    def make_sensible(self) -> None:
        """Leave out moves that make no sense in playouts, see ``Rules.make_sensible``."""
        self.rules.make_sensible(self.root.view(np.recarray)[0])
        self.is_sensible = type(self.rules).make_sensible is not BaseRules.make_sensible

    def set_root(self, root: Any, moves: Sequence[int] | None = None) -> bool:
        """Go on to another position of the same game.

        Args:
            root: the position, a GameState.
            moves: the moves from the last root to this one, which are played; None if they are not
                known or there are none: then the record is that of ``root`` on compiled rules.

        Returns:
            Whether the same player and legal actions are reached there as ``root`` has. Otherwise a
            new provider is to be made.
        """
        if moves is None:
            found = compiled_form(root)
            if found is not None:
                self.begin_at(found.root, next(reversed(found.history()), NO_ACTION))
            return found is not None
        # A caller may be wrong about them: actions of no position would be written anywhere.
        if moves and not 0 <= min(moves) <= max(moves) < self._most_moves:
            return False
        path, header = self.frame.path, self.frame.header
        self._forget_root(moves[-1] if moves else self.last_action)
        header[_STEP], header[_EXPAND] = MOVE_ROOT, 1
        status = _DONE
        for start in range(0, max(len(moves), 1), len(path)):
            part = moves[start : start + len(path)]
            path[: len(part)] = part
            header[_PATH_LENGTH] = len(part)
            status = simulated(self, self.frame)
        header[_STEP] = _WHOLE
        if status == Status.FAILED:
            self.raise_pending()
        if status != _DONE or header[_PLAYER] != root.current_player():
            return False
        legal = self.frame.actions[: header[_NUM_ACTIONS]].tolist()
        return bool(legal == sorted(root.legal_actions()))

    def begin_at(self, record: NDArray[Any], last_action: int) -> None:
        """Go on to any position of the same game: a record of shape [1], after a last action."""
        self._states[ROOT] = record[0]
        if self.is_sensible:
            self.make_sensible()
        self._forget_root(last_action)

    def _forget_root(self, last_action: int) -> None:
        """Forget what was found at the last root; ``last_action`` leads to the next one."""
        header = self.frame.header
        header[_CHECK_CHILDREN] = header[_FORESEE] = header[_FORESEEN] = 0
        header[_LAST_ACTION] = self.last_action = last_action

    def raise_pending(self) -> None:
        """Raise what ended the last simulation: interpreted, the very error."""
        header = self.frame.header
        code, given = int(header[Header.REQUIRED_MOVES]), int(header[Header.REQUIRED_ACTIONS])
        header[Header.REQUIRED_MOVES] = header[Header.REQUIRED_ACTIONS] = 0
        if code == ENDLESS:
            needed = "player() must give TERMINAL at some time, whatever is played"
            raise endless_game(str(self.rules), needed=needed)
        told = self._broken(code, given)
        if told is not None:
            raise GameError(told)
        if self._callback is not None:
            self._callback.raise_error()
        raised = machine.loaded(self.rules, self.kit).last_raised()
        told = "an exception" if raised is None else f"{type(raised).__name__}: {raised}"
        raise GameError(
            f"The rules of {self.rules} raised {told}. NUMBA_DISABLE_JIT=1 shows where."
        ) from raised

    def _broken(self, code: int, given: int) -> str | None:
        """The rule that a game breaks, and the number that it gave; None if it breaks none."""
        rules, frame = self.rules, self.frame
        top = rules.num_distinct_actions
        numbers = frame.returns[0].tolist()
        total = rules.utility_sum
        summed = "" if total is None else f", and they must sum up to utility_sum, {total}"
        return {
            BAD_VALUE: f"The value function of {rules} must give each player a number from "
            f"{rules.min_utility:g} to {rules.max_utility:g}, the game's utilities: got {numbers}.",
            BAD_RETURNS: f"Where the game is over, returns() of {rules} must give each player a "
            f"finite number from min_utility, {rules.min_utility:g}, to max_utility, "
            f"{rules.max_utility:g}{summed}: got {numbers}.",
            BAD_COUNT: f"Where the game goes on, {rules} must have from 1 to max_actions, "
            f"{rules.max_actions}, legal actions or outcomes of chance: it has {given}.",
            BAD_PLAYER: f"player() of {rules} must give CHANCE, TERMINAL or a player from 0 to "
            f"{rules.num_players - 1}, got {given}.",
            BAD_ACTION: f"legal_actions(), draw() and playout() of {rules} must give actions from "
            f"0 to num_distinct_actions - 1, {top - 1}, and chance_outcomes() outcomes from 0 to "
            f"{rules.num_outcomes - 1}: got {given}.",
            TWICE: f"legal_actions() and chance_outcomes() of {rules} must list nothing twice: "
            f"got {given} twice.",
            BAD_CHANCE: f"Probabilities of chance must be at least 0 and sum up to 1: "
            f"chance_outcomes() of {rules} gives "
            f"{frame.probabilities[: frame.header[Header.NUM_ACTIONS]].tolist()[:20]}.",
            BAD_PLAYOUT: f"playout() of {rules} must return the place after its last move, "
            f"or -1: got {given}.",
        }.get(code)

    def _interpreted(self, address: int) -> int:
        with np.errstate(over="ignore"):
            lists = self._actions, self._probabilities
            states = self._buffers.states
            status = int(playing.simulate(self.rules, states, *lists, self._buffers))
            if self.tells_keys:
                words, header = self._states.view(np.uint64), self.frame.header
                keyed_playing.tell_key(self.rules, words, header, header.view(np.uint64))
            return status
