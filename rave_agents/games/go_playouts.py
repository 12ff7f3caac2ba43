"""Moves of Go's playouts: any legal one, or sensible ones.

In sensible playouts a player saves a chain that the last move put in atari, else makes a shape
beside the last stone, else plays anywhere, but fills no eye of one point, and passes only if there
is nothing else (Gelly, Wang, Munos & Teytaud, "Modification of UCT with Patterns in Monte-Carlo
Go", 2006, without the captures).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.games.captures import CaptureRules
from rave_agents.games.go_shapes import empty_beside, eye_codes, shape_codes
from rave_agents.games.stones import BLACK, EDGE, EMPTY, NEAR, WHITE
from rave_agents.simulate.random_stream import random_below


class GoPlayouts(CaptureRules):
    """The rules with such playouts; ``playout_fields`` are the fields.

    A state has ``sensible`` and ``last``, the point of the last move; a list of the points that are
    ``empty``, with the ``place`` of each; and for each point what is ``around`` it, a code of two
    bits for each of its eight neighbours: what stands in ``go_shapes.py`` is looked up by it.
    """

    def setup(self) -> None:
        """Lay out the board, and what is known of points by what is around them."""
        super().setup()
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
        self.playout_fields: dict[str, Any] = {
            **self.capture_fields,
            **dict.fromkeys(("sensible", "num_empty"), np.int64),
            "empty": (np.uint16, self.points + 1),
            "place": (np.uint16, self.points + 1),
            "around": (np.uint16, self.points + 1),
            "last": np.uint16,
        }

    def begin(self, state: Any) -> None:
        """All points are empty but for the handicap."""
        state.last = self.points
        state.num_empty = self.points
        state.empty[:] = state.place[:] = np.arange(self.points + 1)
        state.around[: self.points] = self.around_empty
        super().begin(state)

    def fill(self, state: Any, point: int) -> None:
        """Take a point from the list."""
        last = state.empty[state.num_empty - 1]
        state.num_empty -= 1
        state.empty[state.place[point]] = last
        state.place[last] = state.place[point]
        self.change(state, point, state.player)

    def clear(self, state: Any, point: int) -> None:
        """Put a point on the list."""
        state.empty[state.num_empty] = point
        state.place[point] = state.num_empty
        state.num_empty += 1
        self.change(state, point, 1 - state.player)

    def change(self, state: Any, point: int, colour: int) -> None:
        """Note around a point that a stone comes or goes there."""
        for direction in range(8):
            state.around[self.near[point, direction]] ^= self.changes[colour, direction]

    def has_liberty(self, state: Any, point: int) -> bool:
        """True if a point has an empty one beside it, by what is around it."""
        return bool(self.empty_beside[state.around[point] & 255] > 0)

    def make_sensible(self, state: Any) -> None:
        """Playouts save chains from atari, make shapes and keep eyes."""
        state.sensible = 1

    def knows_better(self, state: Any) -> bool:
        """True in sensible playouts."""
        return bool(state.sensible == 1)

    def draw(self, state: Any, stream: Any) -> Any:
        """Empty points, and the pass, are drawn until one will do; others go to the list's end."""
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
        """The point that saves a chain beside the last stone; the pass if none does.

        Taking the last stone wherever it can be taken is left to chance: RAVE would count those
        points as good moves now, in a player's own area (docs/laboratory.md).
        """
        no_answer: int = self.numbers[self.points]
        if last == self.points:
            return no_answer
        threatened = np.int64(0)
        for direction in range(4):
            near = self.near[last, direction]
            in_atari = self.in_atari(state, state.chain[near])
            threatened |= np.int64((state.colour[near] == state.player) & in_atari) << direction
        while threatened:
            near = self.near[last, self.lowest_bit[threatened]]
            point = self.last_liberty(state, state.chain[near])
            if self.is_legal(state, point) and self.is_safe(state, point):
                return point
            threatened &= threatened - 1
        return no_answer

    def shape_beside(self, state: Any, last: int, stream: Any) -> int:
        """A point beside the last stone where a stone makes a shape; the pass if there is none."""
        nothing: int = self.numbers[self.points]
        if last == self.points:
            return nothing
        # All eight are looked at without a branch, which a processor could not foresee.
        fits = np.int64(0)
        for direction in range(8):
            point = self.near[last, direction]
            is_shape = (state.colour[point] == EMPTY) & self.shapes[state.around[point]]
            fits |= np.int64(is_shape) << direction
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
