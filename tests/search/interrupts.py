"""Run by test_simulator.py in a process of its own: searches that Ctrl-C ends."""

import logging
import os
import pathlib
import random
import signal
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from helpers.games import RandomEvaluator, random_game
from helpers.trees import check_tables, check_tree

from rave_agents import Limit, SearchConfig, Searcher


def make_state(kind):
    if kind == "openspiel":
        import pyspiel

        return pyspiel.load_game("go(board_size=5)").new_initial_state()
    return random_game(5, depth=14, width=8, stated=kind != "observed", whole=False)


def main(kind, count):
    logging.disable(logging.WARNING)  # that the search is compiled, if it is
    draw = random.Random(kind)
    changes = {"amaf": "node"}
    if kind == "grave":
        changes = {"amaf": "grave", "grave_table_visits": 1, "count_winning_moves": True}
    config = SearchConfig(**changes, expand_visits=1, exploration=5.0)
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
        if searcher.tree is not None and searcher.tree.used[0] > 0:
            check_tree(searcher.tree)
            if kind == "grave":
                check_tables(searcher.tree, searcher.rooted_tree().tables)
            result = searcher.result()
            assert result.action in state.legal_actions()
            assert sum(row.visits for row in result.actions) == result.root_visits - 1
            simulations += result.root_visits
            searcher.advance(result.action)
            if searcher.tree is not None and searcher.tree.used[0] > 0:
                check_tree(searcher.tree)
                if kind == "grave":
                    check_tables(searcher.tree, searcher.rooted_tree().tables)
        if number % 10 == 0:
            assert searcher.search(state, Limit(simulations=50)).root_visits == 50
            check_tree(searcher.tree)
    assert simulations > 20 * count, simulations
    print("interrupted", count)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
