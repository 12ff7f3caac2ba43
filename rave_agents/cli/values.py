"""The commands that learn of a game: learn, levels."""

from pathlib import Path
from typing import Annotated

import typer

from rave_agents.analysis.learning_run import learn_to_file
from rave_agents.arena.level_ladder import measure_levels
from rave_agents.cli.program import Debug, GameName, Json, Seed, app, check_writable, reported
from rave_agents.cli.terminal import show_json, show_result
from rave_agents.knowledge.levels import read_levels, write_levels


@app.command()
@reported
def learn(
    game: GameName,
    output: Annotated[
        Path, typer.Option(help="The file to write: agents take it as evaluator=FILE.")
    ],
    minutes: Annotated[
        float | None, typer.Option(help="Minutes of learning; 5 without --games.")
    ] = None,
    games: Annotated[int | None, typer.Option(help="Games of self-play, in place of time.")] = None,
    rounds: Annotated[
        int, typer.Option(help="How often the file is written, and its strength checked.")
    ] = 5,
    simulations: Annotated[
        int, typer.Option(help="Simulations a move of self-play, without compiled rules.")
    ] = 200,
    jobs: Annotated[int, typer.Option(help="Processes that play.")] = 1,
    dask: Annotated[
        str | None, typer.Option(help="A Dask scheduler's address in their place, or 'local'.")
    ] = None,
    begin: Annotated[
        Path | None, typer.Option("--from", help="A file of 'learn' to go on from.")
    ] = None,
    checks: Annotated[
        int,
        typer.Option(
            help="Games of each check of strength, against the round before and against mcts; 0 "
            "for none. Learning ends early once two rounds in a row have brought nothing."
        ),
    ] = 0,
    curve: Annotated[
        Path | None, typer.Option(help="A picture to write: Elo over time; needs --checks.")
    ] = None,
    tensorboard: Annotated[
        Path | None, typer.Option(help="A folder of TensorBoard's; needs tensorboard.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Learn a value of positions by self-play, for auto(evaluator=FILE) and other agents.

    It takes some minutes for a board game. The file is written after every round: what was learned
    by then is there after Ctrl-C.
    """
    check_writable(output, "--output")
    if curve is not None:
        if checks == 0:
            raise ValueError("--curve shows checks of strength: give --checks, such as 20.")
        check_writable(curve, "--curve")
    result = learn_to_file(
        game,
        output,
        minutes=minutes,
        games=games,
        rounds=rounds,
        simulations=simulations,
        jobs=jobs,
        dask=dask,
        start=begin,
        checks=checks,
        tensorboard=tensorboard,
        made=f"rave-agents learn '{game}', seed {seed}",
        seed=seed,
    )
    if curve is not None:
        result.plot().savefig(curve)
    if as_json:
        show_json(result.to_dict())
    else:
        show_result(result)


@app.command()
@reported
def levels(
    game: GameName,
    games: Annotated[int, typer.Option(help="Games of each match.", min=2)] = 40,
    output: Annotated[
        Path | None,
        typer.Option(help="A file of levels to write the game's to, such as levels.json."),
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure the ten levels of auto(level=1) to auto(level=10) in a game."""
    others = {}
    if output is not None:
        check_writable(output, "--output")
        others = read_levels(output) if output.exists() else {}
    result = measure_levels(game, games=games, seed=seed)
    if output is not None:
        write_levels(output, {**others, result.game: result.levels})
    if as_json:
        show_json(result.to_dict())
    else:
        show_result(result)
