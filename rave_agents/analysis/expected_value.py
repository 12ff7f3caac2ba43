"""``solve_expected``: searches for the return that a player can expect in a game of chance."""

import os
import time
from typing import Any

from rave_agents.analysis.position_analysis import decision_after
from rave_agents.analysis.solution import MoveBounds, Solution
from rave_agents.certificates.checker import after
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.notation import Moves, action_name
from rave_agents.game.validation import Count, NonNegative, Positive, validated
from rave_agents.results.numbers import whole
from rave_agents.results.progress import Progress, View, shown
from rave_agents.results.tables import Column, Table
from rave_agents.solver.expected_value import ExpectedValue, ValueProgress
from rave_agents.solver.proof_search import check_provable
from rave_agents.solver.state_expander import with_history


def _view(progress: ValueProgress) -> View:
    low, high = progress.bounds
    facts = {
        "bounds": f"{low:.6g} to {high:.6g}",
        "moves deep": whole(progress.limit),
        "positions": whole(progress.positions),
        "positions a second": whole(progress.positions / max(progress.seconds, 1e-6)),
        "table in use": f"{progress.table_share:.0%}",
    }
    table = Table([Column("", [*facts], text=True), Column("", [*facts.values()], text=True)])
    return View(progress.positions, None, "", table.text)


@validated
def solve_expected(
    game: Any,
    *,
    moves: Moves = "",
    position: str | os.PathLike[str] | None = None,
    positions: Count | None = None,
    seconds: Positive | None = None,
    max_memory_mb: Positive = 256.0,
    precision: NonNegative = 0.0,
    progress: Progress[ValueProgress] = None,
) -> Solution:
    """Search for the return that the player to move can expect in a game of chance.

    Args:
        game: the game or its name, such as ``"pig(winscore=20)"``; see ``as_game``.
        moves: see ``rave_agents.analysis.solve.solve_position``.
        position: likewise.
        positions: likewise.
        seconds: likewise.
        max_memory_mb: the size of the table in megabytes (2**20 bytes), above 0.
        precision: the distance of the bounds at which the search ends, at least 0.
        progress: None for a display in a terminal or notebook, False for none, True for a display
            anywhere; or a function, called with a ``ValueProgress``.

    Raises:
        UnknownNameError: for an unknown game.
        UnsupportedGameError: if the game cannot be solved.
        TypeError, ValueError: for a value that is not allowed, an illegal move, or a position in
            which no player moves.
        OSError: if the file of the position cannot be read.
    """
    loaded = as_game(game)
    # The initial state, before any move is applied: errors then name the game, not a position.
    check_provable(loaded.new_initial_state(), loaded.name)
    decided, played = decision_after(loaded, moves, position)
    state = with_history(decided, played)
    player, begin = int(state.current_player()), time.perf_counter()
    search = ExpectedValue(state, player, max_memory_mb=max_memory_mb, precision=precision)
    interrupted = False
    with shown(progress, _view) as show:
        try:
            search.solve(state, positions=positions, seconds=seconds, watch=show)
        except KeyboardInterrupt:
            interrupted = True
    # Bounds in the table always hold, after an interruption, too.
    bounds = search.known(state)
    rows = [
        MoveBounds(int(a), action_name(state, int(a)), *search.known(after(state, int(a))))
        for a in state.legal_actions()
    ]
    return Solution(
        game=game if isinstance(game, str) else loaded.name,
        moves=tuple(played),
        state=state,
        player=player,
        end="interrupted" if interrupted else search.end,
        bounds=bounds,
        # By the lower bound: that return is guaranteed, the upper one may be far off.
        actions=tuple(sorted(rows, key=lambda row: (-row.low, -row.high))),
        positions=search.positions,
        seconds=time.perf_counter() - begin,
        memory_mb=max_memory_mb,
        table_share=search.table_share,
        search=search,
    )
