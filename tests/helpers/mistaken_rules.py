"""A game with mistakes: in each class one, in the line with the comment ``mistake``."""

import numba
import numpy as np

from rave_agents.games import TERMINAL, Rules


class Heap(Rules):
    """Take one to three of a heap; who takes the last one wins."""

    name = "heap"
    num_distinct_actions = 3
    fields = {"heap": np.int64, "mover": np.int8}  # noqa: RUF012

    def begin(self, state):
        state.heap = 21

    def player(self, state):
        return TERMINAL if state.heap == 0 else state.mover

    def legal_actions(self, state, actions):
        count = min(3, state.heap)
        for taken in range(count):
            actions[taken] = taken
        return count

    def play(self, state, action):
        state.heap -= action + 1
        state.mover = 1 - state.mover

    def returns(self, state, returns):
        self.write_winner(returns, 1 - state.mover)


class WritesAField(Heap):
    def play(self, state, action):
        state.heep = state.heap - action - 1  # mistake


class ReadsAField(Heap):
    def player(self, state):
        return TERMINAL if state.heep == 0 else state.mover  # mistake


class ReadsAFieldSeldom(Heap):
    def play(self, state, action):
        state.heap -= action + 1
        if state.heap == -7:
            state.heap = state.heep  # mistake


class MakesAList(Heap):
    def legal_actions(self, state, actions):
        found = [taken for taken in range(3) if taken < state.heap]  # mistake
        for place, taken in enumerate(found):
            actions[place] = taken
        return len(found)


class MakesADictionary(Heap):
    def play(self, state, action):
        taken = {0: 1, 1: 2, 2: 3}
        state.heap -= taken[action]  # mistake


class LacksAnAttribute(Heap):
    def play(self, state, action):
        state.heap -= action + self.least  # mistake


class LacksAName(Heap):
    def play(self, state, action):
        state.heap -= action + least  # noqa: F821  mistake


class LacksANameInAHelper(Heap):
    def taken(self, action):
        return action + least  # noqa: F821  mistake

    def play(self, state, action):
        state.heap -= self.taken(action)


class GivesTooManyArguments(Heap):
    def taken(self, action):
        return action + 1

    def play(self, state, action):
        state.heap -= self.taken(action, 1)  # mistake


class ReturnsNothing(Heap):
    def legal_actions(self, state, actions):  # mistake
        actions[0] = 0


class ReturnsNothingAtTimes(Heap):
    def player(self, state):  # mistake
        if state.heap > 0:
            return state.mover
        return None


class Prints(Heap):
    def play(self, state, action):
        print(action)  # mistake
        state.heap -= action + 1


def shown(action):
    print(action)  # mistake
    return action


class PrintsInAHelper(Heap):
    def play(self, state, action):
        state.heap -= numba_shown(action) + 1


numba_shown = numba.njit(shown)


class AsksPython(Heap):
    def play(self, state, action):
        with numba.objmode():  # mistake
            pass
        state.heap -= action + 1


class Raises(Heap):
    def play(self, state, action):
        if state.heap < 5:
            raise ValueError("too low")
        state.heap -= action + 1


class BeginsWrong(Heap):
    def begin(self, state):
        state.heep = 21  # mistake


class TakesTooLittle(Heap):
    def play(self, state):  # mistake
        state.heap -= 1


class WritesBeyondItsRecord(Heap):
    fields = {"heap": np.int64, "mover": np.int8, "board": (np.int8, 9)}  # noqa: RUF012

    def play(self, state, action):
        state.board[action + 12] = 1  # mistake


class HasAList(Heap):
    def setup(self):
        self.taken = [1, 2, 3]

    def play(self, state, action):
        state.heap -= self.taken[action]  # mistake


def taken(action):
    return action + 1


class CallsAFunctionWithoutAMark(Heap):
    def play(self, state, action):
        state.heap -= taken(action)  # mistake
