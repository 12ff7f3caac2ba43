"""Boards that compiled rules show to a search that learns values from its playouts."""

import numpy as np
import pytest

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.games import rules_class
from rave_agents.games.kit.base_rules import MOST_KINDS
from rave_agents.kernel import codes
from rave_agents.kernel.values.online import COUNT, MOST_SAMPLES, LearnedEdges
from rave_agents.simulate.frame import Header
from rave_agents.tree.composition import searched_game

LEARNING = SearchConfig.preset("uct").replace(learning=SearchConfig.preset("auto").learning)


def start_of(name, **parameters):
    return rules_class(name)(**parameters).new_initial_state()


def searched(state, simulations, config=LEARNING):
    """A searcher after so many simulations, its frame and what it has learned."""
    searcher = Searcher(config, seed=1)
    searcher.search(state, Limit(simulations=simulations))
    search = searcher._trees.searches[0]
    return searcher, search._frame, search.tree.running.judging


def shown(state):
    """The numbers that tell the board of a position, written down in another way."""
    rules = state.rules
    cells = np.zeros(rules.num_board_cells, np.int8)
    rules.describe_board(state.record, cells)
    if rules.cell_kinds > MOST_KINDS:
        return cells.astype(np.float32)
    return np.concatenate([cells == kind for kind in range(1, rules.cell_kinds)]).astype(np.float32)


def played(state, moves):
    position = state.clone()
    for move in moves:
        position.apply_action(move)
    return position


GAMES = [("mancala", {}), ("connect_four", {}), ("clobber", {"rows": 3, "columns": 4})]


@pytest.mark.full(but=["mancala", "connect_four"])
@pytest.mark.parametrize(("name", "parameters"), GAMES, ids=[name for name, _ in GAMES])
def test_playouts_show_the_leaf_and_every_fourth_board(name, parameters):
    state = start_of(name, **parameters)
    for simulations in (1, 7, 15):
        _, frame, _ = searched(state, simulations)
        leaf = played(state, frame.path[: frame.header[Header.PATH_LENGTH]].tolist())
        moves = frame.move_actions[: frame.playout_ends[0]].tolist()
        boards = [played(leaf, moves[:end]) for end in range(0, len(moves), 4)][:MOST_SAMPLES]
        count = frame.header[Header.NUM_SAMPLES]
        assert frame.sample_players[:count].tolist() == [b.current_player() for b in boards]
        np.testing.assert_array_equal(frame.samples[:count], [shown(board) for board in boards])


@pytest.mark.full(but=["mancala", "connect_four"])
@pytest.mark.parametrize(("name", "parameters"), GAMES, ids=[name for name, _ in GAMES])
def test_a_new_node_shows_the_boards_of_its_children(name, parameters):
    state = start_of(name, **parameters)
    _, frame, _ = searched(state, 1)
    children = [played(state, [action]) for action in state.legal_actions()]
    count = len(children)
    assert frame.child_players[:count].tolist() == [c.current_player() for c in children]
    np.testing.assert_array_equal(frame.child_observations[:count], list(map(shown, children)))


@pytest.mark.parametrize("name", ["backgammon", "einstein_wurfelt_nicht", "pig"])
def test_games_with_chance_show_no_boards(name):
    """Their playouts cannot be played again by the moves of their players."""
    assert rules_class(name)().num_shown == 0


def test_every_shown_position_is_learned_from():
    _, frame, learned = searched(start_of("mancala"), 1)
    assert isinstance(learned, LearnedEdges)
    assert learned.errors[COUNT] == frame.header[Header.NUM_SAMPLES] > 4
    assert np.count_nonzero(learned.weights) > 0


def test_a_search_that_learns_nothing_is_shown_nothing():
    _, frame, _ = searched(start_of("mancala"), 5, SearchConfig.preset("uct"))
    assert frame.samples.size == frame.header[Header.NUM_SAMPLES] == 0


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("connect_four", 2 * 42), ("mancala", 14), ("pig", 0), ("nim", 0)],
    ids=["two kinds of stones", "many kinds of contents", "chance", "no board"],
)
def test_numbers_that_tell_a_board(name, numbers):
    """Of games with chance none: their playouts cannot be played again by their moves."""
    assert searched_game(start_of(name), LEARNING).observation == numbers


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "parameters", "simulations", "ends"),
    [
        ("hex", {"num_cols": 4, "num_rows": 4}, 400, True),
        ("connect_four", {}, 1000, True),
        ("mancala", {}, 1000, False),
    ],
    ids=["AMAF values are trusted", "values foretell little", "values foretell much"],
)
def test_learning_ends_where_it_does_not_pay(name, parameters, simulations, ends):
    state = start_of(name, **parameters)
    config = SearchConfig.preset("auto").replace(known=False)
    searcher, frame, learned = searched(state, simulations, config)
    assert bool(learned.ended[0]) == ends
    assert (frame.header[Header.CHECK_CHILDREN] == codes.OBSERVE_CHILDREN) != ends
    if ends:
        before = learned.errors[COUNT]
        assert before > 0
        assert frame.header[Header.NUM_SAMPLES] == MOST_SAMPLES  # So that none is shown.
        searcher.search(played(state, state.legal_actions()[:1]), Limit(simulations=100))
        learned = searcher._trees.searches[0].tree.running.judging
        assert (bool(learned.ended[0]), learned.errors[COUNT]) == (True, before)
