import shlex
import sys

import pytest
from sgfmill import sgf

from rave_agents.agents.named_agents import AgentSpec
from rave_agents.arena import GameRecord, play_match


def engine(game):
    words = [sys.executable, "-m", "rave_agents", "gtp", "--game", game, "random"]
    return AgentSpec("gtp", {"command": shlex.join(words)})


def read(path):
    tree = sgf.Sgf_game.from_bytes(path.read_bytes())
    return tree.get_root(), list(tree.main_sequence_iter())[1:]


@pytest.mark.slow
def test_every_game_is_saved(tmp_path):
    folder = tmp_path / "new" / "games"
    result = play_match("nogo(board_size=4)", "uct(simulations=5)", "random", games=3, sgf=folder)
    assert [path.name for path in sorted(folder.iterdir())] == [
        f"game_000{number}.sgf" for number in (1, 2, 3)
    ]
    for record in result.records:
        root, nodes = read(folder / f"game_{record.number + 1:04}.sgf")
        assert root.get("PB" if record.first_seat == 0 else "PW") == "uct(simulations=5)"
        assert root.get("RE") == ("B+" if record.returns[0] > 0 else "W+")
        assert (root.get_size(), root.get("GM")) == (4, 1)
        points = [node.get_move()[1] for node in nodes]
        assert tuple(row * 4 + column for row, column in points) == record.actions


def test_passes_and_komi_of_go_are_saved(tmp_path):
    play_match("go(board_size=3,komi=1.5)", "random", "random", games=1, sgf=tmp_path)
    root, nodes = read(tmp_path / "game_0001.sgf")
    assert root.get("KM") == 1.5
    assert [node.get_move()[1] for node in nodes][-2:] == [None, None]


def test_other_games_keep_their_names_of_moves(tmp_path):
    play_match("hex(board_size=3)", "random", "random", games=1, sgf=tmp_path, opening_plies=1)
    root, nodes = read(tmp_path / "game_0001.sgf")
    assert root.get("GM") == 11
    assert nodes[0].get_raw("B").decode()[0] in "abc"


def save(folder, first="uct", **options):
    options = {"games": 2, "simulations": 5, **options}
    return play_match("nogo(board_size=3)", first, "random", sgf=folder, **options)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"first": "rave"}, "has games of another match: game_0001.sgf, 'nogo"),
        ({"seed": 1}, "has games of another match"),
        ({"opening_plies": 1}, "has games of another match"),
        ({"games": 4}, "has game 1 of this match, game_0001.sgf, which would be played again"),
        ({}, "or use another folder"),
    ],
)
def test_the_games_of_another_match_are_not_overwritten(tmp_path, changes, message):
    save(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=message):
        save(tmp_path, **changes)
    assert contents(tmp_path) == before


def test_games_that_others_have_saved_are_not_overwritten(tmp_path):
    (tmp_path / "game_0002.sgf").write_text("(;GM[1]PB[me]PW[you];B[aa])")
    with pytest.raises(ValueError, match=r"match: game_0002\.sgf\. Use another folder"):
        save(tmp_path)


def test_a_match_that_goes_on_fills_its_folder(tmp_path):
    games, folder = tmp_path / "games.jsonl", tmp_path / "sgf"
    save(folder, output=games)
    before = contents(folder)
    (folder / "game_0001.sgf").unlink()
    save(folder, output=games, games=4)
    assert sorted(contents(folder)) == [f"game_000{number}.sgf" for number in (1, 2, 3, 4)]
    assert contents(folder).items() >= before.items()


def test_shards_share_a_folder(tmp_path):
    for shard in ("1/2", "2/2"):
        output = tmp_path / f"{shard[0]}.jsonl"
        save(tmp_path / "sgf", games=4, shard=shard, output=output)
    assert len(contents(tmp_path / "sgf")) == 4


def test_who_oversteps_his_time_loses(tmp_path):
    result = play_match(
        "nogo(board_size=3)", "uct(seconds=0.1)", "random", games=2, clock="0.08", sgf=tmp_path
    )
    assert result.endings == {1: "seat 0 lost on time", 2: "seat 1 lost on time"}
    assert result.score.losses == 2
    assert read(tmp_path / "game_0001.sgf")[0].get("RE") == "W+T"


@pytest.mark.compiled
@pytest.mark.full
def test_agents_keep_to_the_clock_of_the_match():
    result = play_match("nogo(board_size=5)", "rave", "uct", games=1, clock="1.5+0.05, lag=0.1")
    assert result.endings == {}
    assert result.agents[0].startswith('rave(clock="1.5+0.05')
    for record in result.records:
        assert all(0.05 < effort.seconds < 2.2 for effort in record.efforts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clock": "60", "seconds": 1.0}, "not both"),
        ({"clock": "fast"}, "Not a clock"),
        ({"referee": "random"}, "A referee is a GTP program"),
        ({"referee": "gtp"}, "gtp needs command"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        play_match("nogo(board_size=4)", "rave", "uct", games=1, **options)


def test_an_agent_without_a_clock_of_its_own_is_told_so():
    with pytest.raises(ValueError, match="mcts takes no clock; put a limit into its spec"):
        play_match("nogo(board_size=4)", "rave", "mcts", games=1, clock="60")


def test_a_referee_that_agrees_changes_nothing():
    game = "nogo(board_size=3)"
    plain = play_match(game, "random", "random", games=3)
    watched = play_match(game, "random", "random", games=3, referee=engine(game))
    assert [record.returns for record in watched.records] == [r.returns for r in plain.records]
    assert watched.endings == {}


@pytest.mark.full
def test_a_referee_has_the_last_word_on_the_result():
    # By the rules of Go with another komi, somebody else may have won; the referee is told ours.
    game = "go(board_size=3,komi=0.5)"
    result = play_match(game, "random", "random", games=4, referee=engine(game))
    assert result.endings == {}


def test_a_move_that_the_referee_refuses_loses():
    # To the referee the game is NoGo, which knows no captures and no passes.
    result = play_match(
        "go(board_size=3)", "random", "random", games=2, referee=engine("nogo(board_size=3)")
    )
    assert len(result.endings) == 2
    assert all("the referee refuses: illegal move" in why for why in result.endings.values())


def test_a_record_keeps_its_ending():
    result = play_match("nogo(board_size=4)", "uct(seconds=0.1)", "random", games=1, clock="0.05")
    record = result.records[0]
    assert record.ending == "seat 0 lost on time"
    assert GameRecord.from_dict(record.to_dict()) == record
    assert result.to_dict()["endings"] == [
        {"game": 1, "why": "seat 0 lost on time", "fault": False}
    ]
