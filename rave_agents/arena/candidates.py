"""Candidates of a race: one agent of each kind that can play a game."""

import itertools
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from rave_agents.agents.named_agents import AgentSpec, agent_type, make_agent
from rave_agents.errors import RaveAgentsError
from rave_agents.frameworks.adapters import Game
from rave_agents.game.game_state import has_simultaneous_moves
from rave_agents.searcher.prepared import checked_game

IN_TURN = ("auto", "uct", "uct_solver", "pn_mcts", "rave", "grave", "rave_pn")
"""Agents for all games, one of each kind, except those that need an evaluator."""

AT_ONCE = ("regret_matching", "exp3", "rave_maximin")
"""Additional agents for games with simultaneous moves."""


def default_agents(game: Game) -> tuple[list[str], dict[str, str]]:
    """The names of the agents that can play a game, and the reasons against the others."""
    state = game.new_initial_state()
    names = (*IN_TURN, *(AT_ONCE if has_simultaneous_moves(state) else ()))
    refused: dict[str, str] = {}
    for name in names:
        config = agent_type(name).config
        assert config is not None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # The race will show whether AMAF fits.
                for seat in range(game.num_players):
                    make_agent(AgentSpec(name), game, seat, seed=0)
                checked_game(state, config)  # What a search would refuse at its first move.
        except RaveAgentsError as error:
            refused[name] = str(error)
    return [name for name in names if name not in refused], refused


def varied(
    agents: Mapping[str, AgentSpec], vary: Mapping[str, Sequence[Any]]
) -> dict[str, AgentSpec]:
    """The agents, with one copy per combination of varied values.

    Args:
        agents: agents by name.
        vary: the values of each varied parameter; an agent varies in the parameters it takes.

    Raises:
        UnknownNameError: for an unknown agent.
        ValueError: if no agent takes one of the parameters, or values are missing.
    """
    for key, values in vary.items():
        if isinstance(values, str) or not values:
            raise ValueError(f"{key!r} needs a list of values, got {values!r}.")
        if not any(_takes(agent, key) for agent in agents.values()):
            raise ValueError(f"No agent of the race takes {key!r} and leaves it open.")
    found: dict[str, AgentSpec] = {}
    for name, agent in agents.items():
        grid = {key: values for key, values in vary.items() if _takes(agent, key)}
        for cell in itertools.product(*grid.values()):
            if agent.is_named and grid:
                changed = {**agent.parameters, **dict(zip(grid, cell, strict=True))}
                spec = AgentSpec(agent.name, changed)
                found[str(spec) if name == str(agent) else f"{name} {spec}"] = spec
            else:
                found[name] = agent
    return found


def _takes(agent: AgentSpec, key: str) -> bool:
    if not agent.is_named or key in agent.parameters:
        return False
    return agent_type(agent.name).takes(key, agent.parameters)
