"""Several threads, one tree each: what they share, what ends them, how their roots are merged."""

import copy
import functools
import logging
import math
import pickle
import threading
import time

import pytest
from helpers.exhaustive import Exhaustive, check_solved
from helpers.games import (
    Parallel,
    ParallelSimulator,
    Position,
    RandomEvaluator,
    RandomRules,
    written_game,
)
from helpers.trees import check_tables, check_tree, dump, has_tables

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.parts import (
    GRAVE,
    HRAVE,
    UCB1,
    CheckRefutations,
    CheckTerminal,
    DirichletNoise,
    NodeAmaf,
    NoSolver,
    ProofNumbers,
    Proofs,
    RankBonus,
    WinningMoves,
)
from rave_agents.results.final_move import root_statistics
from rave_agents.results.root import known_root, leading_tree, merged_root
from rave_agents.searcher import checks


def parallel_game(seed=4, kind=Parallel, **rules):
    return kind(RandomRules(seed, **{"depth": 9, **rules}))


def searched(threads, simulations=400, *, state=None, seed=1, **changes):
    searcher = Searcher(SearchConfig(threads=threads, **changes), seed=seed)
    state = parallel_game() if state is None else state
    return searcher, searcher.search(state, Limit(simulations=simulations))


def trees_of(searcher):
    """All trees that have a root."""
    return [search.tree for search in searcher._trees.searches if search.has_root]


def check_whole(searcher):
    refutations = any(isinstance(part, CheckRefutations) for part in searcher.config.proofs)
    for rooted in trees_of(searcher):
        check_tree(rooted, refutations=refutations)
        if has_tables(rooted):
            check_tables(rooted)


@pytest.fixture(autouse=True)
def _no_thread_is_left_behind():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


WATCHED = ProofNumbers(bonus=RankBonus(), constant=0.0, visits=math.inf)
"""Proof numbers that are kept and do not guide the search."""

CHANGES = [
    {},
    {"amaf": NodeAmaf(), "root_noise": DirichletNoise(epsilon=0.25)},
    {"amaf": GRAVE(winning=WinningMoves()), "expand_visits": 1},
    {"amaf": HRAVE()},
    {"proofs": Proofs(solver=NoSolver(), numbers=WATCHED)},
    {"utility_range": "observed", "amaf": NodeAmaf()},
]


# Merging


@pytest.mark.full(but=2)
@pytest.mark.parametrize("threads", [2, 8])
@pytest.mark.parametrize("changes", CHANGES)
def test_the_result_is_the_sum_of_the_trees(threads, changes):
    searcher, result = searched(threads, **changes)
    check_whole(searcher)
    trees = trees_of(searcher)
    roots = [known_root(rooted) for rooted in trees]
    assert len(trees) == threads
    assert result.simulations == result.root_visits == 400
    assert [root.visits for root in roots] == [400 // threads] * threads
    assert result.nodes == sum(int(rooted.arrays.used[0]) for rooted in trees)
    for row in result.actions:
        moves = [root.move(row.action) for root in roots]
        assert row.visits == sum(move.visits for move in moves)
        assert row.amaf_visits == pytest.approx(sum(move.amaf.visits for move in moves))
        for mean, pairs in (
            (row.value, [(move.visits, move.value_sum) for move in moves]),
            (row.amaf_value, [(move.amaf.visits, move.amaf.value_sum) for move in moves]),
        ):
            if mean is not None:
                total = sum(
                    visits * root.utility(value_sum, visits)
                    for root, (visits, value_sum) in zip(roots, pairs, strict=True)
                    if visits > 0
                )
                assert mean == pytest.approx(total / sum(visits for visits, _ in pairs))
    wins = [root.move(result.action).amaf.wins for root in roots]
    number = next(r.winning_move_number for r in result.actions if r.action == result.action)
    assert (number is not None) == (sum(wins) > 0)


def test_the_trees_of_several_threads_differ_but_the_first_is_that_of_one():
    searcher, _ = searched(4, 400)
    dumps = [dump(rooted) for rooted in trees_of(searcher)]
    assert all(dumps[index] != dumps[other] for index in range(4) for other in range(index))
    assert dumps[0] == dump(searched(1, 100)[0])


def test_noise_is_the_same_in_all_trees():
    searcher, result = searched(3, root_noise=DirichletNoise(epsilon=0.25))
    priors = [[move.prior for move in known_root(r).moves] for r in trees_of(searcher)]
    assert priors[0] == priors[1] == priors[2] == [row.prior for row in result.actions]
    assert len(set(priors[0])) > 1


@pytest.mark.full(but=1)
@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("changes", CHANGES)
def test_the_same_seed_gives_the_same_trees(threads, changes):
    (first, result), (second, again) = (searched(threads, **changes) for _ in range(2))
    for one, other in zip(trees_of(first), trees_of(second), strict=True):
        assert dump(one) == dump(other)
    assert result.actions == again.actions
    assert result.action == again.action
    assert result.principal_variation == again.principal_variation


@pytest.mark.parametrize(
    ("simulations", "visits"), [(1, [1]), (7, [1] * 7), (21, [3] * 5 + [2] * 3)]
)
def test_simulations_are_exact(simulations, visits):
    searcher, result = searched(8, simulations)
    assert result.simulations == result.root_visits == simulations
    assert [known_root(rooted).visits for rooted in trees_of(searcher)] == visits


def test_the_line_is_that_of_the_tree_that_knows_the_action_best():
    searcher, result = searched(4)
    roots = [known_root(rooted) for rooted in trees_of(searcher)]
    visits = [root.move(result.action).visits for root in roots]
    leader = leading_tree(roots, result.action)
    assert visits[leader] == max(visits)
    shown = searcher.rooted_tree()
    assert dump(shown) == dump(trees_of(searcher)[leader])
    assert dump(searcher.release_tree()) == dump(shown)
    assert searcher.rooted_tree() is None
    assert searcher.tree is None


# Proofs


@pytest.mark.full(but=2)
@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("seed", range(6))
def test_merged_proofs_agree_with_the_whole_game(threads, seed):
    state = parallel_game(seed, depth=5, zero_sum=True, width=3)
    truth = Exhaustive(state.rules)
    value = {v[state.current_player()] for v in truth.values(())}
    config = SearchConfig(threads=threads, proofs=Proofs(numbers=WATCHED))
    for simulations in (8, 16, 40, 100, 10_000):
        searcher = Searcher(config, seed=seed)
        result = searcher.search(state, Limit(simulations=simulations))
        roots = [known_root(rooted) for rooted in trees_of(searcher)]
        for rooted in trees_of(searcher):
            check_solved(rooted, truth)
        merged = merged_root(roots)
        player = state.current_player()
        for move in merged.moves:
            true = {vector[player] for vector in truth.values((move.action,))}
            assert all(move.proof.low <= utility <= move.proof.high for utility in true)
            own = [root.move(move.action).proof for root in roots]
            if result.outcome is None:
                assert move.proof.low == max(proof.low for proof in own)
                assert move.proof.high == min(proof.high for proof in own)
                assert move.proof.solved == any(proof.solved for proof in own)
                assert move.proof.proof_number in (
                    min(proof.proof_number for proof in own),
                    math.inf,
                )
            forced = truth.can_force_a_win((move.action,), player)
            assert (move.proof.proof_number, move.proof.disproof_number) != (0.0, 0.0)
            assert move.proof.proof_number != 0.0 or forced
            assert move.proof.disproof_number != 0.0 or not forced
        if result.outcome is not None:
            assert {result.outcome[player]} == value
            chosen = next(row for row in result.actions if row.action == result.action)
            assert {chosen.outcome} == value
    assert result.outcome is not None


def test_a_root_that_one_tree_solves_ends_all():
    searcher, result = searched(8, 2**31 - 1, state=parallel_game(depth=4), proofs=Proofs())
    assert result.outcome is not None
    assert result.seconds < 20.0
    check_whole(searcher)


def test_of_two_proven_wins_the_shortest_is_played():
    """One tree has solved the root by a long way, the other by a short one."""
    moves = {(): (0, [0, 1]), (0,): (1, [0]), (0, 0): (0, [0]), (0, 0, 0): [1.0, 0.0]}
    state = written_game({**moves, (1,): [1.0, 0.0]})
    searcher = Searcher(SearchConfig(proofs=Proofs(checks=CheckTerminal())), seed=1)
    searcher.search(state, Limit(simulations=10))
    short = known_root(searcher.rooted_tree())
    long = short._replace(
        distance=3,
        moves=(
            short.move(0)._replace(proof=short.move(1).proof._replace(distance=3)),
            short.move(1)._replace(visits=0, proof=type(short.move(1).proof)()),
        ),
    )
    for roots in ([short, long], [long, short]):
        merged = merged_root(roots)
        assert (merged.distance, merged.move(1).proof.distance) == (1, 1)
        assert not merged.move(0).proof.solved
        assert roots[leading_tree(roots, 1)] is short


def test_what_the_trees_know_of_different_moves_is_put_together():
    """No tree has solved the root; all together know that every move but one is lost."""
    moves = {(): (0, [0, 1, 2])}
    for action in (0, 1, 2):
        moves |= {(action,): (1, [0, 1]), (action, 0): [0.5, 0.5], (action, 1): [0.0, 1.0]}
    searcher = Searcher(SearchConfig(proofs=Proofs(numbers=WATCHED)), seed=1)
    searcher.search(written_game(moves), Limit(simulations=1))
    root = known_root(searcher.rooted_tree())
    unknown = root.move(0).proof
    lost = unknown._replace(
        low=0.0, high=0.0, distance=2, lost=True, proof_number=math.inf, disproof_number=0.0
    )
    trees = [
        root._replace(
            moves=tuple(
                move._replace(proof=lost if move.action == index else unknown, visits=10)
                for move in root.moves
            )
        )
        for index in (0, 1)
    ]
    merged = merged_root(trees)
    assert [move.proof.solved for move in merged.moves] == [True, True, False]
    assert [move.proof.lost for move in merged.moves] == [True, True, False]
    numbers = [(move.proof.proof_number, move.proof.disproof_number) for move in merged.moves]
    assert numbers == [(math.inf, 0.0), (math.inf, 0.0), (1.0, 1.0)]
    policy = [row.probability for row in root_statistics(merged, searcher.config)]
    assert policy == [0.0, 0.0, 1.0]


# Kept trees


@pytest.mark.full(but=["2"])
@pytest.mark.parametrize("threads", [2, 8])
def test_trees_are_kept_and_their_visits_count(threads):
    state = parallel_game()
    searcher, result = searched(threads, 800, state=state, amaf=NodeAmaf())
    row = next(row for row in result.actions if row.action == result.action)
    before = [dump(rooted) for rooted in trees_of(searcher)]
    searcher.advance(result.action)
    kept = [dump(rooted) for rooted in trees_of(searcher)]
    for whole, part in zip(before, kept, strict=True):
        below = {path[1:]: node for path, node in whole.items() if path[:1] == (result.action,)}
        assert part == below
    state.apply_action(result.action)
    again = searcher.search(state, Limit(simulations=50))
    assert (again.simulations, again.root_visits) == (50, row.visits + 50)
    check_whole(searcher)


def test_trees_that_never_saw_the_action_begin_anew():
    state = parallel_game(width=6)
    searcher, _ = searched(8, 24, state=state)
    action = state.legal_actions()[0]
    searcher.advance(action)
    state.apply_action(action)
    result = searcher.search(state, Limit(simulations=200))
    assert result.root_visits == 200
    check_whole(searcher)


def test_a_copy_goes_on_as_the_original_does():
    searcher, _ = searched(4)
    twin = copy.deepcopy(searcher)
    results = [one.search(parallel_game(5), Limit(simulations=100)) for one in (searcher, twin)]
    assert results[0].actions == results[1].actions


# What ends a search


@pytest.mark.full(but=1)
@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("seconds", [0.05, 0.4])
def test_seconds_are_kept(threads, seconds):
    overruns = []
    for seed in range(5):  # another process may take the processor for a while
        searcher = Searcher(SearchConfig(threads=threads), seed=seed)
        started = time.perf_counter()
        result = searcher.search(parallel_game(), Limit(seconds=seconds))
        overruns.append(time.perf_counter() - started - seconds)
        assert result.seconds >= seconds
        assert result.simulations > 0
        check_whole(searcher)
        if overruns[-1] < 0.05:
            return
    pytest.fail(f"overruns {overruns}")


@pytest.mark.full(but=3)
@pytest.mark.parametrize("failing_thread", [0, 1, 7])
@pytest.mark.parametrize("error", [ZeroDivisionError(), StopIteration(), KeyboardInterrupt()])
def test_an_exception_in_one_thread_ends_all_and_comes_out_as_it_is(failing_thread, error):
    made = []

    class Failing(Parallel):
        fails = False

        def clone(self):
            twin = super().clone()
            twin.fails = self.fails
            return twin

        def simulator(self, frame, evaluator):
            root = self.clone()
            root.fails = len(made) == failing_thread
            made.append(root)
            return ParallelSimulator(root, frame, num_distinct_actions=self.num_distinct_actions())

        def returns(self):
            if self.fails and next(calls) > 20:
                raise error
            return super().returns()

    calls = iter(range(10**9))
    searcher = Searcher(SearchConfig(threads=8), seed=1)
    with pytest.raises(type(error)) as raised:
        searcher.search(parallel_game(kind=Failing), Limit(seconds=60.0))
    assert raised.value is error
    assert len(made) == 8
    check_whole(searcher)
    assert searcher.result().simulations >= 20
    assert searcher.search(parallel_game(), Limit(simulations=100)).root_visits == 100


@pytest.mark.full
def test_the_trees_stand_still_while_progress_is_told():
    searcher = Searcher(SearchConfig(threads=4, amaf=NodeAmaf()), seed=1)
    seen = []

    def progress(result):
        before = [dump(rooted) for rooted in trees_of(searcher)]
        time.sleep(0.05)
        assert [dump(rooted) for rooted in trees_of(searcher)] == before
        check_whole(searcher)
        again = searcher.result()
        assert again.actions == result.actions
        seen.append(result.simulations)

    final = searcher.search(parallel_game(), Limit(seconds=2.0), progress=progress)
    assert len(seen) >= 2
    assert seen == sorted(seen)
    assert final.simulations >= seen[-1] > seen[0]


@pytest.mark.slow
def test_an_exception_in_progress_ends_all():
    error = ZeroDivisionError()

    def progress(result):
        raise error

    searcher = Searcher(SearchConfig(threads=8), seed=1)
    with pytest.raises(ZeroDivisionError) as raised:
        searcher.search(parallel_game(), Limit(seconds=30.0), progress=progress)
    assert raised.value is error
    check_whole(searcher)


# Memory, and games of one thread


@pytest.mark.compiled
def test_all_trees_together_keep_to_the_memory():
    state = parallel_game(5, depth=14, width=8, whole=False)
    for threads in (1, 4):
        searcher, result = searched(
            threads, 3000, state=state, max_memory_mb=0.1, expand_visits=1, rule=UCB1(c=5.0)
        )
        assert result.memory_full
        assert result.memory_bytes <= 0.1 * 2**20
        assert result.memory_bytes > 0.08 * 2**20
        assert result.simulations == 3000
        check_whole(searcher)


def test_games_in_the_interpreter_have_one_thread_and_it_is_said_once(caplog):
    checks.warn_one_thread.cache_clear()
    with caplog.at_level(logging.WARNING, logger="rave_agents"):
        for evaluator in (None, RandomEvaluator()):
            state = Position(RandomRules(4, depth=9))
            several = Searcher(SearchConfig(threads=3), seed=1, evaluator=evaluator)
            one = Searcher(SearchConfig(), seed=1, evaluator=evaluator)
            results = [s.search(state, Limit(simulations=200)) for s in (several, one)]
            assert results[0].actions == results[1].actions
            assert len(trees_of(several)) == 1
            assert dump(several) == dump(one)
    assert [record.message for record in caplog.records if "one thread" in record.message] == [
        caplog.records[-1].message
    ]


def test_a_search_of_one_thread_after_one_of_several_has_no_old_trees():
    searcher, _ = searched(4)
    result = searcher.search(Position(RandomRules(4, depth=9)), Limit(simulations=100))
    assert result.root_visits == 100
    assert len(trees_of(searcher)) == 1


# OpenSpiel's games, without the interpreter


@functools.cache
def native():
    pytest.importorskip("pyspiel")
    from rave_openspiel.native import is_in_use

    return is_in_use()


@pytest.mark.slow
@pytest.mark.full(but=1)
@pytest.mark.parametrize("preset", ["uct", "rave", "grave", "rave_pn"])
@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "hex(board_size=5)", "backgammon"])
def test_openspiel_games_in_eight_threads(name, preset, monkeypatch):
    if not native():
        pytest.skip("needs the bridge")
    monkeypatch.setenv("RAVE_AGENTS_GAMES", "openspiel")
    import pyspiel
    from rave_openspiel.states import OpenSpielState

    state = pyspiel.load_game(name).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    results = []
    for _ in range(2):
        searcher = Searcher(SearchConfig.preset(preset).replace(threads=8), seed=3)
        results.append(searcher.search(OpenSpielState(state), Limit(simulations=800)))
        assert len(trees_of(searcher)) == 8
        check_whole(searcher)
    if results[0].outcome is None:
        assert results[0].simulations == 800
        assert results[0].actions == results[1].actions


@pytest.mark.compiled
@pytest.mark.full
def test_bots_and_specs_take_threads():
    if not native():
        pytest.skip("needs the bridge")
    import pyspiel
    from rave_openspiel import RaveBot

    from rave_agents.agents.named_agents import make_agent
    from rave_agents.frameworks.adapters import load_game

    game = pyspiel.load_game("hex(board_size=4)")
    bots = [RaveBot(game, simulations=100, seed=1, threads=2) for _ in range(2)]
    returns = pyspiel.evaluate_bots(game.new_initial_state(), bots, 1)
    assert sorted(returns) == [-1.0, 1.0]
    assert len(bots[0].mcts_search(game.new_initial_state()).children) == 16
    twin = pickle.loads(pickle.dumps(bots[0]))
    assert twin.config.threads == 2
    agent = make_agent("rave(simulations=100,threads=2)", load_game("hex(board_size=4)"), 0)
    agent.step(load_game("hex(board_size=4)").new_initial_state())
    assert len(trees_of(agent.searcher)) == 2
    with pytest.raises(ValueError, match="threads must be an integer from 1 to 256"):
        RaveBot(game, threads=0)
