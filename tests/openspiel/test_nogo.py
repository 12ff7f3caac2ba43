import copy
import pickle

import numpy as np
import pyspiel
import pytest
import rave_openspiel
from helpers.spiel import after
from open_spiel.python.algorithms import mcts
from open_spiel.python.observation import make_observation
from rave_openspiel import OpenSpielState, RaveBot

from rave_agents.frameworks.adapters import load_game
from rave_agents.games.kit.rules_simulator import RulesSimulator
from rave_agents.simulate.simulator import make_frame


@pytest.fixture
def game():
    return pyspiel.load_game("nogo(board_size=5)")


def test_openspiel_knows_it_by_name(game):
    assert str(pyspiel.load_game("nogo")) == "nogo(board_size=9)"
    assert game.num_distinct_actions() == game.max_game_length() == 25
    assert "nogo" in pyspiel.registered_names()


@pytest.mark.parametrize("size", [1, 20])
def test_a_size_that_is_not_allowed_is_refused(size):
    with pytest.raises(
        pyspiel.SpielError, match=f"board_size must be an integer from 2 to 19, got {size}"
    ):
        pyspiel.load_game(f"nogo(board_size={size})")


@pytest.mark.full(but=["4"])
@pytest.mark.parametrize("size", [2, 4, 9])
def test_openspiels_own_test_of_games(size, capfd):
    pyspiel.random_sim_test(
        pyspiel.load_game(f"nogo(board_size={size})"), num_sims=3, serialize=True, verbose=False
    )
    capfd.readouterr()


def test_actions_have_gos_coordinates(game):
    state = after(game, "c3", "e5")
    assert state.action_to_string(0) == "a1"
    assert state.string_to_action("b1") == 1
    assert state.history_str() == "12, 24"


def test_the_observation_has_a_plane_for_each_colour(game):
    state = after(game, "c3", "e5", "a2")
    observation = make_observation(game)
    observation.set_from(state, player=0)
    black, white, empty, white_to_move = observation.dict["observation"]
    assert np.argwhere(black).tolist() == [[1, 0], [2, 2]]
    assert np.argwhere(white).tolist() == [[4, 4]]
    assert np.array_equal(black + white + empty, np.ones((5, 5)))
    assert white_to_move.all()
    assert observation.string_from(state, player=0) == str(state)
    assert np.array_equal(state.observation_tensor(0), observation.tensor)


def test_states_are_cloned_and_serialised_whole(game):
    state = after(game, "c3", "e5")
    for copied in (state.clone(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        copied.apply_action(0)
        assert copied.legal_actions() != state.legal_actions()
    _, again = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
    assert str(again) == str(state)


def test_the_search_recognises_it_and_simulates_it_compiled(game):
    frame = make_frame(num_players=2, playouts=1, playout_stream=np.ones(4, np.int64))
    simulator = OpenSpielState(game.new_initial_state()).simulator(frame, None)
    assert isinstance(simulator, RulesSimulator)


def test_an_evaluator_sees_openspiels_states(game):
    seen = []

    class Evaluator(mcts.RandomRolloutEvaluator):
        def evaluate(self, state):
            seen.append(state)
            return super().evaluate(state)

    RaveBot(game, simulations=10, seed=1, evaluator=Evaluator()).step(game.new_initial_state())
    assert all(isinstance(state, pyspiel.State) for state in seen)
    assert len(seen) > 0


def test_the_program_finds_it():
    assert load_game("nogo(board_size=3)").name == "nogo(board_size=3)"
    assert rave_openspiel.bots_that_can_play_game(pyspiel.load_game("nogo")) != []
