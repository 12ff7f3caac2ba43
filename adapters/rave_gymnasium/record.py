"""``record``: an episode of a Gymnasium environment as a film."""

import os
import pathlib
from typing import Any

from gymnasium import spaces

from rave_agents.agents.answers import discrete_action, shaped_action
from rave_agents.agents.named_agents import as_agent
from rave_agents.agents.own_agents import Policy
from rave_agents.agents.views import View
from rave_agents.frameworks.agent import AgentAbilities
from rave_agents.game.validation import Count, Positive, Seed, validated
from rave_agents.plots.film import Film
from rave_gymnasium.agents import PlanningAgent, make_agent
from rave_gymnasium.checks import check_plannable, check_single
from rave_gymnasium.structure import mask_function


@validated
def record(
    env: Any,
    agent: Any,
    path: str | os.PathLike[str],
    *,
    seed: Seed = None,
    fps: Positive = 10.0,
    quantity: str | None = None,
    steps: Count = 1000,
) -> pathlib.Path:
    """Play an episode, and write it as a film.

    Args:
        env: an environment, made with ``render_mode="rgb_array"``. It is reset, and played to its
            end.
        agent: the spec of an agent such as ``"uct(simulations=100)"``; an agent of this package; or
            one of your own, see ``rave_agents.as_agent``.
        path: the file: ``.gif``, or ``.mp4`` where ``ffmpeg`` or the package ``imageio-ffmpeg`` is.
        seed: the seed of the environment's reset, and of an agent made from a spec.
        fps: pictures a second, above 0.
        quantity: drawn next to the picture of a search by this package's agent: ``"visits"``,
            ``"value"`` and the like; None for nothing.
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
    check_single(env)
    asked = as_agent(agent)
    if asked.is_named:
        policy: Policy = make_agent(asked, env, seed=seed)
    else:
        policy = asked.policy(env, None, seed or 0, copies=False)
    if isinstance(policy, PlanningAgent):
        check_plannable(env)
    observation, info = env.reset(seed=seed)
    policy.reset()
    mask_of = mask_function(env)
    try:
        for _ in range(steps):
            picture = env.render()  # Before the move, to go with its search.
            mask = mask_of(env, observation, info)
            answer = policy.choose_at(View(env, observation, mask))
            action = _as_action(answer, env.action_space)
            film.add(picture, AgentAbilities(policy.agent).last_result)
            observation, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                break
    finally:
        if len(film):  # Also after an error: a film of the part played shows its cause.
            film.add(env.render())
            film.save()
    return film.path


def _as_action(answer: Any, space: Any) -> Any:
    """A policy's answer as an action of a space, if it is one."""
    if isinstance(space, spaces.Discrete):
        return discrete_action(answer)
    return answer if space.shape is None else shaped_action(answer, space.shape, space.dtype)
