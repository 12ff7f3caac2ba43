"""Backgammon, as OpenSpiel has it: ``backgammon(hyper_backgammon=false,max_player_turns=500)``.

Two dice are thrown for each turn, and each moves a man: from the bar first, then any; off the board
when all are on the last six points, with more than needed only the last man. A man must not go
where the opponent has two men or more; a single one is hit and goes to the bar. Both dice must be
used if possible, else the higher if possible. A double is played twice, as two actions, the second
if both dice of the first were used. The player with all men off wins 1; with ``enable_gammons`` 2
where the other has none off; with ``full_scoring`` 3 where the other also has a man on the bar or
on the winner's last six points. Nobody wins after ``max_player_turns``, nor in
``hyper_backgammon``, which begins with three men each (OpenSpiel, ``backgammon.cc``).

Action ``second * 26 + first`` moves the higher die first, with 676 more the lower, from the places
that ``backgammon_notation.py`` numbers.

Places are counted as each player moves: 0 is the bar, 1 to 24 are the points, 25 is off. So a point
of one player is the other's 25 minus its number, and a set of places is 26 bits of a word.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from rave_agents.game.board import Board
from rave_agents.games.backgammon_notation import (
    BAR,
    FIRST_ROLLS,
    LOW_FIRST,
    NUMBER_OF,
    NUMBERS,
    OFF,
    PLACE_OF,
    POINTS,
    ROLLS,
    drawn,
    features,
    move_text,
    roll_text,
    state_text,
)
from rave_agents.games.bits import NONE, ONE, bit, count_bits, has_bit, lowest_bit, nth_bit
from rave_agents.games.kit.rules import CHANCE, NO_ACTION, TERMINAL, Rules, insert
from rave_agents.simulate.random_stream import random_below

OUTSIDE = np.uint64((1 << 19) - 1)
"""The bar and all points but the last six."""

STARTS = {False: {1: 2, 12: 5, 17: 3, 19: 5}, True: {1: 1, 2: 1, 3: 1}}
"""Men on points at the start, without and with ``hyper_backgammon``."""


FIRST_SIX = np.uint64((1 << 7) - 1)
"""The bar and the first six points, the opponent's last."""

SCORING = ("winloss_scoring", "enable_gammons", "full_scoring")
"""The ways to score, by the most that a player can win."""

MEN = 15
"""Men of each player."""

# Places:
#
#   player 0 moves ->   bar 0 | 1 2 3 ... 23 24 | 25 off
#   player 1 moves <-  off 25 | 24 23 ... 2   1 | 0 bar


class Backgammon(Rules):
    """See the module."""

    name = "backgammon"
    uncovered = "max_player_turns above 100000 or below 0"
    num_distinct_actions = 2 * LOW_FIRST
    max_actions = 2 * MEN * MEN
    hyper_backgammon: bool = False
    max_player_turns: Annotated[int, Ge(0), Le(100_000)] = 500
    scoring_type: str = SCORING[0]
    board_shape = 2, OFF + 1

    def setup(self) -> None:
        """Name the fields, lay out the start, and set how long the game may be and what it pays."""
        if self.scoring_type not in SCORING:
            raise ValueError(f"scoring_type must be one of {SCORING}, got {self.scoring_type!r}.")
        self.max_game_length: int = 3 * self.max_player_turns
        self.most: float = 1.0 if self.hyper_backgammon else 1.0 + SCORING.index(self.scoring_type)
        self.min_utility, self.max_utility = -self.most, self.most
        starts = STARTS[self.hyper_backgammon]
        self.start = np.array([starts.get(place, 0) for place in range(OFF + 1)], np.int8)
        self.num_men: int = int(self.start.sum())
        self.cell_kinds: int = self.num_men + 1
        self.fields: dict[str, Any] = {
            "men": (np.int8, self.board_shape),
            "held": (np.uint64, 2),  # The bar and points where the player has men,
            "open": (np.uint64, 2),  # and points where the opponent has less than two.
            "dice": (np.int64, 2),  # The lower one first; 0 if they are not thrown.
            **dict.fromkeys(("to_move", "previous", "turns", "is_extra"), np.int64),
        }

    def begin(self, state: Any) -> None:
        """The men are laid out, and the dice are thrown."""
        state.to_move = state.previous = CHANCE
        state.turns = -1
        for player in range(2):
            for point in range(1, POINTS + 1):
                state.men[player, point] = self.start[point]
                state.held[player] |= bit(point) if self.start[point] > 0 else NONE
                state.open[player] |= bit(OFF - point) if self.start[point] < 2 else NONE

    def sources(self, held: Any, free: Any, die: int) -> Any:
        """The places that a die may move a man from."""
        if has_bit(held, BAR):
            return ONE if has_bit(free, die) else NONE
        found = held & (free >> np.uint64(die))
        # All men are home: one may leave with the exact die, or the last man with a greater one.
        if held & OUTSIDE == NONE:
            exact, last = bit(OFF - die), held & (~held + ONE)
            found |= last if last > exact else held & exact
        return found

    def held_after(self, state: Any, player: int, source: int, die: int) -> Any:
        """The bar and points where a player has men after a step."""
        held = state.held[player]
        if state.men[player, source] == 1:
            held ^= bit(source)
        return held | bit(source + die) if source + die < OFF else held

    def firsts(self, state: Any, order: int, single: int) -> Any:
        """The places of the first step: with the higher die in order 0, with the lower in order 1.

        The lower die is never first in a double, nor when only one die is used (``single``) and it
        can be the higher.
        """
        held, free = state.held[state.to_move], state.open[state.to_move]
        found = self.sources(held, free, state.dice[1])
        if order == 0:
            return found
        if state.dice[0] == state.dice[1] or (single and found != NONE):
            return NONE
        return self.sources(held, free, state.dice[0])

    def seconds(self, state: Any, source: int, order: int, single: int) -> Any:
        """The places of the second step after a first one; off if there is no second."""
        if single:
            return bit(OFF)
        held = self.held_after(state, state.to_move, source, state.dice[1 - order])
        return self.sources(held, state.open[state.to_move], state.dice[order])

    def step(self, state: Any, player: int, source: int, die: int) -> None:
        """Move a man, and hit one; nothing from off the board."""
        if source == OFF:
            return
        other, target = 1 - player, min(source + die, OFF)
        state.held[player] = self.held_after(state, player, source, die)
        state.men[player, source] -= 1
        state.men[player, target] += 1
        if state.men[player, source] == 1 and source != BAR:
            state.open[other] |= bit(OFF - source)
        if target == OFF:
            return
        if state.men[player, target] == 2:
            state.open[other] ^= bit(OFF - target)
        if state.men[other, OFF - target] == 1:
            state.men[other, OFF - target] = 0
            state.men[other, BAR] += 1
            state.held[other] = (state.held[other] ^ bit(OFF - target)) | ONE

    def describe_board(self, state: Any, cells: Any) -> None:
        """The numbers of men at each place, X's before O's."""
        for player in range(2):
            for place in range(OFF + 1):
                cells[player * (OFF + 1) + place] = state.men[player, place]

    def player(self, state: Any) -> int:
        """The dice, or the player whose turn it is."""
        is_won = state.men[0, OFF] == self.num_men or state.men[1, OFF] == self.num_men
        return TERMINAL if is_won or state.turns > self.max_player_turns else state.to_move

    def even_outcomes(self, state: Any) -> int:
        """Outcomes of the dice; the first throw has no doubles and decides who begins."""
        return FIRST_ROLLS if state.turns < 0 else len(ROLLS)

    def action(self, state: Any, order: int, first: int, second: int) -> int:
        """OpenSpiel's number of two steps."""
        one, other = NUMBER_OF[state.to_move, first], NUMBER_OF[state.to_move, second]
        return order * LOW_FIRST + other * NUMBERS + one

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Actions that use both dice; if there are none, one die; or none."""
        for single in range(2):
            count = 0
            for order in range(2):
                begin, firsts = count, self.firsts(state, order, single)
                while firsts != NONE:
                    first = lowest_bit(firsts)
                    firsts &= firsts - ONE
                    seconds = self.seconds(state, first, order, single)
                    while seconds != NONE:
                        action = self.action(state, order, first, lowest_bit(seconds))
                        seconds &= seconds - ONE
                        count = insert(actions, begin, count, action)
            if count > 0:
                return count
        actions[0] = self.num_distinct_actions - 1
        return 1

    def draw(self, state: Any, stream: Any) -> int:
        """One of the actions, which are counted first."""
        for single in range(2):
            total = self.look_through(state, single, NO_ACTION)
            if total > 0:
                return self.look_through(state, single, random_below(stream, total))
        return self.num_distinct_actions - 1

    def look_through(self, state: Any, single: int, place: int) -> int:
        """The action at a place among those of two steps, or of one; their number for place -1."""
        before = 0
        for order in range(2):
            left = self.firsts(state, order, single)
            while left != NONE:
                first = lowest_bit(left)
                left &= left - ONE
                seconds = self.seconds(state, first, order, single)
                count = count_bits(seconds)
                if before <= place < before + count:
                    return self.action(state, order, first, nth_bit(seconds, place - before))
                before += count
        return before

    def play(self, state: Any, action: int) -> None:
        """Throw the dice, or take steps; the second half of a double is the next action."""
        if state.to_move == CHANCE:
            one, other = ROLLS[action, 0], ROLLS[action, 1]
            state.dice[0], state.dice[1] = min(one, other), max(one, other)
            state.to_move = action % 2 if state.turns < 0 else 1 - state.previous
            state.turns = max(state.turns, 0)
            return
        player, order = state.to_move, 1 if action >= LOW_FIRST else 0
        first = PLACE_OF[player, action % LOW_FIRST % NUMBERS]
        second = PLACE_OF[player, action % LOW_FIRST // NUMBERS]
        self.step(state, player, first, state.dice[1 - order])
        self.step(state, player, second, state.dice[order])
        state.turns += 1 - state.is_extra
        state.previous = player
        doubled = state.dice[0] == state.dice[1] and max(first, second) < OFF
        state.is_extra = 1 if doubled and state.is_extra == 0 else 0
        if state.is_extra == 0:
            state.to_move = CHANCE
            state.dice[:] = 0

    def returns(self, state: Any, returns: Any) -> None:
        """1, 2 or 3 for the player with all fifteen men off, and the negative for the other."""
        for player in range(2):
            if state.men[player, OFF] == MEN:
                won, other = 1.0, 1 - player
                if state.men[other, OFF] == 0:
                    won = 3.0 if state.held[other] & FIRST_SIX != NONE else 2.0
                returns[player] = min(won, self.most)
                returns[other] = -returns[player]

    def action_to_string_at(self, state: Any, player: int, action: int) -> str:
        """The steps, or what the dice show."""
        if player == CHANCE:
            return roll_text(action, is_first=state.turns < 0)
        return move_text(player, action, state.dice, state.men[1 - player])

    def drawn_board(self, state: Any, legal: Sequence[int]) -> Board:
        """The points with their men."""
        return drawn(state.men, state.dice.tolist(), max(0, int(state.to_move)), legal)

    def string_of(self, state: Any) -> str:
        """The board and what the record holds."""
        return state_text(state)

    def observation_of(self, state: Any, player: int) -> Any:
        """Tesauro's features, as OpenSpiel has them."""
        return features(state, player)
