"""``record``: an episode of a Gymnasium environment as a film."""

import os
import pathlib
from typing import Any

from rave_agents.agents.policies import View, discrete_action, understood
from rave_agents.game.arguments import checked_seed
from rave_agents.plots.film import Film
from rave_gymnasium.agents import PlanningAgent
from rave_gymnasium.support import check_plannable


def record(
    env: Any,
    agent: Any,
    path: str | os.PathLike[str],
    *,
    seed: int | None = None,
    fps: float = 10.0,
    quantity: str | None = None,
    steps: int = 1000,
) -> pathlib.Path:
    """Play an episode, and write it as a film.

    Args:
        env: an environment, made with ``render_mode="rgb_array"``. It is reset, and played to its
            end.
        agent: an agent of this package that is bound to ``env``, or a policy that
            ``rave_agents.agents.policies`` understands.
        path: the file: ``.gif``, or ``.mp4`` where ``ffmpeg`` or the package ``imageio-ffmpeg`` is.
        seed: the seed of the environment's reset.
        fps: pictures a second, above 0.
        quantity: what is drawn beside the picture of a search by this package's agent, such as
            ``"visits"`` or ``"value"``; None for nothing.
        steps: the largest number of steps.

    Returns:
        The path.

    Raises:
        ValueError, TypeError: for an argument that is not allowed, or an environment that draws no
            arrays.
        UnsupportedGameError: for MP4 without ``ffmpeg``.
        OSError: if the file cannot be written.
    """
    film = Film(path, fps=fps, quantity=quantity)
    if not isinstance(agent, PlanningAgent):
        agent = understood(agent)
    check_plannable(env)
    observation, info = env.reset(seed=checked_seed(seed))
    agent.reset()
    try:
        for _ in range(steps):
            picture = env.render()
            mask = info.get("action_mask")
            if isinstance(agent, PlanningAgent):
                action = agent.act(observation, mask)
            else:
                action = discrete_action(agent.act(View(env, observation, mask, info)))
            film.add(picture, getattr(agent, "last_result", None))
            observation, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                break
    finally:
        if len(film):
            film.add(env.render())
            film.save()
    return film.path
