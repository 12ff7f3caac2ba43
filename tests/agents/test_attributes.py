"""Attributes of agents: what is set is followed, or refused with the way to do it."""

import copy

import gymnasium
import pyspiel
import pytest
import rave_gymnasium
import rave_openspiel
import rave_pettingzoo
from helpers.envs import begun
from pettingzoo.classic import tictactoe_v3

from rave_agents import Clock, Limit, SearchConfig, Searcher, as_game


def bot(**told):
    return rave_openspiel.RaveBot(pyspiel.load_game("tic_tac_toe"), seed=1, **told)


def loop_agent():
    env = begun(tictactoe_v3.env())
    return rave_pettingzoo.RaveAgent(env, seed=1)


def planning_agent():
    env = begun(gymnasium.make("CliffWalking-v1"))
    return rave_gymnasium.RaveAgent(env, seed=1)


@pytest.mark.parametrize("make", [bot, loop_agent, planning_agent])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("config", SearchConfig()),
        ("seed", 2),
        ("evaluator", None),
        ("simulations", 10),
        ("seconds", 1.0),
        ("c", 0.7),
        ("schedule", "fuego"),
        ("known", False),
        ("threads", 2),
        ("preset", "uct"),
    ],
)
def test_what_a_search_would_not_follow_cannot_be_set(make, name, value):
    agent = make()
    shown = dict(vars(agent))
    with pytest.raises(AttributeError, match=rf"{name}.*(make a new one|set its limit)"):
        setattr(agent, name, value)
    assert vars(agent) == shown


def test_a_game_stays_that_of_its_bot():
    with pytest.raises(AttributeError, match="make a new one, with game="):
        bot().game = pyspiel.load_game("hex")


def test_openspiels_replacement_keeps_its_configuration():
    game = pyspiel.load_game("tic_tac_toe")
    evaluator = rave_openspiel.mcts.RandomRolloutEvaluator(1)
    replacement = rave_openspiel.MCTSBot(game, 1.4, 10, evaluator)
    with pytest.raises(AttributeError, match="make a new one, with parameters by their names"):
        replacement.config = replacement.config.replace(known=True)


def test_a_limit_that_is_set_holds_for_the_next_move():
    player = bot()
    player.limit = Limit(simulations=7)
    player.step(player.game.new_initial_state())
    assert player.last_result.simulations == 7
    with pytest.raises(TypeError, match=r"limit must be a .*Limit"):
        player.limit = 7


def test_a_clock_that_is_set_is_read_as_the_parameter_is():
    player = bot()
    player.clock = "60+1"
    assert isinstance(player.clock, Clock)
    with pytest.raises(ValueError, match="clock"):
        player.clock = "soon"


def test_a_copy_is_as_fixed_as_the_agent():
    twin = copy.copy(bot())
    with pytest.raises(AttributeError, match="make a new one"):
        twin.config = SearchConfig()
    assert twin.clone().seed != twin.seed


def test_own_attributes_may_be_set():
    player = bot()
    player.label = "mine"
    assert player.label == "mine"


def test_the_seat_of_an_agent_for_reinforcement_learning_is_fixed():
    game = pyspiel.load_game("tic_tac_toe")
    agent = rave_openspiel.SearchRLAgent(0, 9, game, "uct", simulations=10)
    with pytest.raises(AttributeError, match="player_id"):
        agent.player_id = 1


def test_a_searcher_follows_a_configuration_and_an_evaluator_that_are_set():
    searcher = Searcher(SearchConfig.preset("uct"), seed=1)
    state = as_game("tic_tac_toe").new_initial_state()
    for action in (4, 0, 8):
        state.apply_action(action)

    def searched():
        return searcher.search(state, Limit(simulations=200))

    assert {row.amaf_visits for row in searched().actions} == {0}
    searcher.config = SearchConfig.preset("auto").replace(endgame_share=0.5)
    result = searched()
    assert max(row.amaf_visits for row in result.actions) > 0
    assert result.solver_positions > 0
    searcher.config = SearchConfig()
    asked = []
    searcher.evaluator = lambda state: asked.append(state) or 0.25
    searched()
    assert asked
    with pytest.raises(ValueError, match="make a new Searcher"):
        searcher.config = SearchConfig(threads=2)
    with pytest.raises(TypeError, match="SearchConfig"):
        searcher.config = "uct"
