"""Counterfactual regret minimization over the whole tree of histories: no sampling.

An iteration sweeps the arrays of histories twice for each player. A history comes after the one
that it continues, so that a sweep forwards knows the probability of each history, and a sweep
backwards the value of each. The regrets are those of CFR+ (Tammelin 2014): negative ones are raised
to 0 after each iteration, and the players take turns. Strategies of iteration t weigh t squared in
the average. The others may be taken to tremble: in iteration t they move at random with the
probability (tremble / t)², so that early strategies punish mistakes (restricted Nash responses:
Johanson, Zinkevich & Bowling 2007).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rave_agents.compiler.dispatch import kernel
from rave_agents.compiler.entry import entry
from rave_agents.equilibrium.records import CHANCE, TERMINAL, UNVISITED, Histories, Sets

SWEPT, NUM_HISTORIES, NUM_SETS = range(3)
"""Indices in ``Sweep.control``: iterations done; histories, and information sets, in use."""


class Sweep(NamedTuple):
    """The data of sweeps over the whole tree."""

    histories: Histories
    sets: Sets
    returns: NDArray[np.float64]
    others: NDArray[np.float64]
    """[histories] the probability by chance and the other players' strategies."""
    own: NDArray[np.float64]
    """[histories] the probability by the player's own strategy."""
    value: NDArray[np.float64]
    """[histories] the player's expected return."""
    current: NDArray[np.float64]
    """[actions] the strategies of this iteration."""
    regret: NDArray[np.float64]
    """[actions] the cumulative regrets, at least 0."""
    strategy: NDArray[np.float64]
    """[actions] the sum of the strategies."""
    worth: NDArray[np.float64]
    """[actions] the player's expected return after each action in this iteration, times ``reach``.
    """
    reach: NDArray[np.float64]
    """[sets] the probability of the information set by chance and the others in this iteration."""
    control: NDArray[np.int64]
    num_players: int
    tremble: float
    """See the module; 0 for CFR+."""


@entry("the sweeps over all histories")
def sweep(search: Sweep, iterations: int) -> int:
    """Do so many iterations; returns their number so far."""
    control = search.control
    for _ in range(iterations):
        if control[SWEPT] == 0:
            for player in range(search.num_players):
                match_all_regrets(search, player)
        control[SWEPT] += 1
        for player in range(search.num_players):
            forget_worths(search, player)
            sweep_forwards(search, player)
            sweep_backwards(search, player)
            add_all_regrets(search, player)
            # At once: the next player answers this strategy already.
            match_all_regrets(search, player)
    return int(control[SWEPT])


@kernel
def match_all_regrets(search: Sweep, player: int) -> None:
    """The current strategies of a player, by regret matching; see ``traversal.match_regrets``."""
    sets, regret, current = search.sets, search.regret, search.current
    for place in range(search.control[NUM_SETS]):
        if sets.player[place] != player:
            continue
        first, size = sets.first[place], sets.size[place]
        total = 0.0
        for at in range(first, first + size):
            total += regret[at]
        for at in range(first, first + size):
            current[at] = regret[at] / total if total > 0.0 else 1.0 / size


@kernel
def forget_worths(search: Sweep, player: int) -> None:
    """Clear what the last iteration has found at a player's information sets."""
    sets = search.sets
    for place in range(search.control[NUM_SETS]):
        if sets.player[place] == player:
            search.reach[place] = 0.0
            for at in range(sets.first[place], sets.first[place] + sets.size[place]):
                search.worth[at] = 0.0


@kernel
def random_share(search: Sweep) -> float:
    """The probability with which the others move at random in this iteration."""
    return float(min(1.0, search.tremble / search.control[SWEPT]) ** 2)


@kernel
def sweep_forwards(search: Sweep, player: int) -> None:
    """The probabilities of all histories, and the averages of the player's strategies."""
    histories, others, own = search.histories, search.others, search.own
    weight: Any = float(search.control[SWEPT]) ** 2
    share = random_share(search)
    others[0] = own[0] = 1.0
    for history in range(search.control[NUM_HISTORIES]):
        mover = histories.player[history]
        if mover in (TERMINAL, UNVISITED):
            continue
        first = histories.first[history]
        base = search.sets.first[histories.place[history]] if mover >= 0 else 0
        for at in range(histories.size[history]):
            child = first + at
            others[child], own[child] = others[history], own[history]
            if mover == CHANCE:
                others[child] *= histories.chance[child]
            elif mover == player:
                own[child] *= search.current[base + at]
                # Each history of the set adds the same: only the shares matter.
                search.strategy[base + at] += weight * own[child]
            else:
                at_random = share / histories.size[history]
                others[child] *= (1.0 - share) * search.current[base + at] + at_random


@kernel
def sweep_backwards(search: Sweep, player: int) -> None:
    """The values of all histories, and what each action of the player is worth."""
    histories, value, current = search.histories, search.value, search.current
    share = random_share(search)
    for back in range(search.control[NUM_HISTORIES]):
        history = search.control[NUM_HISTORIES] - 1 - back
        mover = histories.player[history]
        if mover == TERMINAL:
            row = histories.place[history] * search.num_players
            value[history] = search.returns[row + player]
            continue
        first, size = histories.first[history], histories.size[history]
        expected = 0.0
        if mover == CHANCE:
            for child in range(first, first + size):
                expected += histories.chance[child] * value[child]
            value[history] = expected
            continue
        base = search.sets.first[histories.place[history]]
        at_random = 0.0
        for at in range(size):
            expected += current[base + at] * value[first + at]
            at_random += value[first + at]
        if mover != player:
            expected = (1.0 - share) * expected + share / size * at_random
        value[history] = expected
        if mover == player:
            reach = search.others[history]
            search.reach[histories.place[history]] += reach
            for at in range(size):
                search.worth[base + at] += reach * value[first + at]


@kernel
def add_all_regrets(search: Sweep, player: int) -> None:
    """Add a player's regrets of this iteration, and raise negative sums to 0."""
    sets, regret, current, worth = search.sets, search.regret, search.current, search.worth
    for place in range(search.control[NUM_SETS]):
        if sets.player[place] == player:
            first, end = sets.first[place], sets.first[place] + sets.size[place]
            expected = 0.0
            for at in range(first, end):
                expected += current[at] * worth[at]
            for at in range(first, end):
                regret[at] = max(regret[at] + worth[at] - expected, 0.0)
