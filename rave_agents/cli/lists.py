"""The commands that tell what there is: agents, games, doctor."""

import contextlib
from typing import Annotated

import typer
from rich.markup import escape

from rave_agents.agents.named_agents import agent_type, agent_types
from rave_agents.cli import report
from rave_agents.cli.completion import complete_agent, complete_game
from rave_agents.cli.doctor import examine
from rave_agents.cli.program import Debug, Json, app, reported
from rave_agents.cli.terminal import show, show_json, stderr
from rave_agents.evaluators.shipped import known_games


@app.command("agents")
@reported
def list_agents(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[AGENT]",
            autocompletion=complete_agent,
            help="An agent, to see its parameters.",
        ),
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """List the agents, or the parameters of one."""
    types = agent_types() if name is None else {name: agent_type(name)}
    if as_json:
        show_json({"agents": report.agents_as_dicts(types)})
    elif name is None:
        show(report.agents_table(types))
        known = escape(report.known_games_line(known_games()))
        show(f"Games of which auto has a learned value, without known=False: {known}")
    else:
        show(f"[bold]{name}[/]: {types[name].summary}", report.parameters_table(types[name]))


@app.command("games")
@reported
def list_games(
    part: Annotated[
        str,
        typer.Argument(
            metavar="[FILTER]", autocompletion=complete_game, help="Part of a name or description."
        ),
    ] = "",
    everything: Annotated[
        bool, typer.Option("--all", help="List unsupported games too, with the reasons.")
    ] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """List the games of the installed frameworks."""
    listed = report.find_games(part, everything=everything)
    if as_json:
        show_json({"games": listed})
    else:
        show(report.games_table(listed, reasons=everything))


@app.command()
@reported
def doctor(
    quick: Annotated[bool, typer.Option("--quick", help="Skip the start-up timings.")] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show versions, frameworks, the compiled search, and how fast it starts."""
    waiting = stderr().status("Compiling and starting in fresh processes ...")
    with contextlib.nullcontext() if quick else waiting:
        findings = examine(measure=not quick)
    if as_json:
        show_json(findings)
    else:
        show(report.doctor_table(findings))
