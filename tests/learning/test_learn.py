"""Values that self-play teaches: their features, their files, and what they are good for."""

import itertools
import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyspiel
import pytest
from helpers.envs import begun
from helpers.race import Race
from helpers.random_values import network_of_windows
from pettingzoo.classic import connect_four_v3
from rave_pettingzoo import AECState, UCTAgent
from typer.testing import CliRunner

from rave_agents import Limit, LinearValue, SearchConfig, Searcher, make_agent
from rave_agents.arena.match import play_match
from rave_agents.cli import app
from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators.linear_value import game_text
from rave_agents.evaluators.symmetries import symmetries_of
from rave_agents.evaluators.tuple_network import long_lines, network_for, strips_of
from rave_agents.frameworks.adapters import load_game
from rave_agents.games import GAMES, Rules, rules_class
from rave_agents.learning import teacher
from rave_agents.learning.learn import learn
from rave_agents.learning.observation_learner import logistic_regression, with_ones
from rave_agents.learning.to_file import learn_to_file
from rave_agents.learning.value_learner import ValueLearner

SMALL = {
    "amazons": {"board_size": 6},
    "breakthrough": {"rows": 5, "columns": 4},
    "connect_four": {"rows": 4, "columns": 5},
    "cursor_go": {"board_size": 4},
    "go": {"board_size": 4},
    "gomoku": {"size": 4},
    "havannah": {"board_size": 3},
    "hex": {"num_rows": 3, "num_cols": 4},
    "mnk": {"m": 5, "n": 4},
    "nogo": {"board_size": 4},
    "quoridor": {"board_size": 3},
    "twixt": {"board_size": 5},
    "y": {"board_size": 4},
}


BOARDS = [
    name for name in sorted(GAMES) if rules_class(name).describe_board is not Rules.describe_board
]
"""Games that describe a board."""


def small(name):
    return rules_class(name)(**SMALL.get(name, {}))


def squarely(name):
    """A small game, of Hex one on as many columns as rows."""
    return rules_class(name)(**SMALL.get(name, {}) | ({"num_cols": 3} if name == "hex" else {}))


def played(rules, plies, seed=1):
    """A position after random moves."""
    state, draw = rules.new_initial_state(), np.random.default_rng(seed)
    for _ in range(plies):
        action = int(draw.choice(state.legal_actions()))
        after = state.clone()
        after.apply_action(action)
        if after.is_terminal():
            break
        state = after
    return state


def random_value(rules, seed=1):
    return value_of(rules, network_of_windows(rules), seed)


def value_of(rules, network, seed=1):
    """A value of a network with random weights."""
    rows = 1 if network.shared else 2
    draw = np.random.default_rng(seed)
    weights = draw.normal(0, 0.1, (rows, 1, network.size + 1)).astype(np.float32)
    return LinearValue(
        str(rules), weights, utilities=(-1.0, 1.0), utility_sum=0.0, network=network, players=2
    )


def cells_of(state):
    cells = np.zeros(state.rules.num_board_cells, np.int8)
    state.rules.describe_board(state.record, cells)
    return cells


def test_a_board_of_connect_four_is_described_from_below():
    state = small("connect_four").new_initial_state()
    for column in (2, 2, 4):
        state.apply_action(column)
    cells = cells_of(state).reshape(4, 5)
    assert cells[:2].tolist() == [[0, 0, 1, 0, 1], [0, 0, 2, 0, 0]]
    assert not cells[2:].any()


OTHERS = {
    "backgammon",
    "checkers",
    "connect_four",
    "cursor_go",
    "dots_and_boxes",
    "einstein_wurfelt_nicht",
    "mancala",
    "oware",
    "quoridor",
    "twixt",
    "ultimate_tic_tac_toe",
}
"""Games whose observations are no planes of the board that they describe."""


@pytest.mark.parametrize("name", sorted({*BOARDS} - OTHERS))
def test_a_board_is_described_as_it_is_observed(name):
    rules = small(name)
    state = played(rules, 6)
    cells, planes = cells_of(state), state.observation(0)
    kinds = {tuple(plane[:3].astype(int)) for plane in planes.reshape(len(planes), -1).T}
    pairs = {
        (int(cell), tuple(plane[:3].astype(int)))
        for cell, plane in zip(cells, planes.reshape(len(planes), -1).T, strict=True)
        if plane[:3].any()
    }
    assert len(pairs) == len({cell for cell, _ in pairs}) == len(kinds - {(0, 0, 0)})
    assert len({cell for cell, _ in pairs}) == 3


NETWORKS = [
    *((name, network_of_windows) for name in BOARDS),
    *((name, network_for) for name in ("breakthrough", "hex", "connect_four")),
    ("connect_four", lambda rules: network_for(rules, windows="strips")),
]


@pytest.mark.full(but=4)
@pytest.mark.parametrize(("name", "network"), NETWORKS)
def test_the_compiled_value_is_that_of_python(name, network):
    rules = squarely(name)
    value = value_of(rules, network(rules))
    judged = value.judged(rules)
    cells = np.zeros(judged.rules.num_board_cells + judged.rules.judging_room, np.int8)
    for plies in (3, 4, 6, 1, 2):
        state, returns = played(rules, plies), np.zeros(2)
        judged.rules.judge(state.record, cells, judged.weights, returns)
        assert returns == pytest.approx(value(state), abs=1e-5)
        assert -1 < returns[0] < 1
        assert sum(returns) == pytest.approx(0.0)


@pytest.mark.full(but=2)
@pytest.mark.parametrize("used", ["breakthrough", "othello"])
def test_a_search_refuses_a_value_of_another_game(used):
    """One with another size, and one with as many cells and kinds of them."""
    value = random_value(rules_class("breakthrough")(rows=8, columns=8))
    rules = rules_class(used)(**({"rows": 6} if used == "breakthrough" else {}))
    with pytest.raises(UnsupportedGameError, match=r"learned on breakthrough\(rows=8,columns=8\)"):
        Searcher(SearchConfig(), seed=1, evaluator=value).search(
            rules.new_initial_state(), Limit(simulations=2)
        )


def test_a_value_of_observations_is_refused_where_players_or_utilities_differ():
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    for players, utilities in ((1, (-1.0, 1.0)), (2, (-5.0, 5.0))):
        weights = np.zeros((players, 1, 28))
        value = LinearValue("another", weights, utilities=utilities, utility_sum=0.0)
        with pytest.raises(UnsupportedGameError, match="learned on another"):
            value(state)


def observed(name):
    """A value of a game's observations, as it is learned."""
    state = load_game(name).new_initial_state()
    weights = np.zeros((2, 1, state.observation(0).size + 1))
    return LinearValue(game_text(state), weights, utilities=(-1.0, 1.0), utility_sum=0.0)


@pytest.mark.parametrize(
    ("learned", "used"),
    [
        ("tic_tac_toe", "misere(game=tic_tac_toe())"),
        ("mancala", "tic_tac_toe"),
        ("dots_and_boxes(num_rows=2,num_cols=3)", "dots_and_boxes(num_rows=3,num_cols=2)"),
        ("dots_and_boxes", "dots_and_boxes(utility_margin=true)"),
        ("mnk(m=3,n=3,k=3)", "mnk(m=3,n=3,k=2)"),
        ("oware", "oware(num_seeds_per_house=5)"),
        ("python_tic_tac_toe", "tic_tac_toe"),
    ],
)
def test_a_value_of_observations_is_refused_for_any_other_game(learned, used):
    value, state = observed(learned), load_game(used).new_initial_state()
    assert value(load_game(learned).new_initial_state()) == [0.0, 0.0]
    names = [text.partition("(")[0] for text in (learned, used)]
    with pytest.raises(UnsupportedGameError, match="learned on {}.*not fit {}".format(*names)):
        value(state)


def test_a_value_of_observations_fits_its_game_however_that_is_written():
    for learned, used in [
        ("dots_and_boxes", "dots_and_boxes(num_cols=2,num_rows=2,utility_margin=false)"),
        ("mnk(m=3,n=3,k=3)", "mnk(k=3,n=3,m=3)"),
    ]:
        assert observed(learned)(load_game(used).new_initial_state()) == [0.0, 0.0]
    by_name = LinearValue("tic_tac_toe", np.zeros((2, 1, 28)), utilities=(-1.0, 1.0), utility_sum=0)
    assert by_name(load_game("tic_tac_toe").new_initial_state()) == [0.0, 0.0]


def test_a_value_of_an_environment_fits_that_environment():
    env = begun(connect_four_v3.env())
    state = AECState(env)
    size = np.asarray(state.observation(0)).size + 1
    value = LinearValue(
        game_text(state), np.zeros((2, 1, size)), utilities=(-1.0, 1.0), utility_sum=0.0
    )
    assert value(state) == [0.0, 0.0]
    assert "connect_four" in value.game


@pytest.mark.parametrize(
    ("name", "learned", "used"),
    [
        ("connect_four", {"x_in_row": 3}, {}),
        ("hex", {"num_rows": 5, "num_cols": 5}, {"num_rows": 5, "num_cols": 5, "swap": True}),
        ("go", {"board_size": 5}, {"board_size": 5, "komi": 0.5}),
        ("go", {"board_size": 19}, {"board_size": 19, "handicap": 2}),
        ("go", {"board_size": 5}, {"board_size": 5, "max_game_length": 10}),
    ],
)
def test_a_value_of_a_board_is_refused_with_another_rule(name, learned, used):
    kind = rules_class(name)
    value, state = random_value(kind(**learned)), kind(**used).new_initial_state()
    for judge in (lambda: value(state), lambda: value.judged(state.rules)):
        with pytest.raises(UnsupportedGameError, match=rf"learned on {name}\(.*not fit {name}\("):
            judge()


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("connect_four", {}),
        ("connect_four(x_in_row=4,columns=7)", {"rows": 6}),
        ("go(board_size=5)", {"board_size": 5, "komi": 7.5, "max_game_length": 50}),
        ("go(board_size=5,komi=7.50)", {"board_size": 5, "max_game_length": 2000}),
    ],
)
def test_a_value_of_a_board_fits_its_game_however_that_is_written(text, parameters):
    rules = rules_class(text.partition("(")[0])(**parameters)
    value = random_value(rules)
    value.game = text
    assert value(rules.new_initial_state()) == random_value(rules)(rules.new_initial_state())


def test_weights_that_are_no_numbers_are_refused():
    value = random_value(small("breakthrough"))
    value.weights[0, 0, 0] = np.nan
    with pytest.raises(ValueError, match="finite"):
        LinearValue("x", value.weights, utilities=(-1, 1), utility_sum=0.0)


def test_a_fit_finds_the_odds_of_an_entry():
    shown = np.random.default_rng(1).integers(0, 2, (3000, 12))
    logits = 1.5 * shown[:, 5] - 1.0 * shown[:, 0]
    found, _ = logistic_regression(with_ones(shown), 1.0 / (1.0 + np.exp(-logits)), None)
    assert np.abs(shown @ found[:-1] + found[-1] - logits).mean() < 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count"),
    [("breakthrough", 1), ("hex", 1), ("othello", 3), ("tic_tac_toe", 7), ("y", 5)],
)
def test_the_symmetries_of_a_board_are_found(name, count):
    rules = rules_class(name)(
        **{**SMALL.get(name, {}), **({"num_cols": 3} if name == "hex" else {})}
    )
    found = symmetries_of(rules)
    assert len(found) == count
    for image in found:
        assert sorted(image) == list(range(rules.num_board_cells))


def test_symmetries_are_found_of_a_board_that_few_random_games_fill():
    (mirror,) = symmetries_of(rules_class("connect_four")())
    assert mirror[:7].tolist() == [6, 5, 4, 3, 2, 1, 0]


def test_every_line_of_four_cells_is_within_a_strip():
    strips = list(map(set, strips_of(5, 6)))
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for row, column in itertools.product(range(5), range(6)):
            line = [(row + step * down, column + step * right) for step in range(4)]
            if all(each[0] < 5 and 0 <= each[1] < 6 for each in line):
                cells = {on + 6 * above for above, on in line}
                assert any(cells <= strip for strip in strips)


@pytest.mark.full(but=3)
@pytest.mark.parametrize(
    ("game", "windows", "lengths", "tuples"),
    [
        ("othello", "large", {8}, {(0, 1, 2, 3, 8, 9, 10, 11)}),
        (
            "othello",
            "lines",
            {4, 5, 6, 7, 8},
            {(0, 1, 2, 3, 8, 9, 10, 11), (0, 9, 18, 27, 36, 45, 54, 63)},
        ),
        ("connect_four", "strips", {4, 5, 8}, {(0, 1, 2, 3, 5, 6, 7, 8), (0, 1, 2, 3, 4)}),
    ],
)
def test_windows_of_each_kind(game, windows, lengths, tuples):
    rules = small(game)
    network = network_for(rules, windows=windows)
    assert network.shared == (windows != "strips")
    assert set(network.lengths) == lengths
    assert tuples <= {tuple(each[each >= 0].tolist()) for each in network.cells[0]}
    if windows == "strips":
        shape = rules.board_shape
        assert len(network.tables) == len(strips_of(*shape) + long_lines(*shape))


@pytest.mark.parametrize(
    ("rows", "columns", "lines"),
    [
        (3, 5, [(0, 1, 2, 3, 4), (5, 6, 7, 8, 9), (10, 11, 12, 13, 14)]),
        (1, 9, [(0, 1, 2, 3, 4, 5, 6, 7), (1, 2, 3, 4, 5, 6, 7, 8)]),
        (3, 3, []),
    ],
)
def test_lines_are_rows_columns_and_diagonals_of_four_to_eight_cells(rows, columns, lines):
    assert long_lines(rows, columns) == lines
    square = long_lines(4, 4)
    assert len(square) == 4 + 4 + 2
    assert {(0, 5, 10, 15), (3, 6, 9, 12)} < set(square)


@pytest.mark.full(but=3)
@pytest.mark.parametrize(
    ("game", "windows", "message"),
    [
        ("tic_tac_toe", "large", "none fits on 3 x 3"),
        ("tic_tac_toe", "strips", "none fits on 3 x 3"),
        ("checkers", "lines", "cells of three kinds at most"),
    ],
)
def test_windows_that_do_not_fit_are_refused(game, windows, message):
    with pytest.raises(ValueError, match=message):
        learn(rules_class(game)(), games=1, rounds=1, windows=windows)


def test_tuples_and_their_images_share_a_table():
    rules = small("breakthrough")
    (mirror,) = symmetries_of(rules)
    network = network_for(rules)
    sets = [frozenset(cells[cells >= 0].tolist()) for cells in network.cells[0]]
    tables = dict(zip(sets, network.tables, strict=True))
    for cells, table in tables.items():
        assert tables[frozenset(mirror[list(cells)].tolist())] == table


def test_a_board_and_its_mirror_image_have_the_same_value_for_the_other_player():
    rules = small("breakthrough")
    value, state = value_of(rules, network_for(rules)), played(rules, 3)
    cells = cells_of(state)
    network, seen = value.network, np.array([0, 2, 1], np.int8)
    mirrored = np.ascontiguousarray(seen[cells].reshape(rules.board_shape)[::-1]).ravel()
    for player in (0, 1):
        mine = network.places(player, cells[None])[0]
        theirs = network.places(1 - player, mirrored[None])[0]
        assert (mine == theirs).all()


@pytest.mark.full
def test_learning_in_processes_of_this_machine_is_the_same_as_in_threads():
    found = [
        learn(small("breakthrough"), games=12, jobs=2, executor=executor, progress=False).weights
        for executor in (None, ThreadPoolExecutor(2))
    ]
    assert (found[0] == found[1]).all()


@pytest.mark.compiled
@pytest.mark.full
def test_a_file_is_checked_after_every_round_and_goes_on(tmp_path):
    path = tmp_path / "value.npz"
    result = learn_to_file("tic_tac_toe", path, games=100, rounds=2, checks=2, progress=False)
    assert len(result.checks) == 2
    assert result.checks[0].before is None
    assert {each.mcts.games for each in result.checks} == {2}
    assert "Scores at 100 simulations" in str(result)
    assert result.minimax.games == 2
    assert "With minimax backups auto scored" in str(result)
    assert result.match.games == 2
    assert LinearValue.load(path).match == result.match
    assert LinearValue.load(path).backup == "mean_backup"  # Two games are no evidence.
    result.plot().savefig(tmp_path / "curve.png")
    again = learn_to_file("tic_tac_toe", path, games=10, rounds=1, start=path, progress=False)
    assert again.to_dict()["games"] == 10


def test_learning_goes_on_from_a_value():
    rules = small("breakthrough")
    first = learn(rules, games=40, rounds=1, seed=1)
    again = learn(rules, games=4, rounds=1, seed=2, start=first)
    plain = learn(rules, games=4, rounds=1, seed=2)
    moved, apart = (np.abs(each.weights - first.weights).sum() for each in (again, plain))
    assert 0.0 < moved < apart / 2


class Unforeseen(rules_class("connect_four")):
    """Connect Four whose ends are not foreseen: those of a class are not its subclasses'."""

    name = "test_unforeseen_connect_four"


def test_a_game_of_self_play_is_over_once_its_winner_is_foreseen():
    """The first piece wins, which is foreseen before it is played."""
    learned = []
    for kind in (rules_class("connect_four"), Unforeseen):
        learner = ValueLearner(kind(rows=1, columns=4, x_in_row=1), opening=0)
        learner.learn_round(20)
        learned.append(learner.positions)
    assert learned[0] == 0 < learned[1]


@pytest.mark.compiled
@pytest.mark.full
@pytest.mark.parametrize("name", ["breakthrough", "connect_four"])
def test_machine_code_teaches_what_the_interpreter_does(name):
    rules = small(name)
    learner = ValueLearner(rules, seed=1)
    learner.learn_round(20)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(teacher, "JIT_DISABLED", True)
        interpreted = ValueLearner(rules, seed=1)
        interpreted.learn_round(20)
    assert learner.positions == interpreted.positions
    assert learner.value().weights == pytest.approx(interpreted.value().weights, abs=1e-3)


@pytest.mark.compiled
@pytest.mark.full
def test_a_learned_value_wins_against_none(tmp_path):
    """20 games; of equals 1 in 170 matches ends at 16 or above."""
    game = "breakthrough(rows=6,columns=6)"
    learn(game, games=6000, rounds=1).save(tmp_path / "value.npz")
    agents = f"uct(c=0.2,evaluator={tmp_path / 'value.npz'})", "uct(c=0.2)"
    score = play_match(game, *agents, games=20, simulations=100, seed=1).score
    assert score.wins >= 16


@pytest.mark.slow
def test_a_value_of_observations_tells_who_is_better_and_is_the_same_for_a_seed():
    start = load_game("tic_tac_toe").new_initial_state()
    value, again = (
        learn(start, "tic_tac_toe", games=60, rounds=2, simulations=10, seed=1) for _ in range(2)
    )
    assert (value.weights == again.weights).all()
    found = {}
    for name, moves in {"x": (4, 1, 0, 3), "o": (1, 4, 3, 0)}.items():  # Player 0 is x.
        state = pyspiel.load_game("tic_tac_toe").new_initial_state()
        for move in moves:
            state.apply_action(move)
        found[name], other = value(state)
        assert found[name] + other == pytest.approx(0.0)
    assert found["x"] > found["o"]


class WithoutBoard(Race):
    """Three players and chance; it describes no board."""

    name = "test_race_without_board"


@pytest.mark.slow
def test_games_of_three_players_and_chance_are_learned_from_observations():
    state = WithoutBoard(goal=3, rounds=2).new_initial_state()
    value = learn(state, "race", games=12, rounds=2, simulations=10, seed=1)
    assert value.network is None
    assert value.weights.shape[:2] == (3, 3)
    result = Searcher(SearchConfig(), seed=1, evaluator=value).search(state, Limit(simulations=50))
    assert result.simulations == 50


@pytest.mark.compiled
def test_a_value_of_a_game_with_hidden_cards_is_learned_from_what_the_player_sees():
    state = load_game("kuhn_poker").new_initial_state()
    value = learn(state, "kuhn_poker", games=200, rounds=2, simulations=10, opening=0, seed=1)
    found = {}
    for own, hidden in ((2, 0), (2, 1), (0, 1), (0, 2)):
        dealt = state.clone()
        dealt.apply_action(own)
        dealt.apply_action(hidden)
        found[own, hidden] = value(dealt)[0]
    assert found[2, 0] == found[2, 1]
    assert found[0, 1] == found[0, 2] < found[2, 0] - 0.5


@pytest.mark.parametrize("game", ["tiny_hanabi", "liars_dice", "kuhn_poker"])
def test_games_shorter_than_their_random_openings_are_learned(game):
    value = learn(load_game(game).new_initial_state(), game, games=2, rounds=1, simulations=4)
    assert np.any(value.weights != 0.0)


def test_games_with_simultaneous_moves_are_not_learned():
    state = load_game("matrix_rps").new_initial_state()
    with pytest.raises(
        UnsupportedGameError, match="cannot be learned: that needs a game in which one player"
    ):
        learn(state, "matrix_rps", games=2, rounds=1)


@pytest.mark.parametrize(
    ("numbers", "error", "message"),
    [
        ({"games": 2, "rounds": 3}, ValueError, "games must be an integer of at least 3"),
        ({"simulations": 1}, ValueError, "simulations must be an integer of at least 2"),
        ({"games": 2.5}, TypeError, "games must be an integer"),
        ({"minutes": 0}, ValueError, "minutes must be a finite number above 0"),
        ({"minutes": 1, "games": 10}, ValueError, "minutes or games, not both"),
        ({"windows": "large", "what": "policy"}, ValueError, "for values, not for policies"),
        ({"opening": 2, "what": "policy"}, ValueError, "for values, not for policies"),
        ({"windows": "strips", "start": "v.npz"}, ValueError, "start has windows of its own"),
        ({"start": 3}, TypeError, "start must be a .*LinearValue, a MovePolicy, .*, got 3"),
        (
            {"windows": "larg"},
            ValueError,
            r"windows must be 'small', 'large', .*, got 'larg'\. Did you mean 'large'\?",
        ),
    ],
)
def test_numbers_that_are_not_allowed_are_refused(numbers, error, message):
    with pytest.raises(error, match=message):
        learn(small("breakthrough").new_initial_state(), "b", **numbers)


def test_an_environment_of_pettingzoo_takes_a_compiled_value(monkeypatch):
    monkeypatch.delenv("RAVE_AGENTS_GAMES", raising=False)
    env = begun(connect_four_v3.env())
    value = random_value(rules_class("connect_four")())
    agent = UCTAgent(env, evaluator=value, simulations=20, seed=1)
    assert agent.act() in range(7)
    assert agent.last_result.provider == "compiled rules" or JIT_DISABLED


@pytest.mark.slow
def test_the_command_writes_a_file_that_a_spec_names(tmp_path):
    path, name = tmp_path / "value.npz", "tic_tac_toe"
    numbers = ["--games", "4", "--rounds", "2", "--simulations", "5", "--checks", "0"]
    told = CliRunner().invoke(app, ["learn", name, "--output", str(path), "--json", *numbers])
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["games"] == 4
    game = load_game(name)
    agent = make_agent(f"uct(evaluator={path},simulations=20)", game, 0, seed=1)
    assert agent.step(game.new_initial_state()) in range(9)
    assert isinstance(agent.searcher.evaluator, LinearValue)


def test_a_kit_game_without_a_board_has_none():
    assert Race().num_board_cells == 0
    assert Rules.describe_board is Race.describe_board
