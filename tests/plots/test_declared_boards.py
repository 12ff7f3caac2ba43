"""Boards that games declare, since their text shows none, and boards where chance moves."""

import random

import pytest
from helpers.stones import Stones

from rave_agents import as_game
from rave_agents.game.board import Board, Cell, Place, Tiling
from rave_agents.plots.board import find_board
from rave_agents.plots.board_plot import draw_board
from rave_agents.plots.board_svg import board_svg, cell_label
from rave_agents.plots.figures import panels

GAMES = [
    "mancala",
    "oware",
    "dots_and_boxes",
    "nim",
    "backgammon",
    "einstein_wurfelt_nicht",
    "nine_mens_morris",
    "quoridor(board_size=5)",
    "ultimate_tic_tac_toe",
]


def random_game(name, seed, moves=60):
    state, draws = as_game(name).new_initial_state(), random.Random(seed)
    for _ in range(moves):
        yield state
        if state.is_terminal():
            return
        chance = state.is_chance_node()
        actions = [a for a, _ in state.chance_outcomes()] if chance else state.legal_actions()
        state.apply_action(int(draws.choice(list(actions))))


def pictured(board):
    """The board by both ways to draw it."""
    _, (axes,) = panels(1, width=3, height=3)
    draw_board(axes, board, dict.fromkeys(board.places, 1.0))
    return board_svg(board, name="")


@pytest.mark.full(but=["mancala"])
@pytest.mark.parametrize("name", GAMES)
def test_every_action_but_a_pass_has_a_place(name):
    drawn = None
    for state in random_game(name, seed=2):
        board = find_board(state)
        drawn = drawn or board
        assert [(c.x, c.y, c.width) for c in board.cells] == [
            (c.x, c.y, c.width) for c in drawn.cells
        ]
        if state.is_terminal() or state.is_chance_node():
            assert not board.places
            continue
        mover = state.current_player()
        named = {a for a in state.legal_actions() if state.action_to_string(mover, a) != "Pass"}
        assert board.places.keys() == named
        owners = board.owners()
        for place in board.places.values():
            assert owners.get(place.source, mover) == mover
    assert pictured(board).count('class="cell') == len(board.cells)


def test_points_of_morris_are_joined_by_its_lines_alone():
    board = find_board(as_game("nine_mens_morris").new_initial_state())
    assert len(board.cells) == 24
    assert {(0, 1), (1, 2), (0, 9), (1, 4), (9, 10)} <= set(board.lines)
    assert (0, 3) not in board.lines
    assert (11, 12) not in board.lines
    assert board_svg(board).count('class="line"') == len(board.lines) == 32


def test_pits_hold_the_seeds_that_the_game_prints():
    for state in random_game("mancala", seed=1):
        board = find_board(state)
        counts = [cell.count if cell.piece else 0 for cell in board.cells]
        above, stores, below, *_ = str(state).splitlines()
        ends = [text for text in stores.split("-") if text]
        assert [counts[0], counts[-1]] == list(map(int, ends))
        assert [str(n) for n in counts[1:7]] == above.strip("-").split("-")
        assert [str(n) for n in counts[7:13]] == below.strip("-").split("-")
    assert f">{counts[-1]}</text>" in pictured(board)


@pytest.mark.full
def test_each_line_of_dots_and_boxes_is_taken_where_it_is_clicked():
    for state in random_game("dots_and_boxes", seed=4):
        places = find_board(state).places
        for action, place in places.items():
            child = state.clone()
            child.apply_action(action)
            cell = find_board(child).cells[place.target]
            assert (cell.piece, cell.owner) == ("line", state.current_player())
            assert cell.is_narrow


@pytest.mark.full
def test_men_of_backgammon_go_from_the_source_to_the_target():
    for state in random_game("backgammon", seed=3):
        before = find_board(state)
        mover = state.current_player()
        for action, place in list(before.places.items())[:10]:
            child = state.clone()
            child.apply_action(action)
            after = find_board(child)
            assert before.cells[place.source].owner == mover
            came = after.cells[place.target]
            # The second step of the same man goes on from there.
            assert (
                came.owner == mover
                or place.target
                in [other.source for a, other in before.places.items() if a != action]
                or came.piece is None
            )
    assert "5 times man" in " ".join(cell_label(find_board(start()), i) for i in range(24))


def start():
    return as_game("backgammon").new_initial_state()


def test_a_printed_board_is_found_where_chance_moves():
    board = find_board(Stones("A.B.", tossed=False))
    assert [cell.piece for cell in board.cells] == ["A", None, "B", None]
    assert board.owners() == {0: 0, 2: 1}
    assert not board.places


SQUARE = Cell(row=0, column=0, x=0.0, y=0.0, piece=None, owner=None)
ONE_CELL = {"tiling": Tiling.SQUARES, "cells": (SQUARE,), "places": {}}


@pytest.mark.parametrize(
    ("declared", "error", "says"),
    [
        ("x . o", TypeError, "must return a Board"),
        (Board(**ONE_CELL | {"places": {3: Place(1)}}), ValueError, "action 3 at .*, but 1 cells"),
        (Board(**ONE_CELL, names=("a1", "a2")), ValueError, "2 names for 1 cells"),
    ],
)
def test_a_board_that_is_none_is_refused(declared, error, says):
    class Declaring(Stones):
        def drawn_board(self):
            return declared

    with pytest.raises(error, match=says):
        find_board(Declaring())


def test_a_game_of_ones_own_declares_its_board():
    class Declaring(Stones):
        def drawn_board(self):
            return Board(**ONE_CELL)

    assert find_board(Declaring()).cells == (SQUARE,)
