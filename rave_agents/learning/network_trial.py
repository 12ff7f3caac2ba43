"""A trial of a network before it trains: it is made, asked and taught once, in a first position.

So a mistake is told before games are played, in whatever process, and by the network's name.
"""

import math
from typing import Any

import numpy as np

from rave_agents.errors import GameError
from rave_agents.evaluators.batch import Batch
from rave_agents.evaluators.models import fields_taken, own_code
from rave_agents.evaluators.trainable import Lesson, trainable
from rave_agents.evaluators.trained_network import NetworkMaker, TrainedNetwork, seeded
from rave_agents.game.arguments import is_number
from rave_agents.game.game_state import GameState, legal_actions_of
from rave_agents.game.utility_limits import shown, utility_limits
from rave_agents.simulate.evaluations import checked_arrays, pair_of

ROWS = 2
"""Positions of the trial: two, since a network that takes one alone cannot train."""


def try_network(maker: NetworkMaker, state: GameState) -> None:
    """Make a network, ask it, and let it learn once.

    Args:
        maker: makes the network; what the trial teaches is forgotten.
        state: the position where games begin.

    Raises:
        GameError: for what it raises, or for an answer that cannot be used.
        TypeError, ValueError: for a network that cannot be trained.
    """
    network = maker.make()
    learner = trainable(network, maker.sizes)
    lesson = first_lesson(state)
    if lesson is None:
        return
    name, shape = type(network).__name__, lesson.observations.shape
    takes = fields_taken(getattr(network, "forward", network))
    given = f"observations of shape {shape}"
    if "batch" in takes:
        given = f"a Batch, which its parameter's name asks for, with {given}"
    with seeded(maker.seed):
        with own_code(f"{name} fails on {given}"):
            evaluator = TrainedNetwork(network, maker, game="")
            answer = evaluator(Batch(*lesson[:3]))
        _check(name, answer, lesson, state)
        with own_code(f"{name} fails to learn from {given}"):
            loss = learner.learn(lesson)
    if not (is_number(loss) and math.isfinite(loss)):
        raise ValueError(f"{name} cannot learn: its loss is {shown(loss)}, not a finite number.")


def first_lesson(state: GameState) -> Lesson | None:
    """The first position in which a player moves, some times over; None without any."""
    state = first_decision(state)
    if state.is_terminal():
        return None
    player = int(state.current_player())
    mask = np.zeros((ROWS, state.num_distinct_actions()), np.bool_)
    mask[:, list(legal_actions_of(state, player))] = True
    seen = np.array(state.observation(player), np.float32)  # type: ignore[attr-defined]
    limits = utility_limits(state)
    return Lesson(
        np.stack([seen] * ROWS),
        mask,
        np.full(ROWS, player, np.int64),
        (mask / mask.sum(axis=1, keepdims=True)).astype(np.float32),
        np.full((ROWS, limits.players), (limits.low + limits.high) / 2.0, np.float32),
    )


def first_decision(state: GameState) -> GameState:
    """The first position in which a player moves, after the first outcomes of chance."""
    state = state.clone()
    while state.is_chance_node():
        state.apply_action(next(iter(state.chance_outcomes()))[0])
    return state


def _check(name: str, answer: Any, lesson: Lesson, state: GameState) -> None:
    """Refuse an answer that training cannot use."""
    pair = pair_of(answer)
    if pair is None or pair[0] is None or pair[1] is None:
        raise TypeError(
            f"{name} must return the policy's logits and the values, to be trained: got "
            f"{shown(answer)}."
        )
    shape = lesson.legal_actions_mask.shape
    policy, _, _ = checked_arrays(name, answer, (shape[0], shape[1]), utility_limits(state))
    assert policy is not None
    sums = np.asarray(policy, np.float64).sum(axis=1)
    if shape[1] > 1 and (policy >= 0.0).all() and np.allclose(sums, 1.0, atol=1e-4):
        raise GameError(
            f"{name} returns probabilities, which sum to 1: return the policy's logits, as they "
            "are before the softmax."
        )
