"""Programs that speak UCI: their moves are ours, on every game that they share with us."""

import random
import re
import shutil
import subprocess
import sys

import pytest

from rave_agents.agents.named_agents import make_agent
from rave_agents.arena import RunError, play_match
from rave_agents.engines.client.uci_moves import UciMoves
from rave_agents.errors import UnsupportedGameError
from rave_agents.frameworks.adapters import load_game

PROGRAM = shutil.which("fairy-stockfish") or shutil.which("fairy-stockfish", path="/usr/games")
needs_program = pytest.mark.skipif(PROGRAM is None, reason="Fairy-Stockfish is not installed")
GAMES = [
    "chess",
    "shogi",
    "xiangqi",
    "breakthrough",
    "clobber",
    "clobber(rows=6,columns=5)",
    "clobber(rows=10,columns=10)",
]


def moves_of_program(variant, words):
    """The legal moves that the program has after these."""
    lines = [
        f"setoption name UCI_Variant value {variant}",
        f"position startpos {'moves ' + ' '.join(words) if words else ''}",
        "go perft 1",
        "quit",
    ]
    done = subprocess.run(
        [PROGRAM], input="\n".join(lines), capture_output=True, text=True, check=True, timeout=30
    )
    return set(re.findall(r"^(\S+): 1$", done.stdout, re.MULTILINE))


def random_positions(name, positions):
    """A game's moves, and positions of random games with the words that led there."""
    game = load_game(name)
    moves = UciMoves(game)
    chosen = random.Random(7)
    for _ in range(positions):
        state, words = game.new_initial_state(), []
        for _ in range(chosen.randrange(45)):
            if state.is_terminal():
                break
            begun = state.clone()
            turn = []
            for _ in range(moves.turn):
                turn.append(int(chosen.choice(list(state.legal_actions()))))
                state.apply_action(turn[-1])
            words.append(moves.write(begun, turn))
        if not state.is_terminal():
            yield moves, state, words


@pytest.mark.slow
@pytest.mark.full(but=1)
@needs_program
@pytest.mark.parametrize("name", GAMES)
def test_both_have_the_same_legal_moves_in_random_games(name):
    for moves, state, words in random_positions(name, 3):
        ours = set(moves.completions(state, []))
        assert ours == moves_of_program(moves.variant, words), (words, str(state))


@pytest.mark.slow
@pytest.mark.full(but=2)
@pytest.mark.parametrize("name", [*GAMES, "othello", "amazons"])
def test_the_words_are_those_of_fairy_stockfishs_library(name):
    pyffish = pytest.importorskip("pyffish", reason="pyffish is not installed")
    for moves, state, words in random_positions(name, 12):
        fen = pyffish.start_fen(moves.variant)
        ours = moves.completions(state, [])
        assert set(ours) == set(pyffish.legal_moves(moves.variant, fen, words)), str(state)
        word = ours[len(ours) // 2]
        assert moves.write(state, moves.read(state, word)) == word


def test_passes_in_othello_are_those_of_fairy_stockfishs_library():
    pyffish = pytest.importorskip("pyffish", reason="pyffish is not installed")
    game, chosen = load_game("othello"), random.Random(1)
    moves, fen, passes = UciMoves(game), pyffish.start_fen("flipello"), 0
    for _ in range(12):
        state, words = game.new_initial_state(), []
        while not state.is_terminal():
            action = int(chosen.choice(list(state.legal_actions())))
            words.append(moves.write(state, [action]))
            if not words[-1].startswith("P@"):
                passes += 1
                assert pyffish.legal_moves("flipello", fen, words[:-1]) == [words[-1]]
            state.apply_action(action)
    assert passes >= 3


OWN_PROGRAM = """
import sys
import pyffish
variant, words = "amazons", []
for line in sys.stdin:
    line = line.strip()
    if line == "uci":
        print("option name UCI_Variant type combo default chess var chess var amazons")
        print("uciok", flush=True)
    elif line == "isready":
        print("readyok", flush=True)
    elif line.startswith("position"):
        words = line.split()[3:]
    elif line.startswith("go"):
        only = line.partition("searchmoves ")[2].split()
        legal = pyffish.legal_moves(variant, pyffish.start_fen(variant), words)
        assert set(only) <= set(legal)
        print("bestmove", (only or legal)[0], flush=True)
    elif line == "quit":
        break
"""


@pytest.mark.full
@pytest.mark.parametrize("opening_plies", [0, 1, 2, 3])
def test_turns_of_three_actions_are_played_and_finished(opening_plies, tmp_path):
    pytest.importorskip("pyffish", reason="pyffish is not installed")
    program = tmp_path / "program.py"
    program.write_text(OWN_PROGRAM)
    spec = f'uci(command="{sys.executable} {program}")'
    result = play_match("amazons", spec, "random", games=2, opening_plies=opening_plies)
    assert result.faults == (0, 0)
    assert all(len(record.actions) > 30 for record in result.records)


@needs_program
@pytest.mark.parametrize("name", ["chess", "breakthrough", "clobber"])
def test_a_program_beats_random(name):
    result = play_match(name, f"uci(command={PROGRAM},nodes=300)", "random", games=2)
    assert result.score.wins == 2
    assert result.faults == (0, 0)


@needs_program
def test_a_program_is_told_its_clock():
    spec = f"uci(command={PROGRAM})"
    assert play_match("clobber", spec, "random", games=1, clock="2+0.01").complete


@needs_program
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("variant=amazons", "does not play amazons; it plays"),
        ("options=Hsh=16", "has no option 'Hsh'; it has"),
    ],
)
def test_what_the_program_does_not_know_is_an_error(options, message):
    with pytest.raises(RunError, match=message):
        play_match("clobber", f"uci(command={PROGRAM},{options})", "random", games=1)


def test_a_program_that_does_not_start_is_an_error_or_forfeits():
    with pytest.raises(RunError, match="cannot be started"):
        play_match("clobber", "uci(command=no_such_program)", "random", games=1)
    result = play_match("clobber", "uci(command=no_such_program)", "random", games=1, forfeit=True)
    assert result.faults == (1, 0)


@pytest.mark.full
def test_a_program_that_is_no_uci_program_is_an_error():
    with pytest.raises(RunError, match=r"did not answer uci within 0\.5 s"):
        play_match("clobber", 'uci(command="sleep 60",timeout=0.5)', "random", games=1)


@pytest.mark.parametrize("name", ["hex", "breakthrough(rows=5,columns=5)", "chess(chess960=True)"])
def test_games_without_words_are_refused(name):
    with pytest.raises(UnsupportedGameError, match="cannot be written in UCI"):
        make_agent("uci(command=x)", load_game(name), 0)


LISTENER = """
import sys
for line in sys.stdin:
    if line == "uci\\n":
        print("option name UCI_Variant type combo var clobber\\nuciok", flush=True)
    elif line == "isready\\n":
        print("readyok", flush=True)
    elif line.startswith("go"):
        open(sys.argv[1], "a").write(line)
        print("bestmove 0000", flush=True)
    elif line == "quit\\n":
        break
"""
"""A program that notes how long it is told to search."""


def told(tmp_path, parameters="", **limits):
    """The words after ``go`` that a program is told in its first move."""
    (tmp_path / "listener.py").write_text(LISTENER)
    log = tmp_path / "log"
    command = f"{sys.executable} {tmp_path / 'listener.py'} {log}"
    spec = f'uci(command="{command}"{parameters})'
    result = play_match("clobber", spec, "random", games=1, opening_plies=0, **limits)
    assert result.faults == (1, 0)
    return log.read_text().removeprefix("go ").strip()


@pytest.mark.parametrize(
    ("parameters", "limits", "words"),
    [
        (",seconds=0.25", {}, "movetime 250"),
        ("", {"seconds": 0.5}, "movetime 500"),
        (",nodes=9", {"seconds": 0.5}, "nodes 9"),
        ("", {}, "movetime 100"),
    ],
)
@pytest.mark.full(but=4)
def test_a_program_is_given_its_own_limit_or_that_of_the_match(tmp_path, parameters, limits, words):
    assert told(tmp_path, parameters, **limits) == words


def test_simulations_of_a_match_are_no_limit_of_a_program():
    with pytest.raises(ValueError, match=r"uci takes no simulations; .* such as uci\(seconds=1.0"):
        play_match("clobber", "uci(command=x)", "random", games=1, simulations=50)


def test_a_number_of_milliseconds_is_answered_with_seconds():
    with pytest.raises(ValueError, match=r"'movetime': use seconds, not milliseconds"):
        make_agent("uci(command=x,movetime=100)", load_game("clobber"), 0)
    with pytest.raises(ValueError, match="Give seconds a move or a clock, not both"):
        make_agent("uci(command=x,seconds=1,clock=60)", load_game("clobber"), 0)
