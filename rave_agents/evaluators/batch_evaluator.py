"""What judges leaves in batches, and what is refused of its answers."""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.errors import GameError
from rave_agents.evaluators.batch import Batch, BatchArrays
from rave_agents.game.arguments import unknown_name
from rave_agents.simulate.utility_limits import UtilityLimits, shown

POLICIES = ("logits", "probabilities")


class BatchEvaluator:
    """Judges many positions in one call: a network in the place of playouts.

    ``function(batch)`` gets a ``Batch`` of ``observations`` [B, ...] float32,
    ``legal_actions_mask`` [B, A] bool and ``players`` [B], and returns two arrays:

    * the policy, [B, A]: a number for each action; those of illegal actions are not read;
    * the values, [B]: the return that the player to move expects, from the position to the end of
      the game, in the game's utilities (-1 to 1 in most of OpenSpiel's); or [B, players], what each
      player expects, in the order of the players. [B] is enough for a single player, and for two
      whose returns have a constant sum.

    NumPy arrays, torch tensors and JAX arrays are taken. Where players move at the same time, each
    of them has a row. Chance nodes are never judged, nor is the end of a game.

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

    Raises:
        TypeError: if ``function`` cannot be called.
        ValueError: for another ``policy``.
    """

    def __init__(
        self,
        function: Callable[[Batch], tuple[Any, Any]],
        *,
        policy: Literal["logits", "probabilities"] = "logits",
        clip: bool = False,
        cache: bool = True,
    ) -> None:
        if not callable(function):
            raise TypeError(
                "function must be a callable that takes a batch and returns policy and values, "
                f"got {function!r}."
            )
        if policy not in POLICIES:
            raise ValueError(unknown_name("policy", policy, POLICIES))
        self.function = function
        """What is called."""
        self.policy: str = policy
        """``"logits"`` or ``"probabilities"``."""
        self.clip: bool = bool(clip)
        """Whether values are moved into the utilities."""
        self.cache: bool = bool(cache)
        """Whether answers are kept."""

    def __call__(self, batch: Batch) -> tuple[Any, Any]:
        """Ask the function; its answer as it is."""
        return self.function(batch)

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return getattr(self.function, "__name__", type(self.function).__name__)


class Judged(NamedTuple):
    """What a game says of the values that its evaluators may give."""

    num_players: int
    least_utility: float
    greatest_utility: float
    utility_sum: float
    """The sum of two players' utilities; NaN if it varies or is unknown."""


def judge(evaluator: BatchEvaluator, arrays: BatchArrays, game: Judged) -> None:
    """Ask an evaluator, check its answer, and write it to the arrays.

    Raises:
        GameError: if a search cannot use the answer.
        Exception: what the evaluator raises, unchanged.
    """
    if arrays.count == 0:
        return
    batch = arrays.asked()
    answer = evaluator(batch)
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise GameError(
            f"{evaluator.name} must return two arrays, the policy and the values, "
            f"got {shown(answer)}."
        )
    policy = _numbers(evaluator, "the policy", answer[0])
    values = _numbers(evaluator, "values", answer[1])
    shape = batch.legal_actions_mask.shape
    if policy.shape != shape:
        raise GameError(
            f"{evaluator.name} must return a policy of shape {shape}, positions and distinct "
            f"actions, got {policy.shape}."
        )
    own = _are_own(evaluator, values, len(batch.players), game)
    limits = game.least_utility, game.greatest_utility, game.utility_sum
    if arrays.take(policy, values, limits, own=own):
        return
    _check_policy(evaluator, policy, batch.legal_actions_mask)
    arrays.take(policy, _moved_into_utilities(evaluator, values, game, own=own), limits, own=own)


def _are_own(evaluator: BatchEvaluator, values: NDArray[Any], count: int, game: Judged) -> bool:
    """Whether values are those of the player to move alone."""
    every = (count, game.num_players)
    if values.shape == every:
        return False
    if values.shape not in ((count,), (count, 1)):
        raise GameError(
            f"{evaluator.name} must return values of shape {(count,)}, those of the player to "
            f"move, or {every}, those of every player: got {values.shape}."
        )
    return True


def _check_policy(evaluator: BatchEvaluator, policy: NDArray[Any], mask: NDArray[np.bool_]) -> None:
    logits = evaluator.policy == "logits"
    legal = np.where(mask, policy, -np.inf if logits else 0.0)
    greatest = legal.max(axis=1)  # NaN if there is one.
    if not logits and (least := legal.min()) < 0.0:
        row = int(np.argmax(legal.min(axis=1) < 0.0))
        raise GameError(
            f"{evaluator.name} gave a probability of {least:g} in row {row}: give probabilities of "
            'at least 0, or say policy="logits".'
        )
    if not logits:
        with np.errstate(over="ignore"):
            greatest = legal.sum(axis=1, dtype=np.float64)  # What they are divided by.
    if greatest.min() > (-np.inf if logits else 0.0) and greatest.max() < np.inf:
        return
    wrong = ~(np.isfinite(greatest) if logits else (greatest > 0.0) & np.isfinite(greatest))
    row = int(np.argmax(wrong))
    what = "logits" if logits else "probabilities"
    if math.isnan(greatest[row]) or greatest[row] == math.inf:
        raise GameError(
            f"{evaluator.name} gave {legal[row].max():g} in the policy's row {row}: the {what} of "
            f"legal actions{'' if logits else ', and their sum,'} must be finite."
        )
    raise GameError(
        f"{evaluator.name} gave no legal action a probability in row {row}: all of it is on "
        f"illegal actions. Legal are {np.flatnonzero(mask[row]).tolist()[:20]}."
    )


def _moved_into_utilities(
    evaluator: BatchEvaluator, given: NDArray[Any], game: Judged, *, own: bool
) -> NDArray[np.float64]:
    """The values, moved into the game's utilities where they may be; others are refused."""
    values, players = given.astype(np.float64), game.num_players
    low, high = game.least_utility, game.greatest_utility
    least, most = values.min(), values.max()
    if not (least > -math.inf and most < math.inf):  # NaN is neither.
        row = int(np.argmax(~np.isfinite(values.reshape(len(values), -1)).all(axis=1)))
        raise GameError(f"{evaluator.name} gave a value that is no finite number in row {row}.")
    if least < low or most > high:
        limits = UtilityLimits.of(players, low, high, None)
        if (least < limits.least or most > limits.greatest) and not evaluator.clip:
            worst = least if least < limits.least else most
            raise GameError(
                f"{evaluator.name} gave the value {worst:g}: values must lie from {low:g} to "
                f"{high:g}, the game's utilities. A tanh at the network's end, scaled to them, "
                "does so."
            )
        values = np.clip(values, low, high)
    if own and (players > 2 or (players == 2 and math.isnan(game.utility_sum))):
        raise GameError(
            f"{evaluator.name} gave the values of the player to move alone, which say nothing of "
            f"the others here, as there are {players} players whose returns have no known constant "
            f"sum: return values of shape (B, {players}), one for each player."
        )
    return values


def _numbers(evaluator: BatchEvaluator, what: str, given: Any) -> NDArray[Any]:
    """An answer as a NumPy array; a torch tensor is detached from its graph and its device."""
    for step in ("detach", "cpu"):
        given = getattr(given, step)() if hasattr(given, step) else given
    if str(getattr(given, "dtype", "")).endswith("bfloat16"):
        given = given.float() if hasattr(given, "float") else given.astype(np.float32)
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise GameError(f"{evaluator.name} gave {what} that is no array: {error}") from None
    if array.dtype.kind not in "fiub":
        raise GameError(
            f"{evaluator.name} must return {what} as an array of numbers, got one of "
            f"{array.dtype}: {shown(given)}."
        )
    return array
