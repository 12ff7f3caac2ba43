"""Headers of journals: read as text only, and compared with those of a run that continues.

A journal may come from anybody, so its agents are only names: nothing is imported or called for
them, and unknown agents are allowed. Headers list their tables since version 3; ``_OLD`` finds
those of older journals in the settings of each kind of run.
"""

import dataclasses
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rave_agents.agents.named_agents import LIMITS, AgentSpec, agent_types
from rave_agents.config.limit import DEFAULT_SIMULATIONS
from rave_agents.config.specs import parse_call, split_call
from rave_agents.game.plain_text import printable, shortened
from rave_agents.records import fields
from rave_agents.records.record import GameRecord

MOST_TABLES = 100_000
"""Maximum number of tables in a journal."""

MOST_GAMES = 1_000_000
"""Maximum number of games at a table."""

_NOT_COMPARED = ("version", "by", "tables")
"""Keys of a header that follow from the others."""

Table = tuple[str, str, str]
"""A game, and the names of the first and the second agent."""


class PlannedRun(NamedTuple):
    """The plan in a header."""

    agents: dict[str, str]
    """The agents' specs as text, by their names in tables."""
    tables: dict[str, Table]
    """The tables, by the values that identify their lines, as JSON."""
    by: tuple[str, ...]
    """The keys of these values."""
    games: int | None
    """Planned games at each table; None for a race, which ends when it has found out."""
    seed: int
    """The seed of everything random."""
    anchor: str | None
    """The agent with rating 0; None for ratings that average 0."""

    def read(self, line: Mapping[str, Any]) -> tuple[Table, GameRecord]:
        """A game of the journal, with its table.

        Raises:
            ValueError: for an invalid value; the message names the field.
        """
        record = GameRecord.from_dict(line)
        fields.integer(record.number, "number", 0, (self.games or MOST_GAMES) - 1)
        label = {name: fields.field(line, name) for name in self.by}
        table = self.tables.get(_frozen(label))
        if table is None:
            raise ValueError(f"{' and '.join(self.by)} are not in the plan: {fields.brief(label)}.")
        return table, record


def planned_run(kind: str, header: Mapping[str, Any]) -> PlannedRun:
    """Read a header.

    Args:
        kind: one of ``KINDS``.
        header: the first line of the journal.

    Raises:
        ValueError: for an invalid value; the message names the field.
    """
    if "tables" in header:
        by = fields.listed(fields.field(header, "by"), "by", fields.text)
        tables = list(fields.listed(header["tables"], "tables", _any))
        _check_number(len(tables))
    else:
        by, tables = _OLD[kind](header)
    specs = header.get("agents")
    named = fields.named(specs, "agents", fields.text) if isinstance(specs, dict) else {}
    agents, found = _named_tables(by, tables, named)
    anchor = header.get("anchor")
    if anchor is not None and fields.text(anchor, "anchor") not in agents:
        raise ValueError(f"anchor is not one of the agents: {fields.brief(anchor)}.")
    if header.get("opening_plies") is not None:
        fields.integer(header["opening_plies"], "opening_plies")
    name = "games_per_pairing" if kind == "tournament" else "games"
    return PlannedRun(
        agents=agents,
        tables=found,
        by=by,
        games=None
        if kind == "race"
        else fields.integer(fields.field(header, name), name, 1, MOST_GAMES),
        seed=fields.integer(fields.field(header, "seed"), "seed"),
        anchor=anchor,
    )


def _named_tables(
    by: Sequence[str], tables: Sequence[Mapping[str, Any]], named: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, Table]]:
    """The specs of all agents by name, and the tables by the label of their lines.

    Agents without names are called by their specs; an opponent whose spec is also a first agent's
    gets another name, since nobody can be rated against itself.
    """
    pairs = []
    for table in tables:
        if not isinstance(table, dict):
            raise ValueError(f"tables must be a list of objects, got {fields.brief(table)}.")
        game = fields.text(fields.field(table, "game"), "game")
        one, two = fields.listed(fields.field(table, "agents"), "agents", fields.text, 2)
        pairs.append((table, game, one, two))
    firsts = {one: one for _, _, one, _ in pairs}
    agents = dict(named or (firsts if len(pairs) > 1 else {}))
    found: dict[str, Table] = {}
    seen: set[Table] = set()
    for table, game, one, two in pairs:
        first, second = one, two
        # An opponent is often one of the agents compared, as in a sweep around a baseline.
        if not named and two in firsts:
            first, second = one, f"{two} (opponent)"
            if one == two and len(pairs) == 1:
                first, second = f"{one} (first)", f"{two} (second)"
        agents |= {name: named.get(name, spec) for name, spec in ((first, one), (second, two))}
        label = _frozen({name: fields.field(table, name) for name in by})
        if label in found or (game, first, second) in seen:
            raise ValueError("two pairings of agents on a game are the same.")
        seen.add((game, first, second))
        found[label] = (game, first, second)
    return agents, found


def _frozen(label: Mapping[str, Any]) -> str:
    return json.dumps(label, sort_keys=True)


def _any(value: Any, what: str) -> Any:
    return value


def _check_number(tables: int) -> None:
    """Refuse a number of tables that would exhaust the memory."""
    if not 1 <= tables <= MOST_TABLES:
        raise ValueError(f"there must be from 1 to {MOST_TABLES} pairings, there are {tables}.")


def differences(found: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """The differences that prevent a file from continuing under another header, a text per key.

    Args:
        found: the header of the file.
        expected: the header of the run, which may have grown.
    """
    texts = []
    for key in {**expected, **found}:
        there, here = found.get(key), expected.get(key)
        if key in _NOT_COMPARED or _is_same(there, here) or _grows(key, there, here):
            continue
        shrinks = " (a file can grow, not shrink)" if _grows(key, here, there) else ""
        texts.append(
            f"{printable(shortened(key, 60))} is {shortened(json.dumps(there), 200)} there and "
            f"{shortened(json.dumps(here), 200)} here{shrinks}"
        )
    return texts


def _is_same(one: Any, other: Any) -> bool:
    """True for equal values with mappings in the same order, which decides who plays first."""
    return one == other and not (isinstance(one, dict) and list(one) != list(other))


_COUNTS = ("games", "games_per_pairing", "episodes", "seeds")
_LISTS = ("games", "game", "vary", "agents", "policies", "against", "simulations", "seconds")
"""Keys of a header whose counts, and whose lists and mappings, may grow."""


def _grows(key: str, less: Any, more: Any) -> bool:
    """True if a header's value can grow to another value of the same key."""
    if isinstance(less, int) and isinstance(more, int):
        return key in _COUNTS and less <= more
    return key in _LISTS and type(less) is type(more) and _has_all(key, less, more)


def _has_all(key: str, less: Any, more: Any) -> bool:
    """True if the larger value has all of the other's items, in their order."""
    if key == "vary":  # The same parameters, with more values.
        return less.keys() == more.keys() and all(
            _has_all("", less[name], more[name]) for name in less
        )
    if isinstance(less, dict):
        return _has_all("", list(less.items()), list(more.items()))
    rest = iter(more) if isinstance(more, list) else iter(())
    # Each search goes on behind the item found last, so the order counts.
    return isinstance(less, list) and all(item in rest for item in less)


# Headers of version 2: the settings of each kind of run, without its tables.

_Listed = tuple[tuple[str, ...], list[dict[str, Any]]]


def _match(header: Mapping[str, Any]) -> _Listed:
    game = fields.text(fields.field(header, "game"), "game")
    return (), [{"game": game, "agents": fields.field(header, "agents")}]


def _race(header: Mapping[str, Any]) -> _Listed:
    game = fields.text(fields.field(header, "game"), "game")
    agents = fields.named(fields.field(header, "agents"), "agents", fields.text)
    _check_number(len(agents) * (len(agents) - 1) // 2)
    pairs = itertools.combinations(agents, 2)
    return ("agents",), [{"game": game, "agents": list(pair)} for pair in pairs]


def _tournament(header: Mapping[str, Any]) -> _Listed:
    agents = fields.named(fields.field(header, "agents"), "agents", fields.text)
    games = fields.listed(fields.field(header, "games"), "games", fields.text)
    _check_number(len(agents) * (len(agents) - 1) // 2 * len(games))
    given = header.get("gauntlet") or []
    challengers = fields.listed(given, "gauntlet", fields.text)
    if not set(challengers) <= set(agents):
        raise ValueError(f"gauntlet has names that are not agents: {fields.brief(given)}.")
    pairs = pairings_of(list(agents), challengers)
    tables = [{"game": game, "agents": list(pair)} for game in games for pair in pairs]
    return ("game", "agents"), tables


def pairings_of(names: Sequence[str], challengers: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs of a tournament: all, or those of a challenger and another agent."""
    pairs = list(itertools.combinations(names, 2))
    if not challengers:
        return pairs
    ordered = [(one, two) if one in challengers else (two, one) for one, two in pairs]
    return [(one, two) for one, two in ordered if one in challengers and two not in challengers]


def _sweep(header: Mapping[str, Any]) -> _Listed:
    games = fields.listed(fields.field(header, "game"), "game", fields.text)
    base = _spec(header, "agent")
    limits = {name: header.get(name) for name in ("simulations", "seconds")}
    for name, value in limits.items():
        if value is not None:
            fields.positive(value, name)
    if None is limits["simulations"] is limits["seconds"]:
        limits["simulations"] = DEFAULT_SIMULATIONS
    vary = fields.named(fields.field(header, "vary"), "vary", _values)
    _check_number(len(games) * math.prod(map(len, vary.values())))
    other = str(_limited(_spec(header, "opponent"), limits))
    cells = [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]
    names = [str(_limited(base.with_parameters(cell), limits)) for cell in cells]
    return ("game", "parameters"), [
        {"game": game, "agents": [name, other], "parameters": cell}
        for game in games
        for name, cell in zip(names, cells, strict=True)
    ]


def _scaling(header: Mapping[str, Any]) -> _Listed:
    game = fields.text(fields.field(header, "game"), "game")
    base = _spec(header, "agent")
    against = fields.listed(fields.field(header, "against"), "against", fields.text)
    unit = "simulations" if "simulations" in header else "seconds"
    fields.listed(fields.field(header, unit), unit, fields.positive)
    limits = header[unit]  # As written: 5 and 5.0 are different names.
    _check_number(len(against) * len(limits))
    names = [
        str(
            _limited(base, {unit: limit})
            if base.name in agent_types()
            else base.with_parameters({unit: limit})
        )
        for limit in limits
    ]
    pairs = [(name, other) for other in against for name in names]
    return ("agents",), [{"game": game, "agents": list(pair)} for pair in pairs]


def _spec(header: Mapping[str, Any], name: str) -> AgentSpec:
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


def _limited(spec: AgentSpec, limits: Mapping[str, Any]) -> AgentSpec:
    """A spec with the limits that its agent takes, unless it has its own."""
    kind = agent_types().get(spec.name)
    if kind is None or LIMITS & spec.parameters.keys():
        return spec
    added = {key: v for key, v in limits.items() if v is not None and key in kind.parameters}
    return dataclasses.replace(spec, parameters={**added, **spec.parameters})


_OLD: Mapping[str, Callable[[Mapping[str, Any]], _Listed]] = {
    "match": _match,
    "sweep": _sweep,
    "tournament": _tournament,
    "scaling": _scaling,
    "race": _race,
}

KINDS = tuple(_OLD)
"""Kinds of runs whose journals list games of two agents."""
