"""Puts the bridge to work in a process whose memory is watched: see ``test_sanitizers.py``."""

import os
import random

import numpy as np
import pyspiel
from rave_openspiel import OpenSpielState, native

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.simulate.simulator import Header, Status, make_frame, simulated

os.environ["RAVE_AGENTS_GAMES"] = "openspiel"  # It is the bridge that is looked at.

GAMES = (
    "tic_tac_toe",
    "connect_four",
    "hex(board_size=4)",
    "y(board_size=4)",
    "chess",
    "go(board_size=5)",
    "backgammon",
    "2048",
)


def decision(spec, draw):
    state = pyspiel.load_game(spec).new_initial_state()
    while state.is_chance_node():
        state.apply_action(draw.choice(state.chance_outcomes())[0])
    return state


def bound(state, path, *, weighted=False, **capacities):
    """A provider on a frame with so little room."""
    stream = np.arange(1, 5, dtype=np.int64)
    num_weights = state.num_distinct_actions() if weighted else 0
    frame = make_frame(
        num_players=state.num_players(),
        playouts=2,
        playout_stream=stream,
        action_weights=np.ones((state.num_players(), num_weights)),
        **capacities,
    )
    frame.header[Header.EXPAND] = frame.header[Header.CHECK_CHILDREN] = 1
    frame.header[Header.PATH_LENGTH] = len(path)
    frame.path[: len(path)] = path
    return OpenSpielState(state).simulator(frame, None), frame


def main():
    native.bridge()  # Raises where it cannot be used.
    draw = random.Random(1)
    searchers, providers = [], []
    for spec in GAMES:
        for preset in ("rave", "pn_mcts"):
            searcher = Searcher(SearchConfig.preset(preset), seed=1)
            searcher.search(OpenSpielState(decision(spec, draw)), Limit(simulations=20))
            searchers.append(searcher)
        # Too little room, and a deadline that has passed.
        state = decision(spec, draw)
        for weighted in (False, True):
            small = bound(state, [], weighted=weighted, action_capacity=2, move_capacity=2)
            assert simulated(*small) == Status.FRAME_FULL
            providers.append(small)
        late = bound(state, [])
        late[0].deadline = 0.0
        assert simulated(*late) == Status.STOPPED
        # An error in the middle of a path, again and again.
        wrong = bound(decision("tic_tac_toe", draw), [4, 4])
        for _ in range(3):
            assert simulated(*wrong) == Status.FAILED
        providers += [late, wrong]
    draw.shuffle(searchers)
    draw.shuffle(providers)
    while searchers:
        searchers.pop()
        providers.pop()
    providers.clear()
    print("done")


main()
