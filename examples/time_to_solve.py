"""Time to solve: simulations and seconds until a position is proven, beside OpenSpiel's MCTSBot.

python examples/time_to_solve.py [--large] [--only hex] [--seeds 3] [--simulations 300000] [--json]

The positions are the first ones of small games; with ``--large``, also those of Connect Four on
boards of 4x4 and 4x5, and the forced wins of ``tactical_positions.json``, one row for each game;
``--only`` names a part of the labels of the rows wanted.
``rave-agents solve`` has another search, which is no tree: see the page on the solver.
Either side searches until its root is solved or ``--simulations`` are done; a search that was not
done by then counts with what it took so far. In a row, simulations and seconds are sums over its
positions of medians over the seeds; a ratio below 1 says that ours took less.
"""

import json
import math
import pathlib
import time
from statistics import median
from typing import Annotated, Any, NamedTuple

import pyspiel
import typer
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.parts import (
    UCB1,
    CheckRefutations,
    DrawLayer,
    MinimumMSE,
    NodeAmaf,
    ProofNumbers,
    Proofs,
    RankBonus,
    SearchingPlayer,
    SkipSolved,
)

SMALL_GAMES = (
    "tic_tac_toe",
    "mnk(m=4,n=3,k=3)",
    "hex(board_size=3)",
    "hex(board_size=4)",
    "breakthrough(rows=5,columns=3)",
    "clobber(rows=4,columns=4)",
)
LARGE_GAMES = ("connect_four(rows=4,columns=4)", "connect_four(rows=4,columns=5)")
POSITIONS = pathlib.Path(__file__).with_name("tactical_positions.json")
MEMORY_MB = 2000

SOLVING = SearchConfig(
    rule=UCB1(c=0.0),
    first_play_urgency=0.5,
    amaf=NodeAmaf(schedule=MinimumMSE(bias=0.3)),
    proofs=Proofs(
        numbers=ProofNumbers(
            goal=SearchingPlayer(),
            bonus=RankBonus(DrawLayer()),
            constant=0.0,
            visits=math.inf,
            weight=0.2,
        ),
        skipping=SkipSolved(visits=0),
        checks=CheckRefutations(),
    ),
    expand_visits=1,
    search_forced_moves=True,
    max_memory_mb=MEMORY_MB,
)
"""The search of a tree that needed the fewest simulations of those that were measured.

An edge's score is one fifth the rank of its proof number and four fifths its value, blended with
the AMAF value for the first few visits: proof numbers alone have too many ties, and values alone
lead into lines that are already settled. The search skips solved edges and has no exploration term.
"""


class Effort(NamedTuple):
    """Simulations and seconds until a position was proven, or the search gave up."""

    solved: bool
    simulations: int
    seconds: float


def effort_of_searcher(state: pyspiel.State, simulations: int, seed: int) -> Effort:
    """Monte-Carlo tree search with proofs."""
    searcher = Searcher(SOLVING, seed=seed)
    result = searcher.search(state, Limit(simulations=simulations))
    return Effort(result.outcome is not None, result.root_visits, result.seconds)


def effort_of_mcts_bot(state: pyspiel.State, simulations: int, seed: int) -> Effort:
    """OpenSpiel's C++ bot with its solver."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    bot = pyspiel.MCTSBot(
        state.get_game(), evaluator, 1.4, simulations, MEMORY_MB, True, seed, False
    )
    started = time.perf_counter()
    root = bot.mcts_search(state)
    seconds = time.perf_counter() - started
    return Effort(len(root.outcome) > 0, root.explore_count, seconds)


SOLVERS = {"solve": effort_of_searcher, "mcts": effort_of_mcts_bot}


def rows(*, large: bool) -> dict[str, list[pyspiel.State]]:
    """The positions to solve, by the label of their row."""
    games = SMALL_GAMES + LARGE_GAMES * large
    found = {spec: [pyspiel.load_game(spec).new_initial_state()] for spec in games}
    for position in json.loads(POSITIONS.read_text()) if large else []:
        state = pyspiel.load_game(position["game"]).new_initial_state()
        if position["achieves"] == "win":
            for action in position["moves"]:
                state.apply_action(action)
            found.setdefault(f"{position['game']}, won positions", []).append(state)
    return found


def measured(states: list[pyspiel.State], simulations: int, seeds: int) -> dict[str, Any]:
    """The row of these positions: the two solvers take turns at every position and seed."""
    totals: dict[str, Any] = {
        name: {"solved": 0, "simulations": 0, "seconds": 0} for name in SOLVERS
    }
    for state in states:
        efforts: dict[str, list[Effort]] = {name: [] for name in SOLVERS}
        for seed in range(seeds):
            for name, solve in SOLVERS.items():
                efforts[name].append(solve(state, simulations, seed))
        for name, total in totals.items():
            total["solved"] += sum(effort.solved for effort in efforts[name]) / seeds
            total["simulations"] += median(effort.simulations for effort in efforts[name])
            total["seconds"] += median(effort.seconds for effort in efforts[name])
    ours, stock = totals.values()
    return {
        "positions": len(states),
        **totals,
        "simulations_ratio": ours["simulations"] / stock["simulations"],
        "seconds_ratio": ours["seconds"] / stock["seconds"],
    }


def main(
    large: Annotated[bool, typer.Option("--large")] = False,
    only: Annotated[str, typer.Option()] = "",
    seeds: Annotated[int, typer.Option(min=1)] = 3,
    simulations: Annotated[int, typer.Option(min=1)] = 300_000,
    json_output: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Solve every position with both solvers, and print simulations and seconds."""
    results = {}
    positions = {label: states for label, states in rows(large=large).items() if only in label}
    if not positions:
        raise typer.BadParameter(f"no row's label has {only!r}: {', '.join(rows(large=large))}.")
    for label, states in track(positions.items(), console=Console(stderr=True), transient=True):
        results[label] = measured(states, simulations, seeds)
    if json_output:
        print(json.dumps(results))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("positions", overflow="fold")
    table.add_column("by")
    for name in ("solved", "simulations", "ratio", "seconds", "ratio"):
        table.add_column(name, justify="right", no_wrap=True)
    for label, row in results.items():
        both = [row[name] for name in SOLVERS]
        table.add_row(
            label,
            "\n".join(SOLVERS),
            "\n".join(f"{one['solved']:.1f} of {row['positions']}" for one in both),
            "\n".join(f"{one['simulations']:,.0f}" for one in both),
            f"{row['simulations_ratio']:.2f}",
            "\n".join(f"{one['seconds']:.3f}" for one in both),
            f"{row['seconds_ratio']:.2f}",
        )
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
