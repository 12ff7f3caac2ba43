"""Antichess, or losing chess, as OpenSpiel has it: ``antichess(fen=...)``.

Captures are compulsory, except en passant; a king is a piece like others, which may be captured and
be what a pawn becomes; there is no castling. A player without pieces or without a move wins. The
third occurrence of a position is a draw, and so are 50 moves of both without a capture or a pawn's
move, unless they end the game (OpenSpiel, ``antichess.cc``).

The history holds 64-bit keys of positions; a capture or a pawn's move empties it, as no earlier
position can occur again. ``chess_pieces.py`` has the pieces' moves.
"""

from typing import Any

import numpy as np

from rave_agents.games.bits import NONE, ONE, bit, count_bits, has_bit, lowest_bit, nth_bit
from rave_agents.games.chess_pieces import (
    BLACK,
    KINGS,
    LEFT,
    LETTERS,
    MIRRORED,
    PAWNS,
    RANKS,
    RIGHT,
    SETS,
    SQUARES,
    STEPS,
    WHITE,
    PieceRules,
    Position,
    move_text,
    read_fen,
)
from rave_agents.games.kit.position_hash import BEGIN_FIRST, mixed_first
from rave_agents.games.kit.rules import DRAWN, NO_ACTION
from rave_agents.simulate.random_stream import random_below

FILE, RANK = SQUARES - RANKS, RANKS - 1
"""The bits of a square's number for its file, and those for its rank."""


EMPTY = " "
"""The sign of an empty square."""

SIGNS = EMPTY + "".join(letter + letter.lower() for letter in LETTERS)
"""The contents of a square: nothing, or a piece of White's and of Black's."""


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1"
"""The position at which the game begins."""

LONGEST_QUIET, REPETITIONS = 100, 3
"""Quiet moves, and occurrences of a position, that draw the game."""

LONGEST = 17695
"""The length of the longest game, as OpenSpiel has it."""

MOST_ACTIONS = 56 * 16 + 8 * 28
"""Bound of the legal actions: each square is reached along eight lines and by eight knights; those
of the last rank by three pawns, with five promotions each, in place of three lines."""


class Antichess(PieceRules):
    """See the module."""

    name = "antichess"
    implied = ("fen",)  # OpenSpiel's game has this parameter, and always begins at the start.
    promotions = "RBNK"
    max_actions, max_game_length = MOST_ACTIONS, LONGEST
    aside = ("targets", "moves")
    unordered = {"boards": "num_boards"}  # noqa: RUF012  (read only)
    fen: str = START
    cell_kinds = len(SIGNS)

    def setup(self) -> None:
        """Lay out the pieces' moves; the game begins at a FEN."""
        self.set_up_pieces()
        self.position_of(self.fen)
        self.fields: dict[str, Any] = {
            **self.piece_fields,
            "num_boards": np.int64,
            "boards": (np.uint64, LONGEST_QUIET + 1),
        }

    def begin(self, state: Any) -> None:
        """The position of the game's FEN."""
        self.place_text(state, self.fen)

    def put_pieces(self, state: Any, position: Position) -> None:
        """Set up a position."""
        state.pieces[:] = NONE
        state.kinds[:] = NONE
        for square, letter in enumerate(position.pieces):
            if letter != EMPTY:
                state.pieces[WHITE if letter.isupper() else BLACK] |= bit(square)
                self.put(state, square, LETTERS.index(letter.upper()))
        state.to_move = WHITE if position.is_white else BLACK
        state.passed, state.quiet, state.moves = position.passed, position.quiet, position.number

    def put(self, state: Any, square: int, piece: int) -> None:
        """Add a square to the sets that a piece, by its place in ``LETTERS``, is in."""
        for kind in range(KINGS + 1):
            if self.is_in[piece, kind]:
                state.kinds[kind] |= bit(square)

    def move(self, state: Any, action: int) -> bool:
        """Move a piece and capture on its target; returns whether that is irreversible."""
        player = state.to_move
        mirror = 0 if player == WHITE else MIRRORED
        start, way = action // self.destinations, action % self.destinations
        square, target = start ^ mirror, (start + self.offsets[way]) ^ mirror
        left, reached = bit(square), bit(target)
        takes = state.pieces[1 - player] & reached != NONE
        is_pawn = state.kinds[PAWNS] & left != NONE
        state.pieces[player] ^= left | reached
        state.pieces[1 - player] &= ~reached
        for kind in range(KINGS + 1):
            pieces = state.kinds[kind]
            moved = reached if pieces & left != NONE else NONE
            state.kinds[kind] = (pieces & ~(left | reached)) | moved
        passed = state.passed
        state.passed = NO_ACTION
        if is_pawn:
            if target == passed:
                self.take_passed(state, (target & FILE) | (square & RANK))
            self.finish_pawn(state, square, target, self.promoted[way])
        state.quiet = 0 if takes or is_pawn else state.quiet + 1
        state.moves += 1 - player
        state.to_move = 1 - player
        return takes or is_pawn

    def take_passed(self, state: Any, square: int) -> None:
        """Capture a pawn en passant."""
        taken = ~bit(square)
        state.pieces[1 - state.to_move] &= taken
        state.kinds[PAWNS] &= taken

    def finish_pawn(self, state: Any, square: int, target: int, piece: int) -> None:
        """Promote a pawn on the last rank, or store where one that went two ranks can be taken."""
        if target & RANK == 0 or target & RANK == RANK:
            state.kinds[PAWNS] ^= bit(target)
            self.put(state, target, piece)
        elif abs(target - square) == 2:
            near = self.moved(bit(target), LEFT) | self.moved(bit(target), RIGHT)
            if near & state.pieces[1 - state.to_move] & state.kinds[PAWNS] != NONE:
                state.passed = (square + target) >> 1

    def squares_of(self, state: Any, piece: int) -> Any:
        """Both players' squares with a piece, by its place in ``LETTERS``."""
        squares = ~NONE
        for kind in range(KINGS + 1):
            pieces = state.kinds[kind]
            squares &= pieces if self.is_in[piece, kind] else ~pieces
        return squares

    def describe_board(self, state: Any, cells: Any) -> None:
        """The content of each square, as an index of ``SIGNS``, the first rank first."""
        cells[:] = 0
        for piece in range(len(LETTERS)):
            pieces = self.squares_of(state, piece)
            for player in range(2):
                squares = pieces & state.pieces[player]
                while squares != NONE:
                    square = lowest_bit(squares)
                    squares &= squares - ONE
                    cells[(square & RANK) * RANKS + square // RANKS] = 2 + 2 * piece - player

    def letters(self, state: Any) -> list[str]:
        """The sign of each square."""
        cells = np.zeros(SQUARES, np.int8)
        self.describe_board(state, cells)
        return [SIGNS[code] for code in cells.reshape(RANKS, RANKS).T.ravel()]

    def position_at(self, state: Any) -> Position:
        """The position for a FEN, without castling."""
        counts = (int(state[name]) for name in ("passed", "quiet", "moves"))
        return Position(self.letters(state), bool(state.to_move == WHITE), "-", *counts)

    def san(self, state: Any, action: int) -> str:
        """A legal move in short algebraic notation, without signs of check."""
        mirror = 0 if state.to_move == WHITE else MIRRORED
        start, way = divmod(action, self.destinations)
        square, target = start ^ mirror, (start + int(self.offsets[way])) ^ mirror
        letters = self.letters(state)
        piece, takes = letters[square], letters[target] != EMPTY
        becomes = ""
        if piece in "Pp":
            takes = square // RANKS != target // RANKS
            becomes = LETTERS[self.promoted[way]] if target % RANKS in (0, RANKS - 1) else ""
        places = [place for place in range(STEPS) if has_bit(state.targets[place], target)]
        origins = {int(self.origin(state, target, place)) for place in places} - {square}
        rivals = [near for near in origins if letters[near] == piece]
        return move_text(piece.upper(), square, target, rivals, takes=takes, becomes=becomes)

    def position_of(self, fen: str) -> Position:
        """The position of a FEN, in which nobody may castle."""
        position = read_fen(fen)
        if position.castling != "-":
            raise ValueError(f"{fen!r} is no FEN of antichess: there is no castling.")
        return position

    def place_text(self, state: Any, text: str) -> None:
        """Set up a FEN."""
        position = self.position_of(text)
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
        """Find the legal moves, captures alone if there are any, and whether the game is over."""
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
        """Add the position to the history; returns how often it has occurred."""
        key = mixed_first(BEGIN_FIRST, np.uint64(2 * (state.passed + 1) + state.to_move))
        for player in range(2):
            key = mixed_first(key, state.pieces[player])
        for kind in range(KINGS):  # Kings are the pieces in no other set.
            key = mixed_first(key, state.kinds[kind])
        times = 1
        # Repetition counts positions with the same side to move: every second one.
        for index in range(state.num_boards % 2, state.num_boards, 2):
            times += state.boards[index] == key
        state.boards[state.num_boards] = key
        state.num_boards += 1
        return times

    def draw(self, state: Any, stream: Any) -> int:
        """One of the moves of all steps; each promotion counts as often as there are choices."""
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
        return str(self.position_at(state))

    def observation(self, state: Any) -> Any:
        """Planes of each piece, White's and Black's, and empty squares; and of three numbers.

        The numbers are the occurrences of the position, the player to move, and the quiet moves.
        """
        boards = state.boards[: state.num_boards]
        times = np.count_nonzero(boards == boards[-1])
        told = (times - 1) / (REPETITIONS - 1), state.to_move, state.quiet / (LONGEST_QUIET + 1)
        planes = [np.full((1, RANKS, RANKS), value, np.float32) for value in told]
        return np.concatenate([self.board_planes(state, (*range(1, 13), 0)), *planes])
