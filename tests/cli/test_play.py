import re
import socket

import pytest
from typer.testing import CliRunner

from rave_agents.cli import app

AGENT = "uct(simulations=20)"


def played(*arguments, lines=()):
    """The program ``play`` with these lines as its input."""
    text = "".join(f"{line}\n" for line in lines)
    seeded = ["--seed", "0", *map(str, arguments)]
    return CliRunner().invoke(app, ["play", *seeded], input=text)


def test_a_whole_game_is_played():
    lines = [f"x({row},{column})" for row in range(3) for column in range(3)]
    result = played("tic_tac_toe", AGENT, lines=lines)
    assert result.exit_code == 0, result.output
    assert "The game is over: seat 0" in result.stdout


def test_an_agent_begins_where_the_person_has_the_second_seat():
    result = played("tic_tac_toe", AGENT, "--seat", 1, lines=["quit"])
    assert "1. seat 0: x(" in result.stdout
    assert "seat 1> " in result.stdout


def test_the_terminal_says_who_plays_which_side_and_again_after_a_swap():
    result = played("tic_tac_toe", AGENT, lines=["swap", "quit"])
    assert "You play x (seat 0); uct(simulations=20) plays o (seat 1)." in result.stdout
    assert "You play o (seat 1); uct(simulations=20) plays x (seat 0)." in result.stdout


def test_a_port_in_use_is_named_with_the_way_out():
    pytest.importorskip("starlette")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = played("tic_tac_toe", AGENT, "--web", "--no-browser", "--port", port)
    assert result.exit_code == 2
    assert f"Port {port} of 127.0.0.1 cannot be opened: another program uses it" in result.stderr
    assert "--port 0" in result.stderr
    assert "Errno" not in result.stderr


def test_commands_hint_think_undo_swap_and_save(tmp_path):
    path = tmp_path / "saved.txt"
    lines = ["hint", "moves", "x(0,0)", "think", "undo", "x(1,1)", f"save {path}", "swap", "quit"]
    result = played("tic_tac_toe", AGENT, lines=lines)
    assert result.exit_code == 0, result.output
    assert "hint: player 0 plays x(" in result.stdout
    assert "x(2,1)  x(2,2)" in result.stdout
    assert "AMAF" not in result.stdout  # Plain UCT has none.
    assert "visits" in result.stdout
    assert path.read_text().splitlines()[2] == "x(1,1)"


def test_an_unknown_word_is_answered_with_the_nearest():
    result = played("tic_tac_toe", AGENT, lines=["x(0,0", "hnt", "quit"])
    assert "Did you mean 'x(0,0)'" in result.stdout
    assert "Did you mean 'hint'?" in result.stdout


def test_a_game_is_kept_and_gone_on_with(tmp_path):
    path = tmp_path / "game.txt"
    left = played("tic_tac_toe", AGENT, "--output", path, lines=["x(1,1)"])
    assert "the same command goes on with it" in left.stderr
    again = played("tic_tac_toe", AGENT, "--output", path, lines=["undo", "x(0,0)", "quit"])
    assert "1. seat 0: x(1,1)" in again.stdout
    assert path.read_text().splitlines()[2] == "x(0,0)"


def test_the_opponents_card_is_not_shown_until_the_end():
    result = played("leduc_poker", AGENT, lines=["think", "Call", "think"])
    assert "2. chance: ?" in result.stdout
    assert "Nothing has been thought yet that you may see." in result.stdout


@pytest.mark.full
def test_the_opponents_hand_in_an_environment_is_not_shown_until_the_end():
    result = played("leduc_holdem_v4", AGENT, lines=["call", "check", "check", "call", "call"])
    before, _, end = result.stdout.partition("leduc_holdem_v4: over")
    assert "The game is over" in end
    boards = before.split("\n\n")
    assert ["player_1 holds" in board for board in boards][-1]
    assert not any("player_1 holds" in board for board in boards[:-1])


@pytest.mark.full
def test_a_dealt_game_is_gone_on_with_by_the_same_deal(tmp_path):
    path = tmp_path / "game.txt"
    first = played("leduc_holdem_v4", AGENT, "--seed", 5, "--output", path, lines=["call", "quit"])
    again = played("leduc_holdem_v4", AGENT, "--output", path, lines=["quit"])
    assert "# dealt by seed: 5" in path.read_text()
    hands = [set(re.findall(r"holds (\S+)", shown.stdout)) for shown in (first, again)]
    assert len(hands[0]) == 1
    assert hands[0] == hands[1]


def test_a_new_game_is_dealt_by_another_seed():
    lines = ["Call", *6 * ["new"], "quit"]
    shown = played("leduc_poker", AGENT, lines=lines).stdout
    assert len(set(re.findall(r"private: (\d)", shown.lower()))) > 1


def test_a_position_that_is_printed_as_one_line_is_shown_as_a_board():
    fen = "k7/8/1K6/8/8/8/8/7R w - - 0 1"
    result = played("chess", "--position", fen, "--seat", "0,1", lines=["Rh8#"])
    assert "8 k . . . . . . .\n" in result.stdout
    assert "1 . . . . . . . R\n  a b c d e f g h\n" in result.stdout
    assert "The game is over" in result.stdout


def test_agents_are_watched_board_by_board():
    result = played("tic_tac_toe", AGENT, "random", "--seat", "none")
    assert result.exit_code == 0, result.output
    played_turns = result.stdout.count(". seat ")
    assert result.stdout.count("\n\n") == 2 * (played_turns + 1)
    assert "The game is over" in result.stdout


def test_an_environment_is_shown_by_the_text_that_it_renders():
    result = played("gymnasium:CliffWalking-v1", AGENT, lines=["0", "quit"])
    assert "\nx  C  C  C  C" in result.stdout
    assert "\nx  o  o  o  o" in result.stdout


@pytest.mark.slow
def test_an_episode_lasts_to_its_end():
    result = played("gymnasium:MountainCar-v0", "random", "--seat", "none")
    assert result.exit_code == 0, result.output
    assert "The game is over: seat 0 -200." in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tic_tac_toe", "--seat", "2"], "seat must be an integer from 0 to 1, got 2"),
        (["tic_tac_toe", "--seat", "me"], "--seat must be a seat such as 0"),
        (["no_such_game"], "Unknown game"),
        (["tic_tac_toe", "no_such_agent"], "Unknown agent"),
        (["tic_tac_toe", "--output", "/no/such/folder/game"], "There is no folder"),
    ],
)
def test_what_cannot_be_played_is_one_line(arguments, message):
    result = played(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_an_agent_that_fails_is_told_of(tmp_path):
    (tmp_path / "bots.py").write_text(
        "def fails(observation):\n    raise RuntimeError('out of order')\n"
    )
    result = played("tic_tac_toe", f"{tmp_path}/bots.py:fails", lines=["x(1,1)", "quit"])
    assert "out of order" in result.output
