"""Simulations of two threads for each of one, in the same time.

    python examples/threads.py ["hex(board_size=11)" ...]

Searches of 0.4 s take turns; the figure of each is the median of seven. The first two are left out:
they fetch the memory that later ones find there.
"""

import statistics
import sys

import pyspiel

from rave_agents import Limit, SearchConfig, Searcher

GAMES = (
    "connect_four",
    "othello",
    "hex(board_size=11)",
    "y(board_size=9)",
    "havannah(board_size=8)",
    "breakthrough",
    "go(board_size=9)",
    "lines_of_action",
)
SEARCHES, LEFT_OUT, SECONDS = 9, 2, 0.4


def ratio(name: str) -> float:
    """Simulations a second of two threads, over those of one."""
    state = pyspiel.load_game(name).new_initial_state()
    configs = [SearchConfig.preset("rave").replace(threads=threads) for threads in (1, 2)]
    searchers = [Searcher(config, seed=1) for config in configs]
    speeds: list[list[float]] = [[], []]
    for _ in range(SEARCHES):
        for searcher, measured in zip(searchers, speeds, strict=True):
            searcher.reset()
            searcher.prepare(state)
            result = searcher.search(state, Limit(seconds=SECONDS))
            measured.append(result.simulations_per_second)
    one, two = (statistics.median(measured[LEFT_OUT:]) for measured in speeds)
    return two / one


for game in sys.argv[1:] or GAMES:
    print(f"{game:24} {ratio(game):.2f}", flush=True)
