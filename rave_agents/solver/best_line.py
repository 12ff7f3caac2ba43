"""The proven line: best play from a position whose value is known."""

import math
from collections.abc import Sequence

from rave_agents.game.game_state import GameState
from rave_agents.solver.keys import Key
from rave_agents.solver.path_search import Answer
from rave_agents.solver.value_search import ValueSearch

LONGEST_LINE = 500
"""Maximum number of moves of a proven line."""


def best_line(
    values: ValueSearch, first: int | None = None, positions: int | None = 0
) -> tuple[int, ...]:
    """Best play from a root whose value is known, read from the table.

    Every move of either side keeps the value, so a complete line ends with it: at the end of the
    game or, if endless play has this value, at a repeated position. The side that must make
    progress takes the shortest way, the other side the longest.

    Args:
        values: the finished search for the value.
        first: the first action; None for the best.
        positions: the maximum number of positions to expand for missing entries; None for no limit.

    Returns:
        The actions; an incomplete line if a move's proof is missing, an empty one if the value is
        open or the first action is not known to keep it.
    """
    if not values.interval.is_point:
        return ()
    return _Line(values, positions).follow(first)


class _Line:
    """Follows moves that keep a value."""

    def __init__(self, values: ValueSearch, positions: int | None) -> None:
        self._search, self._player = values.search, values.player
        self._root, self._value = values.state, values.interval.low
        self._limits = values.limits
        # The others keep the value by refuting "at least the next greater float".
        self._above = math.nextafter(self._value, math.inf)
        self._statements = list(dict.fromkeys([self._value, self._above, *values.tried]))
        self._positions = positions
        endless = self._search.repetition
        self._may_repeat = self._value == (-math.inf if endless is None else endless)
        self._met: set[Key] = set()

    def follow(self, first: int | None) -> tuple[int, ...]:
        """The actions from the root on."""
        state, line = self._root.clone(), list[int]()
        while not state.is_terminal() and len(line) < LONGEST_LINE:
            key = self._search.key(state)
            if key in self._met:
                break
            self._met.add(key)
            moves = self._moves(state)
            if first is not None and not line:
                moves = [first] if first in moves else []
            if not moves:
                break
            line.append(moves[0])
            state.apply_action(moves[0])
        return tuple(line)

    def _moves(self, state: GameState) -> list[int]:
        """The moves that keep the value, best first."""
        own = state.current_player() == self._player
        # Every move of the player keeps the least value, every move of the others the greatest.
        any_move = self._value <= self._limits.low if own else self._value >= self._limits.high
        found = self._known_moves(state, own=own, any_move=any_move)
        if not found and not any_move and self._positions != 0:
            self._prove(state, self._value if own else self._above)
            found = self._known_moves(state, own=own, any_move=any_move)
        return found

    def _known_moves(self, state: GameState, *, own: bool, any_move: bool) -> list[int]:
        distances = {}
        after = self._search.answers_after(state, self._player, self._statements)
        for action, answers in after.items():
            side = not own if any_move else own
            known = [each.distance for each in self._settled(answers, own=side)]
            if any_move:
                # Negative: the side that only delays takes the longest way.
                distances[action] = -max(known, default=0)
            elif known:
                distances[action] = min(known)
        if not any_move:
            # The table may have dropped the entry after the deciding move but kept this position's.
            answers = self._search.answers(state, self._player, self._statements)
            for each in self._settled(answers, own=own):
                if each.action is not None:
                    distances.setdefault(each.action, each.distance)
        kept = sorted(distances, key=distances.__getitem__)
        return kept if self._may_repeat else [a for a in kept if not self._returns(state, a)]

    def _settled(self, answers: Sequence[Answer | None], *, own: bool) -> list[Answer]:
        """The answers that guarantee the value for a side."""
        pairs = zip(self._statements, answers, strict=True)
        return [
            each
            for at_least, each in pairs
            if each is not None
            and each.proven == own
            and (
                each.value >= self._value
                if own
                else each.value <= self._value or at_least <= self._above
            )
        ]

    def _returns(self, state: GameState, action: int) -> bool:
        """True if a move leads back to a position of the line."""
        after = state.clone()
        after.apply_action(action)
        return not after.is_terminal() and self._search.key(after) in self._met

    def _prove(self, state: GameState, at_least: float) -> None:
        before = self._search.positions
        self._search.prove(state, self._player, at_least, positions=self._positions)
        if self._positions is not None:
            self._positions = max(0, self._positions - (self._search.positions - before))
