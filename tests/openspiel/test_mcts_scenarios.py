"""OpenSpiel's own scenarios for its MCTS bot, and small games whose truth is known."""

from itertools import starmap

import pytest
from helpers.spiel import after
from rave_openspiel import PNMCTSBot, RavePNBot, UCTSolverBot

from rave_agents import SearchConfig
from rave_agents.kernel.amaf.report import AmafStatistics
from rave_agents.kernel.proofs.report import EdgeProof
from rave_agents.results.final_move import root_statistics
from rave_agents.results.root import Root, RootMove

BOTS = (UCTSolverBot, PNMCTSBot, RavePNBot)
ENOUGH = 100_000
"""Simulations after which each of these positions is solved, by far."""


def solved(kind, state, seed=1, **changes):
    """The bot's result, which must have proven the outcome, and how people write the move."""
    bot = kind(state.get_game(), simulations=ENOUGH, seed=seed, **changes)
    action = bot.step(state)
    result = bot.last_result
    assert result.action == action
    assert result.outcome is not None
    assert result.simulations < ENOUGH
    return result, result.action_name(action)


# What is proven, for whom, and which moves may be played.


def param(proven, name, *moves, answers=(), marks=()):
    return pytest.param(name, moves, proven, answers, marks=marks, id=f"{name} {moves}")


KNOWN = [
    # Crosses on a diagonal with a nought between a corner: only the other corners hold.
    param("draw", "tic_tac_toe", "x(1,1)", "o(0,0)", "x(2,2)", answers=("o(0,2)", "o(2,0)")),
    param("draw", "tic_tac_toe", 4, 0, 8),
    # Crosses threaten two lines.
    param("loss", "tic_tac_toe", "x(1,1)", "o(0,0)", "x(2,2)", "o(0,1)", "x(0,2)"),
    # After the answer on an edge the noughts are lost, on a corner they are not.
    param("draw", "tic_tac_toe", "x(1,1)", "o(0,0)", marks=pytest.mark.slow),
    param("win", "tic_tac_toe", "x(1,1)", "o(0,1)", marks=pytest.mark.slow),
    param("draw", "tic_tac_toe", marks=pytest.mark.compiled),
    param("draw", "mnk(m=3,n=3,k=3)", marks=pytest.mark.compiled),
    param("win", "hex(board_size=3)", marks=pytest.mark.slow),
    param("win", "connect_four(rows=4,columns=4,x_in_row=3)", marks=pytest.mark.slow),
    # Nim is lost where the exclusive or of the piles is 0, if some pile has more than one.
    param("loss", "nim(is_misere=True,pile_sizes=1;2;3)"),
    param("win", "nim(is_misere=False,pile_sizes=1;2;2)"),
    param("loss", "nim(is_misere=False,pile_sizes=2;2)"),
    param("win", "nim(is_misere=True,pile_sizes=3;3;1)"),
]


@pytest.mark.full(but=4)
@pytest.mark.parametrize("kind", BOTS)
@pytest.mark.parametrize(("name", "moves", "proven", "answers"), KNOWN)
def test_a_known_position_is_solved(name, moves, proven, answers, kind):
    result, move = solved(kind, after(name, *moves))
    assert result.proven == proven
    value = {"win": 1.0, "draw": 0.0, "loss": -1.0}[proven]
    assert result.outcome[result.player] == value
    assert not answers or move in answers
    assert all(row.outcome is None or row.outcome <= value for row in result.actions)


# How moves are ordered: a proven win, then by visits, a proven loss last.


@pytest.mark.parametrize("preset", ["uct_solver", "pn_mcts", "rave_pn"])
@pytest.mark.parametrize(
    ("moves", "played"),
    [
        pytest.param([(50, 30, None), (40, 40, None)], 0, id="most visited when not solved"),
        pytest.param([(50, 30, None), (40, 40, 1.0)], 1, id="win over most visited"),
        pytest.param([(50, 30, 0.5), (40, 40, 0.8)], 1, id="best over good"),
        pytest.param([(50, 30, -0.5), (40, 40, -0.8)], 0, id="bad over worst"),
        pytest.param([(50, 40, None), (10, 1, 0.1)], 0, id="promising over a little that is sure"),
        pytest.param([(50, 4, None), (10, 1, 0.1)], 1, id="a little that is sure over less"),
        pytest.param([(50, 30, None), (40, 40, -1.0)], 0, id="most visited over loss"),
        pytest.param([(50, 30, None), (40, 40, 0.0)], 0, id="most visited over draw"),
        pytest.param([(50, 30, -1.0), (40, 40, None)], 1, id="uncertainty over visited loss"),
    ],
)
def test_the_order_of_moves_by_visits_rewards_and_outcomes(preset, moves, played):
    """Rewards are sums of values from -1 to 1, outcomes utilities."""
    root = Root(tuple(starmap(hand_made_move, enumerate(moves))), 100, -1.0, 1.0)
    rows = root_statistics(root, SearchConfig.preset(preset))
    assert [row.probability for row in rows] == [float(row.action == played) for row in rows]


def hand_made_move(action, statistics):
    visits, reward, outcome = statistics
    proof = EdgeProof(-1.0, 1.0)
    if outcome is not None:
        proof = EdgeProof(outcome, outcome, 1, lost=outcome < 0.0)
    return RootMove(action, visits, (reward + visits) / 2.0, 0.5, AmafStatistics(), proof)


# Games with chance, and with one player.


@pytest.mark.parametrize("kind", BOTS)
def test_a_certain_win_with_dice_is_played(kind):
    """Who holds with the points that are missing wins; a roll may lose them."""
    roll, stop, four = 0, 1, 3
    state = after("pig(players=2,winscore=4)", roll, four)
    result, _ = solved(kind, state, search_forced_moves=True)
    assert (result.proven, result.action) == ("win", stop)


# Solved draws are no reason to stop proving.
