"""Sessions of GTP as controllers hold them: the lines that they send, and what must be answered.

Each line is a command and, after ``->``, a pattern of the whole answer, whose lines are joined by
spaces; ``none`` for no answer. A command without a pattern must succeed with an empty answer.
"""

import re

import pytest

from rave_agents.engines.gtp_engine import GtpEngine

GO, HEX = "go(board_size=9)", "hex(board_size=5)"
POINT = r"= ([A-HJ][1-9]|pass)"
INFO = r"=\d* info move .*"
UNKNOWN = r"\? unknown command"

SESSIONS = {
    "GoGui connects and goes to a position": (
        GO,
        f"""
        protocol_version -> = 2
        name -> = rave-agents uct
        version -> = .+
        list_commands -> = .*boardsize .*gogui-play_sequence .*undo.*
        gogui-analyze_commands -> = .*rave-visits.*
        boardsize 9
        clear_board
        komi 6.5
        gogui-play_sequence b E5 w C3 b G7
        gogui-rules_side_to_move -> = white
        genmove w -> {POINT}
        undo
        gogui-rules_side_to_move -> = white
        gogui-setup b E5 w C3 -> {UNKNOWN}
        quit""",
    ),
    "GoGui sends a sequence of which one move is illegal": (
        GO,
        """
        play b E5
        gogui-play_sequence w C3 b E5 w G7 -> \\? illegal move: move 2
        gogui-rules_side_to_move -> = white
        play w C3
        gogui-play_sequence b D4 w -> \\? syntax error
        gogui-rules_side_to_move -> = black
        undo
        undo
        undo -> \\? cannot undo""",
    ),
    "gogui-twogtp plays a game and asks for the score": (
        GO,
        f"""
        name -> = rave-agents uct
        boardsize 9
        clear_board
        komi 6.5
        time_settings 600 0 0
        genmove b -> {POINT}
        play w pass
        genmove b -> {POINT}
        play w PASS
        play b pass
        genmove w -> = pass
        final_score -> = [BW]\\+\\d+(\\.\\d)?
        scoring_system area -> {UNKNOWN}
        quit""",
    ),
    "Sabaki sets the komi before the board": (
        "go(board_size=19)",
        f"""
        name -> = .+
        version -> = .+
        protocol_version -> = 2
        list_commands -> = .*lz-analyze lz-genmove_analyze.*
        komi 5.5
        boardsize 9
        clear_board
        showboard -> = .*komi=5.5, to_play=B.*
        lz-analyze B 5 -> {INFO}
        play B E5
        lz-analyze B 5 -> \\? it is the other color's turn
        lz-genmove_analyze W 5 -> =.* play ([A-HJ][1-9]|pass)
        lz-genmove_analyze W 5 -> =.* play ([A-HJ][1-9]|pass)
        kata-analyze W 5 -> {UNKNOWN}""",
    ),
    "an analysis with bounds that are not kept": (
        GO,
        """
        lz-analyze B 5 minmoves 3 -> \\? minmoves is not supported
        lz-analyze B avoid b D4 1 -> \\? avoid is not supported
        lz-analyze purple 5 -> \\? invalid color""",
    ),
    "Lizzie numbers its commands and analyses between moves": (
        GO,
        f"""
        1 version -> =1 .+
        2 komi 7.5 -> =2
        3 lz-analyze 10 -> {INFO}
        4 play B E5 -> =4
        5 lz-analyze 10 -> {INFO}
        6 undo -> =6
        7 play W E5 -> =7
        8 genmove b -> =8 [A-HJ][1-9]
        9 heatmap -> \\?9 unknown command
        10 name -> =10 rave-agents uct""",
    ),
    "kgsGtp plays with byo-yomi and ends a game": (
        GO,
        f"""
        boardsize 9
        clear_board
        komi 0.5
        time_settings 0 30 5
        place_free_handicap 3 -> = C3 G7 C7
        time_left w 30 5
        genmove w -> {POINT}
        time_left b 29 5
        play b pass
        play w pass
        final_status_list dead
        final_status_list alive -> = .*C3.*
        kgs-genmove_cleanup w -> {UNKNOWN}
        kgs-game_over -> {UNKNOWN}
        boardsize 9
        final_status_list alive""",
    ),
    "a controller asks for handicaps on boards of all sizes": (
        GO,
        """
        fixed_handicap 0 -> \\? invalid number of stones
        fixed_handicap 1 -> \\? invalid number of stones
        fixed_handicap 10 -> \\? invalid number of stones
        fixed_handicap 2 -> = C3 G7
        gogui-rules_side_to_move -> = white
        final_status_list alive -> = C3 G7
        fixed_handicap 2 -> \\? board not empty
        clear_board
        fixed_handicap 5 -> = C3 G7 C7 G3 E5
        clear_board
        fixed_handicap 9 -> = C3 G7 C7 G3 C5 G5 E3 E7 E5
        boardsize 13
        fixed_handicap 7 -> = D4 K10 D10 K4 D7 K7 G7
        boardsize 19
        fixed_handicap 6 -> = D4 Q16 D16 Q4 D10 Q10
        boardsize 8
        fixed_handicap 5 -> \\? invalid number of stones
        fixed_handicap 4 -> = C3 F6 C6 F3
        clear_board
        place_free_handicap 9 -> = C3 F6 C6 F3
        boardsize 5
        place_free_handicap 2 -> \\? invalid number of stones
        boardsize 9
        set_free_handicap a1 -> \\? bad vertex list
        set_free_handicap a1 A1 -> \\? bad vertex list
        set_free_handicap a1 pass -> \\? bad vertex list
        set_free_handicap a1 z9 -> \\? illegal move
        final_status_list alive
        set_free_handicap a1 j9 -> = a1 j9
        gogui-rules_side_to_move -> = white""",
    ),
    "the CGOS client sends small letters and whole seconds": (
        GO,
        f"""
        boardsize 9
        komi 7
        clear_board
        time_settings 900 0 0
        time_left b 876 0
        genmove b -> {POINT}
        play w j9
        time_left w 0 0
        cgos-gameover W+Resign -> {UNKNOWN}
        quit""",
    ),
    "HexGui names the board's size twice, and swaps": (
        "hex(board_size=5,swap=True)",
        """
        name -> = .+
        boardsize 6 6
        boardsize 5 7 -> \\? unacceptable size
        gogui-rules_board_size -> = 6
        boardsize 5 5
        play black d2
        play white swap-pieces
        showboard
        -> = \\. \\. \\. \\. \\.  \\. \\. \\. \\. \\.   \\. \\. \\. \\. \\.    \\. o \\. \\. \\. .*
        genmove white -> \\? it is the other color's turn
        genmove black -> = [a-e][1-5]
        hexgui-analyze_commands -> \\? unknown command""",
    ),
    "a Hex program does not move twice": (
        HEX,
        """
        play b a1
        play b a2 -> \\? illegal move
        play w swap-pieces -> \\? invalid coordinate
        play w f6 -> \\? illegal move
        genmove b -> \\? it is the other color's turn
        genmove w -> = [a-e][1-5]
        komi 7.5
        set_free_handicap a1 b2 -> \\? the game has no handicap""",
    ),
    "GoGui asks for the rules of another game": (
        "othello",
        """
        gogui-rules_game_id -> = Othello
        gogui-rules_board_size -> = 8
        gogui-rules_side_to_move -> = black
        gogui-rules_legal_moves -> = d3 c4 f5 e6
        gogui-rules_final_result
        play b d3
        play b e6 -> \\? illegal move
        boardsize 10 -> \\? unacceptable size
        gogui-rules_side_to_move -> = white""",
    ),
    "a file that cannot be read leaves the position": (
        GO,
        """
        play b e5
        loadsgf /no/such/file.sgf -> \\? cannot load file: No such file or directory
        loadsgf / -> \\? cannot load file: Is a directory
        loadsgf -> \\? syntax error
        final_status_list alive -> = E5""",
    ),
    "a regression test searches without a move": (
        GO,
        f"""
        10 reg_genmove black -> =10 [A-HJ][1-9]
        # a comment -> none
        20 final_status_list alive -> =20
        play b e5
        30 reg_genmove white -> =30 [A-HJ][1-9]
        reg_genmove black -> \\? it is the other color's turn
        40 gogui-rules_side_to_move -> =40 white
        genmove w -> {POINT}""",
    ),
    "a terminal of another system": (
        GO,
        """
        name\r -> = rave-agents uct
        \tplay\tB\tE5 # the middle
         -> none
        99999999999999999999 final_status_list alive -> =99999999999999999999 E5
        7 -> \\?7 unknown command
        -3 name -> \\? unknown command
        PLAY w c3 -> \\? unknown command
        known_command genmove -> = true
        known_command kgs-chat -> = false""",
    ),
}


@pytest.mark.full(but=5)
@pytest.mark.parametrize("name", SESSIONS)
def test_a_controllers_session_is_answered(name):
    game, session = SESSIONS[name]
    engine = GtpEngine(game, "uct(simulations=5)", seed=1)
    for line in filter(str.strip, session.replace("\n        -> ", " -> ").split("\n")):
        command, _, expected = line[8:].partition(" -> ")
        answered = engine.answer(command)
        if expected == "none":
            assert answered is None, command
            continue
        assert answered is not None, command
        assert answered.endswith("\n\n"), command
        said = " ".join(answered.split("\n")).strip()
        number = re.match(r"\d*", command)[0]
        assert re.fullmatch(expected or f"={number}", said), (command, said)
