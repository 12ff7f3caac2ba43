import random

import pytest

from rave_agents import as_game
from rave_agents.plots.board import find_board
from rave_agents.plots.board_memory import BoardMemory


@pytest.mark.full(but=["hex(board_size=4)", "connect_four"])
@pytest.mark.parametrize(
    "name",
    [
        "hex(board_size=4)",
        "connect_four",
        "go(board_size=5)",
        "tic_tac_toe",
        "othello",
        "breakthrough(rows=6,columns=4)",
        "pentago",
        "y(board_size=4)",
        "havannah(board_size=3)",
    ],
)
def test_boards_are_those_that_are_found_anew(name):
    state, memory, draws = as_game(name).new_initial_state(), BoardMemory(), random.Random(1)
    for _ in range(14):
        if state.is_terminal():
            break
        found, kept = find_board(state), memory.board(state)
        assert kept.places == found.places
        assert [cell.piece for cell in kept.cells] == [cell.piece for cell in found.cells]
        assert kept.names == found.names
        assert kept.owners().items() >= found.owners().items()
        state.apply_action(draws.choice(state.legal_actions()))


def test_owners_are_known_when_the_game_is_over():
    state, memory = as_game("tic_tac_toe").new_initial_state(), BoardMemory()
    for action in (0, 3, 1, 4, 2):
        memory.board(state)
        state.apply_action(action)
    assert memory.board(state).owners() == {0: 0, 1: 0, 2: 0, 3: 1, 4: 1}


def test_a_board_of_stones_is_read_once_each_position(monkeypatch):
    state, memory = as_game("hex(board_size=5)").new_initial_state(), BoardMemory()
    for action in (12, 13, 7):
        memory.board(state)
        state.apply_action(action)
    monkeypatch.setattr("rave_agents.plots.board_memory.find_board", None)
    assert len(memory.board(state).places) == 22
