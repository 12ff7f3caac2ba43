"""The loop of all learners, with one that plays nothing; and that all learn the same anywhere."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers.own_networks import Perceptron

from rave_agents.games import rules_class
from rave_agents.learning import rounds
from rave_agents.learning.learn import learn
from rave_agents.learning.rounds import Budget, Learner, learn_rounds
from rave_agents.learning.train import train


class Counting(Learner[int]):
    """Plays rounds of at most three games; its value is their number."""

    def learn_round(self, games=None):
        self.games += 3 if games is None else min(3, games)
        self.positions = 10 * self.games
        self.loss = 1.0 / self.games

    def value(self):
        return self.games


def test_rounds_have_equal_shares_of_the_games_and_end_where_the_callback_says_so():
    fitted, shown = [], []
    budget = Budget(None, 20, 4)
    assert learn_rounds(Counting(), budget, shown.append, fitted.append) == 20
    assert fitted == [5, 10, 15, 20]
    assert [each.games for each in shown] == [3, 5, 8, 10, 13, 15, 18, 20]
    assert (shown[-1].positions, shown[-1].loss) == (200, 0.05)
    assert learn_rounds(Counting(), budget, False, lambda games: games < 10) == 10


def test_a_time_is_shared_by_rounds_and_stands_still_in_the_callback(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(rounds.time, "perf_counter", lambda: now[0])

    class Slow(Counting):
        def learn_round(self, games=None):
            assert games is None
            now[0] += 1.0
            super().learn_round()

    def check(games):
        now[0] += 1000.0

    shown = []
    assert learn_rounds(Slow(), Budget(0.1, None, 2), shown.append, check) == 18
    assert [each.seconds for each in shown] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_a_round_is_played_however_short_the_time_is(monkeypatch):
    monkeypatch.setattr(rounds.time, "perf_counter", iter(range(0, 10**6, 1000)).__next__)
    assert learn_rounds(Counting(), Budget(1e-6, None, 3), False, None) == 3


def test_a_budget_says_how_far_it_is():
    learned = rounds.Learned(4, 30, math.nan, 7.5)
    for budget, planned in ((Budget(None, 20, 4), 20), (Budget(1.0, None, 4), 60)):
        view = budget.view(learned)
        assert view.planned == planned
        assert view.text(80) == "4 games, 30 positions"


def test_processes_share_a_round_and_have_seeds_of_their_own():
    learner = Counting(seed=1, jobs=3, executor=ThreadPoolExecutor(1))
    shares = list(learner.shares(8))
    assert [games for games, _ in shares] == [2, 3, 3]
    assert len({seed.generate_state(1)[0] for _, seed in shares}) == 3
    assert learner.play(lambda share: share[0] + 1, shares) == [3, 4, 4]


BOARD = rules_class("breakthrough")(rows=5, columns=4)


@pytest.mark.full(but=3)
@pytest.mark.parametrize(
    ("learning", "numbers"),
    [
        (lambda **options: learn(BOARD, games=12, rounds=2, **options), "weights"),
        (
            lambda **options: learn(
                BOARD, games=4, rounds=1, what="policy", simulations=5, **options
            ),
            "numbers",
        ),
        (
            lambda **options: train(
                "tic_tac_toe", Perceptron, games=3, rounds=1, simulations=4, **options
            ),
            "state_dict",
        ),
    ],
    ids=["value", "policy", "network"],
)
def test_all_learn_the_same_for_a_seed_wherever_processes_run(learning, numbers):
    found = []
    for executor in (ThreadPoolExecutor(1), ThreadPoolExecutor(2)):
        learned = learning(jobs=2, seed=3, progress=False, executor=executor)
        each = getattr(learned, numbers)
        found.append(each()["out"] if callable(each) else each)
    assert np.array_equal(*found)
    assert found[0].any()
