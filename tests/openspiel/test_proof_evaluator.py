"""PNEvaluator, the stock bot with it, and the agent that plays so."""

import copy
import functools
import math
import pickle

import open_spiel.python.games  # noqa: F401  (registers the Python games)
import pyspiel
import pytest
from helpers import stock
from rave_openspiel import PNEvaluator
from rave_openspiel.adapter import ADAPTER
from rave_openspiel.positions import position_key
from rave_openspiel.states import OpenSpielState

from rave_agents import UnsupportedGameError
from rave_agents.agents.named_agents import make_agent

GAMES = (
    "tic_tac_toe",
    "python_tic_tac_toe",
    "hex(board_size=4)",
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


def decision(game):
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    return state


stock_bot = functools.partial(stock.stock_bot, exploration=2.0)


@pytest.mark.full(but=4)
@pytest.mark.parametrize("name", GAMES)
def test_values_and_priors_of_every_kind_of_game(name):
    game = pyspiel.load_game(name)
    evaluator = PNEvaluator(game, seed=1)
    state = decision(game)
    before = pyspiel.serialize_game_and_state(game, state)
    values, prior = evaluator.evaluate(state), evaluator.prior(state)
    assert pyspiel.serialize_game_and_state(game, state) == before
    assert values.shape == (game.num_players(),)
    assert game.min_utility() <= values.min() <= values.max() <= game.max_utility()
    if game.utility_sum() is not None:
        assert values.sum() == pytest.approx(game.utility_sum())
    assert [action for action, _ in prior] == state.legal_actions()
    assert sum(probability for _, probability in prior) == pytest.approx(1.0)


def test_a_solved_position_has_its_exact_outcome():
    game = pyspiel.load_game("tic_tac_toe")
    evaluator = PNEvaluator(game, seed=1)
    assert evaluator.evaluate(after(game, 0, 3, 1, 4)).tolist() == [1.0, -1.0]  # x wins by 2
    assert evaluator.evaluate(after(game, 0, 4, 8, 3, 1)).tolist() == [-1.0, 1.0]  # o by 5
    assert evaluator.evaluate(after(game, 0, 1, 2, 4, 3, 5, 7, 6)).tolist() == [0.0, 0.0]


def test_a_terminal_state_has_its_returns_and_no_prior():
    game = pyspiel.load_game("tic_tac_toe")
    state = after(game, 0, 3, 1, 4, 2)
    evaluator = PNEvaluator(game, seed=1)
    assert evaluator.evaluate(state).tolist() == state.returns()
    assert evaluator.prior(state) == []


def test_the_proven_win_has_the_greatest_prior():
    game = pyspiel.load_game("tic_tac_toe")
    prior = dict(PNEvaluator(game, temperature=0.1, seed=1).prior(after(game, 0, 3, 1, 4)))
    assert max(prior, key=prior.get) == 2


def test_proven_losses_have_the_least_prior():
    """Only 5 stops o; every other move is lost, and there the search soon knows it."""
    game = pyspiel.load_game("tic_tac_toe")
    evaluator = PNEvaluator(game, simulations=200, temperature=0.5, seed=1)
    prior = dict(evaluator.prior(after(game, 0, 3, 8, 4)))
    lost = [prior[action] for action in prior if action != 5]
    assert max(lost) == pytest.approx(min(lost))
    assert prior[5] == pytest.approx(math.exp(1 / 0.5) * lost[0])


def test_temperature_sharpens_and_flattens():
    game = pyspiel.load_game("connect_four")
    state = after(game, 3, 0, 3, 0, 2)

    def greatest(temperature):
        evaluator = PNEvaluator(game, temperature=temperature, seed=1)
        return max(probability for _, probability in evaluator.prior(state))

    assert greatest(1e-6) > greatest(0.3) > greatest(1e6)
    assert greatest(1e6) == pytest.approx(1 / len(state.legal_actions()), rel=1e-3)


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


@pytest.mark.slow
@pytest.mark.full(but=["pig(players=3,winscore=12)"])
@pytest.mark.parametrize("name", ["hex(board_size=4)", "pig(players=3,winscore=12)"])
def test_same_seed_same_search(name):
    game = pyspiel.load_game(name)
    state = decision(game)

    def search(seed):
        return stock.visit_counts(
            stock_bot(game, PNEvaluator(game, seed=seed), 20).mcts_search(state)
        )

    assert search(1) == search(1)


@pytest.mark.full(but=1)
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_go_on_alike(duplicate):
    game = pyspiel.load_game("hex(board_size=4)")
    evaluator = PNEvaluator(game, seed=1)
    evaluator.prior(game.new_initial_state())
    twin = duplicate(evaluator)
    for action in range(4):
        state = after(game, action)
        assert twin.evaluate(state).tolist() == evaluator.evaluate(state).tolist()
        assert twin.prior(state) == evaluator.prior(state)


@pytest.mark.parametrize("selection", ["uct", "puct"])
def test_agents_name_the_evaluator(selection):
    game = ADAPTER.load_game("tic_tac_toe")
    state = OpenSpielState(after(game.game, 0, 3, 1, 8))
    for rollouts in ("", ",rollouts=10"):
        spec = f"mcts_py(evaluator=pn,selection={selection},simulations=60,seed=1{rollouts})"
        assert make_agent(spec, game, 0).step(state) == 2


@pytest.mark.parametrize("name", ["kuhn_poker", "goofspiel", "phantom_ttt"])
def test_refuses_what_the_search_cannot_play(name):
    with pytest.raises(UnsupportedGameError, match="needs"):
        PNEvaluator(pyspiel.load_game(name))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"simulations": 0}, ValueError, "simulations must be at least 2, got 0"),
        ({"simulations": 1}, ValueError, "simulations must be at least 2, got 1"),
        ({"simulations": 1.5}, TypeError, "simulations must be an integer, got 1.5"),
        ({"temperature": 0.0}, ValueError, "temperature must be a finite number above 0"),
        ({"temperature": "hot"}, TypeError, "temperature must be a number, got 'hot'"),
        ({"seed": -1}, ValueError, "seed must be at least 0"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        PNEvaluator(pyspiel.load_game("tic_tac_toe"), **arguments)


def test_refuses_what_is_no_state_of_its_game():
    evaluator = PNEvaluator(pyspiel.load_game("tic_tac_toe"), seed=1)
    stranger = pyspiel.load_game("hex(board_size=4)").new_initial_state()
    for method in (evaluator.prior, evaluator.evaluate):
        with pytest.raises(ValueError, match=r"for tic_tac_toe\(\), but the state is of hex"):
            method(stranger)
        with pytest.raises(TypeError, match=r"state must be a pyspiel\.State, got 3"):
            method(3)
