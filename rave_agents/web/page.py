"""The page of all games: served for a live one, or with whole games stored in it.

A stored page is one file that loads nothing: its policy allows one script, by the script's hash, so
that no text of a game, a file or an agent can run anything.
"""

import base64
import hashlib
import html
import json
import math
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from rave_agents.game.game_state import GameState
from rave_agents.game.notation import position_text
from rave_agents.game.plain_text import printable
from rave_agents.plots.board import Board
from rave_agents.plots.board_memory import BoardMemory
from rave_agents.plots.board_svg import STYLE, board_svg, pieces_svg, ring_svg
from rave_agents.results.numbers import finite
from rave_agents.results.search_result import SearchResult


def page_file(name: str) -> str:
    """The text of ``page.html``, ``page.js`` or ``page.css``, the last with the boards' style."""
    text = (files("rave_agents.web") / name).read_text(encoding="utf-8")
    return text + STYLE if name == "page.css" else text


def script_source() -> str:
    """The source expression of a content security policy that allows the page's script alone."""
    digest = hashlib.sha256(page_file("page.js").encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def escaped(value: object) -> str:
    """A text as HTML, its control characters made visible."""
    return html.escape(printable(str(value), lines=True))


def stored_page(
    title: str,
    status: str,
    games: Sequence[Mapping[str, Any]],
    above: str = "",
    below: str = "",
) -> str:
    """Write a page that holds whole games.

    Args:
        title: the title, as plain text.
        status: a line next to it, as plain text.
        games: the games, see ``stored_game``.
        above: HTML to show above the games.
        below: HTML to show below them.
    """
    policy = (
        f"default-src 'none'; script-src {script_source()}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    # In JSON a "<" occurs in strings alone, so no text of a game can end the element.
    data = json.dumps(games, allow_nan=False).replace("<", "\\u003c")
    script = f"<script>{page_file('page.js')}</script>"
    replaced = {
        "<title>rave-agents</title>": f"<title>{escaped(title)}</title>",
        "<!-- head -->": f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<link rel="stylesheet" href="page.css">': f"<style>{page_file('page.css')}</style>",
        '<body class="live">': '<body class="stored">',
        '<h1 id="game">rave-agents</h1>': f"<h1>{escaped(title)}</h1>",
        'aria-live="polite">Loading …</p>': f">{escaped(status)}</p>",
        "<!-- above -->": above,
        "<!-- below -->": below,
        '<script src="page.js"></script>': (
            f'<script type="application/json" id="data">{data}</script>\n{script}'
        ),
    }
    page = page_file("page.html")
    # Nothing inserted can contain a mark: marks begin with "<", which is escaped in all texts.
    for mark, text in replaced.items():
        page = page.replace(mark, text, 1)
    return page


def stored_game(
    title: str,
    name: str,
    states: Sequence[GameState],
    played: Sequence[int | None],
    *,
    steps: Sequence[Mapping[str, Any]],
    turns: Sequence[Mapping[str, Any]],
    rings: Mapping[int, tuple[int, int]],
    reviewed: bool = False,
) -> dict[str, Any]:
    """A game as ``stored_page`` takes it: what ``page.js`` shows at each position.

    Args:
        title: the game's title.
        name: its name without framework and parameters, for the style of its board.
        states: the position before each move, and the last one.
        played: the action of each move; None where players moved at the same time.
        steps: for each position ``said``, a sentence, and ``thought``, a search of it or None.
        turns: for each move ``player``, ``names``, ``value`` for seat 0 or None, and ``word``,
            which is empty but for mistakes.
        rings: the action to mark with a ring at a position, and the position where it is legal:
            another one for an alternative to the last move.
        reviewed: whether to list the mistakes.
    """
    memory = BoardMemory()
    boards = [memory.board(state) for state in states]
    base = next((board for board in boards if board is not None), None)
    shown = []
    for number, (state, board) in enumerate(zip(states, boards, strict=True)):
        drawing: dict[str, Any] = {"svg": "", "pieces": None, "places": {}}
        if board is not None:
            last = _cells(boards[number - 1], played[number - 1]) if number else []
            at, action = rings.get(number, (0, None))
            ring = "".join(ring_svg(board, c, "ring") for c in _cells(boards[at], action)[-1:])
            pieces = pieces_svg(board, last=last, name=name) + ring
            # Most positions send their pieces alone. With a search the board is drawn anew, since
            # its marks of numbers depend on which cells are occupied.
            if _alike(board, base) and not steps[number]["thought"]:
                drawing["pieces"] = pieces
            else:
                drawn = board_svg(board, last=last, name=name, chequered=memory.moves_pieces)
                drawing["svg"] = drawn.replace("</svg>", f"{ring}</svg>")
                drawing["places"] = {a: [p.target, p.source] for a, p in board.places.items()}
        text = printable(position_text(state), lines=True)
        shown.append({"text": text, **drawing, **steps[number]})
    return {
        "title": title,
        "board": (
            "" if base is None else board_svg(base, name=name, chequered=memory.moves_pieces)
        ),
        "limits": utility_range(states[0]),
        "steps": shown,
        "turns": list(turns),
        "reviewed": reviewed,
    }


LONGEST_LINE = 12
"""Maximum number of moves of a principal variation on the page."""


def search_figures(result: SearchResult, turn: int, *, now: bool = True) -> dict[str, Any]:
    """A search as the page shows it; values are the mover's, in the game's utilities.

    Args:
        result: the search.
        turn: the number of turns before its position.
        now: whether that is the position on the board.
    """
    return {
        "player": result.player,
        "action": result.action,
        "name": result.action_name(result.action),
        "value": finite(result.value_for(result.player)),
        "proven": result.proven,
        "simulations": result.simulations,
        "seconds": result.seconds,
        "line": list(result.principal_variation_names[:LONGEST_LINE]),
        "actions": [
            {
                "action": row.action,
                "name": row.name,
                "visits": row.visits,
                "value": finite(row.value),
                "amaf_visits": row.amaf_visits,
                "amaf_value": finite(row.amaf_value),
                "outcome": finite(row.outcome),
                "distance": row.distance,
            }
            for row in result.ranked_actions
        ],
        "turn": turn,
        "now": now,
    }


def utility_range(state: GameState) -> list[float] | None:
    """The least and the greatest utility, for the curve; None if they are unknown."""
    low, high = float(state.min_utility()), float(state.max_utility())
    return [low, high] if math.isfinite(low) and math.isfinite(high) and low < high else None


def _alike(board: Board | None, base: Board | None) -> bool:
    if board is None or base is None:
        return False
    return [(c.x, c.y) for c in board.cells] == [(c.x, c.y) for c in base.cells]


def _cells(board: Board | None, action: int | None) -> list[int]:
    """The cells of an action, the target last; none if it has no place on the board."""
    place = None if board is None or action is None else board.places.get(action)
    return [] if place is None else [c for c in (place.source, place.target) if c is not None]
