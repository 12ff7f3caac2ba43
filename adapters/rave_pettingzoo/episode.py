"""Plays one episode of an environment between policies."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pettingzoo

from rave_agents.game.arguments import unknown_name
from rave_pettingzoo.policies import Policy, View, make_policy, plain_action
from rave_pettingzoo.support import is_parallel, is_shimmy
from rave_pettingzoo.worlds import WorldFunction


@dataclasses.dataclass(frozen=True)
class Episode:
    """One finished episode; entries are those of the policies, in the order they were given in."""

    number: int
    """Its number, from 0."""
    seed: int
    """What the environment was reset with."""
    seats: tuple[str, ...]
    """The agent that each policy played."""
    returns: tuple[float, ...]
    """The sum of its rewards."""
    illegal_moves: tuple[int, ...]
    """How often each chose an action that the mask forbids."""
    steps: int
    """Moves of all."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON."""
        return {key: list(v) if isinstance(v, tuple) else v for key, v in vars(self).items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The episode that ``to_dict`` made these values of; other keys are ignored.

        Raises:
            KeyError, TypeError, ValueError: if they are none.
        """
        return cls(
            number=int(values["number"]),
            seed=int(values["seed"]),
            seats=tuple(map(str, values["seats"])),
            returns=tuple(map(float, values["returns"])),
            illegal_moves=tuple(map(int, values["illegal_moves"])),
            steps=int(values["steps"]),
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


def play_episode(
    env: Any,
    agents: tuple[str, ...],
    policies: tuple[Any, ...],
    number: int,
    *,
    seed: int,
    exchange_seats: bool,
    translate: bool,
    worlds: WorldFunction | None,
) -> Episode:
    """Reset an environment and let policies play it to its end.

    Args:
        env: an AEC or a Parallel environment.
        agents: its agents; they move on by one seat with each number.
        policies: what begins in their places, see ``make_policy``.
        number: of the episode, from 0; as many in a row as there are agents have one seed for the
            environment, where the seats are exchanged.
        seed: what everything random is derived from.
        exchange_seats: whether the policies move on at all.
        translate: as for ``SearchAgent``.
        worlds: likewise.
    """
    turn = number % len(agents) if exchange_seats else 0
    seats = agents[turn:] + agents[:turn]
    group = number // len(agents) if exchange_seats else number
    env_seed = _draw(seed, 0, group) % 2**31  # OpenSpiel takes no more, as in Hanabi.
    told = env.reset(seed=env_seed)
    together = is_parallel(env)
    players = {
        seat: make_policy(
            policy,
            env,
            player=seat if together else None,
            seed=_draw(seed, 1, number, index),
            translate=translate,
            worlds=worlds,
        )
        for index, (seat, policy) in enumerate(zip(seats, policies, strict=True))
    }
    for player in players.values():
        player.reset()
    played = play_together(env, players, *told) if together else play(env, players)
    return Episode(
        number=number,
        seed=env_seed,
        seats=seats,
        returns=tuple(played.returns[seat] for seat in seats),
        illegal_moves=tuple(played.illegal_moves[seat] for seat in seats),
        steps=played.steps,
    )


def check_agents(env: Any, agents: tuple[str, ...]) -> None:
    """Refuse what is no environment, and agents that are not those of it.

    Raises:
        TypeError: if it is no environment of PettingZoo.
        ValueError: if the agents are not those that it has.
    """
    possible = list(getattr(env, "possible_agents", ()))
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


def _draw(*path: int) -> int:
    return int(np.random.SeedSequence(path).generate_state(1)[0])


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
        view = View(env, observation, _mask(observation, info), info)
        action = plain_action(players[agent].act(view))
        illegal[agent] += not _is_allowed(view.mask, action)
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
            view = View(env, observation, mask, info, agent, observations, infos)
            actions[agent] = plain_action(players[agent].act(view))
            illegal[agent] += not _is_allowed(mask, actions[agent])
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


def _is_allowed(mask: Any, action: Any) -> bool:
    if mask is None:
        return True
    try:
        return 0 <= action < len(mask) and bool(mask[action])
    except (TypeError, IndexError):
        return False
