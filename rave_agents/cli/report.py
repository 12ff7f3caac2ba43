"""Tables of agents, games and the installation for people at a terminal."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import RaveAgentsError
from rave_agents.evaluators.learned_file import NOT_MEASURED
from rave_agents.evaluators.linear_value import MINIMAX
from rave_agents.frameworks.adapters import GameAbilities, adapters
from rave_agents.frameworks.agent import AgentType
from rave_agents.results.numbers import counted


def plain_table(**options: Any) -> Table:
    """A table without columns yet, in the style of all."""
    return Table(box=box.SIMPLE_HEAD, title_justify="left", **options)


def agents_table(types: Mapping[str, AgentType]) -> RenderableType:
    """Every agent's name and summary."""
    table = plain_table()
    table.add_column("agent", style="bold", no_wrap=True)
    table.add_column("what it is")
    for name, kind in sorted(types.items()):
        table.add_row(name, escape(kind.summary))
    return table


def parameters_table(kind: AgentType) -> RenderableType:
    """An agent's parameters and their defaults."""
    table = plain_table()
    table.add_column("parameter", style="bold")
    table.add_column("default", justify="right")
    inner = {} if kind.config is None else kind.config.parts_in_use()
    for name, value in kind.parameters.items():
        table.add_row(name, str(value))
        for place, item in inner.items():
            if place.startswith(f"{name}."):
                table.add_row("  " + place, str(item))
    return table


def agents_as_dicts(types: Mapping[str, AgentType]) -> list[dict[str, Any]]:
    """The agents as plain values; an infinite default is the string ``"inf"``, as in a spec."""
    return [
        {
            "name": name,
            "summary": kind.summary,
            "parameters": {key: _plain(value) for key, value in kind.parameters.items()},
        }
        for name, kind in sorted(types.items())
    ]


def find_games(part: str = "", *, everything: bool = False) -> list[dict[str, Any]]:
    """The games whose name or description has this part, capitals aside.

    Args:
        part: what to look for; everything has the empty string.
        everything: whether games that cannot be searched are listed, with the reason.
    """
    found: list[dict[str, Any]] = []
    for framework, adapter in sorted(adapters().items()):
        for game in adapter.games():
            matches = part.lower() in f"{game.name} {game.description}".lower()
            if not matches or not (game.supported or everything):
                continue
            row = {"framework": framework, **game._asdict()}
            if everything:
                row["reason"] = None if game.supported else _refusal(framework, game.name)
            found.append(row)
    return found


def games_table(games: Sequence[Mapping[str, Any]], *, reasons: bool) -> RenderableType:
    """The games that ``find_games`` found."""
    table = plain_table(caption=counted(len(games), "game"), caption_justify="left")
    table.add_column("game", style="bold", overflow="fold")
    table.add_column("description")
    table.add_column("framework")
    if reasons:
        table.add_column("why it cannot be searched")
    for game in games:
        cells = [game["name"], game["description"], game["framework"]]
        cells += [game["reason"] or ""] if reasons else []
        table.add_row(*map(escape, cells), style="" if game["supported"] else "dim")
    return table


def known_games_line(games: Mapping[str, Mapping[str, Any]]) -> str:
    """The games of which values are shipped; with minimax or for other sizes where that helps."""
    told = []
    for game, words in games.items():
        more = ["minimax"] * (words["backup"] == MINIMAX) + ["other sizes"] * words["other_sizes"]
        told.append(f"{game} ({', '.join(more)})" if more else game)
    return ", ".join(told) or "none"


def _matches_line(games: Mapping[str, Mapping[str, Any]]) -> str:
    """The matches that end learning, as the files record them."""
    told = [
        f"{game}: {words['match']['score']:.2f}{' (lost)' * words['match']['lost']}"
        for game, words in games.items()
        if words["match"] is not None
    ]
    others = len(games) - len(told)
    return ", ".join([*told, *[f"{NOT_MEASURED} in {counted(others, 'file')}"] * (others > 0)])


def doctor_table(findings: Mapping[str, Any]) -> RenderableType:
    """Table of the findings of ``rave_agents.cli.doctor.examine``."""
    table = plain_table(show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, version in findings["versions"].items():
        table.add_row(name, escape(version or "not installed"))
    for name, diagnosis in findings["adapters"].items():
        table.add_section()
        table.add_row(f"adapter {escape(name)}", "[green]installed[/]")
        for key, value in diagnosis.items():
            table.add_row(f"  {escape(key)}", escape(value))
    for name, missing in findings["missing_adapters"].items():
        table.add_section()
        table.add_row(f"adapter {escape(name)}", f"[yellow]missing[/]: {escape(missing['reason'])}")
        if missing["install"] is not None:
            table.add_row("  install it by", escape(missing["install"]))
    table.add_section()
    table.add_row("known games", escape(known_games_line(findings["known_games"])))
    table.add_row("  their matches", escape(_matches_line(findings["known_games"])))
    measured = [f"{game}: {elo:.0f} Elo" for game, elo in findings["levels"].items()]
    table.add_row("levels", escape(", ".join(measured) or "none"))
    table.add_section()
    kernel = findings["kernel"]
    compiled = "compiled when first needed, and kept"
    table.add_row(
        "search", compiled if kernel["compiles"] else "[yellow]interpreted: NUMBA_DISABLE_JIT[/]"
    )
    table.add_row("  its cache", escape(kernel["cache_directory"]))
    for name, timing in (findings["timings"] or {}).items():
        met = timing["measured"] <= timing["target"]
        seconds = f"[{'green' if met else 'yellow'}]{timing['measured']:.2f} s[/]"
        label = name.removesuffix("_seconds").replace("_", " ")
        table.add_row(f"  {label}", f"{seconds} (target {timing['target']:g} s)")
    return table


def _refusal(framework: str, name: str) -> str:
    try:
        game = adapters()[framework].load_game(name)
        GameAbilities(game).check_search(SearchConfig())
    except RaveAgentsError as error:
        return str(error).rpartition(" cannot be searched: ")[2]
    return ""


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
