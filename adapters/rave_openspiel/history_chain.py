"""A Markov chain over the histories that are consistent with what a player knows.

Its stationary distribution (Metropolis & Hastings) is the posterior: the probability of a history,
if the other players move uniformly at random, among all consistent histories with the same movers,
and so the same number of hidden moves. A proposal is replayed, and rejected if an action is illegal
or the player would have seen something else.
"""

import math
import random
import time
from collections.abc import Iterator, Sequence

import pyspiel

from rave_openspiel.knowledge import Knowledge, Line, OutOfBudget
from rave_openspiel.uniform_moves import Unit, choices, drawn

KINDS = (0.35, 0.35, 0.3)
"""Shares of the proposals that swap two actions, change one, and redraw several."""

LEAST_KIND = 0.02
"""Least acceptance rate assumed for each kind when the shares adapt to the rates."""

BLOCK = 4
"""Mean number of consecutive hidden actions that a proposal redraws."""

REDRAWS = 0.25
"""Share of the proposals that redraw all actions, among those that redraw any."""

ELSEWHERE = 0.1
"""Share of proposals at places that do not look hidden."""

ALTERNATIVES = 64
"""Largest number of alternatives tried to find out whether an action was hidden."""


class Budget:
    """A limit on the number of actions played, and on the time.

    Args:
        steps: the number of actions; infinity for no limit.
        ends: the ``time.perf_counter()`` time of the end; infinity for no limit.
    """

    def __init__(self, steps: float, ends: float = math.inf) -> None:
        self.steps: float = steps
        self.ends = ends

    def part(self, share: float) -> "Budget":
        """Return a budget of this share of the rest."""
        now = time.perf_counter()
        left = math.inf if math.isinf(self.ends) else now + share * max(self.ends - now, 0.0)
        return Budget(self.steps * share, left)

    @property
    def seconds(self) -> float:
        """Seconds that are left."""
        return self.ends - time.perf_counter()

    def spend(self, steps: int) -> None:
        """Count actions.

        Raises:
            OutOfBudget: if no actions are left, or the time is up.
        """
        self.steps -= steps
        if self.spent:
            raise OutOfBudget

    @property
    def spent(self) -> bool:
        """True if nothing is left."""
        return self.steps < 0 or (self.ends != math.inf and time.perf_counter() >= self.ends)


class HistoryChain:
    """Proposes and accepts histories; see the module.

    Args:
        knowledge: what the player knows.
        unit: draws random numbers.
    """

    def __init__(self, knowledge: Knowledge, unit: Unit) -> None:
        self._knowledge = knowledge
        self._unit = unit
        self.looks_end: float = math.inf
        """The ``time.perf_counter()`` time after which steps count as hidden without a test."""
        self._known_movers: list[int] = []
        self.sites: list[int] = []
        """Steps of the known lines whose action could have differed unseen by the player."""
        self._kinds = KINDS
        self.reset_counts()

    def learn_sites(self, line: Line) -> None:
        """Find out which steps look hidden, at those steps of a line that are not known yet."""
        start = len(self._known_movers)
        # With uncounted moves, one change rarely shows what was hidden: every step is tried.
        if self._knowledge.counts_moves and line.movers[:start] == self._known_movers:
            steps = range(start, len(line))
            found = [step for step in steps if self._looks_hidden(line, step)]
            self.sites = [*self.sites, *found]
            self._known_movers += line.movers[start:]

    def others(self, line: Line) -> list[int]:
        """Return the steps of a line at which the player did not move."""
        return [step for step, mover in enumerate(line.movers) if mover != self._knowledge.player]

    def _looks_hidden(self, line: Line, step: int) -> bool:
        """True if the player might not see a different action at this place at once."""
        if line.movers[step] == self._knowledge.player:
            return False
        if self.looks_end < math.inf and time.perf_counter() > self.looks_end:
            return True
        # A generator of its own, so that the walk's does not depend on the time for this.
        knowledge, unit = self._knowledge, random.Random(step).random
        state, moment = line.states[step], line.moments[step + 1]
        others = [action for action in choices(state) if action != line.actions[step]]
        for _ in range(min(len(others), ALTERNATIVES)):
            after = state.child(others.pop(int(unit() * len(others))))
            # Between moments the player sees nothing: only the mover must stay the same.
            if moment is None:
                if after.current_player() == line.states[step + 1].current_player():
                    return True
            elif knowledge.fits(after, moment):
                return True
        return False

    def advance(self, line: Line, proposals: int, budget: Budget | None = None) -> Line:
        """Return the line after some proposals, or fewer if the budget or its time ends."""
        knowledge, ends = self._knowledge, self._knowledge.ends
        if budget is not None:
            knowledge.ends = min(ends, budget.ends)
        try:
            for taken in self._advanced(line, proposals, budget):
                line = taken
        except OutOfBudget:
            pass
        finally:
            knowledge.ends = ends
        return line

    def _advanced(self, line: Line, proposals: int, budget: Budget | None) -> Iterator[Line]:
        """The line after each proposal that is taken.

        Raises:
            OutOfBudget: if there is no time to finish one.
        """
        sites, others = self._places(line)
        if not others:
            return
        for _ in range(proposals):
            if budget is not None:
                if budget.spent:
                    break
                budget.steps -= len(line) / 2  # On average a proposal replays half the line.
            chosen = self._unit()
            # Each kind is symmetric or draws from the prior, so any mixture is a valid proposal.
            kind = 0 if chosen < self._kinds[0] else 1 if chosen < 1.0 - self._kinds[2] else 2
            if kind == 0:
                proposed = self._swap(line, sites, others)
            elif kind == 1:
                proposed = self._change(line, sites, others)
            else:
                proposed = self._redraw(line, sites)
            self._tried[kind] += 1
            if proposed is not None:
                self.accepted += 1
                self._accepted_of[kind] += 1
                self._changed_at.update(
                    step for step in others if line.actions[step] != proposed.actions[step]
                )
                line = proposed
                yield line

    @property
    def tried(self) -> int:
        """The number of proposals since the last ``reset_counts``."""
        return sum(self._tried)

    def reset_counts(self) -> None:
        """Reset the counts of accepted proposals."""
        self.accepted: int = 0
        """The number of accepted proposals."""
        self._tried = [0, 0, 0]
        self._accepted_of = [0, 0, 0]
        self._changed_at: set[int] = set()

    def adapt(self) -> None:
        """Adapt the proposals to their acceptance: by kind, and by the places that changed.

        Other places keep the share ``ELSEWHERE``. Call it before the first world only: a chain that
        adapts to its own samples loses its stationary distribution.
        """
        rates = [
            max(LEAST_KIND, taken / max(1, tried))
            for taken, tried in zip(self._accepted_of, self._tried, strict=True)
        ]
        self._kinds = (rates[0] / sum(rates), rates[1] / sum(rates), rates[2] / sum(rates))
        if len(self._changed_at) > 1:
            self.sites = sorted(self._changed_at)

    def _places(self, line: Line) -> tuple[list[int], list[int]]:
        """Return the steps of the other players: those that look hidden, and all."""
        others, sites = self.others(line), []
        if line.movers == self._known_movers[: len(line)]:
            sites = [step for step in self.sites if step < len(line)]
        return sites or others, others

    def _place(self, sites: Sequence[int], others: Sequence[int]) -> int:
        places = others if self._unit() < ELSEWHERE else sites
        return places[int(self._unit() * len(places))]

    def _swap(self, line: Line, sites: Sequence[int], others: Sequence[int]) -> Line | None:
        early, late = sorted((self._place(sites, others), self._place(sites, others)))
        actions = line.actions
        if line.movers[early] != line.movers[late] or actions[early] == actions[late]:
            return None
        return self._propose(line, {early: actions[late], late: actions[early]})

    def _change(self, line: Line, sites: Sequence[int], others: Sequence[int]) -> Line | None:
        step = self._place(sites, others)
        possible = choices(line.states[step])
        action = possible[int(self._unit() * len(possible))]
        return None if action == line.actions[step] else self._propose(line, {step: action})

    def _propose(self, line: Line, changes: dict[int, int]) -> Line | None:
        first, actions = min(changes), line.actions
        new = self._knowledge.replayed(
            line, first, lambda state, step: changes.get(step, actions[step])
        )
        if new is None:
            return None
        # The proposal is symmetric: accept by the ratio of prior probabilities. A changed early
        # action changes the number of legal moves, and so the weights, of later ones.
        return self._accept(new, sum(new.weights[first:]) - sum(line.weights[first:]))

    def _redraw(self, line: Line, sites: Sequence[int]) -> Line | None:
        """Redraw consecutive hidden actions, or all of them, and keep the rest."""
        if self._unit() < REDRAWS:
            block = sites
        else:
            count = 2 + int(self._unit() * 2 * (BLOCK - 1))  # From 2 to 2 BLOCK - 1, mean BLOCK.
            start = int(self._unit() * len(sites))
            block = sites[start : start + count]
        anew, actions = frozenset(block), line.actions

        def choose(state: pyspiel.State, step: int) -> int:
            return drawn(state, self._unit)[0] if step in anew else actions[step]

        first = block[0]
        new = self._knowledge.replayed(line, first, choose)
        if new is None:
            return None
        # Redrawn steps come from the prior and cancel in the ratio; kept ones do not.
        kept = [step for step in range(first, len(line)) if step not in anew]
        return self._accept(new, sum(new.weights[step] - line.weights[step] for step in kept))

    def _accept(self, line: Line, gain: float) -> Line | None:
        # Metropolis: accept with probability min(1, exp(gain)).
        return None if gain < 0.0 and self._unit() >= math.exp(gain) else line
