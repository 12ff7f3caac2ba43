"""Chance inside environments: where it is looked for, and what was found."""

import dataclasses
import enum
import functools
import logging
import time
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rave_agents.environments.clone_check import RAISED, Player, Start, Step
from rave_agents.environments.copying import equal, hashable
from rave_agents.environments.generators import (
    Dice,
    Found,
    Generators,
    find_generators,
    fixed,
    seeded,
)

_log = logging.getLogger("rave_agents")

GAMES = 32
"""Random games, each with other random numbers, in which chance is looked for."""

SEEDS = 8
"""Seeds that a copy is reset with to see what is drawn beforehand."""

LINES = 4
"""Random games from each of these starts."""

OUTCOMES = 64
"""Outcomes of one action that are drawn to see whether any comes twice."""

FEWEST_OUTCOMES = 16
"""Those that are drawn however long it takes."""

SECONDS = 0.5
"""Seconds after which no other game is begun in either part of the look."""


class Chance(enum.StrEnum):
    """What a search knows of the chance inside an environment's steps."""

    DRAW = "draw"
    """That it comes: each simulation draws random numbers of its own."""
    SEE = "see"
    """What will come: simulations copy the environment's generators. It cheats."""


def checked_chance(chance: object) -> Chance:
    """The member for a value that a user gave.

    Raises:
        ValueError: if there is none.
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


@dataclasses.dataclass(frozen=True)
class ChanceReport:
    """What was found of chance in an environment, from one position on."""

    games: int = 0
    """Random games that were played to look for it; 0 where it was known without."""
    sources: tuple[str, ...] = ()
    """The generators that steps drew from, where they are and of which type."""
    elsewhere: bool = False
    """Whether steps differ though all generators known draw equal numbers: chance comes from the
    operating system or the clock. It is not foreseen, and no seed repeats it."""
    drawn_before: bool = False
    """Whether what comes later was decided at the reset and did not show then: hidden information,
    a shuffled deck, or numbers from a generator of the environment's own kind."""
    fixed: tuple[str, ...] = ()
    """Generators that were drawn from and cannot be reseeded."""
    alike: bool = True
    """Whether outcomes come twice, so that a tree can tell them apart and learn of each."""

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
        return f"{'; '.join(parts) or 'no chance found'} ({self.games} random games)"


@dataclasses.dataclass
class Knowledge:
    """What is known of chance in one environment, which searches may add to."""

    report: ChanceReport
    certain: bool = False
    """Whether it is known without a look, and nothing is to be added."""

    def add(self, sources: Sequence[str]) -> None:
        """Note generators that a search has met."""
        new = tuple(name for name in sources if name not in self.report.sources)
        self.report = dataclasses.replace(self.report, sources=(*self.report.sources, *new))


_known: dict[int, tuple[weakref.ref[Any], Knowledge]] = {}


def known(env: Any) -> Knowledge | None:
    """What is known of this very environment; None if it was not looked at."""
    entry = _known.get(id(env))
    return entry[1] if entry is not None and entry[0]() is env else None


def remember(env: Any, knowledge: Knowledge) -> Knowledge:
    """Keep what is known of an environment as long as it lives."""
    number = id(env)
    _known[number] = weakref.ref(env, lambda _: _known.pop(number, None)), knowledge
    return knowledge


class ChanceMetError(Exception):
    """Ends a search for which an environment had no chance, and that has met some."""


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
    """Play many random games with different random numbers, and watch the generators.

    Args:
        base: a copy of the environment that nobody else needs; its generators are reseeded.
        clone: makes copies that draw from the generators of what they are made of.
        player: plays them.
        repeats: whether the environment goes the same way under equal random numbers.
        restarts: whether to reset copies, to see what is drawn beforehand.
        shared: types of objects that copies have in common with the environment.
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
    until = time.perf_counter() + SECONDS
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
    """Whether some outcomes of the first step that chance has a part in are the same."""
    other = played(GAMES, steps)
    pairs = zip(steps, other, strict=False)
    place = next((i for i, (one, two) in enumerate(pairs) if not _same(player, one, two)), 0)
    # What a step of an agent shows in AEC environments may come with the next one.
    wanted = steps[: place + 2]
    seen: set[Hashable] = set()
    until = time.perf_counter() + SECONDS
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
    """Whether starts that look the same go on differently under equal actions and numbers.

    Copies are reset with different seeds; then all generators begin by the same one.
    """
    until = time.perf_counter() + SECONDS
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
    except Exception:
        return False  # It cannot be reset, or what it shows cannot be compared.
    return False


def _tell_apart(
    player: Player,
    start: Start,
    lines: list[list[Step]],
    other_start: Start,
    other_lines: list[list[Step]],
) -> bool:
    """Whether somebody sees the same at two starts that are not the same."""
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
    """What a search begins from."""

    env: Any
    """A copy with generators of the search's own."""
    dice: Dice
    """Its random numbers."""


def search_position(
    copy: Any,
    report: ChanceReport,
    entropy: Sequence[int],
    *,
    sees: bool = False,
    shared: tuple[type, ...] = (),
) -> Position:
    """Give a search random numbers of its own.

    Args:
        copy: a copy of the environment that nobody else needs; its generators are reseeded.
        report: what is known of chance there: of the generators outside, those are exchanged that
            it names.
        entropy: numbers that decide all draws.
        sees: whether simulations foresee chance: then nothing is reseeded.
        shared: types of objects that the copy has in common with the environment.
    """
    found = find_generators(copy, shared, make_missing=not sees)
    outside = tuple(one for one in found.outside if one.name in report.sources)
    return Position(copy, Dice(Generators(found.inside, outside), entropy, sees=sees))


def stream_entropy(stream: np.ndarray[Any, Any]) -> list[int]:
    """Numbers that hang on a search's random stream, which does not go on by this."""
    return [int(word) for word in stream]
