"""A value function learned online from the search's own playouts.

Every position of a playout is a training sample labelled with the playout's result. Logistic
regression on the entries of the observation tensor, trained online with AdaGrad (Duchi, Hazan &
Singer 2011), predicts it. Temporal-difference search (Silver, Sutton & Müller 2012) also learns a
linear value from simulations and plays by it; here the value supplements the means of simulations.
It judges the children of each new node; its judgements are backed up and mixed with the means like
those of any value function, see ``implicit_minimax.py``, weighted by how well they predict
playouts.

It needs a provider that supplies observations, see ``Frame.samples``: OpenSpiel's bridge gives
observation tensors, compiled rules give boards. Learning costs time, so it stops for the rest of
the game once it does not pay: if AMAF values are trusted, which separate moves already, or if the
values predict little.
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Gt, Le

from rave_agents.compiler.arrays import FLOAT, INT, Array, Axis, Rows, one
from rave_agents.compiler.dispatch import implements, kernel, summing_kernel
from rave_agents.compiler.runtime import runs_as
from rave_agents.kernel import codes, hooks
from rave_agents.kernel.amaf.trust import TRUSTED, measured_trust
from rave_agents.kernel.declarations import (
    GameTraits,
    becomes,
    needs_observations,
    report_root,
    taking_part,
)
from rave_agents.kernel.ramp import ramp
from rave_agents.kernel.tree import edge_rows
from rave_agents.kernel.utilities import scaled
from rave_agents.kernel.values.implicit_minimax import (
    NoJudging,
    back_up_expected,
    minimax_mixing,
    minimax_weight,
    mixing_at,
)
from rave_agents.simulate.evaluations import logistic

MOST_SAMPLES = 16
"""Number of positions of a playout used for learning."""

USEFUL_SHARE = 0.1
"""Trust is full from this share of explained variance of results."""

PAYING_SHARE = 0.125
"""Learning continues only from this share of explained variance of results."""

ENOUGH_POSITIONS = 1024
"""Positions to learn from before that share is checked."""

STEADY = np.float32(1e-3)
"""Added to AdaGrad's sums of squares to keep the first steps finite."""

ERROR, VARIANCE, MEAN, COUNT = 0, 1, 2, 3


class NoLearning(NamedTuple):
    """Nothing is learned."""


class OnlineValue(NamedTuple):
    """Values of positions are learned from observations, and mixed with means."""

    learned_weight: Annotated[float, Ge(0), Le(1)] = 0.3
    """Weight α of backed-up values against the means of simulations under full trust, in [0, 1], as
    ``Judging.minimax`` (Lanctot et al. 2014)."""
    step_size: Annotated[float, Gt(0)] = 0.1
    """Step size of AdaGrad, above 0."""


@implements(taking_part, OnlineValue)
def _takes_part_online_values(part: OnlineValue) -> str:
    return "online values"


@implements(needs_observations, OnlineValue)
def _needs_observations(learning: OnlineValue) -> bool:
    return True


@implements(becomes, NoLearning, OnlineValue)
def _becomes(learning: Any, game: GameTraits) -> Any:
    learns = needs_observations(learning) and game.observed and not game.evaluated
    return learning if learns and game.plain else NoJudging()


@runs_as(OnlineValue)
class LearnedEdges(NamedTuple):
    """The value function, and its judgements of the tree's edges."""

    options: OnlineValue
    utilities: Annotated[Array, Rows(Axis.EDGE, np.float32, (Axis.PLAYER,))]
    """The expected utility of each player after the edge: the value function's, or max^n of the
    subtree's."""
    weights: Annotated[Array, Rows(Axis.FEATURE, np.float32, (Axis.PLAYER, Axis.PLAYER))]
    """[player to move, player, feature] the weights."""
    squares: Annotated[Array, Rows(Axis.FEATURE, np.float32, (Axis.PLAYER, Axis.PLAYER))]
    """The sums of the squares of the gradients."""
    errors: Annotated[Array, one(FLOAT, 4)]
    """[4] squared errors of the values, squared errors of the mean result, mean result, number of
    results."""
    ended: Annotated[Array, one(INT)]
    """[1] 1 once learning has stopped for the rest of the game."""


@kernel
def share_explained(errors: Array) -> float:
    """The share of the variance of results explained by the values; 0 until there is evidence."""
    return 1.0 - float(errors[ERROR]) / float(errors[VARIANCE]) if errors[VARIANCE] > 0.0 else 0.0


@kernel
def value_trust(learned: LearnedEdges) -> float:
    """The trust in the values, from 0 to 1, by their share of explained variance."""
    if learned.ended[0] != 0:
        return 0.0
    return ramp(share_explained(learned.errors), 0.0, USEFUL_SHARE)


@kernel
def pays(learned: LearnedEdges, search: Any) -> bool:
    """True while learning may be worth its time."""
    if measured_trust(search.amaf, search) >= TRUSTED:
        return False
    errors = learned.errors
    return bool(errors[COUNT] < ENOUGH_POSITIONS or share_explained(errors) >= PAYING_SHARE)


@implements(report_root, LearnedEdges)
def _report_root(learned: LearnedEdges, search: Any) -> dict[str, float]:
    return {"value_trust": value_trust(learned)}


@kernel
def outputs_of(search: Any) -> int:
    """Number of players whose values are learned: one in two-player constant-sum games."""
    players = search.settings.num_players
    return 1 if players == 2 and not math.isnan(search.settings.utility_sum) else players


@kernel
def value_of(weights: Array, start: int, shown: Array, first: int, size: int) -> float:
    """The value of an observed position, in [0, 1]; the last weight is the bias."""
    return logistic(float(weighted_sum(weights, start, shown, first, size) + weights[start + size]))


@summing_kernel
def weighted_sum(weights: Array, start: int, shown: Array, first: int, size: int) -> Any:
    """The weighted sum of an observation."""
    # A kernel of its own, which may reorder the sum: that is what vectorises it.
    total = np.float32(0.0)
    for place in range(size):
        total += shown[first + place] * weights[start + place]
    return total


@implements(minimax_weight, LearnedEdges)
def _minimax_weight(learned: LearnedEdges) -> float:
    return learned.options.learned_weight * value_trust(learned)


implements(mixing_at, LearnedEdges)(minimax_mixing)


@implements(hooks.checks_children, LearnedEdges)
def _checks_children(learned: LearnedEdges) -> int:
    return codes.OBSERVE_CHILDREN if learned.ended[0] == 0 else 0


@implements(hooks.samples_refused, LearnedEdges)
def _samples_refused(learned: LearnedEdges, most: int) -> int:
    return most if learned.ended[0] != 0 else 0


@implements(hooks.on_expand, LearnedEdges)
def _judge_children(learned: LearnedEdges, search: Any, depth: int, nodes: int) -> None:
    frame, players = search.frame, search.settings.num_players
    if frame.header[codes.CHECK_CHILDREN] != codes.OBSERVE_CHILDREN:
        return
    size, outputs = frame.header[codes.OBSERVATION], outputs_of(search)
    bounds = search.utilities.bounds
    edges = edge_rows(search.tree, search.path.nodes[depth])
    for index in range(len(edges)):
        place = (edges.start + index) * players
        if frame.child_ends[index] != 0:
            for player in range(players):
                learned.utilities[place + player] = frame.child_returns[index * players + player]
            continue
        mover = frame.child_players[index]
        for player in range(outputs):
            # [player to move, player, feature] with the bias last: `size + 1` weights a row.
            start = (mover * players + player) * (size + 1)
            value = value_of(learned.weights, start, frame.child_observations, index * size, size)
            learned.utilities[place + player] = bounds[0] + (bounds[1] - bounds[0]) * value
        if outputs < players:
            # Constant sum: the second player's utility follows from the first one's.
            rest = search.settings.utility_sum - learned.utilities[place]
            learned.utilities[place + 1] = rest


@implements(hooks.on_backup, LearnedEdges)
def _learn(learned: LearnedEdges, search: Any, depth: int, nodes: int) -> None:
    """Learn from the positions of a playout, and back up expected utilities."""
    if learned.ended[0] != 0:
        return
    if not pays(learned, search):
        learned.ended[0] = 1
        return
    if search.frame.playout_ends[0] > 0:
        for sample in range(search.frame.header[codes.NUM_SAMPLES]):
            learn_position(learned, search, sample)
    back_up_expected(learned, search, depth, nodes)


@kernel
def learn_position(learned: LearnedEdges, search: Any, sample: int) -> None:
    """Compare a position's value with its playout's result, and learn from the error."""
    frame, players = search.frame, search.settings.num_players
    size, shown = frame.header[codes.OBSERVATION], frame.samples
    first, mover = sample * size, frame.sample_players[sample]
    weights, errors = learned.weights, learned.errors
    for player in range(outputs_of(search)):
        start = (mover * players + player) * (size + 1)
        value = value_of(weights, start, shown, first, size)
        end = scaled(search.utilities, frame.returns[player])
        if player == 0:
            mean = errors[MEAN]
            # Compare before learning: values and mean are both predictions of an unseen result.
            if errors[COUNT] > 0.0:  # Else there is no mean to compare with.
                errors[ERROR] += (end - value) ** 2
                errors[VARIANCE] += (end - mean) ** 2
            errors[COUNT] += 1.0
            errors[MEAN] += (end - mean) / errors[COUNT]
        # Gradient of the log loss by the weighted sum.
        slope = np.float32(value - end)
        for place in range(size):
            # Observations are sparse, and AdaGrad ignores zero gradients anyway.
            if shown[first + place] != 0.0:
                descend(learned, start + place, slope * shown[first + place])
        descend(learned, start + size, slope)


@kernel
def descend(learned: LearnedEdges, place: int, gradient: Any) -> None:
    """Take an AdaGrad step in one weight.

    All in single precision, so the processor handles more weights per vector.
    """
    weights, squares = learned.weights, learned.squares
    squares[place] += gradient * gradient
    step = np.float32(learned.options.step_size) / np.sqrt(squares[place] + STEADY)
    weights[place] -= step * gradient
