"""Searches with a network of zeros, of this package and of programs of others, in turns.

A network of zeros costs nothing: what remains is the search and the making of batches. Each program
searches the first position of a game many times at once and evaluates each position anew.
"""

import functools
import importlib
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rave_agents.arena.bench_result import NetworkRow
from rave_agents.arena.openings import initial_decision
from rave_agents.config.limit import Limit
from rave_agents.evaluators.batch_evaluator import BatchEvaluator
from rave_agents.frameworks.adapters import Game
from rave_agents.searcher.multi_search import search_many

REINFORS_GAMES = {"backgammon": "backgammon", "chess": "chess", "connect_four": "connect4"}
"""Games of ``reinfors`` by OpenSpiel's short names; both begin at the usual first position."""

POSITIONS = 64
"""Positions that are searched at once."""

SIMULATIONS = 400
"""Simulations a position."""

Searches = Callable[[int], int]
"""Searches with so many simulations a position; returns how many positions were evaluated."""


def network_rows(
    name: str, game: Game, rounds: int, simulations: int = SIMULATIONS
) -> list[NetworkRow]:
    """Measure ``search_many`` and the programs of others that are installed and have the game.

    Args:
        name: the game as it was asked for.
        game: the game; only with its usual parameters do others have it.
        rounds: how often each is measured.
        simulations: a position.
    """
    found = []
    for program, searches in _programs(game).items():
        both = (functools.partial(_ours, game), searches)
        for each in both:
            each(2)  # It compiles, and takes its memory.
        speeds = [[_speed(each, simulations) for each in both] for _ in range(rounds)]
        ours, others = (statistics.median(column) for column in zip(*speeds, strict=True))
        found.append(
            NetworkRow(
                game=name,
                program=program,
                positions_per_second=ours,
                program_positions_per_second=others,
            )
        )
    return found


def _programs(game: Game) -> dict[str, Searches]:
    """Searches of each installed program that has the game, by the program's name."""
    known = REINFORS_GAMES.get(game.name.removesuffix("()"))
    if known is None:
        return {}
    try:
        reinfors = importlib.import_module("reinfors")
    except ImportError:
        return {}
    return {"reinfors": functools.partial(_reinfors, reinfors, known)}


def _ours(game: Game, simulations: int) -> int:
    evaluated = 0

    def zeros(batch: Any) -> tuple[np.ndarray, np.ndarray]:
        nonlocal evaluated
        evaluated += len(batch.players)
        return np.zeros(batch.legal_actions_mask.shape), np.zeros(len(batch.players))

    states = [initial_decision(game, seed) for seed in range(POSITIONS)]
    evaluator = BatchEvaluator(zeros, cache=False)
    search_many(states, Limit(simulations=simulations), evaluator=evaluator, seed=0)
    return evaluated


def _reinfors(reinfors: Any, name: str, simulations: int) -> int:
    evaluated = 0
    game = reinfors.games.make(name)
    actions = game.action_space().n

    def zeros(observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nonlocal evaluated
        evaluated += len(observations)
        shape = (len(observations), actions)
        return np.zeros(shape, np.float32), np.zeros(len(observations), np.float32)

    positions = [reinfors.Env(game, reinfors.Reward(), seed=seed) for seed in range(POSITIONS)]
    policy = reinfors.policies.AlphaZero(num_simulations=simulations)
    policy.choose(positions, zeros, gamma=1.0)
    return evaluated


def _speed(searches: Searches, simulations: int) -> float:
    """Positions a second."""
    started = time.perf_counter()
    evaluated = searches(simulations)
    return evaluated / (time.perf_counter() - started)
