"""Antichess from positions of one's own: FENs, and what depends on how a position came about."""

import random

import numpy as np
import pyspiel
import pytest
from helpers.lines_of_play import perft
from rave_openspiel import OpenSpielState, compiled_games

from rave_agents import Limit, Searcher
from rave_agents.games.antichess import Antichess
from rave_agents.testing import check_rules

FENS = {
    "the middle of a game": "rnb1kbnr/pp1p1ppp/8/2pPp3/6q1/8/PPP1PPPP/RNBQKBNR w - c6 0 4",
    "an endgame": "8/1P4p1/2n5/3k4/4P3/8/p5K1/8 w - - 3 40",
    "promotions": "8/PPPPPPPP/8/8/8/8/pppppppp/8 b - - 7 9",
    "White takes en passant": "8/8/8/3pP3/8/8/8/7K w - d6 0 1",
    "Black takes en passant": "7k/8/8/8/2pPp3/8/8/7K b - d3 12 30",
    "nobody takes en passant": "7k/8/8/8/3P4/8/8/7K b - d3 12 30",
    "nearly fifty moves": "k6r/8/8/8/8/8/8/R6K w - - 95 80",
    "many of a kind": "NNNN4/KKKK4/8/8/8/8/4bbbb/4rrrr b - - 0 1",
    "queens alone": "qqqqqqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQQQQQ b - - 0 1",
    "fields left out": "k7/8/K7/8/8/8/8/K7 w - -",
    "fifty moves": "k7/8/8/8/8/8/8/P7 w - - 100 13",
    "a last capture": "8/8/8/8/8/8/8/K7 b - - 0 1",
    "White has won": "8/8/8/8/8/8/8/k7 b - - 0 1",
    "no move": "k3P3/8/8/8/8/8/8/p7 w - - 107 13",
}

PERFT = {
    "the middle of a game": [29, 80, 525],
    "an endgame": [1, 15, 114, 866],
    "Black takes en passant": [7, 26, 166],
}
"""How many paths of so many moves there are, as OpenSpiel's states have them."""

KNIGHTS = ["Nf3", "Nf6", "Ng1", "Ng8"]
"""Moves after which the position is the same again."""


@pytest.fixture(scope="module")
def game():
    return pyspiel.load_game("antichess")


def placed(fen):
    """The position of a FEN by the rules, on code that all FENs share."""
    state = Antichess().new_initial_state()
    state.change(lambda record: state.rules.place_text(record, fen))
    return state


def play_both(state, own, moves):
    for move in moves:
        action = state.string_to_action(move)
        state.apply_action(action)
        own.apply_action(action)


def assert_same(own, state):
    assert own.current_player() == state.current_player()
    assert own.returns() == state.returns()
    assert str(own) == str(state)
    np.testing.assert_array_equal(
        own.observation(0).ravel(), np.array(state.observation_tensor(0), np.float32)
    )
    if not state.is_terminal():
        legal = state.legal_actions()
        assert own.legal_actions() == legal
        texts = [own.action_to_string(action) for action in legal]
        assert texts == [state.action_to_string(action) for action in legal]


@pytest.mark.full(but=["an endgame"])
@pytest.mark.parametrize("name", FENS)
def test_games_from_a_fen_are_openspiels(name, game):
    draw = random.Random(name)
    for _ in range(20):
        state, own = game.new_initial_state(FENS[name]), placed(FENS[name])
        assert_same(own, state)
        while not state.is_terminal():
            action = draw.choice(state.legal_actions())
            state.apply_action(action)
            own.apply_action(action)
            assert_same(own, state)


@pytest.mark.full
@pytest.mark.parametrize("name", ["promotions", "Black takes en passant", "nearly fifty moves"])
def test_rules_with_a_fen_begin_there(name, game):
    fen = FENS[name]
    check_rules(Antichess(fen=fen), lambda: game.new_initial_state(fen), games=40)


@pytest.mark.full(but=1)
@pytest.mark.parametrize("name", PERFT)
def test_perft_from_a_fen(name):
    found = [perft(placed(FENS[name]), depth + 1) for depth in range(len(PERFT[name]))]
    assert found == PERFT[name]


def test_a_state_that_begins_at_a_fen_is_searched_on_compiled_rules(game):
    state = game.new_initial_state(FENS["White takes en passant"])
    state.apply_action(state.string_to_action("exd6"))
    found = compiled_games.position(state)
    assert_same(found, state)
    before = compiled_games.position(game.new_initial_state(FENS["White takes en passant"]))
    assert before.moves_to(found) == state.history()
    assert compiled_games.position(game.new_initial_state()).moves_to(found) is None


def test_a_fen_that_openspiel_alone_reads_is_searched_on_its_state(game):
    state = game.new_initial_state("7/8/8/3pP3/8/8/8/7K w - d6 0 1")  # A row of seven squares.
    assert compiled_games.position(state) is None
    result = Searcher(seed=1).search(OpenSpielState(state), Limit(simulations=5))
    assert result.provider != "compiled rules"


@pytest.mark.parametrize(
    ("fen", "told"),
    [
        ("8/8/8/8/8/8/8/K6k w", "it has 2 fields"),
        ("8/8/8/8/8/8/K6k w - - 0 1", "8 rows of 8 squares"),
        ("8/8/8/8/8/8/8/K5xk w - - 0 1", "8 rows of 8 squares"),
        ("8/8/8/8/8/8/8/K7k w - - 0 1", "8 rows of 8 squares"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "no pieces"),
        ("8/8/8/8/8/8/8/K6k x - - 0 1", "w or b, got 'x'"),
        ("8/8/8/8/8/8/8/K6k w - - x 1", "numbers of moves: 'x 1'"),
        ("8/8/8/8/8/8/8/K6k w - - 0 -1", "numbers of moves: '0 -1'"),
        ("8/8/8/8/8/8/8/K6k w - a9 0 1", "'a9' is no square that a pawn"),
        ("7k/8/8/8/3Pp3/8/8/7K w - d3 3 1", "'d3' is no square that a pawn"),
        ("7k/8/8/4P3/8/8/8/7K w - d6 3 1", "no pawn has just passed over 'd6'"),
        ("7k/8/3n4/3pP3/8/8/8/7K w - d6 3 1", "no pawn has just passed over 'd6'"),
        ("k6r/8/8/8/8/8/8/R6K w Q - 0 1", "no castling"),
    ],
)
def test_a_fen_with_a_mistake_is_refused(fen, told):
    with pytest.raises(ValueError, match=told):
        Antichess(fen=fen)


def test_a_position_that_comes_a_third_time_is_a_draw(game):
    state, own = game.new_initial_state(), Antichess().new_initial_state()
    play_both(state, own, KNIGHTS)
    assert_same(own, state)
    play_both(state, own, KNIGHTS)
    assert_same(own, state)
    assert own.is_terminal()
    assert own.returns() == [0, 0]


def test_a_position_is_another_where_a_pawn_can_be_taken_en_passant(game):
    fen = "1n4k1/8/8/8/3p4/8/4P3/6N1 w - - 0 1"
    state, own = game.new_initial_state(fen), placed(fen)
    play_both(state, own, ["e4", "Nc6", "Nh3", "Nb8", "Ng1", "Nc6", "Nh3", "Nb8", "Ng1"])
    assert_same(own, state)
    assert not own.is_terminal()
    play_both(state, own, ["Nc6"])
    assert own.is_terminal()
    assert_same(own, state)


def test_no_move_wins_even_where_fifty_moves_are_over(game):
    own = placed(FENS["no move"])
    assert_same(own, game.new_initial_state(FENS["no move"]))
    assert own.returns() == [-1, 1]
