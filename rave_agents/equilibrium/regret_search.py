"""``RegretSearch``: regrets and average strategies of a game's information sets."""

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import JIT_DISABLED
from rave_agents.config.regrets import MCCFR
from rave_agents.equilibrium import records as codes
from rave_agents.equilibrium.histories import find_set, has_room, index_slot
from rave_agents.equilibrium.questions import GameSize, Questions, estimated_size
from rave_agents.equilibrium.records import Histories, Pool, Search, SetActions, Sets, Stack
from rave_agents.equilibrium.sweeps import SWEPT, Sweep, sweep
from rave_agents.equilibrium.traversal import run, visit_all
from rave_agents.errors import GameError, UnsupportedGameError
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.endless import LONGEST_GAME, endless_game
from rave_agents.game.game_state import GameState, has_simultaneous_moves, is_simultaneous
from rave_agents.simulate.random_stream import Stream, make_stream
from rave_agents.simulate.visits import Visitor, VisitPlace

SLICE_SECONDS = 0.02
"""Approximate seconds between two checks of the limits."""

FIRST_HISTORIES, FIRST_SETS, FIRST_ACTIONS, FIRST_ENDS = 4096, 512, 2048, 1024
FIRST_DEPTHS = 64
"""Initial capacities of the arrays."""

MEGABYTE = 2.0**20

FEW_SWEEPS = 24
"""Sweeps that the limit must allow: the average of fewer is worse than that of samples."""

SHOWN_SWEEPS = 12
"""Sweeps after which their average is shown instead."""

FIRST_LOOK = 32
"""Sampled iterations that measure how many histories an iteration enters."""

BYTES_SWEPT = 200.0
"""Approximate bytes for each history of a tree that is swept, its share of the sets included."""

MOST_SWEEPS = 5_000
"""Sweeps after which nothing is left to search: the strategies have converged."""

SWEEP_SHARE = 0.5
"""Iterations that a sweep counts for, per player and per history for one that an iteration enters:
it takes about a sixth of the time."""

CONVENTIONS = 16
"""Starts of ``first_sweeps`` where all players have the same returns: from the uniform strategies
alone they may end in a convention that is not the best."""

NEARLY_EQUAL = 1e-6
"""By how much the value of another start must be greater."""

HISTORIES_A_SIMULATION = 1024
"""Histories that a sweep enters for one simulation, after ``first_sweeps``."""

PYTHON_FACTOR = 50.0
"""How much longer a visit takes in Python, at least."""

_SAMPLES, _COMPLETES, _SWEEPS = range(3)
"""Phases: sampled iterations; visits of the histories left; sweeps."""

VISIT_SECONDS, SWEEP_SECONDS = 4e-6, 1e-8
"""Approximate seconds to visit a history of a C++ game, and to sweep over it for a player."""


class SetStrategy(NamedTuple):
    """What the search knows of an information set."""

    actions: tuple[int, ...]
    """The legal actions."""
    probabilities: tuple[float, ...]
    """The average strategy; uniform where no traversal has come yet."""
    values: tuple[float | None, ...]
    """The mean return after each action in the traversals; None without any."""
    updates: int
    """Traversals in which the regrets were updated."""


class RegretSearch:
    """Monte-Carlo CFR of a game from its start; see ``traversal.py``.

    Args:
        start: the start of the game, copied.
        variant: the constants of the algorithm.
        seed: decides everything random.
        max_memory_mb: megabytes for the arrays; when they are used up, no history is added.
        size: the game's size; None to estimate it when it is needed.

    Raises:
        UnsupportedGameError: if the game's states lack what the search needs.
    """

    def __init__(
        self,
        start: GameState,
        variant: MCCFR,
        seed: np.random.SeedSequence,
        max_memory_mb: float = 1024.0,
        size: GameSize | None = None,
    ) -> None:
        self.start: GameState = start.clone()
        self.num_players: int = start.num_players()
        self._most_bytes = max_memory_mb * MEGABYTE
        self._variant = variant
        self._stream, playouts = _streams(seed)
        self.control: NDArray[np.int64] = np.zeros(codes.CONTROL_WORDS, np.int64)
        """Numbers of the search, see ``records.py``."""
        self.control[codes.DEPTH], self.control[codes.HISTORIES] = -1, 1
        self._numbers = np.zeros(codes.NUMBERS)
        self.control[codes.TARGET_PLAYER] = -1
        self.histories: Histories = _grown(None, Histories, FIRST_HISTORIES)
        self.histories.player[codes.START] = codes.UNVISITED
        self.sets: Sets = _grown(None, Sets, FIRST_SETS)
        self.actions: SetActions = _grown(None, SetActions, FIRST_ACTIONS)
        self._returns = np.zeros(FIRST_ENDS * self.num_players)
        self._grow_index()
        self._stack: Stack = _grown(None, Stack, FIRST_DEPTHS)
        self._pool: Pool = _grown(None, Pool, FIRST_DEPTHS * 8)
        self._questions = Questions(start, playouts)
        self.visitor: Visitor = self._questions.visitor
        """The game."""
        self._steps = 256
        self._sweeps: Sweep | None = None
        self._swept: Any = None
        self._credited = 0
        self._phase, self._visits = _SAMPLES, 256
        self._size = size
        first_look = 0 if variant.first_sweeps else FIRST_LOOK
        self._look = first_look if variant.sweeps else None
        self._bind()

    def reseed(self, seed: np.random.SeedSequence) -> None:
        """Go on with the random numbers of another seed."""
        self._stream[:], self._questions.visit.stream[:] = _streams(seed)

    def __getstate__(self) -> dict[str, Any]:
        # Compiled code and the game's visitor are bound to memory addresses.
        bound = {"visitor", "_run", "_search", "_swept", "_questions"}
        visit = self._questions.visit
        kept = {name: value for name, value in vars(self).items() if name not in bound}
        return {**kept, "_path": visit.path, "_playouts": visit.stream, "_room": len(visit.actions)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        path, playouts, room = (state.pop(name) for name in ("_path", "_playouts", "_room"))
        vars(self).update(state)
        self._questions = Questions(self.start, playouts)
        self._questions.renew(len(path), room)
        self._questions.visit.path[:] = path
        self.visitor = self._questions.visitor
        self._swept = None if self._sweeps is None else sweep.bound(self._sweeps)
        self._bind()

    @property
    def iterations(self) -> int:
        """Complete iterations; a sweep counts as many as enter as many histories."""
        return int(self.control[codes.ITERATION]) + self._credited

    @property
    def sweeps(self) -> int:
        """Sweeps over the whole tree."""
        return 0 if self._sweeps is None else int(self._sweeps.control[SWEPT])

    @property
    def num_sets(self) -> int:
        """Information sets found."""
        return int(self.control[codes.SETS])

    @property
    def num_histories(self) -> int:
        """Histories in the tree, those included that are listed but not visited yet."""
        return int(self.control[codes.HISTORIES])

    @property
    def is_whole(self) -> bool:
        """True if no playout was needed: all values come from the tree."""
        return int(self.control[codes.PLAYOUTS]) == 0

    @property
    def memory_full(self) -> bool:
        """True if the memory is used up."""
        return bool(self.control[codes.FROZEN])

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays."""
        records = (self.histories, self.sets, self.actions, self._stack, self._pool)
        arrays = [array for record in records for array in record]
        swept = 0 if self._sweeps is None else self._bytes_of_sweeps
        return sum(array.nbytes for array in (*arrays, self._returns, self._slots)) + swept

    @property
    def _bytes_of_sweeps(self) -> int:
        """Bytes of the arrays of sweeps: three of histories, four of actions, one of sets."""
        actions = int(self.control[codes.ACTIONS])
        return 8 * (3 * self.num_histories + 4 * actions + self.num_sets)

    def run_slice(self, last: float, deadline: float) -> bool:
        """Run for some milliseconds; returns whether there is more to do.

        Args:
            last: the number of complete iterations to end with; infinity for no limit.
            deadline: the ``time.perf_counter()`` time to end at.

        Raises:
            GameError: if the game breaks the common interface.
            Exception: any exception of the game, unchanged.
        """
        started = time.perf_counter()
        if started >= deadline or self.iterations >= last:
            return False
        if self._phase == _SAMPLES and self._look is not None and self.iterations >= self._look:
            self._look_ahead(last, deadline - started)
            return True
        if self._phase == _COMPLETES:
            self._complete_slice(last, deadline - started)
            return True
        run_phase = self._sample_slice if self._phase == _SAMPLES else self._sweep_slice
        return run_phase(last, deadline)

    def aim(self, path: Sequence[int], player: int) -> None:
        """Direct traversals to the information set of the player who moves after a path.

        Nothing of the path matters but the player's own information sets and actions.
        """
        control, target = self.control, 0
        self._begin_anew()
        self._numbers[codes.ARRIVED_WEIGHT] = control[codes.ARRIVED] = 0
        control[codes.STAMP] += 1
        control[codes.TARGET_PLAYER] = -1
        path = self._up_to_turn(path, player)
        for length in range(len(path) + 1):
            if self._questions.ask(path[:length])[VisitPlace.PLAYER] != player:
                continue
            if target >= len(self._stack.target_set):
                self._grow_stack()
            place = self._known_place()
            if place < 0:
                return  # No room for its information sets, nor for the way to them.
            self._stack.target_set[target] = place
            if length < len(path):
                self._stack.target_action[target] = path[length]
                target += 1
        self._bind()
        control[codes.TARGET_PLAYER], control[codes.TARGET] = player, target

    def _known_place(self) -> int:
        """The number of the information set just asked for, added if it is new; -1 if no room."""
        self._bind()
        while not has_room(self._search):
            self._grow_tree()
            self._bind()
            if self.memory_full:
                return -1
        self._run(0)  # Fills the index.
        return int(find_set(self._search))

    def _sample_slice(self, last: float, deadline: float) -> bool:
        """Sample for some milliseconds; returns whether there is more to do."""
        started = time.perf_counter()
        # Exactly to the next look ahead, so that the same seed gives the same strategies.
        most = min(last, 2**62) if self._look is None else min(last, self._look)
        self.control[codes.LAST] = int(most)
        try:
            with np.errstate(over="ignore"):
                status = self._run(self._steps)
        except BaseException:
            # Only the interpreter stops within a step: the traversal's own numbers are torn.
            if JIT_DISABLED:
                self._begin_anew()
            raise
        if status == codes.DONE:
            return self.iterations < last
        if status != codes.GOES_ON:
            self._mend(status)
            return True
        now = time.perf_counter()
        seconds = min(SLICE_SECONDS, max(deadline - now, 1e-4))
        # At most twice as long as the last one: one slow game must not stall the clock.
        factor = min(2.0, max(0.25, seconds / max(now - started, 1e-6)))
        self._steps = int(self._steps * factor) + 1
        return True

    def _look_ahead(self, last: float, seconds: float) -> None:
        """Begin to visit the whole tree, if it is small enough to be swept."""
        assert self._look is not None
        self._look = max(2 * self._look, FIRST_LOOK)
        if self._size is None:
            most = self._most_bytes / BYTES_SWEPT
            self._size = estimated_size(self._questions, most)
            self._bind()
        if math.isinf(self._size.histories) or self.memory_full:
            self._look = None
        elif self._pays_to_sweep(max(self._size.histories, self.num_histories), last, seconds):
            self._phase = _COMPLETES
            self.control[codes.DEPTH] = -1

    def _pays_to_sweep(self, size: float, last: float, seconds: float) -> bool:
        """True if the limit allows enough sweeps over so many histories."""
        visits = (size - self.num_histories) * VISIT_SECONDS
        visits *= 1.0 if self.visitor.outside_interpreter else PYTHON_FACTOR
        timed = (seconds - visits) / (size * self.num_players * SWEEP_SECONDS)
        if self._variant.first_sweeps:
            return timed >= self._variant.first_sweeps
        left = (last - self.iterations) / self._cost_of_sweep(size)
        return min(left, timed) >= FEW_SWEEPS

    def _cost_of_sweep(self, size: float) -> float:
        """The iterations that a sweep over so many histories counts for, at least 1."""
        entered = int(self.control[codes.ENTERED]) / max(1, int(self.control[codes.ITERATION]))
        if self._variant.first_sweeps:
            entered = HISTORIES_A_SIMULATION
        return max(1.0, SWEEP_SHARE * self.num_players * size / max(1.0, entered))

    def _complete_slice(self, last: float, seconds: float) -> None:
        """Visit histories for some milliseconds; once all are visited, begin to sweep."""
        started = time.perf_counter()
        status = visit_all.bound(self._search)(self._visits)
        if status == codes.DONE:
            self._phase = _SAMPLES
            fits = self.memory_bytes + self._bytes_of_sweeps <= self._most_bytes
            if fits and self._pays_to_sweep(self.num_histories, last, seconds):
                self._phase = _SWEEPS
                self._begin_sweeps()
        elif status != codes.GOES_ON:
            self._mend(status)
        if self.memory_full:
            self._phase, self._look = _SAMPLES, None
        spent = max(time.perf_counter() - started, 1e-6)
        factor = min(2.0, max(0.25, min(SLICE_SECONDS, max(seconds, 1e-4)) / spent))
        self._visits = int(self._visits * factor) + 1

    def _begin_sweeps(self) -> None:
        """Begin with sweeps; where all players have the same returns, from the best start."""
        returns = self._returns.reshape(-1, self.num_players)[: int(self.control[codes.ENDS])]
        tries = self._variant.first_sweeps > 0 and bool((returns == returns[:, :1]).all())
        # The same for all seeds: players who search for themselves must agree on a convention.
        draw = np.random.default_rng(0)
        best = -math.inf
        for start in range(CONVENTIONS if tries and self.num_players > 1 else 1):
            sweeps = self._new_sweeps(0.0 if tries else self._variant.tremble)
            if start > 0:
                # Hardly any regret: it decides the first strategies alone.
                sweeps.regret[:] = 1e-9 * draw.random(len(sweeps.regret))
            swept = sweep.bound(sweeps)
            if tries:
                swept(self._variant.first_sweeps)
            if sweeps.value[codes.START] > best + NEARLY_EQUAL:
                best = float(sweeps.value[codes.START])
                self._sweeps, self._swept = sweeps, swept
        self._steps = 1

    def _new_sweeps(self, tremble: float) -> Sweep:
        """The arrays of sweeps."""
        count = self.num_histories
        actions = int(self.control[codes.ACTIONS])
        of_histories = {name: np.zeros(count) for name in ("others", "own", "value")}
        names = ("current", "regret", "strategy", "worth")
        of_actions = {name: np.zeros(actions) for name in names}
        return Sweep(
            histories=self.histories,
            sets=self.sets,
            returns=self._returns,
            **of_histories,
            **of_actions,
            reach=np.zeros(self.num_sets),
            control=np.array([0, count, self.num_sets], np.int64),
            num_players=self.num_players,
            tremble=tremble,
        )

    def _sweep_slice(self, last: float, deadline: float) -> bool:
        """Sweep for some milliseconds; returns whether there is more to do."""
        started = time.perf_counter()
        if self.sweeps >= MOST_SWEEPS:
            return False
        free = self._variant.first_sweeps - self.sweeps
        cost = 0 if free > 0 else math.ceil(self._cost_of_sweep(self.num_histories))
        left = last - self.iterations
        count = int(min(self._steps, free if free > 0 else max(1.0, left // cost)))
        # A search whose limit is less than a sweep still learns something: a whole one.
        self._swept(count)
        self._credited += int(min(count * cost, left))
        spent = max((time.perf_counter() - started) / count, 1e-9)
        seconds = min(SLICE_SECONDS, deadline - time.perf_counter())
        self._steps = max(1, min(2 * count, int(seconds / spent)))
        return self.iterations < last

    def run(self, iterations: int) -> None:
        """Run so many iterations more."""
        last = self.iterations + iterations
        while self.run_slice(last, np.inf):
            pass

    def _begin_anew(self) -> None:
        """Drop the unfinished traversal."""
        self.control[codes.DEPTH] = -1

    def _mend(self, status: int) -> None:
        """Remove the reason why the search has stopped, or raise it."""
        header = self._questions.visit.header
        if status == codes.FAILED:
            self.visitor.raise_pending()
        elif status == codes.SETS_DIFFER:
            player = int(header[VisitPlace.PLAYER])
            raise GameError(
                f"Player {player} has different legal actions at two histories that look the same "
                "to them: the game must show them what is legal."
            )
        elif status == codes.NO_TURNS:
            raise GameError(
                f"current_player() gave {int(header[VisitPlace.PLAYER])} where the game goes on: a "
                "search needs a player, chance or the end there."
            )
        elif status == codes.LISTS_FULL:
            self._questions.grow_lists()
        elif status == codes.STACK_FULL:
            self._grow_stack()
        elif status == codes.ROOM_FULL:
            self._grow_tree()
        self._bind()

    def _grow_stack(self) -> None:
        depths = 2 * len(self._stack.history)
        if depths > 2 * LONGEST_GAME:
            raise endless_game(type(self.start).__name__)
        self._stack = _grown(self._stack, Stack, depths)
        most = int(self._questions.visit.header[VisitPlace.CAPACITY])
        self._pool = _grown(self._pool, Pool, 2 * len(self._pool.value) + most)
        self._questions.renew(depths, len(self._questions.visit.actions))

    def _grow_tree(self) -> None:
        """Double the arrays that are full; freeze the tree where the memory does not suffice."""
        control, most = self.control, int(self._questions.visit.header[VisitPlace.CAPACITY])
        full = {
            "histories": control[codes.HISTORIES] + most > control[codes.HISTORY_ROOM],
            "actions": control[codes.ACTIONS] + most > control[codes.ACTION_ROOM],
            "sets": control[codes.SETS] >= control[codes.SET_ROOM],
            "returns": control[codes.ENDS] >= control[codes.END_ROOM],
        }
        more = 0
        for name in ("histories", "actions", "sets"):
            if full[name]:
                more += sum(array.nbytes for array in getattr(self, name))
        more += self._returns.nbytes if full["returns"] else 0
        if self.memory_bytes + more > self._most_bytes:
            control[codes.FROZEN] = 1
            return
        if full["histories"]:
            rows = 2 * len(self.histories.player) + most
            self.histories = _grown(self.histories, Histories, rows)
        if full["actions"]:
            rows = 2 * len(self.actions.action) + most
            self.actions = _grown(self.actions, SetActions, rows)
        if full["sets"]:
            self.sets = _grown(self.sets, Sets, 2 * len(self.sets.player))
            self._grow_index()
        if full["returns"]:
            self._returns = np.concatenate([self._returns, np.zeros_like(self._returns)])

    def _grow_index(self) -> None:
        # At most half full, for short probes.
        self._slots: NDArray[np.int64] = np.zeros(2 * len(self.sets.player), np.int64)
        self.control[codes.INDEXED] = 0

    def _bind(self) -> None:
        """Pass the current arrays to the compiled search."""
        control = self.control
        control[codes.HISTORY_ROOM] = len(self.histories.player)
        control[codes.SET_ROOM] = len(self.sets.player)
        control[codes.ACTION_ROOM] = len(self.actions.action)
        control[codes.END_ROOM] = len(self._returns) // self.num_players
        control[codes.STACK_ROOM] = len(self._stack.history)
        control[codes.POOL_ROOM] = len(self._pool.value)
        control[codes.INDEX_ROOM] = len(self._slots)
        self._search = Search(
            self._variant,
            self.histories,
            self.sets,
            self.actions,
            self._returns,
            self._slots,
            self._stack,
            self._pool,
            self._questions.visit,
            control,
            self._numbers,
            self._stream,
            self.num_players,
            self.visitor.address,
            self._questions.visit.header.ctypes.data,
        )
        self._run = run.bound(self._search)

    def strategy_at(self, state: GameState, player: int) -> SetStrategy:
        """What the search knows of the information set of a player who moves at a state.

        Args:
            state: a state of the game, reached from its start.
            player: the player.

        Raises:
            UnsupportedGameError: if the state does not tell its history.
        """
        return self.strategy_after(path_to(self.start, state), player)

    def strategy_after(self, path: Sequence[int], player: int) -> SetStrategy:
        """The same for the history with these actions and chance outcomes, one of each mover."""
        place = self.place_after(path, player)
        if place >= 0:
            return self.known_strategy(place)
        visit = self._questions.visit
        actions = tuple(visit.actions[: visit.header[VisitPlace.NUM_ACTIONS]].tolist())
        even = 1.0 / len(actions)
        return SetStrategy(actions, (even,) * len(actions), (None,) * len(actions), 0)

    def place_after(self, path: Sequence[int], player: int) -> int:
        """The number of that information set; -1 if the search has not come there."""
        header = self._questions.ask(self._up_to_turn(path, player))
        self._bind()  # The question may have enlarged the buffers.
        if self.control[codes.INDEXED] < self.control[codes.SETS]:
            self._run(0)  # The index has grown: this fills it.
        keys = int(header[VisitPlace.FIRST_KEY]), int(header[VisitPlace.SECOND_KEY])
        return int(self._slots[index_slot(self._search, *keys)]) - 1

    def _up_to_turn(self, path: Sequence[int], player: int) -> list[int]:
        """A path, and choices of others who move at the same time and come first.

        The player sees no choice of theirs.
        """
        path = list(path)
        while self._questions.ask(path)[VisitPlace.PLAYER] != player:
            path.append(int(self._questions.visit.actions[0]))
        return path

    def known_strategy(self, place: int) -> SetStrategy:
        """What the search knows of the information set with a number."""
        first, count = int(self.sets.first[place]), int(self.sets.size[place])
        rows = slice(first, first + count)
        if self._sweeps is not None and self.sweeps >= SHOWN_SWEEPS:
            return self._swept_strategy(self._sweeps, place, rows)
        sums, updates = self.actions.strategy[rows], int(self.sets.updates[place])
        total = float(sums.sum())
        shares = sums / total if total > 0.0 else np.full(count, 1.0 / count)
        values: Sequence[float | None] = [None] * count
        if updates > 0:
            values = (self.actions.value[rows] / updates).tolist()
        actions = tuple(self.actions.action[rows].tolist())
        return SetStrategy(actions, tuple(shares.tolist()), tuple(values), updates)

    def _swept_strategy(self, sweeps: Sweep, place: int, rows: slice) -> SetStrategy:
        """The average strategy of sweeps at an information set."""
        sums, reach = sweeps.strategy[rows], float(sweeps.reach[place])
        count = len(sums)
        total = float(sums.sum())
        shares = sums / total if total > 0.0 else np.full(count, 1.0 / count)
        values: Sequence[float | None] = [None] * count
        if reach > 0.0:
            values = (sweeps.worth[rows] / reach).tolist()
        actions = tuple(self.actions.action[rows].tolist())
        return SetStrategy(actions, tuple(shares.tolist()), tuple(values), self.iterations)


def _streams(seed: np.random.SeedSequence) -> tuple[Stream, Stream]:
    """The random numbers of the sampling, and of playouts."""
    # Spawning from a copy gives the same streams each time.
    same = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
    sampling, playouts = same.spawn(2)
    return make_stream(sampling), make_stream(playouts)


def _grown(old: Any, record: Any, rows: int) -> Any:
    """A record of arrays for so many rows, with the content of the old one."""
    arrays = {}
    for name, kind in get_type_hints(record).items():
        width = 2 if name == "keys" else 1
        # NDArray[type] is a type's dtype.
        arrays[name] = np.zeros(width * rows, get_args(kind.__args__[1])[0])
    for name, before in ({} if old is None else old._asdict()).items():
        arrays[name][: len(before)] = before
    return record(**arrays)


def path_to(start: GameState, state: GameState) -> list[int]:
    """The actions and chance outcomes from the start to a state, one of each mover.

    Raises:
        UnsupportedGameError: if the state does not tell its history.
    """
    path_to_look_alike = StateAbilities(start).path_to
    if path_to_look_alike is not None:
        return list(path_to_look_alike(state))
    history = StateAbilities(state).history
    if history is None:
        raise UnsupportedGameError(
            f"{type(state).__name__} has no history(), the actions since the start of the game, "
            "which a search from the start needs."
        )
    moves = [int(move) for move in history()]
    if not has_simultaneous_moves(state):
        return moves
    # A joint action has an entry for each player, for those without a choice, too.
    path: list[int] = []
    now: Any = start.clone()
    place = 0
    while place < len(moves):
        if is_simultaneous(now):
            joint = moves[place : place + now.num_players()]
            path += [a for seat, a in enumerate(joint) if len(now.legal_actions(seat)) > 0]
            now.apply_actions(joint)
            place += len(joint)
        else:
            path.append(moves[place])
            now.apply_action(moves[place])
            place += 1
    return path
