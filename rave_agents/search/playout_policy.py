"""What playouts are steered to: the actions that won most so far, whenever they were taken.

This is the move-average sampling technique with a Gibbs distribution (Finnsson & Björnsson 2008),
of the moves of playouts alone. A playout takes action a with a probability in proportion to

    exp(trust (mean of a - mean of all his moves) / temperature)

with means of returns on the scale [0, 1]. An action counts as won once before it is seen, so that
all are tried. The trust is a product of two shares, either at least 0, which makes playouts
uniform:

* An action's mean says something where the action means much the same whenever it is taken. In
  Connect Four, a column is another cell each time: there it misleads. Such games show in the tree,
  where an action that its player has taken is legal for him again. So the first share is that of
  the actions on the way to new nodes that are gone there, less that of those legal again.
* Means of few moves differ by chance. In Lines of Action all of their differences are chance. So
  the second share is that of the means' variance which chance does not account for, of all players
  together, where a tenth counts as nothing and a quarter as all.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.search.compiler import kernel
from rave_agents.search.simulator import Frame, Header
from rave_agents.search.tree import Tree

NUM_PLAYOUTS = int(Header.NUM_PLAYOUTS)

PLAYOUTS = 0
GONE = 1
LEGAL_AGAIN = 2

INSIGNIFICANT_SHARE = 0.1
SIGNIFICANT_SHARE = 0.25
"""Of the variance of means, what is not to be accounted for by chance. Trust grows between these
from nothing to full: moves that a playout repeats look like some of it where there is none."""

PLAYOUTS_BETWEEN_UPDATES = 16
"""Weights follow the statistics after so many playouts each."""

GREATEST_EXPONENT = 100.0
"""Reached at the least temperature. Returns beyond the bounds that a game states would exceed
it."""


class PlayoutPolicy(NamedTuple):
    """The statistics of all moves of a search's playouts; without actions if they are uniform."""

    visits: NDArray[np.int64]
    """[players, actions] how often each player took each action."""
    return_sum: NDArray[np.float64]
    """[players, actions] the sum of his returns then, in the game's utilities."""
    square_sum: NDArray[np.float64]
    """[players] the sum of the squares of each player's returns, over all of his moves."""
    counts: NDArray[np.int64]
    """[3] playouts; of the actions that the player of a new node took on the way there, those that
    are gone and those that are legal again, one counted as legal again beforehand: nothing is
    steered until something is known."""


def allocate_playout_policy(num_players: int, num_actions: int) -> PlayoutPolicy:
    """Statistics without a move."""
    shape = (num_players, num_actions)
    return PlayoutPolicy(
        visits=np.zeros(shape, np.int64),
        return_sum=np.zeros(shape, np.float64),
        square_sum=np.zeros(num_players, np.float64),
        counts=np.array([0, 0, 1], np.int64),
    )


@kernel
def look_for_taken_actions(
    policy: PlayoutPolicy,
    tree: Tree,
    path_nodes: NDArray[np.int64],
    path_edges: NDArray[np.int64],
    depth: int,
    node: int,
) -> None:
    """Count which of the actions that the new node's player took on the path are legal again."""
    player = tree.node_player[node]
    first = tree.node_first_edge[node]
    for index in range(depth):
        if player < 0 or tree.node_player[path_nodes[index]] != player:
            continue
        action = tree.edge_action[path_edges[index]]
        place = GONE
        for edge in range(first, first + tree.node_edge_count[node]):
            if tree.edge_action[edge] == action:
                place = LEGAL_AGAIN
        policy.counts[place] += 1


@kernel
def learn_playouts(
    policy: PlayoutPolicy, frame: Frame, temperature: float, low: float, high: float
) -> None:
    """Count the frame's playouts, and now and then weigh the actions anew.

    Args:
        policy: the statistics; they change.
        frame: its playouts are counted, its weights change. Ends without moves are left out.
        temperature: of the distribution.
        low: the utility that is 0 on the scale of values.
        high: the one that is 1.
    """
    first_move = 0
    for playout in range(frame.header[NUM_PLAYOUTS]):
        end = frame.playout_ends[playout]
        if end > first_move:
            count_playout(policy, frame, playout, first_move, end)
            if policy.counts[PLAYOUTS] % PLAYOUTS_BETWEEN_UPDATES == 0 and high > low:
                weigh_actions(policy, frame.action_weights, temperature, low, high)
        first_move = end


@kernel
def count_playout(
    policy: PlayoutPolicy, frame: Frame, playout: int, first_move: int, end: int
) -> None:
    """Count one playout's moves, from the first to before ``end``."""
    policy.counts[PLAYOUTS] += 1
    for move in range(first_move, end):
        player, action = frame.move_players[move], frame.move_actions[move]
        utility = frame.returns[playout, player]
        policy.visits[player, action] += 1
        policy.return_sum[player, action] += utility
        policy.square_sum[player] += utility * utility


@kernel
def weigh_actions(
    policy: PlayoutPolicy,
    weights: NDArray[np.float64],
    temperature: float,
    low: float,
    high: float,
) -> None:
    """Give every action of every player its weight."""
    gone, again = policy.counts[GONE], policy.counts[LEGAL_AGAIN]
    meaning = max(0.0, (gone - again) / (gone + again))
    factor = meaning * significance(policy) / (temperature * (high - low))
    for player in range(policy.visits.shape[0]):
        mean = mean_return(policy, player)
        unseen = bounded_exponential(factor * (high - mean))
        for action in range(policy.visits.shape[1]):
            visits = policy.visits[player, action]
            weight = unseen
            if visits > 0:
                value = (policy.return_sum[player, action] + high) / (visits + 1)
                weight = bounded_exponential(factor * (value - mean))
            weights[player, action] = weight


@kernel
def significance(policy: PlayoutPolicy) -> float:
    """How much the actions' means tell beyond chance, from 0 to 1.

    One number for all players: if one were steered by it and another not, the values of all moves
    would follow who is.
    """
    spread = 0.0
    chance = 0.0
    for player in range(policy.visits.shape[0]):
        mean = mean_return(policy, player)
        moves = max(1, policy.visits[player].sum())
        variance = policy.square_sum[player] / moves - mean * mean
        for action in range(policy.visits.shape[1]):
            visits = policy.visits[player, action]
            if visits > 0:
                difference = policy.return_sum[player, action] - visits * mean
                spread += difference * difference / visits
                # A sample of the playouts without replacement: the mean of all is no chance.
                chance += variance * max(0.0, 1.0 - visits / policy.counts[PLAYOUTS])
    if spread <= 0.0:
        return 0.0
    share = 1.0 - chance / spread
    width = SIGNIFICANT_SHARE - INSIGNIFICANT_SHARE
    return max(0.0, min(1.0, (share - INSIGNIFICANT_SHARE) / width))


@kernel
def mean_return(policy: PlayoutPolicy, player: int) -> float:
    """The mean of a player's returns over all of his moves; 0 without moves."""
    return policy.return_sum[player].sum() / max(1, policy.visits[player].sum())


@kernel
def bounded_exponential(exponent: float) -> float:
    """The exponential function, finite and above 0."""
    return math.exp(max(-GREATEST_EXPONENT, min(GREATEST_EXPONENT, exponent)))
