"""What playouts are steered to: the actions that won most so far, whenever they were taken.

This is the move-average sampling technique with a Gibbs distribution (Finnsson & Björnsson 2008). A
playout takes action a with a probability in proportion to

    exp(trust (mean of a - mean of the player) / temperature)

with means of returns on the scale [0, 1]. An action counts as won once before it is seen, so that
all are tried. Where players take the same few actions over and over, as the columns of Connect
Four, an action names no single move, and its mean misleads. So the trust is the share of moves
that their player took for the first time in the playout, less the share of those taken again; at
least 0, which makes playouts uniform.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.search.compiler import kernel
from rave_agents.search.simulator import Frame, Header

NUM_PLAYOUTS = int(Header.NUM_PLAYOUTS)

PLAYOUTS = 0
MOVES = 1
FIRST_MOVES = 2

PLAYOUTS_BETWEEN_UPDATES = 16
"""Weights follow the statistics after so many playouts each."""


class PlayoutPolicy(NamedTuple):
    """The statistics of all moves of a search's playouts; without actions if they are uniform."""

    visits: NDArray[np.int64]
    """[players, actions] how often each player took each action."""
    return_sum: NDArray[np.float64]
    """[players, actions] the sum of his returns then, in the game's utilities."""
    last_playout: NDArray[np.int64]
    """[players, actions] the number of the last playout that he took it in, from 1; 0 for none."""
    player_return_sum: NDArray[np.float64]
    """[players] the sum of each player's returns over all playouts."""
    counts: NDArray[np.int64]
    """[3] playouts, their moves, and those among them that a player took for the first time."""


def allocate_playout_policy(num_players: int, num_actions: int) -> PlayoutPolicy:
    """Statistics without a move."""
    shape = (num_players, num_actions)
    return PlayoutPolicy(
        visits=np.zeros(shape, np.int64),
        return_sum=np.zeros(shape, np.float64),
        last_playout=np.zeros(shape, np.int64),
        player_return_sum=np.zeros(num_players, np.float64),
        counts=np.zeros(3, np.int64),
    )


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
    policy.counts[MOVES] += end - first_move
    number = policy.counts[PLAYOUTS]
    for player in range(policy.visits.shape[0]):
        policy.player_return_sum[player] += frame.returns[playout, player]
    for move in range(first_move, end):
        player, action = frame.move_players[move], frame.move_actions[move]
        policy.visits[player, action] += 1
        policy.return_sum[player, action] += frame.returns[playout, player]
        if policy.last_playout[player, action] != number:
            policy.last_playout[player, action] = number
            policy.counts[FIRST_MOVES] += 1


@kernel
def weigh_actions(
    policy: PlayoutPolicy,
    weights: NDArray[np.float64],
    temperature: float,
    low: float,
    high: float,
) -> None:
    """Give every action of every player its weight."""
    trust = max(0.0, 2.0 * policy.counts[FIRST_MOVES] / policy.counts[MOVES] - 1.0)
    factor = trust / (temperature * (high - low))
    for player in range(policy.visits.shape[0]):
        mean = policy.player_return_sum[player] / policy.counts[PLAYOUTS]
        unseen = math.exp(factor * (high - mean))
        for action in range(policy.visits.shape[1]):
            visits = policy.visits[player, action]
            weight = unseen
            if visits > 0:
                value = (policy.return_sum[player, action] + high) / (visits + 1)
                weight = math.exp(factor * (value - mean))
            weights[player, action] = weight
