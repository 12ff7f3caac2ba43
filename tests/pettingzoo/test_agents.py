"""Agents for PettingZoo's loop."""

import copy

import numpy as np
import pettingzoo
import pytest
from helpers import zoo
from pettingzoo.utils.conversions import parallel_to_aec, turn_based_aec_to_parallel
from rave_pettingzoo import (
    GraveAgent,
    PNMCTSAgent,
    RandomLoopAgent,
    RaveAgent,
    RaveMaximinAgent,
    RegretMatchingAgent,
    SearchAgent,
    UCTAgent,
    make_agent,
)

from rave_agents import SearchConfig, UnknownNameError, UnsupportedGameError
from rave_agents.environments.copying import equal

OF_TURNS = [name for name in SearchConfig.preset_names() if not SearchConfig.preset(name).mixes]
"""Presets that search games in which one player moves at a time."""


BOARDS = ("tictactoe-v3", "connect_four-v3", "go-v5")
KINDS = {"uct": UCTAgent, "rave": RaveAgent, "grave": GraveAgent, "pn_mcts": PNMCTSAgent}


@pytest.mark.parametrize("preset", KINDS)
def test_agent_plays_a_whole_loop(preset):
    env = zoo.classic("tictactoe-v3")
    agent = KINDS[preset](env, simulations=30, seed=1)
    for name in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            action = None
        elif name == "player_1":
            action = agent.act(observation)
        else:
            action = zoo.legal_of(env)[0]
        env.step(action)
    assert agent.config == SearchConfig.preset(preset)
    assert not env.agents


def test_all_ways_to_ask_give_the_same_action_and_leave_the_environment_alone():
    env = zoo.classic("connect_four-v3")
    env.step(3)
    before = copy.deepcopy(zoo.seen(env))
    observation = env.last()[0]
    actions = [
        RaveAgent(env, simulations=50, seed=1).act(observation),
        RaveAgent(env, simulations=50, seed=1).act(),
        RaveAgent(env, simulations=50, seed=1).act(
            observation["observation"], observation["action_mask"]
        ),
        RaveAgent(env, simulations=50, seed=1)(env),
        RaveAgent(env, simulations=50, seed=1).predict(
            observation, action_masks=observation["action_mask"]
        )[0],
        make_agent("rave(simulations=50,seed=1)", env).act(observation),
    ]
    assert len(set(actions)) == 1
    assert equal(zoo.seen(env), before)


def test_predict_gives_back_the_state_as_stable_baselines_does():
    env = zoo.classic("tictactoe-v3")
    action, state = UCTAgent(env, simulations=10).predict(env.last()[0], "kept", deterministic=True)
    assert action in range(9)
    assert state == "kept"


def test_agent_acts_in_another_environment_when_called_with_it():
    bound, other = zoo.classic("tictactoe-v3"), zoo.classic("connect_four-v3")
    for action in (0, 6, 0, 6, 0, 6):
        other.step(action)
    assert UCTAgent(bound, simulations=300, seed=1)(other) == 0


@pytest.mark.full(but=3)
@pytest.mark.parametrize(
    ("name", "translate"),
    [
        *((name, translate) for name in BOARDS for translate in (True, False)),
        ("chess-v6", True),  # One simulation in the environment itself takes most of a second.
    ],
)
def test_tree_is_kept_between_moves(name, translate):
    env = zoo.classic(name, **({"board_size": 3} if name == "go-v5" else {}))
    few = 50 if not translate else 200
    agent = UCTAgent(env, simulations=few, seed=1, translate=translate, expand_visits=1)
    env.step(agent.act())
    likely = agent.last_result.principal_variation[1]
    env.step(likely)
    agent.act()
    assert agent.last_result.root_visits > agent.last_result.simulations == few


def test_agent_sees_through_the_parallel_view_of_turns():
    env = turn_based_aec_to_parallel(zoo.Counting())
    env.reset()
    assert UCTAgent(env, simulations=20).act() in (0, 1)


@pytest.mark.slow
def test_tree_is_kept_in_shimmys_environments():
    env = zoo.shimmy("hex", board_size=4)
    agent = RaveAgent(env, simulations=300, seed=1)
    env.step(agent.act())
    env.step(agent.last_result.principal_variation[1])
    agent.act()
    assert agent.last_result.root_visits > 300


def test_new_episode_begins_a_new_tree_with_and_without_reset():
    env = zoo.classic("connect_four-v3")
    agent = RaveAgent(env, simulations=50, seed=1)
    for number in range(3):
        env.reset(seed=number)
        if number == 2:
            agent.reset()
        zoo.play(env, number, zoo.choices(number))
        agent.act()
        assert agent.last_result.simulations == 50


def test_agent_that_is_out_is_told_apart():
    env = zoo.classic("tictactoe-v3")
    for action in (0, 3, 1, 4, 2):
        env.step(action)
    with pytest.raises(ValueError, match=r"out of the game: call env.step\(None\)"):
        UCTAgent(env).act(env.last()[0])


def test_mask_of_another_position_is_noticed():
    env = zoo.classic("tictactoe-v3")
    agent = UCTAgent(env, simulations=10)
    observation = env.last()[0]
    env.step(4)
    with pytest.raises(ValueError, match="The mask allows"):
        agent.act(observation)
    with pytest.raises(ValueError, match="The mask allows"):
        agent.predict(None, action_masks=np.ones(9))


def test_an_agent_refuses_another_environment_that_hides_something():
    agent = UCTAgent(zoo.classic("tictactoe-v3"), simulations=10)
    with pytest.raises(UnsupportedGameError, match="hides the other player's card"):
        agent(zoo.own_leduc())


def test_what_does_not_fit_worlds_is_refused():
    env = zoo.classic("leduc_holdem-v4")
    with pytest.raises(UnsupportedGameError, match="nothing can be proven"):
        PNMCTSAgent(env, worlds=zoo.deal)
    with pytest.raises(TypeError, match="worlds must be a function"):
        RaveAgent(env, worlds="deal")
    with pytest.raises(UnsupportedGameError, match="nothing can be proven"):
        PNMCTSAgent(parallel_rps()[0], player="player_0", worlds=zoo.deal)
    for function in (RaveAgent, lambda env, **given: make_agent("random", env, **given)):
        with pytest.raises(TypeError, match=r"Unknown parameter of .* 'see_hidden'"):
            function(env, see_hidden=True)


def test_agent_is_bound_before_the_first_reset():
    import pettingzoo

    env = pettingzoo.make("aec", "classic/tictactoe-v3")
    agent = UCTAgent(env, simulations=10)
    with pytest.raises(ValueError, match="has not been reset"):
        agent.act()
    env.reset()
    assert agent.act() in range(9)


@pytest.mark.parametrize("preset", OF_TURNS)
def test_every_preset_is_made_from_a_spec(preset):
    env = zoo.classic("tictactoe-v3")
    agent = make_agent(f"{preset}(simulations=20,contempt=0.2)", env, seed=3)
    assert isinstance(agent, SearchAgent)
    assert agent.config == SearchConfig.preset(preset).replace(contempt=0.2)
    assert agent.limit.simulations == 20
    assert agent.seed == 3
    assert agent.act() in range(9)


def test_random_agent_plays_legal_actions():
    env = zoo.classic("connect_four-v3")
    agent = make_agent("random", env, seed=1, simulations=10)
    assert isinstance(agent, RandomLoopAgent)
    assert {agent.act() for _ in range(100)} == set(range(7))
    with pytest.raises(ValueError, match="not that of the agent"):
        agent.act(None, [0, 1, 1, 1, 1, 1, 1])


def test_random_agent_needs_an_environment_that_has_begun_and_tells_whose_turn_it_is():
    with pytest.raises(ValueError, match="has not been reset"):
        make_agent("random", pettingzoo.make("aec", "classic/leduc_holdem-v4")).act()
    both = pettingzoo.make("parallel", "classic/rps-v2")
    both.reset(seed=0)
    one_by_one = parallel_to_aec(both)
    one_by_one.reset(seed=0)
    assert make_agent("random", one_by_one, seed=1).act() in range(3)
    with pytest.raises(ValueError, match="player must be the one to play for"):
        make_agent("random", both).act()
    turns = turn_based_aec_to_parallel(zoo.classic("tictactoe-v3"))
    turns.reset(seed=0)
    assert make_agent("random", turns, seed=1).act() in range(9)


def test_bad_arguments_are_refused():
    env = zoo.classic("tictactoe-v3")
    with pytest.raises(UnknownNameError, match="Did you mean 'rave'"):
        make_agent("rav", env)
    with pytest.raises(UnknownNameError, match="Did you mean 'simulations'"):
        make_agent("rave(simulation=3)", env)
    with pytest.raises(TypeError, match="Unknown parameter of RaveAgent 'simulation'"):
        RaveAgent(env, simulation=3)
    with pytest.raises(TypeError, match="spec must be a text"):
        make_agent(3, env)
    with pytest.raises(TypeError, match="must be a PettingZoo environment"):
        RaveAgent("tictactoe")
    with pytest.raises(TypeError, match="translate must be True or False"):
        RaveAgent(env, translate="yes")
    with pytest.raises(ValueError, match="simulations must be"):
        RaveAgent(env, simulations=0)
    with pytest.raises(ValueError, match="seed must be"):
        RaveAgent(env, seed=-1)


def parallel_rps():
    env = pettingzoo.make("parallel", "classic/rps-v2", num_actions=3, max_cycles=2)
    observations, _ = env.reset(seed=1)
    return env, observations


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("kind", [RaveAgent, RegretMatchingAgent, RaveMaximinAgent])
def test_an_agent_for_each_player_of_a_parallel_environment(kind):
    env, observations = parallel_rps()
    agents = {
        name: kind(env, player=name, simulations=60, seed=seat)
        for seat, name in enumerate(env.possible_agents)
    }
    rounds = 0
    while env.agents:
        actions = {name: agents[name].act(observations[name]) for name in env.agents}
        assert all(action in range(3) for action in actions.values())
        observations, _, _, _, _ = env.step(actions)
        rounds += 1
    assert rounds == 2
    assert agents["player_1"].last_result.player == 1


@pytest.mark.slow
def test_a_parallel_agent_mixes_and_changes_nothing():
    env, observations = parallel_rps()
    agent = RegretMatchingAgent(env, player="player_1", simulations=300, seed=1)
    agent.act(observations)
    assert max(probability for _, probability in agent.last_result.policy) < 0.6
    assert env.agents == env.possible_agents


def test_agent_called_with_a_player_plays_for_that_one_alone_this_time():
    env, observations = parallel_rps()
    agent = UCTAgent(env, player="player_0", simulations=30, seed=1)
    assert agent(env, player="player_1", observations=observations) in range(3)
    assert agent.last_result.player == 1
    assert agent(env) in range(3)
    assert agent.last_result.player == 0
    only_paper = {"player_1": {"action_mask": [0, 1, 0]}}
    assert agent(env, player="player_1", infos=only_paper) == 1
    with pytest.raises(ValueError, match="player must be the one to play for"):
        agent(env, player="player_2")
    with pytest.raises(ValueError, match="player is for Parallel environments"):
        agent(zoo.classic("tictactoe-v3"), player="player_1")
    assert agent(zoo.classic("tictactoe-v3")) in range(9)


def test_the_players_mask_counts_in_a_parallel_environment():
    env, observations = parallel_rps()
    agent = RaveAgent(env, player="player_0", simulations=20, seed=1, search_forced_moves=True)
    mask = np.array([0, 1, 0], np.int8)
    assert agent.act(observations["player_0"], mask) == 1
    assert [row.action for row in agent.last_result.actions] == [1]
    random = make_agent("random", env, player="player_0", seed=1)
    assert random.act(observations["player_0"], mask) == 1


def test_whose_agent_it_is_must_be_told_where_agents_move_together():
    env, _ = parallel_rps()
    for player in (None, "nobody"):
        with pytest.raises(ValueError, match="player must be the one to play for"):
            RaveAgent(env, player=player)
    with pytest.raises(ValueError, match="player is for Parallel environments"):
        RaveAgent(zoo.classic("connect_four-v3"), player="player_0")
    with pytest.raises(UnsupportedGameError, match="no solver"):
        PNMCTSAgent(env, player="player_0")


@pytest.mark.parametrize("kind", [UCTAgent, RaveAgent, RandomLoopAgent])
def test_a_copy_of_an_agent_goes_on_as_it_does_and_neither_disturbs_the_other(kind):
    env = zoo.classic("connect_four-v3")
    budget = {} if kind is RandomLoopAgent else {"simulations": 40}
    agent, same = (kind(env, seed=1, **budget) for _ in range(2))
    agent.act()
    same.act()
    expected = [same.act() for _ in range(5)]
    twin = copy.copy(agent)
    assert twin.env is env
    assert [twin.act() for _ in range(5)] == expected
    assert [agent.act() for _ in range(5)] == expected
