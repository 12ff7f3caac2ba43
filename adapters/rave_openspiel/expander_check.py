"""Self-test of a newly compiled library of expansions, which runs in a process of its own.

``python -m rave_openspiel.expander_check LIBRARY`` exits with status 0 if the library agrees
with pyspiel's states.
"""

import pathlib
import sys
from typing import Any

import pyspiel

from rave_agents.compiler.layout import call_address
from rave_agents.simulate.expansion import Answered, Expansion, Place, make_expansion
from rave_openspiel.native_expander import ExpanderLibrary, NativeExpander
from rave_openspiel.states import OpenSpielState

GAMES = ("tic_tac_toe", "connect_four(rows=4,columns=4)", "hex(board_size=3)", "chess")


def check(library: ExpanderLibrary) -> None:
    """Check that the library follows the contract of ``Expander``.

    Raises:
        AssertionError: if it does not; the message says where.
    """
    for spec in GAMES:
        root = OpenSpielState(pyspiel.load_game(spec).new_initial_state())
        expansion = make_expansion(root.num_players(), 256)
        expansion.header[Place.COUNT_MOVES] = 1
        expander = NativeExpander(library, root, root.traits, expansion)
        state, depth = root.clone(), 0
        while not state.is_terminal() and depth < 12:
            expansion.header[Place.DEPTH] = depth
            assert call_address(expander.address, expansion.header.ctypes.data) == Answered.DONE
            _check_position(spec, state, expander, expansion)
            action = sorted(state.legal_actions())[depth % len(state.legal_actions())]
            expansion.header[Place.ACTION] = action
            state.apply_action(action)
            depth += 1


def _check_position(
    spec: str, state: OpenSpielState, expander: NativeExpander, expansion: Expansion
) -> None:
    header, legal = expansion.header, sorted(state.legal_actions())
    expanded: list[Any] = [int(header[Place.PLAYER]), expansion.actions[: len(legal)].tolist()]
    assert expanded == [state.current_player(), legal], f"{spec}: {expanded}"
    for place, action in enumerate(legal):
        after = state.clone()
        after.apply_action(action)
        assert bool(expansion.ends[place]) == after.is_terminal(), f"{spec}: ends"
        if after.is_terminal():
            count = after.num_players()
            returns = expansion.returns[place * count : (place + 1) * count].tolist()
            assert returns == list(after.returns()), f"{spec}: {returns}"
            continue
        assert expansion.movers[place] == after.current_player(), f"{spec}: movers"
        assert expansion.moves[place] == len(after.legal_actions()), f"{spec}: moves"
        # A child's key, derived from its parent's, must be that of a search rooted at the child.
        other = NativeExpander(
            expander._library, after, after.traits, make_expansion(after.num_players(), 256)
        )
        keys = expansion.keys[2 * place : 2 * place + 2].tolist()
        assert tuple(keys) == other.root_key(), f"{spec}: keys"


if __name__ == "__main__":
    check(ExpanderLibrary(pathlib.Path(sys.argv[1])))
