"""Self-test of a newly compiled bridge, which runs in a process of its own.

``python -m rave_openspiel.native_check LIBRARY`` exits with status 0 if the bridge runs the same
simulations as Python.
"""

import pathlib
import sys
from typing import Any

import numpy as np
import pyspiel
from numpy.typing import NDArray

from rave_agents.simulate.simulator import Frame, Header, Simulator, Status, make_frame, simulated
from rave_openspiel.native import is_shrinking
from rave_openspiel.native_library import Library
from rave_openspiel.native_simulator import NativeSimulator
from rave_openspiel.simulator import OpenSpielSimulator

GAMES = (
    "tic_tac_toe",
    "connect_four",
    "pig",
    "2048",
    "hex(board_size=4)",
    "goofspiel(num_cards=3)",
)
"""Games with and without chance, for one and two players, with and without a shrinking list, and
one with simultaneous moves."""

SIMULATIONS = 20


def check(library: Library) -> None:
    """Check that the bridge follows the contract of ``Simulator``.

    Raises:
        AssertionError: if it does not; the message says where.
    """
    for spec in GAMES:
        root = pyspiel.load_game(spec).new_initial_state()
        for num_weights in (0, root.num_distinct_actions()):
            # Equal streams, but separate buffers: each provider must fill its own frame alike.
            frames = [_frame(root, num_weights) for _ in range(2)]
            shrinking = is_shrinking(root.get_game())
            native = NativeSimulator(library, root, frames[0], shrinking=shrinking)
            python = OpenSpielSimulator(
                root, frames[1], num_distinct_actions=root.num_distinct_actions()
            )
            for number in range(SIMULATIONS):
                given, expected = _filled(native, frames[0]), _filled(python, frames[1])
                assert given == expected, (
                    f"{spec}, {num_weights} weights, simulation {number}: {given} is not {expected}"
                )
    _check_error(library)


def _frame(root: pyspiel.State, num_weights: int = 0) -> Frame:
    weights = np.random.default_rng(1).random((root.num_players(), num_weights))
    frame = make_frame(
        num_players=root.num_players(),
        playouts=2,
        playout_stream=np.arange(1, 5, dtype=np.int64),
        move_capacity=1 << 16,
        action_weights=weights,
    )
    frame.header[Header.EXPAND] = 1
    frame.header[Header.CHECK_CHILDREN] = 1
    return frame


def _filled(simulator: Simulator, frame: Frame) -> list[object]:
    """Return the content of the frame after a simulation."""
    status = simulated(simulator, frame)
    assert status == Status.DONE, f"status {status}"
    header = frame.header
    count = int(header[Header.NUM_ACTIONS])
    end = int(frame.playout_ends[-1])
    # Only what a simulation writes: the rest of the header holds the providers' addresses.
    outputs = [Header.PLAYER, Header.NUM_ACTIONS, Header.UNIFORM, Header.NUM_PLAYOUTS]
    parts: list[NDArray[Any]] = [
        header[outputs],
        frame.actions[:count],
        frame.child_ends[:count],
        frame.playout_ends,
        frame.move_players[:end],
        frame.move_actions[:end],
        frame.returns,
    ]
    if not header[Header.UNIFORM]:
        parts.append(frame.probabilities[:count])
    return [part.tolist() for part in parts]


def _check_error(library: Library) -> None:
    """Check that an OpenSpiel error surfaces as pyspiel's exception."""
    root = pyspiel.load_game("tic_tac_toe").new_initial_state()
    frame = _frame(root)
    frame.path[:2] = 4  # The centre twice: the second move is illegal.
    frame.header[Header.PATH_LENGTH] = 2
    simulator = NativeSimulator(library, root, frame, shrinking=True)
    status = simulated(simulator, frame)
    assert status == Status.FAILED, f"status {status} for an illegal move"
    try:
        simulator.raise_pending()
    except pyspiel.SpielError:
        return
    raise AssertionError("an illegal move raised nothing")


if __name__ == "__main__":
    check(Library(pathlib.Path(sys.argv[1])))
