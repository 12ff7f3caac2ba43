"""The command that checks a certificate: verify."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from rave_agents.certificates.certificate_file import verify_certificate
from rave_agents.cli.completion import complete_game
from rave_agents.cli.program import Debug, Json, app, reported, use_current_folder
from rave_agents.cli.terminal import show, show_json
from rave_agents.game.notation import position_text
from rave_agents.results.numbers import counted, whole


@app.command()
@reported
def verify(
    file: Annotated[Path, typer.Argument(help="The certificate, of solve --certificate.")],
    game: Annotated[
        str | None,
        typer.Argument(
            metavar="[GAME]",
            autocompletion=complete_game,
            help="The game in place of the one that the file names, needed for one of your own.",
        ),
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Check a certificate: the proof of a position's value, by the rules of the game alone.

    It prints what is proven, and ends with exit code 2 if the file does not prove it.
    """
    if game is not None:
        use_current_folder()
    verified = verify_certificate(file, game)
    header = verified.header
    if as_json:
        proven = [statement._asdict() for statement in header.statements]
        show_json(
            header._asdict()
            | {
                "named": verified.named,
                "board": position_text(verified.state),
                "statements": proven,
            }
            | {"lines": verified.lines, "verified": True}
        )
        return
    show(escape(position_text(verified.state).rstrip("\n")), "")
    moves = f" after {counted(len(header.moves), 'move')}" if header.moves else ""
    start = "" if header.position is None else f" from {header.position}"
    show(escape(f"{header.game}{start}{moves}: verified by {whole(verified.lines)} lines"))
    for statement in header.statements:
        show(escape(f"  {statement}"))
