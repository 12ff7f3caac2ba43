"""Worlds (determinizations) as a search draws them, with a record of how many differ."""

import math
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from rave_agents.game.abilities import Abilities, Method, Offered

FEW = 4
"""Worlds that a search simulates even after its deadline. It then reuses those already drawn, so
that it overshoots by at most one draw."""

COUNTED = 1000
"""Number of first worlds among which equal ones are counted."""

RECORDED = 384
"""Number of first worlds whose hidden actions are compared."""

EACH_SIMULATION = 16
"""Actions that a simulation counts for in addition to its playout: walking the tree takes time,
too."""

Pieces = Sequence[Sequence[int]]
"""Actions of others in a world, between each two of the player's own actions."""


class WorldSample(NamedTuple):
    """Sample of the worlds that one thread's search drew."""

    method: str
    """The source of its worlds."""
    drawn: int
    """Number of worlds drawn, without those that served once more."""
    keys: Sequence[int]
    """Keys that identify the first ``COUNTED`` worlds; empty if there are none."""
    pieces: Sequence[Pieces]
    """Hidden actions of the first ``RECORDED`` worlds; empty if they are not known."""
    cycle: int
    """Number of worlds after which the same chain goes on; 0 if each world is drawn independently.
    """
    settled: bool | None
    """True if the method that drew the first world came to its end; None if it has none."""
    seconds: float
    """Wall-clock seconds that drawing them took."""


class SourceAbilities(Abilities):
    """Optional attributes of a source of worlds, a function without arguments."""

    __slots__ = ()

    begin: Offered[Callable[[float, float], object]] = Method(lambda simulations, deadline: None)
    """``begin(simulations, deadline)``: how many worlds will be needed, and until when."""
    method: Offered[str] = Offered("")
    cycle: Offered[int] = Offered(1)
    settled: Offered[bool | None] = Offered(None)
    """See ``WorldSample`` for these three."""
    allow: Offered[Callable[[float], object] | None] = Method(None)
    """``allow(actions)``: the number of actions that the last simulation played. A source whose
    worlds cost more than simulations spends as many on the next world, so that drawing worlds does
    not take most of the time. It is a count, so that equal seeds give equal worlds."""
    repeated: Offered[bool] = Offered(False)
    """True if the last world was the one before once more."""


class RecordedWorlds:
    """Draws worlds from a source and keeps the record.

    Args:
        source: gives another world each time that it is called; see ``SourceAbilities``.
        method: where the worlds come from, if the source has no ``method``.
        independent: whether each world is drawn independently of those before.
        key: identifies a world; returns None if that is unknown.
        pieces: returns the hidden parts of a world; None if they are unknown.
    """

    def __init__(
        self,
        source: Callable[[], Any],
        *,
        method: str,
        key: Callable[[Any], Hashable],
        independent: bool = False,
        pieces: Callable[[Any], Pieces] | None = None,
    ) -> None:
        self._source = source
        self._method = method
        self._independent = independent
        self._key = key
        self._pieces = pieces
        self.moves_played: Callable[[], int] | None = None
        """Returns the number of moves in the last simulation's playouts; None if that is unknown.
        """
        self._deadline = math.inf
        self._kept: list[Any] = []
        self._drawn = 0
        self._keys: list[int] = []
        self._recorded: list[Pieces] = []
        self._seconds = 0.0

    def begin(self, simulations: float, deadline: float) -> None:
        """Announce how many worlds will be needed, and until when; infinity for no limit."""
        self._deadline = deadline
        SourceAbilities(self._source).begin(simulations, deadline)

    def __call__(self) -> Any:
        """The next world; after the deadline, one of the first ``FEW`` once more."""
        started = time.perf_counter()
        # Worlds may take long to draw; a search that is out of time ends on known ones, in turn.
        if self._kept and started >= self._deadline:
            self._kept.append(self._kept.pop(0))
            return self._kept[-1].clone()
        offers = SourceAbilities(self._source)
        if self.moves_played is not None and (allow := offers.allow) is not None:
            allow(EACH_SIMULATION + self.moves_played() if self._drawn > 0 else 0.0)
        world = self._source()
        if offers.repeated:
            self._seconds += time.perf_counter() - started
            return world
        if self._deadline < math.inf and len(self._kept) < FEW:
            self._kept.append(world.clone())
        self._seconds += time.perf_counter() - started
        if len(self._keys) < COUNTED and (key := self._key(world)) is not None:
            self._keys.append(hash(key))  # Hashes: keys of large worlds would take much memory.
        if self._pieces is not None and len(self._recorded) < RECORDED:
            self._recorded.append(self._pieces(world))
        self._drawn += 1
        return world

    def sample(self) -> WorldSample:
        """The record until now."""
        offers = SourceAbilities(self._source)
        return WorldSample(
            method=offers.method or self._method,
            drawn=self._drawn,
            keys=tuple(self._keys),
            pieces=tuple(self._recorded),
            cycle=0 if self._independent else offers.cycle,
            settled=offers.settled,
            seconds=self._seconds,
        )
