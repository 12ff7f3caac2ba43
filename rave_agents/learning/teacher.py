"""The teacher of a value: self-play on compiled rules, see ``games/kit/self_teaching.py``."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.compiler.layout import call_address
from rave_agents.errors import GameError
from rave_agents.evaluators.tuple_network import Network, judged_rules
from rave_agents.games.kit import self_teaching
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.games.kit.memory import RECORDS
from rave_agents.games.kit.refusals import GUARD
from rave_agents.games.kit.self_teaching import (
    COUNTS,
    ERROR,
    FIRST,
    GAMES,
    LEVELS,
    LONGEST,
    NUMBERS,
    OPENING,
    PLAYED,
    POSITIONS,
    RANDOM,
    ROWS,
    STEP,
    TRACE,
    Lesson,
)
from rave_agents.simulate.frame import HEADER_LENGTH
from rave_agents.simulate.random_stream import make_stream

Numbers = NDArray[np.float32]


class Teacher:
    """Numbers of a network, and the self-play that they learn from.

    Args:
        rules: the game.
        network: its tuples.
        seed: decides everything random.
    """

    def __init__(self, rules: BaseRules, network: Network, seed: np.random.SeedSequence) -> None:
        outputs = 1 if network.shared or constant_sum(rules) else rules.num_players
        players = 1 if network.shared else rules.num_players
        shape = players * (len(network.stages) + 1), outputs, network.size + 1
        self.rules: BaseRules = judged_rules(rules, network, shape)
        self.network = network
        size, room = int(np.prod(shape)), rules.list_room
        self.weights: Numbers = np.zeros(size, np.float32)
        self.sums: Numbers = np.zeros(size, np.float32)
        self.sizes: Numbers = np.zeros(size, np.float32)
        self.shape = shape
        self.counts: NDArray[np.int64] = np.zeros(COUNTS, np.int64)
        self.numbers: NDArray[np.float64] = np.zeros(NUMBERS)
        states = np.zeros(RECORDS * rules.record_bytes, np.uint8)
        self._records = states[: RECORDS * rules.record.itemsize].view(rules.record)
        guarded = np.zeros(rules.num_players + 2 * GUARD)
        self._lesson = Lesson(
            header=np.zeros(HEADER_LENGTH, np.int64),
            playout_stream=make_stream(seed),
            counts=self.counts,
            numbers=self.numbers,
            states=self._records,
            actions=np.zeros((LEVELS, room), np.int32),
            probabilities=np.zeros(room),
            scratch=guarded[GUARD:-GUARD],
            cells=np.zeros(rules.num_board_cells + GUARD, np.int8)[: rules.num_board_cells],
            shares=np.zeros((LEVELS, rules.num_players)),
            weights=self.weights,
            sums=self.sums,
            sizes=self.sizes,
            places=np.zeros((ROWS, network.cells.shape[1]), np.uint32),
            latest_boards=np.zeros((2, rules.num_board_cells), np.int8),
            latest_places=np.zeros((2, network.cells.shape[1]), np.uint32),
            rows=np.zeros(ROWS, np.int64),
            movers=np.zeros(ROWS, np.int64),
            values=np.zeros((LONGEST, rules.num_players)),
            carrier=np.zeros(rules.carrier_words, np.uint64),
            room=np.zeros(rules.foresight_room, np.int16),
        )
        start = np.zeros(1, rules.record)
        with np.errstate(over="ignore"):
            rules.begin(start.view(np.recarray)[0])
        self._records[FIRST] = start[0]

    def teach(self, games: int, *, opening: int, trace: float, random: float, step: float) -> None:
        """Play games and learn from them.

        Args:
            games: how many.
            opening: random moves at the beginning of a game, at most.
            trace: λ, the weight of how a game went on.
            random: the share of random moves after the opening.
            step: the step size, of all numbers of a position together.
        """
        self.counts[[GAMES, OPENING]] = games, opening
        self.numbers[[TRACE, RANDOM, STEP]] = trace, random, step
        if JIT_DISABLED:
            lesson = self._lesson._replace(states=self._records.view(np.recarray))
            with np.errstate(over="ignore"):
                code = self_teaching.teach(self.rules, lesson)
        else:
            addresses = np.array([array.ctypes.data for array in self._lesson], np.int64)
            rules: Any = self.rules
            code = call_address(rules.compiled(self_teaching), addresses.ctypes.data)
        if code < 0:
            raise GameError(f"The rules of {self.rules} have a mistake (code {code}).")

    @property
    def learned(self) -> tuple[Numbers, Numbers, Numbers]:
        """The weights, and the sums and sizes of their errors, which decide their steps."""
        return self.weights, self.sums, self.sizes

    @property
    def played(self) -> int:
        """Games that were played."""
        return int(self.counts[PLAYED])

    @property
    def positions(self) -> int:
        """Positions that were learned from."""
        return int(self.counts[POSITIONS])

    @property
    def squared_errors(self) -> float:
        """The sum of the squares of their errors."""
        return float(self.numbers[ERROR])


def constant_sum(rules: BaseRules) -> bool:
    """True if what player 0 wins tells what the other one does."""
    return rules.num_players == 2 and rules.utility_sum is not None
