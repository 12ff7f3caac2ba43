"""``report_page``: the games of a file as one page with ratings, pictures and replays."""

import base64
import html
import io
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rave_agents import __version__
from rave_agents.agents.named_agents import AgentSpec
from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.report_data import ReportData
from rave_agents.frameworks.plain_games import make_plain_game
from rave_agents.game.arguments import check_names
from rave_agents.game.plain_text import printable
from rave_agents.plots.curves import Curve, plot_curves
from rave_agents.plots.figures import Picture, rc_context
from rave_agents.plots.intervals import Estimate, plot_estimates
from rave_agents.records.fields import GREATEST
from rave_agents.records.record import GameRecord
from rave_agents.results.numbers import elo_text, finite
from rave_agents.web.page import escaped, search_figures, stored_game, stored_page
from rave_agents.web.pictures import plain_name
from rave_agents.web.replay import Step, reasons_against, replay

GAMES_SHOWN = 3
"""Default number of replayed games."""


def report_page(data: ReportData, *, games: int = GAMES_SHOWN, ask: Sequence[str] = ()) -> str:
    """Write a report as one page that contains everything.

    No agent of the file is created: a spec may name code and programs, and a file may come from
    anybody.

    Args:
        data: the data read by ``load_report``.
        games: number of replayed games, chosen among those of the best agents.
        ask: specs of agents as in the file; these search every position again.

    Raises:
        ValueError: if ``ask`` has a spec that no agent of the file has.
    """
    result = data.result
    asked = _asked(data, ask)
    shown, refused = _replays(data, list(_chosen_games(data, games)), asked)
    status = (
        f"{result.finished} of {result.all_planned} games, seed {result.seed}, rave-agents "
        f"{data.header.get('rave-agents', __version__)}"
    )
    several = len(result.games) > 1
    above = [
        f"<p>{escaped(', '.join(result.games))}</p>" if several else "",
        _section("Ratings", result.game_tables(None)[0].html(), _ratings_note(data)),
        _image(result.plot(), "ratings with intervals"),
        _section("Cross table", _cross_table(data), "Mean score of the row's agent."),
    ]
    for unit in ("simulations", "seconds"):
        curves = _strengths(data, unit)
        if any(len(curve.simulations) > 1 for curve in curves.values()):
            picture = plot_curves(curves, label="Elo")
            picture.axes[0].set_xlabel(f"{unit} a move")
            above.append(_section("Strength", _image(picture, "strength over limits")))
            break
    above.append(_section("Time", _image(_seconds_picture(data), "time a move")))
    if several:
        tables = [
            f"<details><summary>{escaped(game)}</summary>"
            f"{result.game_tables(game)[0].html()}{_cross_table(data, game)}</details>"
            for game in result.games
        ]
        above.append(_section("By game", "".join(tables)))
    if shown or refused:
        note = (
            "Numbers on the board show the agent's search; the dashed ring is the move it played."
        )
        above.append(_section("Games", "".join(refused), note))
    # The tables follow from the other settings.
    header = {key: value for key, value in data.header.items() if key not in ("by", "tables")}
    settings = escaped(json.dumps(header, indent=1, ensure_ascii=False))
    played = data.header.get("format", "rave-agents")
    made = f"Played by {played} with these settings, and shown by rave-agents report --html."
    below = _section("Settings", f"<pre>{settings}</pre>", made)
    return stored_page(
        _title(data),
        status,
        shown,
        f'<div class="report">{"".join(above)}</div>',
        f'<div class="report">{below}</div>',
    )


def _title(data: ReportData) -> str:
    agents, games = data.result.agents, data.result.games
    who = " and ".join(agents) if len(agents) == 2 else f"{len(agents)} agents"
    what = games[0] if len(games) == 1 else f"{len(games)} games"
    return f"{data.what.capitalize()} of {who} in {what}"


def _section(title: str, content: str, note: str = "") -> str:
    remark = f"<p><small>{escaped(note)}</small></p>" if note else ""
    return f'<section><h2>{escaped(title)}</h2>{remark}<div class="wide">{content}</div></section>'


def _ratings_note(data: ReportData) -> str:
    note = "Maximum likelihood (Bradley-Terry, a draw is half a win), 95 % intervals from pairs."
    best, *others = data.result.ratings().order
    if others:
        value, (low, high) = data.result.ratings().difference(best, others[0])
        if math.isfinite(value):
            note += f" {best} is {elo_text(value)} above {others[0]}"
            note += f" ({elo_text(low)} to {elo_text(high)})."
        elif math.isfinite(low):
            note += f" {best} is at least {elo_text(low)} above {others[0]}."
    return note


def _cross_table(data: ReportData, game: str | None = None) -> str:
    """Scores of the row's agent, from red for 0 to green for 1."""
    order = data.result.ratings(game).order
    rows = []
    for place, (name, scores) in enumerate(
        zip(order, data.result.cross_table(game), strict=True), 1
    ):
        cells = "".join(
            "<td></td>"
            if math.isnan(score)
            else f'<td class="score" style="background:hsl({120 * score:.0f} 65% 70%)">'
            f"{score:.2f}</td>"
            for score in scores
        )
        rows.append(f"<tr><td>{place}</td><td>{escaped(name)}</td>{cells}</tr>")
    head = "".join(f"<th>{place}</th>" for place in range(1, len(order) + 1))
    return f"<table><tr><th></th><th>agent</th>{head}</tr>{''.join(rows)}</table>"


def _strengths(data: ReportData, unit: str) -> dict[str, Curve]:
    """Ratings over a limit, a curve for each group of agents that differ in this limit alone."""
    ratings = data.result.ratings()
    points: dict[str, list[tuple[float, float, float, float]]] = {}
    for name, spec in data.specs.items():
        limit: Any = None if spec is None else spec.parameters.get(unit)
        if spec is None or not _is_limit(limit) or not math.isfinite(ratings[name]):
            continue
        rest = {key: value for key, value in spec.parameters.items() if key != unit}
        low, high = (end if math.isfinite(end) else math.nan for end in ratings.interval(name))
        kind = str(type(spec)(spec.name, rest))
        points.setdefault(kind, []).append((float(limit), ratings[name], low, high))
    return {kind: Curve(*zip(*sorted(found), strict=True)) for kind, found in points.items()}


def _is_limit(value: Any) -> bool:
    """True if a parameter from a file is a number for a logarithmic axis."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 < value <= GREATEST


def _seconds_picture(data: ReportData) -> Picture:
    spent = {name: [0, 0.0] for name in data.result.agents}
    for match in data.result.matches:
        for name, effort in zip(match.agents, match.efforts, strict=True):
            spent[name][0] += effort.moves
            spent[name][1] += effort.seconds
    means = [
        Estimate(name, 1000 * spent[name][1] / spent[name][0])
        for name in data.result.ratings().order
        if spent[name][0]
    ]
    picture = plot_estimates(means, label="milliseconds a move")
    if means and all(mean.value > 0 for mean in means):
        picture.axes[0].set_xscale("log")
    return picture


def _image(picture: Picture, label: str) -> str:
    data = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "rave-agents"}):
        picture.savefig(data, format="svg", metadata={"Date": None})
    text = base64.b64encode(data.getvalue()).decode("ascii")
    width, height = picture.get_size_inches()
    return (
        f'<img src="data:image/svg+xml;base64,{text}" alt="{html.escape(label)}" '
        f'width="{96 * width:.0f}" height="{96 * height:.0f}" loading="lazy">'
    )


def _chosen_games(data: ReportData, count: int) -> Iterator[tuple[MatchResult, GameRecord]]:
    order = {name: place for place, name in enumerate(data.result.ratings().order)}
    # The pairing of the highest ranks in each game.
    best = []
    for game in data.result.games:
        played = [match for match in data.result.matches if match.game == game and match.records]
        best += sorted(played, key=lambda match: sum(order[name] for name in match.agents))[:1]
    most = max((len(match.records) for match in best), default=0)
    chosen = (
        (match, match.records[turn])
        for turn in range(most)
        for match in best
        if turn < len(match.records)
    )
    yield from itertools.islice(chosen, count)


def _asked(data: ReportData, ask: Sequence[str]) -> dict[str, AgentSpec]:
    """The agents that search again, by name: those with the same specs."""
    specs = dict(zip(data.result.agents, data.result.specs, strict=True))
    check_names("agent to ask", ask, specs.values(), ValueError)
    return {name: AgentSpec.parse(text) for name, text in specs.items() if text in ask}


def _replays(
    data: ReportData,
    chosen: Sequence[tuple[MatchResult, GameRecord]],
    asked: Mapping[str, AgentSpec],
) -> tuple[list[dict[str, Any]], list[str]]:
    """The games that can be replayed, and a paragraph on each of the others."""
    shown, refused = [], []
    # In another process first: a file can name a game that takes all memory, or crashes.
    reasons = reasons_against([(match.game, match.seed, record) for match, record in chosen])
    for (match, record), why in zip(chosen, reasons, strict=True):
        seats = [match.agents[(seat + record.first_seat) % 2] for seat in (0, 1)]
        outcome = f"{record.returns[0]:g} : {record.returns[1]:g}"
        title = f"{match.game}, game {record.number + 1}: {seats[0]} against {seats[1]}, {outcome}"
        reason = why
        try:
            if not reason:
                shown.append(_replayed(match, record, asked, title))
        except Exception as error:  # The results remain readable even if the game raises.
            reason = str(error) or type(error).__name__
        if reason:
            refused.append(
                f"<p>{escaped(title)}: it cannot be replayed here ({escaped(reason)}).</p>"
            )
    return shown, refused


def _replayed(
    match: MatchResult, record: GameRecord, asked: Mapping[str, AgentSpec], title: str
) -> dict[str, Any]:
    agents = asked.get(match.agents[0]), asked.get(match.agents[1])
    replayed = list(replay(make_plain_game(match.game), agents, record, match.seed))
    steps, turns = [], []
    for number, step in enumerate(replayed):
        figures = None if step.result is None else search_figures(step.result, number)
        said = printable(_sentence(step, number, match.agents))
        steps.append({"said": said, "thought": figures})
        if step.ply.actions:
            turns.append(
                {
                    "player": int(step.ply.state.current_player()),
                    "names": [*map(printable, step.ply.names)],
                    "value": None if step.result is None else finite(step.result.value_for(0)),
                    "word": "",
                }
            )
    played = [step.ply.actions[0] if len(step.ply.actions) == 1 else None for step in replayed]
    why = f" ({record.ending})" if record.ending else ""
    return stored_game(
        printable(title + why),
        plain_name(match.game),
        [step.ply.state for step in replayed],
        played[:-1],
        steps=steps,
        turns=turns,
        rings={n: (n, action) for n, action in enumerate(played) if action is not None},
    )


def _sentence(step: Step, number: int, agents: tuple[str, str]) -> str:
    move = ", ".join(step.ply.names)
    if not step.ply.actions:
        return "The end."
    if step.mover is not None:
        return f"{number + 1}. {agents[step.mover]} plays {move}"
    # Nobody chose a move of the opening.
    why = "" if len(step.ply.players) > 1 else " (opening or chance)"
    return f"{number + 1}. {move}{why}"
