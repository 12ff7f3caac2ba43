"""Options of several commands, and advice for options that do not exist."""

from collections.abc import Mapping
from typing import Any

from typer.core import TyperGroup

from rave_agents.agents.named_agents import DEFAULT_AGENT, agent_type, agent_types
from rave_agents.game.arguments import synonym_advice
from rave_agents.games import GAMES


def complete_game(incomplete: str) -> list[str]:
    """Complete the name of one of this package's games."""
    return [name for name in GAMES if name.startswith(incomplete)]


def complete_agent(incomplete: str) -> list[tuple[str, str]]:
    """Complete the name of an agent; each comes with its summary."""
    types = sorted(agent_types().items())
    return [(name, kind.summary) for name, kind in types if name.startswith(incomplete)]


SHARED: Mapping[str, Mapping[str, Any]] = {
    "game": {
        "autocompletion": complete_game,
        "help": "The game: tic_tac_toe, 'hex(board_size=9)', or your own: module:Name, "
        "./nim.py:Nim.",
    },
    "agent": {"autocompletion": complete_agent},
    "first": {"autocompletion": complete_agent, "help": "An agent, such as 'rave(c=0.2)'."},
    "second": {"autocompletion": complete_agent},
    "opponent": {"autocompletion": complete_agent},
    "baseline": {"autocompletion": complete_agent},
    "moves": {"help": "Moves to play first, by name or number, chance outcomes too."},
    "position": {
        "kind": str,
        "metavar": "TEXT|FILE",
        "help": "The position to begin at: a FEN, the text that the game prints, or a file of "
        "moves (.sgf, .pgn or text). --moves go on from there.",
    },
    "clock": {
        "help": "Each side's time in place of seconds a move: 60+1 is 60 s and 1 s a move; also "
        "60+3x10 (byo-yomi), '2 a move', '4 to 4, 8.3 to 26, 4'.",
    },
    "opening_plies": {
        "help": "Random moves at the start of a game; by default 2, none with simultaneous moves "
        "or from a --position."
    },
    "shard": {"metavar": "PART/PARTS"},
    "agents": {"autocompletion": complete_agent},
    "csv": {"help": "Write the rows of the table to this file."},
    "png": {"help": "Draw the estimates with their intervals."},
    "as_json": {"option": "--json", "help": "Print one JSON object and nothing else."},
    "dask": {
        "metavar": "ADDRESS",
        "help": "Play on a Dask cluster: its scheduler's address, such as tcp://host:8786, or "
        "local for a cluster of --jobs processes of this machine.",
    },
    "progress": {},
    "executor": {},
}
"""By parameter, what a terminal needs in place of the docstring of the function that takes it."""

RENAMED = {
    "bench": "'speed', simulations a second",
    "benchmark": "'ablation', games with and without AMAF, or 'speed', simulations a second",
    "levels": "'python examples/level_ladder.py', which measures them",
}
"""Former names of commands: the command that there is now, and what it measures."""


class AdvisingGroup(TyperGroup):
    """Answers former names of commands, and options of other programs, with ours."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the arguments name."""
        if args[0] in RENAMED:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {RENAMED[args[0]]}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            # Typer's error of an unknown option; its class is not public.
            if hasattr(error, "option_name") and hasattr(error, "possibilities"):
                _advise(error)
            raise


def _advise(error: Any) -> None:
    """Name in the error of an unknown option the one that is meant, if any is."""
    option = _name(error.option_name)
    parameters = [] if error.ctx is None else error.ctx.command.params
    known = [_name(each) for one in parameters for each in (one.name, *one.opts)]
    advice = synonym_advice(option, known) or _of_agents(option)
    if advice is not None:
        error.message = f"No such option: {error.option_name}: {advice}."
        error.possibilities = []


def _name(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


def _of_agents(option: str) -> str | None:
    kind = agent_type(DEFAULT_AGENT)
    if kind.takes(option, {}):
        return f"give it in an agent's spec, as in '{DEFAULT_AGENT}({option}=...)'"
    assert kind.config is not None
    known = [*kind.parameters, *(path.split(".")[-1] for path in kind.config.parts_in_use())]
    advice = synonym_advice(option, known)
    return None if advice is None else f"in an agent's spec, as in 'uct(c=0.7)', {advice}"
