"""A trial of rules in plain Python, before Numba compiles them, which shows a mistake's line."""

import contextlib
import inspect
import random
import sys
import time
import types
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from rave_agents.compiler.mistakes import (
    UncompilableError,
    explain_arguments,
    message_at,
    place_in,
    refuse_calls_of_python,
)
from rave_agents.game.arguments import unknown_name
from rave_agents.games.kit.base_rules import CHANCE, TERMINAL, BaseRules
from rave_agents.games.kit.refusals import GUARD

TRIAL_SECONDS = 0.05
"""Time after which no further move is tried."""

LONGEST_SECONDS = 0.5
"""Time after which a trial ends in the middle of a rule."""

PLAYOUT_MOVES = 4096
"""Room for the moves of a playout."""

_MISTAKES = (AttributeError, IndexError, NameError, TypeError)
"""Errors of Python that are mistakes in compiled code, too. It divides and counts otherwise."""


def try_out(
    rules: BaseRules, functions: Collection[types.FunctionType], *, uses_numba: bool
) -> None:
    """Play a few random moves in plain Python. It ends without a word where rules need Numba.

    Args:
        rules: the rules.
        functions: the user's own ones that are to be compiled.
        uses_numba: whether they call functions that Numba would have to compile for the trial.

    Raises:
        UncompilableError: for a mistake, with its line.
    """
    refuse_calls_of_python(functions)
    for function in functions:
        described = vars(BaseRules).get(function.__name__)
        is_rule = described and inspect.getattr_static(rules, function.__name__, None) is function
        if is_rule and (told := explain_arguments(described, function)):
            raise UncompilableError(told)
    if not functions or uses_numba:
        return
    try:
        with np.errstate(all="ignore"), _ended_after(LONGEST_SECONDS):
            _Trial(rules).play()
    except UncompilableError:
        raise
    except _MISTAKES as error:
        place = place_in(error)
        if place is not None and not str(error).startswith("ufunc"):  # NumPy's mixed types.
            raise UncompilableError(message_at(_reason(rules, error), *place)) from None
    except Exception:
        pass


class _TimeUpError(Exception):
    """A rule goes on for too long."""


@contextlib.contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """End what runs, an endless loop too, after some seconds; not under a debugger."""
    ends = time.perf_counter() + seconds

    def look(frame: Any, event: str, argument: Any) -> Any:
        if time.perf_counter() > ends:
            raise _TimeUpError
        return look

    traced = sys.gettrace() is None
    if traced:
        sys.settrace(look)
    try:
        yield
    finally:
        if traced:
            sys.settrace(None)


def _reason(rules: BaseRules, error: Exception) -> str:
    """The mistake; for a field of the record, with those that there are."""
    missing = str(error).rpartition(" attribute ")[2].strip("'")
    if "record" in str(error) and isinstance(error, AttributeError):
        return unknown_name("field of the record", missing, rules.fields)
    return f"{type(error).__name__}: {error}."


class _Trial:
    """Random moves of rules, which are called as compiled code calls them."""

    def __init__(self, rules: BaseRules) -> None:
        self._rules = rules
        self._actions = np.zeros(rules.list_room, np.int32)
        self._probabilities = np.zeros(rules.list_room)
        self._returns = np.zeros(rules.num_players + GUARD)
        self._draw = random.Random(0)
        self._ends = time.perf_counter() + TRIAL_SECONDS

    def play(self) -> None:
        """Play random games, until time is up."""
        for _ in range(3):
            state = np.zeros(1, self._rules.record).view(np.recarray)[0]
            self._rules.begin(state)
            self._play_out(state.copy())
            while self._move(state):
                pass

    def _play_out(self, state: Any) -> None:
        """Draw a move, and play to the end, where rules do that themselves."""
        rules, stream = self._rules, np.ones(4, np.int64)
        if rules.player(state) in (TERMINAL, CHANCE):
            return
        if rules.draws_itself:
            self._number("draw", state, stream)
        if rules.plays_itself:
            moves = np.zeros((2, PLAYOUT_MOVES), np.int32)
            self._number("playout", state, *moves, 0, stream)

    def _move(self, state: Any) -> bool:
        """Play a move. Returns whether there may be another one."""
        rules, actions = self._rules, self._actions
        player = self._number("player", state)
        if player == TERMINAL:
            rules.returns(state, self._returns)
            return False
        if player == CHANCE:
            count = self._number("chance_outcomes", state, actions, self._probabilities)
        else:
            count = self._number("legal_actions", state, actions)
            self._judge(state)
        if not 0 < count <= rules.max_actions or time.perf_counter() > self._ends:
            return False
        action: Any = np.int64(actions[self._draw.randrange(count)])
        rules.play(state, action)
        return True

    def _judge(self, state: Any) -> None:
        if self._rules.is_judged:
            room = self._rules.num_board_cells + self._rules.judging_room
            cells = np.zeros(room, np.int8)
            weights = np.zeros(self._rules.num_weights, np.float32)
            self._rules.judge(state, cells, weights, self._returns)

    def _number(self, name: str, *arguments: Any) -> int:
        """Call a method, which must return a number."""
        method = getattr(self._rules, name)
        number = method(*arguments)
        if number is None:
            code = getattr(method, "__func__", method).__code__
            told = f"{name}() returned None, where an integer is needed."
            raise UncompilableError(message_at(told, code, None))
        return int(number)
