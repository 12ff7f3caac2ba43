"""A review as one page: the board to step through, the win curve, the mistakes in sentences."""

import html
import json
import math

from rave_agents.analysis.review_result import Review, ReviewedMove
from rave_agents.game.notation import position_text
from rave_agents.game.plain_text import printable
from rave_agents.plots.board import Board
from rave_agents.plots.board_memory import BoardMemory
from rave_agents.plots.board_svg import STYLE, board_svg, pieces_svg, ring_svg
from rave_agents.web.pictures import plain_name

_STYLE = """
:root{color-scheme:light dark;--ground:#faf9f6;--card:#fff;--ink:#22201c;--quiet:#6d6759;
--edge:#e2ddd1;--accent:#4f46e5;--blunder:#c2261b;--mistake:#c05a00;--inaccuracy:#9a7a00;
font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;color:var(--ink);
background:var(--ground)}
@media (prefers-color-scheme:dark){:root{--ground:#171614;--card:#211f1c;--ink:#ece8df;
--quiet:#a39c8c;--edge:#3a3732;--accent:#a5b4fc;--blunder:#ff8a7d;--mistake:#ffb066;
--inaccuracy:#e7cf6b}}
*{box-sizing:border-box}[hidden]{display:none!important}
body{margin:0 auto;max-width:72rem;padding:1rem 1.25rem 3rem}
h1{font-size:1.25rem;margin:0}h2{font-size:.8rem;margin:0 0 .5rem;color:var(--quiet)}
header p{margin:.1rem 0 .9rem;color:var(--quiet)}
main{display:grid;grid-template-columns:minmax(0,1.25fr) minmax(0,1fr);gap:1.25rem;
align-items:start}
section{background:var(--card);border:1px solid var(--edge);border-radius:.8rem;
padding:.9rem 1rem;margin-bottom:.9rem}
#board{max-width:min(100%,70vh);margin:0 auto}
.board .best{fill:none;stroke:var(--accent);stroke-width:3;stroke-dasharray:5 4}
pre{margin:0;padding:.9rem;border-radius:.5rem;background:var(--ground);overflow:auto;
font:.9rem/1.5 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
.steps{display:flex;gap:.5rem;align-items:center;margin:.8rem 0 .4rem}
.steps input{flex:1;min-width:0;accent-color:var(--accent)}
button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--edge);
border-radius:.5rem;padding:.3rem .8rem;min-height:2.2rem;cursor:pointer}
button:hover{border-color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
#told{min-height:3.2rem;margin:0}
.curve{display:block;width:100%;height:8.5rem;cursor:pointer}
.curve .path{fill:none;stroke:var(--accent);stroke-width:2;stroke-linejoin:round;
vector-effect:non-scaling-stroke}
.curve .zero{stroke:var(--edge);vector-effect:non-scaling-stroke}
.curve .here{stroke:var(--quiet);stroke-dasharray:3 3;vector-effect:non-scaling-stroke}
.curve .dot{stroke:none}
.dot.blunder{fill:var(--blunder)}.dot.mistake{fill:var(--mistake)}
.dot.inaccuracy{fill:var(--inaccuracy)}
.error{display:block;width:100%;text-align:left;margin:0 0 .5rem;padding:.5rem .75rem;
font-size:.93rem;border-left-width:4px}
.error.blunder{border-left-color:var(--blunder)}.error.mistake{border-left-color:var(--mistake)}
.error.inaccuracy{border-left-color:var(--inaccuracy)}
#moves{margin:0;padding-left:2.2rem;display:grid;grid-template-columns:1fr 1fr;column-gap:2.4rem;
max-height:14rem;overflow:auto;font-size:.92rem}
#moves a{color:inherit;text-decoration:none;padding:0 .25rem;border-radius:.25rem}
#moves a[aria-current]{background:var(--accent);color:var(--card)}
#moves .blunder{color:var(--blunder)}#moves .mistake{color:var(--mistake)}
#moves .inaccuracy{color:var(--inaccuracy)}
#moves a[aria-current].blunder,#moves a[aria-current].mistake,#moves a[aria-current].inaccuracy{
color:var(--card)}
.quiet,small{color:var(--quiet)}
@media (max-width:760px){body{padding:.7rem}main{grid-template-columns:minmax(0,1fr);gap:0}}
"""

_SCRIPT = """
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
let here = 0;
function show(number) {
  here = Math.max(0, Math.min(data.length - 1, number));
  const step = data[here];
  if (step.svg) $("board").innerHTML = step.svg;
  const pieces = document.querySelector("#board .pieces");
  if (pieces && step.pieces !== null) pieces.innerHTML = step.pieces;
  $("board").hidden = !step.svg && step.pieces === null;
  $("text").hidden = !$("board").hidden;
  $("text").textContent = step.text;
  $("told").textContent = step.told;
  $("slider").value = here;
  const line = document.querySelector(".curve .here");
  if (line) for (const end of ["x1", "x2"]) line.setAttribute(end, step.x);
  for (const link of document.querySelectorAll("#moves a")) {
    if (Number(link.dataset.step) === here) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  }
}
document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-step]");
  if (target) { event.preventDefault(); show(Number(target.dataset.step)); }
});
$("slider").addEventListener("input", () => show(Number($("slider").value)));
$("back").addEventListener("click", () => show(here - 1));
$("on").addEventListener("click", () => show(here + 1));
document.addEventListener("keydown", (event) => {
  if (event.target.id === "slider") return;
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by) show(here + by);
});
document.querySelector(".curve")?.addEventListener("click", (event) => {
  const box = event.currentTarget.getBoundingClientRect();
  show(Math.round((event.clientX - box.x) / box.width * (data.length - 1)));
});
const first = data.findIndex((step) => step.first);
show(first < 0 ? data.length - 1 : first);
"""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1><p>{summary}</p></header>
<main>
<div>
<section aria-label="Position">
<div id="board">{board}</div>
<pre id="text" hidden></pre>
<div class="steps"><button id="back" aria-label="One move back">◀</button>
<input id="slider" type="range" min="0" max="{last}" value="0" aria-label="Move">
<button id="on" aria-label="One move on">▶</button></div>
<p id="told" aria-live="polite"></p>
</section>
</div>
<div>
<section><h2>Win curve for seat 0</h2>{curve}</section>
<section><h2>Mistakes</h2>{mistakes}</section>
<section><h2>Moves</h2><ol id="moves">{moves}</ol></section>
</div>
</main>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def review_page(review: Review) -> str:
    """Write a review as one page: everything is in it.

    Args:
        review: the review.
    """
    memory = BoardMemory()
    boards = [memory.board(state) for state in review.states]
    base = next((board for board in boards if board is not None), None)
    name = plain_name(review.game)
    steps = []
    for number, board in enumerate(boards):
        move = review.moves[number - 1] if number else None
        told = "The beginning." if move is None else " ".join(move.sentences)
        if move is not None and not told:
            told = f"{move.number}. {move.name}"
        steps.append(
            {
                "pieces": _pieces(review, boards, number, name) if _alike(board, base) else None,
                "svg": "" if board is None or _alike(board, base) else board_svg(board, name=name),
                "text": printable(position_text(review.states[number]), lines=True),
                "told": printable(told),
                "x": _x(number, len(boards)),
                "first": move is not None and move in review.mistakes[:1],
            }
        )
    title = f"Review of {review.game}"
    drawn = "" if base is None else board_svg(base, name=name, chequered=memory.moves_pieces)
    return _PAGE.format(
        title=_text(title),
        style=_STYLE + STYLE,
        summary=_text(review.summary()),
        board=drawn,
        last=len(steps) - 1,
        curve=_curve(review),
        mistakes=_mistakes(review),
        moves="".join(_move(move) for move in review.moves),
        data=json.dumps(steps).replace("<", "\\u003c"),
        script=_SCRIPT,
    )


def _text(value: str) -> str:
    return html.escape(printable(value))


def _alike(board: Board | None, base: Board | None) -> bool:
    """True if the pieces of a board fit the drawing of another."""
    if board is None or base is None:
        return False
    return [(c.x, c.y) for c in board.cells] == [(c.x, c.y) for c in base.cells]


def _pieces(review: Review, boards: list[Board | None], number: int, name: str) -> str:
    """The pieces of a position, the last move, and the better one."""
    board = boards[number]
    assert board is not None
    before = boards[number - 1] if number else None
    action = review.played[number - 1] if number else None
    place = None if before is None or action is None else before.places.get(action)
    last = [] if place is None else [c for c in (place.source, place.target) if c is not None]
    drawn = pieces_svg(board, last=last, name=name)
    move = review.moves[number - 1] if number else None
    if move is not None and move.word and before is not None and move.best_action is not None:
        best = before.places.get(move.best_action)
        if best is not None:
            drawn += ring_svg(board, best.target, "best")
    return drawn


def _x(number: int, count: int) -> str:
    return f"{300 * number / max(1, count - 1):.1f}"


def _curve(review: Review) -> str:
    known = [(n, value) for n, value in enumerate(review.values) if value is not None]
    if len(known) < 2:
        return '<p class="quiet">Too little is known.</p>'
    first = review.states[0]
    low, high = float(first.min_utility()), float(first.max_utility())
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        low, high = min(v for _, v in known), max(v for _, v in known)

    def y(value: float) -> str:
        return f"{94 - 88 * ((value - low) / (high - low) if high > low else 0.5):.1f}"

    count = len(review.states)
    path = " ".join(f"{_x(n, count)},{y(value)}" for n, value in known)
    values = dict(known)
    dots = "".join(
        f'<ellipse class="dot {move.word}" cx="{_x(move.number, count)}" '
        f'cy="{y(values[move.number])}" rx="2.6" ry="3.4"/>'
        for move in review.mistakes
        if move.number in values
    )
    return (
        '<svg class="curve" viewBox="-4 0 308 100" preserveAspectRatio="none" role="img" '
        'aria-label="Value for seat 0 after each move">'
        '<line class="zero" x1="0" x2="300" y1="50" y2="50"/>'
        '<line class="here" x1="0" x2="0" y1="2" y2="98"/>'
        f'<polyline class="path" points="{path}"/>{dots}</svg>'
    )


def _mistakes(review: Review) -> str:
    if not review.mistakes:
        return '<p class="quiet">None that cost a tenth of what is at stake.</p>'
    return "".join(
        f'<button class="error {move.word}" data-step="{move.number}">'
        f"{_text(' '.join(move.sentences))}</button>"
        for move in review.mistakes
    )


def _move(move: ReviewedMove) -> str:
    return (
        f'<li><a href="#{move.number}" data-step="{move.number}" class="{move.word}">'
        f"{_text(move.name)}</a></li>"
    )
