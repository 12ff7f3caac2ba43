"""The program itself, the options that commands share, and its messages about errors."""

import contextlib
import functools
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar

import typer
from rich.markup import escape

from rave_agents import __version__
from rave_agents.arena.dask_cluster import dask_executor
from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.race_result import RaceResult
from rave_agents.arena.scaling import ScalingResult
from rave_agents.arena.sweep import SweepResult
from rave_agents.arena.tournament_result import TournamentResult
from rave_agents.arena.worker import FailedGameError, UnfinishedError
from rave_agents.cli.completion import complete_game
from rave_agents.cli.options import AdvisingGroup
from rave_agents.cli.terminal import say, tolerate_encoding
from rave_agents.errors import RaveAgentsError
from rave_agents.frameworks.adapters import framework_errors
from rave_agents.results.result import Result

USER_ERROR, FAILED_GAME = 2, 1
"""Exit codes."""

_ENDED_BY = 128
"""Offset of a signal's number in the exit code of a program that this signal ended."""

_P = ParamSpec("_P")

ArenaResult = MatchResult | RaceResult | SweepResult | ScalingResult | TournamentResult
R = TypeVar("R", bound=ArenaResult)

RENAMED = {
    "bench": "'speed', simulations a second",
    "benchmark": "'ablation', games with and without AMAF, or 'speed', simulations a second",
    "levels": "'python examples/level_ladder.py', which measures them",
}
"""Commands that had another name, and what they measure."""


class _Program(AdvisingGroup):
    """The program; a command's former name is answered with the one it has now."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the arguments name."""
        if args[0] in RENAMED:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {RENAMED[args[0]]}?")
        return super().resolve_command(ctx, args)


app: typer.Typer = typer.Typer(
    name="rave-agents",
    cls=_Program,
    help="Search agents for board games: matches, analysis, speed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Debug = Annotated[
    bool, typer.Option("--debug", envvar="RAVE_AGENTS_DEBUG", help="Show tracebacks of errors.")
]
GameName = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        autocompletion=complete_game,
        help="The game: tic_tac_toe, 'hex(board_size=9)', or your own: module:Name, ./nim.py:Nim.",
    ),
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
Seed = Annotated[int, typer.Option(help="Seed of all random numbers.")]
Moves = Annotated[
    str, typer.Option(help="Moves to play first, by name or number, chance outcomes too.")
]
PositionText = Annotated[
    str | None,
    typer.Option(
        "--position",
        metavar="TEXT|FILE",
        help="The position to begin at: a FEN, the text that the game prints, or a file of moves "
        "(.sgf, .pgn or text). --moves go on from there.",
    ),
]
OpeningPlies = Annotated[
    int | None,
    typer.Option(
        help="Random moves at the start of a game; by default 2, none with simultaneous moves or "
        "from a --position."
    ),
]
Forfeit = Annotated[
    bool,
    typer.Option(
        "--forfeit",
        help="A GTP program that fails to start or play loses its games; by default, an error.",
    ),
]
Jobs = Annotated[int, typer.Option(help="Processes that play at the same time.")]
Dask = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Play on a Dask cluster: its scheduler's address, such as tcp://host:8786, or local "
        "for a cluster of --jobs processes of this machine.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        help="Save every game in this file, and go on from it, with more games if you like."
    ),
]
Csv = Annotated[
    Path | None, typer.Option("--csv", help="Write the rows of the table to this file.")
]
Png = Annotated[Path | None, typer.Option("--png", help="Draw the estimates with their intervals.")]
ShardText = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="PART/PARTS",
        help="Play this part of the games only, such as 3/40; rave-agents merge joins the files.",
    ),
]


_received = [signal.SIGINT]
"""The signal that an interruption came from, in the end."""


def main() -> None:
    """Run the program."""
    for stream in (sys.stdout, sys.stderr):
        tolerate_encoding(stream)
    warnings.formatwarning = _warning_text
    if "_RAVE_AGENTS_COMPLETE" in os.environ:  # Nothing is played: no bridge need be compiled.
        os.environ.setdefault("RAVE_AGENTS_NATIVE", "0")
    app(prog_name="rave-agents")


def _warning_text(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,
) -> str:
    """A warning without the place in the package's code that it comes from."""
    return f"Warning: {' '.join(str(message).split())}\n"


def use_current_folder() -> None:
    """Let specs name modules of the user's own that lie in the current folder."""
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


def interrupted(what: str = "") -> typer.Exit:
    """Say that a command was interrupted; the exit to raise then."""
    word = "Interrupted" if _received[-1] == signal.SIGINT else "Terminated"
    say(f"{word}: {what}" if what else f"{word}.")
    return typer.Exit(_ENDED_BY + _received[-1])


@contextlib.contextmanager
def _executor(dask: str | None, jobs: int) -> Iterator[Executor | None]:
    """The executor of a Dask cluster; None without one."""
    if dask is None:
        yield None
        return
    with dask_executor(dask, jobs=jobs) as executor:
        yield executor


def run_games(
    run: Callable[..., R], dask: str | None, jobs: int
) -> tuple[R, UnfinishedError[R] | None]:
    """Play games.

    Args:
        run: plays them, given ``jobs`` and ``executor``, and shows its progress.
        dask: the address of a Dask cluster; None for processes of this machine.
        jobs: their number.

    Returns:
        What is finished, and the error that ended it before its time, for ``conclude``.
    """
    with _executor(dask, jobs) as executor:
        try:
            return run(jobs=jobs, executor=executor), None
        except UnfinishedError as error:
            return error.result, error


def check_writable(path: Path, option: str) -> None:
    """Raise before the first game what writing a file would raise after the last."""
    if not path.parent.is_dir():
        raise ValueError(f"There is no folder {str(path.parent)!r} for {option}.")
    existed = path.exists()
    path.open("a").close()
    if not existed:
        path.unlink()


def check_files(csv: Path | None, png: Path | None = None) -> None:
    """Refuse files that cannot be written, before anything is played or searched."""
    for path, option in ((csv, "--csv"), (png, "--png")):
        if path is not None:
            check_writable(path, option)


def write_files(result: Result, csv: Path | None, png: Path | None = None) -> None:
    """Write the table and the picture of a result."""
    if csv is not None:
        result.to_csv(csv)
    if png is not None:
        result.plot().savefig(png, format="png", dpi=150, bbox_inches="tight")


def conclude(
    result: ArenaResult,
    failed: Exception | None,
    output: Path | None,
    csv: Path | None,
    png: Path | None,
) -> None:
    """Write the files of the finished games, and raise what ended the games before their time."""
    write_files(result, csv, png if result.finished else None)
    if failed is not None:
        raise failed
    if not result.interrupted:
        return
    to_go_on = (
        "Give --output FILE to be able to go on after a stop."
        if output is None
        else f"To go on, run the same command again: {escape(str(output))} has the finished games."
    )
    raise interrupted(f"{result.finished} of {result.all_planned} games were finished. {to_go_on}")


@contextlib.contextmanager
def _ended_like_interrupted() -> Iterator[None]:
    """A request to end, or a closed terminal, does meanwhile what Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    del _received[1:]
    asked = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    replaced = [number for number in asked if signal.getsignal(number) is signal.SIG_DFL]

    def end(number: int, frame: Any) -> None:
        for each in replaced:
            signal.signal(each, lambda number, frame: None)  # What is finished is being shown.
        _received.append(signal.Signals(number))
        raise KeyboardInterrupt

    for number in replaced:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in replaced:
            signal.signal(number, signal.SIG_DFL)


def _mendable() -> tuple[type[Exception], ...]:
    """The errors that a user can mend."""
    return (RaveAgentsError, ValueError, TypeError, OSError, *framework_errors())


def reported(command: Callable[_P, None]) -> Callable[_P, None]:
    """Turn errors that a user can mend into one line and an exit code."""

    @functools.wraps(command)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> None:

        try:
            with _ended_like_interrupted():
                command(*args, **kwargs)
        except KeyboardInterrupt:
            raise interrupted() from None
        except _mendable() as error:
            if kwargs["debug"] or isinstance(error, BrokenPipeError):
                raise
            say(f"[bold red]Error:[/] [red]{escape(' '.join(str(error).split()))}[/]")
            code = FAILED_GAME if isinstance(error, FailedGameError) else USER_ERROR
            raise typer.Exit(code) from None

    return run


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rave-agents {__version__}")
        raise typer.Exit


_READING = ("report", "merge", "doctor", "verify")
"""Commands that read what others may have made, and so run nothing that lies beside it."""


@app.callback()
def _program(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    if context.invoked_subcommand not in _READING:
        use_current_folder()
