"""Options of commands that do not exist, answered with those that are meant."""

from typing import Any

from typer.core import TyperGroup

from rave_agents.agents.named_agents import DEFAULT_AGENT, agent_type
from rave_agents.game.arguments import synonym_advice


class AdvisingGroup(TyperGroup):
    """Commands that answer an unknown option of another program with ours."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            if hasattr(error, "option_name") and hasattr(error, "possibilities"):
                advise(error)
            raise


def advise(error: Any) -> None:
    """Say in the error of an unknown option which one is meant, if any is."""
    option = error.option_name.lstrip("-").replace("-", "_")
    command = error.ctx.command if error.ctx is not None else None
    known = [name for each in getattr(command, "params", ()) for name in _names(each)]
    advice = synonym_advice(option, known) or _of_agents(option)
    if advice is not None:
        error.message = f"No such option: {error.option_name}: {advice}."
        error.possibilities = []


def _names(parameter: Any) -> list[str]:
    """The names of a parameter of a command: of its options, or else its own."""
    options = [each.lstrip("-").replace("-", "_") for each in parameter.opts]
    return [parameter.name, *options]


def _of_agents(option: str) -> str | None:
    """Advice for an option that is a parameter of agents."""
    kind = agent_type(DEFAULT_AGENT)
    if kind.takes(option, {}):
        return f"give it in an agent's spec, as in '{DEFAULT_AGENT}({option}=...)'"
    assert kind.config is not None
    known = [*kind.parameters, *(path.split(".")[-1] for path in kind.config.parts_in_use())]
    advice = synonym_advice(option, known)
    return None if advice is None else f"in an agent's spec, as in 'uct(c=0.7)', {advice}"
