"""Nim, as OpenSpiel has it: ``nim(pile_sizes="1;3;5;7",is_misere=True)``.

Players take one or more objects from one of the piles in turn. Taking the last object wins, or
loses with ``is_misere`` (OpenSpiel, ``nim.h``). Action ``(count - 1) * piles + pile`` takes
``count`` objects from a pile.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.game.board import Board, Place, Tiling
from rave_agents.games.drawing import square_cell
from rave_agents.games.kit.rules import NO_ACTION, TERMINAL, WinnerRules
from rave_agents.simulate.random_stream import random_below

LARGEST = 4096
"""The most objects."""

MOST_DRAWN = 40
"""The most piles, and objects of a pile, that are drawn."""


class Nim(WinnerRules):
    """See the module."""

    name = "nim"
    uncovered = "no objects, or more than 4096"
    pile_sizes: str = "1;3;5;7"
    is_misere: bool = True

    def setup(self) -> None:
        """Lay out the piles."""
        sizes = self.pile_sizes.split(";")
        if not all(size.isdecimal() for size in sizes) or not 1 <= sum(map(int, sizes)) <= LARGEST:
            raise ValueError(
                "pile_sizes must be numbers separated by semicolons, 1 to "
                f"{LARGEST} together, got {self.pile_sizes!r}."
            )
        self.sizes = np.array([int(size) for size in sizes])
        self.num_piles, self.highest = len(sizes), int(self.sizes.max())
        self.num_distinct_actions: int = self.num_piles * self.highest + 1
        self.max_actions = self.max_game_length = int(self.sizes.sum())
        self.fields: dict[str, Any] = {
            "piles": (np.int64, self.num_piles),
            **dict.fromkeys(("left", "to_move", "winner"), np.int64),
        }

    def begin(self, state: Any) -> None:
        """All piles are full."""
        state.piles[:] = self.sizes
        state.left = self.max_game_length
        state.winner = NO_ACTION

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every number of objects of every pile."""
        count = 0
        for taken in range(self.highest):
            for pile in range(self.num_piles):
                if taken < state.piles[pile]:
                    actions[count] = taken * self.num_piles + pile
                    count += 1
        return count

    def play(self, state: Any, action: int) -> None:
        """Take objects from a pile."""
        taken = action // self.num_piles + 1
        state.piles[action % self.num_piles] -= taken
        state.left -= taken
        if state.left == 0:
            state.winner = 1 - state.to_move if self.is_misere else state.to_move
        state.to_move = 1 - state.to_move

    def draw(self, state: Any, stream: Any) -> int:
        """A random object, taken with those below it: each action is equally likely."""
        place = random_below(stream, state.left)
        pile = 0
        while place >= state.piles[pile]:
            place -= state.piles[pile]
            pile += 1
        return place * self.num_piles + pile

    def action_to_string(self, player: int, action: int) -> str:
        """The pile and the number of objects, both from 1."""
        taken, pile = divmod(action, self.num_piles)
        return f"pile:{pile + 1}, take:{taken + 1};"

    def drawn_board(self, state: Any, legal: Sequence[int]) -> Board | None:
        """A row for each pile; an object is taken with all to its right."""
        if max(self.num_piles, self.highest) > MOST_DRAWN:
            return None
        places = [(pile, place) for pile, size in enumerate(self.sizes) for place in range(size)]
        left = [place < state.piles[pile] for pile, place in places]
        cells = tuple(
            square_cell(*at, "object" if is_left else None, None)
            for at, is_left in zip(places, left, strict=True)
        )
        index = {place: number for number, place in enumerate(places)}
        targets = {}
        for action in legal:
            taken, pile = divmod(action, self.num_piles)
            targets[action] = Place(index[pile, int(state.piles[pile]) - taken - 1])
        names = tuple(f"pile {pile + 1}, object {place + 1}" for pile, place in places)
        return Board(tiling=Tiling.SQUARES, cells=cells, places=targets, names=names)

    def string_of(self, state: Any) -> str:
        """The player to move, and the piles."""
        return f"({state.to_move}): {' '.join(map(str, state.piles))}"

    def observation(self, state: Any) -> Any:
        """One-hot: the player to move, whether the game is over, the number of piles, each size."""
        mover = np.eye(2)[state.to_move]
        over = [self.player(state) == TERMINAL]
        number = np.eye(self.num_piles)[-1]
        return np.concatenate([mover, over, number, *np.eye(self.highest + 1)[state.piles]])
