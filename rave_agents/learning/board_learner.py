"""Learning on compiled rules with a board: self-play in machine code, in one process or several.

Each round plays as many games in every process, from the same numbers and seeds of their own; the
changes are then put together. So equal seeds, games and processes give equal values, whatever runs
the processes.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np

from rave_agents.evaluators.linear_value import LinearValue
from rave_agents.evaluators.symmetries import image_under, symmetries_of
from rave_agents.evaluators.tuple_network import (
    Cells,
    Network,
    large_windows,
    long_lines,
    small_windows,
    strips_of,
    tied,
)
from rave_agents.games.kit.base_rules import BaseRules
from rave_agents.learning.teacher import Numbers, Teacher, constant_sum

ROUND_CELLS = 20_000
"""Cells of the boards of a round's games, of which each game has one."""


class Settings(NamedTuple):
    """Settings of self-play; measured, see docs/laboratory.md."""

    opening: int = 10
    """Random moves at the beginning of a game, at most."""
    trace: float = 0.7
    """λ: the weight of how a game went on beside what the position's actions are worth."""
    random: float = 0.1
    """The share of random moves after the opening."""
    step: float = 1.0
    """The step size, of all numbers of a position together."""


SETTINGS = Settings()


WINDOWS = SMALL, LARGE, LINES, STRIPS = ("small", "large", "lines", "strips")
"""The kinds of what a value looks at, see ``network_for``."""


def network_for(rules: BaseRules, more: Sequence[Cells] = (), *, windows: str = SMALL) -> Network:
    """The network that learns a game: the windows of its board, or strips.

    Symmetries of the board share tables. So do players where the rules say how they change places
    (``BaseRules.exchange``), but for strips: these are for games such as Connect Four, where the
    same line is worth something else to who moves first.

    Args:
        rules: the game.
        more: further tuples, such as ``random_tuples``.
        windows: ``"small"`` for two by three cells, or fewer where they have too many contents;
            ``"large"`` for two by four; ``"lines"`` for these, and rows, columns and diagonals of
            up to eight; ``"strips"`` for two lines of four cells beside each other, and the same
            rows, columns and diagonals.

    Raises:
        ValueError: for large windows or strips on a board where none fits.
    """
    rows, columns = rules.board_shape
    if windows == STRIPS:
        base = strips_of(rows, columns)
        if not base:
            told = f"none fits on {rows} x {columns}"
            raise ValueError(f"strips are two lines of four cells: {told}.")
    else:
        base = small_windows(rules) if windows == SMALL else large_windows(rules)
    if windows in (LINES, STRIPS):
        base += long_lines(rows, columns)
    groups = tied([*base, *more], symmetries_of(rules))
    shares = rules.exchange and rules.cell_kinds == 3 and constant_sum(rules) and windows != STRIPS
    exchange = (image_under(rules, rules.exchange), (0, 2, 1)) if shares else None
    return Network.of_tuples((rows, columns, rules.cell_kinds), groups, exchange)


class Lessons(NamedTuple):
    """A round's share of one process."""

    rules: BaseRules
    network: Network
    settings: Settings
    games: int
    seed: np.random.SeedSequence
    numbers: tuple[Numbers, Numbers, Numbers]


class Taught(NamedTuple):
    """The numbers after a round's share, and what it took."""

    numbers: tuple[Numbers, Numbers, Numbers]
    positions: int
    squared_errors: float


def take_lessons(lessons: Lessons) -> Taught:
    """Play a round's share of games, in whatever process."""
    teacher = Teacher(lessons.rules, lessons.network, lessons.seed)
    for own, given in zip(teacher.learned, lessons.numbers, strict=True):
        own[:] = given
    teacher.teach(lessons.games, **lessons.settings._asdict())
    return Taught(teacher.learned, teacher.positions, teacher.squared_errors)


def put_together(
    before: tuple[Numbers, Numbers, Numbers], shares: list[Taught]
) -> tuple[Numbers, Numbers, Numbers]:
    """The numbers after a round: each the mean of what processes made of it.

    A process counts by the size of the errors from which it has learned the number.
    """
    if len(shares) == 1:
        return shares[0].numbers
    weights, sums, sizes = before
    grown = np.array([share.numbers[2] - sizes for share in shares])
    moved = np.array([share.numbers[0] - weights for share in shares])
    total = grown.sum(axis=0)
    mean = (grown * moved).sum(axis=0) / np.where(total > 0.0, total, 1.0)
    added = np.array([share.numbers[1] - sums for share in shares]).sum(axis=0)
    return weights + mean, sums + added, sizes + total


class BoardLearner:
    """A value that self-play on a board teaches, round by round.

    Args:
        rules: the game.
        seed: decides everything random.
        jobs: processes, at least 1.
        executor: runs them; None for this process.
        start: a value to go on from; None for zeros.
        windows: see ``network_for``.
        settings: how it learns.
    """

    def __init__(
        self,
        rules: BaseRules,
        *,
        seed: int = 0,
        jobs: int = 1,
        executor: Executor | None = None,
        start: LinearValue | None = None,
        windows: str = SMALL,
        settings: Settings = SETTINGS,
    ) -> None:
        self.rules = rules
        self._jobs, self._executor, self._settings = jobs, executor, settings
        self._seeds = np.random.SeedSequence(seed)
        self.network: Network = network_for(rules, windows=windows)
        if start is not None:
            if start.network is None:
                raise ValueError("Learning goes on from a value of boards alone.")
            start.judged(rules)  # Refused if it is another game's.
            self.network = start.network
        self._teacher = Teacher(rules, self.network, self._seeds.spawn(1)[0])
        if start is not None:
            self._teacher.weights[:] = start.weights.ravel()
        self.games: int = 0
        self.positions: int = 0
        """Games played and positions learned from."""
        self.error: float = float("nan")
        """The mean squared error of the last round; NaN before the first."""

    @property
    def round_games(self) -> int:
        """Games of a round in each process."""
        return max(1, ROUND_CELLS // self.rules.num_board_cells)

    def learn_round(self, games: int | None = None) -> None:
        """Play a round, or so many games in all, and learn from them."""
        in_all = self._jobs * self.round_games if games is None else games
        shares = [(in_all + place) // self._jobs for place in range(self._jobs)]
        before = self._teacher.learned
        lessons = [
            Lessons(self.rules, self.network, self._settings, share, seed, before)
            for share, seed in zip(shares, self._seeds.spawn(self._jobs), strict=True)
        ]
        run = map if self._executor is None else self._executor.map
        taught = list(run(take_lessons, lessons))
        for own, new in zip(self._teacher.learned, put_together(before, taught), strict=True):
            own[:] = new
        positions = sum(share.positions for share in taught)
        self.games += in_all
        self.positions += positions
        self.error = sum(share.squared_errors for share in taught) / max(positions, 1)

    def value(self, made: str = "") -> LinearValue:
        """The value learned so far, in half precision."""
        weights = self._teacher.weights.reshape(self._teacher.shape)
        rules = self.rules
        return LinearValue(
            str(rules),
            weights.astype(np.float16).astype(np.float32),
            utilities=(float(rules.min_utility), float(rules.max_utility)),
            utility_sum=rules.utility_sum if constant_sum(rules) else None,
            network=self.network,
            players=rules.num_players,
            made=made,
        )
