"""The commands that play for other programs: gtp, uci."""

from functools import partial

import typer

from rave_agents.cli.program import command
from rave_agents.engines.serve import serve_gtp, serve_uci


def _serve(call: partial[int]) -> None:
    code = call()
    if code:
        raise typer.Exit(code)


@command(serve_gtp, game={"help": "The game; controllers may change the board's size."})
def gtp(call: partial[int]) -> None:
    """Play by the Go Text Protocol, version 2, on standard input and output."""
    _serve(call)


@command(serve_uci, game={"help": "The game, one whose moves UCI can write."})
def uci(call: partial[int]) -> None:
    """Play by the Universal Chess Interface on standard input and output.

    Info lines show the search: the score in centipawns, or the moves to a proven end.
    """
    _serve(call)
