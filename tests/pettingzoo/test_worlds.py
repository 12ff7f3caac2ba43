"""Searches of PettingZoo's environments that hide something, in worlds of the user's."""

import copy
import logging

import numpy as np
import pettingzoo
import pytest
from helpers import zoo
from rave_pettingzoo import AECState, UCTAgent, clone_env
from rave_pettingzoo.worlds import FunctionWorlds

from rave_agents.environments.copying import equal, hashable
from rave_agents.errors import GameError
from rave_agents.searcher import checks
from rave_agents.testing import check_game_state


def game_of(env):
    return env.unwrapped.env.game


def leduc(mine, other, public, *actions):
    """Leduc Hold'em: the ranks of the agent to move first, of the other, of the card to come."""
    env = zoo.classic("leduc_holdem-v4")
    game = game_of(env)
    deck = [*game.dealer.deck, *(player.hand for player in game.players)]
    hands = []
    for rank in (mine, other, public):
        hands.append(next(card for card in deck if card.rank == rank))
        deck.remove(hands[-1])
    game.players[game.game_pointer].hand, game.players[1 - game.game_pointer].hand, _ = hands
    game.dealer.deck = [*deck, hands[-1]]
    for action in actions:
        env.step(action)
    return env


CALL, RAISE, FOLD, CHECK = range(4)


def acted(env, **options):
    options = {"simulations": 300, "seed": 1, "worlds": zoo.deal, **options}
    agent = UCTAgent(env, **options)
    agent.act(env.last()[0])
    return agent.last_result


@pytest.mark.slow
def test_what_is_hidden_makes_no_difference():
    results = [acted(leduc("Q", *hidden)) for hidden in ("JK", "KJ")]
    assert results[0].actions == results[1].actions
    assert results[0].simulations == 300


@pytest.mark.slow
def test_see_looks_at_the_true_state_and_says_so(caplog):
    checks.warn_cheating.cache_clear()
    with caplog.at_level(logging.WARNING, "rave_agents"):
        results = [acted(leduc("Q", *hidden), hidden="see", worlds=None) for hidden in ("JK", "KJ")]
    assert results[0].value > 0 > results[1].value
    assert caplog.text.count("SEES WHAT IS HIDDEN") == 1


def test_the_agent_knows_its_own_hand_and_what_lies_open():
    env = leduc("K", "Q", "K", CALL, CHECK)
    env.step(RAISE)
    env.step(RAISE)
    # A pair of kings never loses: who folds gives away what he has put in.
    result = acted(env)
    assert result.action != FOLD
    assert result.value > 0


def test_worlds_differ_and_leave_the_live_environment_alone():
    env = leduc("Q", "J", "K")
    before = copy.deepcopy(zoo.seen(env)), str(game_of(env).players[1].hand)
    state = AECState(env, worlds=zoo.deal)
    draw = state.worlds(state.current_player(), zoo.choices(1).random)
    worlds = [draw() for _ in range(100)]
    other = 1 - state.current_player()
    ranks = [game_of(world.env).players[other].hand.rank for world in worlds]
    assert {rank: ranks.count(rank) > 10 for rank in ranks} == {"J": True, "Q": True, "K": True}
    for world in worlds[:10]:
        world.apply_action(RAISE)
        assert world.view(other) != state.view(other)
    assert equal((zoo.seen(env), str(game_of(env).players[1].hand)), before)


def test_the_function_gets_a_copy_the_agent_to_move_and_numbers_by_the_seed():
    env = leduc("Q", "J", "K")
    calls = []

    def deal(given, agent, rng):
        calls.append((given is env or given is env.unwrapped, agent, rng.random()))
        return zoo.deal(given, agent, rng)

    for _ in range(2):
        acted(env, simulations=5, worlds=deal)
    assert len(calls) >= 10
    assert {(live, agent) for live, agent, _ in calls} == {(False, env.agent_selection)}
    assert calls[: len(calls) // 2] == calls[len(calls) // 2 :]
    acted(env, simulations=1, worlds=deal, seed=2)
    assert calls[-1] not in calls[:-1]


def exchanged(env, agent, rng):
    """The agent itself gets another card."""
    game = game_of(env)
    me = env.possible_agents.index(agent)
    hand = game.players[me].hand
    game.players[me].hand = next(card for card in game.dealer.deck if card.rank != hand.rank)
    return env


def stepped(env, agent, rng):
    env.step(CALL)
    return env


def masked(env, agent, rng):
    env.unwrapped.next_legal_moves = [CALL]
    return env


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda env, agent, rng: None, "must return an environment, got None"),
        (lambda env, agent, rng: zoo.classic("tictactoe-v3"), "the environment tictactoe_v3"),
        (stepped, "'player_1' is to move, not 'player_0'"),
        (masked, r"\[0\] are legal, but \[0, 1, 2\] are"),
        (exchanged, "'player_0' can distinguish from the true one: they would see"),
    ],
)
def test_worlds_that_contradict_what_the_agent_sees_are_refused(function, message):
    env = leduc("Q", "J", "K")
    assert env.agent_selection == "player_0"
    with pytest.raises(GameError, match=message):
        acted(env, worlds=function)


def test_a_world_that_has_not_begun_is_refused():
    def fresh(env, agent, rng):
        return pettingzoo.make("aec", "classic/leduc_holdem-v4")

    with pytest.raises(ValueError, match="has not been reset"):
        acted(leduc("Q", "J", "K"), worlds=fresh)


def test_what_the_function_raises_is_raised_unchanged():
    def fail(env, agent, rng):
        raise ArithmeticError("no idea")

    with pytest.raises(ArithmeticError, match="no idea"):
        acted(leduc("Q", "J", "K"), worlds=fail)


@pytest.mark.full
def test_an_environment_made_elsewhere_is_a_world_and_is_not_played_in():
    kept = leduc("Q", "K", "J")
    before = copy.deepcopy(zoo.seen(kept))
    result = acted(leduc("Q", "J", "K"), worlds=lambda env, agent, rng: kept)
    assert result.actions == acted(leduc("Q", "K", "J"), worlds=lambda env, agent, rng: env).actions
    assert equal(zoo.seen(kept), before)


class Coin(zoo.Counting):
    """The first agent guesses a coin that it cannot see, after the second has looked at it or not.

    Nobody has told the search that it hides something.
    """

    def reset(self, seed=None, options=None):
        super().reset(seed, options)
        self.heads = np.random.default_rng(seed).integers(2)

    def observe(self, agent):
        return {"turns": [self.get()], "coin": self.heads if agent == "second" else None}

    def step(self, action):
        agent = self.agent_selection
        super().step(action)
        if agent == "first" and action is not None:
            won = 1 if action == self.heads else -1
            self.rewards = {"first": won, "second": -won}
            self.terminations = dict.fromkeys(self.agents, True)


def flip(env, agent, rng):
    env.heads = rng.integers(2)
    return env


@pytest.mark.slow
def test_worlds_say_that_an_unknown_environment_hides_something():
    env = Coin()
    env.reset(seed=0)
    seeing = acted(env, worlds=None, hidden="see")
    assert seeing.value == pytest.approx(1.0, abs=0.1)
    fair = acted(env, worlds=flip)
    assert fair.value == pytest.approx(0.0, abs=0.3)
    env.heads = 1 - env.heads
    assert acted(env, worlds=flip).actions == fair.actions


@pytest.mark.slow
def test_the_mask_counts_in_a_view_only_where_the_agent_is_to_move():
    env = zoo.own_leduc()
    other = clone_env(env)
    other.next_legal_moves = [CALL]
    first, second = (AECState(one, worlds=zoo.deal) for one in (env, other))
    assert first.view(0) != second.view(0)
    assert first.view(1) == second.view(1)


def test_worlds_of_hanabi_are_checked_by_what_openspiel_says_is_seen():
    env = zoo.classic("hanabi-v5", seed=1)
    state = AECState(env, worlds=lambda env, agent, rng: env)
    unseen = zoo.classic("hanabi-v5", seed=2).unwrapped.hanabi_env.game_state

    def another(given, agent, rng):
        given.unwrapped.hanabi_env.game_state = unseen.clone()
        return given

    source = FunctionWorlds(state.env, zoo.choices(1).random, another)
    with pytest.raises(GameError, match=r"can distinguish from the true one|are legal"):
        source()


def test_observations_become_hashable_by_what_they_hold():
    def shown(values, dtype):
        return {"board": np.array(values, dtype), "past": [(1, "a"), np.int64(2)]}

    views = [hashable(shown([1, 2], float)) for _ in range(2)]
    assert views[0] == views[1]
    assert hash(views[0]) == hash(views[1])
    assert views[0] != hashable(shown([1, 3], float))
    assert hashable(shown([None, "x"], object)) == hashable(shown([None, "x"], object))


def test_observations_without_a_hash_are_compared():
    env = Coin()
    env.reset(seed=0)
    env.observe = lambda agent: {1, 2}
    FunctionWorlds(env, zoo.choices(1).random, flip)()


def test_shimmys_environments_take_worlds_too():
    env = zoo.shimmy("kuhn_poker")

    def resampled(given, agent, rng):
        state = given.game_state
        given.game_state = state.resample_from_infostate(state.current_player(), rng.random)
        return given

    assert acted(env, worlds=resampled, translate=False).simulations == 300
    other = next(
        one
        for one in (zoo.shimmy("kuhn_poker", seed=seed) for seed in range(20))
        if one.game_state.information_state_string() != env.game_state.information_state_string()
    )
    with pytest.raises(GameError, match="can distinguish from the true one"):
        acted(env, worlds=lambda given, agent, rng: other)


def test_state_with_worlds_conforms():
    check_game_state(lambda: AECState(zoo.classic("leduc_holdem-v4"), worlds=zoo.deal), games=3)
