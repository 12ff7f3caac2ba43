"""The commands about many agents or limits: tournament, scaling, report, merge."""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.markup import escape

from rave_agents.arena.journal import merge_journals
from rave_agents.arena.lists import games_and_agents
from rave_agents.arena.report_data import load_report
from rave_agents.arena.scaling import run_scaling
from rave_agents.arena.tournament import (
    play_tournament,
    read_tournament,
)
from rave_agents.cli.completion import complete_agent
from rave_agents.cli.program import (
    ClockText,
    Csv,
    Dask,
    Debug,
    Forfeit,
    GameName,
    Jobs,
    Json,
    OpeningPlies,
    Output,
    Png,
    Seconds,
    Seed,
    ShardText,
    Simulations,
    app,
    check_files,
    check_writable,
    conclude,
    reported,
    run_games,
    use_current_folder,
    write_files,
)
from rave_agents.cli.terminal import say, show_json, show_result
from rave_agents.files import written_whole


@app.command()
@reported
def tournament(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="GAME... [AGENT...] | FILE",
            autocompletion=complete_agent,
            help="Games, then agents, such as: breakthrough auto rave uct; or a TOML file.",
        ),
    ],
    agents: Annotated[
        str | None,
        typer.Option(
            autocompletion=complete_agent,
            help='The agents, where GAMES are all games: "auto rave(c=0.2) mine=./bot.py:Bot".',
        ),
    ] = None,
    games: Annotated[
        int | None, typer.Option(help="Games of every two agents on each game; 20.")
    ] = None,
    gauntlet: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AGENT",
            help="An agent that plays against all others, and these not each other.",
        ),
    ] = None,
    anchor: Annotated[str | None, typer.Option(help="The agent whose rating is 0.")] = None,
    simulations: Simulations = None,
    seconds: Seconds = None,
    clock: ClockText = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all random numbers; 0.")] = None,
    opening_plies: OpeningPlies = None,
    forfeit: Forfeit = False,
    jobs: Jobs = 1,
    output: Output = None,
    shard: ShardText = None,
    dask: Dask = None,
    csv: Csv = None,
    png: Png = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Let many agents play against each other, and rate them.

    Everybody meets everybody in every game. A TOML file sets games and agents, and where you like
    games_per_pairing, gauntlet, anchor, simulations, seconds, clock, seed, opening_plies, forfeit;
    options take precedence. Ctrl-C shows the standing; with --output the same command then goes on.
    """
    check_files(csv, png)
    settings = _settings(words, agents)
    options = {
        "games_per_pairing": games,
        "gauntlet": gauntlet or None,
        "anchor": anchor,
        "simulations": simulations,
        "seconds": seconds,
        "clock": clock,
        "seed": seed,
        "opening_plies": opening_plies,
        "forfeit": forfeit or None,
    }
    settings |= {name: value for name, value in options.items() if value is not None}
    run = functools.partial(play_tournament, **settings, output=output, shard=shard)
    result, failed = run_games(run, dask, jobs)
    if as_json:
        show_json(result.to_dict())
    elif result.finished:
        show_result(result)
    conclude(result, failed, output, csv, png)


def _settings(words: Sequence[str], agents: str | None) -> dict[str, Any]:
    """The games and agents of a command, or everything that its file sets."""
    is_file = words[0].endswith(".toml") or (len(words) == 1 and Path(words[0]).is_file())
    if not is_file:
        games, players = games_and_agents(words, agents)
        return {"games": games, "agents": players}
    if len(words) > 1 or agents is not None:
        raise ValueError(f"{words[0]} sets games and agents: give no others beside it.")
    return read_tournament(words[0])


@app.command()
@reported
def scaling(
    game: GameName,
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT", autocompletion=complete_agent, help="An agent without a limit."
        ),
    ],
    against: Annotated[
        list[str],
        typer.Option(
            metavar="AGENT",
            autocompletion=complete_agent,
            help="An opponent with a limit of its own; may be repeated.",
        ),
    ],
    simulations: Annotated[
        str, typer.Option(metavar="N,N,...", help="Simulations a move, such as 100,300,1000,3000.")
    ] = "",
    seconds: Annotated[
        str, typer.Option(metavar="S,S,...", help="Seconds a move, in their place.")
    ] = "",
    games: Annotated[int, typer.Option(help="Games for each limit and opponent.")] = 100,
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
    """Measure how an agent's strength grows with its simulations or seconds a move.

    All limits play the same openings against the same opponents. Ctrl-C shows the games that are
    finished; with --output the same command then goes on.
    """
    check_files(csv, png)
    run = functools.partial(
        run_scaling,
        game,
        agent,
        against,
        simulations=_numbers("simulations", simulations, int),
        seconds=_numbers("seconds", seconds, float),
        games=games,
        seed=seed,
        opening_plies=opening_plies,
        forfeit=forfeit,
        output=output,
        shard=shard,
    )
    result, failed = run_games(run, dask, jobs)
    if as_json:
        show_json(result.to_dict())
    elif result.finished:
        show_result(result)
    conclude(result, failed, output, csv, png)


_N = TypeVar("_N", int, float)


def _numbers(name: str, text: str, kind: Callable[[str], _N]) -> list[_N]:
    try:
        return [kind(word) for word in text.split(",")] if text.strip() else []
    except ValueError:
        raise ValueError(f"--{name} takes numbers such as 100,300,1000; got {text!r}.") from None


@app.command()
@reported
def report(
    journal: Annotated[Path, typer.Argument(metavar="JOURNAL", help="A file of --output.")],
    page: Annotated[
        Path | None, typer.Option("--html", help="Write one page with everything in it.")
    ] = None,
    png: Png = None,
    csv: Csv = None,
    games: Annotated[int, typer.Option(help="Games that the page replays.", min=0)] = 3,
    ask: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AGENT",
            help="An agent as the file has it, which searches again for the page; may be repeated.",
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Show the games of a file: as a page, a picture, a table, or here.

    The file may be of a match, a sweep, a tournament, a race or a curve, whether finished or not.
    It may be anybody's: nothing in it is imported, called or started. An agent that you name with
    --ask searches again to tell what it thought of each move of the games on the page.
    """
    check_files(csv, png)
    if page is not None:
        check_writable(page, "--html")
    data = load_report(journal)
    if page is not None:
        from rave_agents.web.report_page import report_page  # noqa: PLC0415  (slow: matplotlib)

        if ask:
            use_current_folder()
        text = report_page(data, games=games, ask=ask or ())
        with written_whole(page, "w", encoding="utf-8") as file:
            file.write(text)
    write_files(data.result, csv, png)
    if page is None and png is None and csv is None:
        show_result(data.result)


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
    games = merge_journals(output, inputs)
    say(f"{games} games in {escape(str(output))}.")
