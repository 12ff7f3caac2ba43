"""Measure how strong levels are in a game, and place ten at equal distances in Elo points.

    python examples/level_ladder.py "hex(board_size=7)" --games 200 --output levels.json
    python examples/level_ladder.py "hex(board_size=7)" --games 200 --check

Neighbours among the levels play short matches. After each match the heights of all places on the
path, in Elo points above random play, are estimated anew from all matches, and the levels are
placed anew at equal distances. The heights h are the most likely ones that never fall along the
path, linear between its rungs:

    ``ℓ(h) = Σ w ln E + (n - w) ln(1 - E)``,   ``E = 1 / (1 + 10^(-Δh / 400))``

for matches with w points of n games at places Δh apart, and a little is taken off for steps that
differ from ``USUAL_STEPS``, or otherwise than their neighbours do: where few games were played, or
all won, the path rises as usual.
"""

import argparse
import itertools
import json
import math
import pathlib
from typing import NamedTuple

import numpy as np
import scipy

from rave_agents import __version__
from rave_agents.agents.named_agents import AgentSpec
from rave_agents.arena import play_match
from rave_agents.arena.statistics import MatchScore
from rave_agents.evaluators.levels import (
    DEFAULT_PLACES,
    LEVELS,
    PATH,
    Ladder,
    level_at,
    read_levels,
    write_levels,
)
from rave_agents.evaluators.shipped import rules_of, value_for
from rave_agents.frameworks.own_games import as_game

MOST_ELO = 120.0
"""Elo points between neighbours at most: a score of two thirds. Where the path is longer, level 1
begins above random play."""

FIRST_ELO = 75.0
"""Elo points of level 1 above random play, where there is room."""

MATCH_GAMES = 20
"""Games of a match, after which levels are placed anew."""

USUAL_STEPS = np.array([100.0 if rung.random_moves > 0.0 else 150.0 for rung in PATH[:-1]])
"""Elo points from each rung of the path to the next, about their mean in the measured games."""

STEP_SPREAD = 200.0
"""Standard deviation of a step's difference from the usual one, in Elo points."""

BEND_SPREAD = 60.0
"""Standard deviation of the change of that difference from one step to the next, in Elo points: the
one by which matches that were left out are predicted best."""

POINTS = 400.0 / math.log(10.0)
"""Elo points in a unit of strength."""


class LevelMatch(NamedTuple):
    """A match of two places on the path; place 0 is random play."""

    above: float
    below: float
    score: MatchScore


def measured_levels(game, games, seed, results=None):
    """The ten levels of a game, and their Elo points above random play.

    With a file of results, one JSON line a match, its matches of this game count as played, and
    each further match is added to it.
    """
    played = key_of(game)
    lines = results.read_text(encoding="utf-8").splitlines() if results and results.exists() else []
    known = [json.loads(line) for line in lines]
    matches = [
        LevelMatch(line["above"], line["below"], MatchScore(*line["score"]))
        for line in known
        if line.items() >= played.items()
    ]
    count = sum(match.score.games for match in matches)
    places = places_of(heights_of(matches))[0] if matches else DEFAULT_PLACES
    while count < LEVELS * games:
        number = len(matches) % LEVELS
        above, below = places[number], places[number - 1] if number > 0 else 0.0
        size, match_seed = min(MATCH_GAMES, games), seed + len(matches)
        agents = agent_at(above), agent_at(below)
        score = play_match(game, *agents, games=size, seed=match_seed, progress=False).score
        matches.append(LevelMatch(above, below, score))
        places = places_of(heights_of(matches))[0]
        count += size
        if results is not None:
            counts = [score.wins, score.draws, score.losses]
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**played, "above": above, "below": below, "score": counts}))
                file.write("\n")
    heights = heights_of(matches)
    places, distance = places_of(heights)
    ladder = Ladder(tuple(level_at(place) for place in places), round(distance, 1))
    return ladder, np.interp(places, range(len(PATH)), heights).tolist()


def key_of(game):
    """Everything that decides the strength of places: game, shipped value, version."""
    loaded = as_game(game)
    rules = rules_of(loaded.new_initial_state())
    value = None if rules is None else value_for(rules)
    known = None if value is None else f"{value.made}, {value.backup}"
    return {"game": str(rules or loaded.name), "known": known, "version": __version__}


def checked_levels(game, games, seed):
    """Scores of the levels as they are, each against the one below; level 1 against random play."""
    agents = ["random", *(f"auto(level={number + 1})" for number in range(LEVELS))]
    return [
        play_match(game, above, below, games=games, seed=seed, progress=False).score
        for below, above in itertools.pairwise(agents)
    ]


def heights_of(matches):
    """Elo points of each rung of the path above random play, from matches."""
    rungs = len(PATH) - 1
    spans = np.array([covered(each.above) - covered(each.below) for each in matches])
    spans = spans.reshape(-1, rungs)
    games = np.array([each.score.games for each in matches], dtype=float)
    points = np.array([each.score.wins + each.score.draws / 2 for each in matches], dtype=float)
    bends = np.diff(np.eye(rungs), axis=0)

    def loss(steps):
        strengths = spans @ steps / POINTS
        off = (steps - USUAL_STEPS) / STEP_SPREAD
        bend = bends @ (steps - USUAL_STEPS) / BEND_SPREAD
        value = games @ np.logaddexp(0.0, strengths) - points @ strengths
        value += off @ off / 2.0 + bend @ bend / 2.0
        slopes = spans.T @ (games * scipy.special.expit(strengths) - points) / POINTS
        return float(value), slopes + off / STEP_SPREAD + bends.T @ bend / BEND_SPREAD

    bounds = [(0.0, None)] * rungs
    found = scipy.optimize.minimize(loss, USUAL_STEPS, jac=True, bounds=bounds, method="L-BFGS-B")
    return [0.0, *np.cumsum(found.x).tolist()]


def places_of(heights):
    """Places of ten levels at equal distances from the top of the path down, and the distance."""
    top = heights[-1]
    distance = min(MOST_ELO, (top - min(FIRST_ELO, top / LEVELS)) / (LEVELS - 1))
    wanted = [top - distance * (LEVELS - 1 - number) for number in range(LEVELS)]
    rising = [height + 1e-6 * place for place, height in enumerate(heights)]
    places = np.interp(wanted[:-1], rising, range(len(heights))).tolist()
    return [*(round(place, 3) for place in places), len(heights) - 1.0], distance


def agent_at(place):
    """The agent at a place. As among the levels, the top alone asks the solver of endgames."""
    if place == 0:
        return AgentSpec("random")
    solver = {} if place == len(PATH) - 1 else {"endgame_share": 0.0}
    return AgentSpec("auto", {**level_at(place)._asdict(), **solver})


def covered(place):
    """The part of each step of the path that lies below a place."""
    return np.clip(place - np.arange(len(PATH) - 1), 0.0, 1.0)


def main():
    """Measure, or check, the levels of one game."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("game")
    parser.add_argument("--games", type=int, default=40, help="of each level against the one below")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--check", action="store_true", help="play the levels as they are")
    parser.add_argument("--output", type=pathlib.Path, help="a file of levels to write")
    parser.add_argument("--results", type=pathlib.Path, help="matches; a run goes on from them")
    given = parser.parse_args()
    if given.games < 2:
        parser.error("--games must be at least 2.")
    if given.check:
        for number, score in enumerate(checked_levels(given.game, given.games, given.seed), 1):
            print(f"level {number:2}: {score.score:.2f} against the one below")
        return
    ladder, elos = measured_levels(given.game, given.games, given.seed, given.results)
    if given.output is not None:
        others = read_levels(given.output) if given.output.exists() else {}
        write_levels(given.output, {**others, key_of(given.game)["game"]: ladder})
    print(f"{ladder.distance:.0f} Elo points between neighbours")
    for number, (level, elo) in enumerate(zip(ladder.levels, elos, strict=True), 1):
        print(f"level {number:2}: {elo:5.0f} above random play, {level}")


if __name__ == "__main__":
    main()
