"""Returns that a player can force, found by looking at every position, and the answers for it."""

import math
import random

from rave_agents.certificates.checker import AT_LEAST, AT_MOST, Statement, after, key_of


class Forced:
    """What a player can force from a position against all others, and they against the player.

    Positions are told apart by ``position_key``. Play that never ends counts ``endless`` for the
    player; None where the game always ends.
    """

    def __init__(self, root, player, endless=None):
        self.player, self.endless, self.start = player, endless, root
        self.below, self.mover, self.ends, self.chances = {}, {}, {}, {}
        self.root = self._reached(root)
        self.values = self._values()
        self.value = self.values[self.root]

    def _reached(self, root):
        pending, known = [root], {key_of(root)}
        while pending:
            state = pending.pop()
            name = key_of(state)
            self.mover[name] = state.current_player()
            self.below[name] = {}
            if state.is_terminal():
                self.ends[name] = float(state.returns()[self.player])
                continue
            steps = [(action, 1.0) for action in ([] if state.is_chance_node() else legal(state))]
            if state.is_chance_node():
                steps = state.chance_outcomes()
                self.chances[name] = [share for _, share in steps]
            for action, _ in steps:
                child = after(state, action)
                self.below[name][action] = key_of(child)
                if key_of(child) not in known:
                    known.add(key_of(child))
                    pending.append(child)
        return key_of(root)

    def _combined(self, name, values):
        below = [values[child] for child in self.below[name].values()]
        if name in self.chances:
            pairs = zip(self.chances[name], below, strict=True)
            return math.fsum(share * value for share, value in pairs)
        return max(below) if self.mover[name] == self.player else min(below)

    def _values(self):
        """Best play's values: what is settled by the ends, and then by play that never ends."""
        values = self.ends.copy()
        if self.endless is None:
            order, seen = [], set()
            pending = [(self.root, False)]
            while pending:
                name, done = pending.pop()
                if done:
                    order.append(name)
                elif name not in seen:
                    seen.add(name)
                    pending.append((name, True))
                    pending += [(child, False) for child in self.below[name].values()]
            for name in order:
                if name not in values:
                    values[name] = self._combined(name, values)
            return values
        for value in sorted({*self.ends.values(), self.endless}):  # The greatest stays.
            for name in self.winning(value)[0]:
                values[name] = value
        return values

    def winning(self, value, *, side=True):
        """Where the player can force at least a value, or others at most it: ``(where, answers)``.

        An answer leads nearer to the end, or, where endless play is good enough, stays there.
        """
        sign = 1 if side else -1
        if self.endless is not None and sign * self.endless >= sign * value:
            lost, _ = self._attracted(lambda x: sign * x < sign * value, not side)
            where = set(self.below) - lost
            answers = {
                name: next(a for a, child in self.below[name].items() if child in where)
                for name in where
                if self._decides(name, side) and name not in self.ends
            }
            return where, answers
        return self._attracted(lambda x: sign * x >= sign * value, side)

    def _decides(self, name, side):
        return (self.mover[name] == self.player) == side

    def _attracted(self, wanted, side):
        where = {name for name, value in self.ends.items() if wanted(value)}
        answers, grown = {}, True
        while grown:
            grown = []
            for name, below in self.below.items():
                if name in where or name in self.ends:
                    continue
                good = [action for action, child in below.items() if child in where]
                if self._decides(name, side) and good:
                    answers[name] = good[0]
                    grown.append(name)
                elif not self._decides(name, side) and len(good) == len(below):
                    grown.append(name)
            where.update(grown)
        return where, answers

    def statements(self):
        """The two statements that make up the value."""
        return tuple(
            Statement(self.player, bound, self.value, self.endless) for bound in (AT_LEAST, AT_MOST)
        )

    def answers(self, statement):
        """The answers that prove a statement, see ``rave_agents.certificates.writer.Answers``."""
        side = statement.bound == AT_LEAST
        if self.endless is not None:
            _, known = self.winning(statement.value, side=side)
            return lambda state: known[key_of(state)]
        choose = max if side else min

        def answer(state):
            below = self.below[key_of(state)]
            return choose(below, key=lambda action: self.values[below[action]])

        return answer

    def walked_value(self, answer, statement):
        """The value that the answers of a side lead to, of whatever worth; of games without loops.

        Where chance may move, rounding is that of the checker.
        """

        def value(state):
            name = key_of(state)
            if name in self.ends:
                return self.ends[name]
            if self._decides(name, statement.bound == AT_LEAST) and name not in self.chances:
                return value(after(state, answer(state)))
            below = [value(after(state, action)) for action in self.below[name]]
            if name in self.chances:
                return math.fsum(map(math.prod, zip(self.chances[name], below, strict=True)))
            return max(below) if self.mover[name] == self.player else min(below)

        return value(self.start)


def legal(state):
    return list(state.legal_actions())


class LoopGame:
    """A random game on a few places, which play may come back to; some may never end it."""

    def __init__(self, seed, players=2, places=7):
        draw = random.Random(f"{seed} {players} {places}")
        self.seed, self.players, self.at = (seed, players, places), players, 0
        self.mover = [draw.randrange(players) for _ in range(places)]
        self.ways = [
            draw.sample(range(places), draw.randint(1, 3))
            if place == 0 or draw.random() < 0.75
            else []
            for place in range(places)
        ]
        self.end = [[draw.choice((-1.0, 0.0, 1.0)) for _ in range(players)] for _ in range(places)]

    def clone(self):
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def current_player(self):
        return self.mover[self.at] if self.ways[self.at] else -4

    def is_terminal(self):
        return not self.ways[self.at]

    def is_chance_node(self):
        return False

    def legal_actions(self):
        return sorted(self.ways[self.at])

    def chance_outcomes(self):
        return []

    def apply_action(self, action):
        self.at = action

    def returns(self):
        return self.end[self.at]

    def num_players(self):
        return self.players

    def num_distinct_actions(self):
        return len(self.ways)

    def min_utility(self):
        return -1.0

    def max_utility(self):
        return 1.0

    def position_key(self):
        return self.seed, self.at
