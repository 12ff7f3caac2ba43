"""Monte Carlo Permutation Search: what it keeps of playouts, and what it refuses.

Its trees are compared with the textbook's in ``test_textbook.py``.
"""

import pytest
from helpers.games import joint_random_game, random_game
from helpers.streams import first_words
from helpers.textbook import Textbook

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.kernel.amaf.permutations import KEPT_PLAYOUTS
from rave_agents.parts import MCPS, Transpositions


def searched(state, simulations, **changes):
    config = SearchConfig.preset("mcps").replace(search_forced_moves=True, **changes)
    searcher = Searcher(config, seed=1)
    return searcher, searcher.search(state, Limit(simulations=simulations))


@pytest.mark.slow
def test_a_new_playout_replaces_the_oldest():
    state, playouts, simulations = random_game(3, depth=6, width=3), 60, 300
    changes = {"amaf": MCPS(refresh=0), "playout_count": playouts, "expand_visits": simulations}
    _, result = searched(state, simulations, **changes)
    config = SearchConfig.preset("mcps").replace(**changes)
    book = Textbook(config, state, *first_words(1))
    book.search(simulations)
    assert len(book.noted) > KEPT_PLAYOUTS
    # The root was counted before its last simulation.
    kept = book.noted[:-playouts][-KEPT_PLAYOUTS:]
    player = state.current_player()
    actions = [row.action for row in result.actions]
    visits = [sum((player, action) in moves for moves, _ in kept) for action in actions]
    assert result.action_reports["permutation_visits"] == tuple(visits)


def test_another_root_begins_without_playouts():
    searcher, result = searched(random_game(1, depth=6, width=4), 200)
    state = random_game(1, depth=6, width=4)
    state.apply_action(result.action)
    after = searcher.search(state, Limit(simulations=250))
    assert max(after.action_reports["permutation_visits"]) <= 250
    assert max(after.action_reports["permutation_visits"]) > 0


def test_it_needs_one_path_to_a_node_that_its_player_knows():
    with pytest.raises(ValueError, match="with transpositions a node has several"):
        SearchConfig.preset("mcps").replace(transpositions=Transpositions())
    with pytest.raises(ValueError, match="the player who moves does not know the path"):
        searched(joint_random_game(1), 10)
