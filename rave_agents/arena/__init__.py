"""Matches, sweeps, tournaments, races and curves, their statistics, and speed measurements.

It imports agents and lower rooms.
"""

from rave_agents.arena.bench import run_bench
from rave_agents.arena.bench_result import BenchResult, BenchRow
from rave_agents.arena.dask_cluster import dask_executor
from rave_agents.arena.journal import merge_journals
from rave_agents.arena.match import MatchError, MatchResult, play_match
from rave_agents.arena.pairs import PairCounts
from rave_agents.arena.race import RaceError, RaceResult, find_best
from rave_agents.arena.ratings import Outcome, Ratings, rate
from rave_agents.arena.scaling import ScalingError, ScalingPoint, ScalingResult, run_scaling
from rave_agents.arena.sprt import Sprt
from rave_agents.arena.statistics import MatchScore
from rave_agents.arena.sweep import SweepCell, SweepError, SweepResult, run_sweep
from rave_agents.arena.thirty_games import THIRTY_GAMES
from rave_agents.arena.tournament import TournamentError, TournamentResult, play_tournament
from rave_agents.records.record import GameRecord

__all__ = [
    "THIRTY_GAMES",
    "BenchResult",
    "BenchRow",
    "GameRecord",
    "MatchError",
    "MatchResult",
    "MatchScore",
    "Outcome",
    "PairCounts",
    "RaceError",
    "RaceResult",
    "Ratings",
    "ScalingError",
    "ScalingPoint",
    "ScalingResult",
    "Sprt",
    "SweepCell",
    "SweepError",
    "SweepResult",
    "TournamentError",
    "TournamentResult",
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
