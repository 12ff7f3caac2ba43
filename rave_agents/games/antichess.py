"""Antichess, or losing chess, as OpenSpiel has it: ``antichess(fen=...)``.

Who can take must, en passant aside; a king is a piece like others, which may be taken and be what a
pawn becomes; there is no castling. Who has no pieces, or cannot move, wins. A position that is
there for the third time is a draw, and so are 50 moves of both without a capture or a pawn's move,
unless they end the game (OpenSpiel, ``antichess.cc``).

The history are 64-bit keys of positions; a capture and a pawn's move empty it, as no position
before can come back.
"""

from typing import Any

import numpy as np

from rave_agents.games.bits import NONE, count_bits, nth_bit
from rave_agents.games.chess_board import BoardRules
from rave_agents.games.chess_notation import RANKS, Position, read_fen
from rave_agents.games.chess_pieces import BLACK, KINGS, SETS, STEPS, WHITE
from rave_agents.games.kit.position_hash import BEGIN_FIRST, mixed_first
from rave_agents.games.kit.rules import DRAWN, NO_ACTION
from rave_agents.simulate.random_stream import random_below

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1"
"""The position at which the game begins."""

LONGEST_QUIET, REPETITIONS = 100, 3
"""Quiet moves after which the game is drawn, and how often a position may come until it is."""

LONGEST = 17695
"""The length of the longest game, as OpenSpiel has it."""

MOST_ACTIONS = 56 * 16 + 8 * 28
"""The most legal actions: a square is reached along eight lines and by eight knights, and those of
the last rank by three pawns, in five ways each, in place of three lines."""


class Antichess(BoardRules):
    """See the module."""

    name = "antichess"
    promotions = "RBNK"
    max_actions, max_game_length = MOST_ACTIONS, LONGEST
    aside = ("targets", "moves")
    unordered = {"boards": "num_boards"}  # noqa: RUF012  (read only)
    fen: str = START

    def setup(self) -> None:
        """Lay out the pieces' moves; the game begins at a FEN."""
        self.set_up_pieces()
        self.position_of(self.fen)
        self.fields: dict[str, Any] = {
            **self.piece_fields,
            "num_boards": np.int64,
            "boards": (np.uint64, LONGEST_QUIET + 1),
        }

    def position_of(self, fen: str) -> Position:
        """The position of a FEN, in which nobody may castle."""
        position = read_fen(fen)
        if position.castling != "-":
            raise ValueError(f"{fen!r} is no FEN of antichess: there is no castling.")
        return position

    def begin(self, state: Any) -> None:
        """The position of the game's FEN."""
        self.place(state, self.fen)

    def place(self, state: Any, fen: str) -> None:
        """Begin at a FEN."""
        position = self.position_of(fen)
        self.put_pieces(state, position)
        state.num_boards = 0
        self.keep_board(state)
        state.winner = NO_ACTION
        self.see_end(state, 1)
        for player in (BLACK, WHITE):
            if state.pieces[player] == NONE:
                state.winner = player

    def play(self, state: Any, action: int) -> None:
        """Move a piece, take what is there, and see whether the game is over."""
        if self.move(state, action):
            state.num_boards = 0
        self.see_end(state, self.keep_board(state))

    def see_end(self, state: Any, times: int) -> None:
        """Find the moves of the player to move, who must take, and see whether the game is over."""
        player = state.to_move
        reached = self.find_targets(state)
        taken = reached & state.pieces[1 - player]
        if taken != NONE:
            for place in range(SETS):
                state.targets[place] &= taken
        if times >= REPETITIONS:
            state.winner = DRAWN
        elif reached == NONE:
            state.winner = player
        elif state.quiet >= LONGEST_QUIET:
            state.winner = DRAWN

    def keep_board(self, state: Any) -> int:
        """Add the position to the history; returns how often it has been there."""
        key = mixed_first(BEGIN_FIRST, np.uint64(2 * (state.passed + 1) + state.to_move))
        for player in range(2):
            key = mixed_first(key, state.pieces[player])
        for kind in range(KINGS):  # Kings are what is left.
            key = mixed_first(key, state.kinds[kind])
        times = 1
        # With the same player to move.
        for index in range(state.num_boards % 2, state.num_boards, 2):
            times += state.boards[index] == key
        state.boards[state.num_boards] = key
        state.num_boards += 1
        return times

    def draw(self, state: Any, stream: Any) -> int:
        """A place among the moves of all steps."""
        total = 0
        for place in range(STEPS):
            total += count_bits(state.targets[place])
        for place in range(STEPS, SETS):
            total += self.choices * count_bits(state.targets[place])
        drawn = random_below(stream, total)
        for place in range(STEPS):
            count = count_bits(state.targets[place])
            if drawn < count:
                return self.number_of(state, nth_bit(state.targets[place], drawn), place)
            drawn -= count
        side = 0
        while drawn >= self.choices * count_bits(state.targets[STEPS + side]):
            drawn -= self.choices * count_bits(state.targets[STEPS + side])
            side += 1
        target = nth_bit(state.targets[STEPS + side], drawn // self.choices)
        return self.promotion_number(state, target, side, drawn % self.choices)

    def action_to_string_at(self, state: Any, player: int, action: int) -> str:
        """The move in short algebraic notation."""
        return self.san(state, action)

    def string_of(self, state: Any) -> str:
        """The position as a FEN."""
        return str(self.told_position(state))

    def observation(self, state: Any) -> Any:
        """Planes of each piece, White's and Black's, and empty squares; and of three numbers.

        These are how often the position has come, who is to move, and how many moves were quiet.
        """
        boards = state.boards[: state.num_boards]
        times = np.count_nonzero(boards == boards[-1])
        told = (times - 1) / (REPETITIONS - 1), state.to_move, state.quiet / (LONGEST_QUIET + 1)
        planes = [np.full((1, RANKS, RANKS), value, np.float32) for value in told]
        return np.concatenate([self.board_planes(state, (*range(1, 13), 0)), *planes])
