import io
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pyspiel
import pytest
from open_spiel.python.bots import gtp as spiel_gtp
from typer.testing import CliRunner

from rave_agents.cli import app
from rave_agents.engines.client.boards import area_score
from rave_agents.engines.engine import converse
from rave_agents.engines.gtp_engine import GtpEngine
from rave_agents.engines.gtp_protocol import Command, answer, parse_command
from rave_agents.engines.serve import serve
from rave_agents.engines.uci_engine import UciEngine
from rave_agents.errors import UnsupportedGameError
from rave_agents.searcher.clock import Clock

CONVERSATION = pathlib.Path(__file__).with_name("conversation.txt").read_text(encoding="utf-8")


def command(game, agent="random", *more):
    return [sys.executable, "-m", "rave_agents", "gtp", "--game", game, agent, *more]


def start(*arguments):
    return subprocess.Popen(
        command(*arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def talk(engine, *lines):
    """The answers without the line ends that close them."""
    return [engine.answer(line).removesuffix("\n\n") for line in lines]


def test_the_golden_conversation():
    exchanges = re.split(r"^> ", CONVERSATION, flags=re.MULTILINE)[1:]
    engine = GtpEngine("go(board_size=9)", "random", seed=1)
    said = 0
    for exchange in exchanges:
        line, _, expected = exchange.partition("\n")
        found = engine.answer(line)
        said += found is not None
        assert (found or "").rstrip("\n") == expected.rstrip("\n"), line
        assert found is None or found.endswith("\n\n")
    assert said >= 60
    assert engine.ended


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("12 play b c3 # why", Command("12", "play", ["b", "c3"])),
        ("\x07na\x00me\r\n", Command("", "name", [])),
        ("\tgenmove\tb", Command("", "genmove", ["b"])),
        ("#", None),
        ("  \r\n", None),
    ],
)
def test_lines_are_cleaned_before_they_are_read(line, expected):
    assert parse_command(line) == expected


def test_answers_have_no_empty_line_inside():
    assert answer("3", "a\n\nb") == "=3 a\n \nb\n\n"
    assert answer("", "no", failed=True) == "? no\n\n"


def test_an_engine_is_tested_with_a_list_of_lines():
    said = []
    engine = GtpEngine("hex(board_size=3)", "random", seed=1)
    converse(engine, ["1 name", "# a comment", "quit", "name"], said.append)
    assert said == ["=1 rave-agents random\n\n", "=\n\n"]
    said.clear()
    converse(UciEngine("chess", "random"), ["isready", "position startpos", "go"], said.append)
    assert said[0] == "readyok\n"
    assert re.fullmatch(r"bestmove [a-h]\d[a-h]\d( .*)?\n", said[-1])


@pytest.mark.full
def test_openspiels_gtp_bot_drives_a_whole_game_of_hex():
    game = pyspiel.load_game("hex(board_size=5)")
    bot = spiel_gtp.GTPBot(game, command("hex(board_size=11)", "uct(simulations=20)"))
    try:
        assert bot.name == "rave-agents uct"
        bot.restart()
        state, other = game.new_initial_state(), pyspiel.make_uniform_random_bot(1, 3)
        while not state.is_terminal():
            if state.current_player() == 0:
                state.apply_action(bot.step(state))
            else:
                action = other.step(state)
                bot.inform_action(state, 1, action)
                state.apply_action(action)
        assert sorted(state.returns()) == [-1.0, 1.0]
        assert bot.gtp_cmd("final_score") == ("b+1" if state.returns()[0] > 0 else "w+1")
    finally:
        bot.close()


GAMES = {
    "nogo(board_size=5)": 5,
    "go(board_size=5)": 5,
    "hex(board_size=4)": 4,
    "havannah(board_size=3)": 3,
    "y(board_size=4)": 4,
    "gomoku(size=6,connect=4)": 6,
    "othello": 8,
    "lines_of_action": 8,
    "breakthrough": 8,
    "clobber(rows=4,columns=4)": 4,
    "tic_tac_toe": 3,
    "pentago": 6,
}


@pytest.mark.parametrize("game", GAMES)
def test_a_whole_game_by_two_engines(game):
    engines = [GtpEngine(game, "random", seed=seed) for seed in (1, 2)]
    assert talk(engines[0], f"boardsize {GAMES[game]}", "gogui-rules_board_size") == [
        "=",
        f"= {GAMES[game]}",
    ]
    for number in range(400):
        mover, colour = engines[number % 2], "bw"[number % 2]
        if talk(mover, "gogui-rules_side_to_move") == ["="]:
            break
        (move,) = talk(mover, f"genmove {colour}")
        assert talk(engines[1 - number % 2], f"play {colour} {move[2:]}") == ["="]
    assert re.fullmatch(r"= (0|[BW]\+[\d.]+)", talk(engines[0], "final_score")[0])
    assert talk(engines[0], "final_score", "showboard") == talk(
        engines[1], "final_score", "showboard"
    )


def test_gomokus_points_are_gos():
    engine = GtpEngine("gomoku", "random", seed=1)
    talk(engine, "play b A1", "play w P15")
    state = engine.position.state
    assert [state.state.action_to_string(0, a) for a in engine.position.actions] == ["14,0", "0,14"]


def test_who_has_no_move_in_nogo_resigns():
    engine = GtpEngine("nogo(board_size=2)", "random")
    talk(engine, "play b a1", "play w b2", "play b b1")
    assert talk(engine, "genmove w", "final_score") == ["= resign", "= B+1"]


def test_undo_leads_back_to_the_same_position():
    engine = GtpEngine("hex(board_size=4)", "uct(simulations=30)", seed=1)
    (before,) = talk(engine, "showboard")
    talk(engine, "genmove b", "genmove w", "undo", "undo")
    assert talk(engine, "showboard", "undo") == [before, "? cannot undo"]


def test_a_seed_does_not_repeat_the_game():
    engines = [GtpEngine("hex(board_size=6)", "random", seed=4) for _ in range(2)]
    games = [
        [talk(engine, "clear_board", *["genmove b", "genmove w"] * 4) for _ in range(2)]
        for engine in engines
    ]
    assert games[0] == games[1]
    assert games[0][0] != games[0][1]


def test_reg_genmove_leaves_board_and_clock_alone():
    engine = GtpEngine("hex(board_size=4)", "uct", seed=1)
    talk(engine, "time_settings 1 0 0")
    (before,) = talk(engine, "showboard")
    talk(engine, "reg_genmove b")
    assert talk(engine, "showboard") == [before]
    assert engine._clocks[0].main_left == 1.0


@pytest.mark.slow
def test_the_last_search_is_shown_on_the_board():
    engine = GtpEngine("nogo(board_size=4)", "rave(simulations=100)", seed=1)
    (move,) = talk(engine, "genmove b")
    visits, values, amaf, variation, table = talk(
        engine, "rave-visits", "rave-values", "rave-amaf_values", "rave-variation", "rave-table"
    )
    labels = dict(re.findall(r"LABEL (\w+) (\d+)", visits))
    assert max(labels, key=lambda point: int(labels[point])) == move[2:]
    assert 99 <= sum(map(int, labels.values())) <= 100
    assert set(re.findall(r"LABEL (\w+)", values)) == set(labels)
    assert len(re.findall(r"COLOR #[0-9a-f]{6} \w+", amaf)) == 16
    assert variation.startswith(f"= VAR b {move[2:]} w ")
    assert "AMAF visits" in table


def test_time_settings_reach_the_agent():
    engine = GtpEngine("nogo(board_size=4)", "rave", seed=1)
    talk(engine, "time_settings 2 1 3", "time_left w 1 0")
    assert [str(agent.clock) for agent in engine.agents] == ["2+1x1/3"] * 2
    assert [agent.clock.main_left for agent in engine.agents] == [2.0, 1.0]
    started = time.perf_counter()
    talk(engine, "genmove b", "genmove w")
    assert time.perf_counter() - started < 3.0
    assert engine.agents[0].clock.moves == 1
    talk(engine, "time_settings 0 1 0")
    assert engine.agents[0].clock is None


def test_an_agents_own_clock_comes_back_without_time_settings():
    engine = GtpEngine("nogo(board_size=4)", "rave(clock=9)", seed=1)
    talk(engine, "time_settings 5 0 0", "time_settings 0 1 0")
    assert isinstance(engine.agents[0].clock, Clock)
    assert engine.agents[0].clock.main_left == 9.0


@pytest.mark.parametrize(
    ("game", "message"),
    [("amazons", "not single words"), ("backgammon", "no chance"), ("pig(players=3)", "two")],
)
def test_games_that_gtp_cannot_say_are_refused(game, message):
    with pytest.raises(UnsupportedGameError, match=message):
        GtpEngine(game, "random")


def test_an_agent_that_fails_does_not_end_the_conversation():
    engine = GtpEngine("nogo(board_size=4)", "uct", seed=1)
    engine.agents[0].step = lambda state: 1 / 0
    failed, alive = talk(engine, "genmove b", "name")
    assert failed.startswith("? internal error: ZeroDivisionError")
    assert alive == "= rave-agents uct"


@pytest.mark.parametrize(
    ("rows", "komi", "score"),
    [
        (["+++", "+++", "+++"], 0.5, -0.5),
        (["+++", "+X+", "+++"], 0.0, 9.0),
        (["+XO", "XXO", "+XO"], 0.0, 6 - 3),
        (["XO+", "+++", "+++"], 0.0, 0.0),
    ],
)
def test_area_scores(rows, komi, score):
    assert area_score(rows, komi) == score


def test_garbage_is_answered_and_the_input_may_end():
    lines = b"\xff\xfe\x00\n\n   \n= 3\nplay\x01 b a1\n7 name"
    done = CliRunner().invoke(app, ["gtp", "--game", "nogo(board_size=3)", "random"], input=lines)
    assert done.stdout.split("\n\n") == [
        "? unknown command",
        "? unknown command",
        "=",
        "=7 rave-agents random",
        "",
    ]
    assert done.exit_code == 0


def test_a_reader_that_is_gone_ends_it_quietly():
    reader, writer = os.pipe()
    os.close(reader)
    engine = GtpEngine("nogo(board_size=3)", "random", seed=1)
    with os.fdopen(writer, "wb") as sink:
        assert serve(engine, io.BytesIO(b"play b a1\n" + b"genmove w\n" * 5), sink) == 0
    assert "O" not in str(engine.position.state), "it went on after an answer"


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_the_middle_of_a_search_ends_it_with_an_answer(number, code):
    engine = start("nogo(board_size=9)", "rave(seconds=50)")
    engine.stdin.write(b"name\n1 genmove b\n")
    engine.stdin.flush()
    assert engine.stdout.readline() == b"= rave-agents rave\n"
    time.sleep(0.5)
    os.kill(engine.pid, number)
    said, errors = engine.communicate(timeout=20)
    assert said.strip() == b"?1 interrupted"
    assert engine.returncode == code
    assert b"Traceback" not in errors


def test_the_program_refuses_what_does_not_exist():
    done = CliRunner().invoke(app, command("nogoo")[3:])
    assert done.exit_code == 2
    assert "Did you mean 'nogo'" in done.stderr


@pytest.mark.parametrize("game", ["hex(board_size=4)", "breakthrough(rows=4,columns=4)", "go"])
def test_a_size_that_cannot_be_played_on_leaves_the_game_as_it_was(game):
    engine = GtpEngine(game, "rave(simulations=20)", seed=1)
    first = talk(engine, "genmove b", "showboard")
    for size in (1, 0, -5):
        assert talk(engine, f"boardsize {size}") == ["? unacceptable size"]
    assert talk(engine, "showboard") == first[1:]
    assert talk(engine, "genmove w")[0].startswith("= ")
    assert talk(engine, "undo", "undo") == ["=", "="]


@pytest.mark.parametrize(
    ("game", "change", "refusal"),
    [
        ("hex(board_size=4)", "boardsize 5", "? unacceptable size"),
        ("go(board_size=5)", "komi 3.5", "? unacceptable komi"),
    ],
)
def test_a_game_that_the_agent_refuses_leaves_the_one_before(monkeypatch, game, change, refusal):
    engine = GtpEngine(game, "rave(simulations=20)", seed=1)
    before = talk(engine, "genmove b", "showboard")

    def refuse(*details, **options):
        raise IndexError

    monkeypatch.setattr("rave_agents.engines.engine.make_agent", refuse)
    assert talk(engine, change, "showboard") == [refusal, before[1]]
    monkeypatch.undo()
    assert talk(engine, "genmove w")[0].startswith("= ")


def test_an_analysis_lists_the_moves_and_leaves_the_position():
    engine = GtpEngine("go(board_size=5)", "uct(simulations=40)", seed=1)
    (said,) = talk(engine, "7 lz-analyze b 50")
    header, line = said.splitlines()
    assert header == "=7"
    assert re.match(r"info move \w+ visits \d+ winrate \d+ prior \d+ order 0 pv \w+", line)
    assert sum(map(int, re.findall(r"visits (\d+)", line))) >= 39  # One made the root's edges.
    assert engine.position.state.current_player() == 0


def test_a_move_with_analysis_is_played():
    engine = GtpEngine("go(board_size=5)", "uct(simulations=40)", seed=1)
    (said,) = talk(engine, "lz-genmove_analyze b 50")
    played = said.splitlines()[-1].removeprefix("play ")
    assert engine.position.state.current_player() == 1
    assert played in said.splitlines()[1]
    assert engine.answer(f"play w {played}").startswith("?") or played == "pass"


def test_an_analysis_of_who_does_not_search_is_refused():
    engine = GtpEngine("go(board_size=5)", "random")
    assert engine.answer("lz-analyze") == "? this agent does not search\n\n"
    assert engine.answer("lz-analyze w 50") == "? it is the other color's turn\n\n"


@pytest.mark.full
def test_the_next_command_ends_an_analysis():
    process = start("go(board_size=5)", "uct(simulations=40)")
    process.stdin.write(b"lz-analyze b 10\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"=\n"
    assert all(process.stdout.readline().startswith(b"info move") for _ in range(2))
    answers, _ = process.communicate(b"name\nquit\n", timeout=60)
    assert b"\n\n= rave-agents uct\n\n" in answers
