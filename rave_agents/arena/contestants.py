"""Contestants of the arena: agents of any kind, see ``rave_agents.as_agent``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rave_agents.agents.named_agents import AgentSpec, AnyAgent, agent_type, as_agent, make_agent
from rave_agents.config.specs import format_call
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.agent import Agent

Contestant = AnyAgent
"""A player in the arena; ``str()`` is its name in tables and journals."""


def make_contestant(who: Contestant, game: Game, player: int, seed: int) -> Agent:
    """Make the agent for one game.

    Args:
        who: the contestant.
        game: the game.
        player: the seat, from 0.
        seed: the seed of its random choices, if it takes one.

    Raises:
        UnknownNameError: for an unknown agent or parameter.
        TypeError, ValueError: for an invalid value.
        Exception: any exception of a user's class or function.
    """
    return make_agent(who, game, player, seed=seed)


def named_contestants(agents: Mapping[str, Any] | Sequence[Any]) -> dict[str, Contestant]:
    """Contestants by their names in tables.

    Args:
        agents: a dictionary by name, or a list named after specs or functions.

    Raises:
        TypeError, ValueError: for an object that is not an agent, or two agents of one name.
    """
    if isinstance(agents, str) or not isinstance(agents, Mapping | Sequence):
        raise TypeError(f"agents must be a list or a dictionary by name, got {agents!r}.")
    if isinstance(agents, Mapping):
        return {str(name): as_agent(agent, str(name)) for name, agent in agents.items()}
    found: dict[str, Contestant] = {}
    for agent in agents:
        who = as_agent(agent)
        if str(who) in found:
            raise ValueError(f"Two agents are named {str(who)!r}: pass {{name: agent}} instead.")
        found[str(who)] = who
    return found


def label(who: Contestant) -> str:
    """The agent's label in a journal: its spec, or the location or type of a custom agent."""
    if isinstance(who, AgentSpec):
        return str(who)
    place = who.source.place
    if place is None:
        return f"{OWN} {who.kind}"
    # Without the folder, which differs between machines.
    return f"{OWN} {format_call(f'{Path(place.place).name}:{place.name}', dict(who.parameters))}"


OWN = "Python"
"""Marks custom agents in a journal."""


def counts_simulations(who: Contestant) -> bool:
    """True for an agent by spec that takes a number of simulations."""
    return isinstance(who, AgentSpec) and "simulations" in agent_type(who.name).parameters
