"""Candidates of a race: the agents that can play a game, one of each kind."""

import itertools
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from rave_agents.agents.named_agents import AgentSpec, agent_type
from rave_agents.arena.contestants import Contestant, make_contestant
from rave_agents.errors import RaveAgentsError
from rave_agents.frameworks.adapters import Game
from rave_agents.game.game_state import has_simultaneous_moves
from rave_agents.searcher.preparing import checked_game

IN_TURN = ("auto", "uct", "uct_solver", "pn_mcts", "rave", "grave", "rave_pn")
"""Agents for all games, one of each kind; those that need an evaluator are not among them."""

AT_ONCE = ("regret_matching", "exp3", "rave_maximin")
"""Agents beside them for games in which players move at the same time."""


def default_agents(game: Game) -> tuple[list[str], dict[str, str]]:
    """The names of the agents that can play a game, and of the others the reasons why not."""
    state = game.new_initial_state()
    names = (*IN_TURN, *(AT_ONCE if has_simultaneous_moves(state) else ()))
    refused: dict[str, str] = {}
    for name in names:
        config = agent_type(name).config
        assert config is not None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # The race tells whether AMAF fits.
                for seat in range(game.num_players):
                    make_contestant(AgentSpec(name), game, seat, 0)
                checked_game(state, config)
        except RaveAgentsError as error:
            refused[name] = str(error)
    return [name for name in names if name not in refused], refused


def varied(
    agents: Mapping[str, Contestant], vary: Mapping[str, Sequence[Any]]
) -> dict[str, Contestant]:
    """The agents, those whose parameters vary once for every combination of their values.

    Args:
        agents: agents by name.
        vary: for each varied parameter its values; an agent varies in those that it takes.

    Raises:
        UnknownNameError: for an agent that does not exist.
        ValueError: if no agent takes one of the parameters, or values are missing.
    """
    for key, values in vary.items():
        if isinstance(values, str) or not values:
            raise ValueError(f"{key!r} needs a list of values, got {values!r}.")
        if not any(_takes(agent, key) for agent in agents.values()):
            raise ValueError(f"No agent of the race takes {key!r} and leaves it open.")
    found: dict[str, Contestant] = {}
    for name, agent in agents.items():
        grid = {key: values for key, values in vary.items() if _takes(agent, key)}
        for cell in itertools.product(*grid.values()):
            if isinstance(agent, AgentSpec) and grid:
                changed = {**agent.parameters, **dict(zip(grid, cell, strict=True))}
                spec = AgentSpec(agent.name, changed)
                found[str(spec) if name == str(agent) else f"{name} {spec}"] = spec
            else:
                found[name] = agent
    return found


def _takes(agent: Contestant, key: str) -> bool:
    if not isinstance(agent, AgentSpec) or key in agent.parameters:
        return False
    return agent_type(agent.name).takes(key, agent.parameters)
