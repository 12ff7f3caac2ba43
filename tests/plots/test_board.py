"""A board is found from how a game prints a position and what its actions change there."""

import pettingzoo
import pyspiel
import pytest
import rave_openspiel  # noqa: F401  (it adds nogo)
from helpers.envs import begun
from helpers.stones import Stones
from rave_pettingzoo import RaveAgent

from rave_agents import UnsupportedGameError
from rave_agents.plots.board import Tiling, find_board
from rave_agents.plots.printed_board import read_board


def after(spec, *moves):
    state = pyspiel.load_game(spec).new_initial_state()
    for move in moves:
        names = {state.action_to_string(a): a for a in state.legal_actions()}
        state.apply_action(names[move])
    return state


def stones(board):
    """Where whose stones stand, by row and column."""
    return {(cell.row, cell.column): cell.owner for cell in board.cells if cell.piece is not None}


def goes(board, state, name):
    """Row and column of an action's source and target."""
    action = next(a for a in state.legal_actions() if state.action_to_string(a) == name)
    place = board.places[action]
    ends = (place.source, place.target)
    return [None if i is None else (board.cells[i].row, board.cells[i].column) for i in ends]


@pytest.mark.parametrize(
    ("spec", "tiling", "cells"),
    [
        ("hex(board_size=5)", Tiling.HEXAGONS, 25),
        ("hex(num_cols=4,num_rows=6)", Tiling.HEXAGONS, 24),
        ("y(board_size=5)", Tiling.HEXAGONS, 15),
        ("havannah(board_size=4)", Tiling.HEXAGONS, 37),
        ("dark_hex(board_size=3)", Tiling.HEXAGONS, 9),
        ("dark_hex_ir(board_size=3)", Tiling.HEXAGONS, 9),
        ("chinese_checkers", Tiling.HEXAGONS, 121),
        ("go(board_size=5)", Tiling.POINTS, 25),
        ("nogo(board_size=5)", Tiling.POINTS, 25),
        ("gomoku(size=7)", Tiling.POINTS, 49),
        ("othello", Tiling.SQUARES, 64),
        ("tic_tac_toe", Tiling.SQUARES, 9),
        ("mnk(m=5,n=4,k=4)", Tiling.SQUARES, 20),
        ("connect_four", Tiling.SQUARES, 42),
        ("breakthrough(rows=6,columns=5)", Tiling.SQUARES, 30),
        ("clobber(rows=4,columns=5)", Tiling.SQUARES, 20),
        ("lines_of_action", Tiling.SQUARES, 64),
        ("amazons", Tiling.SQUARES, 100),
        ("checkers", Tiling.SQUARES, 64),
        ("chess", Tiling.SQUARES, 64),
        ("pentago", Tiling.SQUARES, 36),
        ("twixt", Tiling.SQUARES, 60),
    ],
)
def test_every_legal_action_of_a_board_game_has_a_place_on_its_board(spec, tiling, cells):
    state = pyspiel.load_game(spec).new_initial_state()
    board = find_board(state)
    assert (board.tiling, len(board.cells)) == (tiling, cells)
    named = {a for a in state.legal_actions() if not state.action_to_string(a).endswith("PASS")}
    assert set(board.places) == named


@pytest.mark.parametrize("spec", ["blackjack", "kuhn_poker", "pig", "matrix_rps", "liars_dice"])
def test_a_game_without_a_board_is_named_in_the_error(spec):
    state = pyspiel.load_game(spec).new_initial_state()
    with pytest.raises(UnsupportedGameError, match=spec):
        find_board(state)


def test_what_is_no_state_is_refused():
    with pytest.raises(TypeError, match="must be a GameState"):
        find_board("x . o")


def test_neighbours_on_a_hexagonal_board_are_one_apart():
    board = find_board(pyspiel.load_game("hex(board_size=4)").new_initial_state())
    places = {name: (cell.x, cell.y) for name, cell in zip(board.names, board.cells, strict=True)}
    (x, y) = places["b2"]
    for name in ("b1", "c1", "a2", "c2", "a3", "b3"):
        assert (places[name][0] - x) ** 2 + (places[name][1] - y) ** 2 == pytest.approx(1.0)


@pytest.mark.parametrize("spec", ["havannah(board_size=4)", "y(board_size=5)", "hex(board_size=5)"])
def test_cells_have_the_names_of_the_actions_that_go_there(spec):
    state = pyspiel.load_game(spec).new_initial_state()
    board = find_board(state)
    for action, place in board.places.items():
        assert board.names[place.target] == state.action_to_string(action)


def test_stones_are_their_players():
    assert stones(find_board(after("tic_tac_toe", "x(1,1)", "o(0,2)"))) == {(1, 1): 0, (0, 2): 1}
    assert stones(find_board(after("go(board_size=5)", "B a1", "W c3"))) == {(4, 0): 0, (2, 2): 1}
    assert stones(find_board(after("havannah(board_size=3)", "a1", "b1"))) == {(0, 2): 0, (0, 4): 1}


def test_pieces_of_many_kinds_are_told_apart_by_the_case_of_their_letters():
    board = find_board(pyspiel.load_game("chess").new_initial_state())
    owners = [cell.owner for cell in board.cells]
    assert owners == [0] * 16 + [None] * 32 + [1] * 16


def test_a_piece_that_both_players_add_belongs_to_nobody():
    state = pyspiel.load_game("amazons").new_initial_state()
    for _ in range(9):
        state.apply_action(state.legal_actions()[0])
    board = find_board(state)
    owners = {(cell.piece, cell.owner) for cell in board.cells if cell.piece}
    assert owners == {("X", 0), ("O", 1), ("#", None)}


def test_a_finished_game_hides_nothing():
    state = pyspiel.load_game("phantom_ttt").new_initial_state()
    for action in (4, 0, 1, 2, 7):
        state.apply_action(action)
    assert state.is_terminal()
    assert len(find_board(state).owners()) == 5


def test_a_finished_game_still_shows_its_stones():
    state = after("tic_tac_toe", "x(1,1)", "o(0,0)", "x(0,1)", "o(1,0)", "x(2,1)")
    board = find_board(state)
    assert state.is_terminal()
    assert not board.places
    assert list(stones(board).values()).count(0) == 3


def test_a_stone_falls_to_the_lowest_empty_cell():
    state = after("connect_four", "x3", "o3")
    assert goes(find_board(state), state, "x3") == [None, (3, 3)]
    assert goes(find_board(state), state, "x0") == [None, (5, 0)]


def test_stones_that_are_turned_are_not_the_target():
    state = pyspiel.load_game("othello").new_initial_state()
    assert goes(find_board(state), state, "d3") == [None, (2, 3)]


def test_a_captured_stone_is_not_the_source():
    state = after("go(board_size=5)", "B b1", "W a1")
    assert goes(find_board(state), state, "B a2") == [None, (3, 0)]


def test_a_move_has_a_source_and_a_target_with_or_without_a_capture():
    state = after("breakthrough(rows=6,columns=5)", "a5b4", "b2b3", "b4c3")
    board = find_board(state)
    assert goes(board, state, "b3b4") == [(3, 1), (2, 1)]
    assert goes(board, state, "d2c3*") == [(4, 3), (3, 2)]


def test_a_promoted_piece_comes_from_its_pawn():
    state = pyspiel.load_game("chess").new_initial_state("8/P6k/8/8/8/8/8/K7 w - - 0 1")
    assert goes(find_board(state), state, "a8=Q") == [(1, 0), (0, 0)]


def test_a_player_s_board_does_not_show_what_is_hidden_from_them():
    state = after("phantom_ttt", "x(1,1)", "o(0,2)")
    assert stones(find_board(state)) == {(1, 1): 0}


def test_finding_a_board_leaves_the_state_as_it_is():
    state = after("hex(board_size=4)", "a1", "b2")
    before = str(state), state.history()
    find_board(state)
    assert (str(state), state.history()) == before


def test_an_environment_s_observation_shows_its_board():
    env = begun(pettingzoo.make("aec", "classic/connect_four-v3"))
    env.step(2)
    agent = RaveAgent(env, simulations=50, seed=1, translate=False)
    agent.act()
    board = find_board(agent.last_result.state)
    assert list(stones(board)) == [(5, 2)]
    place = board.places[2]
    assert (board.cells[place.target].row, board.cells[place.target].column) == (4, 2)


def test_a_state_of_one_s_own_has_a_board_once_it_prints_one():
    board = find_board(Stones("A....B"))
    assert stones(board) == {(0, 0): 0, (1, 2): 1}
    assert set(board.places) == {1, 2, 3, 4}


def test_numbers_and_letters_around_a_board_are_no_cells():
    board = read_board("  a b c\n1 x . o 1\n2 . . . 2\n3 o . x 3\n  a b c\n")
    assert [cell.piece for cell in board.cells] == list("x.o...o.x")


def test_sentences_are_no_boards():
    assert read_board("Player: 1\nScore: 2\n") is None
    assert read_board("") is None


def test_a_go_environment_s_board_has_points():
    env = begun(pettingzoo.make("aec", "classic/go-v5", board_size=5))
    agent = RaveAgent(env, simulations=10, seed=1)
    agent.act()
    assert find_board(agent.last_result.state).tiling is Tiling.POINTS
