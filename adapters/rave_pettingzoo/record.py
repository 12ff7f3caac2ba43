"""``record``: an episode of a PettingZoo environment as a film."""

import os
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from rave_agents.agents.own_agents import Policy
from rave_agents.frameworks.agent import AgentAbilities
from rave_agents.game.validation import Positive, Seed, validated
from rave_agents.plots.film import Film
from rave_pettingzoo.episode import check_agents, play, play_together
from rave_pettingzoo.policies import make_policy
from rave_pettingzoo.structure import is_parallel, turn_based_env


@validated
def record(
    env: Any,
    agents: Mapping[str, Any],
    path: str | os.PathLike[str],
    *,
    seed: Seed = None,
    fps: Positive = 2.0,
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
        quantity: a statistic of this package's searches to draw next to the picture, such as
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
    check_agents(env, tuple(agents))
    played = turn_based_env(env) or env
    together = is_parallel(played)
    start = played.reset(seed=seed)
    drawn = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
    policies: dict[Any, Policy] = {}
    for number, (name, given) in enumerate(agents.items()):
        policy = make_policy(given, played, player=name, seed=drawn, translate=True, worlds=None)
        # With simultaneous moves one picture a step: all policies move at the same position.
        draws = not together or number == 0
        policies[name] = _Filmed(policy, film, draws=draws, together=together)
    for policy in policies.values():
        policy.reset()
    try:
        if together:
            play_together(played, policies, *start)
        else:
            play(played, policies)
    finally:
        if len(film):  # Also after an error: a film of the part played shows its cause.
            film.add(played.render())
            film.save()
    return film.path


class _Filmed(Policy):
    """A policy that takes a picture before each of its moves, if it ``draws``."""

    def __init__(self, policy: Policy, film: Film, *, draws: bool, together: bool) -> None:
        self._policy, self._film = policy, film
        self._draws, self._together = draws, together

    def reset(self) -> None:
        self._policy.reset()

    def choose_at(self, view: Any) -> Any:
        picture = view.env.render() if self._draws else None
        action = self._policy.choose_at(view)
        if picture is not None or not self._together:
            result = AgentAbilities(self._policy.agent).last_result
            self._film.add(picture, result, str(view.agent))
        return action
