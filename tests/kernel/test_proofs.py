"""What the search proves, against exhaustive search; and that what it keeps is never stale."""

import math
import random

import pytest
from helpers.cases import random_proving_config
from helpers.exhaustive import Exhaustive, check_derived, check_numbers, check_solved
from helpers.games import random_game, written_game
from helpers.trees import check_tree, growing_bytes

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.kernel.tree import ROOT, edge_rows
from rave_agents.parts import (
    GRAVE,
    HRAVE,
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
    NoProofNumbers,
    NoProofs,
    NoSolver,
    ProofNumbers,
    Proofs,
    RankBonus,
    SearchingPlayer,
    SkipSolved,
    Solver,
    SumBonus,
)

CASES_PER_TEST = 150
BLOCKS = 10
MEGABYTE = 2**20

KINDS = {
    "zero-sum": {"num_players": 2, "zero_sum": True},
    "zero-sum, chance": {"num_players": 2, "zero_sum": True, "chance": 0.3, "depth": 4},
    "general-sum": {"num_players": 2},
    "general-sum, chance": {"num_players": 2, "chance": 0.3, "depth": 4, "width": 3},
    "one player": {"num_players": 1},
    "one player, chance": {"num_players": 1, "chance": 0.3, "depth": 4},
    "three players": {"num_players": 3},
    "three players, chance": {"num_players": 3, "chance": 0.3, "depth": 4, "width": 3},
}


def random_rules(draw):
    """The options of a small random game."""
    rules = KINDS[draw.choice(list(KINDS))]
    depth, width = draw.randint(2, rules.get("depth", 6)), draw.randint(2, rules.get("width", 4))
    high = draw.choice([1.0, 1.0, 2.0])
    return {**rules, "depth": depth, "width": width, "low": -high, "high": high}


def random_case(seed):
    """A small random game, a configuration, and how many simulations."""
    draw = random.Random(f"proof {seed}")
    stated = draw.random() < 0.9
    state = random_game(seed, **random_rules(draw), stated=stated)
    config = random_proving_config(draw, whole=stated)
    return state, config, draw.choice([2, 8, 25, 60, 150, 300])


def check_proofs(searcher, config, truth, player):
    rooted = searcher.rooted_tree()
    proofs = config.proofs
    check_tree(rooted, refutations=isinstance(proofs.checks, CheckRefutations))
    check_derived(rooted, config, player)
    if isinstance(proofs.solver, Solver):
        check_solved(rooted, truth)
    if isinstance(proofs.numbers, ProofNumbers):
        check_numbers(rooted, truth)


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("block", range(BLOCKS))
def test_what_is_proven_is_true_and_up_to_date(block):
    for seed in range(block * CASES_PER_TEST, (block + 1) * CASES_PER_TEST):
        state, config, simulations = random_case(seed)
        searcher = Searcher(config, seed=seed)
        searcher.search(state, Limit(simulations=simulations))
        try:
            check_proofs(searcher, config, Exhaustive(state.rules), state.current_player())
        except AssertionError as error:
            raise AssertionError(f"case {seed}: {config}, {simulations} simulations") from error


TURNED_TO = {
    "searcher": ProofNumbers(SearchingPlayer(), RankBonus(), constant=0.3, visits=math.inf),
    "every player": ProofNumbers(AllPlayers(), RankBonus(), constant=0.3, visits=math.inf),
}
"""Proof numbers of which the search makes much."""


@pytest.mark.full(but=1)
@pytest.mark.parametrize("checks", [CheckNothing(), CheckTerminal()])
@pytest.mark.parametrize("numbers", [NoProofNumbers(), *TURNED_TO.values()])
@pytest.mark.parametrize("kind", ["zero-sum", "general-sum", "one player", "three players"])
def test_every_small_game_without_chance_is_solved_and_the_search_then_ends(kind, numbers, checks):
    for seed in range(20):
        state = random_game(seed, **KINDS[kind], width=3, depth=5)
        config = SearchConfig(
            rule=UCB1(2.0),
            proofs=Proofs(Solver(), numbers, checks=checks),
            search_forced_moves=True,
        )
        result = Searcher(config, seed=seed).search(state, Limit(simulations=20_000))
        truth = Exhaustive(state.rules)
        assert result.outcome in truth.values(())
        assert result.simulations < 20_000
        chosen = next(row for row in result.actions if row.action == result.action)
        assert chosen.outcome == result.outcome[result.player]
        if kind == "zero-sum":
            assert truth.values(()) == {result.outcome}


@pytest.mark.full(but=1)
@pytest.mark.parametrize("numbers", TURNED_TO.values(), ids=TURNED_TO)
@pytest.mark.parametrize("solver", [NoSolver(), Solver()])
def test_numbers_end_at_0_for_who_can_force_a_win_and_for_who_cannot(solver, numbers):
    for seed in range(20):
        state = random_game(seed, **KINDS["zero-sum"], width=3, depth=5)
        config = SearchConfig(
            rule=UCB1(2.0), proofs=Proofs(solver, numbers), search_forced_moves=True
        )
        searcher = Searcher(config, seed=seed)
        result = searcher.search(state, Limit(simulations=3000))
        proofs = searcher.rooted_tree().proofs
        truth = Exhaustive(state.rules)
        for player in range(2):
            won = truth.can_force_a_win((), player)
            pair = float(proofs.proof[ROOT, player]), float(proofs.disproof[ROOT, player])
            assert pair == ((0.0, math.inf) if won else (math.inf, 0.0))
        searching = state.current_player()
        if isinstance(solver, NoSolver) and truth.can_force_a_win((), searching):
            assert result.simulations < 3000


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("kind", KINDS)
def test_proofs_stay_true_from_move_to_move(kind):
    searchers = set()
    for seed in range(20):
        draw = random.Random(f"moves {kind} {seed}")
        state = random_game(seed, **{**KINDS[kind], "width": 3, "depth": 6})
        config = random_proving_config(draw, whole=True)
        searcher = Searcher(config, seed=seed)
        truth = Exhaustive(state.rules)
        while not state.is_terminal():
            if state.is_chance_node():
                action = draw.choice(state.chance_outcomes())[0]
            else:
                limit = Limit(simulations=draw.choice([5, 30, 100]))
                result = searcher.search(state, limit)
                check_proofs(searcher, config, truth, result.player)
                searchers.add((seed, result.player))
                action = draw.choice(state.legal_actions())
            searcher.advance(action)
            state.apply_action(action)
    if "one player" not in kind:
        assert any((seed, 0) in searchers and (seed, 1) in searchers for seed in range(20))


def test_bonuses_are_computed_anew_when_the_searching_player_changes():
    """Player 1 may draw: best if he keeps player 0 from winning, worst if he wants to win."""
    nodes = {(): (0, [0, 1]), (1,): [0.0, 1.0], (0,): (1, [0, 1]), (0, 0): [0.5, 0.5]}
    nodes[0, 1] = (0, [0, 1])
    for last in (0, 1):
        nodes[0, 1, last] = (1, [0])
        nodes[0, 1, last, 0] = [float(last), float(1 - last)]
    numbers = ProofNumbers(SearchingPlayer(), RankBonus(), constant=0.1, visits=math.inf)
    proofs = Proofs(NoSolver(), numbers, checks=CheckTerminal())
    searcher = Searcher(SearchConfig(expand_visits=1, proofs=proofs), seed=1)
    state = written_game(nodes)
    searcher.search(state, Limit(simulations=2))
    child = int(searcher.tree.edge_child[0])
    edges = edge_rows(searcher.tree, child)
    assert searcher.rooted_tree().proofs.edge_bonus[edges].tolist() == [0.5, 0.0]
    searcher.advance(0)
    state.apply_action(0)
    result = searcher.search(state, Limit(simulations=1))
    assert (result.player, result.simulations) == (1, 1)
    assert searcher.rooted_tree().proofs.edge_bonus[:2].tolist() == [0.0, 0.5]


# What a number is worth among its siblings'.


def root_bonuses(numbers, bonus):
    """The bonuses at a root whose children, once expanded, have such proof numbers.

    A child with number n leaves player 1 a choice of n, of which nothing is known; 0 and infinity
    are moves that end the game.
    """
    nodes = {(): (0, range(len(numbers)))}
    for action, number in enumerate(numbers):
        if number in (0, math.inf):
            nodes[action,] = [1.0, 0.0] if number == 0 else [0.0, 1.0]
            continue
        nodes[action,] = (1, range(number))
        for answer in range(number):
            nodes[action, answer] = (0, [0, 1])
            nodes[action, answer, 0], nodes[action, answer, 1] = [1.0, 0.0], [0.0, 1.0]
    form = ProofNumbers(SearchingPlayer(), bonus, constant=0.1, visits=math.inf)
    searcher = Searcher(SearchConfig(proofs=Proofs(NoSolver(), form), expand_visits=1), seed=1)
    state = written_game(nodes, num_distinct_actions=40)
    result = searcher.search(state, Limit(simulations=1 + len(numbers)))
    assert [row.proof_number for row in result.actions] == numbers
    proofs = searcher.rooted_tree().proofs
    return [float(proofs.edge_bonus[edge]) for edge in edge_rows(searcher.tree, ROOT)]


def test_a_number_without_end_is_worth_nothing_and_leaves_the_others_alone():
    numbers = [2, math.inf, 5]
    with_it = root_bonuses(numbers, MaxBonus())
    without = root_bonuses([2, 5], MaxBonus())
    assert with_it[1] == 0.0
    assert with_it[::2] == without


@pytest.mark.parametrize(
    ("numbers", "bonus", "bonuses"),
    [
        # Ties share a rank, and the next ranks are left out; dense ranks leave none out.
        ([1] + [2] * 29, RankBonus(), [29 / 30] + [28 / 30] * 29),
        ([1] + [2] * 29, DenseRankBonus(), [0.5] + [0.0] * 29),
        ([3, 1, 1, 2], RankBonus(), [0.0, 0.75, 0.75, 0.25]),
        ([3, 1, 1, 2], DenseRankBonus(), [0.0, 2 / 3, 2 / 3, 1 / 3]),
        ([2, 5, 3], MaxBonus(), [1.0, 1 - 3 / 4, 1 - 1 / 4]),
        ([2, 5, 3], SumBonus(), [1 - 2 / 11, 1 - 5 / 11, 1 - 3 / 11]),
        ([2, math.inf, 5], SumBonus(), [1 - 2 / 8, 0.0, 1 - 5 / 8]),
        # Moves that all lose are alike.
        ([math.inf] * 3, RankBonus(), [2 / 3] * 3),
        ([math.inf] * 3, DenseRankBonus(), [0.0] * 3),
        ([math.inf] * 3, MaxBonus(), [0.0] * 3),
    ],
    ids=str,
)
@pytest.mark.full(but=10)
def test_the_bonus_of_a_proof_number_among_its_siblings(numbers, bonus, bonuses):
    assert root_bonuses(numbers, bonus) == pytest.approx(bonuses)


def drawish_game(bonus):
    """No move wins; the first one loses, the second draws, if player 1 answers well."""
    nodes = {(): (0, [0, 1]), (0,): (1, [0, 1]), (1,): (1, [0, 1])}
    nodes |= {(0, 0): [0.0, 1.0], (0, 1): [0.0, 1.0], (1, 0): [0.5, 0.5], (1, 1): [0.5, 0.5]}
    numbers = ProofNumbers(AllPlayers(), bonus, constant=0.1, visits=math.inf)
    proofs = Proofs(NoSolver(), numbers, checks=CheckTerminal())
    searcher = Searcher(SearchConfig(proofs=proofs, expand_visits=1), seed=1)
    result = searcher.search(written_game(nodes), Limit(simulations=3))
    assert [row.proof_number for row in result.actions] == [math.inf, math.inf]
    return [float(searcher.rooted_tree().proofs.edge_bonus[edge]) for edge in range(2)]


def test_a_draw_layer_tells_moves_apart_that_cannot_win():
    assert drawish_game(RankBonus()) == [0.5, 0.5]
    assert drawish_game(DenseRankBonus(DrawLayer())) == [0.0, 0.5]
    assert drawish_game(RankBonus(DrawLayer())) == [0.0, 0.5]


# Room.


@pytest.mark.full
@pytest.mark.parametrize(
    ("checks", "numbers", "amaf"),
    [
        (CheckNothing(), NoProofNumbers(), NodeAmaf()),
        (CheckNothing(), ProofNumbers(constant=0.0), GRAVE()),
        (CheckTerminal(), NoProofNumbers(), HRAVE()),
        (CheckTerminal(), ProofNumbers(constant=0.0), NoAmaf()),
        (CheckRefutations(), NoProofNumbers(), NoAmaf()),
        (CheckRefutations(), ProofNumbers(constant=0.0), HRAVE()),
    ],
)
def test_the_memory_is_that_of_the_arrays_and_within_its_budget(checks, numbers, amaf):
    # The root takes more with refutations.
    least = 0.007 if isinstance(checks, CheckRefutations) else 0.006
    for megabytes in (least, 0.05, 1.0):
        config = SearchConfig(
            proofs=Proofs(Solver(), numbers, checks=checks),
            amaf=amaf,
            expand_visits=1,
            max_memory_mb=megabytes,
        )
        searcher = Searcher(config, seed=1)
        state = random_game(8, num_players=3, depth=12, width=5, low=-9.0, high=9.0)
        result = searcher.search(state, Limit(simulations=800))
        rooted = searcher.rooted_tree()
        assert result.memory_bytes == growing_bytes(searcher)
        assert result.memory_bytes <= megabytes * MEGABYTE
        assert megabytes == 0.05 or result.memory_full == (megabytes < 0.05)
        assert result.root_visits == 800
        if rooted.forgotten == 0:  # Else some children are gone whose numbers still count.
            check_derived(rooted, config, result.player)


def test_the_solver_keeps_bounds_alone_and_proof_numbers_numbers_alone():
    kept = {}
    for name, proving in {
        "neither": NoProofs(),
        "solver": Proofs(Solver()),
        "numbers": Proofs(NoSolver(), ProofNumbers(SearchingPlayer(), constant=0.0)),
    }.items():
        searcher = Searcher(SearchConfig(proofs=proving), seed=1)
        searcher.search(random_game(4, depth=9), Limit(simulations=300))
        proofs = searcher.rooted_tree().proofs
        kept[name] = {field for field in proofs._fields if getattr(proofs, field).size > 0}
    assert kept == {
        "neither": set(),
        "solver": {"low", "high", "distance"},
        "numbers": {"proof", "disproof", "edge_bonus"},
    }


# Solved children that are passed over.


def better_known_than_searched():
    """Move 0 brings 0.7 by a move that ends the game at once, move 1 a half.

    Beside the sure 0.7, chance offers 0.3 in the mean: of so many outcomes it is never solved.
    """
    nodes = {(): (0, [0, 1]), (0,): (1, [0, 1]), (0, 0): (0, [0, 1]), (0, 0, 0): [0.7, 0.3]}
    coin, outcomes = {(0, 0, 1): 0.3, (0, 1): 0.9, (1,): 0.5}, range(1000)
    for place, chance in coin.items():
        nodes[place] = [(outcome, 1.0 / len(outcomes)) for outcome in outcomes]
        for outcome in outcomes:
            won = outcome < chance * len(outcomes)
            nodes[*place, outcome] = (0, [0])
            nodes[*place, outcome, 0] = [1.0, 0.0] if won else [0.0, 1.0]
    return written_game(nodes, low=0.0, high=1.0)


@pytest.mark.full
@pytest.mark.parametrize("preset", ["uct_solver", "rave_pn", "pn_mcts"])
def test_a_solved_child_that_is_passed_over_counts_above_its_parent(preset):
    config = SearchConfig.preset(preset).replace(skipping=SkipSolved(), rule=UCB1(0.5))
    for seed in range(2):
        searcher = Searcher(config, seed=seed)
        result = searcher.search(better_known_than_searched(), Limit(simulations=2000))
        assert result.action == 0
        assert result.actions[0].value == pytest.approx(0.7, abs=0.05)


def test_an_edge_that_is_at_best_as_good_as_what_is_sure_is_visited_no_more():
    """Player 0 is sure of a draw after 0; after 1 the other is, and all the rest is open."""
    nodes, ends = {(): (0, [0, 1]), (0,): (0, [2, 3]), (1,): (1, [2, 3])}, random.Random(1)
    open_nodes = [(0, 3), (1, 3)]
    nodes |= {(0, 2): [0.5, 0.5], (1, 2): [0.5, 0.5]}
    while open_nodes:
        node = open_nodes.pop()
        if len(node) == 9:
            won = float(ends.random() < 0.5)
            nodes[node] = [won, 1.0 - won]
        else:
            nodes[node] = (len(node) % 2, [0, 1, 2])
            open_nodes += [(*node, action) for action in range(3)]
    game = written_game(nodes)
    game.rules.utility_sum = 1.0
    result = Searcher(SearchConfig(proofs=Proofs()), seed=1).search(game, Limit(simulations=300))
    assert result.outcome is None
    assert {row.action: row.visits for row in result.actions}[1] < 20
