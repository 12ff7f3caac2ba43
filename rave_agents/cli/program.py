"""The program itself: its commands, its exit codes, and its messages about errors."""

import contextlib
import functools
import inspect
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

import typer
from rich.markup import escape

from rave_agents import __version__
from rave_agents.arena.worker import FailedGameError
from rave_agents.cli.follow import follow
from rave_agents.cli.options import SHARED, AdvisingGroup
from rave_agents.cli.terminal import say, tolerate_encoding
from rave_agents.errors import RaveAgentsError
from rave_agents.frameworks.adapters import framework_errors

USER_ERROR, FAILED_GAME = 2, 1
"""Exit codes."""

_ENDED_BY = 128
"""Offset of a signal's number in the exit code of a program that this signal ended."""

app: typer.Typer = typer.Typer(
    name="rave-agents",
    cls=AdvisingGroup,
    help="Search agents for board games: matches, analysis, speed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_READING = ("report", "merge", "doctor", "verify")
"""Commands that read other people's files, and so import nothing from the current folder."""

_received = [signal.SIGINT]
"""The signals that interrupted the program; the last one gives its exit code."""


def main() -> None:
    """Run the program."""
    # Before anything is written: a terminal's encoding may lack the bars of tables.
    for stream in (sys.stdout, sys.stderr):
        tolerate_encoding(stream)
    warnings.formatwarning = _warning_text  # type: ignore[assignment]
    if "_RAVE_AGENTS_COMPLETE" in os.environ:  # Completing a word must not compile the bridge.
        os.environ.setdefault("RAVE_AGENTS_NATIVE", "0")
    app(prog_name="rave-agents")


def _warning_text(message: Warning | str, *place: object) -> str:
    """A warning without the line of the package's code that issued it."""
    return f"Warning: {' '.join(str(message).split())}\n"


def use_current_folder() -> None:
    """Let specs name the user's own modules in the current folder."""
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


def command(
    function: Callable[..., Any] | None = None,
    *others: Callable[..., Any],
    name: str | None = None,
    **changes: Mapping[str, Any] | str,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a command to the program, with the options of the function that it calls.

    Args:
        function: the function, see ``follow``.
        *others: further functions for ``follow``.
        name: the command's name; None for that of the decorated function.
        **changes: by parameter, its help, or the changes for ``follow`` in addition to ``SHARED``.
    """
    merged = dict(SHARED)
    for key, change in changes.items():
        more = {"help": change} if isinstance(change, str) else change
        merged[key] = {**SHARED.get(key, {}), **more} if more else {}

    def decorate(body: Callable[..., None]) -> Callable[..., None]:
        app.command(name)(_reported(follow(function, *others, changes=merged)(body)))
        return body

    return decorate


def _mendable() -> tuple[type[Exception], ...]:
    """The errors that a user can correct."""
    return (RaveAgentsError, ValueError, TypeError, OSError, *framework_errors())


def _reported(body: Callable[..., None]) -> Callable[..., None]:
    """Turn errors that a user can correct into one line and an exit code; ``--debug`` raises."""

    @functools.wraps(body)
    def run(*, debug: bool, **values: Any) -> None:
        try:
            with _other_signals_interrupt():
                body(**values)
        except KeyboardInterrupt:
            raise interrupted() from None  # Commands with results have shown them by now.
        except _mendable() as error:
            if debug or isinstance(error, BrokenPipeError):
                raise
            say(f"[bold red]Error:[/] [red]{escape(' '.join(str(error).split()))}[/]")
            code = FAILED_GAME if isinstance(error, FailedGameError) else USER_ERROR
            raise typer.Exit(code) from None

    debug = inspect.Parameter(
        "debug",
        inspect.Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[
            bool,
            typer.Option("--debug", envvar="RAVE_AGENTS_DEBUG", help="Show tracebacks of errors."),
        ],
    )
    parameters = [*inspect.signature(body).parameters.values(), debug]
    keywords = [each.replace(kind=each.KEYWORD_ONLY) for each in parameters]
    run.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in keywords}
    return run


@contextlib.contextmanager
def _other_signals_interrupt() -> Iterator[None]:
    """Let SIGTERM and SIGHUP, from a closed terminal, interrupt a command like Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():  # Signals need the main thread.
        yield
        return
    del _received[1:]
    numbers = [signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if name in vars(signal)]
    replaced = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]

    def end(number: int, frame: Any) -> None:
        for each in replaced:  # A second signal must not stop the output of the results.
            signal.signal(each, lambda number, frame: None)
        _received.append(signal.Signals(number))
        raise KeyboardInterrupt

    for number in replaced:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in replaced:
            signal.signal(number, signal.SIG_DFL)


def interrupted(what: str = "") -> typer.Exit:
    """Report that a command was interrupted; returns the exit to raise."""
    word = "Interrupted" if _received[-1] == signal.SIGINT else "Terminated"
    say(f"{word}: {what}" if what else f"{word}.")
    return typer.Exit(_ENDED_BY + _received[-1])


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rave-agents {__version__}")
        raise typer.Exit


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
