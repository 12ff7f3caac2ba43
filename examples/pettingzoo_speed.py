"""Measures how fast PettingZoo's environments are copied and searched; see docs/results.md.

python examples/pettingzoo_speed.py [SECONDS]
"""

import random
import statistics
import sys
import time
import timeit
from collections.abc import Callable
from typing import Any

import pettingzoo
from rave_pettingzoo import AECState, clone_env

from rave_agents import Limit, SearchConfig, Searcher

ENVIRONMENTS: dict[str, tuple[dict[str, Any], int]] = {
    "tictactoe-v3": ({}, 3),
    "connect_four-v3": ({}, 6),
    "go-v5": ({"board_size": 9}, 40),
    "chess-v6": ({}, 40),
}
"""Their options, and the random moves after which they are copied."""


def microseconds(function: Callable[[], Any]) -> float:
    """The least mean time of a call, in five rounds of 500."""
    return 2000 * min(timeit.repeat(function, number=500, repeat=5))


def search_speed(env: Any, seconds: float, *, translate: bool) -> float:
    """Simulations a second of UCT."""
    searcher = Searcher(SearchConfig.preset("uct"), seed=1)
    state = AECState(env, translate=translate)
    searcher.search(state, Limit(simulations=2))
    return searcher.search(state, Limit(seconds=seconds)).simulations_per_second


def loop_speed(env: Any, seconds: float) -> float:
    """Random games a second: the environment cloned without its wrappers, and stepped to the end.

    Legal actions are read from the board, as the search reads them.
    """
    raw, choices = env.unwrapped, random.Random(1)
    games = 0
    started = time.perf_counter()
    while time.perf_counter() < started + seconds:
        clone = clone_env(raw)
        while not any(clone.terminations.values()):
            clone.step(choices.choice([column for column in range(7) if clone.board[column] == 0]))
        games += 1
    return games / (time.perf_counter() - started)


def main(seconds: float = 0.1) -> None:
    """Print times of copies, and speeds of searches on connect four in five rounds."""
    for name, (options, moves) in ENVIRONMENTS.items():
        env = pettingzoo.make("aec", f"classic/{name}", **options)
        env.reset(seed=1)
        choices = random.Random(1)
        for _ in range(moves):
            mask = env.last()[0]["action_mask"]
            env.step(choices.choice([action for action, legal in enumerate(mask) if legal]))
        env.last()
        inside = microseconds(AECState(env).clone)
        whole = microseconds(lambda env=env: clone_env(env))  # type: ignore[misc]
        print(f"{name}: clone in a search {inside:.1f} µs, clone_env {whole:.1f} µs")
    env = pettingzoo.make("aec", "classic/connect_four-v3")
    env.reset(seed=1)
    rounds = [
        (
            loop_speed(env, seconds),
            search_speed(env, seconds, translate=False),
            search_speed(env, seconds, translate=True),
        )
        for _ in range(5)
    ]
    loop, raw, translated = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"connect_four: loop of clones and random steps {loop:,.0f} games a second")
    print(
        f"search of the environment {raw:,.0f} simulations a second, {raw / loop:.2f} of the loop"
    )
    print(f"translated {translated:,.0f} simulations a second, {translated / raw:.1f} times that")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
