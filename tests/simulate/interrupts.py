"""Run by test_simulator.py in a process of its own: searches that Ctrl-C ends."""

import logging
import os
import pathlib
import random
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from helpers.games import RandomEvaluator, random_game
from helpers.trees import check_tables, check_tree, has_tables

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.parts import GRAVE, UCB1, NodeAmaf, WinningMoves


def make_state(kind):
    if kind.startswith("openspiel"):
        import pyspiel

        return pyspiel.load_game("go(board_size=5)").new_initial_state()
    return random_game(5, depth=14, width=8, whole=False)


def check_trees(searcher):
    for search in searcher._trees.searches:
        if search.has_root:
            check_tree(search.tree)
            if has_tables(search.tree):
                check_tables(search.tree)


def main(kind, count):
    logging.disable(logging.WARNING)  # that the search is compiled, if it is
    draw = random.Random(kind)
    amaf = NodeAmaf()
    if kind == "grave":
        amaf = GRAVE(table_visits=1, winning=WinningMoves())
    threads = 8 if kind.endswith("threads") else 1
    config = SearchConfig(rule=UCB1(5.0), amaf=amaf, expand_visits=1, threads=threads)
    evaluator = RandomEvaluator() if kind == "evaluator" else None
    searcher = Searcher(config, seed=1, evaluator=evaluator)
    searcher.search(make_state(kind), Limit(simulations=5))  # compiles
    simulations = 0
    for number in range(count):
        state = make_state(kind)
        delay = draw.uniform(0.0005, 0.02)
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
        searcher.reset()
        interrupted = False
        try:
            timer.start()
            searcher.search(state, Limit(simulations=10**9, seconds=5.0))
        except KeyboardInterrupt:
            interrupted = True
        timer.join()
        assert interrupted, number
        # A thread that Ctrl-C came upon in its first moment may still have to find out.
        ends = time.monotonic() + 5.0
        while threading.active_count() > 1 and time.monotonic() < ends:
            time.sleep(0.001)
        assert threading.active_count() == 1
        if searcher.rooted_tree() is not None:
            check_trees(searcher)
            result = searcher.result()
            assert result.action in state.legal_actions()
            roots = sum(search.has_root for search in searcher._trees.searches)
            assert sum(row.visits for row in result.actions) == result.root_visits - roots
            simulations += result.root_visits
            searcher.advance(result.action)
            check_trees(searcher)
        if number % 10 == 0:
            assert searcher.search(state, Limit(simulations=50)).root_visits == 50
            check_trees(searcher)
    assert simulations > 20 * count, simulations
    print("interrupted", count)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
