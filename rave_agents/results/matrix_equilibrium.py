"""An equilibrium of the root's payoff matrix, where two players move at the same time."""

import numpy as np
from numpy.typing import NDArray

from rave_agents.results.root import Root

ROUNDS = 100
"""Rounds of regret matching+: strategies within about 0.01 of an equilibrium's value."""


def knows_matrix(root: Root, fewest: float) -> bool:
    """True if two players of a game of two move, and joint actions have enough visits on average.

    Args:
        root: the root.
        fewest: visits of a joint action.
    """
    if root.num_players != 2 or not root.joint or len(root.joint[0].actions) != 2:
        return False
    replies = len({row.actions[1 - root.place] for row in root.joint})
    return sum(row.visits for row in root.joint) >= fewest * len(root.moves) * replies


def equilibrium_shares(root: Root, few: float, threshold: float) -> list[float]:
    """The root moves' probabilities in an equilibrium of the matrix of mean values.

    Args:
        root: a root at which two players of a game of two move at the same time.
        few: visits added to each joint action, at the value that its two actions have on average.
        threshold: moves with less than this share of the greatest probability are left out.
    """
    actions = [move.action for move in root.moves]
    replies = sorted({row.actions[1 - root.place] for row in root.joint})
    visits = np.zeros((len(actions), len(replies)))
    sums = {player: np.zeros_like(visits) for player in (root.player, 1 - root.player)}
    for row in root.joint:
        reply = replies.index(row.actions[1 - root.place])
        cell = actions.index(row.actions[root.place]), reply
        visits[cell] = row.visits
        for player, total in sums.items():
            total[cell] = row.value_sums[player]
    own, other = (shrunk_means(total, visits, few) for total in sums.values())
    shares = matched_strategy(own, other.T)
    shares[shares < threshold * shares.max()] = 0.0
    return (shares / shares.sum()).tolist()  # type: ignore[no-any-return]


def shrunk_means(
    sums: NDArray[np.float64], visits: NDArray[np.float64], few: float
) -> NDArray[np.float64]:
    """Mean values of joint actions, drawn towards what their two actions add to the overall mean.

    Args:
        sums: sums of values, [own actions, replies].
        visits: their numbers.
        few: visits added to each joint action, and to each action at the overall mean.
    """
    mean = sums.sum() / visits.sum()
    rows = (sums.sum(1) + few * mean) / (visits.sum(1) + few)
    columns = (sums.sum(0) + few * mean) / (visits.sum(0) + few)
    expected = rows[:, None] + columns[None, :] - mean
    # Without virtual visits, joint actions that no simulation took have the expected value.
    weights = np.where(visits + few > 0.0, visits + few, 1.0)
    shrunk = np.where(visits + few > 0.0, sums + few * expected, expected)
    return shrunk / weights  # type: ignore[no-any-return]


def matched_strategy(
    own: NDArray[np.float64], other: NDArray[np.float64], rounds: int = ROUNDS
) -> NDArray[np.float64]:
    """The average strategy of regret matching+ in a matrix game (Tammelin 2014).

    The players take turns, and strategies of round t weigh t squared: both speed up convergence.

    Args:
        own: the payoffs of the player, [own actions, replies].
        other: those of the opponent, [replies, own actions].
        rounds: the number of rounds.
    """
    regrets, replies = np.zeros(len(own)), np.zeros(len(other))
    reply = np.full(len(other), 1.0 / len(other))
    strategy, average = np.full(len(own), 1.0 / len(own)), np.zeros(len(own))
    for number in range(1, rounds + 1):
        regrets, strategy = _matched(regrets, strategy, own @ reply)
        average += number**2 * strategy
        replies, reply = _matched(replies, reply, other @ strategy)
    return average / average.sum()  # type: ignore[no-any-return]


def _matched(
    regrets: NDArray[np.float64], strategy: NDArray[np.float64], payoffs: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The regrets after a round, and the strategy in proportion to them."""
    regrets = np.maximum(regrets + payoffs - strategy @ payoffs, 0.0)
    total = regrets.sum()
    if total <= 0.0:
        return regrets, np.full(len(regrets), 1.0 / len(regrets))
    return regrets, regrets / total
