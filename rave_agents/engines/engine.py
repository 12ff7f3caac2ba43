"""The base of both engines: a conversation in lines, agents for both seats, visible searches."""

from collections.abc import Callable, Iterable
from typing import Any

from rave_agents.agents.named_agents import AgentSpec, as_agent, make_agent
from rave_agents.agents.state_agents import StateAgent
from rave_agents.config.limit import Limit
from rave_agents.frameworks.adapters import Game
from rave_agents.frameworks.agent import Agent
from rave_agents.game.game_state import GameState
from rave_agents.game.plain_text import without_colours
from rave_agents.results.action_statistics import ActionStatistics
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.clock import Clock

FOREVER = Limit(seconds=10**9)
"""The limit of a search that only a command ends."""


class Engine:
    """Plays an agent for another program, which writes commands in lines.

    Args:
        agent: the agent that chooses moves, for both sides: its spec, or one of your own, see
            ``as_agent``.
        seed: seeds every random choice; None for a seed that the system draws.
    """

    def __init__(self, agent: Any, seed: int | None) -> None:
        self.agent: AgentSpec = as_agent(agent)
        self.seed = seed
        self.ended: bool = False
        """True once the conversation is over, such as after ``quit``."""
        self.write: Callable[[str], None] = lambda text: None
        """Takes the engine's output; it may be called from the thread that searches."""
        self.is_asked: Callable[[], bool] | None = None
        """True once the next command has come; None if that is unknown until this one is done."""

    def receive(self, line: str) -> None:
        """Act on a line; answers go to ``write``."""
        raise NotImplementedError

    def interrupt(self) -> None:
        """Answer a command that a signal interrupted."""

    def wait(self) -> None:
        """Wait for a search in the background that ends by itself."""

    def close(self) -> None:
        """End a search in the background."""

    def seated(self, game: Game) -> list[Agent]:
        """An agent for each of two seats, at the beginning of a game; see ``make_agent``."""
        defaults = {} if self.seed is None else {"seed": self.seed}
        agents = [make_agent(self.agent, game, player, **defaults) for player in (0, 1)]
        for each in agents:
            each.restart()
        return agents


def converse(engine: Engine, lines: Iterable[str], write: Callable[[str], None]) -> None:
    """Let an engine act on lines until the last one, or until it ends the conversation.

    Its output goes to ``write`` in parts that end with line ends.
    """
    engine.write = write
    try:
        for line in lines:
            engine.receive(line)
            if engine.ended:
                break
    finally:
        engine.close()


class _EndedError(Exception):
    """The search has been asked to end."""


def think(
    agent: StateAgent,
    state: GameState,
    limit: Limit | None,
    clock: Clock | None,
    look: Callable[[SearchResult], bool],
) -> SearchResult:
    """Search a position in the agent's kept tree, by a limit and a clock.

    ``look`` is called about ten times a second with the result so far; the search ends once it
    returns True.
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


def board_of(state: object) -> str:
    """A position's text without the terminal's colours."""
    return without_colours(str(state))


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
