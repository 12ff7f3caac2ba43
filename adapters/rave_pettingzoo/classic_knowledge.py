"""Facts about the classic environments: legal actions, bounds, names of moves, hidden information.

A ``Kind`` answers, for one class of raw environments, questions that PettingZoo's interface answers
slowly or not at all. For environments without a kind the search uses that interface.
"""

import importlib
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from rave_agents.environments.plan import ValueFunction
from rave_agents.environments.worlds import WorldFunction
from rave_agents.environments.wrappers import class_name
from rave_pettingzoo import gin_rummy, hanabi, poker
from rave_pettingzoo.classic import go_position_after
from rave_pettingzoo.structure import openspiel


class Kind(NamedTuple):
    """The facts known about one class of raw environments; None for an unknown fact."""

    legal: Callable[[Any], Sequence[int]]
    """The legal actions of the selected agent."""
    bounds: tuple[float, float] | None = None
    """The least and the greatest sum of an agent's rewards in a game."""
    zero_sum: bool = False
    """True if the rewards of both players always sum to 0."""
    key: Callable[[Any], Hashable] | None = None
    """A key that is equal exactly for equal positions."""
    moves: Callable[[Any, Any], Sequence[int] | None] | None = None
    """The actions that lead from an earlier position to a later one; None if none do."""
    action_name: Callable[[Any, int], str] | None = None
    """The usual name of an action of the selected agent."""
    text: Callable[[Any], str] | None = None
    """The board as text."""
    returns: Callable[[Any], Sequence[float]] | None = None
    """The players' returns, where the rewards are not correct."""
    hidden: str | None = None
    """The information hidden from players; None in games with perfect information."""
    view: Callable[[Any, int], Hashable] | None = None
    """A seat's full knowledge, where observations show less of it, or an outdated part."""
    worlds: WorldFunction | None = None
    """The source of worlds, if hidden cards can be dealt anew."""
    deals_at_reset: bool = False
    """True if chance moves at the reset alone, and views show all that a player has seen and done:
    the game can be searched from its start, see ``dealt_game.py``."""
    horizon: int | None = None
    """Moves that simulations look ahead by default; None for the end of the game."""
    value: ValueFunction | None = None
    """Evaluates positions at the horizon by default."""


def kind_of(raw: Any) -> Kind | None:
    """Return the kind of a raw environment; None if it has none."""
    return KINDS.get(class_name(raw))


def inherited_kind(raw: Any) -> Kind | None:
    """Return the kind of a raw environment's class or of a base class."""
    names = (f"{base.__module__}.{base.__qualname__}" for base in type(raw).__mro__)
    return next((KINDS[name] for name in names if name in KINDS), None)


def _tictactoe_moves(before: Any, after: Any) -> list[int] | None:
    old, new = before.board.squares, after.board.squares
    return _in_turn(before, after, _placed(old, new, range(9), _mark(before)))


def _connect_four_moves(before: Any, after: Any) -> list[int] | None:
    # Cells are numbered by rows from the top left: the last is the bottom right one.
    bottom_up = range(41, -1, -1)
    moves = _placed(before.board, after.board, bottom_up, _mark(before), column=lambda c: c % 7)
    return _in_turn(before, after, None if moves is None else [cell % 7 for cell in moves])


def _in_turn(before: Any, after: Any, moves: list[int] | None) -> list[int] | None:
    """The moves, if their number agrees with the agent to move afterwards."""
    if moves is None or (_mark(before) + _mark(after) + len(moves)) % 2 == 1:
        return None
    return moves


def _mark(raw: Any) -> int:
    """The mark that the agent to move sets: 1 or 2."""
    return int(raw.possible_agents.index(raw.agent_selection)) + 1


def _placed(
    old: Sequence[int],
    new: Sequence[int],
    cells: Sequence[int],
    mark: int,
    column: Callable[[int], int] | None = None,
) -> list[int] | None:
    """The cells that were filled in turn; those of one column in the order of ``cells``."""
    filled = [cell for cell in cells if old[cell] != new[cell]]
    if any(old[cell] != 0 for cell in filled):
        return None
    moves: list[int] = []
    while filled:
        # ``reversed``, so that the first cell of each column in the order given stays.
        lowest = {cell if column is None else column(cell): cell for cell in reversed(filled)}
        # Any order of turns that fits will do: the position reached is the same.
        cell = next((c for c in lowest.values() if new[c] == mark), None)
        if cell is None:
            return None
        moves.append(cell)
        filled.remove(cell)
        mark = 3 - mark
    return moves


def _go_key(raw: Any) -> Hashable:
    return raw._N, raw._komi, _go_position_key(raw._go)


def _go_position_key(position: Any) -> Hashable:
    """The moves and, since a board may be set by hand, the position that they led to."""
    reached = position.board.tobytes(), position.ko, position.to_play, position.n, position.caps
    return position.recent, reached


def _go_moves(before: Any, after: Any) -> list[int] | None:
    old, new, size = before._go.recent, after._go.recent, after._N
    if new[: len(old)] != old or size != before._N:
        return None
    points = [move.move for move in new[len(old) :]]
    reached = go_position_after(before, points)
    if reached is None or _go_position_key(reached) != _go_position_key(after._go):
        return None
    return [_flat(point, size) for point in points]


def _flat(point: tuple[int, int] | None, size: int) -> int:
    return size * size if point is None else size * point[0] + point[1]


def _chess_moves(before: Any, after: Any) -> list[int] | None:
    old, new = before.board.move_stack, after.board.move_stack
    if new[: len(old)] != old or before.board.root() != after.board.root():
        return None
    board = before.board.copy()  # Actions depend on the mover's side: replay move by move.
    moves = []
    for move in new[len(old) :]:
        action = chess_move_actions(board).get(move)
        if action is None:
            return None
        moves.append(action)
        board.push(move)
    return moves if _chess_key(board) == _chess_key(after.board) else None


def _chess_key(board: Any) -> Hashable:
    """The moves and, since pieces may be set by hand, the positions before and after them."""
    return board.root().fen(), tuple(board.move_stack), board.fen(promoted=True, en_passant="fen")


def _chess_utils() -> Any:
    return importlib.import_module("pettingzoo.classic.chess.chess_utils")


def chess_move_actions(board: Any) -> dict[Any, int]:
    """Return every legal move with its action."""
    utils = _chess_utils()
    player = int(not board.turn)
    actions = utils.legal_moves(board)
    return {utils.action_to_move(board, action, player): int(action) for action in actions}


def chess_move(board: Any, action: int) -> Any:
    """Return the move of an action of the player to move."""
    return _chess_utils().action_to_move(board, action, int(not board.turn))


def _cards(hidden: str, game: Any = poker) -> Kind:
    return Kind(
        legal=lambda raw: sorted(raw.next_legal_moves),
        action_name=game.action_name,
        text=game.text,
        hidden=hidden,
        view=game.view,
        worlds=game.deal,
        deals_at_reset=game is poker,
    )


def _openspiel_view(state: Any, seat: int) -> Hashable:
    view: Hashable = openspiel().view(state, seat)
    return view


def _openspiel_name(shimmy: Any, action: int) -> str:
    state = shimmy.game_state
    return str(state.action_to_string(state.current_player(), action))


def _openspiel_state(raw: Any) -> Any:
    return openspiel().OpenSpielState(raw.game_state)


def _grid(cells: Sequence[int], columns: int) -> str:
    marks = ".xo"
    rows = [cells[start : start + columns] for start in range(0, len(cells), columns)]
    return "\n".join("".join(marks[cell] for cell in row) for row in rows)


def _go_text(raw: Any) -> str:
    return "\n".join("".join(".xo"[cell] for cell in row) for row in raw._go.board.tolist())


def _go_name(raw: Any, action: int) -> str:
    if action == raw._N * raw._N:
        return "pass"
    row, column = divmod(action, raw._N)
    # Go's columns skip the letter I.
    return f"{'ABCDEFGHJKLMNOPQRSTUVWXYZ'[column]}{raw._N - row}"


KINDS = {
    "pettingzoo.classic.tictactoe.tictactoe.raw_env": Kind(
        legal=lambda raw: raw.board.legal_moves(),
        bounds=(-1.0, 1.0),
        zero_sum=True,
        key=lambda raw: tuple(raw.board.squares),
        moves=_tictactoe_moves,
        text=lambda raw: _grid(
            # PettingZoo numbers the squares by columns.
            [raw.board.squares[3 * c + r] for r in range(3) for c in range(3)],
            3,
        ),
    ),
    "pettingzoo.classic.connect_four.connect_four.raw_env": Kind(
        legal=lambda raw: raw._legal_moves(),
        bounds=(-1.0, 1.0),
        zero_sum=True,
        key=lambda raw: tuple(raw.board),
        moves=_connect_four_moves,
        text=lambda raw: _grid(raw.board, 7),
    ),
    "pettingzoo.classic.go.go.raw_env": Kind(
        legal=lambda raw: list(map(int, raw.next_legal_moves)),
        bounds=(-1.0, 1.0),
        zero_sum=True,
        key=_go_key,
        moves=_go_moves,
        action_name=_go_name,
        text=_go_text,
    ),
    "pettingzoo.classic.chess.chess.raw_env": Kind(
        legal=lambda raw: _chess_utils().legal_moves(raw.board),
        bounds=(-1.0, 1.0),
        zero_sum=True,
        key=lambda raw: _chess_key(raw.board),
        moves=_chess_moves,
        action_name=lambda raw, action: str(chess_move(raw.board, action).uci()),
        text=lambda raw: str(raw.board),
    ),
    "pettingzoo.classic.rlcard_envs.leduc_holdem.raw_env": _cards("the other player's card"),
    "pettingzoo.classic.rlcard_envs.texas_holdem.raw_env": _cards(
        "the other players' cards and those to come"
    ),
    "pettingzoo.classic.rlcard_envs.texas_holdem_no_limit.raw_env": _cards(
        "the other players' cards and those to come"
    ),
    "pettingzoo.classic.rlcard_envs.gin_rummy.raw_env": _cards(
        "the other player's cards and the stock", gin_rummy
    ),
    "pettingzoo.classic.hanabi.hanabi.raw_env": Kind(
        legal=hanabi.legal,
        action_name=lambda raw, action: _openspiel_name(raw.hanabi_env, action),
        text=lambda raw: str(raw.hanabi_env.game_state),
        hidden="each player's own cards and the deck",
        view=lambda raw, seat: _openspiel_view(raw.hanabi_env.game_state, seat),
        worlds=hanabi.deal,
        horizon=hanabi.HORIZON,
        value=hanabi.lives,
    ),
    "shimmy.openspiel_compatibility.OpenSpielCompatibilityV0": Kind(
        legal=lambda raw: raw.game_state.legal_actions(),
        key=lambda raw: _openspiel_state(raw).position_key(),
        moves=lambda before, after: _openspiel_state(before).moves_to(_openspiel_state(after)),
        action_name=_openspiel_name,
        text=lambda raw: str(raw.game_state),
        returns=lambda raw: raw.game_state.returns(),
        view=lambda raw, seat: _openspiel_view(raw.game_state, seat),
    ),
}
