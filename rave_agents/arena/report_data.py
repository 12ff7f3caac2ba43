"""The data of a report, read from any file of games without creating or calling anything in it."""

import dataclasses
import functools
import os
from collections.abc import Mapping
from typing import Any

from rave_agents.agents.named_agents import AgentSpec, agent_types
from rave_agents.arena.arguments import OWN
from rave_agents.arena.result import RunResult
from rave_agents.arena.run import Pairing
from rave_agents.arena.standings import Standings
from rave_agents.records.journal import read_games


@dataclasses.dataclass(frozen=True)
class ReportData:
    """The games of a file in the form of a tournament."""

    what: str
    """``match``, ``sweep``, ``tournament``, ``scaling`` or ``race``."""
    header: Mapping[str, Any]
    """The file's first line."""
    result: RunResult
    """The games: in a match between two agents, in a sweep between its cells and the opponent."""
    specs: Mapping[str, AgentSpec | None]
    """The agents' parsed specs by name; None for agents that a file cannot describe."""


def load_report(path: str | os.PathLike[str]) -> ReportData:
    """Read a file of games, finished or not.

    Raises:
        ValueError, OSError: as ``read_games``.
    """
    kind, header, plan, games = read_games(path)
    result = RunResult(
        show=functools.partial(Standings, by_name=plan.agents, anchor=plan.anchor),
        pairings=tuple(Pairing(game, (one, two)) for game, one, two in games),
        records=tuple(games.values()),
        seed=plan.seed,
        games_planned=tuple(
            len(records) if plan.games is None else plan.games for records in games.values()
        ),
    )
    return ReportData(kind, header, result, {name: _spec(s) for name, s in plan.agents.items()})


def _spec(text: str) -> AgentSpec | None:
    if text.startswith(f"{OWN} "):
        return None
    try:
        spec = AgentSpec.parse(text)
    except ValueError:
        return None
    return spec if spec.name in agent_types() else None
