"""Go, as OpenSpiel has it: ``go(board_size=19,komi=7.5,handicap=0,max_game_length=...)``.

A stone that repeats a whole board ends the game as a draw (positional superko); two passes, or
``max_game_length`` moves, end it by its areas (OpenSpiel, ``go.cc``). The last action passes;
``stones.py`` has the board and the captures.

Playouts draw any legal move, or sensible ones: a player saves a chain that the last move put in
atari, else makes a shape next to the last stone, else plays anywhere, but fills no eye of one
point, and passes only if there is nothing else (Gelly, Wang, Munos & Teytaud, "Modification of UCT
with Patterns in Monte-Carlo Go", 2006, without the captures).

The surroundings of a point are a code of two bits for each of its eight neighbours, in the order of
``NEAR``: the adjacent points in the lower byte, the corners in the upper one.
"""

import functools
import itertools
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from rave_agents.games.kit.rules import NO_ACTION, TERMINAL
from rave_agents.games.stones import (
    BLACK,
    CHAIN_FIELDS,
    EDGE,
    EMPTY,
    NEAR,
    WHITE,
    BoardSize,
    CaptureRules,
)
from rave_agents.simulate.random_stream import random_below

SIGNS = {
    "X": (BLACK,),
    "O": (WHITE,),
    ".": (EMPTY,),
    "x": (WHITE, EMPTY),
    "o": (BLACK, EMPTY),
    "?": (BLACK, WHITE, EMPTY),
    "#": (EDGE,),
}
"""Contents of a point: a small letter is anything but that colour, # is beyond the edge."""

SHAPES = (
    # Hane: enclosing, not cutting, around a corner; and a diagonal attachment.
    ("XOX", "...", "???"),
    ("XO.", "...", "?.?"),
    ("XO?", "X..", "?.?"),
    (".O.", "X..", "..."),
    # Cuts: unprotected, peeped, pushed through, and of a knight's move.
    ("XO?", "O.o", "?o?"),
    ("XO?", "O.X", "???"),
    ("?X?", "O.O", "ooo"),
    ("OX?", "o.O", "???"),
    # At the edge: chase, two blocks, a descent and a cut.
    ("X.?", "O.?", "###"),
    ("OX?", "X.O", "###"),
    ("?X?", "x.O", "###"),
    ("?XO", "x.x", "###"),
    ("?OX", "X.O", "###"),
)
"""Rows of three points; the one in the middle is played on. All are turned and mirrored too."""


@functools.cache
def shape_codes() -> NDArray[np.bool_]:
    """[codes] True where the surroundings of a point make a shape."""
    codes = np.zeros(1 << 2 * len(NEAR), np.bool_)
    for rows in SHAPES:
        board = np.array([list(row) for row in rows])
        for turns, mirrored in itertools.product(range(4), (False, True)):
            seen = np.rot90(board[:, ::-1] if mirrored else board, turns)
            around = [SIGNS[seen[1 + up, 1 + on]] for up, on in NEAR]
            for colours in itertools.product(*around):
                for swapped in (False, True):
                    codes[_code(colours, swapped=swapped)] = True
    return codes


def _code(colours: tuple[int, ...], *, swapped: bool) -> int:
    code = 0
    for place, colour in enumerate(colours):
        other = WHITE + BLACK - colour if swapped and colour in (BLACK, WHITE) else colour
        code |= other << 2 * place
    return code


@functools.cache
def empty_beside() -> NDArray[np.uint8]:
    """[256] the number of empty points among the four of a byte of a code."""
    return (_colours_of_bytes() == EMPTY).sum(axis=1).astype(np.uint8)


@functools.cache
def eye_codes() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """[player, 256] twice: True where adjacent points, and where corners, allow an eye.

    All adjacent points are the player's own stones or the edge, and the opponent has no corner at
    the edge, at most one elsewhere (Brügmann, "Monte Carlo Go", 1993).
    """
    colours = _colours_of_bytes()
    at_edge = (colours == EDGE).any(axis=1)
    beside, corners = [], []
    for player, opponent in ((BLACK, WHITE), (WHITE, BLACK)):
        beside.append(np.isin(colours, (player, EDGE)).all(axis=1))
        corners.append((colours == opponent).sum(axis=1) + at_edge < 2)
    return np.array(beside), np.array(corners)


def _colours_of_bytes() -> NDArray[np.int64]:
    """[256, 4] the four colours in each byte of a code."""
    return np.arange(256)[:, np.newaxis] >> 2 * np.arange(4) & 3


PLAYOUT_FIELDS = ("sensible", "num_empty", "empty", "place", "around", "last")
"""Fields that playouts use."""

GOES_ON, SCORED, DRAWN = 0, 1, 2
"""States of the game's end."""


class Go(CaptureRules):
    """See the module.

    A state has ``sensible`` and ``last``, the point of the last move; the list ``empty`` of empty
    points, with the ``place`` of each on it; and ``around``, the code of each point's surroundings.
    """

    name = "go"
    uncovered = "max_game_length above 4096 or below 0"
    fills_own_cells = True
    unordered = {"boards": "num_boards"}  # noqa: RUF012  (read only)
    aside = (*CHAIN_FIELDS, "key", "stood", *PLAYOUT_FIELDS)
    board_size: BoardSize = 19
    komi: float = 7.5
    handicap: int = 0
    max_game_length: Annotated[int, Ge(-1), Le(4096)] = -1  # -1: twice the number of points.

    def setup(self) -> None:
        """Lay out the board, the tables of playouts, and room for the boards of a game."""
        points = self.board_size**2
        # OpenSpiel never ends a game before the second move.
        length = 2 * points if self.max_game_length < 0 else self.max_game_length
        self.max_game_length = max(2, length)
        self.most_boards = self.max_game_length + 1
        super().setup()
        self.num_distinct_actions: int = self.points + 1
        self.shapes: NDArray[np.bool_] = shape_codes()
        lowest = [(bits & -bits).bit_length() - 1 for bits in range(256)]
        self.lowest_bit: NDArray[np.int64] = np.array(lowest)
        self.empty_beside: NDArray[np.uint8] = empty_beside()
        beside, corners = eye_codes()
        self.eye_beside: NDArray[np.bool_] = beside
        self.eye_corners: NDArray[np.bool_] = corners
        step = 2 * np.arange(len(NEAR))
        colours = np.where(self.near == self.points, EDGE, EMPTY)
        codes = (colours << step).sum(axis=1)
        self.around_empty: NDArray[np.uint16] = codes.astype(np.uint16)
        opposite = [NEAR.index((-up, -on)) for up, on in NEAR]
        changes = np.array([[colour ^ EMPTY] for colour in (BLACK, WHITE)])
        self.changes: NDArray[np.uint16] = (changes << step[opposite]).astype(np.uint16)
        self.fields: dict[str, Any] = {
            **self.capture_fields,
            **dict.fromkeys(("sensible", "num_empty"), np.int64),
            "empty": (np.uint16, self.points + 1),
            "place": (np.uint16, self.points + 1),
            "around": (np.uint16, self.points + 1),
            "last": np.uint16,
            **dict.fromkeys(("ending", "moves", "passes"), np.int64),
        }

    def begin(self, state: Any) -> None:
        """All points are empty but for the handicap."""
        state.last = self.points
        state.num_empty = self.points
        state.empty[:] = state.place[:] = np.arange(self.points + 1)
        state.around[: self.points] = self.around_empty
        super().begin(state)

    def fill(self, state: Any, point: int) -> None:
        """Take a point from the list of empty points: the last one takes its place."""
        last = state.empty[state.num_empty - 1]
        state.num_empty -= 1
        state.empty[state.place[point]] = last
        state.place[last] = state.place[point]
        self.change(state, point, state.player)

    def clear(self, state: Any, point: int) -> None:
        """Put a point on the list of empty points."""
        state.empty[state.num_empty] = point
        state.place[point] = state.num_empty
        state.num_empty += 1
        self.change(state, point, 1 - state.player)

    def change(self, state: Any, point: int, colour: int) -> None:
        """Update the codes around a point where a stone comes or goes (EMPTY ^ colour toggles)."""
        for direction in range(8):
            state.around[self.near[point, direction]] ^= self.changes[colour, direction]

    def has_liberty(self, state: Any, point: int) -> bool:
        """True if a point has an empty one next to it, by its code."""
        return bool(self.empty_beside[state.around[point] & 255] > 0)

    def make_sensible(self, state: Any) -> None:
        """Playouts save chains from atari, make shapes and keep eyes."""
        state.sensible = 1

    def knows_better(self, state: Any) -> bool:
        """True in sensible playouts."""
        return bool(state.sensible == 1)

    def draw(self, state: Any, stream: Any) -> Any:
        """Draw empty points, and the pass, until one is good; others go to the list's end."""
        if state.sensible:
            answer = self.answer_to_atari(state, state.last)
            if answer == self.points:
                answer = self.shape_beside(state, state.last, stream)
            if answer < self.points:
                return np.int64(answer)
        count = state.num_empty
        passes = 1 - state.sensible
        while count + passes > 0:
            place = random_below(stream, count + passes)
            if place == count:
                break
            point = state.empty[place]
            if self.is_legal(state, point) and not (passes == 0 and self.is_eye(state, point)):
                return np.int64(point)
            count -= 1
            last = state.empty[count]
            state.empty[count], state.empty[place] = point, last
            state.place[point], state.place[last] = count, place
        return self.points

    def answer_to_atari(self, state: Any, last: int) -> int:
        """The point that saves a chain next to the last stone; the pass if none does.

        Playouts do not capture the last stone on purpose: RAVE would count those points as good
        moves now, in a player's own area (docs/laboratory.md).
        """
        no_answer: int = self.numbers[self.points]
        if last == self.points:
            return no_answer
        threatened = np.int64(0)
        for direction in range(4):
            near = self.near[last, direction]
            in_atari = self.in_atari(state, state.chain[near])
            # Without a branch, as in `shape_beside`.
            threatened |= np.int64((state.colour[near] == state.player) & in_atari) << direction
        while threatened:
            near = self.near[last, self.lowest_bit[threatened]]
            point = self.last_liberty(state, state.chain[near])
            if self.is_legal(state, point) and self.is_safe(state, point):
                return point
            threatened &= threatened - 1
        return no_answer

    def shape_beside(self, state: Any, last: int, stream: Any) -> int:
        """A point next to the last stone where a stone makes a shape; the pass if there is none."""
        nothing: int = self.numbers[self.points]
        if last == self.points:
            return nothing
        # Test all eight points without a branch, which a processor could not predict.
        fits = np.int64(0)
        for direction in range(8):
            point = self.near[last, direction]
            is_shape = (state.colour[point] == EMPTY) & self.shapes[state.around[point]]
            fits |= np.int64(is_shape) << direction
        # Rotate the bits by a random distance, so that each shape is equally likely to be first.
        first = random_below(stream, 8)
        fits = (fits >> first | fits << (8 - first)) & 255
        while fits:
            turn = self.lowest_bit[fits]
            point = self.near[last, (first + turn) & 7]
            if self.is_legal(state, point) and self.is_safe(state, point):
                return point
            fits &= fits - 1
        return nothing

    def is_safe(self, state: Any, point: int) -> bool:
        """True if a stone on an empty point has two liberties with its chain, and fills no eye."""
        if self.empty_beside[state.around[point] & 255] > 1:
            return True
        return self.joins_or_takes(state, point) and not self.is_eye(state, point)

    def is_eye(self, state: Any, point: int) -> bool:
        """True if an empty point is the player's eye, see ``eye_codes``."""
        around = state.around[point]
        beside, corners = self.eye_beside[state.player], self.eye_corners[state.player]
        return bool(beside[around & 255] and corners[around >> 8])

    def player(self, state: Any) -> int:
        """Players take turns."""
        return state.player if state.ending == GOES_ON else TERMINAL

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty point that is not suicide nor the ko, and the pass."""
        count = self.legal_points(state, actions)
        actions[count] = self.points
        return count + 1

    def play(self, state: Any, action: int) -> None:
        """Pass, or put a stone on a point."""
        state.moves += 1
        state.last = self.numbers[action]
        if action == self.points:
            state.ko = NO_ACTION
            state.passes += 1
            if state.passes == 2:
                state.ending = SCORED
        else:
            point = self.numbers[action]
            self.put(state, point)
            state.passes = 0
            if self.comes_back(state, point):
                state.ending = DRAWN
        if state.moves >= self.max_game_length and state.ending == GOES_ON:
            state.ending = SCORED
        state.player = 1 - state.player

    def returns(self, state: Any, returns: Any) -> None:
        """Write the returns, by area unless the game is drawn."""
        if state.ending == SCORED:
            self.write_areas(state, returns)

    def action_to_string(self, player: int, action: int) -> str:
        """The colour and the point in Go's coordinates."""
        return f"{'BW'[player]} {'PASS' if action == self.points else self.point_text(action)}"
