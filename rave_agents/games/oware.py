"""Oware, as OpenSpiel has it: ``oware(num_houses_per_player=6,num_seeds_per_house=4)``.

A player sows the seeds of an own house into those that follow, but not into that house. If the last
house is the opponent's and then has two or three seeds, they are captured, and so are those of each
house before it with two or three, unless that takes all of the opponent's seeds. If the opponent
has no seeds, the player must give some. A repeated board with the same player to move, or a player
without a move, ends the game, and both take the seeds in their houses; so does more than half of
all seeds, or half for both. More seeds win (OpenSpiel, ``oware.cc``, which ends games with an error
after 1,000 moves; here they end normally).

An action is the number of the house in the player's row. The history holds 64-bit keys of boards; a
capture empties it, as no earlier board can occur again.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.game.board import Board, Place
from rave_agents.games.bits import NONE, key_of
from rave_agents.games.drawing import drawn_pits, pit_cell
from rave_agents.games.kit.rules import TERMINAL, Rules
from rave_agents.games.sowing import (
    MOST_HOUSES,
    MOST_SEEDS,
    drawn_house,
    emptied,
    list_houses,
    row_of,
    seeds_in,
    seeds_of,
    sowing,
)

LONGEST = 1000
"""The most moves."""

FEWEST_TAKEN, MOST_TAKEN = np.uint64(2), np.uint64(3)
"""Seeds of a house that are taken."""


class Oware(Rules):
    """See the module."""

    name = "oware"
    uncovered = "more than 8 houses a player, or 127 seeds"
    max_game_length = LONGEST
    num_houses_per_player: int = 6
    num_seeds_per_house: int = 4

    def setup(self) -> None:
        """Name the fields, and count what is sown."""
        houses, seeds = self.num_houses_per_player, self.num_seeds_per_house
        self.total: int = 2 * houses * seeds
        if not (1 <= houses <= MOST_HOUSES and 1 <= self.total <= MOST_SEEDS):
            raise ValueError(
                f"num_houses_per_player must be 1 to {MOST_HOUSES}, and all seeds together 1 to "
                f"{MOST_SEEDS}, got {houses} and {self.total}."
            )
        self.num_distinct_actions = self.houses = houses
        self.board_shape, self.cell_kinds = (2, houses + 1), self.total + 1
        self.fields: dict[str, Any] = {
            "rows": (np.uint64, 2),
            "score": (np.int64, 2),
            **dict.fromkeys(("to_move", "moves", "num_boards"), np.int64),
            "boards": (np.uint64, LONGEST + 1),
        }
        self.own, self.other, self.last = sowing(houses, houses, self.total, skips_origin=True)
        self.start, self.high = row_of([seeds] * houses), row_of([0x80] * houses)
        # Added to a row, they set the highest bit of each house with a seed, or with enough seeds
        # to reach the other row.
        self.below = row_of([0x7F] * houses)
        self.reaching = row_of([0x80 - (houses - house) for house in range(houses)])

    def begin(self, state: Any) -> None:
        """All houses are full."""
        state.rows[:] = self.start
        state.boards[0] = key_of(state.rows[0], state.rows[1])
        state.num_boards = 1

    def player(self, state: Any) -> int:
        """Players take turns until all seeds are taken."""
        return TERMINAL if state.score[0] + state.score[1] == self.total else state.to_move

    def legal(self, state: Any) -> Any:
        """A bit for each house that may be sown: the highest of its byte."""
        own, other = state.rows[state.to_move], state.rows[1 - state.to_move]
        return (own + (self.reaching if other == NONE else self.below)) & self.high

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every house that may be sown."""
        return list_houses(self.legal(state), actions)

    def play(self, state: Any, action: int) -> None:
        """Sow, capture, and see whether the game is over."""
        player = state.to_move
        own, other = state.rows[player], state.rows[1 - player]
        seeds = seeds_in(own, action)
        state.rows[player] = emptied(own, action) + self.own[action, seeds]
        state.rows[1 - player] = other + self.other[action, seeds]
        self.capture(state, self.last[action, seeds] - self.houses)
        state.to_move = 1 - player
        state.moves += 1
        if self.keep_board(state) or self.is_over(state):
            self.collect(state)

    def is_over(self, state: Any) -> bool:
        """True if a player has enough seeds, or nobody can move."""
        half = self.total // 2
        first, second = state.score[0], state.score[1]
        decided = max(first, second) > half or min(first, second) == half
        return decided or state.moves == LONGEST or self.legal(state) == NONE

    def capture(self, state: Any, last: int) -> None:
        """Capture two or three seeds a house backwards from the last one, but never all seeds."""
        left = state.rows[1 - state.to_move]
        house, captured = last, NONE
        while house >= 0:
            seeds = seeds_in(left, house)
            if seeds < FEWEST_TAKEN or seeds > MOST_TAKEN:
                break
            captured += seeds
            left = emptied(left, house)
            house -= 1
        if left != NONE and house < last:
            state.rows[1 - state.to_move] = left
            state.score[state.to_move] += np.int64(captured)
            state.num_boards = 0

    def keep_board(self, state: Any) -> bool:
        """Add the board to the history; returns whether it occurred with the same mover."""
        key = key_of(state.rows[0], state.rows[1])
        found = False
        for index in range(state.num_boards & 1, state.num_boards, 2):
            found = found or state.boards[index] == key
        state.boards[state.num_boards] = key
        state.num_boards += 1
        return found

    def collect(self, state: Any) -> None:
        """All take the seeds in their houses."""
        for player in range(2):
            for house in range(self.houses):
                state.score[player] += np.int64(seeds_in(state.rows[player], house))
            state.rows[player] = NONE

    def returns(self, state: Any, returns: Any) -> None:
        """1 for who has more seeds, -1 for the other."""
        self.write_leader(returns, state.score[0] - state.score[1])

    def draw(self, state: Any, stream: Any) -> int:
        """A place among the houses that may be sown."""
        return drawn_house(self.legal(state), stream)

    def describe_board(self, state: Any, cells: Any) -> None:
        """The seeds of each house and the score of each player, player 0's first."""
        for player in range(2):
            row = player * (self.houses + 1)
            for house in range(self.houses):
                cells[row + house] = seeds_in(state.rows[player], house)
            cells[row + self.houses] = state.score[player]

    def action_to_string(self, player: int, action: int) -> str:
        """The house's letter, a capital one for player 0."""
        return chr(ord("Aa"[player]) + action)

    def drawn_board(self, state: Any, legal: Sequence[int]) -> Board:
        """The houses, player 1's above, between what both have taken."""
        rows = [seeds_of(row, self.houses) for row in state.rows]
        mover = int(state.to_move)
        places = {house: Place(pit_cell(mover, house, self.houses)) for house in legal}
        return drawn_pits(rows, state.score.tolist(), places, "seed")

    def string_of(self, state: Any) -> str:
        """The board, player 1's houses above."""
        mover, row = self.player(state), range(self.houses)
        below, above = (seeds_of(one, self.houses) for one in state.rows)
        scores = [
            f"Player {one} score = {state.score[one]}{' [PLAYING]' if one == mover else ''}"
            for one in range(2)
        ]
        names = [[self.action_to_string(player, house) for house in row] for player in range(2)]
        lines: list[list[Any]] = [names[1][::-1], above[::-1], below, names[0]]
        board = ["".join(f"{entry:>3}" for entry in line) for line in lines]
        ended = ["[FINISHED]"] if mover == TERMINAL else []
        return "\n".join([*ended, scores[1], *board, scores[0], ""])

    def observation(self, state: Any) -> Any:
        """The seeds of each house, and both scores, as parts of all seeds."""
        below, above = (seeds_of(row, self.houses) for row in state.rows)
        return np.array([*below, *above, *state.score], np.float64) / self.total
