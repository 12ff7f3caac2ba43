"""``Team``: parallel searches for one proof, one per thread, that share a table."""

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.signals import start_threads
from rave_agents.game.game_state import GameState
from rave_agents.solver import records as codes
from rave_agents.solver.path_search import PathSearch
from rave_agents.solver.records import Shared, Statement
from rave_agents.solver.table import FULL_SHARE, NUM_USED, Table, collect, num_entries

MANY_STEPS = 2**62
"""Steps of a thread that runs until the first one stops."""

LEAST_ROOM = 1 / 64
"""Collect the table once the room left is below this share of it."""

FIRST_RANKS = 4
"""All threads but the first start with random ranks of actions below this."""

LOOK_SECONDS = 0.02
"""Interval at which the calling thread checks the others."""


class Team:
    """Searches of one root that share a table and its values.

    The calling thread runs the first search; the others run slices that end with its slice. Data
    shared without locks stays consistent: a table entry half-written by two threads matches no key,
    and each thread has its own places for values. Everything else, such as collecting the table,
    happens between slices.

    Args:
        state: a position of the game.
        table: the table.
        threads: the number of threads.
        foresee: True to stop at positions whose winner is certain.
        value: a value function for initial numbers, see ``ProofSearch``.
    """

    def __init__(
        self, state: GameState, table: Table, threads: int, foresee: bool, value: Any
    ) -> None:
        self.table = table
        self.values: NDArray[np.float64] = np.full(codes.MOST_VALUES + 2, np.nan)
        self.shared: Shared = Shared(np.zeros(1, np.int64), np.zeros(codes.TAKEN, np.uint64))
        self.searches: list[PathSearch] = []
        for number in range(threads):
            # Shared entries, separate counts: concurrent increments of one counter would get lost.
            own = table if number == 0 else table._replace(counts=np.zeros_like(table.counts))
            search = PathSearch(state, own, self.values, self.shared, foresee, value)
            search.control[codes.STRIDE], search.control[codes.SHARES] = threads, threads > 1
            if number > 0:
                draw = np.random.default_rng(number)
                search.decided[:] = draw.integers(FIRST_RANKS, size=len(search.decided))
            self.searches.append(search)
        self.first: PathSearch = self.searches[0]
        self.begin_values(1)
        self._share_room()

    @property
    def positions(self) -> int:
        """Positions expanded so far by all."""
        return sum(int(each.control[codes.NODES]) for each in self.searches)

    @property
    def loops(self) -> int:
        """Loops met in the last proof."""
        return sum(int(each.control[codes.LOOPS]) for each in self.searches)

    @property
    def end_of_values(self) -> int:
        """The place after the last value."""
        return min(len(self.values), max(int(e.control[codes.NUM_VALUES]) for e in self.searches))

    def begin_values(self, place: int) -> None:
        """Start new values at an index, interleaved between the threads."""
        for number, search in enumerate(self.searches):
            search.control[codes.NUM_VALUES] = place + number

    def place_of(self, value: float) -> int:
        """Index of a value, which is added if new; ``NO_VALUE`` without room."""
        found = np.flatnonzero(self.values[1:] == value)
        if len(found) > 0:
            return int(found[0]) + 1
        control = self.first.control
        place = int(control[codes.NUM_VALUES])
        if place > codes.MOST_VALUES:
            return codes.NO_VALUE
        self.values[place] = value
        control[codes.NUM_VALUES] += control[codes.STRIDE]
        return place

    def begin(self, state: GameState, statement: Statement) -> None:
        """Prepare to prove or refute a statement about a position."""
        self.shared.taken[:] = 0
        for search in self.searches:
            search.set_root(state)
            search.begin(statement)

    def run(self, steps: int, most: int | None) -> int:
        """Run all searches until the first one has taken ``steps`` steps.

        Args:
            steps: maximum steps of the first search.
            most: maximum steps of all searches together.

        Returns:
            ``SETTLED`` if the root is settled, else the reason why the slice ended.
        """
        if len(self.searches) == 1:
            statuses = [self.first.run(steps)]
        else:
            statuses = self._run_together(steps, most)
        self._mend(statuses)
        if codes.SETTLED in statuses:
            return codes.SETTLED
        return next((each for each in statuses if each != codes.GOES_ON), codes.GOES_ON)

    def _run_together(self, steps: int, most: int | None) -> list[int]:
        """Run a slice in all threads; returns the reason why each stopped."""
        count = len(self.searches)
        shares = [MANY_STEPS] * count
        if most is not None:
            shares = [(most + count - 1 - number) // count for number in range(count)]
        shares[0] = min(steps, shares[0])
        statuses, errors = [codes.GOES_ON] * count, list[BaseException]()
        ended, back, woken = self.shared.ended, list[int](), threading.Lock()
        ended[0] = 0
        woken.acquire()

        def work(number: int) -> None:
            try:
                statuses[number] = self.searches[number].run(shares[number])
                # A thread that has used its steps does not stop the others.
                if statuses[number] != codes.GOES_ON:
                    ended[0] = 1
            except BaseException as error:
                errors.append(error)
                ended[0] = 1
            finally:
                back.append(number)
                if len(back) == count - 1:
                    woken.release()

        threads = [
            threading.Thread(target=work, args=(number,), daemon=True) for number in range(1, count)
        ]
        try:
            start_threads(threads)
            statuses[0] = self.first.run(shares[0])
        finally:
            self._wait(threads, back, woken)
        if errors:
            raise errors[0]
        return statuses

    def _wait(self, threads: list[threading.Thread], back: list[int], woken: Any) -> None:
        """End the others' slices and wait for them, even if signal handlers raise."""
        interrupt: BaseException | None = None
        while True:
            try:
                self.shared.ended[0] = 1
                # None is alive if an exception came before they started.
                while len(back) < len(threads) and any(each.is_alive() for each in threads):
                    woken.acquire(timeout=LOOK_SECONDS)
                break
            except BaseException as error:  # Only a signal handler can raise here.
                interrupt = error
        self.shared.ended[0] = 0
        if interrupt is not None:
            raise interrupt

    def _mend(self, statuses: list[int]) -> None:
        """Handle the reasons why the searches returned."""
        counts = self.table.counts
        for other in self.searches[1:]:
            # Between slices, add up the threads' counts.
            counts += other.table.counts
            other.table.counts[:] = 0
        errors: list[BaseException] = []
        for search, status in zip(self.searches, statuses, strict=True):
            try:
                search.mend(status)
            except BaseException as error:
                errors.append(error)
        if errors:
            raise errors[0]
        room = FULL_SHARE * num_entries(self.table) - counts[NUM_USED]
        if codes.TABLE_FULL in statuses and room < LEAST_ROOM * num_entries(self.table):
            with np.errstate(over="ignore"):
                collect(self.table)
        self._share_room()

    def _share_room(self) -> None:
        """Divide the table's remaining room among the threads."""
        used = int(self.table.counts[NUM_USED])
        room = (int(FULL_SHARE * num_entries(self.table)) - used) // len(self.searches)
        for search in self.searches:
            search.control[codes.ROOM] = int(search.table.counts[NUM_USED]) + room
