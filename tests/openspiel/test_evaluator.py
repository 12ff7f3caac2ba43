"""RaveEvaluator, the stock bot with it, and the agent that plays so."""

import copy
import functools
import math
import pickle
import random

import numpy as np
import open_spiel.python.games  # noqa: F401  (registers the Python games)
import pyspiel
import pytest
from helpers import stock
from open_spiel.python.algorithms import mcts
from rave_openspiel import RaveBot, RaveEvaluator
from rave_openspiel.adapter import ADAPTER
from rave_openspiel.evaluator import AmafTable
from rave_openspiel.states import OpenSpielState

from rave_agents import UnsupportedGameError
from rave_agents.agents.named_agents import make_agent
from rave_agents.errors import UnknownNameError

GAMES = (
    "tic_tac_toe",
    "python_tic_tac_toe",
    "hex(board_size=4)",
    "breakthrough(rows=5,columns=4)",
    "backgammon",
    "pig(players=3,winscore=12)",
    "chinese_checkers(players=3)",
    "catch",
)


def after(game, *actions):
    state = game.new_initial_state()
    for action in actions:
        state.apply_action(action)
    return state


def drawn(state, draw):
    if state.is_chance_node():
        actions, weights = zip(*state.chance_outcomes(), strict=True)
        return draw.choices(actions, weights)[0]
    return draw.choice(state.legal_actions())


stock_bot = functools.partial(stock.stock_bot, exploration=4.0)


@pytest.mark.parametrize("name", GAMES)
def test_judges_every_state_of_a_game_and_leaves_it_alone(name):
    game = pyspiel.load_game(name)
    evaluator = RaveEvaluator(game, min_playouts=2, seed=1)
    draw = random.Random(name)
    state = game.new_initial_state()
    for _ in range(30):
        if state.is_terminal():
            break
        before = pyspiel.serialize_game_and_state(game, state)
        prior = evaluator.prior(state)
        value = evaluator.evaluate(state)
        assert pyspiel.serialize_game_and_state(game, state) == before
        if state.is_chance_node():
            assert prior == state.chance_outcomes()
        else:
            assert [action for action, _ in prior] == state.legal_actions()
            assert all(probability > 0.0 for _, probability in prior)
        assert math.fsum(probability for _, probability in prior) == pytest.approx(1.0)
        assert value.shape == (game.num_players(),)
        assert np.all((value >= game.min_utility()) & (value <= game.max_utility()))
        state.apply_action(drawn(state, draw))


@pytest.mark.parametrize("name", ["tic_tac_toe", "python_tic_tac_toe"])
def test_prior_prefers_the_move_that_wins_at_once(name):
    game = pyspiel.load_game(name)
    state = after(game, 0, 3, 1, 8)  # crosses at 0 and 1, and 2 makes the row
    prior = dict(RaveEvaluator(game, min_playouts=200, seed=1).prior(state))
    assert prior[2] == max(prior.values()) > 0.5


def test_prior_knows_whose_utility_counts():
    game = pyspiel.load_game("tic_tac_toe")
    state = after(game, 8, 0, 4, 1, 5)  # noughts are to move and 2 makes their row
    prior = dict(RaveEvaluator(game, min_playouts=200, seed=1).prior(state))
    assert prior[2] == max(prior.values()) > 0.5


def test_value_is_the_mean_of_the_playouts():
    game = pyspiel.load_game("tic_tac_toe")
    state = after(game, 0, 3, 1, 8, 2)
    assert state.is_terminal()
    evaluator = RaveEvaluator(game, n_rollouts=2000, seed=1)
    assert evaluator.evaluate(state).tolist() == [1.0, -1.0]
    value = evaluator.evaluate(game.new_initial_state())
    assert value[0] == -value[1] == pytest.approx(0.585 - 0.288, abs=0.08)
    assert evaluator.prior(state) == []


def test_playouts_of_evaluate_are_enough_for_a_prior():
    game = pyspiel.load_game("hex(board_size=4)")
    state = game.new_initial_state()
    evaluator = RaveEvaluator(game, n_rollouts=30, min_playouts=30, seed=1)
    evaluator.evaluate(state)
    twin = copy.deepcopy(evaluator)
    prior = evaluator.prior(state)
    assert prior == evaluator.prior(state)  # it drew nothing
    assert evaluator.evaluate(state).tolist() == twin.evaluate(state).tolist()


def test_table_counts_first_plays_and_pulls_to_the_average():
    table = AmafTable(2, 5, half_life=math.inf)
    players, moves = np.array([0, 1, 0, 1, 0]), np.array([3, 4, 3, 0, 1])
    table.add(players.astype(np.int32), moves, np.array([1.0, -1.0]))
    table.add(players[:2].astype(np.int32), np.array([3, 1]), np.array([-1.0, 1.0]))
    # Player 0: move 3 won once and lost once, move 1 won once, others never played; average 0.
    expected = [(0.0 + 2.0 * 0.0) / (2 + 2), (1.0 + 2.0 * 0.0) / (1 + 2), 0.0]
    assert table.estimates(0, [3, 1, 0], 2.0).tolist() == pytest.approx(expected)
    assert table.estimates(1, [1], 2.0).tolist() == pytest.approx([1.0 / 3.0])
    assert (table.num_playouts, table.low, table.high) == (2, -1.0, 1.0)


def test_table_halves_the_weight_of_what_is_old():
    table = AmafTable(1, 1, half_life=2.0)
    player, move = np.zeros(1, np.int32), np.zeros(1, np.intp)
    for utility in (1.0, 0.0, 0.0):
        table.add(player, move, np.array([utility]))
    weights = [0.5, math.sqrt(0.5), 1.0]
    average = 0.5 / sum(weights)
    expected = (0.5 + 3.0 * average) / (sum(weights) + 3.0)
    assert table.estimates(0, [0], 3.0)[0] == pytest.approx(expected)


def test_table_stays_finite():
    table = AmafTable(1, 2, half_life=1.0)
    player, move = np.zeros(1, np.int32), np.zeros(1, np.intp)
    for utility in (1.0, 0.0, 1.0, 0.0) * 500:
        table.add(player, move, np.array([utility]))
    # One in two counts, each half as much as the next: 1/2 + 1/8 + ... of 1 + 1/2 + 1/4 + ...
    assert table.estimates(0, [0], 1e-9)[0] == pytest.approx((2 / 3) / 2)


def test_flat_returns_give_a_uniform_prior():
    game = pyspiel.load_game("tic_tac_toe")
    state = after(game, 0, 1, 2, 4, 3, 5, 7, 6)  # 8 is left, and it draws
    evaluator = RaveEvaluator(game, seed=1)
    assert evaluator.prior(state) == [(8, 1.0)]
    assert evaluator.evaluate(state).tolist() == [0.0, 0.0]


def test_temperature_sharpens_and_flattens():
    game = pyspiel.load_game("hex(board_size=4)")
    state = game.new_initial_state()

    def greatest(temperature):
        evaluator = RaveEvaluator(game, temperature=temperature, min_playouts=100, seed=1)
        return max(probability for _, probability in evaluator.prior(state))

    assert greatest(1e-6) == pytest.approx(1.0)
    assert 1.5 / 16 < greatest(0.07) < 0.9
    assert greatest(1e6) == pytest.approx(1 / 16, rel=1e-3)


def test_remembers_a_game_and_forgets_it_when_another_begins():
    game = pyspiel.load_game("hex(board_size=4)")
    evaluator = RaveEvaluator(game, n_rollouts=60, min_playouts=1, seed=1)

    def knows_nothing(*actions):  # a single playout finds no move better than the average
        probabilities = [probability for _, probability in evaluator.prior(after(game, *actions))]
        return max(probabilities) == pytest.approx(min(probabilities))

    evaluator.evaluate(after(game, 0, 5))
    assert not knows_nothing(0, 5)
    assert not knows_nothing(0, 5, 10)
    assert knows_nothing(0, 6)
    evaluator.evaluate(after(game, 0, 6))
    assert not knows_nothing(0, 6, 5)
    assert knows_nothing(0)


@pytest.mark.full(but=["hex(board_size=4)"])
@pytest.mark.parametrize("name", ["hex(board_size=4)", "backgammon"])
def test_same_seed_same_search(name):
    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])

    def search(seed):
        return stock.visit_counts(
            stock_bot(game, RaveEvaluator(game, seed=seed), 30).mcts_search(state)
        )

    assert search(1) == search(1)
    assert any(search(seed) != search(1) for seed in (2, 3, 4))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_go_on_alike(duplicate):
    game = pyspiel.load_game("hex(board_size=4)")
    state = game.new_initial_state()
    evaluator = RaveEvaluator(game, seed=1)
    evaluator.prior(state)
    twin = duplicate(evaluator)
    assert twin.prior(state) == evaluator.prior(state)
    assert [twin.evaluate(state)[0] for _ in range(10)] == [
        evaluator.evaluate(state)[0] for _ in range(10)
    ]


@pytest.mark.parametrize(
    "name", ["tic_tac_toe", "python_tic_tac_toe", "pig(players=3,winscore=12)"]
)
def test_serves_the_stock_bot(name):
    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    for selection in (mcts.SearchNode.puct_value, mcts.SearchNode.uct_value):
        bot = stock_bot(game, RaveEvaluator(game, seed=1), 40, selection)
        assert bot.step(state) in state.legal_actions()


def test_serves_the_bots_of_this_package():
    game = pyspiel.load_game("tic_tac_toe")
    evaluator = RaveEvaluator(game, seed=1)
    bot = RaveBot(game, simulations=200, seed=1, evaluator=evaluator, rule="puct")
    assert bot.step(after(game, 0, 3, 1, 8)) == 2


@pytest.mark.parametrize("name", ["kuhn_poker", "goofspiel", "phantom_ttt"])
def test_refuses_what_the_search_cannot_play(name):
    with pytest.raises(UnsupportedGameError, match="needs"):
        RaveEvaluator(pyspiel.load_game(name))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_rollouts": 0}, ValueError, "n_rollouts must be at least 1, got 0"),
        ({"n_rollouts": 1.5}, TypeError, "n_rollouts must be an integer, got 1.5"),
        ({"min_playouts": True}, TypeError, "min_playouts must be an integer, got True"),
        ({"temperature": 0.0}, ValueError, "temperature must be a finite number above 0"),
        ({"temperature": math.nan}, ValueError, "temperature must be a finite number above 0"),
        ({"temperature": "hot"}, TypeError, "temperature must be a number, got 'hot'"),
        ({"equivalent_visits": -1}, ValueError, "equivalent_visits must be a finite number above"),
        ({"half_life": 0.5}, ValueError, "half_life must be at least 1 playout, got 0.5"),
        ({"half_life": math.nan}, ValueError, "half_life must be at least 1 playout, got nan"),
        ({"seed": -1}, ValueError, "seed must be at least 0"),
        ({"seed": 1.5}, TypeError, "seed must be an integer or None"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        RaveEvaluator(pyspiel.load_game("tic_tac_toe"), **arguments)


def test_refuses_what_is_no_state_of_its_game():
    evaluator = RaveEvaluator(pyspiel.load_game("tic_tac_toe"), seed=1)
    stranger = pyspiel.load_game("hex(board_size=4)").new_initial_state()
    for method in (evaluator.prior, evaluator.evaluate):
        with pytest.raises(ValueError, match=r"for tic_tac_toe\(\), but the state is of hex"):
            method(stranger)
        with pytest.raises(TypeError, match=r"state must be a pyspiel\.State, got 3"):
            method(3)
    with pytest.raises(TypeError, match=r"game must be a pyspiel\.Game"):
        RaveEvaluator("tic_tac_toe")


def test_agents_name_evaluator_and_selection():
    game = ADAPTER.load_game("tic_tac_toe")
    state = OpenSpielState(after(game.game, 0, 3, 1, 8))
    for evaluator in ("rollouts", "rave"):
        for selection in ("uct", "puct"):
            spec = f"mcts_py(evaluator={evaluator},selection={selection},simulations=100,seed=1)"
            assert make_agent(spec, game, 0).step(state) == 2


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mcts_py(evaluator=rav)", "Unknown evaluator of mcts_py 'rav'. Did you mean 'rave'"),
        ("mcts_py(selection=pucd)", "Unknown selection of mcts_py 'pucd'. Did you mean 'puct'"),
        ("mcts_py(evaluator=1)", "Unknown evaluator of mcts_py 1"),
    ],
)
def test_agents_refuse_unknown_evaluators_and_selections(spec, message):
    with pytest.raises(UnknownNameError, match=message):
        make_agent(spec, ADAPTER.load_game("tic_tac_toe"), 0)


@pytest.mark.full
def test_beats_the_stock_evaluator():
    """Ten games of hex, the seats exchanged; by far the most are won."""
    game = pyspiel.load_game("hex(board_size=5)")
    wins = 0
    for number in range(10):
        draw = np.random.RandomState(number)
        bots = [
            stock_bot(game, RaveEvaluator(game, seed=number), 60),
            mcts.MCTSBot(game, 1.4, 60, mcts.RandomRolloutEvaluator(1, draw), random_state=draw),
        ]
        state = after(game, (number // 2 * 7 + 1) % 25)
        seat = number % 2
        while not state.is_terminal():
            state.apply_action(bots[state.current_player() ^ seat].step(state))
        wins += state.returns()[seat] > 0
    assert wins >= 6
