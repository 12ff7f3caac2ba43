"""The games of ``rave_agents.games`` that OpenSpiel has are OpenSpiel's, ply by ply."""

import os
import random

import numpy as np
import pyspiel
import pytest
import scipy
from helpers.drawn_playouts import playouts_of
from helpers.lines_of_play import perft
from helpers.trees import dump
from rave_openspiel import OpenSpielState, compiled_games
from rave_openspiel.added_games import ADDED

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.agents.named_agents import make_agent
from rave_agents.frameworks.adapters import as_game_state, load_game
from rave_agents.games import GAMES
from rave_agents.games.go import Go
from rave_agents.parts import Proofs, SensiblePlayouts, SteeredPlayouts, UniformPlayouts
from rave_agents.simulate.frame import Header, Status
from rave_agents.simulate.random_stream import make_stream
from rave_agents.simulate.simulator import make_frame, simulated
from rave_agents.testing import check_game_state, check_rules

RANDOM_GAMES = int(os.environ.get("RAVE_AGENTS_RANDOM_GAMES", "400"))
"""Random games of each game in the size that people play; see docs/tests.md."""

SPECS = {
    "hex": [
        "hex(board_size=11)",
        "hex(num_cols=3,num_rows=5)",
        "hex(board_size=2)",
        "hex(num_cols=17,num_rows=4)",
        "hex(board_size=3,swap=true)",
        "hex(board_size=5,swap=true)",
    ],
    "othello": ["othello"],
    "ultimate_tic_tac_toe": ["ultimate_tic_tac_toe"],
    "y": ["y(board_size=9)", "y(board_size=4)", "y(board_size=1)", "y"],
    "amazons": ["amazons", "amazons(board_size=6)", "amazons(board_size=8)"],
    # OpenSpiel's game begins where it always does; see test_antichess.py for others.
    "antichess": ["antichess", "antichess(fen=8/8/8/8/8/8/P7/7k w - - 0 1)"],
    "breakthrough": [
        "breakthrough",
        "breakthrough(rows=5,columns=3)",
        "breakthrough(rows=6,columns=4)",
        "breakthrough(rows=2,columns=7)",
    ],
    "connect_four": [
        "connect_four",
        "connect_four(rows=4,columns=5,x_in_row=3)",
        "connect_four(rows=8,columns=7,x_in_row=5)",
        "connect_four(rows=1,columns=3,x_in_row=2)",
    ],
    "checkers": [
        "checkers",
        "checkers(rows=8,columns=3,egocentric=true)",
        "checkers(rows=7,columns=2)",
        "checkers(rows=7,columns=7)",
        "checkers(rows=10,columns=10)",
        "checkers(rows=11,columns=11)",
        "checkers(rows=12,columns=9)",
        "checkers(rows=42,columns=2)",
    ],
    "clobber": [
        "clobber",
        "clobber(rows=3,columns=4)",
        "clobber(rows=2,columns=2)",
        "clobber(rows=2,columns=26)",
        "clobber(rows=32,columns=2)",
        "clobber(rows=8,columns=8)",
        "clobber(rows=7,columns=3)",
    ],
    "dots_and_boxes": [
        "dots_and_boxes(num_rows=5,num_cols=5)",
        "dots_and_boxes(num_rows=2,num_cols=3)",
        "dots_and_boxes",
        "dots_and_boxes(num_rows=1,num_cols=1)",
        "dots_and_boxes(num_rows=1,num_cols=5)",
        "dots_and_boxes(num_rows=4,num_cols=3,utility_margin=true)",
        "dots_and_boxes(num_rows=7,num_cols=1,utility_margin=true)",
    ],
    "go": [
        "go(board_size=9)",
        "go(board_size=3,komi=-2.0)",
        "go",
        "go(board_size=2)",
        "go(board_size=5,komi=5.0,max_game_length=300)",
        "go(board_size=4,max_game_length=0)",
        "go(board_size=6,max_game_length=7)",
        "go(board_size=7,handicap=12)",
        "go(board_size=16,handicap=5)",
    ],
    "cursor_go": [
        "cursor_go(board_size=5)",
        "cursor_go(board_size=2,max_cursor_moves=2)",
        "cursor_go(board_size=3,komi=0.5,max_cursor_moves=1)",
        "cursor_go(board_size=4,max_cursor_moves=-1)",
        "cursor_go(board_size=5,handicap=12,komi=0.0)",
        "cursor_go(board_size=7,handicap=1,max_cursor_moves=5)",
        "cursor_go(handicap=5,max_cursor_moves=20)",
        "cursor_go",
    ],
    "tic_tac_toe": ["tic_tac_toe"],
    "mnk": [
        "mnk",
        "mnk(m=6,n=6,k=4)",
        "mnk(m=7,n=4,k=3)",
        "mnk(m=1,n=5,k=2)",
        "mnk(m=3,n=3,k=1)",
        "mnk(m=4,n=4,k=1000000)",
        "mnk(m=62,n=3,k=6)",
    ],
    "gomoku": [
        "gomoku",
        "gomoku(size=4,anti=true,wrap=true,connect=3)",
        "gomoku(size=9)",
        "gomoku(size=3,wrap=true,connect=5)",
        "gomoku(size=2,wrap=true,connect=2)",
        "gomoku(size=9,dims=1,connect=3)",
        "gomoku(size=4,dims=3,connect=4,anti=true)",
        "gomoku(size=3,dims=4,connect=3)",
        "gomoku(size=31,dims=1,wrap=true)",
    ],
    "pentago": ["pentago"],
    "nim": [
        "nim",
        "nim(pile_sizes=3;0;2,is_misere=false)",
        "nim(is_misere=false)",
        "nim(pile_sizes=1;0)",
        "nim(pile_sizes=9;9;9;9;9)",
        "nim(pile_sizes=10;200)",
    ],
    "pig": [
        "pig",
        "pig(winscore=12,horizon=9)",
        "pig(players=3,winscore=20,piglet=true,diceoutcomes=4)",
        "pig(players=10,winscore=30)",
        "pig(horizon=20,diceoutcomes=1)",
        "pig(winscore=1,diceoutcomes=100)",
        "pig(horizon=20,diceoutcomes=1,piglet=true)",
    ],
    "nine_mens_morris": ["nine_mens_morris"],
    "einstein_wurfelt_nicht": ["einstein_wurfelt_nicht"],
    "backgammon": [
        "backgammon",
        "backgammon(hyper_backgammon=true,scoring_type=full_scoring,max_player_turns=20)",
        "backgammon(hyper_backgammon=true)",
        "backgammon(max_player_turns=0)",
        "backgammon(max_player_turns=25,scoring_type=enable_gammons)",
        "backgammon(scoring_type=enable_gammons)",
        "backgammon(scoring_type=full_scoring)",
    ],
    "lines_of_action": [
        "lines_of_action",
        "lines_of_action(max_game_length=21)",
        "lines_of_action(max_game_length=0)",
    ],
    "quoridor": [
        "quoridor",
        "quoridor(board_size=3)",
        "quoridor(board_size=4,wall_count=20)",
        "quoridor(board_size=5,wall_count=0)",
        "quoridor(board_size=6,wall_count=-1,ansi_color_output=true)",
        "quoridor(board_size=7,wall_count=30)",
        "quoridor(board_size=8)",
    ],
    "twixt": [
        "twixt",
        "twixt(board_size=5)",
        "twixt(board_size=6,ansi_color_output=false)",
        "twixt(board_size=7)",
        "twixt(board_size=9)",
        "twixt(board_size=10)",
        "twixt(board_size=16)",
    ],
    "mancala": ["mancala"],
    "oware": [
        "oware",
        "oware(num_houses_per_player=3,num_seeds_per_house=3)",
        "oware(num_houses_per_player=1,num_seeds_per_house=1)",
        "oware(num_houses_per_player=1,num_seeds_per_house=5)",
        "oware(num_houses_per_player=2,num_seeds_per_house=1)",
        "oware(num_houses_per_player=4,num_seeds_per_house=7)",
        "oware(num_houses_per_player=8,num_seeds_per_house=7)",
    ],
    "havannah": [
        "havannah",
        "havannah(board_size=2,swap=true)",
        "havannah(board_size=1,swap=true)",
        "havannah(board_size=3)",
        "havannah(board_size=4,swap=true)",
    ],
}
"""For each game the sizes and options that are compared; the first is the one that people play."""

PERFT = {
    "y(board_size=9)": [1, 45, 1980, 85140],
    "othello": [1, 4, 12, 56, 244, 1396, 8200, 55092],
    "hex(board_size=11)": [1, 121, 14520, 1727880],
    "breakthrough": [1, 22, 484, 11132, 256036],
    "tic_tac_toe": [1, 9, 72, 504, 3024, 15120, 54720],
    "mnk(m=4,n=2,k=3)": [1, 8, 56, 336, 1680, 6720, 18720],
    "mnk(m=4,n=3,k=3)": [1, 12, 132, 1320, 11880, 95040],
    "gomoku(size=2,dims=3,connect=2)": [1, 8, 56, 336, 0],
    "gomoku(size=3,wrap=true,connect=3)": [1, 9, 72, 504, 3024, 15120, 51840],
    "gomoku(size=3,dims=3,connect=3)": [1, 27, 702, 17550],
    "pentago": [1, 288, 80640],
    "nim": [1, 16, 206, 2116, 17338],
    "pig(winscore=12,horizon=9)": [1, 2, 8, 20, 68, 187, 587, 1626, 4575, 12850],
    "go(board_size=2)": [1, 5, 21, 68, 156, 316, 604],
    "go(board_size=3)": [1, 10, 91, 738, 5281],
    "cursor_go(board_size=2,max_cursor_moves=2)": [1, 4, 15, 46, 133, 354, 900, 2178, 5144],
    "checkers": [1, 7, 49, 302, 1469, 7361, 36768],
    "clobber": [1, 49, 2116, 80063],
    "dots_and_boxes": [1, 12, 132, 1320, 11880],
    "lines_of_action": [1, 36, 1244, 44952],
    "nine_mens_morris": [1, 24, 552, 12144, 255024],
    "einstein_wurfelt_nicht": [1, 720, 518400],
    "backgammon": [1, 30, 758, 27288, 665634],
    "backgammon(hyper_backgammon=true)": [1, 30, 510, 18360, 286110],
    "amazons(board_size=6)": [1, 4, 40, 544],
    "antichess": [1, 20, 400, 8067, 153299],
    "ultimate_tic_tac_toe": [1, 9, 81, 720, 6336],
    "quoridor(board_size=3)": [1, 11, 77, 316, 1172, 3452],
    "quoridor": [1, 131, 16677],
    "twixt(board_size=5)": [1, 15, 225, 3024, 38880],
    "twixt": [1, 48, 2304, 106596],
    "mancala": [1, 6, 35, 185, 942, 4690],
    "oware": [1, 6, 36, 190, 1014, 5219, 27332],
    "havannah(board_size=2)": [1, 7, 42, 210, 600, 1296, 288],
    "havannah(board_size=3)": [1, 19, 342, 5814, 93024],
    "connect_four": [1, 7, 49, 343, 2401, 16807, 117649],
}
"""How many paths of so many moves there are, as OpenSpiel's states have them."""

LIMITS = [
    ("backgammon(max_player_turns=0)", "backgammon(max_player_turns=100001)", "100000 or below 0"),
    ("breakthrough(rows=8,columns=8)", "breakthrough(rows=13,columns=5)", "64 squares"),
    ("checkers(rows=8,columns=8)", "checkers(rows=8,columns=9)", "more columns than rows"),
    ("checkers(rows=7,columns=7)", "checkers(rows=6,columns=6)", "fewer than 7 rows"),
    ("checkers(rows=11,columns=11)", "checkers(rows=12,columns=11)", "128 squares"),
    ("clobber(rows=8,columns=8)", "clobber(rows=9,columns=8)", "more than 64 squares"),
    ("connect_four(rows=7,columns=8)", "connect_four(rows=12,columns=5)", "columns above 64"),
    ("gomoku(size=31,wrap=true)", "gomoku(size=32,wrap=true)", "31 with wrap"),
    ("mnk(m=62)", "mnk(m=63)", "m or n above 62"),
    ("nim(pile_sizes=4095;1)", "nim(pile_sizes=4096;1)", "more than 4096"),
    ("pig(diceoutcomes=4096)", "pig(diceoutcomes=4097)", "diceoutcomes above 4096"),
    ("go(max_game_length=4096)", "go(max_game_length=4097)", "length above 4096 or below 0"),
    ("havannah(board_size=31)", "havannah(board_size=32)", "board_size above 31"),
    ("hex(num_cols=62,num_rows=3)", "hex(num_cols=63,num_rows=3)", "columns above 62"),
    ("lines_of_action(max_game_length=4096)", "lines_of_action(max_game_length=-1)", "below 0"),
    ("quoridor(board_size=3)", "quoridor(players=3)", "more than 2 players"),
    ("quoridor(board_size=25)", "quoridor(board_size=26)", "board_size above 25"),
    ("y(board_size=62)", "y(board_size=63)", "board_size above 62"),
    ("dots_and_boxes(num_rows=32,num_cols=32)", "dots_and_boxes(num_rows=33,num_cols=32)", "1024"),
    ("go(board_size=5)", "go(board_size=5,max_game_length=-1)", "below 0"),
    ("mnk(k=1,m=3,n=3)", "mnk(k=0,m=3,n=3)", "4096 cells"),
    ("gomoku(size=3,dims=4)", "gomoku(size=3,dims=5)", "dims above 4"),
    ("oware", "oware(num_houses_per_player=1,num_seeds_per_house=101)", "127 seeds"),
]
"""Games that the rules cover, others beyond their limits, and what ``doctor`` reports of these."""

ALL = [spec for specs in SPECS.values() for spec in specs]
MAIN = [specs[0] for specs in SPECS.values()]
SMALL = [specs[min(1, len(specs) - 1)] for specs in SPECS.values()]
"""For the quick run."""


def rules_of(spec):
    found = compiled_games.rules_of(pyspiel.load_game(spec))
    assert found is not None
    return found


def after(spec, moves, seed):
    """A position with a choice, after some random moves, and what chance does then."""
    draw = random.Random(seed)
    state = pyspiel.load_game(spec).new_initial_state()
    while moves > 0 or state.is_chance_node() or len(state.legal_actions()) == 1:
        child = state.child(draw.choice(state.legal_actions()))
        if child.is_terminal():
            break
        state = child
        moves -= 1
    return state


def plain(rules):
    """The same rules without draws of their own: what the bridge draws is drawn."""
    kind = type(rules)
    changed = type(kind.__name__, (kind,), {})(**rules.parameters)
    changed.draws_itself = changed.plays_itself = False
    return changed


def test_every_game_of_openspiels_is_compared():
    assert set(SPECS) == set(GAMES) - set(ADDED)


@pytest.mark.compiled
@pytest.mark.full
@pytest.mark.parametrize("spec", MAIN)
def test_hundreds_of_random_games_are_openspiels(spec):
    start = pyspiel.load_game(spec).new_initial_state
    check_rules(rules_of(spec), start, games=RANDOM_GAMES, interpreted_games=1, strings=False)


@pytest.mark.full(but=SMALL)
@pytest.mark.parametrize("spec", ALL)
def test_random_games_of_all_sizes_are_openspiels(spec):
    """In the quick run, small sizes and few games, as the rules are interpreted."""
    game = pyspiel.load_game(spec)
    games = 4 if spec in SMALL else 8
    check_rules(rules_of(spec), game.new_initial_state, games=games, interpreted_games=1, seed=1)


@pytest.mark.full(but=["go(board_size=2)", "havannah(board_size=2)"])
@pytest.mark.parametrize("name", PERFT)
def test_perft(name):
    state = rules_of(name).new_initial_state()
    assert [perft(state, depth) for depth in range(len(PERFT[name]))] == PERFT[name]


@pytest.mark.full(but=["breakthrough-changes2"])
@pytest.mark.parametrize("changes", [{}, {"proofs": Proofs()}, {"playouts": SteeredPlayouts()}])
@pytest.mark.parametrize("spec", MAIN)
def test_trees_are_those_of_the_bridge(spec, changes, monkeypatch):
    config = SearchConfig.preset("rave").replace(expand_visits=2, **changes)
    rules = plain(rules_of(spec))
    monkeypatch.setattr(compiled_games, "rules_of", lambda game: rules)
    state = after(spec, 6, seed=1)
    trees = []
    for switch, provider in (("compiled", "compiled rules"), ("openspiel", None)):
        monkeypatch.setenv("RAVE_AGENTS_GAMES", switch)
        searcher = Searcher(config, seed=3)
        result = searcher.search(OpenSpielState(state), Limit(simulations=40))
        assert (result.provider == "compiled rules") == (provider is not None)
        trees.append(dump(searcher))
    assert trees[0] == trees[1]


@pytest.mark.full(but=["connect_four"])
@pytest.mark.parametrize("spec", MAIN)
def test_playouts_draw_each_legal_action_equally_often(spec):
    rules = rules_of(spec)
    moves = min(9, rules.max_game_length // 4)
    state = as_game_state(after(spec, moves, seed=2)).on_compiled_rules()
    legal = state.legal_actions()
    playouts = 60 * len(legal)
    frame = make_frame(
        num_players=2,
        playouts=playouts,
        playout_stream=make_stream(np.random.SeedSequence(4)),
        move_capacity=playouts * max(state.rules.max_game_length, 100),
    )
    assert simulated(state.simulator(frame, None), frame) == Status.DONE
    firsts = frame.move_actions[np.r_[0, frame.playout_ends[:-1]]]
    assert set(firsts.tolist()) <= set(legal)
    counts = [(firsts == action).sum() for action in legal]
    assert scipy.stats.chisquare(counts).pvalue > 1e-4
    assert frame.header[Header.NUM_PLAYOUTS] == playouts


@pytest.mark.full(but=["othello", "connect_four"])
@pytest.mark.parametrize("spec", MAIN)
def test_it_is_a_game_state(spec):
    check_game_state(rules_of(spec).new_initial_state, games=1)


@pytest.mark.full(but=1)
@pytest.mark.parametrize("spec", MAIN)
def test_a_search_uses_them_without_being_asked(spec, monkeypatch):
    state = OpenSpielState(after(spec, 4, seed=3))
    result = Searcher(seed=1).search(state, Limit(simulations=20))
    assert result.provider == "compiled rules"
    monkeypatch.setenv("RAVE_AGENTS_GAMES", "openspiel")
    result = Searcher(seed=1).search(state, Limit(simulations=20))
    assert result.provider != "compiled rules"


@pytest.mark.parametrize(("covered", "beyond", "told"), LIMITS)
def test_games_beyond_the_limits_of_the_rules_go_to_the_bridge(covered, beyond, told):
    assert compiled_games.rules_of(pyspiel.load_game(covered)) is not None
    game = pyspiel.load_game(beyond)
    assert compiled_games.rules_of(game) is None
    assert compiled_games.reason_against(game)
    name = covered.partition("(")[0]
    assert told in compiled_games.diagnosis().partition(f"{name} with ")[2].partition(";")[0]
    if name == "checkers":  # Where OpenSpiel's own code fails.
        return
    state = OpenSpielState(after(beyond, 0, seed=1))
    result = Searcher(seed=1).search(state, Limit(simulations=10))
    assert result.provider != "compiled rules"


def test_the_switch_refuses_other_values(monkeypatch):
    monkeypatch.setenv("RAVE_AGENTS_GAMES", "maybe")
    with pytest.raises(
        ValueError, match="RAVE_AGENTS_GAMES must be openspiel, compiled or not set"
    ):
        compiled_games.is_on()
    assert "must be openspiel" in compiled_games.diagnosis()


def test_a_connect_four_that_begins_at_a_board_is_searched_from_there():
    game = pyspiel.load_game("connect_four")
    state = game.new_initial_state(after("connect_four", 8, seed=5).to_json())
    state.apply_action(state.legal_actions()[0])
    found = OpenSpielState(state).on_compiled_rules()
    assert found.legal_actions() == state.legal_actions()
    draw = random.Random(1)
    while not state.is_terminal():
        action = draw.choice(state.legal_actions())
        state.apply_action(action)
        found.apply_action(action)
        assert found.legal_actions() == state.legal_actions()
    assert found.returns() == state.returns()


def test_a_search_tells_positions_apart_that_began_at_boards_with_the_same_actions():
    game = pyspiel.load_game("tic_tac_toe")
    searcher, starts = Searcher(seed=1), ((0, 1, 2, 3), (1, 0, 3, 2))
    for moves in starts:
        state = game.new_initial_state()
        for move in moves:
            state.apply_action(move)
        state = OpenSpielState(game.new_initial_state(state.to_json()))
        searcher.search(state, Limit(simulations=2))
        found = searcher._trees.searches[0]._simulator.root
        assert found == state.on_compiled_rules().root


@pytest.mark.full
@pytest.mark.parametrize("moves", [(4, 0, 8), (0, 3, 1, 4, 2), (0, 1, 2, 4, 3, 5, 7, 6, 8)])
def test_a_tic_tac_toe_that_begins_at_a_board_is_searched_from_there(moves):
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    for cell in moves:
        state.apply_action(cell)
    state = state.get_game().new_initial_state(state.to_json())
    found = OpenSpielState(state).on_compiled_rules()
    assert str(found) == str(state)
    assert found.current_player() == state.current_player()
    assert found.legal_actions() == state.legal_actions()
    assert found.returns() == state.returns()


@pytest.mark.full(but=1)
def test_a_ring_wins_in_gomoku_that_wraps_however_long_a_row_must_be():
    own = play_both("gomoku(size=3,wrap=true,connect=5)", [0, 3, 1, 4, 2])
    assert own.returns() == [1, -1]


@pytest.mark.full(but=1)
def test_the_first_peg_of_twixt_is_taken_over_with_a_quarter_turn():
    own = play_both("twixt(board_size=6,ansi_color_output=false)", ["xb4", "ob4"])
    assert "[swapped]" in str(own)
    assert "xb4" in [own.action_to_string(action) for action in own.legal_actions()]


@pytest.mark.full(but=1)
@pytest.mark.parametrize(("between", "won"), [("oe4", True), ("oe3", False)])
def test_who_joins_the_border_rows_wins_in_twixt_unless_a_link_is_crossed(between, won):
    moves = ["xc1", "oc4", "xd3", between, "xc5"]
    own = play_both("twixt(board_size=5,ansi_color_output=false)", moves)
    assert own.is_terminal() == won


@pytest.mark.parametrize(
    ("first", "left"), [("a1h", {"a2v", "a2h", "b2h"}), ("a2h", {"a1v", "a1h", "b1h"})]
)
def test_nobody_is_cut_off_from_their_goal_in_quoridor(first, left):
    own = play_both("quoridor(board_size=3,wall_count=2)", [first])
    legal = {own.action_to_string(action) for action in own.legal_actions()}
    assert {text for text in legal if text[-1] in "hv"} == left


@pytest.mark.full(but=1)
@pytest.mark.parametrize(("walls", "reached"), [([], {"c1"}), (["b1h", "a3v"], {"b2", "d2"})])
def test_a_pawn_jumps_aside_in_quoridor_if_a_wall_is_behind_the_other(walls, reached):
    own = play_both("quoridor(board_size=4,wall_count=2)", ["c3", "c2", *walls])
    legal = {own.action_to_string(action) for action in own.legal_actions()}
    assert {text for text in legal if len(text) == 2} == {"b3", "d3", "c4"} | reached


@pytest.mark.full(but=1)
def test_both_players_rows_are_a_draw_in_pentago():
    moves = ["a1w", "c1w", "a2w", "c2w", "a3w", "c3w", "d1w", "d3w", "e1w"]
    assert play_both("pentago", [*moves, "e3t"]).returns() == [0, 0]
    assert not play_both("pentago", [*moves, "e3s"]).is_terminal()
    assert play_both("pentago", [*moves, "f3w", "f1t"]).returns() == [1, -1]


def test_a_connect_four_that_is_set_up_as_finished_is_finished():
    state = after("connect_four", 0, seed=1)
    for column in (0, 1, 0, 1, 0, 1, 0):
        state.apply_action(column)
    state = state.get_game().new_initial_state(state.to_json())
    assert state.is_terminal()
    found = OpenSpielState(state).on_compiled_rules()
    assert found is None or found.returns() == state.returns()


def both(spec):
    """The start of a game, of OpenSpiel's and by the rules."""
    return pyspiel.load_game(spec).new_initial_state(), rules_of(spec).new_initial_state()


def play_both(spec, moves):
    """Play moves, numbers or as they are written, and compare the positions on the way."""
    state, own = both(spec)
    for move in moves:
        written = isinstance(move, str)
        action = state.string_to_action(state.current_player(), move) if written else move
        state.apply_action(action)
        own.apply_action(action)
        assert own.current_player() == state.current_player()
        assert own.legal_actions() == state.legal_actions()
    assert own.returns() == state.returns()
    return own


def test_a_board_of_lines_of_action_that_comes_again_is_a_draw():
    own = play_both("lines_of_action", ["b1-b3", "a2-c2", "b3-b1", "c2-a2"])
    assert own.is_terminal()
    assert own.returns() == [0, 0]


def test_a_board_of_oware_that_comes_again_with_the_other_to_move_does_not_end_it():
    own = play_both(
        "oware(num_houses_per_player=2,num_seeds_per_house=1)", [0, 1, 0, 0, 1, 1, 0, 0, 0]
    )
    assert not own.is_terminal()


def test_who_takes_the_last_piece_wins_in_breakthrough():
    own = play_both("breakthrough(rows=3,columns=2)", ["a3b2", "a1b2*", "b3a2", "b1a2*"])
    assert own.returns() == [-1, 1]


def test_a_ko_is_not_retaken_at_once_in_go():
    moves = ["B b1", "W c1", "B a2", "W d2", "B b3", "W c3", "B c2", "W b2"]
    own = play_both("go(board_size=5)", moves)
    assert own.string_to_action("B d5") in own.legal_actions()
    assert "B c2" not in [own.action_to_string(0, action) for action in own.legal_actions()]
    own = play_both("go(board_size=5)", [*moves, "B e5", "W a5"])
    assert own.string_to_action("B c2") in own.legal_actions()


def test_a_board_of_go_that_comes_again_is_a_draw():
    moves = ["B b1", "W c1", "B a2", "W d2", "B b3", "W c3", "B c2", "W b2"]
    own = play_both("go(board_size=5)", [*moves, "B PASS", "W e5", "B c2", "W PASS"])
    assert not own.is_terminal()
    own = play_both("go(board_size=5)", [*moves, "B PASS", "W PASS"])
    assert own.returns() == [-1, 1]
    own = play_both("go(board_size=2)", [0, 1, 2, 3, 0, 2, 0])
    assert own.is_terminal()
    assert own.returns() == [0, 0]


def test_a_board_of_cursor_go_that_comes_again_is_a_draw_once_both_pass():
    up, down, left, place, passes = 0, 1, 2, 4, 5
    moves = [place, down, place, passes, left, place, passes, up, place, place]
    own = play_both("cursor_go(board_size=2)", moves)
    assert not own.is_terminal()
    own = play_both("cursor_go(board_size=2)", [*moves, passes, passes])
    assert own.returns() == [0, 0]
    own = play_both("cursor_go(board_size=2)", [*moves[:-1], passes, passes])
    assert own.returns() != [0, 0]


def test_the_older_half_of_the_boards_of_cursor_go_goes_where_there_are_too_many():
    state = rules_of("cursor_go(board_size=2)").new_initial_state()
    rules = state.rules

    def play_on(record):
        record.boards[:] = np.arange(rules.most_boards)
        record.num_boards = rules.most_boards
        record.stood[0] = 1
        record.key = rules.most_boards - 1
        assert rules.comes_back(record, 0)
        assert record.num_boards == rules.most_boards // 2 + 1
        record.key = 0
        assert not rules.comes_back(record, 0)

    state.change(play_on)


@pytest.mark.full(but=1)
@pytest.mark.parametrize(
    ("scoring", "points"), [("full_scoring", 3), ("enable_gammons", 2), ("winloss_scoring", 1)]
)
def test_a_backgammon_wins_what_the_scoring_says(scoring, points):
    spec, draw = f"backgammon(scoring_type={scoring})", random.Random(8)
    state, own = both(spec)
    while not state.is_terminal():
        state.apply_action(draw.choice(state.legal_actions()))
    own.play_through(state.history())
    assert own.returns() == state.returns() == [-points, points]


def test_a_full_board_of_havannah_is_a_draw():
    own = play_both("havannah(board_size=1)", [0])
    assert own.returns() == [0, 0]


@pytest.mark.parametrize("around", ["empty", "the opponent's", "own"])
def test_a_ring_wins_in_havannah_whatever_it_is_around(around):
    ring = ["g7", "h7", "g8", "i8", "h9", "i9"]
    others = ["a1", "c1", "e1", "b3", "d3", "f4", "a4"]
    if around == "the opponent's":
        others[0] = "h8"
    if around == "own":
        ring = ["h8", *ring]
    moves = [move for pair in zip(ring, others, strict=False) for move in pair]
    own = play_both("havannah", moves[: 2 * len(ring) - 1])
    assert own.returns() == [1, -1]


def eyes(state, size):
    """The points that are eyes of the player to move, as the docstring of ``Go.is_eye`` has it."""
    colours = np.pad(np.array(state.observation_tensor(0))[: 2 * size**2].reshape(2, size, size), 1)
    colours = colours[1:-1]
    own, other = colours[state.current_player()], colours[1 - state.current_player()]
    outside = np.pad(np.zeros((size, size)), 1, constant_values=1)
    found = set()
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            beside = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
            corners = [(row + up, column + right) for up in (-1, 1) for right in (-1, 1)]
            at_edge = any(outside[corner] for corner in corners)
            taken = sum(other[corner] for corner in corners)
            if all(own[at] or outside[at] for at in beside) and taken + at_edge < 2:
                found.add((row - 1) * size + column - 1)
    return found


@pytest.mark.full
def test_sensible_playouts_of_go_fill_no_eyes_and_pass_when_nothing_else_is_left():
    size = 5
    game = pyspiel.load_game(f"go(board_size={size})")
    passes = 0
    for playout in playouts_of(Go(board_size=size).new_initial_state(), 20, sensible=True):
        state = game.new_initial_state()
        for action in playout:
            others = set(state.legal_actions()) - eyes(state, size) - {size**2}
            assert action in others or (action == size**2 and not others)
            passes += action == size**2
            state.apply_action(action)
        assert state.is_terminal()
    assert passes > 20


@pytest.mark.full
@pytest.mark.parametrize(
    ("moves", "answer"), [((0, 1), 5), ((0, 1, 2), 6)], ids=["Black's", "White's"]
)
def test_sensible_playouts_of_go_save_a_chain_from_atari(moves, answer):
    state = Go(board_size=5).new_initial_state()
    for move in moves:
        state.apply_action(move)
    assert {playout[0] for playout in playouts_of(state, 20, sensible=True)} == {answer}
    assert {playout[0] for playout in playouts_of(state, 20, sensible=False)} != {answer}


@pytest.mark.full
def test_sensible_playouts_of_go_leave_it_to_chance_whether_the_last_stone_is_taken():
    state = Go(board_size=5).new_initial_state()
    for move in (1, 0):  # White's a1 could be taken at a2; b2 makes a shape, too.
        state.apply_action(move)
    assert {playout[0] for playout in playouts_of(state, 20, sensible=True)} == {5, 6}


@pytest.mark.full
@pytest.mark.parametrize(
    ("moves", "shapes"),
    [("b4 c4 e1 b3", "c3 a3 a4"), ("c3 c4", "b3 b4 d3 d4"), ("d2 c2 e5 c1", "d1")],
    ids=["a cut, and two at the edge", "around a stone", "a block at the edge"],
)
def test_sensible_playouts_of_go_make_shapes_beside_the_last_stone(moves, shapes):
    """Those of the paper, looked up by hand: the cut between b3 and c4, hane, blocks."""
    state = Go(board_size=5).new_initial_state()
    for move in moves.split():
        state.apply_action(state.string_to_action(f"{'BW'[state.current_player()]} {move}"))
    first = {playout[0] for playout in playouts_of(state, 80, sensible=True)}
    assert {state.action_to_string(state.current_player(), move)[2:] for move in first} == set(
        shapes.split()
    )


@pytest.mark.full
def test_sensible_playouts_of_go_play_anywhere_where_the_last_stone_is_alone():
    state = Go(board_size=5).new_initial_state()
    for move in (16, 4):  # b4 and e1.
        state.apply_action(move)
    assert len({playout[0] for playout in playouts_of(state, 80, sensible=True)}) > 15


@pytest.mark.full
def test_sensible_playouts_of_go_do_not_extend_a_chain_that_stays_in_atari():
    state = Go(board_size=5).new_initial_state()
    for move in (0, 6, 24, 1):  # Black's a1 could only go to a2, with a3 as its one liberty.
        state.apply_action(move)
    assert len({playout[0] for playout in playouts_of(state, 20, sensible=True)}) > 5


def plays_sensibly(searcher):
    """Whether the playouts of the last search were sensible."""
    return bool(searcher._trees.searches[0]._simulator.root["sensible"][0])


@pytest.mark.full
@pytest.mark.parametrize("sensible", [True, False])
def test_an_agent_for_go_has_the_same_playouts_throughout_a_game(sensible):
    state = pyspiel.load_game("go(board_size=5)").new_initial_state()
    changes = {"playouts": "sensible_playouts"} if sensible else {}
    searcher = Searcher(SearchConfig.preset("rave").replace(**changes), seed=1)
    for _ in range(3):
        result = searcher.search(OpenSpielState(state), Limit(simulations=50))
        assert result.provider == "compiled rules"
        assert plays_sensibly(searcher) == sensible
        state.apply_action(result.action)
        searcher.advance(result.action)


@pytest.mark.parametrize("name", ["go(board_size=5)", "hex(board_size=5)"])
def test_the_spec_of_an_agent_turns_sensible_playouts_off_and_on(name):
    game = load_game(name)
    for given, kept in (("uniform_playouts", False), ("sensible_playouts", True)):
        agent = make_agent(f"rave(playouts={given},simulations=20)", game, 0, seed=1)
        agent.step(game.new_initial_state())
        assert plays_sensibly(agent.searcher) == kept


@pytest.mark.full
def test_pettingzoos_go_is_searched_with_sensible_playouts():
    go_v5 = pytest.importorskip("pettingzoo.classic.go_v5")
    environment = go_v5.env(board_size=5, komi=7.5)
    environment.reset(seed=1)
    environment.step(12)
    searcher = Searcher(SearchConfig.preset("auto").replace(endgame_share=0.0), seed=1)
    result = searcher.search(as_game_state(environment), Limit(simulations=50))
    assert result.provider == "compiled rules"
    assert plays_sensibly(searcher)


@pytest.mark.full
def test_sensible_playouts_are_uniform_where_the_rules_know_of_none():
    state = OpenSpielState(pyspiel.load_game("connect_four").new_initial_state())
    trees = []
    for playouts in (UniformPlayouts(), SensiblePlayouts()):
        searcher = Searcher(SearchConfig.preset("rave").replace(playouts=playouts), seed=1)
        searcher.search(state, Limit(simulations=100))
        trees.append(dump(searcher))
    assert trees[0] == trees[1]


def test_a_translated_pettingzoo_environment_is_searched_on_them_without_a_bridge(monkeypatch):
    connect_four_v3 = pytest.importorskip("pettingzoo.classic.connect_four_v3")
    monkeypatch.setenv("RAVE_AGENTS_NATIVE", "0")
    environment = connect_four_v3.env()
    environment.reset(seed=1)
    for column in (3, 3, 2):
        environment.step(column)
    result = Searcher(seed=1).search(as_game_state(environment), Limit(simulations=50))
    assert result.provider == "compiled rules"
