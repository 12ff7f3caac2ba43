"""SGF as programs and servers write it: read with certainty, or refused with the move and reason.

The moves are made up; what each line is like is how the program in its name writes games.
"""

import re

import pytest

from rave_agents.arena import play_match
from rave_agents.engines.client.boards import go_rows
from rave_agents.engines.client.vertices import Vertices
from rave_agents.engines.gtp_engine import GtpEngine
from rave_agents.frameworks.own_games import as_game
from rave_agents.records.positions import set_up
from rave_agents.records.reader import read_game
from rave_agents.records.sgf_game import read_sgf, sgf_parameters

GO, HEX = "go(board_size=5,komi=7.5)", "hex(board_size=5)"
CROSS = "B3 D3 C4"
"""Three moves on 5 x 5: SGF's bc, dc and cb."""
MOVES = ";B[bc];W[dc];B[cb]"


def file(tmp_path, content, name="game.sgf"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def actions_of(game, words):
    state, vertices, actions = game.new_initial_state(), Vertices(game), []
    for word in words.split():
        actions.append(vertices.read(state, word))
        state.apply_action(actions[-1])
    return tuple(actions)


USUALLY_READ = {
    "KGS and CGoban 3": (
        "(;GM[1]FF[4]CA[UTF-8]AP[CGoban:3]ST[2]\nRU[Chinese]SZ[5]KM[7.50]TM[1800]"
        "OT[5x30 byo-yomi]\nPW[w]PB[b]WR[2k]RE[W+Resign]\n;B[bc]BL[1790.0]\n;W[dc]WL[1785.5]\n"
        ";B[cb]C[b [3k\\]: hi (;\\)\n])"
    ),
    "OGS, where each move is a variation of its own": (
        "(;FF[4]\nCA[UTF-8]\nGM[1]\nPC[OGS: https://online-go.com/game/1]\nTM[300]\n"
        "RE[W+R]\nSZ[5]\nKM[7.5]\nRU[Chinese]\n;B[bc]\n(;W[dc]\nC[b: hi\n]\n(;B[cb]\n)))"
    ),
    "Sabaki": f"(;GM[1]FF[4]CA[UTF-8]AP[Sabaki:0.52.2]KM[7.5]SZ[5]DT[2024-01-01]{MOVES})",
    "GoGui": (f"(;FF[4]CA[UTF-8]AP[GoGui:1.5.1]SZ[5]\nKM[7.5]PB[A]PW[B]DT[2020-01-01]\n{MOVES})"),
    "GNU Go": (
        "(;GM[1]FF[4]\nSZ[5]\nGN[GNU Go 3.8]\nRU[Chinese]HA[0]KM[7.5]\nAP[GNU Go:3.8]"
        f"RE[W+5.5]\n{MOVES})"
    ),
    "Little Golem's Go": (
        f"(;FF[4]EV[go19.ch.1]PB[a]PW[b]KM[7.5]SZ[5]SO[http://www.littlegolem.com]{MOVES})"
    ),
    "SmartGo with a square of two sides": f"(;GM[1]SZ[5:5]KM[7.5]{MOVES})",
    "long names of properties of FF[1]": (
        "(;GaMe[1]SiZe[5]KoMi[7.5];Black[bc];White[dc];Black[cb])"
    ),
    "no game and no komi": f"(;SZ[5]{MOVES})",
    "an empty komi and handicap": f"(;GM[1]SZ[5]KM[]HA[]{MOVES})",
    "a komi with a comma": f"(;GM[1]SZ[5]KM[7,5]{MOVES})",
    "a komi with zeros": f"(;GM[1]SZ[5]KM[7.50]HA[0]{MOVES})",
    "Fox": (
        "(;GM[1]FF[4]SZ[5]GN[]BR[2段]KM[375]HA[0]RU[Chinese]AP[GNU Go:3.8]RN[3]RE[W+R]"
        f"TC[3]AP[foxwq]RL[0]\n{MOVES})"
    ),
    "one stone of handicap": f"(;GM[1]SZ[5]KM[7.5]HA[1]{MOVES})",
    "a result that is void": f"(;GM[1]SZ[5]KM[7.5]RE[Void]{MOVES})",
    "a result in words": f"(;GM[1]SZ[5]KM[7.5]RE[白中押し勝ち]{MOVES})",
    "GBK, where a letter's byte may be a bracket": (
        f"(;GM[1]SZ[5]KM[7.5]CA[GB18030]PB[腰乚]C[\U00020021]{MOVES})".encode("gb18030")
    ),
    "Shift-JIS, likewise": (
        (f"(;GM[1]SZ[5]KM[7.5]CA[Shift_JIS]PB[表ソ弌]{MOVES})").encode("shift_jis")
    ),
    "Latin-1 that is not said": (f"(;GM[1]SZ[5]KM[7.5]PB[Müller]{MOVES})").encode("latin-1"),
    "an encoding that nobody knows": f"(;GM[1]SZ[5]KM[7.5]CA[x-foo]{MOVES})",
    "a mark of the encoding": b"\xef\xbb\xbf" + (f"(;GM[1]SZ[5]KM[7.5]{MOVES})").encode(),
    "a letter before the game": f"From: a@b\nSubject: x\n\n(;GM[1]SZ[5]KM[7.5]{MOVES})\n-- \n",
    "Black's turn that is said": f"(;GM[1]SZ[5]KM[7.5]PL[B]{MOVES})",
    "variations, of which the first counts": (
        "(;GM[1]SZ[5]KM[7.5];B[bc](;W[dc](;B[cb])(;B[aa]))(;W[bb]))"
    ),
}
READ = {
    **{each: (GO, content, CROSS) for each, content in USUALLY_READ.items()},
    "passes of FF[3] and of FF[4]": (
        GO,
        "(;FF[3]GM[1]SZ[5]KM[7.5];B[bc];W[tt];B[cb];W[];B[dc])",
        "B3 pass C4 pass D3",
    ),
    "three passes, as AGA rules have them": (
        GO,
        "(;GM[1]SZ[5]KM[7.5];B[bc];W[];B[];W[])",
        "B3 pass pass",
    ),
    "Fox by Japanese rules": (
        "go(board_size=5,komi=6.5)",
        f"(;GM[1]SZ[5]KM[650]RU[Japanese]AP[foxwq]{MOVES})",
        CROSS,
    ),
    "Fox with half a point": (
        "go(board_size=5,komi=0.5)",
        f"(;GM[1]SZ[5]KM[50]AP[foxwq]{MOVES})",
        CROSS,
    ),
    "a komi of none": ("go(board_size=5,komi=0.0)", f"(;GM[1]SZ[5]KM[0]{MOVES})", CROSS),
    "a whole komi": ("go(board_size=5,komi=7.0)", f"(;GM[1]SZ[5]KM[7]{MOVES})", CROSS),
    "a reverse komi": ("go(board_size=5,komi=-5.0)", f"(;GM[1]SZ[5]KM[-5]{MOVES})", CROSS),
    "HexGui": (HEX, "(;AP[HexGui:0.9.GIT]FF[4]GM[11]SZ[5];B[c2];W[c3];B[d4])", "c2 c3 d4"),
    "HexGui with a resignation": (
        HEX,
        "(;AP[HexGui:0.9.GIT]FF[4]GM[11]SZ[5];B[c2];W[c3];B[resign])",
        "c2 c3",
    ),
    "HexWiki with capitals": (HEX, "(;FF[4]GM[11]SZ[5];B[C2];W[c3];B[Resign])", "c2 c3"),
    "Hex with a swap": (
        "hex(board_size=5,swap=True)",
        "(;GM[11]SZ[5];B[c2];W[swap-pieces];B[d4])",
        "c2 swap d4",
    ),
    "Hex of two sides": ("hex(num_cols=5,num_rows=4)", "(;GM[11]SZ[5:4];B[e4])", "e4"),
    "Hex whose game has equal sides": ("hex(num_cols=5,num_rows=5)", "(;GM[11]SZ[5];B[e4])", "e4"),
    "Hex of the usual size": ("hex", "(;FF[4]GM[11];B[k11];W[a1])", "k11 a1"),
    "Hex without a number": (HEX, "(;FF[4]SZ[5];B[c2];W[c3])", "c2 c3"),
    "gomoku": ("gomoku", "(;GM[4]SZ[15];B[hh];W[hi];B[gg])", "H8 H7 G9"),
    "NoGo as a game of Go": ("nogo(board_size=5)", "(;GM[1]SZ[5];B[bc];W[dc])", "B3 D3"),
    "Havannah of Little Golem": (
        "havannah(board_size=4)",
        "(;FF[4]SZ[4]RU[LG]SO[http://www.littlegolem.com];B[E4];W[d3])",
        "e4 d3",
    ),
}


@pytest.mark.full(but=len(READ))
@pytest.mark.parametrize(("game", "content", "words"), READ.values(), ids=READ)
def test_an_sgf_is_read(game, content, words, tmp_path):
    loaded = as_game(game)
    path = file(tmp_path, content)
    assert sgf_parameters(path, loaded) == {}
    read = read_sgf(path, loaded)
    assert read.actions == actions_of(loaded, words)
    assert read.laid == ()
    assert not read.goes_on


USUALLY_REFUSED = {
    "capitals in a point": ("(;SZ[5];B[EE])", "move 1, 'EE', is no point: SGF writes"),
    "a point of GTP": ("(;SZ[5];B[bc];W[d4])", "move 2, 'd4', is no point"),
    "a point of three letters": ("(;SZ[5];B[abc])", "move 1, 'abc', is no point"),
    "a point that is taken": ("(;SZ[5];B[bc];W[bc])", "move 2, 'bc', is illegal: a stone lies"),
    "a ko that is taken back": (
        "(;SZ[5];B[ba];W[ca];B[ab];W[db];B[bc];W[cc];B[cb];W[bb];B[cb])",
        "move 9, 'cb', is illegal: it takes its own last liberty, or repeats a position",
    ),
    "two moves of one colour": ("(;SZ[5];B[bc];B[cc])", "move 2 is of B, who is not to move"),
    "White first": ("(;SZ[5];W[bc])", "move 1 is of W, who is not to move"),
    "White's turn that is said": ("(;SZ[5]PL[W])", r"PL\[W\] gives the move to the wrong player"),
    "two moves in one node": ("(;SZ[5];B[bc]W[cc])", "it has 2 moves in one node"),
    "a repeated move": ("(;SZ[5];B[bc][cc])", "it has 2 moves in one node"),
    "stones set up": ("(;SZ[5]AB[aa]AW[bb])", "sets up stones beyond the handicap"),
    "stones of White": ("(;SZ[5]AW[bb];B[aa])", "sets up stones beyond the handicap"),
    "stones set up later": ("(;SZ[5];B[aa];AW[bb])", "after move 1, it sets up stones"),
    "stones taken away": ("(;SZ[5];B[aa];W[bb];AE[aa])", "after move 2, it sets up stones"),
    "a handicap without stones": ("(;SZ[5]HA[2];W[aa])", "no AB with its stones"),
    "a handicap of other stones": ("(;SZ[5]HA[3]AB[aa][bb])", "3, but AB sets up 2 stones"),
    "a handicap in words": ("(;SZ[5]HA[two])", r"its handicap, HA\[two\], is no number"),
    "a broken stone of a handicap": ("(;SZ[5]HA[2]AB[aa][zz])", "AB is no point"),
    "a komi larger than the board": ("(;SZ[5]KM[333])", r"KM\[333\], is no number of points"),
    "a komi of Fox that nobody knows": ("(;SZ[19]KM[80]AP[foxwq])", r"KM\[80\], is no number"),
    "a size in words": ("(;SZ[small];B[aa])", r"its size, SZ\[small\], is no number"),
    "more digits than a number has": ("(;SZ[5]HA[" + "9" * 5000 + "])", "is no number of stones"),
    "a board that is no square": ("(;SZ[5:7];B[aa])", "its board is not square"),
    "a board that is too large": (
        "(;SZ[52];B[aa])",
        "has board_size 52, and go.* cannot be changed to",
    ),
    "Othello": ("(;GM[2]SZ[8];B[dc])", r"a game of othello \(GM\[2\]\)"),
    "chess": ("(;GM[3];B[aa])", r"a game of another kind, GM\[3\]"),
    "a game in words": ("(;GM[Hex];B[aa])", r"a game of another kind, GM\[Hex\]"),
    "cut off": ("(;SZ[5];B[aa];W[bb];B[c", "ends early or is broken, after 2 moves"),
    "cut off before its end": ("(;SZ[5];B[aa];W[bb]", "ends early or is broken, after 2 moves"),
    "no SGF": ('[Event "x"]', "is broken, after 0 moves: no SGF data found"),
}
REFUSED = {
    **{each: (GO, *case) for each, case in USUALLY_REFUSED.items()},
    "a size that no letters name": (HEX, "(;GM[11]SZ[60];B[a1])", "exceeds SGF.s letters"),
    "a square where the game has none": (
        "hex(num_cols=5,num_rows=7)",
        "(;GM[11]SZ[11];B[a1])",
        r"does not have the game's size, 5:7, but SZ\[11\]",
    ),
    "sides that keep the game's size": (
        "hex(num_cols=5,num_rows=5)",
        "(;GM[11]SZ[7];B[a1])",
        "has board_size 7, and hex.* cannot be changed to that",
    ),
    "Go as gomoku": ("gomoku", "(;SZ[15];B[aa])", "names no game, which means go"),
    "Y as Havannah": (
        "havannah(board_size=4)",
        "(;AP[rave-agents:0.1]GM[0]GN[y(board_size=4), game 1];B[a1])",
        "it is a game of y",
    ),
    "a move after a resignation": (
        HEX,
        "(;GM[11]SZ[5];B[c2];W[resign];B[c3])",
        "move 3 of B follows",
    ),
    "Little Golem's Hex": (HEX, "(;SZ[5];W[cb];B[swap])", "move 1 is of W, who is not to move"),
    "a swap of sides": (
        HEX,
        "(;GM[11]SZ[5];B[c2];W[swap-sides])",
        "move 2, 'swap-sides', is no move",
    ),
    "HexGui's set-up": (
        HEX,
        "(;GM[11]SZ[5];AB[a1]AW[a2]PL[B])",
        "it sets up stones, but only moves",
    ),
    "Hex of another usual size": (HEX, "(;GM[11];B[c2])", "it has board_size 11"),
    "a turn of Connect6": (HEX, "(;SZ[5];B[c3];W[c2d2])", "move 2, 'c2d2', is"),
}


@pytest.mark.full(but=len(REFUSED))
@pytest.mark.parametrize(("game", "content", "reason"), REFUSED.values(), ids=REFUSED)
def test_an_sgf_is_refused_with_the_move_and_the_reason(game, content, reason, tmp_path):
    with pytest.raises(ValueError, match=reason):
        read_sgf(file(tmp_path, content), as_game(game))


ADVISED = {
    "a whole komi": ("go(board_size=9)", "(;GM[1]SZ[9]KM[7];B[ee];W[cc];B[gg])"),
    "no komi": (GO, "(;SZ[5]KM[0];B[aa])"),
    "a reverse komi": (GO, "(;SZ[5]KM[-5.5];B[aa])"),
    "an odd komi": (GO, "(;SZ[5]KM[3.75];B[aa])"),
    "a komi of Fox": ("go(komi=6.5)", "(;SZ[19]KM[375]RU[Chinese];B[pd])"),
    "another board": (GO, "(;SZ[9];B[ee])"),
    "another board and its length": ("go(board_size=5,max_game_length=9)", "(;SZ[7]KM[7.5];B[ee])"),
    "no board": (GO, "(;GM[1];B[ss])"),
    "a handicap of the usual points": ("go", "(;SZ[19]HA[2]KM[0.5]AB[pd][dp];W[dd])"),
    "a handicap on a small board": (
        "go(board_size=9)",
        "(;SZ[9]HA[2]KM[0.5]AB[gc][cg];W[ee];B[cc])",
    ),
    "a handicap where the game has another": ("go(handicap=2)", "(;SZ[9]HA[2]AB[gc][cg];W[ee])"),
    "a free handicap": ("go(handicap=3)", "(;SZ[19]HA[2]AB[aa][bb];W[cc])"),
    "a larger handicap": ("go", "(;SZ[13]KM[0]HA[5]AB[jj][jd][dj][dd][gg];W[cd])"),
    "a board of Hex": (HEX, "(;GM[11]SZ[7];B[g7])"),
    "a swap": (HEX, "(;GM[11]SZ[5];B[c2];W[swap-pieces];B[c2])"),
    "a board of gomoku": ("gomoku", "(;GM[4]SZ[19];B[ss];W[aa])"),
    "a board of a game of one's own": ("nogo(board_size=5)", "(;GM[1]SZ[7];B[gg])"),
}


@pytest.mark.full(but=len(ADVISED))
@pytest.mark.parametrize(("game", "content"), ADVISED.values(), ids=ADVISED)
def test_what_a_refusal_advises_works(game, content, tmp_path):
    path = file(tmp_path, content)
    with pytest.raises(ValueError, match="name the game") as refused:
        read_sgf(path, as_game(game))
    named = re.search(r"name the game (\S+) to read it", str(refused.value))
    read = read_sgf(path, as_game(named[1]))
    assert len(read.actions) == len(re.findall(r";[BW]\[", content))


@pytest.mark.parametrize("other", ["go(board_size=5)", "go(board_size=9,komi=0.5)"])
def test_no_advice_is_given_that_meets_another_fault(other, tmp_path):
    path = file(tmp_path, "(;SZ[9]KM[7];B[ee];W[ee])")
    with pytest.raises(ValueError, match="move 2, 'ee', is illegal") as refused:
        read_sgf(path, as_game(other))
    assert "name the game" not in str(refused.value)


@pytest.mark.parametrize("stones", ["AB[gc][cg]", "AB[gc]AB[cg]", "AB[gc:gc][cg:cg]"])
def test_a_handicap_is_laid_by_moves_where_the_game_lays_no_such(stones, tmp_path, caplog):
    path = file(tmp_path, f"(;SZ[9]KM[7.5]HA[2]{stones}PL[W];W[ee];B[cc])")
    with caplog.at_level("WARNING", "rave_agents"):
        start, actions = read_game(as_game("go(board_size=9)"), path)
    rows = go_rows(str(start))
    assert [row.count("X") for row in rows] == [0, 0, 1, 0, 0, 0, 1, 0, 0]
    assert (rows[2][6], rows[6][2]) == ("X", "X")
    assert start.current_player() == 1
    assert len(actions) == 2
    assert "white gets no points for them" in caplog.text


def test_a_rectangle_of_stones_is_a_handicap(tmp_path):
    path = file(tmp_path, "(;SZ[9]KM[7.5]HA[4]AB[aa:bb];W[ee])")
    rows = go_rows(str(read_game(as_game("go(board_size=9)"), path).start))
    assert rows[0].startswith("XX+")
    assert rows[1].startswith("XX+")
    assert sum(row.count("X") for row in rows) == 4


def test_a_position_and_a_match_begin_after_the_stones_that_moves_lay(tmp_path):
    game, path = as_game("go(board_size=9)"), file(tmp_path, "(;SZ[9]HA[2]AB[gc][cg];W[ee])")
    found = set_up(game, position=path)
    replayed = game.new_initial_state()
    for action in found.actions:
        replayed.apply_action(action)
    assert str(replayed) == str(found.state)
    assert found.state.current_player() == 0
    result = play_match(game.name, "random", "random", games=1, position=path)
    assert result.records[0].actions[: len(found.actions)] == found.actions


def test_gtp_loads_the_stones_that_moves_lay(tmp_path):
    path = file(tmp_path, "(;SZ[9]HA[2]KM[0.5]AB[gc][cg];W[ee];B[cc])")
    player = GtpEngine("go(board_size=5)", "random", seed=1)
    assert player.answer(f"loadsgf {path} 2").strip() == "="
    assert player.position.game.name.startswith("go(board_size=9,komi=0.5")
    assert [row.count("X") + row.count("O") for row in go_rows(str(player.position.state))] == [
        *(0, 0, 1, 0, 1, 0, 1, 0, 0),
    ]


@pytest.mark.parametrize(
    ("game", "content", "count", "how"),
    [
        (GO, "(;SZ[5];B[bc];W[];B[];W[cc];B[dd])", 3, "after move 3, by two passes, and 2 moves"),
        ("go(board_size=3,max_game_length=2)", "(;SZ[3];B[aa];W[bb];B[cc])", 2, "max_game_length"),
        ("hex(board_size=2)", "(;GM[11]SZ[2];B[a1];W[b1];B[a2];W[b2])", 3, "and 1 move follows"),
    ],
)
def test_a_review_ends_with_the_game_where_a_file_goes_on(
    game, content, count, how, tmp_path, caplog
):
    path = file(tmp_path, content)
    with caplog.at_level("WARNING", "rave_agents"):
        assert len(read_game(as_game(game), path).actions) == count
    assert how in caplog.text
    with pytest.raises(
        ValueError, match="does not end at a position of the game: the game is over after"
    ):
        set_up(as_game(game), position=path)


def test_a_game_of_a_collection_is_chosen_by_its_number(tmp_path):
    path, game = file(tmp_path, f"(;SZ[5]{MOVES})\n(;SZ[5];B[aa])"), as_game(GO)
    assert len(read_game(game, path).actions) == 3
    assert len(read_game(game, path, 2).actions) == 1
    with pytest.raises(ValueError, match="it has only 2 games, not number 3"):
        read_game(game, path, 3)
    with pytest.raises(ValueError, match="has several games"):
        set_up(game, position=path)
