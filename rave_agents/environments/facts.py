"""``EnvironmentFacts``: what all positions of an environment share, asked once when it is bound."""

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, Self

from rave_agents.environments.chance import Chance, ChanceReport, Knowledge
from rave_agents.environments.plan import Plan
from rave_agents.environments.spaces import EnvAbilities
from rave_agents.environments.worlds import WorldFunction
from rave_agents.game.facts import Facts

DECLARATION: Final = "hidden_information"
"""The metadata key under which an environment declares what it hides from its agents."""

DRAWN_BEFORE: Final = "what its reset decides and shows only later"
"""The hidden information of an environment whose equal-looking starts diverge."""

UNDECLARED: Final[Any] = object()
"""The declaration of an environment that makes none."""


def metadata_of(raw: Any) -> Mapping[str, Any]:
    """The metadata of an environment; empty for one without."""
    metadata = EnvAbilities(raw).metadata
    return metadata if isinstance(metadata, Mapping) else {}


def declared_hidden(raw: Any, name: Callable[[Any], str]) -> Any:
    """The hidden information that an environment declares.

    Args:
        raw: the innermost environment.
        name: returns its name, for messages.

    Returns:
        A text; None if it declares that nothing is hidden; ``UNDECLARED`` without a declaration.

    Raises:
        TypeError: if the declaration is not a text, True, False or None.
    """
    declared = metadata_of(raw).get(DECLARATION, UNDECLARED)
    if declared is UNDECLARED:
        return declared
    if not isinstance(declared, str | bool | None):
        raise TypeError(
            f"metadata[{DECLARATION!r}] of {name(raw)} must be a text that says what is hidden "
            f"from its agents, True, or None if nothing is hidden; it is {declared!r}."
        )
    return "what it declares as hidden" if declared is True else declared or None


@dataclasses.dataclass(frozen=True, kw_only=True)
class EnvironmentFacts:
    """What all positions of an environment share, for one agent's options; adapters add theirs."""

    name: str
    """The environment's name, for messages."""
    key: Hashable
    """Equal for environments of the same game."""
    agents: tuple[Any, ...]
    """The agents by seat."""
    num_actions: int
    """One more than the largest action of any agent."""
    clone: Callable[[Any], Any]
    """Copies an environment from a copy to search."""
    plan: Plan
    """Horizon, discount and evaluator of simulations."""
    hidden: str | None
    """The information known to be hidden from agents; None if there is none."""
    is_declared: bool
    """True if the environment itself declares what is hidden."""
    knowledge: Knowledge
    """The chance in the environment; searches may add to it."""
    chance: Chance
    """The use of chance: simulations draw its outcomes, or foresee them."""
    worlds: WorldFunction | None
    """The source of worlds (determinizations), if any."""
    is_open: bool = False
    """True if the search sees hidden information, which is cheating."""
    collected: list[tuple[ChanceReport, Facts]] = dataclasses.field(
        default_factory=list, compare=False, repr=False
    )
    """The facts of the game, with the report on chance that they hold for; empty before."""

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

    def changed(self, **changes: Any) -> Self:
        """These facts with other values of some fields."""
        return dataclasses.replace(self, collected=[], **changes)

    def met(self) -> Callable[[Sequence[str]], None] | None:
        """The function that records generators which a search unexpectedly used.

        None if no generator is unexpected.
        """
        known = self.knowledge.certain or self.knowledge.report.found or self.worlds is not None
        return self.knowledge.add if self.chance is Chance.DRAW and not known else None

    # An adapter's part.

    def simulation_cloner(self, env: Any, seed: int) -> Callable[[Any], Any]:
        """The function that copies a search's root for simulations.

        The copies share the root's generators, or have generators of their own, seeded by ``seed``.
        """
        raise NotImplementedError

    def common_objects(self, env: Any) -> tuple[type, ...]:
        """Types of objects that copies share, and from which no step draws."""
        raise NotImplementedError

    def no_worlds(self) -> str:
        """Why a search needs worlds here, and the remedies."""
        raise NotImplementedError
