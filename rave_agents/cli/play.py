"""The command ``play``: a game against an agent, in the terminal or in the browser."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import typer

from rave_agents.cli.output import check_writable
from rave_agents.cli.program import command, interrupted
from rave_agents.cli.terminal import say, tolerate_encoding
from rave_agents.cli.terminal_game import TerminalGame
from rave_agents.sessions.game_file import game_text, restore_clocks
from rave_agents.sessions.live import LiveSession
from rave_agents.sessions.session import Session
from rave_agents.sessions.setting_up import limited, set_up_session
from rave_agents.web.server import serve


@command(
    set_up_session,
    agents={"metavar": "[AGENT]..."},
    seats={},
    seat={"metavar": "SEAT"},
    output="Keep the game in this file after each move, and go on from it.",
    seed={"default": None},
    seconds="Seconds a move of an agent without a limit; 1 without --clock.",
)
def play(
    call: partial[Session],
    agents: list[str] | None = None,
    *,
    seat: str = "0",
    output: Path | None = None,
    web: bool = False,
    port: int = 0,
    browser: bool = True,
) -> None:
    """Play against an agent, or watch agents play, in the terminal or (--web) the browser.

    Options:
        agents: the agent, such as 'rave(seconds=2)'; several for several seats. By default auto.
        seat: your seat, from 0; several as 0,1 for people alone; none to watch agents.
        web: play on a page in the browser.
        port: port of the page; 0 for a free one.
        browser: open the page in the browser.
    """
    resumes = output is not None and output.exists() and output.stat().st_size > 0
    given = call.keywords
    if resumes and ("moves" in given or "position" in given):
        raise ValueError(f"{output} has a game to go on with: give no --position and no --moves.")
    begun = {"position": output} if resumes else {}
    session = call(agents=agents or (), seats=parsed_seats(seat), **begun)
    if output is not None:
        check_writable(output, "--output")
        game_text(session)  # Raises now, not after the first move, if the game cannot be written.
    if resumes and output is not None:
        session.replay_start()  # The file's moves become turns that can be taken back.
        restore_clocks(session, output)
    adviser = next((who for who in session.seats if who is not None), None)
    live = LiveSession(
        session,
        adviser=adviser
        or limited((agents or ["auto"])[-1], given.get("simulations"), given.get("seconds")),
        beside=web,
        path=output,
        pace=0.0 if session.people else 0.7 if web else 0.0,
    )
    if web:
        try:
            serve(live, port=port, opens=browser, say=say)
        except ImportError as error:
            raise ValueError(str(error)) from error
        return
    tolerate_encoding(sys.stdout)
    with live:
        left = TerminalGame(live).play()
    if left:
        if output is not None:
            say(f"{output} has the game: the same command goes on with it.")
        raise interrupted("the game is not over.") if left == "interrupted" else typer.Exit


def parsed_seats(text: str) -> Sequence[int]:
    """Parse the option ``--seat``.

    Raises:
        ValueError: for another text.
    """
    if text.strip().lower() == "none":
        return ()
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise ValueError(
            f"--seat must be a seat such as 0, several such as 0,1, or none: got {text!r}."
        ) from None
