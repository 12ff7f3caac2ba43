"""All named agents as OpenSpiel's bots, and with OpenSpiel's states."""

import pyspiel
import pytest
from helpers.spiel import begun
from rave_openspiel import bots_that_can_play_game, load_bot, native, registered_bots

from rave_agents import UnsupportedGameError, make_agent
from rave_agents.agents.named_agents import agent_types
from rave_agents.frameworks.adapters import as_game_state

GAMES = {"ismcts": "kuhn_poker", "regret_matching": "matrix_pd", "exp3": "matrix_pd"}
FEW = {"simulations": 8, "seed": 1}
PROGRAMS = {"gtp", "uci"}
NAMES = sorted(agent_types().keys() - PROGRAMS)


def few(name):
    return {key: value for key, value in FEW.items() if agent_types()[name].takes(key, {})}


def skip_without_bridge(name):
    if name == "playouts" and native.bridge() is None:
        pytest.skip(native.diagnosis())


def test_playouts_without_the_bridge_are_refused_in_a_sentence(monkeypatch):
    monkeypatch.setenv(native.SWITCH, "0")
    native.bridge.cache_clear()
    with pytest.raises(UnsupportedGameError, match=r"needs the bridge.*RAVE_AGENTS_NATIVE"):
        load_bot("playouts", pyspiel.load_game("tic_tac_toe"), 0, FEW)


@pytest.mark.parametrize("name", NAMES)
def test_load_bot_knows_every_named_agent(name):
    skip_without_bridge(name)
    game = pyspiel.load_game(GAMES.get(name, "tic_tac_toe"))
    state = begun(game)
    bot = load_bot(name, game, 0, few(name))
    assert isinstance(bot, pyspiel.Bot)
    assert name in registered_bots()
    assert name in bots_that_can_play_game(game)
    assert bot.step(state) in state.legal_actions(0)


@pytest.mark.parametrize("name", NAMES)
def test_every_named_agent_takes_openspiels_states_and_ours(name):
    skip_without_bridge(name)
    game = GAMES.get(name, "tic_tac_toe")
    state = begun(game)
    moves = [
        make_agent(name, game, **few(name)).step(each) for each in (state, as_game_state(state))
    ]
    assert moves[0] == moves[1] in state.legal_actions(0)


@pytest.mark.parametrize("name", ["mcts", "mcts_py", "playouts", "uct", "rave"])
def test_what_is_no_state_is_refused_in_a_sentence(name):
    skip_without_bridge(name)
    with pytest.raises(TypeError, match="state"):
        make_agent(name, "tic_tac_toe", **FEW).step("a state")


def test_an_agent_of_ones_own_takes_openspiels_state_for_what_it_observes():
    def policy(observation):
        return int(observation.sum()) - 1

    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    assert make_agent(policy, "tic_tac_toe").step(state) == 8


def test_stock_agents_that_would_see_hidden_cards_are_refused_by_name():
    game = pyspiel.load_game("leduc_poker")
    with pytest.raises(ValueError, match="use ismcts"):
        load_bot("mcts(simulations=8)", game, 0)
    assert "mcts" not in bots_that_can_play_game(game)
    assert "ismcts" in bots_that_can_play_game(game)


@pytest.mark.full(but=["ismcts"])
@pytest.mark.parametrize("name", ["mcts", "mcts_py", "ismcts"])
def test_the_seed_decides_a_stock_agents_moves(name):
    """So many moves that a tie broken by chance would show."""
    game = GAMES.get(name, "tic_tac_toe")
    state = begun(game)
    agents = [make_agent(name, game, **FEW) for _ in range(2)]
    moves = [[agent.step(state) for _ in range(20)] for agent in agents]
    assert moves[0] == moves[1]


def test_without_a_seed_the_cpp_bot_plays_where_the_game_resamples_worlds():
    agent = make_agent("ismcts(simulations=20)", "kuhn_poker")
    assert isinstance(agent.bot, pyspiel.ISMCTSBot)
    assert agent.step(begun("kuhn_poker")) in (0, 1)


def test_a_seat_that_the_game_lacks_is_refused():
    game = pyspiel.load_game("tic_tac_toe")
    with pytest.raises(ValueError, match="from 0 to 1"):
        load_bot("mcts", game, 2, FEW)


def test_stock_agents_play_openspiels_own_loop():
    game = pyspiel.load_game("tic_tac_toe")
    bots = [load_bot(name, game, seat, FEW) for seat, name in enumerate(("mcts", "mcts_py"))]
    returns = pyspiel.evaluate_bots(game.new_initial_state(), bots, 1)
    assert sum(returns) == 0.0
