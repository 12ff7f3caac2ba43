"""Playouts of Hex, Y and Havannah in which bridges are kept."""

import random

import pytest
from helpers.drawn_playouts import playouts_of
from helpers.lines_of_play import played

from rave_agents.games.havannah import Havannah
from rave_agents.games.hex import Hex
from rave_agents.games.y import Y

NEIGHBOURS = {(0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1)}
AROUND_IN_HAVANNAH = {(0, 1), (1, 0), (1, 1), (0, -1), (-1, 0), (-1, -1)}


def first_moves(state, *, sensible=True):
    return {playout[0] for playout in playouts_of(state, 60, sensible=sensible)}


def at(row, column, columns=5):
    return row * columns + column


@pytest.mark.parametrize(
    ("moves", "answer"),
    [
        ([at(1, 1), at(4, 4), at(2, 2), at(1, 2)], at(2, 1)),
        ([at(1, 2), at(0, 2)], at(0, 3)),
        ([at(3, 2), at(4, 2)], at(4, 1)),
        ([at(4, 4), at(2, 1), at(2, 0)], at(3, 0)),
        ([at(4, 4), at(2, 3), at(2, 4)], at(1, 4)),
    ],
    ids=["between stones", "above", "below", "left", "right"],
)
def test_who_is_cut_into_answers_on_the_other_cell(moves, answer):
    state = played(Hex(num_cols=5, num_rows=5), moves)
    assert first_moves(state) == {answer}
    assert len(first_moves(state, sensible=False)) > 5


@pytest.mark.parametrize(
    "moves",
    [[at(2, 1), at(2, 0)], [at(1, 1), at(2, 1), at(2, 2), at(1, 2)], []],
    ids=["the opponent's side", "no bridge any more", "the first move"],
)
def test_where_no_bridge_is_cut_into_any_cell_is_drawn(moves):
    assert len(first_moves(played(Hex(num_cols=5, num_rows=5), moves))) > 10


def test_all_sides_of_y_are_both_players():
    rules = Y(board_size=5)
    assert first_moves(played(rules, [at(1, 1), at(0, 1)])) == {at(0, 2)}
    assert first_moves(played(rules, [at(4, 0), at(1, 1), at(1, 0)])) == {at(2, 0)}
    assert first_moves(played(rules, [at(1, 2), at(2, 2)])) == {at(1, 3)}


def answers(rules, owned, player, last):
    """The cells beside the last stone that lie between two stones, or sides, of a player's."""
    rows, columns = rules.board_shape
    cells = {divmod(int(cell), columns) for cell in rules.points}

    def is_own(place):
        if place in cells:
            return owned.get(place) == player
        if not isinstance(rules, Hex):
            return True
        beyond_rows, beyond_columns = (
            not 0 <= place[axis] < side for axis, side in enumerate((rows, columns))
        )
        return (beyond_rows, beyond_columns)[player]

    found = set()
    neighbours = AROUND_IN_HAVANNAH if isinstance(rules, Havannah) else NEIGHBOURS
    for step in neighbours:
        near = last[0] + step[0], last[1] + step[1]
        if near in cells and near not in owned:
            both = [
                (last[0] + one[0], last[1] + one[1])
                for one in neighbours
                if (one[0] - step[0], one[1] - step[1]) in neighbours
            ]
            assert len(both) == 2
            if all(is_own(place) for place in both):
                found.add(near)
    return found


@pytest.mark.parametrize(
    "rules",
    [
        Hex(num_cols=4, num_rows=4),
        Hex(num_cols=7, num_rows=5),
        Hex(num_cols=3, num_rows=9),
        Hex(num_cols=2, num_rows=2),
        Y(board_size=5),
        Y(board_size=8),
        Havannah(board_size=3),
        Havannah(board_size=6),
    ],
    ids=str,
)
def test_every_cut_in_every_playout_is_answered(rules):
    draw, columns, cut, free = random.Random(5), rules.board_shape[1], 0, 0
    for _ in range(10):
        state = rules.new_initial_state()
        owned, last = {}, None
        for turn in range(draw.randrange(5)):
            if not state.is_terminal():
                move = draw.choice(state.legal_actions())
                state.apply_action(move)
                last = divmod(move, columns)
                owned[last] = turn % 2
        if state.is_terminal():
            continue
        for playout in playouts_of(state, 10, sensible=True):
            now, before, player = dict(owned), last, state.current_player()
            for move in playout:
                place = divmod(move, columns)
                needed = answers(rules, now, player, before) if before else set()
                assert place not in now
                assert not needed or place in needed
                cut, free = cut + bool(needed), free + (not needed)
                now[place], before, player = player, place, 1 - player
    assert free > 20
    assert cut > 20 or len(rules.points) < 10


def test_with_swap_moves_are_drawn_one_by_one():
    state = played(Hex(num_cols=5, num_rows=5, swap=True), [at(1, 2), at(0, 2)])
    assert len(first_moves(state)) > 10


def test_a_stone_of_havannah_that_was_swapped_is_answered():
    """Player 1 takes the stone over; player 0 cuts into its bridge to the edge."""
    rules = Havannah(board_size=4, swap=True)
    assert first_moves(played(rules, [at(1, 2, 7), at(1, 2, 7), at(0, 1, 7)])) == {at(0, 2, 7)}
