"""A game of one's own that prints a board."""


class Stones:
    """Two players fill the cells of two rows, A and B; the game ends when they are full.

    With ``tossed`` given, chance moves before each player, and changes nothing.
    """

    def __init__(self, cells="....", tossed=None):
        self.cells, self.tossed = cells, tossed

    def clone(self):
        return type(self)(self.cells, self.tossed)

    def current_player(self):
        if self.is_terminal():
            return -4
        return -1 if self.is_chance_node() else self.cells.count(".") % 2

    def is_terminal(self):
        return "." not in self.cells

    def is_chance_node(self):
        return self.tossed is False and not self.is_terminal()

    def legal_actions(self):
        empty = [i for i, cell in enumerate(self.cells) if cell == "."]
        return [0, 1] if self.is_chance_node() else empty

    def chance_outcomes(self):
        return [(0, 0.5), (1, 0.5)]

    def apply_action(self, action):
        if not self.is_chance_node():
            stone = "AB"[self.current_player()]
            self.cells = self.cells[:action] + stone + self.cells[action + 1 :]
        if self.tossed is not None:
            self.tossed = not self.tossed

    def returns(self):
        return [0.0, 0.0]

    def num_players(self):
        return 2

    def num_distinct_actions(self):
        return len(self.cells)

    def min_utility(self):
        return -1.0

    def max_utility(self):
        return 1.0

    def __str__(self):
        half = len(self.cells) // 2
        return f"{self.cells[:half]}\n{self.cells[half:]}"
