"""Card games whose worlds are known, RLCard's and Hanabi, and worlds that users register."""

import copy
import random

import pettingzoo
import pytest
from helpers import zoo
from rave_pettingzoo import (
    AECState,
    UCTAgent,
    checks,
    clone_env,
    evaluate,
    make_agent,
    register_worlds,
)
from rave_pettingzoo.checks import _registered

from rave_agents import Limit, SearchConfig, Searcher
from rave_agents.agents.named_agents import make_agent as make_game_agent
from rave_agents.environments.copying import equal
from rave_agents.errors import GameError, UnsupportedGameError
from rave_agents.frameworks.own_games import as_game
from rave_agents.testing import check_game_state

GAMES = {
    "leduc_holdem": lambda seed=0: zoo.classic("leduc_holdem-v4", seed=seed),
    "texas_holdem": lambda seed=0: zoo.classic("texas_holdem-v4", seed=seed),
    "texas_holdem_no_limit": lambda seed=0: zoo.classic("texas_holdem_no_limit-v6", seed=seed),
    "gin_rummy": lambda seed=0: zoo.gin_rummy(seed=seed),
    "hanabi": lambda seed=0: zoo.classic("hanabi-v5", seed=seed),
}

pytestmark = pytest.mark.filterwarnings("ignore:.*precision lowered")


ENDS = {
    "leduc_holdem": [2],
    "texas_holdem": [2],
    "texas_holdem_no_limit": [0, 2, 3, 4],
    "hanabi": range(5, 10),
}
"""Actions that may end a game early: to fold, to bet all chips, to play a card."""


def advanced(name, steps, seed=0):
    """A position after random moves."""
    env, choices = GAMES[name](seed), zoo.choices(seed)
    for _ in range(steps):
        env.step(choices.choice([a for a in zoo.legal_of(env) if a not in ENDS.get(name, ())]))
    return env


@pytest.mark.parametrize("name", GAMES)
def test_worlds_deal_anew_what_a_player_does_not_see(name):
    state = AECState(advanced(name, 2))
    mover = state.current_player()
    draw = state.worlds(mover, zoo.choices(1).random)
    worlds = [draw() for _ in range(20)]
    assert {world.view(mover) for world in worlds} == {state.view(mover)}
    assert len({world.view(1 - mover) for world in worlds}) > 2
    assert len({str(world) for world in worlds}) > 2
    for world in worlds[:5]:
        assert world.legal_actions() == state.legal_actions()


@pytest.mark.parametrize("name", ["leduc_holdem", "texas_holdem", "gin_rummy"])
def test_worlds_have_the_same_cards_and_other_cards_to_come(name):
    state = AECState(advanced(name, 2))
    draw = state.worlds(state.current_player(), zoo.choices(1).random)
    cards = [every_card(world.env) for world in [state, *(draw() for _ in range(10))]]
    assert len({tuple(map(str, each)) for each in cards}) > 5
    assert len({tuple(sorted(map(str, each))) for each in cards}) == 1


def every_card(env):
    """The cards of RLCard's game: those to come first, then the hands."""
    return [*stock(env), *(card for player in players(env) for card in hand(player))]


def stock(env):
    game = env.unwrapped.env.game
    return game.dealer.deck if "dealer" in vars(game) else game.round.dealer.stock_pile


def players(env):
    game = env.unwrapped.env.game
    return game.players if "players" in vars(game) else game.round.players


def hand(player):
    return player.hand if isinstance(player.hand, list) else [player.hand]


@pytest.mark.parametrize("name", GAMES)
def test_a_player_does_not_see_the_whole_position(name):
    state = AECState(advanced(name, 2))
    assert state.view(0) != state.view(1)
    whole = str(state)
    assert len(whole.splitlines()) > 2
    if name == "hanabi":
        assert "XX ||" in state.view(state.current_player()).partition("-----")[0]
    else:
        assert [state.view(seat).count("holds") for seat in (0, 1)] == [1, 1]
        assert whole.count("holds") == 2


def with_other_secrets(env):
    """A copy with other cards where the agent to move does not see them, and another future."""
    env = clone_env(env)
    raw = env.unwrapped
    if "hanabi_env" in vars(raw):
        raw.hanabi_env.game_state = with_other_hand(raw.hanabi_env.game_state)
        raw.hanabi_env.np_random.bit_generator.advance(1000)
        return env
    other = next(p for p in players(env) if p.player_id != raw.env.get_player_id())
    deck = stock(env)
    if isinstance(other.hand, list):
        other.hand[0], deck[0] = deck[0], other.hand[0]
    else:
        other.hand, deck[0] = deck[0], other.hand
    random.Random(5).shuffle(deck)
    if "did_populate_hand" in dir(other):
        other.did_populate_hand()
    raw.env.game.np_random.seed(99)
    return env


def with_other_hand(state):
    """Hanabi's position with the first two cards of the first player dealt in the other order."""
    assert state.current_player() == 0
    first, second, *later = state.history()
    assert first != second
    new = state.get_game().new_initial_state()
    for action in (second, first, *later):
        new.apply_action(action)
    assert new.observation_string(0) == state.observation_string(0)
    return new


@pytest.mark.full(but=["gin_rummy-auto", "hanabi-auto"])
@pytest.mark.parametrize(
    ("name", "spec"),
    [*((name, "auto") for name in GAMES), ("leduc_holdem", "uct"), ("texas_holdem", "rave")],
)
def test_what_is_hidden_makes_no_difference(name, spec):
    # Nothing has been said of the cards in Hanabi that are exchanged.
    env = advanced(name, {"leduc_holdem": 1, "hanabi": 0}.get(name, 2))
    simulations = 10 if name == "gin_rummy" else 30
    results = []
    for position in (env, with_other_secrets(env)):
        agent = make_agent(spec, position, simulations=simulations, seed=1)
        agent.act()
        results.append(agent.last_result)
    assert results[0].simulations == simulations
    assert results[0].actions == results[1].actions


@pytest.mark.full(but=["leduc_holdem", "hanabi"])
@pytest.mark.parametrize("name", GAMES)
def test_agents_play_legally_to_the_end_and_leave_the_environment_alone(name):
    env = GAMES[name]()
    agents = [make_agent(spec, env, simulations=3, seed=1) for spec in ("auto", "rave")]
    moves = 0
    while env.agents:
        legal = zoo.legal_of(env)
        if legal is None or moves >= 12:  # Then at random: some games are long.
            env.step(None if legal is None else zoo.choices(moves).choice(legal))
            continue
        before = copy.deepcopy(zoo.seen(env)), str(AECState(env))
        action = agents[moves % 2].act(env.last()[0])
        assert action in legal
        assert equal((zoo.seen(env), str(AECState(env))), before)
        env.step(action)
        moves += 1
    assert moves > 1


@pytest.mark.slow
def test_hanabi_is_played_well_enough_to_score():
    # Random play scores 0: it loses all lives, and with them the score.
    def small():
        return pettingzoo.make("aec", "classic/hanabi-v5", colors=2, ranks=3, hand_size=2)

    players = dict.fromkeys(("player_0", "player_1"), "uct(simulations=30)")
    played = evaluate(small, players, episodes=2, progress=False)
    assert min(played["player_0"].returns) >= 2


def test_hanabi_looks_a_few_moves_ahead_unless_a_horizon_is_given():
    env = zoo.classic("hanabi-v5", seed=3)
    lengths = {}
    for horizon in ("auto", 2):
        agent = UCTAgent(env, simulations=20, seed=1, horizon=horizon)
        agent.act()
        lengths[horizon] = agent.last_result.value
    # At the horizon each life counts; with the moves of both, little else has happened.
    assert lengths[2] > 5
    assert lengths["auto"] < lengths[2] + 6
    state = AECState(env)
    zoo.play(env, 8, zoo.choices(1))
    for _ in range(8):
        assert not state.is_terminal()
        state.apply_action(state.legal_actions()[-1])


@pytest.mark.parametrize(
    "options",
    [
        {"players": 3},
        {"observation_type": "seer"},
        {"colors": 2, "ranks": 2, "hand_size": 2, "max_life_tokens": 1},
    ],
)
def test_other_forms_of_hanabi_are_played(options):
    env = zoo.classic("hanabi-v5", **options)
    zoo.play(env, 3, zoo.choices(1))
    assert UCTAgent(env, simulations=20, seed=1).act() in zoo.legal_of(env)


def test_a_wrong_first_agent_of_hanabi_is_reported():
    env = zoo.classic("hanabi-v5", random_start_player=True)
    inner = env.unwrapped.hanabi_env
    inner.agent_selection = "player_1"  # As in half of the games with this option.
    with pytest.raises(GameError, match=r"lets 'player_1' move.*random_start_player"):
        UCTAgent(env, simulations=5, seed=1).act()


def test_regrets_are_kept_where_the_start_of_the_game_is_known():
    with pytest.raises(UnsupportedGameError, match=r"hanabi_v5.*start of the game.*Shimmy"):
        make_agent("mccfr", GAMES["hanabi"](), simulations=10)
    env = zoo.shimmy("kuhn_poker")
    assert make_agent("mccfr", env, simulations=50, seed=1).act() in zoo.legal_of(env)


def test_a_game_is_searched_from_its_deals():
    """What is hidden, and which seed dealt it, makes no difference; chance never draws it."""
    env = advanced("leduc_holdem", 1)
    before, twin = AECState(env), AECState(with_other_secrets(env))
    found = []
    for state in (before, twin):
        search = Searcher(SearchConfig.preset("mccfr"), seed=1)
        found.append(search.search(state, Limit(simulations=8)))
        assert search.known(AECState(GAMES["leduc_holdem"](9))) is not None
    assert found[0].policy == found[1].policy
    assert found[0].took_part == ("MCCFR",)
    assert str(AECState(env)) == str(before)


def test_deals_are_positions_after_a_reset():
    start = AECState(advanced("leduc_holdem", 2)).start()
    outcomes = start.chance_outcomes()
    assert sum(chance for _, chance in outcomes) == pytest.approx(1.0)
    after = [start.clone() for _ in range(30)]
    for number, state in enumerate(after):
        state.apply_action(outcomes[number][0])
        assert str(state._position) == str(AECState(GAMES["leduc_holdem"](number)))
    asked = AECState(GAMES["leduc_holdem"](77))
    (number,) = start.path_to(asked)
    assert number not in dict(outcomes)
    start.apply_action(number)
    assert start.view(start.current_player()) == asked.view(asked.current_player())


def test_moves_have_names():
    state = AECState(GAMES["leduc_holdem"]())
    named = [state.action_to_string(action) for action in state.legal_actions()]
    assert named == ["call", "raise", "fold"]
    state = AECState(GAMES["texas_holdem_no_limit"]())
    assert "raise_pot" in map(state.action_to_string, state.legal_actions())
    state = AECState(advanced("gin_rummy", 1))
    named = [state.action_to_string(action) for action in state.legal_actions()]
    assert named == ["draw_card", "pick_up_discard"]
    assert AECState(GAMES["hanabi"]()).action_to_string(0) == "(Discard 0)"


def test_the_scorer_of_gin_rummys_copies_is_their_own():
    env = zoo.gin_rummy(seed=None)
    clone = clone_env(env).unwrapped
    assert clone.env.game.judge.scorer.get_payoff.__self__ is clone
    assert clone.env.game.judge.game is clone.env.game


def test_three_players_play():
    check_game_state(lambda: AECState(zoo.classic("texas_holdem-v4", num_players=3)), games=2)


@pytest.mark.parametrize("name", ["leduc_holdem_v4", "hanabi_v5"])
def test_a_game_by_its_name_is_played_by_search_and_refused_to_proofs(name):
    game = as_game(f"pettingzoo:{name}")
    state = game.seeded_initial_state(3)
    agent = make_game_agent("auto(simulations=20)", game, 0, seed=1)
    assert agent.step(state) in state.legal_actions()
    with pytest.raises(Exception, match="nothing can be proven"):
        make_game_agent("pn_mcts(simulations=20)", game, 0)


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


@pytest.mark.parametrize("name", GAMES)
def test_what_an_agent_cannot_see_changes_nothing(name):
    compared = 0
    for steps in range(3):
        state = AECState(advanced(name, steps, seed=steps))
        other = state.worlds(state.current_player(), zoo.choices(1).random)()
        found = [
            Searcher(SearchConfig.preset("auto"), seed=1).search(each, Limit(simulations=12))
            for each in (state, other)
        ]
        compared += state.view(1 - state.current_player()) != other.view(1 - state.current_player())
        assert (found[0].action, found[0].actions) == (found[1].action, found[1].actions)
    assert compared > 0
