"""Self-test of a newly compiled library of histories, which runs in a process of its own.

``python -m rave_openspiel.histories_check LIBRARY`` exits with status 0 if the library agrees with
the replays in Python.
"""

import math
import pathlib
import random
import sys

import numpy as np
import pyspiel

from rave_agents.simulate.random_stream import StreamUnit
from rave_openspiel.first_history import Search, new_search
from rave_openspiel.history_chain import Budget, HistoryChain
from rave_openspiel.knowledge import Knowledge, Line
from rave_openspiel.native_histories import (
    HistoriesLibrary,
    NativeChain,
    NativeKnowledge,
    NativeSearch,
)
from rave_openspiel.uniform_moves import drawn

GAMES = (
    *("kuhn_poker(players=3)", "leduc_poker", "liars_dice", "go_fish", "phantom_ttt"),
    *("dark_hex(board_size=3)", "oh_hell", "battleship"),
)
PROPOSALS = 40
MOST_ACTIONS = 1000
MORE_ACTIONS = 100


def check(library: HistoriesLibrary) -> None:
    """Check that the library draws the same histories as Python.

    Raises:
        AssertionError: if it does not; the message says where.
    """
    draw = random.Random(1)
    for spec in GAMES:
        for moves in (1, 4, 9):
            state = _position(spec, moves, draw)
            if not state.is_terminal():
                found = [_histories(each, state) for each in (library, None)]
                assert found[0] == found[1], f"{spec} after {state.history()}"
                found = [_searched(each, state) for each in (library, None)]
                assert found[0] == found[1], f"{spec} after {state.history()}"


def _position(spec: str, moves: int, draw: random.Random) -> pyspiel.State:
    state = pyspiel.load_game(spec).new_initial_state()
    while not state.is_terminal() and (state.is_chance_node() or moves > 0):
        moves -= not state.is_chance_node()
        state.apply_action(drawn(state, draw.random)[0])
    return state


def _histories(library: HistoriesLibrary | None, state: pyspiel.State) -> list[object]:
    """The chain from the true history, and from histories that are drawn forward."""
    unit, player = StreamUnit(np.arange(1, 5, dtype=np.int64)), state.current_player()
    known, chain = (
        _in_python(state, player, unit) if library is None else _native(library, state, unit)
    )
    found = _steps(chain, known.truth)
    line = known.begun(unit)[0]
    for _ in known.moments[1:]:
        if line is None:
            break
        found += _steps(chain, line)
        line, played = known.continued(line, unit)
        found.append(played)
    return found


def _steps(chain: HistoryChain, line: Line) -> list[object]:
    chain.learn_sites(line)
    chain.reset_counts()
    budget = Budget(PROPOSALS * len(line))
    after = chain.advance(line, PROPOSALS, budget)
    chain.adapt()
    return [
        *(after.movers, after.actions, after.weights, after.moments, str(after.world())),
        *(chain.accepted, chain.tried, chain.sites, budget.steps),
    ]


def _searched(library: HistoriesLibrary | None, state: pyspiel.State) -> list[object]:
    """The history that a search finds for each decision, going on from the one before."""
    player, now = state.current_player(), state.get_game().new_initial_state()
    search: Search | NativeSearch | None = None
    found: list[object] = []
    for action in [*state.history(), None]:
        if now.current_player() == player:
            known = Knowledge(now, player)
            if library is not None:
                known = NativeKnowledge(library, now, player, math.inf)
            search = search or new_search(known, 1, MOST_ACTIONS, MORE_ACTIONS)
            line = search.found(known, math.inf)
            if line is not None:
                found.append((line.movers, line.actions, line.weights, line.moments))
            else:
                found.append(search.played)
        if action is not None:
            now.apply_action(action)
    return found


def _in_python(
    state: pyspiel.State, player: int, unit: StreamUnit
) -> tuple[Knowledge, HistoryChain]:
    known = Knowledge(state, player)
    return known, HistoryChain(known, unit)


def _native(
    library: HistoriesLibrary, state: pyspiel.State, unit: StreamUnit
) -> tuple[Knowledge, HistoryChain]:
    known = NativeKnowledge(library, state, state.current_player(), math.inf)
    return known, NativeChain(known, unit)


if __name__ == "__main__":
    check(HistoriesLibrary(pathlib.Path(sys.argv[1])))
