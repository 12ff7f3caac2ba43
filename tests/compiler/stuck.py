"""Run by test_watchdog.py in a process of its own: rules that never return."""

import contextlib
import signal
import sys

import numba
import numpy as np

from rave_agents import Limit, SearchConfig, Searcher, as_game
from rave_agents.games import TERMINAL, Rules


@numba.njit
def spin(number):
    while number != -5:
        number = (number + 1) % 7
    return number


class Heap(Rules):
    """Take one to three of a heap; its last moves never end, in a function of Numba's."""

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
        if state.heap < 10:
            spin(state.heap)
        state.heap -= action + 1
        state.mover = 1 - state.mover

    def returns(self, state, returns):
        self.write_winner(returns, 1 - state.mover)


def main(threads):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # Whatever the parent did with it.
    state = as_game(Heap()).new_initial_state()
    print("begins", flush=True)
    while True:
        with contextlib.suppress(KeyboardInterrupt):  # Of one that came while it compiled.
            Searcher(SearchConfig(threads=threads)).search(state, Limit(seconds=1))


if __name__ == "__main__":
    main(int(sys.argv[1]))
