"""Trees of information sets that are kept between moves, in OpenSpiel's games."""

import random

import pyspiel
import pytest
from helpers.spiel import after, drawn_action
from helpers.streams import first_words, playouts
from helpers.textbook_information_sets import InformationSetTextbook, dumped, next_decision
from helpers.trees import search_tree
from rave_openspiel import UCTBot
from rave_openspiel.states import OpenSpielState
from rave_openspiel.worlds import world_source

from rave_agents import Limit, SearchConfig, Searcher, make_agent
from rave_agents.parts import FullTrust, NodeAmaf

GAMES = ["kuhn_poker", "leduc_poker", "phantom_ttt", "kuhn_poker(players=3)"]
CONFIGS = [SearchConfig(expand_visits=2), SearchConfig(amaf=NodeAmaf(trust=FullTrust()))]
LIMIT = Limit(simulations=100)


def dealt(game, draw):
    """A position of a player, for the search and for the textbook, each with its own worlds."""
    state = pyspiel.load_game(game).new_initial_state()
    while state.is_chance_node():
        state.apply_action(drawn_action(state, draw))
    return [OpenSpielState(state.clone(), worlds_by_number()) for _ in range(2)]


def worlds_by_number():
    """A source of worlds that spends on each the same, whatever the simulations cost."""
    sources = {}

    def world(state, player, rng):
        key = tuple(state.history())
        if key not in sources:
            sources[key] = world_source(state, player, rng.random)
        return sources[key]()

    return world


def rounded(dump):
    return sorted(
        (player, visits, [(*edge[:2], round(edge[2], 6), edge[3]) for edge in edges])
        for player, visits, edges in dump
    )


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_kept_trees_equal_the_textbooks(game):
    kept = 0
    for seed in range(6):
        draw, config = random.Random(seed), CONFIGS[seed % 2]
        (state, same), moves, number = dealt(game, draw), None, 0
        searcher = Searcher(config, seed=seed)
        book = InformationSetTextbook(config, same, *first_words(seed))
        while True:
            result = searcher.search(state, LIMIT, moves=moves)
            book.search(LIMIT.simulations)
            if book.near_ties > 0 or result.worlds.drawn > LIMIT.simulations:
                break  # Rounding decides; or a simulation began again, after the tree had grown.
            assert rounded(dumped(search_tree(searcher))) == rounded(book.dump())
            kept += sum(row.visits for row in result.actions) > LIMIT.simulations
            found = next_decision(state, result.action, draw)
            if found is None:
                break
            (moves, state), number = found, number + 1
            for move in moves:
                same.apply_action(move)
            book.move_to(same, playouts(seed, number))
    assert kept > 0


def kept_visits(result):
    return sum(row.visits for row in result.actions) - result.simulations


def second_result(agent, unseen=4):
    """A bot's second result in phantom_ttt, after an unseen move of the opponent."""
    for moves in ((), (0, unseen)):
        agent.step(after("phantom_ttt", *moves))
    return agent.last_result


def bot(**config):
    return UCTBot(pyspiel.load_game("phantom_ttt"), simulations=60, seed=1, **config)


def test_bots_keep_the_tree_whatever_they_did_not_see():
    results = [second_result(bot(), unseen) for unseen in (4, 8)]
    assert kept_visits(results[0]) > 0
    assert [row.visits for row in results[0].actions] == [row.visits for row in results[1].actions]


def test_a_bot_may_drop_the_tree():
    assert kept_visits(second_result(bot(reuse_tree=False))) < 0


def test_an_informed_agent_keeps_the_tree():
    for informs in (True, False):
        agent, state = (
            make_agent("uct(simulations=60)", "phantom_ttt", 0, seed=1),
            after("phantom_ttt"),
        )
        agent.step(OpenSpielState(state))
        for player, action in enumerate((0, 4)):
            if informs:
                agent.inform_action(OpenSpielState(state), player, action)
            state.apply_action(action)
        agent.step(OpenSpielState(state))
        assert (kept_visits(agent.last_result) > 0) == informs


def test_another_players_tree_is_dropped():
    agent = bot()
    for moves in ((), (0,)):
        agent.step(after("phantom_ttt", *moves))
    assert kept_visits(agent.last_result) < 0


def test_a_tree_moves_on_when_somebody_looks_at_it():
    searcher = Searcher(seed=1)
    searcher.search(after("phantom_ttt"), LIMIT)
    searcher.follow([0, 4])
    assert searcher.tree.node_player[0] == 0
    assert 0 < searcher.tree.node_visits[0] < LIMIT.simulations
    searcher.advance(1)
    assert searcher.tree is None  # The opponent's turn: nobody knows what they have seen.
