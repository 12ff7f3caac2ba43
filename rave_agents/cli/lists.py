"""The commands that list agents and games, and examine the installation: doctor."""

import contextlib
import math
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from rave_agents.agents.named_agents import agent_type, agent_types
from rave_agents.cli.doctor import examine
from rave_agents.cli.options import complete_game
from rave_agents.cli.program import command
from rave_agents.cli.terminal import show, show_json, stderr
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import RaveAgentsError
from rave_agents.evaluators.learned_file import NOT_MEASURED
from rave_agents.evaluators.linear_value import MINIMAX
from rave_agents.evaluators.shipped import known_games
from rave_agents.frameworks.adapters import GameAbilities, adapters
from rave_agents.frameworks.agent import AgentType
from rave_agents.results.numbers import counted


def _table(*headers: str, **options: Any) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title_justify="left", **options)
    for number, header in enumerate(headers):
        table.add_column(header, style="" if number else "bold", overflow="fold")
    return table


@command(name="agents", agent={"metavar": "[AGENT]"})
def list_agents(agent: str | None = None, *, as_json: bool = False) -> None:
    """List the agents, or the parameters of one.

    Options:
        agent: an agent, to see its parameters.
    """
    types = agent_types() if agent is None else {agent: agent_type(agent)}
    if as_json:
        show_json({"agents": [_agent(name, kind) for name, kind in sorted(types.items())]})
    elif agent is None:
        table = _table("agent", "what it is")
        for each, kind in sorted(types.items()):
            table.add_row(each, escape(kind.summary))
        known = escape(_known_line(known_games()))
        show(table, f"Games for which auto has a learned value, without known=False: {known}")
    else:
        show(f"[bold]{agent}[/]: {types[agent].summary}", _parameters(types[agent]))


def _agent(name: str, kind: AgentType) -> dict[str, Any]:
    """An agent as plain values; an infinite default is the string ``"inf"``, as in a spec."""
    parameters = {
        key: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in kind.parameters.items()
    }
    return {"name": name, "summary": kind.summary, "parameters": parameters}


def _parameters(kind: AgentType) -> Table:
    table = _table("parameter", "default")
    inner = {} if kind.config is None else kind.config.parts_in_use()
    for name, value in kind.parameters.items():
        table.add_row(name, str(value))
        for place, item in inner.items():  # Such as amaf.schedule.k, under amaf.
            if place.startswith(f"{name}."):
                table.add_row("  " + place, str(item))
    return table


def find_games(part: str = "", *, everything: bool = False) -> list[dict[str, Any]]:
    """The games whose name or description contains a text.

    Args:
        part: part of a name or description, in any case.
        everything: True to list games that cannot be searched, too, with the reasons.
    """
    found: list[dict[str, Any]] = []
    for framework, adapter in sorted(adapters().items()):
        for game in adapter.games():
            matches = part.lower() in f"{game.name} {game.description}".lower()
            if matches and (game.supported or everything):
                row = {"framework": framework, **game._asdict()}
                if everything:
                    row["reason"] = None if game.supported else _refusal(framework, game.name)
                found.append(row)
    return found


def _refusal(framework: str, name: str) -> str:
    try:
        game = adapters()[framework].load_game(name)
        GameAbilities(game).check_search(SearchConfig())
    except RaveAgentsError as error:
        return str(error).rpartition(" cannot be searched: ")[2]
    return ""


@command(
    find_games,
    name="games",
    part={"metavar": "[FILTER]", "autocompletion": complete_game},
    everything={"option": "--all"},
)
def list_games(call: partial[Any], *, as_json: bool = False) -> None:
    """List the games of the installed frameworks."""
    games, reasons = call(), ["why it cannot be searched"] * ("everything" in call.keywords)
    if as_json:
        show_json({"games": games})
        return
    caption = counted(len(games), "game")
    table = _table(
        "game", "description", "framework", *reasons, caption=caption, caption_justify="left"
    )
    for game in games:
        cells = [game["name"], game["description"], game["framework"]]
        cells += [game["reason"] or ""] if reasons else []
        table.add_row(*map(escape, cells), style="" if game["supported"] else "dim")
    show(table)


@command()
def doctor(*, quick: bool = False, as_json: bool = False) -> None:
    """Show versions, frameworks, the compiled search, and how fast it starts.

    Options:
        quick: skip the start-up timings.
    """
    waiting = stderr().status("Compiling and starting in fresh processes ...")
    with contextlib.nullcontext() if quick else waiting:
        findings = examine(measure=not quick)
    if as_json:
        show_json(findings)
        return
    table = _table("", "", show_header=False)
    for section in _sections(findings):
        table.add_section()
        for label, text in section:
            table.add_row(escape(label), escape(text))
    show(table)


def _sections(findings: Mapping[str, Any]) -> Iterable[list[tuple[str, str]]]:
    yield [(name, version or "not installed") for name, version in findings["versions"].items()]
    for name, diagnosis in findings["adapters"].items():
        details = [(f"  {key}", value) for key, value in diagnosis.items()]
        yield [(f"adapter {name}", "installed"), *details]
    for name, missing in findings["missing_adapters"].items():
        advice = [] if missing["install"] is None else [("  install it by", missing["install"])]
        yield [(f"adapter {name}", f"missing: {missing['reason']}"), *advice]
    known = findings["known_games"]
    levels = ", ".join(f"{game}: {elo:.0f} Elo" for game, elo in findings["levels"].items())
    yield [
        ("known games", _known_line(known)),
        ("  their matches", _matches_line(known)),
        ("levels", levels or "none"),
    ]
    kernel, timings = findings["kernel"], findings["timings"] or {}
    compiled = "compiled when first needed, and kept"
    yield [
        ("search", compiled if kernel["compiles"] else "interpreted: NUMBA_DISABLE_JIT"),
        ("  its cache", kernel["cache_directory"]),
        *(
            (
                f"  {name.removesuffix('_seconds').replace('_', ' ')}",
                f"{timing['measured']:.2f} s (target {timing['target']:g} s)",
            )
            for name, timing in timings.items()
        ),
    ]


def _known_line(games: Mapping[str, Mapping[str, Any]]) -> str:
    """The games with shipped values; with minimax or for other sizes where that helps."""
    shown = []
    for game, facts in games.items():
        more = ["minimax"] * (facts["backup"] == MINIMAX) + ["other sizes"] * facts["other_sizes"]
        shown.append(f"{game} ({', '.join(more)})" if more else game)
    return ", ".join(shown) or "none"


def _matches_line(games: Mapping[str, Mapping[str, Any]]) -> str:
    """The scores of the matches that end learning, as the files record them."""
    matches = {game: facts["match"] for game, facts in games.items() if facts["match"] is not None}
    scores = [
        f"{game}: {match['score']:.2f}{' (lost)' * match['lost']}"
        for game, match in matches.items()
    ]
    others = len(games) - len(matches)
    return ", ".join([*scores, *[f"{NOT_MEASURED} in {counted(others, 'file')}"] * (others > 0)])
