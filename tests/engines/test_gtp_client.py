import os
import pathlib
import shlex
import shutil
import sys
import time

import pytest
from helpers.spiel import after

from rave_agents.agents.named_agents import AgentSpec, make_agent
from rave_agents.arena import RunError, play_match
from rave_agents.engines.client.gtp import GtpError, ask
from rave_agents.engines.client.process import EngineFailedError, EngineProcess
from rave_agents.errors import RaveAgentsError
from rave_agents.frameworks.adapters import load_game

try:
    import resource
except ImportError:  # Windows
    resource = None

GNUGO = shutil.which("gnugo", path=f"{os.environ['PATH']}{os.pathsep}/usr/games")
BAD = pathlib.Path(__file__).parent.parent / "helpers" / "bad_engine.py"

needs_gnugo = pytest.mark.skipif(
    GNUGO is None, reason="GNU Go is not installed: apt-get install gnugo"
)


def ours(game, agent="random(seed=1)"):
    words = [sys.executable, "-m", "rave_agents", "gtp", "--game", game, agent]
    return AgentSpec("gtp", {"command": shlex.join(words)})


def bad(game, way, *arguments, **more):
    words = [sys.executable, str(BAD), game, way, *map(str, arguments)]
    return AgentSpec("gtp", {"command": shlex.join(words), **more})


@needs_gnugo
def test_gnu_go_plays_and_scores():
    gnugo = f"{GNUGO} --mode gtp --level 1 --chinese-rules --capture-all-dead"
    spec = AgentSpec("gtp", {"command": gnugo})
    result = play_match("go(board_size=5)", "random", spec, games=2, referee=spec)
    assert result.score.losses == 2
    assert not any("failed" in why or "refuses" in why for why in result.endings.values())


@needs_gnugo
def test_gnu_go_follows_a_game_that_it_has_not_seen():
    game = load_game("go(board_size=9)")
    agent = make_agent(f'gtp(command="{GNUGO} --mode gtp --level 1")', game, 0)
    state = after(game, 0, 1, 2, 3)
    action = agent.step(state)
    assert action in state.legal_actions()
    other = game.new_initial_state()
    assert agent.step(other) in other.legal_actions()
    agent.close()


@pytest.mark.full
@needs_gnugo
def test_gnu_go_keeps_to_a_clock():
    gnugo = AgentSpec("gtp", {"command": f"{GNUGO} --mode gtp"})
    result = play_match("go(board_size=5)", gnugo, "random", games=1, clock="20")
    assert result.records[0].efforts[0].seconds < 20


@pytest.mark.full
def test_twenty_games_have_twenty_results_though_a_process_is_killed_in_the_seventh(tmp_path):
    game = "hex(board_size=3)"
    killed = bad(game, "die", 7, tmp_path / "killed")
    result = play_match(game, killed, ours(game), games=20, opening_plies=0)
    assert [record.number for record in result.records] == list(range(20))
    assert list(result.endings) == [7]
    record = result.records[6]
    assert record.margin < 0
    assert "seat 0 failed" in record.ending
    assert "with code -9: something broke" in record.ending
    assert sum(record.margin > 0 for record in result.records) > 0


@pytest.mark.full
@pytest.mark.parametrize(
    ("way", "ending", "faults"),
    [
        ("resign", "seat 0 resigned", 0),
        ("die", "with code -9: something broke", 1),
        ("nonsense", "seat 0 played 'q99', which is not legal", 1),
        ("babble", "broke the protocol: it answered genmove with 'bestmove e2e4'", 1),
        ("fail", "seat 0 answered genmove with an error: out of ideas", 1),
    ],
)
def test_what_the_other_side_does_wrong_loses_it_the_game(way, ending, faults):
    game = "hex(board_size=4)"
    result = play_match(game, bad(game, way), "random", games=1, opening_plies=0)
    assert ending in result.records[0].ending
    assert result.records[0].returns == (-1.0, 1.0)
    assert result.faults == (faults, 0)


def program(code, **more):
    """A program of these lines of Python."""
    return AgentSpec("gtp", {"command": shlex.join([sys.executable, "-c", code]), **more})


THINKS_FOREVER = """
import time
moves = 0
while line := input():
    moves += line.startswith("genmove")
    time.sleep(60 if moves == 2 else 0)
    print("= a1\\n" if line.startswith("genmove") else "= \\n", flush=True)
"""


@pytest.mark.full
def test_an_answer_that_does_not_come_in_time_loses_the_game():
    spec = program(THINKS_FOREVER, timeout=1.5)
    result = play_match("hex(board_size=4)", spec, "random", games=1, opening_plies=0)
    assert "did not answer genmove within 1.5 s" in result.records[0].ending
    assert result.records[0].returns == (-1.0, 1.0)


REFUSES_PASSES = """
while line := input():
    refused = line.startswith("play") and line.endswith("pass")
    print("? syntax error\\n" if refused else "= \\n", flush=True)
"""


def test_a_pass_that_is_the_only_move_need_not_be_told():
    """Such as by gtp-rhino, which refuses it."""
    agent = make_agent(program(REFUSES_PASSES), load_game("othello"), 0)
    agent.follow([44, 45, 26, 52, 60, 59, 54, 61, 64])
    agent.drop()


def test_a_pass_that_is_refused_is_an_error_where_there_are_other_moves():
    agent = make_agent(program(REFUSES_PASSES), load_game("go(board_size=3)"), 0)
    with pytest.raises(GtpError, match="syntax error"):
        agent.follow([9])
    agent.drop()


FLOOD = "import sys\nwhile True: sys.stdout.write({text!r} * 1000)"

UNUSABLE = {
    "does not exist": (AgentSpec("gtp", {"command": "no_such_program"}), "cannot be started"),
    "dies at the start": (program("raise SystemExit('no licence')"), "with code 1: no licence"),
    "echoes its input": (AgentSpec("gtp", {"command": "cat"}), "echoes its input, 'boardsize 3'"),
    "repeats it as an answer": (
        program("while True: print('= ' + input(), flush=True)"),
        "echoes its input, 'boardsize 3'",
    ),
    "repeats it without lines": (
        AgentSpec("gtp", {"command": "stdbuf -o0 tr -d '\\n'"}),
        "echoes its input, 'boardsize 3'",
    ),
    "floods": (program(FLOOD.format(text="= x")), "floods its output"),
    "floods lines": (program(FLOOD.format(text="=\n x\n")), "floods its output"),
    "floods empty lines": (program(FLOOD.format(text="\n")), "floods its output"),
    "talks": (AgentSpec("gtp", {"command": "yes"}), "it answered boardsize with 'y'"),
    "never answers": (
        program("while True: input()", timeout=0.5),
        "did not answer boardsize within 0.5 s",
    ),
    "knows nothing": (
        program("while input(): print('? unknown command\\n', flush=True)"),
        "refused 'boardsize 3': unknown command",
    ),
}


@pytest.mark.full(but=1)
@pytest.mark.parametrize("what", UNUSABLE)
def test_a_program_that_does_not_play_ends_the_match_within_seconds(what):
    spec, message = UNUSABLE[what]
    started = time.monotonic()
    with pytest.raises(RunError) as caught:
        play_match("hex(board_size=3)", "random", spec, games=2)
    assert time.monotonic() - started < 10
    assert message in str(caught.value)
    assert str(caught.value).startswith("Game 1, seat 1, agent gtp(")


@pytest.mark.full
def test_a_program_that_fails_before_its_first_move_ends_the_match_and_keeps_its_games(tmp_path):
    game = "hex(board_size=3)"
    code = (
        "import sys\n"
        "for line in sys.stdin:\n"
        "    if line.startswith('genmove'): raise SystemExit('out of memory')\n"
        "    print('=\\n', flush=True)\n"
    )
    with pytest.raises(RunError, match=r"(?s)Game 1, .*exited during genmove .*: out of memory"):
        play_match(game, program(code), "random", games=2)
    wrapped = tmp_path / "twice.py"  # a program that starts twice
    wrapped.write_text(
        "import pathlib, sys, os\n"
        f"starts = pathlib.Path({str(tmp_path / 'starts')!r})\n"
        "starts.write_text(starts.read_text() + '.' if starts.exists() else '.')\n"
        "if len(starts.read_text()) > 1: raise SystemExit('gone')\n"
        f"os.execv(sys.executable, [sys.executable, {str(BAD)!r}, {game!r}, 'die', '3'])\n"
    )
    spec = AgentSpec("gtp", {"command": shlex.join([sys.executable, str(wrapped)])})
    with pytest.raises(RunError, match=r"Game 4, .*: gone") as caught:
        play_match(game, spec, "random", games=6, opening_plies=0)
    assert [record.fault for record in caught.value.result.records] == [False, False, True]


@pytest.mark.full(but=["1"])
@pytest.mark.parametrize("what", ["does not exist", "echoes its input", "floods"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_match_that_is_asked_to_counts_them_as_lost(what, jobs):
    spec, message = UNUSABLE[what]
    result = play_match("hex(board_size=3)", spec, "random", games=3, forfeit=True, jobs=jobs)
    assert result.score.losses == 3
    assert message in result.endings[2]
    assert result.faults == (3, 0)
    assert all(ending["fault"] for ending in result.to_dict()["endings"])


@pytest.mark.full
@pytest.mark.skipif(resource is None, reason="measures memory as POSIX does")
def test_a_flood_takes_no_memory_while_nobody_asks():
    process = EngineProcess(program(FLOOD.format(text="= x")).parameters["command"])
    noisy = EngineProcess(program(FLOOD.replace("stdout", "stderr").format(text="x" * 99))
                          .parameters["command"])  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    time.sleep(1.5)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    for each in (process, noisy):
        each.close()
    assert grown < 10_000, "kilobytes: a second of output is ten times as much"


def test_an_answer_of_many_lines_keeps_its_indentation():
    code = "input(); print('=\\n   A B\\n 1 . .\\n', flush=True); input(); input()"
    process = EngineProcess(program(code).parameters["command"])
    assert ask(process, "showboard", 10) == "   A B\n 1 . ."
    process.close()


@pytest.mark.full
def test_a_program_that_plays_something_else_is_found_out():
    game = load_game("hex(board_size=3)")
    agent = make_agent(ours("othello"), game, 0)
    with pytest.raises(EngineFailedError, match="refused 'boardsize 3': unacceptable size"):
        agent.step(game.new_initial_state())


def test_a_game_that_gtp_cannot_say_is_refused():
    with pytest.raises(RaveAgentsError, match="not single words"):
        make_agent("gtp(command=x)", load_game("amazons"), 0)


@pytest.mark.slow
def test_a_process_answers_fails_and_ends():
    process = EngineProcess(ours("hex(board_size=3)").parameters["command"])
    assert ask(process, "protocol_version", 60) == "2"
    assert ask(process, "showboard", 60).count(".") == 9
    with pytest.raises(GtpError, match="unknown command"):
        ask(process, "make_coffee", 60)
    process.close()
    process.close()
    assert not process.running
    with pytest.raises(EngineFailedError, match="exited during name"):
        ask(process, "name", 5)
