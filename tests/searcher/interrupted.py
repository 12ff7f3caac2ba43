"""Run by test_interrupts.py in a process of its own: work that signal handlers break off.

``python interrupted.py KIND COUNT SEED`` prints how often a handler has raised and how often that
came out, how many results there were, and how many searches had not entered their position yet.
"""

import collections
import json
import logging
import pathlib
import random
import signal
import sys
import traceback
import warnings
import weakref

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from helpers.games import RandomEvaluator, random_game

from rave_agents import Limit, SearchConfig, Searcher, search_many
from rave_agents.evaluators.batch_evaluator import BatchEvaluator
from rave_agents.frameworks.adapters import as_game_state
from rave_agents.game.game_state import legal_actions_of

LONGEST = 0.02
"""Seconds until a handler raises, at most, on a machine that does nothing else."""

LATER, SOONER = 1.5, 1 / 1.2
"""Factors of that after a search that had not entered its position, and after one that had: so a
busy machine has its share of both."""

WEAK_SETS = weakref.WeakSet.__init__.__code__.co_filename
"""Code that Python calls when an object dies: what a handler raises there, Python ignores."""


class AlarmError(Exception):
    """What some handlers raise; any exception may be raised in one."""


def main(kind, count, seed):
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    run = WORK[kind](seed)
    run()  # compiles
    draw, found = random.Random(seed), collections.Counter()
    longest = LONGEST
    for number in range(count):
        before, seconds = found["not entered"], draw.uniform(1e-5, longest)
        interrupted(run, seconds, found, AlarmError if number % 2 else KeyboardInterrupt)
        longest *= LATER if found["not entered"] > before else SOONER
        longest = max(longest, LONGEST)
    print(json.dumps(found))


def interrupted(run, seconds, found, kind):
    """Let a handler raise after so many seconds of ``run``, and look at what is left."""
    raised, stacks = [], []

    def handler(number, frame):
        if frame.f_code.co_filename == WEAK_SETS:
            signal.setitimer(signal.ITIMER_REAL, 1e-5)
            return
        stacks.extend(traceback.format_stack(frame))
        raised.append(kind())
        raise raised[-1]

    signal.signal(signal.SIGALRM, handler)
    ended = None
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            run()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except BaseException as error:
        ended = error
    found["raised"] += len(raised)
    if not raised:
        found["not raised"] += 1
    elif ended is raised[0]:
        found["came out"] += 1
    else:
        found[f"lost: {ended!r} came out"] += 1
        print("".join(stacks), file=sys.stderr)
    run.look(found)


class Search:
    """A search of one position after the other, and what is known afterwards."""

    def __init__(self, states, seed, config=None, **options):
        self.states, self.draw = states, random.Random(seed)
        config = config or SearchConfig.preset("auto")
        self.player = options.pop("player", None)
        self.searcher = Searcher(config, seed=1, **options)
        self.make = lambda: Searcher(config, seed=5, **options)
        self.limits = Limit(simulations=10**7, seconds=5.0)
        self.state, self.begun = states[0], False

    def __call__(self):
        if not self.begun:
            self.begun = True
            for state in self.states:
                self.searcher.search(state, Limit(simulations=30), player=self.player)
            return
        if self.draw.random() < 0.5:
            self.searcher.reset()
        self.state = self.draw.choice(self.states)
        self.searcher.search(self.state, self.limits, player=self.player)

    def look(self, found):
        try:
            result = self.searcher.result()
        except RuntimeError as error:
            found["not entered"] += str(error) == "Nothing has been searched yet."
        else:
            found["results"] += 1
            assert str(result.state) == str(self.state)
            legal = legal_actions_of(as_game_state(self.state), result.player)
            assert result.action in legal, (result.action, legal)
            visits = sum(row.visits for row in result.actions)
            trees = len([s for s in self.searcher._trees.searches if s.has_root])
            assert visits == max(0, result.root_visits - trees), (visits, result.root_visits)
        if self.draw.random() < 0.1:
            self.compare()

    def compare(self):
        """The next search is that of a new searcher."""
        self.searcher.reset()
        self.searcher.reseed(5)
        few = Limit(simulations=40)
        here, there = (
            searcher.search(self.state, few, player=self.player)
            for searcher in (self.searcher, self.make())
        )
        assert [r.visits for r in here.actions] == [r.visits for r in there.actions]
        assert [r.value for r in here.actions] == [r.value for r in there.actions]


def positions(name, plies=4, seed=3):
    """The first positions of a game where a player has a choice."""
    import open_spiel.python.games  # noqa: F401  (registers those written in Python)
    import pyspiel

    state, draw, found = pyspiel.load_game(name).new_initial_state(), random.Random(seed), []
    while len(found) < plies and not state.is_terminal():
        if state.is_simultaneous_node():
            found.append(state.clone())
            state.apply_actions([state.legal_actions(p)[0] for p in range(state.num_players())])
            continue
        if not state.is_chance_node() and len(state.legal_actions()) > 1:
            found.append(state.clone())
        state.apply_action(draw.choice(state.legal_actions()))
    return found


def network():
    """An evaluator of batches."""

    def evaluate(batch):
        rows = len(batch.observations)
        return np.zeros((rows, batch.legal_actions_mask.shape[1])), np.zeros(rows)

    return BatchEvaluator(evaluate)


class Many:
    """Searches whose leaves share batches."""

    def __init__(self, states, seed):
        self.states, self.begun = states, False

    def __call__(self):
        count = 20 if not self.begun else 10**6
        self.begun = True
        search_many(self.states, Limit(simulations=count, seconds=5), evaluator=network(), seed=1)

    def look(self, found):
        done = search_many(self.states[:2], Limit(simulations=8), evaluator=network(), seed=1)
        found["results"] += [result.simulations for result in done] == [8, 8]


def board(name):
    return lambda seed: Search(positions(name), seed)


WORK = {
    "bridge": board("mancala"),
    "rules": board("hex(board_size=5)"),
    "python": lambda seed: Search(
        [random_game(5, depth=14, width=8, whole=False)],
        seed,
        SearchConfig.preset("uct"),
        evaluator=RandomEvaluator(),
    ),
    "replayed_in_python": lambda seed: Search(positions("python_block_dominoes", plies=1), seed),
    "simultaneous": lambda seed: Search(
        positions("goofspiel(num_cards=4,imp_info=false,points_order=descending)"), seed, player=0
    ),
    "threads": lambda seed: Search(
        positions("mancala"), seed, SearchConfig.preset("rave").replace(threads=3)
    ),
    "leaves": lambda seed: Search(
        positions("connect_four"),
        seed,
        SearchConfig.preset("puct").replace(leaves=8),
        evaluator=network(),
    ),
    "many": lambda seed: Many(positions("connect_four"), seed),
}

if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
