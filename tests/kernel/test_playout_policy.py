"""Playouts that are steered to what won most in those before."""

import math
import random
from types import SimpleNamespace

import numpy as np
import pyspiel
import pytest
from helpers.games import RandomEvaluator, random_game
from helpers.trees import dump
from rave_openspiel.states import OpenSpielState

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.compiler.arrays import Axis
from rave_agents.kernel.hooks import on_backup
from rave_agents.kernel.measures.action_persistence import (
    GONE,
    LEFT,
    LEGAL_AGAIN,
    STILL_LEGAL,
    CountLifetimes,
)
from rave_agents.kernel.playouts import (
    PLAYOUTS_BETWEEN_UPDATES,
    AdaptivePlayouts,
    SensiblePlayouts,
    SteeredPlayouts,
    UniformPlayouts,
    WeightedPlayouts,
)
from rave_agents.kernel.utilities import GameRange
from rave_agents.searcher.tree_search import TreeSearch
from rave_agents.simulate.simulator import Header, flat_frame, make_frame
from rave_agents.tree.composition import searched_game
from rave_agents.tree.root_position import RootPosition
from rave_agents.tree.storage import assembled

GAMES = PLAYOUTS_BETWEEN_UPDATES


def learnt(games, *, temperature=0.5, **options):
    """The weights after games of [(player, action), ...] and their returns."""
    return learnt_by(SteeredPlayouts(temperature), games, **options)[0]


def learnt_by(policy, games, *, actions=3, low=-1.0, high=1.0, gone=10**12, again=0, lasting=0.0):
    """The weights, and whether playouts are drawn without them."""
    weights = np.ones((2, actions))
    sizes = {Axis.PLAYER: 2, Axis.ACTION: actions, Axis.ONE: 1}
    playouts = assembled(WeightedPlayouts(policy), sizes)
    lifetimes = assembled(CountLifetimes(), sizes)
    lifetimes.taken[[GONE, LEGAL_AGAIN]] = gone, again
    lifetimes.left[[LEFT, STILL_LEGAL]] = 1000, round(1000 * lasting)
    stream = np.ones(4, np.int64)
    for moves, returns in games:
        frame = make_frame(num_players=2, playouts=1, playout_stream=stream, action_weights=weights)
        frame.header[Header.NUM_PLAYOUTS] = 1
        frame.playout_ends[0] = len(moves)
        frame.returns[0] = returns
        for index, (player, action) in enumerate(moves):
            frame.move_players[index], frame.move_actions[index] = player, action
        search = SimpleNamespace(
            tree=None,
            frame=flat_frame(frame),
            utilities=GameRange(np.array([low, high])),
            settings=SimpleNamespace(num_players=2, num_actions=actions),
            path=SimpleNamespace(simulations=[0]),
            lifetimes=lifetimes,
        )
        on_backup(lifetimes, search, 0, 0)
        on_backup(playouts, search, 0, 0)
    return weights, bool(search.frame.header[Header.EVEN_WEIGHTS])


WON = [(0, 0), (1, 1)], (1.0, -1.0)
LOST = [(0, 1), (1, 1)], (-1.0, 1.0)


def test_weights_follow_the_means_of_each_players_actions():
    weights = learnt([WON, LOST] * (GAMES // 2))
    half = GAMES // 2
    lost, even = 1 / (half + 1), (half + 1) / (GAMES + 1)  # One win beside those seen.
    gains = np.array([[1.0, lost, 1.0], [1.0, even, 1.0]]) - 0.5
    assert weights == pytest.approx(np.exp(gains / 0.5))


def test_weights_change_after_so_many_playouts():
    games = [WON, LOST] * GAMES
    assert (learnt(games[: GAMES - 1]) == 1.0).all()
    assert (learnt(games[:GAMES]) != 1.0).any()


@pytest.mark.parametrize(
    ("wins", "others", "significance"),
    [(34, 0, 0.0), (35, 0, 2 / 27), (40, 0, 1.0), (35, 128, 0.0), (36, 192, 2 / 3)],
)
def test_trust_grows_with_the_share_of_variance_that_is_not_chance(wins, others, significance):
    """Two actions, 64 times each, the one winning as often as the other loses.

    Their means are d = wins / 32 - 1 and -d, so the spread is 128 d², of which chance makes 1 if
    all playouts have one of them, and 2 (1 - 64 / playouts) with playouts of the other player.
    """
    games = [([(1, 0)], (0.0, 0.0))] * others
    for playout in range(64):
        utility = 1.0 if playout < wins else -1.0
        games += [([(0, 0)], (utility, 0.0)), ([(0, 1)], (-utility, 0.0))]
    weights = learnt(games)
    assert math.log(weights[0, 2]) == pytest.approx(significance * 0.5 / 0.5)


def test_all_players_share_one_trust():
    """Of the first one's actions the one wins always; the second one's win equally often."""
    games = [([(0, action % 2), (1, action)], (1.0 - 2.0 * (action % 2), 0.0)) for action in (0, 1)]
    games += [([(0, 0), (1, 0)], (1.0, 0.0)), ([(0, 1), (1, 1)], (-1.0, 0.0))]
    weights = learnt(games * GAMES)
    assert math.log(weights[1, 2]) == pytest.approx(math.log(weights[0, 2]))


@pytest.mark.parametrize("meaningful", [False, True])
def test_differences_that_chance_accounts_for_leave_playouts_uniform(meaningful):
    draw = random.Random(1)
    games = []
    for _ in range(40 * GAMES):
        actions = draw.sample(range(20), 4)
        utility = draw.choice([-1.0, 1.0])
        if meaningful and 0 in actions:
            utility = 1.0
        games.append(([(0, action) for action in actions], (utility, -utility)))
    weights = learnt(games, actions=20, temperature=0.05)[0]
    assert (weights.max() > 3.0 * np.median(weights)) == meaningful
    assert meaningful or np.abs(np.log(weights)).max() < 0.2


def test_a_lower_temperature_makes_more_of_the_same_means():
    warm, cold = (learnt([WON, LOST] * GAMES, temperature=t)[0] for t in (1.0, 0.25))
    assert np.log(cold) == pytest.approx(4.0 * np.log(warm))


def test_weights_do_not_depend_on_the_scale_of_utilities():
    scaled = [(moves, tuple(5.0 + 10.0 * r for r in returns)) for moves, returns in (WON, LOST)]
    weights = learnt(scaled * GAMES, low=-5.0, high=15.0)
    assert weights == pytest.approx(learnt([WON, LOST] * GAMES))


def test_utilities_that_are_all_equal_leave_playouts_uniform():
    draws = [(moves, (0.0, 0.0)) for moves, _ in (WON, LOST)]
    assert (learnt(draws * GAMES, low=0.0, high=0.0) == 1.0).all()
    assert (learnt(draws * GAMES) == 1.0).all()


def test_ends_without_moves_are_not_counted():
    games = ([WON, LOST] * GAMES)[: GAMES - 1] + [([], (1.0, -1.0))] * GAMES
    assert (learnt(games) == 1.0).all()


@pytest.mark.parametrize(
    ("gone", "again", "trust"), [(0, 0, 0.0), (9, 0, 0.8), (6, 1, 0.5), (2, 2, 0.0), (0, 9, 0.0)]
)
def test_trust_is_the_excess_of_actions_that_are_gone_over_those_legal_again(gone, again, trust):
    """One counts as legal again beforehand."""
    weights = learnt([WON, LOST] * (GAMES // 2), gone=gone, again=again)
    assert math.log(weights[0, 0]) == pytest.approx(trust * 0.5 / 0.5)


def test_adaptive_playouts_are_steered_ones_where_no_action_is_repeated():
    weights, even = learnt_by(AdaptivePlayouts(0.5), [WON, LOST] * GAMES)
    assert (weights == learnt([WON, LOST] * GAMES)).all()
    assert not even


@pytest.mark.parametrize(("repeated", "trust"), [(5, 1.0), (7, 0.6), (10, 0.0), (30, 0.0)])
def test_adaptive_playouts_are_steered_less_where_actions_are_repeated(repeated, trust):
    """Of the hundred moves of each playout so many are the first one again."""

    def played(first, returns):
        others = [(1, 2 + place) for place in range(99 - repeated)]
        return [(0, first)] * (1 + repeated) + others, returns

    won, lost = played(0, (1.0, -1.0)), played(1, (-1.0, 1.0))
    games = [won, lost] * (GAMES // 2)
    full = learnt(games, actions=101)
    weights, even = learnt_by(AdaptivePlayouts(0.5), games, actions=101)
    assert np.log(weights) == pytest.approx(trust * np.log(full))
    assert even == (trust == 0.0)


@pytest.mark.parametrize(("lasting", "trust"), [(0.5, 1.0), (0.999, 1.0), (1.0, 0.0)])
def test_adaptive_playouts_are_not_steered_where_moves_leave_all_others_legal(lasting, trust):
    games = [WON, LOST] * GAMES
    weights, even = learnt_by(AdaptivePlayouts(0.5), games, lasting=lasting)
    assert np.log(weights) == pytest.approx(trust * np.log(learnt(games)))
    assert even == (trust == 0.0)


def test_adaptive_playouts_are_steered_where_a_player_may_move_twice_in_a_row():
    won = [(0, 0), (0, 2), (1, 1)], (1.0, -1.0)
    lost = [(0, 1), (0, 2), (1, 1)], (-1.0, 1.0)
    weights, even = learnt_by(AdaptivePlayouts(0.5), [won, lost] * GAMES, lasting=1.0)
    assert (weights == learnt([won, lost] * GAMES)).all()
    assert not even


@pytest.mark.full
def test_adaptive_playouts_are_sensible_where_rules_know_more(monkeypatch):
    """In Go, the trees are those of playouts that save chains, make shapes and fill no eyes."""
    monkeypatch.setenv("RAVE_AGENTS_GAMES", "compiled")
    state = OpenSpielState(pyspiel.load_game("go(board_size=5)").new_initial_state())
    trees = []
    for playouts in (AdaptivePlayouts(), SensiblePlayouts()):
        searcher = Searcher(SearchConfig(playouts=playouts), seed=1)
        searcher.search(state, Limit(simulations=20))
        trees.append(dump(searcher))
    assert trees[0] == trees[1]


def test_returns_beyond_the_stated_bounds_keep_weights_finite():
    beyond = [(moves, (1e6 * r, -1e6 * r)) for moves, (r, _) in (WON, LOST)]
    weights = learnt(beyond * GAMES, temperature=0.01)
    assert np.isfinite(weights).all()
    assert (weights > 0.0).all()


def weights_after(state, simulations):
    config = SearchConfig(playouts=SteeredPlayouts(0.05))
    search = TreeSearch()
    search.reseed(*np.random.SeedSequence(1).spawn(3))
    root = OpenSpielState(state)
    game = searched_game(root, config)
    search.enter(RootPosition(game, root, state.current_player()))
    search.open()
    search.begin(simulations=simulations, deadline=math.inf, memory_share=1.0)
    while search.run_slice():
        pass
    return search._frame.action_weights


@pytest.mark.full(but=["hex(board_size=4)-0-True", "connect_four-0-False"])
@pytest.mark.parametrize(
    ("name", "moves", "steered"),
    [
        ("hex(board_size=4)", 0, True),
        ("breakthrough(rows=6,columns=4)", 6, True),
        ("lines_of_action", 10, False),
        ("connect_four", 0, False),
        ("connect_four", 20, False),
        ("pig", 0, False),
    ],
)
def test_playouts_are_steered_only_where_actions_tell_something(name, moves, steered):
    state = pyspiel.load_game(name).new_initial_state()
    draw = random.Random(1)
    for _ in range(moves):
        state.apply_action(draw.choice(state.legal_actions()))
    weights = weights_after(state, 400)
    assert (weights.max() > 2.0) == steered
    assert steered or weights.min() > 0.5


def tree_of(playouts, evaluator=None):
    state = random_game(1, depth=4, width=5)
    config = SearchConfig(playouts=playouts)
    searcher = Searcher(config, seed=1, evaluator=evaluator)
    searcher.search(state, Limit(simulations=200))
    return dump(searcher)


def test_a_search_steers_its_playouts():
    assert tree_of(SteeredPlayouts(0.05)) != tree_of(UniformPlayouts())


def test_an_evaluator_has_no_playouts_to_steer():
    policies = [SteeredPlayouts(0.05), UniformPlayouts()]
    steered, uniform = (tree_of(policy, evaluator=RandomEvaluator()) for policy in policies)
    assert steered == uniform


def test_each_search_begins_with_uniform_playouts(monkeypatch):
    """What an earlier position's playouts have shown is not carried over."""
    # Compiled rules draw moves by weights otherwise than uniformly.
    monkeypatch.setenv("RAVE_AGENTS_GAMES", "openspiel")
    state = OpenSpielState(pyspiel.load_game("hex(board_size=3)").new_initial_state())
    searcher = Searcher(SearchConfig(playouts=SteeredPlayouts(0.05), reuse_tree=False), seed=1)
    searcher.search(state, Limit(simulations=200))
    fewer = PLAYOUTS_BETWEEN_UPDATES - 1
    searcher.reseed(7)
    searcher.search(state, Limit(simulations=fewer))
    uniform = Searcher(SearchConfig(reuse_tree=False), seed=7)
    uniform.search(state, Limit(simulations=fewer))
    assert dump(searcher) == dump(uniform)
