"""A UCI engine: what it answers, when it ends a search, and whole games against other programs."""

import re
import shutil
import sys
import time

import pytest

from rave_agents.arena import play_match
from rave_agents.engines.uci_engine import NO_MOVE, UciEngine
from rave_agents.engines.uci_lines import Go
from rave_agents.errors import UnsupportedGameError

PROGRAM = shutil.which("fairy-stockfish") or shutil.which("fairy-stockfish", path="/usr/games")


class Conversation:
    """An engine with all that it has said."""

    def __init__(self, game="breakthrough", agent="uct(simulations=50)"):
        self.lines = []
        self.engine = UciEngine(game, agent, seed=1)
        self.engine.write = lambda text: self.lines.extend(text.splitlines())

    def say(self, *commands):
        """Its answers to these commands, until the move unless the search has no end."""
        del self.lines[:]
        for command in commands:
            self.engine.receive(command)
        self.engine.wait()
        return list(self.lines)

    def moves(self):
        return [line for line in self.lines if line.startswith("bestmove")]


@pytest.fixture(scope="module")
def conversation():
    return Conversation()


def test_it_names_itself_its_variant_and_its_options(conversation):
    said = conversation.say("uci")
    assert said[0].startswith("id name rave-agents")
    assert said[-1] == "uciok"
    assert any("UCI_Variant type combo default breakthrough" in line for line in said)


def test_it_tells_depth_score_and_line_before_its_move(conversation):
    said = conversation.say("position startpos moves a2a3", "go nodes 60")
    assert re.fullmatch(
        r"info depth \d+ multipv 1 score cp -?\d+ nodes 60 nps \d+ time \d+ pv( [a-h]\d[a-h]\d)+",
        said[-2],
    )
    assert re.fullmatch(r"bestmove [a-h][78][a-h][67]( ponder \S+)?", said[-1])
    assert said[-2].split(" pv ")[1].split()[0] == said[-1].split()[1]


def test_stop_ends_an_infinite_search_which_ends_by_nothing_else(conversation):
    conversation.say("position startpos")
    conversation.engine.receive("go infinite")
    time.sleep(0.3)
    assert not conversation.moves()
    conversation.engine.receive("isready")
    assert "readyok" in conversation.lines
    conversation.engine.receive("stop")
    assert len(conversation.moves()) == 1


@pytest.mark.parametrize("end", ["nodes 20", "movetime 1", "wtime 10 btime 10"])
def test_a_depth_that_is_not_reached_ends_by_the_other_limit(conversation, end):
    assert conversation.say("position startpos", f"go depth 100 {end}")[-1].startswith("bestmove")


def test_a_hit_after_pondering_thinks_on_and_tells_one_move(conversation):
    conversation.say("position startpos", "go ponder nodes 40")
    assert not conversation.moves()
    said = conversation.say("ponderhit")
    conversation.engine.close()
    said = conversation.lines
    assert sum(line.startswith("bestmove") for line in said) == 1
    assert "nodes 40 " in said[-2]


@pytest.mark.parametrize("words", ["go movetime", "go nodes x", "go searchmoves z9z9 nodes 9"])
def test_a_mistake_in_go_is_told_and_a_move_is_played(conversation, words):
    conversation.engine.receive("position startpos")
    said = conversation.say(words)
    conversation.engine.close()
    assert said[0].startswith("info string")
    assert conversation.lines[-1].startswith("bestmove ")
    assert conversation.lines[-1] != NO_MOVE


def test_it_chooses_among_the_moves_that_are_asked_for(conversation):
    said = conversation.say("position startpos", "go nodes 50 searchmoves h2h3")
    assert said[-1].split()[1] == "h2h3"


def test_it_tells_of_as_many_moves_as_are_asked_for(conversation):
    conversation.engine.receive("setoption name MultiPV value 3")
    said = conversation.say("position startpos", "go nodes 50")
    conversation.engine.receive("setoption name MultiPV value 1")
    ranks = [int(re.search(r"multipv (\d)", line)[1]) for line in said if "multipv" in line]
    assert ranks[-3:] == [1, 2, 3]


def test_a_turn_of_several_actions_is_one_move():
    amazons = Conversation("amazons", "random")
    said = amazons.say("position startpos moves d1d7,d7g7", "go")
    assert re.fullmatch(r"bestmove [a-j]\d+[a-j]\d+,[a-j]\d+[a-j]\d+", said[-1])


def test_games_without_words_in_uci_are_refused():
    with pytest.raises(UnsupportedGameError, match="cannot be written in UCI"):
        UciEngine("connect_four", "random")


def test_the_side_that_moves_first_has_the_clock_of_white():
    go = Go.parse(["wtime", "60000", "btime", "1000", "winc", "500"])
    white, black = go.clocks
    assert (white.main, white.increment, black.main) == (60.0, 0.5, 1.0)
    assert Go.parse(["wtime", "9000", "movestogo", "10"]).clocks[0].period_moves == 10


@pytest.mark.full
@pytest.mark.skipif(PROGRAM is None, reason="Fairy-Stockfish is not installed")
@pytest.mark.parametrize("game", ["chess", "breakthrough"])
def test_whole_games_against_a_program(game):
    ours = f"{sys.executable} -m rave_agents uci --game {game} uct(simulations=30)"
    result = play_match(
        game,
        f'uci(command="{ours}",nodes=30,timeout=120)',
        f"uci(command={PROGRAM},nodes=10)",
        games=2,
        seed=1,
    )
    assert result.score.games == 2
    assert result.faults == (0, 0)


@pytest.mark.full
def test_a_proven_win_is_told_in_moves():
    solver = Conversation("chess", "uct_solver(simulations=200)")
    said = solver.say("position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "go nodes 2000")
    assert "score mate 1" in said[-2]
    assert said[-1].startswith("bestmove a1a8")
