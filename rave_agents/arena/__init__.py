"""Matches between agents, sweeps over parameters, their statistics, and speed measurements.

It imports agents and what lies below.
"""

from rave_agents.arena.bench import BenchResult, BenchRow, run_bench
from rave_agents.arena.match import MatchError, MatchResult, play_match
from rave_agents.arena.play import GameRecord
from rave_agents.arena.statistics import MatchScore
from rave_agents.arena.sweep import SweepCell, SweepError, SweepResult, run_sweep

__all__ = [
    "BenchResult",
    "BenchRow",
    "GameRecord",
    "MatchError",
    "MatchResult",
    "MatchScore",
    "SweepCell",
    "SweepError",
    "SweepResult",
    "play_match",
    "run_bench",
    "run_sweep",
]
