"""Games whose ids are large and whose positions have few actions."""

from typing import ClassVar

import numpy as np
from helpers.games import PlainState, Unseen

from rave_agents.games import TERMINAL, Rules

CELLS, MOVES = 12, 8


class Cells(PlainState):
    """Two players take cells in turn; an action's id is its cell times a step."""

    def __init__(self, ids, taken=()):
        self.ids, self.step, self.taken = ids, ids // CELLS, tuple(taken)

    def current_player(self):
        return -4 if self.is_terminal() else len(self.taken) % 2

    def is_terminal(self):
        return len(self.taken) >= MOVES

    def legal_actions(self):
        return [(1 + c) * self.step - 1 for c in range(CELLS) if c not in self.taken]

    def apply_action(self, action):
        self.taken = (*self.taken, action // self.step)

    def returns(self):
        one, two = (sum(cell * 79 % 31 for cell in self.taken[seat::2]) for seat in (0, 1))
        won = float((one > two) - (one < two))
        return [won, -won]

    def num_distinct_actions(self):
        return self.ids

    def position_key(self):
        return self.ids, self.taken


class CellsByDice(Cells):
    """Chance takes every fourth cell."""

    def current_player(self):
        player = super().current_player()
        return -1 if player >= 0 and len(self.taken) % 4 == 3 else player

    def chance_outcomes(self):
        legal = self.legal_actions()
        return [(action, 1.0 / len(legal)) for action in legal]


class CellsTogether(Cells):
    """Both take a cell at the same time."""

    def current_player(self):
        return -4 if self.is_terminal() else -2

    def legal_actions(self, player):
        return super().legal_actions()

    def apply_actions(self, actions):
        self.taken = (*self.taken, *(action // self.step for action in actions))


class CellsUnseen(Unseen, Cells):
    """Something is hidden."""


class Fresh(PlainState):
    """Every position has ten actions that no other one has."""

    def __init__(self, path=()):
        self.path = path

    def current_player(self):
        return -4 if self.is_terminal() else len(self.path) % 2

    def is_terminal(self):
        return len(self.path) >= 20

    def legal_actions(self):
        return [(hash(self.path) * 31 + 7919 * number) % 2**40 for number in range(10)]

    def apply_action(self, action):
        self.path = (*self.path, action)

    def returns(self):
        won = 1.0 if hash(self.path) % 2 else -1.0
        return [won, -won]

    def num_distinct_actions(self):
        return 2**40

    def position_key(self):
        return self.path


class FreshUnseen(Unseen, Fresh):
    """Something is hidden."""


class FarCells(Rules):
    """Two players name ten numbers, four times each, of ids far apart."""

    name = "test_far_cells"
    ids: int = 10**9
    room: int = 10
    fields: ClassVar = {"moves": np.int64, "total": np.int64}

    def setup(self):
        self.num_distinct_actions = self.ids
        self.max_actions = self.room

    def player(self, state):
        return TERMINAL if state.moves >= 8 else state.moves % 2

    def legal_actions(self, state, actions):
        for number in range(10):
            actions[number] = number * (self.ids // 10) + state.moves
        return 10

    def play(self, state, action):
        named = action // (self.ids // 10)
        state.total += named if state.moves % 2 == 0 else -named
        state.moves += 1

    def returns(self, state, returns):
        self.write_winner(returns, 0 if state.total > 0 else 1)
