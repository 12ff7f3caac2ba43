"""Whole trees of the kernel against a textbook implementation, on random games and configs."""

from typing import NamedTuple

import pytest
from helpers.cases import random_case
from helpers.games import random_game
from helpers.streams import first_words
from helpers.textbook import Textbook
from helpers.trees import assert_close, check_tables, check_tree, dump, dump_tables, dump_textbook

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.parts import (
    GRAVE,
    HRAVE,
    MCPS,
    PUCT,
    UCB1,
    AdaptiveUCB1,
    AllEdges,
    AllPlayers,
    BlendScores,
    BlendValues,
    Fuego,
    GraveBias,
    HandSelected,
    Linear,
    MinimumMSE,
    NoAmaf,
    NodeAmaf,
    NoWinningMoves,
    Pachi,
    RandomTies,
    SearchingPlayer,
    SteeredPlayouts,
    Stepped,
    TiesWithin,
    UCB1Tuned,
    Uniform,
    UniformPlayouts,
    VisitedEdges,
    WinningMoves,
    action_weight,
    implements,
)

CASES_PER_TEST = 25
BLOCKS = 16


def assert_same_tables(rooted, book):
    """Every row of every table, up to rounding."""

    def check(node, path):
        assert (path in tables) == (node.table is not None), path
        if node.table is not None:
            playouts, rows = tables[path]
            assert playouts == node.table_playouts, path
            known = {key: stats for key, stats in node.table.items() if stats.amaf_n != 0.0}
            assert rows.keys() == known.keys(), path
            for key, stats in known.items():
                total = book.scaled_sum(stats.amaf_total, stats.amaf_n)
                expected = [stats.amaf_n, total, stats.wins, stats.win_moves]
                assert rows[key][:2] == pytest.approx(expected[:2], rel=1e-9, abs=1e-9)
                # Sums of winning moves have single precision.
                assert rows[key][2:] == pytest.approx(expected[2 : len(rows[key])], rel=1e-5)
        for edge in node.edges:
            if edge.child is not None:
                check(edge.child, (*path, edge.action))

    tables = dump_tables(rooted)
    check(book.root, ())


def compare(config, state, evaluator, simulations, seed, weigh=None):
    """Compare the trees; returns whether rounding had no say in them."""
    searcher = Searcher(config.replace(search_forced_moves=True), seed=seed, evaluator=evaluator)
    searcher.search(state, Limit(simulations=simulations))
    # On the streams that a searcher of this seed uses for its first search.
    book = Textbook(config, state, *first_words(seed), evaluator=evaluator, weigh=weigh)
    book.search(simulations)
    check_tree(searcher)
    if book.near_ties > 0:
        return False  # Rounding decides, and the two sum up in another order.
    try:
        scaled = dump_textbook(book.root, scale=book.scaled_sum)
        assert_close(dump(searcher), scaled)
        if isinstance(config.amaf, GRAVE | HRAVE):
            check_tables(searcher.rooted_tree())
            assert_same_tables(searcher.rooted_tree(), book)
    except AssertionError as error:
        raise AssertionError(f"case {seed}: {config}, {evaluator=}") from error
    return True


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("block", range(BLOCKS))
def test_whole_trees_equal_the_textbooks(block):
    compared = 0
    for seed in range(block * CASES_PER_TEST, (block + 1) * CASES_PER_TEST):
        state, config, evaluator, simulations = random_case(seed)
        compared += compare(config, state, evaluator, simulations, seed)
    assert compared > 0.5 * CASES_PER_TEST


@pytest.mark.full(but=["10"])
@pytest.mark.parametrize("cases", [10, 4 * CASES_PER_TEST])
def test_puct_scores_that_are_blended_equal_the_textbooks(cases):
    compared = 0
    for seed in range(1, 1 + cases):
        state, config, evaluator, simulations = random_case(seed)
        if not isinstance(config.amaf, NoAmaf):
            config = config.replace(rule=PUCT(c=0.7), blending=BlendScores())
            compared += compare(config, state, evaluator, simulations, seed)
    assert compared > cases / 4


@pytest.mark.full(but=["4"])
@pytest.mark.parametrize("cases", [4, CASES_PER_TEST])
def test_trees_with_late_exploration_equal_the_textbooks(cases):
    """Beside evaluators, whose priors and values change the rule, there is none."""
    compared = 0
    for seed in range(1, 1 + cases):
        state, config, evaluator, simulations = random_case(seed)
        if evaluator is None:
            config = config.replace(rule=AdaptiveUCB1(c=0.0, late_c=0.7, late_visits=1.5))
            compared += compare(config, state, evaluator, simulations, seed)
    assert compared > cases / 4


class Curious(NamedTuple):
    """Playouts of one's own: actions by their values, the least tried ones first."""

    power: float = 0.5


@implements(action_weight, Curious)
def _curious_weight(policy, action):
    if action.n == 0:
        return 1.0 + action.player + action.action
    value = action.q - action.mean + action.trust * action.action
    return max(value, 0.1) / action.n**policy.power


def curious_weight(player, action, n, q, mean, trust):
    if n == 0:
        return 1.0 + player + action
    return max(q - mean + trust * action, 0.1) / n**0.5


@pytest.mark.full(but=["4"])
@pytest.mark.parametrize("cases", [4, CASES_PER_TEST])
def test_trees_with_playouts_of_ones_own_equal_the_textbooks(cases):
    config, compared = SearchConfig(playouts=Curious()), 0
    for seed in range(1, 1 + cases):
        rules = {"num_players": 1 + seed % 3, "depth": 3 + seed % 7, "width": 6, "high": 7.0}
        state = random_game(seed, **rules)
        compared += compare(config, state, None, 150, seed, weigh=curious_weight)
    assert compared > 0.7 * cases


@pytest.mark.slow
@pytest.mark.full(but=["60"])
@pytest.mark.parametrize("cases", [60, 400])
@pytest.mark.parametrize("refresh", [0.0, 0.5])
def test_trees_with_permutations_equal_the_textbooks(cases, refresh):
    compared, having_tables = 0, 0
    for seed in range(cases):
        state, config, evaluator, simulations = random_case(seed)
        if isinstance(config.amaf, GRAVE | HRAVE):
            having_tables += 1
            config = config.replace(amaf=MCPS(config.amaf, refresh=refresh))
            compared += compare(config, state, evaluator, simulations, seed)
    assert compared > 0.5 * having_tables > 0.1 * cases


def test_the_cases_reach_every_branch():
    """The random cases have what the comparison is meant to cover."""
    cases = [random_case(seed) for seed in range(BLOCKS * CASES_PER_TEST)]
    configs = [config for _, config, _, _ in cases]
    statistics = [config.amaf for config in configs if not isinstance(config.amaf, NoAmaf)]
    for parts, field, kinds in [
        (configs, "rule", {UCB1, PUCT, UCB1Tuned}),
        (configs, "ties", {RandomTies, TiesWithin}),
        (configs, "amaf", {NoAmaf, NodeAmaf, GRAVE, HRAVE}),
        (configs, "playouts", {UniformPlayouts, SteeredPlayouts}),
        (statistics, "schedule", {HandSelected, MinimumMSE, Fuego, Pachi, GraveBias}),
        (statistics, "blending", {BlendValues, BlendScores}),
        (statistics, "players", {AllPlayers, SearchingPlayer}),
        (statistics, "edges", {AllEdges, VisitedEdges}),
        (statistics, "weighting", {Uniform, Linear, Stepped}),
        (statistics, "winning", {NoWinningMoves, WinningMoves}),
    ]:
        assert {type(getattr(part, field)) for part in parts} == kinds, field
    steered = [config.playouts for config in configs if config.playouts != UniformPlayouts()]
    assert set(steered) == {SteeredPlayouts(0.5), SteeredPlayouts(0.05)}
    assert {config.utility_range for config in configs} == {"game", "observed"}
    assert {state.num_players() for state, *_ in cases} == {1, 2, 3}
    assert {config.playout_count for config in configs} == {1, 2, 3}
    assert sum(evaluator is not None for *_, evaluator, _ in cases) > 100
    assert sum(state.rules.chance > 0 for state, *_ in cases) > 100
