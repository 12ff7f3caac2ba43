"""What an evaluator has answered is not asked again."""

import random

import numpy as np
import pyspiel
import pytest
from helpers.observed import LongRules, Observed, drawing, observed_game, written
from helpers.trees import check_tree, positions_judged

from rave_agents import BatchEvaluator, Limit, SearchConfig, Searcher, search_many, self_play
from rave_agents.evaluators import cache as cache_module
from rave_agents.parts import DirichletNoise
from rave_agents.searcher.multi_search import Task, search_together

PUCT = SearchConfig.preset("puct")
GAMES = (
    "connect_four",
    "tic_tac_toe",
    "breakthrough(rows=5,columns=4)",
    "backgammon",
    "hex(board_size=3)",
    "mancala",
    "leduc_poker",
)


class Told:
    """Judges by a formula of what it is told, and counts positions and those that came again."""

    def __init__(self):
        self.count, self.seen = 0, set()

    def __call__(self, batch):
        values = []
        for row in zip(*batch, strict=True):
            self.count += 1
            key = b"".join(np.ascontiguousarray(part).tobytes() for part in row)
            self.seen.add(key)
            values.append(np.random.default_rng(list(key)).integers(-8, 9, 40) / 8)
        values = np.array(values)
        columns = np.arange(batch.legal_actions_mask.shape[1]) % 39
        return values[:, 1 + columns], values[:, 0]


def evaluator(told, *, cache):
    return BatchEvaluator(told, cache=cache)


def position_after(game, moves, seed):
    draw = random.Random(seed)
    state = pyspiel.load_game(game).new_initial_state()
    while moves > 0 or state.is_chance_node():
        actions = [a for a, _ in state.chance_outcomes()] if state.is_chance_node() else None
        state.apply_action(draw.choice(actions or state.legal_actions()))
        moves -= 1
    return state


@pytest.mark.slow
@pytest.mark.full(but=["hex(board_size=3)"])
@pytest.mark.parametrize("game", GAMES)
def test_a_search_is_the_same_with_answers_that_are_kept(game):
    results, told = {}, {}
    states = [position_after(game, 3, seed) for seed in range(5)] * 2
    for cache in (False, True):
        told[cache] = Told()
        results[cache] = search_many(
            states,
            Limit(simulations=60),
            evaluator=evaluator(told[cache], cache=cache),
            config=PUCT,
            seed=1,
        )
    assert [r.actions for r in results[True]] == [r.actions for r in results[False]]
    assert told[True].seen <= told[False].seen
    assert told[True].count < told[False].count


def test_a_single_search_hardly_asks_for_a_position_twice():
    told = Told()
    searcher = Searcher(PUCT, seed=1, evaluator=evaluator(told, cache=True))
    searcher.search(pyspiel.load_game("connect_four").new_initial_state(), Limit(simulations=200))
    assert told.count < 1.02 * len(told.seen) < 200  # Two positions may share a place.


@pytest.mark.full(but=["connect_four"])
@pytest.mark.parametrize("game", ["connect_four", "hex(board_size=4)", "breakthrough"])
def test_with_several_leaves_what_is_known_takes_no_place_in_a_batch(game):
    sizes, told = [], Told()

    def judge(batch):
        sizes.append(len(batch.players))
        return told(batch)

    searcher = Searcher(PUCT.replace(leaves=4), seed=1, evaluator=BatchEvaluator(judge))
    result = searcher.search(position_after(game, 4, 1), Limit(simulations=300))
    assert sum(row.visits for row in result.actions) == 299
    assert sum(sizes) < 300
    assert sizes[1:-3] == [4] * (len(sizes) - 4)
    check_tree(searcher.rooted_tree(), judged=True)


class Unordered(Observed):
    """A game whose players see what was played, but not in which order."""

    def observation(self, player):
        return written(sorted(self.history))


def test_where_values_may_get_another_scale_what_is_known_waits_for_the_others():
    """Values grow with the depth, and so the scale does: also by what other searches asked."""

    def judge(batch):
        depths = (batch.observations >= 0).sum(axis=1)
        return np.zeros(batch.legal_actions_mask.shape), np.stack([depths, -depths], axis=1)

    evaluator = BatchEvaluator(judge)
    config = PUCT.replace(leaves=8, root_noise=DirichletNoise())
    searchers = [Searcher(config, seed=seed, evaluator=evaluator) for seed in range(8)]
    game = Unordered(LongRules(0, stated=False))
    tasks = [Task(each, game, Limit(simulations=30)) for each in searchers]
    results = search_together(tasks, side_by_side=1)
    for searcher, result in zip(searchers, results, strict=True):
        check_tree(searcher.rooted_tree(), judged=True)
        told = sum(row.visits * row.value for row in result.actions)
        ended = positions_judged(searcher.rooted_tree())
        assert told == pytest.approx(sum(len(history) * count for history, count in ended))


@pytest.mark.full
def test_of_more_answers_than_there_is_room_for_the_latest_are_kept(monkeypatch):
    monkeypatch.setattr(cache_module, "MOST_ANSWERS", 128)
    monkeypatch.setattr(cache_module, "MOST_PRIORS", 600)
    results, told = {}, {}
    state = position_after("connect_four", 2, 1)
    for keeps in (False, True):
        told[keeps] = Told()
        results[keeps] = search_many(
            [state] * 4,
            Limit(simulations=200),
            evaluator=evaluator(told[keeps], cache=keeps),
            seed=1,
            side_by_side=1,
        )
    assert [r.actions for r in results[True]] == [r.actions for r in results[False]]
    assert len(told[True].seen) < told[True].count < told[False].count


def test_another_search_asks_anew_as_the_network_may_have_learned():
    told = Told()
    searcher = Searcher(PUCT, seed=1, evaluator=evaluator(told, cache=True))
    state = pyspiel.load_game("connect_four").new_initial_state()
    searcher.search(state, Limit(simulations=50))
    count = told.count
    searcher.reset()
    searcher.search(state, Limit(simulations=50))
    assert told.count > 1.8 * count


def test_self_play_asks_anew_after_the_caller_had_examples():
    learned = [0.0]

    def value(batch):
        return np.zeros(batch.legal_actions_mask.shape), np.full(len(batch.players), learned[0])

    game = pyspiel.load_game("tic_tac_toe")
    games = self_play(game, BatchEvaluator(value), games=3, simulations=20, seed=1, side_by_side=1)
    found = []
    for example in games:
        found.append((example.game, example.value))
        learned[0] = 0.5
    openings = [next(value for game, value in found if game == number) for number in range(3)]
    assert openings[1] != openings[0]
    assert openings[2] == openings[1]


def test_games_of_unlike_searches_have_positions_in_common():
    counts = {}
    for cache in (False, True):
        sizes = []
        list(
            self_play(
                observed_game(4, depth=8, chance=0.3),
                drawing(3, sizes=sizes, cache=cache),
                games=6,
                simulations=20,
                seed=3,
            )
        )
        counts[cache] = sum(sizes)
    assert counts[True] < 0.75 * counts[False]


class Parity(Observed):
    """A long game in which players see no more than whose turn it is."""

    def observation(self, player):
        return np.array([len(self.history) % 2], np.float32)


def test_a_search_that_knows_all_answers_looks_at_its_limits():
    game = Parity(LongRules(0, zero_sum=True))
    searcher = Searcher(PUCT, seed=1, evaluator=drawing(1))
    result = searcher.search(game, Limit(seconds=0.1, simulations=3_000_000))
    assert result.simulations < 3_000_000
    results = search_many([game] * 3, Limit(simulations=200), evaluator=drawing(1), seed=1)
    assert [result.simulations for result in results] == [200] * 3


def test_what_is_said_of_an_evaluator_later_counts_from_the_next_search():
    told = Told()
    searcher = Searcher(PUCT, seed=1, evaluator=evaluator(told, cache=True))
    state = position_after("connect_four", 2, 1)
    searcher.search(state, Limit(simulations=20))
    searcher.reset()
    searcher.evaluator.cache, told.count = False, 0
    searcher.search(state, Limit(simulations=20))
    assert told.count == 20


def test_one_searcher_searches_games_of_several_shapes():
    shapes = []

    def judge(batch):
        shapes.append((batch.observations.shape[1:], batch.legal_actions_mask.shape[1]))
        return np.zeros(batch.legal_actions_mask.shape), np.zeros(len(batch.players))

    searcher = Searcher(PUCT, seed=1, evaluator=BatchEvaluator(judge))
    for game in ("tic_tac_toe", "go(board_size=9)", "connect_four"):
        searcher.search(position_after(game, 0, 1), Limit(simulations=2))
    assert shapes[::2] == [((3, 3, 3), 9), ((4, 9, 9), 82), ((3, 6, 7), 7)]
