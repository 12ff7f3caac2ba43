"""What the comments above the pictures of the tutorials call, see ``outputs.py``."""

import importlib.util
import os
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from matplotlib import image, rc_context
from PIL import Image

from rave_agents import Limit, SearchConfig, Searcher, as_game
from rave_agents.arena import play_tournament  # noqa: F401  (for the comments)
from rave_agents.game.notation import apply_moves
from rave_agents.plots.figures import panels
from rave_agents.plots.intervals import Estimate, plot_estimates
from rave_agents.plots.tree_plot import plot_tree

HERE = pathlib.Path(__file__).parent


def save(made: Any, path: str) -> None:
    """Save a figure as SVG, or an array of colours as PNG."""
    if isinstance(made, np.ndarray):
        image.imsave(path, np.ascontiguousarray(made))
        return
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "rave-agents"}):
        made.savefig(path, metadata={"Date": None}, bbox_inches="tight")


def frame(name: str, actions: Sequence[int] = (), **options: Any) -> Any:
    """The frame that a Gymnasium environment renders after some actions."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    env = gymnasium.make(name, render_mode="rgb_array", **options)
    env.reset(seed=1)
    for action in actions:
        env.step(action)
    return smaller(np.asarray(env.render()))


def film_frame(path: str, number: int) -> Any:
    """A frame of a film."""
    film = Image.open(path)
    film.seek(number)
    return smaller(np.asarray(film.convert("RGB")))


def smaller(pixels: Any, most: int = 400) -> Any:
    """A picture of so many rows and columns at most, by leaving out every other one."""
    step = -(-max(pixels.shape[:2]) // most)
    return pixels[::step, ::step]


def searched(game: str, preset: str, simulations: int, moves: str = "") -> Any:
    """The result of a search, as ``rave-agents search`` makes it."""
    state = as_game(game).new_initial_state()
    apply_moves(state, moves)
    return Searcher(SearchConfig.preset(preset), seed=1).search(
        state, Limit(simulations=simulations)
    )


def tree_of(bot: Any, game: Any) -> Any:
    """The tree of a bot's search of the first position."""
    return plot_tree(bot.mcts_search(game.new_initial_state()), game.new_initial_state(), depth=2)


def curves(lines: Mapping[str, Sequence[float]], x: str, y: str) -> Any:
    """A figure of curves over the whole numbers from 1 on."""
    picture, (axes,) = panels(1, width=5, height=3)
    for name, values in lines.items():
        axes.plot(range(1, 1 + len(values)), values, label=name)
    axes.set(xlabel=x, ylabel=y)
    axes.legend(fontsize=8)
    return picture


def seconds_by_move(game: Any, bots: Sequence[Any]) -> list[list[float]]:
    """The seconds that each bot thought about each of its moves, in a game."""
    state, spent = game.new_initial_state(), [[0.0][:0] for _ in bots]
    for bot in bots:
        bot.restart()
    while not state.is_terminal():
        seat = state.current_player()
        action = bots[seat].step(state)
        spent[seat].append(bots[seat].last_result.seconds)
        state.apply_action(action)
    return spent


def published(name: str, rows: Mapping[int, str], label: str) -> Any:
    """The scores of some rows of a table of ``docs/results``, with their intervals."""
    spec = importlib.util.spec_from_file_location("tables", HERE / "results" / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    table = module.tables()[name]
    estimates = []
    for row, called in rows.items():
        low, high = map(float, table.rows[row][2].split(" to "))
        estimates.append(Estimate(called, float(table.rows[row][1]), (low, high)))
    return plot_estimates(estimates, label=label)
