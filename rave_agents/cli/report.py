"""Tables and progress bars for people at a terminal."""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rave_agents.analysis.learn import Progress as Learned
from rave_agents.analysis.position_analysis import Analysis
from rave_agents.arena.bench import BenchResult
from rave_agents.cli.arena_tables import counted, plain_table, whole
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import RaveAgentsError
from rave_agents.frameworks.adapters import adapters
from rave_agents.frameworks.agent import AgentType
from rave_agents.game.notation import position_text
from rave_agents.results.tables import aligned


@contextlib.contextmanager
def _stopped_if_started(progress: Progress) -> Iterator[None]:
    """Stop a bar in the end; if it was never shown, stopping it would print an empty line."""
    try:
        yield
    finally:
        if progress.live.is_started:
            progress.stop()


@contextlib.contextmanager
def bench_progress(
    console: Console, games: Sequence[str], rounds: int
) -> Iterator[Callable[[str, int], None]]:
    """Show a bar with the current game, from the first call of the function that it gives."""
    columns = [BarColumn(24), MofNCompleteColumn(), TextColumn("{task.fields[game]}")]
    progress = Progress(*columns, TimeRemainingColumn(), console=console, transient=True)
    task = progress.add_task("", total=len(games) * max(rounds, 0), game="")

    def update(game: str, finished: int) -> None:
        progress.start()
        progress.update(task, advance=min(finished, 1), game=escape(game))

    with _stopped_if_started(progress):
        yield update


@contextlib.contextmanager
def learn_progress(console: Console, games: int) -> Iterator[Callable[[Learned], None]]:
    """Show a bar with what was learned, from the first call of the function that it gives."""
    columns = [BarColumn(24), MofNCompleteColumn(), TextColumn("{task.fields[told]}")]
    progress = Progress(*columns, TimeRemainingColumn(), console=console, transient=True)
    task = progress.add_task("", total=games, told="")

    def update(learned: Learned) -> None:
        loss = "" if math.isnan(learned.loss) else f", loss {learned.loss:.3f}"
        progress.start()
        progress.update(
            task, completed=learned.games, told=f"{whole(learned.positions)} positions{loss}"
        )

    with _stopped_if_started(progress):
        yield update


def analysis(found: Analysis, rows: int) -> list[RenderableType]:
    """The position, a summary and the table of its moves, or the chosen move alone."""
    shown: list[RenderableType] = [escape(position_text(found.state).rstrip("\n")), ""]
    if found.result is None:
        return [*shown, f"player {found.player} plays [bold]{escape(found.action_name)}[/]"]
    header, *lines = found.result.table(rows)
    table = plain_table()
    for index, name in enumerate(header):
        if index == 0:
            table.add_column(name, overflow="fold")
        else:
            table.add_column(name, justify="right", min_width=len(name))
    for index, line in enumerate(lines):
        table.add_row(*map(escape, line), style="bold" if index == 0 else "")
    hidden = len(found.result.actions) - len(lines)
    more = [f"[dim]and {counted(hidden, 'more move')}, see --rows[/]"] if hidden > 0 else []
    joint: list[RenderableType] = []
    if found.result.joint is not None:
        joint = ["", escape(aligned(found.result.joint_cells()))]
    said = [escape(line) for line in (found.result.summary(), *found.result.remarks)]
    return [*shown, *said, "", table, *more, *joint]


def bench_table(result: BenchResult, baseline: str) -> RenderableType:
    """Simulations per second and ratios, game by game."""
    table = plain_table(title=f"simulations a second, beside {escape(baseline)}")
    for name in ("game", "agent"):
        table.add_column(name, overflow="fold")
    for name in ("agent's", "baseline's", "ratio"):
        table.add_column(name, justify="right")
    game = None
    for row in result.rows:
        if game not in (None, row.game):
            table.add_section()
        speeds = (whole(row.simulations_per_second), whole(row.baseline_simulations_per_second))
        name = "" if game == row.game else escape(row.game)
        table.add_row(name, escape(row.agent), *speeds, f"{row.ratio:.2f}")
        game = row.game
    table.add_section()
    for agent, ratio in result.geometric_mean.items():
        table.add_row("geometric mean", escape(agent), "", "", f"[bold]{ratio:.2f}[/]")
    return table


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


def find_games(part: str, *, everything: bool) -> list[dict[str, Any]]:
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
        getattr(game, "check_search", lambda config: None)(SearchConfig())
    except RaveAgentsError as error:
        return str(error).rpartition(" cannot be searched: ")[2]
    return ""


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
