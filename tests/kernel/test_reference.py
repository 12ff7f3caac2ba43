"""Whole trees of the kernel equal those of ``examples/reference_search.py``."""

import itertools
import random
import re

import pyspiel
import pytest
from helpers.pages import ROOT
from helpers.streams import first_words
from helpers.textbook import Xoshiro, reference
from helpers.trees import dump
from rave_openspiel.states import OpenSpielState

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.parts import UCB1, MinimumMSE, NodeAmaf, Proofs

SEEDS = 3

AGENTS = {
    "uct": (SearchConfig.preset("uct"), {}),
    "rave": (SearchConfig.preset("rave"), {"c": 0.0, "bias": MinimumMSE().bias}),
    "uct_and_solver": (SearchConfig(proofs=Proofs()), {"solver": True}),
    "rave_and_solver": (
        SearchConfig(rule=UCB1(c=0.3), amaf=NodeAmaf(MinimumMSE(bias=0.2)), proofs=Proofs()),
        {"c": 0.3, "bias": 0.2, "solver": True},
    ),
    "rave_that_explores": (
        SearchConfig(rule=UCB1(c=0.7), amaf=NodeAmaf(MinimumMSE(bias=0.05))),
        {"c": 0.7, "bias": 0.05},
    ),
}
"""The kernel's configurations, and the same for the reference."""
GAMES = {
    "tic_tac_toe": [7, 1, 3, 6],
    "connect_four(rows=4,columns=4,x_in_row=3)": [0, 1, 0],
    "hex(board_size=3)": [4, 0],
    "breakthrough(rows=4,columns=4)": [],
    "mancala": [],
    "othello": [],
    "pig(winscore=8)": [],
    "pig(players=3,winscore=8)": [],
}
"""With the moves before the search."""
CASES = [
    (agent, game)
    for agent, game in itertools.product(AGENTS, GAMES)
    # ``rave`` explores once it has seen chance; the solver is for two players.
    if not ("pig" in game and agent == "rave") and not ("players" in game and "solver" in agent)
]


class PlainState(OpenSpielState):
    """A state whose playouts follow the search's own random stream."""

    simulator = None


def tree_of_kernel(searcher):
    """The tree of a searcher, without priors."""
    return {
        path: (player, visits, [(action, *numbers) for action, _, *numbers in rows])
        for path, (player, visits, rows) in dump(searcher).items()
    }


def tree_of(node, path=(), into=None):
    """The same of a node of the reference and all below it."""
    into = {} if into is None else into
    rows = []
    for edge in node.edges:
        numbers = (edge.n, edge.total, edge.amaf_n, edge.amaf_total)
        rows.append((edge.action, *numbers, edge.child is not None))
        if edge.child is not None:
            tree_of(edge.child, (*path, edge.action), into)
    into[path] = (node.player, node.visits, rows)
    return into


def at(game):
    """The position that is searched."""
    state = PlainState(pyspiel.load_game(game).new_initial_state())
    for action in GAMES[game]:
        state.apply_action(action)
    return state


@pytest.mark.slow
@pytest.mark.full(but=[f"{agent}-tic_tac_toe" for agent in AGENTS])
@pytest.mark.parametrize(("agent", "game"), CASES)
def test_whole_trees_equal_the_references(agent, game):
    config, options = AGENTS[agent]
    for seed in range(SEEDS):
        searcher = Searcher(config, seed=seed)
        searcher.search(at(game), Limit(simulations=300))
        ties, playouts = map(Xoshiro, first_words(seed))
        plain = reference.ReferenceSearch(at(game), ties=ties, playouts=playouts, **options)
        assert tree_of_kernel(searcher) == tree_of(plain.search(300))


def test_the_reference_solves_positions():
    won = reference.ReferenceSearch(at("hex(board_size=3)"), solver=True, ties=random.Random(1))
    root = won.search(300)
    assert root.low == root.high == 1.0
    assert root.visits < 300


def test_the_reference_imports_nothing_of_this_package_but_its_states():
    text = (ROOT / "examples" / "reference_search.py").read_text(encoding="utf-8")
    imported = set(re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE))
    assert imported == {"math", "random", "pyspiel", "rave_openspiel"}
