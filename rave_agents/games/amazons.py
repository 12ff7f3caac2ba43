"""Amazons, as OpenSpiel has it: ``amazons(board_size=10)``, on boards of 6, 8 or 10.

A turn has three moves: a player chooses an own amazon that can move, moves it like a queen of
chess, and shoots an arrow like a queen from where it stands to a square that is blocked from then
on. Nothing passes over what stands on a square. Who has no amazon that can move loses (OpenSpiel,
``amazons.cc``).

Every action is a square; square 0 is above on the left, squares go to the right and then
downwards.
"""

from typing import Any

import numpy as np

from rave_agents.games.kit.rules import NO_ACTION
from rave_agents.games.ordered import insert
from rave_agents.games.queens import QueenRules
from rave_agents.simulate.random_stream import random_below

STARTS = {6: (24, 29, 31, 34), 8: (40, 47, 58, 61), 10: (60, 69, 93, 96)}
"""The squares of player 0's amazons by the board's size; player 1's are opposite."""

AMAZONS = 4
"""Amazons of a player."""

CHOOSE, MOVE, SHOOT = 0, 1, 2
"""The moves of a turn."""

ARROW = 3
"""The content of a cell where an arrow is."""


class Amazons(QueenRules):
    """See the module."""

    name = "amazons"
    cell_kinds = 4
    board_size: int = 10

    def setup(self) -> None:
        """Lay out the board."""
        size = self.board_size
        if size not in STARTS:
            raise ValueError(f"board_size must be 6, 8 or 10, got {size}.")
        cells = self.num_distinct_actions = size * size
        self.max_actions: int = 4 * size
        self.max_game_length: int = 3 * (cells - 2 * AMAZONS)
        self.board_shape: tuple[int, int] = size, size
        first = np.array(STARTS[size], np.int16)
        self.start = np.array([first, cells - 1 - first])
        self.fields: dict[str, Any] = {
            **self.lay_out(size),
            "amazons": (np.int16, (2, AMAZONS)),
            "can_move": (np.int8, AMAZONS),
            **dict.fromkeys(("to_move", "phase", "chosen", "winner"), np.int64),
        }

    def begin(self, state: Any) -> None:
        """Amazons stand near the edges."""
        state.lines[:] = self.empty
        state.amazons[:] = self.start
        for player in range(2):
            for amazon in range(AMAZONS):
                self.toggle(state, self.start[player, amazon])
        state.winner = NO_ACTION
        self.find_movable(state, 0)

    def find_movable(self, state: Any, player: int) -> bool:
        """Keep which amazons of a player can move; returns whether any can."""
        found = 0
        for amazon in range(AMAZONS):
            movable = 1 if self.can_leave(state, state.amazons[player, amazon]) else 0
            state.can_move[amazon] = movable
            found |= movable
        return found == 1

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every amazon that can move, or every square that the chosen one reaches."""
        amazons = state.amazons[state.to_move]
        if state.phase != CHOOSE:
            return self.list_reached(state, amazons[state.chosen], actions)
        count = 0
        for amazon in range(AMAZONS):
            if state.can_move[amazon] == 1:
                count = insert(actions, 0, count, amazons[amazon])
        return count

    def play(self, state: Any, action: int) -> None:
        """Choose, move or shoot; after that see whether the other player can move."""
        player = state.to_move
        self.toggle(state, action)
        if state.phase == CHOOSE:
            for amazon in range(AMAZONS):
                if state.amazons[player, amazon] == action:
                    state.chosen = amazon
            state.phase = MOVE
        elif state.phase == MOVE:
            state.amazons[player, state.chosen] = action
            state.phase = SHOOT
        else:
            state.phase = CHOOSE
            state.to_move = 1 - player
            if not self.find_movable(state, 1 - player):
                state.winner = player

    def draw(self, state: Any, stream: Any) -> int:
        """A place among the amazons, or among the squares that are reached."""
        amazons = state.amazons[state.to_move]
        if state.phase != CHOOSE:
            square: Any = np.int64(amazons[state.chosen])
            return self.draw_reached(state, square, stream)
        count = 0
        for amazon in range(AMAZONS):
            count += state.can_move[amazon]
        place, amazon = random_below(stream, count), -1
        while place >= 0:
            amazon += 1
            place -= state.can_move[amazon]
        chosen: Any = np.int64(amazons[amazon])
        return chosen

    def action_to_string_at(self, state: Any, player: int, action: int) -> str:
        """The player's sign, what the move does, and the row and column from 1 on."""
        row, column = divmod(action, self.board_size)
        return f"{'XO'[player]} {('From', 'To', 'Shoot:')[state.phase]} ({row + 1}, {column + 1})"

    def string_of(self, state: Any) -> str:
        """The board, from above."""
        signs = np.array(list(".XO#"))[self.board_planes(state, range(4)).argmax(axis=0)]
        return "\n".join("".join(row) for row in signs)

    def describe_board(self, state: Any, cells: Any) -> None:
        """0 for an empty square, one more than the amazon's owner, or 3 for an arrow."""
        for square in range(cells.shape[0]):
            cells[square] = ARROW if self.is_taken(state, square) else 0
        for player in range(2):
            for amazon in range(AMAZONS):
                square = state.amazons[player, amazon]
                if cells[square] == ARROW:  # Else it is in the air.
                    cells[square] = 1 + player

    def observation(self, state: Any) -> Any:
        """Planes of empty squares, player 1's amazons, player 0's, and arrows."""
        return self.board_planes(state, (0, 2, 1, ARROW))
