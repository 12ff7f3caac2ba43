"""Handicaps, games in files, and the status of stones, as controllers ask for them."""

import pytest

from rave_agents.arena import play_match
from rave_agents.engines.gtp_engine import GtpEngine


def engine(game="go(board_size=9)"):
    return GtpEngine(game, "random", seed=1)


def told(engine, line):
    return engine.answer(line).strip()


def test_no_stone_is_dead_since_areas_are_counted_as_the_board_stands():
    player = engine()
    told(player, "play b c3")
    assert told(player, "final_status_list dead") == "="
    assert told(player, "final_status_list seki") == "="
    assert told(player, "final_status_list ill") == "? unknown status"
    refusal = "? the game has no stones that live or die"
    assert told(engine("hex(board_size=5)"), "final_status_list alive") == refusal


def test_a_file_is_loaded_with_its_board_and_komi(tmp_path):
    path = tmp_path / "game.sgf"
    path.write_text("(;FF[4]GM[1]SZ[7]KM[5.5];B[cc];W[dd];B[])")
    player = engine()
    assert told(player, f"loadsgf {path}") == "="
    assert player.position.game.name.startswith("go(board_size=7,komi=5.5")
    assert told(player, "final_status_list alive") == "= D4 C5"
    assert told(player, "gogui-rules_side_to_move") == "= white"
    assert told(player, "undo") == "="
    assert told(player, f"loadsgf {path} 2") == "="  # The board before the second move.
    assert told(player, "final_status_list alive") == "= C5"
    assert told(player, "genmove w").startswith("= ")


def test_a_saved_game_of_a_match_is_loaded(tmp_path):
    result = play_match("hex(board_size=4)", "random", "random", games=1, sgf=tmp_path)
    player = engine("hex(board_size=4)")
    (path,) = tmp_path.glob("*.sgf")
    assert told(player, f"loadsgf {path}") == "="
    assert player.position.actions == list(result.records[0].actions)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file"),
        ("(;GM[1]SZ[9];B[aa];B[bb])", "who is not to move"),
        ("(;GM[11]SZ[9];B[aa])", "it is a game of hex"),
        ("(;GM[1]SZ[400];B[aa])", "cannot load file"),
        ("(;GM[1]SZ[9];B[aa];W[];B[];W[bb])", "the game is over after move 3, by two passes"),
        ("no sgf", "cannot load file"),
    ],
)
def test_a_file_that_cannot_be_loaded_changes_nothing(tmp_path, content, reason):
    path = tmp_path / "game.sgf"
    if content is not None:
        path.write_text(content)
    player = engine()
    told(player, "play b c3")
    answer = told(player, f"loadsgf {path}")
    assert answer.startswith("? cannot load file")
    assert reason in answer
    assert told(player, "final_status_list alive") == "= C3"


def test_a_board_that_is_cleared_has_no_handicap_of_a_file(tmp_path):
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]SZ[19]HA[2]KM[0.5]AB[pd][dp];W[dd];B[pp])")
    for clears in ("clear_board", "boardsize 19", "boardsize 9"):
        player = engine("go(board_size=19)")
        assert told(player, f"loadsgf {path}") == "="
        assert told(player, clears) == "="
        assert told(player, "gogui-rules_side_to_move") == "= black"
        assert told(player, "play black D4") == "="


def test_a_handicap_of_the_engines_own_game_stays():
    player = engine("go(board_size=19,handicap=2)")
    told(player, "clear_board")
    assert told(player, "gogui-rules_side_to_move") == "= white"


@pytest.mark.parametrize(
    "moves",
    [
        ["b E5", "w pass", "b pass", "w C3"],  # on after two passes
        ["b E5", "w pass", "b pass", "b C3"],
        ["b E5", "w pass", "w C3"],  # a colour twice, around a pass
        ["b pass", "b E5", "b D5"],
        ["b E5", "b pass", "w C3"],
        ["w pass", "b E5", "w pass", "w pass", "w C3"],
    ],
)
def test_moves_go_on_around_passes_and_are_taken_back_one_by_one(moves):
    player = engine()
    shown = [told(player, "showboard")]
    for move in moves:
        assert told(player, f"play {move}") == "="
        shown.append(told(player, "showboard"))
    stones = [move.split()[1] for move in moves if not move.endswith("pass")]
    alive = told(player, "final_status_list alive").removeprefix("= ").split()
    assert sorted(alive) == sorted(stones)
    for board in reversed(shown[:-1]):
        assert told(player, "undo") == "="
        assert told(player, "showboard") == board
    assert told(player, "undo") == "? cannot undo"


def test_an_illegal_move_brings_no_passes_back():
    player = engine()
    for move in ("b E5", "w pass", "b pass"):
        told(player, f"play {move}")
    assert told(player, "play w E5") == "? illegal move"
    assert told(player, "genmove w") == "= pass"
