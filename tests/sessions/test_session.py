import re

import pytest

from rave_agents import as_game
from rave_agents.errors import UnsupportedGameError
from rave_agents.sessions.game_file import game_text, restore_clocks, save_game
from rave_agents.sessions.session import PERSON, Session
from rave_agents.sessions.setting_up import set_up_session
from rave_agents.sessions.views import UNSEEN, seen_names, seen_text

AGENT = "uct(simulations=5)"


def play(session, *names):
    """Let whoever is to move play these moves, and chance its outcomes."""
    for name in names:
        while session.is_chance:
            session.draw_chance()
        seat = session.movers[0]
        by_name = {told: action for action, told in session.legal(seat).items()}
        session.choose(seat, by_name[name])
    while session.is_chance:
        session.draw_chance()


def test_undo_goes_back_to_the_persons_last_move():
    session = set_up_session("tic_tac_toe", AGENT)
    play(session, "x(0,0)", "o(1,1)", "x(0,1)", "o(0,2)")
    board = str(session.before(2))
    assert session.undo()
    assert str(session.state) == board
    assert [turn.names for turn in session.turns] == [("x(0,0)",), ("o(1,1)",)]
    assert session.undo()
    assert not session.undo()


def test_undo_of_agents_that_are_watched_takes_one_turn_back():
    session = set_up_session("tic_tac_toe", AGENT, seats=())
    play(session, "x(0,0)", "o(1,1)", "x(0,1)")
    session.undo()
    assert len(session.turns) == 2


def test_chance_after_undo_is_the_same():
    session = set_up_session("pig(winscore=20)", AGENT, seed=3)
    play(session, "roll")
    drawn = [turn.names for turn in session.turns]
    session.go_back(0)
    play(session, "roll")
    assert [turn.names for turn in session.turns] == drawn


def test_moves_at_the_same_time_are_played_when_all_have_chosen():
    session = set_up_session("matrix_rps", AGENT)
    assert session.movers == [0, 1]
    session.choose(0, 1)
    assert session.movers == [1]
    assert session.turns == []
    session.choose(1, 0)
    assert session.over
    assert session.returns == [1.0, -1.0]


def test_an_illegal_move_and_a_seat_that_is_not_to_move_are_refused():
    session = set_up_session("tic_tac_toe", AGENT)
    with pytest.raises(ValueError, match="not legal"):
        session.choose(0, 9)
    with pytest.raises(ValueError, match="Seat 1 is not to move"):
        session.choose(1, 0)
    assert session.turns == []


def test_an_agent_has_a_level_in_place_of_a_limit():
    assert str(set_up_session("tic_tac_toe", "uct", level=3).seats[1]) == "uct(level=3)"
    assert str(set_up_session("tic_tac_toe", "uct").seats[1]) == "uct(seconds=1.0)"


def test_seats_are_swapped():
    session = set_up_session("tic_tac_toe", AGENT)
    session.swap()
    assert session.people == [1]


def test_who_has_no_time_left_loses():
    session = set_up_session("tic_tac_toe", AGENT, clock="0.01")
    session._since -= 1.0
    assert session.check_time()
    assert session.over
    assert session.ending == "seat 0 lost on time"
    assert session.returns == [-1.0, 1.0]


def test_undo_gives_the_time_back():
    session = set_up_session("tic_tac_toe", AGENT, clock="60")
    session._since -= 10.0
    play(session, "x(0,0)", "o(1,1)")
    assert session.time_left(0) == pytest.approx(50.0, abs=1.0)
    session.undo()
    assert session.time_left(0) == pytest.approx(60.0, abs=1.0)


@pytest.mark.parametrize(
    ("game", "moves"),
    [
        ("tic_tac_toe", ["x(0,0)", "o(1,1)", "x(0,1)"]),
        ("leduc_poker", ["Call", "Raise", "Call"]),
        ("goofspiel(num_cards=3)", ["[P0]Bid: 2", "[P1]Bid: 3"]),
    ],
)
def test_a_saved_game_goes_on_where_it_was(tmp_path, game, moves):
    session = set_up_session(game, AGENT, clock="60")
    session._since -= 10.0
    play(session, *moves)
    save_game(session, tmp_path / "game.txt")
    again = set_up_session(game, AGENT, position=tmp_path / "game.txt", clock="60")
    again.replay_start()
    restore_clocks(again, tmp_path / "game.txt")
    assert str(again.state) == str(session.state)
    assert [turn.names for turn in again.turns] == [turn.names for turn in session.turns]
    assert again.time_left(0) == pytest.approx(session.time_left(0), abs=1.0)


@pytest.mark.parametrize("name", ["go", "", "#1", " x", "two\nlines"])
def test_moves_without_a_name_of_their_own_are_saved_by_number(monkeypatch, name):
    names = {4: name, 5: "go"}
    monkeypatch.setattr("rave_agents.sessions.game_file.legal_names", lambda *given: names)
    session = Session(as_game("tic_tac_toe"), [PERSON, PERSON])
    session.choose(0, 4)
    assert game_text(session).splitlines()[-1] == "4"


def test_a_game_whose_environment_draws_chance_is_not_saved(tmp_path):
    session = set_up_session("gymnasium:Blackjack-v1", AGENT)
    with pytest.raises(UnsupportedGameError, match="draws chance itself"):
        save_game(session, tmp_path / "game.txt")


def test_a_seat_sees_no_card_of_the_other():
    session = set_up_session("leduc_poker", AGENT)
    play(session, "Call")
    own, other = (turn.names[0] for turn in session.turns[:2])
    assert seen_names(session, 0, 0) == (own,)
    assert seen_names(session, 1, 0) == (UNSEEN,)
    assert seen_names(session, 1, 1) == (other,)
    assert seen_names(session, 2, 1) == ("Call",)
    assert seen_names(session, 1, None) == (other,)
    assert f"[Private: {re.search('[0-9]+', other)[0]}]" not in seen_text(session, 0)


def test_what_was_hidden_shows_when_the_game_is_over():
    session = set_up_session("leduc_poker", AGENT)
    play(session, "Raise", "Fold")
    assert session.over
    assert seen_names(session, 1, 0) == session.turns[1].names


def test_a_hidden_move_is_not_told():
    session = set_up_session("phantom_ttt", AGENT)
    play(session, "x(0,0)", "o(1,1)")
    assert seen_names(session, 1, 0) == (UNSEEN,)
    assert seen_names(session, 1, 1) == ("o(1,1)",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seats": (2,)}, "seat must be an integer from 0 to 1, got 2"),
        ({"agents": [AGENT, AGENT, AGENT]}, "3 agents are given, and 1 seats"),
        ({"agents": "rav"}, "Unknown agent 'rav'"),
        ({"agents": "rave(cc=1)"}, "cc"),
        ({"clock": "soon"}, "soon"),
        ({"agents": "uct", "level": 11}, "level must be an integer from 1 to 10"),
        ({"agents": "random", "level": 3}, "random has no levels"),
        ({"agents": "uct", "level": 3, "seconds": 1.0}, "a level, or simulations or seconds"),
        ({"moves": "y"}, "No legal move is called 'y'"),
    ],
)
def test_what_cannot_be_set_up_is_refused_at_once(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        set_up_session("tic_tac_toe", **{"agents": AGENT, **arguments})
