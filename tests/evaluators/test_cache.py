"""What an evaluator has answered is not asked again."""

import random

import numpy as np
import pyspiel
import pytest
from helpers.observed import drawing, observed_game

from rave_agents import BatchEvaluator, Limit, SearchConfig, Searcher, search_many, self_play

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


@pytest.mark.parametrize("leaves", [1, 4])
@pytest.mark.parametrize("game", GAMES)
def test_a_search_is_the_same_with_answers_that_are_kept(game, leaves):
    results, told = {}, {}
    states = [position_after(game, 3, seed) for seed in range(5)] * 2
    if leaves > 1 and game == "leduc_poker":
        pytest.skip("several leaves are for games in which nothing is hidden")
    for cache in (False, True):
        told[cache] = Told()
        results[cache] = search_many(
            states,
            Limit(simulations=60),
            evaluator=evaluator(told[cache], cache=cache),
            config=PUCT.replace(leaves=leaves),
            seed=1,
        )
    assert [r.actions for r in results[True]] == [r.actions for r in results[False]]
    assert told[True].seen <= told[False].seen
    assert told[True].count < told[False].count


def test_a_single_search_hardly_asks_for_a_position_twice():
    told = Told()
    searcher = Searcher(PUCT, seed=1, evaluator=evaluator(told, cache=True))
    searcher.search(pyspiel.load_game("connect_four").new_initial_state(), Limit(simulations=500))
    assert told.count < 1.02 * len(told.seen) < 500  # Two positions may share a place.


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
