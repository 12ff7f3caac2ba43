"""Positions to begin at: FEN, what a game prints, files of moves."""

import json
import random
import re
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from rave_agents.agents.named_agents import AgentSpec
from rave_agents.analysis.position_analysis import analyse
from rave_agents.analysis.solve import solve_position
from rave_agents.arena import play_match
from rave_agents.arena.report_data import load_report
from rave_agents.cli import app
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.own_games import as_game
from rave_agents.records import positions
from rave_agents.records.positions import Position, moves_to, set_up

MATE = "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1"
SETTLED = "3 3 2 2 4"


def after(game, plies, seed=0):
    """A position after random moves at which the game goes on."""
    draw, state = random.Random(seed), game.new_initial_state()
    for _ in range(plies):
        following = state.clone()
        following.apply_action(draw.choice(list(state.legal_actions())))
        if following.is_terminal():
            break
        state = following
    return state


def ask(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments), "--simulations", "20"])


def test_a_fen_is_searched_and_solved():
    found = analyse("chess", "uct(simulations=60)", position=MATE)
    assert found.action_name == "Rd8#"
    assert solve_position("chess", position=MATE, positions=5000).end == "solved"


def test_moves_go_on_from_a_position():
    found = analyse("chess", "random", position=MATE, moves="Ka2 h6")
    assert str(found.state).startswith("6k1/5pp1/7p/8/8/8/K7/3R4 w")


MOVES = {
    "a text": "3 3 2",
    "actions": [3, 3, 2],
    "NumPy's numbers": np.array([3, 3, 2]),
    "names": ("x3", "o3", "x2"),
    "both": [3, "o3", np.int64(2)],
}


@pytest.mark.parametrize("moves", MOVES.values(), ids=MOVES)
def test_moves_are_a_text_or_a_sequence(moves):
    assert set_up(as_game("connect_four"), moves).actions == (3, 3, 2)


def test_a_states_history_leads_to_it():
    assert set_up(as_game("kuhn_poker"), []).actions == ()
    state = after(as_game("kuhn_poker"), 0)
    for action in (2, 0, 1):
        state.apply_action(action)
    assert set_up(as_game("kuhn_poker"), state.history()).actions == (2, 0, 1)


@pytest.mark.parametrize(
    ("moves", "error", "message"),
    [
        ([3, 7], ValueError, "^Move 2: No legal move is called '7'. Legal are: 'o0', 'o1'"),
        ([-1], ValueError, "^No legal move is called '-1'"),
        (["x9"], ValueError, "^No legal move is called 'x9'. Legal are: 'x0', 'x1'"),
        (["x3 o3"], ValueError, "^'x3 o3' is more than one move"),
        ([3, 2.5], TypeError, "^moves must be actions or names, got 2.5 among them"),
        ([True], TypeError, "^moves must be actions or names, got True among them"),
        (b"\3", TypeError, "^moves must be text or a sequence of actions"),
        (np.array([[3, 3]]), TypeError, "^moves must be text or a sequence of actions"),
        (np.array(3), TypeError, "^moves must be text or a sequence of actions"),
        ({3, 4}, TypeError, r"^moves must be text or a sequence of actions, .* got \{3, 4\}"),
        (7, TypeError, "^moves must be text or a sequence of actions, .* got 7"),
        (None, TypeError, "^moves must be text or a sequence of actions, .* got None"),
        ([0, 1, 0, 1, 0, 1, 0, 1], ValueError, r"^The game is over before \[1\]"),
    ],
)
def test_sequences_that_are_no_moves_are_refused(moves, error, message):
    with pytest.raises(error, match=message):
        set_up(as_game("connect_four"), moves)


def test_each_player_has_a_move_where_several_move_at_once():
    game = as_game("matrix_pd")
    assert set_up(game, [1, 0]).actions == (1, 0)
    with pytest.raises(ValueError, match=r"^Move 2: Player 1's move is missing"):
        set_up(game, [1])


@pytest.mark.parametrize(
    ("game", "text", "message"),
    [
        ("chess", MATE.replace("5ppp", "5pp"), "the row '5pp' has 7 squares, not 8"),
        ("chess", MATE.replace("8/8/8", "8/8"), "the board has 7 rows, not 8"),
        ("chess", MATE.replace("K2R4", "K2R3"), "has 7 squares"),
        ("chess", MATE.replace("K2R4", "Q2R4"), "there must be one K, and there are 0"),
        ("chess", MATE.replace("K2R4", "K2X4"), "there is no piece 'X'"),
        ("chess", MATE.replace(" w ", " x "), "the side to move must be w or b, got 'x'"),
        ("chess", MATE.replace(" - - ", " - z9 "), "'z9' is not allowed in field 4"),
        ("chess", MATE.replace("0 1", "0 x"), "'x' is no number of moves"),
        ("chess", "8/8/8/8 w - - 0 1", "the board has 4 rows"),
        ("chess", "6k1/5ppp/8/8/8/8/8/K2R4", "it has 1 fields, not 6. It begins at 'rnbq"),
        ("shogi", "9/9/9/9/9/9/9/9/9 b - 1", "there must be one K"),
    ],
)
def test_a_wrong_fen_is_refused(game, text, message):
    with pytest.raises(ValueError, match=f"is no FEN of {game}: .*{message}"):
        set_up(as_game(game), position=text)


@pytest.mark.full(but=["connect_four", "hex(board_size=5)", "breakthrough"])
@pytest.mark.parametrize(
    "name",
    [
        *("tic_tac_toe", "connect_four", "hex(board_size=5)", "go(board_size=5)", "gomoku"),
        *("breakthrough", "clobber", "y(board_size=5)", "amazons", "nogo(board_size=5)", "pig"),
    ],
)
def test_what_a_game_prints_is_set_up_again(name):
    game = as_game(name)
    state = after(game, 4) if name != "pig" else game.new_initial_state()
    found = set_up(game, position=str(state))
    assert list(found.state.legal_actions()) == list(state.legal_actions())
    assert found.state.current_player() == state.current_player()
    replayed = game.new_initial_state()
    for action in found.actions:
        replayed.apply_action(action)
    assert str(replayed) == str(found.state)


@pytest.mark.parametrize("plies", range(0, 8))
def test_every_length_of_a_game_is_set_up_again(plies):
    game = as_game("tic_tac_toe")
    state = after(game, plies, seed=plies)
    assert str(set_up(game, position=str(state)).state) == str(state)


def test_positions_of_ones_own_game_are_set_up_by_what_they_print(tmp_path):
    (tmp_path / "nim.py").write_text(
        "class Nim:\n"
        "    def __init__(self): self.left, self.turn = 9, 0\n"
        "    def clone(self):\n"
        "        other = Nim(); other.left, other.turn = self.left, self.turn; return other\n"
        "    def current_player(self): return -4 if self.is_terminal() else self.turn\n"
        "    def legal_actions(self): return [n for n in (1, 2, 3) if n <= self.left]\n"
        "    def apply_action(self, n): self.left -= n; self.turn = 1 - self.turn\n"
        "    def is_terminal(self): return self.left == 0\n"
        "    def is_chance_node(self): return False\n"
        "    def chance_outcomes(self): return []\n"
        "    def returns(self): return [2 * self.turn - 1, 1 - 2 * self.turn]\n"
        "    def num_players(self): return 2\n"
        "    def num_distinct_actions(self): return 4\n"
        "    def min_utility(self): return -1\n"
        "    def max_utility(self): return 1\n"
        "    def __str__(self): return f'{self.left} sticks, {self.turn} to move'\n"
    )
    found = analyse(f"{tmp_path}/nim.py:Nim", "random", position="4 sticks, 1 to move")
    assert str(found.state) == "4 sticks, 1 to move"


@pytest.mark.parametrize("text", ["junk", "xx\nyy", "...\n...\n..?"])
def test_what_no_game_prints_is_refused_with_what_the_game_takes(text, monkeypatch):
    monkeypatch.setattr(positions, "PATIENCE", 0.2)
    with pytest.raises(ValueError, match=r"tic_tac_toe takes the text that it prints, such as"):
        set_up(as_game("tic_tac_toe"), position=text)
    with pytest.raises(ValueError, match=r"chess takes a FEN, the text"):
        set_up(as_game("chess"), position="junk")


def test_hidden_cards_are_not_told_by_what_is_printed():
    with pytest.raises(ValueError, match="is not a position of kuhn_poker"):
        set_up(as_game("kuhn_poker"), position="0 1")


@pytest.mark.parametrize("content", [SETTLED, "# a comment\n3, 3\n2 2\n4\n", "x3 o3 x2 o2 x4"])
def test_a_file_of_moves(tmp_path, content):
    path = tmp_path / "moves.txt"
    path.write_text(content)
    assert set_up(as_game("connect_four"), position=path).actions == (3, 3, 2, 2, 4)
    assert set_up(as_game("connect_four"), position=str(path), moves="1").actions[-1] == 1


def test_a_file_with_a_fen_or_a_printed_board(tmp_path):
    path = tmp_path / "position.txt"
    path.write_text(MATE + "\n")
    assert str(set_up(as_game("chess"), position=path).state) == MATE
    path.write_text("o..\n.x.\n...\n")
    assert set_up(as_game("tic_tac_toe"), position=path).actions == (4, 0)


def test_a_file_of_neither_says_so(tmp_path):
    path = tmp_path / "moves.txt"
    path.write_text("3 9\n")
    with pytest.raises(ValueError, match=r"Move 2: No legal move is called '9'"):
        set_up(as_game("connect_four"), position=path)


@pytest.mark.parametrize(
    "game",
    [
        "go(board_size=5)",
        "go(board_size=16,handicap=2,max_game_length=6)",
        "hex(board_size=4)",
        "hex(num_cols=3,num_rows=4)",
        "breakthrough(rows=6,columns=5)",
        "mnk(m=4,n=4,k=3)",
        "gomoku",
        "nogo",
    ],
)
def test_our_own_sgf_is_read_again(tmp_path, game):
    result = play_match(game, "random", "random", games=1, sgf=tmp_path)
    path, loaded = tmp_path / "game_0001.sgf", as_game(game)
    expected = result.records[0].actions
    assert set_up(loaded, position=path).actions == expected


@pytest.mark.parametrize(
    ("tags", "told"),
    [
        ("RU[Japanese]", "The file has the rules 'Japanese'"),
        ("RE[W+3.5]", "The file has the result W\\+3.5; by the game's rules black wins"),
    ],
)
def test_rules_and_a_result_that_differ_are_told(tmp_path, caplog, tags, told):
    path = tmp_path / "game.sgf"
    path.write_text(f"(;GM[1]SZ[5]KM[7.5]{tags};B[aa];W[];B[])")
    with caplog.at_level("WARNING", "rave_agents"):
        assert len(set_up(as_game("go(board_size=5)"), position=path).actions) == 3
    assert re.search(told, caplog.text)


def test_a_pgn_is_read_and_begins_where_it_says(tmp_path):
    pytest.importorskip("chess", reason="python-chess is not installed")
    path = tmp_path / "game.pgn"
    path.write_text('[Event "?"]\n\n1. e4 e5 2. Nf3 Nc6 {as usual} 3. Bb5 *\n')
    found = set_up(as_game("chess"), position=path)
    assert len(found.actions) == 5
    path.write_text(f'[SetUp "1"]\n[FEN "{MATE}"]\n\n1. Rd8# 1-0\n')
    assert set_up(as_game("chess"), position=path).state.is_terminal()


@pytest.mark.slow
def test_a_kept_game_of_another_game_is_refused(tmp_path):
    path = tmp_path / "game.txt"
    path.write_text("# rave-agents: a game of hex()\na1\n")
    assert set_up(as_game("hex(board_size=11)"), position=path).actions == (0,)
    with pytest.raises(ValueError, match=r"is a game of hex\(\), not of hex\(board_size=5\)"):
        set_up(as_game("hex(board_size=5)"), position=path)


def test_a_pgn_is_a_game_of_chess(tmp_path):
    path = tmp_path / "game.pgn"
    path.write_text("1. e4 *")
    with pytest.raises(ValueError, match="a game of chess, not of hex"):
        set_up(as_game("hex"), position=path)


def test_games_whose_moves_are_not_words_have_no_sgf(tmp_path):
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1])")
    with pytest.raises(UnsupportedGameError):
        set_up(as_game("backgammon"), position=path)


def test_moves_to_a_fen_are_found_or_said_to_be_lacking(monkeypatch):
    game = as_game("chess")
    opening = game.new_initial_state()
    for move in ("e4", "e5", "Nf3", "Nc6", "Bb5"):
        names = {
            opening.action_to_string(opening.current_player(), a): a
            for a in opening.legal_actions()
        }
        opening.apply_action(names[move])
    path = moves_to(game, set_up(game, position=str(opening)))
    replayed = game.new_initial_state()
    for action in path:
        replayed.apply_action(action)
    assert str(replayed).split()[:2] == str(opening).split()[:2]
    monkeypatch.setattr(positions, "PATIENCE", 0.2)
    with pytest.raises(ValueError, match="No moves were found that lead to '6k1"):
        moves_to(game, Position(game.position_of(MATE), None))


@pytest.mark.parametrize(
    ("options", "opening"),
    [
        ({"position": "x.o\n...\n..x"}, (0, 2, 8)),
        ({"position": "x..\n...\n...", "moves": "o(0,2)"}, (0, 2)),
        ({"moves": "0 2 8"}, (0, 2, 8)),
        ({"moves": [4, 0]}, (4, 0)),
    ],
)
def test_all_games_of_a_match_begin_at_the_position(options, opening):
    result = play_match("tic_tac_toe", "uct", "random", games=4, simulations=10, **options)
    assert result.complete
    for record in result.records:
        assert sorted(record.opening) == sorted(opening)
        assert record.actions[: len(opening)] == record.opening


def test_random_moves_may_follow_the_position_of_a_match():
    options = {"simulations": 5, "moves": "3 3", "opening_plies": 2}
    result = play_match("connect_four", "uct", "random", games=8, **options)
    assert all(record.opening[:2] == (3, 3) for record in result.records)
    assert len({record.opening for record in result.records}) > 2


def test_programs_are_told_of_the_moves_to_the_position():
    told = f"{sys.executable} -m rave_agents gtp --game hex(board_size=3) random"
    agent = AgentSpec("gtp", {"command": told})
    result = play_match("hex(board_size=3)", agent, "random", games=2, moves="b2")
    assert not result.endings


def test_a_match_from_another_position_is_another_match(tmp_path):
    path = tmp_path / "games.jsonl"
    options = {"games": 2, "simulations": 5, "output": path}
    played = play_match("connect_four", "uct", "random", moves="3", **options)
    assert load_report(path).result.finished == 2
    assert (
        play_match("connect_four", "uct", "random", moves="3", **options).records == played.records
    )
    with pytest.raises(ValueError, match=r"start is \[3\] there and \[2\] here"):
        play_match("connect_four", "uct", "random", moves="2", **options)


@pytest.mark.parametrize(
    ("game", "options", "message"),
    [
        ("tic_tac_toe", {"moves": "0 3 1 4 2"}, "The game is over"),
        ("tic_tac_toe", {"moves": "0 0"}, "No legal move"),
        ("chess", {"position": MATE}, "No moves were found that lead to"),
    ],
)
def test_positions_at_which_no_match_begins_are_refused(game, options, message, monkeypatch):
    monkeypatch.setattr(positions, "PATIENCE", 0.2)
    with pytest.raises(ValueError, match=message):
        play_match(game, "random", "random", games=2, **options)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("search", "chess", "random", "--position", MATE), "6k1/5ppp"),
        (("match", "tic_tac_toe", "random", "uct", "--games", 2, "--moves", "0 4"), "wins"),
        (("search", "tic_tac_toe", "random", "--position", r"o..\n.x.\n..."), "o..\n.x."),
        (("solve", "tic_tac_toe", "--position", r"oo.\nxx.\n..."), "player 0"),
    ],
)
def test_commands_take_positions(command, told):
    done = ask(*command) if command[0] != "solve" else CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert told in done.stdout


@pytest.mark.parametrize(
    ("position", "message"),
    [
        ("6k1/5ppp/8/8/8/8/8/K2R w - - 0 1", "is no FEN of chess"),
        ("nothing.sgf", "There is no file 'nothing.sgf'"),
        ("junk", "chess takes a FEN"),
    ],
)
def test_commands_refuse_positions_in_one_line(position, message):
    done = ask("search", "chess", "random", "--position", position)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_json_keeps_the_moves_that_were_found():
    done = ask("search", "tic_tac_toe", "random", "--position", r"o..\n.x.\n...", "--json")
    assert json.loads(done.stdout)["moves"] == [4, 0]
