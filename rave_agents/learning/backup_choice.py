"""Averages or minimax backups with a learned value: what wins a match of ``auto`` is chosen."""

import copy
from typing import Any

from rave_agents.agents.named_agents import AgentSpec
from rave_agents.arena.match import play_match
from rave_agents.arena.statistics import MatchScore
from rave_agents.evaluators.linear_value import MEAN, MINIMAX, LinearValue

AS_GOOD = 0.5
"""The score that the whole interval of minimax must lie above: without evidence averages stay."""


def choose_backup(
    game: Any, value: LinearValue, *, games: int, seconds: float, seed: int = 0
) -> MatchScore:
    """Play ``auto`` with minimax backups against ``auto`` with averages, and note what has won.

    Both have the value and as much time: a simulation takes longer where it judges all moves.

    Args:
        game: the game that it was learned on, for two players.
        value: the value, whose ``backup`` is set.
        games: of the match.
        seconds: a move.
        seed: decides everything random but for what time decides.

    Returns:
        The score of minimax.

    Raises:
        ValueError: if the game is not for two players.
    """
    agents = []
    for backup in (MINIMAX, MEAN):
        judge = copy.copy(value)
        judge.backup = backup
        agents.append(AgentSpec("auto", {"evaluator": judge}))
    score = play_match(game, *agents, games=games, seconds=seconds, seed=seed, progress=False).score
    value.backup = MINIMAX if score.interval[0] > AS_GOOD else MEAN
    return score
