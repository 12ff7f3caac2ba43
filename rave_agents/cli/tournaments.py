"""The commands about many agents: tournament, merge."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from rave_agents.cli.program import (
    Dask,
    Debug,
    Jobs,
    Json,
    Output,
    ShardText,
    app,
    engine,
    how_to_go_on,
    interrupted,
    reported,
)
from rave_agents.cli.terminal import say, show, show_json, stderr


@app.command()
@reported
def tournament(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A TOML file with games and agents.")
    ],
    jobs: Jobs = 1,
    output: Output = None,
    shard: ShardText = None,
    dask: Dask = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Let many agents play against each other, and rate them.

    The file sets what rave_agents.arena.play_tournament takes: games and agents, and where you like
    games_per_pairing, gauntlet, anchor, simulations, seconds, clock, seed, opening_plies, forfeit.
    Ctrl-C shows the standing; with --output the same command then goes on.
    """
    from rave_agents.arena.tournament import (  # noqa: PLC0415
        TournamentError,
        play_tournament,
        read_tournament,
    )
    from rave_agents.cli import arena_tables, live  # noqa: PLC0415

    settings = read_tournament(file)
    failed: TournamentError | None = None
    with engine(dask, jobs) as executor, live.tournament_progress(stderr()) as progress:
        try:
            result = play_tournament(
                **settings,
                jobs=jobs,
                executor=executor,
                output=output,
                shard=shard,
                progress=progress,
            )
        except TournamentError as error:
            failed, result = error, error.result
    if as_json:
        show_json(result.to_dict())
    elif result.finished:
        show(*arena_tables.tournament_tables(result))
    if failed is not None:
        raise failed
    if result.interrupted:
        planned = result.planned * len(result.matches)
        finished = f"{result.finished} of {planned} games were finished."
        raise interrupted(f"{finished} {how_to_go_on(output)}")


@app.command()
@reported
def merge(
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="The new file.")],
    inputs: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of games.")],
    debug: Debug = False,
) -> None:
    """Join files of games, such as those of shards, to one.

    They must be of the same match, sweep or tournament. The command that played them goes on from
    the new file with --output, and shows the tables.
    """
    from rave_agents.arena.journal import merge_journals  # noqa: PLC0415

    games = merge_journals(output, inputs)
    say(f"{games} games in {escape(str(output))}.")
