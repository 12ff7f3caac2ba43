"""``record``: an episode of a PettingZoo environment as a film."""

import os
import pathlib
from collections.abc import Mapping
from typing import Any

from rave_agents.agents.named_agents import AgentSpec, as_agent
from rave_agents.agents.policies import Policy
from rave_agents.agents.views import AnyView
from rave_agents.frameworks.agent import AgentAbilities
from rave_agents.game.arguments import checked_seed
from rave_agents.plots.film import Film
from rave_pettingzoo.agents import make_agent
from rave_pettingzoo.episode import check_agents, play, play_together
from rave_pettingzoo.policies import make_policy
from rave_pettingzoo.structure import is_parallel, turn_based_env


def record(
    env: Any,
    agents: Mapping[str, Any],
    path: str | os.PathLike[str],
    *,
    seed: int | None = None,
    fps: float = 2.0,
    quantity: str | None = None,
) -> pathlib.Path:
    """Play an episode, and write it as a film.

    ::

        env = pettingzoo.make("aec", "classic/connect_four-v3", render_mode="rgb_array")
        record(env, {"player_0": "rave(simulations=500)", "player_1": "random"}, "game.gif",
               quantity="visits")

    Args:
        env: an AEC or a Parallel environment, made with ``render_mode="rgb_array"``. It is reset,
            and played to its end.
        agents: for each agent of the environment, a policy as ``evaluate`` takes it.
        path: the file: ``.gif``, or ``.mp4`` where ``ffmpeg`` or the package ``imageio-ffmpeg`` is.
        seed: the seed of the environment's reset and of agents made from specs.
        fps: pictures a second, above 0.
        quantity: what is drawn beside the picture of searches by this package's agents, such as
            ``"visits"`` or ``"value"``; None for nothing.

    Returns:
        The path.

    Raises:
        ValueError, TypeError: for an argument that is not allowed, or an environment that draws no
            arrays.
        UnsupportedGameError: for MP4 without ``ffmpeg``, or if an agent cannot play.
        OSError: if the file cannot be written.
    """
    film = Film(path, fps=fps, quantity=quantity)
    seed = checked_seed(seed)
    check_agents(env, tuple(agents))
    played = turn_based_env(env) or env
    together = is_parallel(played)
    told = played.reset(seed=seed)
    policies = {
        name: _filmed(policy, played, name, seed, film, not together or number == 0)
        for number, (name, policy) in enumerate(agents.items())
    }
    for policy in policies.values():
        policy.reset()
    try:
        if together:
            play_together(played, policies, *told)
        else:
            play(played, policies)
    finally:
        if len(film):
            film.add(played.render())
            film.save()
    return film.path


def _filmed(given: Any, env: Any, player: Any, seed: int | None, film: Film, draws: bool) -> Policy:
    """A policy that takes a picture before each of its moves, the first one's where all move."""
    agent, together = as_agent(given), is_parallel(env)
    if isinstance(agent, AgentSpec):
        given = make_agent(agent, env, player=player if together else None, seed=seed)
    policy = make_policy(given, env, player=player, seed=0, translate=True, worlds=None)

    def act(view: AnyView) -> Any:
        picture = view.env.render() if draws else None
        action = policy.act(view)
        if picture is not None or not together:
            film.add(picture, AgentAbilities(given).last_result, str(view.agent))
        return action

    return Policy(act, policy.reset)
