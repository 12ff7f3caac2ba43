"""``ProofSearch``: proves statements about positions of a game, with one table."""

import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from rave_agents.errors import UnsupportedGameError
from rave_agents.game.game_state import (
    GameState,
    draws_chance,
    has_simultaneous_moves,
    hides_information,
)
from rave_agents.game.utility_limits import utility_limits
from rave_agents.game.validation import checked, validated
from rave_agents.solver import records as codes
from rave_agents.solver.buffers import SLICE_SECONDS, cell_words_of, next_slice
from rave_agents.solver.keys import Key, hashed
from rave_agents.solver.path_search import Answer
from rave_agents.solver.records import Statement
from rave_agents.solver.table import (
    OPEN,
    PROVEN,
    REFUTED,
    Table,
    disproof_of,
    distance_of,
    known_word,
    make_table,
    num_entries,
    proof_of,
    state_of,
    value_of,
)
from rave_agents.solver.table_file import load_table, save_table
from rave_agents.solver.team import Team

WIDENING = 0.25
"""ε: thresholds are (1 + ε) times the second-best number."""

LEAST_MEMORY = 1.0
"""Megabytes of the smallest table."""

FIRST_STEPS = 64
"""Steps of the first slice: a game in Python may take milliseconds per step."""

Threads = Annotated[int, Ge(1), Le(256)]
"""A number of threads."""

LOOKS = 4
"""Minimum number of clock checks in a search with a time limit."""


class ProofProgress(NamedTuple):
    """Figures of a running proof."""

    proof_number: float
    """Minimum number of leaves to be won for a proof."""
    disproof_number: float
    """Minimum number of leaves to be lost for a refutation."""
    num_moves: int
    """Moves at the root."""
    moves_settled: int
    """Settled moves at the root."""
    positions: int
    """Positions expanded since the search was created."""
    seconds: float
    """Seconds spent on this proof."""
    table_share: float
    """The share of the table in use."""
    at_least: float
    """The return x of the statement "at least x"."""
    positions_per_second: float
    """Positions expanded per second in this proof."""


class ProofSearch:
    """Proves or refutes statements about positions of one game: "a player gets at least x".

    Args:
        state: a position of the game.
        max_memory_mb: the size of the table in megabytes (2**20 bytes), at least 1.
        repetition: each player's return if play goes on forever, within the game's utilities; None
            if endless play never satisfies "at least x".
        threads: threads that share the table, 1 to 256. One thread is deterministic. More save time
            if the rules are compiled or in C++.
        all_replies: True to search every reply, including those refuted by another reply's carrier
            and positions whose winner is already certain.
        value: a learned value of the game, or another value function for compiled rules (see
            ``judged_rules``): new positions get larger numbers where it expects less. Ignored for
            games without compiled rules.
        name: the game's name for messages.

    Raises:
        UnsupportedGameError: for a game with hidden information, simultaneous moves or chance.
        ValueError: for too little memory, or an invalid number of threads or repetition.
    """

    @validated
    def __init__(
        self,
        state: GameState,
        *,
        max_memory_mb: Annotated[float, Ge(LEAST_MEMORY)] = 256.0,
        repetition: float | None = None,
        threads: Threads = 1,
        all_replies: bool = False,
        value: Any = None,
        name: str = "The game",
    ) -> None:
        check_provable(state, name)
        repetition = checked_repetition(state, repetition)
        self._arguments = {
            "state": state.clone(),
            "max_memory_mb": max_memory_mb,
            "repetition": repetition,
            "threads": threads,
            "all_replies": all_replies,
            "value": value,
            "name": name,
        }
        self.repetition = repetition
        """Each player's return if play goes on forever, or None."""
        self.table: Table = make_table(max_memory_mb, 0 if all_replies else cell_words_of(state))
        """The table."""
        self._team = Team(state, self.table, threads, foresee=not all_replies, value=value)
        self.values: NDArray[np.float64] = self._team.values
        """The returns met at ends of games, indexed by table entries; NaN where unused."""
        self._slice = FIRST_STEPS

    def __getstate__(self) -> dict[str, Any]:
        # Buffers have addresses in this process: a copy makes its own, and takes over the progress.
        first = self._team.first
        return {
            "arguments": self._arguments,
            "words": self.table.words,
            "counts": self.table.counts,
            "values": self.values,
            "end_of_values": self._team.end_of_values,
            "nodes": int(first.control[codes.NODES]),
            "varies": int(first.control[codes.VARIES]),
            "decided": first.decided,
            "slice": self._slice,
        }

    def __setstate__(self, kept: dict[str, Any]) -> None:
        ProofSearch.__init__(self, **kept["arguments"])
        first = self._team.first
        self.table.words[:], self.table.counts[:] = kept["words"], kept["counts"]
        self.values[:], first.decided[:] = kept["values"], kept["decided"]
        first.control[codes.NODES] = kept["nodes"]
        first.control[codes.VARIES] = kept["varies"]
        self._team.begin_values(kept["end_of_values"])
        self._slice = kept["slice"]

    @property
    def runs_compiled(self) -> bool:
        """True if the game expands positions outside the interpreter."""
        return self._team.first.expander.outside_interpreter

    @property
    def positions(self) -> int:
        """Positions expanded so far."""
        return self._team.positions

    @property
    def values_met(self) -> list[float]:
        """The returns met at ends of games, including the value of endless play."""
        known = self.values[1 : self._team.end_of_values]
        return list(dict.fromkeys(known[~np.isnan(known)].tolist()))

    @property
    def may_loop(self) -> bool:
        """True if play may go on forever, see ``PathSearch.may_loop``."""
        return self._team.first.may_loop

    @property
    def table_share(self) -> float:
        """The share of the table in use."""
        return float(self.table.counts[0]) / num_entries(self.table)

    @property
    def megabytes(self) -> float:
        """The size of the table."""
        return float(self.table.words.nbytes) / 2**20

    @property
    def loops(self) -> int:
        """Loops met so far."""
        return self._team.loops

    def prove(
        self,
        state: GameState,
        player: int,
        at_least: float,
        *,
        positions: int | None = None,
        seconds: float | None = None,
        watch: Callable[[ProofProgress], object] | None = None,
    ) -> bool | None:
        """Prove or refute that a player can force a return from a position.

        Args:
            state: any position of the game.
            player: the player.
            at_least: the return.
            positions: the maximum number of positions to expand; None for no limit.
            seconds: the maximum time in seconds; None for no limit.
            watch: called every few hundredths of a second.

        Returns:
            True if proven, False if refuted, None if a limit was reached. Results are kept in the
            table: another call continues.
        """
        answer = self.answer(state, player, at_least)
        if answer is not None:
            return answer.proven
        statement = self._statement(player, at_least)
        # Nothing is reset but the path: entries of earlier proofs help this one.
        self._team.begin(state, statement)
        begin, first = time.perf_counter(), self.positions
        while True:
            left = None if positions is None else first + positions - self.positions
            settled = self._go_on(left, SLICE_SECONDS if seconds is None else seconds / LOOKS)
            spent = time.perf_counter() - begin
            if watch is not None:
                watch(self._progress(spent, first, statement.at_least))
            if settled:
                kind = int(state_of(self._word(statement)))
                if kind != OPEN:
                    return kind == PROVEN
                # Another thread has overwritten the root's entry: start again from the table.
                self._team.begin(state, statement)
            used_up = positions is not None and self.positions - first >= positions
            if used_up or (seconds is not None and spent >= seconds):
                self._team.first.keep_root()
                return None

    def answer(self, state: GameState, player: int, at_least: float) -> Answer | None:
        """The table's answer for a statement about a position; None if it is not settled."""
        if state.is_terminal():
            value = float(state.returns()[player])
            return Answer(value >= at_least, None, 0, value)
        self._team.first.set_root(state)
        return self._answer(state, player, at_least)

    def answers(
        self, state: GameState, player: int, bounds: Sequence[float]
    ) -> list[Answer | None]:
        """The table's answers for several returns."""
        if state.is_terminal():
            return [self.answer(state, player, bound) for bound in bounds]
        self._team.first.set_root(state)
        return [self._answer(state, player, bound) for bound in bounds]

    def answers_after(
        self, state: GameState, player: int, bounds: Sequence[float]
    ) -> dict[int, list[Answer | None]]:
        """Answers for several returns after each action, from the table and terminal positions.

        Includes certain wins that the rules foresee, which are not in the table.

        Args:
            state: any position that is not terminal.
            player: the player.
            bounds: the returns.
        """
        first = self._team.first
        first.set_root(state)
        after = first.answers_after([self._statement(player, bound) for bound in bounds])
        # Expanders of Python states number actions by their rank among the legal ones.
        legal = sorted(map(int, state.legal_actions()))
        return {a: after[number] for a, number in zip(legal, sorted(after), strict=True)}

    def _answer(self, state: GameState, player: int, at_least: float) -> Answer | None:
        """The table's answer for a statement about the root."""
        statement = self._statement(player, at_least)
        word = self._word(statement)
        kind = int(state_of(word))
        if kind == OPEN:
            return None
        proven = kind == PROVEN
        action = None
        legal = sorted(state.legal_actions())
        place = int(value_of(word))
        if place >= self._team.end_of_values:
            return None  # Only a damaged file refers to a value that does not exist.
        if proven == (state.current_player() == player):
            action = self._team.first.deciding_action(statement, word, legal)
            if action is None:
                return None
        value = float(self.values[place]) if place != codes.NO_VALUE else at_least
        return Answer(proven, action, int(distance_of(word)), value)

    def numbers(self, state: GameState, player: int, at_least: float) -> tuple[float, float]:
        """The proof and disproof number of a statement from the table; 1 without an entry."""
        self._team.first.set_root(state)
        word = self._word(self._statement(player, at_least))
        kind = int(state_of(word))
        if kind != OPEN:
            return (0.0, math.inf) if kind == PROVEN else (math.inf, 0.0)
        return (float(proof_of(word)), float(disproof_of(word))) if word else (1.0, 1.0)

    def save(self, path: str | os.PathLike[str], game: str, rules: str) -> None:
        """Write the table to a file, see ``table_file.py``.

        Args:
            path: the file.
            game: the game's name.
            rules: the digest of the game's rules.
        """
        known = self.values[1 : self._team.end_of_values]
        gaps = np.isnan(known)
        save_table(path, self.table.words, np.where(gaps, 0.0, known), self._identity(game, rules))

    def load(self, path: str | os.PathLike[str], game: str, rules: str) -> None:
        """Read the table from a file of ``save``; raises the errors of ``load_table``."""
        values = load_table(path, self.table.words, self._identity(game, rules))
        if len(values) > codes.MOST_VALUES:
            self.table.words[:] = 0
            raise ValueError(f"{path} is damaged: it has {len(values)} values.")
        self.values[1 : len(values) + 1] = values
        self._team.begin_values(len(values) + 1)
        self.table.counts[0] = np.count_nonzero(self.table.words[1 :: self.table.stride])

    def _identity(self, game: str, rules: str) -> dict[str, Any]:
        """The header fields that a file of this table must have."""
        cells = self._team.first.num_cells
        return {"game": game, "rules": rules, "entry": self.table.stride, "cells": cells}

    def key(self, state: GameState) -> Key:
        """The key of a position in the table."""
        self._team.first.set_root(state)
        return self._team.first.expander.root_key()

    def _word(self, statement: Statement) -> Any:
        """The table's word of the root."""
        first, second = self._team.first.root_key(statement)
        return known_word(self.table, first, second)

    def _statement(self, player: int, at_least: float) -> Statement:
        """The statement in the form of the compiled search."""
        at_least += 0.0  # Equal numbers make equal statements, 1 and 1.0, 0.0 and -0.0.
        content = f"{player} {at_least!r} {self.repetition!r}".encode()
        salt = hashed(content)[0] >> 1
        # The salt covers repetition too: it changes the results that the table keeps.
        loops = self.repetition is not None and self.repetition >= at_least
        place = codes.NO_VALUE if self.repetition is None else self._team.place_of(self.repetition)
        return Statement(
            int(player),
            float(at_least),
            PROVEN if loops else REFUTED,
            place,
            salt,
            WIDENING,
        )

    def _go_on(self, positions: int | None, seconds: float) -> bool:
        """Run a slice of about ``seconds`` seconds; returns whether the root is settled."""
        steps = self._slice if positions is None else max(1, min(self._slice, positions))
        begin = time.perf_counter()
        status = self._team.run(steps, positions)
        spent = time.perf_counter() - begin
        if status == codes.GOES_ON and steps == self._slice:
            self._slice = next_slice(self._slice, spent, min(seconds, SLICE_SECONDS))
        return status == codes.SETTLED

    def _progress(self, seconds: float, first: int, at_least: float) -> ProofProgress:
        return ProofProgress(
            *self._team.first.root_numbers(),
            self.positions,
            seconds,
            self.table_share,
            at_least,
            (self.positions - first) / max(seconds, 1e-9),
        )


def checked_repetition(state: GameState, repetition: float | None) -> float | None:
    """The return of endless play as a float; raises if it is outside the game's utilities."""
    if repetition is None:
        return None
    low, high = float(state.min_utility()), float(state.max_utility())
    checked("repetition", float, repetition)  # Finite, also where utilities are unbounded.
    bounds = Annotated[float, Ge(low), Le(high)]
    return float(checked("repetition", bounds, repetition)) + 0.0  # No -0.0.


def check_provable(state: GameState, name: str = "The game") -> None:
    """Refuse games that the solver cannot prove.

    Raises:
        UnsupportedGameError: with the reason.
    """
    if draws_chance(state):
        raise UnsupportedGameError(
            f"{name} cannot be solved: its environment draws chance itself, so the outcomes of an "
            "action are unknown."
        )
    if hides_information(state):
        raise UnsupportedGameError(
            f"{name} cannot be solved: it is a game of IMPERFECT_INFORMATION, and a proof needs "
            "PERFECT_INFORMATION."
        )
    if has_simultaneous_moves(state):
        raise UnsupportedGameError(
            f"{name} cannot be solved: players may move at the same time, but a proof needs "
            "alternating moves."
        )
    utility_limits(state)
