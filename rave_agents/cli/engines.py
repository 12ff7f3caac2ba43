"""The commands that play for other programs: gtp, uci."""

from functools import partial

import typer

from rave_agents.cli.program import command
from rave_agents.engines.gtp_engine import GtpEngine
from rave_agents.engines.serve import serve_agent
from rave_agents.engines.uci_engine import UciEngine


@command(
    serve_agent,
    engine={},
    agent={"default": "rave"},
    game={
        "option": "--game",
        "default": "go(board_size=9)",
        "help": "The game; controllers may change the board's size.",
    },
)
def gtp(call: partial[int]) -> None:
    """Play by the Go Text Protocol, version 2, on standard input and output."""
    _end_with(call(GtpEngine))


@command(
    serve_agent,
    engine={},
    agent={"default": "auto"},
    game={
        "option": "--game",
        "default": "chess",
        "help": "Chess, shogi, xiangqi, othello, amazons, breakthrough or clobber.",
    },
)
def uci(call: partial[int]) -> None:
    """Play by the Universal Chess Interface on standard input and output.

    Info lines show the search: the score in centipawns, or the moves to a proven end.
    """
    _end_with(call(UciEngine))


def _end_with(code: int) -> None:
    if code:
        raise typer.Exit(code)
