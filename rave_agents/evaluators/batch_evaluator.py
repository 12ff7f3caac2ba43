"""``BatchEvaluator``: judges many positions in one call."""

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

    * the policy [B, A]: a number for each action; those of illegal actions are ignored;
    * the values [B]: the expected return of the player to move, from the position to the end of the
      game, in the game's utilities (-1 to 1 in most of OpenSpiel's); or [B, players], the expected
      return of each player. [B] is enough for a single player, and for two with a constant sum.

    The arrays are of NumPy, torch or JAX, in a pair or a dictionary with names such as ``"policy"``
    and ``"values"``. With simultaneous moves each player has a row. Chance nodes and ends of games
    are not evaluated.

    Args:
        function: the network, or any callable.
        policy: ``"logits"``: the priors are the softmax over the legal actions;
            ``"probabilities"``: the policy divided by its sum over the legal actions.
        clip: True to move values into the game's utilities, as for an unbounded critic; otherwise
            values outside are refused.
        cache: True to cache answers until a search, or searches side by side, end, and in
            ``self_play`` until the caller gets examples; a cached position has the same
            observation, player and legal actions. Pass False for an evaluator that is random or
            learns meanwhile. The cache may take 35 MB.
        gives: ``"both"``; ``"values"`` or ``"policy"`` for an evaluator that returns one of these,
            as an array or in a pair with None: without a policy all priors are equal, without
            values there are playouts. None to detect it by a call before the first search.

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
        """The function."""
        self.policy: str = policy
        """``"logits"`` or ``"probabilities"``."""
        self.clip: bool = bool(clip)
        """True to move values into the utilities."""
        self.cache: bool = bool(cache)
        """True to cache answers."""
        self.gives: str | None = gives
        """``"both"``, ``"values"`` or ``"policy"``; None until it is known."""

    def __call__(self, batch: Batch) -> Any:
        """The function's answer, unchanged."""
        return self.function(batch)

    @property
    def name(self) -> str:
        """The evaluator's name in messages."""
        return name_of(self.function)


def evaluate(evaluator: BatchEvaluator, arrays: BatchArrays, limits: UtilityLimits) -> None:
    """Evaluate a batch, and write the answer to its arrays.

    Raises:
        GameError: if a search cannot use the answer.
        Exception: any exception of the evaluator, unchanged.
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
