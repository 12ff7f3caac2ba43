"""Plays one episode of an environment between policies."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
import pettingzoo
from gymnasium import spaces

from rave_agents.agents.answers import discrete_action, is_allowed, shaped_action
from rave_agents.agents.own_agents import Policy
from rave_agents.agents.views import View
from rave_agents.environments.spaces import EnvAbilities
from rave_agents.game.arguments import unknown_name
from rave_agents.game.endless import LONGEST_GAME, endless_game
from rave_agents.records import fields
from rave_pettingzoo.structure import is_shimmy, mask_of, num_actions

Outside = Literal["raise", "illegal"]
"""Treatments of an action outside its space."""


@dataclasses.dataclass(frozen=True)
class Episode:
    """One finished episode; tuples have an entry for each policy, in the order given."""

    number: int
    """Its number, from 0."""
    seed: int
    """The seed that the environment was reset with."""
    seats: tuple[str, ...]
    """The agent that each policy played."""
    returns: tuple[float, ...]
    """The sum of the rewards of each."""
    illegal_moves: tuple[int, ...]
    """The number of actions of each that the mask forbids."""
    steps: int
    """The number of moves of all."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {key: list(v) if isinstance(v, tuple) else v for key, v in vars(self).items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The episode with these values from ``to_dict``; other keys are ignored.

        Raises:
            ValueError: if they are none; the message names the field.
        """
        seats, returns, illegal = (
            fields.field(values, name) for name in ("seats", "returns", "illegal_moves")
        )
        return cls(
            number=fields.integer(fields.field(values, "number"), "number"),
            seed=fields.integer(fields.field(values, "seed"), "seed"),
            seats=fields.listed(seats, "seats", fields.text),
            returns=fields.listed(returns, "returns", fields.number),
            illegal_moves=fields.listed(illegal, "illegal_moves", fields.integer),
            steps=fields.integer(fields.field(values, "steps"), "steps"),
        )


@dataclasses.dataclass(frozen=True)
class Played:
    """The result of an episode, by agent."""

    returns: dict[Any, float]
    """The sum of its rewards."""
    illegal_moves: dict[Any, int]
    """The number of actions that the mask forbids, by agent."""
    steps: int
    """The number of moves of all agents."""


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
        self._whose = whose
        super().__init__(
            f"{whose or 'A policy'} chose {action!r} for {agent!r}, which is outside of its action "
            f"space {space}. outside='illegal' counts such actions as illegal."
        )

    def named(self, policy: str, episode: int) -> "ActionOutsideError":
        """Return this error with the policy's name and the episode's number."""
        whose = f"The policy {policy}, in episode {episode},"
        return ActionOutsideError(self.agent, self.action, self.space, whose)

    def __reduce__(self) -> tuple[Any, ...]:
        return ActionOutsideError, (self.agent, self.action, self.space, self._whose)


def check_agents(env: Any, agents: tuple[str, ...]) -> None:
    """Check that this is an environment of PettingZoo with these agents.

    Raises:
        TypeError: if it is no environment of PettingZoo.
        ValueError: unless there is one policy for each agent.
    """
    possible = list(EnvAbilities(env).possible_agents)
    if not possible or not isinstance(env, pettingzoo.AECEnv | pettingzoo.ParallelEnv):
        raise TypeError(
            f"env_fn must make an environment of PettingZoo; it made a {type(env).__name__}."
        )
    for agent in agents:
        if agent not in possible:
            raise ValueError(unknown_name("agent", agent, possible))
    missing = [agent for agent in possible if agent not in agents]
    if missing:
        raise ValueError(f"policies must have one for each agent; {missing} have none.")


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
        if terminated or truncated:  # An agent that is out takes no action, but has its turn.
            # Read once, before any agent that is out is stepped.
            if final is None and is_shimmy(env.unwrapped):
                final = list(env.unwrapped.game_state.returns())
            env.step(None)
            continue
        view = View(env, observation, _mask(env, agent, observation, info), agent)
        action, legal = _choose(players[agent], view, outside_counts)
        illegal[agent] += not legal
        env.step(action)
        steps += 1
        _check_length(env, steps, len(players))
        # From ``env.rewards``: ``last()`` reports an agent's sum only at its next turn.
        for other, reward in env.rewards.items():
            returns[other] += float(reward)
    if final is not None:  # Shimmy counts the last rewards of some agents twice.
        returns = dict(zip(env.possible_agents, map(float, final), strict=True))
    return Played(returns, illegal, steps)


def _check_length(env: Any, steps: int, players: int) -> None:
    if steps > players * LONGEST_GAME:
        raise endless_game(str(env), "An episode")


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
            mask = _mask(env, agent, observation, info)
            view = View(env, observation, mask, agent, agent, observations, infos)
            actions[agent], legal = _choose(players[agent], view, outside_counts)
            illegal[agent] += not legal
        observations, rewards, ended, cut, infos = env.step(actions)
        steps += len(actions)
        _check_length(env, steps, len(players))
        for agent, reward in rewards.items():
            returns[agent] += float(reward)
        # Some environments keep the agents that are out in ``agents``.
        if all(ended.get(agent) or cut.get(agent) for agent in env.agents):
            break
    return Played(returns, illegal, steps)


def _mask(env: Any, agent: Any, observation: Any, info: Any) -> Any:
    return mask_of(env, agent, observation, info, num_actions(env, agent))


def _choose(policy: Policy, view: View, outside_counts: bool) -> tuple[Any, bool]:
    """The action that a policy plays, and whether its answer was legal."""
    if view.mask is not None and not np.any(view.mask):
        view = view._replace(mask=None)  # A mask that forbids everything has no information.
    answer = policy.choose_at(view)
    space = view.env.action_space(view.agent)
    if not isinstance(space, spaces.Discrete):
        action = answer
        if space.shape is not None:
            action = shaped_action(answer, space.shape, space.dtype)
        if not space.contains(action):
            raise ActionOutsideError(view.agent, action, space)
        return action, True
    action = discrete_action(answer)
    start, size = int(space.start), int(space.n)
    # Masks count from 0, the space from ``start``.
    number = action - start if isinstance(action, int | np.integer) else action
    if is_allowed(number, None, size):
        return action, is_allowed(number, view.mask, size)
    if not outside_counts:
        raise ActionOutsideError(view.agent, action, space)
    # The environment must judge it, but takes only actions of its space: play a forbidden one.
    mask = np.ones(1) if view.mask is None else np.ravel(view.mask)
    forbidden = np.flatnonzero(mask == 0)
    return start + (int(forbidden[0]) if len(forbidden) else 0), False
