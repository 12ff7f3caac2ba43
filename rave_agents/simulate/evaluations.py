"""The check of values and priors, the same for evaluators, value functions and batches.

Evaluators of one position, value functions compiled with a game's rules, and evaluators of batches
all have the same ``UtilityLimits``, with the same tolerance for rounding. A batch is checked in one
compiled pass.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.arrays import Array
from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.entry import entry
from rave_agents.errors import GameError
from rave_agents.game.arguments import is_number
from rave_agents.game.arrays import ArrayAbilities, in_main_memory, is_half_precision
from rave_agents.game.utility_limits import ROUNDING, UtilityLimits, shown

Distribution = tuple[Sequence[int], Sequence[float]]
"""Actions, or outcomes of chance, and their probabilities."""

FINE, BAD_VALUE, BAD_WEIGHT, NO_WEIGHT = range(4)
"""Results of the check of a batch: fine; a value that is not finite or beyond the utilities; an
invalid probability or logit; a row without probability for any legal action."""

# Indices into ``BatchAnswer.limits``: least and greatest accepted, then the utilities themselves.
LEAST, GREATEST, LOW, HIGH, TOTAL = range(5)
LIMITS_LENGTH = 5

# Indices into ``BatchAnswer.sizes``.
ROWS, ACTIONS, PLAYERS, OWN, LOGITS, CLIP = range(6)
SIZES_LENGTH = 6


def checked_values(
    source: str, given: Any, limits: UtilityLimits, mover: int | None = None
) -> list[float]:
    """The return that each player expects, validated, of one position.

    Args:
        source: the origin of the values, for the message.
        given: a number for each player.
        limits: the game's.
        mover: the player to move, whose number alone is enough if it determines the other's.

    Raises:
        GameError: if it is anything else, or beyond the utilities.
    """
    one = mover is not None and (is_number(given) or ArrayAbilities(given).shape == ())
    numbers = limits.numbers(_of_all(given, limits, mover) if one else given)
    if numbers is None:
        alone = mover is not None and limits.one_says_all
        raise GameError(
            f"{source} must return {'the expected return of the player to move, or ' * alone}the "
            f"expected returns of all {limits.players} players, finite numbers{limits.where}: got "
            f"{shown(given)}."
        )
    return numbers


def _of_all(given: Any, limits: UtilityLimits, mover: int | None) -> list[float] | None:
    """Add the other player's expectation, which follows from the mover's in a constant-sum game."""
    try:
        own = float(given)
    except (TypeError, ValueError, OverflowError):
        return None
    if limits.players == 1:
        return [own]
    other = limits.sum_of_two - own  # NaN, which is refused, where it is unknown.
    return [own, other] if mover == 0 else [other, own] if mover == 1 else None


def checked_priors(source: str, given: Any, legal: Sequence[int]) -> Distribution:
    """The probabilities of the legal actions, validated, of one position; they sum to 1.

    Raises:
        GameError: if they are no distribution over the legal actions.
    """
    try:
        pairs = [(action, float(probability)) for action, probability in given]
        fits = len(pairs) == len(legal) and {action for action, _ in pairs} == set(legal)
    except (TypeError, ValueError, OverflowError):
        raise GameError(
            f"{source} must return a list of pairs (action, probability), one for each legal "
            f"action: got {shown(given)}."
        ) from None
    if not fits:
        raise GameError(
            f"{source} does not list exactly the legal actions: it has {len(pairs)} actions, legal "
            f"are {len(legal)}."
        )
    probabilities = [probability for _, probability in pairs]
    wrong = [each for each in probabilities if not 0.0 <= each < math.inf]
    if wrong:
        raise GameError(f"{source} has a probability that is not at least 0: {wrong[0]}.")
    total = sum(probabilities)
    if not 0.0 < total <= 1.0 + ROUNDING:
        raise GameError(
            f"The probabilities of {source} sum to {total:g}, not to 1: divide each by their sum "
            "over the legal actions."
        )
    if total < 1.0 - ROUNDING:  # The rest lies on actions that are not legal here.
        probabilities = [each / total for each in probabilities]
    return [int(action) for action, _ in pairs], probabilities


LARGEST = 30.0
"""The largest size of a number that makes a difference."""


@kernel
def logistic(x: float) -> float:
    """``1 / (1 + exp(-x))``, the same digits in the interpreter and compiled."""
    # Bounded, since ``exp`` overflows in the interpreter and gives infinity in compiled code.
    return 1.0 / (1.0 + math.exp(max(-LARGEST, min(LARGEST, -x))))


class BatchAnswer(NamedTuple):
    """An evaluator's answer to a batch, with the limits that it must keep."""

    masks: Array
    """[rows, actions] 1 for a legal action."""
    players: Array
    """[rows] who moves."""
    policy: Array
    """[rows, actions] logits or probabilities."""
    values: Array
    """[rows, players] what each player expects; written here where ``own_values`` are given."""
    own_values: Array
    """[rows] what the player to move expects."""
    limits: Array
    """[LIMITS_LENGTH] the least and greatest accepted value; the least and greatest utility, and
    their sum."""
    sizes: Array
    """[SIZES_LENGTH] rows in use; the game's distinct actions; its players; 1 where ``own_values``
    are given, for logits, and where values are moved into the utilities."""
    found: Array
    """[2] the row where something is wrong, and the number."""


@entry("the search with an evaluator")
def check_batch(answer: BatchAnswer, number: int) -> int:
    """Write all players' values. Returns the fault of these or of the policy, or ``FINE``."""
    for row in range(answer.sizes[ROWS]):
        wrong = wrong_values(answer, row)
        if wrong == FINE:
            wrong = wrong_policy(answer, row)
        if wrong != FINE:
            answer.found[0] = row
            return wrong
    return FINE


@kernel
def is_value(value: float, least: float, greatest: float) -> bool:
    """True for a value, or a return, that a search can use: finite, and within the bounds."""
    return bool(least <= value <= greatest and -math.inf < value < math.inf)


@kernel
def wrong_values(answer: BatchAnswer, row: int) -> int:
    """Write the values of a row. Returns their fault, or ``FINE``."""
    # With CLIP the check comes last: only a value that is not finite can then fail it.
    limits, players = answer.limits, answer.sizes[PLAYERS]
    for player in range(players):
        place = row * players + player
        if answer.sizes[OWN] != 0:  # One value a row: the other player's makes up the sum.
            own = answer.own_values[row]
            others = players == 2 and player != answer.players[row]
            answer.values[place] = limits[TOTAL] - own if others else own
        value = answer.values[place]
        if answer.sizes[CLIP] != 0 and is_value(value, -math.inf, math.inf):
            value = min(max(value, limits[LOW]), limits[HIGH])
            answer.values[place] = value
        if not is_value(value, limits[LEAST], limits[GREATEST]):
            answer.found[1] = answer.own_values[row] if answer.sizes[OWN] != 0 else value
            return BAD_VALUE
    return FINE


@kernel
def wrong_policy(answer: BatchAnswer, row: int) -> int:
    """The fault of a row's policy, which must give legal actions probabilities, or ``FINE``."""
    logits, actions = answer.sizes[LOGITS] != 0, answer.sizes[ACTIONS]
    none = -math.inf if logits else 0.0
    total = none
    for place in range(row * actions, (row + 1) * actions):
        if answer.masks[place] != 0:
            given = answer.policy[place]
            # NaN fails each comparison. A logit of minus infinity is fine: probability 0.
            if not none <= given < math.inf:
                answer.found[1] = given
                return BAD_WEIGHT
            total = max(total, given) if logits else total + given
    answer.found[1] = total
    if total < math.inf:
        return FINE if none < total else NO_WEIGHT
    return BAD_WEIGHT


def batch_refusal(source: str, answer: BatchAnswer, wrong: int) -> GameError:
    """The error for an answer that ``check_batch`` has refused."""
    row, number = int(answer.found[0]), float(answer.found[1])
    logits = answer.sizes[LOGITS] != 0
    if wrong == BAD_VALUE and not math.isfinite(number):
        return GameError(f"{source} gave a value that is no finite number in row {row}.")
    if wrong == BAD_VALUE:
        return GameError(
            f"{source} gave the value {number:g}: values must lie from {answer.limits[LOW]:g} to "
            f"{answer.limits[HIGH]:g}, the game's utilities. A tanh at the network's end, scaled "
            "to them, does so."
        )
    if wrong == NO_WEIGHT:
        actions = int(answer.sizes[ACTIONS])
        legal = np.flatnonzero(answer.masks[row * actions : (row + 1) * actions])
        return GameError(
            f"{source} gave no legal action a probability in row {row}: all of it is on illegal "
            f"actions. Legal are {legal.tolist()[:20]}."
        )
    if number < 0.0 and not logits:
        return GameError(
            f"{source} gave a probability of {number:g} in row {row}: give probabilities of at "
            'least 0, or say policy="logits".'
        )
    what = "logits of legal actions" if logits else "probabilities of legal actions, and their sum,"
    return GameError(
        f"{source} gave {number:g} in the policy's row {row}: the {what} must be finite."
    )


ANSWER_NAMES: Mapping[str, tuple[str, ...]] = {
    "policy": ("policy", "logits", "policy_logits", "priors", "pi"),
    "values": ("values", "value", "v"),
}
"""Keys under which a dictionary may hold the policy and the values; the first present counts."""


def checked_arrays(
    source: str, answer: Any, shape: tuple[int, int], limits: UtilityLimits, *, policy: bool = True
) -> tuple[NDArray[Any] | None, NDArray[Any], bool]:
    """The policy and the values of an answer to a batch, as arrays of the right shapes.

    Args:
        source: the origin of the answer, for the message.
        answer: the answer.
        shape: the numbers of rows and distinct actions.
        limits: the game's.
        policy: whether it gives a policy in addition to values.

    Returns:
        Them, None for no policy, and whether the values are those of the player to move alone.

    Raises:
        GameError: if they are anything else.
    """
    pair = pair_of(answer)
    if policy and (pair is None or pair[0] is None or pair[1] is None):
        raise GameError(
            f"{source} must return two arrays, the policy and the values, got {shown(answer)}. For "
            'one of them alone say BatchEvaluator(function, gives="values"), or "policy".'
        )
    given_policy, given_values = (None, answer) if pair is None else pair
    if not policy:
        found = None
    else:
        found = _numbers(source, "the policy", given_policy)
        if found.shape != shape:
            raise GameError(
                f"{source} must return a policy of shape {shape}, positions and distinct actions, "
                f"got {found.shape}."
            )
    values = _numbers(source, "values", given_values)
    rows, every = shape[0], (shape[0], limits.players)
    # One player: both shapes are (B, 1), and both readings agree.
    own = values.shape != every
    if own and values.shape not in ((rows,), (rows, 1)):
        raise GameError(
            f"{source} must return values of shape {(rows,)}, those of the player to move, or "
            f"{every}, those of every player: got {values.shape}."
        )
    if own and not limits.one_says_all:
        raise GameError(
            f"{source} gave the values of the player to move alone, which say nothing of the "
            f"others here, as there are {limits.players} players whose returns have no known "
            f"constant sum: return values of shape (B, {limits.players}), one for each player."
        )
    return found, values.reshape(rows) if own else values, own


def checked_policy(source: str, answer: Any, shape: tuple[int, int]) -> NDArray[Any]:
    """The policy of an answer that has a policy alone.

    Raises:
        GameError: if there is none of this shape, rows and distinct actions.
    """
    pair = pair_of(answer)
    policy = _numbers(source, "the policy", answer if pair is None else pair[0])
    if policy.shape != shape:
        raise GameError(
            f"{source} must return a policy of shape {shape}, positions and distinct actions, got "
            f"{policy.shape}."
        )
    return policy


def kind_of_answer(source: str, answer: Any, actions: int, players: int) -> str:
    """The parts of an answer to a batch of one position: ``"both"``, ``"values"`` or ``"policy"``.

    Args:
        source: the origin of the answer, for the message.
        answer: the answer.
        actions: the game's distinct actions.
        players: its players.

    Raises:
        GameError: if that is not certain.
    """
    pair = pair_of(answer)
    if pair is not None:
        if pair[0] is None and pair[1] is None:
            raise GameError(f"{source} gave neither a policy nor values: {shown(answer)}.")
        return "values" if pair[0] is None else "policy" if pair[1] is None else "both"
    shape = _numbers(source, "an answer", answer).shape
    is_policy, is_value = shape == (1, actions), shape in ((1,), (1, 1), (1, players))
    if is_policy == is_value:
        what = "either" if is_policy else "neither"
        raise GameError(
            f"{source} gave one array of shape {shape} for one position, which may be {what} a "
            f"policy of {actions} actions {'or' if is_policy else 'nor'} values of {players} "
            "players: return a pair (policy, values), with None for what it does not give, or a "
            'dictionary with "policy" or "values".'
        )
    return "policy" if is_policy else "values"


def pair_of(answer: Any) -> tuple[Any, Any] | None:
    """The policy and the values of a pair or a dictionary; None for one array alone."""
    if isinstance(answer, Mapping):
        policy, values = (
            next((answer[name] for name in names if name in answer), None)
            for names in ANSWER_NAMES.values()
        )
        return policy, values
    if isinstance(answer, tuple | list) and len(answer) == 2:
        first, second = answer
        return first, second
    return None


def _numbers(source: str, what: str, given: Any) -> NDArray[Any]:
    """An answer as a NumPy array; a torch tensor is detached from its graph and its device."""
    given = in_main_memory(given)
    if is_half_precision(given):  # NumPy does not know it; a tensor converts by ``float``.
        given = given.astype(np.float32) if ArrayAbilities(given).detach is None else given.float()
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise GameError(f"{source} gave {what} that is no array: {error}") from None
    if array.dtype.kind not in "fiub":  # Floats, integers, unsigned, booleans: no objects.
        raise GameError(
            f"{source} must return {what} as an array of numbers, got one of {array.dtype}: "
            f"{shown(given)}."
        )
    return array
