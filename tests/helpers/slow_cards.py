"""A game of cards in Python whose every move takes some milliseconds."""

import time

import pyspiel
from helpers.spiel import own_type, written_game

SECONDS, LENGTH, CARDS = 0.004, 30, 12

TYPE = own_type(
    "python_slow_cards",
    chance="EXPLICIT_STOCHASTIC",
    information="IMPERFECT_INFORMATION",
    provides=("information_state_string", "observation_string"),
)


class SlowCards(pyspiel.State):
    """Each player has a card, which the other does not see."""

    def __init__(self, game):
        super().__init__(game)
        self.cards, self.moves = [], []

    def current_player(self):
        if len(self.cards) < 2:
            return pyspiel.PlayerId.CHANCE
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else len(self.moves) % 2

    def _legal_actions(self, player):
        time.sleep(SECONDS / 4)
        return list(range(5))

    def chance_outcomes(self):
        left = [card for card in range(CARDS) if card not in self.cards]
        return [(card, 1 / len(left)) for card in left]

    def _apply_action(self, action):
        time.sleep(SECONDS)
        (self.cards if len(self.cards) < 2 else self.moves).append(action)

    def _action_to_string(self, player, action):
        return str(action)

    def is_terminal(self):
        return len(self.moves) >= LENGTH

    def returns(self):
        if not self.is_terminal():
            return [0.0, 0.0]
        first = sum(self.moves[0::2]) * self.cards[0] - sum(self.moves[1::2]) * self.cards[1]
        return [1.0, -1.0] if first > 0 else [-1.0, 1.0]

    def information_state_string(self, player):
        return f"{self.cards[player : player + 1]} {self.moves}"

    observation_string = information_state_string

    def __str__(self):
        return f"{self.cards} {self.moves}"


written_game(TYPE, SlowCards, actions=5, length=LENGTH, outcomes=CARDS)
