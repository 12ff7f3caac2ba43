"""The Searcher: determinism, kept subtrees, final moves, what it refuses."""

import math
from collections import Counter

import numpy as np
import pytest
from helpers.games import Position, RandomEvaluator, random_game, written_game
from helpers.trees import check_tree, dump, stored

from rave_agents import GameError, Limit, SearchConfig, Searcher
from rave_agents.games import rules_class
from rave_agents.kernel import tree as trees
from rave_agents.kernel.tree import ROOT
from rave_agents.parts import (
    PUCT,
    UCB1,
    DirichletNoise,
    MaxChild,
    NoAmaf,
    NodeAmaf,
    NoProofs,
    RobustChild,
    SecureChild,
)


def searched(seed=1, simulations=300, *, state=None, evaluator=None, **changes):
    searcher = Searcher(SearchConfig(**changes), seed=seed, evaluator=evaluator)
    state = random_game(4, depth=9) if state is None else state
    return searcher, searcher.search(state, Limit(simulations=simulations))


def first_choice(*returns, **rules):
    """A game of one move; the returns of each action."""
    nodes = {(): (0, range(len(returns)))}
    nodes |= {(action,): list(values) for action, values in enumerate(returns)}
    return written_game(nodes, num_players=len(returns[0]), **rules)


# Determinism


@pytest.mark.full(but=3)
@pytest.mark.parametrize("changes", [{}, {"amaf": NodeAmaf()}, {"root_noise": DirichletNoise()}])
@pytest.mark.parametrize("seed", [0, 1, 2**70])
def test_the_same_seed_gives_the_same_tree(seed, changes):
    (first, result), (second, again) = searched(seed, **changes), searched(seed, **changes)
    assert dump(first) == dump(second)
    assert result.actions == again.actions
    assert result.action == again.action


def test_different_seeds_give_different_trees():
    dumps = [dump(searched(seed)[0]) for seed in range(4)]
    assert all(dumps[0] != other for other in dumps[1:])


def test_zero_is_a_seed_and_none_is_not():
    assert dump(searched(0)[0]) == dump(searched(0)[0])
    assert dump(searched(None)[0]) != dump(searched(None)[0])


@pytest.mark.compiled
def test_asking_for_results_and_progress_does_not_change_the_tree(monkeypatch):
    monkeypatch.setattr("rave_agents.searcher.searcher.PROGRESS_SECONDS", 0.001)
    plain, _ = searched(simulations=25_000)
    asked = Searcher(SearchConfig(), seed=1)
    results = []

    def progress(result):
        results.extend(asked.result().action for _ in range(5))
        results.append(result.action)

    asked.search(random_game(4, depth=9), Limit(simulations=25_000), progress=progress)
    assert results
    assert dump(asked) == dump(plain)
    assert asked.result() == asked.result()


def test_several_searches_with_one_seed_repeat():
    def run():
        searcher = Searcher(SearchConfig(amaf=NodeAmaf()), seed=5)
        found = []
        for number in range(4):
            result = searcher.search(random_game(number), Limit(simulations=100))
            found.append((result.action, result.actions))
        return found

    assert run() == run()


def test_reseeding_starts_the_streams_again():
    searcher = Searcher(seed=3)
    searcher.search(random_game(4), Limit(simulations=10))
    searcher.reseed(1)
    searcher.search(random_game(4, depth=9), Limit(simulations=300))
    assert dump(searcher) == dump(searched(1)[0])


# Keeping subtrees


@pytest.mark.parametrize("amaf", [NoAmaf(), NodeAmaf()])
def test_advance_keeps_exactly_the_subtree(amaf):
    state = random_game(4, depth=9)
    searcher, result = searched(amaf=amaf, state=state, simulations=500)
    whole = dump(searcher)
    edge = next(row for row in result.actions if row.action == result.action)
    searcher.advance(result.action)
    expected = {path[1:]: node for path, node in whole.items() if path[:1] == (result.action,)}
    assert len(expected) > 10
    assert dump(searcher) == expected
    assert searcher.tree.node_visits[ROOT] == edge.visits
    check_tree(searcher)
    state.apply_action(result.action)
    again = searcher.search(state, Limit(simulations=40))
    assert again.simulations == 40
    assert again.root_visits == edge.visits + 40


def test_advance_through_chance():
    nodes = {(): (0, [0, 1]), (0,): [(0, 0.5), (1, 0.5)], (1,): [0.0, 1.0]}
    for outcome in (0, 1):
        nodes |= {(0, outcome): (1, [0, 1]), (0, outcome, 0): [1, 0], (0, outcome, 1): [0.5, 0.5]}
    state = written_game(nodes)
    searcher, _ = searched(state=state)
    whole = dump(searcher)
    searcher.advance(0)
    with pytest.raises(ValueError, match="Chance moves"):
        searcher.result()
    searcher.advance(1)
    assert dump(searcher) == {p[2:]: n for p, n in whole.items() if p[:2] == (0, 1)}
    for action in (0, 1):
        state.apply_action(action)
    visits = int(searcher.tree.node_visits[ROOT])
    assert searcher.search(state, Limit(simulations=5)).root_visits == visits + 5


def test_another_position_drops_the_kept_tree():
    state = random_game(4, depth=9)
    searcher, result = searched(state=state)
    searcher.advance(result.action)
    assert searcher.tree is not None
    assert searcher.search(state, Limit(simulations=20)).simulations == 20
    # The same search once more is a new one too.
    assert searcher.search(state, Limit(simulations=20)).simulations == 20


def test_advance_at_another_position_drops_the_tree():
    state = random_game(4, depth=9)
    searcher, result = searched(state=state)
    searcher.advance(result.action, state=state)
    assert searcher.tree is not None
    searcher, result = searched(state=state)
    searcher.advance(result.action, state=random_game(5))
    assert searcher.tree is None
    with pytest.raises(RuntimeError, match="Nothing has been searched"):
        searcher.result()


def test_without_position_keys_only_a_sure_caller_keeps_the_tree():
    class Keyless(Position):
        position_key = None

        def __getattribute__(self, name):
            if name == "position_key":
                raise AttributeError(name)
            return super().__getattribute__(name)

    state = Keyless(random_game(4, depth=9).rules)
    searcher, result = searched(state=state)
    later = state.clone()
    later.apply_action(result.action)
    limit = Limit(simulations=20)
    assert searcher.search(later, limit, moves=[result.action]).root_visits > 20
    searcher, result = searched(state=state)
    searcher.advance(result.action)
    assert searcher.search(later, limit).root_visits == 20
    searcher, result = searched(state=state)
    searcher.advance(result.action, state=state)
    assert searcher.tree is None


def test_advance_refuses_an_illegal_action_and_keeps_the_tree():
    searcher, _ = searched()
    before = stored(searcher)
    with pytest.raises(ValueError, match="Action 77 is not legal at the root"):
        searcher.advance(77)
    assert stored(searcher) == before


def test_advance_before_any_search_does_nothing():
    searcher = Searcher()
    searcher.advance(3)
    assert searcher.tree is None


def test_advance_that_fails_leaves_no_tree_of_another_position():
    class Failing(Position):
        armed = False

        def apply_action(self, action):
            super().apply_action(action)
            if Failing.armed:
                raise KeyboardInterrupt

    searcher, result = searched(state=Failing(random_game(4).rules))
    Failing.armed = True
    with pytest.raises(KeyboardInterrupt):
        searcher.advance(result.action)
    assert searcher.tree is None


@pytest.mark.slow
@pytest.mark.full(but=2)
@pytest.mark.parametrize("preset", ["uct", "rave", "grave", "rave_winning_move", "pn_mcts", "auto"])
def test_a_tree_in_the_memory_of_another_is_like_one_in_new_memory(preset):
    limit = Limit(simulations=400)
    new = Searcher(SearchConfig.preset(preset), seed=3)
    new.search(random_game(6, depth=7), limit)
    used = Searcher(SearchConfig.preset(preset), seed=8)
    used.search(random_game(5, depth=9), limit)
    used.reset()
    used.reseed(3)
    used.search(random_game(6, depth=7), limit)
    assert dump(used) == dump(new)


@pytest.mark.slow
def test_memory_is_kept_for_the_next_tree():
    searcher, result = searched(simulations=2000)
    searcher.reset()
    again = searcher.search(random_game(4, depth=9), Limit(simulations=10))
    assert again.memory_bytes == result.memory_bytes
    assert again.nodes < result.nodes


def test_releasing_and_resetting():
    searcher, result = searched()
    whole = dump(searcher)
    released = searcher.release_tree()
    assert dump(released) == whole
    assert (released.low, released.high) == (-1.0, 1.0)
    assert released.state.history == ()
    assert searcher.tree is None
    assert searcher.release_tree() is None
    searcher.search(random_game(5), Limit(simulations=500))
    assert dump(released) == whole
    searcher.reset()
    assert searcher.rooted_tree() is None
    assert result.nodes == len(whole)


@pytest.mark.full(but=8)
@pytest.mark.parametrize(
    "change",
    [
        lambda searcher, action: searcher.release_tree(),
        lambda searcher, action: searcher.reset(),
        lambda searcher, action: searcher.advance(action),
        lambda searcher, action: searcher.rooted_tree(),
    ],
)
@pytest.mark.parametrize("small", [0, 2**12])
def test_the_last_result_is_that_of_the_search_whatever_happens_to_the_tree(
    small, change, monkeypatch
):
    monkeypatch.setattr("rave_agents.searcher.kept_trees.SMALL_TREE", small)
    _, expected = searched(simulations=60)
    searcher = Searcher(SearchConfig(), seed=1)
    action = searcher.choose(random_game(4, depth=9), Limit(simulations=60))
    change(searcher, action)
    assert action == expected.action
    assert searcher.last_result.actions == expected.actions
    assert searcher.last_result.principal_variation == expected.principal_variation


@pytest.mark.parametrize("preset", ["auto", "pn_mcts"])
def test_an_action_that_is_chosen_by_proofs_is_that_of_the_result(preset):
    proven = 0
    for seed in range(8):
        state, searcher = (
            random_game(seed, depth=6),
            Searcher(SearchConfig.preset(preset), seed=seed),
        )
        while state.current_player() >= 0:
            action = searcher.choose(state, Limit(simulations=15))
            result = searcher.last_result
            assert action == result.action
            proven += result.outcome is not None
            kept(searcher, result, state)
    assert proven > 5


def kept(searcher, result, state):
    """A searcher that has been led on, and the position there."""
    searcher.advance(result.action)
    state.apply_action(result.action)
    return state


def test_a_search_that_is_refused_leaves_the_tree_to_the_next_one():
    state = random_game(4, depth=9)
    searcher, result = searched(state=state)
    kept(searcher, result, state)
    before = dump(searcher)
    other = 1 - state.current_player()
    with pytest.raises(ValueError, match="who is to move"):
        searcher.search(state, Limit(simulations=1), player=other)
    with pytest.raises(RuntimeError, match="Nothing has been searched"):
        searcher.result()
    assert dump(searcher) == before
    assert searcher.search(state, Limit(simulations=20)).root_visits > 20


@pytest.mark.slow
def test_states_tell_whether_a_search_goes_on():
    first = rules_class("connect_four")().new_initial_state()
    searcher, few = Searcher(SearchConfig(), seed=1), Limit(simulations=30)
    result = searcher.search(first, Limit(simulations=300))
    later, other = first.clone(), first.clone()
    for action in (result.action, 3):
        later.apply_action(action)
    other.apply_action((result.action + 1) % 7)
    assert searcher.search(later.clone(), few).root_visits == 30
    searcher.search(first, Limit(simulations=300))
    assert searcher.search(later, few, reuse=True).root_visits > 30
    assert searcher.search(other, few, reuse=True).root_visits == 30


def test_one_object_has_the_root_of_the_searcher_and_of_its_trees():
    searcher, _ = searched()
    trees = searcher._trees
    assert trees.root is trees.searches[0].root is trees.searches[0].tree.root
    assert searcher.root is trees.root.state


# Final moves


def crafted(rows, **changes):
    """A result from statistics written into the root: (visits, mean value) of each action."""
    state = first_choice(*[(0.0, 0.0)] * len(rows))
    searcher, _ = searched(simulations=1, state=state, **changes)
    edges = trees.edge_rows(searcher.tree, ROOT)
    for edge, (visits, mean) in zip(edges, rows, strict=True):
        searcher.tree.edge_visits[edge] = visits
        searcher.tree.edge_value_sum[edge] = visits * mean
    return searcher.result()


STATISTICS = [(100, 0.5), (20, 0.75), (60, 0.625), (1, 1.0), (0, 0.0)]


@pytest.mark.parametrize(
    ("final_move", "action"),
    [(RobustChild(), 0), (MaxChild(), 3), (SecureChild(), 1)],  # secure: .4, .526, .496, 0
)
def test_final_moves(final_move, action):
    result = crafted(STATISTICS, final_move=final_move)
    assert result.action == action
    assert result.policy == [(a, float(a == action)) for a in range(5)]


def test_the_secure_childs_constant_matters():
    assert crafted(STATISTICS, final_move=SecureChild(A=0.0)).action == 3
    assert crafted(STATISTICS, final_move=SecureChild(A=5.0)).action == 0


@pytest.mark.parametrize(
    ("final_move", "rows", "action"),
    [
        (RobustChild(), [(10, 0.2), (10, 0.6), (9, 0.9)], 1),
        (MaxChild(), [(10, 0.6), (11, 0.6), (50, 0.5)], 1),
        (MaxChild(), [(0, 0.0), (3, 0.0)], 1),
        (SecureChild(), [(0, 0.0), (1, 0.0)], 1),
    ],
)
def test_equals_are_told_apart(final_move, rows, action):
    assert crafted(rows, final_move=final_move).action == action


@pytest.mark.slow
def test_what_is_equal_in_everything_is_drawn():
    rows = [(10, 0.5), (10, 0.5), (3, 0.5)]
    assert crafted(rows).policy == [(0, 0.5), (1, 0.5), (2, 0.0)]
    state = first_choice((1.0, 0.0), (1.0, 0.0))
    drawn = Counter(searched(seed, 3, state=state)[1].action for seed in range(200))
    assert drawn.keys() == {0, 1}
    assert 60 < drawn[0] < 140


def test_temperature():
    rows = [(10, 0.5), (30, 0.5), (0, 0.0), (60, 0.5)]
    policy = crafted(rows, temperature=1.0).policy
    assert [p for _, p in policy] == pytest.approx([0.1, 0.3, 0.0, 0.6])
    policy = crafted(rows, temperature=0.5).policy
    assert [p for _, p in policy] == pytest.approx([1 / 46, 9 / 46, 0.0, 36 / 46])
    assert crafted(rows, temperature=1e-310).policy[3] == (3, 1.0)
    flat = [p for _, p in crafted(rows, temperature=1e9).policy]
    assert flat == pytest.approx([1 / 3, 1 / 3, 0.0, 1 / 3], abs=1e-6)


@pytest.mark.compiled
def test_temperature_draws_by_the_policy():
    state = first_choice((1.0, 0.0), (0.75, 0.25))
    drawn = Counter()
    for seed in range(300):
        result = searched(seed, 11, state=state, temperature=1.0)[1]
        drawn[result.action] += 1
        assert [row.visits / 10 for row in result.actions] == pytest.approx(
            [row.probability for row in result.actions]
        )
        share = result.actions[1].probability
    assert drawn[1] / 300 == pytest.approx(share, abs=0.08)


# Noise


@pytest.mark.compiled
def test_dirichlet_noise_is_in_the_priors_of_the_root_alone():
    state = random_game(4, depth=9)
    _, plain = searched(state=state)
    searcher, noisy = searched(state=state, root_noise=DirichletNoise(epsilon=0.25))
    count = len(plain.actions)
    priors = [row.prior for row in noisy.actions]
    assert [row.prior for row in plain.actions] == pytest.approx([1 / count] * count)
    assert sum(priors) == pytest.approx(1.0)
    assert len(set(priors)) == count
    assert all(prior >= 0.75 / count - 1e-6 for prior in priors)
    for path, (_, _, rows) in dump(searcher).items():
        if path:
            assert all(row[1] == pytest.approx(1 / len(rows)) for row in rows)
    searcher.advance(noisy.action)
    state.apply_action(noisy.action)
    again = searcher.search(state, Limit(simulations=10_000))
    assert len({row.prior for row in again.actions}) == len(again.actions)


# Games of other kinds


def test_one_legal_action_answers_at_once():
    class Forced(Position):
        def apply_action(self, action):
            raise AssertionError("there is nothing to find out")

    state = Forced(written_game({(): (0, [7]), (7,): [1.0, 0.0]}).rules)
    searcher, result = searched(state=state)
    assert result.action == 7
    assert result.policy == [(7, 1.0)]
    assert (result.simulations, result.nodes, result.value) == (0, 0, None)
    assert result.principal_variation == (7,)
    searcher = Searcher(SearchConfig(search_forced_moves=True), seed=1)
    result = searcher.search(Position(state.rules), Limit(simulations=25))
    assert (result.simulations, result.value) == (25, 1.0)


def test_auto_uses_the_time_of_a_forced_move_for_the_next_one():
    nodes = {(): (0, [7]), (7,): (0, [0, 1])}
    nodes |= {(7, move): (1, [0, 1]) for move in (0, 1)}
    nodes |= {(7, move, reply): [0.5 + 0.1 * reply, 0.0] for move in (0, 1) for reply in (0, 1)}
    state = Position(written_game(nodes).rules)
    config = SearchConfig.preset("auto").replace(proofs=NoProofs())
    searcher = Searcher(config, seed=1)
    assert searcher.search(state, Limit(simulations=25)).simulations == 25
    searcher.advance(7)
    state.apply_action(7)
    result = searcher.search(state, Limit(simulations=25))
    assert result.root_visits > result.simulations == 25


def utility_range(searcher):
    rooted = searcher.rooted_tree()
    return rooted.low, rooted.high


def test_a_single_player_with_rewards_of_unknown_range():
    nodes = {(): (0, [0, 1, 2]), (0,): [-40.0], (1,): (0, [0, 1]), (2,): [10.0]}
    nodes |= {(1, 0): [35.0], (1, 1): [-90.0]}
    state = written_game(nodes, num_players=1, low=-math.inf, high=math.inf)
    searcher, result = searched(state=state, simulations=400)
    assert result.action == 1
    assert result.principal_variation == (1, 0)
    assert result.actions[0].value == pytest.approx(-40.0)
    assert result.actions[2].value == pytest.approx(10.0)
    assert -90.0 <= result.actions[1].value <= 35.0
    check_tree(searcher)
    assert utility_range(searcher) == (-90.0, 35.0)


@pytest.mark.parametrize("stated", [True, False])
def test_an_observed_range_keeps_values_between_0_and_1(stated):
    state = random_game(
        8, num_players=2, low=-5000.0, high=9000.0, whole=False, stated=stated, depth=9
    )
    searcher, result = searched(state=state, utility_range="observed", amaf=NodeAmaf())
    check_tree(searcher)
    low, high = utility_range(searcher)
    assert -5000.0 <= low < high <= 9000.0
    assert all(low <= row.value <= high for row in result.actions if row.visits)
    if stated:
        assert utility_range(searched(state=state)[0]) == (-5000.0, 9000.0)


@pytest.mark.slow
def test_three_players_each_maximise_their_own_return():
    nodes = {(): (0, [0, 1])}
    for first in (0, 1):
        nodes[(first,)] = (1, [0, 1])
        for second in (0, 1):
            nodes[(first, second)] = (2, [0, 1])
    # Whoever wants to harm player 0 gets nothing for it: he may well play 0.
    returns = {
        (0, 0, 0): [8, 9, 9],
        (0, 0, 1): [0, 9, 0],
        (0, 1, 0): [0, 0, 5],
        (0, 1, 1): [0, 0, 6],
    }
    returns |= {(1, *path[1:]): [5, 5, 5] for path in returns}
    nodes |= {path: [float(utility) for utility in values] for path, values in returns.items()}
    state = written_game(nodes, num_players=3, high=9.0)
    result = searched(state=state, simulations=6000, rule=UCB1(c=1.0))[1]
    assert result.principal_variation == (0, 0, 0)
    assert result.actions[0].value == pytest.approx(8.0, abs=0.5)
    assert result.actions[1].value == pytest.approx(5.0)


def test_an_evaluator_stands_in_for_playouts():
    state = random_game(4, depth=9)
    rule = PUCT(c=0.5)
    searcher, result = searched(state=state, evaluator=RandomEvaluator(), rule=rule)
    assert [row.prior for row in result.actions] == pytest.approx(
        [p for _, p in RandomEvaluator().prior(state)]
    )
    check_tree(searcher)


# Refusals


@pytest.mark.parametrize(
    ("player", "error", "message"),
    [
        (-4, ValueError, "The game is over"),
        (-1, ValueError, "Chance moves"),
        (-2, GameError, "has no apply_actions"),
        (-5, ValueError, "No player is to move"),
        (2, ValueError, "No player is to move"),
    ],
)
def test_roots_that_no_player_decides_are_refused(player, error, message):
    class Undecided(Position):
        def current_player(self):
            return player

    searcher = Searcher()
    with pytest.raises(error, match=message):
        searcher.search(Undecided(random_game(1).rules), Limit(simulations=1))
    assert searcher.search(random_game(1), Limit(simulations=5)).root_visits == 5


def test_bad_arguments_are_refused():
    with pytest.raises(TypeError, match=r"config must be a .*SearchConfig"):
        Searcher({"rule": UCB1(c=1.0)})
    with pytest.raises(TypeError, match="an evaluator must be a function of a state"):
        Searcher(evaluator=3)
    with pytest.raises(ValueError, match="playout_count must be 1 with an evaluator"):
        Searcher(SearchConfig(playout_count=2), evaluator=RandomEvaluator())
    with pytest.raises(TypeError, match="seed must be an integer of at least 0 or None"):
        Searcher(seed=1.5)
    with pytest.raises(TypeError, match="seed must be an integer of at least 0 or None"):
        Searcher(seed=True)
    with pytest.raises(ValueError, match="seed must be an integer of at least 0"):
        Searcher(seed=-1)
    with pytest.raises(TypeError, match=r"limit must be a .*Limit"):
        Searcher().search(random_game(1), 500)
    with pytest.raises(TypeError, match=r"state must be a GameState.*got str"):
        Searcher().search("hex", Limit(simulations=1))
    with pytest.raises(RuntimeError, match="Nothing has been searched"):
        Searcher().result()
    assert Searcher(seed=np.int64(3)).result  # NumPy's integers are integers


def test_result_at_the_games_end_is_refused():
    searcher, _ = searched(state=first_choice((1.0, 0.0), (0.0, 1.0)))
    searcher.advance(0)
    with pytest.raises(ValueError, match="The game is over"):
        searcher.result()


@pytest.mark.full(but=4)
@pytest.mark.parametrize(
    "use",
    [
        lambda searcher: searcher.search(random_game(1), Limit(simulations=1)),
        lambda searcher: searcher.advance(0),
        lambda searcher: searcher.reset(),
        lambda searcher: searcher.release_tree(),
        lambda searcher: searcher.reseed(1),
    ],
)
@pytest.mark.parametrize("inside", ["state", "progress"])
def test_a_searching_searcher_is_not_to_be_used(use, inside):
    searcher = Searcher(seed=1)

    class Using(Position):
        def returns(self):
            use(searcher)
            raise AssertionError("should not be reached")

    def progress(result):
        use(searcher)

    state = Using(random_game(1).rules) if inside == "state" else random_game(1)
    with pytest.raises(RuntimeError, match="searching already"):
        searcher.search(state, Limit(seconds=5.0), progress=progress)
    assert searcher.search(random_game(1), Limit(simulations=30)).root_visits == 30


def test_another_searcher_may_be_used_inside_a_search():
    class Nested(Position):
        def returns(self):
            found = Searcher(seed=2).search(random_game(1), Limit(simulations=10))
            assert found.root_visits == 10
            return super().returns()

    outer, _ = searched(state=Nested(random_game(4, depth=9).rules), simulations=50)
    assert dump(outer) == dump(searched(simulations=50)[0])


# Evaluators whose answers cannot be used.


class Answers:
    """Judges every position by one answer."""

    def __init__(self, value=(0.0, 0.0), prior=None):
        self.value, self.given_prior = value, prior

    def evaluate(self, state):
        return self.value

    def prior(self, state):
        if self.given_prior is not None:
            return self.given_prior
        actions = state.legal_actions()
        return [(action, 1.0 / len(actions)) for action in actions]


@pytest.mark.parametrize(
    "value",
    [
        None,
        0.5,
        [0.5],
        [0.5, 0.5, 0.5],
        "win",
        ["a", "b"],
        [1.5, -1.5],
        [0.0, -2.0],
        [math.nan, 0.0],
        [math.inf, 0.0],
        [None, 0.0],
        {0: 0.5, 1: -0.5},
        {0.5, -0.5},
        [[0.5, -0.5]],
        [1j, -1j],
        ["0.5", "-0.5"],
    ],
    ids=str,
)
def test_an_evaluators_values_must_be_one_number_within_the_utilities_for_each_player(value):
    searcher = Searcher(SearchConfig(), seed=1, evaluator=Answers(value))
    state = random_game(6, depth=5, low=-1.0, high=1.0)
    message = (
        r"Answers\.evaluate\(state\) must return .*2 players, finite numbers, from -1 to 1, .*: "
    )
    with pytest.raises(GameError, match=message):
        searcher.search(state, Limit(simulations=10))


@pytest.mark.parametrize(
    "value", [(1.0, -1.0), [np.float32(0.1), 0], np.array([1.0000001, -1.0]), (1, -1)], ids=str
)
def test_an_evaluators_values_may_be_any_numbers_within_the_utilities(value):
    searcher = Searcher(SearchConfig(), seed=1, evaluator=Answers(value))
    state = random_game(6, depth=5, low=-1.0, high=1.0)
    assert searcher.search(state, Limit(simulations=10)).simulations == 10


@pytest.mark.parametrize(
    "prior", [0.5, [0.1, 0.9], [(0, None)], [(0, 1.0, 2.0)], [(0, 1j)]], ids=str
)
def test_an_evaluators_prior_must_be_pairs(prior):
    searcher = Searcher(SearchConfig(), seed=1, evaluator=Answers(prior=prior))
    with pytest.raises(GameError, match=r"Answers\.prior\(state\) must return a list of pairs"):
        searcher.search(random_game(6, depth=5), Limit(simulations=10))


def test_an_evaluators_class_is_made():
    assert isinstance(Searcher(SearchConfig(), evaluator=Answers).evaluator, Answers)
