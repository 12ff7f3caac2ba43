"""PGN as programs and people write it: read with certainty, or refused with the move and reason.

The moves are made up; what each line is like is how the program in its name writes games.
"""

import pytest

from rave_agents.frameworks.own_games import as_game
from rave_agents.game.notation import apply_moves
from rave_agents.records.pgn import read_pgn
from rave_agents.records.positions import set_up
from rave_agents.records.reader import read_game

pytest.importorskip("chess", reason="python-chess is not installed")

KNIGHTS = "e4 e5 Nf3 Nc6"
BARE_KINGS = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
BLACK_TO_MOVE = "4k3/4p3/8/8/8/8/4P3/4K3 b - - 3 30"
PROMOTES = "8/P3k3/8/8/8/8/4K3/8 w - - 0 1"
PASSANT = "4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1"
CASTLES = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
BOTH_TAKE = "4k3/8/8/8/2p5/1P1B4/8/4K3 w - - 0 1"


def file(tmp_path, content, name="game.pgn"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def fen(position, moves):
    return f'[SetUp "1"]\n[FEN "{position}"]\n\n{moves}'


USUALLY_READ = {
    "the standard": '[Event "?"]\n[Result "*"]\n\n1. e4 e5 2. Nf3 Nc6 *\n',
    "numbers without a space, as old databases have": "1.e4 e5 2.Nf3 Nc6 *",
    "no numbers": "e4 e5 Nf3 Nc6",
    "numbers without points": "1 e4 e5 2 Nf3 Nc6 *",
    "figurines": "1. e4 e5 2. ♘f3 ♞c6 *",
    "figurines with a variation selector": "1. e4 e5 2. ♘\ufe0ef3 ♞\ufe0ec6 *",
    "long algebraic, as Arena writes it": "1. e2-e4 e7-e5 2. Ng1-f3 Nb8-c6 *",
    "moves of UCI, as engines' logs have them": "1. e2e4 e7e5 2. g1f3 b8c6 *",
    "lichess with clocks and evaluations": (
        '[Event "Rated Blitz game"]\n[Variant "Standard"]\n\n1. e4 { [%eval 0.18] [%clk 0:03:00] } '
        "1... e5 { [%clk 0:03:00] } 2. Nf3 { [%eval 0.2] } 2... Nc6 1-0\n"
    ),
    "chess.com": (
        '[Site "Chess.com"]\n[CurrentPosition "r1bqkbnr/8"]\n\n1. e4 {[%clk 0:09:58]} 1... e5 '
        "{[%clk 0:09:55.1]} 2. Nf3 {[%clk 0:09:50]} 2... Nc6 {[%clk 0:09:49]} 1-0"
    ),
    "ChessBase with a profile, NAGs and variations": (
        '[Annotator "N, N"]\n[PlyCount "4"]\n\n{[%evp 0,4,25,\n26,13] The start.} 1. e4 $1 e5 $5 '
        "(1... c5 2. Nf3 (2. c3 $6 {Alapin (a)}) 2... d6) 2. Nf3 Nc6 $14 1/2-1/2"
    ),
    "TWIC in Latin-1": (
        '[White "M\xfcller,J"]\r\n[Result "1-0"]\r\n\r\n1.e4 e5 2.Nf3 Nc6 1-0\r\n'.encode("latin-1")
    ),
    "SCID with a mark of the encoding": (
        b"\xef\xbb\xbf" + '[Event "Zürich"]\n\n1.e4 e5 2.Nf3 Nc6  *'.encode()
    ),
    "UTF-16, as Windows saves it": "1. e4 e5 2. Nf3 Nc6 *".encode("utf-16"),
    "old line ends of a Mac": b'[Event "x"]\r\r1. e4 e5\r2. Nf3 Nc6 *',
    "FICS with a remark before the result": (
        '[Event "FICS rated blitz game"]\n\n1. e4 {[%emt 0.0]} e5 {[%emt 0.1]} 2. Nf3 Nc6 '
        "{Black forfeits on time} 1-0"
    ),
    "FICS adjourned": "1. e4 e5 2. Nf3 Nc6 {White lost connection; game adjourned} *",
    "cutechess": (
        '[GameDuration "00:00:10"]\n[TimeControl "6/move"]\n\n1. e4 {+0.04/8 5.0s} e5 {book}\n'
        "2. Nf3 {0.00/7 5.0s} Nc6 {-0.04/7 5.0s, Black disconnects} 1-0"
    ),
    "comments to the end of a line and escapes": (
        "% made by hand\n1. e4 ; the best (by test) {\n e5 2. Nf3 Nc6 *"
    ),
    "an empty line in the moves": "1. e4 e5\n\n2. Nf3 Nc6 *",
    "Black's number with an ellipsis": "1. e4 1… e5 2. Nf3 {x} 2. ... Nc6 *",
    "marks of Informant": "1. e4! e5?! 2. Nf3 ± Nc6 += *",
    "signs of Unicode": "1. e4‼ e5⁉ 2. Nf3 ∞ Nc6 ½-½",
    "cut off after a whole move": '[Event "x"]\n\n1. e4 e5 2. Nf3 Nc6',
    "everything on one line": '[Event "x"][Result "*"] 1. e4 e5 2. Nf3 Nc6 *',
    "files put together": (
        '\ufeff[Event "x"]\n\n\ufeff1. e4 e5 2. Nf3 Nc6 *\n\n[Event "y"]\n\n1. d4 *'
    ),
    "a tag with quotation marks inside": '[White "J "Joe" D"]\n\n1. e4 e5 2. Nf3 Nc6 *',
}
READ = {
    **{each: (content, KNIGHTS) for each, content in USUALLY_READ.items()},
    "ChessBase with tags on one line": (
        f'[Event "a"] [FEN "{BARE_KINGS}"] [SetUp "1"]\n\n1. e4 Kd7 *',
        "e4 Kd7",
    ),
    "XBoard with a setup of its own": (
        f'[FEN "{BARE_KINGS}"]\n[SetUp "1"]\n\n{{--------------\n. . . . k\nwhite to play\n'
        "--------------}\n1. e4 Kd7 *",
        "e4 Kd7",
    ),
    "castling with zeros": (fen(CASTLES, "1. 0-0 0-0-0 *"), "O-O O-O-O"),
    "castling with lower-case letters": (fen(CASTLES, "1. o-o-o o-o *"), "O-O-O O-O"),
    "promotions without a sign and with a slash": (fen(PROMOTES, "1. a8Q *"), "a8=Q"),
    "promotion of a UCI move": (fen(PROMOTES, "1. a7a8n *"), "a8=N"),
    "en passant with its mark": (fen(PASSANT, "1... d5 2. exd6 e.p. *"), "d5 exd6"),
    "en passant glued": (fen(PASSANT, "1... d5 2. exd6e.p. *"), "d5 exd6"),
    "a capture with a colon": (fen(PASSANT, "1... d5 2. e:d6 *"), "d5 exd6"),
    "lichess from a position": (
        f'[Variant "From Position"]\n[FEN "{BLACK_TO_MOVE}"]\n\n30... e5 31. e4 *',
        "e5 e4",
    ),
    "a position with its moves counted anew": (fen(BLACK_TO_MOVE, "1... e5 2. e4 *"), "e5 e4"),
    "a FEN without its counters": (
        '[fen "4k3/8/8/8/8/8/4P3/4K3 w - -"]\n\n1. e4 Kd7 *',
        "e4 Kd7",
    ),
    "a pawn's capture without a cross": (fen(PASSANT, "1... d5 2. ed6 *"), "d5 exd6"),
    "a pawn named b": (fen(BOTH_TAKE, "1. bxc4 *"), "bxc4"),
}


@pytest.mark.full(but=len(READ))
@pytest.mark.parametrize(("content", "moves"), READ.values(), ids=READ)
def test_a_pgn_is_read(content, moves, tmp_path):
    read = read_pgn(file(tmp_path, content), as_game("chess"))
    assert read.actions == tuple(apply_moves(read.start.clone(), moves))


_NOT_SAN = "is not in standard algebraic notation"
REFUSED = {
    "French": ("1. e4 e5 2. Cf3 Cc6 *", rf"move 2 of White, 'Cf3', {_NOT_SAN}"),
    "Hungarian, whose B is the rook": ("1. a4 a5 2. Ba3 *", r"'Ba3', is illegal"),
    "Russian letters that look like Latin ones": ("1. e4 с5 *", rf"'с5', {_NOT_SAN}"),
    "lower-case letters": ("1. e4 e5 2. nf3 *", rf"move 2 of White, 'nf3', {_NOT_SAN}"),
    "a small b that is no pawn": ("1. e4 e5 2. bc4 *", r"move 2 of White, 'bc4', is illegal"),
    "a small b that may be a pawn": (
        fen(BOTH_TAKE, "1. bc4 *"),
        "'bc4', is a move of a pawn or of",
    ),
    "a small b on its own file": ("1. b4 a6 2. bb5 *", rf"'bb5', {_NOT_SAN}"),
    "descriptive notation": ("1. P-K4 P-K4 *", rf"'P-K4', {_NOT_SAN}"),
    "a number that sticks to its move": ("1e4 e5 *", rf"'1e4', {_NOT_SAN}"),
    "moves that stick together": ("1. e4e5 *", "'e4e5', is illegal"),
    "a null move of ChessBase": ("1. e4 -- 2. d4 *", "move 1 of Black, '--', passes"),
    "a drop of crazyhouse": ("1. e4 e5 2. N@f3 *", rf"'N@f3', {_NOT_SAN}"),
    "bughouse": ("1A. e4{299} 1a. e5{298} *", rf"'1A.', {_NOT_SAN}"),
    "an illegal move": ("1. e4 e5 2. Nf6 *", "move 2 of White, 'Nf6', is illegal"),
    "an ambiguous move": ("1. d4 d5 2. Nf3 a6 3. Nd2 *", "move 3 of White, 'Nd2', fits several"),
    "a missing move": ("1. e4 e5 3. Nf3 *", "number 3 comes where move 2 of White is expected"),
    "a missing reply": ("1. e4 2. d4 *", "number 2 comes where move 1 of Black is expected"),
    "a fragment": ("12. Nf3 d5 *", "begin with number 12, and no tag has the FEN"),
    "Black's number for White": ("1... e5 2. Nf3 *", "a move of Black, and move 1 of White"),
    "a promotion to nothing": (fen(PROMOTES, "1. a8 *"), "move 1 of White, 'a8', is illegal"),
    "a promotion to a German queen": (fen(PROMOTES, "1. a8D *"), rf"'a8D', {_NOT_SAN}"),
    "cut off in a move": ("1. e4 e5 2. Nf", rf"move 2 of White, 'Nf', {_NOT_SAN}"),
    "cut off in a comment": ("1. e4 e5 {as us", "move 2 of White, the comment that begins"),
    "cut off in a variation": (
        "1. e4 e5 (1... c5 2.",
        "move 2 of White, the variation that begins",
    ),
    "a variation that only ends": ("1. e4 ) e5 *", r"move 1 of Black, '\)' ends a variation"),
    "words among the moves": ("1. e4 e5 2. Black resigns", rf"'Black', {_NOT_SAN}"),
    "moves after the result": ("1. e4 e5 1-0 2. Nf3 *", "move 1 of Black, e5, text follows"),
    "another game without tags": ("1. e4 e5\n\n1. d4 d5", "number 1 comes where move 2 of White"),
    "moves after mate": (
        "1. f3 e5 2. g4 Qh4# 3. a3 *",
        "move 3 of White, 'a3', is illegal",
    ),
    "Chess960": ('[Variant "Chess960"]\n\n1. e4 *', "a game of Chess960, not of chess"),
    "Chess960 by its castling": (
        fen("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1", "1. e4 *"),
        "a position of Chess960",
    ),
    "a small tag of a variant": ('[variant "Atomic"]\n\n1. e4 *', "a game of Atomic"),
    "a FEN that is said and lacks": ('[SetUp "1"]\n\n1. e4 *', "begins at a FEN, and it has none"),
    "a FEN that is denied": (
        f'[SetUp "0"]\n[FEN "{BARE_KINGS}"]\n\n1. e4 *',
        "says that it begins as usual",
    ),
    "a broken FEN": ('[FEN "4k3/8/8 w - - 0 1"]\n\n1. e4 *', "it begins at '4k3/8/8 w - - 0 1'"),
    "a FEN in a broken tag": (f"[FEN {BARE_KINGS}]\n\n1. e4 *", "has not the form"),
    "a FEN behind a broken tag": (
        f'[Event "a "b" c"] [FEN "{BARE_KINGS}"]\n\n1. e4 *',
        "has not the form",
    ),
    "a bracket among the moves": ("1. e4 [e5 *", r"'\[' has no meaning in PGN"),
    "a FEN with a king to take": (fen("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", "1. Rxe8"), "is in check"),
    "nothing": ("", "has only 0 games, not number 1"),
}


@pytest.mark.full(but=len(REFUSED))
@pytest.mark.parametrize(("content", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_pgn_is_refused_with_the_move_and_the_reason(content, reason, tmp_path):
    with pytest.raises(ValueError, match=reason):
        read_pgn(file(tmp_path, content), as_game("chess"))


REPEATED = "1. e4 e5 2. Nf3 Nf6 3. Ng1 Ng8 4. Nf3 Nf6 5. Ng1 Ng8"


@pytest.mark.parametrize(
    ("moves", "count", "how"),
    [
        (f"{REPEATED} 6. d4 d5 *", 10, "move 5 of Black, Ng8, by the third repetition"),
        (fen("4k3/8/8/8/8/8/8/R3K3 w - - 99 80", "80. Ra2 Kd7 *"), 1, "White, Ra2, by fifty moves"),
        (fen("4k3/8/8/8/8/8/3q4/4K3 w - - 0 1", "1. Kxd2 Kd7 *"), 1, "since neither side can"),
    ],
)
def test_a_review_ends_with_the_game_where_a_file_goes_on(moves, count, how, tmp_path, caplog):
    path = file(tmp_path, moves)
    with caplog.at_level("WARNING", "rave_agents"):
        start, actions = read_game(as_game("chess"), path)
    assert len(actions) == count
    assert how in caplog.text
    for action in actions:
        start.apply_action(action)
    assert start.is_terminal()
    with pytest.raises(
        ValueError, match="does not end at a position of the game: the game is over after"
    ):
        set_up(as_game("chess"), position=path)


def test_a_repetition_at_the_end_of_a_file_is_no_fault(tmp_path, caplog):
    with caplog.at_level("WARNING", "rave_agents"):
        found = set_up(as_game("chess"), position=file(tmp_path, f"{REPEATED} 1/2-1/2"))
    assert found.state.is_terminal()
    assert not caplog.text


def test_a_game_of_a_file_is_chosen_by_its_number(tmp_path):
    path = file(tmp_path, '[Event "1"]\n1. e4 e5 1-0\n[Event "2"]\n\n1. d4 *\n')
    chess = as_game("chess")
    assert len(read_game(chess, path, 1).actions) == 2
    assert len(read_game(chess, path, 2).actions) == 1
    with pytest.raises(ValueError, match="has only 2 games, not number 3"):
        read_game(chess, path, 3)
    with pytest.raises(ValueError, match="has several games"):
        set_up(chess, position=path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('[Result "1-0"]\n\n1. e4 e5 0-1', "the results 0-1 and 1-0"),
        ("1. f3 e5 2. g4 Qh4# 1-0", "the result 1-0; by the moves it is 0-1"),
    ],
)
def test_results_that_differ_are_reported(content, told, tmp_path, caplog):
    with caplog.at_level("WARNING", "rave_agents"):
        read_pgn(file(tmp_path, content), as_game("chess"))
    assert told in caplog.text


def test_a_pgn_without_moves_has_nothing_to_review(tmp_path):
    with pytest.raises(ValueError, match="has no moves: there is nothing to review"):
        read_game(as_game("chess"), file(tmp_path, '[Event "x"]\n\n*\n'))
