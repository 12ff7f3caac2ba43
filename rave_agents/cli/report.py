"""Tables and progress bars for people at a terminal."""

import contextlib
import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from rave_agents.analysis.position_analysis import Analysis
from rave_agents.arena.bench import BenchResult
from rave_agents.arena.match import MatchResult
from rave_agents.arena.sweep import SweepResult
from rave_agents.cli.terminal import can_write
from rave_agents.config.search_config import SearchConfig
from rave_agents.errors import RaveAgentsError
from rave_agents.frameworks.adapters import adapters
from rave_agents.frameworks.agent import AgentType
from rave_agents.results.tables import aligned

ENDINGS_SHOWN = 10
"""Games that ended otherwise than by their rules, up to which all are named."""


@contextlib.contextmanager
def _stopped_if_started(progress: Progress) -> Iterator[None]:
    """Stop a bar in the end; if it was never shown, stopping it would print an empty line."""
    try:
        yield
    finally:
        if progress.live.is_started:
            progress.stop()


@contextlib.contextmanager
def match_progress(console: Console, games: int) -> Iterator[Callable[[MatchResult], None]]:
    """Show a bar with the running score, from the first call of the function that it gives."""
    columns = [BarColumn(24), MofNCompleteColumn(), TextColumn("{task.fields[score]}")]
    progress = Progress(*columns, TimeRemainingColumn(), console=console, transient=True)
    task = progress.add_task("", total=games, score="")

    def update(result: MatchResult) -> None:
        progress.start()
        low, high = result.score.interval
        score = f"{result.score}  {result.score.score:.3f} [{low:.3f}, {high:.3f}]"
        shown = escape(score) if result.records else ""
        progress.update(task, completed=len(result.records), score=shown)

    with _stopped_if_started(progress):
        yield update


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
def sweep_progress(console: Console) -> Iterator[Callable[[SweepResult], None]]:
    """Show the table of a sweep as it grows, from the first call of the function that it gives."""
    latest: list[SweepResult] = []
    live = Live(
        get_renderable=lambda: sweep_table(latest[0]) if latest else "",
        console=console,
        transient=True,
    )

    def update(result: SweepResult) -> None:
        latest[:] = [result]
        live.start()

    try:
        yield update
    finally:
        if live.is_started:
            live.stop()


def match_table(result: MatchResult) -> RenderableType:
    """A match's score, from the first agent's view, and the effort of both sides."""
    score = result.score
    endings = [f"game {number}: {escape(why)}" for number, why in result.endings.items()]
    if len(endings) > ENDINGS_SHOWN:
        endings[ENDINGS_SHOWN:] = [f"and {len(endings) - ENDINGS_SHOWN} more games"]
    table = plain_table(
        title=f"{escape(result.game)}, {_counted(score.games, 'game')}, seed {result.seed}",
        caption="\n".join(endings) or None,
        caption_justify="left",
    )
    table.add_column("")
    for agent in result.agents:
        table.add_column(escape(agent), justify="right", overflow="fold")
    low, high = score.interval
    elo_low, elo_high = score.elo_interval
    table.add_row("wins", str(score.wins), str(score.losses))
    table.add_row("draws", str(score.draws), str(score.draws))
    if any(result.faults):
        table.add_row("lost by faults", *map(str, result.faults))
    table.add_row("score", f"[bold]{score.score:.3f}[/]", f"{1 - score.score:.3f}")
    table.add_row("95 % interval", _interval(low, high), _interval(1 - high, 1 - low))
    table.add_row("Elo difference", f"[bold]{_elo(score.elo)}[/]", _elo(-score.elo))
    table.add_row(
        "95 % interval",
        f"{_elo(elo_low)} to {_elo(elo_high)}",
        f"{_elo(-elo_high)} to {_elo(-elo_low)}",
        end_section=not result.is_won_by_margins,
    )
    if result.is_won_by_margins:
        low, high = result.margin_interval
        table.add_row("mean margin", f"[bold]{result.margin:+.3g}[/]", f"{-result.margin:+.3g}")
        ends = (f"{low:+.3g} to {high:+.3g}", f"{-high:+.3g} to {-low:+.3g}")
        table.add_row("95 % interval", *ends, end_section=True)
    table.add_row("seconds a move", *map(_seconds, result.seconds_per_move))
    table.add_row("simulations a second", *map(whole, result.simulations_per_second))
    return table


def sweep_table(result: SweepResult) -> RenderableType:
    """Each cell's score, from the view of the agent that is varied; the best is marked."""
    planned = result.planned * len(result.cells)
    games = f"{result.finished} of {planned}" if result.finished < planned else f"{planned}"
    table = plain_table(
        title=f"{escape(f'{result.agent} against {result.opponent}')}\n"
        f"{escape(result.game)}, {games} games, seed {result.seed}",
        caption="\n".join(_sweep_notes(result)) or None,
        caption_justify="left",
        collapse_padding=True,
        pad_edge=False,
    )
    for name in result.cells[0].parameters:
        table.add_column(escape(name), justify="right", overflow="fold")
    for name in ("games", "score", "95 % interval", "Elo", "95 % interval", ""):
        table.add_column(name, justify="right", no_wrap=True)
    for index, cell in enumerate(result.cells):
        score, best = cell.match.score, index in result.best
        shown = ["-"] * 4
        if score.games:
            elo_low, elo_high = map(_elo, score.elo_interval)
            shown = [f"{score.score:.3f}", _interval(*score.interval), _elo(score.elo)]
            shown += [f"{elo_low} to {elo_high}"]
        values = [escape(str(value)) for value in cell.parameters.values()]
        table.add_row(
            *values, str(score.games), *shown, "best" if best else "", style="bold" if best else ""
        )
    return table


def _sweep_notes(result: SweepResult) -> list[str]:
    notes = [f"{escape(name)} changed no game" for name in result.idle]
    faults = sum(sum(cell.match.faults) for cell in result.cells)
    if faults:
        notes.append(f"{_counted(faults, 'game')} lost by faults, not by play")
    return notes


def write_sweep_csv(result: SweepResult, path: Path) -> None:
    """Write the table of a sweep; what is infinite is ``inf``, what is unknown is empty."""
    counts = ("games", "wins", "draws", "losses", "score", "score_low", "score_high")
    rows: list[list[Any]] = [[*result.cells[0].parameters, *counts, "elo", "elo_low", "elo_high"]]
    for cell in result.cells:
        score = cell.match.score
        counted = (score.games, score.wins, score.draws, score.losses)
        measured = (score.score, *score.interval, score.elo, *score.elo_interval)
        known = ("" if math.isnan(value) else value for value in measured)
        rows.append([*map(str, cell.parameters.values()), *counted, *known])
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def analysis(found: Analysis, rows: int) -> list[RenderableType]:
    """The position, a summary and the table of its moves, or the chosen move alone."""
    shown: list[RenderableType] = [escape(str(found.state).rstrip("\n")), ""]
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
    more = [f"[dim]and {_counted(hidden, 'more move')}, see --rows[/]"] if hidden > 0 else []
    joint: list[RenderableType] = []
    if found.result.joint is not None:
        joint = ["", escape(aligned(found.result.joint_cells()))]
    worlds = [] if found.result.worlds is None else [escape(found.result.worlds.summary())]
    return [*shown, escape(found.result.summary()), *worlds, "", table, *more, *joint]


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
    table = plain_table(caption=_counted(len(games), "game"), caption_justify="left")
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
    """What ``rave_agents.cli.doctor.examine`` found out."""
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


def plain_table(**options: Any) -> Table:
    """A table without columns yet, in the style of all."""
    return Table(box=box.SIMPLE_HEAD, title_justify="left", **options)


def _refusal(framework: str, name: str) -> str:
    try:
        game = adapters()[framework].load_game(name)
        getattr(game, "check_search", lambda config: None)(SearchConfig())
    except RaveAgentsError as error:
        return str(error).rpartition(" cannot be searched: ")[2]
    return ""


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _interval(low: float, high: float) -> str:
    return f"{low:.3f} to {high:.3f}"


def _infinity() -> str:
    return "∞" if can_write("∞") else "inf"


def _elo(difference: float) -> str:
    return f"{difference:+z.0f}".replace("inf", _infinity())


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def whole(value: float | None) -> str:
    """A number without decimals; - for None."""
    return "-" if value is None else f"{value:,.0f}".replace("inf", _infinity())
