"""Answers of agents, checked and converted to actions."""

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rave_agents.frameworks.agent import Agent, AgentAbilities
from rave_agents.game.arrays import as_array
from rave_agents.game.game_state import GameState, legal_actions_of


def discrete_action(answer: Any) -> Any:
    """Convert an answer to the number of an action; an array of one number becomes the number."""
    return answer.item() if isinstance(answer, np.ndarray) and answer.size == 1 else answer


def shaped_action(answer: Any, shape: tuple[int, ...], kind: Any) -> Any:
    """Convert an answer to an array of this shape and ``dtype`` if it fits; unpack a batch of 1."""
    array = as_array(answer)
    if array.shape == (1, *shape):
        array = array[0]
    if array.shape != shape or not np.can_cast(array.dtype, kind, "same_kind"):
        return answer
    return array.astype(kind)


def is_allowed(action: Any, mask: Any, size: int | None) -> bool:
    """True if an action is one of the integers 0 to ``size`` - 1, and the mask allows it.

    Args:
        action: the action that a policy chose.
        mask: 1 for each action that is allowed; None for all.
        size: the number of actions; None where they are not discrete.
    """
    if size is None and mask is None:
        return True
    # A bool is an int in Python: ``True`` would pass as action 1.
    if isinstance(action, bool | np.bool_) or not isinstance(action, int | np.integer):
        return False
    count = len(mask) if size is None else size
    return bool(0 <= action < count and (mask is None or np.ravel(mask)[action]))


def checked_action(answer: Any, legal: Sequence[int], advice: str = "") -> int:
    """Return an answer that is one of the legal actions.

    Args:
        answer: the answer of an agent.
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


def checked_probabilities(answer: Any) -> dict[int, float]:
    """Return the probabilities of an answer, normalised to the sum 1.

    Args:
        answer: weights by action, or pairs of an action and its weight.

    Raises:
        ValueError: unless all are finite and at least 0, and one is positive.
    """
    given = answer if isinstance(answer, Mapping) else dict(answer)
    weights = np.array([float(each) for each in given.values()])
    fits = len(weights) and np.isfinite(weights).all() and weights.min() >= 0 and weights.any()
    if not fits:
        raise ValueError(f"it gave {answer!r}, which are no probabilities.")
    return dict(zip(given, (weights / weights.sum()).tolist(), strict=True))


def probabilities_of(agent: Agent, state: GameState, player: int) -> dict[int, float]:
    """Return the probability with which an agent plays each legal action at a state.

    An agent without ``action_probabilities`` is asked for its action, which gets probability 1.

    Args:
        agent: the agent.
        state: a state where ``player`` is to move; it is not changed.
        player: the agent's seat.

    Raises:
        TypeError, ValueError: if the agent answers with something else, or an illegal action.
    """
    legal, asked = list(legal_actions_of(state, player)), AgentAbilities(agent)
    if asked.action_probabilities is None:
        action = checked_action(agent.step(state.clone()), legal, asked.advice)
        return {each: float(each == action) for each in legal}
    found = checked_probabilities(asked.action_probabilities(state.clone()))
    for action, probability in found.items():
        if probability > 0.0:
            checked_action(action, legal, asked.advice)
    return {each: found.get(each, 0.0) for each in legal}
