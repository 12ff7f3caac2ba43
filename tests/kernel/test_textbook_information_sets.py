"""Whole trees of random games with hidden information against the textbook's."""

import random

import pytest
from helpers.cases import random_case
from helpers.interpreter import interpreted_but_for
from helpers.streams import first_words
from helpers.textbook_information_sets import Dealt, DealtRules, InformationSetTextbook
from helpers.trees import search_tree

from rave_agents import Limit, Searcher
from rave_agents.compiler.arrays import NODE
from rave_agents.kernel.tree import edge_rows
from rave_agents.parts import NoAmaf, NoWinningMoves

CASES_PER_TEST = 25
BLOCKS = 8


def hidden_case(seed):
    """A game, a configuration and simulations."""
    _, config, _, simulations = random_case(seed)
    draw = random.Random(f"hidden {seed}")
    rules = DealtRules(
        seed,
        num_players=draw.randint(1, 3),
        width=draw.randint(2, 4),
        depth=draw.randint(2, 7),
        chance=draw.choice([0.0, 0.2]),
        low=-1.0,
        high=6.0,
        whole=False,
    )
    if not isinstance(config.amaf, NoAmaf):
        config = config.replace(winning=NoWinningMoves())
    deal = draw.randrange(Dealt.deals)
    return Dealt(rules, deal=deal, complete=draw.random() < 0.5), config, simulations


def dumped(tree):
    """See ``InformationSetTextbook.dump``."""
    arrays, moves = tree.arrays, tree.running.moves

    def edges(node):
        return [
            (
                int(arrays.edge_action[edge]),
                int(arrays.edge_visits[edge]),
                float(arrays.edge_value_sum[edge]),
                int(moves.edge_available[edge]),
            )
            for edge in edge_rows(arrays, node)
        ]

    return [
        (int(arrays.node_player[node]), int(arrays.node_visits[node]), edges(node))
        for node in range(int(arrays.used[NODE]))
    ]


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
