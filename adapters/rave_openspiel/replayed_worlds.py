"""Worlds (determinizations) by replaying the history with other hidden outcomes and moves."""

import math
import random
import time
from collections.abc import Sequence

import pyspiel

from rave_agents.simulate.simulator import DeadlinePassed
from rave_openspiel.history_chain import Budget, HistoryChain
from rave_openspiel.knowledge import Knowledge, Line, OutOfBudget
from rave_openspiel.particle_filter import SIZES, filtered
from rave_openspiel.uniform_moves import Unit

PROPOSALS = 8
"""Changes that are tried between two worlds of one walk, at least; as many as there are moves and
outcomes that can be hidden if these are more, up to ``MOST_PROPOSALS``."""

MOST_PROPOSALS = 32

PARTICLE_PROPOSALS = 4
"""Changes that are tried before a particle is used as a world; each is used in its turn."""

STEPS_PER_SIMULATION = 100
"""Actions that may be played for each simulation asked for, before the first world."""

LEAST_STEPS = 5_000
"""Actions that may be played in any case."""

USUAL_STEPS = 20_000
"""Actions that may be played where neither a number of simulations nor a deadline was given."""

MOST_STEPS = 500_000
"""Actions that are played at most."""

SHARE_OF_TIME = 0.25
"""Part of a search's time that may pass before the first world."""

LEAST_SECONDS = 0.05
"""Time that a world may take in any case, however little the search has."""

SHARE_OF_LOOKS = 0.1
"""Part of the time that may pass while it is looked up what was hidden."""

SHARE_OF_WALK = 0.25
"""Part of the time that is left that the first rounds of a walk may take; all of it, before any
proposal is taken."""

SHARE_FOR_A_WORLD = 0.125
"""Part of the time that is left that one more world may take, so that there are several."""

FILTER_SHARE = 0.6
"""Part of that for the filter; the walk from the true history, if it is needed, has the rest."""

MOST_PARTICLES = 128

LEAST_PARTICLES = 32
"""Particles, at least, up to which filters grow while the budget lasts."""

WALK_SHARE = 0.25
"""Part of what all later worlds of a walk cost that the way to the first one may cost at least."""

ROUNDS = 20
"""Proposals of a walk before the first look at whether it has levelled off, in rounds of as many as
between two worlds."""

LEAST_ROUNDS = 2
"""Rounds that a walk takes, or as many proposals as there is time for, of which one is taken: no
world is the truth for lack of time alone."""

CHANGES = 4
"""Proposals taken for each hidden action before a walk can have levelled off."""

LOOKS = 16
"""Histories of a stretch of the walk in which the true actions are counted."""

LEVEL = 0.01
"""Less than this share of true actions is lost over a stretch that has levelled off."""


class ReplayedWorlds:
    """Worlds by replaying the history with other hidden outcomes and moves.

    A world's probability is that of its history among all in which the player sees the same at
    every moment (see ``rave_openspiel.knowledge``), if the others had moved uniformly at random:
    chance by its probabilities, a move of another player by one over the number of their legal
    actions.

    Worlds come from histories that a particle filter draws from the start of the game
    (``rave_openspiel.particle_filter``), each of which goes on by a Markov chain
    (``rave_openspiel.history_chain``) whenever it is its turn. Where no particle comes to the
    present, as in card games with large deals, one chain starts at the true history, and walks
    until the share of true actions has levelled off, or its budget is spent. ``method`` and
    ``settled`` tell which.

    All this happens at the request for the first world. Replays end with the search's time: where
    it is over before there is a world that is not the truth, there is none.

    Args:
        state: the true position.
        player: who is to move there.
        unit: draws the seed of every random choice.

    """

    def __init__(self, state: pyspiel.State, player: int, unit: Unit) -> None:
        self._state, self._player = state.clone(), player
        self._unit = random.Random(int(unit() * 2**32) << 32 | int(unit() * 2**32)).random
        self._simulations = math.inf
        self._deadline = self._latest = math.inf
        self._lines: list[Line] = []
        self._turn = 0
        self._moves: HistoryChain | None = None
        self.method: str = "particles"
        """``"particles"``, or ``"walk"`` for a chain that started at the true history."""
        self.settled: bool = False
        """True if the way to the first world ended before its budget: no particles are cut short,
        and a walk has levelled off."""

    def begin(self, simulations: float, deadline: float) -> None:
        """Set the budget for the first world.

        Args:
            simulations: the number of worlds that are needed; infinity if unknown.
            deadline: the ``time.perf_counter()`` time at which the search ends; infinity for none.
        """
        self._simulations, self._deadline = simulations, deadline
        self._latest = max(deadline, time.perf_counter() + LEAST_SECONDS)

    def __call__(self) -> pyspiel.State:
        """Draw the next world.

        Raises:
            UnsupportedGameError: if the history cannot be replayed.
            DeadlinePassed: if there was no time for a world.
        """
        return self.line().states[-1].clone()

    def line(self) -> Line:
        """Draw the history of the next world."""
        if not self._lines:
            self._prepare()
        assert self._moves is not None
        place = self._turn % len(self._lines)
        self._turn += 1
        count = self._round if self.method == "walk" else PARTICLE_PROPOSALS
        if self._turn > 1 or self.method != "walk":
            budget = Budget(math.inf, self._deadline).part(SHARE_FOR_A_WORLD)
            self._lines[place] = self._moves.advance(self._lines[place], count, budget)
        return self._lines[place]

    @property
    def cycle(self) -> int:
        """Number of worlds between two worlds from the same chain."""
        return max(1, len(self._lines))

    @property
    def sites(self) -> Sequence[int]:
        """Places in the true history where the player could not have seen another action."""
        if self._moves is None:
            self._prepare()
        assert self._moves is not None
        return self._moves.sites

    def _prepare(self) -> None:
        """Draw the first histories."""
        if time.perf_counter() >= self._latest:
            raise DeadlinePassed
        try:
            self._knowledge = Knowledge(self._state, self._player, self._latest)
        except OutOfBudget:
            raise DeadlinePassed from None
        most = MOST_PARTICLES
        if math.isfinite(self._simulations):
            most = min(most, max(LEAST_PARTICLES, int(self._simulations)))
        looks = Budget(math.inf, self._latest).part(SHARE_OF_LOOKS)
        self._moves = HistoryChain(self._knowledge, self._unit, looks.ends)
        budget = self._budget()
        self._round = min(MOST_PROPOSALS, max(PROPOSALS, len(self._moves.sites)))
        if self._moves.looks_open and self._is_open(budget):
            self.method, self.settled, self._round = "walk", True, 0
            self._lines = [self._knowledge.truth]
            return
        share = budget.part(FILTER_SHARE)
        if self._knowledge.step_seconds * SIZES[0] * len(self._knowledge.truth) < share.seconds:
            self._lines = filtered(self._knowledge, self._moves, self._unit, share, most)
        self.settled = len(self._lines) > 0
        if not self._lines:
            self.method = "walk"
            budget.steps -= budget.steps * FILTER_SHARE - max(share.steps, 0.0)
            if math.isfinite(self._simulations):
                later = self._simulations * self._round * len(self._knowledge.truth) / 2
                budget.steps = max(budget.steps, min(MOST_STEPS, WALK_SHARE * later))
            self._lines = [self._walked(budget)]

    def _is_open(self, budget: Budget) -> bool:
        """True if nothing is hidden here, as far as some proposals show."""
        moves = self._moves
        assert moves is not None
        time_alone = Budget(math.inf, budget.ends)
        moves.advance(self._knowledge.truth, ROUNDS * self._round, time_alone)
        return moves.accepted == 0 and moves.tried >= LEAST_ROUNDS * self._round

    def _budget(self) -> Budget:
        steps = float(USUAL_STEPS)
        if math.isfinite(self._simulations):
            steps = max(LEAST_STEPS, self._simulations * STEPS_PER_SIMULATION)
        elif math.isfinite(self._deadline):
            steps = MOST_STEPS
        if math.isinf(self._deadline):
            return Budget(min(steps, MOST_STEPS))
        now = time.perf_counter()
        ends = now + SHARE_OF_TIME * max(self._deadline - now, 0.0)
        return Budget(min(steps, MOST_STEPS), ends)

    def _walked(self, budget: Budget) -> Line:
        """Run the chain from the true history until it levels off or the budget is spent."""
        moves = self._moves
        assert moves is not None
        line, stretch = self._knowledge.truth, ROUNDS * self._round
        moves.count_anew()
        least = LEAST_ROUNDS * self._round
        for share in (SHARE_OF_WALK, 1.0):
            time_alone = Budget(math.inf, self._latest).part(share)
            line = moves.advance(line, least - moves.tried, time_alone)
            if moves.accepted > 0:
                break
        if moves.accepted == 0 and moves.tried < least:
            raise DeadlinePassed
        sites = moves.sites
        before = 1.0
        while not budget.spent:
            shares = []
            for _ in range(LOOKS):
                line = moves.advance(line, max(1, stretch // LOOKS), budget)
                shares.append(self._true_share(line, sites))
            now = sum(shares) / LOOKS
            moves.adapt()
            if budget.spent:
                break
            if moves.accepted >= CHANGES * len(moves.sites) and now > before - LEVEL:
                self.settled = True
                break
            before, stretch = now, 2 * stretch
        return line

    def _true_share(self, line: Line, sites: Sequence[int]) -> float:
        """The share of the actions at these places that equal the true ones."""
        true = self._knowledge.truth.actions
        same = sum(line.actions[step] == true[step] for step in sites)
        return same / len(sites) if sites else 0.0
