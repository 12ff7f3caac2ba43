"""Evaluators of a position in place of a playout."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from rave_agents.game.abilities import Abilities, Method, Offered


@runtime_checkable
class Evaluator(Protocol):
    """Evaluates positions in place of playouts; ``open_spiel.python.algorithms.mcts.Evaluator``."""

    def evaluate(self, state: Any) -> Sequence[float]:
        """The expected returns of every player from a position that is not terminal."""

    def prior(self, state: Any) -> Sequence[tuple[int, float]]:
        """Every legal action and its probability; at a chance node the outcomes and theirs.

        If they sum to less than 1, such as a policy with mass on illegal actions, a search
        normalises them; a sum above 1, or of 0, is refused.
        """


class EvaluatorAbilities(Abilities):
    """Attributes that an evaluator, or an object in its place, may have."""

    __slots__ = ()

    evaluate: Offered[Callable[[Any], Any] | None] = Method(None)
    prior: Offered[Callable[[Any], Any] | None] = Method(None)
    """The methods of ``Evaluator``: it may have one alone."""
    judged: Offered[Callable[[Any], Any]] = Method(lambda rules: None)
    """``judged(rules)``: compiled rules with this value function; None if it is of another game."""
    with_priors: Offered[Callable[[Any], Any]] = Method(lambda rules: None)
    """``with_priors(rules)``: compiled rules with this policy, likewise."""
    source_name: Offered[str] = Offered("")
    """The name of the source of priors, for messages."""


class EvaluatorKind(NamedTuple):
    """Properties of a search's evaluator; all False without one."""

    leaves: bool = False
    """True if it gives leaves their values, so that there are no playouts."""
    positions: bool = False
    """True for a value function: it evaluates single positions, and may cut playouts."""
    priors: bool = False
    """True if it gives actions prior probabilities."""
    batched: bool = False
    """True if it takes batches."""
    minimax: bool = False
    """True for a value function known to play better with minimax backups."""
