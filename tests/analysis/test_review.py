import json
import re

import pytest
from helpers.lines_of_play import after
from typer.testing import CliRunner

from rave_agents import as_game
from rave_agents.analysis.review import review_game
from rave_agents.arena import play_match
from rave_agents.cli import app
from rave_agents.errors import UnsupportedGameError
from rave_agents.game.notation import apply_moves
from rave_agents.records.reader import read_game

AGENT = "uct_solver(simulations=2000)"
LOST = "x(0,0) o(1,0) x(0,2) o(2,2) x(1,1)"
"""The second move loses, and that can be proven."""


def actions_of(game, moves):
    return apply_moves(as_game(game).new_initial_state(), moves)


@pytest.fixture(scope="module")
def lost():
    return review_game("tic_tac_toe", actions_of("tic_tac_toe", LOST), AGENT)


@pytest.mark.compiled
def test_a_proven_mistake_is_found_and_exact(lost):
    mistake = lost.moves[1]
    assert mistake in lost.mistakes
    assert (mistake.number, mistake.name, mistake.player) == (2, "o(1,0)", 1)
    assert mistake.exact
    assert (mistake.value, mistake.value_after) == (0.0, -1.0)
    assert mistake.word == "blunder"
    assert "That is proven." in mistake.sentences[0]


@pytest.mark.slow
def test_a_win_curve_is_of_seat_0(lost):
    assert len(lost.values) == 6
    assert lost.values[2:] == (1.0, 1.0, 1.0, 1.0)


@pytest.mark.slow
def test_who_lets_a_win_in_one_go_by_is_refuted_by_that_move():
    moves = "x(0,0) o(1,0) x(0,1) o(1,2)"
    review = review_game("tic_tac_toe", actions_of("tic_tac_toe", moves), "auto(simulations=100)")
    move = review.moves[-1]
    assert move.reply in ("x(0,2)", "x(1,1)")
    assert move.value_after == -1.0


@pytest.mark.slow
def test_a_perfect_game_has_no_mistake():
    moves = "x(1,1) o(0,0) x(0,1) o(2,1) x(1,0) o(1,2) x(0,2) o(2,0) x(2,2)"
    agent = "uct_solver(simulations=300)"
    assert review_game("tic_tac_toe", actions_of("tic_tac_toe", moves), agent).mistakes == []


@pytest.mark.parametrize("game", ["leduc_poker", "goofspiel(num_cards=3)", "pig(winscore=5)"])
def test_games_of_chance_hidden_hands_and_simultaneous_moves_are_reviewed(game):
    state, actions = as_game(game).new_initial_state(), []
    while not state.is_terminal():
        if state.is_chance_node():
            step = [state.chance_outcomes()[-1][0]]
        elif state.current_player() < 0:
            step = [state.legal_actions(0)[0], state.legal_actions(1)[-1]]
        else:
            step = [state.legal_actions()[0]]
        apply = state.apply_action if len(step) == 1 else state.apply_actions
        apply(step[0] if len(step) == 1 else step)
        actions += step
    review = review_game(game, actions, "uct(simulations=30)")
    assert review.values[-1] == state.returns()[0]
    assert len(review.states) == len(review.moves) + 1


def test_an_agent_without_a_search_is_refused():
    with pytest.raises(UnsupportedGameError, match="does not search"):
        review_game("tic_tac_toe", [4], "random")


@pytest.mark.parametrize(("actions", "message"), [([4, 4], "not legal"), ([9], "not legal")])
def test_illegal_actions_are_refused(actions, message):
    with pytest.raises(ValueError, match=message):
        review_game("tic_tac_toe", actions, AGENT)


@pytest.mark.slow
def test_games_are_read_from_lists_of_moves_and_journals(tmp_path):
    game = as_game("tic_tac_toe")
    listed = tmp_path / "game.txt"
    listed.write_text("# mine\nx(1,1)\no(0,0)\n")
    assert read_game(game, listed).actions == (4, 0)
    journal = tmp_path / "match.jsonl"
    match = play_match("tic_tac_toe", "random", "random", games=2, output=journal)
    assert read_game(game, journal, 2).actions == match.records[1].actions
    with pytest.raises(ValueError, match="2 games of tic_tac_toe"):
        read_game(game, journal, 3)
    with pytest.raises(ValueError, match="0 games of hex"):
        read_game(as_game("hex"), journal)


def test_an_sgf_is_reviewed(tmp_path):
    pytest.importorskip("sgfmill", reason="sgfmill is not installed")
    path = tmp_path / "game.sgf"
    path.write_text("(;FF[4]GM[1]SZ[5];B[aa];W[bb])")
    assert len(read_game(as_game("go(board_size=5)"), path).actions) == 2


@pytest.mark.full
def test_the_command_writes_a_page_that_is_whole(tmp_path):
    (tmp_path / "game.txt").write_text(LOST.replace(" ", "\n"))
    words = ["review", "tic_tac_toe", tmp_path / "game.txt", AGENT, "--html", tmp_path / "page"]
    done = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["moves"][1]["word"] == "blunder"
    page = (tmp_path / "page").read_text()
    assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', page)
    assert "o(1,0) by seat 1 is a blunder" in page
    (data,) = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])
    assert [step["pieces"].count('class="stone') for step in data["steps"]] == [0, 1, 2, 3, 4, 5]
    assert 'class="ring"' in data["steps"][2]["pieces"]


def solver(game):
    """A function that gives the exact value of a position for seat 0."""
    known = {}

    def value(state):
        if state.is_terminal():
            return state.returns()[0]
        key = str(state), state.current_player()
        if key not in known:
            best = max if state.current_player() == 0 else min
            known[key] = best(value(after(state, action)) for action in state.legal_actions())
        return known[key]

    return value


@pytest.mark.compiled
@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "games", "skipped"),
    [("tic_tac_toe", 40, 0), ("hex(board_size=3)", 20, 0), ("hex(board_size=4)", 20, 5)],
)
def test_forbidding_the_reply_that_refutes_a_move_changes_the_verdict(name, games, skipped):
    import random

    game = as_game(name)
    value, draws, claims, held = solver(game), random.Random(3), 0, 0
    for seed in range(games):
        state, actions = game.new_initial_state(), []
        while not state.is_terminal():
            actions.append(draws.choice(state.legal_actions()))
            state.apply_action(actions[-1])
        review = review_game(game, actions, "auto(simulations=400)", seed=seed)
        for move in review.moves[skipped:]:
            if not move.refuted:
                continue
            position = review.states[move.number]
            player = position.current_player()
            sign = 1 if player == 0 else -1
            others = [
                sign * value(after(position, action))
                for action in position.legal_actions()
                if position.action_to_string(player, action) != move.reply
            ]
            claims += 1
            held += sign * value(position) > 0 >= max(others)
    assert claims >= 20
    assert held >= 0.97 * claims
