"""Detection of chance inside environments."""

import dataclasses
import enum
import functools
import logging
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rave_agents.compiler.progress import shown_when_slow
from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.check_time import CheckTime, seconds_for_a_look
from rave_agents.environments.clone_check import RAISED, Player, Start, Step
from rave_agents.environments.copying import equal, hashable
from rave_agents.environments.dice import Dice, seeded
from rave_agents.environments.foreign_objects import foreign_type
from rave_agents.environments.generators import (
    Found,
    Generators,
    find_generators,
    fixed,
)

_log = logging.getLogger("rave_agents")

GAMES = 32
"""Random games in which chance is looked for, each with its own random numbers."""

SEEDS = 8
"""Seeds with which a copy is reset, to detect what the reset decides."""

LINES = 4
"""Random games from each of these resets."""

OUTCOMES = 64
"""Largest number of outcomes of one action that are drawn to see whether any repeats."""

FEWEST_OUTCOMES = 16
"""Outcomes that are drawn regardless of ``SECONDS``."""

SECONDS = 0.5
"""Seconds of work after which neither part of the detection begins another game."""


class Chance(enum.StrEnum):
    """Modes of handling the chance inside an environment's steps."""

    DRAW = "draw"
    """Only that chance moves: each simulation draws its own random numbers."""
    SEE = "see"
    """The outcomes to come: simulations copy the environment's generators. This cheats."""


@functools.cache
def say_it_sees_chance() -> None:
    """Warn, once, that a search foresees chance."""
    _log.warning(
        "rave_agents: chance='see' copies the environment's random generators into the search: it "
        "SEES THE OUTCOMES OF CHANCE TO COME, which is cheating. chance='draw' does not."
    )


@functools.cache
def say_it_may_foresee(name: str, reason: str) -> None:
    """Warn, once for each environment, that a search may foresee chance."""
    _log.warning(
        "rave_agents: a search in %s may foresee outcomes of chance to come: %s.", name, reason
    )


@dataclasses.dataclass(frozen=True)
class ChanceReport:
    """The chance that was detected in an environment, from one position on."""

    games: int = 0
    """Random games played for the detection; 0 if the answer was known without any."""
    sources: tuple[str, ...] = ()
    """The generators that steps drew from, each with its place and type."""
    elsewhere: bool = False
    """True if steps differ although all known generators draw equal numbers. Chance then comes from
    the operating system or the clock: the search does not foresee it, and no seed repeats it."""
    drawn_before: bool = False
    """True if the reset decides outcomes that show only later: hidden information, a shuffled deck,
    or numbers from a generator of the environment's own class."""
    fixed: tuple[str, ...] = ()
    """Generators that steps drew from and that cannot be reseeded."""
    alike: bool = True
    """True if outcomes repeat, so that the tree can have a node for each and learn from it."""
    unsure: str = ""
    """The reason that the search may foresee chance that nobody can detect; empty if it does not.
    """

    @property
    def found(self) -> bool:
        """True if steps have random outcomes."""
        return bool(self.sources) or self.elsewhere

    def __str__(self) -> str:
        parts = []
        if self.sources:
            parts.append(f"steps draw from {', '.join(self.sources)}")
        if self.elsewhere:
            parts.append("steps have outcomes that no known generator decides")
        if self.drawn_before:
            parts.append("the reset decides what shows only later")
        if self.fixed:
            parts.append(f"{', '.join(self.fixed)} cannot be reseeded")
        if self.unsure:
            parts.append(self.unsure)
        return f"{'; '.join(parts) or 'no chance found'} ({self.games} random games)"


@dataclasses.dataclass
class Knowledge:
    """Knowledge of the chance in one environment; searches may add to it."""

    report: ChanceReport
    certain: bool = False
    """True if the report is known to be complete, without any detection."""
    has_generators: bool = True
    """False if it is known that no step draws from a generator."""

    def add(self, sources: Sequence[str]) -> None:
        """Add generators that a search has seen in use."""
        new = tuple(name for name in sources if name not in self.report.sources)
        self.report = dataclasses.replace(self.report, sources=(*self.report.sources, *new))


_known: dict[int, tuple[weakref.ref[Any], Knowledge]] = {}


def known(env: Any) -> Knowledge | None:
    """The knowledge of this environment object; None before any detection."""
    entry = _known.get(id(env))
    return entry[1] if entry is not None and entry[0]() is env else None


def remember(env: Any, knowledge: Knowledge) -> Knowledge:
    """Store the knowledge of an environment for as long as it exists."""
    number = id(env)
    # No function of Python: what a signal handler raises there is lost.
    _known[number] = weakref.ref(env, functools.partial(_known.pop, number)), knowledge
    return knowledge


class ChanceMetError(Exception):
    """Ends a search that met chance in an environment where none had been detected."""


@shown_when_slow("looking for chance in the environment")
def look_for_chance(
    base: Any,
    clone: Callable[[Any], Any],
    player: Player,
    *,
    repeats: bool = True,
    restarts: bool = True,
    shared: tuple[type, ...] = (),
    clones_keep_own: bool = False,
) -> ChanceReport:
    """Detect chance: play random games with different random numbers, and watch the generators.

    Args:
        base: a copy of the environment for this function alone; its generators are reseeded.
        clone: makes copies that draw from the generators of their original.
        player: plays the games.
        repeats: whether the environment repeats itself under equal random numbers.
        restarts: whether to reset copies, to detect what the reset decides.
        shared: types of objects that copies share with the environment.
        clones_keep_own: whether copies have generators of their own.
    """
    common = find_generators(base, shared, make_missing=True)

    def generators_of(env: Any, original: Generators) -> Generators:
        return find_generators(env, shared, make_missing=True) if clones_keep_own else original

    def played(seed: int, like: list[Step] | None = None) -> tuple[list[Step], list[Found]]:
        env = clone(base)
        generators = generators_of(env, common)
        with seeded(generators, seed) as drawn:
            steps = player.play(env, like, choices=seed)
        every = (*generators.inside, *generators.outside)
        return steps, [found for found in every if found.name in drawn]

    used: dict[str, bool] = {}
    first: list[Step] | None = None
    games = 0
    budget = CheckTime(SECONDS, seconds_for_a_look())
    while games < GAMES and (games == 0 or not budget.is_over()):
        steps, drawn = played(games)
        # The same actions and the same numbers: what differs comes from no known generator.
        repeats = repeats and _all_same(player, steps, played(games, steps)[0])
        if first is None and (drawn or not repeats):
            first = steps  # The first game with chance shows whether outcomes repeat.
        for found in drawn:
            if found.name not in used:
                used[found.name] = len(fixed([found])) == 0
        games += 1
        if not steps:
            break  # Over before the first step: further games would show nothing either.
    report = ChanceReport(
        games=games,
        sources=tuple(used),
        elsewhere=not repeats,
        fixed=tuple(name for name, can_be_reseeded in used.items() if not can_be_reseeded),
    )
    if first:
        alike = _come_twice(lambda seed, like: played(seed, like)[0], player, first)
        report = dataclasses.replace(report, alike=alike)
    if restarts and repeats and not report.fixed:
        starts = _compared_starts(base, clone, player, generators_of, shared)
        report = dataclasses.replace(report, drawn_before=starts.diverge)
        foreign = foreign_type(base, shared)
        if foreign is not None and not starts.diverge and not starts.to_the_end:
            why = _ONLY_SO_FAR if starts.steps > 0 else _NONE_COMPARED
            reason = (
                f"it keeps a {foreign}; if that draws numbers of its own, so does a copy, and {why}"
            )
            report = dataclasses.replace(report, unsure=reason.format(steps=starts.steps))
            say_it_may_foresee(type(player.raw(base)).__qualname__, report.unsure)
    return report


_NONE_COMPARED = "no two resets that look alike were compared"

_ONLY_SO_FAR = "the first {steps} steps after resets by different seeds tell nothing of it"


def _come_twice(
    played: Callable[[int, list[Step]], list[Step]], player: Player, steps: list[Step]
) -> bool:
    """True if outcomes repeat at the first step in which chance takes part."""
    other = played(GAMES, steps)
    pairs = zip(steps, other, strict=False)
    place = next((i for i, (one, two) in enumerate(pairs) if not _same(player, one, two)), 0)
    # In AEC environments the outcome of a step may show only at the next step, hence one more.
    wanted = steps[: place + 2]
    seen: set[Hashable] = set()
    budget = CheckTime(SECONDS, seconds_for_a_look())
    for drawn in range(OUTCOMES):
        outcome = played(GAMES + 1 + drawn, wanted)
        key = content_key([player.visible(step) for step in outcome])
        if key in seen:
            return True
        seen.add(key)
        if drawn >= FEWEST_OUTCOMES and budget.is_over():
            break
    return False


class _Starts(NamedTuple):
    """Comparison of games after different resets, for what the reset decides."""

    diverge: bool
    """True if equal-looking starts diverge under equal actions and equal random numbers."""
    steps: int = 0
    """The longest game after such starts; 0 if no two looked alike."""
    to_the_end: bool = False
    """True if one of them came to its end."""


def _compared_starts(
    base: Any,
    clone: Callable[[Any], Any],
    player: Player,
    generators_of: Callable[[Any, Generators], Generators],
    shared: tuple[type, ...],
) -> _Starts:
    """Compare games after different resets.

    Copies are reset with different seeds; then all their generators get the same seed. Two games
    are compared, however long they take, if the search has no deadline that forbids it.
    """
    seconds = seconds_for_a_look()
    in_any_case = seconds >= SECONDS
    budget = CheckTime(SECONDS, seconds)
    longest, to_the_end = 0, False
    try:
        begun = _begun_alike(base, clone, player, shared, budget)
        for line in range(LINES):
            first: list[Step] | None = None
            played: list[tuple[Start, list[Step]]] = []
            for env, start, found in begun:
                copy = clone(env)
                with seeded(generators_of(copy, found), line):
                    steps = player.play(copy, first, choices=line, known=start.known)
                first = steps if first is None else first
                for other, its_steps in played:
                    if _look_alike(start, other):
                        # Equal actions and numbers, and still different: the reset decided it.
                        if not _all_same(player, steps, its_steps):
                            return _Starts(True)
                        longest = max(longest, len(steps))
                        to_the_end = to_the_end or player.ended
                played.append((start, steps))
                if (longest > 0 or not in_any_case) and budget.is_over():
                    return _Starts(False, longest, to_the_end)
    except Exception as error:
        if is_raised_by_handler(error):
            raise
    return _Starts(False, longest, to_the_end)  # It may be that it cannot be reset or compared.


def _begun_alike(
    base: Any,
    clone: Callable[[Any], Any],
    player: Player,
    shared: tuple[type, ...],
    budget: CheckTime,
) -> list[tuple[Any, Start, Generators]]:
    """Copies reset by different seeds, as far as each looks like another one."""
    begun: list[tuple[Any, Start, Generators]] = []
    for seed in range(SEEDS):
        env = clone(base)
        with seeded(find_generators(env, shared), seed):
            start = player.restart(env, seed)
        begun.append((env, start, find_generators(env, shared, make_missing=True)))
        if len(begun) > 1 and budget.is_over():
            break
    return [
        each
        for each in begun
        if any(_look_alike(each[1], other[1]) for other in begun if other is not each)
    ]


def _look_alike(start: Start, other: Start) -> bool:
    """True if some player sees the same at two starts."""
    return any(map(equal, start.views, other.views))


def _all_same(player: Player, first: list[Step], second: list[Step]) -> bool:
    return len(first) == len(second) and all(
        _same(player, *pair) for pair in zip(first, second, strict=True)
    )


def _same(player: Player, one: Step, two: Step) -> bool:
    if one[0] is RAISED or two[0] is RAISED:
        return one[0] is two[0] and one[1] == two[1]
    return equal(player.visible(one), player.visible(two))


def content_key(seen: Any) -> Hashable:
    """A key of what was shown: equal for equal contents."""
    key = hashable(seen)
    try:
        hash(key)
    except TypeError:
        return repr(seen)
    return key


def search_dice(
    copy: Any,
    knowledge: Knowledge,
    entropy: Sequence[int],
    *,
    sees: bool = False,
    shared: tuple[type, ...] = (),
) -> Dice:
    """Return a search's own random numbers, for which the generators in its copy are reseeded.

    Args:
        copy: a copy of the environment for this search alone.
        knowledge: the chance in the environment. Of the generators outside of it, the search
            replaces those that the report names, or all if no chance was found.
        entropy: numbers that seed all draws.
        sees: whether simulations foresee chance; then nothing is reseeded.
        shared: types of objects that the copy shares with the environment.
    """
    if not knowledge.has_generators:  # The walk over all objects would be the slowest part.
        return Dice(Generators((), ()), entropy)
    report = knowledge.report
    found = find_generators(copy, shared, make_missing=not sees)
    outside = tuple(one for one in found.outside if not report.found or one.name in report.sources)
    return Dice(Generators(found.inside, outside), entropy, sees=sees)


def stream_entropy(stream: np.ndarray[Any, Any]) -> list[int]:
    """Entropy from a search's random stream, without advancing the stream."""
    return [int(word) for word in stream]
