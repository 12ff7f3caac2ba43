"""Whatever a user has that evaluates positions is taken wherever an evaluator is taken."""

import gymnasium
import numpy as np
import pyspiel
import pytest
import rave_gymnasium
import rave_openspiel
import rave_pettingzoo
from helpers import own_evaluators
from helpers.envs import begun
from helpers.own_evaluators import ASKED, FILE, Both, Priors, Values
from pettingzoo.classic import tictactoe_v3
from typer.testing import CliRunner

from rave_agents import BatchEvaluator, Limit, SearchConfig, Searcher, as_evaluator, make_agent
from rave_agents.arena.match import play_match
from rave_agents.cli.program import app
from rave_agents.errors import GameError
from rave_agents.learning.learn import learn

GAME = "tic_tac_toe"
BY_OBJECT = {
    "of_a_state": own_evaluators.of_a_state,
    "Values": Values(),
    "Priors": Priors(),
    "Both": Both(),
    "policy_and_values": own_evaluators.policy_and_values,
    "values_alone": own_evaluators.values_alone,
    "policy_alone": own_evaluators.policy_alone,
}
COUNTED_AS = {"Both": "Values"}
PRIORS = ("Priors", "Both", "policy_and_values", "policy_alone")
SEARCH = {"simulations": 12, "seed": 1}


def environment(make):
    return begun(make())


def searcher(evaluator):
    state = pyspiel.load_game(GAME).new_initial_state()
    made = Searcher(SearchConfig.preset("puct"), seed=1, evaluator=evaluator)
    return made.search(state, Limit(simulations=12))


def named_agent(evaluator):
    agent = make_agent("puct", GAME, evaluator=evaluator, **SEARCH)
    agent.step(rave_openspiel.OpenSpielState(pyspiel.load_game(GAME).new_initial_state()))
    return agent.last_result


def openspiel(evaluator):
    bot = rave_openspiel.PUCTBot(GAME, evaluator=evaluator, **SEARCH)
    bot.step(bot.game.new_initial_state())
    return bot.last_result


def pettingzoo(evaluator):
    agent = rave_pettingzoo.PUCTAgent(environment(tictactoe_v3.env), evaluator=evaluator, **SEARCH)
    agent.act()
    return agent.last_result


def frozen_lake():
    return gymnasium.make("FrozenLake-v1", is_slippery=False)


def planning(evaluator):
    env = environment(frozen_lake)
    agent = rave_gymnasium.PUCTAgent(env, evaluator=evaluator, horizon=5, **SEARCH)
    agent.act(0)
    return agent.last_result


PLACES = [searcher, named_agent, openspiel, pettingzoo, planning]


@pytest.mark.parametrize(
    ("place", "kind"),
    [*((searcher, kind) for kind in BY_OBJECT), *((place, "Both") for place in PLACES[1:])],
)
def test_one_door_takes_every_evaluator_and_every_agent_goes_through_it(place, kind):
    ASKED.clear()
    result = place(BY_OBJECT[kind])
    assert ASKED[COUNTED_AS.get(kind, kind)] > 0
    priors = [row.prior for row in result.actions]
    assert sum(priors) == pytest.approx(1.0)
    if kind in PRIORS:
        assert priors == sorted(priors, reverse=True)
        assert priors[0] > 2 * priors[-1]
    else:
        assert priors == pytest.approx([1 / len(priors)] * len(priors))


@pytest.mark.parametrize("kind", BY_OBJECT)
def test_a_spec_names_every_evaluator(kind):
    ASKED.clear()
    spec = f"puct(evaluator=helpers.own_evaluators:{kind},simulations=5)"
    assert play_match(GAME, spec, "random", games=2).complete
    assert ASKED[COUNTED_AS.get(kind, kind)] > 0


@pytest.mark.parametrize("name", ["Values(value=0.5)", "makes_values", "of_a_state"])
def test_a_file_names_an_evaluator_with_its_parameters(name):
    made = as_evaluator(f"{FILE}:{name}")
    if name != "of_a_state":
        assert made.value == 0.5


@pytest.mark.parametrize("command", [["search", GAME], ["match", GAME, "--games=2"]])
def test_commands_take_an_evaluator_by_name(command):
    ASKED.clear()
    name, game, *options = command
    agents = ["auto(evaluator=helpers.own_evaluators:of_a_state,simulations=5)", "random"]
    given = [name, game, agents[0]] if name == "search" else [name, game, *agents]
    told = CliRunner().invoke(app, [*given, *options])
    assert told.exit_code == 0, told.output
    assert ASKED["of_a_state"] > 0


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    path = tmp_path_factory.mktemp("learned") / "value.npz"
    learn(GAME, games=4, rounds=1, simulations=5).save(path)
    return path


@pytest.mark.parametrize("given", [str, lambda path: path], ids=["text", "path"])
def test_the_path_of_a_learned_file_is_an_evaluator(given, learned):
    assert searcher(given(learned)).simulations == 12


@pytest.mark.parametrize("name", ["value", "value_function"])
def test_another_name_is_answered_with_evaluator(name):
    with pytest.raises(ValueError, match=f"'{name}'.*evaluator"):
        make_agent(f"uct({name}=0)", GAME)


@pytest.mark.parametrize(
    ("answer", "gives"),
    [
        (np.zeros, "policy"),
        (lambda shape: np.zeros(shape[0]), "values"),
        (lambda shape: np.zeros((shape[0], 1)), "values"),
        (lambda shape: np.zeros((shape[0], 2)), "values"),
        (lambda shape: (np.zeros(shape), np.zeros(shape[0])), "both"),
        (lambda shape: (None, np.zeros(shape[0])), "values"),
        (lambda shape: (np.zeros(shape), None), "policy"),
        (lambda shape: {"logits": np.zeros(shape)}, "policy"),
        (lambda shape: {"v": np.zeros(shape[0])}, "values"),
    ],
)
def test_what_a_function_gives_is_found_out(answer, gives):
    evaluator = as_evaluator(lambda observations, mask: answer(mask.shape))
    assert isinstance(evaluator, BatchEvaluator)
    assert searcher(evaluator).simulations == 12
    assert evaluator.gives == gives


@pytest.mark.parametrize("shape", [(1, 5), (1, 9, 1), ()])
def test_an_answer_of_another_shape_is_refused(shape):
    evaluator = as_evaluator(lambda observations: np.zeros(shape))
    with pytest.raises(GameError, match="neither a policy of 9 actions nor values of 2 players"):
        searcher(evaluator)


def test_a_function_whose_parameter_does_not_tell_is_refused():
    def heuristic(board):
        return 0.0

    with pytest.raises(TypeError, match=r"'board' does not say\. Name it state"):
        as_evaluator(heuristic)


def test_values_alone_are_those_of_the_search_and_leave_priors_equal():
    result = searcher(own_evaluators.values_alone)
    assert result.value == pytest.approx(searcher(BatchEvaluator(with_equal_policy)).value)


def with_equal_policy(batch):
    return np.zeros(batch.legal_actions_mask.shape), np.full(len(batch.players), 0.25)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("heads", ["both", "values", "policy"])
def test_a_network_has_both_heads_or_one(heads):
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.policy, self.value = torch.nn.Linear(9, 9), torch.nn.Linear(9, 1)

        def forward(self, x):
            flat = x.flatten(1)[:, :9]
            policy, values = self.policy(flat), torch.tanh(self.value(flat))
            return {"both": (policy, values), "values": values, "policy": policy}[heads]

    torch.manual_seed(1)
    net = Net()
    evaluator = as_evaluator(net)
    results = [place(evaluator) for place in PLACES[:4]]
    assert evaluator.gives == heads
    for result in results:
        priors = [row.prior for row in result.actions]
        assert (max(priors) > min(priors) + 1e-6) == (heads != "values")


@pytest.mark.parametrize(
    ("kind", "agent", "game"),
    [
        *((kind, "auto", "leduc_poker") for kind in BY_OBJECT),
        ("Both", "rave", "goofspiel(num_cards=4)"),
        ("policy_and_values", "gumbel", "pig"),
        ("of_a_state", "auto", "goofspiel(num_cards=4)"),
    ],
)
def test_games_of_chance_hidden_and_simultaneous_moves_take_them(kind, agent, game):
    def value_of(state):
        return [0.0] * state.num_players()

    class Nothing(Values):
        def evaluate(self, state):
            return [0.0] * state.num_players()

    class NothingButPriors(Nothing, Priors):
        pass

    of_any_sum = {
        "of_a_state": value_of,
        "Values": Nothing(),
        "Both": NothingButPriors(),
        "values_alone": lambda observations: {"values": np.zeros((len(observations), 2))},
        "policy_and_values": lambda observations, mask: (
            np.zeros(mask.shape),
            np.zeros((len(observations), 2)),
        ),
    }
    evaluator = of_any_sum.get(kind, BY_OBJECT[kind])
    made = make_agent(agent, game, 0, evaluator=evaluator, **SEARCH)
    state = rave_openspiel.OpenSpielState(pyspiel.load_game(game).new_initial_state())
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    made.step(state)
    assert made.last_result.simulations > 0
