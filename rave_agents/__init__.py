"""Search agents, RAVE and UCT, for OpenSpiel and for any game behind the same interface."""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rave_agents.agents.libraries import (
    from_maker,
    from_policy,
    from_sb3,
    from_step,
    from_torch,
)
from rave_agents.agents.named_agents import AgentSpec, agent_types, as_agent, make_agent
from rave_agents.config.limit import Limit
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import (
    ForfeitError,
    FormulaError,
    GameError,
    RaveAgentsError,
    UnknownNameError,
    UnsupportedGameError,
)
from rave_agents.evaluators.batch import Batch
from rave_agents.evaluators.batch_evaluator import BatchEvaluator
from rave_agents.evaluators.linear_value import LinearValue
from rave_agents.frameworks.agent import Agent
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import GameState, PlayerId
from rave_agents.learning.self_play import Example, save_examples, self_play
from rave_agents.results.action_statistics import ActionStatistics
from rave_agents.results.search_result import SearchResult
from rave_agents.searcher.clock import Clock
from rave_agents.searcher.evaluators import as_evaluator
from rave_agents.searcher.multi_search import search_many
from rave_agents.searcher.searcher import Searcher
from rave_agents.searcher.time_control import TimeControl, TimePolicy

if TYPE_CHECKING:
    play: Callable[..., Any]
    """Play against an agent in a notebook, see ``rave_agents.web.notebook.play``."""

__version__ = "0.1.0"

__all__ = [
    "ActionStatistics",
    "Agent",
    "AgentSpec",
    "Batch",
    "BatchEvaluator",
    "Clock",
    "Example",
    "ForfeitError",
    "FormulaError",
    "GameError",
    "GameState",
    "Limit",
    "LinearValue",
    "PlayerId",
    "RaveAgentsError",
    "SearchConfig",
    "SearchResult",
    "Searcher",
    "TimeControl",
    "TimePolicy",
    "UnknownNameError",
    "UnsupportedGameError",
    "agent_types",
    "as_agent",
    "as_evaluator",
    "as_game",
    "from_maker",
    "from_policy",
    "from_sb3",
    "from_step",
    "from_torch",
    "make_agent",
    "play",
    "save_examples",
    "search_many",
    "self_play",
]


def __dir__() -> list[str]:
    return sorted({"__doc__", "__version__", *__all__})


def __getattr__(name: str) -> Any:
    if name == "play":  # What plays is imported when it is first used: it is much.
        return importlib.import_module("rave_agents.web.notebook").play
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
