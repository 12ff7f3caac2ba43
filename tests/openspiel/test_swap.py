"""The bots that take the place of OpenSpiel's: what the stock bots were told is honoured."""

import copy
import inspect
import pickle

import numpy as np
import pyspiel
import pytest
from helpers.spiel import after
from open_spiel.python.algorithms import mcts as stock
from rave_openspiel import CppMCTSBot, MCTSBot, SearchNode, mcts
from rave_openspiel.pointers import rollouts_of

from rave_agents import UnsupportedGameError
from rave_agents.kernel.amaf.report import AmafStatistics
from rave_agents.kernel.proofs.report import EdgeProof
from rave_agents.parts import PUCT, UCB1, DirichletNoise, NoProofs, UniformPlayouts
from rave_agents.results.final_move import root_statistics
from rave_agents.results.root import Root, RootMove

POLICIES = pyspiel.ChildSelectionPolicy


def load(name="tic_tac_toe"):
    return pyspiel.load_game(name)


def made(game=None, **told):
    """Our bot in place of OpenSpiel's in Python."""
    told = {"uct_c": 1.4, "max_simulations": 40, "evaluator": mcts.RandomRolloutEvaluator()} | told
    return MCTSBot(game or load(), random_state=np.random.RandomState(1), **told)


def made_in_place_of_cpp(game=None, evaluator=None, **told):
    """Our bot in place of OpenSpiel's in C++."""
    usual = {"uct_c": 1.4, "max_simulations": 40, "max_memory_mb": 100, "solve": True, "seed": 1}
    evaluator = evaluator or pyspiel.RandomRolloutEvaluator(1, 1)
    return CppMCTSBot(game or load(), evaluator, **{**usual, "verbose": False, **told})


class Judge(mcts.Evaluator):
    """Knows nothing, and counts the chance nodes that it was asked about."""

    def __init__(self):
        self.asked = self.chance_nodes = 0

    def evaluate(self, state):
        self.asked += 1
        self.chance_nodes += state.is_chance_node()
        return [0.0] * state.num_players()

    def prior(self, state):
        actions = state.legal_actions()
        return [(action, 1.0 / len(actions)) for action in actions]


def positional(kind):
    """The parameters that may be given by position; those of the search are given by name."""
    parameters = inspect.signature(kind).parameters.values()
    return [one for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]


def test_the_python_bots_parameters_are_those_of_the_stock_bot():
    theirs = inspect.signature(stock.MCTSBot).parameters
    ours = positional(MCTSBot)
    assert [one.name for one in ours] == list(theirs)
    assert [one.default for one in ours] == [one.default for one in theirs.values()]


def test_the_cpp_bots_parameters_are_those_of_the_stock_bot():
    """pybind11 tells them in the docstring."""
    documented = pyspiel.MCTSBot.__init__.__doc__
    names = [one.name for one in positional(CppMCTSBot)]
    places = [documented.index(f"{name}: ") for name in names]
    assert places == sorted(places)
    assert documented.count(": ") == len(names) + 2  # self, and an enumerator's value.
    game = load()
    arguments = game, pyspiel.RandomRolloutEvaluator(2, 42), 1.4, 30, 100, True, 42, False
    for extra in [(), (POLICIES.PUCT,), (POLICIES.UCT, 0.01)]:
        pyspiel.MCTSBot(*arguments, *extra)
        assert CppMCTSBot(*arguments, *extra).step(game.new_initial_state()) in range(9)


def test_the_python_bot_has_the_stock_bots_attributes():
    told = {"solve": False, "verbose": False, "dont_return_chance_node": True}
    evaluator, game = mcts.RandomRolloutEvaluator(3), load()
    bots = [kind(game, 2, 30, evaluator, **told) for kind in (MCTSBot, stock.MCTSBot)]
    public = [name for name in vars(bots[1]) if not name.startswith("_")]
    assert len(public) == 7
    for name in public:
        assert getattr(bots[0], name) == getattr(bots[1], name)


def test_the_evaluators_and_the_node_are_openspiels_own():
    for name in ("Evaluator", "RandomRolloutEvaluator", "SearchNode"):
        assert getattr(mcts, name) is getattr(stock, name)
    assert isinstance(made().mcts_search(load().new_initial_state()), stock.SearchNode)


# What the bots were told, and nothing else.


@pytest.fixture
def on_rules(monkeypatch):
    """Games are searched on compiled rules, which shipped values are for."""
    monkeypatch.delenv("RAVE_AGENTS_GAMES", raising=False)


@pytest.mark.parametrize("make", [made, made_in_place_of_cpp])
def test_random_rollouts_are_not_helped_by_a_shipped_value(make, on_rules):
    game = load("breakthrough")
    bot = make(game)
    bot.step(game.new_initial_state())
    assert bot.last_result.known is None
    assert {row.amaf_visits for row in bot.last_result.actions} == {0}


@pytest.mark.slow
@pytest.mark.parametrize("make", [made, made_in_place_of_cpp])
def test_a_shipped_value_is_used_where_it_is_requested_by_name(make, on_rules):
    game = load("breakthrough")
    for known in (True, False):
        bot = make(game, known=known)
        bot.step(game.new_initial_state())
        assert (bot.last_result.known is not None) == known


def test_an_evaluator_that_is_given_is_the_only_one(on_rules):
    game = load("breakthrough")
    for make in (made, made_in_place_of_cpp):
        bot = make(game, evaluator=Judge(), known=True)
        bot.step(game.new_initial_state())
        assert bot.last_result.known is None
        assert {row.value for row in bot.last_result.actions} == {0.0}


@pytest.mark.parametrize("make", [made, made_in_place_of_cpp])
@pytest.mark.parametrize("name", ["hex(board_size=5)", "go(board_size=5)"])
def test_rollouts_are_uniformly_random(make, name):
    """No bridge is kept, no chain is saved."""
    assert make(load(name)).config.playouts == UniformPlayouts()


@pytest.mark.parametrize("make", [made, made_in_place_of_cpp])
def test_each_move_is_searched_from_scratch_unless_the_tree_is_to_be_kept(make):
    game = load("connect_four")
    for keeps in (False, True):
        bot, state = make(game, reuse_tree=keeps), game.new_initial_state()
        for _ in range(2):
            state.apply_action(bot.step(state))
        assert (bot.last_result.root_visits > bot.last_result.simulations) == keeps


@pytest.mark.slow
def test_a_position_is_solved_in_as_many_simulations_as_by_the_stock_bot():
    """Every line from here is short; the solver of either bot ends its search."""
    state = after(load(), 4, 0, 8)
    counts = {}
    for module in (stock, mcts):
        roots = [
            module.MCTSBot(
                load(), 1.4, 1000, mcts.RandomRolloutEvaluator(20, random), random_state=random
            ).mcts_search(state)
            for random in map(np.random.RandomState, range(4))
        ]
        assert all(root.outcome == [0.0, 0.0] for root in roots)
        counts[module] = np.median([root.explore_count for root in roots])
    assert 0.8 < counts[mcts] / counts[stock] < 1.25


def test_the_move_is_that_of_the_stock_bots_best_child():
    """A proven draw counts 0, as a move that is open, so that visits decide."""
    moves = (
        RootMove(0, 50, 20.0, 0.5, AmafStatistics(), EdgeProof(-1.0, 1.0)),
        RootMove(1, 40, 20.0, 0.5, AmafStatistics(), EdgeProof(0.0, 0.0, 3)),
        RootMove(2, 60, 10.0, 0.5, AmafStatistics(), EdgeProof(-1.0, -1.0, 2, lost=True)),
    )
    rows = root_statistics(Root(moves, 150, -1.0, 1.0), made().config)
    assert [row.probability for row in rows] == [1.0, 0.0, 0.0]


def test_a_solved_position_is_played_by_a_move_that_is_proven_to_draw():
    """Bounds prove the draw while a move with more visits is open."""
    state = after(load(), 4, 1, 7)
    random = np.random.RandomState(4)
    rollouts = mcts.RandomRolloutEvaluator(1, random)
    bot = MCTSBot(load(), 2, 1500, rollouts, random_state=random)
    root = bot.mcts_search(state)
    assert root.outcome == [0.0, 0.0]
    most = max(root.children, key=lambda child: child.explore_count)
    assert most.outcome is None
    assert root.best_child().outcome == [0.0, 0.0]
    move = bot.step(state)
    assert next(row for row in bot.last_result.actions if row.action == move).outcome == 0.0


@pytest.mark.parametrize("make", [made, made_in_place_of_cpp])
@pytest.mark.parametrize(
    ("name", "c"),
    [("tic_tac_toe", 0.7), ("backgammon(scoring_type=full_scoring)", 1.4 / 6), ("2048", 0.7)],
)
def test_the_exploration_constant_is_divided_by_the_range_of_utilities(make, name, c):
    assert make(load(name)).config.rule == UCB1(c=pytest.approx(c))


@pytest.mark.parametrize("name", ["tic_tac_toe", "backgammon(scoring_type=full_scoring)"])
def test_selection_by_puct_is_the_stock_bots(name):
    """Every action gets the same score from both, with visits and without."""
    game = load(name)
    bot = made(game, child_selection_fn=mcts.SearchNode.puct_value)
    low, high = game.min_utility(), game.max_utility()
    rule = bot.config.rule
    assert isinstance(rule, PUCT)
    child = stock.SearchNode(3, 0, 0.25)
    assert child.puct_value(9, 1.4) == pytest.approx(
        low + (high - low) * (bot.config.first_play_urgency + rule.c * 0.25 * 3 / 1)
    )
    cpp = made_in_place_of_cpp(game, child_selection_policy=POLICIES.PUCT)
    assert isinstance(cpp.config.rule, PUCT)
    assert cpp.config.rule == rule


@pytest.mark.parametrize("make", [made, made_in_place_of_cpp])
def test_nothing_is_proven_without_the_solver(make):
    state = after(load(), 0, 3, 1, 4)
    assert make(solve=False).mcts_search(state).outcome in (None, [])
    assert make(solve=False).config.proofs == NoProofs()
    assert make(solve=True).mcts_search(state).outcome == [1.0, -1.0]


def test_random_rollouts_are_playouts():
    for count in (1, 20):
        assert made(evaluator=mcts.RandomRolloutEvaluator(count)).config.playout_count == count
        evaluator = pyspiel.RandomRolloutEvaluator(count, 5)
        assert rollouts_of(evaluator) == count
        for make in (made, made_in_place_of_cpp):
            assert make(evaluator=evaluator).config.playout_count == count


def test_rollouts_that_are_cut_off_are_the_evaluators_own():
    """They end after two moves, long before anybody has a line: all values are 0."""
    bot = made(evaluator=mcts.RandomRolloutEvaluator(3, max_length=2), max_simulations=10)
    assert bot.config.playout_count == 1
    root = bot.mcts_search(load().new_initial_state())
    assert {child.total_reward for child in root.children} == {0.0}


@pytest.mark.parametrize("make", [made, made_in_place_of_cpp])
def test_an_evaluator_of_the_users_own_judges_leaves(make):
    judge = Judge()
    make(evaluator=judge).step(load().new_initial_state())
    assert 20 < judge.asked <= 40


@pytest.mark.parametrize("passes", [False, True])
def test_chance_nodes_are_judged_unless_the_bot_was_told_not_to(passes):
    judge = Judge()
    game = load("pig(winscore=20)")
    bot = made(game, evaluator=judge, max_simulations=200, dont_return_chance_node=passes)
    bot.step(game.new_initial_state())
    assert judge.asked > 100
    assert (judge.chance_nodes == 0) == passes


def test_noise_is_in_the_roots_priors():
    bot = made(dirichlet_noise=(0.5, 0.3))
    assert bot.config.root_noise == DirichletNoise(0.5, 0.3)
    priors = [child.prior for child in bot.mcts_search(load().new_initial_state()).children]
    assert len(set(priors)) > 1
    assert sum(priors) == pytest.approx(1.0)


def test_the_same_random_state_gives_the_same_search():
    game = load("connect_four")
    for kind in (np.random.RandomState, np.random.default_rng):
        roots = [
            MCTSBot(
                game, 2, 60, mcts.RandomRolloutEvaluator(), random_state=kind(seed)
            ).mcts_search(game.new_initial_state())
            for seed in (1, 1, 2)
        ]
        visits = [[child.explore_count for child in root.children] for root in roots]
        assert visits[0] == visits[1] != visits[2]


def test_the_cpp_bots_memory_seed_and_time_are_honoured():
    bot = made_in_place_of_cpp(max_memory_mb=3, seed=-5)
    assert bot.config.max_memory_mb == 3
    state = load("connect_four").new_initial_state()
    timed = made_in_place_of_cpp(
        state.get_game(), max_simulations=1, max_memory_mb=0, max_wall_clock_time=0.1
    )
    timed.step(state)
    assert timed.limit.seconds == 0.1
    assert timed.last_result.simulations > 1
    assert made_in_place_of_cpp(seed=-5).seed != made_in_place_of_cpp(seed=5).seed


@pytest.mark.parametrize("make", [made, made_in_place_of_cpp])
def test_a_verbose_bot_prints_its_search(make, capsys):
    make().step(load().new_initial_state())
    assert not capsys.readouterr().out
    make(verbose=True).step(load().new_initial_state())
    assert "Children:" in capsys.readouterr().out


# What they return.


def test_the_policies_have_the_forms_of_the_stock_bots():
    """In Python each legal action has a probability; in C++ the action played alone is there."""
    state = load().new_initial_state()
    state.apply_action(4)
    for ours, theirs in [
        (made(), stock.MCTSBot(load(), 1.4, 40, stock.RandomRolloutEvaluator())),
        (
            made_in_place_of_cpp(),
            pyspiel.MCTSBot(
                load(), pyspiel.RandomRolloutEvaluator(1, 1), 1.4, 40, 9, True, 1, False
            ),
        ),
    ]:
        (policy, action), (stock_policy, _) = (b.step_with_policy(state) for b in (ours, theirs))
        assert len(policy) == len(stock_policy)
        assert dict(policy)[action] == sum(p for _, p in policy) == 1.0


@pytest.mark.parametrize("make", [made, made_in_place_of_cpp])
def test_where_chance_moves_there_is_no_action(make):
    game = load("pig")
    state = game.new_initial_state()
    state.apply_action(0)
    bot = make(game)
    bot.inform_action(game.new_initial_state(), 0, 0)
    assert bot.step(state) == pyspiel.INVALID_ACTION
    assert bot.step_with_policy(state) == ([(pyspiel.INVALID_ACTION, 1.0)], pyspiel.INVALID_ACTION)


def test_nodes_tell_what_is_unknown_as_the_stock_bots_do():
    game = load("connect_four")
    state = game.new_initial_state()
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    told = game, evaluator, 1.4, 60, 100, True, 1, False
    pairs = [
        (made(game), stock.MCTSBot(game, 1.4, 60, stock.RandomRolloutEvaluator())),
        (CppMCTSBot(*told), pyspiel.MCTSBot(*told)),
    ]
    for ours, theirs in (tuple(bot.mcts_search(state) for bot in pair) for pair in pairs):
        assert (ours.action, ours.outcome, ours.player, ours.prior) == (
            theirs.action,
            theirs.outcome,
            theirs.player,
            theirs.prior,
        )
        child, stock_child = ours.best_child(), theirs.best_child()
        assert child.outcome == stock_child.outcome
        assert type(child.action) is type(stock_child.action) is int
        lines = [node.children_str(state).splitlines() for node in (ours, theirs)]
        assert len(lines[0]) == len(lines[1]) == 7


def test_a_node_of_the_search_has_the_values_by_which_the_stock_bot_selects():
    root = made(max_simulations=60, solve=False).mcts_search(load().new_initial_state())
    assert type(root) is SearchNode
    for child in root.children:
        same = stock.SearchNode(child.action, child.player, child.prior)
        same.explore_count, same.total_reward = child.explore_count, child.total_reward
        for value in (stock.SearchNode.uct_value, stock.SearchNode.puct_value):
            assert value(child, 60, 1.4) == value(same, 60, 1.4)


# What a script does with a bot.


def test_attributes_that_are_set_later_hold_for_the_next_search():
    bot = made()
    state = load().new_initial_state()
    assert bot.mcts_search(state).explore_count == 40
    bot.max_simulations, bot.uct_c, bot.solve = 25, 2.0, False
    assert bot.mcts_search(state).explore_count == 25
    assert bot.config.rule == UCB1(c=1.0)
    assert bot.config.proofs == NoProofs()
    bot.evaluator = judge = Judge()
    bot.step(state)
    assert judge.asked > 0
    bot.max_simulations = 0
    with pytest.raises(ValueError, match="max_simulations"):
        bot.step(state)


@pytest.mark.full(but=1)
@pytest.mark.parametrize("make", [made, made_in_place_of_cpp])
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))]
)
def test_a_copy_plays_on_as_the_bot_does(make, copied):
    game = load("connect_four")
    bot = make(game)
    state = game.new_initial_state()
    state.apply_action(bot.step(state))
    state.apply_action(0)
    twin = copied(bot)
    assert type(twin) is type(bot)
    assert twin.step(state) == bot.step(state)
    assert twin.clone().step(state) in state.legal_actions()


def test_two_bots_play_games_against_openspiels_own():
    for name in ("tic_tac_toe", "pig(winscore=15)", "hex(board_size=3)"):
        game = load(name)
        theirs = pyspiel.MCTSBot(
            game, pyspiel.RandomRolloutEvaluator(1, 1), 1.4, 40, 100, True, 1, False
        )
        for make in (made, made_in_place_of_cpp):
            returns = pyspiel.evaluate_bots(game.new_initial_state(), [make(game), theirs], 3)
            assert sum(returns) == 0


def test_what_is_hidden_is_not_seen_and_nothing_is_proven():
    game = load("kuhn_poker")
    state = after(game, 0, 1)
    for make in (made, made_in_place_of_cpp):
        bot = make(game)
        assert bot.step(state) in (0, 1)
        assert bot.last_result.worlds is not None


# What cannot be honoured.


def my_formula(child, parent_explore_count, uct_c):
    return 0.0


@pytest.mark.parametrize(
    ("told", "error", "message"),
    [
        ({"child_selection_fn": my_formula}, ValueError, "your_own_formula.md"),
        ({"uct_c": "a"}, TypeError, "uct_c"),
        ({"uct_c": -1.0}, ValueError, "uct_c"),
        ({"max_simulations": 0}, ValueError, "max_simulations"),
        ({"evaluator": None}, TypeError, r"RandomRolloutEvaluator\(1\)"),
        ({"evaluator": Judge}, TypeError, r"RandomRolloutEvaluator\(1\)"),
        ({"evaluator": mcts.RandomRolloutEvaluator(0)}, ValueError, "n_rollouts"),
        ({"dirichlet_noise": 0.3}, TypeError, "dirichlet_noise"),
        ({"dirichlet_noise": (2.0, 1.0)}, ValueError, "epsilon"),
        ({"random_state": 3}, TypeError, "random_state"),
        ({"game": load("matrix_mp")}, UnsupportedGameError, "player_id=0"),
        ({"game": "tic_tac_toe"}, TypeError, "pyspiel.Game"),
    ],
)
def test_what_cannot_be_honoured_is_refused_at_once(told, error, message):
    usual = {"uct_c": 1.4, "max_simulations": 10, "evaluator": mcts.RandomRolloutEvaluator()}
    with pytest.raises(error, match=message):
        MCTSBot(**{"game": load(), **usual, **told})


@pytest.mark.parametrize(
    ("told", "error", "message"),
    [
        ({"child_selection_policy": my_formula}, TypeError, "child_selection_policy"),
        ({"max_wall_clock_time": "1"}, TypeError, "max_wall_clock_time"),
        ({"max_memory_mb": -1}, ValueError, "max_memory_mb"),
        ({"seed": 0.5}, TypeError, "seed"),
        ({"game": load("matrix_mp")}, UnsupportedGameError, "player_id=0"),
    ],
)
def test_what_the_cpp_bot_cannot_honour_is_refused_at_once(told, error, message):
    with pytest.raises(error, match=message):
        made_in_place_of_cpp(**told)
