"""Matches between agents, their statistics, and speed measurements."""

from rave_agents.arena.bench import BenchResult, BenchRow, run_bench
from rave_agents.arena.match import MatchError, MatchResult, play_match
from rave_agents.arena.play import GameRecord
from rave_agents.arena.statistics import MatchScore

__all__ = [
    "BenchResult",
    "BenchRow",
    "GameRecord",
    "MatchError",
    "MatchResult",
    "MatchScore",
    "play_match",
    "run_bench",
]
