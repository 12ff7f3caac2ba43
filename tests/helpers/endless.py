"""Games of two players that never end."""

from helpers.games import PlainState, Unseen


class Endless(PlainState):
    """Two players have two actions each time."""

    def __init__(self, moves=0):
        self.moves = moves

    def current_player(self):
        return self.moves % 2

    def legal_actions(self):
        return [0, 1]

    def chance_outcomes(self):
        return [(0, 1.0)]

    def apply_action(self, action):
        self.moves += 1

    def returns(self):
        return [0.0, 0.0]

    def num_distinct_actions(self):
        return 2


class EndlessChance(Endless):
    """After the first move chance moves for ever."""

    def current_player(self):
        return -1 if self.moves > 0 else 0


class EndlessTogether(Endless):
    """Both move at the same time."""

    def current_player(self):
        return -2

    def legal_actions(self, player):
        return [0, 1]

    def apply_actions(self, actions):
        self.moves += 1


class EndlessHidden(Unseen, Endless):
    """Something is hidden."""

    def position_key(self):
        return self.moves


class EndlessHiddenChance(EndlessHidden, EndlessChance):
    """Likewise, and chance moves for ever."""
