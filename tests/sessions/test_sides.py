import pytest

from rave_agents.frameworks.own_games import as_game
from rave_agents.sessions.setting_up import set_up_session
from rave_agents.sessions.sides import side_names


@pytest.mark.full(but=["chess", "connect_four", "nim"])
@pytest.mark.parametrize(
    ("game", "names"),
    [
        ("chess", ("Black", "White")),
        ("antichess", ("Black", "White")),
        ("go(board_size=5)", ("Black", "White")),
        ("othello", ("Black", "White")),
        ("breakthrough", ("Black", "White")),
        ("nine_mens_morris", ("White", "Black")),
        ("einstein_wurfelt_nicht", ("Black", "White")),
        ("connect_four", ("x", "o")),
        ("hex(board_size=5)", ("x", "o")),
        ("backgammon", ("x", "o")),
        ("nim", ()),
        ("leduc_poker", ()),
        ("matrix_pd", ()),
        ("pettingzoo:chess_v6", ("White", "Black")),
        ("pettingzoo:go_v5(board_size=5)", ("Black", "White")),
    ],
)
def test_sides_have_the_names_that_the_game_gives(game, names):
    assert side_names(as_game(game).new_initial_state()) == names


@pytest.mark.parametrize(
    ("game", "agents", "seats", "told"),
    [
        ("chess", "random", (0,), "You play Black (seat 0); random plays White (seat 1)."),
        ("tic_tac_toe", "random", (0, 1), "You play x (seat 0) and o (seat 1)."),
        ("tic_tac_toe", "random", (), "random plays x (seat 0); random plays o (seat 1)."),
        ("nim", "random", (1,), "You play seat 1; random plays seat 0."),
    ],
)
def test_a_session_says_who_plays_which_side(game, agents, seats, told):
    assert set_up_session(game, agents, seats=seats).seating == told


def test_a_position_with_the_other_side_to_move_gives_the_same_names():
    session = set_up_session("chess", "random", moves="e4")
    assert session.sides == ("Black", "White")
