"""A value function that the search learns from what its playouts show."""

import math

import numpy as np
import pytest
from helpers.spiel import after
from rave_openspiel import OpenSpielState
from rave_openspiel.native import bridge

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.kernel.values.online import (
    COUNT,
    ERROR,
    MEAN,
    MOST_SAMPLES,
    USEFUL_SHARE,
    VARIANCE,
    LearnedEdges,
    OnlineValue,
    value_trust,
)
from rave_agents.simulate.frame import Header

pytestmark = pytest.mark.skipif(bridge() is None, reason="the bridge could not be compiled")


@pytest.fixture(autouse=True)
def on_the_bridge(monkeypatch):
    """Compiled rules show boards, see tests/games/test_shown_boards.py."""
    monkeypatch.setenv("RAVE_AGENTS_GAMES", "openspiel")


LEARNING = SearchConfig.preset("auto").replace(reuse_tree=True)


class Followed:
    """A search that is looked at after every simulation."""

    def __init__(self, state, config=LEARNING, seed=1):
        self.state, self.searcher = state, Searcher(config, seed=seed)

    def simulate(self):
        return self.searcher.search(OpenSpielState(self.state), Limit(simulations=1))

    @property
    def tree(self):
        return self.searcher._trees.searches[0].tree

    @property
    def frame(self):
        return self.searcher._trees.searches[0]._frame

    @property
    def learned(self):
        return self.tree.running.judging

    def path(self):
        return self.frame.path[: self.frame.header[Header.PATH_LENGTH]].tolist()

    def samples(self):
        """(who is to move, what they observe) at each position that was shown."""
        count = self.frame.header[Header.NUM_SAMPLES]
        return list(zip(self.frame.sample_players[:count], self.frame.samples[:count], strict=True))


class Textbook:
    """Logistic regression by AdaGrad, one position after the other, in double precision."""

    def __init__(self, players, outputs, size, low, high):
        self.weights = np.zeros((players, players, size + 1))
        self.squares = np.zeros_like(self.weights)
        self.outputs, self.low, self.high = outputs, low, high

    def values(self, player, seen):
        shown = np.append(seen, 1.0)
        logits = self.weights[player, : self.outputs] @ shown
        return 1.0 / (1.0 + np.exp(-logits))

    def learn(self, player, seen, returns):
        shown = np.append(seen, 1.0)
        ends = (np.array(returns)[: self.outputs] - self.low) / (self.high - self.low)
        gradients = np.outer(self.values(player, seen) - ends, shown)
        squares = self.squares[player, : self.outputs]
        squares += gradients**2
        self.weights[player, : self.outputs] -= 0.1 * gradients / np.sqrt(squares + 1e-3)


GAMES = ["mancala", "clobber(rows=3,columns=4)", "chinese_checkers(players=3)", "catch", "pig"]


@pytest.mark.full(but=["catch"])
@pytest.mark.parametrize("text", GAMES)
def test_the_weights_are_those_of_logistic_regression_by_adagrad(text):
    state = after(text)
    if state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    game, players = state.get_game(), state.num_players()
    constant = players == 2
    followed = Followed(state)
    size = math.prod(game.observation_tensor_shape())
    bounds = game.min_utility(), game.max_utility()
    book = Textbook(players, 1 if constant else players, size, *bounds)
    learned = 0
    for _ in range(40):
        followed.simulate()
        returns = followed.frame.returns[0]
        if followed.frame.playout_ends[0] == 0:
            continue  # An end, or an outcome that was proven.
        for player, seen in followed.samples():
            book.learn(player, seen, returns)
            learned += 1
        weights = followed.learned.weights.reshape(book.weights.shape)
        np.testing.assert_allclose(weights, book.weights, atol=2e-3)
    assert learned > 40
    assert np.abs(book.weights).max() > 0.05


@pytest.mark.parametrize("text", ["mancala", "clobber", "oware"])
def test_samples_are_the_leaf_and_every_fourth_position_of_the_playout(text):
    followed = Followed(after(text))
    several = 0
    for _ in range(30):
        followed.simulate()
        frame = followed.frame
        moves = frame.move_actions[: frame.playout_ends[0]].tolist()
        if not moves:
            continue
        leaf = after(text, *followed.path())
        expected = []
        for number, move in enumerate(moves):
            if number % 4 == 0 and len(expected) < MOST_SAMPLES:
                player = leaf.current_player()
                expected.append((player, leaf.observation_tensor(player)))
            leaf.apply_action(move)
        found = followed.samples()
        assert [player for player, _ in found] == [player for player, _ in expected]
        for (_, seen), (_, tensor) in zip(found, expected, strict=True):
            np.testing.assert_array_equal(seen, np.float32(tensor))
        several += len(found) > 3
    assert several > 10


@pytest.mark.parametrize("text", ["mancala", "clobber(rows=3,columns=4)"])
def test_the_children_of_a_new_node_are_judged_by_the_weights_of_that_moment(text):
    followed, judged = Followed(after(text)), 0
    game = followed.state.get_game()
    low, high = game.min_utility(), game.max_utility()
    book = Textbook(2, 1, math.prod(game.observation_tensor_shape()), low, high)
    for _ in range(40):
        followed.simulate()
        frame, tree = followed.frame, followed.tree.arrays
        if frame.header[Header.EXPAND] and frame.playout_ends[0] > 0:
            leaf = after(text, *followed.path())
            node = int(tree.used[0]) - 1
            while tree.node_player[node] < 0:  # Nodes of children that end the game come after.
                node -= 1
            first = int(tree.node_first_edge[node])
            for index, action in enumerate(leaf.legal_actions()):
                child = leaf.child(action)
                expected = child.returns()
                if not child.is_terminal():
                    player = child.current_player()
                    value = book.values(player, child.observation_tensor(player))[0]
                    expected = [low + (high - low) * value, -(low + (high - low) * value)]
                utilities = followed.learned.utilities[2 * (first + index) :][:2]
                np.testing.assert_allclose(utilities, expected, atol=5e-3)
                judged += 1
        if frame.playout_ends[0] > 0:
            for player, seen in followed.samples():
                book.learn(player, seen, frame.returns[0])
    assert judged > 30


def with_errors(error, variance):
    errors = np.zeros(4)
    errors[[ERROR, VARIANCE, MEAN, COUNT]] = error, variance, 0.5, 100
    return LearnedEdges(OnlineValue(), *(np.zeros(0, np.float32),) * 3, errors, np.zeros(1))


def test_values_are_trusted_by_the_share_of_the_variance_that_they_explain():
    shares = [-1.0, 0.0, USEFUL_SHARE / 2, USEFUL_SHARE, 1.0]
    trusts = [value_trust(with_errors(10.0 * (1.0 - share), 10.0)) for share in shares]
    assert trusts == pytest.approx([0.0, 0.0, 0.5, 1.0, 1.0])


def test_nothing_is_trusted_before_the_first_playout():
    assert value_trust(with_errors(0.0, 0.0)) == 0.0


def test_the_first_end_says_nothing_of_trust_since_there_is_no_mean_before_it():
    followed = Followed(after("mancala"))
    assert followed.simulate().value_trust == 0.0
    assert followed.learned.errors[COUNT] > 0


def searched(text, config=LEARNING, simulations=300, **searcher):
    found = Searcher(config, seed=3, **searcher)
    return found.search(OpenSpielState(after(text)), Limit(simulations=simulations))


@pytest.mark.full
def test_values_are_trusted_where_what_is_seen_foretells_the_end():
    """In Mancala it is the counters in the stores; in Nim the parity of many piles."""
    result = searched("mancala", simulations=500)
    assert result.value_trust > 0.6
    told = f"values learned from playouts trusted {result.value_trust:.2f}: they predict"
    assert any(line.startswith(told) for line in result.remarks)
    assert result.to_dict()["value_trust"] == result.value_trust
    assert searched("nim(pile_sizes=7;7;7;7)").value_trust < 0.3


@pytest.mark.slow
def test_without_trust_the_search_is_the_one_that_learns_nothing(monkeypatch):
    """The means and the order of moves are as they are without learning."""
    state, unsure = after("nim(pile_sizes=5;5;5;5)"), LEARNING.replace(learned_weight=0.0)
    unlearned = LEARNING.replace(learning="no_learning")
    results = [
        Searcher(config, seed=5).search(OpenSpielState(state), Limit(simulations=150))
        for config in (unsure, unlearned)
    ]
    visits = [[move.visits for move in result.actions] for result in results]
    assert visits[0] == visits[1]


@pytest.mark.parametrize(
    ("text", "config"),
    [
        ("kuhn_poker", LEARNING),  # Hidden information.
        ("goofspiel(num_cards=4,imp_info=False)", LEARNING),  # Simultaneous moves.
        ("mancala", SearchConfig.preset("rave_pn")),
        ("mancala", LEARNING.replace(utility_range="observed")),
    ],
)
def test_nothing_is_learned_where_nothing_can_be_seen_or_nothing_shall_be(text, config):
    state = after(text)
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    result = Searcher(config, seed=1).search(OpenSpielState(state), Limit(simulations=50), player=0)
    assert result.value_trust is None
    assert not any("learned from playouts" in line for line in result.remarks)


def test_a_value_function_of_the_users_own_takes_its_place():
    result = searched("mancala", simulations=30, evaluator=lambda state: [0.0, 0.0])
    assert result.value_trust is None


def test_learning_goes_on_from_move_to_move():
    state = after("mancala")
    searcher = Searcher(LEARNING, seed=2)
    first = searcher.search(OpenSpielState(state), Limit(simulations=200))
    before = searcher._trees.searches[0].tree.running.judging.errors[COUNT]
    state.apply_action(first.action)
    searcher.search(OpenSpielState(state), Limit(simulations=10))
    assert searcher._trees.searches[0].tree.running.judging.errors[COUNT] > before > 0


def test_the_state_is_left_as_it_was():
    state = after("pig", 0)
    before = str(state), state.history()
    Searcher(LEARNING, seed=1).search(OpenSpielState(state.child(0)), Limit(simulations=50))
    assert (str(state), state.history()) == before


@pytest.mark.parametrize(
    ("learning", "message"),
    [
        ("online_value(learned_weight=1.5)", r"must be a number in \[0, 1\], got 1.5"),
        ("online_value(step_size=0)", "learning.step_size must be a finite number above 0, got 0"),
        ("online_vlaue", "online_value"),
    ],
)
def test_what_makes_no_sense_is_refused(learning, message):
    with pytest.raises(ValueError, match=message):
        SearchConfig(learning=learning)
