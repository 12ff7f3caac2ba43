"""Solves positions of small games and of endgames, and prints CPU seconds and positions expanded.

python examples/solving_table.py [--only othello] [--seconds 300] [--memory 256] [--json FILE]

Endgames are of games by random moves, whose seed is the number in the row's name: for Othello,
Pentago and Lines of Action the position with so many empty squares or decisions before the end, for
Checkers the first one with so many men. Games of chance give the value that is expected. A row that
takes more CPU seconds than ``--seconds`` is told as not solved.
"""

import json
import pathlib
import random
import time
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import typer

from rave_agents.analysis.expected_value import solve_expected
from rave_agents.analysis.solve import solve_position
from rave_agents.frameworks.own_games import as_game
from rave_agents.game.game_state import has_chance

STARTS = (
    "breakthrough(rows=6,columns=4)",
    "dots_and_boxes(num_rows=2,num_cols=3)",
    "dots_and_boxes(num_rows=3,num_cols=3)",
    "clobber(rows=4,columns=5)",
    "clobber(rows=5,columns=5)",
    "clobber(rows=5,columns=6)",
    "nogo(board_size=5)",
    "pig(players=2,winscore=20)",
)
"""Games from their first position."""


def empty_squares(count: int) -> Callable[[Any], bool]:
    """True at a board with so many empty squares."""
    return lambda state: str(state).count("-") == count


def men(count: int) -> Callable[[Any], bool]:
    """True at a board of Checkers with so many men."""

    def is_met(state: Any) -> bool:
        rows = [line[1:] for line in str(state).splitlines()]  # Before them is their number.
        return sum(row.count(man) for row in rows[:8] for man in "o+8*") == count

    return is_met


class Endgame(NamedTuple):
    """A position of a random game."""

    game: str
    label: str
    seed: int
    is_met: Callable[[Any], bool] | None
    """Says that it is the position; None for one before the end."""
    moves_left: int = 0


ENDGAMES = (
    *(Endgame("othello", f"{n} empty", s, empty_squares(n)) for n in (12, 14, 16) for s in (1, 2)),
    *(Endgame("pentago", f"{n} moves", 1, None, n) for n in (8, 10, 12)),
    *(Endgame("lines_of_action", f"{n} moves", 1, None, n) for n in (4, 6)),
    *(Endgame("checkers", "4 men", seed, men(4)) for seed in (1, 2)),
    *(Endgame("einstein_wurfelt_nicht", f"{n} moves", 1, None, n) for n in (8, 12)),
)


def moves_to(endgame: Endgame) -> list[int]:
    """The moves that lead to a position; of a random game that has it."""
    draw = random.Random(endgame.seed)
    while True:
        state = as_game(endgame.game).new_initial_state()
        moves: list[int] = []
        decisions = [0]
        while not state.is_terminal():
            if endgame.is_met is not None and endgame.is_met(state):
                return moves
            chance = state.is_chance_node()
            decisions += [] if chance else [len(moves)]
            steps = [a for a, _ in state.chance_outcomes()] if chance else state.legal_actions()
            moves.append(int(draw.choice(list(steps))))
            state.apply_action(moves[-1])
        if endgame.is_met is None and len(decisions) > 2 * endgame.moves_left:
            return moves[: decisions[-endgame.moves_left]]


def row_of(game: str, label: str, moves: list[int], seconds: float, memory: float) -> list[str]:
    """The row: position, outcome, CPU seconds, positions, share of the table."""
    text = " ".join(map(str, moves))
    begin = time.process_time()
    limits: dict[str, Any] = {"seconds": seconds, "max_memory_mb": memory, "progress": False}
    found: Any
    if has_chance(as_game(game).new_initial_state()):
        found = solve_expected(game, moves=text, **limits)
        low, high = found.bounds
        outcome = f"{low:.10f}" if high - low < 1e-9 else f"from {low:.4f} to {high:.4f}"
    else:
        found = solve_position(game, moves=text, **limits)
        outcome = found.proven or (f"{found.value:g}" if found.value is not None else "not solved")
    spent = time.process_time() - begin
    return [
        label,
        outcome,
        f"{spent:.1f}",
        f"{found.positions:,}",
        f"{found.table_share:.0%}",
    ]


def main(
    only: Annotated[str, typer.Option(help="A part of the names of the rows wanted.")] = "",
    seconds: Annotated[float, typer.Option(help="CPU seconds for a row, at most.")] = 300.0,
    memory: Annotated[float, typer.Option(help="Megabytes of the table.")] = 256.0,
    output: Annotated[str, typer.Option("--json", help="A file for the rows.")] = "",
) -> None:
    """Solve all rows, and print each when it is done."""
    time.perf_counter = time.process_time  # type: ignore[assignment]  # Seconds are CPU seconds.
    positions = [(game, game, None) for game in STARTS]
    positions += [(each.game, f"{each.game}, {each.label}, {each.seed}", each) for each in ENDGAMES]
    rows = []
    for game, label, endgame in positions:
        if only in label:
            moves = [] if endgame is None else moves_to(endgame)
            rows.append(row_of(game, label, moves, seconds, memory))
            print("  ".join(rows[-1]), flush=True)
    if output:
        pathlib.Path(output).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    typer.run(main)
