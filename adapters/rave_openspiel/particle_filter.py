"""A particle filter that draws consistent histories forward from the start of the game.

It never uses the true history. Particles start at the initial state and advance from moment to
moment with random actions of the other players. Particles in which the player would see something
else are dropped and replaced by extending others. If few distinct lines are left, each particle
takes some steps of the Markov chain in ``history_chain`` ("resample-move": Gilks & Berzuini 2001,
"Following a moving target"). With more particles the histories come closer to the posterior.
"""

from rave_openspiel.history_chain import Budget, HistoryChain
from rave_openspiel.knowledge import Knowledge, Line, OutOfBudget
from rave_openspiel.uniform_moves import Unit

SIZES = (8, 32, 128)
"""Numbers of particles of successive filters while the budget lasts; the last finished one
counts."""

BARREN = 0.03
"""Part of the budget after which the filter gives up on reaching a moment."""

FIRST_BARREN = 0.25
"""The same for the first moment: the player's own deal may be rare, and no particle can be revived.
Without particles, worlds come from a walk, whose first worlds depend on where it starts."""

REVIVALS = 3
"""Number of retries at such a moment, each after steps of the Markov chain."""

MOVES = 6
"""Proposals for each particle when few distinct lines are left."""

FEW_LINES = 0.5
"""Least share of distinct lines among the particles; below it, each takes these proposals."""


def filtered(
    knowledge: Knowledge, moves: HistoryChain, unit: Unit, budget: Budget, most: int
) -> list[Line]:
    """Draw lines that are consistent with the player's knowledge, without using the true history.

    Args:
        knowledge: what the player knows.
        moves: the Markov chain.
        unit: draws random numbers.
        budget: ends it.
        most: the largest number of particles.

    Returns:
        The particles of the largest filter that reached the present; empty if none did.
    """
    lines: list[Line] = []
    ends, knowledge.ends = knowledge.ends, min(knowledge.ends, budget.ends)
    try:
        for size in SIZES:
            if lines and size > most:
                break
            lines = _Filter(knowledge, moves, unit, budget, size).run() or lines
            if not lines:
                break  # More particles would not get further.
    except OutOfBudget:
        pass
    finally:
        knowledge.ends = ends
    return lines


class _Filter:
    """A filter with a fixed number of particles."""

    def __init__(
        self, knowledge: Knowledge, moves: HistoryChain, unit: Unit, budget: Budget, size: int
    ) -> None:
        self._knowledge = knowledge
        self._moves = moves
        self._unit = unit
        self._budget = budget
        self._size = size
        self._particles: list[Line] = []
        self._ancestors: list[int] = []

    def run(self) -> list[Line]:
        """Return the particles at the current moment; empty if the filter lost them all.

        Raises:
            OutOfBudget: if the budget was spent before.
        """
        for _ in self._knowledge.moments:
            # Before the first moment there are no particles that the chain could move.
            attempts = 1 if not self._particles else 1 + REVIVALS
            while not self._advance():
                attempts -= 1
                if attempts == 0:
                    return []
                self._shake()
            if len(set(self._ancestors)) < FEW_LINES * self._size:
                self._shake()
        return self._particles

    def _advance(self) -> bool:
        """Advance the particles to the next moment; return whether any reached it."""
        survivors: list[Line] = []
        origins: list[int] = []
        barren = self._budget.steps * (BARREN if self._particles else FIRST_BARREN)
        while len(survivors) < self._size:
            if not survivors and barren < 0:
                return False
            # Whole rounds in random order: each particle gets equal chances to be extended.
            for place in _shuffled(self._size, self._unit):
                new, played = (
                    self._knowledge.continued(self._particles[place], self._unit)
                    if self._particles
                    else self._knowledge.begun(self._unit)
                )
                self._budget.spend(played)
                barren -= played
                if new is None:
                    continue
                survivors.append(new)
                origins.append(self._ancestors[place] if self._particles else len(origins))
                if len(survivors) == self._size:
                    break
        self._particles, self._ancestors = survivors, origins
        return True

    def _shake(self) -> None:
        """Move each particle by some steps of the Markov chain, so that lines differ again."""
        self._moves.learn_sites(self._particles[0])
        advance = self._moves.advance
        self._particles = [advance(line, MOVES, self._budget) for line in self._particles]
        self._budget.spend(0)  # ``advance`` stops silently: raise here if the budget is spent.
        self._ancestors = list(range(self._size))  # Lines have parted: count from here.


def _shuffled(size: int, unit: Unit) -> list[int]:
    # Fisher-Yates by hand: ``random.shuffle`` needs a generator, and worlds share one stream.
    places = list(range(size))
    for last in range(size - 1, 0, -1):
        other = int(unit() * (last + 1))
        places[last], places[other] = places[other], places[last]
    return places
