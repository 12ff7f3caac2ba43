"""Expansions of OpenSpiel's states for the solver: in C++ as in Python, and keys of their texts."""

import pyspiel
import pytest
from rave_openspiel.expander_check import check
from rave_openspiel.native import optional_library
from rave_openspiel.native_expander import ExpanderLibrary, NativeExpander, can_expand
from rave_openspiel.positions import FIXED_BY_TEXT
from rave_openspiel.states import OpenSpielState

from rave_agents.compiler.layout import call_address
from rave_agents.errors import GameError
from rave_agents.simulate.expansion import Answered, Place, make_expansion
from rave_agents.solver.proof_search import ProofSearch
from rave_agents.solver.state_expander import StateExpander
from rave_agents.testing import check_game_state

SMALL = {
    "breakthrough": "breakthrough(rows=4,columns=3)",
    "clobber": "clobber(rows=3,columns=3)",
    "connect_four": "connect_four(rows=4,columns=4)",
    "gomoku": "gomoku(size=5)",
    "havannah": "havannah(board_size=2)",
    "hex": "hex(board_size=3)",
    "mnk": "mnk(m=3,n=4,k=3)",
    "twixt": "twixt(board_size=5)",
    "y": "y(board_size=3)",
}


def initial(spec):
    return OpenSpielState(pyspiel.load_game(spec).new_initial_state())


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(FIXED_BY_TEXT))
def test_positions_with_one_text_play_on_the_same(name):
    check_game_state(lambda: initial(SMALL.get(name, name)), games=5)


def test_positions_are_met_by_two_orders_of_moves_where_their_text_tells_them():
    keys = []
    for moves in ([0, 4, 8], [8, 4, 0]):
        state = initial("tic_tac_toe")
        for move in moves:
            state.apply_action(move)
        keys.append(state.position_key())
    assert keys[0] == keys[1]


def test_games_of_chance_and_of_simultaneous_moves_are_not_expanded_in_cpp():
    for name in ("pig", "goofspiel(num_cards=3)"):
        state = initial(name)
        assert not can_expand(state, state.traits)


@pytest.fixture
def library():
    found = optional_library(ExpanderLibrary)
    if found is None:
        pytest.skip("there is no compiler")
    return found


@pytest.mark.full
def test_the_library_tells_what_states_tell(library):
    check(library)


@pytest.mark.full
def test_an_error_of_the_library_is_raised(library):
    state = initial("tic_tac_toe")
    expander = NativeExpander(library, state, state.traits, make_expansion(2, 9))
    expander._expansion.header[[Place.DEPTH, Place.ACTION]] = 1, 3
    assert call_address(expander.address, expander._expansion.header.ctypes.data) == Answered.FAILED
    with pytest.raises(GameError):
        expander.raise_pending()


class InPython:
    """A state without the library."""

    def __init__(self, state):
        self._state = state

    def __getattr__(self, name):
        if name in ("expander", "on_compiled_rules"):
            raise AttributeError(name)
        return getattr(self._state, name)

    def clone(self):
        return InPython(self._state.clone())


@pytest.mark.full
@pytest.mark.parametrize("spec", ["tic_tac_toe", *SMALL.values()])
def test_proofs_by_the_library_are_those_of_pythons_states(spec, library, monkeypatch):
    monkeypatch.setenv("RAVE_AGENTS_GAMES", "openspiel")
    state = initial(spec)
    searches = [ProofSearch(each, max_memory_mb=4) for each in (state, InPython(state))]
    kinds = [type(search._team.first.expander) for search in searches]
    assert kinds == [NativeExpander, StateExpander]
    for at_least in (0.0, 1.0):
        proven = [
            search.prove(each, 0, at_least, positions=8000)
            for search, each in zip(searches, (state, InPython(state)), strict=True)
        ]
        assert None in proven or proven[0] == proven[1]
