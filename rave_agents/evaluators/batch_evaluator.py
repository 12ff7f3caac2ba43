"""Evaluators that are asked about many positions at once."""

from collections.abc import Callable
from typing import Any, Literal

from rave_agents.evaluators.batch import Batch, BatchArrays
from rave_agents.game.arguments import unknown_name
from rave_agents.game.object_names import name_of
from rave_agents.game.utility_limits import UtilityLimits

POLICIES = ("logits", "probabilities")
GIVES = ("both", "values", "policy")

Gives = Literal["both", "values", "policy"]


class BatchEvaluator:
    """Evaluates many positions in one call: a network in the place of playouts.

    ``function(batch)`` gets a ``Batch`` of ``observations`` [B, ...] float32,
    ``legal_actions_mask`` [B, A] bool and ``players`` [B], and returns two arrays:

    * the policy, [B, A]: a number for each action; those of illegal actions are not read;
    * the values, [B]: the return that the player to move expects, from the position to the end of
      the game, in the game's utilities (-1 to 1 in most of OpenSpiel's); or [B, players], what each
      player expects, in the order of the players. [B] is enough for a single player, and for two
      whose returns have a constant sum.

    NumPy arrays, torch tensors and JAX arrays are taken, in a pair or a dictionary with names such
    as ``"policy"`` and ``"values"``. Where players move at the same time, each of them has a row.
    Chance nodes are never evaluated, nor is the end of a game.

    Args:
        function: the network, or any callable.
        policy: ``"logits"``: the policy's softmax over the legal actions are the priors;
            ``"probabilities"``: the policy itself, divided by its sum over the legal actions.
        clip: whether values outside the game's utilities are moved to the nearest of them, as for a
            critic that is not bounded; otherwise they are refused.
        cache: whether what it has answered is kept until a search, or searches side by side, end,
            and in ``self_play`` until the caller gets examples: a position with the same
            observation, player and legal actions as one before is not asked again. Say False for
            one that answers at random or learns meanwhile. It may take 35 MB.
        gives: ``"both"``; ``"values"`` or ``"policy"`` for one that returns only these, an array or
            a pair with None: without a policy all priors are equal, without values there are
            playouts. None to find out before the first search, by one question more.

    Raises:
        TypeError: if ``function`` cannot be called.
        ValueError: for another ``policy`` or ``gives``.
    """

    def __init__(
        self,
        function: Callable[[Batch], Any],
        *,
        policy: Literal["logits", "probabilities"] = "logits",
        clip: bool = False,
        cache: bool = True,
        gives: Gives | None = "both",
    ) -> None:
        if not callable(function):
            raise TypeError(
                "function must be a callable that takes a batch and returns policy and values, "
                f"got {function!r}."
            )
        if policy not in POLICIES:
            raise ValueError(unknown_name("policy", policy, POLICIES))
        if gives is not None and gives not in GIVES:
            raise ValueError(unknown_name("gives", gives, GIVES))
        self.function = function
        """The function that is called."""
        self.policy: str = policy
        """``"logits"`` or ``"probabilities"``."""
        self.clip: bool = bool(clip)
        """True if values are moved into the utilities."""
        self.cache: bool = bool(cache)
        """True if answers are kept."""
        self.gives: str | None = gives
        """``"both"``, ``"values"`` or ``"policy"``; None until it is known."""

    def __call__(self, batch: Batch) -> Any:
        """Ask the function; its answer as it is."""
        return self.function(batch)

    @property
    def name(self) -> str:
        """The evaluator's name in messages."""
        return name_of(self.function)


def evaluate(evaluator: BatchEvaluator, arrays: BatchArrays, limits: UtilityLimits) -> None:
    """Ask an evaluator about a batch, and write its answer to the arrays.

    Raises:
        GameError: if a search cannot use the answer.
        Exception: what the evaluator raises, unchanged.
    """
    if arrays.count > 0:
        answer = evaluator(arrays.asked())
        arrays.take(
            evaluator.name,
            answer,
            limits,
            clip=evaluator.clip,
            policy=evaluator.gives != "values",
        )
