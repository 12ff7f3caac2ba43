"""record: episodes as films."""

import itertools
import shutil

import gymnasium
import numpy as np
import pettingzoo
import pytest
import rave_gymnasium
import rave_pettingzoo

from rave_agents import UnsupportedGameError
from rave_agents.plots.film import Film

Image = pytest.importorskip("PIL.Image", reason="needs Pillow")
pytest.importorskip("pygame", reason="needs pygame")


def frames(path):
    with Image.open(path) as film:
        film_frames = []
        for number in range(film.n_frames):
            film.seek(number)
            film_frames.append(np.asarray(film.convert("RGB")))
        return film_frames


def connect_four(**options):
    return pettingzoo.make("aec", "classic/connect_four-v3", **options)


def column(number):
    return lambda observation, mask: number


def test_a_picture_is_taken_before_each_move_and_at_the_end(tmp_path):
    env = connect_four(render_mode="rgb_array")
    agents = {"player_0": column(0), "player_1": column(1)}
    path = rave_pettingzoo.record(env, agents, tmp_path / "game.gif", seed=1)
    taken = frames(path)
    assert len(taken) == 8
    assert all((one != two).any() for one, two in itertools.pairwise(taken))


def test_the_searchs_visits_are_drawn_beside_the_board(tmp_path):
    agents = {"player_0": "rave(simulations=10)", "player_1": column(1)}
    wide, narrow = (
        frames(
            rave_pettingzoo.record(
                connect_four(render_mode="rgb_array"),
                agents,
                tmp_path / "game.gif",
                seed=1,
                quantity=quantity,
            )
        )
        for quantity in ("visits", None)
    )
    assert wide[0].shape[1] / wide[0].shape[0] > 1.5 * narrow[0].shape[1] / narrow[0].shape[0]
    right = wide[0][:, -400:]
    assert (right != 255).any()


def test_agents_of_a_parallel_environment_share_a_picture_a_step(tmp_path):
    env = pettingzoo.make("parallel", "classic/rps-v2", max_cycles=3, render_mode="rgb_array")
    agents = {"player_0": "random", "player_1": "random"}
    assert len(frames(rave_pettingzoo.record(env, agents, tmp_path / "rps.gif", seed=1))) == 4


def test_a_plan_is_filmed(tmp_path):
    env = gymnasium.make("FrozenLake-v1", is_slippery=False, render_mode="rgb_array")
    agent = rave_gymnasium.UCTAgent(env, simulations=300, horizon=20, discount=0.9, seed=1)
    path = rave_gymnasium.record(env, agent, tmp_path / "lake.gif", seed=1)
    assert len(frames(path)) == 7


def test_a_film_of_other_policies_and_its_search_are_told_apart(tmp_path):
    env = gymnasium.make("FrozenLake-v1", is_slippery=False, render_mode="rgb_array")
    path = rave_gymnasium.record(env, lambda observation: 1, tmp_path / "lake.gif", steps=2)
    assert len(frames(path)) >= 2


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg")
def test_mp4_is_written_by_ffmpeg(tmp_path):
    env = connect_four(render_mode="rgb_array")
    agents = {"player_0": column(0), "player_1": column(1)}
    path = rave_pettingzoo.record(env, agents, tmp_path / "game.mp4")
    assert path.read_bytes()[4:8] == b"ftyp"


def test_what_cannot_be_filmed_is_refused(tmp_path, monkeypatch):
    agents = {"player_0": "random", "player_1": "random"}
    with pytest.raises(ValueError, match=r"path must end in one of \.gif, \.mp4"):
        rave_pettingzoo.record(connect_four(), agents, "game.avi")
    with pytest.raises(ValueError, match="render_mode='rgb_array'"):
        rave_pettingzoo.record(connect_four(), agents, tmp_path / "game.gif")
    with pytest.raises(ValueError, match="Did you mean 'visits'"):
        Film("game.gif", quantity="visit")
    with pytest.raises(ValueError, match="fps must be"):
        Film("game.gif", fps=0)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(UnsupportedGameError, match="needs the program ffmpeg"):
        Film("game.mp4")
