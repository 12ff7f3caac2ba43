"""Search agents in OpenSpiel's reinforcement-learning environments."""

import numpy as np
import pyspiel
import pytest
from open_spiel.python import rl_agent, rl_environment
from open_spiel.python.algorithms import random_agent
from rave_openspiel import RaveBot, SearchRLAgent, UCTBot

from rave_agents import UnknownNameError, UnsupportedGameError

pytestmark = pytest.mark.compiled


def make_environment(name, **parameters):
    return rl_environment.Environment(
        name,
        include_full_state=True,
        chance_event_sampler=rl_environment.ChanceEventSampler(seed=1),
        **parameters,
    )


def play(environment, agents):
    """One episode as the stock examples play it; the rewards of its last time step."""
    time_step = environment.reset()
    while not time_step.last():
        output = agents[time_step.observations["current_player"]].step(time_step)
        time_step = environment.step([output.action])
    for agent in agents:
        agent.step(time_step)
    return time_step.rewards


def search_agent(environment, player_id, agent="rave", **parameters):
    num_actions = environment.action_spec()["num_actions"]
    return SearchRLAgent(player_id, num_actions, environment.game, agent, **parameters)


@pytest.fixture(scope="module")
def environment():
    return make_environment("tic_tac_toe")


class Recorder(RaveBot):
    """Keeps the result of every move."""

    def step_with_policy(self, state):
        answer = super().step_with_policy(state)
        self.results = [*getattr(self, "results", []), self.last_result]
        return answer


@pytest.mark.full(but=["rave(simulations=8)-pig", "uct(simulations=8)-connect_four"])
@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "pig", "backgammon"])
@pytest.mark.parametrize("agent", ["rave(simulations=8)", "uct(simulations=8)", "random"])
def test_plays_episodes_to_their_end(name, agent):
    environment = make_environment(name)
    agents = [search_agent(environment, player, agent, seed=player) for player in range(2)]
    assert sum(play(environment, agents)) == 0


def test_beats_the_stock_random_agent():
    environment = make_environment("connect_four")
    agents = [
        search_agent(environment, 0, "rave(simulations=200)", seed=1),
        random_agent.RandomAgent(1, 7),
    ]
    assert [play(environment, agents)[0] for _ in range(5)] == [1.0] * 5


def test_plays_games_with_three_players():
    environment = make_environment("pig", players=3, winscore=12)
    agents = [search_agent(environment, p, "uct", simulations=20, seed=p) for p in range(3)]
    assert len(play(environment, agents)) == 3


def test_output_is_an_action_and_a_probability_for_each(environment):
    agent = search_agent(environment, 0, "uct(simulations=50,temperature=1)", seed=0)
    output = agent.step(environment.reset())
    assert isinstance(output, rl_agent.StepOutput)
    assert output.probs.shape == (9,)
    assert output.probs.sum() == pytest.approx(1.0)
    assert output.probs[output.action] > 0
    assert np.count_nonzero(output.probs) > 1


def test_wins_in_one(environment):
    agent = search_agent(environment, 0, simulations=200, seed=0)
    time_step = environment.reset()
    for action in (0, 3, 1, 4):
        time_step = environment.step([action])
    output = agent.step(time_step, is_evaluation=True)
    assert output.action == 2
    assert output.probs.tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_says_nothing_when_it_is_not_its_turn_or_the_game_is_over(environment):
    agent = search_agent(environment, 1, simulations=10, seed=0)
    time_step = environment.reset()
    assert agent.step(time_step) is None
    for action in (0, 3, 1, 4, 2):
        time_step = environment.step([action])
    assert time_step.last()
    assert agent.step(time_step) is None


@pytest.mark.parametrize("make", [Recorder, lambda game, **p: Recorder(game, player_id=0, **p)])
def test_keeps_the_tree_within_an_episode_and_not_beyond(make):
    environment = make_environment("connect_four")
    bot = make(environment.game, simulations=100, seed=0)
    agents = [search_agent(environment, 0, bot), random_agent.RandomAgent(1, 7)]
    np.random.seed(0)
    for _ in range(2):
        bot.results = []
        play(environment, agents)
        reused = [result.root_visits > result.simulations > 0 for result in bot.results]
        assert not reused[0]
        assert any(reused)


def test_named_agents_keep_the_tree_too():
    environment = make_environment("connect_four")
    agents = [search_agent(environment, p, "uct(simulations=200)", seed=p) for p in range(2)]
    time_step = environment.reset()
    visits = []
    while not time_step.last():
        player = time_step.observations["current_player"]
        time_step = environment.step([agents[player].step(time_step).action])
        visits.append(agents[player]._bot.agent.last_result.root_visits)
    assert visits[:2] == [200, 200]
    assert max(visits[2:8]) > 200


def test_an_episode_given_up_does_no_harm(environment):
    agent = search_agent(environment, 0, "rave(simulations=50)", seed=0)
    time_step = environment.reset()
    time_step = environment.step([agent.step(time_step).action])
    agent.step(environment.reset())
    time_step = environment.reset()
    for action in (0, 3, 1, 4):
        time_step = environment.step([action])
    assert agent.step(time_step).action == 2


@pytest.mark.parametrize(
    "bot",
    [
        lambda game: UCTBot(game, simulations=20, seed=0),
        lambda game: pyspiel.make_uniform_random_bot(0, 1),
        lambda game: pyspiel.make_stateful_random_bot(game, 0, 1),
        lambda game: pyspiel.MCTSBot(
            game, pyspiel.RandomRolloutEvaluator(1, 1), 1.4, 20, 10, True, 1, False
        ),
    ],
    ids=["UCTBot", "uniform", "stateful", "MCTSBot"],
)
def test_takes_any_bot(environment, bot):
    agents = [search_agent(environment, 0, bot(environment.game)), random_agent.RandomAgent(1, 9)]
    for _ in range(2):
        play(environment, agents)


def test_a_bot_is_told_when_the_loop_plays_another_action():
    environment = make_environment("connect_four")
    told = []

    class Told(UCTBot):
        def force_action(self, state, action):
            told.append(action)
            super().force_action(state, action)

    bot = Told(environment.game, simulations=200, seed=0, c=1.0)
    agent = search_agent(environment, 0, bot)
    time_step = environment.reset()
    other = (agent.step(time_step).action + 1) % 7
    environment.step([other])
    agent.step(environment.step([0]))
    assert told == [other]
    assert bot.last_result.root_visits > 200


def test_says_what_is_missing_without_the_full_state():
    environment = rl_environment.Environment("tic_tac_toe")
    agent = search_agent(environment, 0)
    with pytest.raises(ValueError, match="include_full_state=True"):
        agent.step(environment.reset())


def test_refuses_the_state_of_another_game(environment):
    agent = search_agent(make_environment("hex", board_size=5), 0)
    with pytest.raises(ValueError, match=r"plays hex\(board_size=5\), but .* plays tic_tac_toe"):
        agent.step(environment.reset())


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"player_id": 2}, ValueError, "player_id must be an integer from 0 to 1"),
        ({"player_id": "0"}, TypeError, "player_id must be an integer"),
        ({"num_actions": 8}, ValueError, "num_actions must be an integer of at least 9"),
        ({"agent": "rav"}, UnknownNameError, "Did you mean 'rave'"),
        ({"agent": "rave(simulatons=5)"}, UnknownNameError, "Did you mean 'simulations'"),
        ({"agent": 5}, TypeError, "agent must be"),
        ({"simulatons": 5}, TypeError, "Did you mean 'simulations'"),
        ({"simulations": 0}, ValueError, "simulations must be"),
        ({"game": "tic_tac_toe"}, TypeError, "game must be"),
        ({"game": pyspiel.load_game("tarok"), "num_actions": 54}, UnsupportedGameError, "tarok"),
        ({"agent": pyspiel.make_uniform_random_bot(0, 1), "seed": 1}, TypeError, "seed"),
    ],
)
def test_refuses_a_bad_argument_at_once(environment, arguments, error, message):
    good = {"player_id": 0, "num_actions": 9, "game": environment.game}
    with pytest.raises(error, match=message):
        SearchRLAgent(**{**good, **arguments})
