"""A report as a single self-contained page, also readable on a phone."""

import html
import json
import math
from collections.abc import Iterator, Mapping, Sequence

from rave_agents import __version__
from rave_agents.agents.named_agents import AgentSpec
from rave_agents.arena import report_pictures as pictures
from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.replay import Step, replay
from rave_agents.arena.replay_check import Replayable, reasons_against
from rave_agents.arena.report_data import ReportData
from rave_agents.frameworks.plain_games import make_plain_game
from rave_agents.game.arguments import check_names
from rave_agents.game.plain_text import printable
from rave_agents.records.record import GameRecord
from rave_agents.results.numbers import elo_text

GAMES_SHOWN = 3
"""Default number of replayed games."""

MOVES_SHOWN = 6
"""Number of moves in the table of an agent's search."""

_STYLE = """
:root{color-scheme:light;font:16px/1.45 system-ui,sans-serif;color:#222;background:#fff}
body{max-width:62rem;margin:0 auto;padding:0 1rem 3rem;overflow-wrap:anywhere}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2.2rem}
img{max-width:100%;height:auto}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.85rem;white-space:nowrap}
th,td{padding:.25rem .55rem;text-align:right;border-bottom:1px solid #ddd}
th:nth-child(2),td:nth-child(2){text-align:left}
.thoughts th:first-child,.thoughts td:first-child{text-align:left}
td.heat{text-align:center;border:1px solid #fff}
pre{overflow-x:auto;background:#f6f6f6;padding:.6rem}
.game{border:1px solid #ddd;border-radius:.5rem;padding:.8rem;margin:1rem 0}
.controls{display:flex;gap:.5rem;align-items:center;margin:.6rem 0}
.controls input{flex:1;min-width:0}
button{font:inherit;padding:.3rem .8rem}
.step{display:flex;flex-wrap:wrap;gap:1rem}.step>*{min-width:0}
.step[hidden]{display:none}
small{color:#666}
"""

_SCRIPT = """
for (const game of document.querySelectorAll('.game')) {
  const steps = [...game.querySelectorAll('.step')];
  const slider = game.querySelector('input');
  const show = (number) => {
    slider.value = Math.max(0, Math.min(steps.length - 1, number));
    steps.forEach((step, index) => { step.hidden = index !== Number(slider.value); });
  };
  slider.addEventListener('input', () => show(Number(slider.value)));
  const [back, on] = game.querySelectorAll('button');
  back.addEventListener('click', () => show(Number(slider.value) - 1));
  on.addEventListener('click', () => show(Number(slider.value) + 1));
  show(steps.length - 1);
}
"""


def report_page(data: ReportData, *, games: int = GAMES_SHOWN, ask: Sequence[str] = ()) -> str:
    """Make the page.

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
    title = _title(data)
    planned = result.all_planned
    games_played = f"<p>{_text(', '.join(result.games))}</p>" if len(result.games) > 1 else ""
    parts = [
        f"<h1>{_text(title)}</h1>{games_played}",
        f"<p>{result.finished} of {planned} games, seed {result.seed}, rave-agents "
        f"{_text(data.header.get('rave-agents', __version__))}</p>",
        _section("Ratings", _ratings(data), _ratings_note(data)),
    ]
    parts.append(pictures.image(data.result.plot(), "ratings with intervals"))
    parts.append(_section("Cross table", _cross_table(data), "Mean score of the row's agent."))
    strength = pictures.strength_picture(data)
    if strength is not None:
        parts.append(_section("Strength", pictures.image(strength, "strength over limits")))
    parts.append(_section("Time", pictures.image(pictures.seconds_picture(data), "seconds a move")))
    if len(result.games) > 1:
        tables = [
            f"<details><summary>{_text(game)}</summary>{_game_table(data, game)}</details>"
            for game in result.games
        ]
        parts.append(_section("By game", "\n".join(tables)))
    replays = _replays(data, list(_chosen_games(data, games)), asked)
    if replays:
        note = "Numbers on the board are visits; the ring is the move that was played."
        parts.append(_section("Games", "\n".join(replays), note))
    settings = json.dumps(dict(data.header), indent=1, ensure_ascii=False)
    played = data.header.get("format", "rave-agents")
    made = f"Played by {played} with these settings, and shown by rave-agents report --html."
    parts.append(_section("Settings", f"<pre>{_text(settings)}</pre>", made))
    return _PAGE.format(title=_text(title), style=_STYLE, body="\n".join(parts), script=_SCRIPT)


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
<script>{script}</script>
</body>
</html>
"""


def _title(data: ReportData) -> str:
    """The kind of event, the agents and the game."""
    agents, games = data.result.agents, data.result.games
    who = " and ".join(agents) if len(agents) == 2 else f"{len(agents)} agents"
    what = games[0] if len(games) == 1 else f"{len(games)} games"
    return f"{data.what.capitalize()} of {who} in {what}"


def _text(value: object) -> str:
    return html.escape(printable(str(value), lines=True))


def _section(title: str, content: str, note: str = "") -> str:
    remark = f"<p><small>{_text(note)}</small></p>" if note else ""
    return f"<section><h2>{_text(title)}</h2>{remark}{content}</section>"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    head = "".join(f"<th>{_text(cell)}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table class="{kind}"><tr>{head}</tr>{body}</table></div>'


def _ratings(data: ReportData, game: str | None = None) -> str:
    header, *rows = data.result.game_tables(game)[0].rows
    return _table(header, rows)


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
    order = data.result.ratings(game).order
    cells = []
    for place, (name, scores) in enumerate(
        zip(order, data.result.cross_table(game), strict=True), 1
    ):
        heat = "".join(
            "<td></td>"
            if math.isnan(score)
            else f'<td class="heat" style="background:{pictures.heat_colour(score)};color:#111">'
            f"{score:.2f}</td>"
            for score in scores
        )
        cells.append(f"<tr><td>{place}</td><td>{_text(name)}</td>{heat}</tr>")
    head = "".join(f"<th>{place}</th>" for place in range(1, len(order) + 1))
    body = "".join(cells)
    return f'<div class="wide"><table><tr><th></th><th>agent</th>{head}</tr>{body}</table></div>'


def _game_table(data: ReportData, game: str) -> str:
    return _ratings(data, game) + _cross_table(data, game)


def _chosen_games(data: ReportData, count: int) -> Iterator[tuple[int, GameRecord]]:
    """Games between the best agents: first one of each game, then more."""
    order = {name: place for place, name in enumerate(data.result.ratings().order)}

    def places(index: int) -> int:
        return sum(order[name] for name in data.result.matches[index].agents)

    best = []
    for game in data.result.games:
        played = [i for i, m in enumerate(data.result.matches) if m.game == game and m.records]
        best += sorted(played, key=places)[:1]
    number = 0
    while best and count > 0:
        index, turn = best[number % len(best)], number // len(best)
        records = data.result.matches[index].records
        if turn < len(records):
            yield index, records[turn]
            count -= 1
        elif all(turn >= len(data.result.matches[i].records) for i in best):
            return
        number += 1


def _asked(data: ReportData, ask: Sequence[str]) -> dict[str, AgentSpec]:
    """The agents that search again, by name: those with the same specs."""
    specs = dict(zip(data.result.agents, data.result.specs, strict=True))
    check_names("agent to ask", ask, specs.values(), ValueError)
    return {name: AgentSpec.parse(text) for name, text in specs.items() if text in ask}


def _replays(
    data: ReportData, chosen: Sequence[tuple[int, GameRecord]], asked: Mapping[str, AgentSpec]
) -> list[str]:
    matches = data.result.matches
    games = [Replayable(matches[i].game, matches[i].seed, record) for i, record in chosen]
    return [
        _replayed(matches[index], record, asked, reason)
        for (index, record), reason in zip(chosen, reasons_against(games), strict=True)
    ]


def _replayed(
    match: MatchResult, record: GameRecord, asked: Mapping[str, AgentSpec], reason: str
) -> str:
    seats = [match.agents[(seat + record.first_seat) % 2] for seat in (0, 1)]
    outcome = f"{record.returns[0]:g} : {record.returns[1]:g}"
    title = f"{match.game}, game {record.number + 1}: {seats[0]} against {seats[1]}, {outcome}"
    why = f" ({record.ending})" if record.ending else ""
    steps = []
    try:
        agents = asked.get(match.agents[0]), asked.get(match.agents[1])
        if not reason:
            replayed = replay(make_plain_game(match.game), agents, record, match.seed)
            shown = list(replayed)
            steps = [
                _step(step, n, match.agents, last=n == len(shown) - 1)
                for n, step in enumerate(shown)
            ]
    except Exception as error:  # The results remain readable even if the game raises.
        reason = str(error) or type(error).__name__
    if reason:
        return f"<p>{_text(title)}: it cannot be replayed here ({_text(reason)}).</p>"
    last = len(steps) - 1
    controls = (
        '<div class="controls"><button type="button" aria-label="back">‹</button>'
        f'<input type="range" min="0" max="{last}" value="{last}" aria-label="move">'
        '<button type="button" aria-label="on">›</button></div>'
    )
    return (
        f'<div class="game"><strong>{_text(title + why)}</strong>{controls}{"".join(steps)}</div>'
    )


def _step(step: Step, number: int, agents: tuple[str, str], *, last: bool) -> str:
    """One position of a replay; the last one is shown first."""
    picture = pictures.position_picture(step)
    shown = (
        f"<pre>{_text(str(step.state).rstrip())}</pre>"
        if picture is None
        else pictures.image(picture, f"position {number}")
    )
    if not step.move:
        what = "The end."
    elif step.mover is not None:
        what = f"{number + 1}. {agents[step.mover]} plays {step.move}"
    else:
        what = f"{number + 1}. {step.move} (opening or chance)"
    thoughts = ""
    if step.result is not None:
        header, *rows = step.result.tables(MOVES_SHOWN)[0].rows
        thoughts = _table(header, rows, "thoughts")
    hidden = "" if last else " hidden"
    return (
        f'<div class="step"{hidden}><div>{shown}</div>'
        f"<div><p>{_text(what)}</p>{thoughts}</div></div>"
    )
