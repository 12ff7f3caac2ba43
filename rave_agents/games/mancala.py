"""Mancala (Kalah), as OpenSpiel has it: six pits a side, with four beans each.

A player sows the beans of an own pit into the pits that follow and the own store, skipping the
other's. A last bean in the own store gives another move; in an empty own pit it captures that bean
and those of the opposite pit, if there are any. The game ends when a player has no beans, or after
1,001 moves; more beans in store and pits win (OpenSpiel, ``mancala.cc``).

An action is the number of a pit, as drawn below.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.game.board import Board, Place
from rave_agents.games.bits import NONE, ONE
from rave_agents.games.drawing import drawn_pits, pit_cell
from rave_agents.games.kit.rules import TERMINAL, Rules
from rave_agents.games.sowing import (
    drawn_house,
    emptied,
    house_bits,
    list_houses,
    row_of,
    seeds_in,
    seeds_of,
    sowing,
)

PITS = STORE = 6
"""A player's pits, and the place of the store behind them."""

SIDE, ALL = 7, 14
"""The pits and the store of one player, and of both."""

BEANS = 4
"""Beans in each pit."""

# The actions; beans are sown counterclockwise:
#
#       13 12 11 10  9  8       player 1
#    0                     7
#        1  2  3  4  5  6       player 0, whose store is 7


class Mancala(Rules):
    """See the module."""

    name = "mancala"
    num_distinct_actions = ALL
    max_actions = PITS
    max_game_length = 1001
    board_shape = 2, SIDE
    cell_kinds = 2 * PITS * BEANS + 1

    def setup(self) -> None:
        """Name the fields."""
        self.fields: dict[str, Any] = {
            "rows": (np.uint64, 2),
            **dict.fromkeys(("to_move", "moves", "over"), np.int64),
        }
        self.own, self.other, self.last = sowing(PITS, SIDE, 2 * PITS * BEANS, skips_origin=False)
        self.start = row_of([BEANS] * PITS)
        self.pits, self.high = row_of([0xFF] * PITS), row_of([0x80] * PITS)
        self.below = row_of([0x7F] * PITS)

    def begin(self, state: Any) -> None:
        """The stores are empty."""
        state.rows[:] = self.start

    def player(self, state: Any) -> int:
        """The player who moves next, until one has no beans."""
        return TERMINAL if state.over == 1 else state.to_move

    def filled(self, own: Any) -> Any:
        """A bit for each pit of a row with beans: the highest of its byte."""
        # A byte has at most 48 beans, so adding 127 sets its highest bit unless it is 0.
        return ((own & self.pits) + self.below) & self.high

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every own pit with beans."""
        count = list_houses(self.filled(state.rows[state.to_move]), actions)
        for place in range(count):
            actions[place] += SIDE * state.to_move + 1
        return count

    def sown(self, own: Any, other: Any, pit: int) -> Any:
        """Both rows after sowing an own pit and a capture, and the place of the last bean."""
        beans = seeds_in(own, pit)
        own = emptied(own, pit) + self.own[pit, beans]
        other += self.other[pit, beans]
        last = self.last[pit, beans]
        # The capture is computed always and selected at the end: a branch would be unpredictable.
        place = min(last, PITS - 1)
        opposite = seeds_in(other, PITS - 1 - place)
        takes = (last < PITS) & (seeds_in(own, place) == ONE) & (opposite != NONE)
        after = emptied(own, place) + ((opposite + ONE) << house_bits(STORE))
        own = after if takes else own
        other = emptied(other, PITS - 1 - place) if takes else other
        return own, other, last

    def ends(self, own: Any, other: Any, moves: int) -> bool:
        """True if a player has no beans, or the game has lasted too long."""
        one_is_empty = own & self.pits == NONE or other & self.pits == NONE
        return one_is_empty or moves >= self.max_game_length

    def foresee_end(self, state: Any, player: int, carrier: Any, room: Any) -> int:
        """The number of moves left, if a store has more than half of the beans."""
        left = self.max_game_length - state.moves
        if seeds_in(state.rows[player], STORE) > PITS * BEANS:
            return int(left)
        if seeds_in(state.rows[1 - player], STORE) > PITS * BEANS:
            return int(-left)
        return 0

    def play(self, state: Any, action: int) -> None:
        """Sow, take what is opposite, and see who moves next."""
        player = state.to_move
        pit = action - 1 - SIDE * player
        own, other, last = self.sown(state.rows[player], state.rows[1 - player], pit)
        state.rows[player], state.rows[1 - player] = own, other
        if last != STORE:
            state.to_move = 1 - player
        state.moves += 1
        if self.ends(own, other, state.moves):
            state.over = 1

    def returns(self, state: Any, returns: Any) -> None:
        """1 for who has more beans, -1 for the other."""
        lead: Any = 0
        for place in range(SIDE):
            lead += np.int64(seeds_in(state.rows[0], place))
            lead -= np.int64(seeds_in(state.rows[1], place))
        self.write_leader(returns, lead)

    def draw(self, state: Any, stream: Any) -> int:
        """A place among the own pits with beans."""
        player = state.to_move
        return SIDE * player + drawn_house(self.filled(state.rows[player]), stream) + 1

    def playout(self, state: Any, players: Any, actions: Any, end: int, stream: Any) -> int:
        """Moves without a record between them."""
        player, moves = state.to_move, state.moves
        own, other = state.rows[player], state.rows[1 - player]
        over = False
        while not over:
            if end == actions.shape[0]:
                return -1
            pit = drawn_house(self.filled(own), stream)
            players[end], actions[end] = player, SIDE * player + pit + 1
            end, moves = end + 1, moves + 1
            own, other, last = self.sown(own, other, pit)
            over = self.ends(own, other, moves)
            if last != STORE:
                own, other, player = other, own, 1 - player
        state.rows[player], state.rows[1 - player] = own, other
        state.to_move, state.moves, state.over = player, moves, 1
        return end

    def describe_board(self, state: Any, cells: Any) -> None:
        """The beans of each pit and store, player 0's first."""
        for place in range(ALL):
            cells[place] = seeds_in(state.rows[place // SIDE], place % SIDE)

    def drawn_board(self, state: Any, legal: Sequence[int]) -> Board:
        """The pits and stores, player 1's above."""
        rows = [seeds_of(row, SIDE) for row in state.rows]
        pits = {action: divmod(action - 1, SIDE) for action in legal}
        places = {action: Place(pit_cell(*pit, PITS)) for action, pit in pits.items()}
        stores = [row[STORE] for row in rows]
        return drawn_pits([row[:PITS] for row in rows], stores, places, "bean")

    def string_of(self, state: Any) -> str:
        """The board, player 1's pits above."""
        below, above = (seeds_of(row, SIDE) for row in state.rows)
        rows = ["".join(["-", *(f"{n}-" for n in row[:PITS])]) for row in (above[-2::-1], below)]
        stores = f"{above[STORE]}{'-' * (2 * PITS - 1)}{below[STORE]}"
        who = f"Current player: {state.to_move}\nMove number: {state.moves}"
        return "\n".join([rows[0], stores, rows[1], who])

    def observation(self, state: Any) -> Any:
        """The beans of each pit and store, the player to move, and the number of moves."""
        below, above = (seeds_of(row, SIDE) for row in state.rows)
        board = [above[STORE], *below, *above[:PITS]]
        return np.array([*board, state.to_move, state.moves], np.float32)
