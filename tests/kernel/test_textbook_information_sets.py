"""Whole trees of random games with hidden information against the textbook's."""

import random

import numpy as np
import pytest
from helpers.cases import random_case
from helpers.interpreter import interpreted_but_for
from helpers.streams import first_words, playouts
from helpers.textbook_information_sets import (
    Dealt,
    DealtRules,
    InformationSetTextbook,
    dumped,
    next_decision,
)
from helpers.trees import search_tree

from rave_agents import Limit, Searcher
from rave_agents.compiler.arrays import CHILD
from rave_agents.kernel.tree import ROOT, UNEXPANDED
from rave_agents.parts import NoAmaf, NoWinningMoves

CASES_PER_TEST = 25
BLOCKS = 8


def hidden_case(seed, depth=None):
    """A game, a configuration and simulations."""
    _, config, _, simulations = random_case(seed)
    draw = random.Random(f"hidden {seed}")
    rules = DealtRules(
        seed,
        num_players=draw.randint(1, 3),
        width=draw.randint(2, 4),
        depth=depth or draw.randint(2, 7),
        chance=draw.choice([0.0, 0.2]),
        low=-1.0,
        high=6.0,
        whole=False,
    )
    if not isinstance(config.amaf, NoAmaf):
        config = config.replace(winning=NoWinningMoves())
    deal = draw.randrange(Dealt.deals)
    return Dealt(rules, deal=deal, complete=draw.random() < 0.5), config, simulations


def dumped_by_key(tree):
    """The nodes with decisions by player and hash of the view, the root, and the number of ends."""
    entries, children = int(tree.arrays.used[CHILD]), tree.moves.children
    player, key, child = (
        children.edge[:entries],
        children.beside[:entries],
        children.child[:entries],
    )
    nodes = dumped(tree)
    named = {
        (int(player[row]), int(key[row])): nodes[child[row]]
        for row in np.flatnonzero((player >= 0) & (child != UNEXPANDED) & (child != ROOT))
    }
    return named, nodes[0], len(nodes) - len(named) - 1


def check_kept(tree, book):
    """The tree has the textbook's nodes, whose root is the searched position."""
    named, root, ends = dumped_by_key(tree)
    expected = dict(zip(book.nodes, book.dump(), strict=True))
    here = (book.state.current_player(), book.state.view(book.searcher), None)
    keys = [key for key in expected if key[0] >= 0 and key != here]
    assert sorted(named) == sorted((key[0], hash(key[1])) for key in keys)
    assert ends == len(expected) - len(keys) - 1
    for key in [*keys, here]:
        check_node(root if key == here else named[key[0], hash(key[1])], expected[key])


def check_node(own, other):
    assert own[:2] == other[:2]
    assert [edge[0] for edge in own[2]] == [edge[0] for edge in other[2]]
    for edge, expected in zip(own[2], other[2], strict=True):
        assert edge == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("block", range(BLOCKS))
def test_kept_trees_equal_the_textbooks(block):
    kept = 0
    for seed in range(block * CASES_PER_TEST, (block + 1) * CASES_PER_TEST):
        state, config, _ = hidden_case(seed, depth=7)
        state.complete, draw = True, random.Random(seed)
        if state.is_terminal():
            continue
        searcher = Searcher(config.replace(search_forced_moves=True), seed=seed)
        book = InformationSetTextbook(config, state, *first_words(seed))
        moves, number, limit = None, 0, Limit(simulations=100)
        while number < 4:
            result = searcher.search(state, limit, moves=moves)
            book.search(limit.simulations)
            if book.near_ties > 0 or result.worlds.drawn > limit.simulations:
                break  # See below.
            check_kept(search_tree(searcher), book)
            kept += sum(row.visits for row in result.actions) > limit.simulations
            found = next_decision(state, result.action, draw)
            if found is None:
                break
            moves, state = found
            number += 1
            book.move_to(state, playouts(seed, number))
    assert kept >= 5


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("block", range(BLOCKS))
def test_whole_trees_equal_the_textbooks(block):
    compared = 0
    for seed in range(block * CASES_PER_TEST, (block + 1) * CASES_PER_TEST):
        state, config, simulations = hidden_case(seed)
        if state.is_terminal():
            continue
        searcher = Searcher(config.replace(search_forced_moves=True), seed=seed)
        with interpreted_but_for(seed, every=CASES_PER_TEST):
            result = searcher.search(state, Limit(simulations=simulations))
        if result.worlds.drawn > simulations:
            continue  # A simulation began again in another world, after the tree had grown.
        book = InformationSetTextbook(config, state, *first_words(seed))
        book.search(simulations)
        if book.near_ties > 0:
            continue  # Rounding decides, and the two sum up in another order.
        compared += 1
        given, expected = dumped(search_tree(searcher)), book.dump()
        assert len(given) == len(expected), seed
        for own, (player, visits, edges) in zip(given, expected, strict=True):
            assert own[:2] == (player, visits), seed
            assert [edge[0] for edge in own[2]] == [edge[0] for edge in edges], seed
            for edge, other in zip(own[2], edges, strict=True):
                assert edge == pytest.approx(other, rel=1e-9, abs=1e-9), seed
    assert compared > 0.5 * CASES_PER_TEST
