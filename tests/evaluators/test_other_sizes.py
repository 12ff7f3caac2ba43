"""Values of one size of a board on boards of other sizes."""

import numpy as np
import pytest
from helpers.random_values import random_value

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.evaluators import shipped
from rave_agents.evaluators.other_sizes import (
    _place_before,
    at_other_size,
    size_parameters,
)
from rave_agents.evaluators.symmetries import image_under
from rave_agents.evaluators.tuple_network import TupleNetwork, network_for
from rave_agents.games import rules_class

AUTO = SearchConfig.preset("auto")


def rules(rows=5, columns=4, name="breakthrough", **more):
    return rules_class(name)(rows=rows, columns=columns, **more)


@pytest.fixture
def ship(tmp_path, monkeypatch):
    """Ships values of one's own in the place of all others."""
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    shipped.value_for.cache_clear()
    yield lambda learned, **more: random_value(learned, **more).save(
        tmp_path / shipped.file_name(learned)
    )
    shipped.value_for.cache_clear()


def searched(game, config=AUTO):
    return Searcher(config, seed=1).search(game.new_initial_state(), Limit(simulations=20))


def test_a_window_lies_as_far_from_the_nearer_edge_as_before():
    assert [_place_before(place, 3, 6) for place in range(4)] == [0, 1, 5, 6]
    assert [_place_before(place, 9, 6) for place in range(10)] == [0, 1, 2, 3, 3, 3, 3, 4, 5, 6]
    assert [_place_before(place, 6, 6) for place in range(7)] == list(range(7))


@pytest.mark.parametrize("size", [(4, 4), (6, 4), (5, 6), (7, 5), (3, 3)])
def test_a_board_of_another_size_has_windows_of_the_same_shapes(size):
    other = rules(*size)
    found = at_other_size(random_value(rules()), other)
    expected = network_for(other)
    for view in (0, 1):
        assert {frozenset(each) for each in found.network.cells[view].tolist()} == {
            frozenset(each) for each in expected.cells[view].tolist()
        }
    assert (found.game, found.learned_on) == (str(other), str(rules()))


def network_of_bent_tuples(game):
    """A network that two players share, of tuples that are no windows."""
    tuples = (0, 1, 5, 9, 10), (2, 3, 6, 7, 11), (8, 12, 13, 16, 17), (10, 11, 14, 15, 19)
    exchange = image_under(game, game.exchange), (0, 2, 1)
    return TupleNetwork.of_tuples((5, 4, 3), [[each] for each in tuples], exchange)


@pytest.mark.parametrize("network", [network_for, network_of_bent_tuples])
def test_the_compiled_value_is_that_of_python(network):
    other = rules(6, 5)
    value = at_other_size(random_value(rules(), network=network(rules())), other)
    judged, state = value.judged(other), other.new_initial_state()
    cells = np.zeros(other.num_board_cells + judged.rules.judging_room, np.int8)
    for action in (0, 1):
        state.apply_action(state.legal_actions()[action])
        returns = np.zeros(2)
        judged.rules.judge(state.record, cells, judged.weights, returns)
        assert returns == pytest.approx(value(state), abs=1e-5)


def test_players_who_change_places_have_the_same_value():
    """Both have moved the same pawn on a board where they see the same."""
    other = rules(6, 4)
    value, state = at_other_size(random_value(rules()), other), other.new_initial_state()
    first = value(state)[0]
    network, cells = value.network, np.zeros(24, np.int8)
    other.describe_board(state.record, cells)
    turned = np.array([0, 2, 1], np.int8)[cells.reshape(6, 4)[::-1]].ravel()
    seen = [
        value.weights[0, 0, network.places(player, board[None])[0]].sum()
        for player, board in ((0, cells), (1, turned))
    ]
    assert seen[0] == pytest.approx(seen[1], abs=1e-5)
    assert -1 < first < 1


def test_auto_uses_a_value_of_another_size_where_its_file_says_so(ship):
    ship(rules(), other_sizes=True, backup="minimax_backup")
    result = searched(rules(6, 4))
    assert (result.known, result.other_size, result.minimax) == (str(rules()), True, False)
    assert f"learned for {rules()} on a board of another size" in result.summary()
    own = searched(rules())
    assert (own.known, own.other_size, own.minimax) == (str(rules()), False, True)
    assert searched(rules(6, 4), AUTO.replace(known=False)).known is None


def test_without_that_word_nothing_is_known_of_another_size(ship):
    ship(rules())
    assert searched(rules(6, 4)).known is None


@pytest.mark.slow
def test_the_nearest_size_is_taken(ship):
    for size in ((5, 4), (7, 6)):
        ship(rules(*size), other_sizes=True)
    for asked, found in (((6, 6), (7, 6)), ((4, 4), (5, 4))):
        assert shipped.value_for(rules(*asked)).learned_on == str(rules(*found))
    assert shipped.value_for(rules(7, 6)).learned_on is None


def test_levels_use_it_as_the_whole_agent_does(ship):
    ship(rules(), other_sizes=True)
    assert searched(rules(6, 4), AUTO.replace(level=1)).other_size


def test_another_parameter_that_is_no_size_is_another_game(ship):
    learned = rules(5, 5, "connect_four", x_in_row=4)
    value = random_value(learned, other_sizes=True)
    assert at_other_size(value, learned.replace(rows=6)) is not None
    assert at_other_size(value, learned.replace(rows=6, x_in_row=3)) is None
    assert at_other_size(value, learned.replace(x_in_row=3)) is None
    assert at_other_size(value, rules()) is None


@pytest.mark.parametrize(
    ("name", "small", "sizes"),
    [
        ("havannah", {"board_size": 3}, ["board_size"]),
        ("connect_four", {}, ["rows", "columns"]),
        ("gomoku", {"size": 5}, ["size"]),
        ("othello", {}, []),
        ("nim", {}, []),
    ],
)
def test_sizes_are_the_parameters_that_give_rows_or_columns(name, small, sizes):
    game = rules_class(name)(**small)
    assert size_parameters(game) == sizes


def test_the_word_is_checked():
    with pytest.raises(TypeError, match=r"other_sizes must be .* got 'yes'"):
        random_value(rules(), other_sizes="yes")
