"""Backgammon, as OpenSpiel has it: ``backgammon(hyper_backgammon=false,max_player_turns=500)``.

Two dice are thrown for each turn, and each moves a man: from the bar first, then any; off the board
when all are on the last six points, with more than is needed only the last man. It must not go
where the opponent has two men or more; one is hit and goes to the bar. Both dice must be used if
that is possible, else the higher if that is. A double is played twice, as two actions, the second
if both dice of the first were used. Who has all men off wins 1, or with ``enable_gammons`` 2 where
the other has none off, or with ``full_scoring`` 3 where the other also has a man on the bar or on
the winner's last six points; nobody wins anything after ``max_player_turns`` or in
``hyper_backgammon``, which begins with three men each (OpenSpiel, ``backgammon.cc``).

Action ``second * 26 + first`` moves the higher die first, with 676 more the lower, from places
that ``backgammon_notation.py`` numbers.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rave_agents.game.board import Board
from rave_agents.games.backgammon_board import OFF, BackgammonBoard
from rave_agents.games.backgammon_drawing import drawn
from rave_agents.games.backgammon_notation import (
    FIRST_ROLLS,
    LOW_FIRST,
    NUMBER_OF,
    NUMBERS,
    PLACE_OF,
    ROLLS,
    features,
    move_text,
    roll_text,
    state_text,
)
from rave_agents.games.bits import NONE, ONE, count_bits, lowest_bit, nth_bit
from rave_agents.games.kit.rules import CHANCE, NO_ACTION, TERMINAL
from rave_agents.games.ordered import insert
from rave_agents.simulate.random_stream import random_below

FIRST_SIX = np.uint64((1 << 7) - 1)
"""The bar and the first six points, the opponent's last."""

SCORING = ("winloss_scoring", "enable_gammons", "full_scoring")
"""The ways to score, by the most that a player can win."""

MEN, LONGEST = 15, 100_000
"""Men of each player, and the greatest ``max_player_turns``."""


class Backgammon(BackgammonBoard):
    """See the module."""

    name = "backgammon"
    num_distinct_actions = 2 * LOW_FIRST
    max_actions = 2 * MEN * MEN
    max_player_turns: int = 500
    scoring_type: str = SCORING[0]

    def setup(self) -> None:
        """Set how long the game may be, and what is won."""
        super().setup()
        if self.scoring_type not in SCORING:
            raise ValueError(f"scoring_type must be one of {SCORING}, got {self.scoring_type!r}.")
        turns = self.max_player_turns
        if not 0 <= turns <= LONGEST:
            raise ValueError(f"max_player_turns must be 0 to {LONGEST}, got {turns}.")
        self.max_game_length: int = 3 * turns
        self.most: float = 1.0 if self.hyper_backgammon else 1.0 + SCORING.index(self.scoring_type)
        self.min_utility, self.max_utility = -self.most, self.most

    def begin(self, state: Any) -> None:
        """The men are laid out, and the dice are thrown."""
        super().begin(state)
        state.to_move = state.previous = CHANCE
        state.turns = -1

    def player(self, state: Any) -> int:
        """The dice, or the player whose turn it is."""
        is_won = state.men[0, OFF] == self.num_men or state.men[1, OFF] == self.num_men
        return TERMINAL if is_won or state.turns > self.max_player_turns else state.to_move

    def even_outcomes(self, state: Any) -> int:
        """Outcomes of the dice; no doubles before the first turn, which the outcome gives."""
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
        """The action at a place among those of two steps, or of one; how many there are for -1."""
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
        """Throw the dice, or take steps; what is left of a double is played next."""
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
        """1, 2 or 3 for who has all fifteen men off, and as much less for the other."""
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
