"""Pictures of the positions of a session: boards as SVG, environments as they render themselves."""

import base64
import contextlib
import dataclasses
import struct
import threading
import warnings
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from rave_agents.environments.frames import frame_of
from rave_agents.errors import UnsupportedGameError
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState, PlayerId
from rave_agents.plots.board import Board
from rave_agents.plots.board_memory import BoardMemory
from rave_agents.plots.board_svg import board_svg
from rave_agents.sessions.session import Session


@dataclasses.dataclass(frozen=True)
class Picture:
    """The picture of a position; empty if only its text can be shown."""

    svg: str = ""
    """The board as SVG."""
    image: str = ""
    """The frame of an environment, as the data URI of a PNG."""
    places: Mapping[int, tuple[int, int | None]] = dataclasses.field(default_factory=dict)
    """For each action, the index of its target cell and of its source cell or None."""


class Pictures:
    """Draws the positions of one session and keeps the latest pictures."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._name = plain_name(session.game.name)
        self._memory = BoardMemory()
        self._on_boards = False
        self._kept: dict[Any, Picture] = {}
        self._lock = threading.Lock()

    def picture(self, number: int, state: GameState, viewer: int | None) -> Picture:
        """Draw a position.

        Args:
            number: the number of turns before it.
            state: the position.
            viewer: the seat that sees it; None to show everything.
        """
        key = (number, id(state), viewer)
        with self._lock:
            if key not in self._kept:
                if len(self._kept) > 8:  # Several people may watch the latest positions.
                    self._kept.clear()
                self._kept[key] = self._draw(number, state, viewer)
            return self._kept[key]

    def _draw(self, number: int, state: GameState, viewer: int | None) -> Picture:
        board = self.board(state, viewer)
        if board is not None:
            last = self._last_cells(number, viewer)
            svg = board_svg(
                board,
                last=last,
                name=self._name,
                chequered=self._memory.moves_pieces,
                label=f"Board of {self._session.game.name}",
            )
            places = {action: (p.target, p.source) for action, p in board.places.items()}
            return Picture(svg=svg, places=places)
        return Picture(image=self._frame(number, state, viewer))

    def board(self, state: GameState, viewer: int | None) -> Board | None:
        """The board of a position as a seat sees it; None if there is none."""
        hidden = self._session.hides and not self._session.over
        if hidden and viewer is not None and state.current_player() != viewer:
            return None
        if hidden and viewer is None:
            return None
        board = self._memory.board(state)
        if board is None or (self._session.hides and not self._is_played_on(board, state)):
            return None
        # An environment's own picture is better than a board read from its observation.
        if StateAbilities(state).env is not None and not any(board.names):
            return None if self._frame(-1, state, None) else board
        return board

    def _is_played_on(self, board: Board, state: GameState) -> bool:
        """True if at least half of the actions have a place: printed cards are no board."""
        if not state.is_terminal():
            self._on_boards = 2 * len(board.places) >= len(state.legal_actions())
        return self._on_boards

    def _last_cells(self, number: int, viewer: int | None) -> list[int]:
        """The cells of the last move; none if it is hidden or has no place."""
        turns = self._session.turns
        if number == 0 or number > len(turns):
            return []
        turn = turns[number - 1]
        if turn.player in (PlayerId.CHANCE, PlayerId.SIMULTANEOUS):
            return []
        if self._session.hides and viewer != turn.player:
            return []
        before = self.board(self._session.before(number - 1), viewer)
        place = None if before is None else before.places.get(turn.actions[0])
        if place is None:
            return []
        return [place.target] if place.source is None else [place.source, place.target]

    def _frame(self, number: int, state: GameState, viewer: int | None) -> str:
        """The frame that an environment renders; empty if it renders none, or hides something."""
        env = StateAbilities(state).env
        if env is None or (self._session.hides and viewer is not None and not self._session.over):
            return ""
        # Whatever an environment raises when it renders, there is then no picture.
        with contextlib.suppress(Exception):
            return png_address(np.asarray(frame_of(state, "rgb_array")))
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return png_address(np.asarray(self._mirrored(number)))
        return ""

    def _mirrored(self, number: int) -> Any:
        """The frame of a new environment with a render mode, in which the game is played again."""
        mirror = self._session.game.mirror("rgb_array")  # type: ignore[attr-defined]
        mirror.reset(0)
        if self._session.start.actions is None:
            raise UnsupportedGameError("The game cannot be played again in a new environment.")
        turns = self._session.turns[: max(0, number)]
        for action in (*self._session.start.actions, *(turn.actions[0] for turn in turns)):
            mirror.step(action)
        return mirror.render()


def plain_name(game: str) -> str:
    """A game's name without framework, version and parameters."""
    name = game.partition("(")[0].rpartition(":")[2]
    return name.rpartition("_v")[0] if name.rpartition("_v")[2].isdigit() else name


def png_address(pixels: np.ndarray[Any, Any]) -> str:
    """The data URI of a picture as PNG.

    Raises:
        ValueError: if it is not an array of rows, columns and three colours.
    """
    if pixels.ndim != 3 or pixels.shape[2] != 3:
        raise ValueError("A picture must be an array of rows, columns and three colours.")
    rows, columns, _ = pixels.shape
    lines = np.zeros((rows, 1 + 3 * columns), np.uint8)  # Each line begins with 0: no filter.
    lines[:, 1:] = pixels.astype(np.uint8).reshape(rows, -1)
    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header)
    data += _chunk(b"IDAT", zlib.compress(lines.tobytes(), 6)) + _chunk(b"IEND", b"")
    return f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}"


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
