"""Classic positions as OpenSpiel states, which play simulations some hundred times faster.

Tic-tac-toe and connect four are the same games. Go with half a point in the komi is the same until
a whole board repeats, which OpenSpiel ends as a draw and PettingZoo plays on: that happens in two
of 1,000 random games on 9x9, and in one of 50 on 3x3. Chess differs in draws by claim: PettingZoo
ends the game as soon as the player to move could claim one. The search's tree does too; only the
random moves of playouts continue to OpenSpiel's own end. Shimmy's environments hold a state of
OpenSpiel, which is cloned.

At the root of each search the player to move and the legal actions are compared; where they differ
the environment itself is searched.
"""

import ctypes
import functools
import json
import logging
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyspiel
from rave_openspiel import OpenSpielState

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.wrappers import class_name
from rave_agents.game.game_state import GameState, PlayerId
from rave_agents.games.kit.rules_simulator import RulesSimulator
from rave_agents.games.kit.rules_state import compiled_simulator
from rave_agents.simulate.evaluator import Evaluator
from rave_agents.simulate.python_simulator import PythonSimulator
from rave_agents.simulate.simulator import (
    Frame,
    Header,
    Simulator,
    SimulatorAbilities,
    Status,
    reweighted_frame,
)
from rave_pettingzoo.chess_actions import AMBIGUOUS, NONE, OPENSPIEL_ACTIONS, chess_actions
from rave_pettingzoo.classic_knowledge import chess_move

_log = logging.getLogger("rave_agents")

REVERSIBLE_BEFORE_CLAIM = 7
"""Moves without capture or pawn that a draw by claim needs: the eighth repeats a third time."""

GO_MOVES = 2000
"""Moves after which OpenSpiel ends a game of Go; PettingZoo's has no such limit."""

Provider = Callable[[Frame, Evaluator | None], Simulator | None]


class Translation(NamedTuple):
    """A position in OpenSpiel's terms."""

    state: pyspiel.State
    """The same position."""
    player: int
    """The seat to move in the environment; OpenSpiel may number it differently."""
    actions: Sequence[int]
    """Its legal actions, as the environment numbers them."""
    provider: Provider
    """Makes the simulator, in the environment's action numbers; None with a value function that is
    not compiled."""
    alike: bool = False
    """True if OpenSpiel numbers the actions as the environment does."""


@functools.cache
def _game(spec: str) -> pyspiel.Game:
    return pyspiel.load_game(spec)


_prepared: set[str] = set()


def prepare(raw: Any) -> None:
    """Load and compile what this environment's translation needs, before a search's clock runs.

    Args:
        raw: an environment that has been reset.
    """
    name = class_name(raw)
    if name not in _prepared:
        translated_safely(raw)
        _prepared.add(name)


def translated(raw: Any) -> Translation | None:
    """Return a raw environment's position as an OpenSpiel state; None if there is no equal one."""
    translate = _TRANSLATIONS.get(class_name(raw))
    return None if translate is None else translate(raw)


def translated_safely(raw: Any) -> Translation | None:
    """Return ``translated(raw)``; None, with a warning, for a position that OpenSpiel refuses.

    A board that was set by hand may be unreachable.
    """
    try:
        return translated(raw)
    except Exception as error:  # pyspiel's exceptions have no common base class.
        if is_raised_by_handler(error):
            raise
        _log.warning(
            "rave_pettingzoo: OpenSpiel refuses this position of %s (%s), so the environment "
            "itself is searched, which is slower. translate=False silences this.",
            raw,
            str(error).partition("\n")[0],
        )
        return None


def matches(translation: Translation, player: int, actions: Sequence[int]) -> bool:
    """True if the same player has the same legal actions."""
    same = not translation.state.is_terminal() and translation.player == player
    return same and sorted(translation.actions) == sorted(actions)


def openspiel_state(raw: Any) -> pyspiel.State | None:
    """Return OpenSpiel's state of the position, if actions have the same numbers; else None."""
    found = translated_safely(raw)
    return found.state if found is not None and found.alike else None


def warn_of_mismatch(name: str) -> None:
    """Log that a position is searched in the environment itself."""
    _log.warning(
        "rave_pettingzoo: this position of %s differs from OpenSpiel's (in its legal actions), "
        "so the environment itself is searched, which is slower. translate=False "
        "silences this.",
        name,
    )


def _same_actions(state: pyspiel.State) -> Translation:
    wrapped = OpenSpielState(state)

    def simulator(frame: Frame, evaluator: Evaluator | None) -> Simulator | None:
        if evaluator is None:
            return wrapped.simulator(frame, None)
        rules = wrapped.on_compiled_rules()
        return None if rules is None else compiled_simulator(rules, frame, evaluator)

    return Translation(
        state=state,
        player=int(state.current_player()),
        actions=state.legal_actions(),
        provider=simulator,
        alike=True,
    )


def follow_environment(simulator: Any, root: GameState) -> None:
    """Let a provider continue at later positions of an environment, which it cannot read itself.

    Args:
        simulator: the provider.
        root: the state that made it.
    """
    set_root = SimulatorAbilities(simulator).set_root
    if isinstance(simulator, RulesSimulator):
        vars(simulator)["set_root"] = _Following(simulator, root.clone())
    elif set_root is not None:
        vars(simulator)["set_root"] = functools.partial(_set_later_root, set_root)


def _set_later_root(set_root: Callable[..., bool], later: Any, moves: Any) -> bool:
    """Move a provider to OpenSpiel's state of a later position, if there is an equal one."""
    found = translated_safely(later.env)
    same = found is not None and matches(found, later.current_player(), later.legal_actions())
    return found is not None and same and set_root(found.state, moves)


class _Following:
    """Moves a provider of compiled rules along with an environment.

    Args:
        simulator: the provider.
        first: the position that it was made for.
    """

    def __init__(self, simulator: RulesSimulator, first: Any) -> None:
        self._first = first
        self._record, self._last_action = simulator.root.copy(), simulator.last_action
        self._set_root, self._begin_at = simulator.set_root, simulator.begin_at

    def __call__(self, later: Any, moves: Sequence[int] | None) -> bool:
        if moves is None:  # Another episode begins where the first one did.
            moves = self._first.moves_to(later)
            if moves is None:
                return False
            self._begin_at(self._record, self._last_action)
        return not later.is_terminal() and self._set_root(later, moves)


def _tictactoe(raw: Any) -> Translation:
    squares = raw.board.squares
    to_move = "xo"[raw.possible_agents.index(raw.agent_selection)]
    board = {"board": [".xo"[mark] for mark in squares], "current_player": to_move}
    return _same_actions(_game("tic_tac_toe").new_initial_state(json.dumps(board)))


def _connect_four(raw: Any) -> Translation:
    marks = [".xo"[mark] for mark in raw.board]
    board = {
        # OpenSpiel counts rows from below.
        "board": [marks[7 * row : 7 * row + 7] for row in range(5, -1, -1)],
        "current_player": "xo"[raw.possible_agents.index(raw.agent_selection)],
        "is_terminal": False,
        "winner": "",
    }
    return _same_actions(_game("connect_four").new_initial_state(json.dumps(board)))


def _go(raw: Any) -> Translation | None:
    size, komi = int(raw._N), float(raw._komi)
    position = raw._go
    if komi == int(komi) or position.n != len(position.recent):
        # With a whole komi, equal points are white's win here and a draw there; a board set by hand
        # has no moves to replay.
        return None
    game = _game(f"go(board_size={size},komi={komi},max_game_length={GO_MOVES})")
    state = game.new_initial_state()
    for move in position.recent:
        if state.is_terminal():
            return None
        point = move.move
        action = size * size if point is None else size * point[0] + point[1]
        if action not in state.legal_actions():
            return None
        state.apply_action(action)
    # Stones may have been set by hand after the moves.
    return _same_actions(state) if _go_rows(state) == position.board.tolist() else None


def _go_rows(state: pyspiel.State) -> list[list[int]]:
    """The stones on OpenSpiel's board in PettingZoo's numbers, from the row of A1 up."""
    rows = re.findall(r"^ *\d+ ([+XO]+)", str(state), re.MULTILINE)
    return [["+XO".find(stone) if stone != "O" else -1 for stone in row] for row in reversed(rows)]


def _chess(raw: Any) -> Translation | None:
    board = raw.board
    root = board.root()
    # Moves, not the FEN now: repetitions count from the root.
    game = _game("chess")
    state = game.new_initial_state(root.fen())
    for move in board.move_stack:
        state.apply_action(state.parse_move_to_action(move.uci()))
    if str(state).split()[:3] != board.fen().split()[:3]:
        return None  # Pieces were set by hand.
    player = int(not board.turn)
    table = chess_actions().to_pettingzoo[player]
    actions = [int(table[action]) for action in state.legal_actions()]
    snapshot = board.copy()  # The live board moves on while this simulator is kept.
    return Translation(
        state=state,
        player=player,
        actions=actions,
        provider=lambda frame, evaluator: (
            ChessSimulator(state, snapshot, frame) if evaluator is None else None
        ),
    )


def _shimmy(raw: Any) -> Translation:
    return _same_actions(raw.game_state.clone())


_TRANSLATIONS: dict[str, Callable[[Any], Translation | None]] = {
    "pettingzoo.classic.tictactoe.tictactoe.raw_env": _tictactoe,
    "pettingzoo.classic.connect_four.connect_four.raw_env": _connect_four,
    "pettingzoo.classic.go.go.raw_env": _go,
    "pettingzoo.classic.chess.chess.raw_env": _chess,
    "shimmy.openspiel_compatibility.OpenSpielCompatibilityV0": _shimmy,
}


class ChessSimulator(PythonSimulator):
    """Simulations of OpenSpiel's chess in PettingZoo's numbers, which end by PettingZoo's rules.

    White is player 0 in PettingZoo and player 1 in OpenSpiel.

    A leaf at which the player to move could claim a draw is terminal, as in PettingZoo. Playouts
    follow OpenSpiel's rules.

    Args:
        state: the root in OpenSpiel's terms.
        board: the root with its moves.
        frame: the buffers shared with the loop.
    """

    def __init__(self, state: pyspiel.State, board: Any, frame: Frame) -> None:
        self._inner = OpenSpielState(state).simulator(frame, None)
        self.provider: str = SimulatorAbilities(self._inner).provider
        self._inner_in_python = bool(frame.header[Header.IN_PYTHON])
        self._board = board
        self._state = state
        self._paths: dict[tuple[int, ...], tuple[list[int], bool]] = {}
        super().__init__(state, frame, num_distinct_actions=state.num_distinct_actions())

    def bind(self, frame: Frame) -> None:
        """Switch to this frame."""
        super().bind(frame)
        if frame.header[Header.NUM_WEIGHTS] > 0:
            # The inner simulator shares the frame's buffers but needs weights by OpenSpiel's ids.
            frame = reweighted_frame(frame, np.ones((2, OPENSPIEL_ACTIONS), np.float64))
        self._inner_weights = frame.action_weights
        self._inner.bind(frame)
        self._call = _function(self._inner.address)

    def _simulate(self) -> int:
        frame, header = self.frame, self.frame.header
        length = int(header[Header.PATH_LENGTH])
        path = tuple(frame.path[:length].tolist())
        known = self._paths.get(path)  # A search selects most paths again.
        if known is None:
            known = self._paths[path] = self._translated(path)
        moves, is_draw = known
        if is_draw:
            header[Header.PLAYER] = PlayerId.TERMINAL
            return self._finish(_Draw)
        self._inner.deadline = self.deadline
        if header[Header.NUM_WEIGHTS] > 0:
            self._translate_weights()
        frame.path[:length] = moves  # In OpenSpiel's numbers during the call alone.
        header[Header.STATUS] = Status.FAILED
        status = self._call(header.ctypes.data)
        if self._inner_in_python:
            status = int(header[Header.STATUS])
        frame.path[:length] = path
        if status == Status.FAILED:
            self._inner.raise_pending()
        if status == Status.DONE:
            self._rename()
        return int(status)

    def _translated(self, path: Sequence[int]) -> tuple[list[int], bool]:
        """OpenSpiel's actions on a path, and whether a draw can be claimed at its end."""
        table = chess_actions().to_openspiel
        board = self._board.copy()
        moves: list[int] = []
        state = None
        for action in path:
            move = chess_move(board, action)
            number = int(table[int(not board.turn), action])
            if number == AMBIGUOUS:  # One of PettingZoo's actions is several of OpenSpiel's.
                state = self._state.clone()
                for earlier in moves:
                    state.apply_action(earlier)
                number = int(state.parse_move_to_action(move.uci()))
            board.push(move)
            moves.append(number)
        # The clock first: ``can_claim_draw`` replays the game to count repetitions.
        claim = board.halfmove_clock >= REVERSIBLE_BEFORE_CLAIM and board.can_claim_draw()
        return moves, bool(path) and claim and not board.is_checkmate()

    def _translate_weights(self) -> None:
        for player, actions in enumerate(chess_actions().to_pettingzoo):
            known = actions != NONE
            weights = self.frame.action_weights[player, actions[known]]
            self._inner_weights[1 - player, known] = weights

    def _rename(self) -> None:
        frame, header = self.frame, self.frame.header
        tables = chess_actions().to_pettingzoo
        player = int(header[Header.PLAYER])
        playouts = int(header[Header.NUM_PLAYOUTS])
        # Seats are exchanged between the two, so columns of returns are too.
        frame.returns[:playouts] = frame.returns[:playouts, ::-1].copy()
        if player < 0:
            return
        player = 1 - player
        header[Header.PLAYER] = player
        if header[Header.EXPAND]:
            count = int(header[Header.NUM_ACTIONS])
            frame.actions[:count] = tables[player, frame.actions[:count]]
            frame.child_returns[:count] = frame.child_returns[:count, ::-1].copy()
        total = int(frame.playout_ends[playouts - 1])
        players = 1 - frame.move_players[:total]
        frame.move_players[:total] = players
        frame.move_actions[:total] = tables[players, frame.move_actions[:total]]


class _Draw:
    """A drawn terminal position, with the methods that a simulation needs."""

    @staticmethod
    def returns() -> Sequence[float]:
        return [0.0, 0.0]


@functools.cache
def _function(address: int) -> Callable[[int], int]:
    function: Callable[[int], int] = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(address)
    return function
