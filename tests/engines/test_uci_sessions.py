"""Sessions of UCI as clients hold them: the lines that they send, and the answers they wait for.

Each line is a command and, after ``->``, patterns of the lines that the engine must say then; ``!``
is short for an error.
Options and what a search shows are left out.
"""

import re

import pytest

from rave_agents.engines.uci_engine import UciEngine

MOVE = r"bestmove [a-h][1-8][a-h][1-8][qrbn]?( ponder \S+)?"
BACK_AND_FORTH = "g1f3 g8f6 f3g1 f6g8"
ROOK = "position fen 6k1/5ppp/8/8/8/8/8/R6K w - -"
LEFT_OUT = "option|info depth|info string there is no position"
REFUSED = r"bestmove \(none\)"

SESSIONS = {
    "a match program begins a game": f"""
        uci -> id name rave-agents .* | id author .* | uciok
        setoption name Ponder value false
        isready -> readyok
        ucinewgame
        position startpos
        isready -> readyok
        go wtime 10000 btime 10000 winc 100 binc 100 -> {MOVE}
        position startpos moves e2e4 e7e5
        go wtime 9900 btime 10000 winc 100 binc 100 movestogo 39 -> {MOVE}
        quit""",
    "a match program repeats the moves from an opening's FEN": f"""
        position fen rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2 moves g1f3 b8c6
        go nodes 5 -> {MOVE}""",
    "a library sends a target before each search": """
        uci -> id name .* | id author .* | uciok
        isready -> readyok
        setoption name UCI_AnalyseMode value true
        -> info string there is no option 'UCI_AnalyseMode'
        ucinewgame
        isready -> readyok
        position startpos moves d2d4
        go nodes 5 movetime 5000 searchmoves g8f6 d7d5 -> bestmove (g8f6|d7d5)( .*)?
        debug on
        debug off
        quit""",
    "an interface analyses until it is stopped": f"""
        setoption name multipv value 2
        position startpos
        go infinite
        isready -> readyok
        stop -> {MOVE}
        stop
        position startpos moves e2e4
        go infinite
        stop -> {MOVE}""",
    "an interface ponders, and the move comes": f"""
        setoption name Ponder value true
        position startpos moves e2e4 e7e5
        go ponder wtime 1000 btime 1000
        ponderhit -> {MOVE}
        stop""",
    "an interface ponders, and another move comes": f"""
        position startpos moves e2e4 e7e5
        go ponder wtime 60000 btime 60000
        stop -> {MOVE}
        position startpos moves e2e4 c7c5
        go nodes 5 -> {MOVE}""",
    "a program quits in the middle of a search": f"""
        position startpos
        go infinite
        quit -> {MOVE}""",
    "a bot plays on after a threefold repetition": f"""
        position startpos moves {BACK_AND_FORTH} {BACK_AND_FORTH}
        go nodes 5 -> {MOVE}
        position startpos moves {BACK_AND_FORTH} {BACK_AND_FORTH} e2e4
        go nodes 5 searchmoves e7e5 -> bestmove e7e5( .*)?
        position startpos moves {" ".join([BACK_AND_FORTH] * 5)} e2e4 e7e5
        go nodes 5 -> {MOVE}""",
    "a bot plays on after fifty moves": f"""
        position fen 8/8/4k3/8/8/3K4/8/R7 w - - 99 80 moves a1a2
        go nodes 5 -> {MOVE}
        position fen 8/8/4k3/8/8/3K4/8/R7 w - - 150 120 moves a1a2 e6e5
        go nodes 5 -> {MOVE}""",
    "an interface goes on where neither side can mate": f"""
        position fen 8/8/4k3/8/8/3K4/8/8 w - - 0 1
        go movetime 10 -> {MOVE}
        position fen 8/8/8/8/8/3k4/3R4/7K b - - 0 1 moves d3d2 h1h3
        -> ! 'h1h3' is not legal: move 2.
        position fen 8/8/8/8/8/3k4/3R4/7K b - - 0 1 moves d3d2 h1h2
        go nodes 5 -> bestmove d2[c-e][1-3]
        position fen 8/8/8/3k4/8/8/4K3/8 b - - 0 1 moves d5e4 e2d2 e4d4
        go depth 3 -> bestmove d2[a-h][1-8]""",
    "mate and stalemate end a game": f"""
        position startpos moves f2f3 e7e5 g2g4 d8h4
        go nodes 5 -> {REFUSED}
        position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1
        go nodes 5 -> {REFUSED}
        position startpos moves f2f3 e7e5 g2g4 d8h4 a2a3
        -> ! 'a2a3' is not legal: the game is over before move 5.""",
    "a tool sends positions of an EPD": f"""
        {ROOK}
        go nodes 60 -> bestmove a1a8
        {ROOK} bm Ra8#; id "back rank; easy"; hmvc 4; fmvn 30;
        d -> info string 6k1/5ppp/8/8/8/8/8/R6K w - - 4 30
        {ROOK} 7
        d -> info string 6k1/5ppp/8/8/8/8/8/R6K w - - 7 1
        position   fen  6k1/5ppp/8/8/8/8/8/R6K   w -  - 3 9
        d -> info string 6k1/5ppp/8/8/8/8/8/R6K w - - 3 9""",
    "an interface castles as in Chess960": """
        position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 4 1 moves e1h1 e8a8
        d -> info string 2kr3r/8/8/8/8/8/8/R4RK1 w - - 6 2
        position fen r3k2r/8/8/8/8/8/8/R3K2R w HAha - 4 1 moves e1c1 e8g8
        d -> info string r4rk1/8/8/8/8/8/8/2KR3R w - - 6 2
        position fen 6k1/8/8/8/8/8/8/K3Q2R w - - 0 1 moves e1h1
        -> ! 'e1h1' is not legal as move 1.""",
    "a server's bridge sends promotions in upper case": f"""
        position fen 8/P6k/8/8/8/8/8/K7 w - - 0 1 moves a7a8Q
        d -> info string Q7/7k/8/8/8/8/8/K7 b - - 0 1
        position fen 8/P6k/8/8/8/8/8/K7 w - - 0 1 moves a7a8n
        d -> info string N7/7k/8/8/8/8/8/K7 b - - 0 1
        position fen 8/P6k/8/8/8/8/8/K7 w - - 0 1 moves a7a8 -> ! 'a7a8' is not legal as move 1.
        go nodes 5 -> {REFUSED}""",
    "a refused position leaves none to play": f"""
        position startpos moves e2e4
        position startpos moves e2e4 e7e4 -> ! 'e7e4' is not legal as move 2.
        go nodes 5 -> {REFUSED}
        go infinite
        stop -> {REFUSED}
        d -> info string no position
        ucinewgame
        go nodes 5 -> {REFUSED}
        position startpos moves e2e4 e7e5
        go nodes 5 -> {MOVE}""",
    "words that are no position": f"""
        position -> ! position takes startpos or fen.*
        position startpos e2e4 -> ! position takes startpos or fen.*got 'startpos e2e4'.
        position fen -> ! '' is no position of chess.*
        position startpos moves 0000 -> ! '0000' is not legal as move 1.
        position startpos moves e4 -> ! 'e4' is not legal as move 1.
        go nodes 5 -> {REFUSED}""",
    "a FEN of another variant": f"""
        position fen rheakaehr/9/1c5c1/s1s1s1s1s/9/9/S1S1S1S1S/1C5C1/9/RHEAKAEHR w - - 0 1
        -> ! the board has 10 rows, not 8.*
        go nodes 5 -> {REFUSED}
        setoption name UCI_Variant value atomic -> ! this engine plays chess, not 'atomic'.
        position startpos -> ! this engine plays chess, not 'atomic'.
        go nodes 5 -> {REFUSED}
        setoption name UCI_Variant value chess
        setoption name UCI_Chess960 value true -> ! this engine plays chess, not 'chess960'.
        position startpos -> ! this engine plays chess.*
        setoption name UCI_Chess960 value false
        position startpos
        go nodes 5 -> {MOVE}""",
    "FENs that chess does not allow": """
        position fen 4k3/8/8/8/8/8/4R3/4K3 w - - 0 1
        -> ! Black is in check, and it is not Black's turn.*
        position fen 4k3/8/8/8/8/8/8/4K3 w KQ - 0 1
        -> ! 'K' allows castling, and king and rook are not where they began.*
        position fen r3k2r/8/8/8/8/8/8/R3K2R w KQKQ - 0 1
        -> ! 'KQKQ' names a right to castle twice.*
        position fen 4k3/8/8/8/3Pp3/8/8/4K3 b - c3 0 1 -> ! no pawn has just passed over 'c3'.*
        position fen 4k3/8/8/8/3Pp3/8/8/4K3 b - e6 0 1
        -> ! 'e6' is no square that a pawn has just passed over.*
        position fen P3k3/8/8/8/8/8/8/4K3 b - - 0 1 -> ! there is a pawn on a8.*
        position fen 4k3/8/8/8/8/8/8/4K2K w - - 0 1 -> ! there must be one K, and there are 2.*
        position fen 4k3/8/8/8/8/8/8/4K3 x - - 0 1 -> ! the side to move must be w or b.*
        position fen 4k3/8/8/8/8/8/8/4K3 w - - one 1 -> ! 'one' is no number of moves.*
        position fen 4k3/8/8/8/8/8/8/4K3 w - - bm Kd2 -> ! 'bm' is no number of moves.*""",
    "a terminal of another system": f"""
        uci\r -> id name .* | id author .* | uciok
        \r
          \t
        register later
        joho isready -> readyok
        position startpos moves e2e4 \r
        go nodes 5\r -> {MOVE}
        sing a song -> info string unknown command: sing a song""",
    "a search by depth, by mate, and by nothing at all": f"""
        {ROOK}
        go depth 1 -> {MOVE}
        go mate 1 -> {MOVE}
        go -> {MOVE}
        go movetime 1 -> {MOVE}
        go wtime -20 btime 5000 -> {MOVE}
        go depth 2 nodes 10 wtime 1000 -> {MOVE}""",
    "options out of their range": """
        setoption name MultiPV value 501
        -> ! MultiPV takes an integer of at least 1 and at most 500, got '501'.
        setoption name MultiPV value many -> ! got 'many'.
        setoption name MultiPV value 0 -> ! got '0'.
        setoption name Clear Hash -> info string there is no option 'Clear Hash'
        setoption name Skill Level value 20 -> info string there is no option 'Skill Level'""",
}
"""Each session by what the client does in it."""


@pytest.mark.full(but=len(SESSIONS))
@pytest.mark.parametrize("name", SESSIONS)
def test_a_session(name):
    said = []
    engine = UciEngine("chess", "uct(simulations=5)", seed=1)
    engine.write = lambda text: said.extend(text.splitlines())
    for exchange in SESSIONS[name].replace("\n        -> ", " -> ").split("\n")[1:]:
        line, _, patterns = exchange[8:].partition(" -> ")
        patterns = patterns.replace("! ", "info string error: .*")
        expected = patterns.split(" | ") if patterns else []
        said.clear()
        engine.receive(line)
        engine.wait()
        found = [each for each in said if not re.match(LEFT_OUT, each)]
        assert len(found) == len(expected), (line, found)
        for pattern, each in zip(expected, found, strict=True):
            assert re.fullmatch(pattern, each), line
    engine.close()
