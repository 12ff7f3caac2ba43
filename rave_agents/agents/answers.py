"""Answers of policies, as actions: numbers, arrays, values of all actions, probabilities."""

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rave_agents.game.arrays import ArrayAbilities, as_array


def plain_action(answer: Any) -> Any:
    """Convert an answer to an action: an array of one number becomes the number."""
    several = isinstance(answer, np.ndarray) and answer.size != 1
    item = ArrayAbilities(answer).item
    if item is None or several:
        return answer
    number = item()
    whole = isinstance(number, float) and number.is_integer()
    return int(number) if whole and not isinstance(answer, np.floating) else number


def discrete_action(answer: Any) -> Any:
    """Convert an answer to one of several numbered actions.

    Of a tuple the action comes first, as in ``(action, log_probability)``; a list or an array of
    one number becomes the number. Whatever else it is stays as it is.
    """
    if isinstance(answer, tuple) and answer:
        answer = answer[0]
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    return plain_action(answer)


def shaped_action(answer: Any, shape: tuple[int, ...], kind: Any) -> Any:
    """Convert an answer to an array of this shape and ``dtype``, as far as it is one.

    Tensors become arrays; of a tuple the action comes first; a batch of one is opened. Whatever
    else it is stays as it is.
    """
    first = answer[0] if isinstance(answer, tuple) and answer else answer
    array = as_array(first)
    if array.shape == (1, *shape):
        array = array[0]
    if array.shape != shape or not np.can_cast(array.dtype, kind, "same_kind"):
        return answer
    return array.astype(kind)


def is_allowed(action: Any, mask: Any, size: int | None) -> bool:
    """True if an action is one of the integers 0 to ``size`` - 1, and the mask allows it.

    Args:
        action: what a policy chose.
        mask: whether each action is allowed; None for all.
        size: the number of actions; None where they are not discrete.
    """
    if size is None and mask is None:
        return True
    if isinstance(action, bool | np.bool_) or not isinstance(action, int | np.integer):
        return False
    count = len(mask) if size is None else size
    return bool(0 <= action < count and (mask is None or np.ravel(mask)[action]))


def best_action(answer: Any, mask: Any) -> Any:
    """Return the action of an answer: real numbers for all actions are values, the best counts."""
    numbers = as_array(answer)
    if numbers.size == 1 or not np.issubdtype(numbers.dtype, np.floating):
        return numbers.reshape(-1)[0] if numbers.size == 1 else numbers
    values = numbers.reshape(-1).astype(float)
    if mask is not None and len(np.ravel(mask)) == len(values):
        values = np.where(np.ravel(np.asarray(mask)) != 0, values, -np.inf)
    return int(np.argmax(values))


class Draws:
    """Random numbers, whose generator is made when the first is drawn.

    Args:
        seed: seeds it; None for a seed that the system draws.
    """

    def __init__(self, seed: int | None) -> None:
        self.reseed(seed)

    def reseed(self, seed: int | None) -> None:
        """Begin anew, with another seed."""
        self._seed = seed
        self._random: np.random.Generator | None = None

    def place(self, weights: NDArray[np.float64]) -> int:
        """Draw a place by weights that sum to 1."""
        if self._random is None:
            self._random = np.random.default_rng(self._seed)
        return int(self._random.choice(len(weights), p=weights))


def drawn_action(answer: Any, mask: Any, draws: Draws) -> Any:
    """Draw an action from probabilities; whatever else an answer is stays as it is.

    Args:
        answer: a dictionary by action, pairs of an action and its probability, or an array of
            numbers for all actions: probabilities, if none is negative and they sum to 1; else
            values, of which the best that is allowed counts, unless all are equal.
        mask: whether each action is allowed; None for all.
        draws: draws it.

    Raises:
        ValueError: for probabilities that are negative or all 0.
    """
    pairs = _probabilities(answer)
    if pairs is None:
        numbers = _numbers(answer, mask)
        if numbers is None:
            return answer
        if numbers.min() < 0 or not np.isclose(numbers.sum(), 1, atol=1e-3):
            return answer if np.ptp(numbers) == 0 else best_action(numbers, mask)
        pairs = dict(enumerate(numbers.tolist()))
    weights = np.array([float(each) for each in pairs.values()])
    if not len(weights) or not np.isfinite(weights).all() or weights.min() < 0 or not weights.any():
        raise ValueError(f"it gave {answer!r}, which are no probabilities.")
    return list(pairs)[draws.place(weights / weights.sum())]


def _probabilities(answer: Any) -> Mapping[Any, Any] | None:
    if isinstance(answer, Mapping):
        return answer
    is_pairs = isinstance(answer, list) and len(answer) > 0
    if is_pairs and all(isinstance(each, tuple) and len(each) == 2 for each in answer):
        return dict(answer)
    return None


def _numbers(answer: Any, mask: Any) -> NDArray[np.float64] | None:
    """Real numbers for all actions; None if an answer has none."""
    if mask is None or not isinstance(answer, np.ndarray | Sequence) or isinstance(answer, str):
        return None
    try:
        numbers = np.asarray(answer)
    except ValueError:
        return None
    size = len(np.ravel(mask))
    if size < 2 or numbers.size != size or not np.issubdtype(numbers.dtype, np.floating):
        return None
    return numbers.reshape(-1).astype(float)


def checked_action(answer: Any, legal: Sequence[int], advice: str = "") -> int:
    """Return an answer that is one of the legal actions.

    Args:
        answer: what an agent chose.
        legal: the legal actions.
        advice: a sentence for the message if it is not legal.

    Raises:
        TypeError: if it is no integer.
        ValueError: if it is not legal.
    """
    try:
        action = operator.index(answer)
    except TypeError:
        raise TypeError(
            f"it must return an action, an integer; it returned {repr(answer)[:200]}."
        ) from None
    if action not in legal:
        raise ValueError(
            f"it played {action}, which is not legal; legal are {list(legal)}.{advice}"
        )
    return action
