"""Levels of strength of a game, measured: ten places on the path at equal distances in Elo points.

Neighbours among the levels play short matches. After each match the heights of all places on the
path, in Elo points above random play, are estimated anew from all matches, and the levels are
placed anew at equal distances: so all games that are played tell of places where levels lie. The
heights h are the most likely ones that never fall along the path, linear between its rungs:

    ``ℓ(h) = Σ w ln E + (n - w) ln(1 - E)``,   ``E = 1 / (1 + 10^(-Δh / 400))``

for matches with w points of n games at places Δh apart, and a little is taken off for steps that
differ from ``USUAL_STEPS``, or otherwise than their neighbours do: where few games were played, or
all won, the path rises as usual.
"""

import dataclasses
import itertools
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import scipy  # Its parts are loaded when they are first used.
from numpy.typing import NDArray

from rave_agents import __version__
from rave_agents.agents.named_agents import AgentSpec
from rave_agents.arena.match import checked_count, checked_match_seed, play_match
from rave_agents.arena.statistics import MatchScore, finite
from rave_agents.files import strict_json, written_whole
from rave_agents.frameworks.own_games import as_game
from rave_agents.knowledge.levels import (
    DEFAULT_PLACES,
    LEAST_ELO,
    LEVELS,
    PATH,
    Ladder,
    Level,
    level_at,
)
from rave_agents.knowledge.shipped import rules_of, value_for
from rave_agents.results.numbers import fixed, interval_text
from rave_agents.results.progress import Progress, shown
from rave_agents.results.result import Result
from rave_agents.results.tables import Column, Table
from rave_agents.results.view import View

MOST_ELO = 120.0
"""Elo points between neighbours at most: a score of two thirds. Where the path is longer, level 1
begins above random play."""

FIRST_ELO = 75.0
"""Elo points of level 1 above random play, where there is room."""

MATCH_GAMES = 20
"""Games of a match, after which levels are placed anew."""

USUAL_STEPS = np.array(
    [100.0 if rung.random_moves > 0.0 else 150.0 for rung in PATH[:-1]], dtype=float
)
"""Elo points from each rung of the path to the next, about their mean in the measured games."""

STEP_SPREAD = 200.0
"""Standard deviation of a step's difference from the usual one, in Elo points."""

BEND_SPREAD = 60.0
"""Standard deviation of the change of that difference from one step to the next, in Elo points: the
one by which matches that were left out are predicted best."""

_POINTS = 400.0 / math.log(10.0)
"""Elo points in a unit of strength."""


class LevelMatch(NamedTuple):
    """A match of two places on the path."""

    above: float
    """The place of the first agent."""
    below: float
    """The place of the second; 0 is random play."""
    score: MatchScore
    """The score of the first."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class LadderResult(Result):
    """The levels of a game, and the matches they were taken from. Its rows are the levels."""

    game: str
    """The game, with all parameters, as files of levels name it."""
    ladder: Ladder
    """The ten levels."""
    elos: tuple[float, ...]
    """Elo points of each level above random play."""
    matches: tuple[LevelMatch, ...]
    """All matches."""

    def summary(self) -> str:
        """The game, and how far apart its levels are."""
        distance = self.ladder.distance or 0.0
        told = f"{self.game}: {LEVELS} levels, {distance:.0f} Elo points apart"
        if distance < LEAST_ELO:
            told += (
                f"; the full agent is {self.elos[-1]:.0f} points above random play, too few for "
                f"{LEVELS} levels that can be told apart"
            )
        return told

    def tables(self) -> list[Table]:
        """The levels."""
        levels = self.ladder.levels
        columns = [
            Column("level", [str(number + 1) for number in range(LEVELS)]),
            Column("simulations", [f"{level.simulations:,}" for level in levels]),
            Column("temperature", [f"{level.temperature:g}" for level in levels]),
            Column("random moves", [f"{level.random_moves:g}" for level in levels]),
            Column("Elo above random", [f"{elo:.0f}" for elo in self.elos]),
        ]
        return [Table(columns, title="Levels")]

    def columns(self) -> dict[str, list[Any]]:
        """The levels."""
        levels = self.ladder.levels
        return {name: [getattr(each, name) for each in levels] for name in Level._fields}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON."""
        return {
            "game": self.game,
            "distance": finite(self.ladder.distance or 0.0),
            "levels": [
                {**level._asdict(), "elo": finite(elo)}
                for level, elo in zip(self.ladder.levels, self.elos, strict=True)
            ],
            "matches": [
                {"above": each.above, "below": each.below, **each.score.to_dict()}
                for each in self.matches
            ],
        }


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class LevelScores(Result):
    """Scores of the levels of a game as they are, each against the one below.

    Level 1 has played random play. Its rows are the levels.
    """

    game: str
    """The game."""
    scores: tuple[MatchScore, ...]
    """Scores of level 1, 2 and so on."""

    def summary(self) -> str:
        """The game, and the least and greatest score between neighbours."""
        scores = [score.score for score in self.scores[1:] if score.games]
        if not scores:
            return f"{self.game}: no games"
        return f"{self.game}: neighbours score {min(scores):.2f} to {max(scores):.2f}"

    def tables(self) -> list[Table]:
        """The scores."""
        intervals = [score.interval for score in self.scores]
        columns = [
            Column("level", [str(number + 1) for number in range(len(self.scores))]),
            Column("games", [str(score.games) for score in self.scores]),
            Column("against the one below", [fixed(score.score) for score in self.scores]),
            Column("95 % interval", [interval_text(each, 2) for each in intervals]),
        ]
        return [Table(columns, title="Levels")]

    def columns(self) -> dict[str, list[Any]]:
        """The scores."""
        return {
            "level": [number + 1 for number in range(len(self.scores))],
            "score": [score.score for score in self.scores],
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON."""
        return {"game": self.game, "scores": [score.to_dict() for score in self.scores]}


def measure_levels(
    game: Any,
    *,
    games: int = 40,
    seed: int = 0,
    results: str | os.PathLike[str] | None = None,
    progress: Progress[int] = None,
) -> LadderResult:
    """Play matches between neighbours, and place ten levels at equal distances.

    Args:
        game: the game, see ``as_game``.
        games: of each pair of neighbours, at least 2.
        seed: decides everything random.
        results: a file that gets each match as it ends, a line each, which may hold other games
            too. Those of this game count as played: a run goes on where it was interrupted, and
            one with more ``games`` plays only the further ones. None for none.
        progress: None for a display in a terminal or notebook, False for none; or a function of the
            number of games played.

    Raises:
        ValueError, TypeError: for an argument that is not allowed, or a file that has other lines.
        OSError: if the file cannot be read or written.
    """
    checked_count("games", games, 2)
    seed = checked_match_seed(seed)
    played = _Played.of(game)
    path = None if results is None else Path(results)
    matches = [] if path is None or not path.exists() else _matches_in(path, played)
    count = sum(match.score.games for match in matches)
    each = min(MATCH_GAMES, games)
    places: Sequence[float] = DEFAULT_PLACES
    with _counted(progress, LEVELS * games) as tell:
        while count < LEVELS * games:
            if matches:
                places = places_of(heights_of(matches))[0]
            number = len(matches) % LEVELS
            above, below = places[number], places[number - 1] if number > 0 else 0.0
            score = play_match(
                game,
                agent_at(above),
                agent_at(below),
                games=each,
                seed=seed + len(matches),
                progress=False,
            ).score
            matches.append(LevelMatch(above, below, score))
            count += score.games
            if path is not None:
                _append(path, played, matches[-1])
            if tell is not None:
                tell(count)
    heights = heights_of(matches)
    places, distance = places_of(heights)
    elos = np.interp(places, range(len(PATH)), heights).tolist()
    ladder = Ladder(tuple(level_at(place) for place in places), round(distance, 1))
    return LadderResult(game=played.game, ladder=ladder, elos=tuple(elos), matches=tuple(matches))


def check_levels(
    game: Any, *, games: int = 40, seed: int = 0, progress: Progress[int] = None
) -> LevelScores:
    """Play each level of a game, as it is, against the one below; level 1 against random play.

    Args:
        game: the game, see ``as_game``.
        games: of each match, at least 2.
        seed: decides everything random.
        progress: None for a display in a terminal or notebook, False for none; or a function of the
            number of games played.

    Raises:
        ValueError, TypeError: for an argument that is not allowed.
    """
    checked_count("games", games, 2)
    agents = ["random", *(f"auto(level={number + 1})" for number in range(LEVELS))]
    scores: list[MatchScore] = []
    with _counted(progress, LEVELS * games) as tell:
        for below, above in itertools.pairwise(agents):
            match = play_match(game, above, below, games=games, seed=seed, progress=False)
            scores.append(match.score)
            if tell is not None:
                tell(len(scores) * games)
    return LevelScores(game=_Played.of(game).game, scores=tuple(scores))


def heights_of(matches: Sequence[LevelMatch]) -> list[float]:
    """Elo points of each rung of the path above random play, from matches."""
    rungs = len(PATH) - 1
    spans = np.array([_covered(each.above) - _covered(each.below) for each in matches])
    spans = spans.reshape(-1, rungs)
    games = np.array([each.score.games for each in matches], dtype=float)
    points = np.array([each.score.wins + each.score.draws / 2 for each in matches], dtype=float)
    bends = np.diff(np.eye(rungs), axis=0)

    def loss(steps: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        strengths = spans @ steps / _POINTS
        off = (steps - USUAL_STEPS) / STEP_SPREAD
        bend = bends @ (steps - USUAL_STEPS) / BEND_SPREAD
        value = games @ np.logaddexp(0.0, strengths) - points @ strengths
        value += off @ off / 2.0 + bend @ bend / 2.0
        slopes = spans.T @ (games * scipy.special.expit(strengths) - points) / _POINTS
        return float(value), slopes + off / STEP_SPREAD + bends.T @ bend / BEND_SPREAD

    bounds = [(0.0, None)] * rungs
    found = scipy.optimize.minimize(loss, USUAL_STEPS, jac=True, bounds=bounds, method="L-BFGS-B")
    return [0.0, *np.cumsum(found.x).tolist()]


def places_of(heights: Sequence[float]) -> tuple[list[float], float]:
    """Places of ten levels at equal distances from the top of the path down, and the distance."""
    top = heights[-1]
    distance = min(MOST_ELO, (top - min(FIRST_ELO, top / LEVELS)) / (LEVELS - 1))
    wanted = [top - distance * (LEVELS - 1 - number) for number in range(LEVELS)]
    rising = [height + 1e-6 * place for place, height in enumerate(heights)]
    places = np.interp(wanted[:-1], rising, range(len(heights))).tolist()
    return [*(round(place, 3) for place in places), len(heights) - 1.0], distance


def agent_at(place: float) -> AgentSpec:
    """The agent at a place. As among the levels, the top alone asks the solver of endgames."""
    if place == 0:
        return AgentSpec("random")
    solver = {} if place == len(PATH) - 1 else {"endgame_share": 0.0}
    return AgentSpec("auto", {**level_at(place)._asdict(), **solver})


def _covered(place: float) -> NDArray[np.float64]:
    """The part of each step of the path that lies below a place."""
    clipped: NDArray[np.float64] = np.clip(place - np.arange(len(PATH) - 1), 0.0, 1.0)
    return clipped


class _Played(NamedTuple):
    """Everything that decides the strength of places on the path."""

    game: str
    """The name of the game as files of levels have it."""
    known: str | None
    """The making of its shipped value, and its backup; None if it has none."""
    version: str = __version__
    """The version of the package."""

    @classmethod
    def of(cls, game: Any) -> Self:
        """All that decides it in a game now."""
        loaded = as_game(game)
        rules = rules_of(loaded.new_initial_state())
        if rules is None:
            return cls(loaded.name, None)
        value = value_for(rules)
        return cls(str(rules), None if value is None else f"{value.made}, {value.backup}")


def _counted(progress: Progress[int], planned: int) -> Any:
    """A display of games."""
    return shown(progress, lambda played: View(played, planned, "", lambda width: "games"))


def _append(path: Path, played: _Played, match: LevelMatch) -> None:
    """Write a match to a file."""
    score = match.score
    counts = [score.wins, score.draws, score.losses]
    line = {**played._asdict(), "above": match.above, "below": match.below, "score": counts}
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    with written_whole(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{json.dumps(line)}\n")


def _matches_in(path: Path, played: _Played) -> list[LevelMatch]:
    """The matches of a file that tell of what is played now.

    Raises:
        ValueError: if a line is no match.
        OSError: if the file cannot be read.
    """
    matches = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            line = strict_json(text)
            above, below = float(line["above"]), float(line["below"])
            if not 0.0 <= min(above, below) <= max(above, below) <= len(PATH) - 1:
                raise ValueError("no such place")
            match = LevelMatch(above, below, MatchScore(*map(int, line["score"])))
            told = _Played(*(line[name] for name in _Played._fields))
        except (ValueError, TypeError, KeyError) as error:
            name = f"{str(path)!r}, line {number}"
            raise ValueError(f"{name}, is no match of levels: {text[:80]!r}.") from error
        if told == played:
            matches.append(match)
    return matches
