"""Plays one episode of an environment between policies."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from rave_agents.agents.policies import Policy, View, is_allowed, plain_action
from rave_pettingzoo.support import is_shimmy


@dataclasses.dataclass(frozen=True)
class Played:
    """The result of an episode, by agent."""

    returns: dict[Any, float]
    """The sum of its rewards."""
    illegal_moves: dict[Any, int]
    """The number of actions that the mask forbids, by agent."""
    steps: int
    """The number of moves of all agents."""


OUTSIDE = ("raise", "illegal")
"""What an action outside its space can lead to."""


class ActionOutsideError(ValueError):
    """A policy chose an action that is not in its agent's action space.

    Args:
        agent: the agent.
        action: the action.
        space: its action space.
        whose: the policy and the episode, as a text; None if unknown.
    """

    def __init__(self, agent: Any, action: Any, space: Any, whose: str | None = None) -> None:
        self.agent = agent
        """The agent whose action it was."""
        self.action = action
        """The action."""
        self.space = space
        """The agent's action space."""
        super().__init__(
            f"{whose or 'A policy'} chose {action!r} for {agent!r}, which is outside of its action "
            f"space {space}. outside='illegal' counts such actions as illegal."
        )

    def named(self, policy: str, episode: int) -> "ActionOutsideError":
        """Return this error with the policy's name and the episode's number."""
        whose = f"The policy {policy}, in episode {episode},"
        return ActionOutsideError(self.agent, self.action, self.space, whose)


def play(env: Any, players: Mapping[Any, Policy], *, outside_counts: bool = False) -> Played:
    """Play an AEC environment, after a reset, to its end.

    Raises:
        ActionOutsideError: for an action outside its space, unless it counts as illegal.
    """
    returns = dict.fromkeys(players, 0.0)
    illegal = dict.fromkeys(players, 0)
    steps = 0
    final = None
    for agent in env.agent_iter():
        observation, _, terminated, truncated, info = env.last()
        if terminated or truncated:
            if final is None and is_shimmy(env.unwrapped):
                final = list(env.unwrapped.game_state.returns())
            env.step(None)
            continue
        view = View(env, observation, _mask(observation, info), info, agent)
        action, legal = _asked(players[agent], view, outside_counts)
        illegal[agent] += not legal
        env.step(action)
        steps += 1
        for other, reward in env.rewards.items():
            returns[other] += float(reward)
    if final is not None:  # Shimmy counts the last rewards of some agents twice.
        returns = dict(zip(env.possible_agents, map(float, final), strict=True))
    return Played(returns, illegal, steps)


def play_together(
    env: Any,
    players: Mapping[Any, Policy],
    observations: Mapping[Any, Any],
    infos: Mapping[Any, Any],
    *,
    outside_counts: bool = False,
) -> Played:
    """Play a Parallel environment to its end, from what ``reset`` returned.

    Raises:
        ActionOutsideError: for an action outside its space, unless it counts as illegal.
    """
    returns = dict.fromkeys(players, 0.0)
    illegal = dict.fromkeys(players, 0)
    steps = 0
    while env.agents:
        actions = {}
        for agent in env.agents:
            observation, info = observations.get(agent), infos.get(agent, {})
            mask = _mask(observation, info)
            view = View(env, observation, mask, info, agent, agent, observations, infos)
            actions[agent], legal = _asked(players[agent], view, outside_counts)
            illegal[agent] += not legal
        observations, rewards, ended, cut, infos = env.step(actions)
        steps += len(actions)
        for agent, reward in rewards.items():
            returns[agent] += float(reward)
        if all(ended.get(agent) or cut.get(agent) for agent in env.agents):
            break
    return Played(returns, illegal, steps)


def _mask(observation: Any, info: Any) -> Any:
    if isinstance(info, Mapping) and "action_mask" in info:
        return info["action_mask"]
    return observation.get("action_mask") if isinstance(observation, Mapping) else None


def _asked(policy: Policy, view: View, outside_counts: bool) -> tuple[Any, bool]:
    """Ask a policy; return the action to play, and whether what it chose is allowed."""
    if view.mask is not None and not np.any(view.mask):
        view = view._replace(mask=None)  # It allows nothing, and so tells nothing.
    action = plain_action(policy.act(view))
    space = view.env.action_space(view.agent)
    size = getattr(space, "n", None)
    if size is None or np.ndim(size):
        if not space.contains(action):
            raise ActionOutsideError(view.agent, action, space)
        return action, True
    start = int(getattr(space, "start", 0))
    number = action - start if isinstance(action, int | np.integer) else action
    if is_allowed(number, None, int(size)):
        return action, is_allowed(number, view.mask, int(size))
    if not outside_counts:
        raise ActionOutsideError(view.agent, action, space)
    mask = np.ones(1) if view.mask is None else np.ravel(view.mask)
    forbidden = np.flatnonzero(mask == 0)
    return start + (int(forbidden[0]) if len(forbidden) else 0), False
