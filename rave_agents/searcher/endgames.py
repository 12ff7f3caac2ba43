"""Exact endgames: spends a share of a move's budget on a proof of the root's value."""

import functools
import logging
import math
import random
import time
from typing import Any, NamedTuple

from rave_agents.config.limit import Limit
from rave_agents.errors import GameError, UnsupportedGameError
from rave_agents.game.abilities import StateAbilities
from rave_agents.game.game_state import GameState, has_chance
from rave_agents.solver.best_line import best_line
from rave_agents.solver.proof_search import (
    LEAST_MEMORY,
    ProofSearch,
    check_provable,
)
from rave_agents.solver.state_expander import with_history
from rave_agents.solver.value_search import Interval, ValueSearch
from rave_agents.tree.composition import Prepared
from rave_agents.tree.root_position import MoveProof, RootPosition, RootProof

_log = logging.getLogger("rave_agents")

POSITIONS_PER_SIMULATION = 4.0
"""Approximate positions that compiled rules expand in the time of one simulation; 1 in Python."""

POSITIONS_PER_SECOND = 300_000.0
"""Assumed positions per second of compiled rules before the first measurement."""

IN_PYTHON = 0.01
"""Speed of Python states as a share of that."""

EXPONENT = 0.3
"""Initial exponent e of the estimate ``positions of the proof = size ** e``: with perfect move
ordering a proof visits the square root of all lines of play, and many of these transpose."""

PATIENCE = 1.1
"""Factor by which a failed attempt raises the exponent."""

LEAST_POSITIONS = 100
"""No proof is tried with fewer positions than this."""

MOST_LINE_POSITIONS = 100_000
"""Maximum positions of a move's budget to spend on completing the proven line."""

BYTES_PER_POSITION = 512
"""Table bytes per position of a move's budget, including room for earlier moves' positions."""

MEMORY_SHARE = 0.25
"""Maximum size of the table, as a share of the trees' memory."""

GAMES, LONGEST = 2, 500
"""Number of random games that estimate the size of the game left, and their maximum length."""

OF_BROKEN_GAMES = (
    GameError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
"""Exceptions of broken games. Others, such as those of signal handlers, propagate."""


class _Budget(NamedTuple):
    """Limits of an attempt."""

    positions: int | None
    seconds: float | None
    expected: float
    """Approximate positions that can be expanded."""


class EndgameSolver:
    """Proves the value of a root if the game left looks small enough.

    The size of the proof is estimated from the branching factors in random games from the root. A
    failed attempt corrects the estimate, and the table keeps its results.

    A broken game is not tried again: the search that follows reports the error if it reaches that
    position.

    Args:
        share: the share of a move's budget, see ``SearchConfig.endgame_share``.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self.loading: float = 0.0
        """Seconds that the last call spent on compiling or loading the solver."""
        self._game: Prepared | None = None
        self.refused: Prepared | None = None
        """The game that is not tried, if any."""
        self._search: ProofSearch | None = None
        self.forget()

    def forget(self) -> None:
        """Drop the table and the estimates for the game."""
        self._search = None
        self._game = self.refused = None
        self._is_compiled = False
        self._speed, self._exponent = POSITIONS_PER_SECOND, EXPONENT

    def can_help(self, root: RootPosition, limit: Limit) -> bool:
        """True if it supports the root's game, and the budget allows a proof."""
        # So few simulations pay for no proof, even on compiled rules: the game need not be asked.
        most = self._share * POSITIONS_PER_SIMULATION * (limit.simulations or math.inf)
        if most < LEAST_POSITIONS:
            return False
        try:
            return self._is_tried(root) and self._budget(limit).expected >= LEAST_POSITIONS
        except OF_BROKEN_GAMES as error:
            self._give_up(root, error)
            return False

    def solve(self, root: RootPosition, limit: Limit) -> RootProof | None:
        """Try to prove the value of a root; None if the game left looks too large."""
        self.loading = 0.0
        try:
            return self._tried(root, limit)
        except OF_BROKEN_GAMES as error:
            self._give_up(root, error)
            return None

    def _tried(self, root: RootPosition, limit: Limit) -> RootProof | None:
        budget = self._budget(limit)
        size = log_size(root.state, most=math.log(budget.expected) / self._exponent)
        if size is None:
            return None
        begin = time.perf_counter()
        state = with_history(root.state)
        search = self._search
        if search is None or state is not root.state:  # Recorded histories start at this root.
            search = self._search = _new_search(state, root, budget.expected)
            search.prove(state, root.player, math.inf, positions=1)
            self.loading = time.perf_counter() - begin
            begin += self.loading
            self._is_compiled = search.runs_compiled
            budget = self._budget(limit)
        attempt = _Attempt(search, state, root, budget)
        proof = attempt.run()
        if proof.positions >= LEAST_POSITIONS:
            self._speed = proof.positions / max(time.perf_counter() - begin, 1e-6)
        if proof.value is None and size > 0:
            needed = math.log(max(proof.positions, LEAST_POSITIONS)) / size
            # The proof was larger than estimated: wait until the game left is smaller.
            self._exponent = PATIENCE * max(self._exponent, needed)
        return proof

    def prepare(self, root: RootPosition) -> None:
        """Compile or load the solver for a root's game."""
        try:
            if self._is_tried(root):
                state = with_history(root.state)
                search = _new_search(state, root, 1.0)
                search.prove(state, root.player, math.inf, positions=1)
        except OF_BROKEN_GAMES as error:
            self._give_up(root, error)

    def _give_up(self, root: RootPosition, error: Exception) -> None:
        """Stop trying positions of the root's game."""
        _log.info("rave_agents: the exact solver gives up: %s", error)
        self._search = None
        self._game = self.refused = root.game

    def _is_tried(self, root: RootPosition) -> bool:
        """True if positions of the root's game are tried; determined once per game."""
        if root.game is not self._game:
            self.forget()
            self._game, self.refused = root.game, None if _is_provable(root) else root.game
            # A guess: it may return None.
            self._is_compiled = StateAbilities(root.state).expander is not None
            if not self._is_compiled:
                self._speed *= IN_PYTHON
        return self.refused is not root.game

    def _budget(self, limit: Limit) -> _Budget:
        expected, positions, seconds = math.inf, None, None
        if limit.seconds is not None:
            seconds = self._share * limit.seconds
            expected = seconds * self._speed
        if limit.simulations is not None:
            rate = POSITIONS_PER_SIMULATION if self._is_compiled else 1.0
            positions = int(self._share * rate * limit.simulations)
            expected = min(expected, positions)
        return _Budget(positions, seconds, expected)


def _new_search(state: GameState, root: RootPosition, expected: float) -> ProofSearch:
    game = root.game
    total, most = game.facts.limits.sum_of_two, MEMORY_SHARE * game.config.max_memory_mb
    needed = expected * BYTES_PER_POSITION / 2**20
    return ProofSearch(
        state,
        max_memory_mb=max(LEAST_MEMORY, min(most, needed)),
        repetition=None if math.isnan(total) else total / 2,
        value=game.evaluator,
    )


def _is_provable(root: RootPosition) -> bool:
    """True if the solver supports a root's game and its utilities are bounded."""
    game, state = root.game, root.state
    if not game.plain or not math.isfinite(game.facts.limits.high - game.facts.limits.low):
        return False
    try:
        check_provable(state)
    except UnsupportedGameError:
        return False
    return not has_chance(state)


def log_size(state: GameState, *, most: float) -> float | None:
    """Estimate the logarithm of the number of lines of play from a position by random games.

    It is the mean over two games of the summed logarithms of their branching factors (Knuth 1975);
    None as soon as it exceeds ``most``. The games are the same at every call.
    """
    draw = random.Random(0)
    total = 0.0
    for _ in range(GAMES):
        after, moves = state.clone(), 0
        while not after.is_terminal():
            legal = after.legal_actions()
            total += math.log(max(1, len(legal)))
            moves += 1
            if total > GAMES * most or moves > LONGEST:
                return None
            after.apply_action(draw.choice(legal))
    return total / GAMES


class _Attempt:
    """An attempt to prove the value of a root."""

    def __init__(
        self, search: ProofSearch, state: GameState, root: RootPosition, budget: _Budget
    ) -> None:
        self._search, self._state, self._player = search, state, root.player
        self._draws = not math.isnan(root.game.facts.limits.sum_of_two) or state.num_players() == 1
        self._budget = budget
        self._first, self._begin = search.positions, time.perf_counter()

    @property
    def _positions(self) -> int:
        return self._search.positions - self._first

    @property
    def _limits(self) -> dict[str, Any]:
        """The rest of the budget, as arguments of ``ProofSearch.prove``."""
        positions, seconds, _ = self._budget
        if positions is not None:
            positions = max(0, positions - self._positions)
        if seconds is not None:
            seconds = max(0.0, seconds - (time.perf_counter() - self._begin))
        return {"positions": positions, "seconds": seconds}

    def run(self) -> RootProof:
        """Prove the value if possible."""
        values = ValueSearch(self._search, self._state, self._player)
        least, greatest = values.interval
        if not self._draws:  # The others' returns are unknown; for a win they do not matter.
            values.tried = [greatest]
            if self._search.prove(self._state, self._player, greatest, **self._limits):
                values.interval = Interval(greatest, greatest)
            return self._root_proof(values)
        values.run(**self._limits)
        # A middle value such as a draw: prove every move, to leave a choice among those that keep
        # it.
        if values.interval.is_point and least < values.interval.low < greatest:
            for action in self._state.legal_actions():
                after = self._state.clone()
                after.apply_action(action)
                self._search.prove(after, self._player, values.interval.low, **self._limits)
        return self._root_proof(values)

    def _root_proof(self, values: ValueSearch) -> RootProof:
        """The proofs of the root and its actions, from the table."""
        value = values.interval.low if values.interval.is_point else None
        left = max(0, int(min(self._budget.expected, MOST_LINE_POSITIONS)) - self._positions)
        greatest, line = values.limits.high, best_line(values, positions=left)
        tried = values.tried if value is None else [value, *values.tried]
        moves = {}
        known = self._search.answers_after(self._state, self._player, tried)
        for action, answers in known.items():
            low, high, distance = -math.inf, greatest, 0
            for answer in answers:
                if answer is not None and answer.proven:
                    low, distance = max(low, answer.value), max(distance, answer.distance)
                elif answer is not None:
                    high, distance = min(high, answer.value), max(distance, answer.distance)
            if value not in (None, greatest):
                distance = len(line)  # Equal for all, so that simulations choose among equal moves.
            moves[action] = MoveProof(low, max(low, high), 1 + distance)
        best = [action for action, move in moves.items() if value is None or move.high >= value]
        decides = value is not None and (self._draws and (value == greatest or len(best) == 1))
        return RootProof(
            value, moves, line, self._positions, decides, functools.partial(best_line, values)
        )
