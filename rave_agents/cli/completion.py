"""Completion of the names of games and agents in a shell."""

from rave_agents.agents.named_agents import agent_types
from rave_agents.games import GAMES


def complete_game(incomplete: str) -> list[str]:
    """Offer this package's games."""
    return [name for name in GAMES if name.startswith(incomplete)]


def complete_agent(incomplete: str) -> list[tuple[str, str]]:
    """Offer agents, each with its summary."""
    types = sorted(agent_types().items())
    return [(name, kind.summary) for name, kind in types if name.startswith(incomplete)]
