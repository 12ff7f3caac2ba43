"""Boards set by hand: an agent goes by the board, not by the list of moves."""

import chess
import pytest
from helpers import zoo
from rave_pettingzoo import AECState, UCTAgent, game_state, translation


def states(name, actions):
    """The position before and after the actions."""
    env = zoo.classic(name)
    before = AECState(env)
    for action in actions:
        env.step(action)
    return before, env


def clear_go(env):
    """Take a stone off the board, and leave the list of moves as it is."""
    raw = env.unwrapped
    position, board = raw._go, raw._go.board.copy()
    board[0, 0] = 0
    told = {name: getattr(position, name) for name in ("n", "komi", "recent", "to_play")}
    raw._go = type(position)(board=board, **told)
    raw.next_legal_moves = raw._encode_legal_actions(raw._go.all_legal_moves())


def clear_chess(env):
    chess.BaseBoard.remove_piece_at(env.unwrapped.board, chess.D8)  # The moves stay.


def clear_connect_four(env):
    board = env.unwrapped.board
    board[max(cell for cell in range(42) if board[cell])] = 0


def clear_tictactoe(env):
    squares = env.unwrapped.board.squares
    squares[next(cell for cell in range(9) if squares[cell])] = 0


EDITS = {
    "go-v5": ((0, 7, 12), clear_go),
    "chess-v6": ((77, 77), clear_chess),
    "connect_four-v3": ((3, 3, 2), clear_connect_four),
    "tictactoe-v3": ((0, 4, 8), clear_tictactoe),
}


@pytest.mark.parametrize("name", EDITS)
def test_moves_lead_to_a_board_but_not_to_one_that_was_edited(name):
    actions, edit = EDITS[name]
    before, env = states(name, actions)
    after = AECState(env)
    assert sorted(before.moves_to(after)) == sorted(actions)
    assert after.position_key() == AECState(env).position_key()
    edit(env)
    edited = AECState(env)
    assert edited.position_key() != after.position_key()
    assert len(before.moves_to(edited) or ()) != len(actions)
    assert after.moves_to(edited) is None


@pytest.mark.parametrize("name", ["go-v5", "chess-v6"])
def test_a_board_that_was_edited_is_not_translated_by_its_moves(name):
    actions, edit = EDITS[name]
    _, env = states(name, actions)
    assert translation.translated(AECState(env).env) is not None
    edit(env)
    assert translation.translated(AECState(env).env) is None


def test_a_pass_of_the_turn_is_another_position():
    before, env = states("tictactoe-v3", (0, 4))
    env.unwrapped.agent_selection = "player_2"
    assert before.moves_to(AECState(env)) is None


def test_an_agent_at_an_edited_board_answers_as_a_new_one():
    env = zoo.classic("go-v5")
    used, new = (UCTAgent(env, simulations=30, seed=1) for _ in range(2))
    env.step(0)
    used.act()
    for action in (7, 12):
        env.step(action)
    clear_go(env)
    for agent in (used, new):
        agent._searcher.reseed(4)
    used.act()
    new.act()
    assert used.last_result.actions == new.last_result.actions


@pytest.mark.parametrize("translate", [True, False])
def test_a_game_of_openspiel_that_was_set_up_is_told_by_its_position(translate):
    env = zoo.shimmy("chess")
    game = env.game_state.get_game()
    found = []
    for fen in ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "4k3/8/8/8/8/8/4Q3/4K3 w - - 0 1"):
        env.game_state = game.new_initial_state(fen)
        env._update_action_masks() if hasattr(env, "_update_action_masks") else None
        found.append(game_state(env, translate=translate))
    one, other = found
    assert one.position_key() != other.position_key()
    later = other.clone()
    later.apply_action(later.legal_actions()[0])
    assert other.moves_to(later) == [other.legal_actions()[0]]
    assert one.moves_to(later) is None


def test_a_game_made_with_other_rules_is_another_game():
    keys = [
        AECState(zoo.classic("go-v5", **options)).game_key()
        for options in ({}, {"komi": 7.5}, {"komi": 3.5}, {"render_mode": "rgb_array"})
    ]
    assert keys[0] == keys[1] == keys[3] != keys[2]
