"""record: episodes as films."""

import itertools
import shutil
import sys

import gymnasium
import numpy as np
import pettingzoo
import pytest
import rave_gymnasium
import rave_pettingzoo

from rave_agents import UnsupportedGameError
from rave_agents.errors import UnknownNameError
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


@pytest.mark.slow
def test_a_picture_is_taken_before_each_move_and_at_the_end(tmp_path):
    env = connect_four(render_mode="rgb_array")
    agents = {"player_0": column(0), "player_1": column(1)}
    path = rave_pettingzoo.record(env, agents, tmp_path / "game.gif", seed=1)
    taken = frames(path)
    assert len(taken) == 8
    assert all((one != two).any() for one, two in itertools.pairwise(taken))


@pytest.mark.full
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


@pytest.mark.full
def test_a_plan_is_filmed(tmp_path):
    env = gymnasium.make("FrozenLake-v1", is_slippery=False, render_mode="rgb_array")
    agent = rave_gymnasium.UCTAgent(env, simulations=300, horizon=20, discount=0.9, seed=1)
    path = rave_gymnasium.record(env, agent, tmp_path / "lake.gif", seed=1)
    assert len(frames(path)) == 7


def lake():
    options = {"is_slippery": False, "render_mode": "rgb_array", "desc": ["SF", "HG"]}
    return gymnasium.make("FrozenLake-v1", **options)


@pytest.mark.slow
def test_an_agent_may_be_a_spec_or_bound_to_another_environment(tmp_path):
    path = tmp_path / "lake.gif"
    spec = "uct(simulations=50,horizon=20,discount=0.9)"
    assert len(frames(rave_gymnasium.record(lake(), spec, path, seed=1))) == 3
    agent = rave_gymnasium.make_agent(spec, lake(), seed=1)
    assert len(frames(rave_gymnasium.record(lake(), agent, path, seed=1))) == 3
    with pytest.raises(UnknownNameError, match="Did you mean 'uct'"):
        rave_gymnasium.record(lake(), "utc", path)
    with pytest.raises(UnknownNameError, match="Did you mean 'simulations'"):
        rave_gymnasium.make_agent("uct(simulation=3)", lake())


@pytest.mark.parametrize("push", [np.zeros(1), np.zeros((1, 1))])
def test_policies_of_real_numbers_are_filmed(tmp_path, push):
    env = gymnasium.make("Pendulum-v1", render_mode="rgb_array")
    film = tmp_path / "pendulum.gif"  # Equal pictures, as by other seeds, become one frame.
    path = rave_gymnasium.record(env, lambda seen: push, film, steps=2, seed=1)
    assert len(frames(path)) == 3


def test_a_film_of_other_policies_and_its_search_are_told_apart(tmp_path):
    env = gymnasium.make("FrozenLake-v1", is_slippery=False, render_mode="rgb_array")
    path = rave_gymnasium.record(env, lambda observation: 1, tmp_path / "lake.gif", steps=2)
    assert len(frames(path)) >= 2


@pytest.mark.needs("imageio_ffmpeg")
@pytest.mark.parametrize("installed", [True, False])
def test_mp4_is_written_by_ffmpeg_or_by_that_of_imageio(tmp_path, monkeypatch, installed):
    import imageio_ffmpeg

    program = tmp_path / "ffmpeg"
    if installed:
        program.symlink_to(imageio_ffmpeg.get_ffmpeg_exe())
        monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setattr(shutil, "which", lambda name: str(program) if installed else None)
    env = connect_four(render_mode="rgb_array")
    agents = {"player_0": column(0), "player_1": column(1)}
    path = rave_pettingzoo.record(env, agents, tmp_path / "game.mp4", quantity="visits")
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert frames == 8 + 2  # The last one is shown three times as long.
    assert seconds == pytest.approx(5.0)
    pixels = next(reader := imageio_ffmpeg.read_frames(str(path)))["size"]
    reader.close()
    assert pixels[0] > pixels[1] > 300  # The search's statistics are beside the board.


@pytest.mark.needs("imageio_ffmpeg")
def test_a_film_for_a_folder_that_does_not_exist_is_refused(tmp_path):
    env = connect_four(render_mode="rgb_array")
    agents = {"player_0": column(0), "player_1": column(1)}
    with pytest.raises(OSError, match="No such file"):
        rave_pettingzoo.record(env, agents, tmp_path / "none" / "game.mp4")


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
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(UnsupportedGameError, match=r"needs the program ffmpeg.*imageio-ffmpeg"):
        Film("game.mp4")
