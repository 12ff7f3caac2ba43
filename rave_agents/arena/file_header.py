"""Reads a game file's first line, its plan, as text only.

A file may come from anybody, so its agents are only names: nothing is imported or called for them,
and unknown agents are allowed.
"""

import dataclasses
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rave_agents.agents.named_agents import LIMITS, AgentSpec, agent_types
from rave_agents.agents.state_agents import DEFAULT_SIMULATIONS
from rave_agents.arena.plan import MOST_GAMES
from rave_agents.config.specs import parse_call, split_call
from rave_agents.records import fields
from rave_agents.records.record import GameRecord

MOST_TABLES = 100_000
"""Maximum number of pairings in a file."""

Pairing = tuple[str, str, str]
"""A game, and the names of the first and the second agent."""


class PlannedRun(NamedTuple):
    """The plan in a file's first line."""

    agents: dict[str, str]
    """The agents' specs as text, by their names in tables."""
    pairings: dict[Pairing, None]
    """The pairs of agents that play each other, with their games."""
    games: int | None
    """Planned games for each pairing; None for a race, which ends when it has found out."""
    seed: int
    """The seed of everything random."""
    anchor: str | None
    """The agent with rating 0; None for ratings that average 0."""
    pairing: Callable[[Mapping[str, Any]], Pairing]
    """Returns the pairing of a line's game."""

    def read(self, line: Mapping[str, Any]) -> tuple[Pairing, GameRecord]:
        """A game of the file, with its pairing.

        Raises:
            ValueError: for an invalid value; the message names the field.
        """
        record, pairing = GameRecord.from_dict(line), self.pairing(line)
        fields.integer(record.number, "number", 0, (self.games or MOST_GAMES) - 1)
        if pairing not in self.pairings:
            raise ValueError(f"game and agents are not in the plan: {fields.brief(pairing)}.")
        return pairing, record


def planned(what: str, header: Mapping[str, Any]) -> PlannedRun:
    """Read the plan of a file of the kind ``what``.

    Args:
        what: ``match``, ``sweep``, ``tournament``, ``scaling`` or ``race``.
        header: its first line.

    Raises:
        ValueError: for an invalid value; the message names the field.
    """
    found = _READERS[what](header)
    if found.anchor not in (None, *found.agents):
        raise ValueError(f"anchor is not one of the agents: {fields.brief(found.anchor)}.")
    plies = header.get("opening_plies")
    if plies is not None:
        fields.integer(plies, "opening_plies")
    return found


def _planned(
    header: Mapping[str, Any],
    agents: Mapping[str, str],
    pairings: Sequence[Pairing],
    games: str | None,
    pairing: Callable[[Mapping[str, Any]], Pairing],
) -> PlannedRun:
    if len(set(pairings)) < len(pairings):
        raise ValueError("two pairings of agents on a game are the same.")
    anchor = header.get("anchor")
    return PlannedRun(
        agents=dict(agents),
        pairings=dict.fromkeys(pairings),
        games=None if games is None else _games(header, games),
        seed=fields.integer(fields.field(header, "seed"), "seed"),
        anchor=None if anchor is None else fields.text(anchor, "anchor"),
        pairing=pairing,
    )


def _games(header: Mapping[str, Any], name: str) -> int:
    return fields.integer(fields.field(header, name), name, 1, MOST_GAMES)


def _race(header: Mapping[str, Any]) -> PlannedRun:
    game = fields.text(fields.field(header, "game"), "game")
    agents = fields.named(fields.field(header, "agents"), "agents", fields.text)
    _check_number(len(agents) * (len(agents) - 1) // 2)
    pairings = [(game, one, two) for one, two in itertools.combinations(agents, 2)]
    return _planned(header, agents, pairings, None, lambda line: (game, *_agents(line)))


def _match(header: Mapping[str, Any]) -> PlannedRun:
    game = fields.text(fields.field(header, "game"), "game")
    specs = fields.listed(fields.field(header, "agents"), "agents", fields.text, 2)
    one, two = specs
    if one == two:
        one, two = f"{one} (first)", f"{two} (second)"
    table = (game, one, two)
    return _planned(header, {one: specs[0], two: specs[1]}, [table], "games", lambda line: table)


def _tournament(header: Mapping[str, Any]) -> PlannedRun:
    agents = fields.named(fields.field(header, "agents"), "agents", fields.text)
    games = fields.listed(fields.field(header, "games"), "games", fields.text)
    _check_number(len(agents) * (len(agents) - 1) // 2 * len(games))
    given = header.get("gauntlet") or []
    challengers = fields.listed(given, "gauntlet", fields.text)
    if not set(challengers) <= set(agents):
        raise ValueError(f"gauntlet has names that are not agents: {fields.brief(given)}.")
    pairs = list(itertools.combinations(agents, 2))
    if challengers:
        ordered = [(one, two) if one in challengers else (two, one) for one, two in pairs]
        pairs = [p for p in ordered if p[0] in challengers and p[1] not in challengers]
    pairings = [(game, one, two) for game in games for one, two in pairs]
    return _planned(header, agents, pairings, "games_per_pairing", _pairing_of)


def _sweep(header: Mapping[str, Any]) -> PlannedRun:
    games = fields.listed(fields.field(header, "game"), "game", fields.text)
    base = _spec(header, "agent")
    limits = {name: _limit(header.get(name), name) for name in ("simulations", "seconds")}
    if None is limits["simulations"] is limits["seconds"]:
        limits["simulations"] = DEFAULT_SIMULATIONS
    vary = fields.named(fields.field(header, "vary"), "vary", _values)
    _check_number(len(games) * math.prod(map(len, vary.values())))
    cells = list(itertools.product(*vary.values()))
    names = [
        str(_limited(dataclasses.replace(base, parameters={**base.parameters, **cell}), limits))
        for cell in (dict(zip(vary, values, strict=True)) for values in cells)
    ]
    spec = str(_limited(_spec(header, "opponent"), limits))
    other = _opponent(spec, names)
    tables = {
        (game, repr(cell)): (game, name, other)
        for game in games
        for cell, name in zip(cells, names, strict=True)
    }

    def pairing(line: Mapping[str, Any]) -> Pairing:
        given = fields.field(line, "parameters")
        given = given if isinstance(given, dict) else {}
        game = fields.text(fields.field(line, "game"), "game")
        table = tables.get((game, repr(tuple(given.get(name) for name in vary))))
        if table is None or len(given) != len(vary):
            raise ValueError(
                f"game and parameters fit no cell: {fields.brief([game, line['parameters']])}."
            )
        return table

    agents = {**{name: name for name in names}, other: spec}
    return _planned(header, agents, list(tables.values()), "games", pairing)


def _scaling(header: Mapping[str, Any]) -> PlannedRun:
    game = fields.text(fields.field(header, "game"), "game")
    base = _spec(header, "agent")
    against = fields.listed(fields.field(header, "against"), "against", fields.text)
    unit = "simulations" if "simulations" in header else "seconds"
    limits = fields.listed(fields.field(header, unit), unit, fields.positive)
    _check_number(len(against) * len(limits))
    names = [
        str(
            _limited(base, {unit: limit})
            if base.name in agent_types()
            else base.with_parameters({unit: limit})
        )
        for limit in header[unit]
    ]
    others = {_opponent(other, names): other for other in against}
    tables = {(name, spec): (game, name, o) for o, spec in others.items() for name in names}

    def pairing(line: Mapping[str, Any]) -> Pairing:
        return tables.get(_agents(line)) or (game, *_agents(line))

    agents = {**{name: name for name in names}, **others}
    return _planned(header, agents, list(tables.values()), "games", pairing)


def _opponent(spec: str, names: Sequence[str]) -> str:
    """A name for the opponent that differs from the agents' names."""
    return f"{spec} (opponent)" if spec in names else spec


def _pairing_of(line: Mapping[str, Any]) -> Pairing:
    return fields.text(fields.field(line, "game"), "game"), *_agents(line)


def _agents(line: Mapping[str, Any]) -> tuple[str, str]:
    one, two = fields.listed(fields.field(line, "agents"), "agents", fields.text, 2)
    return one, two


def _check_number(tables: int) -> None:
    """Refuse a number of pairings that would exhaust the memory."""
    if not 1 <= tables <= MOST_TABLES:
        raise ValueError(f"there must be from 1 to {MOST_TABLES} pairings, there are {tables}.")


def _spec(header: Mapping[str, Any], name: str) -> AgentSpec:
    """A spec as text; a custom agent has its location or function name instead."""
    text = fields.text(fields.field(header, name), name)
    try:
        agent, inside = split_call(text, "agent")
        return AgentSpec(agent, parse_call(f"agent({inside or ''})")[1])
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _values(value: Any, what: str) -> tuple[Any, ...]:
    return fields.listed(value, what, _plain_value)


def _plain_value(value: Any, what: str) -> Any:
    if isinstance(value, str):
        return fields.text(value, what)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return fields.integer(value, what, -fields.MOST)
    return fields.number(value, what)


def _limit(value: Any, what: str) -> Any:
    if value is not None:
        fields.positive(value, what)
    return value


def _limited(spec: AgentSpec, limits: Mapping[str, Any]) -> AgentSpec:
    """A spec with the limits that its agent takes, unless it has its own."""
    kind = agent_types().get(spec.name)
    if kind is None or LIMITS & spec.parameters.keys():
        return spec
    added = {key: v for key, v in limits.items() if v is not None and key in kind.parameters}
    return dataclasses.replace(spec, parameters={**added, **spec.parameters})


_READERS = {
    "match": _match,
    "sweep": _sweep,
    "tournament": _tournament,
    "scaling": _scaling,
    "race": _race,
}

KINDS = tuple(_READERS)
"""Kinds of runs whose files list games of two agents."""
