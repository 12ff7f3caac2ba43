"""The commands that list agents and games, and examine the installation: doctor."""

import contextlib
from functools import partial
from typing import Annotated, Any

import typer
from rich.markup import escape

from rave_agents.agents.named_agents import agent_type, agent_types
from rave_agents.cli import report
from rave_agents.cli.doctor import examine
from rave_agents.cli.options import complete_agent, complete_game
from rave_agents.cli.output import Json
from rave_agents.cli.program import command
from rave_agents.cli.terminal import show, show_json, stderr
from rave_agents.evaluators.shipped import known_games


@command(name="agents")
def list_agents(
    *,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[AGENT]",
            autocompletion=complete_agent,
            help="An agent, to see its parameters.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the agents, or the parameters of one."""
    types = agent_types() if name is None else {name: agent_type(name)}
    if as_json:
        show_json({"agents": report.agents_as_dicts(types)})
    elif name is None:
        show(report.agents_table(types))
        known = escape(report.known_games_line(known_games()))
        show(f"Games for which auto has a learned value, without known=False: {known}")
    else:
        show(f"[bold]{name}[/]: {types[name].summary}", report.parameters_table(types[name]))


@command(
    report.find_games,
    name="games",
    part={
        "metavar": "[FILTER]",
        "autocompletion": complete_game,
        "help": "Part of a name or description.",
    },
    everything={"option": "--all", "help": "List unsupported games too, with the reasons."},
)
def list_games(call: partial[Any], *, as_json: Json = False) -> None:
    """List the games of the installed frameworks."""
    listed = call()
    if as_json:
        show_json({"games": listed})
    else:
        show(report.games_table(listed, reasons=call.keywords.get("everything", False)))


@command()
def doctor(
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Skip the start-up timings.")] = False,
    as_json: Json = False,
) -> None:
    """Show versions, frameworks, the compiled search, and how fast it starts."""
    waiting = stderr().status("Compiling and starting in fresh processes ...")
    with contextlib.nullcontext() if quick else waiting:
        findings = examine(measure=not quick)
    if as_json:
        show_json(findings)
    else:
        show(report.doctor_table(findings))
