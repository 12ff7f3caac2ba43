"""What becomes of actions: whether they stay legal until they are taken, and no longer."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pyspiel
import pytest
from rave_openspiel import OpenSpielState

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.compiler.dispatch import implements
from rave_agents.kernel.amaf.trust import trust_of
from rave_agents.kernel.declarations import reads_lifetimes
from rave_agents.kernel.measures.action_persistence import (
    FULL_PERSISTENCE,
    LEFT,
    NO_INDEPENDENCE,
    NO_PERSISTENCE,
    STILL_LEGAL,
    TURN_KEPT,
    NoLifetimes,
    count_lasting_actions,
    move_independence,
    persistence,
    placement,
)
from rave_agents.parts import NodeAmaf


def counted(*nodes, taken):
    """What is counted at the last of the nodes of a path: (player, legal actions) each."""
    actions = [action for _, legal in nodes for action in legal]
    sizes = [len(legal) for _, legal in nodes]
    first = np.cumsum([0, *sizes[:-1]])
    tree = SimpleNamespace(
        node_player=np.array([player for player, _ in nodes]),
        node_first_edge=first,
        node_edge_count=np.array(sizes),
        edge_action=np.array(actions),
    )
    edges = [first[place] + nodes[place][1].index(action) for place, action in enumerate(taken)]
    path = SimpleNamespace(nodes=np.arange(len(nodes)), edges=np.array(edges))
    left = np.zeros(3, np.int64)
    count_lasting_actions(left, SimpleNamespace(tree=tree, path=path), len(nodes) - 1, 1)
    return left[LEFT], left[STILL_LEGAL]


def test_what_was_not_taken_is_looked_for_at_the_players_next_turn():
    assert counted((0, [1, 2, 3]), (1, [7]), (0, [2, 3]), taken=[1, 7]) == (2, 2)
    assert counted((0, [1, 2, 3]), (1, [7]), (0, [3, 4]), taken=[1, 7]) == (2, 1)
    assert counted((0, [1, 2, 3]), (1, [7]), (0, [1, 4]), taken=[1, 7]) == (2, 0)


def test_what_the_opponent_took_is_not_looked_for():
    assert counted((0, [1, 2, 3]), (1, [2, 3]), (0, [3]), taken=[1, 2]) == (1, 1)
    assert counted((0, [1, 2, 3]), (-1, [2, 3]), (0, [3]), taken=[1, 2]) == (2, 1)  # Chance drew.


def test_a_turn_before_chance_counts_and_outcomes_do_not():
    assert counted((0, [1, 2]), (-1, [0, 1]), (0, [2, 3]), taken=[1, 0]) == (1, 1)
    assert counted((0, [1, 2]), (1, [3]), (-1, [1, 2]), taken=[1, 3]) == (0, 0)


def test_one_turn_of_several_actions_is_compared_with_the_turn_before():
    """Whoever chooses a piece and then its goal chooses among other actions the second time."""
    assert counted((0, [1, 2]), (0, [8, 9]), taken=[1]) == (0, 0)
    turns = [(0, [1, 2, 3]), (0, [8, 9]), (1, [1]), (0, [2, 3])]
    assert counted(*turns, taken=[1, 8, 1]) == (2, 2)
    assert counted(*turns, (0, [8, 7]), taken=[1, 9, 1, 2]) == (1, 1)


def test_of_many_actions_a_few_are_compared():
    legal = list(range(80))
    left, still = counted((0, legal), (1, [0]), (0, legal[40:]), taken=[0, 0])
    assert (left, still) == (7, 4)  # Every tenth, but for the one that was taken.


def seen(share):
    """The sums of actions that were left, of which such a share was still legal."""
    left = np.zeros(3, np.int64)
    left[[LEFT, STILL_LEGAL]] = 1000, round(1000 * share)
    return left


def test_trust_ends_where_about_half_of_the_actions_pass():
    middle = (NO_PERSISTENCE + FULL_PERSISTENCE) / 2
    shares = [
        persistence(seen(share)) for share in (0.0, NO_PERSISTENCE, middle, FULL_PERSISTENCE, 1.0)
    ]
    assert shares == pytest.approx([0.0, 0.0, 0.5, 1.0, 1.0])


def test_moves_leave_the_other_actions_alone_where_nearly_all_last():
    shares = [
        move_independence(seen(share))
        for share in (0.0, NO_INDEPENDENCE, (NO_INDEPENDENCE + 1.0) / 2, 1.0)
    ]
    assert shares == pytest.approx([0.0, 0.0, 0.5, 1.0])


def test_moves_do_more_where_a_player_moves_again():
    left = seen(1.0)
    assert move_independence(left) == 1.0
    left[TURN_KEPT] = 1
    assert move_independence(left) == 0.0


def test_nothing_known_is_no_reason_for_distrust():
    nothing = np.zeros(3, np.int64)
    assert persistence(nothing) == 1.0
    assert move_independence(nothing) == 0.0


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("hex(board_size=5)", 1.0),
        ("tic_tac_toe", 1.0),
        ("connect_four", 0.0),  # Columns last, but are legal again.
        ("breakthrough(rows=6,columns=6)", 0.0),
        ("othello", 0.0),
        ("mancala", 0.0),
        ("dots_and_boxes", 0.0),  # Who completes a box moves again.
    ],
)
def test_the_search_sees_by_itself_where_moves_only_take_an_action_away(text, share):
    searcher = Searcher(SearchConfig.preset("auto").replace(known=False), seed=1)
    searcher.search(pyspiel.load_game(text).new_initial_state(), Limit(simulations=200))
    assert placement(searcher.rooted_tree().running.lifetimes) == pytest.approx(share, abs=0.05)


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("checkers", 0.0, 0.3),
        ("einstein_wurfelt_nicht", 0.0, 0.1),
        ("othello", 0.7, 1.0),
        ("clobber", 0.4, 1.0),
        ("lines_of_action", 0.4, 1.0),
        ("breakthrough", 0.7, 1.0),
    ],
)
def test_the_search_sees_by_itself_which_actions_last(text, least, most):
    state = pyspiel.load_game(text).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    result = Searcher(SearchConfig.preset("auto").replace(known=False), seed=1).search(
        OpenSpielState(state), Limit(simulations=1000)
    )
    assert least <= result.amaf_trust <= most


class HalfTrust(NamedTuple):
    """A part of one's own that trusts AMAF half as far as actions mean the same, once it begins."""


@implements(reads_lifetimes, HalfTrust)
def _reads_lifetimes(trust):
    return True


@implements(trust_of, HalfTrust)
def _half_trust(trust, search):
    return 0.5 * search.lifetimes.trust[0] if search.tree.node_visits[0] > 1 else 0.0


def lifetimes_of(amaf):
    """What a search of tic-tac-toe has counted, and how far it trusts AMAF."""
    searcher = Searcher(SearchConfig(amaf=amaf), seed=1)
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    result = searcher.search(state, Limit(simulations=100))
    return searcher.rooted_tree().running.lifetimes, result.amaf_trust


def test_they_are_counted_for_any_part_that_reads_them():
    lifetimes, trust = lifetimes_of(NodeAmaf(trust=HalfTrust()))
    assert lifetimes.trust[0] > 0.5
    assert trust == pytest.approx(lifetimes.trust[0] / 2)


def test_they_are_not_counted_where_no_part_reads_them():
    lifetimes, trust = lifetimes_of(NodeAmaf())
    assert isinstance(lifetimes, NoLifetimes)
    assert trust is None
