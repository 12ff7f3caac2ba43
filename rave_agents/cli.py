"""The program ``rave-agents``.

Standard output has the answer alone: tables for people, or with ``--json`` one JSON object.
Progress, logs and errors go to standard error. Exit codes: 0, 1 if a game of a match or sweep
failed, 2 if something was asked that cannot be done, 130 after Ctrl-C.
"""

import contextlib
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, ParamSpec

import typer
from rich.markup import escape

from rave_agents.terminal import say, show, show_json, stderr

USER_ERROR, FAILED_GAME, INTERRUPTED = 2, 1, 130
"""Exit codes."""

_P = ParamSpec("_P")

app = typer.Typer(
    name="rave-agents",
    help="Search agents for board games: matches, analysis, speed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Debug = Annotated[
    bool, typer.Option("--debug", envvar="RAVE_AGENTS_DEBUG", help="Show tracebacks of errors.")
]
GameName = Annotated[
    str, typer.Argument(metavar="GAME", help="Such as tic_tac_toe or 'hex(board_size=9)'.")
]
Simulations = Annotated[
    int | None,
    typer.Option(
        help="Simulations a move, where an agent's spec has no limit; 1000 without --seconds.",
        show_default=False,
    ),
]
Seconds = Annotated[
    float | None, typer.Option(help="Seconds a move, where an agent's spec has no limit.")
]
ClockText = Annotated[
    str | None,
    typer.Option(
        "--clock",
        help="Each side's time in place of seconds a move: 60+1 is 60 s and 1 s a move; also "
        "60+3x10 (byo-yomi), '2 a move', '4 to 4, 8.3 to 26, 4'.",
    ),
]
Seed = Annotated[int, typer.Option(help="Decides everything random.")]
Moves = Annotated[
    str, typer.Option(help="Moves to play first, by name or number, chance outcomes too.")
]
OpeningPlies = Annotated[
    int | None,
    typer.Option(
        help="Random moves at the start of a game; by default 2, none with simultaneous moves."
    ),
]
Jobs = Annotated[int, typer.Option(help="Processes that play at the same time.")]


def main() -> None:
    """Run the program."""
    app()


def _reported(command: Callable[_P, None]) -> Callable[_P, None]:
    """Turn errors that a user can mend into one line and an exit code."""

    @functools.wraps(command)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> None:
        from rave_agents.arena.runner import FailedGameError  # noqa: PLC0415
        from rave_agents.errors import RaveAgentsError  # noqa: PLC0415

        try:
            command(*args, **kwargs)
        except KeyboardInterrupt:
            say("Interrupted.")
            raise typer.Exit(INTERRUPTED) from None
        except (RaveAgentsError, ValueError, TypeError, OSError) as error:
            if kwargs["debug"] or isinstance(error, BrokenPipeError):
                raise
            say(f"[bold red]Error:[/] [red]{escape(' '.join(str(error).split()))}[/]")
            code = FAILED_GAME if isinstance(error, FailedGameError) else USER_ERROR
            raise typer.Exit(code) from None

    return run


def _print_version(wanted: bool) -> None:
    if wanted:
        from rave_agents import __version__  # noqa: PLC0415

        typer.echo(f"rave-agents {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    pass


@app.command()
@_reported
def match(
    game: GameName,
    first: Annotated[
        str, typer.Argument(metavar="FIRST", help="An agent, such as 'rave(rave_k=300)'.")
    ],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="The other agent.")],
    games: Annotated[int, typer.Option(help="How many games.")] = 100,
    simulations: Simulations = None,
    seconds: Seconds = None,
    clock: ClockText = None,
    seed: Seed = 0,
    opening_plies: OpeningPlies = None,
    jobs: Jobs = 1,
    sgf: Annotated[Path | None, typer.Option(help="Save every game in this folder.")] = None,
    referee: Annotated[
        str | None,
        typer.Option(help="A GTP program that checks moves and results: 'gtp(command=...)'."),
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Let two agents play a match.

    Every random opening is played twice, with the seats exchanged. Ctrl-C ends the match early and
    shows the games that are finished.
    """
    from rave_agents import report  # noqa: PLC0415
    from rave_agents.arena.match import MatchError, play_match  # noqa: PLC0415

    with report.match_progress(stderr(), games) as progress:
        try:
            result = play_match(
                game,
                first,
                second,
                games=games,
                simulations=simulations,
                seconds=seconds,
                clock=clock,
                seed=seed,
                opening_plies=opening_plies,
                jobs=jobs,
                sgf=sgf,
                referee=referee,
                progress=progress,
            )
        except MatchError as error:
            failed: MatchError | None = error
            result = error.result
        else:
            failed = None
    if as_json:
        show_json(result.to_dict())
    elif result.records:
        show(report.match_table(result))
    if failed is not None:
        raise failed
    if not result.complete:
        say(f"Interrupted: {len(result.records)} of {games} games were finished.")
        raise typer.Exit(INTERRUPTED)


@app.command()
@_reported
def benchmark(
    game: Annotated[str, typer.Option(help="The game, also with - for _.")] = "go_fish",
    simulations: Annotated[
        int, typer.Option("--iterations", "--simulations", help="Simulations a move.")
    ] = 50,
    games: Annotated[int, typer.Option(help="How many games.")] = 20,
    agent: Annotated[str, typer.Option(help="An agent with AMAF statistics.")] = "rave",
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Let an agent with RAVE play against the same without.

    The other is the same search without AMAF statistics, with the exploration of plain UCT if the
    agent itself has none. By default it is Go Fish for two, which hides the others' cards.
    """
    from rave_agents.agents import without_amaf  # noqa: PLC0415

    match(
        game=game.replace("-", "_"),
        first=agent,
        second=str(without_amaf(agent)),
        games=games,
        simulations=simulations,
        seconds=None,
        clock=None,
        seed=seed,
        opening_plies=2,
        jobs=jobs,
        sgf=None,
        referee=None,
        as_json=as_json,
        debug=debug,
    )


@app.command()
@_reported
def sweep(
    game: GameName,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The agent to vary.")],
    opponent: Annotated[str, typer.Argument(metavar="OPPONENT", help="The one it plays against.")],
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=VALUE,...", help="A parameter of AGENT and its values; may be repeated."
        ),
    ],
    games: Annotated[int, typer.Option(help="How many games for each combination.")] = 100,
    simulations: Simulations = None,
    seconds: Seconds = None,
    seed: Seed = 0,
    opening_plies: OpeningPlies = None,
    jobs: Jobs = 1,
    output: Annotated[
        Path | None, typer.Option(help="Keep every game in this file, and go on from it.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the final table to this file.")] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Let an agent with every combination of some parameters play against another one.

    All combinations play the same openings. Ctrl-C shows the games that are finished; with --output
    the same command then goes on.
    """
    from rave_agents import report  # noqa: PLC0415
    from rave_agents.arena.sweep import SweepError, parse_vary, run_sweep  # noqa: PLC0415

    if csv is not None and not csv.parent.is_dir():
        raise ValueError(f"There is no folder {str(csv.parent)!r} for --csv.")
    failed: SweepError | None = None
    with report.sweep_progress(stderr()) as progress:
        try:
            result = run_sweep(
                game,
                agent,
                opponent,
                parse_vary(vary),
                games=games,
                simulations=simulations,
                seconds=seconds,
                seed=seed,
                opening_plies=opening_plies,
                jobs=jobs,
                output=output,
                progress=progress,
            )
        except SweepError as error:
            failed, result = error, error.result
    if as_json:
        show_json(result.to_dict())
    elif result.finished:
        show(report.sweep_table(result))
    if csv is not None:
        report.write_sweep_csv(result, csv)
    if failed is not None:
        raise failed
    if not result.complete:
        resume = "Give --output FILE to be able to go on after a stop."
        if output is not None:
            resume = f"To go on, run the same command again: {output} has the finished games."
        planned = result.planned * len(result.cells)
        say(f"Interrupted: {result.finished} of {planned} games were finished. {escape(resume)}")
        raise typer.Exit(INTERRUPTED)


@app.command()
@_reported
def search(
    game: GameName,
    agent: Annotated[
        str, typer.Argument(metavar="AGENT", help="An agent, such as 'rave(rave_k=300)'.")
    ],
    moves: Moves = "",
    simulations: Simulations = None,
    seconds: Seconds = None,
    seed: Seed = 0,
    rows: Annotated[int, typer.Option(help="Moves in the table.", min=1)] = 10,
    player: Annotated[
        int, typer.Option(help="For whom to choose where players move at the same time.", min=0)
    ] = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what an agent thinks of a position."""
    from rave_agents import analysis, report  # noqa: PLC0415

    found = analysis.analyse(
        game,
        agent,
        moves=moves,
        simulations=simulations,
        seconds=seconds,
        seed=seed,
        player=player,
    )
    if as_json:
        show_json(found.to_dict())
    else:
        show(*report.analysis(found, rows))


@app.command()
@_reported
def solve(
    game: GameName,
    moves: Moves = "",
    seconds: Annotated[float | None, typer.Option(help="Seconds at most.")] = None,
    simulations: Annotated[int | None, typer.Option(help="Simulations at most.")] = None,
    max_memory_mb: Annotated[float, typer.Option(help="Megabytes for the tree.")] = 1024.0,
    seed: Seed = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Prove who wins a position, or show how far the proof came.

    It ends when the position is solved, at a limit, when the memory is full, or at Ctrl-C, which
    shows what is known by then.
    """
    from rave_agents import solve_report  # noqa: PLC0415
    from rave_agents.solve import solve_position  # noqa: PLC0415

    console = stderr()
    watched = console.is_terminal and not as_json
    with solve_report.solve_progress(console) as progress:
        solution = solve_position(
            game,
            moves=moves,
            simulations=simulations,
            seconds=seconds,
            max_memory_mb=max_memory_mb,
            seed=seed,
            progress=progress if watched else None,
        )
    if as_json:
        show_json(solution.to_dict())
    else:
        show(*solve_report.solution(solution))
    if solution.end == "interrupted":
        say("Interrupted.")
        raise typer.Exit(INTERRUPTED)


@app.command()
@_reported
def bench(
    games: Annotated[
        list[str] | None, typer.Argument(metavar="[GAMES]...", help="By default twelve games.")
    ] = None,
    agents: Annotated[
        str, typer.Option(help="Agents to measure, separated by semicolons or spaces.")
    ] = "uct rave",
    baseline: Annotated[str, typer.Option(help="The agent to compare with.")] = "mcts",
    rounds: Annotated[int, typer.Option(help="How often each agent is measured.")] = 5,
    seed: Seed = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure simulations per second beside OpenSpiel's C++ MCTSBot."""
    from rave_agents import report  # noqa: PLC0415
    from rave_agents.arena.bench import DEFAULT_GAMES, run_bench  # noqa: PLC0415

    names = games or DEFAULT_GAMES
    with report.bench_progress(stderr(), names, rounds) as progress:
        result = run_bench(
            names,
            agents.replace(";", " ").split(),
            baseline=baseline,
            rounds=rounds,
            seed=seed,
            progress=progress,
        )
    if as_json:
        show_json(result.to_dict())
    else:
        show(report.bench_table(result, baseline))
    if result.interrupted:
        say(f"Interrupted: {len({row.game for row in result.rows})} games were finished.")
        raise typer.Exit(INTERRUPTED)


@app.command()
@_reported
def gtp(
    agent: Annotated[
        str, typer.Argument(metavar="AGENT", help="An agent, such as 'rave(seconds=1)'.")
    ] = "rave",
    game: Annotated[
        str, typer.Option(help="Such as 'go(board_size=9)'; controllers may change the size.")
    ] = "go(board_size=9)",
    simulations: Simulations = None,
    seconds: Seconds = None,
    clock: ClockText = None,
    seed: Annotated[int | None, typer.Option(help="Decides everything random.")] = None,
    debug: Debug = False,
) -> None:
    """Play by the Go Text Protocol, version 2, on standard input and output."""
    from rave_agents.arena.match import limited_spec  # noqa: PLC0415
    from rave_agents.arena.play import warm_up  # noqa: PLC0415
    from rave_agents.gtp.engine import Engine  # noqa: PLC0415
    from rave_agents.gtp.serve import serve_standard_streams  # noqa: PLC0415

    spec = limited_spec(agent, simulations, seconds, clock)
    engine = Engine(game, spec, seed=seed)
    warm_up(spec, engine.position.game)  # Before the controller's clock runs.
    code = serve_standard_streams(engine)
    if code:
        raise typer.Exit(code)


@app.command("agents")
@_reported
def list_agents(
    name: Annotated[
        str | None, typer.Argument(metavar="[AGENT]", help="An agent, to see its parameters.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """List the agents, or the parameters of one."""
    from rave_agents import report  # noqa: PLC0415
    from rave_agents.agents import agent_type, agent_types  # noqa: PLC0415

    types = agent_types() if name is None else {name: agent_type(name)}
    if as_json:
        show_json({"agents": report.agents_as_dicts(types)})
    elif name is None:
        show(report.agents_table(types))
    else:
        show(f"[bold]{name}[/]: {types[name].summary}", report.parameters_table(types[name]))


@app.command("games")
@_reported
def list_games(
    part: Annotated[
        str, typer.Argument(metavar="[FILTER]", help="Part of a name or description.")
    ] = "",
    everything: Annotated[
        bool, typer.Option("--all", help="Those that cannot be searched too, and why.")
    ] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """List the games of the installed frameworks."""
    from rave_agents import report  # noqa: PLC0415

    listed = report.find_games(part, everything=everything)
    if as_json:
        show_json({"games": listed})
    else:
        show(report.games_table(listed, reasons=everything))


@app.command()
@_reported
def doctor(
    quick: Annotated[bool, typer.Option("--quick", help="Measure no starts.")] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show versions, frameworks, the compiled search, and how fast it starts."""
    from rave_agents import report  # noqa: PLC0415
    from rave_agents.doctor import examine  # noqa: PLC0415

    waiting = stderr().status("Compiling and starting in fresh processes ...")
    with contextlib.nullcontext() if quick else waiting:
        findings = examine(measure=not quick)
    if as_json:
        show_json(findings)
    else:
        show(report.doctor_table(findings))
