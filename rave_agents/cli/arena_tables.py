"""Tables of matches, sweeps and tournaments for people at a terminal."""

import contextlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.race_result import RaceResult
from rave_agents.arena.scaling import ScalingResult
from rave_agents.arena.sweep import SweepResult
from rave_agents.arena.tournament_result import TournamentResult
from rave_agents.cli.terminal import can_write
from rave_agents.errors import UnsupportedGameError
from rave_agents.files import written_whole
from rave_agents.results.tables import csv_text

ENDINGS_SHOWN = 10
"""Games that ended otherwise than by their rules, up to which all are named."""


def match_table(result: MatchResult) -> RenderableType:
    """A match's score, from the first agent's view, and the effort of both sides."""
    score = result.score
    endings = [f"game {number}: {escape(why)}" for number, why in result.endings.items()]
    if len(endings) > ENDINGS_SHOWN:
        endings[ENDINGS_SHOWN:] = [f"and {len(endings) - ENDINGS_SHOWN} more games"]
    table = plain_table(
        title=f"{escape(result.game)}, {counted(score.games, 'game')}, seed {result.seed}",
        caption="\n".join(endings) or None,
        caption_justify="left",
    )
    table.add_column("")
    for agent in result.agents:
        table.add_column(escape(agent), justify="right", overflow="fold")
    low, high = result.interval
    elo_low, elo_high = result.elo_interval
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
    if result.sprt is not None:
        _add_test(table, result)
    table.add_row("seconds a move", *map(_seconds, result.seconds_per_move))
    table.add_row("simulations a second", *map(whole, result.simulations_per_second))
    return table


def _add_test(table: Table, result: MatchResult) -> None:
    assert result.sprt is not None
    low, high = result.sprt.bounds
    verdict = {None: "not decided", "elo0": "no", "elo1": "yes"}[result.verdict]
    table.add_row("pairs with 0, ½, 1, 1½, 2", " ".join(map(str, result.pairs.counts)), "")
    table.add_row("log-likelihood ratio", f"{result.llr:+.2f} of {low:+.2f} to {high:+.2f}", "")
    question = f"{result.sprt.elo1:+g} rather than {result.sprt.elo0:+g}?"
    table.add_row(question, f"[bold]{verdict}[/]", "", end_section=True)


def scaling_table(result: ScalingResult) -> RenderableType:
    """An agent's strength by its limit."""
    table = plain_table(title=escape(result.title), collapse_padding=True, pad_edge=False)
    header, *rows = result.table()
    for name in header:
        table.add_column(name, justify="left" if name == "against" else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def race_table(result: RaceResult) -> RenderableType:
    """The agents of a race, those that are left first."""
    header, *rows = result.table()
    title = f"{result.game}, {counted(result.finished, 'game')}, seed {result.seed}"
    return _agents_table(header, rows, escape(title))


def standings_table(result: TournamentResult, game: str | None = None) -> RenderableType:
    """The agents of a tournament, the best first, and their scores against each other."""
    games = result.planned * len(result.matches)
    played = f"{result.finished} of {games}" if result.finished < games else f"{games}"
    where = game or (result.games[0] if len(result.games) == 1 else f"{len(result.games)} games")
    title = escape(where) if game else f"{escape(where)}, {played} played, seed {result.seed}"
    header, *rows = result.table(game)
    agents = len(result.agents)
    ratings = _agents_table(header[:-agents], [row[:-agents] for row in rows], title)
    cross = _agents_table(
        [*header[:2], *header[-agents:]], [[*row[:2], *row[-agents:]] for row in rows], "against"
    )
    return Group(ratings, cross)


def _agents_table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> Table:
    table = plain_table(title=title, collapse_padding=True, pad_edge=False)
    for name in header:
        if name == "agent":
            table.add_column(name, overflow="fold", style="bold", min_width=5)
        else:
            table.add_column(name, justify="right", overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def tournament_tables(result: TournamentResult) -> list[RenderableType]:
    """The final tables of a tournament; they hold nothing that the machine's speed decides."""
    shown = [standings_table(result)]
    if len(result.games) > 1:
        shown += [standings_table(result, game) for game in result.games]
    for game in (None, *(result.games if len(result.games) > 1 else ())):
        if not result.is_transitive(game):
            shown.append(_alpha_rank_line(result, game))
    return shown


def write_standings_csv(result: TournamentResult, path: Path) -> None:
    """Write the ratings, over all games and in each; what is unknown is empty."""
    header = ["game", "agent", "elo", "elo_low", "elo_high", "games", "score"]
    rows: list[list[Any]] = [[*header, "wins", "draws", "losses", "faults"]]
    for game in (None, *result.games):
        for row in result.standings(game):
            score = row.score
            measured = (row.elo, *row.interval)
            known = ["" if math.isnan(value) else value for value in measured]
            share = "" if math.isnan(score.score) else score.score
            counts = [score.wins, score.draws, score.losses, row.faults]
            rows.append([game or "all", row.agent, *known, score.games, share, *counts])
    _write_csv(path, rows)


def _alpha_rank_line(result: TournamentResult, game: str | None) -> RenderableType:
    where = "" if game is None else f"{game}: "
    line = f"{where}agents beat each other in a circle"
    with contextlib.suppress(UnsupportedGameError):
        shares = (f"{name} {share:.3f}" for name, share in result.alpha_rank(game).items())
        line += f"; alpha-rank: {', '.join(shares)}"
    return Text(line)


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
            elo_low, elo_high = map(_elo, cell.match.elo_interval)
            shown = [f"{score.score:.3f}", _interval(*cell.match.interval), _elo(score.elo)]
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
        notes.append(f"{counted(faults, 'game')} lost by faults, not by play")
    return notes


def write_sweep_csv(result: SweepResult, path: Path) -> None:
    """Write the table of a sweep; what is infinite is ``inf``, what is unknown is empty."""
    counts = ("games", "wins", "draws", "losses", "score", "score_low", "score_high")
    rows: list[list[Any]] = [[*result.cells[0].parameters, *counts, "elo", "elo_low", "elo_high"]]
    for cell in result.cells:
        score = cell.match.score
        counted = (score.games, score.wins, score.draws, score.losses)
        match = cell.match
        measured = (score.score, *match.interval, score.elo, *match.elo_interval)
        known = ("" if math.isnan(value) else value for value in measured)
        rows.append([*map(_csv_value, cell.parameters.values()), *counted, *known])
    _write_csv(path, rows)


def _csv_value(value: Any) -> Any:
    return value if isinstance(value, int | float) else str(value)


def _write_csv(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    with written_whole(path, "w", encoding="utf-8", newline="") as file:
        file.write(csv_text(rows))


def plain_table(**options: Any) -> Table:
    """A table without columns yet, in the style of all."""
    return Table(box=box.SIMPLE_HEAD, title_justify="left", **options)


def _interval(low: float, high: float) -> str:
    return f"{low:.3f} to {high:.3f}"


def _infinity() -> str:
    return "∞" if can_write("∞") else "inf"


def _elo(difference: float) -> str:
    return f"{difference:+z.0f}".replace("inf", _infinity())


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def whole(value: float | None) -> str:
    """A number without decimals; - for None."""
    return "-" if value is None else f"{value:,.0f}".replace("inf", _infinity())
