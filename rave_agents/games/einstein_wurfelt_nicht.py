"""EinStein würfelt nicht!, as OpenSpiel has it: ``einstein_wurfelt_nicht``.

Each player has six cubes, 1 to 6, in a corner of a board of five by five squares; chance lays them
out, Black's first. Before each move a die is thrown, White's first: the cube of that number moves,
or if it is gone the next smaller or next larger one that is left. It goes one square along a row, a
column or diagonally, towards the opposite corner, and captures what is there, own cubes too. The
player who gets there, or captures the opponent's last cube, wins (``einstein_wurfelt_nicht.cc``).

Action ``(square * 6 + direction) * 2 + 1`` captures, the one before it does not. The first two
outcomes of chance are permutations in lexicographic order, later ones the die's number minus 1.
"""

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np

from rave_agents.game.board import Board, Place, Tiling
from rave_agents.games.drawing import square_cell
from rave_agents.games.kit.rules import CHANCE, NO_ACTION, TERMINAL, WinnerRules
from rave_agents.simulate.random_stream import random_below

SIZE, SQUARES, CUBES = 5, 25, 6
"""The board, and the number of each player's cubes."""

LAYOUTS = np.array(list(permutations(range(CUBES))))
"""[720, 6] the cubes on the squares of a corner."""

CORNERS = np.array([[0, 1, 2, 5, 6, 10], [14, 18, 19, 22, 23, 24]])
"""[2, 6] the squares where each player begins."""

GOALS, NOWHERE = (SQUARES - 1, 0), SQUARES
"""The square that each player wants to reach, and the square of a missing cube."""

WAYS = (("diag", 6), ("down", 5), ("right", 1), ("up", -5), ("diag", -6), ("left", -1))
"""Names and steps of directions: three of Black's, and White's, which are the opposite."""

NUM_WAYS, STEPS = len(WAYS), tuple(step for _, step in WAYS)

CELLS = ("__", *(f"{colour}{cube + 1}" for colour in "bw" for cube in range(CUBES)))
"""The contents of a square: nothing, Black's cubes or White's."""


def _movable(left: int, die: int) -> tuple[int, int]:
    """The one or two cubes that may move, of those left as bits; ``CUBES`` for none."""
    cubes = [cube for cube in range(CUBES) if left >> cube & 1]
    if die in cubes:
        return die, CUBES
    smaller = max((cube for cube in cubes if cube < die), default=CUBES)
    return smaller, min((cube for cube in cubes if cube > die), default=CUBES)


def _fits(square: int, way: int) -> bool:
    """True if there is a square in a direction."""
    target = square + STEPS[way]
    is_beside = abs(target % SIZE - square % SIZE) <= 1
    return is_beside and square != NOWHERE and 0 <= target < SQUARES


# The squares, with both corners:
#
#    B  B  B  3  4      Black's corner and its directions: 6, 5 and 1 squares ahead
#    B  B  7  8  9
#    B 11 12 13  W      White's go back: -6, -5 and -1
#   15 16 17  W  W
#   20 21  W  W  W


class EinsteinWurfeltNicht(WinnerRules):
    """See the module."""

    name = "einstein_wurfelt_nicht"
    num_distinct_actions = SQUARES * NUM_WAYS * 2
    max_actions = len(LAYOUTS)
    max_game_length = 112
    board_shape, cell_kinds = (SIZE, SIZE), len(CELLS)

    def setup(self) -> None:
        """Name the fields, and lay out the tables."""
        self.fields: dict[str, Any] = {
            "cells": (np.int8, SQUARES),  # Places in ``CELLS``.
            "places": (np.int8, (2, CUBES + 1)),  # The square of each cube, and of no cube.
            "left": (np.int64, 2),  # A bit for each cube that is left.
            **dict.fromkeys(("to_move", "die", "laid_out", "winner"), np.int64),
        }
        sets, dice, squares, ways = map(range, (1 << CUBES, CUBES, SQUARES + 1, NUM_WAYS))
        self.movable = np.array([[_movable(left, die) for die in dice] for left in sets])
        self.fits = np.array([[_fits(square, way) for way in ways] for square in squares])

    def begin(self, state: Any) -> None:
        """The board is empty."""
        state.die = state.winner = NO_ACTION
        state.places[:] = NOWHERE

    def player(self, state: Any) -> int:
        """The die, or the player whose turn it is."""
        if state.winner != NO_ACTION:
            return TERMINAL
        return CHANCE if state.die == NO_ACTION else state.to_move

    def even_outcomes(self, state: Any) -> int:
        """Layouts of the player's cubes, or numbers of the die."""
        return len(LAYOUTS) if state.laid_out < 2 else CUBES

    def square(self, state: Any, place: int) -> Any:
        """The square of the first or second cube that may move."""
        cube = self.movable[state.left[state.to_move], state.die, place]
        return np.int64(state.places[state.to_move, cube])

    def move(self, state: Any, square: int, way: int) -> int:
        """The action in a direction from a square."""
        takes = 1 if state.cells[square + STEPS[way]] != 0 else 0
        return (square * NUM_WAYS + way) * 2 + takes

    def legal_actions(self, state: Any, actions: Any) -> int:
        """The moves of one or two cubes, ordered by square and direction."""
        one, other, first = self.square(state, 0), self.square(state, 1), 3 * state.to_move
        count = 0
        for square in (min(one, other), max(one, other)):
            for way in range(first, first + 3):
                if self.fits[square, way]:
                    actions[count] = self.move(state, square, way)
                    count += 1
        return count

    def draw(self, state: Any, stream: Any) -> int:
        """Draw a cube and a direction until they are a move."""
        one, other = self.square(state, 0), self.square(state, 1)
        while True:
            drawn = random_below(stream, 3 if other == NOWHERE else 6)  # Three moves a cube.
            square, way = one if drawn < 3 else other, 3 * state.to_move + drawn % 3
            if self.fits[square, way]:
                return self.move(state, square, way)

    def play(self, state: Any, action: int) -> None:
        """Lay out cubes, throw the die or move."""
        if state.laid_out < 2:
            player = state.laid_out
            state.laid_out += 1
            state.left[player] = (1 << CUBES) - 1
            for place in range(CUBES):
                self.put(state, player, LAYOUTS[action, place], CORNERS[player, place])
        elif state.die == NO_ACTION:
            state.die = action
            state.to_move = 1 - state.to_move
        else:
            self.go(state, action // (2 * NUM_WAYS), (action >> 1) % NUM_WAYS)

    def put(self, state: Any, player: int, cube: int, square: int) -> None:
        """Put a cube on a square."""
        state.places[player, cube] = square
        state.cells[square] = 1 + player * CUBES + cube

    def go(self, state: Any, square: int, way: int) -> None:
        """Move a cube, take what is there, and see whether the game is over."""
        player, target = state.to_move, square + STEPS[way]
        taken = np.int64(state.cells[target]) - 1
        if taken >= 0:
            state.left[taken // CUBES] ^= 1 << taken % CUBES
        self.put(state, player, np.int64(state.cells[square]) - 1 - player * CUBES, target)
        state.cells[square], state.die = 0, NO_ACTION
        if target == GOALS[player] or state.left[1 - player] == 0:
            state.winner = player

    def action_to_string_at(self, state: Any, player: int, action: int) -> str:
        """The cube, its direction and a star where it takes one; or what chance does."""
        if player == CHANCE:
            side = ("black", "white", "")[state.laid_out]
            placing = f"Placing {side} cubes on the board - action {action}"
            return placing if side else f"roll {action + 1}"
        square, way = divmod(action >> 1, NUM_WAYS)
        return f"{CELLS[state.cells[square]].upper()}-{WAYS[way][0]}{'*' if action & 1 else ''}"

    def string_of(self, state: Any) -> str:
        """The board."""
        cells = [f"|{CELLS[cell]}|" for cell in state.cells]
        return "".join("".join(cells[row : row + SIZE]) + "\n" for row in range(0, SQUARES, SIZE))

    def drawn_board(self, state: Any, legal: Sequence[int]) -> Board:
        """The cubes with their numbers."""
        cells = []
        for square, content in enumerate(state.cells.tolist()):
            player, cube = divmod(content - 1, CUBES)
            on_it = (str(cube + 1), player) if content else (None, None)
            cells.append(square_cell(*divmod(square, SIZE), *on_it))
        places = {}
        for action in legal:
            square, way = divmod(action >> 1, NUM_WAYS)
            places[action] = Place(square + STEPS[way], square)
        return Board(tiling=Tiling.SQUARES, cells=tuple(cells), places=places)

    def describe_board(self, state: Any, cells: Any) -> None:
        """The contents of each square, as ``CELLS`` has them."""
        for square in range(SQUARES):
            cells[square] = state.cells[square]

    def observation(self, state: Any) -> Any:
        """A plane for each cube, Black's 1, White's 1, Black's 2 and so on, its columns as rows."""
        cubes = [1 + player * CUBES + cube for cube in range(CUBES) for player in range(2)]
        return self.board_planes(state, cubes).transpose(0, 2, 1).ravel()
