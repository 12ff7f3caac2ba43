"""Atari Go, Knightthrough and Domineering in plain Python, written from their descriptions."""

from typing import Self

from rave_agents import GameState


class SlowBoard(GameState):
    """A board of rows, squares as (row, column); subclasses list ``moves`` and ``make`` one."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.board, self.to_move, self.winner = {}, 0, None
        self.lay_out()

    def lay_out(self):
        pass

    def clone(self) -> Self:
        copied = type(self)(self.rows, self.columns)
        copied.board, copied.to_move, copied.winner = dict(self.board), self.to_move, self.winner
        return copied

    def squares(self):
        return [(row, column) for row in range(self.rows) for column in range(self.columns)]

    def number(self, square):
        return square[0] * self.columns + square[1]

    def is_inside(self, square):
        return 0 <= square[0] < self.rows and 0 <= square[1] < self.columns

    def num_players(self):
        return 2

    def num_distinct_actions(self):
        return self.rows * self.columns

    def legal_actions(self):
        return [] if self.winner is not None else sorted(self.moves())

    def is_terminal(self):
        return not self.legal_actions()

    def current_player(self):
        return self.to_move if self.legal_actions() else -4

    def apply_action(self, action):
        self.make(self.moves()[action])
        self.to_move = 1 - self.to_move

    def returns(self):
        winner = 1 - self.to_move if self.winner is None else self.winner
        return [1.0, -1.0] if winner == 0 else [-1.0, 1.0]


class SlowDomineering(SlowBoard):
    def moves(self):
        down, right = (1, 0) if self.to_move == 0 else (0, 1)
        found = {}
        for row, column in self.squares():
            domino = [(row, column), (row + down, column + right)]
            if self.is_inside(domino[1]) and not any(square in self.board for square in domino):
                found[self.number(domino[0])] = domino
        return found

    def make(self, domino):
        self.board.update(dict.fromkeys(domino, self.to_move))


class SlowKnightthrough(SlowBoard):
    def lay_out(self):
        for row, column in self.squares():
            if row < 2 or row >= self.rows - 2:
                self.board[row, column] = int(row >= 2)

    def num_distinct_actions(self):
        return 8 * self.rows * self.columns

    def moves(self):
        ahead = 1 if self.to_move == 0 else -1
        found = {}
        for (row, column), owner in self.board.items():
            for move, (up, right) in enumerate([(1, -2), (2, -1), (2, 1), (1, 2)]):
                target = row + ahead * up, column + right
                free = self.is_inside(target) and self.board.get(target) != self.to_move
                if owner == self.to_move and free:
                    action = self.number((row, column)) * 8 + self.to_move * 4 + move
                    found[action] = (row, column), target
        return found

    def make(self, move):
        self.board[move[1]] = self.board.pop(move[0])
        last = self.rows - 1 if self.to_move == 0 else 0
        if move[1][0] == last or 1 - self.to_move not in self.board.values():
            self.winner = self.to_move


class SlowAtariGo(SlowBoard):
    def beside(self, square):
        row, column = square
        near = (row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)
        return [other for other in near if self.is_inside(other)]

    def liberties(self, stone):
        chain, liberties = {stone}, set()
        waiting = [stone]
        while waiting:
            for near in self.beside(waiting.pop()):
                if near not in self.board:
                    liberties.add(near)
                elif self.board[near] == self.board[stone] and near not in chain:
                    chain.add(near)
                    waiting.append(near)
        return liberties

    def takes(self, square):
        """Whether the stone on a square leaves a chain of the opponent's without liberties."""
        others = [near for near in self.beside(square) if near in self.board]
        return any(
            self.board[near] != self.board[square] and not self.liberties(near) for near in others
        )

    def moves(self):
        found = {}
        for square in self.squares():
            if square not in self.board:
                self.board[square] = self.to_move
                if self.takes(square) or self.liberties(square):
                    found[self.number(square)] = square
                del self.board[square]
        return found

    def make(self, square):
        self.board[square] = self.to_move
        if self.takes(square):
            self.winner = self.to_move
