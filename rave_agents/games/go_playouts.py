"""Moves of Go's playouts: any legal one, or sensible ones.

In sensible playouts a player saves a chain that the last move put in atari, else makes a shape
beside the last stone, else plays anywhere, but fills no eye of one point, and passes only if there
is nothing else (Gelly, Wang, Munos & Teytaud, "Modification of UCT with Patterns in Monte-Carlo
Go", 2006, without the captures).
"""

from typing import Any

import numpy as np

from rave_agents.games.go_shapes import shape_codes
from rave_agents.games.stones import EDGE, EMPTY, StoneRules
from rave_agents.simulate.random_stream import random_below


class GoPlayouts(StoneRules):
    """The common part of games with Go's captures.

    Their states have the fields ``sensible`` and ``last``, the point of the last move, and a list
    of the points that are ``empty``, with the ``place`` of each.
    """

    def setup(self) -> None:
        """Lay out the points, and what is known of shapes."""
        super().setup()
        self.shapes = shape_codes()

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
        for direction in range(4):
            near = self.near[last, direction]
            if state.colour[near] == state.player and self.in_atari(state, state.chain[near]):
                point = self.last_liberty(state, state.chain[near])
                if self.is_legal(state, point) and self.is_safe(state, point):
                    return point
        return no_answer

    def shape_beside(self, state: Any, last: int, stream: Any) -> int:
        """A point beside the last stone where a stone makes a shape; the pass if there is none."""
        nothing: int = self.numbers[self.points]
        if last == self.points:
            return nothing
        first = random_below(stream, 8)
        for turn in range(8):
            point = self.near[last, (first + turn) & 7]
            if state.colour[point] == EMPTY:
                code = np.int64(0)
                for direction in range(8):
                    code |= np.int64(state.colour[self.near[point, direction]]) << 2 * direction
                if self.shapes[code] and self.is_legal(state, point) and self.is_safe(state, point):
                    return point
        return nothing

    def is_safe(self, state: Any, point: int) -> bool:
        """True if a stone on an empty point has two liberties with its chain, and fills no eye."""
        liberties = 0
        for direction in range(4):
            near = self.near[point, direction]
            colour = state.colour[near]
            if colour == EMPTY:
                liberties += 1
            elif colour != EDGE:
                own = colour == state.player
                liberties += 2 * (own != self.in_atari(state, state.chain[near]))
        return liberties > 1 and not self.is_eye(state, point)

    def is_eye(self, state: Any, point: int) -> bool:
        """True if an empty point is the player's eye.

        All four neighbours are their own stones, and of the corners the opponent has none at the
        edge, at most one elsewhere (Brügmann, "Monte Carlo Go", 1993).
        """
        for direction in range(4):
            colour = state.colour[self.near[point, direction]]
            if colour not in (state.player, EDGE):
                return False
        corners = edges = 0
        for direction in range(4, 8):
            colour = state.colour[self.near[point, direction]]
            edges += colour == EDGE
            corners += colour == 1 - state.player
        return corners + (edges > 0) < 2
