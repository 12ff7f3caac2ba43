"""Levels of strength of a game, measured: matches up a ladder, and ten rungs as far apart.

The ladder begins at two simulations and doubles them, without what is known of the game and then
with it, up to the whole agent. Each rung plays the one below. The levels are taken from it at equal
distances in Elo points, from the top down.
"""

import bisect
import dataclasses
import math
from typing import Any

import numpy as np

from rave_agents.agents.named_agents import AgentSpec
from rave_agents.arena.match import play_match
from rave_agents.arena.statistics import MatchScore, elo_difference, finite
from rave_agents.frameworks.own_games import as_game
from rave_agents.knowledge.levels import DOUBLING, LEVELS, Level
from rave_agents.knowledge.shipped import rules_of, value_for
from rave_agents.results.progress import Progress, shown
from rave_agents.results.result import Result
from rave_agents.results.tables import Column, Table
from rave_agents.results.view import View

MOST_ELO = 150.0
"""Elo points between neighbours at most; where the whole ladder is longer, level 1 begins above
random play."""


FIRST_KNOWN = 3
"""The place, among those that double, of the first rung with knowledge: with fewer simulations,
which see only a few of the moves, it was no weaker."""

TEMPERATURES = (8.0, 2.0, 1.0)
"""Temperatures of the first rungs with knowledge, which is worth many simulations."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class LadderResult(Result):
    """A game's ladder and the levels taken from it. Its rows are the levels."""

    game: str
    """The game, with all parameters, as files of levels name it."""
    rungs: tuple[Level, ...]
    """The ladder, from below."""
    scores: tuple[MatchScore, ...]
    """The score of each rung against the one below; of the first against random play."""
    elos: tuple[float, ...]
    """Elo points of each rung above random play."""
    levels: tuple[Level, ...]
    """The ten levels."""
    distance: float
    """Elo points between neighbours."""

    def summary(self) -> str:
        """The game, and how far apart its levels are."""
        return f"{self.game}: {LEVELS} levels, {self.distance:.0f} Elo points apart"

    def tables(self) -> list[Table]:
        """The levels, and the ladder that was played."""
        levels = [
            Column("level", [str(number + 1) for number in range(LEVELS)]),
            Column("simulations", [f"{level.simulations:,}" for level in self.levels]),
            Column("temperature", [f"{level.temperature:g}" for level in self.levels]),
            Column("known", ["yes" if level.known else "no" for level in self.levels]),
        ]
        ladder = [
            Column("simulations", [f"{rung.simulations:,}" for rung in self.rungs]),
            Column("temperature", [f"{rung.temperature:g}" for rung in self.rungs]),
            Column("known", ["yes" if rung.known else "no" for rung in self.rungs]),
            Column("against the rung below", [f"{each.score:.2f}" for each in self.scores]),
            Column("Elo above random", [f"{elo:.0f}" for elo in self.elos]),
        ]
        return [Table(levels, title="Levels"), Table(ladder, title="Ladder")]

    def columns(self) -> dict[str, list[Any]]:
        """The levels."""
        return {name: [getattr(each, name) for each in self.levels] for name in Level._fields}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON."""
        return {
            "game": self.game,
            "distance": finite(self.distance),
            "levels": [level._asdict() for level in self.levels],
            "ladder": [
                {**rung._asdict(), "elo": finite(elo), "against_below": score.to_dict()}
                for rung, elo, score in zip(self.rungs, self.elos, self.scores, strict=True)
            ],
        }


def measure_levels(
    game: Any, *, games: int = 40, seed: int = 0, progress: Progress[int] = None
) -> LadderResult:
    """Play up the ladder of a game, and take ten levels from it.

    Args:
        game: the game, see ``as_game``.
        games: of each match, at least 2.
        seed: decides everything random.
        progress: None for a display in a terminal or notebook, False for none; or a function of the
            number of matches played.

    Raises:
        ValueError, TypeError: for an argument that is not allowed.
    """
    state = as_game(game).new_initial_state()
    rules = rules_of(state)
    rungs = ladder(known=rules is not None and value_for(rules) is not None)
    scores: list[MatchScore] = []
    below = AgentSpec("random")
    with shown(progress, lambda done: View(done, len(rungs), "", lambda width: "matches")) as tell:
        for number, rung in enumerate(rungs):
            spec = _spec(rung)
            match = play_match(game, spec, below, games=games, seed=seed, progress=False)
            scores.append(match.score)
            below = spec
            if tell is not None:
                tell(number + 1)
    elos = np.cumsum([elo_of(score) for score in scores])
    levels, distance = levels_of(rungs, elos.tolist())
    return LadderResult(
        game=str(game) if rules is None else str(rules),
        rungs=rungs,
        scores=tuple(scores),
        elos=tuple(elos.tolist()),
        levels=levels,
        distance=distance,
    )


def ladder(*, known: bool) -> tuple[Level, ...]:
    """The rungs that are played, from below.

    Args:
        known: whether something is known of the game: then the ladder goes on with it.
    """
    *few, top = DOUBLING
    if not known:
        return *few, top._replace(known=False)
    first = few[FIRST_KNOWN]._replace(known=True)
    mixed = [first._replace(temperature=temperature) for temperature in TEMPERATURES]
    return *few, *mixed, *(rung._replace(known=True) for rung in few[FIRST_KNOWN:]), top


def elo_of(score: MatchScore) -> float:
    """Elo points of a score, as if one game more had been drawn: finite where all were won."""
    return elo_difference((score.wins + score.draws / 2 + 0.5) / (score.games + 1))


def levels_of(rungs: tuple[Level, ...], elos: list[float]) -> tuple[tuple[Level, ...], float]:
    """Ten levels at equal distances below the top of a ladder, and the distance.

    Rungs that are no better than those below are taken to be as good (isotonic regression), and the
    middle one stands for them. Between two rungs simulations grow by equal factors for equal
    distances.
    """
    groups: list[list[int]] = []
    for place in range(len(rungs)):
        groups.append([place])
        while len(groups) > 1 and _mean(elos, groups[-2]) >= _mean(elos, groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    heights = [_mean(elos, places) for places in groups]
    kept = [rungs[places[len(places) // 2]] for places in groups]
    kept[-1] = rungs[-1]
    distance = min(MOST_ELO, (heights[-1] - heights[0]) / (LEVELS - 1))
    wanted = [heights[-1] - distance * (LEVELS - 1 - number) for number in range(LEVELS - 1)]
    return (*(_between(kept, heights, height) for height in wanted), kept[-1]), distance


def _mean(elos: list[float], places: list[int]) -> float:
    return float(np.mean([elos[place] for place in places]))


def _between(rungs: list[Level], heights: list[float], height: float) -> Level:
    """The level at a height between two rungs."""
    if len(rungs) == 1:
        return rungs[0]
    place = min(max(bisect.bisect_right(heights, height), 1), len(rungs) - 1)
    low, high = rungs[place - 1], rungs[place]
    share = (height - heights[place - 1]) / (heights[place] - heights[place - 1])
    if low.known != high.known or low.simulations == high.simulations:
        return high if share > 0.5 else low
    power = (1.0 - share) * math.log(low.simulations) + share * math.log(high.simulations)
    return Level(max(1, round(math.exp(power))), low.temperature, low.known)


def _spec(rung: Level) -> AgentSpec:
    return AgentSpec("auto", rung._asdict())
