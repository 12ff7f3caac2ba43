"""RaveEvaluator and PNEvaluator, the stock bot with them, and the agents that play so."""

import copy
import math
import pickle
import random

import numpy as np
import open_spiel.python.games  # noqa: F401  (registers the Python games)
import pyspiel
import pytest
from helpers.spiel import after, drawn_action
from open_spiel.python.algorithms import mcts
from rave_openspiel import PNEvaluator, RaveBot, RaveEvaluator
from rave_openspiel.adapter import ADAPTER
from rave_openspiel.evaluator import AmafTable
from rave_openspiel.positions import position_key
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
PUCT = mcts.SearchNode.puct_value

both = pytest.mark.parametrize("kind", [RaveEvaluator, PNEvaluator])


def stock_bot(game, evaluator, simulations, selection=PUCT, *, exploration=4.0):
    """OpenSpiel's own bot; ``exploration`` is for PUCT, and UCT has 1.4."""
    return mcts.MCTSBot(
        game,
        exploration if selection is PUCT else 1.4,
        simulations,
        evaluator,
        random_state=np.random.RandomState(1),
        child_selection_fn=selection,
    )


@both
@pytest.mark.full(but=8)
@pytest.mark.parametrize("name", GAMES)
def test_judges_every_state_of_a_game_and_leaves_it_alone(name, kind):
    game = pyspiel.load_game(name)
    evaluator = kind(game, seed=1, **({"min_playouts": 2} if kind is RaveEvaluator else {}))
    draw, state = random.Random(name), game.new_initial_state()
    for _ in range(30 if kind is RaveEvaluator else 2):
        if state.is_terminal():
            break
        before = pyspiel.serialize_game_and_state(game, state)
        prior, value = evaluator.prior(state), evaluator.evaluate(state)
        assert pyspiel.serialize_game_and_state(game, state) == before
        if state.is_chance_node():
            assert prior == state.chance_outcomes()
        else:
            assert [action for action, _ in prior] == state.legal_actions()
            assert all(probability > 0.0 for _, probability in prior)
        assert math.fsum(probability for _, probability in prior) == pytest.approx(1.0)
        assert value.shape == (game.num_players(),)
        assert np.all((value >= game.min_utility()) & (value <= game.max_utility()))
        if game.utility_sum() is not None:
            assert value.sum() == pytest.approx(game.utility_sum())
        state.apply_action(drawn_action(state, draw))


@both
@pytest.mark.parametrize("name", ["tic_tac_toe", "python_tic_tac_toe"])
@pytest.mark.parametrize("actions", [(0, 3, 1, 8), (8, 0, 4, 1, 5)])
def test_prior_prefers_the_move_that_wins_at_once(actions, name, kind):
    """Crosses at 0 and 1, and 2 makes the row; or noughts."""
    game = pyspiel.load_game(name)
    more = {"min_playouts": 200} if kind is RaveEvaluator else {"temperature": 0.1}
    prior = dict(kind(game, seed=1, **more).prior(after(game, *actions)))
    assert prior[2] == max(prior.values()) > 0.5


@both
def test_a_terminal_state_has_its_returns_and_no_prior(kind):
    game = pyspiel.load_game("tic_tac_toe")
    state, evaluator = after(game, 0, 3, 1, 8, 2), kind(game, seed=1)
    assert evaluator.evaluate(state).tolist() == [1.0, -1.0]
    assert evaluator.prior(state) == []


@both
def test_temperature_sharpens_and_flattens(kind):
    game = pyspiel.load_game("connect_four")
    state = after(game, 3, 0, 3, 0, 2)

    def greatest(temperature):
        evaluator = kind(game, temperature=temperature, seed=1)
        return max(probability for _, probability in evaluator.prior(state))

    assert greatest(1e-6) > greatest(0.3) > greatest(1e6)
    assert greatest(1e6) == pytest.approx(1 / len(state.legal_actions()), rel=1e-3)


@both
@pytest.mark.full(but=["hex(board_size=4)-RaveEvaluator", "pig(players=3,winscore=12)-PNEvaluator"])
@pytest.mark.parametrize("name", ["hex(board_size=4)", "backgammon", "pig(players=3,winscore=12)"])
def test_same_seed_same_search(name, kind):
    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])

    def search(seed):
        root = stock_bot(game, kind(game, seed=seed), 20).mcts_search(state)
        return {child.action: (child.explore_count, child.total_reward) for child in root.children}

    assert search(1) == search(1)
    assert any(search(seed) != search(1) for seed in (2, 3, 4))


@both
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_go_on_alike(duplicate, kind):
    game = pyspiel.load_game("hex(board_size=4)")
    evaluator = kind(game, seed=1)
    evaluator.prior(game.new_initial_state())
    twin = duplicate(evaluator)
    for action in range(4):
        state = after(game, action)
        assert twin.evaluate(state).tolist() == evaluator.evaluate(state).tolist()
        assert twin.prior(state) == evaluator.prior(state)


@both
@pytest.mark.parametrize(
    "name", ["tic_tac_toe", "python_tic_tac_toe", "pig(players=3,winscore=12)"]
)
def test_serves_the_stock_bot(name, kind):
    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    for selection in (PUCT, mcts.SearchNode.uct_value):
        bot = stock_bot(game, kind(game, seed=1), 40, selection)
        assert bot.step(state) in state.legal_actions()


@both
@pytest.mark.parametrize("name", ["kuhn_poker", "goofspiel", "phantom_ttt"])
def test_refuses_what_the_search_cannot_play(name, kind):
    with pytest.raises(UnsupportedGameError, match="needs"):
        kind(pyspiel.load_game(name))


@pytest.mark.parametrize(
    ("kind", "arguments", "error", "message"),
    [
        (RaveEvaluator, {"n_rollouts": 0}, ValueError, "n_rollouts must be .* at least 1, got 0"),
        (RaveEvaluator, {"min_playouts": True}, TypeError, "min_playouts must be .*, got True"),
        (RaveEvaluator, {"temperature": 0.0}, ValueError, "must be a finite number above 0"),
        (RaveEvaluator, {"equivalent_visits": -1}, ValueError, "must be a finite number above"),
        (RaveEvaluator, {"half_life": 0.5}, ValueError, "at least 1, or infinity, got 0.5"),
        (PNEvaluator, {"seed": 1.5}, TypeError, "seed must be an integer of at least 0 or None"),
        (PNEvaluator, {"simulations": 1}, ValueError, "simulations must be .* at least 2, got 1"),
    ],
)
def test_bad_arguments_are_refused(kind, arguments, error, message):
    with pytest.raises(error, match=message):
        kind(pyspiel.load_game("tic_tac_toe"), **arguments)


@both
def test_refuses_what_is_no_state_of_its_game(kind):
    evaluator = kind(pyspiel.load_game("tic_tac_toe"), seed=1)
    stranger = pyspiel.load_game("hex(board_size=4)").new_initial_state()
    for method in (evaluator.prior, evaluator.evaluate):
        with pytest.raises(ValueError, match=r"for tic_tac_toe\(\), but the state is of hex"):
            method(stranger)
        with pytest.raises(TypeError, match=r"state must be a pyspiel\.State, got 3"):
            method(3)
    with pytest.raises(TypeError, match=r"game must be a pyspiel\.Game"):
        kind("tic_tac_toe")


@pytest.mark.parametrize("selection", ["uct", "puct"])
@pytest.mark.parametrize("evaluator", ["rollouts", "rave", "pn", "pn,rollouts=10"])
def test_agents_name_evaluator_and_selection(evaluator, selection):
    game = ADAPTER.load_game("tic_tac_toe")
    state = OpenSpielState(after(game.game, 0, 3, 1, 8))
    spec = f"mcts_py(evaluator={evaluator},selection={selection},simulations=100,seed=1)"
    assert make_agent(spec, game, 0).step(state) == 2


def test_value_is_the_mean_of_the_playouts():
    game = pyspiel.load_game("tic_tac_toe")
    evaluator = RaveEvaluator(game, n_rollouts=2000, seed=1)
    value = evaluator.evaluate(game.new_initial_state())
    assert value[0] == -value[1] == pytest.approx(0.585 - 0.288, abs=0.08)


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


def test_serves_the_bots_of_this_package():
    game = pyspiel.load_game("tic_tac_toe")
    evaluator = RaveEvaluator(game, seed=1)
    bot = RaveBot(game, simulations=200, seed=1, evaluator=evaluator, rule="puct")
    assert bot.step(after(game, 0, 3, 1, 8)) == 2


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mcts_py(evaluator=rav)", "evaluator of .* got 'rav'. Did you mean 'rave'"),
        ("mcts_py(selection=pucd)", "selection of .* got 'pucd'. Did you mean 'puct'"),
        ("mcts_py(evaluator=1)", "evaluator of mcts_py must be .* got 1"),
    ],
)
def test_agents_refuse_unknown_evaluators_and_selections(spec, message):
    with pytest.raises(UnknownNameError, match=message):
        make_agent(spec, ADAPTER.load_game("tic_tac_toe"), 0)


def test_a_solved_position_has_its_exact_outcome():
    game = pyspiel.load_game("tic_tac_toe")
    evaluator = PNEvaluator(game, seed=1)
    assert evaluator.evaluate(after(game, 0, 3, 1, 4)).tolist() == [1.0, -1.0]  # x wins by 2
    assert evaluator.evaluate(after(game, 0, 4, 8, 3, 1)).tolist() == [-1.0, 1.0]  # o by 5
    assert evaluator.evaluate(after(game, 0, 1, 2, 4, 3, 5, 7, 6)).tolist() == [0.0, 0.0]


def test_proven_losses_have_the_least_prior():
    """Only 5 stops o; every other move is lost, and there the search soon knows it."""
    game = pyspiel.load_game("tic_tac_toe")
    evaluator = PNEvaluator(game, simulations=200, temperature=0.5, seed=1)
    prior = dict(evaluator.prior(after(game, 0, 3, 8, 4)))
    lost = [prior[action] for action in prior if action != 5]
    assert max(lost) == pytest.approx(min(lost))
    assert prior[5] == pytest.approx(math.exp(1 / 0.5) * lost[0])


def test_chance_nodes_give_their_outcomes():
    game = pyspiel.load_game("pig(players=3,winscore=12)")
    state = after(game, 0)
    evaluator = PNEvaluator(game, seed=1)
    assert evaluator.prior(state) == state.chance_outcomes()
    assert len({tuple(evaluator.evaluate(state)) for _ in range(20)}) > 1


def test_a_position_is_searched_once(monkeypatch):
    game = pyspiel.load_game("hex(board_size=4)")
    state = game.new_initial_state()
    evaluator = PNEvaluator(game, seed=1)
    values = evaluator.evaluate(state)
    monkeypatch.setattr(evaluator._searcher, "search", None)
    evaluator.prior(state.clone())
    assert evaluator.evaluate(state).tolist() == values.tolist()


def test_forgets_the_positions_not_asked_for_the_longest(monkeypatch):
    monkeypatch.setattr("rave_openspiel.proof_evaluator.SEARCHES_KEPT", 2)
    game = pyspiel.load_game("hex(board_size=4)")
    evaluator = PNEvaluator(game, seed=1)
    for actions in [(0,), (1,), (0,), (2,)]:
        evaluator.evaluate(after(game, *actions))
    kept = [position_key(after(game, *actions)) for actions in [(0,), (2,)]]
    assert list(evaluator._found) == kept
