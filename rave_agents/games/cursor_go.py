"""Cursor Go, as OpenSpiel has it: Go, played with a cursor for each player.

``cursor_go(board_size=19,komi=7.5,handicap=0,max_cursor_moves=100)``: a player moves the cursor up
to ``max_cursor_moves`` times, one point up, down, left or right, and then puts a stone there or
passes. Two passes end the game; it is a draw if a stone has repeated a whole board at any time, and
otherwise decided by areas (OpenSpiel, ``cursor_go.cc``). ``stones.py`` has the rest of the rules.

A game may go on for ever. A board is compared with those of the last 128 stones at least, or of
twice as many as there are points.
"""

from typing import Any

import numpy as np

from rave_agents.games.kit.rules import NO_ACTION, TERMINAL
from rave_agents.games.stones import BLACK, CHAIN_FIELDS, EMPTY, WHITE, BoardSize, CaptureRules
from rave_agents.simulate.random_stream import random_below

UP, DOWN, LEFT, RIGHT, PLACE, PASS = range(6)
"""The actions."""

WORDS = ("Up", "Down", "Left", "Right", "Place Stone", "Pass")
"""Their names."""

LEAST_ROOM = 256
"""Boards that are stored on a small board."""


class CursorGo(CaptureRules):
    """See the module."""

    name = "cursor_go"
    num_distinct_actions = 6
    cell_kinds = 6
    unordered = {"boards": "num_boards"}  # noqa: RUF012  (read only)
    aside = (*CHAIN_FIELDS, "key", "stood")
    board_size: BoardSize = 19
    komi: float = 7.5
    handicap: int = 0
    max_cursor_moves: int = 100

    def setup(self) -> None:
        """Lay out the board."""
        self.most_boards = max(LEAST_ROOM, 4 * self.board_size**2)
        super().setup()
        self.fields: dict[str, Any] = {
            **self.capture_fields,
            **dict.fromkeys(("is_over", "is_drawn", "passed", "cursor_moves"), np.int64),
            "cursor": (np.uint16, 2),
        }

    def begin(self, state: Any) -> None:
        """Both cursors are in the middle."""
        super().begin(state)
        state.cursor[:] = (self.board_size + 1) * (self.board_size // 2)

    def player(self, state: Any) -> int:
        """A turn lasts until a stone or a pass."""
        return state.player if state.is_over == 0 else TERMINAL

    def can_move(self, state: Any, action: int) -> bool:
        """True if an action is legal for who is to move."""
        if action == PASS:
            return True
        cursor = state.cursor[state.player]
        if action == PLACE:
            return bool(state.colour[cursor] == EMPTY) and self.is_legal(state, cursor)
        if state.cursor_moves >= self.max_cursor_moves:
            return False
        row, column = cursor // self.board_size, cursor % self.board_size
        on_edge = (row == self.board_size - 1, row == 0, column == 0, column == self.board_size - 1)
        return not on_edge[action]

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Steps on the board, the stone if it is legal, and the pass."""
        count = 0
        for action in range(self.num_distinct_actions):
            if self.can_move(state, action):
                actions[count] = action
                count += 1
        return count

    def playout(self, state: Any, players: Any, actions: Any, end: int, stream: Any) -> int:
        """Play to the end; a cursor's steps are local variables until a stone or a pass."""
        size = self.board_size
        while state.is_over == 0:
            player, moves = state.player, state.cursor_moves
            cursor = np.int64(state.cursor[player])
            row, column = cursor // size, cursor % size
            while True:
                action = random_below(stream, self.num_distinct_actions)
                if action < PLACE:
                    if moves >= self.max_cursor_moves:
                        continue
                    up = row + (action == UP) - (action == DOWN)
                    on = column + (action == RIGHT) - (action == LEFT)
                    if up < 0 or up >= size or on < 0 or on >= size:
                        continue
                    row, column = up, on
                    moves += 1
                elif action == PLACE:
                    point = int(row * size + column)
                    if state.colour[point] != EMPTY or not self.is_legal(state, point):
                        continue
                if end == players.shape[0]:
                    return -1
                players[end] = player
                actions[end] = action
                end += 1
                if action >= PLACE:
                    break
            state.cursor_moves = moves
            state.cursor[player] = row * size + column
            self.play(state, action)
        return end

    def play(self, state: Any, action: int) -> None:
        """Move the cursor, or end the turn with a stone or a pass."""
        cursor = state.cursor[state.player]
        if action < PLACE:
            step = self.board_size if action <= DOWN else 1
            forward = action == UP or action == RIGHT  # noqa: PLR1714  (compiled)
            state.cursor[state.player] = cursor + step if forward else cursor - step
            state.cursor_moves += 1
            return
        if action == PASS:
            state.ko = NO_ACTION
            state.is_over = state.passed
        else:
            self.put(state, cursor)
            if state.is_drawn == 0 and self.comes_back(state, cursor):
                state.is_drawn = 1
        state.passed = np.int64(action == PASS)
        state.cursor_moves = 0
        state.player = 1 - state.player

    def returns(self, state: Any, returns: Any) -> None:
        """Write the returns, by area unless a board has come back."""
        if state.is_drawn == 0:
            self.write_areas(state, returns)

    def action_to_string(self, player: int, action: int) -> str:
        """A word, or two."""
        return WORDS[action]

    def string_of(self, state: Any) -> str:
        """The board from above, and the cursor of who is to move."""
        board = super().string_of(state)
        if state.is_over:
            return board
        return f"{board}\nCursor: {self.point_text(int(state.cursor[state.player]))}"

    def describe_board(self, state: Any, cells: Any) -> None:
        """The points' colours, and three more where the cursor of who is to move is."""
        for point in range(self.points):
            cells[point] = state.colour[point]
        cells[state.cursor[state.player]] += 3

    def observation(self, state: Any) -> Any:
        """Planes: black, white, empty, the cursor, White's turn, the share of cursor moves."""
        colours = state.colour[: self.points]
        planes = [colours == colour for colour in (BLACK, WHITE, EMPTY)]
        planes.append(np.arange(self.points) == state.cursor[state.player])
        planes.append(np.full(self.points, self.is_whites_turn(state)))
        moves = np.float32(state.cursor_moves) / np.float32(self.max_cursor_moves)
        planes.append(np.full(self.points, moves))
        return np.array(planes, np.float32).reshape(6, self.board_size, self.board_size)
