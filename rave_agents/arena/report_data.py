"""The data of a report, read from any file of games without creating or calling anything in it."""

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

from rave_agents.agents.named_agents import AgentSpec, agent_types
from rave_agents.arena.contestants import OWN
from rave_agents.arena.file_header import KINDS, Pairing, planned
from rave_agents.arena.journal import FORMAT, read_journal, reading
from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.tournament_result import TournamentResult
from rave_agents.game.plain_text import printable
from rave_agents.records import fields
from rave_agents.records.record import GameRecord


@dataclasses.dataclass(frozen=True)
class ReportData:
    """The games of a file in the form of a tournament."""

    what: str
    """``match``, ``sweep``, ``tournament``, ``scaling`` or ``race``."""
    header: Mapping[str, Any]
    """The file's first line."""
    result: TournamentResult
    """The games: in a match between two agents, in a sweep between its cells and the opponent."""
    specs: Mapping[str, AgentSpec | None]
    """The agents' parsed specs by name; None for agents that a file cannot describe."""


def load_report(path: str | os.PathLike[str]) -> ReportData:
    """Read a file of games, finished or not.

    Raises:
        ValueError: if it is not a file of games, or has episodes of PettingZoo, which have no
            moves; or for an invalid value, naming file, line and field.
        OSError: if it cannot be read.
    """
    header, lines = read_journal(path)
    what = str(header["format"]).removeprefix(f"{FORMAT} ")
    if what not in KINDS:
        raise ValueError(f"There is no report for {path}: it is the output of a {printable(what)}.")
    with reading(path, 1):
        plan = planned(what, header)
        players = fields.integer(header.get("players", 2), "players", 1)
    if players != 2:
        raise ValueError(f"There is no report for {path}: its game is one for {players} players.")
    found: dict[Pairing, dict[int, GameRecord]] = {pairing: {} for pairing in plan.pairings}
    for number, line in enumerate(lines, 2):
        with reading(path, number):
            pairing, record = plan.read(line)
        found[pairing].setdefault(record.number, record)
    matches = [
        MatchResult(
            game=game,
            agents=(one, two),
            seed=plan.seed,
            planned=len(records) if plan.games is None else plan.games,
            records=(),
        ).plus(*records.values())
        for (game, one, two), records in found.items()
    ]
    result = TournamentResult(
        games=tuple(dict.fromkeys(match.game for match in matches)),
        agents=tuple(plan.agents),
        specs=tuple(plan.agents.values()),
        seed=plan.seed,
        planned=max(match.planned for match in matches),
        matches=tuple(matches),
        anchor=plan.anchor,
    )
    return ReportData(what, header, result, {name: _spec(s) for name, s in plan.agents.items()})


def _spec(text: str) -> AgentSpec | None:
    if text.startswith(f"{OWN} "):
        return None
    try:
        spec = AgentSpec.parse(text)
    except ValueError:
        return None
    return spec if spec.name in agent_types() else None
