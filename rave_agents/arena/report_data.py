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
from rave_agents.game.plain_text import printable
from rave_agents.records import fields
from rave_agents.records.header import KINDS, planned_run
from rave_agents.records.journal import FORMAT, read_journal, reading
from rave_agents.records.record import GameRecord


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
        ValueError: if it is not a file of games, or has episodes of PettingZoo, which have no
            moves; or for an invalid value, naming file, line and field.
        OSError: if it cannot be read.
    """
    header, lines = read_journal(path)
    what = str(header["format"]).removeprefix(f"{FORMAT} ")
    if what not in KINDS:
        raise ValueError(f"There is no report for {path}: it is the output of a {printable(what)}.")
    with reading(path, 1):
        plan = planned_run(what, header)
        players = fields.integer(header.get("players", 2), "players", 1)
    if players != 2:
        raise ValueError(f"There is no report for {path}: its game is one for {players} players.")
    found: dict[tuple[str, str, str], dict[int, GameRecord]]
    found = {table: {} for table in plan.tables.values()}
    for number, line in enumerate(lines, 2):
        with reading(path, number):
            table, record = plan.read(line)
        found[table].setdefault(record.number, record)
    result = RunResult(
        show=functools.partial(Standings, by_name=plan.agents, anchor=plan.anchor),
        pairings=tuple(Pairing(game, (one, two)) for game, one, two in found),
        records=tuple(
            tuple(records[number] for number in sorted(records)) for records in found.values()
        ),
        seed=plan.seed,
        planned=tuple(
            len(records) if plan.games is None else plan.games for records in found.values()
        ),
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
