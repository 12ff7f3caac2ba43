"""Worlds (determinizations) by replaying the history with other hidden outcomes and moves."""

import functools
import logging
import math
import time
from collections.abc import Sequence

import numpy as np
import pyspiel

from rave_agents.simulate.random_stream import StreamUnit
from rave_agents.simulate.simulator import DeadlinePassed
from rave_openspiel.first_history import first_history
from rave_openspiel.history_chain import Budget, HistoryChain
from rave_openspiel.knowledge import Line, OutOfBudget
from rave_openspiel.listed_worlds import ListedWorlds, listed
from rave_openspiel.native_histories import chain_of
from rave_openspiel.particle_filter import SIZES, filtered
from rave_openspiel.uniform_moves import Unit

_log = logging.getLogger("rave_agents")

PROPOSALS = 8
"""Least number of proposals between two worlds of one walk: the number of steps that can be hidden
if that is larger, up to ``MOST_PROPOSALS``."""

MOST_PROPOSALS = 32

PARTICLE_PROPOSALS = 4
"""Proposals before a particle is used as a world; particles take turns."""

WORLD_SHARE = 1.0
"""Actions for drawing worlds, for each action of a simulation, see ``ReplayedWorlds.allow``. In Go
Fish this won 0.77 ± 0.16 of 26 games at equal CPU time (0.02 s a move) against all of a world's
proposals for each simulation, and 0.58 ± 0.19 of 26 games at 50 simulations."""

MOST_SAVED = 2_000.0
"""Actions that cheap worlds can save for later ones, at most."""

STEPS_PER_SIMULATION = 100
"""Budget of actions before the first world, for each simulation requested."""

LEAST_STEPS = 5_000
"""Least budget of actions."""

USUAL_STEPS = 20_000
"""Budget of actions without a number of simulations or a deadline."""

MOST_STEPS = 500_000
"""Largest budget of actions."""

SHARE_OF_TIME = 0.25
"""Share of a search's time before the first world."""

LEAST_SECONDS = 0.05
"""Least time for a world, even if the search has less."""

SHARE_OF_LOOKS = 0.1
"""Share of the time for finding out which steps were hidden."""

SHARE_OF_WALK = 0.25
"""Share of the remaining time for the first rounds of a walk; all of it, until a proposal is
accepted."""

SHARE_FOR_A_WORLD = 0.125
"""Share of the remaining time for one more world, so that there are several."""

LIST_SHARE = 0.05
"""Share of the budget for listing all histories."""

MOST_LISTED = 2_000
"""Actions that are played to list them, at most."""

FILTER_SHARE = 0.6
"""Share of the budget for the filter; a walk, if needed, has the rest."""

START_SHARE = 0.5
"""Share of the remaining time for finding where a walk starts: more than of the budget, as a walk
from the true history depends on what is hidden."""

MOST_PARTICLES = 128

LEAST_PARTICLES = 32
"""Least bound on the particles, up to which filters grow while the budget lasts."""

WALK_SHARE = 0.2
"""Least budget for a walk's first world, as a share of the cost of all later ones."""

ROUNDS = 20
"""Rounds of a walk before the first test for levelling off; a round is the proposals between two
worlds."""

LEAST_ROUNDS = 2
"""Least rounds of a walk. With less time, at least one proposal must be accepted: a walk may begin
at the true history, which must not become a world."""

CHANGES = 4
"""Accepted proposals for each hidden action before a walk can have levelled off."""

LOOKS = 16
"""Histories in each stretch of the walk that are compared with its start."""

TRUE_WALK = "walk from the true history"
"""The method if no other start of the walk was found, by the time or the most actions for that."""

LEVEL = 0.01
"""A walk has levelled off if a stretch loses less than this share of the start's actions."""


@functools.cache
def _warn_of_true_start(name: str) -> None:
    _log.warning(
        "rave_openspiel: no history of %s that fits what the player knows was found in time, so a "
        "walk began at the true one, and its worlds may depend on what is hidden. More seconds "
        "help; result.worlds.method reports such walks, and worlds=function gives your own.",
        name,
    )


class ReplayedWorlds:
    """Worlds by replaying the history with other hidden outcomes and moves.

    A world's probability is that of its history among all in which the player sees the same at
    every moment (see ``rave_openspiel.knowledge``), if the others had moved uniformly at random:
    chance by its probabilities, a move of another player by one over the number of their legal
    actions.

    Where few histories fit, all are listed, and worlds drawn from the list
    (``rave_openspiel.listed_worlds``). Otherwise they come from histories that a particle filter
    draws from the start of the game (``rave_openspiel.particle_filter``), each advanced by a
    Markov chain (``rave_openspiel.history_chain``) before each use. If no particle reaches the
    present, as in card games with large deals, one chain starts at a history that is found from
    the player's knowledge (``rave_openspiel.first_history``), or at the true one if none is found,
    and walks until the share of the start's actions has levelled off, or its budget is spent.
    ``method`` and ``settled`` report which.

    The work is done when the first world is requested, and ends with the search's time: if that is
    over before any proposal was accepted, there is no world rather than the truth.

    Args:
        state: the true position.
        player: who is to move there.
        unit: draws the seed of every random choice.

    """

    def __init__(self, state: pyspiel.State, player: int, unit: Unit) -> None:
        self._state, self._player = state.clone(), player
        # A stream of its own: how many numbers a walk draws depends on its time, and the search's
        # stream must not.
        self._unit = StreamUnit(np.array([int(unit() * 2**32) for _ in range(4)], np.int64))
        self._simulations = math.inf
        self._deadline = self._latest = math.inf
        self._lines: list[Line] = []
        self._turn = 0
        self._allowed = math.inf
        self.repeated: bool = False
        """True if the last world was the one before once more, see ``allow``."""
        self._moves: HistoryChain | None = None
        self._listed: ListedWorlds | None = None
        self.method: str = "particles"
        """``"list"``, ``"particles"``, ``"walk"`` for a single chain, or ``TRUE_WALK``."""
        self._walks = False
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

    def allow(self, actions: float) -> None:
        """Allow so many more actions for drawing worlds; without calls they are not limited.

        A world then takes fewer proposals than ``PROPOSALS`` and ``PARTICLE_PROPOSALS``; if not
        even one is allowed, it is the world before once more. A chain is advanced little by little
        rather than seldom and far: for equal costs that gives more information.
        """
        so_far = 0.0 if self._allowed == math.inf else self._allowed
        self._allowed = min(so_far + WORLD_SHARE * actions, MOST_SAVED)

    def __call__(self) -> pyspiel.State:
        """Draw the next world.

        Raises:
            UnsupportedGameError: if the history cannot be replayed.
            DeadlinePassed: if there was no time for a world.
        """
        if not (self._lines or self._listed):
            self._prepare()
        if self._listed is not None:
            return self._listed.draw(self._unit).clone()
        return self._next_line().world()

    def _next_line(self) -> Line:
        """The history of the next world of a chain."""
        assert self._moves is not None
        self.repeated = self._allowed < 0 and self._turn >= len(self._lines)
        self._turn += not self.repeated
        place = (self._turn - 1) % len(self._lines)
        count = self._round if self._walks else PARTICLE_PROPOSALS
        # A walk has just reached its first world; particles may be copies of one another.
        if not self.repeated and (self._turn > 1 or not self._walks):
            budget = Budget(math.inf, self._deadline).part(SHARE_FOR_A_WORLD)
            budget.steps = self._allowed
            self._lines[place] = self._moves.advance(self._lines[place], count, budget)
            self._allowed = budget.steps
        return self._lines[place]

    @property
    def cycle(self) -> int:
        """Number of worlds between two worlds from the same chain; 0 if there are no chains."""
        return 0 if self._listed is not None else max(1, len(self._lines))

    @property
    def sites(self) -> Sequence[int]:
        """Steps of the worlds at which the player could not have seen another action."""
        if self._moves is None:
            self._prepare()
        assert self._moves is not None
        return self._moves.sites

    def _prepare(self) -> None:
        """Draw the first histories."""
        if time.perf_counter() >= self._latest:
            raise DeadlinePassed
        try:
            self._knowledge, self._moves = chain_of(
                self._state, self._player, self._unit, self._latest
            )
        except OutOfBudget:
            raise DeadlinePassed from None
        most = MOST_PARTICLES
        if math.isfinite(self._simulations):
            most = min(most, max(LEAST_PARTICLES, int(self._simulations)))
        self._moves.looks_end = Budget(math.inf, self._latest).part(SHARE_OF_LOOKS).ends
        budget = self._budget()
        share = budget.part(LIST_SHARE)
        share.steps = min(share.steps, MOST_LISTED)
        self._listed = listed(self._knowledge, share)
        if self._listed is not None:
            self.method, self.settled = "list", True
            return
        share = budget.part(FILTER_SHARE)
        # Skip the filter if not even its smallest size could play the game through once.
        if self._knowledge.step_seconds * SIZES[0] * len(self._knowledge.truth) < share.seconds:
            self._lines = filtered(self._knowledge, self._moves, self._unit, share, most)
        self.settled = len(self._lines) > 0
        if not self._lines:
            self.method, self._walks = "walk", True
            # Charge the filter's use: the unspent part of its share goes to the walk.
            budget.steps -= budget.steps * FILTER_SHARE - max(share.steps, 0.0)
            self._lines = [self._walked(budget)]

    def _walked(self, budget: Budget) -> Line:
        """The first world of a walk."""
        moves, whole = self._moves, Budget(math.inf, self._latest)
        assert moves is not None
        start = first_history(self._knowledge, whole.part(START_SHARE))
        if start is None:
            _warn_of_true_start(self._state.get_game().get_type().short_name)
            start, self.method = self._knowledge.truth, TRUE_WALK
        budget.steps -= budget.steps * START_SHARE
        budget.ends = max(budget.ends, whole.part(SHARE_OF_WALK).ends)
        moves.learn_sites(start)
        self._round = min(MOST_PROPOSALS, max(PROPOSALS, len(moves.sites)))
        if self._knowledge.counts_moves and not moves.sites and self._is_open(start, budget):
            self.settled, self._round = True, 0
            return start
        moves.sites = moves.sites or moves.others(start)
        self._round = min(MOST_PROPOSALS, max(PROPOSALS, len(moves.sites)))
        if math.isfinite(self._simulations):
            later = self._simulations * self._round * len(start) / 2
            budget.steps = max(budget.steps, min(MOST_STEPS, WALK_SHARE * later))
        return self._walk(start, budget)

    def _is_open(self, line: Line, budget: Budget) -> bool:
        """True if none of some proposals was accepted, so that nothing seems hidden."""
        moves = self._moves
        assert moves is not None
        moves.reset_counts()  # The filter's count too.
        time_alone = Budget(math.inf, budget.ends)
        moves.advance(line, ROUNDS * self._round, time_alone)
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

    def _walk(self, start: Line, budget: Budget) -> Line:
        """Run the chain from a history until it levels off or the budget is spent."""
        moves = self._moves
        assert moves is not None
        line, stretch = start, ROUNDS * self._round
        moves.reset_counts()
        least = LEAST_ROUNDS * self._round
        for share in (SHARE_OF_WALK, 1.0):
            time_alone = Budget(math.inf, self._latest).part(share)
            line = moves.advance(line, least - moves.tried, time_alone)
            if moves.accepted > 0:
                break
        if moves.accepted == 0 and moves.tried < least:
            raise DeadlinePassed
        sites = moves.sites  # Fixed here: ``adapt`` changes them, and shares must be comparable.
        before = 1.0
        while not budget.spent:
            shares = []
            for _ in range(LOOKS):
                line = moves.advance(line, max(1, stretch // LOOKS), budget)
                same = sum(line.actions[step] == start.actions[step] for step in sites)
                shares.append(same / len(sites) if sites else 0.0)
            now = sum(shares) / LOOKS
            moves.adapt()  # Before the first world, so that it does not bias any.
            if budget.spent:
                break
            if moves.accepted >= CHANGES * len(moves.sites) and now > before - LEVEL:
                self.settled = True
                break
            # Doubling keeps the tests few, however slowly the chain mixes.
            before, stretch = now, 2 * stretch
        return line
