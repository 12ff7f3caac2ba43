"""The consistent history that comes first in a random order: where a walk over histories starts.

A walk that started at the true history would depend on what the player cannot see. So each step of
the others gets, one after another, the first action in a random order with which a consistent
history is found. Given the seed, the result depends on the player's knowledge alone, if the search
for such histories misses none. It is nearly a random sample: each step is drawn among the actions
that are possible after the earlier ones.

The search is local: it changes one action of the best history so far, exchanges actions with later
steps, and replaces later actions that have become impossible. It can miss a history that differs in
many steps at once. Further sweeps find most of them.
"""

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence

import pyspiel

from rave_openspiel.history_chain import Budget
from rave_openspiel.knowledge import Knowledge, Line, OutOfBudget

SWEEPS = 3
"""Most sweeps over the steps; they end early if one changes nothing."""

EXCHANGES = 30
"""Exchanges of three actions, or of two without the new one, that are tried for each action."""


def first_history(knowledge: Knowledge, seed: int, budget: Budget) -> Line:
    """Return the consistent history that comes first in the order of a seed.

    Args:
        knowledge: what the player knows.
        seed: gives the order of the actions at each step.
        budget: its time ends the search, which then returns the best history so far; its actions
            end it only after a whole sweep.
    """
    search = _Search(knowledge, seed, budget)
    ends, knowledge.ends = knowledge.ends, min(knowledge.ends, budget.ends)
    try:
        for _ in range(SWEEPS):
            if not search.sweep() or budget.spent:
                break
    except OutOfBudget:
        pass
    finally:
        knowledge.ends = ends
    return search.line


class _Search:
    """A local search for the first history in an order."""

    def __init__(self, knowledge: Knowledge, seed: int, budget: Budget) -> None:
        self._knowledge = knowledge
        self._seed = seed
        self._budget = budget
        self.line: Line = knowledge.truth
        """The first history found so far."""

    def sweep(self) -> bool:
        """Improve each step in turn; return whether any changed."""
        before = self.line.actions
        for step, mover in enumerate(self.line.movers):
            if mover == self._knowledge.player:
                continue
            for action in self._order(self.line.states[step], step):
                if action == self.line.actions[step]:
                    break
                found = self._with(step, action)
                if found is not None:
                    self.line = found
                    break
        return self.line.actions != before

    def _order(self, state: pyspiel.State, step: int) -> Sequence[int]:
        """The actions at a state, or the chance outcomes, in random order, likely ones first."""
        # A generator for each step: one difference must not change the order of later steps.
        draw = random.Random(self._seed + step)
        if state.is_chance_node():
            outcomes = [pair for pair in state.chance_outcomes() if pair[1] > 0]
            # The first of exponential arrivals is an outcome with its probability.
            outcomes.sort(key=lambda pair: draw.expovariate(pair[1]))
            return [outcome for outcome, _ in outcomes]
        return draw.sample(legal := state.legal_actions(), len(legal))

    def _with(self, step: int, action: int) -> Line | None:
        """A consistent history with the same beginning and this action; None if none is found."""
        if self._replayed(self.line, step, step + 1, {step: action}) is None:
            return None
        line, actions = self.line, self.line.actions
        old = actions[step]
        later = [
            place for place in range(step + 1, len(line)) if line.movers[place] == line.movers[step]
        ]
        holders = [place for place in later if actions[place] == action]
        simple = [{step: action, place: old} for place in holders] + [{step: action}]
        three = (
            {step: action, holder: actions[place], place: old}
            for holder in holders
            for place in later
            if place != holder and actions[place] != action
        )
        two = ({step: action, place: old} for place in later if actions[place] != action)
        exchanges = itertools.islice(itertools.chain(three, two), EXCHANGES)
        plans = [(plan, mends) for mends in (False, True) for plan in simple]
        for plan, mends in itertools.chain(plans, ((plan, False) for plan in exchanges)):
            found = self._replayed(line, step, len(line), plan, mends=mends)
            if found is not None:
                return found
        return None

    def _replayed(
        self, line: Line, first: int, end: int, plan: Mapping[int, int], *, mends: bool = False
    ) -> Line | None:
        """Replay a line with planned actions; None if the player would see something else.

        Args:
            line: the line.
            first: the step to begin at.
            end: the step to end before.
            plan: the actions at some steps; the others keep theirs.
            mends: True to replace actions that fail by the first others that do not.
        """
        new = line.cut(first)
        for step in range(first, end):
            if new.states[-1].current_player() != line.movers[step]:
                return None
            planned = plan.get(step, line.actions[step])
            free = mends and step > first and line.movers[step] != self._knowledge.player
            candidates = self._candidates(new.states[-1], step, planned) if free else [planned]
            moment = line.moments[step + 1]
            if not any(self._added(new, action, moment) for action in candidates):
                return None
        return new

    def _candidates(self, state: pyspiel.State, step: int, planned: int) -> Iterator[int]:
        yield planned
        yield from (action for action in self._order(state, step) if action != planned)

    def _added(self, line: Line, action: int, moment: int | None) -> bool:
        """Append an action if it is legal and the player sees the moment; return whether."""
        knowledge = self._knowledge
        knowledge.look_at_clock()
        self._budget.steps -= 1
        weight = knowledge.log_probability(line.states[-1], action)
        if weight is None:
            return False
        state = line.add(action, weight)
        if moment is None:
            fits = not knowledge.is_moment(state.current_player())
        else:
            fits = knowledge.fits(state, moment)
        if fits:
            line.moments[-1] = moment
        else:
            line.drop_last()
        return fits
