"""What positions on compiled rules show is what OpenSpiel's states show."""

import json
import multiprocessing
import random
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pyspiel
import pytest
from rave_openspiel import OpenSpielState, compiled_games

from rave_agents import Limit, Searcher
from rave_agents.games import rules_class

SHOWN = [
    "amazons(board_size=6)",
    "amazons",
    "antichess",
    "checkers",
    "checkers(rows=10,columns=10,egocentric=true)",
    "clobber(rows=3,columns=4)",
    "clobber(rows=11,columns=2)",
    "dots_and_boxes(num_rows=2,num_cols=3)",
    "dots_and_boxes(num_rows=3,num_cols=1,utility_margin=true)",
    "quoridor",
    "quoridor(board_size=3,ansi_color_output=true)",
    "quoridor(board_size=4,wall_count=20)",
    "quoridor(board_size=10,wall_count=3,ansi_color_output=true)",
    "mancala",
    "ultimate_tic_tac_toe",
    "oware",
    "oware(num_houses_per_player=3,num_seeds_per_house=5)",
    "tic_tac_toe",
    "mnk",
    "mnk(m=7,n=4,k=3)",
    "mnk(m=62,n=3,k=6)",
    "gomoku(size=9)",
    "gomoku(size=4,anti=true,wrap=true,connect=3)",
    "gomoku(size=9,dims=1,connect=3)",
    "gomoku(size=4,dims=3,connect=4,anti=true)",
    "gomoku(size=3,dims=4,connect=3)",
    "pentago",
    "nim",
    "nim(is_misere=false)",
    "nim(pile_sizes=3;0;2,is_misere=false)",
    "pig",
    "pig(winscore=12,horizon=9)",
    "pig(players=3,winscore=20,piglet=true,diceoutcomes=4)",
    "pig(players=10,winscore=30)",
    "pig(winscore=1,diceoutcomes=100)",
    "nine_mens_morris",
    "einstein_wurfelt_nicht",
    "backgammon",
    "backgammon(hyper_backgammon=true,scoring_type=enable_gammons)",
    "backgammon(max_player_turns=25,scoring_type=enable_gammons)",
    "backgammon(scoring_type=full_scoring)",
]

TWIXT = ["", "board_size=5", "board_size=10,ansi_color_output=false"]


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """The texts and tensors are plain Python; nothing here is worth compiling."""
    monkeypatch.delenv("RAVE_AGENTS_GAMES", raising=False)


@pytest.mark.full(but=["clobber(rows=3,columns=4)", "mancala", "nim"])
@pytest.mark.parametrize("spec", SHOWN)
def test_texts_tensors_and_utilities_are_openspiels(spec):
    compare(spec)


@pytest.mark.full
@pytest.mark.parametrize("parameters", TWIXT)
def test_texts_and_tensors_of_twixt_are_openspiels(parameters):
    """Each size in a process of its own: in one, OpenSpiel keeps the shape of its first tensor."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        pool.submit(compare, f"twixt({parameters})").result()


def compare(spec):
    """Compare random games, position by position."""
    game = pyspiel.load_game(spec)
    rules, draw = compiled_games.rules_of(game), random.Random(1)
    for _ in range(3):
        state, own = game.new_initial_state(), rules.new_initial_state()
        while True:
            assert str(own) == str(state)
            for player in range(game.num_players()):
                shown = own.observation(player).ravel()
                np.testing.assert_array_equal(
                    shown, np.array(state.observation_tensor(player), np.float32)
                )
            if state.is_terminal():
                break
            for action in state.legal_actions():
                assert own.action_to_string(action) == state.action_to_string(action)
            action = draw.choice(state.legal_actions())
            state.apply_action(action)
            own.apply_action(action)
        assert own.returns() == state.returns()
    for name in ("num_distinct_actions", "min_utility", "max_utility", "utility_sum"):
        assert getattr(own, name)() == getattr(game, name)()


def board_of(name, moves, **parameters):
    """The board that learned values look at, after some moves."""
    rules = rules_class(name)(**parameters)
    state = rules.new_initial_state()
    state.play_through(moves)
    cells = np.full(rules.num_board_cells, -1, np.int8)
    rules.describe_board(state.record, cells)
    return cells.reshape(rules.board_shape).tolist()


def test_lines_and_boxes_are_described_where_they_are():
    assert board_of("dots_and_boxes", [0, 6, 1, 2, 7], num_rows=1, num_cols=3) == [
        [0, 1, 0, 1, 0, 1, 0],
        [1, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
    ]
    assert board_of("dots_and_boxes", [0, 1, 2, 3], num_rows=1, num_cols=1) == [
        [0, 1, 0],
        [1, 3, 1],
        [0, 1, 0],
    ]


def test_seeds_are_described_with_stores_and_scores():
    assert board_of("mancala", [3, 6]) == [[4, 4, 0, 5, 5, 0, 2], [5, 5, 5, 5, 4, 4, 0]]
    found = board_of("oware", [0, 1], num_houses_per_player=2, num_seeds_per_house=2)
    assert found == [[1, 4, 3], [0, 0, 0]]


def test_cubes_are_described_by_their_numbers_and_colours():
    assert board_of("einstein_wurfelt_nicht", [0, 719]) == [
        [1, 2, 3, 0, 0],
        [4, 5, 0, 0, 0],
        [6, 0, 0, 0, 12],
        [0, 0, 0, 11, 10],
        [0, 0, 9, 8, 7],
    ]


def test_men_of_backgammon_are_described_as_each_player_moves():
    start = [0, 2, *[0] * 10, 5, *[0] * 4, 3, 0, 5, *[0] * 6]
    assert board_of("backgammon", []) == [start, start]
    # Of X's men on the first point, one goes one point and the other two.
    moved = [0, 0, 1, 1, *start[4:]]
    assert board_of("backgammon", [0, 0]) == [moved, start]


@pytest.mark.parametrize(
    ("spec", "text", "moves"),
    [
        ("clobber(rows=2,columns=3)", "0xox.xo", []),
        ("clobber(rows=2,columns=2)", "0oxxo", []),
        ("clobber(rows=2,columns=4)", "0xox.oxox", [25, 11]),  # As from the start, but for a stone.
        ("dots_and_boxes(num_rows=1,num_cols=1)", "1000", [1]),
        ("dots_and_boxes(num_rows=1,num_cols=2)", "1111001", [4]),
        ("gomoku(size=3,connect=3)", json.dumps("Bb..w....."), []),
        ("gomoku(size=3,connect=3)", json.dumps("W........."), [4]),
        ("gomoku(size=3,dims=3,connect=3)", json.dumps("Bb" + 25 * "." + "w"), [3, 4]),
    ],
)
def test_a_position_that_was_set_up_is_searched_on_openspiels_state(spec, text, moves):
    """These states do not tell where they began."""
    state = pyspiel.load_game(spec).new_initial_state(text)
    for move in moves:
        state.apply_action(move)
    assert compiled_games.position(state) is None
    result = Searcher(seed=1).search(OpenSpielState(state), Limit(simulations=5))
    assert result.provider != "compiled rules"
