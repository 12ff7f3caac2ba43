"""The OpenSpiel bots: UCTBot, RaveBot, and their policy."""

import copy
import pickle

import numpy as np
import open_spiel.python.games  # noqa: F401  (registers the Python games)
import pyspiel
import pytest
from helpers.spiel import after
from open_spiel.python.algorithms import evaluate_bots, mcts
from rave_openspiel import RaveBot, SearchBot, SearchPolicy, UCTBot, load_bot

from rave_agents import Limit, SearchConfig, UnsupportedGameError, testing
from rave_agents.parts import PUCT, DirichletNoise, HandSelected, NodeAmaf

pytestmark = pytest.mark.compiled

BOTS = (UCTBot, RaveBot)
GAMES = (
    "tic_tac_toe",
    "python_tic_tac_toe",
    "hex(board_size=4)",
    "pig(players=2,winscore=15)",
    "backgammon",
    "pig(players=3,winscore=12)",
)


@pytest.fixture(scope="module")
def tic_tac_toe():
    return pyspiel.load_game("tic_tac_toe")


@pytest.fixture(scope="module")
def connect_four():
    return pyspiel.load_game("connect_four")


def visits(bot):
    return [row.visits for row in bot.last_result.actions]


class Recording:
    """Keeps the result of every move and checks that the state is left alone."""

    def step(self, state):
        before = pyspiel.serialize_game_and_state(state.get_game(), state)
        action = super().step(state)
        assert pyspiel.serialize_game_and_state(state.get_game(), state) == before
        assert action in state.legal_actions()
        self.results = [*getattr(self, "results", []), self.last_result]
        return action

    @property
    def reused(self):
        return [result.root_visits > result.simulations > 0 for result in self.results]


class Recorder(Recording, RaveBot):
    pass


class UCTRecorder(Recording, UCTBot):
    pass


def play_in_python(game, bots, state=None):
    state = state or game.new_initial_state()
    evaluate_bots.evaluate_bots(state, bots, np.random.RandomState(1))
    return state


def play_in_cpp(game, bots, state=None):
    state = state or game.new_initial_state()
    pyspiel.evaluate_bots(state, bots, 1)
    return state


def play_informing_all(game, bots, state=None):
    state = state or game.new_initial_state()
    random = np.random.RandomState(1)
    for bot in bots:
        bot.restart()
    while not state.is_terminal():
        player = state.current_player()
        if state.is_chance_node():
            outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
            action = int(random.choice(outcomes, p=probabilities))
        else:
            action = bots[player].step(state)
        for bot in bots:
            bot.inform_action(state, player, action)
        state.apply_action(action)
    return state


def play_informing_nobody(game, bots, state=None):
    state = state or game.new_initial_state()
    random = np.random.RandomState(1)
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(random.choice(outcomes, p=probabilities)))
        else:
            state.apply_action(bots[state.current_player()].step(state))
    return state


LOOPS = (play_in_python, play_in_cpp, play_informing_all, play_informing_nobody)


@pytest.mark.full(but=4)
@pytest.mark.parametrize("play", LOOPS)
@pytest.mark.parametrize("name", GAMES)
def test_plays_legal_games_and_leaves_states_alone(name, play):
    game = pyspiel.load_game(name)
    simulations = 6 if name == "backgammon" else 20
    bots = [Recorder(game, simulations=simulations, seed=s) for s in range(game.num_players())]
    assert play(game, bots).is_terminal()


@pytest.mark.full(but=["play_in_cpp", "play_informing_nobody"])
@pytest.mark.parametrize("play", LOOPS)
def test_keeps_the_tree_in_every_loop(connect_four, play):
    # UCT has tried nearly every reply in so many simulations; RAVE leaves out those that look bad.
    bots = [UCTRecorder(connect_four, simulations=100, seed=seed) for seed in range(2)]
    play(connect_four, bots)
    for bot in bots:
        assert not bot.reused[0]
        assert np.mean(bot.reused[1:]) > 0.75


@pytest.mark.parametrize("play", LOOPS)
def test_all_loops_play_the_same_game(connect_four, play):
    bots = [RaveBot(connect_four, simulations=20, seed=seed) for seed in range(2)]
    expected = play_informing_nobody(connect_four, [bot.clone() for bot in bots]).history()
    bots = [RaveBot(connect_four, simulations=20, seed=seed) for seed in range(2)]
    assert play(connect_four, [bot.clone() for bot in bots]).history() == expected


@pytest.mark.full(but=["play_in_python"])
@pytest.mark.parametrize("play", LOOPS)
def test_keeps_the_tree_over_chance_nodes(play):
    game = pyspiel.load_game("pig(players=2,winscore=20)")
    bots = [Recorder(game, simulations=200, seed=seed) for seed in range(2)]
    play(game, bots)
    assert any(bots[0].reused)


def test_keeps_no_tree_if_told_so(connect_four):
    bots = [Recorder(connect_four, simulations=50, seed=0, reuse_tree=False) for _ in range(2)]
    play_in_python(connect_four, bots)
    assert not any(bots[0].reused)


@pytest.mark.parametrize("play", [play_in_python, play_in_cpp])
def test_plays_on_from_the_middle_of_a_game(connect_four, play):
    bots = [Recorder(connect_four, simulations=20, seed=seed) for seed in range(2)]
    assert play(connect_four, bots, after(connect_four, 3, 3, 2)).is_terminal()


def test_one_bot_may_play_all_seats(connect_four):
    bot = Recorder(connect_four, simulations=50, seed=0)
    assert play_in_python(connect_four, [bot, bot]).is_terminal()
    assert any(bot.reused)


@pytest.mark.full(but=4)
@pytest.mark.parametrize(
    ("first", "second", "between"),
    [
        ((3,), (2, 3), lambda bot, state: None),
        ((), (), lambda bot, state: None),
        ((), (3, 3), lambda bot, state: bot.restart()),
        ((), (3, 3), lambda bot, state: bot.restart_at(state)),
    ],
    ids=["another line", "the same position", "restart", "restart_at"],
)
def test_drops_the_tree_where_the_game_does_not_go_on(connect_four, first, second, between):
    bot = UCTBot(connect_four, simulations=200, seed=0)
    bot.step(after(connect_four, *first))
    state = after(connect_four, *second)
    between(bot, state)
    bot.step(state)
    assert bot.last_result.root_visits == bot.last_result.simulations == 200


def test_the_same_information_twice_does_no_harm(connect_four):
    bot = UCTBot(connect_four, simulations=200, seed=0)
    state = connect_four.new_initial_state()
    action = bot.step(state)
    bot.inform_action(state, 0, action)
    bot.inform_action(state, 0, action)
    state.apply_action(action)
    bot.step(state)
    assert bot.last_result.root_visits > bot.last_result.simulations == 200


def test_force_action_leads_the_tree(connect_four):
    bot = UCTBot(connect_four, simulations=200, seed=0)
    assert bot.provides_force_action()
    state = connect_four.new_initial_state()
    bot.step(state)
    bot.force_action(state, 3)
    state.apply_action(3)
    bot.step(state)
    assert bot.last_result.root_visits > 200


def test_plays_against_the_stock_bot(tic_tac_toe):
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    stock = pyspiel.MCTSBot(tic_tac_toe, evaluator, 1.4, 100, 10, True, 1, False)
    bots = [RaveBot(tic_tac_toe, simulations=300, seed=1), stock]
    assert play_in_cpp(tic_tac_toe, bots).returns()[0] >= 0


def test_default_limit_is_a_thousand_simulations(tic_tac_toe):
    bot = RaveBot(tic_tac_toe)
    bot.step(tic_tac_toe.new_initial_state())
    assert bot.last_result.simulations == 1000


def test_seconds_end_the_search(connect_four):
    bot = UCTBot(connect_four, seconds=0.05, seed=0)
    bot.step(connect_four.new_initial_state())
    bot.restart()
    bot.step(connect_four.new_initial_state())
    assert bot.last_result.seconds < 0.2


def test_step_with_policy_gives_a_distribution_over_the_legal_actions(connect_four):
    bot = RaveBot(connect_four, simulations=100, seed=0, temperature=1.0)
    policy, action = bot.step_with_policy(connect_four.new_initial_state())
    assert [a for a, _ in policy] == list(range(7))
    assert sum(p for _, p in policy) == pytest.approx(1.0)
    assert dict(policy)[action] > 0


def test_step_draws_from_the_policy_that_it_told(connect_four):
    bot = RaveBot(connect_four, simulations=100, seed=0, temperature=1.0)
    assert bot.provides_policy()
    state = connect_four.new_initial_state()
    policy = bot.get_policy(state)
    assert bot.get_policy(state) == policy
    assert bot.step_with_policy(state)[0] == policy


def test_after_its_step_a_position_is_searched_anew(connect_four):
    bot = RaveBot(connect_four, simulations=100, seed=0, temperature=1.0)
    state = connect_four.new_initial_state()
    policy = bot.get_policy(state)
    bot.step(state)
    assert bot.get_policy(state) != policy


@pytest.mark.parametrize("kind", BOTS)
def test_chance_nodes_give_the_invalid_action(kind):
    game = pyspiel.load_game("pig")
    bot = kind(game, simulations=10, seed=0, player_id=1)
    state = after(game, 0)
    assert state.is_chance_node()
    invalid = pyspiel.INVALID_ACTION
    assert bot.step(state) == invalid
    assert bot.step_with_policy(state) == ([(invalid, 1.0)], invalid)
    assert bot.get_policy(state) == [(invalid, 1.0)]
    assert bot.step_verbose(state) == (invalid, "")


def test_step_verbose_reports_as_the_stock_bot_prints(tic_tac_toe):
    bot = RaveBot(tic_tac_toe, simulations=100, seed=0)
    action, report = bot.step_verbose(tic_tac_toe.new_initial_state())
    assert action in range(9)
    lines = report.splitlines()
    assert lines[0].startswith("Finished 100 sims in ")
    assert {"Root:", "Children:", "Children of chosen:", "AMAF:"} <= set(lines)
    assert "x(1,1): player: 0, prior: 0.111, value:" in report


def test_reports_a_forced_move_that_it_did_not_search(tic_tac_toe):
    state = after(tic_tac_toe, 0, 1, 2, 4, 3, 5, 7, 6)
    action, report = UCTBot(tic_tac_toe, simulations=10, seed=0).step_verbose(state)
    assert action == 8
    assert "Finished 0 sims" in report
    assert "Forced: x(2,2)" in report


COPIES = [
    copy.copy,
    copy.deepcopy,
    lambda bot: pickle.loads(pickle.dumps(bot)),
    lambda bot: pickle.loads(pickle.dumps(bot, protocol=4)),
]


@pytest.mark.full(but=3)
@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("name", ["connect_four", "python_tic_tac_toe", "pig"])
def test_a_copy_plays_on_as_the_original(name, copied):
    game = pyspiel.load_game(name)
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(3))
    bot = RaveBot(game, simulations=60, seed=5, evaluator=evaluator, root_noise=DirichletNoise())
    state = game.new_initial_state()
    state.apply_action(bot.step(state))
    while state.is_chance_node():
        state.apply_action(1)
    twin = copied(bot)
    assert type(twin) is RaveBot
    bot.limit = twin.limit = Limit(simulations=200)
    for _ in range(2):
        assert twin.step(state) == bot.step(state)
        assert visits(twin) == visits(bot)
        assert twin.last_result.simulations == bot.last_result.simulations


@pytest.mark.parametrize("copied", [*COPIES, UCTBot.clone])
def test_a_copy_shares_nothing_that_changes(connect_four, copied):
    bot, untouched = (UCTBot(connect_four, simulations=60, seed=5) for _ in range(2))
    state = connect_four.new_initial_state()
    for each in (bot, untouched):
        each.step(state)
    twin = copied(bot)
    assert (twin.game, twin.seed == bot.seed) == (bot.game, copied is not UCTBot.clone)
    state.apply_action(3)
    twin.step(state)
    for each in (bot, untouched):
        each.step(state)
    assert visits(bot) == visits(untouched)


def test_a_clone_knows_the_tree_but_draws_its_own_numbers(connect_four):
    bot = UCTBot(connect_four, simulations=300, seed=5)
    assert bot.is_clonable()
    state = connect_four.new_initial_state()
    state.apply_action(bot.step(state))
    clones = [bot.clone(), bot.clone()]
    assert len({twin.seed for twin in (bot, *clones)}) == 3
    for twin in (bot, *clones):
        twin.step(state)
        assert twin.last_result.root_visits > 300
    assert visits(bot) != visits(clones[0]) != visits(clones[1])


def test_a_clone_draws_its_own_action_from_the_policy_that_was_asked_before(connect_four):
    bot = UCTBot(connect_four, simulations=100, seed=5, temperature=1.0)
    state = connect_four.new_initial_state()
    assert bot.get_policy(state) == bot.clone().get_policy(state)
    assert len({bot.clone().step(state) for _ in range(20)}) > 3


@pytest.mark.parametrize("copied", [copy.copy, UCTBot.clone])
def test_a_copy_shares_the_evaluator(connect_four, copied):
    evaluator = mcts.RandomRolloutEvaluator()
    assert copied(UCTBot(connect_four, evaluator=evaluator)).evaluator is evaluator


class Favourite(mcts.Evaluator):
    """Values nothing, and expects one action everywhere."""

    def __init__(self, action):
        self.action = action

    def evaluate(self, state):
        return np.zeros(state.num_players())

    def prior(self, state):
        actions = state.legal_actions()
        share = 0.1 / len(actions)
        return [(a, share + 0.9 * (a == self.action)) for a in actions]


def test_puct_follows_the_priors_of_an_evaluator(connect_four):
    rule = PUCT(c=0.5)
    bot = UCTBot(connect_four, rule=rule, evaluator=Favourite(5), simulations=100, seed=0)
    assert bot.step(connect_four.new_initial_state()) == 5
    assert bot.last_result.actions[5].prior == pytest.approx(0.9 + 0.1 / 7)


@pytest.mark.parametrize("kind", BOTS)
def test_stock_rollout_evaluator_works(tic_tac_toe, kind):
    evaluator = mcts.RandomRolloutEvaluator(2, np.random.RandomState(0))
    bot = kind(tic_tac_toe, evaluator=evaluator, simulations=200, seed=0)
    assert bot.step(after(tic_tac_toe, 0, 3, 1, 4)) == 2


def test_the_bases_preset_decides_the_search(tic_tac_toe):
    class Puct(SearchBot):
        preset = "puct"

    assert isinstance(Puct(tic_tac_toe).config.rule, PUCT)
    assert isinstance(RaveBot(tic_tac_toe).config.amaf, NodeAmaf)
    assert RaveBot(tic_tac_toe, bias=0.05).config.amaf.schedule.bias == 0.05


@pytest.mark.parametrize(
    "arguments",
    [
        {"schedule": HandSelected(k=10)},
        {"schedule": "hand_selected(k=10)"},
        {"amaf": NodeAmaf(schedule=HandSelected(k=10))},
        {"amaf": "node_amaf(schedule=hand_selected(k=10))"},
        {"amaf.schedule": HandSelected(k=10)},
        {"schedule": "hand_selected", "k": 10},
    ],
    ids=str,
)
def test_parts_are_given_as_objects_or_as_specs(tic_tac_toe, arguments):
    expected = SearchConfig.preset("rave").replace(schedule=HandSelected(k=10))
    assert RaveBot(tic_tac_toe, **arguments).config == expected
    assert load_bot("rave", tic_tac_toe, 0, arguments).config == expected


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("tarok", "IMPERFECT_INFORMATION"),
        ("bridge_uncontested_bidding", "IMPERFECT_INFORMATION"),
        ("stones_and_gems", "SAMPLED_STOCHASTIC"),
        ("mfg_crowd_modelling", "MEAN_FIELD"),
    ],
)
def test_refuses_games_that_the_search_cannot_play(name, reason):
    game = pyspiel.load_game(name)
    with pytest.raises(UnsupportedGameError, match=reason) as caught:
        RaveBot(game)
    assert name in str(caught.value)


def test_refuses_what_is_no_game():
    with pytest.raises(TypeError, match=r"game must be the name of .* got int 3"):
        RaveBot(3)


def test_a_game_may_be_given_by_its_name():
    assert str(RaveBot("hex(board_size=3)").game) == "hex(board_size=3)"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"simulatons": 5}, TypeError, "RaveBot 'simulatons'. Did you mean 'simulations'"),
        ({"player": 0}, TypeError, "'player'. Did you mean 'player_id'"),
        ({"schedul": "fuego"}, TypeError, "RaveBot 'schedul'. Did you mean 'schedule'"),
        ({"k": 5}, TypeError, r"'k': it .* as in schedule=hand_selected\(k=\.\.\.\)"),
        ({"simulations": 0}, ValueError, "simulations must be"),
        ({"player_id": 2}, ValueError, "player_id must be an integer from 0 to 1"),
        ({"player_id": True}, TypeError, "player_id must be an integer"),
        ({"verbose": 1}, TypeError, "verbose must be"),
        ({"evaluator": 1}, TypeError, "an evaluator must be a function of a state"),
        ({"bias": -1}, ValueError, "bias must be a finite number of at least 0"),
        ({"schedule": HandSelected(k=0)}, ValueError, "k must be a finite number above 0"),
        ({"schedule": "hand_selected(k=0)"}, ValueError, "k must be a finite number above 0"),
        ({"schedule": PUCT()}, TypeError, "schedule takes one of the parts .*hand_selected"),
        ({"schedule": 300}, TypeError, "schedule takes a part of the search, or its spec"),
        ({"rule": "ucb"}, ValueError, "ucb1"),
        ({"evaluator": Favourite(0), "playout_count": 2}, ValueError, "playout_count must be 1"),
    ],
)
def test_refuses_a_bad_argument_at_once(tic_tac_toe, arguments, error, message):
    with pytest.raises(error, match=message):
        RaveBot(tic_tac_toe, **arguments)


def test_refuses_cpp_evaluators_and_says_what_to_do(tic_tac_toe):
    with pytest.raises(TypeError, match="leave evaluator out"):
        RaveBot(tic_tac_toe, evaluator=pyspiel.RandomRolloutEvaluator(1, 1))


ASKING = {
    "step": lambda bot, state: bot.step(state),
    "step_with_policy": lambda bot, state: bot.step_with_policy(state),
    "step_verbose": lambda bot, state: bot.step_verbose(state),
    "get_policy": lambda bot, state: bot.get_policy(state),
    "mcts_search": lambda bot, state: bot.mcts_search(state),
    "force_action": lambda bot, state: bot.force_action(state, 0),
}


@pytest.mark.parametrize("ask", ASKING.values(), ids=ASKING)
def test_refuses_to_move_where_it_cannot(tic_tac_toe, connect_four, ask):
    bot = RaveBot(tic_tac_toe, player_id=0, simulations=10)
    with pytest.raises(ValueError, match="game is over"):
        ask(bot, after(tic_tac_toe, 0, 3, 1, 4, 2))
    with pytest.raises(ValueError, match="plays as player 0, but player 1 is to move"):
        ask(bot, after(tic_tac_toe, 0))
    with pytest.raises(ValueError, match=r"plays tic_tac_toe\(\), but the state is of connect"):
        ask(bot, connect_four.new_initial_state())
    with pytest.raises(TypeError, match=r"state must be a pyspiel\.State"):
        ask(bot, "state")


@pytest.mark.parametrize("action", [0, 9, -1])
def test_refuses_information_on_illegal_actions(tic_tac_toe, action):
    bot = RaveBot(tic_tac_toe, simulations=10)
    with pytest.raises(ValueError, match="not legal"):
        bot.inform_action(after(tic_tac_toe, 0), 1, action)


def test_searches_no_tree_at_chance_nodes():
    game = pyspiel.load_game("pig")
    with pytest.raises(ValueError, match="Chance moves"):
        RaveBot(game, simulations=10).mcts_search(after(game, 0))


def test_repr_names_game_budget_and_seed(tic_tac_toe):
    assert (
        repr(UCTBot(tic_tac_toe, seconds=2, seed=3)) == "UCTBot(tic_tac_toe(), seconds=2.0, seed=3)"
    )


def test_policy_gives_the_same_state_the_same_probabilities(connect_four):
    bot = RaveBot(connect_four, simulations=100, seed=0, temperature=1.0)
    policy = SearchPolicy(bot)
    state = connect_four.new_initial_state()
    first = policy.action_probabilities(state)
    policy.action_probabilities(after(connect_four, 3))
    assert policy.action_probabilities(state, 0) == first
    assert sum(first.values()) == pytest.approx(1.0)
    assert policy.sample_action(state) in first
    assert bot.last_result is None


def test_policy_refuses_other_players_and_other_bots(connect_four):
    policy = SearchPolicy(UCTBot(connect_four, simulations=10, player_id=0))
    assert policy.player_ids == [0]
    with pytest.raises(ValueError, match="Player 1 is not to move"):
        policy.action_probabilities(connect_four.new_initial_state(), 1)
    with pytest.raises(TypeError, match=r"bot must be a .*SearchBot"):
        SearchPolicy(pyspiel.make_uniform_random_bot(0, 1))


@pytest.mark.parametrize("kind", BOTS)
@pytest.mark.parametrize("name", ["tic_tac_toe", "pig(players=3,winscore=10)"])
def test_passes_the_checks_that_we_offer_for_bots(kind, name):
    game = pyspiel.load_game(name)

    def make_bot(player, seed):
        return kind(game, player_id=player, simulations=10, seed=seed)

    testing.check_bot(make_bot, game)
