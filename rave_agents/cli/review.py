"""The command ``review``: what each move of a game lost, and why."""

from pathlib import Path
from typing import Annotated

import typer

from rave_agents.analysis.recorded_game import recorded_game
from rave_agents.analysis.review import review_game
from rave_agents.cli.completion import complete_agent
from rave_agents.cli.program import (
    Csv,
    Debug,
    GameName,
    Json,
    Seed,
    app,
    check_files,
    check_writable,
    interrupted,
    reported,
    write_files,
)
from rave_agents.cli.terminal import say, show_json, show_result
from rave_agents.files import written_whole
from rave_agents.frameworks.own_games import as_game
from rave_agents.results.progress import Progress, shown
from rave_agents.results.view import View
from rave_agents.web.review_page import review_page


@app.command()
@reported
def review(
    game: GameName,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A game: SGF, PGN, a list of moves, or a file of games (--number)."
        ),
    ],
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT", autocompletion=complete_agent, help="An agent that searches."
        ),
    ] = "auto",
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the review as one page into this file.")
    ] = None,
    number: Annotated[
        int, typer.Option(help="The number of the game, from 1, in a file of games.", min=1)
    ] = 1,
    simulations: Annotated[
        int | None, typer.Option(help="Simulations for each position.", show_default=False)
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(help="Seconds for each position; 1 without --simulations."),
    ] = None,
    seed: Seed = 0,
    csv: Csv = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Review a game: the mistakes, what was expected, and why.

    Ctrl-C ends it and shows what is reviewed by then.
    """
    loaded = as_game(game)
    start, actions = recorded_game(loaded, file, number)
    check_files(csv)
    if html is not None:
        check_writable(html, "--html")
    automatic: Progress[tuple[int, int]] = None
    with shown(automatic, _view) as tell:
        found = review_game(
            loaded,
            actions,
            agent,
            simulations=simulations,
            seconds=seconds,
            seed=seed,
            start=start,
            progress=None if tell is None else lambda done, planned: tell((done, planned)),
        )
    if html is not None:
        with written_whole(html, "w", encoding="utf-8") as written:
            written.write(review_page(found))
        say(f"{html} has the review.")
    if as_json:
        show_json(found.to_dict())
    else:
        show_result(found)
    write_files(found, csv)
    if found.interrupted:
        raise interrupted("the last moves are not reviewed.")


def _view(done: tuple[int, int]) -> View:
    return View(*done, "positions", lambda width: "")
