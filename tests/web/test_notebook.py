import re

import pytest

import rave_agents

AGENT = "uct(simulations=20)"


@pytest.fixture
def playing():
    """Gives a function that begins a game in pictures."""
    begun = []

    def play(*given, page=False, **options):
        begun.append(rave_agents.play(*given, page=page, **{"seed": 0, **options}))
        return begun[-1]

    yield play
    for each in begun:
        each.close()


def test_a_whole_game_is_played_by_moves(playing):
    game = playing("tic_tac_toe", AGENT)
    while not game.session.over:
        game.move(game.legal_moves[0])
    assert "The game is over" in game._repr_html_()


def test_a_cell_shows_the_board_and_the_moves(playing):
    game = playing("tic_tac_toe", AGENT).move("x(1,1)")
    page = game._repr_html_()
    assert "<svg" in page
    assert 'class="stone o0"' in page
    assert "Moves: x(1,1) o(" in page
    assert "Yours: x(" in page
    assert not re.findall(r'(?:src|href)="(?!data:)', page)


def test_a_cell_says_who_plays_which_side(playing):
    page = playing("chess", "random", seat=1)._repr_html_()
    assert "You play White (seat 1); random plays Black (seat 0)." in page


def test_a_hint_is_drawn_on_the_board_and_undo_takes_back(playing):
    game = playing("tic_tac_toe", AGENT)
    game.hint()
    assert game.thought.simulations == 20
    assert 'style="opacity:' in game._repr_html_()
    game.move("x(0,0)").undo()
    assert game.session.turns == []


def test_a_move_that_is_not_legal_is_answered_with_the_nearest(playing):
    game = playing("tic_tac_toe", AGENT)
    with pytest.raises(ValueError, match=r"Did you mean .*'x\(1,1\)'"):
        game.move("x(1,1")


def test_a_failing_agent_raises(playing):
    @rave_agents.from_step
    def fails(state):
        raise ValueError("out of order")

    with pytest.raises(rave_agents.RaveAgentsError, match="out of order"):
        playing("tic_tac_toe", fails).move("x(1,1)")


def test_a_hidden_hand_stays_hidden(playing):
    game = playing("leduc_poker", AGENT).wait()
    game.move("Call")
    assert game.thought is None
    assert "Chance outcome:3 ?" in game._repr_html_()


def test_with_a_page_the_cell_is_a_frame_of_it(playing):
    pytest.importorskip("starlette", reason="Starlette is not installed")
    game = playing("tic_tac_toe", AGENT, page=True, seat=(0, 1))
    assert f'<iframe src="{game.address}"' in game._repr_html_()


def test_a_closed_page_is_shown_as_a_picture(playing):
    pytest.importorskip("starlette", reason="Starlette is not installed")
    game = playing("tic_tac_toe", AGENT, page=True, seat=(0, 1))
    game.close()
    assert "<svg" in game._repr_html_()


def test_a_kernel_elsewhere_shows_pictures(playing, monkeypatch):
    monkeypatch.setenv("JUPYTERHUB_API_URL", "http://hub")
    assert playing("tic_tac_toe", AGENT, page=None, seat=(0, 1)).address is None
