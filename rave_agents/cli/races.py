"""The command that finds the best agent for a game: best."""

import functools
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from rave_agents.arena.lists import parse_agents
from rave_agents.arena.race import MOVE_SECONDS, SECONDS, find_best
from rave_agents.arena.race_result import RaceResult
from rave_agents.arena.sweep import parse_vary
from rave_agents.cli.completion import complete_agent
from rave_agents.cli.program import (
    Csv,
    Dask,
    Debug,
    GameName,
    Jobs,
    Json,
    OpeningPlies,
    Output,
    Png,
    Seed,
    app,
    check_files,
    interrupted,
    reported,
    run_games,
    write_files,
)
from rave_agents.cli.terminal import show_json, show_result


@app.command()
@reported
def best(
    game: GameName,
    seconds: Annotated[float, typer.Option(help="How long the race may take.")] = SECONDS,
    agents: Annotated[
        str | None,
        typer.Option(
            autocompletion=complete_agent,
            help='The agents: "auto rave(c=0.2) mine=./bot.py:Bot"; by default one of each kind '
            "that can play the game.",
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE,...",
            help="A parameter and its values: the agents that take it race with each. May be "
            "repeated.",
        ),
    ] = None,
    simulations: Annotated[
        int | None,
        typer.Option(help="Simulations a move, where an agent's spec has no limit."),
    ] = None,
    move_seconds: Annotated[
        float | None,
        typer.Option(
            help="Seconds a move, where an agent's spec has no limit; "
            f"{MOVE_SECONDS} without --simulations.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    opening_plies: OpeningPlies = None,
    jobs: Jobs = 1,
    output: Output = None,
    dask: Dask = None,
    csv: Csv = None,
    png: Png = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Find the best agent for a game: a race of pairs of games that drops who is weaker early.

    It ends with one sentence: which agent is the best, with an interval that may be trusted at any
    time, or that no difference was found. Ctrl-C shows the standing; with --output the same command
    then goes on.
    """
    check_files(csv, png)
    run = functools.partial(
        find_best,
        game,
        None if agents is None else parse_agents(agents),
        seconds=seconds,
        simulations=simulations,
        move_seconds=move_seconds,
        vary=parse_vary(vary or []),
        seed=seed,
        opening_plies=opening_plies,
        output=output,
    )
    result, failed = run_games(run, dask, jobs)
    if as_json:
        show_json(result.to_dict())
    else:
        show_result(result, summary_last=True)
    write_files(result, csv, png if result.finished else None)
    if failed is not None:
        raise failed
    if result.interrupted:
        raise interrupted(_to_go_on(result, output))


def _to_go_on(result: RaceResult, output: Path | None) -> str:
    advice = (
        "Give --output FILE to be able to go on after a stop."
        if output is None
        else f"To go on, run the same command again: {escape(str(output))} has the finished games."
    )
    return f"{result.finished} games were finished. {advice}"
