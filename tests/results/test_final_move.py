"""What is proven of small games written out by hand, and what the search and its move make of it.

Player 0 moves first; he wins with 1, draws with 0.5 and loses with 0.
"""

import math
import time

import pytest
from helpers.games import written_game

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.kernel.amaf.report import AmafStatistics
from rave_agents.kernel.proofs.report import EdgeProof
from rave_agents.kernel.tree import ROOT
from rave_agents.parts import (
    UCB1,
    AllPlayers,
    CheckRefutations,
    CheckTerminal,
    MaxChild,
    NoSolver,
    ProofNumbers,
    Proofs,
    RobustChild,
    SearchingPlayer,
    SecureChild,
    SkipSolved,
    Solver,
    VisitShares,
)
from rave_agents.results.final_move import root_statistics
from rave_agents.results.root import Root, RootMove, merged_root, with_proof
from rave_agents.tree.root_position import MoveProof, RootProof

WIN, DRAW, LOSS = [1.0, 0.0], [0.5, 0.5], [0.0, 1.0]
HALF = [(0, 0.5), (1, 0.5)]
"""A chance node with two equal outcomes."""

SOLVED = Proofs(Solver())
COUNTED = Proofs(NoSolver(), ProofNumbers(AllPlayers(), constant=0.0))
SEARCHERS = Proofs(NoSolver(), ProofNumbers(SearchingPlayer(), constant=0.0))
"""What is proven, by the solver or by numbers alone, to which no choice in the tree turns."""


def searched(nodes, simulations, seed=1, *, low=0.0, high=1.0, **changes):
    """The result, and the numbers of the root for both players: (proof, disproof)."""
    config = SearchConfig(expand_visits=1).replace(**changes)
    searcher = Searcher(config, seed=seed)
    game = written_game(nodes, low=low, high=high)
    result = searcher.search(game, Limit(simulations=simulations))
    proofs = searcher.rooted_tree().proofs
    if len(proofs.proof) == 0:
        return result, None
    return result, list(
        zip(proofs.proof[ROOT].tolist(), proofs.disproof[ROOT].tolist(), strict=True)
    )


def rows(result):
    return {row.action: row for row in result.actions}


def numbers(row):
    return row.proof_number, row.disproof_number


def line(start, moves, end):
    """A part of a game without choices: these players move, one after the other."""
    nodes = {}
    history = start
    for player in moves:
        nodes[history] = (player, [0])
        history = (*history, 0)
    return {**nodes, history: end}


# Proof numbers.


def test_who_proves_needs_one_of_his_moves_and_all_of_the_others():
    nodes = {(): (0, [0, 1]), (0,): (1, [0, 1]), (1,): (1, [0, 1, 2])}
    for history in [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]:
        nodes |= line(history, [0, 1], WIN)
    result, root = searched(nodes, 3, proofs=COUNTED)
    assert numbers(rows(result)[0]) == (2.0, 1.0)
    assert numbers(rows(result)[1]) == (3.0, 1.0)
    assert root == [(2.0, 2.0), (2.0, 2.0)]


def test_numbers_of_three_levels():
    """Player 0 has one move at once, two in (1,); player 1 one answer in (0,) and (1, 1)."""
    nodes = {(): (0, [0, 1]), (0,): (1, [0]), (1,): (0, [0, 1]), (1, 0): (1, [0, 1, 2])}
    for history in [(0, 0), (1, 0, 0), (1, 0, 1), (1, 0, 2)]:
        nodes |= line(history, [0, 1], WIN)
    nodes |= line((1, 1), [1, 0, 1], WIN)
    config = SearchConfig(rule=UCB1(5.0), proofs=COUNTED, expand_visits=1)
    searcher = Searcher(config, seed=1)
    result = searcher.search(written_game(nodes), Limit(simulations=5))
    tree, proofs = searcher.tree, searcher.rooted_tree().proofs
    below = [int(tree.edge_child[edge]) for edge in range(2)]
    pairs = [(proofs.proof[node].tolist(), proofs.disproof[node].tolist()) for node in below]
    assert pairs == [([1.0, 1.0], [1.0, 1.0]), ([1.0, 2.0], [2.0, 1.0])]
    assert [numbers(row) for row in result.actions] == [(1.0, 1.0), (1.0, 2.0)]


@pytest.mark.parametrize("end", [WIN, DRAW, LOSS])
def test_the_games_end_is_a_win_or_not(end):
    nodes = {(): (0, [0, 1]), (0,): end, **line((1,), [0, 1, 0], WIN)}
    result, _ = searched(nodes, 1, proofs=COUNTED, checks=CheckTerminal())
    assert numbers(rows(result)[0]) == ((0.0, math.inf) if end == WIN else (math.inf, 0.0))


def test_a_draw_is_won_by_nobody():
    nodes = {(): (0, [0, 1]), (0,): DRAW, (1,): DRAW}
    _, root = searched(nodes, 1, proofs=COUNTED, checks=CheckTerminal())
    assert root == [(math.inf, 0.0), (math.inf, 0.0)]


def test_of_a_leaf_nothing_is_known():
    nodes = {(): (0, [0, 1]), **line((0,), [1, 0], WIN), **line((1,), [1, 0], LOSS)}
    result, root = searched(nodes, 1, proofs=SEARCHERS)
    assert {numbers(row) for row in result.actions} == {(1.0, 1.0)}
    assert root == [(1.0, 2.0), (2.0, 1.0)]


def test_numbers_without_end_add_up_to_one_without_end():
    """Player 1 has two answers that win, a third is unknown: no sum is undefined."""
    nodes = {(): (0, [0, 1]), (0,): (1, [0, 1, 2]), (0, 0): LOSS, (0, 1): LOSS, (1,): LOSS}
    nodes |= line((0, 2), [0, 1], WIN)
    result, root = searched(nodes, 4, proofs=COUNTED, checks=CheckTerminal())
    assert numbers(rows(result)[0]) == (math.inf, 0.0)
    assert root == [(math.inf, 0.0), (0.0, math.inf)]


def test_chance_must_be_beaten_too():
    nodes = {(): (0, [0, 1]), (0,): HALF, (0, 0): WIN, **line((1,), [1, 0], LOSS)}
    nodes |= line((0, 1), [1, 0], WIN)
    result, root = searched(nodes, 3, proofs=COUNTED, checks=CheckTerminal())
    assert numbers(rows(result)[0]) == (1.0, 1.0)
    assert root[0] == (1.0, 2.0)


# What is played.


def near_and_far(near, far):
    """Move 0 ends the game in three moves, 1 at once; a better end, with 2, is never found."""
    return {(): (0, [0, 1, 2]), **line((0,), [1, 0], far), (1,): near, (2,): [0.0, 2.0]}


def test_the_shortest_known_win_is_played():
    result, _ = searched(near_and_far(WIN, WIN), 200, high=2.0, proofs=SOLVED)
    assert {row.action: row.distance for row in result.actions} == {0: 3, 1: 1, 2: 1}
    assert (result.action, result.proven, result.outcome) == (1, "win", (1.0, 0.0))


def test_of_losses_the_longest_is_played():
    nodes = near_and_far(LOSS, LOSS)
    result, _ = searched(nodes, 200, high=2.0, proofs=SOLVED)
    assert (result.action, result.proven, result.outcome) == (0, "loss", (0.0, 1.0))
    assert rows(result)[0].distance == 3


@pytest.mark.parametrize("ends", [([0, 1, -1], [0, 0, 0]), ([0, 0, 0], [0, 1, -1])])
def test_of_equal_utilities_one_that_nobody_exceeds_is_played(ends):
    nodes = {(): (0, [0, 1]), (0,): ends[0], (1,): ends[1]}
    state = written_game(nodes, num_players=3, low=-1.0)
    searcher = Searcher(SearchConfig(expand_visits=1, proofs=SOLVED), seed=1)
    result = searcher.search(state, Limit(simulations=50))
    assert result.outcome == (0.0, 0.0, 0.0)
    assert ends[result.action] == [0, 0, 0]


@pytest.mark.parametrize("known", [SOLVED, SEARCHERS])
@pytest.mark.parametrize("final_move", [RobustChild(), MaxChild(), SecureChild()])
def test_a_proven_win_is_played_however_it_was_visited(final_move, known):
    """The win is seen at once; without heed to it, all moves are alike and the first is as good."""
    nodes = {(): (0, range(6)), (5,): WIN}
    for action in range(5):
        nodes |= line((action,), [1, 0], WIN)
    for seed in range(5):
        changes = {"proofs": known, "checks": CheckTerminal(), "final_move": final_move}
        result, _ = searched(nodes, 1, seed, **changes)
        assert result.action == 5
        assert rows(result)[5].visits == 0


def a_trap():
    """Move 0 looks good, until the last of ten answers is found; move 1 is won one time in ten.

    It has too many outcomes to be solved.
    """
    outcomes = [(number, 0.001) for number in range(1000)]
    nodes = {(): (0, [0, 1]), (0,): (1, range(10)), (1,): outcomes, (0, 9): LOSS}
    nodes |= {(1, number): WIN if number % 10 == 0 else LOSS for number in range(1000)}
    for answer in range(9):
        nodes |= line((0, answer), [0, 1], WIN)
    return nodes


KNOWN = [SOLVED, COUNTED]


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("known", KNOWN)
def test_a_proven_loss_is_not_played_even_if_it_has_most_visits(known):
    sprung = 0
    for seed in range(4):
        for simulations in range(6, 16):
            result, _ = searched(a_trap(), simulations, seed, proofs=known)
            moves = rows(result)
            lost = moves[0].outcome == 0.0 or moves[0].disproof_number == 0.0
            if lost and moves[0].visits > moves[1].visits:
                sprung += 1
                assert result.action == 1
                careless, _ = searched(
                    a_trap(), simulations, seed, final_proven=False, proofs=known
                )
                assert careless.action == 0
    assert sprung > 2


def test_of_wins_of_one_utility_the_shortest_known_is_played_though_more_may_be_won():
    """Move 0 wins 1 in three moves, 1 at once; nothing is known of move 2, and 2 can be won."""
    nodes = {(): (0, [0, 1, 2]), **line((0,), [1, 0], [1.0, -1.0]), (1,): [1.0, -1.0]}
    nodes |= line((2,), [1, 0] * 30, [-2.0, 2.0])
    for seed in range(5):
        result, _ = searched(
            nodes, 30, seed, low=-2.0, high=2.0, checks=CheckTerminal(), proofs=SOLVED
        )
        assert result.action == 1


@pytest.mark.parametrize(("win", "played"), [(0.2, 1), (0.8, 0)])
@pytest.mark.parametrize("known", KNOWN)
def test_a_small_proven_win_is_played_only_where_more_is_not_expected(known, win, played):
    """Move 1 brings 0.56 in the mean, at the end of a way too long to be searched."""
    nodes = {(): (0, [0, 1]), (0,): [win, -win], **line((1,), [1, 0] * 30, [(0, 0.6), (1, 0.4)])}
    end = (1,) + (0,) * 60
    nodes |= {(*end, 0): [1.0, -1.0], (*end, 1): [-0.1, 0.1]}
    result, _ = searched(nodes, 60, low=-1.0, rule=UCB1(0.3), checks=CheckTerminal(), proofs=known)
    assert result.action == played


@pytest.mark.slow
@pytest.mark.full(but=["uct_solver"])
@pytest.mark.parametrize("preset", ["uct_solver", "pn_mcts", "rave_pn"])
def test_a_sure_second_place_is_played_where_third_is_likely(preset):
    """Move 0 leaves player 1 first and this one second; move 1 brings 1 with 0.05, else -1."""
    nodes = {(): (0, [0, 1]), (0,): [0.1, 1.0, -1.0]}
    nodes |= line((1,), [1, 2, 0] * 20, [(0, 0.05), (1, 0.95)])
    end = (1,) + (0,) * 60
    nodes |= {(*end, 0): [1.0, 0.0, -1.0], (*end, 1): [-1.0, 1.0, 0.0]}
    config = SearchConfig.preset(preset)
    for seed in range(2):
        game = written_game(nodes, low=-1.0, num_players=3)
        assert Searcher(config, seed=seed).search(game, Limit(simulations=200)).action == 0


@pytest.mark.parametrize(("end", "played"), [(-1.0, 0), (-0.1, 1)])
@pytest.mark.parametrize("known", KNOWN)
def test_a_small_proven_loss_is_played_before_a_greater_one(known, end, played):
    nodes = {(): (0, [0, 1]), (0,): [-0.2, 0.2], **line((1,), [1, 0] * 30, [end, -end])}
    result, _ = searched(nodes, 30, low=-1.0, checks=CheckTerminal(), proofs=known)
    assert result.action == played


def test_a_sure_gain_is_played_though_the_other_one_gains_more():
    nodes = {(): (0, [0, 1]), (0,): [0.9, 1.0], **line((1,), [1, 0] * 30, HALF)}
    end = (1,) + (0,) * 60
    nodes |= {(*end, 0): [0.1, 0.0], (*end, 1): [0.0, 0.0]}
    result, _ = searched(nodes, 200, proofs=SOLVED, checks=CheckTerminal())
    assert result.action == 0


def test_of_losses_that_different_trees_have_proven_the_longest_is_played():
    def proven(action, distance):
        found = EdgeProof(-1.0, -1.0, distance, lost=True) if distance else EdgeProof(-1.0, 1.0)
        return RootMove(action, 10 - distance, 0.0, 0.5, AmafStatistics(), found)

    roots = [
        Root(tuple(proven(*known) for known in enumerate(distances)), 100, -1.0, 1.0)
        for distances in [(9, 0), (0, 4)]
    ]
    played = root_statistics(merged_root(roots), SearchConfig(proofs=SOLVED))
    assert [row.probability for row in played] == [1.0, 0.0]
    assert played[0].distance == 9


def test_a_lost_position_still_has_a_move():
    nodes = {(): (0, [0, 1]), (0,): LOSS, (1,): LOSS}
    result, root = searched(nodes, 50, proofs=COUNTED, checks=CheckTerminal())
    assert result.action in (0, 1)
    assert root[0] == (math.inf, 0.0)


def a_draw_or_a_risk(share):
    """Move 0 draws; move 1 wins with that probability, after a way too long to be searched."""
    outcomes = [(0, share), (1, 1.0 - share)]
    nodes = {(): (0, [0, 1]), (0,): DRAW, **line((1,), [1, 0] * 60, outcomes)}
    end = (1,) + (0,) * 120
    return {**nodes, (*end, 0): WIN, (*end, 1): LOSS}


def drawish(share, **changes):
    settings = {"skipping": SkipSolved(0), "checks": CheckTerminal()}
    result, _ = searched(a_draw_or_a_risk(share), 100, **settings, **changes)
    assert rows(result)[0].visits < rows(result)[1].visits
    return result.action


@pytest.mark.slow
@pytest.mark.parametrize("known", KNOWN)
def test_a_sure_draw_is_played_where_the_risk_is_not_worth_it(known):
    assert drawish(0.3, proofs=known) == 0
    assert drawish(0.7, proofs=known) == 1


@pytest.mark.slow
@pytest.mark.parametrize("known", KNOWN)
def test_contempt_says_how_much_a_risk_must_be_worth(known):
    assert drawish(0.3, contempt=0.0, proofs=known) == 1
    assert drawish(0.7, contempt=0.9, proofs=known) == 0


@pytest.mark.parametrize("known", KNOWN)
def test_what_is_proven_can_be_ignored(known):
    assert drawish(0.3, final_proven=False, proofs=known) == 1


@pytest.mark.parametrize("known", KNOWN)
def test_a_search_that_ignores_what_is_proven_goes_on_until_visits_tell(known):
    nodes = {(): (0, range(6)), (5,): WIN}
    for action in range(5):
        nodes |= line((action,), [1, 0], LOSS)
    ended, _ = searched(nodes, 200, checks=CheckTerminal(), proofs=known)
    careless, _ = searched(nodes, 200, checks=CheckTerminal(), final_proven=False, proofs=known)
    assert ended.simulations < 10
    assert careless.simulations == 200
    assert careless.action == 5


# How the search goes on.


@pytest.mark.slow
@pytest.mark.full(but=2)
@pytest.mark.parametrize("visits", [0, 5, 20])
@pytest.mark.parametrize("known", KNOWN)
def test_a_solved_move_is_passed_over_after_so_many_visits(known, visits):
    result, _ = searched(a_draw_or_a_risk(0.4), 100, proofs=known, skipping=SkipSolved(visits))
    assert rows(result)[0].visits == visits + 1
    again, _ = searched(a_draw_or_a_risk(0.4), 100, proofs=known)
    assert rows(again)[0].visits > 21


@pytest.mark.slow
def test_solved_moves_are_not_passed_over_where_no_win_is_left():
    """Move 0 draws. To 1, answer 0 wins in the end, and all others lose."""
    nodes = {(): (0, [0, 1]), (0,): (1, [0, 1]), (1,): (1, range(4))}
    nodes |= {(0, 0): DRAW, (0, 1): DRAW, (1, 0): (0, [0]), (1, 0, 0): (1, [0, 1])}
    nodes |= {(1, 0, 0, 0): DRAW, **line((1, 0, 0, 1), [0, 1] * 300, LOSS)}
    for answer in (1, 2, 3):
        nodes |= line((1, answer), [0, 1] * 300, WIN)
    config = SearchConfig.preset("pn_mcts_fsu")
    result = Searcher(config, seed=0).search(written_game(nodes), Limit(simulations=500))
    assert result.disproof_number == 0.0
    assert result.action == 0


def test_a_move_that_cannot_be_best_is_cut():
    """Move 2 draws or loses, so it is worse than move 0, which draws."""
    nodes = {**a_draw_or_a_risk(0.4), (): (0, [0, 1, 2]), (2,): HALF, (2, 0): DRAW, (2, 1): LOSS}
    cut, _ = searched(nodes, 100, proofs=SOLVED, checks=CheckTerminal())
    assert rows(cut)[2].visits == 1
    assert rows(cut)[2].outcome == 0.25
    kept, _ = searched(nodes, 100)
    assert rows(kept)[2].visits > 10


def test_a_move_that_cannot_be_best_is_not_played():
    """Move 0 draws, 1 draws or loses: without heed, after two simulations they are alike."""
    nodes = {(): (0, [0, 1]), (0,): DRAW, (1,): HALF, (1, 0): DRAW, (1, 1): LOSS}
    for seed in range(8):
        result, _ = searched(nodes, 2, seed, proofs=SOLVED, checks=CheckTerminal())
        assert result.action == 0
        assert result.outcome == (0.5, 0.5) or rows(result)[1].visits == 0


def test_a_solved_position_counts_as_its_outcome():
    """After move 0 player 1 draws by one answer of six, which no random game would tell."""
    nodes = {**a_draw_or_a_risk(0.3), (0,): (1, range(6)), (0, 5): DRAW}
    nodes |= {(0, answer): WIN for answer in range(5)}
    result, _ = searched(nodes, 30, proofs=SOLVED, checks=CheckTerminal())
    assert rows(result)[0].outcome == rows(result)[0].value == 0.5
    assert rows(result)[0].visits > 3
    estimated, _ = searched(nodes, 30)
    assert rows(estimated)[0].value > 0.6


def a_threat():
    """Player 1 threatens to win with answer 0: only move 5 prevents it, and 4 makes it illegal."""
    nodes = {(): (0, range(6))}
    for action in range(6):
        nodes |= {(action,): (1, [1] if action == 4 else [0, 1]), (action, 0): LOSS}
        nodes |= line((action, 1), [0, 1] * 30, DRAW)
    return nodes | line((5, 0), [0, 1] * 30, DRAW)


def test_a_refutation_is_tried_against_all_other_moves_at_once():
    for seed in range(8):
        result, _ = searched(a_threat(), 4, seed, proofs=SOLVED, checks=CheckRefutations())
        moves = rows(result)
        assert [moves[action].outcome for action in range(6)] == [0.0] * 4 + [None] * 2
        assert [moves[action].distance for action in range(4)] == [2] * 4
        careless, _ = searched(a_threat(), 4, seed, proofs=SOLVED, checks=CheckTerminal())
        assert sum(row.outcome is not None for row in careless.actions) <= 3


def test_a_reply_that_shares_the_win_refutes_nothing():
    """Answer 0 lets players 1 and 2 share the most; answer 1 wins for player 1 alone."""
    nodes = {(): (0, [0, 1, 2]), **line((2,), [1, 0] * 20, [0.5, 0.5, 0.5])}
    for action in (0, 1):
        nodes |= {(action,): (1, [0, 1]), (action, 0): [0.0, 1.0, 1.0]}
        nodes |= line((action, 1), [0, 1, 0], [0.0, 1.0, 0.0])
    config = SearchConfig.preset("pn_mcts").replace(expand_visits=1)
    for seed in range(4):
        searcher = Searcher(config, seed=seed)
        searcher.search(written_game(nodes, num_players=3), Limit(simulations=40))
        proofs = searcher.rooted_tree().proofs
        children = [int(child) for child in searcher.tree.edge_child[:2]]
        assert all(proofs.proof[child, 1] < math.inf for child in children if child >= 0)


def test_a_refuted_position_that_is_reached_all_the_same_is_searched_in_full():
    config = SearchConfig.preset("pn_mcts").replace(checks=CheckRefutations())
    searcher = Searcher(config, seed=1)
    root = written_game(a_threat())
    result = searcher.search(root, Limit(simulations=20))
    assert all(rows(result)[action].outcome == 0.0 for action in range(4))
    for action in range(4):
        root = written_game(a_threat())
        searcher.search(root, Limit(simulations=20))
        searcher.advance(action)
        root.apply_action(action)
        answer = searcher.search(root, Limit(simulations=20))
        assert [row.action for row in answer.actions] == [0, 1]
        assert (answer.action, answer.outcome) == (0, (0.0, 1.0))
        searcher.reset()


def test_the_principal_variation_is_the_proven_line():
    """Of two ways to lose, player 1 takes the longer one; every win of player 0 is as short."""
    nodes = {(): (0, [0, 1]), (0,): (1, [0, 1]), (0, 0): WIN, (1,): LOSS}
    nodes |= {(0, 1): (0, [0, 1]), **line((0, 1, 0), [1, 0], WIN), (0, 1, 1): WIN}
    for seed in range(5):
        result, _ = searched(nodes, 500, seed, proofs=SOLVED, checks=CheckTerminal())
        assert result.principal_variation == (0, 1, 1)
        assert rows(result)[0].distance == 3


@pytest.mark.parametrize("outcome", [WIN, DRAW, LOSS])
def test_the_search_ends_when_the_root_is_solved(outcome):
    nodes = {(): (0, [0, 1]), **line((0,), [1, 0], outcome), **line((1,), [1, 0, 1], LOSS)}
    result, _ = searched(nodes, 100_000, proofs=SOLVED)
    assert result.simulations < 100
    assert result.outcome == tuple(outcome)
    assert rows(result)[result.action].outcome == outcome[0]
    again, _ = searched(nodes, 1000)
    assert again.simulations == 1000


def test_the_search_ends_when_the_searching_players_win_is_proven():
    nodes = {(): (0, [0, 1]), **line((0,), [1, 0], WIN), **line((1,), [1, 0, 1], LOSS)}
    result, root = searched(nodes, 100_000, proofs=SEARCHERS)
    assert result.simulations < 100
    assert root[0] == (0.0, math.inf)
    assert (result.action, result.proven) == (0, "win")


def test_a_win_that_numbers_alone_have_proven_has_its_line():
    """After each of player 1's answers one of two moves wins; the other one is longer."""
    nodes = {(): (0, [0, 1]), (0,): (1, [0, 1]), **line((1,), [1, 0] * 30, DRAW)}
    for answer in (0, 1):
        nodes |= {(0, answer): (0, [0, 1]), (0, answer, 1): WIN}
        nodes |= line((0, answer, 0), [1, 0] * 30, DRAW)
    for seed in range(5):
        result, _ = searched(nodes, 1000, seed, proofs=SEARCHERS, rule=UCB1(5.0))
        assert (result.proven, result.outcome) == ("win", None)
        assert result.principal_variation[0] == 0
        assert result.principal_variation[2:] == (1,)


@pytest.mark.parametrize("known", [*KNOWN, SEARCHERS._replace(solver=Solver())])
def test_a_win_among_the_checked_moves_takes_one_simulation(known):
    nodes = {(): (0, [0, 1, 2]), (1,): WIN}
    nodes |= line((0,), [1, 0, 1], DRAW) | line((2,), [1, 0, 1], LOSS)
    result, _ = searched(nodes, 1000, checks=CheckTerminal(), proofs=known)
    assert (result.action, result.simulations) == (1, 1)
    if isinstance(known.solver, Solver):
        assert result.proven == "win"
        assert rows(result)[1].distance == 1


# Solved moves that the search passes over have few visits.


def hand_made(*moves, num_players=2, clear_cut=True, **config):
    """The actions that may be played, by (visits, mean, solved outcome or None) of each move."""
    made = []
    for action, (visits, mean, outcome) in enumerate(moves):
        proof = EdgeProof(0.0, 1.0)
        if outcome is not None:
            proof = EdgeProof(outcome, outcome, 1)
        made.append(RootMove(action, visits, visits * mean, 0.5, AmafStatistics(), proof))
    root = Root(tuple(made), 100, 0.0, 1.0, num_players=num_players, clear_cut=clear_cut)
    proofs = SOLVED._replace(skipping=SkipSolved())
    played = root_statistics(root, SearchConfig(proofs=proofs, **config))
    return [row.action for row in played if row.probability > 0.0]


@pytest.mark.parametrize("final_move", [RobustChild(), MaxChild(), SecureChild()])
@pytest.mark.parametrize("num_players", [1, 2, 3])
def test_a_sure_gain_that_was_passed_over_is_played_where_it_is_more(num_players, final_move):
    def played(mean):
        moves = ((6, 0.1, 0.7), (500, mean, None))
        return hand_made(*moves, num_players=num_players, final_move=final_move)

    assert played(0.6) == [0]
    assert played(0.3) == [0]
    assert played(0.9) == [1]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [0.8, 0.2, 0.0, 0.0]),
        ({"threshold": 0.0}, [100 / 130, 25 / 130, 5 / 130, 0.0]),
        ({"threshold": 0.5}, [1.0, 0.0, 0.0, 0.0]),
        ({"margin": 0.2}, [100 / 175, 25 / 175, 0.0, 50 / 175]),
        ({"temperature": 0.5}, [16 / 17, 1 / 17, 0.0, 0.0]),
        ({"visits": 26.0}, [1.0, 0.0, 0.0, 0.0]),
        ({"visits": 101.0}, [1.0, 0.0, 0.0, 0.0]),
    ],
)
def test_shares_of_visits_without_the_few_and_the_costly_are_drawn(changes, expected):
    moves = tuple(
        RootMove(action, visits, visits * mean, 0.5, AmafStatistics(), EdgeProof())
        for action, (visits, mean) in enumerate([(100, 0.5), (25, 0.49), (5, 0.6), (50, 0.4)])
    )
    config = SearchConfig(final_move=VisitShares(visits=0.0)).replace(**changes)
    played = root_statistics(Root(moves, 180, 0.0, 1.0), config)
    assert [row.probability for row in played] == pytest.approx(expected)


def test_a_little_that_is_sure_is_played_where_it_is_more():
    assert hand_made((6, 0.1, 0.3), (500, 0.2, None), num_players=3) == [0]
    assert hand_made((6, 0.1, 0.3), (500, 0.4, None), num_players=3) == [1]


def test_contempt_is_about_draws_alone():
    assert hand_made((6, 0.5, 0.5), (500, 0.4, None), contempt=0.35) == [1]
    assert hand_made((6, 0.5, 0.5), (500, 0.3, None), contempt=0.35) == [0]
    assert hand_made((6, 0.5, 0.6), (500, 0.4, None), contempt=0.35) == [0]


@pytest.mark.parametrize("contempt", [0.0, 0.35, 0.5])
def test_contempt_has_no_say_where_luck_or_graded_utilities_decide(contempt):
    moves = ((6, 0.5, 0.5), (500, 0.45, None))
    assert hand_made(*moves, contempt=contempt, clear_cut=False) == [0]


def test_the_mean_of_a_solved_move_is_its_outcome():
    assert hand_made((50, 0.9, 0.5), (40, 0.7, None), final_move=MaxChild()) == [1]


# Very many moves.


@pytest.mark.full
def test_the_time_that_it_takes_grows_with_the_number_of_moves_alone():
    """Sums over all moves for each of them took half a minute for so many."""
    moves = [(1, 0.5, None)] * 50_000
    started = time.process_time()
    assert len(hand_made(*moves)) == 50_000
    assert time.process_time() - started < 10.0


def test_of_what_the_solver_proves_a_draw_is_not_lost():
    unknown = (0, 0.0, 0.5, AmafStatistics(), EdgeProof())
    root = Root((RootMove(0, *unknown), RootMove(1, *unknown)), 0, 0.0, 1.0)
    moves = {0: MoveProof(0.5, 0.5, 4), 1: MoveProof(0.0, 0.0, 2)}
    found = with_proof(root, RootProof(0.5, moves, (0, 0, 0, 0), 9, False, None), 1.0)
    assert [move.proof.lost for move in found.moves] == [False, True]
