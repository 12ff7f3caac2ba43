"""A race of three players with a die of two sides: chance, draws, and returns that do not sum to 0.

Each player in turn steps 1 or 2 ahead, or rests; then the die adds 0 or 1, a third and two thirds
of the time. Who reaches the goal first wins 2 and the others nothing; after so many rounds all have
1.
"""

import numpy as np

from rave_agents.games import CHANCE, NO_ACTION, TERMINAL, Rules

PLAYERS, STEPS = 3, 3


class Race(Rules):
    """The game in the kit."""

    name = "test_race"
    goal: int = 5
    rounds: int = 3
    num_players = PLAYERS
    num_distinct_actions = STEPS
    min_utility, max_utility, utility_sum = 0.0, 2.0, None

    def setup(self):
        if self.goal < 1:
            raise ValueError(f"goal must be at least 1, got {self.goal}.")
        self.max_game_length = PLAYERS * self.rounds
        self.fields = {
            "places": (np.int32, PLAYERS),
            "turn": np.int64,
            "rolls": np.int8,
            "winner": np.int64,
        }

    def begin(self, state):
        state.winner = NO_ACTION

    def player(self, state):
        if state.winner != NO_ACTION or state.turn == PLAYERS * self.rounds:
            return TERMINAL
        return CHANCE if state.rolls else state.turn % PLAYERS

    def legal_actions(self, state, actions):
        for step in range(STEPS):
            actions[step] = step
        return STEPS

    def chance_outcomes(self, state, actions, probabilities):
        actions[0], actions[1] = 0, 1
        probabilities[0], probabilities[1] = 1 / 3, 2 / 3
        return 2

    def play(self, state, action):
        player = state.turn % PLAYERS
        state.places[player] += action
        state.rolls = 1 - state.rolls
        if state.rolls == 0:
            if state.places[player] >= self.goal:
                state.winner = player
            state.turn += 1

    def returns(self, state, returns):
        for player in range(PLAYERS):
            returns[player] = 1.0 if state.winner == NO_ACTION else 2.0 * (player == state.winner)


class PlainRace:
    """The game as a GameState, written apart."""

    def __init__(self, goal=5, rounds=3, moves=()):
        self.goal, self.rounds, self.moves = goal, rounds, list(moves)

    def clone(self):
        return PlainRace(self.goal, self.rounds, self.moves)

    def _places(self):
        places = [0] * PLAYERS
        for place, move in enumerate(self.moves):
            places[place // 2 % PLAYERS] += move
        return places

    def _has_won(self):
        rolled = len(self.moves) % 2 == 0
        return [rolled and place >= self.goal for place in self._places()]

    def current_player(self):
        if any(self._has_won()) or len(self.moves) == 2 * PLAYERS * self.rounds:
            return TERMINAL
        return CHANCE if len(self.moves) % 2 else len(self.moves) // 2 % PLAYERS

    def is_terminal(self):
        return self.current_player() == TERMINAL

    def is_chance_node(self):
        return self.current_player() == CHANCE

    def legal_actions(self):
        return [] if self.is_terminal() else [0, 1] if self.is_chance_node() else [0, 1, 2]

    def chance_outcomes(self):
        return [(0, 1 / 3), (1, 2 / 3)] if self.is_chance_node() else []

    def apply_action(self, action):
        self.moves.append(action)

    def returns(self):
        won = self._has_won()
        return [2.0 * each for each in won] if any(won) else [1.0] * PLAYERS
