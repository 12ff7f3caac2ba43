"""Agents of an engine, and searches that tell of themselves and end once they are asked to."""

from collections.abc import Callable

from rave_agents.agents.named_agents import AnyAgent, make_agent
from rave_agents.agents.state_agents import SearchAgent
from rave_agents.config.limit import Limit
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.agent import Agent
from rave_agents.game.game_state import GameState
from rave_agents.results.action_statistics import ActionStatistics
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.clock import Clock

FOREVER = Limit(seconds=10**9)
"""The limit of a search that only a command ends."""


class _EndedError(Exception):
    """The search has been asked to end."""


def seated_agents(agent: AnyAgent, game: Game, seed: int | None) -> list[Agent]:
    """An agent for each of two seats, at the beginning of a game; see ``make_agent``."""
    defaults = {} if seed is None else {"seed": seed}
    agents = [make_agent(agent, game, player, **defaults) for player in (0, 1)]
    for each in agents:
        each.restart()
    return agents


def think(
    agent: SearchAgent,
    state: GameState,
    limit: Limit | None,
    clock: Clock | None,
    look: Callable[[SearchResult], bool],
) -> SearchResult:
    """Search a position from the agent's kept tree.

    Args:
        agent: who searches.
        state: the position.
        limit: of the search.
        clock: decides the time in addition; None for none.
        look: called about ten times a second with the result so far; True ends the search with it.
    """

    def looked(result: SearchResult) -> None:
        if look(result):
            raise _EndedError

    searcher = agent.searcher
    try:
        return searcher.search(
            state, limit, clock=clock, reuse=searcher.config.reuse_tree, progress=looked
        )
    except _EndedError:
        return searcher.result()


def best_first(result: SearchResult) -> list[ActionStatistics]:
    """The rows of a result, the action to play first."""
    return sorted(result.ranked_actions, key=lambda row: row.action != result.action)


def known_value(row: ActionStatistics) -> float | None:
    """The proven outcome of an action, else its mean return; None without either."""
    return row.value if row.outcome is None else row.outcome


def point_share(result: SearchResult, value: float | None) -> float | None:
    """A return scaled to [0, 1] by the game's utilities, 0.5 where these are unknown."""
    if value is None:
        return None
    low, high = result.state.min_utility(), result.state.max_utility()
    return (value - low) / (high - low) if low < high < float("inf") else 0.5
