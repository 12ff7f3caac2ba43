"""Agents of programs: their parameters, and the moves that lead to a position."""

import pyspiel
import pytest
from rave_openspiel import OpenSpielState

from rave_agents import make_agent
from rave_agents.engines.client.agent import moves_so_far
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import load_game
from rave_agents.games import rules_class

FEN = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"


def test_moves_from_the_start_are_told():
    game = load_game("chess")
    state = game.new_initial_state()
    for _ in range(3):
        state.apply_action(state.legal_actions()[0])
    assert moves_so_far("uci", game, state) == state.history()


@pytest.mark.parametrize("moves", [0, 2])
def test_moves_from_elsewhere_are_not(moves):
    state = pyspiel.load_game("chess").new_initial_state(FEN)
    for _ in range(moves):
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(UnsupportedGameError, match="uci tells a program the moves since the start"):
        moves_so_far("uci", load_game("chess"), OpenSpielState(state))


def test_a_program_is_not_asked_about_a_position_that_was_set_up():
    game = load_game("connect_four")
    state = rules_class("connect_four")().new_initial_state()
    state.change(lambda record: state.rules.place(record, [[0] + [-1] * 6] + [[-1] * 7] * 5, 1))
    agent = make_agent("gtp(command=no_such_program)", game, 1)
    with pytest.raises(UnsupportedGameError, match="gtp tells a program"):
        agent.step(state)


def test_a_state_without_a_history_is_refused():
    class Position:
        pass

    with pytest.raises(UnsupportedGameError, match=r"gtp needs the moves so far"):
        moves_so_far("gtp", load_game("chess"), Position())


@pytest.mark.full(but=6)
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gtp", "gtp needs command"),
        ('gtp(command="")', "gtp needs command"),
        ("gtp(command=x,timeot=1)", "Did you mean 'timeout'"),
        ("gtp(command=x,clock=fast)", "Not a clock: 'fast'"),
        ("uci", "uci needs command"),
        ("uci(command=x,nodes=0)", "nodes must be"),
        ("uci(command=x,depth=two)", "depth must be"),
        ("uci(command=x,options=Hash)", "options must be"),
        ("uci(command=x,timeout=0)", "timeout must be a finite number above 0"),
        ("gtp(command=x,timeout=inf)", "timeout must be a finite number above 0"),
        ("uci(command=x,seconds=0)", "seconds must be a finite number above 0"),
        ("uci(command=x,node=5)", "Did you mean 'nodes'"),
    ],
)
def test_wrong_parameters_are_refused(spec, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make_agent(spec, load_game("clobber(rows=5,columns=6)"), 0)
