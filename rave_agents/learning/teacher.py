"""``Teacher``: runs the self-play of ``self_teaching.py`` and owns its arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.compiler.layout import call_address
from rave_agents.errors import GameError
from rave_agents.evaluators.tuple_network import TupleNetwork, judged_rules
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.games.kit.memory import RECORDS
from rave_agents.games.kit.refusals import GUARD
from rave_agents.learning import self_teaching
from rave_agents.learning.self_teaching import (
    COUNTS,
    ERROR,
    FIRST,
    GAMES,
    LAMBDA,
    LEVELS,
    LONGEST,
    MOST_OPENING,
    NUMBERS,
    POSITIONS,
    RANDOM,
    ROWS,
    STEP,
    Lesson,
)
from rave_agents.simulate.frame import HEADER_LENGTH
from rave_agents.simulate.random_stream import make_stream

Weights = tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]
"""The weights of a network, the sum of the errors of each, and the sum of their absolute values."""

OPENING = 10
"""Random moves at the beginning of a game, at most; these settings were measured, see
docs/laboratory.md."""

TRACE = 0.7
"""λ: the weight of the rest of the game, relative to a position's best action."""

RANDOM_SHARE = 0.1
"""Probability of a random move after the opening."""

STEP_SIZE = 1.0
"""Step size of all weights of a position together."""


class Teacher:
    """The weights of a network, and the self-play from which they learn.

    Args:
        rules: the game.
        network: its tuples.
        seed: decides everything random.
    """

    def __init__(
        self, rules: BaseRules, network: TupleNetwork, seed: np.random.SeedSequence
    ) -> None:
        outputs = 1 if network.shared or constant_sum(rules) else rules.num_players
        players = 1 if network.shared else rules.num_players
        shape = players, outputs, network.size + 1
        self.rules: BaseRules = judged_rules(rules, network, shape)
        self.shape = shape
        size, room, tuples = int(np.prod(shape)), rules.list_room, network.cells.shape[1]
        cells, players = rules.num_board_cells, rules.num_players
        self.weights = np.zeros(size, np.float32)
        self._counts, self._numbers = np.zeros(COUNTS, np.int64), np.zeros(NUMBERS)
        self._records = np.zeros(RECORDS, rules.record)
        self._lesson = Lesson(
            header=np.zeros(HEADER_LENGTH, np.int64),
            playout_stream=make_stream(seed),
            counts=self._counts,
            numbers=self._numbers,
            states=self._records,
            actions=np.zeros((LEVELS, room), np.int32),
            probabilities=np.zeros(room),
            # Rules that write too far hit the guard, not other memory.
            scratch=np.zeros(players + 2 * GUARD)[GUARD:-GUARD],
            cells=np.zeros(cells + GUARD, np.int8)[:cells],
            shares=np.zeros((LEVELS, players)),
            weights=self.weights,
            sums=np.zeros(size, np.float32),
            sizes=np.zeros(size, np.float32),
            places=np.zeros((ROWS, tuples), np.uint32),
            latest_boards=np.zeros((2, cells), np.int8),
            latest_places=np.zeros((2, tuples), np.uint32),
            rows=np.zeros(ROWS, np.int64),
            movers=np.zeros(ROWS, np.int64),
            values=np.zeros((LONGEST, players)),
            carrier=np.zeros(rules.carrier_words, np.uint64),
            room=np.zeros(rules.foresight_room, np.int16),
        )
        start = np.zeros(1, rules.record)
        with np.errstate(over="ignore"):
            rules.begin(start.view(np.recarray)[0])
        self._records[FIRST] = start[0]

    def teach(self, games: int, *, opening: int = OPENING) -> None:
        """Play games and learn from them.

        Args:
            games: how many.
            opening: random moves at the beginning of a game, at most.

        Raises:
            GameError: if the rules break their contract.
        """
        self._counts[[GAMES, MOST_OPENING]] = games, opening
        self._numbers[[LAMBDA, RANDOM, STEP]] = TRACE, RANDOM_SHARE, STEP_SIZE
        if JIT_DISABLED:
            lesson = self._lesson._replace(states=self._records.view(np.recarray))
            with np.errstate(over="ignore"):  # Position hashes overflow on purpose.
                code = self_teaching.teach(self.rules, lesson)
        else:
            addresses = np.array([array.ctypes.data for array in self._lesson], np.int64)
            rules: Any = self.rules
            code = call_address(rules.compiled(self_teaching), addresses.ctypes.data)
        if code < 0:
            raise GameError(f"The rules of {self.rules} have a mistake (code {code}).")

    @property
    def learned(self) -> Weights:
        """The weights, and the sums that decide their step sizes."""
        return self.weights, self._lesson.sums, self._lesson.sizes

    def take(self, weights: Weights) -> None:
        """Continue from these weights."""
        for own, given in zip(self.learned, weights, strict=True):
            own[:] = given

    @property
    def positions(self) -> int:
        """Positions learned from."""
        return int(self._counts[POSITIONS])

    @property
    def squared_errors(self) -> float:
        """The sum of their squared errors."""
        return float(self._numbers[ERROR])


def constant_sum(rules: BaseRules) -> bool:
    """True if there are two players, and the utility of one decides that of the other."""
    return rules.num_players == 2 and rules.utility_sum is not None
