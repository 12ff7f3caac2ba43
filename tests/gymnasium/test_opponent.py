"""Opponent-v0: a two-player game as an environment for one."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from helpers import dice
from helpers.envs import begun
from helpers.own_games.subtraction import Subtraction
from rave_pettingzoo.adapter import PettingZooGame

from rave_agents import GameError, UnknownNameError, UnsupportedGameError, from_step

ID = "rave_gymnasium:Opponent-v0"


def made(game="tic_tac_toe", opponent="random", **options):
    return gymnasium.make(ID, game=game, opponent=opponent, **options)


def play(env, seed, choices=0):
    """An episode at random: everything that was seen."""
    random = np.random.default_rng(choices)
    observation, info = env.reset(seed=seed)
    seen = [(observation.tobytes(), info["seat"])]
    while True:
        action = int(random.choice(np.flatnonzero(info["action_mask"])))
        observation, reward, terminated, truncated, info = env.step(action)
        assert not truncated
        seen.append((observation.tobytes(), reward, tuple(info["action_mask"])))
        if terminated:
            return seen


@pytest.mark.full(but=["connect_four"])
@pytest.mark.parametrize("game", ["connect_four", "pettingzoo:connect_four_v3"])
def test_environment_is_clean_to_gymnasiums_own_check(game):
    env = made(game, "rave(simulations=20)", render_mode="ansi")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


def test_seeds_repeat():
    first = made(opponent="rave(simulations=20)")
    for seed in range(4):
        second = made(opponent="rave(simulations=20)")
        assert play(first, seed) == play(second, seed)
    assert play(first, None) == play(second, None)
    assert any(play(first, seed) != play(first, seed + 1) for seed in range(4))


def test_mask_is_what_is_legal():
    env = made("connect_four", seat=0)
    _, info = env.reset(seed=1)
    assert info["action_mask"].dtype == np.int8
    assert info["action_mask"].tolist() == [1] * 7
    assert env.action_space.sample(mask=info["action_mask"]) in range(7)
    env.step(3)
    assert env.unwrapped.action_masks().dtype == bool


@pytest.mark.parametrize("seat", [0, 1])
def test_seat_is_taken(seat):
    env = made(seat=seat)
    for seed in range(5):
        observation, info = env.reset(seed=seed)
        assert info["seat"] == seat
        assert info["action_mask"].sum() == 9 - seat
    assert env.observation_space.contains(observation)


def test_random_seat_is_drawn_for_each_episode():
    env = made(seat="random")
    seats = {env.reset(seed=seed)[1]["seat"] for seed in range(20)}
    assert seats == {0, 1}


def test_reward_is_the_result_from_ones_own_side():
    outcomes = set()
    for seat in (0, 1):
        env = made(seat=seat)
        for seed in range(20):
            rewards = [step[1] for step in play(env, seed)[1:]]
            assert all(reward == 0.0 for reward in rewards[:-1])
            outcomes.add(rewards[-1])
            state = env.unwrapped.state
            assert rewards[-1] == state.returns()[seat]
    assert outcomes == {-1.0, 0.0, 1.0}


@pytest.mark.compiled
def test_opponent_that_searches_does_not_lose_to_chance():
    env = made(opponent="uct(simulations=300)", seat="random")
    assert all(play(env, seed)[-1][1] <= 0.0 for seed in range(10))


def test_chance_is_played_inside():
    env = made("pig(winscore=10)", seat=1)
    assert play(env, 1) == play(env, 1)


@pytest.mark.slow
def test_the_dice_of_a_pettingzoo_game_differ_between_episodes():
    env = made(PettingZooGame("pig", dice.Pig(90)), seat=0)

    def rolls(seed):
        env.reset(seed=seed)
        seen = []
        for _ in range(12):
            observation, _, _, _, _ = env.step(0)
            seen.append(tuple(observation.tolist()))
        return tuple(seen)

    assert len({rolls(seed) for seed in range(5)}) == 5
    assert rolls(2) == rolls(2)
    assert rolls(None) != rolls(None)


@pytest.mark.parametrize("action", [9, -1, np.int64(100), 0])
def test_illegal_action_raises_or_loses(action):
    strict, lenient = made(seat=0), made(seat=0, illegal="lose")
    for env in (strict, lenient):
        env.reset(seed=1)
        env.step(0)
    with pytest.raises(ValueError, match="is illegal; the legal actions are"):
        strict.step(action)
    with pytest.raises(ValueError, match=r"train MaskablePPO .* action_masks\(\), in place of PPO"):
        strict.step(action)
    _, reward, terminated, _, info = lenient.step(action)
    assert (reward, terminated, info["illegal_action"]) == (-1.0, True, True)
    with pytest.raises(RuntimeError, match="call reset"):
        lenient.step(1)


@pytest.mark.parametrize("action", [3.7, "3", None, True, [3], np.array([1, 2]), np.float32(2)])
def test_action_that_is_no_integer_is_refused(action):
    env = begun(made(seat=0, illegal="lose").unwrapped)
    with pytest.raises(TypeError, match="action must be an integer, got"):
        env.step(action)


@pytest.mark.parametrize("action", [3, np.int8(3), np.array(3), np.array([3])])
def test_action_may_be_any_integer(action):
    env = begun(made(seat=0).unwrapped)
    assert env.step(action)[4]["action_mask"][3] == 0


def test_position_is_rendered_as_text():
    env = begun(made("connect_four", seat=0, render_mode="ansi"))
    env.step(3)
    assert "x" in env.render()
    assert "o" in env.render()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_environments_run_in_a_vector(mode):
    envs = gymnasium.make_vec(
        ID, num_envs=2, vectorization_mode=mode, game="tic_tac_toe", opponent="random"
    )
    try:
        observations, info = envs.reset(seed=3)
        assert observations.shape == (2, 3, 3, 3)
        for _ in range(12):
            actions = info["action_mask"].argmax(axis=1)
            observations, _, _, _, info = envs.step(actions)
            assert info["action_mask"].dtype == np.int8
    finally:
        envs.close()


@pytest.mark.parametrize("game", ["negotiation", "bridge_uncontested_bidding"])
def test_deals_by_the_games_own_generator_come_from_the_seed_of_the_reset(game):
    def after(*seeds):
        env = made(game, seat=0)
        for seed in seeds:
            observation, _ = env.reset(seed=seed)
        return observation.tolist()

    assert after(1) == after(2, 1)
    assert len({str(after(seed)) for seed in range(5)}) > 1


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"game": "connect_for"}, UnknownNameError, "Did you mean 'connect_four'"),
        ({"game": "tarok"}, UnsupportedGameError, "two players"),
        ({"game": "2048"}, UnsupportedGameError, "two players"),
        ({"opponent": "rav"}, UnknownNameError, "Did you mean 'rave'"),
        ({"opponent": "rave(simulation=3)"}, UnknownNameError, "Did you mean 'simulations'"),
        ({"game": 3}, TypeError, "game must be the name"),
        ({"opponent": None}, TypeError, "opponent must not be None: an agent is a spec"),
        ({"seat": 2}, ValueError, "seat must be 0, 1 or 'random'"),
        ({"illegal": "loose"}, ValueError, "Did you mean 'lose'"),
    ],
)
def test_what_there_is_not_is_refused(options, error, reason):
    with pytest.raises(error, match=reason):
        made(**options)


def test_a_game_that_is_over_before_the_learners_turn_is_not_shown():
    options = {"game": Subtraction(3), "seat": 1}
    env = made(**options)
    assert all(env.reset(seed=seed)[1]["action_mask"].any() for seed in range(20))
    env = made(opponent=from_step(lambda state: 2), **options)
    with pytest.raises(GameError, match="over before seat 1, the learner's, had a turn"):
        env.reset(seed=1)
