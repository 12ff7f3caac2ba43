"""What a report shows, read from a file of games of any kind."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from rave_agents.agents.named_agents import AgentSpec, agent_types
from rave_agents.arena.contestants import OWN
from rave_agents.arena.journal import FORMAT, read_journal
from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.record import GameRecord
from rave_agents.arena.sweep import sweep_specs
from rave_agents.arena.tournament_result import TournamentResult


@dataclasses.dataclass(frozen=True)
class ReportData:
    """The games of a file, seen as a tournament."""

    what: str
    """``match``, ``sweep``, ``tournament`` or ``scaling``."""
    header: Mapping[str, Any]
    """The file's first line."""
    result: TournamentResult
    """The games: in a match between two agents, in a sweep between its cells and the opponent."""
    specs: Mapping[str, AgentSpec | None]
    """What the agents are, by name; None for agents that a file cannot tell."""

    @property
    def opening_plies(self) -> int | None:
        """Random moves at the start of games; None for the usual number."""
        return self.header.get("opening_plies")


def load_report(path: str | os.PathLike[str]) -> ReportData:
    """Read a file of games, whether they are all finished or not.

    Raises:
        ValueError: if it is no file of games, or of episodes of PettingZoo, which have no moves.
        OSError: if it cannot be read.
    """
    header, lines = read_journal(path)
    what = str(header["format"]).removeprefix(f"{FORMAT} ")
    if what not in _READERS:
        raise ValueError(f"There is no report for {path}: it is the output of a {what}.")
    try:
        agents, pairings, planned = _READERS[what](header)
        found: dict[tuple[str, str, str], dict[int, GameRecord]] = {key: {} for key in pairings}
        for line in lines:
            record = GameRecord.from_dict(line)
            found[_pairing(what, header, line)].setdefault(record.number, record)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not as rave-agents writes it: {error!r}.") from error
    matches = [
        MatchResult(
            game=game, agents=(one, two), seed=int(header["seed"]), planned=planned, records=()
        ).plus(*records.values())
        for (game, one, two), records in found.items()
    ]
    result = TournamentResult(
        games=tuple(dict.fromkeys(match.game for match in matches)),
        agents=tuple(agents),
        specs=tuple(agents.values()),
        seed=int(header["seed"]),
        planned=planned,
        matches=tuple(matches),
        anchor=header.get("anchor"),
    )
    return ReportData(what, header, result, {name: _spec(text) for name, text in agents.items()})


def _spec(text: str) -> AgentSpec | None:
    if text.startswith(f"{OWN} "):
        return None
    try:
        spec = AgentSpec.parse(text)
    except ValueError:
        return None
    return spec if spec.name in agent_types() else None


_Agents = tuple[dict[str, str], list[tuple[str, str, str]], int]


def _match(header: Mapping[str, Any]) -> _Agents:
    one, two = _distinct(header["agents"])
    specs = dict(zip((one, two), header["agents"], strict=True))
    return specs, [(header["game"], one, two)], int(header["games"])


def _distinct(names: Sequence[str]) -> tuple[str, str]:
    one, two = names
    return (one, two) if one != two else (f"{one} (first)", f"{two} (second)")


def _tournament(header: Mapping[str, Any]) -> _Agents:
    import itertools  # noqa: PLC0415

    agents = dict(header["agents"])
    challengers = list(header.get("gauntlet") or ())
    pairs = [
        (two, one) if challengers and one not in challengers else (one, two)
        for one, two in itertools.combinations(agents, 2)
    ]
    if challengers:
        pairs = [p for p in pairs if p[0] in challengers and p[1] not in challengers]
    pairings = [(game, one, two) for game in header["games"] for one, two in pairs]
    return agents, pairings, int(header["games_per_pairing"])


def _sweep(header: Mapping[str, Any]) -> _Agents:
    specs, opponent = sweep_specs(header)
    names = {name: str(spec) for name, spec in specs.items()}
    pairings = [(header["game"], name, str(opponent)) for name in names]
    return {**names, str(opponent): str(opponent)}, pairings, int(header["games"])


def _scaling(header: Mapping[str, Any]) -> _Agents:
    unit = "simulations" if "simulations" in header else "seconds"
    base = AgentSpec.parse(header["agent"])
    specs = [str(base.with_defaults({unit: limit})) for limit in header[unit]]
    pairings = [(header["game"], spec, other) for other in header["against"] for spec in specs]
    return {name: name for name in (*specs, *header["against"])}, pairings, int(header["games"])


def _pairing(what: str, header: Mapping[str, Any], line: Mapping[str, Any]) -> tuple[str, str, str]:
    if what == "match":
        return (str(header["game"]), *_distinct(header["agents"]))
    if what == "sweep":
        specs, opponent = sweep_specs(header)
        varied = list(specs)[_cell(header, line["parameters"])]
        return str(header["game"]), varied, str(opponent)
    one, two = line["agents"]
    return str(line.get("game", header["game"] if what == "scaling" else "")), str(one), str(two)


def _cell(header: Mapping[str, Any], parameters: Mapping[str, Any]) -> int:
    index = 0
    for name, values in header["vary"].items():
        index = index * len(values) + values.index(parameters[name])
    return index


_READERS = {
    "match": _match,
    "sweep": _sweep,
    "tournament": _tournament,
    "scaling": _scaling,
}
