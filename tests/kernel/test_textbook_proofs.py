"""Whole trees with solver and proof numbers against a textbook that derives all of it anew."""

import math
import random

import pyspiel
import pytest
from helpers.cases import random_proving_config
from helpers.games import RandomEvaluator, random_game
from helpers.streams import first_words
from helpers.textbook_proofs import ProvingTextbook
from helpers.trees import assert_close, dump, dump_proofs, dump_textbook, dump_textbook_proofs
from rave_openspiel.states import OpenSpielState

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.parts import (
    GRAVE,
    HRAVE,
    PUCT,
    UCB1,
    AllPlayers,
    CheckNothing,
    CheckRefutations,
    CheckTerminal,
    DenseRankBonus,
    DrawLayer,
    MaxBonus,
    NoAmaf,
    NodeAmaf,
    NoDraws,
    NoProofNumbers,
    NoSkipping,
    NoSolver,
    ProofNumbers,
    RankBonus,
    SearchingPlayer,
    SkipSolved,
    Solver,
    SumBonus,
)

CASES_PER_TEST = 50
BLOCKS = 8

KINDS = (
    {"num_players": 2, "zero_sum": True},
    {"num_players": 2, "zero_sum": True},
    {"num_players": 2, "zero_sum": True, "chance": 0.3},
    {"num_players": 2},
    {"num_players": 1, "chance": 0.3},
    {"num_players": 3},
    {"num_players": 3, "chance": 0.3},
)


class PlainState(OpenSpielState):
    """A state of OpenSpiel whose playouts follow the search's own random stream."""

    simulator = None


def random_case(seed):
    """A small random game, a configuration, an evaluator or none, and how many simulations."""
    draw = random.Random(f"proving textbook {seed}")
    high = draw.choice([1.0, 1.0, 2.0])
    stated = draw.random() < 0.9
    state = random_game(
        seed,
        **draw.choice(KINDS),
        depth=draw.randint(2, 7),
        width=draw.randint(2, 5),
        low=-high,
        high=high,
        stated=stated,
    )
    config = random_proving_config(draw, whole=stated)
    evaluator = RandomEvaluator() if draw.random() < 0.2 else None
    if evaluator:
        config = config.replace(playout_count=1)
    return state, config, evaluator, draw.choice([1, 5, 25, 60, 150])


def assert_same_trees(state, config, evaluator, simulations, seed):
    """Compare the trees; returns whether rounding had no say in them."""
    searcher = Searcher(config, seed=seed, evaluator=evaluator)
    result = searcher.search(state, Limit(simulations=simulations))
    book = ProvingTextbook(config, state, *first_words(seed), evaluator=evaluator)
    book.search(simulations)
    if book.near_ties > 0:
        return False
    assert result.root_visits == book.root.visits
    rooted = searcher.rooted_tree()
    assert_close(dump(rooted), dump_textbook(book.root, scale=book.scaled_sum))
    expected = dump_textbook_proofs(book.root)
    for path, known in dump_proofs(rooted.arrays, rooted.proofs).items():
        for name, value in known.items():
            assert value == expected[path][name], (path, name)
    return True


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("block", range(BLOCKS))
def test_whole_trees_equal_the_textbooks(block):
    compared = 0
    for seed in range(block * CASES_PER_TEST, (block + 1) * CASES_PER_TEST):
        state, config, evaluator, simulations = random_case(seed)
        try:
            compared += assert_same_trees(state, config, evaluator, simulations, seed)
        except AssertionError as error:
            raise AssertionError(f"case {seed}: {config}, {simulations} simulations") from error
    assert compared > 0.5 * CASES_PER_TEST


@pytest.mark.full(but=["30"])
@pytest.mark.parametrize("last", [30, 120])
def test_trees_are_the_same_after_every_simulation(last):
    game = pyspiel.load_game("tic_tac_toe")
    config = SearchConfig.preset("pn_mcts")
    state = PlainState(game.new_initial_state())
    for action in (0, 4, 8):
        state.apply_action(action)
    compared = sum(assert_same_trees(state, config, None, count, 3) for count in range(1, last))
    assert compared > last / 2


@pytest.mark.full
def test_the_cases_reach_every_branch():
    cases = [random_case(seed) for seed in range(BLOCKS * CASES_PER_TEST)]
    configs = [config for _, config, _, _ in cases]
    proofs = [config.proofs for config in configs]
    numbers = [part.numbers for part in proofs if isinstance(part.numbers, ProofNumbers)]
    for parts, field, kinds in [
        (proofs, "solver", {Solver, NoSolver}),
        (proofs, "numbers", {ProofNumbers, NoProofNumbers}),
        (proofs, "checks", {CheckNothing, CheckTerminal, CheckRefutations}),
        (proofs, "skipping", {SkipSolved, NoSkipping}),
        (numbers, "goal", {AllPlayers, SearchingPlayer}),
        (numbers, "bonus", {RankBonus, DenseRankBonus, MaxBonus, SumBonus}),
        (configs, "amaf", {NoAmaf, NodeAmaf, GRAVE, HRAVE}),
        (configs, "rule", {UCB1, PUCT}),
    ]:
        assert {type(getattr(part, field)) for part in parts} == kinds, field
    ranks = [part.bonus for part in numbers if not isinstance(part.bonus, MaxBonus | SumBonus)]
    assert {(type(bonus), type(bonus.draws)) for bonus in ranks} == {
        (kind, draws) for kind in (RankBonus, DenseRankBonus) for draws in (NoDraws, DrawLayer)
    }
    assert {part.visits for part in numbers} == {math.inf, 0.5}
    assert {part.weight for part in numbers} == {0.0, 0.3, 1.0}
    assert {config.expand_visits for config in configs} == {1, 2, 3}
    assert {config.utility_range for config in configs} == {"game", "observed"}
    assert {state.num_players() for state, *_ in cases} == {1, 2, 3}
    assert sum(state.rules.chance > 0 for state, *_ in cases) > 100
