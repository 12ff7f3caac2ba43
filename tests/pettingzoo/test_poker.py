"""RLCard's poker games, whose worlds are known, and worlds that users register."""

import pytest
from helpers import zoo
from rave_pettingzoo import AECState, UCTAgent, checks, register_worlds
from rave_pettingzoo.checks import _registered

from rave_agents.agents.named_agents import make_agent
from rave_agents.frameworks.own_games import as_game
from rave_agents.testing import check_game_state

POKER = ["leduc_holdem-v4", "texas_holdem-v4", "texas_holdem_no_limit-v6"]

pytestmark = pytest.mark.filterwarnings("ignore:.*precision lowered")


def hands(env):
    """The hand of each seat, as text."""
    found = (player.hand for player in env.unwrapped.env.game.players)
    return [" ".join(map(str, hand)) if isinstance(hand, list) else str(hand) for hand in found]


@pytest.mark.parametrize("name", POKER)
def test_worlds_deal_anew_what_a_player_does_not_see(name):
    state = AECState(zoo.classic(name))
    mover = state.current_player()
    draw = state.worlds(mover, zoo.choices(1).random)
    worlds = [draw() for _ in range(20)]
    assert {hands(world.env)[mover] for world in worlds} == {hands(state.env)[mover]}
    assert len({hands(world.env)[1 - mover] for world in worlds}) > 2
    assert {world.view(mover) for world in worlds} == {state.view(mover)}
    decks = {" ".join(map(str, world.env.unwrapped.env.game.dealer.deck)) for world in worlds}
    assert len(decks) > 10


@pytest.mark.parametrize("name", POKER)
def test_a_player_sees_one_hand_and_the_whole_position_has_all(name):
    state = AECState(zoo.classic(name))
    assert [state.view(seat).count("holds") for seat in (0, 1)] == [1, 1]
    assert state.view(0) != state.view(1)
    assert str(state).count("holds") == 2


def test_what_is_hidden_makes_no_difference():
    env = zoo.classic("leduc_holdem-v4")
    results = []
    for exchanged in (False, True):
        game = env.unwrapped.env.game
        if exchanged:
            other, deck = game.players[1 - game.game_pointer], game.dealer.deck
            other.hand, deck[0] = deck[0], other.hand
        agent = UCTAgent(env, simulations=100, seed=1)
        agent.act()
        results.append(agent.last_result.actions)
    assert results[0] == results[1]


def test_moves_have_names():
    state = AECState(zoo.classic("leduc_holdem-v4"))
    named = [state.action_to_string(action) for action in state.legal_actions()]
    assert named == ["call", "raise", "fold"]
    state = AECState(zoo.classic("texas_holdem_no_limit-v6"))
    assert "raise_pot" in map(state.action_to_string, state.legal_actions())


def test_three_players_play():
    check_game_state(lambda: AECState(zoo.classic("texas_holdem-v4", num_players=3)), games=2)


def test_a_game_by_its_name_is_played_by_search_and_refused_to_proofs():
    game = as_game("pettingzoo:leduc_holdem_v4")
    state = game.seeded_initial_state(3)
    agent = make_agent("auto(simulations=20)", game, 0, seed=1)
    assert agent.step(state) in state.legal_actions()
    with pytest.raises(Exception, match="nothing can be proven"):
        make_agent("pn_mcts(simulations=20)", game, 0)


def test_registered_worlds_need_no_argument():
    env = zoo.own_leduc()
    register_worlds(type(env), zoo.deal)
    try:
        assert UCTAgent(env, simulations=20).act() in zoo.legal_of(env)
    finally:
        del _registered[type(env)]
    assert checks.known_worlds(env) is None


@pytest.mark.parametrize("arguments", [(dict, zoo.deal), (zoo.Counting, "deal")])
def test_what_is_no_class_or_no_function_is_refused(arguments):
    with pytest.raises(TypeError, match="must be a"):
        register_worlds(*arguments)
