"""A game as a user writes it, as Rules with a parameter."""

import numpy as np

from rave_agents.games import TERMINAL, Rules


class LineOfDominoes(Rules):
    """Lay a domino on two free cells of a line; who cannot lay one loses."""

    name = "line_of_dominoes"
    cells: int = 7

    def setup(self):
        self.num_distinct_actions = self.cells
        self.fields = {"taken": (np.int8, self.cells), "to_move": np.int64}

    def fits(self, state, cell):
        return cell + 1 < self.cells and state.taken[cell] + state.taken[cell + 1] == 0

    def player(self, state):
        for cell in range(self.cells):
            if self.fits(state, cell):
                return state.to_move
        return TERMINAL

    def legal_actions(self, state, actions):
        count = 0
        for cell in range(self.cells):
            if self.fits(state, cell):
                actions[count] = cell
                count += 1
        return count

    def play(self, state, action):
        state.taken[action] = state.taken[action + 1] = 1
        state.to_move = 1 - state.to_move

    def returns(self, state, returns):
        returns[state.to_move] = -1.0
        returns[1 - state.to_move] = 1.0
