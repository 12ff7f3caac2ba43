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


def play(env: Any, players: Mapping[Any, Policy]) -> Played:
    """Play an AEC environment, after a reset, to its end."""
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
        action = plain_action(players[agent].act(view))
        illegal[agent] += not is_allowed(action, view.mask, _size(env, agent))
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
) -> Played:
    """Play a Parallel environment to its end, from what ``reset`` returned."""
    returns = dict.fromkeys(players, 0.0)
    illegal = dict.fromkeys(players, 0)
    steps = 0
    while env.agents:
        actions = {}
        for agent in env.agents:
            observation, info = observations.get(agent), infos.get(agent, {})
            mask = _mask(observation, info)
            view = View(env, observation, mask, info, agent, agent, observations, infos)
            actions[agent] = plain_action(players[agent].act(view))
            illegal[agent] += not is_allowed(actions[agent], mask, _size(env, agent))
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


def _size(env: Any, agent: Any) -> int | None:
    """The number of an agent's actions; None where they are not discrete."""
    size = getattr(env.action_space(agent), "n", None)
    return None if size is None or np.ndim(size) else int(size)
