"""The commands that play games: match, ablation, sweep."""

import functools
from pathlib import Path
from typing import Annotated

import typer

from rave_agents.agents.named_agents import without_amaf
from rave_agents.arena.match import play_match
from rave_agents.arena.sprt import Sprt
from rave_agents.arena.sweep import parse_vary, run_sweep
from rave_agents.cli.completion import complete_agent, complete_game
from rave_agents.cli.program import (
    ClockText,
    Csv,
    Dask,
    Debug,
    Forfeit,
    GameName,
    Jobs,
    Json,
    Moves,
    OpeningPlies,
    Output,
    Png,
    PositionText,
    Seconds,
    Seed,
    ShardText,
    Simulations,
    app,
    check_files,
    conclude,
    reported,
    run_games,
)
from rave_agents.cli.terminal import show_json, show_result


@app.command()
@reported
def match(
    game: GameName,
    first: Annotated[
        str,
        typer.Argument(
            metavar="FIRST", autocompletion=complete_agent, help="An agent, such as 'rave(c=0.2)'."
        ),
    ],
    second: Annotated[
        str,
        typer.Argument(metavar="SECOND", autocompletion=complete_agent, help="The other agent."),
    ],
    games: Annotated[
        int | None,
        typer.Option(help="Games to play; 100, or with --sprt at most 100000."),
    ] = None,
    sprt: Annotated[
        str | None,
        typer.Option(
            metavar="ELO0,ELO1",
            help="Stop once a sequential test of ELO0 against ELO1 for FIRST is decided.",
        ),
    ] = None,
    sprt_model: Annotated[
        str,
        typer.Option(help="Scale of the --sprt bounds: normalized Elo (as Fishtest) or logistic."),
    ] = "normalized",
    simulations: Simulations = None,
    seconds: Seconds = None,
    clock: ClockText = None,
    seed: Seed = 0,
    opening_plies: OpeningPlies = None,
    moves: Moves = "",
    position: PositionText = None,
    jobs: Jobs = 1,
    sgf: Annotated[
        Path | None, typer.Option(help="Save every game in this folder, which is of one match.")
    ] = None,
    referee: Annotated[
        str | None,
        typer.Option(help="A GTP program that checks moves and results: 'gtp(command=...)'."),
    ] = None,
    forfeit: Forfeit = False,
    output: Output = None,
    shard: ShardText = None,
    dask: Dask = None,
    csv: Csv = None,
    png: Png = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Let two agents play a match.

    Every random opening is played twice, with the seats exchanged. Ctrl-C or SIGTERM ends the match
    early and shows the games that are finished.
    """
    check_files(csv, png)
    run = functools.partial(
        play_match,
        game,
        first,
        second,
        games=games,
        simulations=simulations,
        seconds=seconds,
        clock=clock,
        seed=seed,
        opening_plies=opening_plies,
        moves=moves,
        position=position,
        sgf=sgf,
        referee=referee,
        forfeit=forfeit,
        sprt=None if sprt is None else Sprt.parse(sprt, model=sprt_model),
        output=output,
        shard=shard,
    )
    result, failed = run_games(run, dask, jobs)
    if as_json:
        show_json(result.to_dict())
    elif result.records:
        show_result(result)
    conclude(result, failed, output, csv, png)


@app.command()
@reported
def ablation(
    game: GameName,
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT", autocompletion=complete_agent, help="An agent with AMAF statistics."
        ),
    ] = "rave",
    games: Annotated[int, typer.Option(help="Games to play.")] = 100,
    simulations: Simulations = None,
    seconds: Seconds = None,
    seed: Seed = 0,
    opening_plies: OpeningPlies = None,
    jobs: Jobs = 1,
    output: Output = None,
    csv: Csv = None,
    png: Png = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure what AMAF adds: let an agent play against the same without.

    The other is the same search without AMAF statistics, with the exploration of plain UCT if the
    agent itself has none.
    """
    match(
        game=game,
        first=agent,
        second=str(without_amaf(agent)),
        games=games,
        simulations=simulations,
        seconds=seconds,
        seed=seed,
        opening_plies=opening_plies,
        jobs=jobs,
        output=output,
        csv=csv,
        png=png,
        as_json=as_json,
        debug=debug,
    )


@app.command()
@reported
def sweep(
    game: Annotated[
        str,
        typer.Argument(
            metavar="GAME[,GAME...]",
            autocompletion=complete_game,
            help="The game, or several separated by commas: 'hex(board_size=5),tic_tac_toe'.",
        ),
    ],
    agent: Annotated[
        str,
        typer.Argument(metavar="AGENT", autocompletion=complete_agent, help="The agent to vary."),
    ],
    opponent: Annotated[
        str, typer.Argument(metavar="OPPONENT", autocompletion=complete_agent, help="Its opponent.")
    ],
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=VALUE,...",
            help="A parameter of AGENT and its values; may be repeated.",
        ),
    ],
    games: Annotated[int, typer.Option(help="Games for each combination in each game.")] = 100,
    simulations: Simulations = None,
    seconds: Seconds = None,
    seed: Seed = 0,
    opening_plies: OpeningPlies = None,
    jobs: Jobs = 1,
    output: Output = None,
    shard: ShardText = None,
    dask: Dask = None,
    forfeit: Forfeit = False,
    csv: Csv = None,
    png: Png = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Let an agent with every combination of some parameters play against another one.

    All combinations play the same openings. Ctrl-C shows the games that are finished; with --output
    the same command then goes on.
    """
    check_files(csv, png)
    run = functools.partial(
        run_sweep,
        game,
        agent,
        opponent,
        parse_vary(vary),
        games=games,
        simulations=simulations,
        seconds=seconds,
        seed=seed,
        opening_plies=opening_plies,
        output=output,
        forfeit=forfeit,
        shard=shard,
    )
    result, failed = run_games(run, dask, jobs)
    if as_json:
        show_json(result.to_dict())
    elif result.finished:
        show_result(result)
    conclude(result, failed, output, csv, png)
