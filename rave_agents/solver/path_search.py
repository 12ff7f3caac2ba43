"""``PathSearch``: one compiled search along a path, with its buffers."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.layout import call_address
from rave_agents.errors import GameError
from rave_agents.game.game_state import GameState
from rave_agents.simulate.expansion import FORESEEN, Answered, Place
from rave_agents.solver import records as codes
from rave_agents.solver.buffers import PathBuffers
from rave_agents.solver.carriers import turned_cells
from rave_agents.solver.children import weight_of_others
from rave_agents.solver.keys import Key
from rave_agents.solver.records import Pool, Search, Shared, Stack, Statement, Trail
from rave_agents.solver.search import run
from rave_agents.solver.state_expander import StateExpander
from rave_agents.solver.table import (
    INFINITE,
    MOST,
    OPEN,
    PLAIN_WORDS,
    PROVEN,
    Table,
    distance_of,
    known_word,
    move_of,
    packed_open,
    quantised,
    state_of,
    store,
    value_of,
)

TRAIL_ENTRIES = 2**14
"""Capacity of the trail."""


class Answer(NamedTuple):
    """A settled statement about a position."""

    proven: bool
    """True if the player can force it, False if the others can prevent it."""
    action: int | None
    """The mover's action that decides it in their favour; None if all of their actions lose, or the
    game is over."""
    distance: int
    """Maximum moves to the end of the game along the proof; not meaningful for results based on
    loops."""
    value: float
    """Lower bound of the player's return if proven, upper bound if refuted."""


class PathSearch(PathBuffers):
    """A search along a path of positions, with a transposition table.

    Args:
        state: a position of the game.
        table: the table.
        values: array for the values met at ends of games.
        shared: data shared with searches in other threads.
        foresee: True to stop at positions whose winner is certain.
        value: a value function for initial numbers, see ``ProofSearch``.
    """

    Stack, Pool = Stack, Pool

    def __init__(
        self,
        state: GameState,
        table: Table,
        values: NDArray[np.float64],
        shared: Shared,
        foresee: bool,
        value: Any,
    ) -> None:
        self._cell_words = table.stride - PLAIN_WORDS
        super().__init__(state, value, self._cell_words)
        self.table: Table = table
        self.values: NDArray[np.float64] = values
        self.shared: Shared = shared
        self.decided: NDArray[np.int64] = np.zeros(2 * codes.RANKS, np.int64)
        """How much work each action has decided recently."""
        header, rules = self.expansion.header, self._rules
        # The package's own rules never repeat a position.
        self.control[codes.MAY_LOOP] = rules is None or rules.is_checked
        if rules is not None and rules.more_stones_never_hurt:
            foresee = foresee and self._cell_words > 0  # A foreseen win comes with a carrier.
        header[Place.COUNT_MOVES], header[Place.FORESEE] = 1, foresee
        self.control[codes.CELL_WORDS] = header[Place.CARRIER_WORDS] = self._cell_words
        self.num_cells: int = 1
        """Cells of the board; 1 if proofs have no carriers."""
        self._turned: NDArray[np.int64] = np.zeros(2, np.int64)
        if self._cell_words > 0:
            self.num_cells, self._turned = rules.num_distinct_actions, turned_cells(rules)
        self._weighed = np.zeros(codes.WEIGHED, np.int64)
        self._used = np.zeros(3 * self._cell_words + 1, np.uint64)
        self._waiting = Trail(
            np.zeros(2 * TRAIL_ENTRIES, np.uint64), np.zeros(TRAIL_ENTRIES, np.uint64)
        )
        self.control[codes.WAITING] = TRAIL_ENTRIES
        self._statement: Statement | None = None

    @property
    def _rules(self) -> Any:
        """The rules of a compiled game; None for others."""
        return getattr(self.expander, "rules", None)

    @property
    def may_loop(self) -> bool:
        """True if play may go on forever, judged before the search.

        The package's own rules, and OpenSpiel's positions in C++, never repeat a position.
        """
        own = self._rules is not None and self._rules.is_checked
        return own or isinstance(self.expander, StateExpander)

    def set_root(self, state: GameState) -> None:
        """Start from another position, dropping any unfinished search."""
        self.control[codes.DEPTH] = 0
        self._statement = None
        if not self.expander.set_root(state):
            raise GameError("The position belongs to another game than the search.")

    def root_key(self, statement: Statement) -> Key:
        """The root's key in the table for a statement."""
        first, second = self.expander.root_key()
        salt = statement.salt % 2**64
        return first ^ salt, second ^ salt

    def deciding_action(self, statement: Statement, word: Any, legal: list[int]) -> int | None:
        """The action at the root that decides a statement, from the table's word of the root.

        None if the table lacks it. The word may belong to a rotated or reflected image.

        Args:
            statement: the statement.
            word: the word.
            legal: the legal actions in ascending order.
        """
        move, rules = int(move_of(word)), self._rules
        if self._cell_words > 0:
            image = int(self.expansion.images[0])  # Set when the root's key was computed.
            places = self._turned.reshape(2, -1, self.num_cells)
            action = int(places[1, image, move % self.num_cells])
            return action if action in legal else None
        if rules is not None and rules.num_images > 1:
            known = self._deciding_place(statement, proven=int(state_of(word)) == PROVEN)
            return None if known is None else legal[known]
        return legal[move] if move < len(legal) else None

    def _deciding_place(self, statement: Statement, *, proven: bool) -> int | None:
        """Index of the best root action after which the statement is proven, or refuted.

        None if the table has none.
        """
        sign, best, merit = (1 if proven else -1), None, (-math.inf, 0)
        for place in range(self._expand_root()):
            found = self._answer_after(place, statement)
            if found is None or found.proven != proven:
                continue
            if (sign * found.value, -found.distance) > merit:
                best, merit = place, (sign * found.value, -found.distance)
        return best

    def _expand_root(self) -> int:
        """Expand the root into the buffers; returns the number of actions."""
        self.expansion.header[Place.DEPTH] = 0
        while True:
            header = self.expansion.header
            status = call_address(self.expander.address, header.ctypes.data)
            if status == Answered.DONE:
                return int(header[Place.NUM_ACTIONS])
            if status == Answered.FAILED:
                self.expander.raise_pending()
            self._grow_lists()

    def answers_after(self, statements: Sequence[Statement]) -> dict[int, list[Answer | None]]:
        """Answers to statements after each root action, by the expander's actions."""
        return {
            int(self.expansion.actions[place]): [self._answer_after(place, s) for s in statements]
            for place in range(self._expand_root())
        }

    def _answer_after(self, place: int, statement: Statement) -> Answer | None:
        """The answer to a statement after a root action, without the action that decides it."""
        expansion = self.expansion
        if expansion.ends[place]:
            players = int(expansion.header[Place.NUM_PLAYERS])
            value = float(expansion.returns[place * players + statement.player])
            foreseen = expansion.ends[place] == FORESEEN
            distance = int(expansion.moves[place]) if foreseen else 0
            return Answer(value >= statement.at_least, None, distance, value)
        salt = np.uint64(statement.salt)
        first, second = expansion.keys[2 * place : 2 * place + 2] ^ salt
        word = known_word(self.table, first, second)
        kind, value_place = int(state_of(word)), int(value_of(word))
        value = (
            statement.at_least if value_place == codes.NO_VALUE else float(self.values[value_place])
        )
        if kind == OPEN or math.isnan(value):  # A loaded file may refer to values it lacks.
            return None
        return Answer(kind == PROVEN, None, int(distance_of(word)), value)

    def begin(self, statement: Statement) -> None:
        """Prepare to prove or refute a statement about the root."""
        self._statement = statement
        control, stack = self.control, self.stack
        control[codes.DEPTH], control[codes.ENTERING] = 0, 1
        control[codes.IDLE] = control[codes.TRAIL] = control[codes.LOOPS] = 0
        stack.keys[:2] = self.root_key(statement)
        stack.image[0] = self.expansion.images[0]
        stack.most_phi[0] = stack.most_delta[0] = INFINITE
        stack.taken[0] = 0
        self.on_path[:] = 0
        self._bind()

    def _bind(self) -> None:
        """Pass the current arrays to the compiled search."""
        assert self._statement is not None
        header = self.expansion.header
        record = Search(
            self._statement,
            self.table,
            self.shared,
            self.expansion,
            self.stack,
            self.pool,
            self._waiting,
            self.on_path,
            self.values,
            self.control,
            self.decided,
            self._weighed,
            self._used,
            self.num_cells,
            len(self._turned) // (2 * self.num_cells),
            self._turned,
            self.expander.address,
            header.ctypes.data,
        )
        self._run = run.bound(record)

    def run(self, steps: int) -> int:
        """Take at most ``steps`` steps; returns the reason why it stopped, for ``mend``."""
        with np.errstate(over="ignore"):
            return self._run(steps)

    def mend(self, status: int) -> None:
        """Handle the reason why the search returned, except for a full table."""
        if self.grow(status):
            self._bind()

    def root_numbers(self) -> tuple[float, float, int, int]:
        """The root's proof number, disproof number, number of moves and number of settled moves."""
        stack, pool = self.stack, self.pool
        children = slice(0, int(stack.size[0]))
        settled = int(np.count_nonzero(pool.word[children]))
        # As ``weigh`` does in compiled code: minimum of phi, weak sum of delta.
        is_open = pool.word[children] == 0
        phi = float(min(pool.phi[children][is_open].tolist(), default=math.inf))
        deltas = pool.delta[children][is_open].tolist()
        judges = int(self.expansion.header[codes.HEADER_JUDGES])
        delta = float(max(deltas) + weight_of_others(judges, len(deltas))) if deltas else math.inf
        if not stack.is_own[0]:
            phi, delta = delta, phi
        return phi, delta, int(stack.size[0]), settled

    def keep_root(self) -> None:
        """Store the root's current numbers in the table, for a later search."""
        control = self.control
        if self._statement is None or (control[codes.DEPTH] == 0 and control[codes.ENTERING]):
            return
        proof, disproof, _, _ = self.root_numbers()
        work = quantised(int(control[codes.NODES] - self.stack.begin[0]))
        # 0 and infinity are reserved for settled positions.
        proof, disproof = min(max(1, proof), MOST), min(max(1, disproof), MOST)
        word = packed_open(int(proof), int(disproof), work)
        first, second = self.root_key(self._statement)
        with np.errstate(over="ignore"):
            store(self.table, np.uint64(first), np.uint64(second), word)
