"""Hidden information of an environment: what it declares, and what a search may know."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from rave_agents.environments.chance import Chance, Knowledge
from rave_agents.environments.worlds import WorldFunction

DECLARATION: Final = "hidden_information"
"""The metadata key under which an environment declares what it hides from its agents."""

DRAWN_BEFORE: Final = "what its reset decides and shows only later"
"""The hidden information of an environment whose equal-looking starts diverge."""

UNDECLARED: Final[Any] = object()
"""The declaration of an environment that makes none."""


def declared_hidden(raw: Any, name: Callable[[Any], str]) -> Any:
    """Return the hidden information that an environment declares.

    Args:
        raw: the innermost environment.
        name: returns its name, for messages.

    Returns:
        A text; None if it declares that nothing is hidden; ``UNDECLARED`` without a declaration.

    Raises:
        TypeError: if the declaration is not a text, True, False or None.
    """
    metadata = getattr(raw, "metadata", None)
    if not isinstance(metadata, Mapping) or DECLARATION not in metadata:
        return UNDECLARED
    declared = metadata[DECLARATION]
    if not isinstance(declared, str | bool | None):
        raise TypeError(
            f"metadata[{DECLARATION!r}] of {name(raw)} must be a text that says what is hidden "
            f"from its agents, True, or None if nothing is hidden; it is {declared!r}."
        )
    return "what it declares as hidden" if declared is True else declared or None


@dataclasses.dataclass(frozen=True)
class Secrets:
    """Information that agents of an environment lack: what is hidden, and the chance to come."""

    hidden: str | None
    """The information known to be hidden from agents; None if there is none."""
    is_declared: bool
    """True if the environment itself declares what is hidden."""
    knowledge: Knowledge
    """The chance in the environment, as far as it is known."""
    chance: Chance
    """The use of chance: simulations draw its outcomes, or foresee them."""
    worlds: WorldFunction | None
    """The user's source of worlds (determinizations), if any."""
    is_open: bool = False
    """True if the search sees hidden information, which is cheating."""

    @property
    def what_is_hidden(self) -> str | None:
        """The information known or found to be hidden from agents."""
        if self.is_declared or self.hidden is not None or self.chance is Chance.SEE:
            return self.hidden
        return DRAWN_BEFORE if self.knowledge.report.drawn_before else None

    @property
    def hides(self) -> bool:
        """True if a search needs worlds that differ in what is hidden."""
        return not self.is_open and (self.worlds is not None or self.what_is_hidden is not None)

    @property
    def draws(self) -> bool:
        """True if each simulation draws outcomes of its own."""
        return self.chance is Chance.DRAW and self.knowledge.report.found

    def opened(self) -> "Secrets":
        """Return these secrets for a search that sees hidden information."""
        return dataclasses.replace(self, is_open=True, worlds=None)

    def met(self) -> Callable[[Sequence[str]], None] | None:
        """Return the function that records generators which a search unexpectedly used.

        None if no generator is unexpected.
        """
        known = self.knowledge.certain or self.knowledge.report.found or self.worlds is not None
        return self.knowledge.add if self.chance is Chance.DRAW and not known else None
