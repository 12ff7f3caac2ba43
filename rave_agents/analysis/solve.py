"""``solve_position``: searches for a proof of the return that a player can force."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

from rave_agents.analysis.position_analysis import decision_after
from rave_agents.analysis.solution import End, MoveBounds, Solution
from rave_agents.errors import UnsupportedGameError
from rave_agents.evaluators.shipped import rules_of, value_for
from rave_agents.frameworks.own_games import as_game
from rave_agents.frameworks.rules_digest import rules_digest
from rave_agents.game.game_state import GameState, compiled_form, has_chance
from rave_agents.game.notation import Moves, action_name
from rave_agents.game.validation import Count, Positive, validated
from rave_agents.games.kit.values import judged_rules
from rave_agents.results.numbers import whole
from rave_agents.results.progress import Progress, View, shown
from rave_agents.results.tables import Column, Table
from rave_agents.searcher.evaluators import as_evaluator
from rave_agents.solver.best_line import best_line
from rave_agents.solver.proof_search import ProofProgress, ProofSearch, Threads, check_provable
from rave_agents.solver.state_expander import with_history
from rave_agents.solver.value_search import ValueSearch, action_bounds, loops_are_drawn

MEMORY_MB = 256.0
"""Megabytes of the table."""

LINE_POSITIONS = 10_000
"""Minimum number of positions that may be expanded to complete the proven line."""

SAVED_EVERY = 120.0
"""Seconds between two writes of a table's file."""

ROWS_OVER_TIME = 12
"""The maximum number of rows of the table that progress shows."""


def _value_for(initial: GameState, name: str, evaluator: Any, known: bool) -> Any:
    if evaluator is None:
        rules = rules_of(initial) if known else None
        return None if rules is None else value_for(rules)
    given, found = as_evaluator(evaluator), compiled_form(initial)
    if found is None or judged_rules(given, found.rules) is None:
        raise ValueError(
            "evaluator must be a learned value or another one that is compiled with the rules of "
            f"{name}, got {evaluator!r}: values in Python would cost more than they save."
        )
    return given


@validated
def solve_position(
    game: Any,
    *,
    moves: Moves = "",
    position: str | os.PathLike[str] | None = None,
    positions: Count | None = None,
    seconds: Positive | None = None,
    max_memory_mb: Positive = MEMORY_MB,
    threads: Threads = 1,
    table: str | os.PathLike[str] | None = None,
    repetition: float | Literal["draw"] | None = "draw",
    all_replies: bool = False,
    evaluator: Any = None,
    known: bool = True,
    progress: Progress[ProofProgress] = None,
) -> Solution:
    """Search for a proof of the return that the player to move can force, until Ctrl-C.

    The memory is bounded: a full table drops the results that took the least work.

    Args:
        game: the game or its name, such as ``"tic_tac_toe"``; see ``as_game``.
        moves: the moves to play first, a text or a sequence of actions, see
            ``rave_agents.game.notation.apply_moves``.
        position: the position at which these begin, see ``rave_agents.records.positions.set_up``.
        positions: the maximum number of positions to expand, at least 1.
        seconds: the maximum time in wall-clock seconds, above 0.
        max_memory_mb: the size of the table in megabytes (2**20 bytes), at least 1.
        threads: threads that search with one table, 1 to 256. One thread is deterministic; several
            save time if the rules are compiled or in C++.
        table: a file for the table: read if it exists, written every two minutes, at the end and at
            Ctrl-C, so that the next search of the same position continues.
        repetition: each player's return if play goes on for ever, in games whose rules allow it, a
            number within the game's utilities; ``"draw"`` for half of the constant sum of two
            players' returns. Without one, or with None, endless play never counts as enough.
        all_replies: True to search every reply, including those that a proof answers anyway, as in
            Hex and Y: certificates, which answer each reply, are then smaller and written faster.
        evaluator: a learned value, or its file, or another one that is compiled with the game's
            rules, see ``rave_agents.as_evaluator``: it orders the search, not its results.
        known: True to use a value that ships with the package, if there is one.
        progress: None for a display in a terminal or notebook, False for none, True for a display
            anywhere; or a function, called about ten times a second with a ``ProofProgress``.

    Raises:
        UnknownNameError: for an unknown game.
        UnsupportedGameError: if the game cannot be solved, with the reason.
        TypeError, ValueError: for a value that is not allowed, an illegal move, a position in which
            no player moves, an evaluator that is not compiled with the game's rules, or a table
            that is damaged, or of another game, other rules or another size.
        OSError: if the table cannot be read or written.
    """
    loaded = as_game(game)
    initial = loaded.new_initial_state()
    check_provable(initial, loaded.name)
    if has_chance(initial):
        raise UnsupportedGameError(
            f"{loaded.name} cannot be solved so: chance moves in it, and a proof is of a return "
            "that players can force. See rave_agents.analysis.expected_value.solve_expected."
        )
    value_of_loops = loops_are_drawn(initial) if repetition == "draw" else repetition
    # The table is bound to the game, not to the position: it answers for all of its positions.
    search = ProofSearch(
        with_history(initial),
        max_memory_mb=max_memory_mb,
        repetition=value_of_loops,
        threads=threads,
        all_replies=all_replies,
        value=_value_for(initial, loaded.name, evaluator, known),
        name=loaded.name,
    )
    decided, played = decision_after(loaded, moves, position)
    state = with_history(decided, played)
    # Only with a file: the digest reads the text of all modules, and fails for some games.
    rules = "" if table is None else rules_digest(loaded)
    if table is not None and Path(table).exists():
        search.load(table, loaded.name, rules)
    player = int(state.current_player())
    values = ValueSearch(search, state, player)
    begin = time.perf_counter()
    interrupted, line = False, tuple[int, ...]()
    view = _view_over_time(positions)
    with shown(progress, view) as show, _saved(search, table, loaded.name, rules) as save:

        def watch(progress: ProofProgress) -> None:
            save()
            if show is not None:
                show(progress)

        try:
            values.run(positions=positions, seconds=seconds, watch=watch)
        except KeyboardInterrupt:
            interrupted = True
        # Before ``best_line``, which expands more positions: these are the proof's figures.
        spent, expanded, loops = time.perf_counter() - begin, search.positions, search.loops
        # A second Ctrl-C only cuts the line short.
        with contextlib.suppress(KeyboardInterrupt):
            line = best_line(values, positions=max(expanded, LINE_POSITIONS))
    end: End = "seconds"
    if values.interval.is_point:
        end = "solved"
    elif interrupted:
        end = "interrupted"
    elif positions is not None and search.positions >= positions:
        end = "positions"
    proof, disproof = search.numbers(state, player, values.at_least)
    actions = [
        MoveBounds(action, action_name(state, action, player), *bounds)
        for action, bounds in action_bounds(values).items()
    ]
    return Solution(
        game=game if isinstance(game, str) else loaded.name,
        moves=tuple(played),
        state=state,
        player=player,
        end=end,
        bounds=(values.interval.low, values.interval.high),
        actions=tuple(actions),
        positions=expanded,
        seconds=spent,
        memory_mb=search.megabytes,
        table_share=search.table_share,
        search=search,
        line=line,
        loops=loops,
        repetition=value_of_loops,
        at_least=values.at_least,
        proof_number=proof,
        disproof_number=disproof,
    )


@contextlib.contextmanager
def _saved(
    search: ProofSearch, table: str | os.PathLike[str] | None, name: str, rules: str
) -> Iterator[Callable[[], None]]:
    """Save the table at the end, and at intervals when the yielded function is called."""
    last = time.monotonic()

    def save() -> None:
        nonlocal last
        if table is not None and time.monotonic() - last > SAVED_EVERY:
            search.save(table, name, rules)
            last = time.monotonic()

    try:
        yield save
    finally:
        # After errors and Ctrl-C too: the entries so far are valid, and cost hours.
        if table is not None:
            search.save(table, name, rules)


def _view_over_time(positions: int | None) -> Callable[[ProofProgress], View]:
    """A function that makes a table of the root's numbers over time.

    Intervals double: each row has at least twice the seconds of the one before.
    """
    rows: list[ProofProgress] = []

    def view(progress: ProofProgress) -> View:
        # The last row is the current one, until it is old enough to stay.
        if len(rows) > 1 and rows[-1].seconds < 2 * rows[-2].seconds:
            rows.pop()
        rows.append(progress)
        seen = rows[-ROWS_OVER_TIME:]
        table = Table(
            [
                Column("seconds", [f"{each.seconds:.1f}" for each in seen]),
                Column("at least", [f"{each.at_least:g}" for each in seen], rank=2),
                Column("proof number", [whole(each.proof_number) for each in seen]),
                Column("disproof number", [whole(each.disproof_number) for each in seen]),
                Column("moves settled", [f"{e.moves_settled}/{e.num_moves}" for e in seen]),
                Column("positions", [whole(each.positions) for each in seen]),
                Column("a second", [whole(each.positions_per_second) for each in seen], rank=1),
                Column("table", [f"{each.table_share:.0%}" for each in seen], rank=1),
            ]
        )
        return View(progress.positions, positions, "", table.text)

    return view
