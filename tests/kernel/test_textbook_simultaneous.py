"""Whole trees of games with simultaneous moves against the textbook's decoupled UCT, with RAVE."""

import random

import pytest
from helpers.cases import random_case
from helpers.games import joint_random_game
from helpers.streams import first_words
from helpers.textbook_simultaneous import SimultaneousTextbook
from helpers.trees import dump_joint

from rave_agents import Limit, Searcher
from rave_agents.game.game_state import is_simultaneous, moving_players
from rave_agents.parts import PUCT, UCB1, NoAmaf, NodeAmaf, NoWinningMoves, UCB1Tuned

CASES_PER_TEST = 25
BLOCKS = 8


def joint_case(seed):
    """A game, a configuration, simulations, and for whom to search."""
    _, config, _, simulations = random_case(seed)
    draw = random.Random(f"joint {seed}")
    stated = draw.random() < 0.7
    state = joint_random_game(
        seed,
        num_players=draw.choice([2, 2, 3, 4]),
        width=draw.randint(2, 4),
        depth=draw.randint(1, 6),
        chance=draw.choice([0.0, 0.3]),
        low=-1.0,
        high=6.0,
        whole=False,
        stated=stated,
    )
    config = config.replace(
        playout_count=draw.choice([1, 2]),
        search_forced_moves=True,
        simultaneous=config.rule._replace(c=draw.choice([0.0, 0.7, 2.0])),
    )
    if not isinstance(config.amaf, NoAmaf):
        config = config.replace(winning=NoWinningMoves())
    movers = moving_players(state) if is_simultaneous(state) else [state.current_player()]
    searcher = draw.choice(movers)
    if draw.random() < 0.3:
        config = config.replace(simultaneous=draw.choice([UCB1, PUCT, UCB1Tuned])(c=0.5))
    return state, config, simulations, searcher


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("block", range(BLOCKS))
def test_whole_trees_equal_the_textbooks(block):
    compared = 0
    for seed in range(block * CASES_PER_TEST, (block + 1) * CASES_PER_TEST):
        state, config, simulations, player = joint_case(seed)
        if state.is_terminal():
            continue
        searcher = Searcher(config, seed=seed)
        searcher.search(state, Limit(simulations=simulations), player=player)
        book = SimultaneousTextbook(config, state, *first_words(seed), searcher=player)
        book.search(simulations)
        if book.near_ties > 0:
            continue  # Rounding decides, and the two sum up in another order.
        compared += 1
        tree = searcher.rooted_tree()
        given, expected = dump_joint(tree), book.dump()
        try:
            assert given.keys() == expected.keys()
            for path, (rows, joint) in expected.items():
                assert len(given[path][0]) == len(rows)
                for own, (mover, visits, edges) in zip(given[path][0], rows, strict=True):
                    assert own[:2] == (mover, visits)
                    for edge, other in zip(own[2], edges, strict=True):
                        assert edge[:3] == pytest.approx(other[:3], rel=1e-9, abs=1e-9)
                        if isinstance(config.amaf, NodeAmaf):
                            assert edge == pytest.approx(other, rel=1e-9, abs=1e-9)
                assert given[path][1].keys() == joint.keys()
                for actions, (n, totals, expanded) in joint.items():
                    assert given[path][1][actions][::2] == (n, expanded)
                    assert given[path][1][actions][1] == pytest.approx(totals, rel=1e-9, abs=1e-9)
        except AssertionError as error:
            raise AssertionError(f"case {seed}: {config}, player {player}") from error
    assert compared > 0.5 * CASES_PER_TEST


def test_the_cases_reach_what_they_are_meant_to():
    cases = [joint_case(seed) for seed in range(BLOCKS * CASES_PER_TEST)]
    rules = {(type(config.rule), type(config.simultaneous)) for _, config, _, _ in cases}
    assert len(rules) == 9
    assert {state.num_players() for state, *_ in cases} == {2, 3, 4}
    assert sum(is_simultaneous(state) for state, *_ in cases) > 100
    singles = [
        len(state.legal_actions(player)) == 1
        for state, *_ in cases
        if is_simultaneous(state)
        for player in moving_players(state)
    ]
    assert sum(singles) > 20
    fewer = [
        len(moving_players(state)) < state.num_players()
        for state, *_ in cases
        if is_simultaneous(state)
    ]
    assert sum(fewer) > 20
