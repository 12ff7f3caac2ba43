"""Solving positions: the search for a proof, and the command that shows it."""

import json
import os
import random

import pyspiel
import pytest
from helpers.processes import run_python
from typer.testing import CliRunner

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.analysis.solve import solve_position
from rave_agents.cli import app

SMALL_BOARD = "connect_four(rows=4,columns=4)"
LARGE_BOARD = "connect_four(rows=6,columns=6)"


@pytest.fixture
def program(monkeypatch):
    """Gives a function that runs the command in this process, on a wide terminal."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("RAVE_AGENTS_DEBUG", raising=False)
    return lambda *arguments: CliRunner().invoke(app, ["solve", *map(str, arguments)])


def object_of(result):
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


@pytest.mark.full(
    but=[
        "hex(board_size=3)-4-loss",
        "nim(pile_sizes=1;2;3)--loss",
        "tic_tac_toe-0 1 3 4 7 6 2 5-draw",
    ]
)
@pytest.mark.parametrize(
    ("game", "moves", "proven"),
    [
        ("hex(board_size=3)", "", "win"),
        ("hex(board_size=3)", "4", "loss"),
        ("nim(pile_sizes=1;2;3)", "", "loss"),
        ("nim(pile_sizes=1;3;5)", "", "win"),
        ("connect_four(rows=4,columns=4,x_in_row=3)", "", "win"),
        ("tic_tac_toe", "x(1,1) o(0,1)", "win"),
        ("tic_tac_toe", "0 1 3 4 7 6 2 5", "draw"),  # a single move is left
        ("hex(board_size=4)", "", "win"),
        ("mnk(m=4,n=3,k=3)", "", "win"),
        ("breakthrough(rows=5,columns=3)", "", "win"),
        ("clobber(rows=3,columns=4)", "", "loss"),
        ("connect_four(rows=4,columns=4)", "", "draw"),
    ],
)
def test_known_outcomes(game, moves, proven):
    found = solve_position(game, moves=moves, max_memory_mb=16)
    assert (found.end, found.proven) == ("solved", proven)
    own = found.outcome[found.player]
    assert found.bounds == (own, own)
    assert found.value == own


@pytest.mark.full(but=["tic_tac_toe-", "breakthrough(rows=5,columns=3)-3"])
@pytest.mark.parametrize(
    ("game", "moves"),
    [
        ("nim(pile_sizes=1;3;5)", ""),
        ("tic_tac_toe", ""),
        ("tic_tac_toe", "4"),
        ("connect_four(rows=4,columns=4)", "3"),
        ("dots_and_boxes(num_rows=1,num_cols=2,utility_margin=True)", ""),
        *(("breakthrough(rows=5,columns=3)", str(count)) for count in range(12)),
    ],
)
def test_the_proven_line_ends_with_the_outcome(game, moves):
    if game.startswith("breakthrough"):
        moves = random_moves(game, int(moves), seed=int(moves))
    found = solve_position(game, moves=moves, max_memory_mb=8)
    state = found.state.clone()
    for action in found.line:
        state.apply_action(action)
    assert state.is_terminal()
    assert tuple(state.returns()) == found.outcome


def random_moves(game, count, seed):
    draw, state = random.Random(seed), pyspiel.load_game(game).new_initial_state()
    for _ in range(count):
        action = draw.choice(state.legal_actions())
        if state.child(action).is_terminal():
            break
        state.apply_action(action)
    return state.history()


@pytest.mark.parametrize("repetition", [-1.5, 2, float("nan"), float("inf"), "lost"])
def test_endless_play_is_worth_a_return_of_the_game(repetition):
    with pytest.raises((TypeError, ValueError), match="repetition must be"):
        solve_position("tic_tac_toe", repetition=repetition)


@pytest.mark.parametrize("moves", ["", "0", "1 2"])
def test_scores_are_solved_and_not_only_wins(moves):
    name = "dots_and_boxes(num_rows=1,num_cols=2,utility_margin=True)"
    found = solve_position(name, moves=moves, max_memory_mb=1)
    state = pyspiel.load_game(name).new_initial_state()
    for move in moves.split():
        state.apply_action(int(move))

    def value(state):
        if state.is_terminal():
            return state.returns()[found.player]
        best = max if state.current_player() == found.player else min
        return best(value(state.child(action)) for action in state.legal_actions())

    assert found.value == value(state)


@pytest.mark.full(but=2)
@pytest.mark.parametrize(
    ("limit", "end", "text"),
    [
        ({"positions": 30}, "positions", "the positions are used up"),
        ({"seconds": 0.05}, "seconds", "the time is used up"),
    ],
)
def test_ends_at_each_limit_and_says_how_far_it_came(program, limit, end, text):
    found = solve_position(LARGE_BOARD, max_memory_mb=1, **limit)
    assert found.end == end
    assert (found.outcome, found.value, found.bounds) == (None, None, (-1.0, 1.0))
    assert found.disproof_number > found.proof_number >= 1
    assert found.line == ()
    assert "line" not in str(found)
    ((option, number),) = limit.items()
    result = program(LARGE_BOARD, f"--{option}", number)
    assert result.exit_code == 0
    for part in (text, "from -1 to 1", "disproof number"):
        assert part in result.stdout


def test_the_same_search_finds_the_same_proof():
    first, second = (solve_position("hex(board_size=3)", max_memory_mb=1) for _ in range(2))
    assert (first.positions, first.line) == (second.positions, second.line)


@pytest.mark.compiled
@pytest.mark.full
def test_memory_does_not_grow_where_the_table_is_full():
    found = solve_position("mnk(m=4,n=4,k=4)", max_memory_mb=1)
    assert found.proven == "draw"
    assert found.memory_mb == 1.0
    assert found.positions > 2 * 2**20 // 16


@pytest.mark.full
def test_a_table_goes_on_where_it_was_left(tmp_path):
    path, options = tmp_path / "proof.table", {"max_memory_mb": 1}
    whole = solve_position(SMALL_BOARD, **options)
    first = solve_position(SMALL_BOARD, positions=500, table=path, **options)
    second = solve_position(SMALL_BOARD, table=path, **options)
    third = solve_position(SMALL_BOARD, table=path, **options)
    assert (first.end, second.end, third.end) == ("positions", "solved", "solved")
    assert second.value == third.value == whole.value
    assert third.positions == 0 < second.positions


@pytest.mark.full(but=3)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: b"no table", "is not a table"),
        (lambda content: content[:-100], "is damaged"),
        (lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:], "is damaged"),
    ],
)
def test_tables_that_are_damaged_or_of_something_else_are_refused(tmp_path, change, message):
    path = tmp_path / "proof.table"
    solve_position("tic_tac_toe", positions=10, table=path, max_memory_mb=1)
    with pytest.raises(ValueError, match="is a table for game"):
        solve_position("hex(board_size=3)", table=path, max_memory_mb=1)
    with pytest.raises(ValueError, match="max_memory_mb=1"):
        solve_position("tic_tac_toe", table=path, max_memory_mb=2)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=message):
        solve_position("tic_tac_toe", table=path, max_memory_mb=1)


def test_results_have_the_numbers_of_the_root():
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    plain = Searcher(SearchConfig(), seed=1).search(state, Limit(simulations=10))
    assert (plain.proof_number, plain.disproof_number) == (None, None)
    result = Searcher(SearchConfig.preset("pn_mcts"), seed=1).search(state, Limit(simulations=50))
    assert result.proof_number == min(row.proof_number for row in result.actions)
    assert result.disproof_number == sum(row.disproof_number for row in result.actions)
    assert result.to_dict()["proof_number"] == result.proof_number


def test_shows_a_solution(program):
    result = program("tic_tac_toe", "--moves", "x(1,1) o(0,1)")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout.startswith(".o.\n.x.\n...\n")
    for text in ("win for player 0", "1, -1", "proven line", "positions", "memory"):
        assert text in result.stdout


def test_solves_a_list_of_positions(program, tmp_path):
    path = tmp_path / "positions.txt"
    path.write_text("0\n1  # beside the corner\n4\n")
    result = program("hex(board_size=3)", "--lines", path, "--max-memory-mb", 1)
    assert result.exit_code == 0, result.stderr
    told = result.stdout.splitlines()
    assert [line.partition(":")[0] for line in told] == ["0", "1", "4"]
    assert told[2].endswith("loss for player 1")


def test_tells_the_line_of_a_position_that_there_is_not(program, tmp_path):
    path = tmp_path / "positions.txt"
    path.write_text("0 3 1 4\n0 3 1 4 2\n")
    result = program("tic_tac_toe", "--lines", path, "--max-memory-mb", 1)
    assert result.exit_code == 2
    assert result.stdout.startswith("0 3 1 4: ")
    assert f"Line 2 of {path}: The game is over" in " ".join(result.stderr.split())


def test_prints_one_object(program):
    values = object_of(program("tic_tac_toe", "--moves", "4,1", "--json"))
    assert (values["moves"], values["end"], values["proven"]) == ([4, 1], "solved", "win")
    assert (values["outcome"], values["value"]) == ([1.0, -1.0], 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nogame",), "Unknown game 'nogame'"),
        (("oshi_zumo",), "at the same time"),
        (("kuhn_poker",), "IMPERFECT_INFORMATION"),
        (("tic_tac_toe", "--moves", "x(9,9)"), "No legal move is called 'x(9,9)'"),
        (("tic_tac_toe", "--moves", "0 3 1 4 2"), "game is over"),
        (("tic_tac_toe", "--positions", "0"), "positions must be"),
        (("tic_tac_toe", "--seconds", "0"), "seconds must be"),
        (("tic_tac_toe", "--max-memory-mb", "0"), "max_memory_mb must be"),
        (("tic_tac_toe", "--threads", "0"), "threads must be"),
        (("pig", "--threads", "2"), "--threads search for a proof"),
    ],
)
def test_refuses_in_one_line(program, arguments, message):
    result = program(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_progress_is_shown_on_a_terminal(terminal):
    found = solve_position(LARGE_BOARD, seconds=0.25, max_memory_mb=1)
    assert "disproof number" in terminal.file.getvalue()
    assert "the time is used up" in str(found)


@pytest.mark.full
@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT to itself")
@pytest.mark.parametrize("threads", [1, 3])
def test_ctrl_c_prints_what_is_known_and_keeps_the_table(tmp_path, threads):
    script = (
        "import os, signal, threading\n"
        "import rave_agents.solver.value_search as searched\n"
        "real = searched.ValueSearch.run\n"
        "def run(self, **options):\n"
        "    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    return real(self, **options)\n"
        "searched.ValueSearch.run = run\n"
        "from rave_agents.cli import main\n"
        "main()\n"
    )
    path, options = tmp_path / "proof.table", ("--json", "--max-memory-mb", "1", "--table")
    done = run_python("-c", script, "solve", LARGE_BOARD, *options, path, "--threads", threads)
    assert done.returncode == 130, done.stderr
    values = json.loads(done.stdout)
    assert (values["end"], values["outcome"]) == ("interrupted", None)
    assert "Traceback" not in done.stderr
    assert path.stat().st_size > 10_000
