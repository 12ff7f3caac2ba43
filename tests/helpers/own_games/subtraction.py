"""A game as a user writes it, with GameState's methods and a parameter."""

import numpy as np


class Subtraction:
    """Take one to three sticks; who takes the last one wins."""

    def __init__(self, sticks=7):
        self.sticks, self.player = sticks, 0

    def clone(self):
        copy = Subtraction(self.sticks)
        copy.player = self.player
        return copy

    def current_player(self):
        return -4 if self.is_terminal() else self.player

    def is_terminal(self):
        return self.sticks == 0

    def is_chance_node(self):
        return False

    def legal_actions(self):
        return list(range(min(3, self.sticks)))

    def chance_outcomes(self):
        return []

    def apply_action(self, action):
        self.sticks -= action + 1
        self.player = 1 - self.player

    def returns(self):
        if not self.is_terminal():
            return [0.0, 0.0]
        return [-1.0, 1.0] if self.player == 0 else [1.0, -1.0]

    def num_players(self):
        return 2

    def num_distinct_actions(self):
        return 3

    def min_utility(self):
        return -1.0

    def max_utility(self):
        return 1.0

    def observation(self, player):
        return np.array([self.sticks == number for number in range(16)], np.float32)

    def __str__(self):
        return f"{self.sticks} sticks"


def five_sticks():
    """A function that makes the game."""
    return Subtraction(5)


ready = Subtraction(6)
"""An object."""
