"""Values and priors have one check and one tolerance, whoever gives them."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from helpers import zoo
from helpers.games import RandomEvaluator, random_game
from helpers.observed import observed_game
from rave_pettingzoo import ParallelState

from rave_agents import BatchEvaluator, Limit, SearchConfig, Searcher
from rave_agents.errors import GameError
from rave_agents.game.utility_limits import ROUNDING, utility_limits
from rave_agents.games import rules_class
from rave_agents.parts import Judging, implements, position_value
from rave_agents.simulate.checked_answers import CheckedAnswers

ROOM = 2.0 * ROUNDING
"""How far values may lie beyond utilities from -1 to 1."""


class Constant(NamedTuple):
    """A compiled value, the same everywhere."""

    number: float


@implements(position_value, Constant)
def constant(value, rules, state, returns):
    returns[0], returns[1] = value.number, -value.number


class Unbounded(rules_class("nogo")):
    """NoGo that states no utilities."""

    name = "test_unbounded"
    min_utility, max_utility, utility_sum = -math.inf, math.inf, None


class Same(RandomEvaluator):
    """An evaluator with the same values everywhere."""

    def __init__(self, *values):
        self.values = values

    def evaluate(self, state):
        return list(self.values)


def observed(stated):
    return observed_game(3, depth=8, zero_sum=stated, stated=stated)


def by_an_evaluator(number, stated):
    return Searcher(seed=1, evaluator=Same(number, -number)), observed(stated)


def by_a_value_function(number, stated):
    config = SearchConfig(judging=Judging(playout_moves=0))
    return Searcher(config, seed=1, evaluator=lambda state: [number, -number]), observed(stated)


def by_a_compiled_value(number, stated):
    config = SearchConfig(judging=Judging(playout_moves=0))
    rules = (rules_class("nogo") if stated else Unbounded)(board_size=3)
    return Searcher(config, seed=1, evaluator=Constant(number)), rules.new_initial_state()


def by_batches(number, stated):
    def answer(batch):
        values = np.tile([number, -number], (len(batch.players), 1))
        return np.zeros(batch.legal_actions_mask.shape), values

    config = SearchConfig.preset("puct")
    return Searcher(config, seed=1, evaluator=BatchEvaluator(answer)), observed(stated)


sources = pytest.mark.parametrize(
    "source", [by_an_evaluator, by_a_value_function, by_a_compiled_value, by_batches]
)


def search(source, number, *, stated=True):
    searcher, state = source(number, stated)
    return searcher.search(state, Limit(simulations=5))


@sources
def test_a_value_beyond_the_utilities_by_rounding_is_taken(source):
    assert search(source, 1.0 + 0.9 * ROOM).simulations == 5


@sources
def test_a_value_further_beyond_is_refused(source):
    with pytest.raises(GameError, match="from -1 to 1"):
        search(source, 1.0 + 1.1 * ROOM)


@sources
@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_value_must_be_finite_where_no_utilities_are_stated(source, number):
    with pytest.raises(GameError):
        search(source, number, stated=False)


@pytest.mark.parametrize(("over", "message"), [(0.9, None), (1.1, "divide each by their sum")])
def test_priors_may_sum_to_more_than_1_by_rounding(over, message):
    class Rounded(RandomEvaluator):
        def prior(self, state):
            total = 1.0 + over * ROUNDING
            return [(action, total * p) for action, p in super().prior(state)]

    searcher = Searcher(seed=1, evaluator=Rounded())
    if message is None:
        assert searcher.search(random_game(3), Limit(simulations=5)).simulations == 5
        return
    with pytest.raises(GameError, match=message):
        searcher.search(random_game(3), Limit(simulations=5))


class Lucky(zoo.Endless):
    """Agents gain something at random beside what they say."""

    metadata = {"name": "lucky_v0", "hidden_information": None}  # noqa: RUF012

    def reset(self, seed=None, options=None):
        self.random = np.random.default_rng(seed)
        return super().reset(seed, options)

    def step(self, actions):
        seen, rewards, *rest = super().step(actions)
        return seen, {agent: gain + self.random.random() for agent, gain in rewards.items()}, *rest


@pytest.mark.full
def test_values_are_checked_where_outcomes_of_joint_actions_are_drawn():
    env = Lucky()
    observations, infos = env.reset(seed=1)
    state = ParallelState(env, observations=observations, infos=infos)
    searcher = Searcher(seed=1, evaluator=Same(math.nan, math.nan))
    with pytest.raises(GameError, match="finite numbers"):
        searcher.search(state, Limit(simulations=5), player=0)


ANSWERS = CheckedAnswers(utility_limits(random_game(1)), 9, simultaneous=False, evaluator=None)


@pytest.mark.parametrize("kind", [int, np.int32])
@pytest.mark.parametrize(("unit", "drawn"), [(0.0, 4), (0.24, 4), (0.25, 7), (0.999, 2)])
def test_an_outcome_is_drawn_in_proportion_to_its_probability(kind, unit, drawn):
    outcomes = [(kind(4), 0.25), (kind(7), 0.5), (kind(2), 0.25)]
    assert ANSWERS.drawn_outcome(outcomes, unit) == drawn


@pytest.mark.parametrize("outcome", [0.5, "4", None])
@pytest.mark.parametrize("unit", [0.1, 0.9])
def test_an_outcome_that_is_no_whole_number_is_refused_whether_or_not_it_is_drawn(outcome, unit):
    with pytest.raises(GameError, match="pairs of a whole number and its probability"):
        ANSWERS.drawn_outcome([(outcome, 0.5), (1, 0.5)], unit)
