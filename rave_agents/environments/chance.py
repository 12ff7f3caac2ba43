"""Detection of chance inside environments."""

import dataclasses
import enum
import functools
import logging
import time
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rave_agents.compiler.signals import is_raised_by_handler
from rave_agents.environments.check_time import seconds_for_a_look
from rave_agents.environments.clone_check import RAISED, Player, Start, Step
from rave_agents.environments.copying import equal, hashable
from rave_agents.environments.dice import Dice, seeded
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
"""Seconds after which neither part of the detection begins another game."""


class Chance(enum.StrEnum):
    """What a search knows of the chance inside an environment's steps."""

    DRAW = "draw"
    """Only that chance moves: each simulation draws its own random numbers."""
    SEE = "see"
    """The outcomes to come: simulations copy the environment's generators. This cheats."""


def checked_chance(chance: object) -> Chance:
    """Return the member for a value that a user gave.

    Raises:
        ValueError: if the value is not allowed.
    """
    try:
        return Chance(chance)  # type: ignore[arg-type]
    except ValueError:
        raise ValueError(f"chance must be 'draw' or 'see', got {chance!r}.") from None


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
    """Whether steps differ although all known generators draw equal numbers. Chance then comes from
    the operating system or the clock: the search does not foresee it, and no seed repeats it."""
    drawn_before: bool = False
    """Whether the reset decides outcomes that show only later: hidden information, a shuffled deck,
    or numbers from a generator of the environment's own class."""
    fixed: tuple[str, ...] = ()
    """Generators that steps drew from and that cannot be reseeded."""
    alike: bool = True
    """Whether outcomes repeat, so that the tree can have a node for each and learn from it."""
    unsure: str = ""
    """Why the search may foresee chance that nobody can detect; empty if it does not."""

    @property
    def found(self) -> bool:
        """Whether steps have random outcomes."""
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
    """What is known of the chance in one environment; searches may add to it."""

    report: ChanceReport
    certain: bool = False
    """Whether the report is known to be complete, without any detection."""

    def add(self, sources: Sequence[str]) -> None:
        """Add generators that a search has seen in use."""
        new = tuple(name for name in sources if name not in self.report.sources)
        self.report = dataclasses.replace(self.report, sources=(*self.report.sources, *new))


_known: dict[int, tuple[weakref.ref[Any], Knowledge]] = {}


def known(env: Any) -> Knowledge | None:
    """What is known of this environment object; None before any detection."""
    entry = _known.get(id(env))
    return entry[1] if entry is not None and entry[0]() is env else None


def remember(env: Any, knowledge: Knowledge) -> Knowledge:
    """Store what is known of an environment for as long as it exists."""
    number = id(env)
    # No function of Python: what a signal handler raises there is lost.
    _known[number] = weakref.ref(env, functools.partial(_known.pop, number)), knowledge
    return knowledge


class ChanceMetError(Exception):
    """Ends a search that meets chance in an environment in which none had been detected."""


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
    until = time.perf_counter() + min(SECONDS, seconds_for_a_look())
    while games < GAMES and (games == 0 or time.perf_counter() < until):
        steps, drawn = played(games)
        repeats = repeats and _all_same(player, steps, played(games, steps)[0])
        if first is None and (drawn or not repeats):
            first = steps
        for found in drawn:
            if found.name not in used:
                used[found.name] = len(fixed([found])) == 0
        games += 1
        if not steps:
            break
    report = ChanceReport(
        games=games,
        sources=tuple(used),
        elsewhere=not repeats,
        fixed=tuple(name for name, can_be_reseeded in used.items() if not can_be_reseeded),
    )
    if first:
        alike = _come_twice(lambda seed, like: played(seed, like)[0], player, first)
        report = dataclasses.replace(report, alike=alike)
    if (
        restarts
        and repeats
        and not report.fixed
        and _drawn_before(base, clone, player, generators_of)
    ):
        report = dataclasses.replace(report, drawn_before=True)
    return report


def _come_twice(
    played: Callable[[int, list[Step]], list[Step]], player: Player, steps: list[Step]
) -> bool:
    """Whether outcomes repeat at the first step in which chance takes part."""
    other = played(GAMES, steps)
    pairs = zip(steps, other, strict=False)
    place = next((i for i, (one, two) in enumerate(pairs) if not _same(player, one, two)), 0)
    # In AEC environments the outcome of a step may show only at the next step.
    wanted = steps[: place + 2]
    seen: set[Hashable] = set()
    until = time.perf_counter() + min(SECONDS, seconds_for_a_look())
    for drawn in range(OUTCOMES):
        outcome = played(GAMES + 1 + drawn, wanted)
        key = _key([player.visible(step) for step in outcome])
        if key in seen:
            return True
        seen.add(key)
        if drawn >= FEWEST_OUTCOMES and time.perf_counter() > until:
            break
    return False


def _drawn_before(
    base: Any,
    clone: Callable[[Any], Any],
    player: Player,
    generators_of: Callable[[Any, Generators], Generators],
) -> bool:
    """Whether equal-looking starts diverge under equal actions and equal random numbers.

    Copies are reset with different seeds; then all their generators get the same seed.
    """
    until = time.perf_counter() + min(SECONDS, seconds_for_a_look())
    games: list[tuple[Start, list[list[Step]]]] = []
    lines: list[list[Step]] = []
    try:
        for seed in range(SEEDS):
            begun = clone(base)
            with seeded(find_generators(begun), seed):
                start = player.restart(begun, seed)
            found = find_generators(begun, make_missing=True)
            own: list[list[Step]] = []
            for line in range(LINES):
                like = lines[line] if len(lines) > line else None
                env = clone(begun)
                with seeded(generators_of(env, found), line):
                    own.append(player.play(env, like, choices=line, told=start.told))
                if like is None:
                    lines.append(own[-1])
            if any(_tell_apart(player, start, own, *earlier) for earlier in games):
                return True
            games.append((start, own))
            if time.perf_counter() > until:
                break
    except Exception as error:
        if is_raised_by_handler(error):
            raise
        return False  # It cannot be reset, or its observations cannot be compared.
    return False


def _tell_apart(
    player: Player,
    start: Start,
    lines: list[list[Step]],
    other_start: Start,
    other_lines: list[list[Step]],
) -> bool:
    """Whether some player sees the same at two starts that then diverge."""
    if not any(map(equal, start.views, other_start.views)):
        return False
    return not all(
        _all_same(player, mine, others) for mine, others in zip(lines, other_lines, strict=True)
    )


def _all_same(player: Player, first: list[Step], second: list[Step]) -> bool:
    return len(first) == len(second) and all(
        _same(player, *pair) for pair in zip(first, second, strict=True)
    )


def _same(player: Player, one: Step, two: Step) -> bool:
    if one[0] is RAISED or two[0] is RAISED:
        return one[0] is two[0] and one[1] == two[1]
    return equal(player.visible(one), player.visible(two))


def _key(seen: Any) -> Hashable:
    key = hashable(seen)
    try:
        hash(key)
    except TypeError:
        return repr(seen)
    return key


class Position(NamedTuple):
    """The root of a search in an environment."""

    env: Any
    """A copy of the environment with the search's own generators."""
    dice: Dice
    """The search's random numbers."""


def search_position(
    copy: Any,
    report: ChanceReport,
    entropy: Sequence[int],
    *,
    sees: bool = False,
    shared: tuple[type, ...] = (),
) -> Position:
    """Give a search its own random numbers.

    Args:
        copy: a copy of the environment for this search alone; its generators are reseeded.
        report: the chance in the environment; of the generators outside, the search replaces those
            that the report names, and all of them where no chance has been found.
        entropy: numbers that seed all draws.
        sees: whether simulations foresee chance; then nothing is reseeded.
        shared: types of objects that the copy shares with the environment.
    """
    found = find_generators(copy, shared, make_missing=not sees)
    outside = tuple(one for one in found.outside if not report.found or one.name in report.sources)
    return Position(copy, Dice(Generators(found.inside, outside), entropy, sees=sees))


def stream_entropy(stream: np.ndarray[Any, Any]) -> list[int]:
    """Entropy from a search's random stream, without advancing the stream."""
    return [int(word) for word in stream]
