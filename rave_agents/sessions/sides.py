"""The names of the two sides of a game, such as White and Black."""

import re

from rave_agents.environments.spaces import EnvAbilities
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState, PlayerId
from rave_agents.game.notation import action_name, position_text
from rave_agents.plots.printed_board import read_board

_COLOURS = {"b": "Black", "w": "White"}

_TO_MOVE = (
    re.compile(r"^\S+/\S+ ([wb])\b"),  # FEN
    re.compile(r"\bto_play=([BW])\b"),
    re.compile(r"^(Black|White)\b.* to play", re.MULTILINE),
    re.compile(r"^([BW])$", re.MULTILINE),
    re.compile(r"\b(Black|White)\["),
    re.compile(r"^(?:Turn|Current player): ([BWxo])$", re.MULTILINE),
)
"""The side to move in the texts of positions."""

_MOVED = (
    re.compile(r"^([BW])(?= ?[a-z]?\d)"),  # B a1, W1-up
    re.compile(r"^([xo])(?=\(|[a-z]?\d)"),  # x(0,0), x3, xb8
)
"""The side that moves in the names of actions."""

_PAIRS = ("xo", "XO", "BW", "bw", "O@")
"""Pieces that name the sides."""

_PLIES = 6
"""Maximum number of actions played to see both sides move."""


def side_names(state: GameState) -> tuple[str, ...]:
    """The name of each side in a game of two; empty if the game names none.

    It is found in the names of the environment's agents, the text of the position, the names of the
    moves, or the pieces that they place, in this order.

    Args:
        state: a position; it is not changed.
    """
    if state.num_players() != 2:
        return ()
    agents = EnvAbilities(StateAbilities(state).env).possible_agents
    named = [re.match(r"(black|white)_\d", str(each)) for each in agents]
    if len(named) == 2 and all(named):
        return tuple(each[1].capitalize() for each in named if each)
    found: dict[int, str] = {}
    after = state.clone()
    for _ in range(_PLIES):
        player = int(after.current_player())
        if after.is_terminal() or player < PlayerId.CHANCE or len(found) == 2:
            break
        if player == PlayerId.CHANCE:
            after.apply_action(int(after.chance_outcomes()[0][0]))
            continue
        text = position_text(after)
        action = int(after.legal_actions()[0])
        move = action_name(after, action)
        after.apply_action(action)
        side = _first(_TO_MOVE, text)
        if side.lower() in ("b", "w", "black", "white"):
            name = _COLOURS[side[0].lower()]
            other = "White" if name == "Black" else "Black"
            return (name, other) if player == 0 else (other, name)
        found.setdefault(player, side or _first(_MOVED, move) or _set(text, position_text(after)))
    for pair in _PAIRS:
        if {*found.values()} == {*pair}:
            return tuple(_COLOURS.get(found[seat].lower(), found[seat]) for seat in range(2))
    return ()


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> str:
    return next((found[1] for each in patterns if (found := each.search(text))), "")


def _set(before: str, after: str) -> str:
    """The piece that a move places on the printed board; empty if it places none or several."""
    boards = read_board(before), read_board(after)
    cells = [[cell.piece for cell in board.cells] if board else [] for board in boards]
    if len(cells[0]) != len(cells[1]):
        return ""
    came = {new for old, new in zip(*cells, strict=True) if new != old and new not in ".-+"}
    piece = came.pop() if len(came) == 1 else ""
    if piece and {"k", "K"} <= {*cells[0]}:  # Chess: capitals are White's.
        return "W" if piece.isupper() else "B"
    return piece
