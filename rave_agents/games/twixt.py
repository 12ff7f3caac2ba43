"""TwixT, as OpenSpiel has it: ``twixt(board_size=8,ansi_color_output=True)``.

Players put pegs on empty cells, but neither on the opponent's border rows nor on corners. A new peg
is linked with the player's others a knight's move away, unless a link is in between. Who joins the
own border rows by links wins: player 0 from below to above, player 1 from the left to the right.
The game is drawn if the player to move has no cell left. The second player may take the first peg
over, by playing onto it: it goes where a quarter turn of the board brings it (OpenSpiel,
``twixtboard.cc``).

Action ``column * board_size + row`` is a cell, with rows counted from below.
"""

from typing import Any

import numpy as np

from rave_agents.games.coordinates import cell_name
from rave_agents.games.kit.rules import DRAWN, NO_ACTION
from rave_agents.games.twixt_links import EMPTY, JOINED, MARGIN, OUTSIDE, LinkRules
from rave_agents.games.twixt_text import BoardText
from rave_agents.simulate.random_stream import random_below

SMALLEST, LARGEST = 5, 24
"""The least and the greatest size."""

BOTH = 2
"""Place of the list of cells that are open to both players; those of each alone are before."""


class Twixt(LinkRules):
    """See the module."""

    name = "twixt"
    aside = ("parents", "empty")
    board_size: int = 8
    ansi_color_output: bool = True

    def setup(self) -> None:
        """Lay out the board."""
        size = self.board_size
        if not SMALLEST <= size <= LARGEST:
            raise ValueError(f"board_size must be from {SMALLEST} to {LARGEST}, got {size}.")
        self.num_distinct_actions: int = size * size
        self.max_actions: int = size * (size - 2)
        self.max_game_length: int = size * size - 3
        self.board_shape: tuple[int, int] = size, size
        fields = self.lay_out(size)
        self.playable = np.array([np.flatnonzero(self.open_to >> at & 1) for at in range(2)])
        inner = (size - 2) ** 2
        # Where cells open to player 0 alone, to player 1 alone and to both begin in a list.
        self.firsts = np.array([inner, inner + 2 * (size - 2), 0])
        self.fields: dict[str, Any] = {
            **fields,
            "empty": (np.int16, size * size),
            "listed": (np.int64, 3),
            "left": (np.int64, 2),
            **dict.fromkeys(("to_move", "moves", "first", "swapped", "winner"), np.int64),
        }

    def begin(self, state: Any) -> None:
        """No pegs are there."""
        self.clear(state)
        state.left[:] = self.max_actions
        state.winner = NO_ACTION

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty cell off the opponent's border rows; and at first the one to take over."""
        first = state.first if state.moves == 1 else NO_ACTION
        count = 0
        for action in self.playable[state.to_move]:
            actions[count] = action
            is_empty = state.contents[self.cells[action]] == EMPTY
            count += 1 if is_empty or action == first else 0
        return count

    def play(self, state: Any, action: int) -> None:
        """Put a peg, or take the first one over, and see whether the game is over."""
        player = state.to_move
        if state.moves == 0:
            state.first = action
        elif state.moves == 1 and action == state.first:
            state.swapped = 1
            self.change(state, action, EMPTY)
            column, row = action // self.board_size, action % self.board_size
            action = row * self.board_size + self.board_size - 1 - column
        self.change(state, action, 1 + player)
        if self.link(state, self.cells[action]) == JOINED:
            state.winner = player
        elif state.left[1 - player] == 0:
            state.winner = DRAWN
        state.moves += 1
        state.to_move = 1 - player

    def change(self, state: Any, action: int, content: int) -> None:
        """Put a peg onto a cell, or take one away, and count the cells that are left."""
        state.contents[self.cells[action]] = content
        for player in range(2):
            opened = self.open_to[action] >> player & 1
            state.left[player] += opened if content == EMPTY else -opened

    def playout(self, state: Any, players: Any, actions: Any, end: int, stream: Any) -> int:
        """Draw from lists of the empty cells."""
        listed = False
        while state.winner == NO_ACTION:
            if end == players.shape[0]:
                return -1
            if state.moves < 2:  # The second player may take the first peg over.
                count = self.legal_actions(state, state.empty)
                action: Any = np.int64(state.empty[random_below(stream, count)])
            else:
                if not listed:
                    self.list_empty(state)
                    listed = True
                action = self.drawn(state, stream)
            players[end] = state.to_move
            actions[end] = action
            end += 1
            self.play(state, action)
        return end

    def list_empty(self, state: Any) -> None:
        """List the empty cells: those open to player 0 alone, to player 1 alone, and to both."""
        state.listed[:] = 0
        for action in range(self.num_distinct_actions):
            if state.contents[self.cells[action]] == EMPTY:
                kind = self.open_to[action] - 1
                state.empty[self.firsts[kind] + state.listed[kind]] = action
                state.listed[kind] += 1

    def drawn(self, state: Any, stream: Any) -> int:
        """Draw one of the listed cells that are open to the player to move, and take it out."""
        both = state.listed[BOTH]
        place = random_below(stream, both + state.listed[state.to_move])
        kind = BOTH if place < both else state.to_move
        place += self.firsts[kind] - (0 if place < both else both)
        action: Any = np.int64(state.empty[place])
        state.listed[kind] -= 1
        state.empty[place] = state.empty[self.firsts[kind] + state.listed[kind]]
        return action

    def action_to_string(self, player: int, action: int) -> str:
        """The player's sign, the column's letter, and the row's number, from above."""
        column, row = divmod(action, self.board_size)
        return "xo"[player != 0] + cell_name(column, self.board_size - 1 - row)

    def string_of(self, state: Any) -> str:
        """The board, and what there is to say of the game."""
        around = slice(MARGIN - 1, 1 - MARGIN)
        owners = self.board_planes(state, range(3)).argmax(axis=0)
        links = self.grid(state.links)[around, around]
        lines = BoardText(owners, links, coloured=self.ansi_color_output).lines()
        ends = {NO_ACTION: "", 0: "[x has won]", 1: "[o has won]", DRAWN: "[draw]"}
        swapped = "[swapped]" if state.swapped else ""
        return "\n".join([*lines, "", swapped + ends[int(state.winner)]])

    def describe_board(self, state: Any, cells: Any) -> None:
        """0 for an empty cell or a corner, else one more than the peg's owner."""
        for action in range(cells.shape[0]):
            content = state.contents[self.cells[action]]
            cells[action] = EMPTY if content == OUTSIDE else content
