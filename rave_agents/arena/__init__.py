"""One kind of run: matches, sweeps, curves, tournaments, races and speeds, and their statistics.

It imports agents and lower rooms.
"""

from rave_agents.arena.bench import THIRTY_GAMES, run_bench
from rave_agents.arena.dask_cluster import dask_executor
from rave_agents.arena.grid import Curve, Grid
from rave_agents.arena.match import play_match
from rave_agents.arena.match_result import MatchResult
from rave_agents.arena.race import find_best
from rave_agents.arena.race_result import Race
from rave_agents.arena.ratings import Outcome, Ratings, rate
from rave_agents.arena.result import RunResult
from rave_agents.arena.speeds import Speeds
from rave_agents.arena.sprt import Sprt
from rave_agents.arena.standings import Standings
from rave_agents.arena.statistics import MatchScore, PairCounts
from rave_agents.arena.sweep import run_scaling, run_sweep
from rave_agents.arena.tournament import play_tournament
from rave_agents.arena.worker import RunError
from rave_agents.records.journal import merge_journals
from rave_agents.records.record import GameRecord

__all__ = [
    "THIRTY_GAMES",
    "Curve",
    "GameRecord",
    "Grid",
    "MatchResult",
    "MatchScore",
    "Outcome",
    "PairCounts",
    "Race",
    "Ratings",
    "RunError",
    "RunResult",
    "Speeds",
    "Sprt",
    "Standings",
    "dask_executor",
    "find_best",
    "merge_journals",
    "play_match",
    "play_tournament",
    "rate",
    "run_bench",
    "run_scaling",
    "run_sweep",
]
