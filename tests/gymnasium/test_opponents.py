"""Opponents of every kind, their change between games, pictures, and many games in one process."""

import pathlib

import gymnasium
import numpy as np
import pettingzoo
import pytest
import rave_gymnasium
from helpers.envs import begun
from rave_pettingzoo import evaluate

from rave_agents import UnsupportedGameError, from_sb3

ID = "rave_gymnasium:Opponent-v0"


def made(game="tic_tac_toe", opponent="random", **options):
    return gymnasium.make(ID, game=game, opponent=opponent, **options)


def first(observation, mask):
    return int(np.flatnonzero(mask)[0])


def last(observation, mask):
    return int(np.flatnonzero(mask)[-1])


class Model:
    """A model that plays the last legal action, and counts how often it is asked."""

    def __init__(self):
        self.shapes = []

    def predict(self, observation, state=None, episode_start=None, action_masks=None):
        self.shapes.append(np.shape(observation))
        return np.array(np.flatnonzero(action_masks)[-1]), None


def legal(info):
    return np.flatnonzero(info["action_mask"]).tolist()


def play(env, policy=first, **options):
    observation, info = env.reset(**options)
    over = False
    while not over:
        observation, reward, over, _, info = env.step(policy(observation, info["action_mask"]))
    return reward


@pytest.mark.parametrize("opponent", [last, from_sb3(Model())])
def test_a_policy_plays_the_opponent(opponent):
    env = made(opponent=opponent, seat=1)
    _, info = env.reset(seed=1)
    assert legal(info) == list(range(8))


def test_a_policy_sees_what_the_learner_would_in_its_seat():
    model = Model()
    begun(made("connect_four", opponent=from_sb3(model), seat=1, observation="pettingzoo"))
    assert model.shapes == [(6, 7, 2)]


def test_an_opponent_that_plays_an_illegal_action_is_named():
    def wrong(observation, mask):
        return 9

    env = made(opponent=wrong, seat=1)
    with pytest.raises(ValueError, match="The opponent wrong chose 9, which is illegal"):
        env.reset()


@pytest.mark.parametrize("answer", [np.zeros(9), None, "0", [1, 2]])
def test_an_opponent_that_chooses_no_action_is_named(answer):
    env = made(opponent=lambda observation: answer, seat=1)
    with pytest.raises(ValueError, match=r"The opponent <lambda> chose .*which is illegal"):
        env.reset()


@pytest.mark.parametrize("answer", [3, np.int64(3), np.array([3])])
def test_an_opponents_answer_is_the_number_of_an_action(answer):
    assert 3 not in legal(made(opponent=lambda observation: answer, seat=1).reset()[1])


def test_each_game_draws_one_of_a_list():
    env = made(opponent=[first, last, "random"], seat=1)
    seen = {tuple(legal(env.reset(seed=seed)[1])) for seed in range(30)}
    assert len(seen) > 2
    assert tuple(range(8)) in seen
    assert tuple(range(1, 9)) in seen
    with pytest.raises(ValueError, match="empty list"):
        made(opponent=[])


def test_reset_changes_the_opponent_from_then_on():
    env = made(opponent=first, seat=1)
    assert legal(env.reset(seed=1)[1]) == list(range(1, 9))
    for options in ({"opponent": last}, None):
        assert legal(env.reset(options=options)[1]) == list(range(8))
    assert env.reset(options={"seat": 0})[1]["seat"] == 0
    with pytest.raises(ValueError, match="Did you mean 'opponent'"):
        env.reset(options={"oponent": first})


def test_a_folder_of_checkpoints_gives_an_opponent_as_soon_as_there_is_one(tmp_path):
    loaded = []

    def load(path):
        loaded.append(path.name)
        return {"first.txt": first, "last.txt": last}[path.name]

    env = made(opponent=tmp_path, seat=1, load=load)
    with pytest.raises(ValueError, match="no checkpoint"):
        env.reset()
    (tmp_path / "first.txt").write_text("")
    assert legal(env.reset()[1]) == list(range(1, 9))
    (tmp_path / "last.txt").write_text("")
    assert len({tuple(legal(env.reset()[1])) for _ in range(20)}) == 2
    assert sorted(loaded) == ["first.txt", "last.txt"]
    with pytest.raises(ValueError, match="existing folder"):
        made(opponent=tmp_path / "none")
    made(opponent=[f"{tmp_path}/", "random"], load=load).reset()


def test_a_folder_without_checkpoints_leaves_the_others_of_a_list(tmp_path):
    env = made(opponent=[tmp_path, first], seat=1)
    assert {tuple(legal(env.reset(seed=seed)[1])) for seed in range(5)} == {tuple(range(1, 9))}
    (tmp_path / "bad.zip").write_text("no model")
    env = made(opponent=tmp_path)
    with pytest.raises(ValueError, match="not a model saved by Stable-Baselines3"):
        env.reset()


@pytest.mark.parametrize("game", ["goofspiel(num_cards=4)", "matrix_rps"])
def test_games_of_simultaneous_moves_are_played(game):
    env = made(game, opponent="regret_matching(simulations=20)")
    rewards = {play(env, seed=seed) for seed in range(8)}
    assert rewards <= {-1.0, 0.0, 1.0}
    assert len(rewards) > 1
    env = made("matrix_rps", opponent=last, seat=0)  # Scissors against what is first, rock.
    assert play(env) == 1.0


@pytest.mark.full(but=2)
@pytest.mark.parametrize(
    "game",
    [
        "pettingzoo:connect_four_v3",
        "connect_four",
        "tic_tac_toe",
        "go(board_size=5)",
        "pettingzoo:chess_v6",
    ],
)
def test_games_that_pettingzoo_draws_have_pictures(game):
    env = made(game, opponent=first, seat=0, render_mode="rgb_array")
    _, info = env.reset(seed=1)
    before = env.render()
    assert before.ndim == 3
    assert before.shape[2] == 3
    env.step(legal(info)[0])
    after = env.render()
    assert after.shape == before.shape
    assert (after != before).any()
    env.close()


@pytest.mark.full
def test_a_window_shows_the_game(monkeypatch):
    env = begun(made("connect_four", opponent=first, seat=0, render_mode="human"))
    env.step(3)
    assert env.render() is None
    env.close()


def test_what_pettingzoo_does_not_draw_is_refused_at_make():
    with pytest.raises(UnsupportedGameError, match="no environment to mirror hex"):
        made("hex(board_size=3)", render_mode="rgb_array")
    with pytest.raises(UnsupportedGameError, match="no environment to mirror chess"):
        made("chess", observation="pettingzoo")


@pytest.mark.parametrize("game", ["connect_four", "pettingzoo:connect_four_v3", "tic_tac_toe"])
def test_pettingzoos_observation_is_that_of_its_own_environment(game):
    env = made(game, opponent=first, seat=1, observation="pettingzoo")
    observation, info = env.reset(seed=1)
    name = "tictactoe-v3" if game == "tic_tac_toe" else "connect_four-v3"
    own = begun(pettingzoo.make("aec", f"classic/{name}"))
    own.step(0)
    expected = own.observe(own.possible_agents[1])
    assert (observation == expected["observation"]).all()
    assert (info["action_mask"] == expected["action_mask"]).all()
    assert env.observation_space == own.observation_space(own.possible_agents[1])["observation"]
    assert env.observation_space.contains(observation)


@pytest.mark.parametrize("name", ["Opponent-v0", "rave_agents/Opponent-v0"])
def test_ids_are_also_under_a_namespace(name):
    assert rave_gymnasium
    assert gymnasium.make(name, game="tic_tac_toe", opponent="random").reset(seed=1)


def vector(count=3, **options):
    options = {"game": "tic_tac_toe", "opponent": "random"} | options
    return gymnasium.make_vec(
        ID, num_envs=count, vectorization_mode="vector_entry_point", **options
    )


def test_many_games_in_one_process_go_as_those_alone():
    envs = vector(3, seat=0, opponent=last)
    _, infos = envs.reset(seed=1)
    alone = made(seat=0, opponent=last)
    _, info = alone.reset(seed=1)
    while True:
        action = legal(info)[0]
        seen, reward, over, _, info = alone.step(action)
        all_seen, rewards, ended, cut, infos = envs.step(np.array([action] * 3))
        assert (all_seen == seen).all()
        assert rewards.tolist() == [reward] * 3
        assert ended.tolist() == [over] * 3
        assert not cut.any()
        if over:
            break
        assert (infos["action_mask"] == info["action_mask"]).all()
    _, rewards, ended, _, infos = envs.step(np.zeros(3, int))  # They begin anew.
    assert not rewards.any()
    assert not ended.any()
    assert infos["action_mask"].sum() == 27


def test_games_of_a_vector_differ_and_repeat_by_their_seed():
    def seen(seed):
        observations, infos = vector(4).reset(seed=seed)
        return observations.tolist(), infos["seat"].tolist()

    assert seen(1) == seen(1) != seen(2)


def test_a_vector_refuses_what_it_cannot_do():
    with pytest.raises(ValueError, match="num_envs must be"):
        rave_gymnasium.OpponentVectorEnv(0)
    with pytest.raises(ValueError, match="render_mode must be None"):
        rave_gymnasium.OpponentVectorEnv(1, "tic_tac_toe", "random", render_mode="ansi")
    envs = begun(vector(2, seat=0))
    with pytest.raises(ValueError, match="Action 9 of game 1 is illegal"):
        envs.step(np.array([0, 9]))


@pytest.mark.needs("sb3_contrib")
class TestStableBaselines:
    def trained(self, steps=64, **options):
        from sb3_contrib import MaskablePPO

        env = made("tic_tac_toe", observation="pettingzoo", **options)
        model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=16, n_epochs=1, seed=1)
        return model.learn(steps)

    def test_a_model_trained_here_is_evaluated_in_pettingzoo(self):
        model = self.trained()
        policies = {"player_1": model, "player_2": "random"}
        result = evaluate("classic/tictactoe-v3", policies, episodes=4)
        assert result["player_1"].illegal_moves == 0

    def test_a_model_plays_its_own_checkpoints(self, tmp_path):
        self.trained(32).save(tmp_path / "one.zip")
        env = made("tic_tac_toe", opponent=tmp_path, observation="pettingzoo")
        assert play(env, seed=1) in (-1.0, 0.0, 1.0)
        assert env.unwrapped.opponent == str(pathlib.Path(tmp_path / "one.zip"))

    def test_a_minute_of_training_beats_what_it_was_trained_against(self):
        import torch
        from sb3_contrib import MaskablePPO
        from stable_baselines3.common.monitor import Monitor
        from stable_baselines3.common.vec_env import DummyVecEnv

        def mean_return():
            policies = {"player_1": model, "player_2": "random"}
            result = evaluate("classic/tictactoe-v3", policies, episodes=100)["player_1"]
            assert result.illegal_moves == 0
            return result.mean_return

        envs = DummyVecEnv([lambda: Monitor(made(observation="pettingzoo"))] * 8)
        options = {"n_steps": 64, "batch_size": 128, "n_epochs": 4, "learning_rate": 1e-3}
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # More of them wait for each other in a network so small.
        try:
            model = MaskablePPO("MlpPolicy", envs, seed=1, **options)
            untrained = mean_return()
            model.learn(120_000)
            assert untrained < 0.4
            assert mean_return() > 0.85
        finally:
            torch.set_num_threads(threads)
        assert len(model.ep_info_buffer) == 100  # What Monitor counted.

    def test_environments_run_in_other_processes(self):
        from stable_baselines3.common.vec_env import SubprocVecEnv

        envs = SubprocVecEnv([made, made], start_method="spawn")
        assert envs.reset().shape == (2, *made().observation_space.shape)
        envs.close()


def test_games_side_by_side_are_begun_before_a_step():
    env = rave_gymnasium.OpponentVectorEnv(2, "tic_tac_toe", "random")
    with pytest.raises(RuntimeError, match="reset"):
        env.step([0, 0])


@pytest.mark.parametrize(
    ("actions", "error"),
    [([0], "one for each of 2"), ([0, 0, 0], "one for each of 2"), ([4, 99], "of game 1 is ill")],
)
def test_actions_that_are_refused_play_none_of_the_games(actions, error):
    env = rave_gymnasium.OpponentVectorEnv(2, "tic_tac_toe", "random", seat=0, illegal="raise")
    seen, _ = env.reset(seed=1)
    with pytest.raises(ValueError, match=error):
        env.step(actions)
    assert env.action_masks().all()
    after, *_ = env.step([4, 4])
    assert (after != seen).reshape(2, -1).any(axis=1).all()
