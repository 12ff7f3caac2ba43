import random

import numpy as np
import pytest
import scipy
from helpers import slow_nogo

from rave_agents.analysis.solve import solve_position
from rave_agents.game.notation import apply_moves
from rave_agents.games import NoGoState, stones
from rave_agents.games.kit.rules_simulator import RulesSimulator
from rave_agents.simulate.random_stream import make_stream
from rave_agents.simulate.simulator import Header, Status, make_frame, simulated
from rave_agents.testing import check_game_state

SIZES = range(2, 20)
GAMES = 60


def games_by_size():
    """How many of the random games each size gets: the smaller the board, the more."""
    weights = np.array([1 / size**3 for size in SIZES])
    counts = np.maximum(1, (GAMES * weights / weights.sum()).astype(int))
    counts[0] += GAMES - counts.sum()
    return dict(zip(SIZES, counts.tolist(), strict=True))


def position(text, size=5):
    state = NoGoState(size)
    apply_moves(state, text)
    return state


def names(state):
    return [state.action_to_string(0, action) for action in state.legal_actions()]


@pytest.mark.full
def test_random_games_are_those_of_the_slow_rules():
    counts = games_by_size()
    assert sum(counts.values()) == GAMES
    draw = random.Random(1)
    for size, games in counts.items():
        start = NoGoState(size)
        for _ in range(games):
            state, stones, player = start.clone(), slow_nogo.empty(size), 0
            while True:
                expected = slow_nogo.legal_moves(stones, player)
                assert state.legal_actions() == expected.tolist()
                assert state.is_terminal() == (len(expected) == 0)
                if len(expected) == 0:
                    break
                action = int(expected[draw.randrange(len(expected))])
                state.apply_action(action)
                stones[action // size, action % size] = player
                player = 1 - player


def test_moves_that_are_drawn_are_the_legal_ones_equally_often():
    state = NoGoState(3)
    for action in (4, 0, 8):
        state.apply_action(action)
    legal = state.legal_actions()
    playouts = 400
    simulator, frame = provider(state, playouts=playouts, move_capacity=playouts * 9)
    assert simulated(simulator, frame) == Status.DONE
    firsts = frame.move_actions[np.r_[0, frame.playout_ends[:-1]]]
    draws = np.bincount(firsts, minlength=9)
    assert np.flatnonzero(draws).tolist() == legal
    expected = playouts / len(legal)
    assert np.all(np.abs(draws[legal] - expected) < 5 * np.sqrt(expected))


@pytest.mark.parametrize(
    ("moves", "illegal"),
    [
        ("b1 a1 a3 e5", "a2"),  # it would capture a1
        ("a2 e5 b1", "a1"),  # suicide in the corner
        ("a1 b1 a2 b2 e5", "a3"),  # it would capture a chain of two
        ("a3 e5 b2 e4 b1 a2 e1", "a1"),  # suicide of two
    ],
)
def test_neither_capture_nor_suicide_is_legal(moves, illegal):
    state = position(moves)
    action = state.string_to_action(illegal)
    assert state.colours()[action] == stones.EMPTY
    assert action not in state.legal_actions()


def test_a_point_that_one_player_may_not_take_may_be_free_for_the_other():
    state = position("a2 e5 b1 e4")
    assert "a1" in names(state)


def test_who_cannot_move_loses():
    state = position("a1 b2 b1", 2)
    assert state.is_terminal()
    assert state.legal_actions() == []
    assert state.returns() == [1.0, -1.0]


@pytest.mark.full(but=["2"])
@pytest.mark.parametrize("size", [2, 3, 5, 9, 19])
def test_it_is_a_game_state(size):
    check_game_state(lambda: NoGoState(size), games=2)


def test_coordinates_leave_i_out():
    state = NoGoState(9)
    assert state.action_to_string(0, 0) == "a1"
    assert state.action_to_string(0, 8) == "j1"
    assert state.action_to_string(0, 80) == "j9"
    assert state.string_to_action("J9") == 80


@pytest.mark.parametrize("text", ["", "i1", "a0", "a10", "k1", "aa", "5"])
def test_what_is_no_point_is_refused(text):
    with pytest.raises(ValueError, match="point"):
        NoGoState(9).string_to_action(text)


@pytest.mark.parametrize("size", [1, 20, -3])
def test_sizes_that_are_not_allowed(size):
    with pytest.raises(ValueError, match=f"board_size must be an integer from 2 to 19, got {size}"):
        NoGoState(size)


@pytest.mark.parametrize("action", [-1, 25, 12])
def test_an_illegal_action_is_refused(action):
    state = position("c3")
    with pytest.raises(ValueError, match=f"Action {action} is not legal"):
        state.apply_action(action)


def test_the_board_is_shown_with_coordinates():
    assert str(position("a1 e5", 5)).splitlines() == [
        " 5 . . . . O",
        " 4 . . . . .",
        " 3 . . . . .",
        " 2 . . . . .",
        " 1 X . . . .",
        "   A B C D E",
    ]


def provider(state, **sizes):
    frame = make_frame(
        num_players=2, playout_stream=make_stream(np.random.SeedSequence(5)), **sizes
    )
    return RulesSimulator(state.rules, state._root, frame), frame


def test_a_simulation_plays_legal_moves_to_the_end():
    state = position("c3 c4", 9)
    simulator, frame = provider(state, playouts=3)
    frame.path[:2] = [0, 80]
    frame.header[Header.PATH_LENGTH] = 2
    frame.header[Header.EXPAND] = 1
    assert simulated(simulator, frame) == Status.DONE
    leaf = state.clone()
    leaf.apply_action(0)
    leaf.apply_action(80)
    assert frame.header[Header.PLAYER] == 0
    assert frame.actions[: frame.header[Header.NUM_ACTIONS]].tolist() == leaf.legal_actions()
    start = 0
    for playout in range(3):
        played = leaf.clone()
        end = int(frame.playout_ends[playout])
        for index in range(start, end):
            assert frame.move_players[index] == played.current_player()
            played.apply_action(int(frame.move_actions[index]))
        assert played.is_terminal()
        assert frame.returns[playout].tolist() == played.returns()
        start = end


def test_moves_are_drawn_in_proportion_to_their_weights():
    weights = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 4.0, 8.0]])
    state = position("a1", 2)
    legal = state.legal_actions()
    player = state.current_player()
    playouts = 800
    _, frame = provided = provider(
        state, playouts=playouts, move_capacity=4 * playouts, action_weights=weights
    )
    assert simulated(*provided) == Status.DONE
    firsts = frame.move_actions[np.r_[0, frame.playout_ends[:-1]]]
    assert (frame.move_players[np.r_[0, frame.playout_ends[:-1]]] == player).all()
    expected = playouts * weights[player, legal] / weights[player, legal].sum()
    counts = [(firsts == action).sum() for action in legal]
    assert scipy.stats.chisquare(counts, expected).pvalue > 0.001


@pytest.mark.parametrize(
    ("sizes", "field"),
    [
        ({"action_capacity": 8}, Header.REQUIRED_ACTIONS),
        ({"move_capacity": 9}, Header.REQUIRED_MOVES),
    ],
)
def test_a_frame_that_is_too_small_is_told(sizes, field):
    simulator, frame = provider(NoGoState(9), playouts=1, **sizes)
    frame.header[Header.EXPAND] = 1
    assert simulated(simulator, frame) == Status.FRAME_FULL
    assert frame.header[field] >= 81


@pytest.mark.full
@pytest.mark.parametrize(("size", "first_player_wins"), [(2, True), (3, True)])
def test_the_solver_and_the_slow_rules_agree_on_small_boards(size, first_player_wins):
    memory = slow_nogo.numba.typed.Dict.empty(
        slow_nogo.numba.types.int64, slow_nogo.numba.types.boolean
    )
    assert slow_nogo.wins(slow_nogo.empty(size), 0, memory) == first_player_wins
    assert solve_position(NoGoState(size)).proven == ("win" if first_player_wins else "loss")


@pytest.mark.full
def test_4x4_is_solved_as_published():
    # Müller's pages on NoGo: 1. a1 d4 wins for White, as all symmetrical replies do. Two moves on,
    # our own solver finds the same.
    state = position("a1 d4 b1 c4", 4)
    assert solve_position(state).proven == "loss"
