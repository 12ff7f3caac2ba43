"""A policy that self-play teaches: what it sees of moves, its file, and its use in a search."""

import numpy as np
import pytest
from typer.testing import CliRunner

from rave_agents import Limit, LinearValue, SearchConfig, Searcher, as_evaluator
from rave_agents.cli import app
from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators.move_features import NO_CELL, NUMBERS, VARIES
from rave_agents.evaluators.move_policy import (
    MovePolicy,
    Moves,
    cells_in_random_games,
    features_of,
    load_learned,
    move_cells,
    moves_at,
)
from rave_agents.games import rules_class
from rave_agents.learning.learn import learn

SMALL = {
    "breakthrough": {"rows": 5, "columns": 4},
    "connect_four": {"rows": 4, "columns": 4},
    "go": {"board_size": 4},
    "hex": {"num_rows": 4, "num_cols": 4},
    "tic_tac_toe": {},
}


def random_policy(rules, seed=1):
    numbers = np.random.default_rng(seed).normal(size=NUMBERS)
    return MovePolicy(str(rules), numbers.astype(np.float16).astype(np.float32))


def rules_of(name):
    return rules_class(name)(**SMALL[name])


@pytest.mark.slow
def test_a_move_is_seen_by_the_cells_that_it_fills_and_leaves():
    hex_moves = move_cells(rules_of("hex"))
    assert hex_moves.shared
    assert hex_moves.cells.tolist() == [[cell, NO_CELL] for cell in range(16)]
    columns = move_cells(rules_of("connect_four"))
    assert (columns.cells == VARIES).all()  # A column's cell is another one each time.
    go_moves = move_cells(rules_of("go"))
    assert go_moves.cells[-1].tolist() == [NO_CELL, NO_CELL]  # To pass.
    state = rules_of("breakthrough").new_initial_state()
    for action, (to, left) in zip(
        state.legal_actions(), moves_at(state.rules, state).cells.tolist(), strict=True
    ):
        written = state.action_to_string(0, action)
        assert written[:4] == f"{'abcd'[left % 4]}{5 - left // 4}{'abcd'[to % 4]}{5 - to // 4}"


def test_rules_that_state_the_cells_of_their_actions_are_right():
    rules = rules_of("go")
    assert rules.fills_own_cells
    assert (move_cells(rules).cells == cells_in_random_games(rules)).all()


@pytest.mark.full
@pytest.mark.parametrize("name", ["breakthrough", "connect_four", "hex"])
def test_compiled_priors_are_those_of_the_policy(name):
    rules, draw = rules_of(name), np.random.default_rng(2)
    policy, state = random_policy(rules), rules.new_initial_state()
    searcher = Searcher(SearchConfig.preset("puct"), seed=1, evaluator=policy)
    for _ in range(10):
        if state.is_terminal():
            break
        if len(state.legal_actions()) > 1:
            result = searcher.search(state, Limit(simulations=3))
            assert result.provider.endswith("rules")
            priors = [row.prior for row in result.actions]
            wanted = dict(policy.prior(state))
            assert priors == pytest.approx([wanted[row.action] for row in result.actions], abs=1e-5)
        state.apply_action(int(draw.choice(state.legal_actions())))


def test_players_who_change_places_see_the_same():
    known, turned = move_cells(rules_of("hex")), np.arange(16).reshape(4, 4).T.ravel()
    board = np.array([0, 1, 2, 0, 1, 0, 0, 2, 0, 1, 0, 0, 2, 0, 1, 0], np.int8)
    empty = np.flatnonzero(board == 0)

    def features(board, player, cells, last):
        count = len(cells)
        places = np.stack([cells, np.full(count, NO_CELL)], axis=1)
        boards = np.broadcast_to(board, (count, 16))
        moves = Moves(boards, np.full(count, player), cells, places, np.full(count, last))
        return features_of(known, moves)

    mine = features(board, 0, empty, 7)
    yours = features(np.array([0, 2, 1], np.int8)[board][turned], 1, turned[empty], turned[7])
    assert np.array_equal(mine, yours)
    assert not np.array_equal(mine, features(board, 1, empty, 7))


def test_a_file_keeps_a_policy_and_what_is_damaged_is_refused(tmp_path):
    rules = rules_of("hex")
    policy, path = random_policy(rules), tmp_path / "policy.npz"
    policy.made = "by a test"
    policy.save(path)
    loaded = as_evaluator(str(path))
    assert isinstance(loaded, MovePolicy)
    assert (loaded.game, loaded.made) == (str(rules), "by a test")
    assert np.array_equal(loaded.numbers, policy.numbers)
    with pytest.raises(ValueError, match="not a learned value"):
        LinearValue.load(path)
    arrays = dict(np.load(path))
    for changes in (
        {"policy": arrays["policy"][:-1]},
        {"policy": np.full(NUMBERS, np.nan, np.float16)},
        {"policy": arrays["policy"].astype(np.float64)},
        {"format": 9},
    ):
        np.savez(path, **(arrays | changes))
        with pytest.raises(ValueError, match="not a learned policy"):
            load_learned(path)


def test_a_policy_is_for_its_game_alone():
    policy = random_policy(rules_of("hex"))
    other = rules_class("hex")(num_rows=5, num_cols=5)
    with pytest.raises(UnsupportedGameError, match="another game"):
        policy.prior(other.new_initial_state())
    with pytest.raises(UnsupportedGameError, match="another game"):
        Searcher(SearchConfig(), seed=1, evaluator=policy).search(
            other.new_initial_state(), Limit(simulations=5)
        )


def test_what_cannot_be_learned_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"what must be 'value' or 'policy', got 'both'"):
        learn(rules_of("hex"), games=5, what="both")
    with pytest.raises(UnsupportedGameError, match="compiled rules with a board"):
        learn("pig", games=5, what="policy")
    path = tmp_path / "policy.npz"
    random_policy(rules_of("hex")).save(path)
    with pytest.raises(ValueError, match="start is a policy"):
        learn(rules_of("hex"), games=5, start=path)


@pytest.mark.compiled
@pytest.mark.full
def test_learning_brings_priors_closer_to_searches_and_goes_on_from_a_file(tmp_path):
    rounds = []
    options = {"what": "policy", "simulations": 60, "progress": False}
    policy = learn(rules_of("hex"), games=24, seed=1, fitted=rounds.append, **options)
    assert len(rounds) == 5
    state = rules_of("hex").new_initial_state()
    searcher, lost = Searcher(SearchConfig.preset("auto"), seed=3), []
    for action in (0, 3, 12):  # Bad moves, after which much is left to play.
        result = searcher.search(state, Limit(simulations=200))
        visits = np.array([row.visits for row in result.actions], float)
        shares = visits / visits.sum()
        wanted = dict(policy.prior(state))
        priors = np.array([wanted[row.action] for row in result.actions])
        lost.append(
            (shares @ np.log(priors), shares @ np.log(np.full(len(priors), 1 / len(priors))))
        )
        state.apply_action(action)
    learned, even = np.mean(lost, axis=0)
    assert learned > even
    path = tmp_path / "policy.npz"
    policy.save(path)
    more = learn(rules_of("hex"), games=5, seed=2, start=path, **options)
    assert not np.array_equal(more.numbers, policy.numbers)
    value = learn(rules_of("hex"), games=5, seed=1, progress=False)
    with pytest.raises(ValueError, match="give a policy"):
        learn(rules_of("hex"), games=5, start=value, **options)


@pytest.mark.compiled
@pytest.mark.full
def test_the_command_learns_a_policy_that_auto_takes(tmp_path, monkeypatch):
    monkeypatch.setenv("RAVE_AGENTS_GAMES", "compiled")
    path = tmp_path / "policy.npz"
    command = ["learn", "tic_tac_toe", "--output", str(path), "--what", "policy", "--games", "10"]
    result = CliRunner().invoke(app, [*command, "--simulations", "20", "--checks", "4"])
    assert result.exit_code == 0, result.output
    state = rules_of("tic_tac_toe").new_initial_state()
    found = Searcher(SearchConfig.preset("auto"), seed=1, evaluator=str(path)).search(
        state, Limit(simulations=50)
    )
    assert (found.known, found.learned) == ("tic_tac_toe()", "policy")
    assert len({row.prior for row in found.actions}) > 1
